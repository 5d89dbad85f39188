"""The steps of a reduction: one, or partial results and what joins them.

One result is folded in parts that are fixed by the expression (`steps.chunk_ranges`), so it has
the same bits on any number of threads.  Every box of a tiled operand is folded on its own.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..codegen.emit.body import Body, Load
from ..codegen.emit.streams import Access
from ..ir.node import Reduce
from ..layout.splitting import TooManyBoxes
from ..layout.strided import Strided
from .arguments import Destination, OperandSlot, rows, strided
from .boxes import Part, divide, spread
from .lower import Lowered, Use
from .planner import Planner
from .positions import position_step
from .program import Step
from .steps import Range, chunk_ranges, reduce_step


def fold_steps(
    planner: Planner, ordinal: int, node: Reduce, to: Destination, note: str
) -> list[Step]:
    """Return the steps of a reduction: one, or partial results and what joins them."""
    whole = position_step(planner, ordinal, node, to, note)
    if whole is not None:
        return [whole]
    arg, axes = planner.graph.args[ordinal][0], node.axes
    text = f"{note}; {node.op.name} over axes {axes}"
    parts = planner.divided(arg, ordinal, rows(-1, node.shape, to.dtype), axes)
    assert parts is not None, "row-major results are a loop nest"
    memory = [planner.memory(use, Access.APART, ordinal) for use in parts[0].lowered.uses]
    groups = {part.group(axes) for part in parts}
    alone = len(groups) == 1 and node.op.divided
    chunks = [chunk_ranges(p.lowered, p.loops(axes), alone, node.op.ends) for p in parts]
    if len(groups) == len(parts) and all(len(c) == 1 for c in chunks):
        materialised = dict(planner.materialised)
        direct = planner.divided(arg, ordinal, to, axes)
        if direct is None:
            return [planner.copy_step(ordinal, -1, to, note)]
        if planner.materialised != materialised:
            # The kernel reads other operands than `memory` has.  Each round materialises one more.
            return fold_steps(planner, ordinal, node, to, note)
        return [
            reduce_step(
                p.lowered,
                memory,
                p.to,
                node.op,
                p.loops(axes),
                chunk_ranges(p.lowered, p.loops(axes), False),
                0,
                text,
            )
            for p in direct
        ]
    taken: dict[tuple[int, ...], int] = dict.fromkeys(groups, 0)
    starts = []
    for part, own in zip(parts, chunks, strict=True):
        starts.append(taken[part.group(axes)])
        taken[part.group(axes)] += len(own)
    found = _partial_steps(planner, node, to, parts, memory, chunks, starts, text)
    return [planner.copy_step(ordinal, -1, to, note)] if found is None else found


def _partial_steps(
    planner: Planner,
    node: Reduce,
    to: Destination,
    parts: list[Part],
    memory: list[OperandSlot],
    chunks: list[tuple[Range, ...]],
    starts: list[int],
    note: str,
) -> list[Step] | None:
    """Return the steps that fold every part on its own, and then the partial results.

    None if these cannot be joined in the destination: no loop nest serves its layout.
    """
    count = max(s + len(own) for s, own in zip(starts, chunks, strict=True))
    stride = math.prod(node.shape)
    shape = (count, *node.shape)
    use = Use(-1, to.dtype, Strided.row_major(shape), 8 * to.dtype.itemsize)
    joined = Lowered(shape, Body((Load(0, to.dtype),)), [use], [], [])
    try:
        ends = divide(joined, replace(to, layout=spread(to.layout, shape, (0,))))
    except TooManyBoxes:
        return None
    slot = planner.temporary(
        stride * count * to.dtype.itemsize, f"partial results of {node.op.name}"
    )
    found: list[Step] = []
    for part, own, start in zip(parts, chunks, starts, strict=True):
        layout = strided(part.to.layout)
        moved = replace(layout, offset=layout.offset + start * stride)
        piece = Destination(slot, moved, to.dtype, 8 * to.dtype.itemsize)
        axes = part.loops(node.axes)
        found.append(reduce_step(part.lowered, memory, piece, node.op, axes, own, stride, note))
    known, text = [OperandSlot(slot, Access.APART)], "join partial results"
    for part in ends:
        axes = part.loops((0,))
        found.append(reduce_step(part.lowered, known, part.to, node.op, axes, (), 0, text))
    return found
