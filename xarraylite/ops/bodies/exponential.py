"""Exponentials and logarithms as branch-free scalar bodies.

Every body is straight-line code: LLVM turns the conditional expressions into selects and a loop
over any of them into vector instructions.  Polynomials are made of fused multiply-adds, which
round once on every machine.

*Exponentials.*  ``x = n ln2 + r`` with ``n`` the nearest integer, found by adding ``1.5 * 2**52``
(the sum's low bits hold ``n``, so the exponent is built by integer addition).  ``ln2`` is split
so that ``n * LN2_HI`` is exact (Cody and Waite, *Software Manual for the Elementary Functions*,
1980); ``e**r = 1 + r + r*r*P(r)`` with ``P`` the minimax polynomial on
``|r| <= ln2/2`` (error below 2**-60 of the result).  The scaling by ``2**n`` is done in two
steps of which the first is exact, so that results in the subnormal range are rounded once.

*Logarithms.*  ``x = 2**k m`` with ``sqrt(1/2) <= m < sqrt(2)``, ``f = m - 1``, ``s = f/(2+f)``,
``log(1+f) = 2 atanh(s) = f - s*(f - z P(z))`` with ``z = s*s``: the leading term ``f`` is exact, so
the result is good to one unit in the last place however near ``x`` is to 1.  ``k`` stays where the
exponent is, 52 bits up: one conversion makes a float of it, and constants are that much smaller.

*Near and hard arguments.*  The ``near`` functions have the same bits as those without the word, and
leave out what few arguments need: their result, and the argument of a logarithm, must be finite
and no subnormal number.

The ``_short`` functions serve float32 bodies that need more digits than float32 has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.bits import bits_f64, float_f64, fma

#: 1.5 * 2**52: adding it rounds to an integer, which the sum's low bits then hold.
SHIFTER = 6755399441055744.0
SHIFTER_BITS = 0x4338000000000000
_UP = 6755399441055744.0 + 1023.0 - 512.0  # the sum's low bits hold n - 512 with its bias
_DOWN = 6755399441055744.0 + 1023.0 + 512.0
_EVEN = 6755399441055744.0 + 1023.0
LOG2E = 1.4426950408889634
LN2 = 0.6931471805599453
_LN2_REST = 2.3190468138462996e-17  # what its rounding left off
LN2_HI = 0.693147180559663  # 41 bits: exact times any |n| < 2**12
LN2_LO = 2.8235290563031577e-13
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_ONE_BITS = 0x3FF0000000000000
_EXPONENT = -0x10000000000000  # the bits of a sign and an exponent
# Times an exponent that is 52 bits up: ln2, log10(2), and what their rounding left off.
_LN2_UP = LN2 * 2.0**-52
_LN2_REST_UP = _LN2_REST * 2.0**-52
_LOG10E = 0.4342944819032518
_LOG10_2_UP = 0.3010299956639812 * 2.0**-52
_LOG10_2_REST_UP = -2.8037281277851704e-18 * 2.0**-52
MIN_NORMAL = 2.0**-1022


def pow2_f64(k: Any) -> Any:
    """``2.0**k`` for an int64 ``k`` with ``-1022 <= k <= 1023``."""
    return float_f64((k + 1023) << 52)


def exp_tail_f64(r: Any) -> Any:
    """``P(r)`` of ``exp(r) = 1 + r + r*r*P(r)`` on ``|r| <= 0.3466``."""
    z = r * r
    a = fma(r, 0.16666666666666677, 0.5)
    b = fma(r, 0.008333333333321617, 0.0416666666666667)
    c = fma(r, 0.00019841269886157774, 0.0013888888888866687)
    d = fma(r, 2.755724418261624e-06, 2.4801587360804767e-05)
    e = fma(r, 2.5109044672309887e-08, 2.755724258066685e-07)
    e = fma(z, 2.09244902726931e-09, e)
    return fma(z * z, fma(z * z, e, fma(z, d, c)), fma(z, b, a))


def exp_parts_f64(a: Any) -> Any:
    """``(k, hi, tail)`` with ``exp(a) = 2**k (1 + hi + tail)``, for ``|a| <= 750``."""
    t = fma(a, LOG2E, SHIFTER)
    n = t - SHIFTER
    hi = fma(-n, LN2_HI, a)
    lo = n * LN2_LO
    r = hi - lo
    return bits_f64(t) - SHIFTER_BITS, hi, fma(r * r, exp_tail_f64(r), -lo)


def joined_f64(a: Any, b: Any, c: Any) -> Any:
    """``a + b + c`` for ``|a| >= |b|``: what ``a + b`` rounds off is added last (Dekker, 1971)."""
    y = a + b
    return y + (((a - y) + b) + c)


def exp_shifted_f64(a: Any, shift: Any) -> Any:
    """``(t, p)`` with ``exp(a) = 2**n p``, for ``|a| <= 750`` and ``t = n + shift``."""
    t = fma(a, LOG2E, shift)
    n = t - shift
    hi = fma(-n, LN2_HI, a)
    lo = n * LN2_LO
    r = hi - lo
    return t, 1.0 + (hi + fma(r * r, exp_tail_f64(r), -lo))


def exp_f64(x: Any) -> Any:
    """Exponential; the argument is clamped where the result is 0 or inf anyway.

    It is scaled by ``2**(n + 512)`` and ``2**-512``, or the other way round by the argument's sign:
    the first product is exact, and adding `_DOWN` or `_UP` leaves its exponent in the sum's bits.
    """
    a = -746.0 if x < -746.0 else x
    a = 711.0 if a > 711.0 else a
    down = x < 0.0
    t, p = exp_shifted_f64(a, _DOWN if down else _UP)
    return (p * float_f64(bits_f64(t) << 52)) * (2.0**-512 if down else 2.0**512)


def exp_is_hard_f64(x: Any) -> Any:
    """Whether `exp_near_f64` is not for ``x``."""
    return abs(x) > 700.0


def exp_near_f64(x: Any) -> Any:
    """`exp_f64` of all but the largest and smallest arguments."""
    t, p = exp_shifted_f64(x, _EVEN)
    return p * float_f64(bits_f64(t) << 52)


def exp2_rest_f64(r: Any) -> Any:
    """``g`` with ``2**r = 1 + r ln2 + r g``, ``ln2`` in 53 bits, for ``|r| <= 1/2``."""
    z = r * r
    q = fma(r, 0.009618129107593278, 0.05550410866482174)
    q = fma(z, fma(r, 0.0001540353045815477, 0.0013333558146378685), q)
    s = fma(r, 1.3215434776453271e-06, 1.5252733867824114e-05)
    s = fma(z, fma(r, 7.073867584748599e-09, 1.0178046361442374e-07), s)
    s = fma(z * z, 4.4574001034115415e-10, s)
    q = fma(r, fma(z * z, s, q), 0.24022650695910133)
    return fma(r, q, _LN2_REST)


def exp2_joined_f64(r: Any) -> Any:
    """``2**r`` for ``|r| <= 1/2`` as `pow` needs it: what ``1 + r ln2`` leaves off is added."""
    u = r * LN2
    return joined_f64(1.0, u, fma(r, exp2_rest_f64(r), fma(r, LN2, -u)))


def exp2_fraction_f64(r: Any) -> Any:
    """``2**r`` for ``|r| <= 1/2``."""
    return 1.0 + fma(r, LN2, r * exp2_rest_f64(r))


def exp2_sum_f64(a: Any, b: Any) -> Any:
    """``2**(a + b)`` for ``|a| <= 1100`` and a correction b to a; scaled as in `exp_f64`."""
    down = a < 0.0
    shift = _DOWN if down else _UP
    t = a + shift
    p = exp2_joined_f64((a - (t - shift)) + b)
    return (p * float_f64(bits_f64(t) << 52)) * (2.0**-512 if down else 2.0**512)


def exp2_sum_near_f64(a: Any, b: Any) -> Any:
    """`exp2_sum_f64` for ``|a| <= 1000``."""
    t = a + _EVEN
    return exp2_joined_f64((a - (t - _EVEN)) + b) * float_f64(bits_f64(t) << 52)


def exp2_f64(x: Any) -> Any:
    """Two to the power x; exact at integers."""
    a = -1100.0 if x < -1100.0 else x
    a = 1100.0 if a > 1100.0 else a
    down = x < 0.0
    shift = _DOWN if down else _UP
    t = a + shift
    p = exp2_fraction_f64(a - (t - shift))
    return (p * float_f64(bits_f64(t) << 52)) * (2.0**-512 if down else 2.0**512)


def exp2_is_hard_f64(x: Any) -> Any:
    """Whether `exp2_near_f64` is not for ``x``."""
    return abs(x) > 1000.0


def exp2_near_f64(x: Any) -> Any:
    """`exp2_f64` of all but the largest and smallest arguments."""
    t = x + _EVEN
    return exp2_fraction_f64(x - (t - _EVEN)) * float_f64(bits_f64(t) << 52)


def exp2_short_f64(x: Any) -> Any:
    """``2**x`` to 2**-34, for float32 results; the argument is clamped to [-200, 200]."""
    a = -200.0 if x < -200.0 else x
    return exp2_short_near_f64(200.0 if a > 200.0 else a)


def exp2_short_near_f64(a: Any) -> Any:
    """`exp2_short_f64` for ``|a| <= 200``."""
    t = a + SHIFTER
    r = a - (t - SHIFTER)
    z = r * r
    q = fma(r, 0.2402265107550385, 0.6931471805411301)
    q = fma(z, fma(r, 0.009618036912374485, 0.055504109640558075), q)
    s = fma(r, 0.00015467119878716888, 0.0013333429501099108)
    q = fma(z * z, fma(z, 1.531525801476145e-05, s), q)
    return fma(r, q, 1.0) * pow2_f64(bits_f64(t) - SHIFTER_BITS)


def expm1_f64(x: Any) -> Any:
    """``exp(x) - 1`` without cancellation: ``2**k (e**r - 1) + (2**k - 1)``."""
    a = -40.0 if x < -40.0 else x
    a = 710.0 if a > 710.0 else a
    k, hi, tail = exp_parts_f64(a)
    s = pow2_f64(k - 1)  # half of 2**k: k may be 1024
    y = 2.0 * joined_f64(s - 0.5, s * hi, s * tail)
    return x if abs(x) < 2.0**-54 else y


def log_split_f64(u: Any) -> Any:
    """``(k, m)``: ``u = 2**(k/2**52) m``, ``sqrt(1/2) <= m < sqrt(2)``, for normal ``u > 0``."""
    i = bits_f64(u)
    k = (i - _SQRT_HALF_BITS) & _EXPONENT
    return k, float_f64(i - k)


def log_parts_f64(x: Any) -> Any:
    """``(k, f)`` with ``x = 2**(k/2**52) (1 + f)`` as `log_split_f64`, ``k`` a float."""
    tiny = x < MIN_NORMAL
    k, m = log_split_f64(x * 2.0**54 if tiny else x)
    return np.float64(k) - (54.0 * 2.0**52 if tiny else 0.0), m - 1.0


def log_is_hard_f64(x: Any) -> Any:
    """Whether the ``near`` logarithms are not for ``x``: one comparison of the bits."""
    return np.uint64(bits_f64(x) - 0x0010000000000000) >= np.uint64(0x7FE0000000000000)


def log_parts_near_f64(x: Any) -> Any:
    """`log_parts_f64` of normal numbers."""
    k, m = log_split_f64(x)
    return np.float64(k), m - 1.0


def log_series_f64(f: Any) -> Any:
    """``(s, a)`` with ``log(1 + f) = f - s a``, for ``sqrt(1/2) <= 1 + f < sqrt(2)``."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    a = fma(z, 0.3999999999941504, 0.6666666666666734)
    b = fma(z, 0.22222198579058278, 0.2857142874231586)
    c = fma(z, 0.1531405345272719, 0.18183564114159836)
    return s, fma(-z, fma(w * w, fma(w, 0.14795945639515395, c), fma(w, b, a)), f)


def log_joined_f64(k: Any, f: Any) -> Any:
    """``log(2**(k/2**52) (1 + f))``."""
    s, a = log_series_f64(f)
    return fma(k, _LN2_UP, f + fma(-s, a, k * _LN2_REST_UP))


def log_f64(x: Any) -> Any:
    """Natural logarithm."""
    k, f = log_parts_f64(x)
    return log_edges_f64(x, log_joined_f64(k, f))


def log_near_f64(x: Any) -> Any:
    """`log_f64` of normal numbers."""
    k, f = log_parts_near_f64(x)
    return log_joined_f64(k, f)


def log_edges_f64(x: Any, y: Any) -> Any:
    """``y``, or what a logarithm is at zero, infinity, negative numbers and NaN."""
    y = y if x > 0.0 else math.nan
    y = -math.inf if x == 0.0 else y
    return x if x == math.inf else y


def log2_joined_f64(k: Any, f: Any) -> Any:
    """``k/2**52 + log2(1 + f)``."""
    s, a = log_series_f64(f)
    t = fma(f, 2.0355273740931033e-17, (s * a) * -LOG2E)
    return fma(k, 2.0**-52, fma(f, LOG2E, t))


def log2_f64(x: Any) -> Any:
    """Logarithm to base 2; exact at powers of two."""
    k, f = log_parts_f64(x)
    return log_edges_f64(x, log2_joined_f64(k, f))


def log2_near_f64(x: Any) -> Any:
    """`log2_f64` of normal numbers."""
    k, f = log_parts_near_f64(x)
    return log2_joined_f64(k, f)


def log10_joined_f64(k: Any, f: Any) -> Any:
    """``log10(2**(k/2**52) (1 + f))``."""
    s, a = log_series_f64(f)
    t = fma(f, 1.098319650216765e-17, (s * a) * -_LOG10E)
    return fma(k, _LOG10_2_UP, fma(f, _LOG10E, fma(k, _LOG10_2_REST_UP, t)))


def log10_f64(x: Any) -> Any:
    """Logarithm to base 10."""
    k, f = log_parts_f64(x)
    return log_edges_f64(x, log10_joined_f64(k, f))


def log10_near_f64(x: Any) -> Any:
    """`log10_f64` of normal numbers."""
    k, f = log_parts_near_f64(x)
    return log10_joined_f64(k, f)


def log_of_sum_f64(k: Any, g: Any, c: Any) -> Any:
    """``log(2**(k/2**52) (1 + g + c))``.

    Where ``k`` is 0 the leading term ``f = g + c`` is all that is known of a logarithm's argument,
    and what its rounding leaves off is added: this is what makes ``log1p`` of small numbers right.
    """
    f = c + g
    s, a = log_series_f64(f)
    return fma(k, _LN2_UP, f + fma(-s, a, fma(k, _LN2_REST_UP, (g - f) + c)))


def log_sum_near_f64(u: Any, c: Any) -> Any:
    """``log(u + c)`` for normal ``u`` below ``2**60`` and ``|c| <= ulp(u)``."""
    k, m = log_split_f64(u)
    return log_of_sum_f64(np.float64(k), m - 1.0, c * float_f64(_ONE_BITS - k))


def log_sum_f64(u: Any, c: Any, twos: Any) -> Any:
    """``log((u + c) * 2**(twos/2**52))`` as `log_sum_near_f64`, for any normal ``u > 0``."""
    k, m = log_split_f64(u)
    scaled = c * float_f64(_ONE_BITS - k)
    scaled = scaled if u < 2.0**60 else 0.0
    return log_of_sum_f64(np.float64(k) + twos, m - 1.0, scaled)


def one_plus_f64(x: Any) -> Any:
    """``(u, c)`` with ``u + c == 1 + x`` exactly (Knuth's TwoSum)."""
    u = 1.0 + x
    b = u - 1.0
    return u, (1.0 - (u - b)) + (x - b)


def log1p_f64(x: Any) -> Any:
    """``log(1 + x)`` without cancellation."""
    u, c = one_plus_f64(x)
    return log_edges_f64(u, math.copysign(log_sum_f64(u, c, 0.0), x))


def log1p_is_hard_f64(x: Any) -> Any:
    """Whether ``1 + x`` is not between 0 and ``2**60``: one comparison of the bits."""
    return np.uint64(bits_f64(1.0 + x) - 1) >= np.uint64(0x43AFFFFFFFFFFFFF)


def log1p_near_f64(x: Any) -> Any:
    """`log1p_f64` of what is above -1 and not very large."""
    u, c = one_plus_f64(x)
    return math.copysign(log_sum_near_f64(u, c), x)


def log_short_f64(u: Any) -> Any:
    """``log(u)`` for normal ``u > 0``, for float32 results: to 2**-30 of what ``u - 1`` is to."""
    k, m = log_split_f64(u)
    f = m - 1.0
    z = f * f
    w = z * z
    a = fma(z, fma(f, 0.20002113362257568, -0.25000021235884784), fma(f, 0.3333331266195738, -0.5))
    b = fma(f, 0.14219635598954583, -0.16667781420713237)
    b = fma(z, fma(f, 0.11887862025885641, -0.1240721413941815), b)
    b = fma(w, fma(f, 0.06746157714160621, -0.11671231763503474), b)
    return fma(np.float64(k), _LN2_UP, fma(z, fma(w, b, a), f))
