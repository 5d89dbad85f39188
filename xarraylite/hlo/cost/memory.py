"""What is alive when: memory over a schedule.

The schedule is the order in which instructions stand.  A value takes memory from its instruction
to its last user; arguments are there throughout; a tuple, an element of one and a bitcast are
other names of what is there already.  While a loop or a call runs, the peak of what it runs is
there as well, without its arguments.

How many bytes a value takes, as it is written or as a chip stores it, is asked here as well.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from ..._errors import XarrayliteError
from ...ir.walk import depth_first
from ...xla.formats import tpu_layout
from ...xla.spec import ArraySpec
from ...xla.suggest import Suggestion
from ..instruction import HloComputation, HloInstruction

_NAMES: Final = frozenset(
    ("add-dependency", "bitcast", "domain", "get-tuple-element", "opt-barrier", "tuple", "while")
)
_RUNS: Final = frozenset(("call", "conditional", "while"))


class Timeline(NamedTuple):
    """Memory over the schedule of a computation.

    Attributes
    ----------
    instructions : tuple of HloInstruction
        The schedule.
    live : tuple of int
        Bytes that are alive while each one runs.
    peak : int
        The largest of them.
    peak_at : HloInstruction
        The first instruction at which it is reached.
    alive : tuple of (HloInstruction, int)
        What is alive then, the largest first.
    """

    instructions: tuple[HloInstruction, ...]
    live: tuple[int, ...]
    peak: int
    peak_at: HloInstruction
    alive: tuple[tuple[HloInstruction, int], ...]


def timeline(computation: HloComputation, size_of: Callable[[ArraySpec], int]) -> Timeline:
    """Return memory over the schedule of a computation.

    Parameters
    ----------
    computation : HloComputation
        Whose instructions stand in the order in which they run.
    size_of : callable
        Bytes of a value of a spec.
    """
    peaks: dict[HloComputation, int] = {}
    *called, _ = depth_first([computation], _run_by)
    for inner in called:
        given = sum([size_of(parameter.shape) for parameter in inner.parameters])
        peaks[inner] = _scheduled(inner, size_of, peaks).peak - given
    return _scheduled(computation, size_of, peaks)


def _run_by(computation: HloComputation) -> list[HloComputation]:
    """What a computation runs as it stands; what it applies has no schedule of its own."""
    return [
        callee
        for instruction in computation.instructions
        if instruction.opcode in _RUNS
        for callee in instruction.called_computations
    ]


def _scheduled(
    computation: HloComputation,
    size_of: Callable[[ArraySpec], int],
    peaks: dict[HloComputation, int],
) -> Timeline:
    """Memory over a schedule; what it runs takes its peak, without its arguments."""
    listed = computation.instructions
    owners = _owners(computation)
    last = {owner: len(listed) for owner in owners[computation.root]}
    for k, instruction in enumerate(listed):
        for operand in instruction.operands:
            for owner in owners[operand]:
                last[owner] = max(last.get(owner, 0), k)
    spans: dict[HloInstruction, tuple[int, int]] = {}
    for k, instruction in enumerate(listed):
        if instruction.opcode == "parameter":
            spans[instruction] = 0, len(listed)
        elif instruction in owners[instruction]:
            spans[instruction] = k, last.get(instruction, k)
    change = [0] * (len(listed) + 2)
    for instruction, (first, end) in spans.items():
        change[first] += size_of(instruction.shape)
        change[end + 1] -= size_of(instruction.shape)
    pairs = zip(accumulate(change), listed, strict=False)
    live = tuple([total + _inside(instruction, peaks) for total, instruction in pairs])
    best = live.index(max(live))
    alive = [(one, size_of(one.shape)) for one, (k, end) in spans.items() if k <= best <= end]
    ranked = sorted(alive, key=lambda item: -item[1])
    return Timeline(listed, live, live[best], listed[best], tuple(ranked))


def _owners(computation: HloComputation) -> dict[HloInstruction, frozenset[HloInstruction]]:
    """For each instruction, those whose memory its value is."""
    owners: dict[HloInstruction, frozenset[HloInstruction]] = {}
    for instruction in computation.instructions:
        if instruction.opcode in _NAMES:
            parts = [owners[operand] for operand in instruction.operands]
            owners[instruction] = frozenset().union(*parts)
        else:
            owners[instruction] = frozenset((instruction,))
    return owners


def _inside(instruction: HloInstruction, peaks: dict[HloComputation, int]) -> int:
    """Peak of what an instruction runs, without its arguments."""
    if instruction.opcode not in _RUNS:
        return 0
    return max([peaks[callee] for callee in instruction.called_computations])


@lru_cache(maxsize=4096)
def best_layout(spec: ArraySpec) -> Suggestion[ArraySpec] | None:
    """Return the layout that saves most of an array's bytes."""
    try:
        found = spec.suggest()
    except XarrayliteError:
        return None
    return max(found, key=lambda suggestion: suggestion.saved_bytes, default=None)


@lru_cache(maxsize=16384)
def stored_spec(spec: ArraySpec, chip: str) -> ArraySpec:
    """Return the spec of an array as a chip stores it; as it stands without a chip."""
    if not chip or not spec.is_array or not spec.element_type.bits:
        return spec
    dimensions = tuple([max(size, 0) for size in spec.dimensions])
    return ArraySpec(spec.element_type, dimensions, tpu_layout(spec.element_type, dimensions, chip))


@lru_cache(maxsize=16384)
def stored_bytes(spec: ArraySpec, chip: str) -> tuple[int, int]:
    """Return the bytes of a value with padding, and those of padding; of tuples, their sums."""
    if spec.is_tuple or spec.element_type.name == "buffer":
        pairs = [stored_bytes(part, chip) for part in spec.tuple_shapes]
        return sum([size for size, _ in pairs]), sum([waste for _, waste in pairs])
    if not spec.is_array:
        return 0, 0
    stored = stored_spec(spec, chip)
    try:
        return stored.nbytes, stored.padding_bytes
    except XarrayliteError:  # no bound, or more than can be counted
        return 0, 0
