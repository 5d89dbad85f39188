"""The step that folds the rows of a jagged array: loops, argument block, division of work."""

from __future__ import annotations

import math

from ..codegen.emit.folding import Form, ReduceSpec
from ..codegen.emit.segments import SegmentSpec, emit_segments
from ..codegen.kernel import kernels
from ..ir.node import SegmentReduce
from ..layout.strided import Strided
from .arguments import ArgumentBlock, Computation, packing, unit
from .boxes import spread
from .identities import identity_words
from .loops import AddressStream
from .planner import Planner
from .program import KernelStep, SlotArray, Step, Work
from .steps import nests_of


def segment_steps(
    planner: Planner, ordinal: int, node: SegmentReduce, to: SlotArray, note: str
) -> list[Step]:
    """Return the steps that evaluate a node into ``to``: one, where everything is strided."""
    graph = planner.graph
    if not isinstance(to.layout, Strided):
        planner.materialised[ordinal] = "rows are not folded into tiles"
        return planner.map_one(ordinal, -1, to, note)
    arg, offsets = graph.args[ordinal]
    lowered = planner.lowered(arg, ordinal)
    tiled = [use.ordinal for use in lowered.uses if not isinstance(use.layout, Strided)]
    if tiled:
        planner.materialised.update(dict.fromkeys(tiled, "rows are not folded from tiles"))
        lowered = planner.lowered(arg, ordinal)
    slot = planner.leaf_slot[id(graph.nodes[offsets])]
    note = f"{note}; {node.op.name} over segments"
    return [
        segment_step(Computation(lowered, planner.apart(lowered, ordinal), to), node, slot, note)
    ]


def segment_step(what: Computation, node: SegmentReduce, offsets: int, note: str) -> KernelStep:
    """Return the step that folds what is computed along dimension 0 in runs.

    Parameters
    ----------
    what : Computation
        Code and operands; the destination has one row per run.
    node : SegmentReduce
        What is folded.
    offsets : int
        Slot of the offsets.
    note : str
        What the step does.
    """
    lowered, to = what.lowered, what.to
    kept, reduced = nests_of(lowered, spread(to.layout, lowered.shape, (0,)), unit(to.bits), (0,))
    count = len(kept.extents) if math.prod(kept.extents) > 1 else 0
    steps = [w.strides[0] for w in what.streams]
    spec = SegmentSpec(
        ReduceSpec(
            Form.ALONG,
            count,
            0,
            what.operands([AddressStream(0, (step,)) for step in steps]),
            lowered.body,
            node.op,
            len(lowered.gathers),
        )
    )
    block = ArgumentBlock(spec.words())
    rows, columns = node.shape[0], math.prod(kept.extents)
    elements = lowered.shape[0]
    block.put([("rows", rows), ("columns", columns)])
    block.loops("k", kept.extents[:count], [w.strides for w in kept.streams])
    block.inner(steps)
    block.put(zip(("z", "z+"), identity_words(node.op, lowered.body.dtype), strict=False))
    step = block.step(
        kernels.get(spec, emit_segments),
        what,
        [a.start + b.start for a, b in zip(kept.streams, reduced.streams, strict=True)],
        Work(
            elements + rows,
            1,
            lowered.body.cost * columns,
            ordered=packing(to.bits) > 1,
            split_inner=False,
        ),
        f"{note} [segments, {rows * columns} results of {elements * columns} elements]",
        what.traffic() + 8 * (rows + 1),
    )
    step.addresses = (*step.addresses, (block.words.index["o"], offsets, 0, 1))
    return step
