"""Compiles operations and casts for the tests of this folder, each as a kernel of its own.

The kernels of whole arrays in a row are those of other tests too, so each is compiled once.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

import xarraylite as xl
from xarraylite.arrays.expression import XExpression, apply
from xarraylite.dtypes.names import is_narrow_float, is_narrow_int, kind
from xarraylite.ir import build
from xarraylite.ops.op import Op

Array = np.ndarray[Any, np.dtype[Any]]
DType = np.dtype[Any]

REAL = [np.dtype(code) for code in "?bBhHiIlLefd"]
COMPLEX = [np.dtype("c8"), np.dtype("c16")]
BF16 = np.dtype(ml_dtypes.bfloat16)


def register(dtype: DType) -> DType:
    """What values of `dtype` are inside a kernel."""
    if is_narrow_float(dtype):
        return np.dtype("f4")
    return np.dtype(f"{kind(dtype)}1") if is_narrow_int(dtype) else dtype


def run(op: Op, *operands: Array) -> Array:
    """What a kernel makes of an operation."""
    with xl.config(engine="compiled"):
        return np.array(xl.eval(apply(op, *[xl.asarray(x) for x in operands])))


def converted(values: Array, dtype: DType) -> Array:
    """What a kernel makes of a cast."""
    with xl.config(engine="compiled"):
        return np.array(xl.eval(XExpression(build.cast(xl.asarray(values).node, dtype))))


# --- values ----------------------------------------------------------------------------------

INTEGERS = [0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100]
FLOATS = [
    0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 7.0, 0.1, 1e-3, 1e10, 180.0, 8388609.0, 4503599627370497.5,
    float("inf"), float("nan"),
]  # fmt: skip
PARTS = [0.0, -0.0, 1.0, -2.5, 0.1, 1e30, float("inf"), float("-inf"), float("nan")]


@cache
def edges(dtype: DType) -> Array:
    """Values of `dtype` where things go wrong."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wide = [*INTEGERS, *[-x for x in INTEGERS], *[info.max - x for x in range(3)]]
        wide += [info.min + x for x in range(3)]
        return np.array([x for x in dict.fromkeys(wide) if info.min <= x <= info.max], dtype)
    if dtype.kind == "c":
        return np.array([complex(a, b) for a in PARTS for b in PARTS], dtype)
    if is_narrow_float(dtype):
        limits: list[float] = []
    else:
        info32 = np.finfo(dtype)
        limits = [float(info32.max), float(info32.tiny), float(info32.smallest_subnormal)]
    values = np.array([*FLOATS, *limits])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([values, -values]).astype(dtype)


def same_bits(ours: Array, theirs: Array, signed_zeros: bool = True) -> Array:
    """Where both have the same bits, NaNs of any payload being equal."""
    if ours.dtype.kind == "c":
        parts = [(ours.real, theirs.real), (ours.imag, theirs.imag)]
        return np.logical_and(*[same_bits(a, b, signed_zeros) for a, b in parts])
    equal = ours == theirs
    if signed_zeros and (ours.dtype.kind == "f" or is_narrow_float(ours.dtype)):
        equal &= np.signbit(ours) == np.signbit(theirs)
    return np.asarray(equal | ((ours != ours) & (theirs != theirs)))
