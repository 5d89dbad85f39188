"""Every kind of view against NumPy: what it reads and writes is what an array of indices says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from xarraylite.transforms import natives
from xarraylite.xtensor_views import scattered

Array = np.ndarray[Any, Any]


@contextmanager
def taken_for(many: bool) -> Iterator[None]:
    """Have even few elements gathered by a kernel, as many are."""
    with pytest.MonkeyPatch.context() as patch:
        if many:
            natives.remove()  # which knows no such bound
            patch.setattr(scattered, "FEW", -1)
        yield


def containers(shape: tuple[int, ...]) -> dict[str, Callable[[Array], Any]]:
    """Ways to hold values: whole and cut, in either order, reversed, tiled."""

    def cut(values: Array) -> Any:
        room = xl.zeros(tuple([2 * n + 3 for n in shape]), dtype="int64")
        part = room[tuple([slice(1, 1 + 2 * n, 2) for n in shape])]
        part[...] = values
        return part

    def turned(values: Array) -> Any:
        return xl.asarray(np.ascontiguousarray(np.flip(values).T)).T[
            (slice(None, None, -1),) * len(shape)
        ]

    def part_of(number: int) -> Callable[[Array], Any]:
        def made(values: Array) -> Any:
            whole = xl.zeros((shape[0] + 1, *shape[1:]), dtype="int64")
            pairs = xl.asarray(np.zeros((*whole.shape, 2), np.int64)).view("complex128")[..., 0]
            part = xl.offset_view(pairs, "int64", number)[1:]
            part[...] = values
            return part

        return made

    made: dict[str, Callable[[Array], Any]] = {
        "row": xl.asarray,
        "tensor": xl.XTensor,
        "fixed": xl.XTensorFixed[xl.int64, shape],
        "adapted": lambda values: xl.adapt(values.copy()),
        "first part": part_of(0),
        "second part": part_of(1),
        "column": lambda values: xl.asarray(values, layout="column_major"),
        "cut": cut,
        "turned": turned,
    }
    if len(shape) == 2:
        made["tiled"] = lambda values: xl.asarray(values, layout="{1,0:T(2,2)}")
    return made


@st.composite
def bases(draw: st.DrawFn) -> tuple[Any, Array]:
    """A container, and a NumPy array of its values, all different."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    values = np.arange(100, 100 + int(np.prod(shape))).reshape(shape)
    made = containers(shape)
    a = made[draw(st.sampled_from(sorted(made)))](values)
    np.testing.assert_array_equal(a, values)
    return a, values


@st.composite
def items(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[list[Any], tuple[Any, ...]]:
    """Items of a view, and what NumPy's outer index has for each dimension."""
    mine: list[Any] = []
    theirs: list[Any] = []
    for n in shape:
        if draw(st.integers(0, 5)) == 0:
            mine.append(None)
        some = draw(st.lists(st.integers(-n, n - 1), max_size=5)) if n else []
        kinds = ["slice", "keep", "drop", "all", "int"]
        kind = draw(st.sampled_from(kinds if n else kinds[:-1]))
        if kind == "int":
            mine.append(draw(st.integers(-n, n - 1)))
            theirs.append(mine[-1])
        elif kind == "slice":
            mine.append(draw(st.slices(n)))
            theirs.append(mine[-1])
        elif kind == "all":
            mine.append(xl.range())
            theirs.append(slice(None))
        else:
            mine.append(xl.keep(*some) if kind == "keep" else xl.drop(some))
            full = np.arange(n)
            theirs.append(full[some] if kind == "keep" else np.delete(full, some))
    while mine and isinstance(mine[-1], slice) and mine[-1] == slice(None) and draw(st.booleans()):
        mine.pop()
    return mine, tuple(theirs)


def outer(numbers: Array, mine: list[Any], theirs: tuple[Any, ...]) -> Array:
    """Index one dimension after the other, as xtensor does; then put the new axes in."""
    axis = 0
    for item in theirs:
        numbers = numbers[(slice(None),) * axis + (item,)]
        axis += not isinstance(item, int)
    place = 0
    for item in mine:
        if item is None:
            numbers = np.expand_dims(numbers, place)
        place += not isinstance(item, int)
    return numbers


def steps_of(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[list[int], list[list[int]], Any]:
    """A first index, steps of new dimensions in units of old ones, and new extents."""
    at = [draw(st.integers(0, n - 1)) for n in shape]
    low, high = list(at), list(at)  # what the new dimensions reach
    paces: list[list[int]] = []
    extents = []
    for _ in range(draw(st.integers(0, 3))):
        pace = [draw(st.integers(-2, 2)) for _ in shape]
        rooms = [(n - 1 - b, a) for n, a, b in zip(shape, low, high, strict=True)]
        most = min([4, *[rooms[k][p < 0] // abs(p) for k, p in enumerate(pace) if p]])
        extents.append(draw(st.integers(1, most + 1)))
        for k, p in enumerate(pace):
            low[k] += min(p, 0) * (extents[-1] - 1)
            high[k] += max(p, 0) * (extents[-1] - 1)
        paces.append(pace)
    return at, paces, tuple(extents)


def restrided(draw: st.DrawFn, view: Any, numbers: Array) -> tuple[Any, Array]:
    """A view under other strides: diagonals, windows, repeated and reversed elements."""
    at, paces, extents = steps_of(draw, numbers.shape)
    index = [np.full(extents, i) for i in at]
    for axis, (pace, n) in enumerate(zip(paces, extents, strict=True)):
        along = np.arange(n).reshape([-1 if k == axis else 1 for k in range(len(extents))])
        index = [i + p * along for i, p in zip(index, pace, strict=True)]
    own = [int(np.prod(numbers.shape[k + 1 :])) for k in range(numbers.ndim)]
    with suppress(AttributeError, xl.LayoutError):  # else elements are counted in row-major order
        own = list(view.strides)
    strides = [sum([p * s for p, s in zip(pace, own, strict=True)]) for pace in paces]
    first = sum([i * s for i, s in zip(at, own, strict=True)])
    return xl.as_strided(view, extents, strides, first), numbers[tuple(index)]


KINDS = ["view", "dynamic", "index", "filter", "reshape", "flat"]
KINDS += ["strided", "T", "restrided", "block", "line"]


@st.composite
def viewed(draw: st.DrawFn) -> tuple[Any, Array, Any, Array]:
    """A container, its values, a view of it of any kind, and the positions that the view means."""
    a, values = draw(bases())
    return a, values, *view_of(draw, a, values)


def view_of(draw: Any, a: Any, values: Array) -> tuple[Any, Array]:
    """A view of any kind of a container, and the positions that the view means."""
    numbers = np.arange(values.size).reshape(values.shape)
    view: Any = a
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(KINDS))
        if kind in ("view", "dynamic"):
            mine, theirs = draw(items(numbers.shape))
            view = xl.view(view, *mine) if kind == "view" else xl.dynamic_view(view, mine)
            numbers = outer(numbers, mine, theirs)
        elif kind == "index":
            count = draw(st.integers(0, 4)) if numbers.size else 0
            ends = [st.integers(-n, n - 1) for n in numbers.shape] if count else []
            listed = [draw(st.tuples(*ends)) for _ in range(count)]
            view = xl.index_view(view, listed)
            numbers = np.array([numbers[i] for i in listed], np.int64).reshape(count)
        elif kind == "filter":
            mask = np.array(
                draw(st.lists(st.booleans(), min_size=numbers.size, max_size=numbers.size))
            )
            mask = mask.astype(bool).reshape(numbers.shape)
            order = draw(st.sampled_from(["row_major", "column_major"]))
            view = xl.filter(view, mask, order=order)
            numbers = numbers.T[mask.T] if order == "column_major" else numbers[mask]
        elif kind == "reshape":
            order = draw(st.sampled_from(["row_major", "column_major"]))
            rows = draw(st.sampled_from([k for k in range(1, 9) if numbers.size % k == 0]))
            shape = (rows, numbers.size // rows)
            view = xl.reshape_view(view, (rows, -1) if numbers.size else shape, order)
            numbers = numbers.reshape(shape, order="C" if order == "row_major" else "F")
        elif kind == "restrided" and numbers.ndim and numbers.size:
            view, numbers = restrided(draw, view, numbers)
        elif kind == "block":
            ways = [[k for k in range(1, n + 1) if n % k == 0] or [1] for n in numbers.shape]
            sizes = [draw(st.sampled_from(way)) for way in ways]
            split = [m for n, k in zip(numbers.shape, sizes, strict=True) for m in (n // k, k)]
            order = [*range(0, len(split), 2), *range(1, len(split), 2)]
            view, numbers = (
                xl.block_view(view, sizes),
                numbers.reshape(split).transpose(order),
            )
        elif kind == "line" and numbers.ndim == 2 and numbers.size:
            k, name = draw(st.integers(-min(numbers.shape), -1)), draw(st.booleans())
            view = xl.row(view, k) if name else xl.col(view, k)
            numbers = numbers[k] if name else numbers[:, k]
        elif kind == "flat":
            view, numbers = xl.flatten(view), numbers.reshape(-1)
        elif kind == "strided" and numbers.ndim:
            view, numbers = (
                xl.strided_view(view, [xl.ellipsis, slice(None, None, -1)]),
                numbers[..., ::-1],
            )
        else:
            view, numbers = view.T, numbers.T
    return view, numbers


def assigned(values: Array, numbers: Array, new: Array) -> Array:
    """What assigning one element after the other leaves: the last of equal positions wins."""
    result = values.copy().reshape(-1)
    for position, value in zip(
        numbers.reshape(-1), np.broadcast_to(new, numbers.shape).reshape(-1), strict=True
    ):
        result[position] = value
    return result.reshape(values.shape)


@settings(max_examples=40)
@given(viewed(), st.booleans())
def test_reading(case: tuple[Any, Array, Any, Array], many: bool) -> None:
    a, values, view, numbers = case
    want = values.reshape(-1)[numbers]
    assert view.shape == numbers.shape
    np.testing.assert_array_equal(view.numpy(), want)
    with taken_for(many):
        for _ in range(3):  # what is asked for again is kept ready
            np.testing.assert_array_equal(xl.eval(view * 2 + 1), want * 2 + 1)
            np.testing.assert_array_equal(xl.eval(view), want)
        assert int(xl.sum(1 + view)) == want.sum() + want.size
        before, later = 1 - view, xl.late(view * 2)
        if not repeats(a):
            a += 1
            np.testing.assert_array_equal(before, 1 - want)
            np.testing.assert_array_equal(later, want * 2 + 2)


def repeats(view: Any) -> bool:
    """Whether strides repeat elements, so that writing is refused."""
    base = view if isinstance(view, xl.XView | xl.XArray) else view.base
    try:
        base[...] = base.copy()
    except xl.OverlapError:
        return True
    return False


@settings(max_examples=40)
@given(viewed(), st.sampled_from(["scalar", "array", "row", "itself", "update"]), st.booleans())
def test_writing(case: tuple[Any, Array, Any, Array], what: str, many: bool) -> None:
    a, values, view, numbers = case
    if repeats(view):  # of a view through positions it may be the base that does
        assert not isinstance(view, xl.XView) or len(set(numbers.flat)) < numbers.size
        return
    with taken_for(many):
        new = written(view, values.reshape(-1)[numbers], numbers, what)
    np.testing.assert_array_equal(a, assigned(values, numbers, new))


def written(view: Any, old: Array, numbers: Array, what: str) -> Array:
    """Assign to a view in some way; return what its elements should be."""
    if what == "scalar":
        new: Any = np.int64(7)
        view[...] = 7
    elif what == "array":
        new = np.arange(numbers.size).reshape(numbers.shape)
        view[...] = new
    elif what == "row":
        new = np.arange(numbers.shape[-1]) if numbers.ndim else np.int64(3)
        view.assign(xl.asarray(new) + 0) if new.shape == numbers.shape else view.__setitem__(
            ..., new
        )
    elif what == "itself":
        new = old[::-1] + 1 if old.ndim else old + 1
        view[...] = (view[::-1] if old.ndim else view) + 1
    else:
        new = old * 3
        view *= 3
    return np.asarray(new)


@settings(max_examples=40)
@given(
    viewed(),
    st.sampled_from([xl.masked_view, xl.filtration, xl.filter]),
    st.sampled_from(["scalar", "array", "itself", "update", "updated by an array"]),
    st.data(),
)
def test_masks(
    case: tuple[Any, Array, Any, Array], through: Any, what: str, data: st.DataObject
) -> None:
    a, values, view, numbers = case
    if repeats(view):
        return
    size = numbers.size
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    mask = mask.reshape(numbers.shape)
    old = values.reshape(-1)[numbers]
    chosen = mask if through is xl.filter else ...
    to, other = through(view, xl.asarray(mask)), np.arange(size).reshape(numbers.shape)
    if what == "scalar":
        new = np.full_like(old, 7)
        to[...] = 7
    elif what == "array":
        new = other
        to[...] = other[chosen]
    elif what == "itself":
        new = old * 2 + other
        to[...] = (
            (xl.asarray(old) * 2 + other).numpy()[chosen] if chosen is mask else view * 2 + other
        )
    elif what == "update":
        new = old * 3
        to *= 3
    else:
        new = old - other
        to -= xl.asarray(other[chosen])
    np.testing.assert_array_equal(a, assigned(values, numbers[mask], new[mask]))


@settings(max_examples=40)
@given(bases(), st.data(), st.sampled_from(["values", "sum", "update"]), st.booleans())
def test_any_view_assigned_to_any_other(
    base: tuple[Any, Array], data: st.DataObject, what: str, many: bool
) -> None:
    a, values = base
    to, places = view_of(data.draw, a, values)
    source, numbers = view_of(data.draw, a, values)
    if repeats(to) or not numbers.size:
        return
    ends = st.integers(0, numbers.size - 1)
    picks = data.draw(st.lists(ends, min_size=places.size, max_size=places.size))
    old = values.reshape(-1)
    got = old[numbers.reshape(-1)[picks]].reshape(places.shape)
    with taken_for(many):
        part = xl.reshape_view(xl.index_view(xl.flatten(source), picks), places.shape)
        if what == "values":
            to[...], new = part, got
        elif what == "sum":
            to[...], new = part * 2 + to, got * 2 + old[places]
        else:
            new = old[places] + got
            to += part
    np.testing.assert_array_equal(a, assigned(values, places, new))


@settings(max_examples=40)
@given(bases(), st.data())
def test_views_of_one_array_assigned_to_each_other(
    base: tuple[Any, Array], data: st.DataObject
) -> None:
    a, values = base
    n = values.shape[0]
    count = data.draw(st.integers(0, n))
    left = data.draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count))
    right = data.draw(st.permutations(range(n)))[: n - count]
    source = np.delete(np.arange(n), right)
    xl.view(a, xl.keep(left))[...] = xl.view(a, xl.drop(right)) + 1
    want = values.copy()
    for to, value in zip(left, values[source] + 1, strict=True):
        want[to] = value
    np.testing.assert_array_equal(a, want)


@settings(max_examples=40)
@given(viewed(), st.data())
def test_parts_and_parents(case: tuple[Any, Array, Any, Array], data: st.DataObject) -> None:
    a, values, view, numbers = case
    if not numbers.size or repeats(view):
        return
    index = tuple([data.draw(st.integers(0, n - 1)) for n in numbers.shape])
    where = tuple(map(int, np.unravel_index(numbers[index], values.shape)))
    assert xl.parent_index(view, index, a) == where
    key = tuple([slice(i, i + 1) for i in index])
    view[key] = -5
    want = assigned(values, numbers[key], np.int64(-5))
    np.testing.assert_array_equal(a, want)


@given(bases())
def test_orders_of_traversal(base: tuple[Any, Array]) -> None:
    a, values = base
    assert [int(x) for x in xl.flat(a)] == values.reshape(-1).tolist()
    assert [int(x) for x in xl.flat(a, "column_major")] == values.reshape(-1, order="F").tolist()
    stored = [int(x) for x in xl.flat(a, "storage")]
    assert sorted(stored) == values.reshape(-1).tolist()
    if isinstance(a, xl.XArray) and a.layout in (xl.row_major, xl.column_major):
        assert stored == np.asarray(a).ravel(order="K").tolist()
    for axis in range(values.ndim):
        parts = [part.tolist() for part in xl.iter_axis(a, axis)]
        assert parts == np.moveaxis(values, axis, 0).tolist()
        lines = [line.tolist() for line in xl.iter_lines(a, axis)]
        assert lines == np.moveaxis(values, axis, -1).reshape(-1, values.shape[axis]).tolist()


@pytest.mark.parametrize(
    "text", ["a + 0", "xl.concat([a, a])", "xl.broadcast_to(a[:1], (3, 4)) * 1"]
)
def test_views_of_expressions_are_expressions(text: str) -> None:
    a = xl.reshape(xl.arange(12), (3, 4))
    e = eval(text, {"a": a, "xl": xl})
    values = np.asarray(e)
    for view, want in [
        (xl.view(e, xl.keep(2, 0, 0), xl.drop(1)), values[[2, 0, 0]][:, [0, 2, 3]]),
        (xl.index_view(e, [(1, 1), (0, -1)]), values[[1, 0], [1, -1]]),
        (xl.filter(e, values > 4), values[values > 4]),
        (xl.reshape_view(e, (-1, 2), "column_major"), values.reshape((-1, 2), order="F")),
        (xl.as_strided(e, (3, 2), (1, 4)), values.reshape(-1)[[[0, 4], [1, 5], [2, 6]]]),
        (xl.flat(e, "storage"), values.reshape(-1)),
        (xl.periodic(e, -7, 9), values[-7 % len(values), 1]),
    ]:
        assert type(view) is xl.XExpression
        np.testing.assert_array_equal(view, want)
