"""Views through positions: facts of xtensor's tests, what is refused, and who sees a write."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together


def test_adding_through_filters() -> None:
    a = xl.asarray([[1, 5, 3], [4, 5, 6]])
    b = a.copy()
    f = xl.filter(a, a > 3)
    f += xl.filter(b, b > 3)
    assert a.tolist() == [[1, 10, 3], [8, 10, 12]]


@pytest.mark.parametrize(
    ("order", "want"), [("C", [1, 3, 5, 7]), ("column_major", [1, 5, 3, 7]), ("F", [1, 5, 3, 7])]
)
def test_filters_have_an_order(order: str, want: list[int]) -> None:
    a = xl.reshape(xl.arange(8), (2, 2, 2))
    assert xl.filter(a, a % 2 == 1, order=order).tolist() == want


def test_filters_keep_the_positions_they_were_made_with() -> None:
    a = xl.asarray([1, 5, 2, 6])
    f = xl.filter(a, a > 4)
    a[...] = [9, 9, 9, 0]
    assert f.tolist() == [9, 0]


def test_keep_and_drop() -> None:
    a = xl.reshape(xl.arange(12), (3, 1, 4))
    v = xl.view(a, xl.keep(1, 1, 1, 1))
    assert v.shape == (4, 1, 4)
    v[0, 0, 1] = 1000
    assert int(a[1, 0, 1]) == 1000
    x = xl.arange(3)
    assert xl.view(x, xl.keep(-2)).tolist() == [1]
    assert xl.view(x, xl.drop(-3, -1)).tolist() == [1]
    assert xl.view(x, xl.drop()).tolist() == [0, 1, 2]
    assert xl.view(x, xl.drop(0, 2)).tolist() == xl.view(x, xl.keep(1)).tolist()
    with pytest.raises(xl.IndexRangeError, match=r"; xl\.view takes keep"):
        _ = x[xl.keep(1)]


def test_no_indices_of_no_dimensions() -> None:
    a = xl.asarray(5)
    assert xl.index_view(a, []).tolist() == []
    assert xl.index_view(a, [()]).tolist() == [5]
    xl.index_view(a, [(), ()])[...] = [1, 2]
    assert a.item() == 2
    tiled = xl.asarray([[5]], layout="{1,0:T(2,2)}")
    xl.index_view(tiled[0, 0, ...], [()])[...] = 3
    assert tiled.tolist() == [[3]]


def test_regular_positions_are_plain_views() -> None:
    a = xl.arange(10)
    for items, want in [((xl.keep(1, 3, 5),), [1, 3, 5]), ((xl.keep(4, 2, 0),), [4, 2, 0])]:
        assert isinstance(xl.view(a, *items), xl.XView)
        assert xl.view(a, *items).tolist() == want
    assert isinstance(xl.view(a, xl.keep(3, 3)), xl.XDynamicView)


def test_gathers_that_no_two_addresses_bound() -> None:
    a = xl.arange(6)
    a[0:3] = xl.view(a, xl.keep(4, 0, 5))
    assert a.tolist() == [4, 0, 5, 3, 4, 5]


def test_a_reshape_of_a_cut_array() -> None:
    a = xl.asarray([[1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14, 15, 16, 17, 18]])
    v = xl.reshape_view(a[:, :4], (2, 2, 2))
    assert v.tolist() == [[[1, 2], [3, 4]], [[11, 12], [13, 14]]]
    v *= 0
    assert a[:, :5].tolist() == [[0, 0, 0, 0, 5], [0, 0, 0, 0, 15]]


def test_what_is_hidden_is_not_written_where_it_is_seen_twice() -> None:
    a = xl.zeros(3)
    twice = xl.index_view(a, [1, 2, 1])
    xl.filtration(twice, [True, False, False])[...] = xl.asarray([5.0, 6.0, 7.0])
    masked = xl.masked_view(twice, [False, True, False])
    masked += [1, 2, 3]
    assert a.tolist() == [0, 5, 2]
    xl.put(twice, [0], 8)
    xl.copyto(twice, [3, 4, 5], where=[False, True, False])
    assert a.tolist() == [0, 8, 4]


def test_other_dtypes_and_read_only_views_of_the_same_elements() -> None:
    a = xl.asarray([1.0, -2.0, 3.0])
    v = xl.filter(a, a != 3)
    v.view("uint64")[0] = 0
    assert (a.tolist(), v.view("int32").shape) == ([0, -2, 3], (4,))
    v.flags.writeable = False
    with pytest.raises(xl.ReadOnlyError):
        v[0] = 1
    tiled = xl.asarray([[1.0, -2.0]], layout="{1,0:T(2,2)}")
    tiled.view("uint64")[0, 0] = 0
    xl.index_view(tiled, [(0, 1)]).view("uint64")[...] = 0
    assert tiled.tolist() == [[0, 0]]
    nibbles = xl.asarray([[1, -2]], "int4", layout="{1,0:T(2,2)}")
    assert xl.index_view(nibbles, [(0, 1)]).view("int4").tolist() == [-2]
    a[0] = 1
    assert v.tolist() == [1, -2]


def test_no_elements_of_memory_of_others() -> None:
    empty = xl.adapt(np.zeros((5, 0)))[::-1].T
    assert xl.filter(empty, np.zeros((0, 5), bool)).tolist() == []


def test_the_last_of_equal_positions_stays() -> None:
    a = xl.zeros(3)
    xl.index_view(a, [0, 2, 0, 0])[...] = [1, 2, 3, 4]
    assert a.tolist() == [4, 0, 2]
    xl.view(a, xl.keep(1, 1, 1)).assign(xl.asarray([5.0, 6.0, 7.0]))
    assert a.tolist() == [4, 7, 2]
    twice = xl.index_view(a, [2, 2])
    twice += 10  # computed once from the old value
    assert a.tolist() == [4, 7, 12]


def test_expressions_written_before_keep_their_values() -> None:
    a = xl.arange(4.0)
    v = xl.view(a, xl.keep(3, 0, 1))
    before, gathered = a + 0, v + 0
    v[...] = 9
    assert before.tolist() == [0, 1, 2, 3]
    assert gathered.tolist() == [3, 0, 1]
    assert (v + 0).tolist() == [9, 9, 9]


def test_copies_share_no_memory() -> None:
    a = xl.arange(4)
    v = xl.view(a, xl.keep(3, 0, 1))
    made = [v.copy(), copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v)), xl.eval(v)]
    v[...] = 7
    assert [type(c) for c in made] == [xl.XArray] * 5
    assert [c.tolist() for c in made] == [[3, 0, 1]] * 5


def test_few_elements_are_gathered_anew_where_they_are_read_late() -> None:
    a = xl.reshape(xl.arange(12.0), (3, 4))
    late = [
        (xl.late(xl.view(a, xl.keep(2, 0, 0)) * 2), lambda A: A[[2, 0, 0]] * 2),
        (xl.late(a[:, [3, -1]] + a[:, :2]), lambda A: A[:, [3, 3]] + A[:, :2]),
        (xl.late(xl.take(a, [1], axis=0)), lambda A: A[[1]]),
        (xl.late(xl.filter(a, a > 5)), lambda A: A.reshape(-1)[6:]),
    ]
    for _ in range(2):
        for e, want in late:
            np.testing.assert_array_equal(e, want(np.array(a)))
        a += 10
    assert repr(a[[0, 1]]) == "<Gather: float64[2, 4], lazy>"


def test_few_elements_that_wait_keep_their_values() -> None:
    a = xl.arange(4.0)
    taken, gathered = a[[3, 0]], xl.index_view(a, [3, 0]) + a[:2]
    a[...] = 7
    assert taken.tolist() == [3, 0]
    assert gathered.tolist() == [3, 1]
    taken[0] = 1  # a copy, as NumPy's
    assert (taken.tolist(), a.tolist()) == ([1, 0], [7] * 4)


@together("number", [300, -1, 1.5, True, np.float32(2.5), 2**70])
def test_numbers_are_converted_as_in_any_assignment(number: Any) -> None:
    a, b = xl.zeros(4, dtype="uint8"), xl.zeros(4, dtype="uint8")
    for view in (a[1:], xl.index_view(b, [3, 1, 2])):
        with suppress(OverflowError, ValueError):
            view[...] = number
    np.testing.assert_array_equal(a, b)


def test_dtypes_convert_as_in_any_assignment() -> None:
    a = xl.zeros(3, dtype="int8")
    v = xl.index_view(a, [2, 0])
    v[...] = xl.asarray([1.9, -1.9])
    assert a.tolist() == [-1, 0, 1]
    with pytest.raises(xl.CastError, match="in-place add"):
        v += 0.5
    assert xl.real(xl.asarray([1j, 2], dtype="complex64")).dtype == xl.float32


@pytest.mark.parametrize("layout", [None, "column_major", "{1,0:T(2,2)}", "{0,1:T(2,4)(2,1)}"])
def test_parts_of_elements_are_written_through(layout: str | None) -> None:
    z = xl.asarray([[1 + 2j, 3 + 4j]], layout=layout)
    xl.real(z)[...] = xl.imag(z)  # other bytes of the same elements
    assert z.tolist() == [[2 + 2j, 4 + 4j]]
    xl.imag(z.T)[1] += 5
    assert z.tolist() == [[2 + 2j, 4 + 9j]]
    twice = xl.index_view(z, [(0, 1), (0, 0), (0, 1)])
    twice.imag = [1, 2, 3]
    assert z.tolist() == [[2 + 2j, 4 + 3j]]
    z.real[0, 0] = 7
    assert z.tolist() == [[7 + 2j, 4 + 3j]]
    z.real = 0
    assert z.tolist() == [[2j, 3j]]


def test_parts_of_elements_by_number() -> None:
    words = xl.asarray([0x01020304], dtype="uint32")
    assert sorted(int(xl.offset_view(words, "uint8", k)[0]) for k in range(4)) == [1, 2, 3, 4]


def test_lines_are_walked_in_the_order_of_memory() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    for layout, others in [("column_major", (1, 0)), ("row_major", (0, 1))]:
        a = xl.asarray(values, layout=layout)
        lines = [line.tolist() for line in xl.iter_lines(a, 2, "storage")]
        assert lines == values.transpose(*others, 2).reshape(-1, 4).tolist()


def test_noalias_of_views() -> None:
    a = xl.zeros(4)
    v = xl.view(a, xl.keep(3, 0, 1))
    xl.noalias(v)[...] = xl.asarray([1.0, 2.0, 3.0]) * 2
    assert a.tolist() == [4, 6, 0, 2]


A = np.arange(12).reshape(3, 4)

REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "keep": (lambda a: xl.view(a, xl.keep(3)), xl.IndexRangeError, r"keep\(3\): 3 is out of range"),
    "drop": (lambda a: xl.view(a, xl.drop(-4)), xl.IndexRangeError, r"drop\(-4\)"),
    "keep bool": (lambda a: xl.keep(True), xl.IndexRangeError, "must be integers"),
    "keep float": (lambda a: xl.keep(1.5), xl.IndexRangeError, "must be integers"),
    "too many": (lambda a: xl.view(a, 0, 0, xl.keep(0)), xl.IndexRangeError, "too many"),
    "strided": (lambda a: xl.strided_view(a, [xl.keep(0, 0)]), xl.IndexRangeError, "dynamic_view"),
    "index": (
        lambda a: xl.index_view(a, [(0, 4)]),
        xl.IndexRangeError,
        r"\(0, 4\) is out",
    ),
    "index rank": (lambda a: xl.index_view(a, [0, 1]), xl.IndexRangeError, "2 integers"),
    "index kind": (lambda a: xl.index_view(a, [(0.5, 1)]), xl.IndexRangeError, "2 integers"),
    "mask": (lambda a: xl.filter(a, [True, False]), xl.IndexRangeError, "does not broadcast"),
    "mask kind": (lambda a: xl.filter(a, A), xl.IndexRangeError, "must be bool"),
    "row": (lambda a: xl.row(a[0], 0), xl.ShapeError, "rank must be 2"),
    "reach": (lambda a: xl.as_strided(a, (4, 4)), xl.BoundsError, "reaches elements 0 to 15"),
    "before": (lambda a: xl.as_strided(a, 2, (-1,)), xl.BoundsError, "reaches elements -1 to 0"),
    "blocks": (lambda a: xl.block_view(a, (2, 2)), xl.ShapeError, r"\(2, 2\) do not fill"),
    "block of none": (lambda a: xl.block_view(a, (0, 1)), xl.ShapeError, "do not fill"),
    "blocks of rank": (lambda a: xl.block_view(a, 3), xl.ShapeError, "do not fill"),
    "strides": (lambda a: xl.as_strided(a, (2, 2), (1,)), xl.LayoutError, "not one for each"),
    "part": (lambda a: xl.offset_view(a, "float64", 1), xl.DTypeError, "no part 1"),
    "wide": (lambda a: xl.offset_view(a, "complex128"), xl.DTypeError, "no part 0"),
    "lazy part": (lambda a: xl.offset_view(a + 1, "int8"), xl.LayoutError, "memory is needed"),
    "at": (lambda a: xl.at(a, 0), xl.IndexRangeError, "2 integers are needed"),
    "at range": (lambda a: xl.at(a, 0, 4), xl.IndexRangeError, "out of range"),
    "at kind": (lambda a: xl.at(a, 0, None), xl.IndexRangeError, "at: .*integers"),
    "row kind": (lambda a: xl.row(a, None), xl.IndexRangeError, "row: .*integers"),
    "col kind": (lambda a: xl.col(a, slice(2)), xl.IndexRangeError, "col: .*integers"),
    "periodic kind": (lambda a: xl.periodic(a, 0.5, 1), xl.IndexRangeError, "periodic: .*integers"),
    "bounds kind": (lambda a: xl.in_bounds(a, 0.5, 1), xl.IndexRangeError, "in_bounds: .*integers"),
    "far": (lambda a: xl.view(a, xl.keep(2**70)), xl.IndexRangeError, "out of range"),
    "a list": (lambda a: xl.view(a, [0, 1]), xl.IndexRangeError, r"xl.keep picks .*\[0, 1\]"),
    "an array": (lambda a: xl.view(a + 1, a > 3), xl.IndexRangeError, "xl.keep picks"),
    "no list": (lambda a: xl.index_view(a, 5), xl.IndexRangeError, "index_view: a sequence"),
    "no items": (lambda a: xl.dynamic_view(a, None), xl.IndexRangeError, "dynamic_view: a seq"),
    "no slices": (lambda a: xl.strided_view(a, 5), xl.IndexRangeError, "strided_view: a seq"),
    "offset": (lambda a: xl.as_strided(a, 2, (1,), 1.5), xl.LayoutError, "must be integers"),
    "lazy parent": (lambda a: xl.parent_index(a + 1, (0, 0), a), xl.IndexRangeError, "none of"),
    "periodic": (lambda a: xl.periodic(a[:0], 0, 0), xl.IndexRangeError, "shape"),
    "axis": (lambda a: xl.iter_axis(a, 2), xl.AxisError, "axis 2"),
    "ravel": (lambda a: xl.ravel_index([(3, 0)], (3, 4)), xl.IndexRangeError, "out of range"),
    "parent": (lambda a: xl.parent_index(a[1:], (0, 0), a[:1]), xl.IndexRangeError, "none of"),
    "no index": (lambda a: xl.parent_index(a[0], 0, a), xl.IndexRangeError, "parent_index: a seq"),
    "foreign": (lambda a: xl.parent_index(xl.zeros(2), (0,), a), xl.IndexRangeError, "none of"),
    "write": (
        lambda a: xl.view(a, xl.keep(0, 0)).assign([1, 2, 3]),
        xl.BroadcastError,
        "XDynamicView",
    ),
    "update": (
        lambda a: xl.filter(a, A > 9).__iadd__(np.ones((2, 1), int)),
        xl.BroadcastError,
        "add",
    ),
    "broadcast": (
        lambda a: xl.view(xl.as_strided(a, (2, 4), (0, 1)), xl.range(), xl.keep(0, 0)).assign(1),
        xl.OverlapError,
        "more than once",
    ),
}


@together("name", REFUSED)
def test_refused(name: str) -> None:
    call, error, match = REFUSED[name]
    a = xl.asarray(A)
    with pytest.raises(error, match=match):
        call(a)
    np.testing.assert_array_equal(a, A)


@pytest.mark.parametrize("layout", ["row_major", "column_major", "{1,0:T(2,2)}"])
def test_blocks(layout: str) -> None:
    values = np.arange(48).reshape(6, 8)
    a = xl.asarray(values, layout=layout)
    cut = a[::-1, 1:7]
    for array, own in ((a, values), (cut, values[::-1, 1:7]), (a + 1, values + 1)):
        b = xl.block_view(array, (3, 2))
        split = own.reshape(2, 3, own.shape[1] // 2, 2).transpose(0, 2, 1, 3)
        np.testing.assert_array_equal(b, split)
        np.testing.assert_array_equal(xl.max(b, axis=(2, 3)), split.max((2, 3)))
    xl.block_view(cut, (3, 2))[1, 0] = -1
    want = values.copy()
    want[::-1, 1:7][3:, :2] = -1
    np.testing.assert_array_equal(a, want)
    assert xl.block_view(xl.zeros((0, 4)), (3, 2)).shape == (0, 2, 3, 2)


def test_read_only_memory_stays() -> None:
    a = xl.adapt(bytes(8), (8,), dtype="uint8")
    for view in (
        xl.index_view(a, [3, 1]),
        xl.view(a, xl.keep(0, 0)),
        xl.flatten(xl.reshape(a, (2, 4))[:, :2]),
    ):
        with pytest.raises(xl.ReadOnlyError):
            view[...] = 1
    assert a.tolist() == [0] * 8


def test_how_views_print() -> None:
    a = xl.asarray([[1, 2], [3, 4]])
    assert repr(xl.view(a, xl.keep(1, 0, 0))) == (
        "XDynamicView([[3, 4],\n              [1, 2],\n              [1, 2]])"
    )
    assert xl.index_view(a, [(1, 1)]).summary() == "XIndexView int64[1]"
    assert repr(xl.keep(1, -2)) == "keep(1, -2)"


@pytest.mark.parametrize(
    "make",
    [
        lambda a: xl.index_view(a, [(2, 3), (0, 0)]),
        lambda a: xl.view(a, xl.keep(2, 0, 0)),
        lambda a: xl.reshape_view(a.T, (12,)),
        lambda a: xl.filter(a, A >= 0),
    ],
)
def test_views_stay_where_they_are_when_their_container_moves(make: Callable[[Any], Any]) -> None:
    a = xl.asarray(A, copy=True)
    view = make(a)
    before = view.tolist()
    a.resize_((1, 2))
    a[...] = -1
    assert view.tolist() == xl.eval(view + 0).tolist() == before
    view[...] = 7
    assert a.tolist() == [[-1, -1]]


@pytest.mark.parametrize("axis", [0, 1])
def test_long_slices_are_written_in_order(axis: int) -> None:
    values = np.arange(800.0).reshape(400, 2)
    values = values if axis else values.T
    a = xl.asarray(values, copy=True)
    items = [xl.range(), xl.keep(1, 0, 1)][:: 1 if axis else -1]
    v = xl.view(a, *items)
    v *= 3
    np.testing.assert_array_equal(a, values * 3)
    v[...] = np.moveaxis(np.stack([values.max(axis)] * 3) + [[1], [2], [3]], 0, axis)
    want = np.stack([values.max(axis) + 2, values.max(axis) + 3])
    np.testing.assert_array_equal(a, np.moveaxis(want, 0, axis))


def test_parts_are_attributes_as_in_numpy() -> None:
    z = xl.asarray([1 + 2j, 3 + 4j])
    z.real[1] = 7
    z.imag = z.real * 2
    assert z.tolist() == [1 + 2j, 7 + 14j]
    assert (z + 1).imag.tolist() == [2, 14]
    x = xl.asarray([1.0, 2.0])
    x.real[0] = 5
    assert (x.tolist(), x.imag.tolist()) == ([5, 2], [0, 0])


@pytest.mark.parametrize(
    ("index", "items"),
    [
        (np.array([3, 0, 5]), [xl.keep(3, 0, 5)]),
        ((slice(None), np.array([2, 0])), [xl.range(), xl.keep(2, 0)]),
    ],
)
def test_many_elements_are_updated_and_readers_keep_the_old_ones(index: Any, items: Any) -> None:
    values = np.arange(4000000.0).reshape(2000, 2000)
    want = values.copy()
    want[index] *= 2
    want[index] += want[index]
    m = xl.asarray(values, copy=True)
    view, waiting = xl.view(m, *items), m * 1
    other = xl.asarray(values, copy=True)
    view *= 2
    view += view
    late = other[index] * 2
    other[index] = other[index] * 2
    other[index] = other[index] + other[index]
    with pytest.raises(xl.CastError):
        view += 1j
    np.testing.assert_array_equal(m, want)
    np.testing.assert_array_equal(other, want)
    np.testing.assert_array_equal(late, values[index] * 2)
    np.testing.assert_array_equal(waiting, values)


def test_views_of_one_element_are_no_values() -> None:
    a = xl.asarray([1.0, 2.0, 3.0, 4.0])
    views = [xl.index_view(a, [(0,), (3,)]), xl.filter(a, a < 3), xl.view(a, xl.keep(3, 0, 1))]
    views.append(xl.reshape_view(a.reshape(2, 2), (4,), "column_major"))
    for view in views:
        one = xl.view(view, 1)
        one *= 10
        one[...] = one + 1
        assert one.shape == ()
        assert isinstance(one, xl.XIndexView | xl.XView)
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
    assert a.tolist() == [11.0, 21.0, 31.0, 41.0]


@pytest.mark.parametrize("layout", ["row_major", "column_major", "{1,0:T(2,2)}"])
def test_elements_of_views_by_integers(layout: str) -> None:
    values = np.arange(12.0).reshape(3, 4)
    a = xl.asarray(values, layout=layout)
    kept, found = xl.view(a, xl.keep(2, 0, 0), xl.keep(3, 1)), xl.index_view(a, [(2, 3), (0, 1)])
    want = values[np.ix_([2, 0, 0], [3, 1])]
    for i in range(-3, 3):
        assert [kept[i, k] for k in range(-2, 2)] == [want[i, k] for k in range(-2, 2)]
    assert [found[-2], found[1], *found] == [11, 1, 11, 1]
    assert type(found[0]) is type(a[0, 0])
    assert kept[0].tolist() == want[0].tolist()
    assert kept[0, 0, ...].shape == ()
    for wrong in (2, -3):
        with pytest.raises(xl.IndexRangeError, match="out of range"):
            found[wrong]
    a[2, 3] = 50
    assert found[0] == kept[0, 0] == 50


@together("order", ["K", "C", "F", "A"])
@together("layout", ["row_major", "column_major"])
def test_copies_of_views_have_the_order_that_is_asked_for(order: Any, layout: str) -> None:
    values = np.arange(12.0).reshape(3, 4)
    view = xl.view(xl.asarray(values, layout=layout), xl.range(), xl.keep(3, 0))
    made = view.copy(order)
    assert made.tolist() == values[:, [3, 0]].tolist()
    assert made.strides == ((1, 3) if order == "F" else (2, 1))
    with pytest.raises(ValueError, match="order must be"):
        view.copy("Z")


def test_lists_of_integers_and_of_other_things() -> None:
    a = xl.arange(5)
    assert xl.index_view(a, [4, -5, 1]).tolist() == [4, 0, 1]
    assert xl.index_view(a, [(4,), (-5,)]).tolist() == [4, 0]
    for wrong in ([1, (2,)], [(2,), 1], [1, 7], [1, 2.5], [1, "x"], [2**70]):
        with pytest.raises(xl.IndexRangeError):
            xl.index_view(a, wrong)


def test_elements_of_arrays_that_repeat() -> None:
    m = xl.asarray(np.arange(6).reshape(2, 3))
    at = xl.periodic(m, 5, np.int64(-2))
    at[...] = 40
    assert int(m[1, 1]) == int(xl.periodic(m, -1, 4)) == 40
    for wrong in ((1,), (1, 2, 3), (1, 2.0), (True, 1)):
        with pytest.raises(xl.IndexRangeError):
            xl.periodic(m, *wrong)
    assert [xl.in_bounds(m, i, 2) for i in (-1, 0, 1, 2)] == [False, True, True, False]
    with pytest.raises(xl.IndexRangeError):
        xl.in_bounds(m, 5, 1.5)


def test_elements_in_a_row_by_number() -> None:
    values = np.arange(6).reshape(2, 3)
    m = xl.asarray(values)
    assert [m.flat[k] for k in range(-6, 6)] == [values.flat[k] for k in range(-6, 6)]
    m.flat[-1] = 9
    assert m[1, 2] == 9
    with pytest.raises(IndexError):
        m.flat[6]
