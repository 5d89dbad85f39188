"""Folds over some dimensions, of few elements and ever new extents.

A plan of such a fold is made for one shape, and takes longer than to fold thousands of elements.
What is folded, and how, follows from the operand's kind alone; for new extents only the loop nests
are made anew.  The kernels are those of a plan, and so are the bits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..codegen.emit.streams import Access
from ..compiler.arguments import Destination, OperandSlot
from ..compiler.boxes import spread
from ..compiler.limits import CHUNK
from ..compiler.lower import Lowered
from ..compiler.steps import reduce_step
from ..ir.kind import Kind, leaves_of, parts_of, reduction, strides_of
from ..ir.node import Node, Scalar, Shape
from ..layout.strided import Strided
from ..memory.block import Memory
from ..memory.snapshots import pinned
from ..ops.reductions import Reduction
from . import direct
from .evaluate import uses_reference
from .run import run_kernel

#: The most elements that are folded.
MOST = CHUNK

_KINDS = 256


#: Stands for the one range of all that is folded.
_WHOLE = ((0, 0, 0, 0),)


@functools.lru_cache(_KINDS)
def _lowered(op: Reduction, body: Kind) -> tuple[Lowered, list[int]] | None:
    """Return the code of what is folded, and which of its operands each leaf and scalar is."""
    if body.formed or not all(map(_spans(body.rank), parts_of(body))):
        return None
    return direct.lowered_of(reduction(op, body))


def _spans(rank: int) -> Callable[[Kind], bool]:
    """Return what tells whether a part is memory, or computed for each element: none is copied."""
    return lambda part: part.op is None or part.rank == rank


def fold(
    op: Reduction,
    body: Kind,
    shape: Shape,
    operands: Sequence[Any],
    axes: tuple[int, ...],
    to: Memory,
) -> bool:
    """Fold along some dimensions into row-major memory; tell whether it is done.

    Parameters
    ----------
    op : Reduction
        How it is folded.
    body, shape, operands
        What is folded.
    axes : tuple of int
        The dimensions.
    to : Snapshot
        Memory that nobody knows of yet.
    """
    if not 0 < math.prod(shape) <= MOST or uses_reference():
        return False
    known = _lowered(op, body)
    if known is None:
        return False
    lowered, places = known
    uses, memory, starts = list(lowered.uses), list[Any](lowered.uses), [0] * len(lowered.uses)
    numbers: dict[int, Node] = {}
    items = iter(operands)
    for leaf, place in zip(leaves_of(body), places, strict=True):
        item = next(items)
        if leaf.scalar:
            numbers[lowered.scalars[place]] = Scalar((), leaf.dtype, leaf.dtype.type(item))
            continue
        skip = len(shape) - leaf.rank
        steps = (0,) * skip + strides_of(leaf, shape[skip:])
        uses[place] = replace(uses[place], layout=Strided(shape, steps))
        memory[place], starts[place] = item, item.address + next(items)
    if len(set(starts)) < len(starts) and len({use.layout for use in uses}) > 1:
        return False  # in a plan one operand is read once, which may count for the order of loops
    kept = Strided.row_major(tuple([n for k, n in enumerate(shape) if k not in axes]))
    over = Destination(0, spread(kept, shape, axes), body.dtype, 8 * body.itemsize)
    slots = [OperandSlot(number, Access.APART) for number in range(1, len(uses) + 1)]
    lowered = replace(lowered, shape=shape, uses=uses)
    step = reduce_step(lowered, slots, over, op, axes, _WHOLE, 0, "")
    with pinned(memory):
        run_kernel(step, [to.address, *starts], numbers, [to, *memory])
    return True
