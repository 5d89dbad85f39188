"""The step that folds the rows of a jagged array: loops, argument block, division of work."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import lru_cache

from ..expr.node import SegmentReduce
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..shape.transform import FIXED, Transform
from ..shape.transform import Map as Axis
from .emit.reduction import Form, ReduceSpec
from .emit.segments import SegmentSpec, emit_segments
from .emit.walkers import Operand, Words
from .identities import identity_words
from .kernel import Kernel
from .loops import Walker, split, walker
from .lower import Lowered
from .program import KernelStep, Work
from .steps import (
    Destination,
    Memory,
    compile_source,
    cost_of,
    finish,
    inner_of,
    packing,
    put_all,
    scalar_places,
    strided,
    traffic_of,
    unit,
    walkers_of,
)


def is_strided(lowered: Lowered, to: Map) -> bool:
    """Tell whether `segment_step` serves these layouts: it walks rows, not tiles."""
    return all(isinstance(m, Strided) for m in (to, *[use.layout for use in lowered.uses]))


def segment_step(
    lowered: Lowered,
    memory: Sequence[Memory],
    to: Destination,
    node: SegmentReduce,
    offsets: int,
    note: str,
) -> KernelStep:
    """Return the step that folds ``lowered`` along dimension 0 in runs.

    Parameters
    ----------
    lowered : Lowered
        Code and operands; all layouts are strided.
    memory : sequence of Memory
        Slot and access of each operand.
    to : Destination
        One row per run.
    node : SegmentReduce
        What is folded.
    offsets : int
        Slot of the offsets.
    note : str
        What the step does.
    """
    along = [walker(_along(strided(to.layout), lowered.shape), unit(to.bits))]
    along += walkers_of(lowered)
    kept, reduced = split(lowered.shape, along, (0,), 0)
    count = len(kept.extents) if math.prod(kept.extents) > 1 else 0
    steps = [to.layout.strides[0] * unit(to.bits), *[w.strides[0] for w in along[1:]]]
    spec = SegmentSpec(
        ReduceSpec(
            Form.ALONG,
            count,
            0,
            _operands(lowered, memory, to, steps),
            lowered.body,
            node.op,
            len(lowered.gathers),
        )
    )
    words = spec.words()
    block = array("q", [0]) * len(words)
    rows, columns = node.shape[0], math.prod(kept.extents)
    put_all(block, words, [("rows", rows), ("columns", columns)])
    put_all(block, words, [(f"n_k{d}", kept.extents[d]) for d in range(count)])
    for w, (step, sides) in enumerate(zip(steps, kept.walkers, strict=True)):
        put_all(block, words, [(f"s{w}_k{d}", sides.strides[d]) for d in range(count)])
        put_all(block, words, [(f"e{w}", step)])
    identity = identity_words(node.op, lowered.body.dtype)
    put_all(block, words, list(zip(("z", "z+"), identity, strict=False)))
    starts = [a.start + b.start for a, b in zip(kept.walkers, reduced.walkers, strict=True)]
    addresses = finish(block, words, lowered, memory, to, starts)
    elements = lowered.shape[0]
    return KernelStep(
        _segment_kernel(spec),
        block,
        (*addresses, (words.index["o"], offsets, 0, 1)),
        scalar_places(words, lowered),
        Work(elements + rows, 1, cost_of(lowered.body) * columns, split_inner=False),
        f"{note} [segments, {rows * columns} results of {elements * columns} elements]",
        traffic_of(lowered, to) + 8 * (rows + 1),
    )
