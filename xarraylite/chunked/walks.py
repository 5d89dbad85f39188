"""Walks: how often chunks are read while blocks follow each other and the last ones are kept.

A walk goes strip by strip, and through each of them row by row: loops inside of loops.  A chunk in
two blocks that follow each other in one of these loops is still there for the second one if there
is room for all that is touched meanwhile: about one iteration of the loop, and what the next one
begins with.  Which chunks a block touches follows, dimension by dimension, from where it begins and
ends; so what is read, and what that takes, are products and sums of some numbers of each dimension.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dtypes.names import NumpyArray
from .cut import requests
from .grid import Grid
from .selection import Box, whole
from .source import keeps

#: Blocks along a dimension that are looked at; and those that are cut, where they are uneven.
_LOOKED, _CUT = 1 << 16, 512

#: Reading less than this much of what fewer bytes would do for is worth keeping more.
_STEP = 0.97

#: Operands, by a name of what is asked of each, and the box that is.
Boxes = dict[Any, tuple[Any, Box]]


class Parts(NamedTuple):
    """Positions of the chunks of each operand along a dimension: of all parts, and of one at most.

    All numbers of an operand are in one place along the first dimension.
    """

    total: NumpyArray
    most: NumpyArray


class Pairs(NamedTuple):
    """The same of parts that follow each other: the first, the second, and both of each two."""

    one: NumpyArray
    two: NumpyArray
    both: NumpyArray
    times: float  # that there are as many


#: Blocks, strips and all; pairs of blocks in strips, and of strips; the first and the last blocks
#: of strips at most.
Told = tuple[tuple[Parts, Parts, Parts], tuple[Pairs, Pairs], tuple[NumpyArray, NumpyArray]]


class Walk:
    """Blocks of a grid, and the chunks that each of them touches.

    Parameters
    ----------
    grid : Grid
        The blocks.
    asked : callable
        Tells what one reads.
    even : bool
        Whether blocks of the same extents read boxes of the same extents.

    Raises
    ------
    ValueError
        If chunks of what is read cannot be kept, or too many blocks had to be looked at.
    """

    __slots__ = ("_each", "_sides")

    def __init__(self, grid: Grid, asked: Callable[[Box], Boxes], even: bool) -> None:
        tables = list[dict[int, Boxes]]()
        for axis, count in enumerate(grid.counts):
            if not even and count > _CUT:
                raise ValueError("too many")
            some = ({0, 1, count - 1} if even else range(count)) if count > 1 else ()
            tables.append({k: asked(_row(grid, axis, k)) for k in sorted(some)})
        boxes: Boxes = {}
        for table in tables:
            for found in table.values():
                boxes.update(found)
        self._sides = [
            _Side(count, [*boxes], table, even)
            for count, table in zip(grid.counts, tables, strict=True)
        ]
        driven = {at for side in self._sides for at in side.ends}
        each = []
        for number, (source, box) in enumerate(boxes.values()):
            fixed = [k for k in range(len(box)) if (number, k) not in driven]
            spans = [np.ptp(_around(source, k, box[k][0], box[k][-1])) for k in fixed]
            each.append(math.prod(map(float, spans)) * source.dtype.itemsize)
        self._each = np.array(each)

    def steps(self, strip: Sequence[int], alone: bool = False) -> Iterator[tuple[int, float]]:
        """Yield bytes of chunks that may be kept in a walk, and how many are read then.

        No less than what two blocks touch that follow each other, or one that is read ``alone``.
        """
        told = [side.told(blocks) for side, blocks in zip(self._sides, strip, strict=True)]
        axes, held, saved = range(len(told)), list[NumpyArray](), list[NumpyArray]()
        one = [parts[0].most for parts, *_ in told]
        floor = float((self._each * math.prod(one)).sum())
        for of, axis in [(of, axis) for of in (0, 1) for axis in reversed(axes)]:
            pairs = told[axis][1][of]
            if not pairs.both.size:
                continue
            others = [told[k][0][of if k < axis else of + 1] for k in axes if k != axis]
            row = self._each * math.prod([x.most for x in others])
            block = self._each * math.prod([one[k] for k in axes if k != axis])
            most = np.maximum(pairs.one, pairs.two)
            held.append(row @ most + block @ (pairs.both - most))
            if len(held) == 1 and not alone:  # two blocks are read at a time
                floor = max(floor, held[0].max())
            elif not alone:  # the last one of a row, and the first one of the next
                turned = [k for k in axes if k > axis or (of and k < axis)]
                turn = sum([math.prod([told[k][2][at] for k in turned]) for at in (0, 1)])
                alike = math.prod([one[k] for k in axes if k not in turned])
                floor = max(floor, float((self._each * alike * turn).sum()))
            row = self._each * math.prod([x.total for x in others]) * pairs.times
            saved.append(row @ (pairs.one + pairs.two - pairs.both))
        if held:
            total = (self._each * math.prod([parts[0].total for parts, *_ in told])).sum()
            yield from _steps(floor, total, np.concatenate(held), np.concatenate(saved))


def _steps(
    floor: float, total: float, held: NumpyArray, saved: NumpyArray
) -> Iterator[tuple[int, float]]:
    order = held.argsort(kind="stable")
    held = np.maximum(held[order], floor)
    left = total - np.cumsum(saved[order])
    last = math.inf
    count = math.ceil(math.log(max(left[-1], 1) / total, _STEP)) if total else 0
    targets = np.maximum(total * _STEP ** np.arange(1, count + 1), left[-1])
    for k in dict.fromkeys(np.searchsorted(-left, -targets).tolist()):
        k = int(np.searchsorted(held, held[min(k, len(held) - 1)], "right")) - 1
        if left[k] < last:
            last = float(left[k])
            yield math.ceil(held[k]), last


class _Side:
    """Blocks along a dimension.

    Attributes
    ----------
    ends : dict
        For an operand and each dimension of it that is read elsewhere for other blocks, where the
        chunks begin and end that blocks of some numbers touch.
    """

    __slots__ = ("_blocks", "_count", "_names", "_told", "ends")

    def __init__(self, count: int, names: list[Any], table: dict[int, Boxes], even: bool) -> None:
        self._count, self._names = count, len(names)
        self.ends: dict[tuple[int, int], Callable[[NumpyArray], NumpyArray]] = {}
        for number, name in enumerate(names):
            known = {at: found[name] for at, found in table.items() if name in found}
            for k in range(len(next(iter(known.values()))[1]) if known else 0):
                spans = {at: (box[k][0], box[k][-1]) for at, (_, box) in known.items()}
                source = next(iter(known.values()))[0]
                if len({*spans.values()}) > 1 or len(known) < len(table):
                    way = _evenly if even else _one_by_one
                    self.ends[number, k] = way(source, k, spans, count)
        numbers = np.arange(min(count, _LOOKED))
        self._told: dict[int, Told] = {}
        self._blocks = self._parts(numbers, numbers, count)

    def told(self, blocks: int) -> Told:
        """Return what strips of so many blocks have."""
        if blocks in self._told:
            return self._told[blocks]
        count, each = self._count, min(blocks, self._count)
        strips = -(-count // each)
        some = np.arange(min(strips, _LOOKED)) * each
        last = np.minimum(some + each, count) - 1
        numbers = np.arange(min(count, _LOOKED) - 1)
        inside = numbers[(numbers + 1) % each > 0]
        within = self._pairs((inside, inside), (inside + 1, inside + 1), count - strips)
        between = self._pairs((some[:-1], last[:-1]), (some[1:], last[1:]), strips - 1)
        end = np.array([count - 1])
        everything = self._parts(end * 0, end, 1)
        parts = self._blocks, self._parts(some, last, strips), everything
        edges = self._touched(some, some).max(axis=1), self._touched(last, last).max(axis=1)
        self._told[blocks] = parts, (within, between), edges
        return self._told[blocks]

    def _parts(self, first: NumpyArray, last: NumpyArray, count: int) -> Parts:
        found = self._touched(first, last)
        return Parts(found.sum(axis=1) * (count / len(first)), found.max(axis=1))

    def _pairs(
        self, a: tuple[NumpyArray, NumpyArray], b: tuple[NumpyArray, NumpyArray], count: int
    ) -> Pairs:
        one, two, both = self._touched(*a), self._touched(*b), self._touched(a[0], b[1])
        return Pairs(one, two, both, count / max(1, len(a[0])))

    def _touched(self, first: NumpyArray, last: NumpyArray) -> NumpyArray:
        """Return how many positions the chunks have that some blocks touch, from one to another."""
        made = np.ones((self._names, len(first)))
        for (number, _), ends in self.ends.items():
            (low, high), (begin, until) = ends(first), ends(last)
            made[number] *= np.maximum(high, until) - np.minimum(low, begin)
        return made


def walks(grid: Grid, make: Callable[[Box], Any], even: bool) -> list[Walk]:
    """Return the walks through a grid, of which one may read less; none if chunks cannot be kept.

    What is read of an operand here and there is one box, as far as it is for a block, or for all.
    """
    found, known = list[Walk](), list[dict[int, int]]()
    for box in (grid.middle(), whole(grid.shape)) if even else (grid.middle(),):
        piece = make(box)
        order = {id(node): k for k, node in enumerate(requests(piece.node))}
        names = {order[id(user)]: k for k, x in enumerate(piece.loads) for user in x.users}
        if names not in known:
            known.append(names)
            asked = functools.partial(_asked, make, names if even else None)
            with contextlib.suppress(ValueError):
                found.append(Walk(grid, asked, even))
    return found


def _asked(make: Callable[[Box], Any], names: dict[int, int] | None, box: Box) -> Boxes:
    """Return what a block reads: of what has one name, or of each operand, one box."""
    found: Boxes = {}
    nodes = requests(make(box).node)
    if names and len(nodes) != len(names):
        raise ValueError("blocks that read others")
    for k, node in enumerate(nodes):
        request: Any = node.source
        source, own = request.source, request.box
        if not keeps(source) or not all([isinstance(s, range) for s in own]):
            raise ValueError("chunks that cannot be kept")
        name = names[k] if names else id(source)
        if name in found:
            both = zip(found[name][1], own, strict=True)
            own = tuple([range(min(a[0], b[0]), max(a[-1], b[-1]) + 1) for a, b in both])
        found[name] = source, own
    return found


def _row(grid: Grid, axis: int, number: int) -> Box:
    """Return the blocks that lie beside each other at a place along a dimension."""
    box = list(whole(grid.shape))
    box[axis] = grid.box([number if k == axis else 0 for k in range(len(box))])[axis]
    return tuple(box)


def _around(source: Any, k: int, low: Any, high: Any) -> NumpyArray:
    """Return where the chunks begin and end that lie from one position to another."""
    chunk = source.chunks[k]
    return np.array(
        [low // chunk * chunk, np.minimum((high // chunk + 1) * chunk, source.shape[k])]
    )


Spans = dict[int, tuple[int, int]]
Ends = Callable[[NumpyArray], NumpyArray]


def _evenly(source: Any, k: int, spans: Spans, count: int) -> Ends:
    """Return where the chunks of blocks are that are as far from each other as the first two."""
    (a, b), (c, d), (e, f) = spans[0], spans[1], spans[count - 1]
    step = max(c - a, d - b, key=abs)  # the last block may be smaller

    def ends(numbers: NumpyArray) -> NumpyArray:
        low = np.clip(a + numbers * step, min(a, e), None)
        return _around(source, k, low, np.clip(b + numbers * step, None, max(b, f)))

    return ends


def _one_by_one(source: Any, k: int, spans: Spans, count: int) -> Ends:
    """Return where the chunks of blocks are, at the nearest ones of those that read none."""
    made = np.zeros((2, count), np.int64)
    known = sorted(spans)
    for at in range(count):
        if at in spans:
            made[:, at] = _around(source, k, *spans[at])
        else:
            made[:, at] = (
                made[1, at - 1] if at > known[0] else _around(source, k, *spans[known[0]])[0]
            )
    return lambda numbers: made[:, numbers]
