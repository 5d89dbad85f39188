"""What xtensor's own tests say, on its fixture of layouts: it holds here, or differs on purpose."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

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


@together("name", OPERATIONS)
@together("layout", LAYOUTS)
@together("kind", [xl.XArray, xl.XTensor])
def test_operations_whatever_the_layouts(name: str, layout: str, kind: Any) -> None:
    op = getattr(operator, name)
    a = kind(F)
    for x, other in [(make(layout), F), (xl.asarray(U), U)]:
        with np.errstate(all="ignore"):
            want = op(F, other)
        for before in (
            {"values": np.zeros((5, 1, 1))},
            *({"values": F} | k for k in LAYOUTS.values()),
        ):
            b = kind(**before, dtype=want.dtype)
            b.assign(op(a, x))
            np.testing.assert_array_equal(b, want)


@together("name", ["add", "sub", "mul", "iadd", "isub", "imul"])
@together("layout", LAYOUTS)
@together("kind", [xl.XArray, xl.XTensor])
def test_operations_on_views_whatever_the_layouts(name: str, layout: str, kind: Any) -> None:
    op, want, b = getattr(operator, name), F.copy(), kind(F)
    to, part = xl.view(b, 0, xl.range(0, 2), xl.range(1, 4)), (0, slice(0, 2), slice(1, 4))
    for x, other in [(make(layout)[part], F[part]), (xl.asarray(U)[0, :, 1:4], U[0, :, 1:4])]:
        if name[0] == "i":
            op(to, x)
        else:
            to[...] = op(to, x)
        want[part] = op(want[part], other)
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
    for view, strides in [(a[0:5:2, 1, 0, :, n], (144, 1)), (a[:, 1, n, :], (72, 6, 1))]:
        assert tuple([s for s, n in zip(view.strides, view.shape, strict=True) if n > 1]) == strides
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


def broadcast_to_views() -> None:
    for promised in (False, True):
        a = xl.asarray([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
        (xl.noalias(a) if promised else a)[:, 1:4] = xl.asarray([1, 2, 3])
        assert a.tolist() == [[1, 1, 2, 3], [5, 1, 2, 3], [9, 1, 2, 3]]


def reversed_rows_added() -> None:
    a = xl.asarray(np.arange(35).reshape(5, 7), copy=True)
    a[0:-2] += a[:3:-1]
    assert a[0].tolist() == list(range(28, 41, 2))
    assert a[2].tolist() == list(range(42, 55, 2))
    assert a[3:].tolist() == np.arange(21, 35).reshape(2, 7).tolist()
    others = a[1::2].tolist()
    a[::-2] += a[::2]
    assert a[1::2].tolist() == others
    assert a[0].tolist() == a[4].tolist() == list(range(56, 75, 3))
    assert a[2].tolist() == list(range(84, 109, 4))


def gathers_that_overlap() -> None:
    for pick in (lambda a: a[[4, 0, 5]], lambda a: xl.view(a, xl.keep(4, 0, 5))):
        a = xl.arange(6)
        a[0:3] = pick(a)
        assert a.tolist() == [4, 0, 5, 3, 4, 5]
    b = xl.arange(10)
    xl.view(b, xl.keep(0, 2, 4))[...] = xl.view(b, xl.drop(*range(6), 9))
    assert b.tolist() == [6, 1, 7, 3, 8, 5, 6, 7, 8, 9]


def shifts_and_turns() -> None:
    a, b, c = xl.arange(6), xl.arange(6), xl.arange(6)
    a[1:] = a[:-1]
    b[:-1] = b[1:]
    c[...] = c[::-1]
    assert a.tolist() == [0, 0, 1, 2, 3, 4]
    assert b.tolist() == [1, 2, 3, 4, 5, 5]
    assert c.tolist() == [5, 4, 3, 2, 1, 0]
    d = xl.asarray([[1, 2], [3, 4]])
    d[...] = d.T
    assert d.tolist() == [[1, 3], [2, 4]]


def joins_of_the_destination() -> None:
    a = xl.arange(3)
    a.assign(xl.concatenate(xl.xtuple(a, a * 10), axis=0))
    assert a.tolist() == [0, 1, 2, 0, 10, 20]
    a[...] = xl.concatenate(xl.xtuple(a[3:], a[:3]), axis=0)
    assert a.tolist() == [0, 10, 20, 0, 1, 2]
    a.assign(xl.stack(xl.xtuple(a, a)))
    assert a.shape == (2, 6)


def filters_add_filters() -> None:
    a = xl.asarray([[1, 5, 3], [4, 5, 6]])
    b = a.copy()
    f = xl.filter(a, a > 3)
    f += xl.filter(b, b > 3)
    assert a.tolist() == [[1, 10, 3], [8, 10, 12]]
    g = xl.filter(b, b == 5)
    g += xl.asarray([1, 2])
    assert b.tolist() == [[1, 6, 3], [4, 7, 6]]
    h = xl.filtration(b, b >= 6)
    h += 2
    assert b.tolist() == [[1, 8, 3], [4, 9, 8]]


def filters_have_an_order() -> None:
    a = xl.asarray([[[1, 3], [2, 4]], [[5, 7], [6, 8]]])
    condition = [[[True, True], [False, False]]] * 2
    assert xl.filter(a, condition, order="column_major").tolist() == [1, 5, 3, 7]
    assert xl.filter(a, condition).tolist() == [1, 3, 5, 7]


def masks_skip() -> None:
    a = xl.asarray([[1.0, -2, 3], [4, 5, -6], [7, 8, -9]])
    v = xl.masked_view(a, [[True] * 3, [True, False, False], [True, False, True]])
    assert "masked" in str(v)
    v[...] = 3.65
    v += 3
    assert a.tolist() == [[6.65] * 3, [6.65, 5, -6], [6.65, 8, 6.65]]
    v[...] = xl.asarray(np.arange(9.0).reshape(3, 3))
    assert a.tolist() == [[0, 1, 2], [3, 5, -6], [6, 8, 8]]
    data, other = xl.asarray([[0, 1], [2, 3]]), xl.zeros((2, 2), dtype="int64")
    row, new = (xl.masked_view(xl.row(x, 0), [False, True]) for x in (data, other))
    row += 10
    new[...] = row
    assert other.tolist() == [[0, 11], [0, 0]]


def keep_and_drop() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    a = xl.asarray(values, copy=True)
    v = xl.view(a, xl.range(), xl.keep(1, 1, 1, 1))
    assert v.tolist() == values[:, [1] * 4].tolist()
    v[0, 2, 1] = 1000
    assert a[0, 1, 1] == 1000
    b = xl.asarray([1, 2, 3])
    assert [xl.view(b, s).tolist() for s in (xl.keep(-2), xl.drop(-3, -1), xl.drop())] == [
        [2],
        [2],
        [1, 2, 3],
    ]
    assert xl.view(b, xl.drop(0, 2)).tolist() == xl.view(b, xl.keep(1)).tolist()


def reshapes_of_parts() -> None:
    a = xl.asarray([list(range(1, 9)), list(range(11, 19))])
    want = [[[1, 2], [3, 4]], [[11, 12], [13, 14]]]
    assert xl.reshape_view(a[:, 0:4], (2, 2, 2)).tolist() == want
    p = xl.zeros((2, 8))
    xl.flatten(p[:, 0:2])[...] = [1, 2, 3, 4]
    assert p[:, :2].tolist() == [[1, 2], [3, 4]]
    assert float(xl.sum(p)) == 10


def averages() -> None:
    x = xl.asarray([[3, 4, 2, 1], [1, 1, 3, 2]])
    assert xl.average(x, axis=0, weights=[3, 9]).tolist() == [1.5, 1.75, 2.75, 1.75]


def random_numbers_follow_the_index() -> None:
    r = xl.random.default_rng(5).random((5, 5))
    e = r * 2
    assert xl.eval(e).tolist() == xl.eval(e).tolist()  # drawn once
    again = xl.random.default_rng(5).random((5, 5))
    assert xl.asarray(again, layout="column_major")[2, 3] == r[2, 3]


def axes_of_extent_zero() -> None:
    a = xl.zeros((0, 3))
    assert (a + 1).tolist() == xl.concat([a, a]).tolist() == []
    assert xl.sum(a, axis=0).tolist() == [0, 0, 0]
    assert xl.cumsum(a, axis=0).shape == (0, 3)
    assert xl.filter(a, a > 0).tolist() == xl.index_view(a, []).tolist() == []
    a[...] = xl.ones((1, 3))
    assert list(xl.iter_axis(a, 0)) == []
    assert xl.view(a, xl.range(), xl.keep(0, 0)).shape == (0, 2)


def extremes_and_where() -> None:
    a = xl.asarray([[3.0, 9.0, 1.0], [2.0, 0.0, 5.0]])
    assert xl.argmax(a, axis=1).tolist() == [1, 2]
    assert xl.argmin(a, axis=1).tolist() == [2, 1]
    assert xl.argsort(xl.asarray(a, layout="column_major"), axis=None).tolist() == [
        4,
        2,
        3,
        0,
        5,
        1,
    ]
    assert xl.where(a > 2, a, -a).tolist() == [[3, 9, -1], [-2, 0, 5]]


def sums_are_pairwise() -> None:
    x = np.full(1 << 20, 0.1, np.float32)
    assert abs(float(xl.sum(xl.asarray(x))) - 0.1 * (1 << 20)) < 0.02


#: What the notes on xtensor say, by number (s: semantics, r: reports of users).
FACTS: dict[str, Any] = {
    "10": broadcast_to_views,
    "17": reversed_rows_added,
    "21": gathers_that_overlap,
    "r-aliasing": joins_of_the_destination,
    "r-389, r-1248": shifts_and_turns,
    "25": filters_add_filters,
    "27": filters_have_an_order,
    "29": masks_skip,
    "31": keep_and_drop,
    "33, 35": reshapes_of_parts,
    "47": averages,
    "53, s-18": random_numbers_follow_the_index,
    "r-1562": axes_of_extent_zero,
    "r-2550, r-2025, r-1537": extremes_and_where,
    "r-1684": sums_are_pairwise,
}


@together("fact", FACTS, ids=str)
def test_fact(fact: str) -> None:
    FACTS[fact]()
