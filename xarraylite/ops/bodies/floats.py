"""Scalar bodies: real floats, apart from the elementary functions.

Each body serves float32 and float64 (suffix ``_f``) unless it needs a width of its own.
Constants are made with ``type(x)``, since Numba would compute ``float32 * 2.0`` in float64.

Division follows C's ``fmod``, which is exact and which C's library is asked for large quotients
alone, as it divides bit by bit: the remainder first, moved by one divisor if its
sign is wrong, and the quotient from what is left.  Minima and maxima are ternaries whose order
of comparison decides between equal operands, that is between -0.0 and 0.0, as NumPy's does.

References: IEEE 754-2019; NumPy's manual on ``fmod``, ``remainder`` and ``floor_divide``; P.
Sterbenz, Floating-Point Computation, 1974; T. Dekker, Numer. Math. 18 (1971), on split products.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.bits import bits_f32, bits_f64, float_f32, float_f64


def sum_error(a: Any, b: Any, whole: Any) -> Any:
    """Return exactly what ``whole = a + b`` has rounded off (Knuth, TAOCP 2, 4.2.2)."""
    back = whole - a
    return (a - (whole - back)) + (b - back)


def compensate(total: Any, lost: Any) -> Any:
    """Return ``total + lost``; what was lost is not a number where the total overflowed."""
    return total + lost if lost != 0 and lost - lost == 0 else total


def fmod_near_f(a: Any, b: Any) -> Any:
    """`fmod_f` of arguments that are not hard.

    While the quotient has no more than 26 bits, its products with the divisor's upper 26 bits and
    with the others are exact, and so are both differences: the first by Sterbenz's lemma, the
    second since its result has no more bits than the divisor.  A quotient that was rounded up gives
    a remainder of the wrong sign, one divisor too small.
    """
    x, y = np.float64(a), np.float64(b)
    quotient = np.trunc(x / y)
    upper = float_f64(bits_f64(y) & np.int64(-(1 << 27)))
    r = (x - quotient * upper) - quotient * (y - upper)
    r = r + math.copysign(y, x) if (r != 0) & ((r < 0) != (x < 0)) else r
    return type(a)(x if abs(x) < abs(y) else math.copysign(r, x))


def fmod_is_hard_f(a: Any, b: Any) -> Any:
    """Whether `fmod_near_f`, and what is made of it, is not for the arguments."""
    x, y = np.float64(a), np.float64(b)
    return not ((abs(x) < abs(y)) | (abs(x / y) < 67108864.0))


def fmod_f(a: Any, b: Any) -> Any:
    """C's fmod: exact remainder with the dividend's sign."""
    return np.fmod(a, b) if fmod_is_hard_f(a, b) else fmod_near_f(a, b)


def remainder_of_f(r: Any, b: Any) -> Any:
    """What fmod leaves with the divisor's sign, a signed zero included."""
    moved = r + b if (b < 0) != (r < 0) else r
    return (moved if r != 0 else math.copysign(r, b)) if b != 0 else r


def remainder_f(a: Any, b: Any) -> Any:
    """Remainder with the divisor's sign."""
    return remainder_of_f(fmod_f(a, b), b)


def remainder_near_f(a: Any, b: Any) -> Any:
    """`remainder_f` of arguments that are not hard."""
    return remainder_of_f(fmod_near_f(a, b), b)


def quotient_of_f(a: Any, b: Any, r: Any) -> Any:
    """(a - fmod) / b rounded to the nearest integer; a / b beside a zero or infinities."""
    quotient = (a - r) / b
    one = type(quotient)(1)
    quotient = quotient - one if (r != 0) & ((b < 0) != (r < 0)) else quotient
    floor = np.floor(quotient)
    floor = floor + one if quotient - floor > type(quotient)(0.5) else floor
    floor = floor if quotient != 0 else math.copysign(quotient, a / b)
    return floor if (b != 0) & (a - a == b - b) else a / b


def floor_divide_f(a: Any, b: Any) -> Any:
    """Quotient rounded down."""
    return quotient_of_f(a, b, fmod_f(a, b))


def floor_divide_near_f(a: Any, b: Any) -> Any:
    """`floor_divide_f` of arguments that are not hard."""
    return quotient_of_f(a, b, fmod_near_f(a, b))


def fdim_f(a: Any, b: Any) -> Any:
    """a - b where that is positive, else 0; NaN if either is NaN."""
    return a - b if (a > b) | (a != a) | (b != b) else type(a)(0)


def sqrt_f(x: Any) -> Any:
    """Correctly rounded square root."""
    return math.sqrt(x)


def reciprocal_f(x: Any) -> Any:
    """1 / x."""
    return type(x)(1) / x


def deg2rad_f(x: Any) -> Any:
    """x (pi/180), in the type of x throughout."""
    return x * (type(x)(math.pi) / type(x)(180))


def rad2deg_f(x: Any) -> Any:
    """x (180/pi), in the type of x throughout."""
    return x * (type(x)(180) / type(x)(math.pi))


def copysign_f(x: Any, y: Any) -> Any:
    """|x| with the sign of y."""
    return math.copysign(x, y)


def floor_f(x: Any) -> Any:
    """Largest integer not above x."""
    return np.floor(x)


def ceil_f(x: Any) -> Any:
    """Smallest integer not below x."""
    return np.ceil(x)


def trunc_f(x: Any) -> Any:
    """x rounded toward zero."""
    return np.trunc(x)


def rint_f(x: Any) -> Any:
    """x rounded to the nearest integer, halves to even."""
    return np.rint(x)


def isinf_f(x: Any) -> Any:
    """Neither NaN nor finite: ``x - x`` is NaN for both, ``x == x`` for infinities only."""
    return (x == x) & (x - x != x - x)


def isfinite_f(x: Any) -> Any:
    """``x - x`` is NaN for NaN and infinities."""
    return x - x == x - x


def maximum_f(a: Any, b: Any) -> Any:
    """The greater; NaN if either is NaN; the second of two equals (NumPy's signed zeros)."""
    return a if (a > b) | (a != a) else b


def minimum_f(a: Any, b: Any) -> Any:
    """The smaller; NaN if either is NaN; the second of two equals."""
    return a if (a < b) | (a != a) else b


def first_maximum_f(a: Any, b: Any) -> Any:
    """As `maximum_f`, but the first of two equals, as NumPy has it for float16."""
    return a if (a >= b) | (a != a) else b


def first_minimum_f(a: Any, b: Any) -> Any:
    """As `minimum_f`, but the first of two equals, as NumPy has it for float16."""
    return a if (a <= b) | (a != a) else b


def fmax_f(a: Any, b: Any) -> Any:
    """The greater; the other one if one is NaN."""
    return a if (a >= b) | (b != b) else b


def fmin_f(a: Any, b: Any) -> Any:
    """The smaller; the other one if one is NaN."""
    return a if (a <= b) | (b != b) else b


def clip_f(x: Any, low: Any, high: Any) -> Any:
    """min(max(x, low), high): NaN if any is NaN, x itself where it equals a bound."""
    return first_minimum_f(first_maximum_f(x, low), high)


def heaviside_f(x: Any, middle: Any) -> Any:
    """0 below zero, 1 above, `middle` at zero, NaN for NaN."""
    one = type(x)(1)
    return x if x != x else (middle if x == 0 else (one if x > 0 else one - one))


def sign_f(x: Any) -> Any:
    """-1, 0 or 1; NaN for NaN, and a positive zero for either zero."""
    one = type(x)(1)
    return one if x > 0 else (-one if x < 0 else (one - one if x == 0 else x))


def signbit_f32(x: Any) -> Any:
    """The sign bit, of NaN and zero too."""
    return bits_f32(x) < 0


def signbit_f64(x: Any) -> Any:
    """The sign bit, of NaN and zero too."""
    return bits_f64(x) < 0


def nextafter_f32(x: Any, y: Any) -> Any:
    """The float next to x toward y: one step of the bit pattern."""
    bits = bits_f32(x)
    step = np.int32(1) if (y > x) == (x > 0) else np.int32(-1)
    least = math.copysign(float_f32(np.int32(1)), y)
    moved = least if x == 0 else float_f32(np.int32(bits + step))
    return x + y if (x != x) | (y != y) else (y if x == y else moved)


def nextafter_f64(x: Any, y: Any) -> Any:
    """The float next to x toward y: one step of the bit pattern."""
    bits = bits_f64(x)
    step = np.int64(1) if (y > x) == (x > 0) else np.int64(-1)
    least = math.copysign(float_f64(np.int64(1)), y)
    moved = least if x == 0 else float_f64(bits + step)
    return x + y if (x != x) | (y != y) else (y if x == y else moved)
