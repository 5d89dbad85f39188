"""Tiled geometry against the definition in NumPy: reshape, pad and transpose, once per tile."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cases import together
from xarraylite.layout.digits import Digits, Tiled, simplify
from xarraylite.layout.fields import COMBINE

Ordinals = npt.NDArray[np.int64]
Case = tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, ...], ...]]
C = COMBINE


def naive(case: Case) -> Ordinals:
    """Row-major ordinals in physical order, -1 for padding: what the words of XLA say."""
    dims, order, tiles = case
    found = np.arange(math.prod(dims)).reshape(dims).transpose(order[::-1])
    for tile in tiles:
        found = _one_tile(found, tile)
    return found


def _one_tile(array: Ordinals, tile: Sequence[int]) -> Ordinals:
    while array.ndim < len(tile):
        array = array[None]
    keep = array.ndim - len(tile)
    extents, sizes, merged = list(array.shape[:keep]), [], 1
    for extent, size in zip(array.shape[keep:], tile, strict=True):
        merged *= extent
        if size != C:
            extents.append(merged)
            sizes.append(size)
            merged = 1
    rest = [-extent % size for extent, size in zip(extents[keep:], sizes, strict=True)]
    array = array.reshape(extents)
    array = np.pad(array, [(0, 0)] * keep + [(0, n) for n in rest], constant_values=-1)
    split = [
        n for extent, t in zip(array.shape[keep:], sizes, strict=True) for n in (extent // t, t)
    ]
    array = array.reshape([*extents[:keep], *split])
    count = len(sizes)
    grid, inside = range(keep, keep + 2 * count, 2), range(keep + 1, keep + 2 * count, 2)
    return array.transpose([*range(keep), *grid, *inside])


@st.composite
def cases(
    draw: st.DrawFn, *, least: int = 0, most_rank: int = 5, combine: bool = True, levels: int = 3
) -> Case:
    """Draw a layout whose extents stand around the sizes of its tiles."""
    rank = draw(st.integers(0, most_rank))
    tiles = []
    for _ in range(draw(st.integers(0, levels))):
        tile = draw(st.lists(st.sampled_from((1, 2, 3, 4, 8)), min_size=1, max_size=rank + 1))
        if combine and len(tile) > 1 and draw(st.booleans()):
            tile[draw(st.integers(0, len(tile) - 2))] = C
        tiles.append(tuple(tile))
    sizes = [t for tile in tiles for t in tile if t != C] or [2]
    dims = []
    for _ in range(rank):
        t = draw(st.sampled_from(sizes))
        dims.append(
            draw(st.sampled_from([n for n in (1, t, t - 1, t + 1, 2 * t + 1, 0) if n >= least]))
        )
    while math.prod(dims) > 600:
        dims[dims.index(max(dims))] = 2
    order = draw(st.permutations(range(rank)))
    return tuple(dims), tuple(order), tuple(tiles)


@given(cases())
@settings(max_examples=100)
@example(((3, 5), (1, 0), ((2, 2),)))
@example(((4, 8), (1, 0), ((2, 4), (2, 1))))
@example(((2, 3, 5), (2, 1, 0), ((C, C, 4),)))
@example(((2, 3, 5), (0, 2, 1), ((C, 4, 2), (C, 3))))  # a later tile combines digits
@example(((5,), (0,), ((2, 3, 4),)))  # longer than the array
@example(((), (), ((2, 4), (3,))))
@example(((20,), (0,), ((8,), (3,))))  # the second tile does not divide the first
@example(((7, 1), (0, 1), ((C, 1, 4, 2),)))
def test_every_statement_agrees_with_the_definition(case: Case) -> None:
    tiled, expected = Tiled.of(*case), naive(case)
    assert tiled.physical_dimensions == expected.shape
    assert tiled.physical_size == expected.size
    assert tiled.has_padding == (-1 in expected)
    order = expected.ravel().tolist()
    indices = list(itertools.product(*map(range, case[0])))
    assert [-1 if at is None else at for at in tiled.memory_order()] == order
    for position, ordinal in enumerate(order):
        index = tiled.multi_index(position)
        if ordinal < 0:
            assert index is None
            continue
        assert index == indices[ordinal]
        assert tiled.linear_index(index) == tiled.position_by_levels(index) == position


@given(cases(least=1))
@settings(max_examples=60)
def test_whole_arrays_of_indices_are_followed_at_once(case: Case) -> None:
    tiled, expected = Tiled.of(*case), naive(case)
    grid = np.unravel_index(np.arange(math.prod(case[0])), case[0]) if case[0] else ()
    moved = tiled.physical_index(grid)
    shape = tiled.physical_dimensions
    places = np.ravel_multi_index([np.asarray(m) for m in moved], shape) if shape else 0
    found = expected.ravel()[places].reshape(-1)
    assert np.array_equal(found, np.arange(math.prod(case[0])))


@given(cases(least=1))
@settings(max_examples=80)
def test_digits_are_there_unless_a_later_tile_combines(case: Case) -> None:
    dims, _, tiles = case
    tiled = Tiled.of(*case)
    if tiled.fields is None:
        assert any(C in tile for tile in tiles[1:])
        return
    assert sorted(d for field in tiled.fields for d in field.dims) == list(range(len(dims)))
    for field in tiled.fields:
        assert field.weights[-1] == 1
        assert field.digits[-1][0] == 1
        periods = [period for period, _ in field.digits]
        extent = math.prod([dims[d] for d in field.dims])
        assert periods == sorted(set(periods), reverse=True)
        assert periods[0] == 1 or periods[0] < extent, "a digit that is always 0 is left out"


def value(digits: Digits, e: int) -> int:
    total = 0
    for period, stride in digits:
        total += e // period * stride
        e %= period
    return total


@given(
    st.lists(st.tuples(st.sampled_from((2, 3, 4, 6, 8, 12)), st.integers(0, 50)), max_size=4),
    st.integers(0, 9),
    st.integers(0, 40),
)
def test_simplified_digits_are_the_same_function(
    digits: list[tuple[int, int]], last: int, extent: int
) -> None:
    full = (*sorted(digits, reverse=True), (1, last))
    short = simplify(full, extent)
    assert len(short) <= len(full)
    assert [value(short, e) for e in range(extent)] == [value(full, e) for e in range(extent)]


@together(
    ("case", "count"),
    [
        (((16, 256), (1, 0), ((8, 128),)), (2, 2)),
        (((8, 256), (1, 0), ((8, 128),)), (1, 2)),  # one row of tiles: rows have one stride
        (((16, 128), (1, 0), ((8, 128),)), (1, 1)),  # one column of tiles is row-major
        (((16, 256), (1, 0), ((8, 128), (2, 1))), (3, 2)),
        (((4096,), (0,), ((1024,),)), (1,)),
        (((4096,), (0,), ((1024,), (128,), (2, 1))), (3,)),
    ],
)
def test_as_few_digits_as_possible(case: Case, count: tuple[int, ...]) -> None:
    fields = Tiled.of(*case).fields
    assert fields is not None
    assert tuple(len(field.digits) for field in fields) == count


def test_large_arrays_cost_nothing() -> None:
    tiled = Tiled.of((1 << 40, 1 << 41), (1, 0), ((8, 128), (2, 1)))
    index = ((1 << 39) + 5, (1 << 40) + 77)
    position = tiled.linear_index(index)
    assert tiled.multi_index(position) == index
    assert tiled.physical_size == 1 << 81
    assert position < tiled.physical_size


def test_the_same_geometry_is_made_once() -> None:
    assert Tiled.of((3, 5), (1, 0), ((2, 2),)) is Tiled.of((3, 5), (1, 0), ((2, 2),))
