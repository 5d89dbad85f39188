"""Exponentials and logarithms as branch-free scalar bodies.

Every body is straight-line code: LLVM turns the conditional expressions into selects and a loop
over any of them into vector instructions.  No contraction to FMA is relied upon.

*Exponentials.*  ``x = n ln2 + r`` with ``n`` the nearest integer, found by adding ``1.5 * 2**52``
(the sum's low bits hold ``n``, so the exponent is built by integer addition).  ``ln2`` is split
so that ``n * LN2_HI`` is exact (Cody and Waite, *Software Manual for the Elementary Functions*,
1980); ``e**r = 1 + r + r*r*P(r)`` with ``P`` the minimax polynomial on
``|r| <= ln2/2`` (error below 2**-60 of the result).  The scaling by ``2**n`` is done in two exact
halves, so that results in the subnormal range are rounded once.

*Logarithms.*  ``x = 2**k m`` with ``sqrt(1/2) <= m < sqrt(2)``, ``f = m - 1``, ``s = f/(2+f)``,
``log(1+f) = 2 atanh(s) = f - (f*f/2 - s*(f*f/2 + R(s*s)))``: the leading term ``f`` is exact, so
the result is good to one unit in the last place however near ``x`` is to 1.

The ``_short`` functions serve float32 bodies that need more digits than float32 has.
"""

from __future__ import annotations

import math
from typing import Any

from ...dtypes.bits import bits_f64, float_f64

#: 1.5 * 2**52: adding it rounds to an integer, which the sum's low bits then hold.
SHIFTER = 6755399441055744.0
SHIFTER_BITS = 0x4338000000000000
LOG2E = 1.4426950408889634
LN2 = 0.6931471805599453
_LN2_26 = 0.6931471675634384  # the first 26 bits
_LN2_27 = 1.2996506893889889e-08  # the rest
_LN2_HI = 0.693147180559663  # 41 bits: exact times any |n| < 2**12
_LN2_LO = 2.8235290563031577e-13
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
MIN_NORMAL = 2.0**-1022
#: Mask of a float64 that keeps 26 significant bits: products of two such numbers are exact.
UPPER = -0x8000000


def pow2_f64(k: Any) -> Any:
    """``2.0**k`` for an int64 ``k`` with ``-1022 <= k <= 1023``."""
    return float_f64((k + 1023) << 52)


def exp_tail_f64(r: Any) -> Any:
    """``P(r)`` of ``exp(r) = 1 + r + r*r*P(r)`` on ``|r| <= 0.3466``."""
    z = r * r
    a = 0.5 + r * 0.16666666666666677
    b = 0.0416666666666667 + r * 0.008333333333321617
    c = 0.0013888888888866687 + r * 0.00019841269886157774
    d = 2.4801587360804767e-05 + r * 2.755724418261624e-06
    e = 2.755724258066685e-07 + r * 2.5109044672309887e-08
    e = e + z * 2.09244902726931e-09
    return (a + z * b) + (z * z) * ((c + z * d) + (z * z) * e)


def exp_parts_f64(a: Any) -> Any:
    """``(k, hi, tail)`` with ``exp(a) = 2**k (1 + hi + tail)``, for ``|a| <= 750``."""
    t = a * LOG2E + SHIFTER
    n = t - SHIFTER
    hi = a - n * _LN2_HI
    lo = n * _LN2_LO
    r = hi - lo
    return bits_f64(t) - SHIFTER_BITS, hi, (r * r) * exp_tail_f64(r) - lo


def joined_f64(a: Any, b: Any, c: Any) -> Any:
    """``a + b + c`` for ``|a| >= |b|``: what ``a + b`` rounds off is added last (Dekker, 1971)."""
    y = a + b
    return y + (((a - y) + b) + c)


def scaled_f64(p: Any, k: Any) -> Any:
    """``p * 2**k``, in two exact halves, so that a subnormal result is rounded once."""
    h = k >> 1
    return (p * pow2_f64(h)) * pow2_f64(k - h)


def exp_f64(x: Any) -> Any:
    """Exponential; the argument is clamped where the result is 0 or inf anyway."""
    a = -746.0 if x < -746.0 else x
    a = 711.0 if a > 711.0 else a
    k, hi, tail = exp_parts_f64(a)
    return scaled_f64(joined_f64(1.0, hi, tail), k)


def exp_half_f64(x: Any) -> Any:
    """``exp(x)/2`` for ``x >= 0``, finite as long as the hyperbolic functions are."""
    a = 712.0 if x > 712.0 else x
    k, hi, tail = exp_parts_f64(a)
    p = joined_f64(1.0, hi, tail)
    return (p * pow2_f64(k >> 1)) * pow2_f64((k >> 1) + ((k & 1) - 1))


def exp2_sum_f64(a: Any, b: Any) -> Any:
    """``2**(a + b)`` for ``|a| <= 1100`` and a correction b to a."""
    t = a + SHIFTER
    r = (a - (t - SHIFTER)) + b
    upper = float_f64(bits_f64(r) & UPPER)  # exact times LN2_26
    z = r * r
    q = 0.05550410866482174 + r * 0.009618129107593278
    q = q + z * (0.0013333558146378685 + r * 0.0001540353045815477)
    s = 1.5252733867824114e-05 + r * 1.3215434776453271e-06
    s = s + z * (1.0178046361442374e-07 + r * 7.073867584748599e-09)
    s = s + (z * z) * 4.4574001034115415e-10
    q = 0.24022650695910133 + r * (q + (z * z) * s)
    u = upper * _LN2_26
    p = joined_f64(1.0, u, (upper * _LN2_27 + (r - upper) * LN2) + z * q)
    return scaled_f64(p, bits_f64(t) - SHIFTER_BITS)


def exp2_f64(x: Any) -> Any:
    """Two to the power x; exact at integers."""
    a = -1100.0 if x < -1100.0 else x
    return exp2_sum_f64(1100.0 if a > 1100.0 else a, 0.0)


def exp2_short_f64(x: Any) -> Any:
    """``2**x`` to 2**-34, for float32 results; the argument is clamped to [-200, 200]."""
    a = -200.0 if x < -200.0 else x
    a = 200.0 if a > 200.0 else a
    t = a + SHIFTER
    r = a - (t - SHIFTER)
    z = r * r
    q = 0.6931471805411301 + r * 0.2402265107550385
    q = q + z * (0.055504109640558075 + r * 0.009618036912374485)
    s = 0.0013333429501099108 + r * 0.00015467119878716888
    q = q + (z * z) * (s + z * 1.531525801476145e-05)
    return (1.0 + r * q) * pow2_f64(bits_f64(t) - SHIFTER_BITS)


def expm1_f64(x: Any) -> Any:
    """``exp(x) - 1`` without cancellation: ``2**k (e**r - 1) + (2**k - 1)``."""
    a = -40.0 if x < -40.0 else x
    a = 710.0 if a > 710.0 else a
    k, hi, tail = exp_parts_f64(a)
    s = pow2_f64(k - 1)  # half of 2**k: k may be 1024
    y = 2.0 * joined_f64(s - 0.5, s * hi, s * tail)
    return x if abs(x) < 2.0**-54 else y


def log_split_f64(u: Any) -> Any:
    """``(k, m)`` with ``u = 2**k m``, ``sqrt(1/2) <= m < sqrt(2)``, for normal ``u > 0``."""
    i = bits_f64(u)
    j = (i - _SQRT_HALF_BITS) >> 52
    return j, float_f64(i - (j << 52))


def log_parts_f64(x: Any) -> Any:
    """``(k, f)`` with ``x = 2**k (1 + f)`` as `log_split_f64`, ``k`` a float, subnormals too."""
    tiny = x < MIN_NORMAL
    big = x * 2.0**54
    j, m = log_split_f64(big if tiny else x)
    return float_f64(j + SHIFTER_BITS) - (SHIFTER + 54.0 if tiny else SHIFTER), m - 1.0


def log_series_f64(s: Any) -> Any:
    """``R`` of ``2 atanh(s) = 2 s + s R`` for ``|s| <= 0.1716``."""
    z = s * s
    w = z * z
    a = 0.6666666666666734 + z * 0.3999999999941504
    b = 0.2857142874231586 + z * 0.22222198579058278
    c = 0.18183564114159836 + z * 0.1531405345272719
    return z * ((a + w * b) + (w * w) * (c + w * 0.14795945639515395))


def log_f64(x: Any) -> Any:
    """Natural logarithm."""
    k, f = log_parts_f64(x)
    s = f / (2.0 + f)
    h = (0.5 * f) * f
    y = k * _LN2_HI + (f - (h - (s * (h + log_series_f64(s)) + k * _LN2_LO)))
    return log_edges_f64(x, y)


def log_edges_f64(x: Any, y: Any) -> Any:
    """``y``, or what a logarithm is at zero, infinity, negative numbers and NaN."""
    y = y if x > 0.0 else math.nan
    y = -math.inf if x == 0.0 else y
    return x if x == math.inf else y


def log_wide_f64(x: Any) -> Any:
    """``(k, hi, lo)``: ``log(x) = k ln2 + hi + lo``, ``hi`` in 21 bits, about 2**-60 accurate."""
    k, f = log_parts_f64(x)
    s = f / (2.0 + f)
    h = (0.5 * f) * f
    hi = float_f64(bits_f64(f - h) & -0x100000000)
    lo = ((f - hi) - h) + s * (h + log_series_f64(s))
    return k, hi, lo


def log2_f64(x: Any) -> Any:
    """Logarithm to base 2; exact at powers of two."""
    k, hi, lo = log_wide_f64(x)
    a = hi * 1.4426950407214463
    b = (lo + hi) * 1.6751713164886512e-10 + lo * 1.4426950407214463
    w = k + a
    return log_edges_f64(x, w + (b + ((k - w) + a)))


def log10_f64(x: Any) -> Any:
    """Logarithm to base 10."""
    k, hi, lo = log_wide_f64(x)
    a = hi * 0.4342944818781689
    b = (lo + hi) * 2.5082946711645275e-11 + lo * 0.4342944818781689
    c = k * 0.30102999566383914
    w = c + a
    return log_edges_f64(x, w + ((b + k * 1.42050232272661e-13) + ((c - w) + a)))


def log_ratio_f64(f: Any) -> Any:
    """``log(1 + f)`` to 2**-30 for ``sqrt(1/2) <= 1 + f < sqrt(2)``."""
    s = f / (2.0 + f)
    z = s * s
    r = 0.6666677640563359 + z * (0.399775370273162 + z * 0.29871873187074627)
    return s * (2.0 + z * r)


def log_sum_f64(u: Any, c: Any, twos: Any) -> Any:
    """``log((u + c) * 2**twos)`` for normal ``u >= 2**-53`` and ``|c| <= ulp(u)``.

    Where ``u`` is near 1 the leading term ``f = (u - 1) + c`` is all that is known of the
    argument, and is exact: this is what makes ``log1p`` of small numbers right.
    """
    j, m = log_split_f64(u)
    scaled = c * float_f64(0x3FF0000000000000 - (j << 52))
    scaled = scaled if u < 2.0**60 else 0.0
    f = (m - 1.0) + scaled
    e = ((m - 1.0) - f) + scaled
    k = float_f64(j + SHIFTER_BITS) - (SHIFTER - twos)
    s = f / (2.0 + f)
    h = (0.5 * f) * f
    return k * _LN2_HI + (f - (h - (s * (h + log_series_f64(s)) + (k * _LN2_LO + e))))


def log1p_f64(x: Any) -> Any:
    """``log(1 + x)`` without cancellation."""
    u = 1.0 + x
    b = u - 1.0
    c = (1.0 - (u - b)) + (x - b)  # u + c == 1 + x exactly
    y = log_edges_f64(u, log_sum_f64(u, c, 0.0))
    return x if abs(x) < 2.0**-54 else y


def log1p_short_f64(a: Any) -> Any:
    """``log(1 + a)`` to 2**-30, for float32 results."""
    u = 1.0 + a
    j, m = log_split_f64(u)
    f = a if j == 0 else m - 1.0
    y = (float_f64(j + SHIFTER_BITS) - SHIFTER) * LN2 + log_ratio_f64(f)
    return log_edges_f64(u, y)
