"""Reduction of any angle by multiples of pi/2, without branches and without tables in memory.

Most angles are near, and what they leave takes ten operations.  For all others
``|x| = M * 2**e`` with an integer ``M``.  Only the bits of ``2/pi`` that ``M * 2**e`` does not turn
into multiples of four quarter turns matter (Payne and Hanek, 1983), so a window of 192 bits of
``2/pi`` is taken at the position ``e`` asks for, multiplied by ``M`` modulo ``2**192`` in pieces of
32 bits, and the product's upper 128 bits read as quarter turns: two integer bits, 126 bits of
fraction.  A double comes no nearer to a multiple of pi/2 than about ``2**-61`` quarter turns, which
leaves 64 good bits in the worst case.

The window is found by four rounds of selects among constants (a barrel shifter over sixteen words)
rather than by indexing: a gather would cost more, and a loop that branches to libm for large
angles would not vectorise at all.

The 24 bits of a float32 need no integers.  Near angles stay in float32: multiples of pi/2 are taken
off in three parts of pi.  For the others three pieces of ``1/(2 pi)``, chosen by ``e`` among
three sets, are multiplied in float64; two of the products are exact, and their whole turns are
taken off by rounding.  Integer products of 32 and 64 bits took 1.3 times as long on AVX-512, 1.7
on AVX2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.bits import bits_f64, float_f64, fma
from .exponential import SHIFTER, SHIFTER_BITS

#: Angles up to these are near: their bits are those of what serves near ones alone, everywhere.
NEAR = 4194304.0
NEAR_F32 = np.float32(16384.0)

#: Adding it to a float32 rounds to a whole number, whose last bit is that of the sum.
SHIFTER_F32 = np.float32(12582912.0)  # 1.5 * 2**23

_TWO_OVER_PI = 0.6366197723675814
_PIO2 = 1.5707963267948966
_PIO2_MID = 6.12323399409214e-17  # 30 bits
_PIO2_LOW = 1.6446256936324258e-26
_PIO2_22 = 1.570796012878418  # 22 bits: exact times a 31-bit integer
_PIO2_REST = 3.139164786504813e-07
_FRACTION = 0x000FFFFFFFFFFFFF
_HIDDEN = 0x0010000000000000
# pi in parts that are too small, so that -0.0 stays -0.0; the first has 23 bits.
_PI_F32 = np.float32(3.1415925)
_PI_F32_MID = np.float32(1.5099579e-07)
_PI_F32_LOW = np.float32(1.0780605e-14)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_N32 = np.uint64(32)
_N63 = np.uint64(63)
# 2/pi after 55 zero bits, in words of 64 bits.
_W0 = np.uint64(0x0000000000000145)
_W1 = np.uint64(0xF306DC9C882A53F8)
_W2 = np.uint64(0x4EAFA3EA69BB81B6)
_W3 = np.uint64(0xC52B3278872083FC)
_W4 = np.uint64(0xA2C757BD778AC36E)
_W5 = np.uint64(0x48DC74849BA5C00C)
_W6 = np.uint64(0x925DD413A32439FC)
_W7 = np.uint64(0x3BD63962534E7DD1)
_W8 = np.uint64(0x046BEA5D768909D3)
_W9 = np.uint64(0x38E04D68BEFC8273)
_W10 = np.uint64(0x23AC7306A673E939)
_W11 = np.uint64(0x08BF177BF250763F)
_W12 = np.uint64(0xF12FFFBC0B301FDE)
_W13 = np.uint64(0x5E2316B414DA3EDA)
_W14 = np.uint64(0x6CFD9E4F96136E9E)
_W15 = np.uint64(0x8C7ECD3CBFD45AEA)
_W16 = np.uint64(0x4F758FD7CBE2F67A)
_W17 = np.uint64(0x0E73EF14A525D4D7)
_W18 = np.uint64(0xF6BF623F1ABA10AC)


def funnel_u64(a: Any, b: Any, s: Any) -> Any:
    """The upper 64 bits of the 128-bit ``a:b`` shifted left by ``s`` (0 to 63)."""
    return (a << s) | ((b >> _ONE) >> (_N63 - s))


def two_over_pi_f64(position: Any) -> Any:
    """192 bits of 2/pi (three uint64) from a bit position in 0..1023."""
    p = position & 512 != 0
    a0 = _W8 if p else _W0
    a1 = _W9 if p else _W1
    a2 = _W10 if p else _W2
    a3 = _W11 if p else _W3
    a4 = _W12 if p else _W4
    a5 = _W13 if p else _W5
    a6 = _W14 if p else _W6
    a7 = _W15 if p else _W7
    a8 = _W16 if p else _W8
    a9 = _W17 if p else _W9
    a10 = _W18 if p else _W10
    p = position & 256 != 0
    b0 = a4 if p else a0
    b1 = a5 if p else a1
    b2 = a6 if p else a2
    b3 = a7 if p else a3
    b4 = a8 if p else a4
    b5 = a9 if p else a5
    b6 = a10 if p else a6
    p = position & 128 != 0
    c0 = b2 if p else b0
    c1 = b3 if p else b1
    c2 = b4 if p else b2
    c3 = b5 if p else b3
    c4 = b6 if p else b4
    p = position & 64 != 0
    d0 = c1 if p else c0
    d1 = c2 if p else c1
    d2 = c3 if p else c2
    d3 = c4 if p else c3
    s = np.uint64(position & 63)
    return funnel_u64(d0, d1, s), funnel_u64(d1, d2, s), funnel_u64(d2, d3, s)


def near_turns_f64(a: Any) -> Any:
    """Like `quarter_turns_f64`, for ``0 <= a <= NEAR``; q is to be taken mod 4.

    ``a - n pi/2`` with pi/2 in three parts (Cody and Waite): the first product is taken off
    exactly, since what is left is a multiple of 2**-53; so is the second where much of it cancels.
    """
    t = fma(a, _TWO_OVER_PI, SHIFTER)
    n = t - SHIFTER
    u = fma(-n, _PIO2, a)
    v = fma(-n, _PIO2_MID, u)
    hi = fma(-n, _PIO2_LOW, v)
    return bits_f64(t), hi, fma(-n, _PIO2_LOW, v - hi) + fma(-n, _PIO2_MID, u - v)


def quarter_turns_f64(a: Any) -> Any:
    """``(q, hi, lo)``: a finite ``a >= pi/4`` is ``q pi/2 + hi + lo``, q mod 4, hi below pi/4."""
    i = bits_f64(a)
    e = i >> 52
    grown = 1024 if e < 1024 else e  # 1/2 <= a < 2 loses no bit: M has two to spare
    m = np.uint64((((i & _FRACTION) | _HIDDEN) << 2) >> ((grown - e) & 63))
    # No offset from `grown` here: one of -1 would make LLVM build its constant by an instruction
    # that waits for the previous iteration, and the loop would run half as fast.
    w2, w1, w0 = two_over_pi_f64(grown & 1023)
    m0 = m & _LOW
    m1 = m >> _N32
    # Partial products of weight 2**64 (p, q) and 2**96 (r, s); the lower ones give only carries.
    p = m0 * (w1 & _LOW)
    q = m1 * (w0 >> _N32)
    r = m0 * (w1 >> _N32)
    s = m1 * (w1 & _LOW)
    mid = (p & _LOW) + (q & _LOW) + ((m0 * (w0 >> _N32)) >> _N32) + ((m1 * (w0 & _LOW)) >> _N32)
    low = (p >> _N32) + (q >> _N32) + (r & _LOW) + (s & _LOW) + (mid >> _N32)
    top = m0 * (w2 & _LOW) + m1 * (w1 >> _N32) + (r >> _N32) + (s >> _N32) + (low >> _N32)
    top = np.int64(top + ((m0 * (w2 >> _N32) + m1 * (w2 & _LOW)) << _N32))
    turns = (top + (1 << 61)) >> 62
    rest = top - (turns << 62)
    upper = (rest + (1 << 31)) >> 32
    f = (float_f64(upper + SHIFTER_BITS) - SHIFTER) * 2.0**-30
    g = (float_f64((rest - (upper << 32)) + SHIFTER_BITS) - SHIFTER) * 2.0**-62
    g1 = (float_f64(np.int64(low & _LOW) + SHIFTER_BITS) - SHIFTER) * 2.0**-94
    g = g + (g1 + (float_f64(np.int64(mid & _LOW) + SHIFTER_BITS) - SHIFTER) * 2.0**-126)
    u = f * _PIO2_22  # exact
    v = f * _PIO2_REST + g * _PIO2
    hi = u + v
    return turns, hi, (u - hi) + v


def less_half_turns_f32(x: Any, n: Any) -> Any:
    """``x - n pi``, where that is at most about pi/2 and ``|n|`` below 2**13, n a whole or half.

    The first product is taken off exactly where much of it cancels: both are multiples of 2**-23.
    """
    return fma(-n, _PI_F32_LOW, fma(-n, _PI_F32_MID, fma(-n, _PI_F32, x)))


def turns_f32(x: Any) -> Any:
    """``(q, u)``: a finite float32 ``x`` is ``2 pi (q + u)`` and whole turns.

    Three pieces of ``1/(2 pi)`` are used; the first two have 29 bits, so that their products with
    the 24 bits of ``x`` are exact in float64.  Where ``x`` is at least ``2**60``, and from
    ``2**94`` on, higher bits, which give only whole turns, are left out, and the pieces begin
    further down.  ``q`` is exact and below ``2**27``, ``|u| <= 1`` has an error below ``2**-54``:
    no float32 is near enough to a multiple of pi/2 to notice.
    """
    a = np.float64(x)
    b = abs(a)
    mid = b >= 2.0**60
    far = b >= 2.0**94
    c1 = 3.243701016336989e-12 if mid else 0.15915494272485375
    c2 = -2.0362228515769835e-22 if mid else 3.6704158115630214e-10
    c3 = -1.3304005198798648e-31 if mid else 5.69002518269599e-19
    c1 = -2.0362228515769835e-22 if far else c1
    c2 = -1.3304005188290685e-31 if far else c2
    c3 = -1.0507962342869231e-40 if far else c3
    t = a * c1
    return a * c2, fma(a, c3, -(np.rint(t) - t))  # this way around both are -0.0 for -0.0
