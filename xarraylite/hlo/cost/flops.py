"""How many operations an instruction is.

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

from ..evaluation.loops import trip_count
from ..instruction import HloComputation, HloInstruction
from ..opcodes import OPCODES
from ..rules.inference import verify_instruction
from ..values import ConvolutionLabels, WindowDimension


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
    reach = (window.size - 1) * window.window_dilation + 1
    spread = (size - 1) * window.base_dilation + 1 if size else 0
    padded = spread + window.padding_low + window.padding_high
    places = (padded - reach) // window.stride + 1 if padded >= reach else 0
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
    window = instruction.get("window") or (WindowDimension(1),) * labels.spatial
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
    **dict.fromkeys(
        [f"batch-norm-{part}" for part in ("grad", "inference", "training")],
        lambda made: Work(6 * elements(made.operands[0])),
    ),
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
    >>> from xarraylite.hlo.cost.flops import work_of
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
