"""Few elements that lists of integers select of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl


@pytest.mark.parametrize("dtype", ["float64", "uint8", "complex64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_lists_select_of_many(dtype: str, order: str) -> None:
    p = np.arange(200 * 150).reshape(200, 150).astype(dtype)
    a = xl.asarray(p, order=order)  # type: ignore[arg-type]
    keys: list[Any] = [[1, 0], [-1], [3] * 9, [*range(100)], [True] + [False] * 199, []]
    for key in keys:
        for where in (key, (slice(None), key[:1] if len(key) == 200 else key)):
            if where is not key and (not key or key[0] is True):
                continue
            for _ in range(3):
                made = a[where]
                assert np.array_equal(np.asarray(made), p[where])
                assert np.array_equal(np.asarray(made + made), p[where] + p[where])
    for axis in (0, 1):
        assert np.array_equal(np.asarray(a.take([2, 0], axis=axis)), p.take([2, 0], axis=axis))
    a[[0, 1]] = a[[1, 0]]
    a[:, [4, 5]] = a[:, [5, 4]]
    p[[0, 1]] = p[[1, 0]]
    p[:, [4, 5]] = p[:, [5, 4]]
    assert np.array_equal(np.asarray(a), p)
    kept, before = a[[7, 8]], p[[7, 8]]
    a[...] = 0
    assert np.array_equal(np.asarray(kept), before)
    with pytest.raises(IndexError, match="out of range"):
        a[[0, 200]]
    late = xl.jit(lambda x: a[[0, 1]][:, 0] + x)
    assert np.array_equal(np.asarray(late(xl.zeros(2, dtype))), [0, 0])
    a[...] = 3
    assert np.array_equal(np.asarray(late(xl.zeros(2, dtype))), [3, 3])
