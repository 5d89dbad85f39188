"""Shapes of tuples, of what calls computations, and of operations on whole arrays."""

from __future__ import annotations

from typing import Final

from ...xla.spec import ArraySpec
from ..opcodes import by_opcode
from .call import Call, Rule, array, one_or_tuple, scalar, with_dimensions

_PRED: Final = array("pred", ())


def _get_tuple_element(call: Call) -> ArraySpec:
    (operand,) = call.shapes
    index = call.get("index")
    call.require(operand.is_tuple, "takes a tuple")
    call.require(
        0 <= index < len(operand.tuple_shapes),
        f"index={index} is below {len(operand.tuple_shapes)}",
    )
    shape: ArraySpec = operand.tuple_shapes[index]
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
    operand, k = call.shapes[0], call.get("k")
    call.require(operand.rank > 0, "the operand has a last dimension")
    call.require(0 <= k <= operand.dimensions[-1], f"k={k} is at most {operand.dimensions[-1]}")
    sizes = [*operand.dimensions[:-1], k]
    return ArraySpec.tuple([array(operand.element_type, sizes), array("s32", sizes)])


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
        last == expected or not all(last),
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
    axis = call.get("feature_index")
    call.require(0 <= axis < operand.rank, f"feature_index={axis} is a dimension")
    features = operand.dimensions[axis]
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
    **by_opcode(_rng_bit_generator, _sort, _topk, _triangular_solve, _while),
    **dict.fromkeys(
        [f"batch-norm-{part}" for part in ("grad", "inference", "training")], _batch_norm
    ),
    "fusion": _call,
    "tuple": lambda call: ArraySpec.tuple(call.shapes),
}
