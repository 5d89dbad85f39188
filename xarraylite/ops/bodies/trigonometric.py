"""Trigonometric functions and their inverses as branch-free scalar bodies.

*sin, cos, tan.*  `angle` reduces the angle to ``r`` in ``[-pi/4, pi/4]`` plus a count of
quarter turns, with the error of ``r`` carried along (angles below pi/4 stay as they are); then the
minimax polynomials of the sine (``r + r**3 S(r*r)``) and the cosine (``1 - r*r/2 + r**4 C(r*r)``)
are both evaluated and the count selects one.  The ``near`` functions have the same bits for angles
that are not huge, and take half the time.

*atan, atan2.*  ``y/x`` is folded to ``[0, 1]`` by taking the smaller over the larger, and to
``|t| <= 1/3`` by ``atan(t) = atan(1/2) + atan((2t-1)/(2+t))``, both before the one division; the
numerator ``2*num - den`` is exact.

*asin, acos.*  A polynomial in ``x*x`` up to 1/2; above, ``asin(x) = pi/2 - 2 asin(sqrt((1-x)/2))``,
with the rounding error of the square root put back.

In float32 the angle is reduced to ``[-pi/2, pi/2]``, one that is not near in float64, and one
polynomial in float32 serves sine and cosine; ``atan`` is one polynomial on ``[0, 1]``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.bits import bits_f32, bits_f64, float_f32, float_f64, fma
from .angle import (
    NEAR,
    NEAR_F32,
    SHIFTER_F32,
    less_half_turns_f32,
    near_turns_f64,
    quarter_turns_f64,
    turns_f32,
)

f32 = np.float32
i32 = np.int32

_SIGN = -0x8000000000000000
_PIO2 = 1.5707963267948966
_PIO2_LO = 6.123233995736766e-17
_PI = 3.141592653589793
_PI_LO = 1.2246467991473532e-16
_PIO2_F32_LO = -4.371139e-08  # what rounding pi/2 and pi to float32 left off
_PI_F32_LO = -8.742278e-08
_TURN = 6.283185307179586
_ONE_OVER_PI = np.float32(0.31830987)
_TWO_OVER_PI = np.float32(0.63661975)
_HALVES = 3377699720527872.0  # 1.5 * 2**51: adding it rounds to a multiple of 1/2
_QUARTERS = 1688849860263936.0  # 1.5 * 2**50: to a multiple of 1/4
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
    near = a <= NEAR
    q, r, e = quarter_turns_f64(a)
    nq, nr, ne = near_turns_f64(a)
    s, c = sincos_rest_f64(nr if near else r, ne if near else e)
    return nq if near else q, s, c


def sincos_near_f64(x: Any) -> Any:
    """`sincos_f64` of near angles."""
    q, r, e = near_turns_f64(abs(x))
    s, c = sincos_rest_f64(r, e)
    return q, s, c


def sincos_rest_f64(r: Any, e: Any) -> Any:
    """Sine and cosine of ``r + e`` for ``|r| <= pi/4``, e being what r was rounded off by."""
    z = r * r
    w = z * z
    h = 0.5 * z
    s = fma(z, 0.008333333333322328, -0.16666666666666632)
    s = fma(w, fma(z, 2.7557313664509648e-06, -0.00019841269829733816), s)
    s = fma(w * w, fma(z, 1.589651911494966e-10, -2.505075357326635e-08), s)
    c = fma(z, -0.0013888888888873995, 0.0416666666666666)
    c = fma(w, fma(z, -2.755731432636729e-07, 2.4801587289396814e-05), c)
    c = fma(w * w, fma(z, -1.1359449139265805e-11, 2.0875719583345017e-09), c)
    one = 1.0 - h
    sine = r + fma(e, one, (r * z) * s)
    return sine, one + (((1.0 - one) - h) + fma(-r, e, w * c))


def sine_f64(x: Any, q: Any, s: Any, c: Any) -> Any:
    """Sine of an angle of which `sincos_f64` gives ``(q, s, c)``."""
    y = s if q & 1 == 0 else c
    return float_f64(bits_f64(y) ^ (((q << 62) ^ bits_f64(x)) & _SIGN))


def cosine_f64(q: Any, s: Any, c: Any) -> Any:
    """Cosine of an angle, as `sine_f64`."""
    y = c if q & 1 == 0 else s
    return float_f64(bits_f64(y) ^ (((q + 1) & 2) << 62))


def tangent_f64(x: Any, q: Any, s: Any, c: Any) -> Any:
    """Tangent of an angle, as `sine_f64`."""
    even = q & 1 == 0
    num = s if even else -c
    den = c if even else s
    return float_f64(bits_f64(num / den) ^ (bits_f64(x) & _SIGN))


def sin_f64(x: Any) -> Any:
    """Sine of any angle in radians, however large."""
    q, s, c = sincos_f64(x)
    return sine_f64(x, q, s, c) if abs(x) < math.inf else math.nan


def cos_f64(x: Any) -> Any:
    """Cosine of any angle in radians, however large."""
    q, s, c = sincos_f64(x)
    return cosine_f64(q, s, c) if abs(x) < math.inf else math.nan


def tan_f64(x: Any) -> Any:
    """Tangent of any angle in radians, however large."""
    q, s, c = sincos_f64(x)
    return tangent_f64(x, q, s, c) if abs(x) < math.inf else math.nan


def angle_is_hard_f64(x: Any) -> Any:
    """Whether an angle is beyond those of `sin_near_f64` and the like, or none."""
    return not abs(x) <= NEAR


def sin_near_f64(x: Any) -> Any:
    """`sin_f64` of near angles."""
    q, s, c = sincos_near_f64(x)
    return sine_f64(x, q, s, c)


def cos_near_f64(x: Any) -> Any:
    """`cos_f64` of near angles."""
    q, s, c = sincos_near_f64(x)
    return cosine_f64(q, s, c)


def tan_near_f64(x: Any) -> Any:
    """`tan_f64` of near angles."""
    q, s, c = sincos_near_f64(x)
    return tangent_f64(x, q, s, c)


def angle_is_hard_f32(x: Any) -> Any:
    """Whether an angle is beyond those of `sin_near_f32` and the like, or none."""
    return not abs(x) <= NEAR_F32


def sin_half_turn_f32(r: Any) -> Any:
    """Sine for ``|r| <= pi/2`` and a little more."""
    z = r * r
    p = fma(z, fma(z, f32(2.6061095e-06), f32(-0.0001980978)), f32(0.008333069))
    y = fma(r * z, fma(z, p, f32(-0.1666666)), r)
    return y if r != f32(0.0) else r  # of either sign


def signed_f32(r: Any, t: Any) -> Any:
    """``r``, negated if the whole number in the sum ``t`` with `SHIFTER_F32` is odd."""
    return float_f32(i32(bits_f32(r) ^ (bits_f32(t) << i32(31))))


def sin_near_angle_f32(x: Any) -> Any:
    """What has the sine of a near angle, within half a turn."""
    t = fma(x, _ONE_OVER_PI, SHIFTER_F32)
    return signed_f32(less_half_turns_f32(x, t - SHIFTER_F32), t)


def cos_near_angle_f32(x: Any) -> Any:
    """What has as its sine the cosine of a near angle, within half a turn."""
    a = abs(x)
    t = fma(a, _ONE_OVER_PI, f32(0.5)) + SHIFTER_F32
    return signed_f32(less_half_turns_f32(a, (t - SHIFTER_F32) - f32(0.5)), t)


def tan_near_angle_f32(x: Any) -> Any:
    """``(r, odd)``: a near angle is ``r`` and quarter turns, of which ``odd`` has the last bit."""
    t = fma(x, _TWO_OVER_PI, SHIFTER_F32)
    return less_half_turns_f32(x, (t - SHIFTER_F32) * f32(0.5)), bits_f32(t) & i32(1)


def sin_near_f32(x: Any) -> Any:
    """`sin_f32` of near angles."""
    return sin_half_turn_f32(sin_near_angle_f32(x))


def cos_near_f32(x: Any) -> Any:
    """`cos_f32` of near angles."""
    return sin_half_turn_f32(cos_near_angle_f32(x))


def tan_near_f32(x: Any) -> Any:
    """`tan_f32` of near angles."""
    r, odd = tan_near_angle_f32(x)
    return tan_quarter_turn_f32(r, odd)


def sin_f32(x: Any) -> Any:
    """Sine of any angle in radians, however large."""
    q, u = turns_f32(x)
    t = (q + u) + _HALVES
    r = (q - (t - _HALVES)) + u  # in turns, at most 1/4; the last bit of t is the sign
    r = f32(float_f64(bits_f64(r) ^ (bits_f64(t) << 63)) * _TURN)
    return sin_half_turn_f32(sin_near_angle_f32(x) if abs(x) <= NEAR_F32 else r)


def cos_f32(x: Any) -> Any:
    """Cosine of any angle in radians, however large: the sine of what is left to a quarter turn."""
    q, u = turns_f32(x)
    r = (q - np.rint(q + u)) + u
    r = f32((0.25 - abs(r)) * _TURN)
    return sin_half_turn_f32(cos_near_angle_f32(x) if abs(x) <= NEAR_F32 else r)


def tan_quarter_turn_f32(r: Any, odd: Any) -> Any:
    """Tangent of ``r`` and quarter turns, an odd number or an even one, for ``|r| <= pi/4``."""
    z = r * r
    p = fma(z, fma(z, f32(0.0043704137), f32(0.000102860875)), f32(0.010823859))
    p = fma(z, fma(z, fma(z, p, f32(0.021287534)), f32(0.054058682)), f32(0.13332677))
    y = fma(r * z, fma(z, p, f32(0.3333335)), r)
    return y if odd == 0 else f32(-1.0) / y


def tan_f32(x: Any) -> Any:
    """Tangent of any angle in radians, however large."""
    q, u = turns_f32(x)
    t = (q + u) + _QUARTERS
    r = f32(((q - (t - _QUARTERS)) + u) * _TURN)  # at most pi/4
    near = abs(x) <= NEAR_F32
    s, odd = tan_near_angle_f32(x)
    return tan_quarter_turn_f32(s if near else r, odd if near else i32(bits_f64(t) & 1))


def atan_ratio_f64(num: Any, den: Any) -> Any:
    """``(steep, y)``: ``atan(num/den) = y``, plus atan(1/2) if steep, for ``0 <= num <= den``."""
    steep = 3.0 * num > den
    two = num + num
    t = (two - den if steep else num) / (den + den + num if steep else den)
    z = t * t
    w = z * z
    p = fma(z, 0.1999999999997604, -0.3333333333333328)
    p = fma(w, fma(z, 0.11111110832823427, -0.14285714282046738), p)
    s = fma(z, 0.07691978126474276, -0.09090896933989398)
    s = fma(w, fma(z, 0.058175517301526154, -0.06660922589386002), s)
    s = fma(w * w, fma(z, 0.027951834816438436, -0.04800306422491017), s)
    return steep, fma(t * z, fma(w * w, s, p), t)


def atan_ratio_f32(t: Any) -> Any:
    """Arc tangent for ``|t| <= 1``."""
    z = t * t
    p = fma(
        z, fma(z, fma(z, f32(-0.001791502), f32(0.010904537)), f32(-0.031157766)), f32(0.0579358)
    )
    p = fma(z, fma(z, fma(z, p, f32(-0.08402056)), f32(0.109516546)), f32(-0.14264126))
    return fma(t * z, fma(z, fma(z, p, f32(0.19998536)), f32(-0.333333)), t)


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
    a = abs(x)
    big = a > f32(1.0)
    y = atan_ratio_f32(f32(-1.0) / a if big else a)
    return math.copysign(f32(_PIO2) + (y + f32(_PIO2_F32_LO)) if big else y, x)


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
    a = abs(y)
    b = abs(x)
    swap = a > b
    num = b if swap else a
    den = a if swap else b
    both = num == f32(math.inf)  # two infinities make an angle of pi/4
    den = f32(1.0) if (den == f32(0.0)) | both else den
    t = atan_ratio_f32((f32(1.0) if both else num) / den)
    left = bits_f32(x) < 0
    t = -t if swap != left else t
    base = f32(_PIO2) if swap else (f32(_PI) if left else f32(0.0))
    low = f32(_PIO2_F32_LO) if swap else (f32(_PI_F32_LO) if left else f32(0.0))
    r = math.copysign(base + (t + low), y)
    return f32(math.nan) if (x != x) | (y != y) else r


def asin_parts_f64(a: Any) -> Any:
    """``(big, t, t**3 P)`` with ``asin(t) = t + t**3 P``: t is a, or sqrt((1-a)/2) if big."""
    big = a > 0.5
    z = 0.5 * (1.0 - a) if big else a * a
    t = math.sqrt(z) if big else a
    w = z * z
    p = fma(z, 0.0749999999997027, 0.16666666666666763)
    p = fma(w, fma(z, 0.030381942683870775, 0.04464285717511505), p)
    q = fma(z, 0.017351600206077747, 0.022372215653605892)
    q = fma(w, fma(z, 0.011397786281577267, 0.013980960141230236), q)
    r = fma(z, 0.0036832437241887685, 0.01078647355928386)
    r = fma(w, fma(z, -0.02107664821330671, 0.021763026573398615), r)
    r = fma(w * w, 0.032676501821533, r)
    p = fma(w * w, fma(w * w, r, q), p)
    return big, t, (t * z) * p


def asin_f64(x: Any) -> Any:
    """Arc sine, in [-pi/2, pi/2]; NaN outside [-1, 1]."""
    big, t, c = asin_parts_f64(abs(x))
    y = _PIO2 - fma(2.0, t, fma(2.0, c, -_PIO2_LO)) if big else t + c
    return math.copysign(y, x)


def acos_f64(x: Any) -> Any:
    """Arc cosine, in [0, pi]; NaN outside [-1, 1]."""
    big, t, c = asin_parts_f64(abs(x))
    left = x < 0.0
    near = 2.0 * (t + c)
    far = _PI - fma(2.0, t, fma(2.0, c, -_PI_LO))
    t = -t if left else t
    c = -c if left else c
    mid = _PIO2 - (t + (c - _PIO2_LO))
    return (far if left else near) if big else mid


def asin_parts_f32(a: Any) -> Any:
    """``(big, t, t**3 P)`` with ``asin(t) = t + t**3 P``: t is a, or sqrt((1-a)/2) if big."""
    big = a > f32(0.5)
    z = f32(0.5) * (f32(1.0) - a) if big else a * a
    t = math.sqrt(z) if big else a
    p = fma(z, fma(z, f32(0.037590858), f32(0.014381956)), f32(0.031824008))
    p = fma(z, fma(z, fma(z, p, f32(0.04451478)), f32(0.07500517)), f32(0.1666666))
    return big, t, (t * z) * p


def asin_f32(x: Any) -> Any:
    """Arc sine, in [-pi/2, pi/2]; NaN outside [-1, 1]."""
    big, t, c = asin_parts_f32(abs(x))
    far = f32(_PIO2) - fma(f32(2.0), t, fma(f32(2.0), c, -f32(_PIO2_F32_LO)))
    return math.copysign(far if big else t + c, x)


def acos_f32(x: Any) -> Any:
    """Arc cosine, in [0, pi]; NaN outside [-1, 1]."""
    big, t, c = asin_parts_f32(abs(x))
    left = x < f32(0.0)
    near = f32(2.0) * (t + c)
    far = f32(_PI) - fma(f32(2.0), t, fma(f32(2.0), c, -f32(_PI_F32_LO)))
    t = -t if left else t
    c = -c if left else c
    mid = f32(_PIO2) - (t + (c - f32(_PIO2_F32_LO)))
    return (far if left else near) if big else mid
