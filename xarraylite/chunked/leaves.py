"""Sums over everything whose rows of chunks are too much for the budget, block by block.

Leaves of a sum (`joins`) are neighbours in memory, so they lie in parts of several chunks beside
each other, and most begin inside of a row and end in the next one.  A piece of whole leaves has
whole rows; where a row of chunks is more than the budget has room for, pieces decode each chunk
again and again.  Here blocks are as the chunks are: their values are put into leaves as the kernels
put them into a block's scratch.  What begins in the middle of a leaf waits until what is before it
is there, which is the end of the row above; so two leaves have only some of their values for each
row that a block has.  Where rows are shorter than leaves, all that a row of blocks touches wait.
Of what is cut out of rows, or stretched along them, each row begins with a leaf of its own.

A task of a cluster takes blocks that follow each other, one at a time, and gives back what their
leaves come to, and the values of leaves that others have values of; its blocks are so many that
these are few.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..codegen.emit.folding import FOLDED, Form
from ..compiler.tree import Tree
from ..dtypes.names import NumpyArray
from ..ir import build
from ..ir.node import Reduce
from ..ops.reductions import SUM, undivided
from .cut import requests
from .division import Begin, Result
from .grid import Grid
from .idle import Idle
from .joins import KEPT, Join, leaf_of, rest_lengths
from .lengths import lengths_of
from .parcel import Parcel
from .pipeline import Run, computed, run_blocks
from .plan import Choice, Cuts, Cutter, Piece, choose
from .selection import whole

#: Leaves of neighbours in the blocks of a task, of which two may have values of other tasks.
_MANY = 128


class Values(Cutter):
    """Cuts blocks of what is summed.

    Parameters
    ----------
    parcel : Parcel
        The values.
    once : int
        Bytes in flight where a block has whole chunks.
    """

    __slots__ = ("once",)

    def __init__(self, parcel: Parcel, once: int) -> None:
        super().__init__(parcel)
        self.once = once

    def __reduce__(self) -> Any:
        return type(self), (self.parcel, self.once)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the leaves of a sum over everything are, in row-major order of what is summed.

    Attributes
    ----------
    shape : tuple of int
        Shape of what is summed.
    row : int
        How many values are neighbours in memory; each such row begins with a leaf.
    part : int
        Values of a row that are of one part of the tree, each of which begins with a leaf too.
    rows : int
        Rows of a part that has whole ones.
    leaf : int
        Values of a leaf; less of the last one of a row or part.
    """

    shape: tuple[int, ...]
    row: int
    part: int
    rows: int
    leaf: int

    @staticmethod
    def of(node: Reduce, tree: Tree) -> Places | None:
        """Return where leaves are; None if they are others, or so short that pieces have many."""
        shape, (first, until, low, high) = node.arg.shape, tree.parts[0]
        found = Places(shape, tree.loops[-1], high - low, until - first, tree.block)
        if (
            node.shape
            or node.op is not SUM
            or node.dtype.char not in KEPT
            or tree.form is not Form.ALONG
            or found.row < tree.block // FOLDED
            or found.row not in [math.prod(shape[k:]) for k in range(len(shape))]
        ):
            return None
        return found

    def at(self, position: Any) -> tuple[Any, Any]:
        """Return where the leaf begins that a value lies in, and where it ends; or of many."""
        row, along = divmod(position, self.row)
        part, inside = divmod(along, self.part)
        part = row * self.row + part * self.part
        start = part + inside // self.leaf * self.leaf
        end = np.minimum(part + self.part, (row + 1) * self.row)
        return start, np.minimum(start + self.leaf, end)

    def ends_part(self, until: int) -> bool:
        """Tell whether a part of the tree ends with a leaf."""
        along = until % self.row % self.part
        return until == math.prod(self.shape) or not (
            along or (self.part == self.row and until // self.row % self.rows)
        )

    def waiting(self, block: Sequence[int]) -> int:
        """Return how many values there may be in leaves that other blocks have values of.

        While blocks follow each other along a dimension, each of their indices along those before
        has a leaf at its beginning, whose first values come last, and one where the blocks are; but
        no more than all indices from the first to the last one touch.
        """
        begun, leaf = self.leaf // FOLDED, min(self.leaf, self.part)
        step = math.prod(self.shape)
        found, indices, touched = leaf, 1, self._touched(step)
        for own, extent in zip(block, self.shape, strict=True):
            step //= extent
            if own < extent and step % self.row:
                found += min(indices * (leaf + 2 * begun), touched * (leaf + begun))
            touched = min(touched, indices * self._touched(own * step))
            indices *= own
        return found

    def together(self, grid: Grid) -> int:
        """Return how many blocks, in order, make one task: values beside each other are many."""
        step = per = 1
        for own, extent, count in [*zip(grid.block, self.shape, grid.counts, strict=True)][::-1]:
            times = -(-_MANY * self.leaf // (own * step))
            if times <= count:
                return times * per
            step, per = step * extent, per * count
        return per

    def _touched(self, count: int) -> int:
        """Return how many leaves neighbours touch at most; they are whole rows, or of one row."""
        rows, rest = divmod(count, self.row)
        parts, end = divmod(self.row, self.part)
        each = parts * -(-self.part // self.leaf) - (-end // self.leaf)
        return rows * each + (min(each, rest // self.leaf + rest // self.part + 3) if rest else 0)


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a sum over everything is folded in blocks of any shape.

    Attributes
    ----------
    node : Reduce
        The sum.
    tree : Tree
        Its order.
    places : Places
        Its leaves.
    choice : Choice
        The blocks.
    make : Values
        Cuts them.
    """

    node: Reduce
    tree: Tree
    places: Places
    choice: Choice
    make: Values

    @staticmethod
    def of(node: Reduce, tree: Tree, run: Run) -> Blocks | None:
        """Return the blocks of a sum; None if its leaves are others, or chunks differ.

        Raises
        ------
        SizeError
            If the budget is too small for a block and the leaves that wait beside it.
        """
        places = Places.of(node, tree)
        if (
            places is None
            or node.arg.dtype != node.dtype
            or all([len(x.shape) != len(node.arg.shape) for x in requests(node.arg)])
        ):
            return None

        def aside(block: tuple[int, ...]) -> int:
            return places.waiting(block) * node.dtype.itemsize

        shape, lengths = node.arg.shape, tuple(lengths_of(node.arg))
        chunk = tuple(map(min, lengths, shape))
        parcel = Parcel(node.arg)
        make = Values(parcel, Cutter(parcel)(whole(chunk)).need + aside(chunk))

        def keep(grid: Grid) -> bool:
            return run.keeps and grid.strip == grid.counts  # others leave more leaves behind

        choice = choose(make, shape, lengths, run.budget, False, keep=keep, aside=aside)
        return Blocks(node, tree, places, choice, make)

    @property
    def moved(self) -> float:
        """Bytes that are read, about."""
        return self.choice.rate * math.prod(self.choice.grid.shape)

    def results(self, run: Run, begin: Begin) -> Iterator[Result]:
        """Yield the result, if it is not there."""
        node, choice, grid = self.node, self.choice, self.choice.grid
        if begin(()):
            return
        made, per = Leaves(node, self.tree, self.places), 1
        pieces, take = Cuts(self.make, grid), cast("Any", made.take)
        if isinstance(run.cluster, Idle):
            take = None
        elif run.cluster is not None:
            per = self.places.together(grid)
            gives = functools.partial(_sums, Parcel(node), self.tree, self.places)
            pieces, take = Tasks(self.make, grid, gives=gives, per=per), made.join
        run.report(f"{node.op.name} over axes {node.axes}", -(-len(grid) // per))
        for piece in run_blocks(pieces, run, take, kept=choice.kept, need=choice.need):
            run.advance(piece)
        yield (), np.zeros((), node.dtype) if take is None else made.result()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks(Cuts):
    """Blocks that tasks of a cluster make something else of.

    Attributes
    ----------
    gives : callable
        What a task gives back of its blocks and their values.
    per : int
        How many blocks it has.
    """

    gives: Callable[[Iterable[Any]], Any]
    per: int


def _sums(parcel: Parcel, tree: Tree, places: Places, blocks: Iterable[Any]) -> Given:
    """Return what the leaves of some blocks come to, and those that are open."""
    made = Leaves(cast("Reduce", parcel.node), tree, places, False)
    for piece, values in blocks:
        made.take(piece, values)
    return made.given()


class Leaves:
    """Puts the values of blocks into leaves, and joins these in order.

    Parameters
    ----------
    node : Reduce
        The sum.
    tree : Tree
        Its order.
    places : Places
        Its leaves.
    joins : bool, default True
        Whether leaves are joined; otherwise they are given to somebody.
    """

    __slots__ = ("_done", "_join", "_next", "_node", "_open", "_places")

    def __init__(self, node: Reduce, tree: Tree, places: Places, joins: bool = True) -> None:
        self._node, self._places = node, places
        self._open: dict[int, _Leaf] = {}
        self._done: dict[int, tuple[NumpyArray, int]] = {}
        self._next, self._join = 0 if joins else -1, Join(node, tree, ())

    def take(self, piece: Piece, values: NumpyArray) -> None:
        """Take the values of a block."""
        box: Any = piece.box
        shape = self._places.shape
        along = max([k for k, s in enumerate(box) if len(s) != shape[k]], default=0)
        inner = math.prod(shape[along + 1 :])
        own = values.reshape(-1, len(box[along]) * inner)
        sides = [np.asarray(s) * math.prod(shape[k + 1 :]) for k, s in enumerate(box[:along])]
        before = functools.reduce(np.add.outer, sides, np.zeros((), np.int64))
        positions = before.ravel() + box[along][0] * inner
        alike = math.prod(shape[along:]) % self._places.row == 0  # one run of each row
        starts, ends = self._places.at(positions)
        along_run = np.arange(own.shape[1])
        groups = [] if alike else np.flatnonzero(np.diff(starts, prepend=-1, append=-1)).tolist()
        with np.errstate(all="ignore"):
            if alike:
                self._put_runs(positions, own)
            for low, high in itertools.pairwise(groups):
                inside = high - (positions[high - 1] + own.shape[1] > ends[low])
                if inside - low > 1:
                    places = np.add.outer(positions[low:inside] - starts[low], along_run)
                    values = own[np.newaxis, low:inside]
                    self._put(starts[low : low + 1], int(ends[low]), places, values)
                    low = inside
                for k in range(low, high):
                    self._put_runs(positions[k : k + 1], own[k : k + 1])
        self._go_on()

    def given(self) -> Given:
        """Return what leaves come to, where they begin and end, and those that are open."""
        folded = [values for values, _ in self._done.values()]
        ends = [(end, len(values)) for values, end in self._done.values()]
        values = np.concatenate(folded or [np.empty(0, self._node.dtype)])
        return np.array([*self._done], np.int64), np.array(ends, np.int64), values, self._open

    def join(self, piece: Piece, given: Given) -> None:
        """Take what a task has given."""
        starts, ends, values, opened = given
        at = np.split(values, np.cumsum(ends.reshape(-1, 2)[:-1, 1]))
        for start, (end, _), folded in zip(starts.tolist(), ends.tolist(), at, strict=False):
            self._done[start] = folded, end
        with np.errstate(all="ignore"):
            for leaf in opened.values():
                self._settle(leaf.joined(self._open.get(int(leaf.starts[0]))))
        self._go_on()

    def _go_on(self) -> None:
        """Join the leaves that follow those that are joined."""
        while self._next in self._done:
            folded, self._next = self._done.pop(self._next)
            self._join.take_leaves(folded, False, self._places.ends_part(self._next))

    def _settle(self, leaf: _Leaf) -> None:
        """Fold leaves if all is there."""
        start, length = int(leaf.starts[0]), leaf.length
        self._open[start] = leaf
        if not leaf.left:
            for low, folded in zip(leaf.starts.tolist(), leaf.folded(self._node), strict=True):
                self._done[low] = folded, low + length
            del self._open[start]

    def _put_runs(self, positions: NumpyArray, own: NumpyArray) -> None:
        """Put rows of neighbours, which lie alike in leaves of their own, into these."""
        while own.shape[1]:
            starts, ends = self._places.at(positions)
            first, count = int(positions[0] - starts[0]), int(ends[0] - positions[0])
            part, own = own[:, :count], own[:, count:]
            self._put(starts, int(ends[0]), slice(first, first + part.shape[1]), part)
            positions = positions + count

    def _put(
        self, starts: NumpyArray, until: int, places: slice | NumpyArray, own: NumpyArray
    ) -> None:
        """Put values into leaves of one length, and fold these when all are there.

        ``until`` is where the first one ends.
        """
        start = int(starts[0])
        leaf = self._open.get(start)
        if leaf is None:
            short = until - start < self._places.leaf  # folded otherwise
            leaf = (_Short if short else _Leaf)(starts, until - start, own.dtype)
        leaf.take(places, own)
        self._settle(leaf)

    def result(self) -> NumpyArray:
        """Return the sum."""
        return self._join.result()


class _Leaf:
    """Values of leaves: those from their beginning on added up, row by row, and others.

    Attributes
    ----------
    starts : numpy.ndarray
        Where they begin.
    length : int
        How many values each has.
    left : int
        How many of each are not there.
    """

    __slots__ = ("_first", "_others", "_parts", "_rows", "_there", "left", "length", "starts")

    def __init__(self, starts: NumpyArray, length: int, dtype: np.dtype[Any]) -> None:
        self.starts, self.length, self.left = starts, length, length
        self._rows: NumpyArray = np.empty((len(starts), length // FOLDED), dtype)
        self._others: NumpyArray | None = None  # from some place on
        self._parts: list[slice | NumpyArray] = []  # where there are some
        self._first = self._there = 0

    def take(self, places: slice | NumpyArray, values: NumpyArray) -> None:
        """Take values that are neighbours, or of some places."""
        count, width = self._rows.shape
        self.left -= values.size // count
        if isinstance(places, slice) and places.start == self._there:
            self._add(values)
        else:
            if self._others is None:
                self._first = self._there
                self._others = np.empty((count, FOLDED * width - self._there), values.dtype)
            if isinstance(places, slice):
                places = slice(places.start - self._first, places.stop - self._first)
            else:
                places = places - self._first
            self._others[:, places] = values
            self._parts.append(places)
        if not self.left and self._others is not None:
            self._add(self._others[:, self._there - self._first :])

    def joined(self: Any, other: Any) -> Any:
        """Return the same leaves with the values that others have of them, if there are some."""
        if other is None:
            return self
        begun, rest = (self, other) if self._there else (other, self)
        for part in rest._parts:
            begun.take(part, rest._others[:, part])
        return begun

    def _add(self, part: NumpyArray) -> None:
        """Do as `Fold.fill` does."""
        width = self._rows.shape[1]
        while part.shape[1]:
            at = self._there % width
            some, part = part[:, : width - at], part[:, width - at :]
            to = self._rows[:, at : at + some.shape[1]]
            if self._there < width:
                to[...] = some
            else:
                to += some
            self._there += some.shape[1]

    def folded(self, node: Reduce) -> Iterator[NumpyArray]:
        """Yield the sum of each, as by `Fold.halve`."""
        rows, wide = self._rows, self._rows.shape[1]
        while wide > 1:
            half = (wide + 1) // 2 | (wide > 16)
            rows[:, : wide - half] += rows[:, half:wide]
            wide = half
        yield from rows[:, :1].copy()


class _Short(_Leaf):
    """Values of less than a leaf, of one or many, which the engine folds when all are there."""

    __slots__ = ()

    def take(self, places: slice | NumpyArray, values: NumpyArray) -> None:
        """As of a leaf."""
        if self._others is None:
            self._rows = self._rows[:, :0]
            self._others = np.empty((len(self.starts), self.length), values.dtype)
        self.left -= values.size // len(self.starts)
        self._others[:, places] = values
        self._parts.append(places)

    def folded(self, node: Reduce) -> Iterator[NumpyArray]:
        """As of a leaf."""
        assert self._others is not None, "all values are there"
        ends = [*itertools.accumulate(rest_lengths(node, self.length))]
        for values in self._others:
            parts = np.split(values[np.newaxis], ends[:-1], axis=1)
            found = [build.reduce(undivided(node.op), leaf_of(x), (1,), False) for x in parts]
            yield np.concatenate(list(map(computed, found)))


#: Where leaves begin and end, and how many values each comes to; these; those that are open.
Given = tuple[NumpyArray, NumpyArray, NumpyArray, dict[int, _Leaf]]
