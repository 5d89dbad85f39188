"""Sums and products in blocks as the chunks are, whose values are put into leaves (`leaves`).

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
from ..index.transform import permute
from ..ir import build
from ..ir.node import Reduce
from .cut import requests
from .division import Begin, Result
from .grid import Grid
from .idle import Idle
from .leaves import Leaves, Places, leaves_of
from .lengths import lengths_of
from .parcel import Parcel
from .pipeline import Cuts, Run, run_blocks
from .plan import Choice, Cutter, Piece, choose
from .selection import Box, corner, shape_of, whole

#: Values that joining takes for each result.
_BESIDES = 12


class Values(Cutter):
    """Cuts blocks of what is summed.

    Parameters
    ----------
    parcel : Parcel
        The values.
    back : tuple of int, optional
        In which order of a block's dimensions its values lie in memory.
    once : int
        Bytes in flight where a block has whole chunks.
    """

    __slots__ = ("back", "once")

    def __init__(self, parcel: Parcel, back: tuple[int, ...] = (), once: int = 0) -> None:
        super().__init__(parcel)
        self.back, self.once = back, once

    def __call__(self, box: Box) -> Piece:
        """Return the block in a box, whose values are not kept."""
        piece = super().__call__(box)
        if self.back:
            piece = replace(piece, node=build.view(piece.node, permute(shape_of(box), self.back)))
        return replace(piece, taken=True)


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a fold is divided into blocks of any shape, which have the dimensions of results first.

    Attributes
    ----------
    node : Reduce
        The sum or product.
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
    def of(
        node: Reduce,
        tree: Tree,
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
        arg, places = node.arg, Places.of(node, tree)
        if (
            places is None
            or arg.dtype != node.dtype
            or all([len(x.shape) != len(arg.shape) for x in requests(arg)])
        ):
            return None
        order = (*[k for k in range(len(arg.shape)) if k not in node.axes], *node.axes)
        own, shape = len(node.shape), tuple([arg.shape[k] for k in order])
        told = known or chunks or ()
        lengths = (*told, *[lengths_of(arg)[k] for k in order[len(told) :]])

        def aside(grid: Grid) -> int:
            block, found = grid.block, places.waiting(grid.block[own:])
            if grid.strip[own:] != grid.counts[own:] and grid.strip:
                block = tuple(map(min, grid.strips.block, shape))
                found += places.waiting(block[own:])
            return (found + _BESIDES) * math.prod(block[:own]) * node.dtype.itemsize

        def fits(box: Box) -> bool:
            return all([len(s) <= n for s, n in zip(box, known or (), strict=False)])

        back = tuple(map(order.index, range(len(order)))) if places.across else ()
        make = Values(Parcel(build.view(arg, permute(arg.shape, order))), back)
        chunk = tuple(map(min, lengths, shape))
        make.once = make(whole(chunk)).need + aside(Grid(shape, chunk))
        choice = choose(make, shape, lengths, run.budget, chunks is not None, fits,
                        keep=lambda grid: run.keeps, aside=aside)  # fmt: skip
        return Blocks(node, tree, places, choice, make)

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
        begun = functools.partial(leaves_of, node, self.tree, self.places)
        made: dict[Box, Leaves] = {}
        found: list[Result] = []

        def take(piece: Piece, values: Any, given: bool = False) -> None:
            box = piece.box[:own]
            if given and own:
                found.append((box, values))
                return
            leaves = made.setdefault(box, begun(shape_of(box)))
            (leaves.join if given else leaves.take)(piece, values)
            if leaves.ended:
                found.append((box, made.pop(box).result()))

        pieces, taken, per = Cuts(self.make, boxes), cast("Any", take), 1
        if isinstance(run.cluster, Idle):
            taken = None
        elif run.cluster is not None:
            per = math.prod(grid.counts[own:]) if own else self.places.together(grid)
            gives = functools.partial(_sums, Parcel(node), self.tree, self.places)
            pieces = Tasks(self.make, boxes, gives=gives, per=per)
            taken = functools.partial(take, given=True)
        run.report(f"{node.op.name} over axes {node.axes}", -(-len(grid) // per))
        for piece in run_blocks(pieces, run, taken, kept=choice.kept, need=choice.need):
            run.advance(piece)
            yield from found
            found.clear()
        if taken is None:
            for box in Grid(node.shape, grid.block[:own]):
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
        made.take(*block)
        del block  # the next one is computed before it is assigned
    return made.result() if node.shape else made.given()
