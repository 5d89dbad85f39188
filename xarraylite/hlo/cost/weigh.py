"""What each instruction reads and writes, and whether it moves anything.

Bytes are those of layouts, padding included.  A module in which no array is tiled says how arrays
look, not how a TPU stores them: then each one is taken to have the layout that the chip's compiler
gives arguments.  A transpose, reshape, copy or bitcast is a *bitcast* where every element keeps its
place, and a *relayout* where bytes are moved for nothing but another place.

How many operations an instruction is.

Additions, multiplications, comparisons and the like count one for each element; elementary
functions are counted apart, as XLA does.  A sum of products counts two for each product; in a
convolution those that fall on padding are left out.  Reductions count what they apply, one fewer
than there are elements.  What XLA leaves open (sorting, factors, Fourier transforms) is counted
by the usual formulas.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from ..._errors import HloError, XarrayliteError
from ...xla.formats import CHIPS
from ...xla.spec import ArraySpec
from ..evaluation.loops import trip_count
from ..instruction import HloComputation, HloInstruction
from ..nodes import callees_first
from ..opcodes import BATCH_NORMS, OPCODES
from ..rules.inference import verify_instruction
from ..values import ConvolutionLabels, WindowDimension, window_of
from .memory import stored_bytes, stored_spec, timeline
from .report import SUMS, InstructionCost, ModuleCost


class Work(NamedTuple):
    """Operations, elementary functions apart."""

    flops: int = 0
    transcendentals: int = 0

    def times(self, count: int) -> Work:
        """Return the work of doing this often."""
        return Work(self.flops * count, self.transcendentals * count)

    def plus(self, other: Work) -> Work:
        """Return the work of both."""
        return Work(self.flops + other.flops, self.transcendentals + other.transcendentals)


def elements(instruction: HloInstruction) -> int:
    """Return the number of elements of an array, the first one of a tuple's."""
    spec = instruction.shape
    while spec.is_tuple and spec.tuple_shapes:
        spec = spec.tuple_shapes[0]
    return math.prod(spec.dimensions) if spec.is_array else 0


def _dot(instruction: HloInstruction) -> Work:
    axes = instruction.get("lhs_contracting_dims") or ()
    sizes = instruction.operands[0].shape.dimensions
    return Work(2 * elements(instruction) * math.prod([sizes[axis] for axis in axes]))


def _pairs(size: int, window: WindowDimension) -> int:
    """Count the pairs of a place and an element of the window that meet an element."""
    padded = window.padding.padded(size)
    places, spread = window.places(padded), padded - window.padding_low - window.padding_high
    count = 0
    for k in range(window.size):
        offset = k * window.window_dilation - window.padding_low
        if window.base_dilation == 1:
            first = max(0, -(offset // window.stride))
            last = min(places - 1, (size - 1 - offset) // window.stride)
            count += max(0, last - first + 1)
            continue
        for place in range(places):
            at = offset + place * window.stride
            count += 0 <= at < spread and at % window.base_dilation == 0
    return count


def _convolution(instruction: HloInstruction) -> Work:
    if instruction.get("sparsity_config") != "{}":
        return Work()  # how much is stored of a sparse operand is not said
    labels: ConvolutionLabels = instruction.get("dim_labels")
    window = window_of(instruction, labels.spatial)
    image, kernel = [operand.shape.dimensions for operand in instruction.operands]
    spatial = [image[axis] for axis in labels.dimensions("input", "bf")[2:]]
    met = math.prod([_pairs(size, part) for size, part in zip(spatial, window, strict=True)])
    features = kernel[labels.kernel.index("i")]
    result = instruction.shape.dimensions
    batch, out = [result[labels.output.index(letter)] for letter in "bf"]
    return Work(2 * met * features * batch * out)


def _times(count: Callable[[HloInstruction], int]) -> Callable[[HloInstruction], Work]:
    """Return the formula of what applies a computation so often."""
    return lambda made: work_within(made.called_computations[0]).times(count(made))


def _folded(instruction: HloInstruction) -> int:
    """Count the elements that a window folds into its first one."""
    size: int = math.prod([part.size for part in instruction.get("window") or ()])
    return max(0, size - 1)


def _select_and_scatter(instruction: HloInstruction) -> Work:
    select, scatter = [work_within(part) for part in instruction.called_computations]
    count = elements(instruction.operands[1])
    return select.times(count * _folded(instruction)).plus(scatter.times(count))


def _compared(instruction: HloInstruction) -> int:
    """Count the comparisons of a sort."""
    axis = (instruction.get("dimensions") or (0,))[0]
    size: int = instruction.operands[0].shape.dimensions[axis]
    return elements(instruction) * max(size - 1, 0).bit_length()


def _fft(instruction: HloInstruction) -> Work:
    sizes = instruction.get("fft_length")
    count = max(elements(instruction), elements(instruction.operands[0]))
    return Work(round(5 * count * math.log2(max(math.prod(sizes), 1))))


def _sum(parts: Iterable[Work]) -> Work:
    return functools.reduce(Work.plus, parts, Work())


def _called(instruction: HloInstruction) -> Work:
    """Everything that is called, once."""
    return _sum(map(work_within, instruction.called_computations))


def _loop(instruction: HloInstruction) -> Work:
    """Body and condition, as often as they run; once where nobody knows."""
    body, condition = [work_within(computation) for computation in instruction.called_computations]
    trips = trip_count(instruction)
    if trips is None:
        return body.plus(condition)
    return body.times(trips).plus(condition.times(trips + 1))


def _branches(instruction: HloInstruction) -> Work:
    return max([work_within(computation) for computation in instruction.called_computations])


_FORMULAS: Final[dict[str, Callable[[HloInstruction], Work]]] = {
    **dict.fromkeys(("async-start", "call", "fusion"), _called),
    **dict.fromkeys(("dot", "ragged-dot", "scaled-dot"), _dot),
    **dict.fromkeys(("all-reduce", "all-reduce-start", "map", "reduce-scatter"), _times(elements)),
    **dict.fromkeys(BATCH_NORMS, lambda made: Work(6 * elements(made.operands[0]))),
    "cholesky": lambda made: Work(elements(made) * made.shape.dimensions[-1] // 3),
    "conditional": _branches,
    "convolution": _convolution,
    "fft": _fft,
    "reduce": _times(lambda made: max(0, elements(made.operands[0]) - elements(made))),
    "reduce-window": _times(lambda made: elements(made) * _folded(made)),
    "scatter": _times(lambda made: elements(made.operands[-1])),
    "select-and-scatter": _select_and_scatter,
    "sort": _times(_compared),
    "triangular-solve": lambda one: Work(2 * elements(one) * one.operands[0].shape.dimensions[-1]),
    "while": _loop,
}


@lru_cache(maxsize=4096)
def work_within(computation: HloComputation) -> Work:
    """Return the operations of a computation; those of its callees, if they are known, at once."""
    return _sum(map(work_of, computation.instructions))


def work_of(instruction: HloInstruction) -> Work:
    """Return the operations of an instruction, those of what it calls included.

    Examples
    --------
    >>> import xarraylite as xl
    >>> from xarraylite.hlo.cost.weigh import work_of
    >>> dot = xl.hlo.parse(
    ...     "r = f32[8,4] dot(f32[8,16] a, f32[16,4] b), "
    ...     "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    ... ).entry.root
    >>> work_of(dot)
    Work(flops=1024, transcendentals=0)
    """
    formula = _FORMULAS.get(instruction.opcode)
    if formula is not None:
        try:
            return formula(instruction)
        except (IndexError, ValueError):
            verify_instruction(instruction)  # it breaks a rule, and that says which
            raise
    work = OPCODES[instruction.opcode].work
    if not work:
        return Work()
    return Work(elements(instruction)) if work == "plain" else Work(0, elements(instruction))


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
    sums = {each: sum([getattr(cost, each) * cost.runs for cost in counted]) for each in SUMS}
    alive = timeline(entry, lambda spec: stored_bytes(spec, used)[0])
    return ModuleCost(name=name, chip=used, instructions=tuple(costs), timeline=alive, **sums)


def _run_by(ordered: list[HloComputation]) -> dict[HloComputation, int]:
    """The entry and what it runs as it stands, with how often: loops, branches, calls."""
    runs = {ordered[-1]: 1}
    for computation in reversed(ordered):
        if computation not in runs:
            continue  # applied by an instruction, and part of its cost
        for instruction in computation.instructions:
            if instruction.opcode in _CALLERS:
                trips = trip_count(instruction) if instruction.opcode == "while" else None
                for k, callee in enumerate(instruction.called_computations):
                    often = 1 if trips is None else trips + k  # a condition once more than a body
                    runs[callee] = runs.get(callee, 0) + often * runs[computation]
    return runs


def _is_tiled(spec: ArraySpec) -> bool:
    layouts = [part.layout for part in spec.flatten_tuple_shape()]
    return any([layout is not None and bool(layout.tiles) for layout in layouts])


def _cost(instruction: HloInstruction, chip: str, runs: int) -> InstructionCost:
    work = work_of(instruction)
    move = _move(instruction, chip)
    opcode = instruction.opcode
    if opcode in _FREE or opcode in _CALLERS or move == "bitcast":
        return InstructionCost(*work, 0, 0, 0, instruction, move, runs)
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
    return InstructionCost(*work, taken, written[0], padding, instruction, move, runs)


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
