"""Hyperbolic functions and their inverses as branch-free scalar bodies.

``|x| = n ln2 + r`` as in `exponential`, and ``sinh`` and ``cosh`` are those of the sum by the
theorem of addition: ``sinh(n ln2)`` is half of ``2**n - 2**-n``; ``sinh(r)`` and ``cosh(r) - 1``
are minimax polynomials, so nothing is divided and nothing cancels that was rounded.  In float32
they come from ``e = exp(|x|)/2`` (computed halved, so that it overflows where they do):
``e +- 1/(4e)``; ``sinh`` below 1 is its own minimax polynomial.  ``tanh`` is ``t/(t + 2)`` with
``t = expm1(2|x|)``.  The inverses are logarithms of ``1 + y`` with ``y`` formed without
cancellation and its rounding error carried along:

- ``asinh(x) = log1p(x + x*x/(1 + sqrt(1 + x*x)))``,
- ``acosh(x) = log1p(t + sqrt(t*(t + 2)))`` with ``t = x - 1``,

and ``log(2*x)`` where ``x*x`` is no longer felt.  In float32 the first two are logarithms, in
float64, of ``x`` and the root, which need no division.  ``atanh`` is half the logarithm of
``(1 + x)/(1 - x) = 2**k (1 + s)/(1 - s)``, which is ``k ln2 / 2 + atanh(s)``: with ``c = 2**k``,
``s = ((1 - c) + x (1 + c))/((1 + c) + x (1 - c))``, so there is one division, and none where ``k``
is 0 that rounds.  Signs are put back last.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.bits import bits_f32, bits_f64, float_f32, float_f64, fma
from .exponential import (
    LN2_HI,
    LN2_LO,
    LOG2E,
    expm1_f64,
    log_short_f64,
    log_sum_f64,
    log_sum_near_f64,
    one_plus_f64,
)
from .exponential_f32 import exp_half_f32, exp_normal_f32

f32 = np.float32
i32 = np.int32

_HUGE = 2.0**28  # beyond: 1 + x*x == x*x in float64
_CLOSE = 1.0 - 2.0**-40
_NEAR = 6755399441055744.0 + 1022.0  # the sum's low bits hold n - 1 with its bias
_FAR = 6755399441055744.0 + 1022.0 - 512.0
_HALF_LN2 = 0.34657359027997264 * 2.0**-52  # and what its rounding left off
_HALF_LN2_REST = 1.1595234069231498e-17 * 2.0**-52
_CLOSE_F32 = np.float32(1.0 - 2.0**-20)
_HALF_LN2_F32 = np.float32(0.3465736 * 2.0**-23)
_HALF_LN2_REST_F32 = np.float32(-9.523271e-10 * 2.0**-23)
_QUARTER_BITS_F32 = np.int32(0x00200000)
_EXPONENT_F32 = np.int32(-0x00800000)
_ONE_BITS_F32 = np.int32(0x3F800000)


def turned_f64(a: Any, shift: Any) -> Any:
    """``(u, d, r, c, s)`` with ``a = n ln2 + r`` for ``0 <= a <= 712`` and ``n`` by the shift.

    ``u`` and ``d`` are half of ``2**n`` and of ``2**-n``; the cosine of ``r`` is ``1 + c``, its
    sine ``r + s``.
    """
    t = fma(a, LOG2E, shift)
    n = t - shift
    r = fma(-n, LN2_LO, fma(-n, LN2_HI, a))
    i = bits_f64(t) << 52
    z = r * r
    w = z * z
    c = fma(z, 2.7557282955039673e-07, 2.480158731715384e-05)
    c = fma(w, fma(w, 2.091124353145679e-09, c), fma(z, 0.001388888888888655, 0.041666666666666664))
    s = fma(z, 2.7557268439678e-06, 0.00019841269863066696)
    s = fma(w, fma(w, 2.5100395159429243e-08, s), fma(z, 0.00833333333333006, 0.16666666666666669))
    # The exponents of u and d add up to that of 1/4.
    return float_f64(i), float_f64(0x7FC0000000000000 - i), r, z * fma(z, c, 0.5), (r * z) * s


def sinh_turned_f64(a: Any, shift: Any) -> Any:
    """Hyperbolic sine of ``a >= 0`` by the theorem of addition."""
    u, d, r, c, s = turned_f64(a, shift)
    return (u - d) + fma(u + d, r, fma(u + d, s, (u - d) * c))


def cosh_turned_f64(a: Any, shift: Any) -> Any:
    """Hyperbolic cosine of ``a >= 0`` by the theorem of addition."""
    u, d, r, c, s = turned_f64(a, shift)
    return u + fma(u - d, r, fma(u - d, s, fma(u + d, c, d)))


def sinh_f64(x: Any) -> Any:
    """Hyperbolic sine; of large arguments divided by a power of 2, which is put back last."""
    a = abs(x)
    big = a > 600.0
    y = sinh_turned_f64(712.0 if a > 712.0 else a, _FAR if big else _NEAR)
    return math.copysign(y * (2.0**512 if big else 1.0), x)


def cosh_f64(x: Any) -> Any:
    """Hyperbolic cosine; see `sinh_f64`."""
    a = abs(x)
    big = a > 600.0
    y = cosh_turned_f64(712.0 if a > 712.0 else a, _FAR if big else _NEAR)
    return y * (2.0**512 if big else 1.0)


def sinh_near_f64(x: Any) -> Any:
    """`sinh_f64` of arguments that are not `exp_is_hard_f64`."""
    return math.copysign(sinh_turned_f64(abs(x), _NEAR), x)


def cosh_near_f64(x: Any) -> Any:
    """`cosh_f64` of arguments that are not `exp_is_hard_f64`."""
    return cosh_turned_f64(abs(x), _NEAR)


def sinh_f32(x: Any) -> Any:
    """Hyperbolic sine."""
    a = abs(x)
    e = exp_half_f32(a)
    z = a * a
    p = fma(
        z, fma(z, fma(z, f32(2.789984e-06), f32(0.00019841666)), f32(0.008333315)), f32(0.16666667)
    )
    return math.copysign(fma(a * z, p, a) if a < f32(1.0) else e - f32(0.25) / e, x)


def cosh_f32(x: Any) -> Any:
    """Hyperbolic cosine."""
    e = exp_half_f32(abs(x))
    return e + f32(0.25) / e


def tanh_f64(x: Any) -> Any:
    """Hyperbolic tangent."""
    a = abs(x)
    t = expm1_f64(2.0 * (22.0 if a > 22.0 else a))
    big = a > 0.5  # there 1 - 2/(t + 2) keeps half an ulp more
    q = (2.0 if big else t) / (t + 2.0)
    return math.copysign(1.0 - q if big else q, x)


def tanh_f32(x: Any) -> Any:
    """Hyperbolic tangent: a polynomial up to 0.55, ``1 - 2/(exp(2|x|) + 1)`` above."""
    a = abs(x)
    e = exp_normal_f32(f32(2.0) * (f32(10.0) if a > f32(10.0) else a))
    z = a * a
    p = fma(z, fma(z, f32(-0.006263359), f32(0.021063004)), f32(-0.05384986))
    p = fma(z, fma(z, p, f32(0.13332558)), f32(-0.33333316))
    y = fma(a * z, p, a) if a < f32(0.55) else f32(1.0) - f32(2.0) / (e + f32(1.0))
    return math.copysign(y, x)


def log_one_plus_f64(y: Any, e: Any) -> Any:
    """``log(1 + y + e)``; ``0 <= y < 2**60``, e the rounding error of y."""
    u, c = one_plus_f64(y)
    return log_sum_near_f64(u, c + e)


def log_twice_f64(big: Any, x: Any, y: Any, e: Any) -> Any:
    """`log_one_plus_f64`, or ``log(2*x)`` if big."""
    u, c = one_plus_f64(y)
    return log_sum_f64(x if big else u, 0.0 if big else c + e, 2.0**52 if big else 0.0)


def asinh_parts_f64(a: Any) -> Any:
    """``(y, e)`` with ``exp(asinh(a)) = 1 + y + e``."""
    z = a * a
    q = z / (1.0 + math.sqrt(1.0 + z))
    y = a + q
    return y, (a - y) + q


def asinh_f64(x: Any) -> Any:
    """Inverse hyperbolic sine."""
    a = abs(x)
    y, e = asinh_parts_f64(a)
    r = log_twice_f64(a > _HUGE, a, y, e)
    return math.copysign(r, x) if a < math.inf else x


def asinh_is_hard_f64(x: Any) -> Any:
    """Whether 1 is not felt beside the square of ``x``."""
    return not abs(x) <= _HUGE


def asinh_near_f64(x: Any) -> Any:
    """`asinh_f64` of all but large arguments."""
    y, e = asinh_parts_f64(abs(x))
    return math.copysign(log_one_plus_f64(y, e), x)


def asinh_f32(x: Any) -> Any:
    """Inverse hyperbolic sine: the logarithm of a sum, and two terms where that is next to 1."""
    # Signs are given to what is rounded.  To float16, LLVM rounds both operands of a copysign, not
    # what it gives: from float64 it would have to call a library.
    b = np.float64(x)
    a = abs(b)
    z = a * a
    r = log_short_f64(a + math.sqrt(1.0 + z))
    r = fma(a * z, -0.16666666666666666, a) if a < 2.0**-10 else r
    return math.copysign(np.float32(r), x) if a < math.inf else x


def acosh_f64(x: Any) -> Any:
    """Inverse hyperbolic cosine; NaN below 1."""
    t = x - 1.0
    z = t * t
    w = (t + t) + z
    q = math.sqrt(w)
    # What rounding took from t*(t + 2) and from its root, to first order: near 1 it shows.
    rest = fma(-q, q, w) + (((t + t) - w) + z)
    y = t + q
    e = ((q - y) + t) + (rest / (q + q) if q > 0.0 else 0.0)
    r = log_twice_f64(x > _HUGE, x, y, e)
    r = r if x < math.inf else x
    return r if x >= 1.0 else math.nan


def acosh_f32(x: Any) -> Any:
    """Inverse hyperbolic cosine; NaN below 1."""
    a = np.float64(x)
    r = log_short_f64(a + math.sqrt((a - 1.0) * (a + 1.0)))
    r = r if a < math.inf else a
    return np.float32(r if a >= 1.0 else math.nan)


def atanh_parts_f64(a: Any) -> Any:
    """``(k, c)`` with ``c = 2**(k/2**52)``: ``(1 + a)/(1 - a)`` is between 0.8 c and 1.75 c.

    ``c`` is 1 up to 1/4.  The bits of floats are their logarithms, roughly, as integers.
    """
    k = (bits_f64(1.0 + a) - bits_f64(1.0 - a) + 0x4000000000000) & -0x10000000000000
    return np.float64(k), float_f64(k + 0x3FF0000000000000)


def atanh_joined_f64(k: Any, s: Any) -> Any:
    """``k/2**53 ln2 + atanh(s)`` for ``|s| <= 0.27``."""
    z = s * s
    w = z * z
    a = fma(z, 0.1999999999999244, 0.33333333333333337)
    b = fma(z, 0.11111110739552978, 0.14285714288417709)
    c = fma(z, 0.07691326990848665, 0.09090934607357795)
    d = fma(w, 0.07185777045093783, fma(z, 0.05598017546352079, 0.0668867194718905))
    a = fma(w * w, fma(w, d, c), fma(w, b, a))
    return fma(k, _HALF_LN2, s + fma(s * z, a, k * _HALF_LN2_REST))


def atanh_f64(x: Any) -> Any:
    """Inverse hyperbolic tangent; NaN outside [-1, 1]."""
    a = abs(x)
    k, c = atanh_parts_f64(a)
    b = 1.0 - a
    high, low = fma(a, 1.0 + c, 1.0 - c), fma(a, 1.0 - c, 1.0 + c)
    close = a > _CLOSE  # 1 + c is rounded there, and 1 - a is not
    high = fma(-c, b, 1.0 + a) if close else high
    low = fma(c, b, 1.0 + a) if close else low
    r = atanh_joined_f64(k, high / low)
    r = math.inf if a == 1.0 else r
    return math.copysign(r, x) if a <= 1.0 else math.nan


def atanh_is_hard_f64(x: Any) -> Any:
    """Whether `atanh_near_f64` is not for ``x``."""
    return not abs(x) <= _CLOSE


def atanh_near_f64(x: Any) -> Any:
    """`atanh_f64` of what is not next to 1 or -1."""
    a = abs(x)
    k, c = atanh_parts_f64(a)
    s = fma(a, 1.0 + c, 1.0 - c) / fma(a, 1.0 - c, 1.0 + c)
    return math.copysign(atanh_joined_f64(k, s), x)


def atanh_joined_f32(k: Any, s: Any) -> Any:
    """``k/2**24 ln2 + atanh(s)`` for ``|s| <= 0.27``."""
    z = s * s
    p = fma(z, fma(z, f32(0.12595974), f32(0.1421447)), f32(0.20001078))
    rest = fma(s * z, fma(z, p, f32(0.33333334)), k * _HALF_LN2_REST_F32)
    return fma(k, _HALF_LN2_F32, s + rest)


def atanh_f32(x: Any) -> Any:
    """Inverse hyperbolic tangent; NaN outside [-1, 1]."""
    a = abs(x)
    up, b = f32(1.0) + a, f32(1.0) - a
    k = i32(i32(i32(bits_f32(up) - bits_f32(b)) + _QUARTER_BITS_F32) & _EXPONENT_F32)
    c = float_f32(i32(k + _ONE_BITS_F32))
    close = a > _CLOSE_F32
    high = fma(-c, b, up) if close else fma(a, f32(1.0) + c, f32(1.0) - c)
    low = fma(c, b, up) if close else fma(a, f32(1.0) - c, f32(1.0) + c)
    r = atanh_joined_f32(f32(k), high / low)
    r = f32(math.inf) if a == f32(1.0) else r
    return math.copysign(r, x) if a <= f32(1.0) else f32(math.nan)
