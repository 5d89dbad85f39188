"""Scalar bodies: integers.

Arguments of every width arrive as int64 or uint64, which is what Numba computes integers in, and
the caller's cast to the result dtype wraps; so one body serves all widths.  Suffix ``_i`` is
signed, ``_u`` unsigned, ``_iu`` int64 against uint64.

The results are NumPy's in every case: ``x // 0`` and ``x % 0`` are 0, the least integer divided
by -1 is itself, a shift by the width or more leaves nothing but the sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def floor_divide_i(a: Any, b: Any) -> Any:
    """Quotient rounded down; 0 for a zero divisor, wrapped for the least integer by -1."""
    a = np.int64(a)
    b = np.int64(b)
    special = (b == 0) | (b == -1)  # -1: the hardware division would trap on the least integer
    quotient = a // (np.int64(1) if special else b)
    return (np.int64(0) if b == 0 else -a) if special else quotient


def floor_divide_u(a: Any, b: Any) -> Any:
    """Quotient; 0 for a zero divisor."""
    a = np.uint64(a)
    b = np.uint64(b)
    return np.uint64(0) if b == 0 else a // (np.uint64(1) if b == 0 else b)


def remainder_i(a: Any, b: Any) -> Any:
    """Remainder with the divisor's sign; 0 for a zero divisor."""
    a = np.int64(a)
    b = np.int64(b)
    special = (b == 0) | (b == -1)
    return np.int64(0) if special else a % (np.int64(1) if special else b)


def remainder_u(a: Any, b: Any) -> Any:
    """Remainder; 0 for a zero divisor."""
    a = np.uint64(a)
    b = np.uint64(b)
    return np.uint64(0) if b == 0 else a % (np.uint64(1) if b == 0 else b)


def fmod_i(a: Any, b: Any) -> Any:
    """Remainder with the dividend's sign; 0 for a zero divisor."""
    a = np.int64(a)
    b = np.int64(b)
    r = remainder_i(a, b)
    return r - b if (r != 0) & ((a < 0) != (b < 0)) else r


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


def left_shift_i(a: Any, n: Any) -> Any:
    """a << n; 0 if n is negative or reaches the width (cast to a narrower type keeps that)."""
    a = np.int64(a)
    n = np.int64(n)
    return a << (n & np.int64(63)) if (n >= 0) & (n < 64) else np.int64(0)


def left_shift_u(a: Any, n: Any) -> Any:
    """a << n; 0 if n reaches the width."""
    a = np.uint64(a)
    n = np.uint64(n)
    return a << (n & np.uint64(63)) if n < 64 else np.uint64(0)


def right_shift_i(a: Any, n: Any) -> Any:
    """a >> n with the sign copied in; only the sign is left if n is negative or too large."""
    a = np.int64(a)
    n = np.int64(n)
    return a >> (n if (n >= 0) & (n < 64) else np.int64(63))


def right_shift_u(a: Any, n: Any) -> Any:
    """a >> n; 0 if n reaches the width."""
    a = np.uint64(a)
    n = np.uint64(n)
    return a >> (n & np.uint64(63)) if n < 64 else np.uint64(0)


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
