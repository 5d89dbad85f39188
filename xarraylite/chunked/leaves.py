"""Sums over everything whose rows of chunks are too much for the budget, block by block.

Leaves of a sum (`joins`) are neighbours in memory, so they lie in parts of several chunks beside
each other, and most begin inside of a row and end in the next one.  A piece of whole leaves has
whole rows; where a row of chunks is more than the budget has room for, pieces decode each chunk
again and again.  Here blocks are as the chunks are: their values are put into leaves, of which
those that have only some of theirs are kept, one for each row that a block has.  A leaf that has
all of them is folded as the kernels fold it.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codegen.emit.folding import FOLDED, Form, block_of
from ..dtypes.names import NumpyArray
from ..ir import build
from ..ops.reductions import undivided
from .budget import BudgetError
from .division import Begin, Result, lengths_of
from .idle import Idle
from .joins import Join, leaf_of, rest_lengths
from .parcel import Parcel
from .pipeline import Run, computed, run_blocks
from .plan import Choice, Cuts, Cutter, Piece, choose
from .selection import Box, shape_of, whole
from .trees import Parts


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a sum over everything is folded in blocks of any shape.

    Attributes
    ----------
    plan : Parts
        Its leaves.
    choice : Choice
        The blocks.
    aside : int
        Bytes of leaves that have only some of their values.
    """

    plan: Parts
    choice: Choice
    aside: int

    @staticmethod
    def of(plan: Parts, run: Run) -> Blocks | None:
        """Return the blocks of a sum; None if its leaves are others, or too many.

        Half of the budget is for leaves, or as much as twice the chunks need; the rest for blocks.

        Raises
        ------
        SizeError
            If the rest is too small for a block.
        """
        leaves, node = plan.finer(), plan.node
        if (
            leaves is None
            or node.shape
            or not run.keeps
            or (leaves.tree.form, leaves.inner) != (Form.ALONG, 1)
            or leaves.unit % leaves.leaf
            or node.arg.dtype != node.dtype
        ):
            return None

        def aside(box: Box) -> int:
            rows = sum(itertools.accumulate(shape_of(box)[:-1], operator.mul), 1)
            return int(rows * leaves.leaf * node.dtype.itemsize)

        make, shape, lengths = Cutter(Parcel(node.arg)), node.arg.shape, lengths_of(node.arg)
        budget, twice = run.budget, 2 * aside(whole(lengths))
        room = min(budget // 2, twice)
        for keep in (True, False):
            try:
                choice = choose(
                    make,
                    shape,
                    lengths,
                    budget - room,
                    False,
                    lambda box: aside(box) <= room,
                    keep=keep,
                )
            except BudgetError as error:
                least = error.least + min(error.least, twice)
                raise BudgetError(error.told, budget, least) from None
            if choice.grid.strip in ((), choice.grid.counts):
                break  # strips would leave more leaves behind
        needed = aside(whole(choice.grid.block))
        return Blocks(leaves, choice, needed) if needed <= room else None

    @property
    def moved(self) -> float:
        """Bytes that are read, about."""
        return self.choice.rate * self.plan.length

    def results(self, run: Run, begin: Begin) -> Iterator[Result]:
        """Yield the result, if it is not there."""
        node, choice, grid = self.plan.node, self.choice, self.choice.grid
        if begin(()):
            return
        run.report(f"{node.op.name} over axes {node.axes}", len(grid))
        made, idle = _Leaves(self.plan, grid.shape), isinstance(run.cluster, Idle)
        for piece in run_blocks(
            Cuts(Cutter(Parcel(node.arg)), grid),
            run,
            None if idle else made.take,
            kept=choice.kept,
            need=choice.need + self.aside,
        ):
            run.advance(piece)
        yield (), np.zeros((), node.dtype) if idle else made.result()


class _Leaves:
    """Puts the values of blocks into leaves, and joins these in order.

    Parameters
    ----------
    plan : Parts
        The leaves.
    shape : tuple of int
        Shape of all values.
    """

    __slots__ = ("_done", "_join", "_next", "_open", "_plan", "_row", "_shape")

    def __init__(self, plan: Parts, shape: tuple[int, ...]) -> None:
        self._plan, self._shape = plan, shape
        self._open: dict[int, tuple[NumpyArray, int]] = {}  # values, and how many are there
        self._done: dict[int, Any] = {}
        self._next, self._join = 0, Join(plan.node, plan.tree, ())
        rows = FOLDED if plan.leaf > block_of(plan.node.dtype) else 1
        self._row = np.empty(plan.leaf // rows, plan.node.dtype)

    def take(self, piece: Piece, values: NumpyArray) -> None:
        """Take the values of a block."""
        box: Any = piece.box
        shape = self._shape
        along = max([k for k, s in enumerate(box) if len(s) != shape[k]], default=0)
        inner = math.prod(shape[along + 1 :])
        neighbours = values.reshape(-1, len(box[along]) * inner)
        for index, own in zip(itertools.product(*box[:along]), neighbours, strict=True):
            row = 0
            for k, extent in zip(index, shape, strict=False):
                row = row * extent + k
            self._put((row * shape[along] + box[along][0]) * inner, own)
        while self._next in self._done:
            value, until = self._done.pop(self._next), (self._next + 1) * self._plan.leaf
            self._count(np.array([value]), until)
            self._next += 1

    def _put(self, start: int, own: NumpyArray) -> None:
        """Put neighbours into the leaves that they lie in."""
        leaf, at = self._plan.leaf, 0
        while at < len(own):
            number, place = divmod(start + at, leaf)
            part = own[at : at + leaf - place]
            at += len(part)
            if len(part) < leaf:
                if number not in self._open:
                    self._open[number] = np.empty(leaf, own.dtype), 0
                room, there = self._open.pop(number)
                room[place : place + len(part)] = part
                if there + len(part) < leaf:
                    self._open[number] = room, there + len(part)
                    continue
                part = room
            self._done[number] = self._folded(part)

    def _folded(self, values: NumpyArray) -> Any:
        """Return a leaf folded as by `Fold.fill` and `Fold.halve`."""
        row, wide = self._row, len(self._row)
        with np.errstate(all="ignore"):
            row[...] = values[:wide]
            for low in range(wide, len(values), wide):
                row += values[low : low + wide]
            while wide > 1:
                half = (wide + 1) // 2 | (wide > 16)
                row[: wide - half] += row[half:wide]
                wide = half
        return row[0]

    def _count(self, values: NumpyArray, until: int) -> None:
        ends = until % self._plan.unit == 0 or until == self._plan.length
        self._join.take_leaves(values, False, ends)

    def result(self) -> NumpyArray:
        """Return the sum; less than a leaf is left."""
        node, at = self._plan.node, self._next * self._plan.leaf
        for room, there in self._open.values():
            start = at
            for length in rest_lengths(node, there):
                part = leaf_of(room[at - start : at - start + length].reshape(1, length))
                at += length
                self._count(computed(build.reduce(undivided(node.op), part, (1,), False)), at)
        return self._join.result()
