"""Elementwise functions: one definition per row of the op table.

Every function is lazy: it returns an `XExpression` whose shape and dtype are known at once, and
which is computed together with whatever it becomes part of.  Arguments are containers,
expressions, NumPy arrays and Python numbers; they broadcast against each other.

Names are the array API standard's; NumPy's older names are further names of the same functions.
Documentation comes from the op table too, so the dtype rule a page shows is the one in force.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays.expression import XExpression, apply
from ..dtypes.names import SUPPORTED, kind
from ..dtypes.promotion import int_bounds
from ..ops.table import OPS
from .pages import describe_as

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "fix",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "where",
]

Unary = Callable[[object], XExpression]
Binary = Callable[[object, object], XExpression]


# --- definitions -----------------------------------------------------------------------------


def unary(name: str) -> Unary:
    """Return the function of one operand for a row of the op table."""
    op = OPS[name]

    def function(x: object, /) -> XExpression:
        return apply(op, x)

    describe_as(function, op, ("x",))
    return function


def binary(name: str) -> Binary:
    """Return the function of two operands for a row of the op table."""
    op = OPS[name]

    def function(x1: object, x2: object, /) -> XExpression:
        return apply(op, x1, x2)

    describe_as(function, op, ("x1", "x2"))
    return function


add = binary("add")
subtract = binary("subtract")
multiply = binary("multiply")
divide = binary("divide")
floor_divide = binary("floor_divide")
remainder = binary("remainder")
fmod = binary("fmod")
pow = binary("pow")
negative = unary("negative")
positive = unary("positive")
abs = unary("abs")
fabs = unary("fabs")
sign = unary("sign")
square = unary("square")
reciprocal = unary("reciprocal")
sqrt = unary("sqrt")
maximum = binary("maximum")
minimum = binary("minimum")
fmax = binary("fmax")
fmin = binary("fmin")
fdim = binary("fdim")
floor = unary("floor")
ceil = unary("ceil")
trunc = unary("trunc")
round = unary("round")
rint = unary("rint")
copysign = binary("copysign")
nextafter = binary("nextafter")
heaviside = binary("heaviside")
conj = unary("conj")
equal = binary("equal")
not_equal = binary("not_equal")
less = binary("less")
less_equal = binary("less_equal")
greater = binary("greater")
greater_equal = binary("greater_equal")
isnan = unary("isnan")
isinf = unary("isinf")
isfinite = unary("isfinite")
signbit = unary("signbit")
logical_and = binary("logical_and")
logical_or = binary("logical_or")
logical_xor = binary("logical_xor")
logical_not = unary("logical_not")
bitwise_and = binary("bitwise_and")
bitwise_or = binary("bitwise_or")
bitwise_xor = binary("bitwise_xor")
bitwise_invert = unary("bitwise_invert")
bitwise_left_shift = binary("bitwise_left_shift")
bitwise_right_shift = binary("bitwise_right_shift")
sin = unary("sin")
cos = unary("cos")
tan = unary("tan")
asin = unary("asin")
acos = unary("acos")
atan = unary("atan")
sinh = unary("sinh")
cosh = unary("cosh")
tanh = unary("tanh")
asinh = unary("asinh")
acosh = unary("acosh")
atanh = unary("atanh")
exp = unary("exp")
exp2 = unary("exp2")
expm1 = unary("expm1")
log = unary("log")
log2 = unary("log2")
log10 = unary("log10")
log1p = unary("log1p")
cbrt = unary("cbrt")
atan2 = binary("atan2")
hypot = binary("hypot")
logaddexp = binary("logaddexp")
deg2rad = unary("deg2rad")
rad2deg = unary("rad2deg")


def where(condition: object, x1: object, x2: object, /) -> XExpression:
    """Choose between two values, element by element.

    Parameters
    ----------
    condition : array, expression or number
        Where it is nonzero, `x1` is taken.
    x1, x2 : array, expression or number
        Values, broadcast against each other and the condition.

    Returns
    -------
    XExpression
        The lazy result, of the common dtype of the two values.

    Raises
    ------
    DTypeError
        If an operand is no array or number.
    BroadcastError
        If the shapes do not broadcast.

    See Also
    --------
    numpy.where : The same on NumPy arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> x = xl.asarray([-1.0, 2.0])
    >>> np.asarray(xl.where(x > 0, x, 0.0)).tolist()
    [0.0, 2.0]
    """
    return apply(OPS["where"], condition, x1, x2)


def clip(x: object, /, min: object = None, max: object = None) -> XExpression:
    """Move values into an interval.

    Parameters
    ----------
    x : array, expression or number
        Values.
    min, max : array, expression or number, optional
        Bounds, broadcast against `x`; None for none.  A Python int at or beyond the end of the
        range of an integer `x` is no bound.

    Returns
    -------
    XExpression
        The lazy result ``minimum(maximum(x, min), max)``, of the operands' common dtype.

    Raises
    ------
    DTypeError
        If an operand is no array or number.
    OverflowError
        If a Python int is a bound that the integer dtype of `x` cannot hold, such as ``min=300``
        for uint8.
    BroadcastError
        If the shapes do not broadcast.

    See Also
    --------
    numpy.clip : The same on NumPy arrays.

    Notes
    -----
    A real NaN, as a value or a bound, gives NaN.  Where the bounds are crossed, `max` wins.
    Values equal to a bound are kept, the sign of a zero included.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> np.asarray(xl.clip(xl.asarray([1, 5, 9]), 2, 6)).tolist()
    [2, 5, 6]
    """
    low, high = _bounds(x)
    if type(min) is int and low is not None and min <= low:
        min = None
    if type(max) is int and high is not None and max >= high:
        max = None
    if min is None and max is None:
        return apply(OPS["cast"], x)
    if min is None:
        return apply(OPS["minimum"], x, max)
    if max is None:
        return apply(OPS["maximum"], x, min)
    return apply(OPS["clip"], x, min, max)


def _bounds(x: object) -> tuple[int, int] | tuple[None, None]:
    """Return the range of an integer array, None for everything else."""
    dtype = getattr(x, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype in SUPPORTED and kind(dtype) in ("i", "u"):
        return int_bounds(dtype)
    return None, None


# --- other names -----------------------------------------------------------------------------

true_divide = divide
mod = remainder
power = pow
absolute = abs
fix = trunc
conjugate = conj
invert = bitwise_invert
bitwise_not = bitwise_invert
left_shift = bitwise_left_shift
right_shift = bitwise_right_shift
arcsin = asin
arccos = acos
arctan = atan
arcsinh = asinh
arccosh = acosh
arctanh = atanh
arctan2 = atan2
radians = deg2rad
degrees = rad2deg
