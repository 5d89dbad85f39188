"""Jagged arrays where other containers go: `noalias`, `late`, `explain`, asserts, operators."""

from __future__ import annotations

import io
import operator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, assert_ulp, count_allocations


def matrix() -> Any:
    return xl.XJagged([[1.0, 2.0], [], [3.0]])


def test_noalias() -> None:
    a, b = matrix(), matrix()
    quiet = xl.noalias(a)
    waiting = a + 1
    quiet[...] = b * 2
    assert a.to_list() == [[2, 4], [], [6]]
    assert waiting.to_list() == [[2, 3], [], [4]]  # of others old values are kept
    quiet += b
    quiet["i,j"] += b["i,j"]
    assert a.to_list() == [[4, 8], [], [12]]
    quiet[0] = [7, 8]
    quiet[1:] = b[1:]
    quiet[0][1:] = 9
    assert a.to_list() == [[7, 9], [], [3]]
    assert repr(quiet) == "noalias(XJagged float64[3, None])"
    kept = 2 * b["i,j"]
    quiet["i,j"] = kept
    quiet["i,j"] = kept
    assert a.to_list() == [[2, 4], [], [6]]
    used = a["i,j"] + kept
    quiet["i,j"] = used
    assert a.to_list() == [[4, 8], [], [12]]
    with pytest.raises(xl.StaleOperandError):
        xl.eval(used, "i,j")
    with pytest.raises(xl.NotWritableError, match="never changes shape"):
        quiet.assign(b)
    with pytest.raises(xl.NotWritableError, match="must be a container"):
        xl.noalias(a + 1)


def test_noalias_makes_no_temporary() -> None:
    a = xl.XJagged([np.arange(8.0).reshape(2, 2, 2), np.ones((1, 2, 2))])
    with count_allocations() as counted:
        xl.noalias(a)["i,j,k,l"] = a["i,j,k,l"] + a["i,j,k,l"]
    assert counted.bytes == 0


def test_late() -> None:
    a = matrix()
    now, later = a * 2, xl.late(a * 2)
    sums = xl.late(xl.sum(a, axis=1))
    a[...] = 1
    assert now.to_list() == [[2, 4], [], [6]]
    assert later.to_list() == [[2, 2], [], [2]]
    assert sums.tolist() == [2, 0, 1]
    assert xl.late(a).jagged_shape == a.jagged_shape


@pytest.mark.once
def test_explain() -> None:
    a, b = matrix(), matrix()
    sums, products = xl.zeros(3), xl.asarray([1.0, 2.0, 3.0])
    with xl.config(engine="compiled"):
        assert xl.explain(a * 2 + 1).kernels == 1
        assert xl.explain(b, a * 2).result_bytes == 0
        assert xl.explain(b, 1).kernels == 1
        assert "noalias" in xl.explain(xl.noalias(b), a * 2).title
        assert "nothing runs" in str(xl.explain(a))
        assert xl.explain(a["i,j"] * products["i"], "i,j").kernels == 1
        assert xl.explain(b["i,j"], 2 * a["i,j"]).result_bytes == 0
        assert "segments" in str(xl.explain(sums["i"], a["i,j"] * a["i,j"]))
        points = xl.XJagged([np.ones((2, 3)), np.ones((1, 3))])
        told = xl.explain(points["i,j,k"] * xl.ones((3, 4))["k,l"], "i,j,l")
        assert (told.kernels, told.steps[0][:4]) == (0, "BLAS")
    assert b.to_list() == a.to_list()
    for arguments in ((a + 1, a), (a["i,j"] * a["i,j"], b["i,j"])):
        with pytest.raises(TypeError, match="destination must be a container"):
            xl.explain(*arguments)
    with pytest.raises(xl.ShapeError, match="needs the labels"):
        xl.explain(a["i,j"])
    with pytest.raises(xl.BroadcastError):
        xl.explain(b, xl.ones(5))


def test_asserts() -> None:
    a = matrix()
    assert_same_bits(a, a * 1)
    assert_ulp(a, a + 0, 0)
    for actual, expected, message in (
        (a, a + 1, "3 of 3 elements differ"),
        (a, a[:2], "expected JaggedShape"),
        (a, a.flat, "expected no jagged array"),
        (a.flat, a, "shape is no jagged array"),
        (a, a.astype("float32"), "dtype"),
    ):
        with pytest.raises(AssertionError, match=message):
            assert_same_bits(actual, expected)


def test_what_stays_refused() -> None:
    a = matrix()
    with pytest.raises(xl.NotWritableError, match="owns no memory"):
        (a + 1)[0] = 1
    for refused in (
        xl.jit(lambda x: x + 1),
        xl.flip,
        xl.asarray,
        lambda x: xl.save("nowhere.npy", x),
    ):
        with pytest.raises(xl.DTypeError, match="XJagged"):
            refused(a)


BINARY = [
    *["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"],
    *["eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor", "lshift", "rshift"],
]


@together("name", BINARY)
def test_operators_are_those_of_arrays(name: str) -> None:
    """One table serves both: the same operation, either way round."""
    op = getattr(operator, name)
    values = np.array([3, 1, 2])
    a, flat = xl.XJagged([[3, 1], [2]]), xl.asarray(values)
    for jagged, dense, wanted in (
        (op(a, 2), op(flat, 2), op(values, 2)),
        (op(2, a), op(2, flat), op(2, values)),
        (op(a, a), op(flat, flat), op(values, values)),
    ):
        assert jagged.flat.tolist() == dense.tolist() == wanted.tolist()
    for array in (a, flat):
        method = getattr(type(array), f"__{name.rstrip('_')}__")
        assert method(array, object()) is NotImplemented
        assert method.__doc__.startswith("Return the lazy ``")


def test_other_operators() -> None:
    values = np.array([2.5, -1.5])
    for array in (xl.XJagged([[2.5], [-1.5]]), xl.asarray(values)):

        def flat(x: Any) -> list[float]:
            return (x.flat if isinstance(x, xl.XJaggedExpression) else x).tolist()

        assert flat(-array) == (-values).tolist()
        assert flat(abs(array)) == abs(values).tolist()
        assert flat(+array) == values.tolist()
        assert flat(round(array)) == [2, -2]
        assert [flat(part) for part in divmod(array, 2)] == [[1, -1], [0.5, 0.5]]
        assert [flat(part) for part in divmod(5, array)] == [[2, -4], [0, -1]]
        with pytest.raises(TypeError, match="unhashable"):
            hash(array)
    assert (~xl.XJagged([[1], [2]])).to_list() == [[-2], [-3]]


def test_containers_like_a_jagged_array() -> None:
    a = matrix()
    assert xl.zeros_like(a).to_list() == [[0, 0], [], [0]]
    assert xl.ones_like(a * 2, dtype="int8").dtype == np.int8
    assert xl.full_like(a, 7).to_list() == [[7, 7], [], [7]]
    made = xl.empty_like(a)
    assert (made.jagged_shape, made.dtype) == (a.jagged_shape, a.dtype)
    made[...] = a
    made[0] = 9
    assert a[0].tolist() == [1, 2]
    assert xl.zeros_like(xl.ones(2)).tolist() == [0, 0]
    points = xl.XJagged([np.ones((2, 3)), np.ones((1, 3))])
    assert xl.zeros_like(points).shape == (2, None, 3)
    with pytest.raises(xl.LayoutError, match="layout of its rows"):
        xl.zeros_like(a, layout="column_major")


SAVED = [
    [[1, 2, 3], [], [4]],
    [[[1, 2], [3]], [], [[]]],
    [np.ones((2, 3)), np.zeros((0, 3))],
    [[], []],
]


@together("values", SAVED)
@together("dtype", ["float64", "bfloat16", "int4"])
def test_files(values: list[Any], dtype: str) -> None:
    a = xl.XJagged(values, dtype=dtype)
    file = io.BytesIO()
    xl.save(file, a.to_arrays(), compressed=True)
    file.seek(0)
    back = xl.XJagged.from_arrays(xl.load(file))
    assert back.jagged_shape == a.jagged_shape
    assert_same_bits(back, a)
    assert xl.XJagged.from_arrays(a.to_arrays(), "float32").dtype == np.float32


@together(
    ("changes", "message"),
    [
        ({"extents1": [1, 2]}, "'extents1' should be 3 extents, got 2"),
        ({"extents1": [5, -2, 1]}, "the least of them -2"),
        ({"extents1": np.array([4, 2**64 - 1, 1], np.uint64)}, "the least of them -1"),
        ({"extents1": [2.0, 1.0, 1.0]}, "should be integers of rank 1"),
        ({"extents1": [2, 1, 2]}, "not the 5 elements"),
        ({"outer": 2}, "less than the rank"),
        ({"outer": -1}, "less than the rank"),
        ({"outer": [1]}, "should be integers of rank 0"),
        ({"extents5": [1]}, "are needed, got"),
        ({"flat": [1, 2]}, "not the 4 elements"),
        ({"extents0": [2**62], "extents1": [2**62]}, "extents"),
    ],
)
def test_arrays_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    arrays = xl.XJagged([[1, 2, 3], [], [4]]).to_arrays()
    with pytest.raises(xl.ShapeError, match=message):
        xl.XJagged.from_arrays({**arrays, **changes})
    with pytest.raises(xl.ShapeError, match="are needed"):
        xl.XJagged.from_arrays({"flat": [1]})
    smooth = {"flat": [1], "outer": 0, "extents0": [2**62], "extents1": [2**62]}
    with pytest.raises(xl.SizeError):
        xl.XJagged.from_arrays(smooth)


@together("name", ["sum", "prod", "min", "max", "mean", "var", "std"])
def test_reducing_without_nan(name: str) -> None:
    rows = [[1.0, np.nan, 4.0], [3.0], [np.nan, 5.0, 6.0, np.nan]]
    array, fold = xl.XJagged(rows), getattr(xl, f"nan{name}")
    known = [getattr(np, f"nan{name}")(row) for row in rows]
    np.testing.assert_allclose(fold(array, axis=1), known)
    np.testing.assert_allclose(fold(array), getattr(np, f"nan{name}")(np.concatenate(rows)))


def test_what_is_computed_is_folded_along_rows_with_a_tail_and_read_again() -> None:
    rows = [[[1, 2]], [[3, 4], [5, 6], [7, 8]]]
    array = xl.XJagged(rows)
    for made in (array * 2, array.astype("int32")):
        found = xl.eval(made - xl.sum(made, axis=1, keepdims=True))
        twice = [np.array(row) * (2 if made.dtype == np.int64 else 1) for row in rows]
        assert found.to_list() == [(row - row.sum(0)).tolist() for row in twice]
