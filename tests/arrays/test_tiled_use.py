"""Tiled containers in expressions: views, assignment, indices, functions, pending readers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.properties.tiling import padding_of, poisoned
from xarraylite.testing import assert_same_bits

T = "{1,0:T(2,4)}"
VALUES = np.arange(15, dtype="f4").reshape(3, 5)
TILED = xl.Layout.parse(T)
KEYS: list[Any] = [
    np.s_[1:],
    np.s_[::-1, ::2],
    np.s_[..., 3],
    np.s_[1],
    np.s_[:, None],
    np.s_[2, 4, ...],
    np.s_[0:0],
    np.s_[-1:0:-1, 4:1:-2],
]


def tiled() -> xl.XArray:
    return poisoned(VALUES, T)


@together("key", KEYS, ids=str)
def test_slices_are_views(key: Any) -> None:
    a, expected = tiled(), VALUES.copy()
    before = padding_of(a)
    view = a[key]
    assert view.buffer is a.buffer
    assert_same_bits(view, expected[key])
    view[...] = view * 2 + 1
    expected[key] = expected[key] * 2 + 1
    a[key] += 1
    expected[key] += 1
    assert_same_bits(a, expected)
    assert padding_of(a) == before


def test_views_of_views_and_transposes() -> None:
    a = tiled()
    assert_same_bits(a.T[::-1][1:], VALUES.T[::-1][1:])
    assert_same_bits(xl.permute_dims(a[None], (2, 0, 1)), np.transpose(VALUES[None], (2, 0, 1)))
    assert_same_bits(xl.squeeze(a[None], axis=0), VALUES)
    assert_same_bits(xl.broadcast_to(a, (2, 3, 5)), np.broadcast_to(VALUES, (2, 3, 5)))
    assert xl.reshape(a, (1, 3, 1, 5)).buffer is a.buffer  # type: ignore[attr-defined]
    assert_same_bits(xl.reshape(a, (5, 3)), VALUES.reshape(5, 3))
    assert_same_bits(xl.reshape(a, (-1,)), VALUES.ravel())
    assert_same_bits(xl.concat([a, a[:, :2]], axis=1), np.concatenate([VALUES, VALUES[:, :2]], 1))
    assert float(a[1, 2]) == 7.0
    assert [float(row[0]) for row in a] == [0.0, 5.0, 10.0]


def test_the_result_lies_as_the_operands_do() -> None:
    a, rows = tiled(), xl.asarray(VALUES)
    assert xl.eval(a + a).layout == TILED
    assert xl.eval(a + 1).layout == TILED
    assert xl.eval(a + VALUES[0]).layout == TILED, "operands of lower rank do not count"
    assert xl.eval(xl.sqrt(a).astype("f8")).layout == TILED
    assert xl.eval(a + rows).layout is xl.row_major
    assert xl.eval(a + a.to_layout("{1,0:T(2,2)}")).layout is xl.row_major
    assert xl.eval(a[1:] + a[1:]).layout is xl.row_major
    assert xl.eval(a.T + 1).layout is xl.row_major
    assert xl.asarray(a + rows, layout=T).layout == TILED
    b = xl.zeros((3, 5), dtype="f4", layout="{0,1:T(2,2)}")
    b.assign(a + rows)
    assert str(b.spec) == "f32[3,5]{0,1:T(2,2)}"
    assert_same_bits(b, VALUES * 2)


def test_padding_of_results_is_zero() -> None:
    result = xl.eval(tiled() + 1)
    assert not any(padding_of(result))
    assert not any(padding_of(tiled().copy()))


def test_in_place_operators() -> None:
    a, expected = tiled(), VALUES.copy()
    before = padding_of(a)
    a += 1
    expected += 1
    a *= a
    expected *= expected
    a -= xl.asarray(VALUES)
    expected -= VALUES
    a[:, ::2] //= 2
    expected[:, ::2] //= 2
    part = a[1]
    part -= a[0]
    expected[1] -= expected[0]
    assert_same_bits(a, expected)
    assert padding_of(a) == before
    with pytest.raises(xl.CastError, match="in-place add"):
        xl.asarray([[1, 2]], layout=T).__iadd__(1.5)


@pytest.mark.parametrize("shape", [(5, 3), (1, 15), (7, 9), (0, 4), (3, 5)])
def test_assign_takes_the_shape_and_keeps_the_layout(shape: tuple[int, int]) -> None:
    a, values = tiled(), np.arange(np.prod(shape), dtype="f4").reshape(shape)
    a.assign(values)
    assert a.layout == TILED
    assert_same_bits(a, values)
    assert a.buffer.nbytes == a.spec.nbytes
    if shape != (3, 5):
        assert not any(padding_of(a)), "no element of before is padding now"
    b = tiled()
    b.assign(b.T + 1)
    assert_same_bits(b, VALUES.T + 1)
    assert not any(padding_of(b))


def test_resizing() -> None:
    a = tiled()
    assert a.resize_((3, 5)) is a
    assert_same_bits(a, VALUES)
    a.resize_((5, 3))
    assert str(a.spec) == "f32[5,3]{1,0:T(2,4)}"
    assert not any(padding_of(a))
    with pytest.raises(xl.ShapeError, match="rank 2"):
        xl.XTensor(VALUES, layout=T).resize_((2, 2, 2))


def test_fill_and_scalars() -> None:
    a = tiled()
    before = padding_of(a)
    a.fill(7)
    assert_same_bits(a, np.full((3, 5), 7, "f4"))
    a[1:, 0] = [1, 2]
    assert_same_bits(a[:, 0], np.array([7, 1, 2], "f4"))
    assert padding_of(a) == before


def test_index_arrays() -> None:
    a, rows = tiled(), np.array([2, 0, 2])
    columns = xl.asarray([4, 0], layout="{0:T(4)(2,1)}")
    assert_same_bits(xl.eval(a[rows]), VALUES[rows])
    assert_same_bits(xl.eval(a[:, columns]), VALUES[:, [4, 0]])
    assert_same_bits(xl.eval(a[::-1][rows] + a[rows]), VALUES[::-1][rows] + VALUES[rows])
    assert_same_bits(xl.eval(xl.asarray(VALUES)[:, columns]), VALUES[:, [4, 0]])
    index = xl.asarray([[1, 0], [2, 2]], layout="{0,1:T(2,3)}")
    assert_same_bits(xl.eval(a[index]), VALUES[[[1, 0], [2, 2]]])
    before, expected = padding_of(a), VALUES.copy()
    a[rows[:2]] = 7
    a[:, columns] = a[:, columns][::-1]
    expected[rows[:2]] = 7
    expected[:, [4, 0]] = expected[:, [4, 0]][::-1]
    assert_same_bits(a, expected)
    assert padding_of(a) == before


REDUCERS = ("sum", "mean", "max", "all", "argmin")


@pytest.mark.parametrize("name", REDUCERS)
def test_reducers_never_see_padding(name: str) -> None:
    for sign, axis in itertools.product((1, -1), (None, 0, 1)):
        values = (sign * (VALUES % 4)).astype("f4")
        a = poisoned(values, T)
        expected = np.asarray(getattr(np, name)(values, axis=axis))
        np.testing.assert_array_equal(np.asarray(getattr(xl, name)(a, axis=axis)), expected)
    np.testing.assert_allclose(np.asarray(xl.var(tiled(), axis=0)), VALUES.var(0), rtol=1e-6)
    np.testing.assert_allclose(float(xl.std(tiled())), VALUES.std(), rtol=1e-6)


def test_jit_and_vectorize_and_late() -> None:
    a, rows = tiled(), xl.asarray(VALUES)

    @xl.jit
    def traced(x: Any, y: Any) -> Any:
        return xl.sum(x * 2 + y[::-1], axis=0)

    expected = (VALUES * 2 + VALUES[::-1]).sum(0)
    for x, y in ((a, a), (a, rows), (rows, a), (rows, rows), (a, a)):
        assert_same_bits(traced(x, y), expected)

    @xl.vectorize
    def body(x: float, y: float) -> float:
        return x * 2 + y

    assert_same_bits(xl.eval(body(a, rows)), VALUES * 2 + VALUES)
    late = xl.late(a) + 1
    a[...] = 5
    assert_same_bits(xl.eval(late), np.full((3, 5), 6, "f4"))
    xl.noalias(a)[...] = rows + 1
    assert_same_bits(a, VALUES + 1)


def test_pending_expressions_keep_old_values() -> None:
    a = tiled()
    pending = a[1:] + 1
    a[...] = 0
    assert_same_bits(xl.eval(pending), VALUES[1:] + 1)
    pending = xl.sum(a) + 0
    a.assign(np.ones((3, 5), "f4"))
    assert float(pending) == 0.0


def test_explain_tells_of_operands_that_no_loop_nest_serves(engine: str) -> None:
    if engine == "reference":
        pytest.skip("explains kernels")
    a = xl.asarray(VALUES, layout="{1,0:T(2,2)(*,3)}")
    rows = xl.asarray(VALUES)
    assert "too little in common" in str(xl.explain(rows, rows + a))
    assert "no loop nest" in str(xl.explain(a, rows + 1))
    assert "temporary" not in str(xl.explain(rows, rows + tiled()))


def test_promises_are_checked(engine: str) -> None:
    if engine == "reference":
        pytest.skip("the reference engine computes the result first")
    a = tiled()
    with xl.config(check_noalias=True):
        xl.noalias(a)[1:] = xl.asarray(VALUES)[1:]
        with pytest.raises(xl.NoAliasError, match="shares memory"):
            xl.noalias(a)[1:] = a[:-1]
