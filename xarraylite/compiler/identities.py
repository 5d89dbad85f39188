"""Scalars as words of an argument block, and the identities that folds start from.

A sum starts from 0 (so a sum of negative zeros is 0.0, as NumPy's), a minimum from +inf or the
largest integer.  A NaN anywhere wins over either.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes.formats import loop_dtype
from ..dtypes.names import DType, kind
from ..dtypes.promotion import int_bounds
from ..ops.reductions import Reduction


def scalar_words(value: Any, dtype: DType) -> tuple[int, ...]:
    """Return the register bits of ``value`` as one or two int64 words."""
    raw = np.asarray(value).astype(loop_dtype(dtype)).tobytes()
    padded = raw.ljust(16 if len(raw) > 8 else 8, b"\0")
    return tuple(
        int.from_bytes(padded[k : k + 8], "little", signed=True) for k in range(0, len(padded), 8)
    )


#: Where folds without an identity of their own start: at the largest of a dtype, or the least.
_SIGNS = {"min": 1, "nanmin": 1, "max": -1, "nanmax": -1}


def identity(op: Reduction, dtype: DType) -> Any:
    """Return the value that a fold of values of ``dtype``, one of NumPy's own, starts from."""
    if op.name not in _SIGNS:  # a user's fold says its own
        return op.identity
    sign = _SIGNS[op.name]
    if dtype.kind in "fc":
        end = np.nan if op.name.startswith("nan") else sign * np.inf
        return end if dtype.kind == "f" or np.isnan(end) else complex(end, end)
    return sign > 0 if dtype.kind == "b" else int_bounds(dtype)[sign > 0]


def identity_words(op: Reduction, dtype: DType) -> tuple[int, ...]:
    """Return the words of the value that a fold of ``dtype`` starts from."""
    assert kind(dtype) != "b" or op.name not in ("sum", "prod")
    return scalar_words(identity(op, loop_dtype(dtype)), dtype)
