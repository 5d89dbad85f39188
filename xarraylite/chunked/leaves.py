"""Sums over everything whose rows of chunks are too much for the budget, block by block.

Leaves of a sum (`joins`) are neighbours in memory, so they lie in parts of several chunks beside
each other, and most begin inside of a row and end in the next one.  A piece of whole leaves has
whole rows; where a row of chunks is more than the budget has room for, pieces decode each chunk
again and again.  Here blocks are as the chunks are: their values are put into leaves as the kernels
put them into a block's scratch.  What begins in the middle of a leaf waits until what is before it
is there, which is the end of the row above; so two leaves have only some of their values for each
row that a block has.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codegen.emit.folding import FOLDED, Form
from ..dtypes.names import NumpyArray
from ..ir import build
from ..ops.reductions import undivided
from .cut import requests
from .division import Begin, Result, lengths_of
from .idle import Idle
from .joins import Join, leaf_of, rest_lengths
from .parcel import Parcel
from .pipeline import Run, computed, run_blocks
from .plan import Choice, Cuts, Cutter, Piece, choose
from .selection import whole
from .trees import Parts


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
class Blocks:
    """How a sum over everything is folded in blocks of any shape.

    Attributes
    ----------
    plan : Parts
        Its leaves.
    choice : Choice
        The blocks.
    make : Values
        Cuts them.
    """

    plan: Parts
    choice: Choice
    make: Values

    @staticmethod
    def of(plan: Parts, run: Run) -> Blocks | None:
        """Return the blocks of a sum; None if its leaves are others, or chunks differ.

        Raises
        ------
        SizeError
            If the budget is too small for a block and the leaves that wait beside it.
        """
        leaves, node = plan.finer(), plan.node
        if (
            leaves is None
            or node.shape
            or not run.keeps
            or (leaves.tree.form, leaves.inner) != (Form.ALONG, 1)
            or leaves.unit % leaves.leaf
            or node.arg.dtype != node.dtype
            or all([len(x.shape) != len(node.arg.shape) for x in requests(node.arg)])
        ):
            return None

        def aside(block: tuple[int, ...]) -> int:
            rows = sum(itertools.accumulate(block[:-1], operator.mul), 1)
            return int(rows * (leaves.leaf + leaves.leaf // FOLDED) * node.dtype.itemsize)

        shape, lengths = node.arg.shape, tuple(lengths_of(node.arg))
        chunk = tuple(map(min, lengths, shape))
        parcel = Parcel(node.arg)
        make = Values(parcel, Cutter(parcel)(whole(chunk)).need + aside(chunk))
        for keep in (True, False):
            choice = choose(make, shape, lengths, run.budget, False, keep=keep, aside=aside)
            if choice.grid.strip in ((), choice.grid.counts):
                break  # strips would leave more leaves behind
        return Blocks(leaves, choice, make)

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
            Cuts(self.make, grid),
            run,
            None if idle else made.take,
            kept=choice.kept,
            need=choice.need,
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

    __slots__ = ("_done", "_join", "_next", "_open", "_plan", "_shape")

    def __init__(self, plan: Parts, shape: tuple[int, ...]) -> None:
        self._plan, self._shape = plan, shape
        self._open: dict[int, _Leaf] = {}
        self._done: dict[int, Any] = {}
        self._next, self._join = 0, Join(plan.node, plan.tree, ())

    def take(self, piece: Piece, values: NumpyArray) -> None:
        """Take the values of a block."""
        box: Any = piece.box
        shape = self._shape
        along = max([k for k, s in enumerate(box) if len(s) != shape[k]], default=0)
        inner = math.prod(shape[along + 1 :])
        neighbours = values.reshape(-1, len(box[along]) * inner)
        with np.errstate(all="ignore"):
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
            if number not in self._open:
                short = (number + 1) * leaf > self._plan.length  # not folded as leaves are
                self._open[number] = _Leaf(leaf if short else leaf // FOLDED, own.dtype)
            self._open[number].take(place, part)
            if self._open[number].there == leaf:
                self._done[number] = self._open.pop(number).folded()

    def _count(self, values: NumpyArray, until: int) -> None:
        ends = until % self._plan.unit == 0 or until == self._plan.length
        self._join.take_leaves(values, False, ends)

    def result(self) -> NumpyArray:
        """Return the sum; less than a leaf is left."""
        node, at = self._plan.node, self._next * self._plan.leaf
        for rest in self._open.values():
            start = at
            for length in rest_lengths(node, rest.there):
                part = leaf_of(rest.row[at - start : at - start + length].reshape(1, length))
                at += length
                self._count(computed(build.reduce(undivided(node.op), part, (1,), False)), at)
        return self._join.result()


class _Leaf:
    """Values of a leaf: those from its beginning on added up, row by row, and others.

    Attributes
    ----------
    row : numpy.ndarray
        Their sums.
    there : int
        How many values these are of.
    """

    __slots__ = ("_others", "row", "there")

    def __init__(self, width: int, dtype: np.dtype[Any]) -> None:
        self.row: NumpyArray = np.empty(width, dtype)
        self.there = 0
        self._others: dict[int, NumpyArray] = {}

    def take(self, place: int, part: NumpyArray) -> None:
        """Take neighbours from a place in the leaf on."""
        if place != self.there:
            self._others[place] = part.copy()
            return
        self._add(part)
        while self.there in self._others:
            self._add(self._others.pop(self.there))

    def _add(self, part: NumpyArray) -> None:
        """Do as `Fold.fill` does."""
        width = len(self.row)
        while len(part):
            at = self.there % width
            some, part = part[: width - at], part[width - at :]
            to = self.row[at : at + len(some)]
            if self.there < width:
                to[...] = some
            else:
                to += some
            self.there += len(some)

    def folded(self) -> Any:
        """Return the sum, as by `Fold.halve`."""
        row, wide = self.row, len(self.row)
        while wide > 1:
            half = (wide + 1) // 2 | (wide > 16)
            row[: wide - half] += row[half:wide]
            wide = half
        return row[0]
