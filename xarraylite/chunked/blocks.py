"""Folds in blocks as the chunks are: of sums and products values are put into leaves (`leaves`).

What does not round is joined block by block.

A task of a cluster takes blocks that follow each other, one at a time.  Of several results it has
all blocks of some.  Of a total it gives back what its leaves come to, and the values of leaves that
others have values of; its blocks are so many that these are few.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..compiler.tree import Tree
from ..dtypes.names import NumpyArray
from ..index.transform import permute
from ..ir import build
from ..ir.node import Node, Reduce
from .cut import requests
from .division import Begin, Result
from .grid import Grid
from .idle import Idle
from .joins import leaf_of
from .leaves import Places, leaves_of
from .lengths import lengths_of
from .parcel import Parcel
from .piece import Piece, piece_of
from .pipeline import Cuts, Run, computed, run_blocks
from .plan import Choice, Cutter, choose
from .selection import Box, corner, shape_of, size_of, whole

#: Values that joining takes for each result.
_BESIDES = 12


class Folder(Cutter):
    """Cuts blocks of what a reduction folds, and folds each, or leaves that to `Leaves`.

    Boxes have the dimensions of results first: those that are folded into the same follow each
    other in row-major order.

    Parameters
    ----------
    parcel : Parcel
        The reduction.
    places : Places, optional
        Its leaves, if blocks give values for them.

    Attributes
    ----------
    once : int
        Bytes in flight where a block has whole chunks.
    """

    __slots__ = ("once", "places")

    def __init__(self, parcel: Parcel, places: Places | None = None) -> None:
        super().__init__(parcel)
        self.places, self.once = places, 0

    @property
    def order(self) -> tuple[int, ...]:
        """Dimensions of what is folded, in the order that boxes have them."""
        node: Any = self.parcel.node
        return (*[k for k in range(len(node.arg.shape)) if k not in node.axes], *node.axes)

    @property
    def divided(self) -> Node:
        """What is folded."""
        arg = self.parcel.node.args[0]
        return build.view(arg, permute(arg.shape, self.order))

    def inside(self, box: Box) -> Box:
        """Return where a box lies in what is folded."""
        own = dict(zip(self.order, box, strict=True))
        return tuple([own[k] for k in range(len(box))])

    def __call__(self, box: Box) -> Piece:
        node: Any = self.parcel.node
        piece, made = piece_of(node.arg, self.inside(box)), node
        if self.places is None:
            made = replace(node, shape=shape_of(box)[: len(node.shape)], arg=piece.node)
        elif self.places.across or self.order == tuple(range(len(box))):
            made = piece.node  # in the order in which they lie
        else:
            made = build.view(piece.node, permute(piece.node.shape, self.order))
        made = replace(piece, box=box, node=made, alone=self.alone)
        if self.places is None:
            return made
        own = len(node.shape)
        k = next((k for k in range(own, len(box)) if len(box[k]) > 1), own)
        cut, alike = self.places.alike(box[own:])
        if alike and cut + own > k:  # parts of rows are put together, of all blocks as many rows
            return replace(made, taken=True)
        return replace(made, taken=True, along=(k, self.order[k] if self.places.across else k))


class Joined:
    """Joins what blocks were folded to, of folds that give the same bits in any order.

    Parameters
    ----------
    node : Reduce
        The reduction.
    shape : tuple of int
        Shape of the results.
    """

    __slots__ = ("_left", "_node", "_shape", "_values")

    def __init__(self, node: Reduce, shape: tuple[int, ...]) -> None:
        self._node, self._shape, self._values = node, shape, cast("Any", None)
        self._left = math.prod([node.arg.shape[k] for k in node.axes])

    @property
    def ended(self) -> bool:
        """Whether all blocks were taken."""
        return not self._left

    def take(self, piece: Piece, values: NumpyArray) -> None:
        """Take what a block was folded to."""
        self._left -= size_of(piece.box[len(self._shape) :])
        if self._values is not None:
            both = leaf_of(self._values), leaf_of(values)
            values = computed(build.elementwise(self._node.op.combine, *both))
        self._values = values

    def result(self) -> NumpyArray:
        """Return the results."""
        return cast("NumpyArray", self._values.astype(self._node.dtype, copy=False))


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a fold is divided into blocks of any shape, which have the dimensions of results first.

    Attributes
    ----------
    node : Reduce
        The fold.
    tree : Tree or None
        Its order, if bits depend on it.
    choice : Choice
        The blocks.
    make : Folder
        Cuts them.
    """

    node: Reduce
    tree: Tree | None
    choice: Choice
    make: Folder

    @staticmethod
    def of(
        node: Reduce,
        tree: Tree | None,
        run: Run,
        chunks: Sequence[int] | None = None,
        known: Sequence[int] | None = None,
    ) -> Blocks | None:
        """Return the blocks of a fold; None if its leaves are others, or chunks differ.

        Raises
        ------
        SizeError
            If the budget is too small for a block and the leaves that wait beside it.
        """
        arg, places = node.arg, None if tree is None else Places.of(node, tree)
        if tree is not None and (
            places is None
            or arg.dtype != node.dtype
            or all([len(x.shape) != len(arg.shape) for x in requests(arg)])
        ):
            return None
        make, own, told = Folder(Parcel(node), places), len(node.shape), known or chunks or ()
        shape = make.divided.shape
        lengths = (*told, *[lengths_of(arg)[k] for k in make.order[len(told) :]])

        def aside(grid: Grid) -> int:
            block, found = grid.block, places.waiting(grid.block[own:]) + _BESIDES if places else 0
            if grid.strip[own:] != grid.counts[own:] and grid.strip:
                block = tuple(map(min, grid.strips.block, shape))
                found += places.waiting(block[own:]) if places else 1
            return found * math.prod(block[:own]) * node.dtype.itemsize

        def fits(box: Box) -> bool:
            return all([len(s) <= n for s, n in zip(box, known or (), strict=False)])

        chunk = tuple(map(min, lengths, shape))
        if places is not None:
            alone = replace(make(whole(chunk)), alone=True)
            make.once = alone.need + aside(Grid(shape, chunk))
        choice = choose(make, lengths, run.budget, chunks is not None, fits,
                        keep=run.keeps, aside=aside)  # fmt: skip
        return Blocks(node, tree, choice, make)

    @property
    def moved(self) -> float:
        """Bytes that are read, about."""
        return self.choice.rate * math.prod(self.choice.grid.shape)

    def results(self, run: Run, begin: Begin) -> Iterator[Result]:
        """Yield the results that are not there."""
        node, choice, grid, own = self.node, self.choice, self.choice.grid, len(self.node.shape)
        ready = begin(grid.block[:own])
        if ready and not own:
            return
        boxes = (box for box in grid if corner(box[:own]) not in ready) if ready else grid
        places, tree, begun = self.make.places, cast("Any", self.tree), cast("Any", None)
        begun = functools.partial(Joined, node)
        if places is not None:
            begun = functools.partial(leaves_of, node, tree, places)
        idle = isinstance(run.cluster, Idle)
        given = places is not None and run.cluster is not None and not idle
        pieces, per = Cuts(self.make, boxes, choice.kept, choice.need), 1
        if places is not None and given:
            per = math.prod(grid.counts[own:]) if own else places.together(grid)
            gives = functools.partial(_sums, Parcel(node), tree, places)
            pieces = Tasks(self.make, boxes, choice.kept, choice.need, gives=gives, per=per)
        run.report(f"{node.op.name} over axes {node.axes}", -(-len(grid) // per))
        made: dict[Box, Any] = {}
        for piece, values in run_blocks(pieces, run, values=not idle):
            box = piece.box[:own]
            if given and own:
                yield box, values
            elif not idle:
                leaves = made[box] = made.get(box) or begun(shape_of(box))
                take = leaves.join if given else leaves.take
                with run.clock.timed("compute"):
                    for part in values if piece.along else [(piece, values)]:
                        take(*part)
                        del part
                if leaves.ended:
                    yield box, made.pop(box).result()
            del values
        for box in Grid(node.shape, grid.block[:own]) if idle else ():
            yield box, np.zeros(shape_of(box), node.dtype)


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


def _sums(parcel: Parcel, tree: Tree, places: Places, blocks: Iterable[Any]) -> Any:
    """Return results, or what the leaves of some blocks of a total come to and those still open."""
    node, made = cast("Reduce", parcel.node), cast("Any", None)
    for block in blocks:
        own = block[0].box[: len(node.shape)]
        made = made or leaves_of(node, tree, places, shape_of(own), len(own) > 0)
        for part in block[1] if block[0].along else [block]:
            made.take(*part)
            del part
        del block  # the next one is computed before it is assigned
    return made.result() if node.shape else made.given()
