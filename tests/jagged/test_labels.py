"""Labels of jagged arrays: dtypes, lowering, aliasing, and what is refused.

Values of random expressions are the business of ``tests/properties/test_jagged_labels.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.jagged.contraction import ROWS
from xarraylite.testing import count_allocations

# --- dtypes and numbers -----------------------------------------------------------------------


LISTS = [[1.0, 2.0, 3.0], [], [4.0]]


def matrix(dtype: str = "float64") -> Any:
    return xl.XJagged(LISTS, dtype=dtype)


def points(dtype: str = "float64") -> Any:
    """Rows of vectors in space."""
    return xl.XJagged([np.arange(6).reshape(2, 3), np.arange(9).reshape(3, 3)], dtype=dtype)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e5m2"])
def test_narrow_floats_are_rounded_once(dtype: str) -> None:
    rng = np.random.default_rng(0)
    values = xl.XJagged([rng.random(300), rng.random(50)], dtype=dtype)
    wide = [np.asarray(row.astype("float32")).astype(np.float64) for row in values]
    sums = xl.eval(values["i,j"] * values["i,j"], "i")
    assert sums.dtype == values.dtype
    exact = xl.asarray([(row * row).sum() for row in wide]).astype("float32").astype(dtype)
    assert xl.array_equal(sums, exact)
    totals = xl.eval(0.5 * values["i,j"], "i")
    assert xl.array_equal(
        totals, xl.asarray([row.sum() / 2 for row in wide]).astype("float32").astype(dtype)
    )


@together("dtype", ["bool", "int8", "int4", "uint64", "float32", "complex64"])
def test_dtypes(dtype: str) -> None:
    a = xl.XJagged([[1, 0, 1], [], [1]], dtype=dtype)
    pairs = xl.eval(a["i,j"] * a["i,j"], "i")
    assert pairs.dtype == a.dtype
    assert pairs.tolist() == ([True, False, True] if dtype == "bool" else [2, 0, 1])
    b = xl.XJagged([[1, 2], [3]], dtype=dtype) if dtype != "bool" else a
    assert (xl.eval(b["i,j"] * b["i,j"], "i,j") == b * b).to_list() == (b == b).to_list()


def test_numbers_and_signs() -> None:
    a = matrix()
    e = 3 * a["i,j"] / 2 - np.float32(0.5) * a["i,j"] - (-a["i,j"])
    assert xl.eval(e, "i,j").to_list() == (a * 2).to_list()
    one = xl.asarray(2.0)
    assert xl.eval(a["i,j"] * one, "i").tolist() == [12, 0, 8]
    with pytest.raises(xl.ShapeError, match="only numbers scale"):
        a["i,j"] * xl.ones(3)
    with pytest.raises(xl.ShapeError, match="every term of a sum has labels"):
        xl.ones(3) + a["i,j"]


# --- how ---------------------------------------------------------------------------------------


def test_a_smooth_inner_label_is_one_matrix_product(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = points(), xl.asarray(np.arange(6.0).reshape(3, 2))
    called: list[tuple[tuple[int, ...], ...]] = []
    real = np.matmul

    def matmul(left: Any, right: Any, out: Any) -> Any:
        called.append((left.shape, right.shape))
        return real(left, right, out)

    monkeypatch.setattr("xarraylite.blas.calls.np.matmul", matmul)
    made = xl.eval(a["i,j,k"] * b["k,l"], "i,j,l")
    assert made.to_list() == [(np.asarray(row) @ np.asarray(b)).tolist() for row in a]
    assert len(called) <= 1
    result = xl.XJagged(np.zeros(10), made.jagged_shape)
    with count_allocations() as counted:
        result["i,j,l"] = a["i,j,k"] * b["k,l"]
    assert result.to_list() == made.to_list()
    assert counted.bytes == 0  # written where it belongs


def test_elementwise_expressions_are_one_kernel() -> None:
    a, w = matrix(), xl.asarray([1.0, 10.0, 100.0])
    result = matrix()
    result["i,j"] = 2 * a["i,j"] - a["i,j"] * w["i"]
    with count_allocations() as counted:
        result["i,j"] = 2 * a["i,j"] - a["i,j"] * w["i"]
    assert counted.bytes == 0
    assert result.to_list() == [[1.0, 2.0, 3.0], [], [-392.0]]


def test_assignment_may_read_what_it_writes() -> None:
    a = matrix()
    flat = np.asarray(a.flat)
    with count_allocations() as counted:
        a["i,j"] = a["i,j"] + 2 * a["i,j"]
        a["i,j"] += a["i,j"]
        a["i,j"] *= 0.5
    assert counted.bytes == 0
    assert flat.tolist() == [3, 6, 9, 12]
    b = points()
    turn = xl.asarray([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    wanted = [(np.asarray(row) @ np.asarray(turn)).tolist() for row in b]
    b["i,j,l"] = b["i,j,k"] * turn["k,l"]
    assert b.to_list() == wanted
    chance = xl.XJagged([[1, 2], [3, 4]])
    chance["i,j"] = chance["j,i"]
    assert chance.to_list() == [[1, 3], [2, 4]]
    c = xl.XJagged([np.arange(8.0).reshape(2, 2, 2), np.ones((1, 2, 2))])
    wanted = [np.swapaxes(np.asarray(row), 1, 2).tolist() for row in c]
    c["i,j,l,k"] = c["i,j,k,l"]
    assert c.to_list() == wanted


def test_expressions_keep_their_values() -> None:
    a, w = matrix(), xl.ones(3)
    waiting = a["i,j"] * w["i"]
    a["i,j"] = 0 * a["i,j"]
    w[...] = 9
    assert xl.eval(waiting, "i,j").to_list() == LISTS
    held = 2 * a["i,j"]
    a["i,j"] = held
    assert xl.eval(held, "i,j").to_list() == [[0, 0, 0], [], [0]]


def test_updates_of_dense_arrays() -> None:
    a, sums = matrix(), xl.asarray([1.0, 1.0, 1.0])
    sums["i"] += a["i,j"]
    sums["i"] -= a["i,j"] * sums["i"]
    assert sums.tolist() == [7 - 42, 1, 5 - 20]
    total = xl.zeros(())
    total[""] = a["i,j"] * a["i,j"]
    assert total.item() == 30
    whole = xl.zeros(3, dtype="int64")
    with pytest.raises(xl.CastError, match="same_kind"):
        whole["i"] += a["i,j"]
    integers = xl.XJagged([[1, 2, 3], [], [4]])
    with pytest.raises(xl.CastError, match="same_kind"):
        integers["i,j"] += 0.5 * integers["i,j"]
    integers["i,j"] = 1.5 * integers["i,j"]
    assert integers.to_list() == [[1, 3, 4], [], [6]]


def test_rows_that_differ_are_filled_up() -> None:
    a = matrix()
    full = np.asarray(a.to_padded())
    assert xl.eval(a["i,j"] * a["k,j"], "i,k").tolist() == (full @ full.T).tolist()
    assert xl.eval(a["i,j"] * a["k,j"], "").item() == (full @ full.T).sum()
    b = xl.XJagged([np.ones((2, 3)), np.full((1, 3), 2.0)])
    padded = np.asarray(b.to_padded())
    wanted = np.einsum("ijk,ljk->ilk", padded, padded)
    assert xl.eval(b["i,j,k"] * b["l,j,k"], "i,l,k").tolist() == wanted.tolist()
    with pytest.raises(xl.ShapeError, match="it can only be summed"):
        xl.eval(a["i,j"] * a["k,j"], "i,k,j")
    deep = xl.XJagged([[[1, 2]], [[4], [5, 6, 7]], []])
    made = xl.eval(deep["x,j,k"] * deep["x,l,k"], "x,j,l")
    boxes = [np.array([[1, 2, 0]]), np.array([[4, 0, 0], [5, 6, 7]]), np.zeros((0, 3))]
    assert made.to_list() == [(box @ box.T).tolist() for box in boxes]
    nothing = xl.XJagged([[], []], dtype="bool")
    assert xl.eval(nothing["i,j"] * nothing["k,j"], "i,k").tolist() == [[0, 0], [0, 0]]


def test_origins_and_lazy_operands() -> None:
    rows = [xl.Shape((2,), origin=5), xl.Shape((1,), origin=6)]
    shape = xl.JaggedShape(rows, origin=10)
    a = xl.XJagged([1.0, 2.0, 3.0], shape)
    assert xl.eval(a["i,j"], "i,j").jagged_shape == shape
    product = (shape["i,j"] * xl.Shape(2)["i"]).as_shape("i,j")
    assert xl.eval((a * 2)["i,j"] * xl.ones(2)["i"], "i,j").jagged_shape == product
    plain = xl.XJagged([[0.0, 0.0], [0.0]])
    plain["i,j"] = (a + 1)["i,j"]  # origins make no difference
    assert plain.to_list() == [[2, 3], [4]]
    deep = xl.XJagged([[[1, 2], [3]], [[4]]])
    twos = plain * 0 + 2
    assert xl.eval((deep + 1)["i,j,k"] * twos["i,j"], "i").tolist() == [18, 10]
    truth = xl.XJagged([[True, False], [False]])
    assert xl.eval(truth["i,j"] * truth["k,j"], "i,k").tolist() == [[True, False], [False, False]]


def test_a_dense_label_of_one_index_between_jagged_ones() -> None:
    """No mode of the rows is counted along: every row takes the one element."""
    a = xl.XJagged([[[1.0, 2.0]], [[3.0]], [[4.0, 5.0, 6.0]]])
    expected = [[[10.0, 20.0]], [[30.0]], [[40.0, 50.0, 60.0]]]
    assert xl.eval(a["i,k,j"] * xl.asarray([10.0])["k"], "i,k,j").to_list() == expected
    assert xl.eval(a["i,k,j"] * xl.asarray([[4.0, 6.0]])["k,m"], "i,k,j").to_list() == expected


def test_what_is_jagged() -> None:
    chance = xl.XJagged([[1, 2], [3, 4]])
    assert isinstance(xl.eval(chance["i,j"] * chance["i,j"], "i,j"), xl.XJagged)
    assert isinstance(xl.eval(chance["i,j"], "j,i"), xl.XArray)
    assert isinstance(xl.eval(points()["i,j,k"], "i,k"), xl.XArray)
    assert isinstance(xl.eval(points()["i,j,k"], "i,k,j"), xl.XJagged)
    box = xl.asarray([[1, 1], [2, 2]])
    chance["i,j"] = box["j,i"] * box["i,j"]
    assert chance.to_list() == [[1, 2], [2, 4]]


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a: a["i"], "one label per dimension"),
        (lambda a: a["i,i"], "repeated labels"),
        (lambda a: a["i,j"] * xl.ones(3)["j"], r"'j' has extent 3\|0\|1 by i on the left and 3 on"),
        (lambda a: xl.ones(3)["j"] * a["i,j"], "'j' has extent 3 on the left"),
        (lambda a: a["i,j"] + a[:2]["i,j"], "'i' has extent 3 on the left and 2 on the right"),
        (lambda a: a["i,j"] - xl.XJagged([[1], [2], []])["i,j"], r"3\|0\|1 by i .* 1\|1\|0 by i"),
        (lambda a: a["i,j"] * xl.XJagged([[1], [2], []])["k,j"], "label 'j' has extent"),
        (lambda a: xl.eval(a["i,j"], "j,i"), "cannot stand before 'i'"),
        (lambda a: xl.eval(a["i,j"], "j"), "depends on 'i', which is summed"),
        (lambda a: xl.eval(a["i,j"] + xl.ones(3)["i"], "i,j"), "'j' is missing in the term"),
        (lambda a: xl.eval(a["i,j"], "i,k"), "'k' is missing"),
        (lambda a: xl.eval(a["i,j"]), "needs the labels of the result"),
        (lambda a: xl.eval(a, "i,j"), "labels 'i,j' are for labelled expressions"),
        (lambda a: xl.eval(a["i,j"] * xl.ones(2)[ROWS], "i,j"), "meaning of its own"),
    ],
)
def test_refused(make: Callable[[Any], Any], message: str) -> None:
    a = matrix()
    with count_allocations() as counted, pytest.raises(xl.ShapeError, match=message):
        make(a)
    assert counted.bytes <= 64  # the operands
    assert a.to_list() == LISTS


@together(
    ("labels", "value", "message"),
    [
        ("i,j", lambda a: a[:2]["i,j"], "'i' has extent 3 in the destination and 2 in"),
        ("i,j", lambda a: xl.XJagged([[1], [], []])["i,j"], r"3\|0\|1 by i in the destination and"),
        ("i,j", lambda a: xl.ones((3, 3))["i,j"], "and 3 in"),
        ("j,i", lambda a: a["i,j"], "cannot stand before"),
        ("i", lambda a: a["i,j"], "one label per dimension"),
        ("i,j", lambda a: xl.ones(3)["i"], "'j' is missing"),
    ],
)
def test_refused_assignments(labels: str, value: Callable[[Any], Any], message: str) -> None:
    a = matrix()
    with pytest.raises(xl.ShapeError, match=message):
        a[labels] = value(matrix())
    assert a.to_list() == LISTS


def test_a_number_fills() -> None:
    a = matrix()
    a["i,j"] = 2
    assert a.to_list() == [[2] * len(row) for row in LISTS]
    with pytest.raises(xl.BoundsError):
        a["i"] = 0


def test_other_refusals() -> None:
    a, dense = matrix(), xl.zeros((3, 3))
    with pytest.raises(xl.ShapeError, match="some are jagged"):
        dense["i,j"] = a["i,j"]
    with pytest.raises(xl.DTypeError, match="without labels"):
        a["i,j"] = a
    with pytest.raises(xl.DTypeError, match="got XJaggedLabelled"):
        xl.sqrt(a["i,j"])
    with pytest.raises(TypeError):
        a + a["i,j"]
    with pytest.raises(xl.NotWritableError):
        (a + 1)["i,j"] = a["i,j"]
    with xl.config(max_result_bytes=16):
        with pytest.raises(xl.SizeError, match="a result of 'i,j': 4 elements of float64 need 32"):
            xl.eval(a["i,j"] * a["i,j"], "i,j")
        with pytest.raises(xl.SizeError, match="rows of 'i,j', filled up: 9 elements"):
            xl.eval(a["i,j"] * a["k,j"], "")
    assert a.to_list() == LISTS


def pairs(dtype: str = "float64") -> Any:
    """A product of matrices under a sum over a jagged label: BLAS goes first."""
    rng = np.random.default_rng(0)
    a, b = (
        xl.XJagged([rng.integers(0, 9, (n, 16)) for n in (40, 30)], dtype=dtype) for _ in range(2)
    )
    turn = xl.asarray(rng.integers(0, 9, (16, 16)).astype(dtype))
    return a["i,j,k"] * turn["k,l"] * b["i,j,l"]


def test_explained_products_before_a_jagged_sum_are_told_and_not_run() -> None:
    value, r, lone = pairs(), xl.zeros(2), xl.XJagged([[1.0, 2.0], [3.0]])
    with count_allocations() as counted:
        told = [xl.explain(value, "i"), xl.explain(r["i"], value)]
        told.append(xl.explain(lone["i,m"], value * lone["i,m"]))
    assert counted.bytes <= 512
    for explanation in told:
        assert explanation.steps[0].startswith("BLAS: ")
        assert "[70, 16] @ [16, 16]" in explanation.steps[0]
        assert explanation.temporaries[0].nbytes == 70 * 16 * 8
    assert "BLAS" not in str(xl.explain(lone["i,m"], lone["i,m"] * 2))


def test_refused_assignments_compute_nothing() -> None:
    value, short, whole = pairs(), xl.zeros(3), xl.zeros(2, dtype="int64")
    jagged = xl.XJagged([[1, 2], [3]])
    fixed = xl.asarray(np.broadcast_to(0.0, (2,)), copy=False)
    with count_allocations() as counted:
        with pytest.raises(xl.ShapeError, match=r"'i' has extent 3 in the destination and 2 in"):
            short["i"] = value
        with pytest.raises(xl.CastError, match=r"<XLabelled i=2, j=40\|30 by i, k=16, l=16: float"):
            whole["i"] += value
        with pytest.raises(xl.CastError, match=r"<XLabelled i=2, m=2\|1 by i, j=40\|30 by i, k="):
            jagged["i,m"] *= value
        with pytest.raises(xl.ReadOnlyError):
            fixed["i"] = value
    assert counted.bytes <= 64  # rank 0
    assert (short.tolist(), whole.tolist(), jagged.to_list()) == ([0, 0, 0], [0, 0], [[1, 2], [3]])


def test_extents_of_dense_results_without_elements() -> None:
    a, r = matrix(), xl.zeros((3, 0))
    r["i,t"] = a["i,j"] * xl.zeros(0)["t"]
    assert xl.eval(a["i,j"] * xl.zeros(0)["t"], "t,i").shape == (0, 3)


def test_read_only_memory_is_refused() -> None:
    values = np.arange(4.0)
    values.flags.writeable = False
    fixed = xl.XJagged.from_flat(xl.asarray(values, copy=False), matrix().jagged_shape)
    with pytest.raises(xl.ReadOnlyError):
        fixed["i,j"] = 2 * fixed["i,j"]


def test_extents_that_differ_where_nothing_is() -> None:
    """A jagged label may have one extent in the result, and others where that has no rows."""
    a = xl.XJagged([[[[1], [2], [3]], [[4], [5], [6]]], [[], []]])
    b = xl.XJagged([[[1, 2]], [[3, 4, 5]]])
    assert xl.eval(a["i,m,p,q"], "i,p").to_list() == [[5, 7, 9], []]
    spread = xl.eval(a["i,m,p,r"] * b["i,l,q"], "i,p,q")
    assert spread.to_list() == [[[5, 10], [7, 14], [9, 18]], []]
    target = spread * 0 + 1
    target = xl.eval(target)
    target["i,p,q"] = 2 * a["i,m,p,r"] * b["i,l,q"]
    assert target.to_list() == (2 * spread).to_list()
    none = xl.zeros((0, 2))
    made = xl.eval(none["n,i"] * xl.XJagged([[1], [2, 3]])["i,j"], "n,i,j")
    assert made.shape == (0, 0, 0)


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_nothing(rows: list[list[float]]) -> None:
    a = xl.XJagged(rows, dtype="float64") if rows else matrix()[:0].copy()
    count = len(rows)
    assert xl.eval(a["i,j"] * a["i,j"], "i,j").shape == a.shape
    assert xl.eval(a["i,j"] * a["i,j"], "i").tolist() == [0] * count
    assert xl.eval(a["i,j"], "").item() == 0


def test_nested_and_blocked_arrays_take_labels() -> None:
    blocks = xl.Nested([2, 2], xl.Shape(2, 2, 3, 4))
    values = np.arange(48.0).reshape(6, 8)
    folded = xl.asarray(values, shape=blocks, layout="blocked")
    assert str(folded.layout) == "{1,0:T(3,4)}"
    other = np.arange(16.0).reshape(8, 2)
    assert np.array_equal(
        np.asarray(xl.eval(folded["i,j"] * xl.asarray(other)["j,k"], "k,i")), (values @ other).T
    )
    sides = np.arange(48.0).reshape(2, 2, 3, 4)
    beside = xl.asarray(sides, shape=blocks, layout="blocked")
    made = xl.zeros((2, 3))
    made["a,i"] = beside["a,b,i,j"] * beside["a,b,i,j"]
    assert np.array_equal(np.asarray(made), np.einsum("abij,abij->ai", sides, sides))
    beside["b,a,i,j"] = beside["a,b,i,j"]
    assert np.array_equal(np.asarray(beside), sides.swapaxes(0, 1))
    assert str(beside.layout).count("T") == 1
    a = xl.XJagged([np.ones((2, 6)), np.ones((1, 6))])
    assert xl.eval(a["r,s,i"] * folded["i,j"], "r,s,j").to_list() == [
        [values.sum(0).tolist()] * n for n in (2, 1)
    ]
