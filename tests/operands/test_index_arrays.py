"""Integer arrays as an index: what is refused, and that what was checked is what is used."""

from __future__ import annotations

import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.shapes.changing import changing
from xarraylite.memory.arrays import read
from xarraylite.operands.gathers import index_leaf

REFUSED: dict[str, tuple[Any, str]] = {
    "objects": (np.array([None]), "dtype object and shape (1,): only integer arrays"),
    "text": (np.array(["a"]), "dtype <U1"),
    "bytes": (np.array([b"a"]), "dtype |S1"),
    "dates": (np.array(["2020"], "M8[D]"), "dtype datetime64[D]"),
    "spans": (np.array([1], "m8[s]"), "dtype timedelta64[s]"),
    "structures": (np.array([(1, 2)], "i4,i4"), "('f1', '<i4')"),
    "floats": ([1.5], "dtype float64"),
    "long ints": ([2**70], "dtype object"),
    "a list of text": (["a"], "dtype <U1"),
    "ragged lists": ([[0], [1, 0]], "nested lists are ragged"),
    "masked": (np.ma.array([1], mask=[True]), "masked array"),
    "too large": ([2], "out of range for an extent of 2"),
    "too small": ([-3], "-3 to -3, out of range for an extent of 2"),
    "beyond int64": (np.array([2**64 - 1], np.uint64), "out of range"),
    "empty floats": (np.zeros((2, 0)), "dtype float64 and shape (2, 0)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    index, message = REFUSED[name]
    a = xl.asarray([1.0, 2.0])
    with pytest.raises(xl.IndexRangeError) as found:
        a[index]
    assert message in str(found.value)
    with pytest.raises(xl.IndexRangeError) as found:
        a[index] = 0
    assert message in str(found.value)
    assert a.tolist() == [1, 2]


TAKEN = [
    [-1, 0],
    np.array([-1, 0], ">i2"),
    np.array([1, 0], np.uint64),
    np.array([-1, 0], ml_dtypes.int4),
    xl.asarray([-1, 0], dtype="int8"),
    xl.asarray([-1, 0], dtype="int4"),
    xl.asarray([0, 1])[::-1] + 0,
]


@pytest.mark.parametrize("index", TAKEN, ids=lambda index: type(index).__name__)
def test_every_integer_type_is_an_index(index: Any) -> None:
    a = xl.asarray([1.0, 2.0])
    assert xl.eval(a[index]).tolist() == [2, 1]
    a[index] = [5, 6]
    assert a.tolist() == [6, 5]


def test_a_container_that_changes_after_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    index, a = xl.asarray([0, 1]), xl.asarray([1.0, 2.0])
    monkeypatch.setattr(type(index), "numpy", lambda self: changing([0, 1]))
    leaf = index_leaf(index, 2)
    e = a[index]
    a[index] = [7, 8]
    monkeypatch.undo()
    assert read(leaf.snapshot, leaf.dtype, leaf.map).tolist() == [0, 1]
    assert xl.eval(e).tolist() == [1, 2]
    assert a.tolist() == [7, 8]


def test_an_array_that_another_thread_changes() -> None:
    """It may be refused; what is not refused must be in range."""
    index = np.zeros(5000, np.int64)
    stop = threading.Event()

    def flip() -> None:
        while not stop.is_set():
            index[-1] = 10**9
            index[-1] = 0

    other = threading.Thread(target=flip)
    other.start()
    try:
        for _ in range(500):
            try:
                leaf = index_leaf(index, 3)
            except xl.IndexRangeError:
                continue
            positions = read(leaf.snapshot, leaf.dtype, leaf.map)
            assert 0 <= positions.min() <= positions.max() < 3
    finally:
        stop.set()
        other.join()
