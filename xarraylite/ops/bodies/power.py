"""Powers, roots and sums of exponentials as branch-free scalar bodies.

*pow.*  ``x**y = 2**(y log2 x)``: an error of the logarithm is multiplied by up to 1074, so the
logarithm is carried in two parts, about 2**-67 accurate.  With ``s = f/(2+f)`` in two parts,
``log(1+f) = 2/3 s (3 + s*s + s**4 Q(s*s))``; what a product's rounding leaves off is a fused
multiply-add of the same numbers, and exact.

*cbrt.*  The exponent is divided by three in floating point; ``v**(-1/3)`` comes from a polynomial
and one third-order step, ``t = v y y`` is the root to 41 bits, and what is left of ``v`` without
``t**3``, exact by multiply-adds, corrects it.

*hypot* scales by a power of two where squares would leave the range.  *logaddexp* is
``max + log1p(exp(-|x - y|))`` with the rounding error of the difference put back.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.bits import bits_f32, bits_f64, float_f32, float_f64, fma
from .exponential import (
    LN2,
    LOG2E,
    MIN_NORMAL,
    SHIFTER,
    SHIFTER_BITS,
    exp2_short_f64,
    exp2_short_near_f64,
    exp2_sum_f64,
    exp2_sum_near_f64,
    exp_f64,
    log1p_f64,
    log_is_hard_f64,
    log_parts_f64,
    log_parts_near_f64,
    log_split_f64,
    pow2_f64,
)

f32 = np.float32
i32 = np.int32

_TWO_THIRDS_LOG2E = 0.9617966939259756  # and what its rounding left off
_TWO_THIRDS_LOG2E_LO = 5.0577616648125907e-17
_FRACTION_F32 = np.int32(0x007FFFFF)
_HALF_BITS_F32 = np.int32(0x3F000000)
_MIN_NORMAL_F32 = np.float32(2.0**-126)
_BIASED = np.float32(12582912.0 + 127.0)  # the sum's low bits hold an exponent with its bias
_FRACTION = 0x000FFFFFFFFFFFFF
_HALF_BITS = 0x3FE0000000000000


def cbrt_seed_f64(a: Any) -> Any:
    """``(v, y, k)``: ``a = v * 8**k``, y within 2**-41 of ``v**(-1/3)``, v in [1/4, 2)."""
    i = bits_f64(a)
    m = float_f64((i & _FRACTION) | _HALF_BITS)
    e = np.float64(i >> 52) - 1022.0
    b = fma(e, 0.3333333333333333, SHIFTER)
    k = b - SHIFTER
    r = fma(-3.0, k, e)
    v = (2.0 * m if r > 0.0 else m) * (0.5 if r < 0.0 else 1.0)
    c = 0.7937005259840998 if r > 0.0 else (1.2599210498948732 if r < 0.0 else 1.0)
    y = fma(m, fma(m, 3.5049869645020415, -2.955516524186155), 2.104094302823886)
    y = c * fma(m * m * m, fma(m, 0.5762853167840645, -2.229812736030698), y)
    h = fma(-(v * y), y * y, 1.0)
    y = fma(y, h * fma(h, 0.2222222222222222, 0.3333333333333333), y)
    return v, y, bits_f64(b) - SHIFTER_BITS


def cbrt_parts_f64(a: Any) -> Any:
    """``(r, k)`` with ``r * 2**k`` the cube root of a normal ``a``."""
    v, y, k = cbrt_seed_f64(a)
    t = (v * y) * y
    z = t * t
    rest = fma(-fma(t, t, -z), t, fma(-z, t, v))  # v - t**3
    return fma(rest, (y * y) * 0.3333333333333333, t), k


def cbrt_f64(x: Any) -> Any:
    """Cube root."""
    a = abs(x)
    tiny = a < MIN_NORMAL
    y, k = cbrt_parts_f64(a * 2.0**54 if tiny else a)
    y = math.copysign(y * pow2_f64(k - 18 if tiny else k), x)
    return y if (a > 0.0) & (a < math.inf) else x


def cbrt_is_hard_f64(x: Any) -> Any:
    """Whether `cbrt_near_f64` is not for ``x``."""
    return log_is_hard_f64(abs(x))


def cbrt_near_f64(x: Any) -> Any:
    """`cbrt_f64` of normal numbers."""
    y, k = cbrt_parts_f64(abs(x))
    return math.copysign(y * pow2_f64(k), x)


def cbrt_parts_f32(a: Any) -> Any:
    """``(r, scale)`` with ``r * scale`` the cube root of a normal ``a``; see `cbrt_parts_f64`."""
    i = bits_f32(a)
    m = float_f32(i32(i32(i & _FRACTION_F32) | _HALF_BITS_F32))
    e = f32(i32(i >> i32(23))) - f32(126.0)
    b = fma(e, f32(0.33333334), _BIASED)
    r = fma(f32(-3.0), b - _BIASED, e)
    up = r > f32(0.0)
    down = r < f32(0.0)
    v = (m + m if up else m) * (f32(0.5) if down else f32(1.0))
    c = f32(0.7937005) if up else (f32(1.2599211) if down else f32(1.0))
    y = c * fma(m, fma(m, f32(0.47069556), f32(-1.2178959)), f32(1.748968))
    h = fma(-(v * y), y * y, f32(1.0))
    y = fma(y, h * fma(h, f32(0.22222222), f32(0.33333334)), y)
    t = (v * y) * y
    z = t * t
    rest = fma(-fma(t, t, -z), t, fma(-z, t, v))  # v - t**3
    return fma(rest, (y * y) * f32(0.33333334), t), float_f32(i32(bits_f32(b) << i32(23)))


def cbrt_f32(x: Any) -> Any:
    """Cube root."""
    a = abs(x)
    tiny = a < _MIN_NORMAL_F32
    y, scale = cbrt_parts_f32(a * f32(2.0**24) if tiny else a)
    y = math.copysign(y * (scale * f32(2.0**-8) if tiny else scale), x)
    return y if (a > f32(0.0)) & (a < f32(math.inf)) else x


def cbrt_is_hard_f32(x: Any) -> Any:
    """Whether `cbrt_near_f32` is not for ``x``."""
    return not ((abs(x) >= _MIN_NORMAL_F32) & (abs(x) < f32(math.inf)))


def cbrt_near_f32(x: Any) -> Any:
    """`cbrt_f32` of normal numbers."""
    y, scale = cbrt_parts_f32(abs(x))
    return math.copysign(y * scale, x)


def hypot_f64(x: Any, y: Any) -> Any:
    """``sqrt(x*x + y*y)`` without overflow or underflow on the way; inf wins over NaN."""
    a = abs(x)
    b = abs(y)
    p = b if b > a else a
    q = a if b > a else b
    large = p > 2.0**500
    small = p < 2.0**-450
    s = 2.0**-600 if large else (2.0**600 if small else 1.0)
    u = 2.0**600 if large else (2.0**-600 if small else 1.0)
    p = p * s
    q = q * s
    r = math.sqrt(p * p + q * q) * u
    return math.inf if (a == math.inf) | (b == math.inf) else r


def hypot_f32(x: Any, y: Any) -> Any:
    """``sqrt(x*x + y*y)``; the squares cannot leave float64's range; inf wins over NaN."""
    a = np.float64(x)
    b = np.float64(y)
    r = math.sqrt(a * a + b * b)
    return np.float32(math.inf if (abs(a) == math.inf) | (abs(b) == math.inf) else r)


def logaddexp_f64(x: Any, y: Any) -> Any:
    """``log(exp(x) + exp(y))``."""
    less = x < y
    p = y if less else x
    q = x if less else y
    d = q - p
    v = d - q
    e = (q - (d - v)) - (p + v)  # d + e == q - p exactly
    g = exp_f64(d)
    r = p + log1p_f64(g + (g * e if g > 0.0 else 0.0))
    return x + LN2 if x == y else r  # infinities included


def logaddexp_f32(x: Any, y: Any) -> Any:
    """``log(exp(x) + exp(y))``; float64's digits carry it through the cancellation near zero."""
    return np.float32(logaddexp_f64(np.float64(x), np.float64(y)))


def pow_edges(x: Any, y: Any, r: Any) -> Any:
    """``r = |x|**y``, 1 where ``|x|`` is, with the sign and the special cases of C99 put on."""
    half = y * type(y)(0.5)
    whole = np.rint(y) == y
    odd = whole & (np.rint(half) != half)
    r = math.copysign(r, x) if odd else r
    invalid = (x < type(x)(0)) & (x > type(x)(-math.inf)) & (not whole)
    r = type(x)(math.nan) if invalid | (x != x) | (y != y) else r
    return type(x)(1) if (y == type(y)(0)) | (x == type(x)(1)) else r


def log2_pair_f64(k: Any, f: Any) -> Any:
    """``(t, u)`` with ``t + u = k/2**52 + log2(1 + f)`` to 2**-65."""
    # s + e = f/d with d = 2 + f
    d = 2.0 + f
    y = 1.0 / d
    s = f * y
    e = fma(-s, f - (d - 2.0), fma(-s, d, f)) * y
    z = s * s
    w = z * z
    q = fma(z, 0.4285714285514912, 0.6000000000000338)
    q = fma(w, fma(z, 0.2727267654537293, 0.3333333377993876), q)
    q = fma(w * w, fma(w, 0.1979455148627536, fma(z, 0.19885220426718989, 0.23080136255233002)), q)
    # 3 + s*s + s**4 Q = wh + wl
    rest = fma(w, q, fma(s, s, -z) + (e + e) * s)
    wh = (3.0 + z) + rest
    wl = rest - ((wh - 3.0) - z)
    # times s, then times 2/(3 ln2)
    u = s * wh
    v = fma(s, wl, fma(e, wh, fma(s, wh, -u)))
    gh = u * _TWO_THIRDS_LOG2E
    gl = fma(u, _TWO_THIRDS_LOG2E, -gh) + fma(u, _TWO_THIRDS_LOG2E_LO, v * _TWO_THIRDS_LOG2E)
    t = fma(k, 2.0**-52, gh)
    return t, gl - (fma(k, -(2.0**-52), t) - gh)


def pow_f64(x: Any, y: Any) -> Any:
    """x to the power y."""
    m = abs(x)
    k, f = log_parts_f64(m)
    t, u = log2_pair_f64(k, f)
    c = 2.0**66 if y > 2.0**66 else y  # beyond, any x but 1 goes to 0 or inf
    c = -(2.0**66) if c < -(2.0**66) else c
    a = c * t
    b = fma(c, u, fma(c, t, -a))
    a = c * -math.inf if m == 0.0 else a
    a = c * math.inf if m == math.inf else a
    b = -1.0 if b < -1.0 else b  # it is small where a is not far
    b = 1.0 if b > 1.0 else b
    a = -1100.0 if a < -1100.0 else a
    a = 1100.0 if a > 1100.0 else a
    return pow_edges(x, y, exp2_sum_f64(a, b))


def pow_is_hard_f64(x: Any, y: Any) -> Any:
    """Whether `pow_near_f64` is not for the arguments."""
    k, f = log_parts_near_f64(x)
    t, _ = log2_pair_f64(k, f)
    return log_is_hard_f64(x) | (not abs(y * t) <= 1000.0)


def pow_near_f64(x: Any, y: Any) -> Any:
    """`pow_f64` of a normal number above 0, where the result is one too."""
    k, f = log_parts_near_f64(x)
    t, u = log2_pair_f64(k, f)
    a = y * t
    return exp2_sum_near_f64(a, fma(y, u, fma(y, t, -a)))


def log2_short_f64(m: Any) -> Any:
    """``log2(m)`` to 2**-37, for float32 results and normal ``m > 0``."""
    k, g = log_split_f64(m)
    g = g - 1.0
    r = g / (2.0 + g)
    z = r * r
    w = fma(z, 0.2358232118664406, 0.2853730166489985)
    g = r * fma(z, fma(z * z, w, fma(z, 0.40000335248869734, 0.666666656455584)), 2.0)
    return fma(np.float64(k), 2.0**-52, g * LOG2E)


def pow_f32(x: Any, y: Any) -> Any:
    """x to the power y."""
    a = np.float64(x)
    b = np.float64(y)
    m = abs(a)
    g = log2_short_f64(m)
    g = -math.inf if m == 0.0 else g
    g = math.inf if m == math.inf else g
    c = b if abs(b) < math.inf else math.copysign(2.0**66, b)
    return pow_edges(x, y, np.float32(exp2_short_f64(c * g)))


def pow_is_hard_f32(x: Any, y: Any) -> Any:
    """Whether `pow_near_f32` is not for the arguments."""
    g = log2_short_f64(np.float64(x))
    return not ((x > f32(0.0)) & (x < f32(math.inf)) & (abs(np.float64(y) * g) <= 190.0))


def pow_near_f32(x: Any, y: Any) -> Any:
    """`pow_f32` of a number above 0, where the result is not far out of range."""
    g = log2_short_f64(np.float64(x))
    return np.float32(exp2_short_near_f64(np.float64(y) * g))
