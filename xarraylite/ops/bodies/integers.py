"""Scalar bodies: integers.

Numba computes integers in int64 or uint64, and the caller's cast to the result dtype wraps; so most
bodies serve all widths.  Suffix ``_i`` is signed, ``_u`` unsigned, ``_iu`` int64 against uint64.

*Division* by the machine's instruction is no vector's; a product with a rounded reciprocal is:

- up to 32 bits, in floats that have twice as many: half a unit is added to the dividend, toward
  the side on which the quotient is exact, so that what is rounded down lies ``1/(2b)`` from any
  integer, thousands of times the three roundings;
- of 64 bits, in two steps: the first leaves less than ``b/2 + 2**14``, the second a remainder
  between ``-b`` and ``b``, and both are exact since all else wraps;
- of 64 bits where no number reaches 2**50, which is tried first, as those of 32: both roundings
  move a quotient by ``2**-52`` of it, less than half of ``1/(2b)``, and few vectors convert whole
  numbers of more than 52 bits.

Divisors of which a quotient could be too large for its conversion (0, 1, -1, unsigned ones from
2**63 on) are told apart.  A divisor that is the same for a whole loop is inverted once.

The results are NumPy's in every case: ``x // 0`` and ``x % 0`` are 0, the least integer divided
by -1 is itself, a shift by the width or more leaves nothing but the sign.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.bits import bits_f64, float_f64

#: 1.5 * 2**52: an integer of 51 bits that is added to it stands in the low bits.
_SHIFTER = 6755399441055744.0
_SHIFTER_BITS = 0x4338000000000000
#: Numbers of 64 bits below it are divided as floats.
_NEAR = 1 << 50
#: Bits that make floats of the two halves of 64, 2**84 and 2**52 beyond them; these in a sum.
_HIGH_BITS = 0x4530000080000000
_LOW_BITS = 0x4330000000000000
_BEYOND = 2.0**84 + 2.0**63 + 2.0**52


def floor_divide_short(a: Any, b: Any) -> Any:
    """Quotient of up to 16 bits rounded down; 0 for a zero divisor."""
    by = np.float32(np.int32(1) if b == 0 else np.int32(b))
    near = np.float32(a) + math.copysign(np.float32(0.5), by)
    return np.int32(0) if b == 0 else np.int32(np.floor(near * (np.float32(1) / by)))


def floor_divide_middle(a: Any, b: Any) -> Any:
    """Quotient of 32 bits rounded down; 0 for a zero divisor, wrapped by the caller's cast."""
    by = np.float64(np.int64(1) if b == 0 else np.int64(b))
    return np.int64(0) if b == 0 else whole_near(rounded_down(np.float64(a), by))


def rounded_down(a: Any, b: Any) -> Any:
    """Quotient of two whole floats, the first below 2**50, rounded down."""
    return np.floor((a + math.copysign(np.float64(0.5), b)) * (np.float64(1) / b))


def whole_near(x: Any) -> Any:
    """Return a whole float below 2**51 as int64."""
    return bits_f64(x + _SHIFTER) - np.int64(_SHIFTER_BITS)


def float_near(i: Any) -> Any:
    """Return an integer below 2**51 as float64."""
    return float_f64(np.int64(i) + np.int64(_SHIFTER_BITS)) - _SHIFTER


def float_wide(i: Any) -> Any:
    """Return 64 signed bits as float64, rounded, by what every vector does."""
    high = np.int64(np.uint64(i) >> np.uint64(32)) ^ np.int64(_HIGH_BITS)
    low = (np.int64(i) & np.int64(0xFFFFFFFF)) | np.int64(_LOW_BITS)
    return (float_f64(high) - _BEYOND) + float_f64(low)


def whole_wide(x: Any) -> Any:
    """Return a whole float of up to 63 bits as int64, wrapped, by what every vector does."""
    high = np.floor(x * 2.0**-32)
    return (whole_near(high) << np.int64(32)) + whole_near(x - high * 2.0**32)


def division_is_hard_i64(a: Any, b: Any) -> Any:
    """Whether `floor_divide_near` and `remainder_near` are not for these."""
    both = np.uint64(a + np.int64(_NEAR)) | np.uint64(b + np.int64(_NEAR))
    return (b == 0) | (both >= np.uint64(2 * _NEAR))


def division_is_hard_u64(a: Any, b: Any) -> Any:
    """Whether `floor_divide_near` and `remainder_near` are not for these."""
    return (b == 0) | ((a | b) >= np.uint64(_NEAR))


def floor_divide_near(a: Any, b: Any) -> Any:
    """Quotient of small numbers rounded down, by one that is not zero."""
    return whole_near(rounded_down(float_near(a), float_near(b)))


def remainder_near(a: Any, b: Any) -> Any:
    """Remainder of small numbers with the divisor's sign; the product is exact."""
    x = float_near(a)
    by = float_near(b)
    return whole_near(x - rounded_down(x, by) * by)


def left_over(a: Any, quotient: Any, b: Any) -> Any:
    """``a - quotient * b`` as int64, whatever overflows on the way."""
    return np.int64(np.uint64(a) - np.uint64(quotient) * np.uint64(b))


def divided_i(a: Any, b: Any) -> Any:
    """``(quotient, remainder)`` of 64 bits, the quotient rounded down."""
    plain = (b >= -1) & (b <= 1)
    by = np.int64(2) if plain else b
    inverse = np.float64(1) / float_wide(by)
    first = whole_wide(np.rint(float_wide(a) * inverse))
    more = whole_near(np.rint(float_wide(left_over(a, first, by)) * inverse))
    rest = left_over(left_over(a, first, by), more, by)
    low = (rest != 0) & ((rest < 0) != (by < 0))
    quotient = first + (more - np.int64(1) if low else more)
    rest = rest + by if low else rest
    return (a * b if plain else quotient), (np.int64(0) if plain else rest)


def divided_u(a: Any, b: Any) -> Any:
    """``(quotient, remainder)`` of unsigned 64 bits; the remainder of a zero divisor is 0."""
    wide = np.int64(b) < 0
    plain = wide | (b <= 1)
    by = np.int64(2) if plain else np.int64(b)
    inverse = np.float64(1) / float_wide(by)
    near = float_wide(a >> np.uint64(1)) * np.float64(2)
    first = whole_wide(np.rint(near * inverse))
    more = whole_near(np.rint(float_wide(left_over(a, first, by)) * inverse))
    rest = left_over(left_over(a, first, by), more, by)
    low = rest < 0
    quotient = np.uint64(first + (more - np.int64(1) if low else more))
    rest = rest + by if low else rest
    once = wide & (a >= b)
    one = np.uint64(1) if once else np.uint64(0)
    left = (a - b if once else a) if wide else np.uint64(0)
    return ((one if wide else a * b) if plain else quotient), (left if plain else np.uint64(rest))


def floor_divide_i64(a: Any, b: Any) -> Any:
    """Quotient rounded down; 0 for a zero divisor, wrapped for the least integer by -1."""
    quotient, _ = divided_i(a, b)
    return quotient


def floor_divide_u64(a: Any, b: Any) -> Any:
    """Quotient; 0 for a zero divisor."""
    quotient, _ = divided_u(a, b)
    return quotient


def remainder_short(a: Any, b: Any) -> Any:
    """Remainder of up to 16 bits with the divisor's sign; 0 for a zero divisor."""
    rest = np.int32(a) - floor_divide_short(a, b) * np.int32(b)
    return np.int32(0) if b == 0 else rest


def remainder_middle(a: Any, b: Any) -> Any:
    """Remainder of 32 bits with the divisor's sign; 0 for a zero divisor."""
    rest = np.int64(a) - floor_divide_middle(a, b) * np.int64(b)
    return np.int64(0) if b == 0 else rest


def remainder_i64(a: Any, b: Any) -> Any:
    """Remainder with the divisor's sign; 0 for a zero divisor."""
    _, rest = divided_i(a, b)
    return rest


def remainder_u64(a: Any, b: Any) -> Any:
    """Remainder; 0 for a zero divisor."""
    _, rest = divided_u(a, b)
    return rest


floor_divide_i8 = floor_divide_i16 = floor_divide_u8 = floor_divide_u16 = floor_divide_short
floor_divide_i32 = floor_divide_u32 = floor_divide_middle
remainder_i8 = remainder_i16 = remainder_u8 = remainder_u16 = remainder_short
remainder_i32 = remainder_u32 = remainder_middle


def toward_zero(a: Any, b: Any, rest: Any) -> Any:
    """Move a remainder that has the divisor's sign to the dividend's."""
    return rest - b if (rest != 0) & ((a < 0) != (b < 0)) else rest


def squarings(a: Any, n: Any, one: Any) -> Any:
    """Wrapping ``a**n`` for ``n >= 0`` by squaring; ``one`` is 1 in the type of both."""
    result = one
    while n > 0:
        result = result * a if (n & one) != 0 else result
        a = a * a
        n = n >> one
    return result


def power_i(a: Any, n: Any) -> Any:
    """Wrapping power by squaring; a negative exponent gives 1/a**-n rounded toward zero."""
    a = np.int64(a)
    n = np.int64(n)
    if n < 0:
        sign = np.int64(-1) if (n & np.int64(1)) != 0 else np.int64(1)
        return np.int64(1) if a == 1 else (sign if a == -1 else np.int64(0))
    return squarings(a, n, np.int64(1))


def power_u(a: Any, n: Any) -> Any:
    """Wrapping power by squaring."""
    return squarings(np.uint64(a), np.uint64(n), np.uint64(1))


def last_8() -> Any:
    """The number of the last of 8 bits."""
    return np.int64(7)


def last_16() -> Any:
    """The number of the last of 16 bits."""
    return np.int64(15)


def last_32() -> Any:
    """The number of the last of 32 bits."""
    return np.int64(31)


def last_64() -> Any:
    """The number of the last of 64 bits."""
    return np.int64(63)


last_i8 = last_u8 = last_8
last_i16 = last_u16 = last_16
last_i32 = last_u32 = last_32
last_i64 = last_u64 = last_64


def left_shift_i(a: Any, n: Any, last: Any) -> Any:
    """a << n; 0 if n is negative or beyond the last bit, which keeps LLVM in the type of a."""
    a = np.int64(a)
    n = np.int64(n)
    return a << (n & last) if (n >= 0) & (n <= last) else np.int64(0)


def left_shift_u(a: Any, n: Any, last: Any) -> Any:
    """a << n; 0 if n is beyond the last bit."""
    a = np.uint64(a)
    n = np.uint64(n)
    last = np.uint64(last)
    return a << (n & last) if n <= last else np.uint64(0)


def right_shift_i(a: Any, n: Any, last: Any) -> Any:
    """a >> n with the sign copied in; only the sign is left if n is negative or too large."""
    a = np.int64(a)
    n = np.int64(n)
    return a >> (n & last if (n >= 0) & (n <= last) else last)


def right_shift_u(a: Any, n: Any, last: Any) -> Any:
    """a >> n; 0 if n is beyond the last bit."""
    a = np.uint64(a)
    n = np.uint64(n)
    last = np.uint64(last)
    return a >> (n & last) if n <= last else np.uint64(0)


def equal_iu(a: Any, b: Any) -> Any:
    """Exact int64 == uint64."""
    return (a >= 0) & (np.uint64(a) == b)


def less_iu(a: Any, b: Any) -> Any:
    """Exact int64 < uint64."""
    return (a < 0) | (np.uint64(a) < b)


def less_equal_iu(a: Any, b: Any) -> Any:
    """Exact int64 <= uint64."""
    return (a < 0) | (np.uint64(a) <= b)


def fdim_i(a: Any, b: Any) -> Any:
    """a - b where that is positive, else 0; narrow enough for a caller's cast to wrap."""
    return a - b if a > b else type(a - b)(0)


def clip_i(x: Any, low: Any, high: Any) -> Any:
    """min(max(x, low), high), so `high` where the bounds are crossed."""
    x = x if x > low else low
    return x if x < high else high
