"""Scalars as words of an argument block, and the identities that folds start from.

A sum starts from 0 (so a sum of negative zeros is 0.0, as NumPy's), a minimum from +inf or the
largest integer.  A NaN anywhere wins over either.
"""

from __future__ import annotations

from collections.abc import Callable
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


def _extreme(dtype: DType, sign: int) -> Any:
    """Return the largest value of a dtype, or with the sign -1 the least."""
    if dtype.kind in "fc":
        return sign * np.inf if dtype.kind == "f" else complex(sign * np.inf, sign * np.inf)
    return sign > 0 if dtype.kind == "b" else int_bounds(dtype)[sign > 0]


_IDENTITIES: dict[str, Callable[[DType], Any]] = {
    "sum": lambda dtype: 0,
    "prod": lambda dtype: 1,
    "min": lambda dtype: _extreme(dtype, 1),
    "max": lambda dtype: _extreme(dtype, -1),
    "nanmin": lambda dtype: np.nan if dtype.kind in "fc" else _extreme(dtype, 1),
    "nanmax": lambda dtype: np.nan if dtype.kind in "fc" else _extreme(dtype, -1),
    "any": lambda dtype: False,
    "all": lambda dtype: True,
}


def identity(op: Reduction, dtype: DType) -> Any:
    """Return the value that a fold of values of ``dtype``, one of NumPy's own, starts from."""
    known = _IDENTITIES.get(op.name)
    return op.identity if known is None else known(dtype)  # a user's fold says its own


def identity_words(op: Reduction, dtype: DType) -> tuple[int, ...]:
    """Return the words of the value that a fold of ``dtype`` starts from."""
    assert kind(dtype) != "b" or op.name not in ("sum", "prod")
    return scalar_words(identity(op, loop_dtype(dtype)), dtype)
