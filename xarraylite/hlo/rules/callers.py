"""Shapes of tuples, of what calls computations, and of operations on whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from ..._errors import HloError
from ...xla.spec import ArraySpec
from ..opcodes import BATCH_NORMS, by_opcode
from .call import Call, Rule, array, one_or_tuple, scalar, similar, with_dimensions

_PRED: Final = array("pred", ())


def _get_tuple_element(call: Call) -> ArraySpec:
    (operand,) = call.shapes
    call.require(operand.is_tuple, "takes a tuple")
    count = len(operand.tuple_shapes)
    shape: ArraySpec = operand.tuple_shapes[call.number("index", count, f"is below {count}")]
    return shape


def _call(call: Call) -> ArraySpec:
    return call.signature(0, call.shapes, call.result, "the computation").root.shape


def _while(call: Call) -> ArraySpec:
    (state,) = call.shapes
    call.signature(0, [state], state, "the body")
    call.signature(1, [state], _PRED, "the condition")
    return state


def _conditional(call: Call) -> ArraySpec:
    index, *arguments = call.shapes
    kind = index.element_type.name
    call.require(
        not index.dimensions and kind in ("pred", "s32"), "a pred[] or s32[] chooses the branch"
    )
    branches = len(call.called)
    call.require(
        branches == len(arguments) and (branches == 2 if kind == "pred" else branches > 0),
        f"{branches} branches for {len(arguments)} arguments; expected one each"
        + (", and two branches" if kind == "pred" else ""),
    )
    result = call.computation(0).root.shape
    for k, argument in enumerate(arguments):
        call.signature(k, [argument], result, f"branch {k}")
    return result


def _map(call: Call) -> ArraySpec:
    call.alike(call.shapes)
    first = call.shapes[0]
    callee = call.signature(0, [scalar(shape) for shape in call.shapes], None, "the function")
    result = callee.root.shape
    call.require(result.is_array and not result.dimensions, "the function gives a scalar")
    return array(result.element_type, first.dimensions, first.dynamic)


def _sort(call: Call) -> ArraySpec:
    rank = len(call.alike(call.shapes))
    call.one_dimension(rank)
    pairs = [scalar(shape) for shape in call.shapes for _ in range(2)]
    call.signature(0, pairs, _PRED, "the comparison")
    return one_or_tuple(call.shapes)


def _topk(call: Call) -> ArraySpec:
    operand = call.shapes[0]
    call.require(operand.rank > 0, "the operand has a last dimension")
    *others, size = operand.dimensions
    sizes = [*others, call.number("k", size + 1, f"is at most {size}")]
    return ArraySpec.tuple([array(operand.element_type, sizes), array("s32", sizes)])


def _scan(call: Call) -> ArraySpec:
    """Accept what is carried in front too: what only describes a scan may be written so."""
    try:
        return scan_shape(call)
    except HloError as error:
        if call.result is not None and call.get("num_carries"):
            with suppress(HloError):
                return scan_shape(call, rows_first=False)
        raise error


def scan_shape(call: Call, rows_first: bool = True) -> ArraySpec:
    """Return what a scan gives: rows along one dimension, then what it carries.

    So stand its operands, and so do what the computation takes and gives, where rows are slices
    without that dimension.  How many there are is said by the result alone where all operands are
    carried.

    Parameters
    ----------
    call : Call
        The scan.
    rows_first : bool, default True
        False for what is carried before rows, which is not evaluated.

    Raises
    ------
    HloError
        If operands, the computation, and what the result is said to be do not fit one another.
    """
    carries, callee = call.get("num_carries"), call.computation()
    axis = _scanned_axis(call, carries)

    def parted(parts: Sequence[ArraySpec]) -> tuple[Sequence[ArraySpec], Sequence[ArraySpec]]:
        """Return rows, and what is carried."""
        cut = len(parts) - carries if rows_first else carries
        return (parts[:cut], parts[cut:]) if rows_first else (parts[cut:], parts[:cut])

    def joined(rows: Sequence[ArraySpec], carried: Sequence[ArraySpec]) -> list[ArraySpec]:
        return [*rows, *carried] if rows_first else [*carried, *rows]

    rows, carried = parted(call.shapes)
    call.require(
        all([row.is_array and row.rank > axis for row in rows]),
        f"goes along dimension {axis} of all operands but {carries}, the "
        f"{'last' if rows_first else 'first'}",
    )
    slices = [array(row.element_type, _without(row.dimensions, axis)) for row in rows]
    call.signature(0, joined(slices, carried), None, "the computation")
    outputs, kept = parted(_parts(callee.root.shape))
    fits = len(kept) == carries and all(map(similar, kept, carried))
    call.require(fits, f"{callee.name} gives what is carried as it takes it")
    call.require(
        all([made.is_array and made.rank >= axis for made in outputs]),
        f"{callee.name} gives rows that can lie along dimension {axis}",
    )
    said = parted(_parts(call.result))[0] if call.result is not None else ()
    length = _length(call, axis, rows or said[:1])
    found = joined([_stacked(made, axis, length) for made in outputs], carried)
    whole = callee.root.shape if call.result is None else call.result
    return found[0] if len(found) == 1 and not whole.is_tuple else ArraySpec.tuple(found)


def _scanned_axis(call: Call, carries: int) -> int:
    """Return along which dimension of the operands that it does not carry a scan goes."""
    call.require(
        0 <= carries <= len(call.shapes), f"num_carries={carries} of {len(call.shapes)} operands"
    )
    axis, *others = (*call.ints("dimensions"), -1)
    call.require(axis >= 0 and others == [-1], "dimensions names one dimension, counted from 0")
    return axis


def _length(call: Call, axis: int, rows: Sequence[ArraySpec]) -> int:
    """Return how many slices of rows a scan goes along."""
    lengths = {row.dimensions[axis] for row in rows if row.is_array and row.rank > axis}
    call.require(len(lengths) > 0, f"operands or the result say how long dimension {axis} is")
    call.require(len(lengths) == 1, f"operands have one size along dimension {axis}")
    return lengths.pop()


def _parts(shape: ArraySpec) -> Sequence[ArraySpec]:
    return shape.tuple_shapes if shape.is_tuple else (shape,)


def _without(sizes: Sequence[int], axis: int) -> tuple[int, ...]:
    return (*sizes[:axis], *sizes[axis + 1 :])


def _stacked(shape: ArraySpec, axis: int, length: int) -> ArraySpec:
    sizes = shape.dimensions
    return array(shape.element_type, (*sizes[:axis], length, *sizes[axis:]))


# Operations on whole arrays.


def _fft(call: Call) -> ArraySpec:
    operand = call.shapes[0]
    kind, lengths = call.get("fft_type"), call.ints("fft_length")
    call.require(1 <= len(lengths) <= 3 <= 2 + operand.rank, "fft_length has one to three entries")
    call.require(len(lengths) <= operand.rank, "fft_length names last dimensions")
    name = operand.element_type.name
    wanted = ("f32", "f64") if kind == "RFFT" else ("c64", "c128")
    call.require(name in wanted, f"{kind} takes {' or '.join(wanted)}")
    last = list(operand.dimensions[-len(lengths) :])
    expected = list(lengths)
    if kind == "IRFFT":
        expected[-1] = lengths[-1] // 2 + 1
    call.require(
        last == expected or not all(last) or (kind in ("FFT", "IFFT") and not all(lengths)),
        f"the last dimensions are {expected} for fft_length={lengths}",
    )
    sizes = list(operand.dimensions)
    bits = operand.element_type.bits
    if kind == "RFFT":
        sizes[-1] = lengths[-1] // 2 + 1 if sizes[-1] else 0
        return with_dimensions(operand, sizes, f"c{2 * bits}")
    if kind == "IRFFT":
        sizes[-1] = lengths[-1] if sizes[-1] else 0
        return with_dimensions(operand, sizes, f"f{bits // 2}")
    return operand


def _square(call: Call, operand: ArraySpec) -> None:
    kind = operand.element_type
    call.require(kind.is_floating or kind.is_complex, "operands are of floating point or complex")
    call.require(
        operand.rank >= 2 and operand.dimensions[-1] == operand.dimensions[-2],
        "the last two dimensions of the first operand are equal",
    )


def _cholesky(call: Call) -> ArraySpec:
    _square(call, call.shapes[0])
    return call.shapes[0]


def _triangular_solve(call: Call) -> ArraySpec:
    a, b = call.shapes
    _square(call, a)
    call.same_type(call.shapes)
    call.require(
        a.rank == b.rank and a.dimensions[:-2] == b.dimensions[:-2],
        "operands have the same batch dimensions",
    )
    side = -2 if call.get("left_side") else -1
    call.require(a.dimensions[-1] == b.dimensions[side], "the second operand fits the first")
    return b


def _batch_norm(call: Call) -> ArraySpec:
    operand, *vectors = call.shapes
    call.require(operand.element_type.is_floating, "operands are floats")
    features = operand.dimensions[call.number("feature_index", operand.rank, "is a dimension")]
    full = call.opcode == "batch-norm-grad"
    for k, vector in enumerate(vectors):
        wanted = operand.dimensions if full and k == 3 else (features,)
        call.require(
            vector.dimensions == wanted and vector.element_type is operand.element_type,
            f"operand {k + 1} is {operand.element_type}[{','.join(map(str, wanted))}]",
        )
    if call.opcode == "batch-norm-inference":
        return operand
    sums = array(operand.element_type, (features,))
    return ArraySpec.tuple([operand, sums, sums])


def _rng(call: Call) -> ArraySpec | None:
    call.count(2)
    a, b = call.shapes
    call.require(
        not a.dimensions and not b.dimensions and a.element_type is b.element_type,
        "takes two scalars of one type",
    )
    normal = call.get("distribution") == "rng_normal"
    call.require(not normal or a.element_type.is_floating, "normal numbers are floats")
    return call.result


def _rng_bit_generator(call: Call) -> ArraySpec:
    call.count(1)
    word = call.get("algorithm")
    known = ("rng_default", "rng_philox", "rng_three_fry")
    call.require(word in known, f"algorithm={word} is one of {' '.join(known)}")
    result = call.said()
    if result.is_array:
        return result
    call.require(
        len(result.tuple_shapes) == 2 and result.tuple_shapes[0].compatible(call.shapes[0]),
        "gives the state and bits",
    )
    call.require(
        result.tuple_shapes[1].is_array and result.tuple_shapes[1].element_type.is_integral,
        "the bits are integers",
    )
    return result


#: Rules by operation.
RULES: Final[dict[str, Rule]] = {
    **by_opcode(_call, _cholesky, _conditional, _fft, _get_tuple_element, _map, _rng),
    **by_opcode(_rng_bit_generator, _scan, _sort, _topk, _triangular_solve, _while),
    **dict.fromkeys(BATCH_NORMS, _batch_norm),
    "fusion": _call,
    "tuple": lambda call: ArraySpec.tuple(call.shapes),
}
