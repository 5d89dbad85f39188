"""What xtensor's own tests say, on its fixture of layouts: it holds here, or differs on purpose."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl

F = np.arange(24).reshape(3, 2, 4)
F[0, 0, 0] = -1
U = np.array([*range(-1, 3), *range(8, 12), *range(16, 20)]).reshape(3, 1, 4)

LAYOUTS: dict[str, dict[str, Any]] = {
    "row": {"layout": "row_major"},
    "column": {"layout": "column_major"},
    "central": {"strides": (8, 1, 2)},
}
BUFFERS = {
    "row": [-1, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "column": [-1, 8, 16, 4, 12, 20, 1, 9, 17, 5],
    "central": [-1, 4, 1, 5, 2, 6, 3, 7, 8, 12],
}
OPERATIONS = ["add", "sub", "mul", "truediv", "and_", "or_", "xor"]


def make(name: str, values: Any = F) -> Any:
    return xl.XArray(values, **LAYOUTS[name])


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_fixture(name: str) -> None:
    a = make(name)
    assert a.tolist() == F.tolist()
    memory = np.frombuffer(a.buffer.data, np.int64)
    assert memory[:10].tolist() == BUFFERS[name]


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [xl.XArray, xl.XTensor])
def test_operations_whatever_the_layouts(name: str, layout: str, kind: Any) -> None:
    op = getattr(operator, name)
    a = kind(F)
    for x, other in [(make(layout), F), (xl.asarray(U), U)]:
        b = kind(np.zeros((5, 1, 1)), dtype="float64" if name == "truediv" else "int64")
        with np.errstate(all="ignore"):
            want = op(F, other)
        b.assign(op(a, x))
        np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_updates_keep_strides(layout: str) -> None:
    a = make(layout)
    before = a.strides
    a *= 2
    assert (a.strides, a.tolist()) == (before, (F * 2).tolist())


def test_assignments_that_grow() -> None:
    a, b = xl.asarray([1, 2, 3, 4]), xl.asarray([[1, 2, 3, 4], [5, 6, 7, 8]])
    a.assign(a + b)
    assert a.tolist() == [[2, 4, 6, 8], [6, 8, 10, 12]]
    for shape in [(1, 3), (3,)]:
        x = xl.ones(shape)
        assert xl.noalias(x).assign(x + xl.ones((2, 3))).shape == (2, 3)


def test_scalars() -> None:
    c = xl.ones((2, 3))
    assert c.assign(1.2).shape == ()
    v = xl.ones((2, 3))
    v[...] = 1.2
    assert v.tolist() == [[1.2] * 3] * 2
    a = xl.asarray([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
    a[:, 1:4] = 1
    assert a.tolist() == [[1, 1, 1, 1], [5, 1, 1, 1], [9, 1, 1, 1]]


@pytest.mark.parametrize("promised", [False, True])
def test_shapes_that_do_not_fit(promised: bool) -> None:
    x = xl.zeros((4, 3, 2))
    with pytest.raises(xl.BroadcastError, match=r"\[2, 3, 4\]"):
        (xl.noalias(x) if promised else x)[...] = xl.ones((2, 3, 4))


def test_views_of_views() -> None:
    a = xl.ones((3, 4, 5))
    v = a[1]
    w = v[1]
    w[...] = w * 5
    assert a[1, 1].tolist() == [5] * 5
    assert (a[0, 0, 0], a[1, 2, 4], v[1, 4]) == (1, 1, 5)
    b = xl.ones((3, 4, 5))
    b[:, 1][:, 2] *= 5
    assert b[:, 1, 2].tolist() == [5] * 3
    assert float(xl.sum(b)) == 60 + 12


def test_overlapping_updates() -> None:
    values = np.arange(35).reshape(5, 7)
    a = xl.asarray(values, copy=True)
    a[0:-2] += a[:1:-1]
    want = values.copy()
    want[0:-2] = values[0:-2] + values[:1:-1]
    assert a.tolist() == want.tolist()
    assert a[0].tolist() == list(range(28, 41, 2))
    again = want.copy()
    want[::-2] = again[::-2] + again[::2]
    a[::-2] += a[::2]
    assert a.tolist() == want.tolist()


def test_a_matrix_and_its_transpose() -> None:
    m = xl.reshape(xl.arange(9), (3, 3)) + 0
    m = xl.eval(m)
    m[...] = m + m.T
    assert m.tolist() == [[0, 4, 8], [4, 8, 12], [8, 12, 16]]


@pytest.mark.usefixtures("compiled")
def test_what_needs_no_temporary() -> None:
    a, b = xl.asarray(np.arange(4000.0)), xl.ones(4000)
    with xl.testing.count_allocations() as counted:
        a[::2] = a[1::2]
        a[...] = a + b
        a += b
    assert (counted.temporaries, counted.snapshots) == (0, 0)


def test_strides_of_views() -> None:
    a = xl.zeros((5, 3, 4, 6))
    n = None
    for view, strides in [
        (a[1, 1], (6, 1)),
        (a[1, :, :, 1], (24, 6)),
        (a[0:5:2, 1, 0, :], (144, 1)),
        (a[:, 1], (72, 6, 1)),
    ]:
        assert view.strides == strides
    # Dimensions of extent 1 have a stride here, where xtensor's internal strides are 0.
    assert a[1, :, 1, n, n, :].shape == (3, 1, 1, 6)
    assert a[1, :, 1, n, n, :].strides[::3] == (24, 1)


def test_cross_layout_assignment() -> None:
    row = xl.XArray(np.arange(1, 10).reshape(3, 3))
    column = xl.XArray(np.zeros((3, 3), int), layout="column_major")
    column[...] = row
    memory = np.frombuffer(column.buffer.data, np.int64)
    assert memory.tolist() == [1, 4, 7, 2, 5, 8, 3, 6, 9]
    row[...] = column * 1
    assert row.tolist() == column.tolist()


def test_slices() -> None:
    x = xl.asarray([1, 2, 3, 4, 5])
    r = xl.range
    for item, want in [
        (r(3), [4, 5]),
        (r(None, 2), [1, 2]),
        (r(), [1, 2, 3, 4, 5]),
        (r(None, 2, -1), [5, 4]),
        (r(2, None, -1), [3, 2, 1]),
        (r(1, None, 2), [2, 4]),
    ]:
        assert xl.view(x, item).tolist() == want
    a = xl.zeros((5, 7))
    assert xl.view(a, r(-3, -5), r(-3, 10)).size == 0
    assert xl.view(a, r(-5, -2), r(-3, 10)).shape == (3, 3)


def test_axes_of_reducers() -> None:
    a = xl.ones((2, 3))
    assert xl.sum(a, axis=(1, 0)).shape == ()  # any order, as in NumPy
    for axes in [(0, 0), (0, 2)]:
        with pytest.raises(xl.AxisError):
            xl.sum(a, axis=axes)
    assert xl.sum(a, axis=-1).tolist() == [3, 3]
    assert xl.sum(a, axis=()).tolist() == a.tolist()
    big = xl.ones((5, 5, 5, 5))
    assert xl.sum(big, axis=(0, 1), keepdims=True).shape == (1, 1, 5, 5)
    assert xl.sum(big, keepdims=True).shape == (1, 1, 1, 1)


def test_reducers_of_nothing() -> None:
    z = xl.zeros((0, 1))
    assert xl.sum(z, axis=0, keepdims=True).tolist() == [[0]]
    assert xl.sum(z, axis=1).shape == (0,)
    o = xl.ones((1, 2, 0, 1))
    assert np.isnan(float(xl.mean(o)))
    assert np.isnan(np.asarray(xl.mean(o, axis=2))).all()
    assert xl.mean(o, axis=1).shape == (1, 0, 1)


def test_results_of_reducers() -> None:
    assert int(xl.sum(xl.ones(1000, dtype="uint8"))) == 1000
    assert int(xl.prod(xl.full(34, 2))) == 2**34
    assert float(xl.mean(xl.asarray([1, 2], dtype="uint8"))) == 1.5


def test_shared_parts_and_locals() -> None:
    x = xl.asarray([1.0, 2.0])

    def built() -> Any:
        inner = x * 2
        return inner + inner * inner

    assert xl.eval(built()).tolist() == [6, 20]


def test_adaptors() -> None:
    memory = np.zeros(3)
    x = xl.adapt(memory)
    x.assign(xl.asarray([1.0, 2.0, 3.0]) + 1)
    assert memory.tolist() == [2, 3, 4]
    with pytest.raises(xl.ShapeError, match="cannot change its size"):
        x.assign(xl.ones(4))
