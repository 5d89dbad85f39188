"""Tiled operands: a kernel's iteration space divided into boxes in which everything is strided.

Nothing after this module knows tiles.  `divide` splits the index set by the layouts of a kernel's
operands and of its destination (`layout.splitting`) and gives each box the kernel's code with
strided layouts over the box's loops: an interior and a few edges.  No box reaches padding, and no
operand is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .._records import record
from ..index.transform import FIXED, following
from ..layout.splitting import split_index_set
from ..layout.strided import Strided
from ..layout.tiled import Map
from .arguments import Computation, OperandSlot
from .lower import Lowered
from .program import SlotArray


@record(frozen=True, slots=True)
class Part:
    """One box of a kernel.

    Attributes
    ----------
    lowered : Lowered
        The code, its shape the box's loops.
    to : SlotArray
        Where the box's results go.
    axes : tuple of int
        For each loop the dimension of the whole space that it is part of.
    runs : tuple of int
        For each dimension of the whole space the number of the run that the box covers.
    ruler : Strided or None
        The index along one dimension of the whole space, where `divide` was asked for it.
    """

    lowered: Lowered
    to: SlotArray
    axes: tuple[int, ...]
    runs: tuple[int, ...]
    ruler: Strided | None = None

    def over(self, memory: Sequence[OperandSlot]) -> Computation:
        """Return what is computed of the box, given where the kernel's operands are."""
        return Computation(self.lowered, memory, self.to)

    def group(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        """Return what tells the box from others, were the dimensions ``axes`` reduced."""
        return tuple([run for k, run in enumerate(self.runs) if k not in axes])

    def loops(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        """Return the box's loops over the dimensions ``axes``."""
        return tuple([loop for loop, k in enumerate(self.axes) if k in axes])


def divide(lowered: Lowered, to: SlotArray, along: int = FIXED) -> list[Part]:
    """Return the boxes of a kernel, one if everything is strided.

    Parameters
    ----------
    lowered : Lowered
        Code and operands.
    to : SlotArray
        Where results go.
    along : int, optional
        A dimension whose index is wanted as the boxes' ruler.

    Raises
    ------
    TooManyBoxes
        If the layouts have too little in common; operand 0 is the destination.
    """
    maps = [to.layout, *[use.layout for use in lowered.uses]]
    rank = len(lowered.shape)
    if along != FIXED:
        maps.append(Strided(lowered.shape, tuple([int(k == along) for k in range(rank)]), 0))
    elif all(isinstance(m, Strided) for m in maps):
        return [Part(lowered, to, tuple(range(rank)), (0,) * rank)]
    found = []
    for box in split_index_set(lowered.shape, maps):
        first, *layouts = box.layouts
        ruler = None if along == FIXED else layouts.pop()
        pairs = zip(lowered.uses, layouts, strict=True)
        uses = [replace(use, layout=layout) for use, layout in pairs]
        inner = replace(lowered, shape=first.shape, uses=uses)
        found.append(Part(inner, replace(to, layout=first), box.axes, box.runs, ruler))
    return found


def still(shape: tuple[int, ...], axes: tuple[int, ...]) -> Map:
    """Return row-major results over the space that is folded over ``axes``."""
    kept = tuple([n for k, n in enumerate(shape) if k not in axes])
    return spread(Strided.row_major(kept), shape, axes)


def spread(layout: Map, shape: tuple[int, ...], axes: tuple[int, ...]) -> Map:
    """Return a reduction's destination over the space that is folded: it stands still on ``axes``.

    ``layout`` has an extent of 1 for each reduced dimension, or none.
    """
    full = layout.ndim == len(shape)
    kept = [FIXED if k in axes else k for k in range(len(shape)) if full or k not in axes]
    return layout.apply(following(shape, kept))
