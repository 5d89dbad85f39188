"""Views of few elements in machine code: they are those in Python, only faster."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests import references
from tests.cases import together
from xarraylite.runtime import natives as loading
from xarraylite.transforms import natives

pytestmark = [
    pytest.mark.usefixtures("compiled", "installed"),
    pytest.mark.skipif(not loading.can_load(), reason="another interpreter"),
]


M = np.array([True, False, True, True, False, False])
AT = np.array([5, 0, -1, 2, 2])

#: Statements about a vector of six elements ``c`` and its values ``v``.
WORK: dict[str, Callable[[Any], Any]] = {
    "mask": lambda c: xl.filter(c, M),
    "a container": lambda c: xl.filter(c, xl.asarray(M)),
    "an expression": lambda c: xl.filter(c, c > 2),
    "none": lambda c: xl.filter(c, c > 200),
    "a list": lambda c: xl.filter(c, M.tolist()),
    "one that broadcasts": lambda c: xl.filter(c, M[:1]),
    "no mask": lambda c: xl.filter(c, AT),
    "of another shape": lambda c: xl.filter(c, M[:5]),
    "in order": lambda c: xl.filter(c, M, order="column_major"),
    "positions": lambda c: xl.index_view(c, AT),
    "int32": lambda c: xl.index_view(c, AT.astype("int32")),
    "listed": lambda c: xl.index_view(c, AT.tolist()),
    "out of range": lambda c: xl.index_view(c, np.array([0, 6])),
    "far out of range": lambda c: xl.index_view(c, np.array([-(1 << 62)])),
    "positions of a container": lambda c: xl.index_view(c, xl.asarray(AT) - 0),
    "a part": lambda c: xl.filter(c[1:], M[1:]),
    "every second": lambda c: xl.index_view(c[::2], np.array([2, 0])),
    "reversed": lambda c: xl.index_view(c, AT)[::-1],
    "a filter of a filter": lambda c: xl.filter(xl.filter(c, M), np.array([True, False, True])),
    "of an expression": lambda c: xl.filter(c + 1, M),
    "kept": lambda c: xl.view(c, xl.keep(5, 0, -1, 2, 2)),
    "dropped": lambda c: xl.view(c, xl.drop(1, -2)),
    "kept evenly": lambda c: xl.view(c, xl.keep(4, 2, 0)),
    "one kept": lambda c: xl.view(c, xl.keep(-1)),
    "one kept twice": lambda c: xl.view(c, xl.keep(3, 3)),
    "none kept": lambda c: xl.view(c, xl.keep()),
    "all dropped": lambda c: xl.view(c, xl.drop(*range(6))),
    "kept out of range": lambda c: xl.view(c, xl.keep(0, 6)),
    "dropped far out of range": lambda c: xl.view(c, xl.drop(1 << 70)),
    "too many items": lambda c: xl.view(c, xl.range(), xl.keep(0, 2, 3)),
    "kept of every second": lambda c: xl.view(c[::2], xl.keep(2, 0, 1)),
    "kept of a part": lambda c: xl.view(c[1:], xl.keep(4, 0, 1)),
    "kept of kept": lambda c: xl.view(xl.view(c, xl.keep(5, 0, 1, 4)), xl.drop(1)),
}


def told(view: Any) -> Any:
    """Return all there is to know of a view."""
    values = xl.eval(view)
    facts = type(view), view.shape, view.dtype, values.tolist(), type(values), values.dtype
    if not isinstance(view, xl.XContainer) and hasattr(view, "base"):
        return *facts, view.positions().tolist(), type(view.base), repr(view)
    return facts


def both(work: Callable[[], Any]) -> None:
    def outcome() -> Any:
        try:
            return work()
        except Exception as error:
            return type(error), str(error)

    natives.install()
    fast = [outcome() for _ in range(3)]
    natives.remove()
    slow = outcome()
    assert fast == [slow] * 3


@together("name", WORK)
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex128", "bfloat16"])
def test_views_are_the_same(name: str, dtype: str) -> None:
    for make in (xl.asarray, xl.XTensor):
        both(lambda m=make: told(WORK[name](m([4, 1, 3, 0, 5, 2], dtype=dtype))))


def test_operators_on_memory_that_nobody_has_read() -> None:
    def work(make: Callable[[Any], Any]) -> Any:
        c = make(xl.asarray([4.0, 1.0, 3.0]))
        waiting = [
            c * 2,
            2 - c,
            -c,
            c + c[::-1],
            xl.sum(c),
            xl.sum(c, axis=0),
            xl.where(c > 2, c, 0),
        ]
        c[1] = 100.0
        again = [c * 2, c.T @ c]
        return [np.asarray(e).tolist() for e in (*waiting, *again, c)]

    for make in (lambda c: c.copy(), lambda c: c[c > 0], lambda c: xl.eval(c + 1), xl.XTensor):
        both(lambda make=make: work(make))
        both(lambda make=make: work(lambda c: make(c)[::2]))


def test_arrays_of_any_strides_select() -> None:
    places = xl.asarray([3, 0, 9, 1, 9, 2])
    for key in (places[::-2], places[::3], (places == 9)[::2], (places * 2)[::-3]):

        def work(key: Any = key) -> Any:
            c, m = xl.asarray([4.0, 1.0, 3.0, 7.0]), xl.asarray([[1, 2, 3]] * 4)
            c, m = (c[:3], m[:3]) if key.dtype == bool else (c, m)
            read = c[key], m[key], m[:, [0]][key]
            c[key] = 5.0
            m[key] = m[key] * 2
            return [xl.asarray(x).tolist() for x in (*read, c, m)]

        both(work)


def test_several_arrays_and_lists_are_the_same() -> None:
    i, j = np.array([2, 0, -1]), np.array([1, 1, -4])
    keys = [
        *((i, j), (i[:, None], j), (i, slice(None), j), (slice(None), i, j), (i, 1), (i, j[:2])),
        *(
            (i, j + 5),
            (i.astype("int32"), j),
            (i[:0], j[:0]),
            (i, j, ...),
            (i, None, j),
            (i, i > 0),
        ),
        *([2, 0], (slice(None), [1, 0]), [], [True, False, True], [[0], [1]], [0, 9], ([0], [1])),
        *((1, i), (-1, [3, 0]), (1, i + 9), (i - 9, 1), (slice(0, 2), xl.asarray(i)), (9, i)),
        *((slice(1, None), 1, i % 2), (i, slice(None), 1), (0, slice(None), i % 2), ([], 1)),
        *((..., i), (..., j + 5), (xl.asarray(i), slice(1, None)), (i + 3, slice(1, 3)), True),
        *((slice(None), i > 0), (1, j > 0), (slice(None), xl.asarray([True, False, True, True]))),
        *((slice(2, 0, -1), i), ([True, False, True], 1), ([1.0], 0), (None, 1, i), (1, i, ...)),
    ]

    def work(key: Any, shape: tuple[int, ...]) -> Any:
        c = xl.asarray(np.arange(np.prod(shape)).reshape(shape), dtype="float64")
        waiting = c * 3
        part = c[key]
        c[key] = part + 0.5
        once = c.tolist()
        c[key] += 1
        c[key] = xl.eval(part)
        c[key] = c[key][::-1]
        facts = type(part), part.shape, part.dtype, part.tolist()
        return facts, once, c.tolist(), waiting.tolist()

    for key in keys:
        for shape in ((3, 4), (3, 4, 2)):
            both(lambda key=key, shape=shape: work(key, shape))


VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "float": lambda c, w: 2.5,
    "int": lambda c, w: 2,
    "scalar": lambda c, w: c[1],
    "array": lambda c, w: np.arange(w.size, dtype=c.dtype).reshape(w.shape),
    "row": lambda c, w: [7] if w.size else [],
    "container": lambda c, w: xl.asarray(np.arange(w.size), dtype=c.dtype),
    "expression": lambda c, w: xl.asarray(np.arange(w.size), dtype=c.dtype) * 2,
    "of the same memory": lambda c, w: c[: w.size] * 2,
    "itself": lambda c, w: w + 1,
    "a view": lambda c, w: xl.index_view(c, np.arange(w.size)),
    "of another dtype": lambda c, w: np.arange(w.size) * 1.5,
    "too many": lambda c, w: np.zeros(w.size + 1),
}


@together("name", VALUES)
@pytest.mark.parametrize("dtype", ["float64", "int16", "float32"])
def test_writes_are_the_same(name: str, dtype: str) -> None:
    def work(pick: str) -> Any:
        c = xl.asarray([4, 1, 3, 0, 5, 2], dtype=dtype)
        view, waiting = WORK[pick](c), c * 3
        view[...] = VALUES[name](c, view)
        first = c.tolist()
        view *= 2
        view += view
        return first, c.tolist(), waiting.tolist()

    for pick in ("mask", "an expression", "none", "positions", "every second"):
        both(lambda p=pick: work(p))


KEEP = xl.keep(2, 0, 0)

#: Items of a view of an array of three dimensions.
KEPT: list[tuple[Any, ...]] = [
    *((KEEP,), (xl.range(), KEEP), (xl.range(), xl.range(), KEEP), (xl.drop(1),)),
    *((KEEP, xl.range()), (..., KEEP), (xl.newaxis, KEEP), (1, KEEP), (KEEP, KEEP), (KEEP, 1)),
    *((xl.keep(2, 1), xl.range()), (xl.range(1, None), KEEP), (xl.range(), xl.drop(0, -1))),
    *((xl.keep(3),), (xl.range(), xl.drop(9)), (xl.range(), xl.keep(-1, -1))),
    (xl.range(), xl.range(), xl.range(), KEEP),
]


@pytest.mark.parametrize("make", [xl.asarray, xl.XTensor])
def test_positions_kept_along_any_dimension(make: Callable[[Any], Any]) -> None:
    def work(items: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
        c = make(np.arange(np.prod(shape)).reshape(shape).astype("float64"))
        view, waiting = xl.view(c, *items), c * 3
        before = told(view), (view[..., ::-1] + 1).tolist(), xl.late(view * 2)
        view[...] = xl.view(c + 1, *items)
        view += xl.view(c, *items)
        view[...] = xl.view(xl.view(c, xl.range(None, None, -1)), *items)
        return *before[:2], before[2].tolist(), c.tolist(), waiting.tolist()

    for items in KEPT:
        for shape in ((3, 4, 3), (4, 3, 0)):
            both(lambda items=items, shape=shape: work(items, shape))


def test_read_only_memory_is_not_written() -> None:
    c = xl.asarray([1.0, 2.0, 3.0])
    view = xl.filter(c, c > 1)
    c.flags.writeable = False
    later = xl.filter(c, c > 1)
    for _ in range(3):
        view[...] = 7.0  # made when it could be written
        with pytest.raises(xl.ReadOnlyError):
            later[...] = 8.0
        with pytest.raises(xl.ReadOnlyError):
            later *= 2.0
    assert c.tolist() == [1.0, 7.0, 7.0]


def test_late_reads_anew() -> None:
    c = xl.asarray([1.0, 2.0, 3.0])
    early, late = xl.filter(c, c > 1) * 2, xl.late(xl.filter(c, c > 1) * 2)
    c[2] = 30.0
    assert (early.tolist(), late.tolist()) == ([4.0, 6.0], [4.0, 60.0])


PICKS: dict[str, tuple[tuple[int, ...], Any]] = {
    "a line": ((6,), np.array([5, 0, -1, 2])),
    "rows": ((4, 3), np.array([3, -4, 0])),
    "columns": ((4, 3), (slice(None), np.array([2, 2, -3]))),
    "in the middle": ((2, 5, 3), (slice(None), np.array([4, -2]))),
    "two dimensions": ((6,), np.array([[5, 0, 1], [-1, 2, 3]])),
    "every second": ((6,), np.arange(6)[::2]),
    "a list": ((4, 3), [3, 0]),
    "int32": ((4, 3), np.array([3, 0], np.int32)),
    "odd sizes": ((7,), np.array([1, 2, 3])),
    "of a row": ((4, 3), (-3, np.array([2, 0]))),
    "of a column": ((4, 3), (np.array([3, -4, 0]), 1)),
    "of rows apart": ((4, 6), (np.array([3, 0, -4]), slice(1, None, 2))),
    "of the last": ((2, 5, 3), (..., np.array([2, -3]))),
    "of a part": ((4, 6), (slice(1, 3), np.array([[5, 0]]))),
}


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex128"])
@pytest.mark.parametrize("name", PICKS)
def test_picked_elements_are_read_again_where_they_are(name: str, dtype: str) -> None:
    shape, key = PICKS[name]
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for native in (True, False):
        (natives.install if native else natives.remove)()
        a = xl.asarray(values, copy=True)
        own = deepcopy(key)
        now = a[own]
        late, part = xl.late(now), xl.late(now[..., ::-1])
        for part_of_key in own if isinstance(own, tuple) else (own,):
            if isinstance(part_of_key, np.ndarray):
                part_of_key[...] = 0  # positions are those that were given
        np.testing.assert_array_equal(xl.eval(now), values[key])
        a += 1
        np.testing.assert_array_equal(now, values[key])
        np.testing.assert_array_equal(late, values[key] + values.dtype.type(1))
        np.testing.assert_array_equal(part, (values[key] + values.dtype.type(1))[..., ::-1])
        copy = xl.eval(now)
        copy[...] = 0
        np.testing.assert_array_equal(now, values[key])
        a.assign(xl.zeros(3))  # the elements stay where they are
        np.testing.assert_array_equal(now, values[key])


def test_views_stay_where_they_are() -> None:
    c = xl.asarray([1.0, 2.0, 3.0])
    view = xl.index_view(c, np.array([2, 0]))
    c.assign(xl.zeros((4, 4)))
    assert xl.eval(view).tolist() == [3.0, 1.0]


def test_a_traced_function_gathers() -> None:
    def picked(c: Any) -> Any:
        return xl.index_view(c, np.array([2, 0])) + xl.filter(c, np.array([True, True, False]))

    call = xl.jit(picked)
    for k in range(3):
        assert call(xl.asarray([1.0, 2.0, 3.0 + k])).tolist() == [4.0 + k, 3.0]


def test_references_are_balanced() -> None:
    c, m, p = xl.asarray(np.arange(6.0)), np.array(M), np.array(AT)
    things = [c._buffer, c._kind, m, p, None, xl.filter(c, m).positions()]

    def work() -> None:
        view, other = xl.filter(c, m), xl.index_view(c, p)
        xl.eval(view * 2)
        xl.eval(other)
        view[...] = 1.5
        view *= 2.0
        other[...] = xl.index_view(c, p)
        c[p] += 1.0
        c[m] *= c[m]
        fresh = c.copy()
        fresh[...] = -fresh + fresh[[0, 1, 2, 3, 4, 5]] * 2 + xl.at(c, 1)
        grid = fresh.reshape(2, 3)
        grid[p % 2, p % 3] = grid[p % 2, p % 3] + 1
        xl.eval(grid[1, p % 3] + grid[[0, 1], 0].sum() + grid[:, [True, False, True]].sum())
        grid.sort()
        xl.zeros((2, 3), "int8")
        xl.view(grid, xl.newaxis, xl.range(None, None, -1))[...] = 1.5
        xl.flatten(grid[:, :2])[...] = 2.0
        other[...] = xl.eval(c[p])
        kept = xl.view(c, xl.keep(4, 1, 1))
        kept[...] = xl.view(c, xl.drop(0, 2, 5))
        columns = xl.view(grid, xl.range(), xl.keep(2, 0, 0))
        columns[...] = xl.view(grid, xl.range(), xl.keep(1, 2, 2))
        xl.eval(xl.view(grid, xl.keep(0)) + kept[0])
        xl.eval(xl.flatten(grid, "column_major"))
        with pytest.raises(xl.IndexRangeError):
            xl.index_view(c, np.array([9]))

    moves, _ = references.moved(lambda: [work() for _ in range(100)], things)
    assert max(moves) < 20  # one lost or kept a round would be 100


GRID = np.arange(12) % 5 < 2


@together(
    "key", [AT % 3, (AT % 4, AT % 3), (..., AT % 3), GRID.reshape(4, 3), (GRID[:4], slice(2)), 1]
)
def test_numbers_written_through_arrays(key: Any) -> None:
    want = np.zeros((4, 3))
    c = xl.zeros((4, 3))
    waiting = c + 1
    for number in (2.5, 3, xl.asarray([4.0])[0]):
        c[key] = number
        want[key] = float(number)
        np.testing.assert_array_equal(c, want)
    assert float(xl.max(waiting)) == 1
    for bad in (np.array([4]), np.array([True]), (0, np.array([-4]))):
        with pytest.raises(xl.IndexRangeError):
            c[bad] = 9.0
    c.flags.writeable = False
    with pytest.raises(xl.ReadOnlyError):
        c[key] = 9.0
    np.testing.assert_array_equal(c, want)


#: What is written to elements that an index array selects of ``c``: two rows or elements of it.
ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "lazy": lambda c, k: c[k] + 1,
    "updated": lambda c, k: c[k].__iadd__(2),
    "updated by another": lambda c, k: c[k].__imul__(c[k]),
    "a copy": lambda c, k: xl.eval(c[k] * 3),
    "of the same memory": lambda c, k: c[:2],
    "reversed": lambda c, k: c[1::-1],
    "of one row": lambda c, k: c[:1] * 2,
    "too many": lambda c, k: c[:3] * 2,
    "of another dtype": lambda c, k: xl.astype(c[k], "complex64"),
    "its own elements": lambda c, k: c[k],
}

ONE, FLAGS = np.array([5, -4]), np.array([False, True, False, False, True, False])


@pytest.mark.parametrize(("name", "dtype"), [*((k, "float64") for k in ROWS), ("lazy", "int16")])
def test_arrays_written_through_arrays(name: str, dtype: str) -> None:
    keys = [ONE, ONE[::-1], ONE * 0 + 3, ONE.astype("int8"), ONE + 1, FLAGS, xl.asarray(FLAGS)]
    keys += [xl.asarray(ONE), xl.asarray(ONE) + 0, ONE.reshape(2, 1), ONE.tolist(), FLAGS[:5], ...]
    for shape in [(6,), (6, 2)]:
        for key in [*keys, (slice(None), np.array([0, 1]))][: len(keys) + len(shape) - 1]:

            def work(key: Any = key, shape: tuple[int, ...] = shape) -> Any:
                c = xl.asarray(np.arange(np.prod(shape)).reshape(shape), dtype=dtype)
                before = c.tolist()
                waiting = [c * 3]
                told = []
                for _ in range(2):  # then with nobody waiting
                    try:
                        c[key] = ROWS[name](c, key)
                    except (ValueError, TypeError, IndexError) as error:
                        told.append((type(error), str(error)))
                    told.append(c.tolist())
                    waiting.clear()
                return before, told

            both(work)


def test_in_place_on_lazy_results() -> None:
    def work(update: Callable[[Any], Any]) -> Any:
        c = xl.asarray([1.0, 2.0, 4.0])
        e = c + 1
        other, before = e, e * 10
        update(e)
        held = e * 1
        update(e)
        view = e[1:]
        update(e)
        return e.tolist(), other is e, before.tolist(), held.tolist(), view.tolist(), c.tolist()

    for update in [
        lambda e: e.__iadd__(1),
        lambda e: e.__imul__(0.5),
        lambda e: e.__isub__(e),
        lambda e: e.__iadd__(xl.asarray([1.0, 1.0, 1.0])),
        lambda e: e.__iadd__(xl.asarray([2.0])),
        lambda e: [e.__iadd__(1) for _ in range(40)],
        lambda e: e.__iadd__(1j),
        lambda e: e.__iadd__(np.zeros((2, 3))),
    ]:
        both(lambda update=update: work(update))


@pytest.mark.parametrize("key", [np.array([1, 2, 3, 0]), np.array([True] * 4), [1, 2, 3, 0]])
def test_read_only_views_of_the_destination_are_read_first(key: Any) -> None:
    for shape in ((4,), (4, 3)):
        v = np.arange(12.0)[: int(np.prod(shape))].reshape(shape)
        shown: list[Callable[[Any], Any]] = [lambda x: xl.broadcast_to(x, x.shape), _read_only]
        for make in shown:
            x = xl.asarray(v)
            expected = v.copy()
            expected[key] = v
            x[key] = make(x)
            assert x.tolist() == expected.tolist()


def _read_only(x: Any) -> Any:
    view = x[:]
    view.flags.writeable = False
    return view


@pytest.mark.parametrize(
    "work",
    [
        lambda x: x > 0,
        lambda x: -x,
        lambda x: x + x,
        lambda x: x.astype("float32"),
        lambda x: x.sum(),
    ],
)
def test_what_no_elements_lie_like_is_not_learned(work: Callable[[Any], Any]) -> None:
    values = np.arange(20.0).reshape(4, 5) - 9
    warm = xl.asarray(values)[..., 0]  # strides of 5 are known
    assert warm.tolist() == values[..., 0].tolist()
    natives.install()
    xl.eval(work(xl.zeros((0, 5))[..., 0]))
    made = xl.eval(work(xl.asarray(values)[..., 0]))
    natives.remove()
    assert np.array_equal(np.asarray(made), work(values[..., 0]))


def test_what_a_view_is_of_stays_when_its_container_moves() -> None:
    """Machine code makes no view of the base; Python makes it when somebody asks for it."""

    def work() -> Any:
        c = xl.asarray([4.0, 1.0, 3.0, 0.0, 5.0, 2.0])
        views = [xl.index_view(c, AT), xl.filter(c, M), xl.filter(c, c > 2)]
        memory = c[:]
        c.resize_((8,))
        c[...] = 9.0
        before = [told(v) for v in views]
        waiting = [v * 2 for v in views] + [xl.late(v + 1) for v in views]
        views[0][...] = views[0] + 0.5
        views[1][...] = 7.0
        views[2] += 1
        same = [v.base is v.base for v in views]
        facts = [(v.base.tolist(), v.parent_index(-1), v[1], v[::-1].tolist()) for v in views]
        other = [xl.index_view(v, np.array([1, 0])).tolist() for v in views]
        missing = [hasattr(v, "nothing") for v in views]
        return before, [told(e) for e in waiting], memory.tolist(), same, facts, other, missing

    both(work)
