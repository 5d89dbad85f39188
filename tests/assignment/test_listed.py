"""Lists and tuples that become elements, and memory that is copied again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl

DTYPES = ["float64", "float32", "float16", "int64", "uint8", "int32", "bool", "complex64"]

#: What is assigned, of elements of a vector.
LISTED: dict[str, Any] = {
    "whole": lambda v: [3, 1, 2],
    "tuple": lambda v: (3, 1, 0),
    "floats": lambda v: (1.5, 2, 0.1),
    "truth values": lambda v: [True, False, True],
    "one": lambda v: [7],
    "elements": lambda v: (v[1], 2, v[0]),
    "sums": lambda v: [v.sum(), v[0] * 2, 1],
    "arrays": lambda v: [v[1:2], [5], (v[0],)],
    "large": lambda v: [300, 1, 70_000],
    "negative": lambda v: [-1, 2, -3],
    "huge": lambda v: [2**63, 1, 2],
    "far too large": lambda v: [10**40, 1, 2],
    "complex": lambda v: [1j, 2, 3],
    "text": lambda v: ["4", "5", "6"],
    "no numbers": lambda v: ["x", "5", "6"],
    "ragged": lambda v: [[1, 2], [3], 4],
    "too many": lambda v: [1, 2, 3, 4],
    "none": lambda v: [],
    "not a number": lambda v: [np.nan, 1, 2],
}
KEYS: list[Any] = [1, (slice(None, 3), 0), (..., slice(0, None)), [2, 0], Ellipsis]

#: What is no error here, or another.
OTHERS = {("complex", "float"), ("complex", "int"), ("complex", "uint"), ("complex", "bool")}


def _attempt(to: Any, key: Any, values: Any) -> type[Exception] | None:
    try:
        to[key] = values
    except (ValueError, TypeError, OverflowError) as error:
        return type(error)
    return None


@pytest.mark.usefixtures("machine_code")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("what", LISTED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_lists_are_stored_as_numpy_stores_them(what: str, dtype: str) -> None:
    make = LISTED[what]
    if (what, dtype.rstrip("0123456789")) in OTHERS:
        pytest.skip("refused, as Python refuses it")
    for key in KEYS:
        theirs, ours = np.ones((4, 4), dtype)[:, :3], xl.ones((4, 4), dtype=dtype)[:, :3]
        waiting = ours + ours
        before = np.asarray(theirs + theirs)
        expected = _attempt(theirs, key, make(np.asarray([1.0, 2.0], np.float32)))
        found = _attempt(ours, key, make(xl.asarray([1.0, 2.0], np.float32)))
        assert (found is None) == (expected is None), (key, found, expected)
        if found is not None and expected is not None:
            assert issubclass(found, expected), key
        np.testing.assert_array_equal(np.asarray(ours), theirs, str(key))
        np.testing.assert_array_equal(np.asarray(waiting), before)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("what", [what for what in LISTED if what != "complex"])
def test_lists_become_arrays_of_a_dtype(what: str) -> None:
    for dtype in DTYPES:
        values = [LISTED[what](m.asarray([1.0, 2.0])) for m in (xl, np)]
        try:
            theirs = np.array(values[1], dtype)
        except (ValueError, TypeError, OverflowError) as error:
            with pytest.raises(type(error)):
                xl.array(values[0], dtype)
            continue
        for make in (xl.array, xl.asarray):
            made = make(values[0], dtype)
            assert isinstance(made, xl.XArray)
            assert (made.dtype, made.shape) == (theirs.dtype, theirs.shape)
            np.testing.assert_array_equal(np.asarray(made), theirs)


@pytest.mark.usefixtures("machine_code")
def test_rows_and_columns_are_copied_again_and_again() -> None:
    """By NumPy at first, then by a kernel; what waits for old values keeps them."""
    to, row, column = xl.zeros((4, 3)), xl.zeros(3), xl.zeros(4)
    for k in range(60):
        row[...], column[...] = k, -k
        waiting, before = to * 2, np.asarray(to).copy()
        to[k % 4] = row
        to[:, k % 3] = column if k % 5 else column[::-1]
        to[..., 0] = to[:, 1]
        expected = before.copy()
        expected[k % 4] = k
        expected[:, k % 3] = -k
        expected[:, 0] = expected[:, 1]
        np.testing.assert_array_equal(np.asarray(to), expected)
        np.testing.assert_array_equal(np.asarray(waiting), before * 2)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_lists_are_operands(dtype: str) -> None:
    """The second time by what the first one has learned, of other numbers."""
    ours, theirs = xl.asarray([1, 2, 3], dtype), np.asarray([1, 2, 3], dtype)
    for k in range(3):
        for values in ([k, 1, 2], (1.5, k, 0), [[k], [2]], [True, False, True]):
            for operate in (
                lambda m, a, x: a + x,
                lambda m, a, x: m.maximum(x, a),
                lambda m, a, x: m.max(x),
            ):
                made, expected = operate(xl, ours, values), operate(np, theirs, values)
                assert made.dtype == expected.dtype
                np.testing.assert_allclose(np.asarray(made), expected, 1e-6)
        assert ours @ [k, 1, 2] == theirs @ [k, 1, 2]
    e = ours + [1, 2, 3]
    ours[0] = 9
    assert np.array_equal(np.asarray(e), [2, 4, 6])
    with pytest.raises(ValueError, match="add"):
        ours + [1, 2]


#: Writes of values that may lie deeper than what is selected.
DEPTHS = (
    *("a[1] = [7]", "a[1] = [[7]]", "a[1] = (7,)", "a[1] = A([7])", "a[1] = A([[7]])"),
    *("a[1:2] = [[3]]", "a[:] = [[1, 2, 3]]", "a[...] = [[1, 2, 3]]", "a[1:2] = A([[3]])"),
    *("m[1] = [(7,)]", "m[1] = [[1, 2, 3]]", "m[1, 1] = [7]", "m[1, 1] = A([7])", "m[1] = [7]"),
    *("a[np.int64(1)] = [3]", "a[A(1)] = A([3])", "a[[1]] = [[3]]", "a[[0, 1]] = [[1, 2]]"),
    *("a[()] = [[1, 2, 3]]", "a[1, ...] = [7]", "a[1, ...] = A([7])", "a[None] = [[1, 2, 3]]"),
    *("a[0:0] = [[1]]", "a[1:2] = [A([3])]", "a[1] = [A(3)]", "a[1:2] = [[A(3)[()]]]"),
    *("m[[0]] = [[[1, 2, 3]]]", "m[0, [0, 1]] = [[1, 2]]", "a[...] = m[:1]", "m[:] = [[1, 2, 3]]"),
    *("a[5] = [7]", "a[5] = A([7])", "m[0, 0, 0] = [7]", "a[...] = [range(3)]", "a[1] = range(1)"),
)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_lists_are_no_deeper_than_what_is_selected(dtype: str) -> None:
    def outcome(xp: Any, statement: str) -> Any:
        a, m = xp.zeros(3, dtype), xp.zeros((3, 3), dtype)
        try:
            exec(statement, {"np": np, "A": xp.asarray, "a": a, "m": m})
        except (TypeError, ValueError, IndexError) as error:
            (told,) = [c for c in (TypeError, ValueError, IndexError) if isinstance(error, c)]
            return told, np.asarray(a).tolist(), np.asarray(m).tolist()
        return np.asarray(a).tolist(), np.asarray(m).tolist()

    for statement in DEPTHS:
        assert outcome(xl, statement) == outcome(np, statement), statement


def test_an_array_of_one_is_an_element_of_bools() -> None:
    for value in (np.array([7]), xl.asarray([[7]]), xl.asarray([7]) * 1):
        flags = xl.zeros(3, bool)
        flags[1] = value
        assert flags.tolist() == [False, True, False]
