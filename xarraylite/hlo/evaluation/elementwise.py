"""Elementwise operations, by XLA's rules where they are not NumPy's.

Integers: ``x / 0`` is -1 (all ones), ``x % 0`` is x, division truncates.  Shifts by the width or
more move everything out, negative counts being large ones, in NumPy's rules too.  Floats that
become integers saturate, and NaN becomes 0.  Comparisons of total order go by bits: -NaN < -inf <
... < -0 < 0 < ... < NaN.
Functions are lazy; floats of 16 bits and fewer go through float32 once per function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from ...arrays.expression import XExpression
from ...dtypes.element_types import element_type
from ...dtypes.info import bounds
from ...dtypes.names import kind as kind_of_dtype
from ...ir.node import Scalar
from ...ops.table import OPS
from ..instruction import HloInstruction
from ..opcodes import by_opcode
from .bits import reduce_precision, stochastic_convert, total_order
from .values import Evaluator, Runner, Value, array, container, op, result_dtype, stored

_SMALL: Final = (
    (1.85777706184603153e-1, 3.16112374387056560, 113.864154151050156, 377.485237685302021,
     3209.37758913846947),
    (1.0, 23.6012909523441209, 244.024637934444173, 1282.61652607737228, 2844.23683343917062),
)  # fmt: skip
_MIDDLE: Final = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 66.1191906371416295,
     298.635138197400131, 881.952221241769090, 1712.04761263407058, 2051.07837782607147,
     1230.33935479799725),
    (1.0, 15.7449261107098347, 117.693950891312499, 537.181101862009858, 1621.38957456669019,
     3290.79923573345963, 4362.61909014324716, 3439.36767414372164, 1230.33935480374942),
)  # fmt: skip
_LARGE: Final = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def _polynomial(coefficients: tuple[float, ...], x: Value) -> Value:
    result: Value = coefficients[0]
    for coefficient in coefficients[1:]:
        result = op("add", op("multiply", result, x), coefficient)
    return result


def _quotient(pair: tuple[tuple[float, ...], ...], x: Value) -> Value:
    return op("divide", _polynomial(pair[0], x), _polynomial(pair[1], x))


def erf(x: Value) -> Value:
    """Return the error function of float32 or float64 numbers, lazily; computed in float64.

    By the rational approximations of W. J. Cody (Math. Comp. 23, 1969), in three ranges of ``|x|``:
    ``erf`` itself below 0.46875, ``erfc`` above, as ``exp(-x*x)`` times a quotient of polynomials
    in ``x`` up to 4 and in ``1/x**2`` beyond.  The relative error of each is below 1e-16; what
    remains is the rounding of the arithmetic.  All three are computed and one is taken, so that
    the kernel has no branches.
    """
    wide = x.astype("float64")
    size = op("abs", wide)
    square = op("multiply", wide, wide)
    small = op("multiply", wide, _quotient(_SMALL, square))
    decay = op("exp", op("negative", square))
    middle = op("multiply", decay, _quotient(_MIDDLE, size))
    inverse = op("divide", 1.0, square)
    tail = op("multiply", inverse, _quotient(_LARGE, inverse))
    rest = op("subtract", 1.0 / math.sqrt(math.pi), tail)
    large = op("multiply", decay, op("divide", rest, size))
    beyond = op("where", op("less_equal", size, 4.0), middle, large)
    # From 6 on the result is 1 in double precision; before that nothing overflows.
    beyond = op("where", op("less", size, 6.0), op("subtract", 1.0, beyond), 1.0)
    signed = op("copysign", beyond, wide)
    chosen = op("where", op("less", size, 0.46875), small, signed)
    return op("where", op("isnan", wide), wide, chosen).astype(x.dtype)


def _kind(value: Value) -> str:
    return kind_of_dtype(value.dtype)


def _bits(x: Value) -> Value:
    """The bits of integers as unsigned ones; those of 2 and 4 lie in 8, behind zeros."""
    width, bits = element_type(x.dtype).bits, x.astype(f"u{x.dtype.itemsize}")
    return op("bitwise_and", bits, 2**width - 1) if width < 8 else bits


def divide(x: Value, y: Value) -> Value:
    """Quotient; of integers, truncated."""
    if _kind(x) not in "iu":
        inverse = _inverse(y)
        return op("divide", x, y) if inverse is None else op("multiply", x, inverse)
    quotient = op("floor_divide", x, y)
    if _kind(x) == "i":
        rest = op("not_equal", op("multiply", quotient, y), x)
        towards = op("logical_and", rest, op("less", quotient, 0)).astype(x.dtype)
        quotient = op("add", quotient, towards)
    ones = x.dtype.type(-1 if _kind(x) == "i" else bounds(x.dtype)[1])
    return op("where", op("equal", y, 0), ones, quotient)


def _inverse(y: Value) -> Any:
    """Return 1 / y where y is a number and multiplying by that rounds as dividing by y does."""
    node = y.node if isinstance(y, XExpression) else None
    if not isinstance(node, Scalar) or node.parameter >= 0:
        return None
    if _kind(y) != "f" or y.dtype.itemsize < 4:
        return None
    number = y.dtype.type(node.value)
    power = 2.0**-32 <= abs(number) <= 2.0**32 and abs(np.frexp(number)[0]) == 0.5
    return y.dtype.type(1 / number) if power else None


def remainder(x: Value, y: Value) -> Value:
    """Rest of the truncated quotient, with the sign of the dividend."""
    rest = op("fmod", x, y)
    return op("where", op("equal", y, 0), x, rest) if _kind(x) in "iu" else rest


def shift_right_arithmetic(x: Value, count: Value) -> Value:
    """Bits moved down, the sign behind them."""
    signed = [part.astype(x.dtype.name.removeprefix("u")) for part in (x, count)]
    return op("bitwise_right_shift", *signed).astype(x.dtype)


def shift_right_logical(x: Value, count: Value) -> Value:
    """Bits moved down, zeros behind them."""
    return op("bitwise_right_shift", _bits(x), _bits(count)).astype(x.dtype)


def population_count(x: Value) -> Value:
    """Number of ones among the bits."""
    full = max(element_type(x.dtype).bits, 32)
    bits = _bits(x).astype(f"uint{full}")
    step = 1
    while step < full:
        mask = sum([((1 << step) - 1) << at for at in range(0, full, 2 * step)])
        upper = op("bitwise_and", op("bitwise_right_shift", bits, step), mask)
        bits = op("add", op("bitwise_and", bits, mask), upper)
        step *= 2
    return bits.astype(x.dtype)


def count_leading_zeros(x: Value) -> Value:
    """Number of zeros before the first one."""
    width = element_type(x.dtype).bits
    bits = _bits(x).astype(f"uint{max(width, 32)}")
    step = 1
    while step < width:
        bits = op("bitwise_or", bits, op("bitwise_right_shift", bits, step))
        step *= 2
    return op("subtract", width, population_count(bits)).astype(x.dtype)


def mulhi(x: Value, y: Value) -> Value:
    """Upper half of the product of integers."""
    width = element_type(x.dtype).bits
    if width < 64:
        wide = "int64" if _kind(x) == "i" else "uint64"
        product = op("multiply", x.astype(wide), y.astype(wide))
        return op("bitwise_right_shift", product, width).astype(x.dtype)
    product = array(x).astype(object) * array(y).astype(object)
    return container(np.asarray(product >> 64).astype(x.dtype))


def convert(x: Value, dtype: np.dtype[Any]) -> Value:
    """Return elements as another type."""
    source, target = _kind(x), kind_of_dtype(dtype)
    if x.dtype == dtype:
        return x
    if target == "b":
        return op("not_equal", x, 0)
    if source == "c" and target != "c":
        return convert(op("real", x), dtype)
    if source == "f" and target in "iu":
        width = element_type(dtype).bits
        top = 2 ** (width - (target == "i"))
        low = -top if target == "i" else 0
        wide = x.astype("float32") if x.dtype.itemsize < 4 else x
        inner = op("where", op("greater", wide, float(low)), wide.astype(dtype), dtype.type(low))
        over = op("greater_equal", wide, float(top))
        whole = op("where", over, dtype.type(top - 1), inner)
        return op("where", op("isnan", wide), dtype.type(0), whole)
    return x.astype(dtype)


def round_away(x: Value) -> Value:
    """Nearest integer, halves away from zero."""
    whole = op("trunc", x)
    far = op("greater_equal", op("abs", op("subtract", x, whole)), 0.5)
    return op("where", far, op("add", whole, op("copysign", x.dtype.type(1), x)), whole)


def logistic(x: Value) -> Value:
    """``1 / (1 + exp(-x))``."""
    return op("divide", 1.0, op("add", 1.0, op("exp", op("negative", x))))


def atan2(y: Value, x: Value) -> Value:
    """Angle of the point ``(x, y)``; of complex numbers ``-i log((x + iy) / sqrt(x*x + y*y))``."""
    if _kind(x) != "c":
        return op("atan2", y, x)
    squares = op("add", op("multiply", x, x), op("multiply", y, y))
    turned = op("add", x, op("multiply", y, x.dtype.type(1j)))
    return op("multiply", op("log", op("divide", turned, op("sqrt", squares))), x.dtype.type(-1j))


def sign(x: Value) -> Value:
    """Sign of a number; of zeros, which have one too, the zero itself."""
    found = op("sign", x)
    return op("where", op("equal", x, 0), x, found) if _kind(x) == "f" else found


def log_plus_one(x: Value) -> Value:
    """Logarithm of 1 and a number, whose small parts NumPy loses where they are complex."""
    if _kind(x) != "c":
        return op("log1p", x)
    made = array(x).copy()
    real, imaginary = made.real.astype(np.longdouble), made.imag.astype(np.longdouble)
    with np.errstate(all="ignore"):
        excess = real * (2 + real) + imaginary * imaginary  # of the absolute square over 1
        near = np.log1p(excess) / 2
        made.real = np.where(abs(excess) < 0.5, near, np.log(np.hypot(1 + real, imaginary)))
        made.imag = np.arctan2(imaginary, 1 + real)
    return container(made)


def clamp(low: Value, x: Value, high: Value) -> Value:
    """Elements moved between bounds; NaN stays."""
    return op("minimum", op("maximum", x, low), high)


def complex_of(real: Value, imaginary: Value) -> Value:
    """Complex numbers of two parts.  Arithmetic would make NaNs of infinities."""
    parts = [array(real), array(imaginary)]
    shape = np.broadcast_shapes(*[part.shape for part in parts])
    made = np.empty(shape, "complex64" if parts[0].dtype == np.float32 else "complex128")
    made.real, made.imag = parts
    return container(made)


def _in_float32(function: Callable[..., Value]) -> Callable[..., Value]:
    """Compute narrow floats in float32, and round once."""

    def wrapped(*operands: Value) -> Value:
        dtype = operands[0].dtype
        if kind_of_dtype(dtype) != "f" or dtype.itemsize > 2:
            return function(*operands)
        return function(*[operand.astype("float32") for operand in operands]).astype(dtype)

    return wrapped


def _compare(run: Runner, instruction: HloInstruction, x: Value, y: Value) -> Value:
    name = _OURS[f"compare {instruction.get('direction')}"]
    if instruction.get("type") == "TOTALORDER" and _kind(x) == "f":
        x, y = [container(total_order(array(stored(value)))) for value in (x, y)]
    return op(name, x, y)


def _reduce_precision(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    bits = instruction.get("exponent_bits"), instruction.get("mantissa_bits")
    return container(reduce_precision(array(x), *bits))


def _stochastic_convert(run: Runner, instruction: HloInstruction, x: Value, random: Value) -> Value:
    return container(stochastic_convert(array(x), array(random), result_dtype(instruction)))


#: Opcodes that our table names alike, and JAX seldom writes.
_SAME_NAMES: Final = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh")
#: What XLA calls an operation of ours, and our name of it.
_OURS: Final = {row.hlo: name for name, row in OPS.items() if row.hlo} | {
    name: name for name in _SAME_NAMES
}

# What asks nothing of its instruction.
_FUNCTIONS: Final[dict[str, Callable[..., Value]]] = {
    **{opcode: partial(op, name) for opcode, name in _OURS.items() if " " not in opcode},
    **by_opcode(atan2, clamp, count_leading_zeros, divide, log_plus_one, mulhi, remainder),
    **by_opcode(shift_right_arithmetic, shift_right_logical, sign),
    "complex": complex_of,
    "erf": _in_float32(erf),
    "logistic": _in_float32(logistic),
    "popcnt": population_count,
    "round-nearest-afz": _in_float32(round_away),
    "shift-left": partial(op, "bitwise_left_shift"),
    "rsqrt": _in_float32(lambda x: op("divide", 1.0, op("sqrt", x))),
}


def _without_attributes(function: Callable[..., Value]) -> Evaluator:
    return lambda run, instruction, *operands: function(*operands)


def of_live(evaluator: Evaluator) -> Evaluator:
    """Return what computes the part that all operands have, of which some are dynamic.

    As in XLA, one element along a dynamic dimension meets all of another one's.
    """

    def evaluate(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
        live = []
        for axis, bound in enumerate(instruction.shape.dimensions):
            sizes = {
                x.shape[axis]
                for x, told in zip(operands, instruction.operands, strict=True)
                if x.ndim and (x.shape[axis] != bound or told.shape.dynamic[axis])
            }
            live.append(slice(min(sizes - {1} or sizes, default=bound)))
        return evaluator(run, instruction, *[x[tuple(live[: x.ndim])] for x in operands])

    return evaluate


#: Evaluators whose result has its operands' shape, which may be any.
ELEMENTWISE: Final[dict[str, Evaluator]] = {
    **{opcode: _without_attributes(function) for opcode, function in _FUNCTIONS.items()},
    **by_opcode(_compare, _reduce_precision, _stochastic_convert),
    "convert": lambda run, made, x: convert(x, result_dtype(made)),
}
