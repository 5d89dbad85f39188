"""Scalars as words of an argument block, and the identities that folds start from.

A sum starts from 0 (so a sum of negative zeros is 0.0, as NumPy's), a minimum from +inf or the
largest integer.  A NaN anywhere wins over either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.emit.tokens import token
from ..dtypes.names import DType, kind
from ..ops.reductions import Reduction

_REGISTERS: dict[str, DType] = {
    **{f"f{n}": np.dtype(f"float{n}") for n in (32, 64)},
    **{f"i{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    **{f"u{n}": np.dtype(f"uint{n}") for n in (8, 16, 32, 64)},
    "c64": np.dtype("complex64"),
    "c128": np.dtype("complex128"),
    "b1": np.dtype("bool"),
}


def register_dtype(dtype: DType) -> DType:
    """Return the NumPy dtype of the register that holds values of ``dtype`` in a kernel."""
    return _REGISTERS[token(dtype).value]


def scalar_words(value: Any, dtype: DType) -> tuple[int, ...]:
    """Return the register bits of ``value`` as one or two int64 words."""
    raw = np.asarray(value).astype(register_dtype(dtype)).tobytes()
    padded = raw.ljust(16 if len(raw) > 8 else 8, b"\0")
    return tuple(
        int.from_bytes(padded[k : k + 8], "little", signed=True) for k in range(0, len(padded), 8)
    )


def _extreme(dtype: DType, sign: int) -> Any:
    """Return the largest value of a dtype, or with the sign -1 the least."""
    if dtype.kind in "fc":
        return sign * np.inf if dtype.kind == "f" else complex(sign * np.inf, sign * np.inf)
    if dtype.kind == "b":
        return sign > 0
    known = np.iinfo(dtype.name)
    return int(known.max if sign > 0 else known.min)


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
    return scalar_words(identity(op, register_dtype(dtype)), dtype)
