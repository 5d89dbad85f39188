"""Integer arrays as an index: what is refused, and that what was checked is what is used."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
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


@together("name", REFUSED)
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


@together("index", TAKEN, ids=lambda index: type(index).__name__)
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


AT = np.array([2, 0, -1, 0])
MASK = np.array([True, False, True])

#: Indices with arrays, of three rows of four.
KEYS: list[Any] = [
    AT,
    MASK,
    AT.tolist(),
    AT.astype("int8"),
    xl.asarray(AT),
    xl.asarray(AT) - 0,
    np.arange(12).reshape(3, 4) % 3 == 0,
    (AT, np.array([3, 3, 0, 1])),
    (slice(None), AT),
    (..., AT[:2]),
    (np.array(1), slice(1, 3)),
    (slice(None, None, 2), [3, 1]),
    (AT[:, None], AT),
    (None, AT[:2]),
    (np.int64(1), AT),
    (MASK, 1),
    np.zeros(0, np.int64),
]


@together("of", ["array", "view", "column_major", "float32", "int64"])
@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
def test_writing_through_arrays_is_numpys(key: Any, of: str) -> None:
    dtype = of if of[-1].isdigit() else "float64"
    want = np.arange(12).reshape(3, 4).astype(dtype)
    whole = xl.zeros((3, 8), dtype=dtype)
    layout = "column_major" if of == "column_major" else "row_major"
    a = whole[:, ::2] if of == "view" else xl.asarray(want, copy=True, layout=layout)
    a[...] = want
    index: Any = tuple(map(plain, key)) if isinstance(key, tuple) else plain(key)
    waiting = a * 1
    for value in (5, 2.5, None):
        number = int(value or 7) if dtype == "int64" else value or 7.25
        part = want[index]
        many = np.arange(part.size).reshape(part.shape).astype(dtype) + number
        for given in [number, many, xl.asarray(many), xl.asarray(many) + 0]:
            a[key] = given
            want[index] = np.asarray(given)
            np.testing.assert_array_equal(a, want)
    a[key] = a[key] * 2
    want[index] = want[index] * 2
    np.testing.assert_array_equal(a, want)
    np.testing.assert_array_equal(waiting, np.arange(12).reshape(3, 4).astype(dtype))


def plain(item: Any) -> Any:
    return np.asarray(item) if isinstance(item, xl.XExpression) else item


@together(
    "item",
    [
        np.array([2**64 - 1], np.uint64),  # NumPy takes it for -1
        np.ma.MaskedArray([0, 1], [False, True]),  # whose mask would be lost
        np.array([0, 3]),
        [1, -4],
        np.array([0.0]),
        np.array([True, False]),
    ],
)
def test_what_no_index_is_writes_nothing(item: Any) -> None:
    a = xl.zeros((3, 3))
    for key in (item, (item, 0), (0, item), (slice(None), item)):
        with pytest.raises(xl.IndexRangeError):
            a[key] = 1.0
        with pytest.raises(xl.IndexRangeError):
            a[key] = np.ones(1)
    assert not np.any(a)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("layout", ["row_major", "column_major"])
def test_many_elements_at_positions(axis: int, layout: str) -> None:
    want = np.arange(20_000.0).reshape(200, 100)
    a = xl.asarray(want, copy=True, layout=layout)
    part = a[50:150, 20:80]
    for seed in range(3):  # the first time it is learned
        at = np.random.default_rng(seed).integers(-50, 50, 90)
        key: Any = (slice(None),) * axis + (at,) if axis else at
        e, f = a[key], part[key]
        at_first = at.copy()
        at[:] = 10**9
        a[0] = -1.0  # neither changes what was written
        taken = (slice(None),) * axis + (at_first,)
        np.testing.assert_array_equal(e, want[taken])
        np.testing.assert_array_equal(f * 2, want[50:150, 20:80][taken] * 2)
        with pytest.raises(xl.IndexRangeError, match="1000000000"):
            a[key]
        want[0] = -1.0
        a[taken] = a[taken] + 1  # as NumPy: once for each position
        want[taken] = want[taken] + 1
        np.testing.assert_array_equal(a, want)
        for given in (np.arange(want[taken].size).reshape(want[taken].shape) * 1.0, 0.5):
            a[taken] = given
            want[taken] = given
            np.testing.assert_array_equal(a, want)
    a[at_first] = a[at_first[::-1]]
    want[at_first] = want[at_first[::-1]]
    np.testing.assert_array_equal(a, want)
    a[np.arange(90)] = part[:90, :1]  # of the same memory
    want[np.arange(90)] = want[50:140, 20:21].copy()
    np.testing.assert_array_equal(a, want)


FROM_MANY = [
    [1, -3, 5],
    np.array([1, 3], np.int16),
    (slice(None), [2, -1]),
    (slice(1, 60, 2), [2, -1]),
    (slice(None), slice(None, None, -1), [0, 1]),
    (-1, [1, 2], slice(3)),
    (3, 1, [0, 1]),
    (Ellipsis, [0, 1]),
    (None, [0, 1]),
    (3, [[0, 1], [1, 0]]),
    ([1, 3, 5], [0, 1, 1]),
    [True, False] * 40,
    [],
    (slice(0), [1]),
]


@together("key", FROM_MANY, ids=range(len(FROM_MANY)))
def test_few_elements_of_many_are_those_of_the_moment(key: Any) -> None:
    values = np.random.default_rng(0).random((80, 30, 20))
    a = xl.asarray(values)
    for _ in range(3):  # learned, then in machine code
        found, late = a[key], xl.late(a[key])
        doubled = found * 2
        a[...] = 0
        np.testing.assert_array_equal(np.asarray(found), values[key])
        np.testing.assert_array_equal(np.asarray(doubled), values[key] * 2)
        assert isinstance(found, xl.XArray) or not np.asarray(late).any()
        a[...] = values


@pytest.mark.parametrize("key", [[0, 80], [-81], (slice(None), [30]), (80, [0]), (0, 0, 0, [0])])
def test_few_of_many_are_refused_as_all_are(key: Any) -> None:
    with pytest.raises(IndexError):
        xl.zeros((80, 30, 20))[key]


@pytest.mark.parametrize("shape", [(3, 4, 5), (12, 13, 14)], ids=str)
def test_an_integer_and_an_array_wherever_they_stand(shape: tuple[int, ...]) -> None:
    """Also apart by an ellipsis that is no dimension, or by a new one: the array comes first."""
    values = np.arange(float(np.prod(shape))).reshape(shape)
    a = xl.asarray(values)
    for items in itertools.permutations([0, [1, 0, 1], slice(None), ..., None]):
        for key in (items, items[:-1], items[1:]):
            wanted = values[key]
            assert np.array_equal(np.asarray(a[key]), wanted), key
            assert np.array_equal(np.asarray((a + 0)[key]), wanted), key
            into, ours = values.copy(), a.copy()
            into[key] = new = np.arange(float(wanted.size)).reshape(wanted.shape)
            ours[key] = xl.asarray(new)
            assert np.array_equal(np.asarray(ours), into), key
