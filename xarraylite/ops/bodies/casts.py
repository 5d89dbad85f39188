"""Scalar bodies: conversions of floats to integers.

The rule for NaN, infinities and numbers out of range, which C and LLVM leave undefined, is that of
``dtypes/truncate.py``; these bodies say it explicitly, for every machine.

All bounds are powers of two, exact in float32 and float64 alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def truncate_i32(x: Any) -> Any:
    """x toward zero as int32; the least int32 for NaN and out of range."""
    least = type(x)(-(2.0**31))
    return np.int32(x if (x >= least) & (x < -least) else least)


def truncate_i64(x: Any) -> Any:
    """x toward zero as int64; the least int64 for NaN and out of range."""
    least = type(x)(-(2.0**63))
    return np.int64(x if (x >= least) & (x < -least) else least)


def truncate_u64(x: Any) -> Any:
    """x toward zero as uint64, modulo 2**64 where int64 holds it."""
    half = type(x)(2.0**63)
    large = x >= half
    low = truncate_i64(x - half if large else x)
    return np.uint64(low ^ np.int64(-0x8000000000000000) if large else low)
