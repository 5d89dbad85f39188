"""Exponentials and logarithms of float32, computed in float32.

The methods are those of `exponential`, with these differences.  ``1.5 * 2**23`` rounds to an
integer, ``ln2`` is split after 16 bits, and polynomials are shorter.  An exponential is scaled in
two steps whose exponents depend on the argument's sign alone: ``2**(n + 64)`` then ``2**-64`` for
negative arguments, ``2**(n - 64)`` then ``2**64`` for the others.  The first product is exact, so
results in the subnormal range are rounded once, and adding ``1.5 * 2**23 + 127 + 64`` in place of
``1.5 * 2**23`` leaves the first factor's exponent in the sum's low bits.

Polynomials are Horner's: loops have independent iterations enough to hide latency, what counts is
the number of instructions.

Coefficients: Sollya's ``fpminimax`` with single coefficients (Chevillard, Joldes and Lauter, 2010).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.bits import bits_f32, float_f32, fma

f32 = np.float32
i32 = np.int32

_UP = np.float32(12582912.0 + 127.0 - 64.0)  # the sum's low bits hold n - 64 with its bias
_DOWN = np.float32(12582912.0 + 127.0 + 64.0)
_EVEN = np.float32(12582912.0 + 127.0)
_LOG2E = np.float32(1.442695)
_LN2_HI = np.float32(0.693145751953125)  # 16 bits: exact times any |n| <= 2**8
_LN2_LO = np.float32(1.4286068e-06)
_SQRT_HALF_BITS = np.int32(0x3F3504F3)
_ONE_BITS = np.int32(0x3F800000)
_MIN_NORMAL = np.float32(2.0**-126)
_INF = np.float32(math.inf)
_NAN = np.float32(math.nan)


def exp_tail_f32(r: Any) -> Any:
    """``P(r)`` of ``exp(r) = 1 + r + r*r*P(r)`` on ``|r| <= 0.3473``, to 2**-28 of the whole."""
    p = fma(r, f32(0.0013822664), f32(0.00836884))
    p = fma(r, p, f32(0.041668247))
    return fma(r, fma(r, p, f32(0.1666652)), f32(0.49999994))


def exp_scaled_f32(a: Any, shift: Any, back: Any) -> Any:
    """``exp(a)`` times ``2**(shift - 1.5 * 2**23 - 127) * back``, for ``|a| <= 105``."""
    t = fma(a, _LOG2E, shift)
    n = t - shift
    r = fma(-n, _LN2_LO, fma(-n, _LN2_HI, a))
    p = f32(1.0) + fma(r * r, exp_tail_f32(r), r)
    return (p * float_f32(i32(bits_f32(t) << i32(23)))) * back


def exp_f32(x: Any) -> Any:
    """Exponential; the argument is clamped where the result is 0 or inf anyway."""
    a = f32(90.0) if x > f32(90.0) else x
    a = f32(-105.0) if a < f32(-105.0) else a
    down = x < f32(0.0)
    return exp_scaled_f32(a, _DOWN if down else _UP, f32(2.0**-64) if down else f32(2.0**64))


def exp_half_f32(a: Any) -> Any:
    """``exp(a)/2`` for ``a >= 0``, finite as long as the hyperbolic functions are."""
    return exp_scaled_f32(f32(90.0) if a > f32(90.0) else a, _UP, f32(2.0**63))


def exp_normal_f32(a: Any) -> Any:
    """``exp(a)`` where neither it nor its reciprocal leaves the normal range."""
    return exp_scaled_f32(a, _EVEN, f32(1.0))


def exp2_f32(x: Any) -> Any:
    """Two to the power x; exact at integers."""
    a = f32(130.0) if x > f32(130.0) else x
    a = f32(-152.0) if a < f32(-152.0) else a
    down = x < f32(0.0)
    shift = _DOWN if down else _UP
    t = a + shift
    r = a - (t - shift)
    p = fma(r, f32(0.00015241285), f32(0.0013391302))
    p = fma(r, fma(r, p, f32(0.009618834)), f32(0.05550359))
    p = fma(r, fma(r, fma(r, p, f32(0.24022645)), f32(0.6931472)), f32(1.0))
    back = f32(2.0**-64) if down else f32(2.0**64)
    return (p * float_f32(i32(bits_f32(t) << i32(23)))) * back


def expm1_f32(x: Any) -> Any:
    """``exp(x) - 1`` without cancellation: ``2**k (e**r - 1) + (2**k - 1)``."""
    a = f32(89.0) if x > f32(89.0) else x
    a = f32(-20.0) if a < f32(-20.0) else a
    shift = f32(12582912.0 + 126.0)  # half of 2**k: k may be 128
    t = fma(a, _LOG2E, shift)
    n = t - shift
    hi = fma(-n, _LN2_HI, a)
    lo = n * _LN2_LO
    r = hi - lo
    s = float_f32(i32(bits_f32(t) << i32(23)))
    u = s - f32(0.5)
    v = s * hi
    y = u + v
    y = f32(2.0) * (y + fma(s, fma(r * r, exp_tail_f32(r), -lo), (u - y) + v))
    return x if abs(x) < f32(2.0**-25) else y


def log_split_f32(u: Any) -> Any:
    """``(k, m)`` with ``u = 2**k m``, ``sqrt(1/2) <= m < sqrt(2)``, for normal ``u > 0``."""
    i = bits_f32(u)
    j = i32(i32(i - _SQRT_HALF_BITS) >> i32(23))
    return j, float_f32(i32(i - i32(j << i32(23))))


def log_rest_f32(f: Any) -> Any:
    """What ``log(1 + f)`` falls short of ``f`` by, for ``sqrt(1/2) <= 1 + f < sqrt(2)``."""
    s = f / (f32(2.0) + f)
    h = (f32(0.5) * f) * f
    z = s * s
    p = fma(z, fma(z, f32(0.2958733), f32(0.39988536)), f32(0.66666687))
    return fma(-s, fma(z, p, h), h)


def log_edges_f32(x: Any, y: Any) -> Any:
    """``y``, or what a logarithm is at zero, infinity, negative numbers and NaN."""
    y = y if x > f32(0.0) else _NAN
    y = -_INF if x == f32(0.0) else y
    return x if x == _INF else y


def log_parts_f32(x: Any) -> Any:
    """``(k, f, w)`` with ``log(x) = k ln2 + f - w``, for finite ``x > 0``."""
    tiny = x < _MIN_NORMAL  # its bits are x * 2**149, and arithmetic on it would be slow
    j, m = log_split_f32(f32(bits_f32(x)) if tiny else x)
    f = m - f32(1.0)
    return f32(j) - (f32(149.0) if tiny else f32(0.0)), f, log_rest_f32(f)


def log_is_hard_f32(x: Any) -> Any:
    """Whether the ``near`` logarithms are not for ``x``."""
    return not ((x >= _MIN_NORMAL) & (x < _INF))


def log_parts_near_f32(x: Any) -> Any:
    """`log_parts_f32` of normal numbers."""
    j, m = log_split_f32(x)
    f = m - f32(1.0)
    return f32(j), f, log_rest_f32(f)


def log_joined_f32(k: Any, f: Any, w: Any) -> Any:
    """Natural logarithm of `log_parts_f32`."""
    return fma(k, _LN2_HI, f - fma(-k, _LN2_LO, w))


def log_f32(x: Any) -> Any:
    """Natural logarithm."""
    k, f, w = log_parts_f32(x)
    return log_edges_f32(x, log_joined_f32(k, f, w))


def log_near_f32(x: Any) -> Any:
    """`log_f32` of normal numbers."""
    k, f, w = log_parts_near_f32(x)
    return log_joined_f32(k, f, w)


def log2_joined_f32(k: Any, f: Any, w: Any) -> Any:
    """Logarithm to base 2 of `log_parts_f32`: ``log2(e)`` is 1, which is exact, and a rest."""
    return k + (f + fma(f32(0.44269505), f - w, -w))


def log2_f32(x: Any) -> Any:
    """Logarithm to base 2; exact at powers of two."""
    k, f, w = log_parts_f32(x)
    return log_edges_f32(x, log2_joined_f32(k, f, w))


def log2_near_f32(x: Any) -> Any:
    """`log2_f32` of normal numbers."""
    k, f, w = log_parts_near_f32(x)
    return log2_joined_f32(k, f, w)


def log10_joined_f32(k: Any, f: Any, w: Any) -> Any:
    """Logarithm to base 10: ``log10(e)`` is 1/2, which is exact, less a little."""
    low = fma(f32(0.06570552), f, fma(-k, f32(-3.0243555e-06), f32(0.4342945) * w))
    return fma(k, f32(0.30103302001953125), fma(f32(0.5), f, -low))


def log10_f32(x: Any) -> Any:
    """Logarithm to base 10."""
    k, f, w = log_parts_f32(x)
    return log_edges_f32(x, log10_joined_f32(k, f, w))


def log10_near_f32(x: Any) -> Any:
    """`log10_f32` of normal numbers."""
    k, f, w = log_parts_near_f32(x)
    return log10_joined_f32(k, f, w)


def log_sum_f32(u: Any, c: Any) -> Any:
    """``log(u + c)`` for ``u >= 2**-24`` and ``|c| <= ulp(u)``; see ``log_sum_f64``."""
    j, m = log_split_f32(u)
    scaled = c * float_f32(i32(_ONE_BITS - i32(j << i32(23))))
    scaled = scaled if u < f32(2.0**60) else f32(0.0)
    f = (m - f32(1.0)) + scaled
    k = f32(j)
    return fma(k, _LN2_HI, f - fma(-k, _LN2_LO, log_rest_f32(f)))


def log1p_f32(x: Any) -> Any:
    """``log(1 + x)`` without cancellation."""
    u = f32(1.0) + x
    b = u - f32(1.0)
    c = (f32(1.0) - (u - b)) + (x - b)  # u + c == 1 + x exactly
    y = log_edges_f32(u, log_sum_f32(u, c))
    return x if abs(x) < f32(2.0**-25) else y
