"""What each instruction reads and writes, and whether it moves anything.

Bytes are those of layouts, padding included.  A module in which no array is tiled says how arrays
look, not how a TPU stores them: then each one is taken to have the layout that the chip's compiler
gives arguments.  A transpose, reshape, copy or bitcast is a *bitcast* where every element keeps its
place, and a *relayout* where bytes are moved for nothing but another place.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ..._errors import HloError, XarrayliteError
from ...xla.formats import CHIPS
from ...xla.spec import ArraySpec
from ..evaluation.loops import trip_count
from ..instruction import HloComputation, HloInstruction
from ..nodes import callees_first
from .flops import work_of, work_within
from .memory import stored_bytes, stored_spec, timeline
from .report import InstructionCost, ModuleCost

_FREE_NAMES = """
add-dependency after-all all-gather-done all-reduce-done async-done async-update bitcast
collective-permute-done constant copy-done domain get-dimension-size get-tuple-element opt-barrier
parameter partition-id recv-done replica-id send-done set-dimension-size tuple
"""
_FREE: Final = frozenset(_FREE_NAMES.split())
_MOVERS: Final = frozenset(("bitcast", "copy", "reshape", "transpose"))
_CALLERS: Final = frozenset(("call", "conditional", "while", "async-start"))
# What reads only as much of its first operand as it writes.
_PARTIAL: Final = frozenset(("dynamic-slice", "gather", "slice"))


def module_cost(entry: HloComputation, name: str, chip: str | None = "v5e") -> ModuleCost:
    """Return what a module's entry computation costs.

    Parameters
    ----------
    entry : HloComputation
        Where the module begins.
    name : str
        Name of the module.
    chip : str or None
        See ``HloModule.cost``.

    Raises
    ------
    HloError
        If the chip is not known.
    """
    if chip is not None and chip not in CHIPS:
        raise HloError(f"cost: there is no chip {chip!r}; there are {', '.join(CHIPS)}")
    ordered = callees_first([entry])
    for computation in ordered:
        work_within(computation)  # before its callers ask, so that no depth of calls is too much
    computations = _run_by(ordered)
    tiled = any([_is_tiled(i.shape) for c in computations for i in c.instructions])
    used = "" if tiled or chip is None else chip
    costs = [_cost(i, used, runs) for c, runs in computations.items() for i in c.instructions]
    own = {cost.instruction for cost in costs if cost.instruction.opcode not in _CALLERS}
    counted = [cost for cost in costs if cost.instruction in own]
    return ModuleCost(
        name,
        used,
        tuple(costs),
        sum([cost.flops * cost.runs for cost in counted]),
        sum([cost.transcendentals * cost.runs for cost in counted]),
        sum([cost.bytes_read * cost.runs for cost in counted]),
        sum([cost.bytes_written * cost.runs for cost in counted]),
        sum([cost.padding * cost.runs for cost in counted]),
        timeline(entry, lambda spec: stored_bytes(spec, used)[0]),
    )


def _run_by(ordered: list[HloComputation]) -> dict[HloComputation, int]:
    """The entry and what it runs as it stands, with how often: loops, branches, calls."""
    runs = {ordered[-1]: 1}
    for computation in reversed(ordered):
        if computation not in runs:
            continue  # applied by an instruction, and part of its cost
        for instruction in computation.instructions:
            if instruction.opcode in _CALLERS:
                for callee, often in zip(
                    instruction.called_computations, _often(instruction), strict=True
                ):
                    runs[callee] = runs.get(callee, 0) + often * runs[computation]
    return runs


def _often(instruction: HloInstruction) -> list[int]:
    """How often an instruction runs each computation that it calls."""
    trips = trip_count(instruction) if instruction.opcode == "while" else None
    if trips is not None:
        return [trips, trips + 1]
    return [1] * len(instruction.called_computations)


def _is_tiled(spec: ArraySpec) -> bool:
    layouts = [part.layout for part in spec.flatten_tuple_shape()]
    return any([layout is not None and bool(layout.tiles) for layout in layouts])


def _cost(instruction: HloInstruction, chip: str, runs: int) -> InstructionCost:
    work = work_of(instruction)
    move = _move(instruction, chip)
    opcode = instruction.opcode
    if opcode in _FREE or opcode in _CALLERS or move == "bitcast":
        return InstructionCost(instruction, *work, 0, 0, 0, move, runs)
    written = stored_bytes(instruction.shape, chip)
    read = [stored_bytes(operand.shape, chip) for operand in instruction.operands]
    if opcode in _PARTIAL:
        read[0] = min(read[0], written)
    elif opcode == "dynamic-update-slice":
        written, read[0] = read[1], (0, 0)
    elif opcode == "scatter":
        written = read[-1]
    elif opcode in ("iota", "rng"):
        read = []
    padding = written[1] + sum([waste for _, waste in read])
    taken = sum([size for size, _ in read])
    return InstructionCost(instruction, *work, taken, written[0], padding, move, runs)


def _move(instruction: HloInstruction, chip: str) -> str:
    opcode = instruction.opcode
    if opcode not in _MOVERS or not instruction.shape.is_array:
        return ""
    if opcode == "bitcast":
        return "bitcast"
    if opcode == "copy" and instruction.shape == instruction.operands[0].shape:
        return "copy"
    return _moved(
        stored_spec(instruction.operands[0].shape, chip),
        stored_spec(instruction.shape, chip),
        instruction.get("dimensions") if opcode == "transpose" else None,
    )


@lru_cache(maxsize=16384)
def _moved(source: ArraySpec, target: ArraySpec, order: tuple[int, ...] | None) -> str:
    try:
        stays = source.is_bitcast(target, order) if order else source.is_bitcast(target)
    except XarrayliteError:
        return "relayout"
    return "bitcast" if stays else "relayout"
