"""Functions that move, repeat, join and cut, for any shape, axis and count, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.ir.kind import NODE
from xarraylite.testing import assert_same_bits

SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)
FEW = settings(max_examples=25)


def both(shape: tuple[int, ...], how: int) -> tuple[Any, Any]:
    """The same numbers here, in one of several layouts or lazy, and in NumPy."""
    theirs = np.arange(float(np.prod(shape))).reshape(shape)
    if how == 1:
        return xl.asarray(theirs, layout="column_major"), theirs
    if how == 2:
        return xl.asarray(theirs)[::-1], theirs[::-1]
    if how == 3:
        return xl.asarray(theirs) + 0, theirs
    return xl.asarray(theirs), theirs


def same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
        return
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(np.asarray(ours), theirs)


@FEW
@given(SHAPES, st.integers(0, 3), st.data())
def test_roll_and_repeat(shape: tuple[int, ...], how: int, data: st.DataObject) -> None:
    x, y = both(shape, how)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    shift = data.draw(st.integers(-9, 9))
    same(xl.roll(x, shift, axis), np.roll(y, shift, axis))
    count = data.draw(st.integers(0, 3))
    same(xl.repeat(x, count, axis=axis), np.repeat(y, count, axis))
    extent = y.size if axis is None else shape[axis]
    counts = data.draw(st.lists(st.integers(0, 3), min_size=extent, max_size=extent))
    same(xl.repeat(x, np.array(counts, int), axis=axis), np.repeat(y, np.array(counts, int), axis))


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_one_value_is_repeated_along_the_axis_of_a_vector(axis: int | None) -> None:
    for number in (0, 2, [3]):
        same(
            xl.repeat(xl.asarray(3.0), number, axis=axis), np.repeat(np.asarray(3.0), number, axis)
        )
    with pytest.raises(xl.AxisError, match="repeat"):
        xl.repeat(xl.asarray(3.0), 2, axis=1)


def test_arrays_of_more_than_half_the_highest_rank_are_tiled() -> None:
    line = np.arange(3).reshape((1,) * 39 + (3,))
    for times in (2, (1,) * 64, (2, *[1] * 40)):
        same(xl.tile(xl.asarray(line), times), np.tile(line, times))


@FEW
@given(SHAPES, st.integers(0, 3), st.lists(st.integers(0, 3), max_size=4), st.data())
def test_tile_and_pad(
    shape: tuple[int, ...], how: int, times: list[int], data: st.DataObject
) -> None:
    x, y = both(shape, how)
    same(xl.tile(x, tuple(times)), np.tile(y, tuple(times)))
    width = st.tuples(st.integers(0, 3), st.integers(0, 3))
    widths = [data.draw(width) for _ in shape]
    same(xl.pad(x, widths, constant_values=7), np.pad(y, widths, constant_values=7))
    if y.size:
        for mode in ("edge", "wrap", "reflect", "symmetric"):
            same(xl.pad(x, widths, mode), np.pad(y, widths, mode))


@together("mode", ["edge", "wrap", "reflect", "symmetric"])
@together("width", [(0, 1), (1, 0), (3, 2), (2048, 5), (2500, 2499), (9000, 1)])
def test_pad_of_many(mode: Any, width: tuple[int, int]) -> None:
    y = np.arange(5000.0)
    same(xl.pad(xl.asarray(y), width, mode), np.pad(y, width, mode))
    wide = y.reshape(1, 5000) * np.ones((3, 1))
    widths = ((1, 2), width)
    same(xl.pad(xl.asarray(wide), widths, mode), np.pad(wide, widths, mode))
    turned = np.ascontiguousarray(wide.T)
    same(xl.pad(xl.asarray(turned).T, widths, mode), np.pad(wide, widths, mode))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_truth_values_are_positions_of_take(axis: int | None) -> None:
    y = np.arange(6).reshape(2, 3)
    for at in (True, [True, False], np.array([[True, False]])):
        same(xl.take(xl.asarray(y), at, axis=axis), np.take(y, at, axis))
        same(xl.asarray(y).take(xl.asarray(at), axis), y.take(at, axis))


@FEW
@given(SHAPES, st.integers(0, 3), st.data())
def test_diff_and_take(shape: tuple[int, ...], how: int, data: st.DataObject) -> None:
    x, y = both(shape, how)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = data.draw(st.integers(0, 5))
    same(xl.diff(x, n, axis), np.diff(y, n, axis))
    extent = shape[axis]
    if extent:
        places = data.draw(st.lists(st.integers(-extent, extent - 1), max_size=5))
        index = np.array(places, int)
        same(xl.take(x, index, axis=axis), np.take(y, index, axis))
        same(xl.take(x, index[:1].reshape(-1, 1), axis), np.take(y, index[:1].reshape(-1, 1), axis))
        same(xl.take(x, 0, axis=axis), np.take(y, 0, axis))


@FEW
@given(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(0, 3), st.integers(-6, 6))
def test_diagonals(shape: tuple[int, int], how: int, k: int) -> None:
    x, y = both(shape, how)
    inside = -shape[0] <= k <= shape[1]
    if inside:  # beyond, NumPy has no diagonal and we have an empty one
        same(xl.diagonal(x, k), np.diagonal(y, k))
        same(xl.trace(x, k), np.trace(y, k))
    same(xl.tril(x, k), np.tril(y, k))
    same(xl.triu(x, k), np.triu(y, k))
    same(
        xl.diag(x[0], k) if shape[0] else xl.diag(xl.zeros(0), k),
        np.diag(y[0] if shape[0] else np.zeros(0), k),
    )


@FEW
@given(SHAPES, st.integers(0, 3), st.integers(1, 5), st.data())
def test_parts(shape: tuple[int, ...], how: int, parts: int, data: st.DataObject) -> None:
    x, y = both(shape, how)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    same(xl.array_split(x, parts, axis), np.array_split(y, parts, axis))
    cuts = sorted(data.draw(st.lists(st.integers(0, 5), max_size=3)))
    same(xl.split(x, cuts, axis), np.split(y, cuts, axis))
    same(xl.unstack(x, axis=axis), tuple(np.moveaxis(y, axis, 0)))
    same(xl.stack([x, x], axis=axis), np.stack([y, y], axis))
    same(xl.kron(x, x), np.kron(y, y))


COPIES = {
    "repeat": lambda xp, v: xp.repeat(v, 1),
    "repeat rows": lambda xp, v: xp.repeat(v[:1], 2, axis=0),
    "tile": lambda xp, v: xp.tile(v, 1),
    "tile rows": lambda xp, v: xp.tile(v, (2, *[1] * v.ndim)),
    "ravel of steps": lambda xp, v: xp.ravel(v.reshape(-1)[::2]),
    "ravel backwards": lambda xp, v: v.reshape(-1)[::-1].ravel(),
    "ravel of a column": lambda xp, v: v[..., 0].ravel("F"),
}


@together("lazy", [False, True])
@together("name", COPIES)
def test_what_numpy_copies_is_no_view(name: str, lazy: bool) -> None:
    for _ in range(3):  # called once, looked up, remembered
        ours, theirs = xl.asarray([[1, 2], [3, 4]]), np.asarray([[1, 2], [3, 4]])
        if lazy:
            ours, theirs = ours + 0, theirs + 0
        made, expected = COPIES[name](xl, ours), COPIES[name](np, theirs)
        ours[...], theirs[...] = -1, -1
        same(made, expected)
        made += 1
        same(made, expected + 1)
        same(ours, theirs)


@together("order", ["C", "F", "A", "K"])
@together("way", ["ravel", "flatten", "reshape"])
def test_orders_are_those_of_the_memory(way: str, order: str) -> None:
    if (way, order) == ("reshape", "K"):
        with pytest.raises(ValueError, match="order must be"):
            xl.zeros((2, 3)).reshape(-1, order="K")
        return
    theirs = np.arange(24).reshape(2, 3, 4)
    ours = xl.asarray(theirs)
    shape = (-1,) if way == "reshape" else ()
    for axes in [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)]:
        for cut in (slice(None), slice(None, None, -1)):
            a, b = ours.transpose(axes)[cut], theirs.transpose(axes)[cut]
            same(getattr(a, way)(*shape, order=order), getattr(b, way)(*shape, order=order))
    tiled = xl.asarray(theirs[0], layout="{1,0:T(2,2)}")
    same(
        getattr(tiled, way)(*shape, order=order), np.ravel(theirs[0], "F" if order == "F" else "C")
    )


def test_windows() -> None:
    x = np.arange(12.0).reshape(3, 4)
    windows = np.lib.stride_tricks.sliding_window_view
    same(xl.sliding_window_view(xl.asarray(x), (2, 3)), windows(x, (2, 3)))
    same(xl.sliding_window_view(xl.asarray(x), 2, axis=1), windows(x, 2, axis=1))
    with pytest.raises(xl.ShapeError, match="a window of 5 along axis 1"):
        xl.sliding_window_view(xl.asarray(x), 5, axis=1)
    tiled = xl.asarray(x, layout="{1,0:T(2,2)}")
    same(xl.sliding_window_view(tiled, (2, 2)), windows(x, (2, 2)))
    same(xl.sliding_window_view(tiled[::-1, 1:], (2, 1, 2), axis=(0, 1, 0)),
         windows(x[::-1, 1:], (2, 1, 2), axis=(0, 1, 0)))  # fmt: skip
    f = xl.jit(lambda a: xl.sliding_window_view(a * 2, 2, axis=0).sum(-1))
    same(f(xl.asarray(x)), windows(x * 2, 2, axis=0).sum(-1))


def test_windows_are_views() -> None:
    a = xl.arange(1e6)
    for x in (a, a * 2):
        w = xl.sliding_window_view(x, 5000)  # of which the positions alone would take 40 GB
        x[2] = -1
        assert (w[0, 2], w[2, 0], w.shape) == (-1, -1, (995_001, 5000))
        with pytest.raises(xl.ReadOnlyError):
            w[...] = 0
        with pytest.raises(xl.OverlapError):
            xl.sliding_window_view(x, 3, writeable=True)[...] = 0
    assert a[2] == -1


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy has none then")
@pytest.mark.parametrize(
    "x", [np.arange(6.0).reshape(2, 3), np.arange(4, dtype="u1").reshape(2, 2)]
)
@pytest.mark.parametrize("y", [np.array([5.0, 7.0, 3.0]), np.array([7.0, 2.0]), [1, 2]])
def test_cross_products_in_the_plane(x: Any, y: Any) -> None:
    assert_same_bits(xl.eval(xl.cross(xl.asarray(x), y)), np.cross(x, y))
    assert_same_bits(xl.eval(xl.cross(y, xl.asarray(x))), np.cross(y, x))
    assert_same_bits(xl.eval(xl.cross(xl.asarray(x.T), y, axisa=0)), np.cross(x.T, y, axisa=0))


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "roll": (lambda a: xl.roll(a, (1, 2, 3), (0, 1)), xl.ShapeError, "3 shifts for 2 axes"),
    "repeat": (
        lambda a: xl.repeat(a, [1, 2], axis=1),
        xl.ShapeError,
        "2 repeats for an extent of 3",
    ),
    "negative": (lambda a: xl.repeat(a, -1), xl.ShapeError, "negative"),
    "tile": (lambda a: xl.tile(a, (-1,)), xl.ShapeError, "tile: extents must not be negative"),
    "pad": (lambda a: xl.pad(a, ((1, 2),) * 3), xl.ShapeError, "one pair per dimension"),
    "width": (lambda a: xl.pad(a, -1), xl.ShapeError, "integers of 0 or more"),
    "mode": (lambda a: xl.pad(a, 1, "nothing"), ValueError, "pad.*mode='nothing'"),
    "split": (lambda a: xl.split(a, 2, 1), xl.ShapeError, "no 2 equal parts; use array_split"),
    "parts": (lambda a: xl.array_split(a, 10**30), xl.SizeError, "more than a list can have"),
    "equal parts": (lambda a: xl.split(a[:0], 10**30), xl.SizeError, "more than a list can have"),
    "diff": (lambda a: xl.diff(a, -1), ValueError, "n must not be negative"),
    "diff of what may be missing": (
        lambda a: xl.diff(xl.optional(a), -1),
        ValueError,
        "diff.*n must not be negative",
    ),
    "diag": (lambda a: xl.diag(xl.zeros((2, 2, 2))), xl.ShapeError, "rank must be 1 or 2"),
    "cross": (lambda a: xl.cross(a, xl.zeros(4)), xl.ShapeError, "must be 3 or 2"),
    "cross of the standard": (
        lambda a: xl.linalg.cross(xl.ones(2), xl.ones(3)),
        xl.ShapeError,
        "must be 3 .xl.cross",
    ),
    "take": (lambda a: xl.take(a, [9]), xl.IndexRangeError, "9"),
    "take mode": (lambda a: xl.take(a, [0], mode="no"), ValueError, "mode must be"),
    "roll by a matrix": (
        lambda a: xl.roll(a, [[1]], 0),
        xl.ShapeError,
        "must be integers, or vectors",
    ),
    "unstack": (lambda a: xl.unstack(xl.asarray(1.0)), xl.AxisError, "unstack"),
    "reshape": (lambda a: xl.reshape(a, (3, 2), "Z"), ValueError, "order must be"),
    "block": (lambda a: xl.block([[a], a]), xl.ShapeError, "not nested equally deep"),
}


@together("name", REFUSED)
def test_refused(name: str) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        call(xl.zeros((2, 3)))


def test_ix_views_positions() -> None:
    a, x = xl.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    for parts in (
        ([0, 2], [1, 3]),
        ([True, False, True], [0]),
        ([], [1]),
        (np.array([1]), range(2)),
    ):
        ours, theirs = xl.ix_(*parts), np.ix_(*parts)
        assert [p.shape for p in ours] == [p.shape for p in theirs]
        assert_same_bits(a[ours], x[theirs])
    places = xl.asarray([0, 1, 1])
    rows, columns = xl.ix_(places, places)
    places[0] = 2
    assert (int(rows[0, 0]), int(columns[0, 0])) == (2, 2)  # NumPy's are views too
    with pytest.raises(xl.ShapeError, match="rank 1"):
        xl.ix_([[1]])


@together("strides", [(0, 8, 24), (8, 0, 24), (8, 24, 0), (0, 24, 8), (24, 0, 8), (0, 0, 8)])
def test_broadcast_dimensions_stay_in_flatten(strides: tuple[int, ...]) -> None:
    extents = {0: 2, 8: 3, 24: 2}
    shape = tuple([extents[s] for s in strides])
    plain = np.lib.stride_tricks.as_strided(np.arange(6), shape, strides, writeable=False)
    ours = xl.asarray(plain, copy=False)
    assert ours.flatten("K").tolist() == plain.flatten("K").tolist()


def test_a_frame_of_constants_has_a_form() -> None:
    """So what is asked for again is remembered, and no nodes are made."""
    a = xl.asarray([1, 2], dtype="int16")
    for options in ({}, {"constant_values": 1.7}, {"constant_values": (3, 4)}):
        padded = xl.pad(a, 1, **options)
        assert padded._kind is not NODE
        same(padded, np.pad(np.array([1, 2], "i2"), 1, **options))


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "int4", "bool", "complex64"])
def test_small_grids(dtype: str) -> None:
    x, y = xl.asarray([0, 1, 1], dtype=dtype), xl.asarray([1.0, 2.0])
    for indexing in ("xy", "ij"):
        made = xl.meshgrid(x, y + 1, indexing=indexing)
        theirs = np.meshgrid([0, 1, 1], [2.0, 3.0], indexing=indexing)
        assert [m.dtype for m in made] == [x.dtype, y.dtype]
        for mine, other in zip(made, theirs, strict=True):
            assert isinstance(mine, xl.XArray)
            np.testing.assert_array_equal(np.asarray(mine, dtype=complex), other)
    made[0][...] = 0
    assert x.tolist()[1] == 1
