"""How containers print: NumPy's text of the values, with our class name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes.names import dtype_name

#: Dtypes whose name a reader can tell from the values.
_OBVIOUS = frozenset({"float64", "int64", "bool", "complex128"})


def container_repr(kind: str, values: np.ndarray[tuple[int, ...], np.dtype[Any]]) -> str:
    """Return ``Kind(values, dtype=…)``, or the shape where there are no values."""
    name = dtype_name(values.dtype)
    suffix = "" if name in _OBVIOUS and values.size else f", dtype={name}"
    if values.size == 0 and values.shape != (0,):
        suffix = f", shape={values.shape}{suffix}"
    prefix = f"{kind}("
    text = np.array2string(values, separator=", ", prefix=prefix, suffix=f"{suffix})")
    return f"{prefix}{text}{suffix})"
