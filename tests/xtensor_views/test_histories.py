"""What few picked elements keep of the memory they were picked from: none of it, if it is much."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.memory.buffer import KEPT
from xarraylite.runtime import natives as loading
from xarraylite.transforms import natives

ROWS, COLUMNS = 40, 500
CONDITION = np.arange(COLUMNS) % 7 == 3

#: What is picked of a matrix, and what NumPy makes of the same.
PICKS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "index": (lambda m: m[3][np.array([1, -2, 5])], lambda v: v[3, [1, -2, 5]]),
    "list": (lambda m: m[3][[1, -2, 5]] * 2, lambda v: v[3, [1, -2, 5]] * 2),
    "strided": (lambda m: m[:5, :5][[0, 1]], lambda v: v[:2, :5]),
    "filter": (lambda m: xl.filter(m[3], CONDITION) * 2, lambda v: v[3, CONDITION] * 2),
    "index view": (lambda m: xl.index_view(m[3], [4, 0]) + 1, lambda v: v[3, [4, 0]] + 1),
    "keep": (
        lambda m: xl.view(m, 3, xl.keep(1, 2, 5)) * 2,
        lambda v: v[3, [1, 2, 5]] * 2,
    ),
    "grid": (
        lambda m: xl.view(m, xl.keep(3, 1), xl.keep(1, 2, 5)) * 2,
        lambda v: v[np.ix_([3, 1], [1, 2, 5])] * 2,
    ),
    "reshaped": (
        lambda m: xl.reshape_view(m[1:3, 1:4], (3, 2)) + 1,
        lambda v: v[1:3, 1:4].reshape(3, 2) + 1,
    ),
    "join": (
        lambda m: xl.concatenate([m[k, :2] for k in range(10)]),
        lambda v: v[:10, :2].reshape(-1),
    ),
}


@pytest.fixture(params=[False, True], ids=["python", "native"], autouse=True)
def _methods(request: pytest.FixtureRequest) -> Iterator[None]:
    """Take the methods in Python, then those in machine code."""
    if request.param and (
        not loading.can_load() or request.config.getoption("--engine") != "compiled"
    ):
        pytest.skip("nothing to be loaded")
    (natives.install if request.param else natives.remove)()
    yield
    natives.remove()


def matrix(rows: int = ROWS) -> tuple[Any, Any]:
    values = np.arange(float(rows * COLUMNS)).reshape(rows, COLUMNS)
    return xl.asarray(values, copy=True), values


@pytest.mark.parametrize("name", PICKS)
def test_a_history_keeps_no_large_memory(name: str) -> None:
    pick, want = PICKS[name]
    history, memory = [], []
    for _ in range(5):
        m, values = matrix()
        assert m.nbytes > KEPT
        history.append(pick(m))
        memory.append(weakref.ref(m.buffer))
    del m
    gc.collect()
    assert [ref() for ref in memory] == [None] * 5
    for e in history:
        assert repr(e).endswith("lazy>")
        np.testing.assert_array_equal(xl.late(e), want(values))  # the last values
        np.testing.assert_array_equal(e, want(values))


@pytest.mark.parametrize("rows", [10, ROWS])
@pytest.mark.parametrize("name", PICKS)
def test_late_reads_the_memory_that_is_there(name: str, rows: int) -> None:
    pick, want = PICKS[name]
    m, values = matrix(rows)
    e = pick(m)
    late = xl.late(e)
    m += 1
    np.testing.assert_array_equal(late, want(values + 1))
    m += 1
    del m
    np.testing.assert_array_equal(late, want(values + 2))
    np.testing.assert_array_equal(e, want(values))


@pytest.mark.parametrize("name", PICKS)
def test_memory_that_others_may_write_is_kept(name: str) -> None:
    pick, want = PICKS[name]
    values = matrix()[1]
    late = xl.late(pick(xl.adapt(values)))
    values += 1
    np.testing.assert_array_equal(late, want(values))
