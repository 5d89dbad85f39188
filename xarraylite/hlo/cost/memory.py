"""What is alive when: memory over a schedule.

The schedule is the order in which instructions stand.  A value takes memory from its instruction
to its last user; arguments are there throughout; a tuple, an element of one and a bitcast are
other names of what is there already.  While a loop or a call runs, the peak of what it runs is
there as well, without its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ...ir.walk import depth_first
from ...xla.spec import ArraySpec
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
    for parameter in computation.parameters:
        last[parameter] = len(listed)
    alive = {parameter: size_of(parameter.shape) for parameter in computation.parameters}
    total = sum(alive.values())
    live: list[int] = []
    best, best_at = -1, 0
    ending: dict[int, list[HloInstruction]] = {}
    for k, instruction in enumerate(listed):
        if instruction.opcode != "parameter" and instruction in owners[instruction]:
            alive[instruction] = size_of(instruction.shape)
            total += alive[instruction]
            ending.setdefault(last.get(instruction, k), []).append(instruction)
        now = total + _inside(instruction, peaks)
        live.append(now)
        if now > best:
            best, best_at = now, k
        for gone in ending.pop(k, ()):
            total -= alive.pop(gone)
    best_alive = {
        one: size_of(one.shape)
        for k, one in enumerate(listed)
        if one in owners[one] and (one.opcode == "parameter" or k <= best_at <= last.get(one, k))
    }
    ranked = sorted(best_alive.items(), key=lambda item: -item[1])
    return Timeline(listed, tuple(live), best, listed[best_at], tuple(ranked))


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
