"""The few machine operations that scalar bodies need beyond Python's own operators.

Bodies of operations (the room ``ops.bodies``, and `narrow` beside this module) are plain
Python functions in the subset that Numba compiles.  They call these names; run as ordinary
Python they mean what is written here, and in a kernel each is replaced by one machine
instruction.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def bits_f32(x: Any) -> Any:
    """Reinterpret a float32 as int32."""
    return np.float32(x).view(np.int32)


def float_f32(i: Any) -> Any:
    """Reinterpret an int32 as float32."""
    return np.int32(i).view(np.float32)


def bits_f64(x: Any) -> Any:
    """Reinterpret a float64 as int64."""
    return np.float64(x).view(np.int64)


def float_f64(i: Any) -> Any:
    """Reinterpret an int64 as float64."""
    return np.int64(i).view(np.float64)


def muladd(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c`` rounded once, or twice on a CPU that cannot fuse.

    NumPy's complex product is made of it, so ours is too.
    """
    return fma(a, b, c)


def fma(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c`` rounded once, on every machine: by the C library if not by the CPU.

    The elementary functions are made of it.  What users write is never contracted.
    """
    product = a * b
    if not np.isfinite(product) or not np.isfinite(c):
        return product + c
    (p, q), (r, s), (t, u) = (float(x).as_integer_ratio() for x in (a, b, c))
    return type(a)((p * r * u + t * q * s) / (q * s * u))  # of integers: rounded once
