"""Trigonometric functions and their inverses as branch-free scalar bodies.

*sin, cos, tan.*  ``vmath_angle`` reduces the angle to ``r`` in ``[-pi/4, pi/4]`` plus a count of
quarter turns, with the error of ``r`` carried along; then the minimax polynomials of the sine
(``r + r**3 S(r*r)``) and the cosine (``1 - r*r/2 + r**4 C(r*r)``) are both evaluated and the count
selects one.  Angles up to pi/4 skip the reduction, so that small ones stay exact.

*atan, atan2.*  ``y/x`` is folded to ``[0, 1]`` by taking the smaller over the larger, and to
``|t| <= 1/3`` by ``atan(t) = atan(1/2) + atan((2t-1)/(2+t))``, both before the one division; the
numerator ``2*num - den`` is exact.

*asin, acos.*  A polynomial in ``x*x`` up to 1/2; above, ``asin(x) = pi/2 - 2 asin(sqrt((1-x)/2))``,
with the rounding error of the square root put back.

The float32 bodies compute in float64 with shorter polynomials and round once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes.bits import bits_f64, float_f64
from .vmath_angle import quarter_turns_f32, quarter_turns_f64

_SIGN = -0x8000000000000000
_PIO4 = 0.7853981633974483
_PIO2 = 1.5707963267948966
_PIO2_LO = 6.123233995736766e-17
_PI = 3.141592653589793
_PI_LO = 1.2246467991473532e-16
# atan(1/2), pi/2 - atan(1/2), pi/2 + atan(1/2), pi - atan(1/2) and what their rounding left off.
_HALF = 0.4636476090008061
_HALF_LO = 2.2698777452961687e-17
_UP = 1.1071487177940904
_UP_LO = 9.40447137356638e-17
_OVER = 2.0344439357957027
_OVER_LO = 2.841996617907152e-17
_DOWN = 2.677945044588987
_DOWN_LO = 1.5527705369303147e-16


def sincos_f64(x: Any) -> Any:
    """``(q, sin r, cos r)`` with ``|x| = q pi/2 + r``."""
    a = abs(x)
    q, hi, lo = quarter_turns_f64(a)
    small = a <= _PIO4
    q = 0 if small else q
    r = a if small else hi
    e = 0.0 if small else lo
    z = r * r
    w = z * z
    h = 0.5 * z
    s = -0.16666666666666632 + z * 0.008333333333322328
    s = s + w * (-0.00019841269829733816 + z * 2.7557313664509648e-06)
    s = s + (w * w) * (-2.505075357326635e-08 + z * 1.589651911494966e-10)
    c = 0.0416666666666666 + z * -0.0013888888888873995
    c = c + w * (2.4801587289396814e-05 + z * -2.755731432636729e-07)
    c = c + (w * w) * (2.0875719583345017e-09 + z * -1.1359449139265805e-11)
    one = 1.0 - h
    sine = r + ((r * z) * s + e * one)
    return q, sine, one + (((1.0 - one) - h) + (w * c - r * e))


def sin_f64(x: Any) -> Any:
    """Sine of any angle in radians, however large."""
    q, s, c = sincos_f64(x)
    y = s if q & 1 == 0 else c
    y = float_f64(bits_f64(y) ^ (((q << 62) ^ bits_f64(x)) & _SIGN))
    return y if abs(x) < math.inf else math.nan


def cos_f64(x: Any) -> Any:
    """Cosine of any angle in radians, however large."""
    q, s, c = sincos_f64(x)
    y = c if q & 1 == 0 else s
    y = float_f64(bits_f64(y) ^ (((q + 1) & 2) << 62))
    return y if abs(x) < math.inf else math.nan


def tan_f64(x: Any) -> Any:
    """Tangent of any angle in radians, however large."""
    q, s, c = sincos_f64(x)
    even = q & 1 == 0
    num = s if even else -c
    den = c if even else s
    y = float_f64(bits_f64(num / den) ^ (bits_f64(x) & _SIGN))
    return y if abs(x) < math.inf else math.nan


def sincos_f32(x: Any) -> Any:
    """``(q, sin r, cos r)`` with ``|x| = q pi/2 + r``, for a float32 held in float64."""
    a = abs(x)
    q, rest = quarter_turns_f32(a)
    small = a <= _PIO4
    q = 0 if small else q
    r = a if small else rest
    z = r * r
    w = z * z
    s = -0.16666666641435549 + z * 0.00833332936267866
    s = s + w * (-0.0001983932715468142 + z * 2.718236883468309e-06)
    c = 0.0416666666224716 + z * -0.0013888883722241495
    c = c + w * (2.479951167906973e-05 + z * -2.72095417203014e-07)
    return q, r + (r * z) * s, (1.0 - 0.5 * z) + w * c


def sin_f32(x: Any) -> Any:
    """Sine of any angle in radians, however large."""
    a = np.float64(x)
    q, s, c = sincos_f32(a)
    y = s if q & 1 == 0 else c
    y = float_f64(bits_f64(y) ^ (((q << 62) ^ bits_f64(a)) & _SIGN))
    return np.float32(y if abs(a) < math.inf else math.nan)


def cos_f32(x: Any) -> Any:
    """Cosine of any angle in radians, however large."""
    a = np.float64(x)
    q, s, c = sincos_f32(a)
    y = c if q & 1 == 0 else s
    y = float_f64(bits_f64(y) ^ (((q + 1) & 2) << 62))
    return np.float32(y if abs(a) < math.inf else math.nan)


def tan_f32(x: Any) -> Any:
    """Tangent of any angle in radians, however large."""
    a = np.float64(x)
    q, s, c = sincos_f32(a)
    even = q & 1 == 0
    num = s if even else -c
    den = c if even else s
    y = float_f64(bits_f64(num / den) ^ (bits_f64(a) & _SIGN))
    return np.float32(y if abs(a) < math.inf else math.nan)


def atan_ratio_f64(num: Any, den: Any) -> Any:
    """``(steep, y)``: ``atan(num/den) = y``, plus atan(1/2) if steep, for ``0 <= num <= den``."""
    steep = 3.0 * num > den
    two = num + num
    t = (two - den if steep else num) / (den + den + num if steep else den)
    z = t * t
    w = z * z
    p = -0.3333333333333328 + z * 0.1999999999997604
    p = p + w * (-0.14285714282046738 + z * 0.11111110832823427)
    s = -0.09090896933989398 + z * 0.07691978126474276
    s = s + w * (-0.06660922589386002 + z * 0.058175517301526154)
    s = s + (w * w) * (-0.04800306422491017 + z * 0.027951834816438436)
    return steep, t + (t * z) * (p + (w * w) * s)


def atan_short_f64(num: Any, den: Any) -> Any:
    """``atan_ratio_f64`` to 2**-28, for float32 results."""
    steep = 3.0 * num > den
    two = num + num
    t = (two - den if steep else num) / (den + den + num if steep else den)
    z = t * t
    p = -0.33333257861046156 + z * 0.1999326524971136
    p = p + (z * z) * (-0.14097348696911263 + z * 0.08984555503148033)
    return steep, t + (t * z) * p


def atan_f64(x: Any) -> Any:
    """Arc tangent, in [-pi/2, pi/2]."""
    a = abs(x)
    big = a > 1.0
    den = a if big else 1.0
    den = 2.0**1000 if den > 2.0**1000 else den  # the result is pi/2 to the last bit
    steep, y = atan_ratio_f64(1.0 if big else a, den)
    base = (_UP if big else _HALF) if steep else (_PIO2 if big else 0.0)
    low = (_UP_LO if big else _HALF_LO) if steep else (_PIO2_LO if big else 0.0)
    return math.copysign(base + ((-y if big else y) + low), x)


def atan_f32(x: Any) -> Any:
    """Arc tangent, in [-pi/2, pi/2]."""
    b = np.float64(x)
    a = abs(b)
    big = a > 1.0
    steep, y = atan_short_f64(1.0 if big else a, a if big else 1.0)
    base = (_UP if big else _HALF) if steep else (_PIO2 if big else 0.0)
    base = _PIO2 if a == math.inf else base + (-y if big else y)
    return np.float32(math.copysign(base, b))


def atan2_sides_f64(y: Any, x: Any) -> Any:
    """``(swap, num, den)``: the smaller and the larger of |x|, |y|, made safe to divide."""
    a = abs(y)
    b = abs(x)
    swap = a > b
    num = b if swap else a
    den = a if swap else b
    shrink = 0.25 if den > 2.0**1000 else 1.0  # sums of the two must not overflow
    num = num * shrink
    den = den * shrink
    both = num == math.inf  # two infinities make an angle of pi/4
    den = 1.0 if (den == 0.0) | both else den
    return swap, 1.0 if both else num, den


def atan2_f64(y: Any, x: Any) -> Any:
    """Angle of the point (x, y), in [-pi, pi], with C99's rules for zeros and infinities."""
    swap, num, den = atan2_sides_f64(y, x)
    steep, t = atan_ratio_f64(num, den)
    left = bits_f64(x) < 0
    t = -t if swap != left else t
    base = (_UP if swap else _HALF) if steep else (_PIO2 if swap else 0.0)
    low = (_UP_LO if swap else _HALF_LO) if steep else (_PIO2_LO if swap else 0.0)
    far = (_OVER if swap else _DOWN) if steep else (_PIO2 if swap else _PI)
    far_low = (_OVER_LO if swap else _DOWN_LO) if steep else (_PIO2_LO if swap else _PI_LO)
    r = math.copysign((far if left else base) + (t + (far_low if left else low)), y)
    return math.nan if (x != x) | (y != y) else r


def atan2_f32(y: Any, x: Any) -> Any:
    """Angle of the point (x, y), in [-pi, pi], with C99's rules for zeros and infinities."""
    v = np.float64(y)
    u = np.float64(x)
    swap, num, den = atan2_sides_f64(v, u)
    steep, t = atan_short_f64(num, den)
    left = bits_f64(u) < 0
    t = -t if swap != left else t
    base = (_UP if swap else _HALF) if steep else (_PIO2 if swap else 0.0)
    far = (_OVER if swap else _DOWN) if steep else (_PIO2 if swap else _PI)
    r = math.copysign((far if left else base) + t, v)
    return np.float32(math.nan if (u != u) | (v != v) else r)


def asin_parts_f64(a: Any) -> Any:
    """``(big, t, t**3 P)`` with ``asin(t) = t + t**3 P``: t is a, or sqrt((1-a)/2) if big."""
    big = a > 0.5
    z = 0.5 * (1.0 - a) if big else a * a
    t = math.sqrt(z) if big else a
    w = z * z
    p = 0.16666666666666763 + z * 0.0749999999997027
    p = p + w * (0.04464285717511505 + z * 0.030381942683870775)
    q = 0.022372215653605892 + z * 0.017351600206077747
    q = q + w * (0.013980960141230236 + z * 0.011397786281577267)
    r = 0.01078647355928386 + z * 0.0036832437241887685
    r = r + w * (0.021763026573398615 + z * -0.02107664821330671)
    r = r + (w * w) * 0.032676501821533
    p = p + (w * w) * (q + (w * w) * r)
    return big, t, (t * z) * p


def asin_f64(x: Any) -> Any:
    """Arc sine, in [-pi/2, pi/2]; NaN outside [-1, 1]."""
    big, t, c = asin_parts_f64(abs(x))
    y = _PIO2 - (2.0 * t + (2.0 * c - _PIO2_LO)) if big else t + c
    return math.copysign(y, x)


def acos_f64(x: Any) -> Any:
    """Arc cosine, in [0, pi]; NaN outside [-1, 1]."""
    big, t, c = asin_parts_f64(abs(x))
    left = x < 0.0
    near = 2.0 * (t + c)
    far = _PI - (2.0 * t + (2.0 * c - _PI_LO))
    t = -t if left else t
    c = -c if left else c
    mid = _PIO2 - (t + (c - _PIO2_LO))
    return (far if left else near) if big else mid


def asin_short_f64(a: Any) -> Any:
    """``(big, asin(t))`` to about 2**-31: t is a, or sqrt((1-a)/2) if big."""
    big = a > 0.5
    z = 0.5 * (1.0 - a) if big else a * a
    t = math.sqrt(z) if big else a
    w = z * z
    p = 0.16666659877901535 + z * 0.07500510582613622
    p = p + w * (0.044515779550012784 + z * 0.03181716736628726)
    p = p + (w * w) * (0.014404083361206679 + z * 0.03756340245677933)
    return big, t + (t * z) * p


def asin_f32(x: Any) -> Any:
    """Arc sine, in [-pi/2, pi/2]; NaN outside [-1, 1]."""
    a = np.float64(x)
    big, y = asin_short_f64(abs(a))
    return np.float32(math.copysign(_PIO2 - 2.0 * y if big else y, a))


def acos_f32(x: Any) -> Any:
    """Arc cosine, in [0, pi]; NaN outside [-1, 1]."""
    a = np.float64(x)
    big, y = asin_short_f64(abs(a))
    left = a < 0.0
    mid = _PIO2 + y if left else _PIO2 - y
    out = _PI - 2.0 * y if left else 2.0 * y
    return np.float32(out if big else mid)
