"""Sums and products whose rows of chunks are too much for the budget, block by block.

Leaves (`joins`) are neighbours in memory, so they lie in parts of several chunks beside
each other, and most begin inside of a row and end in the next one.  A piece of whole leaves has
whole rows; where a row of chunks is more than the budget has room for, pieces decode each chunk
again and again.  Here blocks are as the chunks are: their values are put into leaves as the kernels
put them into a block's scratch.  What begins in the middle of a leaf waits until what is before it
is there, which is the end of the row above; so two leaves have only some of their values for each
row that a block has.  Where rows are shorter than leaves, all that a row of blocks touches wait.
Of what is cut out of rows, or stretched along them, each row begins with a leaf of its own.
Where there are several results, all that a block has are folded at once: dimensions of results come
first, so that the blocks of the same ones follow each other.  Across many results, leaves are some
rows of values, which are folded one after another (`Rows`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codegen.emit.folding import FOLDED, Form
from ..codegen.emit.reduction import ROWS
from ..compiler.steps import WIDE
from ..compiler.tree import Tree
from ..dtypes.names import NumpyArray
from ..ir import build
from ..ir.node import Reduce
from ..ops.reductions import undivided
from .grid import Grid
from .joins import Join, has_leaves, leaf_of, rest_lengths, ufunc_of
from .piece import Piece
from .pipeline import computed
from .selection import Box

#: Leaves of neighbours in the blocks of a task, of which two may have values of other tasks.
_MANY = 128


@dataclass(frozen=True, slots=True)
class Places:
    """Where the leaves of a sum or product are, in row-major order of what makes one result.

    Attributes
    ----------
    shape : tuple of int
        Shape of that.
    row : int
        How many values are neighbours in memory; each such row begins with a leaf.
    part : int
        Values of a row that are of one part of the tree, each of which begins with a leaf too.
    rows : int
        Rows of a part that has whole ones.
    leaf : int
        Values of a leaf; less of the last one of a row or part.
    across : int
        Parts whose leaves are rows across results; 0 where they are neighbours.
    """

    shape: tuple[int, ...]
    row: int
    part: int
    rows: int
    leaf: int
    across: int = 0

    @staticmethod
    def of(node: Reduce, tree: Tree) -> Places | None:
        """Return where leaves are; None if they are others."""
        shape, across = tuple([node.arg.shape[k] for k in node.axes]), tree.form is Form.ACROSS
        first, until, low, high = tree.parts[0]
        if not has_leaves(node):
            return None
        if across:  # one dimension, whose rows are neighbours in time
            found = Places(shape, math.prod(shape), until - first, 1, ROWS, len(tree.parts))
            return found if math.prod(shape) == max(shape) == tree.loops[0] else None
        found = Places(shape, tree.loops[-1], high - low, until - first, tree.block)
        rows = [math.prod(shape[k:]) for k in range(len(shape))]
        return found if found.row in rows else None

    def at(self, position: Any) -> tuple[Any, Any]:
        """Return where the leaf begins that a value lies in, and where it ends; or of many."""
        row, along = divmod(position, self.row)
        part, inside = divmod(along, self.part)
        part = row * self.row + part * self.part
        start = part + inside // self.leaf * self.leaf
        end = np.minimum(part + self.part, (row + 1) * self.row)
        return start, np.minimum(start + self.leaf, end)

    def alike(self, box: Box) -> tuple[int, bool]:
        """Return the last dimension that a box cuts, and whether what it has of rows lies alike."""
        cut = [k for k, s in enumerate(box) if len(s) != self.shape[k]]
        along = max(cut, default=0)
        return along, math.prod(self.shape[along:]) % self.row == 0

    def ends_part(self, until: int) -> bool:
        """Tell whether a part of the tree ends with a leaf."""
        along = until % self.row % self.part
        return until == math.prod(self.shape) or not (
            along or (self.part == self.row and until // self.row % self.rows)
        )

    def waiting(self, block: Sequence[int]) -> int:
        """Return how many values there may be in leaves that other blocks have values of.

        Of blocks that follow each other as values do, there are those of one leaf, row by row.
        While blocks follow each other along a dimension, each of their indices along those before
        has a leaf at its beginning, whose first values come last unless it begins with a leaf, and
        one where the blocks are; but no more than all indices from the first to the last one touch.
        """
        if self.across:  # what a block has whole leaves of, the counter, and results of parts
            levels = (self.part // ROWS).bit_length()
            return math.prod(block) // ROWS + 2 + levels + self.across
        begun, leaf = self.leaf // FOLDED, min(self.leaf, self.part)
        step = math.prod(self.shape)
        wide = [k for k, n in enumerate(block) if n > 1]
        if not wide or tuple(block[wide[0] + 1 :]) == self.shape[wide[0] + 1 :]:
            short = [n % self.leaf for n in (self.part, self.row % self.part)]
            rows = -(-math.prod(block) // self.row)
            return rows * max(begun if self.part >= self.leaf else 0, *short)
        found, indices, touched = leaf, 1, self._touched(step)
        even = self.part % self.leaf == self.row % self.part == 0
        for own, extent in zip(block, self.shape, strict=True):
            first = 0 if even and step % self.leaf == 0 else leaf + begun
            step //= extent
            if own < extent and step % self.row:
                found += min(indices * (first + begun), touched * (leaf + begun))
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


class Leaves:
    """Puts the values of blocks into leaves, and joins these in order.

    Parameters
    ----------
    node : Reduce
        The sum, or product.
    tree : Tree
        Its order.
    places : Places
        Its leaves.
    shape : tuple of int, optional
        Shape of the results; the blocks have values of all of them.
    joins : bool, default True
        Whether leaves are joined; otherwise they are given to somebody.
    """

    __slots__ = ("_done", "_join", "_next", "_node", "_open", "_places", "_results", "_shape")

    def __init__(
        self,
        node: Reduce,
        tree: Tree,
        places: Places,
        shape: tuple[int, ...] = (),
        joins: bool = True,
    ) -> None:
        self._node, self._places, self._shape = node, places, shape
        self._results = math.prod(shape)
        self._open: dict[int, _Leaf] = {}
        self._done: dict[int, tuple[NumpyArray, int]] = {}
        self._next, self._join = 0 if joins else -1, Join(node, tree, (self._results,))

    @property
    def ended(self) -> bool:
        """Whether all leaves are joined."""
        return self._next == math.prod(self._places.shape)

    def take(self, piece: Piece, values: NumpyArray) -> None:
        """Take the values of a block."""
        box: Any = piece.box[len(self._shape) :]
        shape, results = self._places.shape, self._results
        along, alike = self._places.alike(box)  # one run of each row
        inner = math.prod(shape[along + 1 :])
        width = len(box[along]) * inner if box else 1
        own = values.reshape(results, -1, width)
        sides = [np.asarray(s) * math.prod(shape[k + 1 :]) for k, s in enumerate(box[:along])]
        before = functools.reduce(np.add.outer, sides, np.zeros((), np.int64))
        positions = before.ravel() + box[along][0] * inner
        starts, ends = self._places.at(positions)
        along_run = np.arange(width)
        groups = [] if alike else np.flatnonzero(np.diff(starts, prepend=-1, append=-1)).tolist()
        with np.errstate(all="ignore"):
            if alike:
                self._put_runs(positions, own.reshape(-1, width))
            for low, high in itertools.pairwise(groups):
                inside = high - (positions[high - 1] + width > ends[low])
                if inside - low > 1:
                    places = np.add.outer(positions[low:inside] - starts[low], along_run)
                    self._put(starts[low : low + 1], int(ends[low]), places, own[:, low:inside])
                    low = inside
                for k in range(low, high):
                    self._put_runs(positions[k : k + 1], own[:, k])
        self._go_on()

    def given(self) -> Given:
        """Return what leaves come to, where they begin and end, and those that are open."""
        folded = [values for values, _ in self._done.values()]
        ends = [(end, len(values)) for values, end in self._done.values()]
        values = np.concatenate(folded or [np.empty((0, 1), self._node.dtype)])
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
            width = -self._next
            folded, self._next = self._done.pop(self._next)
            width += self._next
            self._join.take_leaves(folded, width, self._places.ends_part(self._next))

    def _settle(self, leaf: _Leaf) -> None:
        """Fold leaves if all is there."""
        start, length = int(leaf.starts[0]), leaf.length
        self._open[start] = leaf
        if not leaf.left:
            folded = leaf.folded(self._node).reshape(self._results, len(leaf.starts), -1)
            for k, low in enumerate(leaf.starts.tolist()):
                self._done[low] = folded[:, k].T, low + length
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
            count = self._results * len(starts)
            new, op = _Short if short else _Leaf, ufunc_of(self._node)
            leaf = new(starts, until - start, count, own.dtype, op)
        leaf.take(places, own)
        self._settle(leaf)

    def result(self) -> NumpyArray:
        """Return the results."""
        return self._join.result().reshape(self._shape)


class Rows(Leaves):
    """Folds rows of values across many results, `ROWS` one after another, and joins these.

    Blocks come in the order of rows.
    """

    __slots__ = ("_sums",)

    def __init__(self, node: Reduce, tree: Tree, places: Places, shape: tuple[int, ...]) -> None:
        super().__init__(node, tree, places, shape)
        self._join = Join(node, tree, shape)

    def take(self, piece: Piece, values: NumpyArray) -> None:
        """Take the values of a block, whose dimensions are as the operand has them."""
        node, part, op = self._node, self._places.part, ufunc_of(self._node)
        along = max(node.axes, key=lambda k: node.arg.shape[k])
        rows = np.moveaxis(values, along, 0).reshape(-1, *self._shape)
        with np.errstate(all="ignore"):
            while len(rows):
                at = self._next % part
                begun, left = at % ROWS, min(len(rows), part - at)
                many, width = (1, min(left, ROWS - begun)) if begun else (left // ROWS, ROWS)
                if not many:
                    many, width = 1, left
                own, rows = rows[: many * width], rows[many * width :]
                if not begun:
                    self._sums = np.full((many, *self._shape), op.identity, values.dtype)
                for k in range(width):
                    op(self._sums, own[k::width], out=self._sums)
                self._next += many * width
                done = (self._next - 1) % part + 1
                last = done == part or self.ended
                if last or done % ROWS == 0:
                    self._join.take_leaves(self._sums, (done - 1) % ROWS + 1, last)


def leaves_of(
    node: Reduce, tree: Tree, places: Places, shape: tuple[int, ...] = (), joins: bool = True
) -> Leaves:
    """Return the leaves of some results, of which there is nothing yet; as of `Leaves`."""
    if places.across:
        return Rows(node, tree, places, shape)
    return Leaves(node, tree, places, shape, joins)


class _Leaf:
    """Values of leaves: those from their beginning on folded, row by row, and others.

    Attributes
    ----------
    starts : numpy.ndarray
        Where they begin; each is one of every result.
    length : int
        How many values each has.
    left : int
        How many of each are not there.
    """

    __slots__ = (
        "_first",
        "_op",
        "_others",
        "_parts",
        "_rows",
        "_there",
        "left",
        "length",
        "starts",
    )

    def __init__(
        self, starts: NumpyArray, length: int, count: int, dtype: np.dtype[Any], op: np.ufunc
    ) -> None:
        self._op = op
        self.starts, self.length, self.left = starts, length, length
        self._rows: NumpyArray = np.empty((count, length // FOLDED), dtype)
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
                self._op(to, some, out=to)
            self._there += some.shape[1]

    def folded(self, node: Reduce) -> NumpyArray:
        """Return what each comes to, as by `Fold.halve`."""
        rows, wide = self._rows, self._rows.shape[1]
        while wide > 1:
            half = (wide + 1) // 2 | (wide > 16)
            self._op(rows[:, : wide - half], rows[:, half:wide], out=rows[:, : wide - half])
            wide = half
        return rows[:, :1].copy()


class _Short(_Leaf):
    """Values of less than a leaf, of one or many, which the engine folds when all are there."""

    __slots__ = ()

    def take(self, places: slice | NumpyArray, values: NumpyArray) -> None:
        """As of a leaf."""
        if self._others is None:
            self._rows = self._rows[:, :0]
            self._others = np.empty((len(self._rows), self.length), values.dtype)
        self.left -= values.size // len(self._rows)
        self._others[:, places] = values
        self._parts.append(places)

    def folded(self, node: Reduce) -> NumpyArray:
        """As of a leaf."""
        assert self._others is not None, "all values are there"
        ends = [*itertools.accumulate(rest_lengths(node, self.length))]
        groups = range(WIDE - 1, len(self._others), WIDE - 1)  # more would be folded across them

        def fold(part: NumpyArray) -> NumpyArray:
            rows = [leaf_of(own) for own in np.split(part, groups)]
            folds = [build.reduce(undivided(node.op), own, (1,), False) for own in rows]
            return np.concatenate([*map(computed, folds)])

        return np.stack([fold(x) for x in np.split(self._others, ends[:-1], axis=1)], axis=1)


#: Where leaves begin and end, and how many values each comes to; these; those that are open.
Given = tuple[NumpyArray, NumpyArray, NumpyArray, dict[int, _Leaf]]
