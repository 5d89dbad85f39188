"""What each instruction reads and writes, and whether it moves anything.

Bytes are those of layouts, padding included.  A module in which no array is tiled says how arrays
look, not how a TPU stores them: then each one is taken to have the layout that the chip's compiler
gives arguments.  A transpose, reshape, copy or bitcast is a *bitcast* where every element keeps its
place, and a *relayout* where bytes are moved for nothing but another place.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from ..._errors import HloError, XarrayliteError
from ..._records import record
from ...xla.formats import CHIPS, tpu_layout
from ...xla.spec import ArraySpec
from ..evaluation.loops import trip_count
from ..instruction import HloComputation, HloInstruction
from ..order import computations_below
from .flops import work_of
from .memory import Timeline, timeline

_FREE_NAMES = """
add-dependency after-all async-done async-update bitcast constant domain get-dimension-size
get-tuple-element opt-barrier parameter partition-id replica-id set-dimension-size tuple all-
gather-done all-reduce-done collective-permute-done copy-done recv-done send-done
"""
_FREE: Final = frozenset(_FREE_NAMES.split())
_MOVERS: Final = frozenset(("bitcast", "copy", "reshape", "transpose"))
_CALLERS: Final = frozenset(("call", "conditional", "while", "async-start"))
# What reads only as much of its first operand as it writes.
_PARTIAL: Final = frozenset(("dynamic-slice", "gather", "slice"))


@record(frozen=True, slots=True, eq=False)
class InstructionCost:
    """What one instruction costs each time it runs.

    Attributes
    ----------
    instruction : HloInstruction
        Which one.
    flops, transcendentals : int
        Operations, of what it calls too.
    bytes_read, bytes_written : int
        With padding; 0 for what only names values.
    padding : int
        How many of these are padding.
    move : str
        ``"bitcast"``, ``"relayout"``, ``"copy"`` for one to the same layout, or empty.
    runs : int
        How often it runs, as far as that is known: in loops, that many trips; else once.
    """

    instruction: HloInstruction
    flops: int
    transcendentals: int
    bytes_read: int
    bytes_written: int
    padding: int
    move: str
    runs: int = 1

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written


class Advice(NamedTuple):
    """A layout that would save memory.

    Attributes
    ----------
    instruction : HloInstruction
        Whose result it is for.
    spec : ArraySpec
        The result in that layout.
    saved_bytes : int
        How much smaller that is.
    reason : str
        What is changed.
    """

    instruction: HloInstruction
    spec: ArraySpec
    saved_bytes: int
    reason: str

    def __str__(self) -> str:
        return f"{self.instruction.name}: {self.spec}, {self.saved_bytes:,} less ({self.reason})"


@record(frozen=True, slots=True, eq=False)
class ModuleCost:
    """What a module costs; ``str`` gives a table, `to_dict` what JSON can hold.

    Attributes
    ----------
    name, chip : str
        Of the module, and the chip whose layouts were assumed; empty where the text has tiles.
    instructions : tuple of InstructionCost
        Of the entry computation and of what it calls as such (loops, branches), in order.
        Fusions are one instruction.
    flops, transcendentals, bytes_read, bytes_written, padding : int
        Sums over all runs.
    timeline : Timeline
        Memory of the entry computation over its schedule.
    """

    name: str
    chip: str
    instructions: tuple[InstructionCost, ...]
    flops: int
    transcendentals: int
    bytes_read: int
    bytes_written: int
    padding: int
    timeline: Timeline

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    @property
    def padding_share(self) -> float:
        """Which part of all bytes moved is padding."""
        return self.padding / self.bytes if self.bytes else 0.0

    @property
    def relayouts(self) -> tuple[InstructionCost, ...]:
        """Instructions that only move bytes, the most expensive first."""
        found = [cost for cost in self.instructions if cost.move == "relayout"]
        return tuple(sorted(found, key=lambda cost: -cost.bytes * cost.runs))

    @property
    def bitcasts(self) -> tuple[InstructionCost, ...]:
        """Instructions that would move but need not."""
        return tuple([cost for cost in self.instructions if cost.move == "bitcast"])

    def of(self, name: str) -> InstructionCost:
        """Return the cost of the instruction of a name.

        Raises
        ------
        KeyError
            If there is none, or it lies within a fusion.
        """
        for cost in self.instructions:
            if cost.instruction.name == name.removeprefix("%"):
                return cost
        raise KeyError(f"module {self.name} has no cost of {name}")

    def suggestions(self, count: int = 5) -> tuple[Advice, ...]:
        """Return the layouts that save most, one for each array."""
        found = []
        for cost in self.instructions:
            instruction = cost.instruction
            if instruction.shape.is_array and instruction.opcode not in ("bitcast", "constant"):
                spec = stored_spec(instruction.shape, self.chip)
                best = _best(spec)
                if best is not None:
                    found.append(Advice(instruction, *best))
        return tuple(sorted(found, key=lambda advice: -advice.saved_bytes)[:count])

    def to_dict(self) -> dict[str, Any]:
        """Return sums, instructions and memory as what JSON can hold."""
        return {
            "name": self.name,
            "chip": self.chip,
            "flops": self.flops,
            "transcendentals": self.transcendentals,
            "bytes_read": self.bytes_read,
            "bytes_written": self.bytes_written,
            "padding": self.padding,
            "peak_memory": self.timeline.peak,
            "peak_at": self.timeline.peak_at.name,
            "alive_at_peak": {i.name: size for i, size in self.timeline.alive},
            "instructions": [
                {
                    "name": cost.instruction.name,
                    "opcode": cost.instruction.opcode,
                    "shape": str(cost.instruction.shape),
                    "flops": cost.flops,
                    "transcendentals": cost.transcendentals,
                    "bytes_read": cost.bytes_read,
                    "bytes_written": cost.bytes_written,
                    "padding": cost.padding,
                    "move": cost.move,
                    "runs": cost.runs,
                }
                for cost in self.instructions
            ],
        }


@lru_cache(maxsize=4096)
def _best(spec: ArraySpec) -> tuple[ArraySpec, int, str] | None:
    if not spec.padding_bytes:
        return None
    try:
        found = spec.suggest()
    except XarrayliteError:
        return None
    if not found:
        return None
    best = max(found, key=lambda suggestion: suggestion.saved_bytes)
    return best.spec, best.saved_bytes, best.reason


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
    computations = _run_by(entry)
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


def _run_by(entry: HloComputation) -> dict[HloComputation, int]:
    """The entry and what it runs as it stands, with how often: loops, branches, calls."""
    runs = {entry: 1}
    for computation in reversed(computations_below(entry, set())):
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
    if spec.is_tuple:
        return any([_is_tiled(part) for part in spec.tuple_shapes])
    return spec.layout is not None and bool(spec.layout.tiles)


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
