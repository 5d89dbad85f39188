"""The error function, by the rational approximations of W. J. Cody (Math. Comp. 23, 1969).

Three ranges of ``|x|``: ``erf`` itself below 0.46875, ``erfc`` above, as ``exp(-x*x)`` times a
quotient of polynomials in ``x`` up to 4 and in ``1/x**2`` beyond.  The relative error of each is
below 1e-16; what remains is the rounding of the arithmetic.  All three are computed and one is
taken, so that the kernel has no branches.
"""

from __future__ import annotations

import math
from typing import Final

from .values import Value, op

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
    """Return the error function of float32 or float64 numbers, lazily; computed in float64."""
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
