"""Memory of one shape assigned to another: what is stretched, and what it overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl


@pytest.mark.parametrize("dtype", ["float64", "int8", "bfloat16", "complex64"])
def test_memory_that_is_stretched(dtype: str) -> None:
    """Rows, columns, parts of the destination itself, and views; readers keep their values."""
    p = np.arange(12).reshape(3, 4) % 5
    sources: dict[str, Any] = {
        "row": lambda m: m[1],
        "column": lambda m: m[:, :1],
        "one": lambda m: m[1:2, 2:3],
        "reversed": lambda m: m[2, ::-1],
        "other": lambda m: (m + m)[0].copy(),
    }
    for name, source in sources.items():
        for target in (np.s_[...], np.s_[:, ::-1], np.s_[1:], np.s_[::2]):
            a, q = xl.asarray(p, dtype), p.astype("float64")
            q[target] = (source(q)[: q[target].shape[0]] if name == "column" else source(q)).copy()
            before = a * 1
            value = source(a)
            a[target] = value[: q[target].shape[0]] if name == "column" else value
            assert np.array_equal(np.asarray(a, "float64" if dtype != "complex64" else "c8"), q)
            assert np.array_equal(np.asarray(before, "complex128"), p)
            b = xl.asarray(p, dtype)
            b[target] = value[: q[target].shape[0]] if name == "column" else value
            assert b.dtype == a.dtype
    with pytest.raises(xl.BroadcastError, match="assignment"):
        a[...] = xl.asarray([1, 2, 3], dtype)
    with pytest.raises(xl.BroadcastError, match="assignment"):
        a[0] = xl.zeros((2, 4), dtype)
