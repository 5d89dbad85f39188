"""Tiled shapes: the cuts, both ways between tiles and elements, and the jagged form."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from xarraylite._errors import ShapeError, SizeError
from xarraylite.index.box import BoundsError
from xarraylite.shapes.jagged import JaggedShape
from xarraylite.shapes.shape import Shape
from xarraylite.shapes.tiled import TiledShape

CUTS = [[5, 15, 10], [5, 15, 10]]
TILED = TiledShape(CUTS)
GRID = JaggedShape(
    [
        [Shape(5, 5), Shape(5, 15), Shape(5, 10)],
        [Shape(15, 5), Shape(15, 15), Shape(15, 10)],
        [Shape(10, 5), Shape(10, 15), Shape(10, 10)],
    ]
)

cuts = st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=3)


def test_the_tiling_of_the_design_in_both_forms() -> None:
    # Sizes stand in their order; the design's own line has 5, 10, 15 for tiles of 5, 15, 10.
    assert TILED == GRID
    assert GRID == TILED
    assert hash(TILED) == hash(GRID)
    assert TILED.rank == 4
    assert TILED.size == 900
    assert TILED.base == Shape(30, 30)
    assert TILED.grid == Shape(3, 3)
    assert TiledShape([[5, 10, 15], [5, 10, 15]]) != TILED
    assert isinstance(TILED, JaggedShape)


def test_ways_to_cut() -> None:
    assert TiledShape(Shape(30, 30), CUTS) == TILED
    assert TiledShape.from_boundaries([[0, 5, 20, 30], [0, 5, 20, 30]]) == TILED
    uniform = TiledShape.uniform(Shape(30, 30), (8, 8))
    assert uniform.chunks == ((8, 8, 8, 6), (8, 8, 8, 6))
    assert TiledShape.uniform((0, 4), (8, 8)).chunks == ((0,), (4,))
    assert TiledShape.uniform(Shape(6), 3).chunks == ((3, 3),)
    assert TiledShape([]).rank == 0
    assert TiledShape([]).size == 1
    assert TiledShape(TILED, CUTS) == TILED
    assert TiledShape.from_jagged(JaggedShape([Shape(1), Shape(2)])) == TiledShape([[1, 2]])


def test_tiles_know_where_they_lie() -> None:
    assert TILED.tile(1, 2) == Shape((15, 10), origin=(5, 20))
    assert TILED.tile((0, 0)) == Shape(5, 5)
    assert TILED.boundaries == ((0, 5, 20, 30), (0, 5, 20, 30))
    assert TILED.tile_of(19, 20) == ((1, 2), (14, 0))
    assert TILED.element((1, 2), (14, 0)) == (19, 20)
    # An element is never said to lie in a tile without elements.
    assert TiledShape([[0, 3, 0, 2]]).tile_of(3) == ((3,), (0,))


def test_slices_chips_and_iteration_are_those_of_the_jagged_form() -> None:
    assert TILED.slice_at(1, 0) == Shape(15, 5)
    assert TILED.chip(1, 0) == Shape(15, 5)
    assert TILED.chip(1) == GRID.chip(1)
    assert TILED.slice(2) == GRID.slice(2)
    assert TILED.permute(1, 0, 3, 2) == GRID
    assert TILED.extents == (3, 3, None, None)
    assert [TILED.leading_size(n) for n in range(5)] == [1, 3, 9, 90, 900]
    small = TiledShape([[1, 2], [2]])
    assert list(small) == list(small.to_jagged())
    assert (1, 0, 1, 1) in small
    with pytest.raises(ShapeError, match="cannot stand before"):
        TILED.permute(2, 0, 1, 3)


@together(
    ("make", "text"),
    [
        (lambda: TiledShape([5, 15]), "mode 0 needs the sizes of its tiles, got 5"),
        (lambda: TiledShape([[5, -1]]), r"must not be negative, got \(5, -1\)"),
        (lambda: TiledShape([[5.0]]), "must be an integer"),
        (lambda: TiledShape(Shape(31, 30), CUTS), r"add up to \(30, 30\), not to .* \(31, 30\)"),
        (TiledShape, "sizes of the tiles of each mode are needed"),
        (lambda: TiledShape("ab"), "sizes of the tiles of each mode are needed"),
        (lambda: TiledShape.uniform(Shape(3), 0), "at least 1 is needed"),
        (lambda: TiledShape.uniform(Shape(3, 3), 2), r"one tile size .* got \(2,\)"),
        (lambda: TiledShape.uniform(Shape(3, origin=1), 2), "must have no origin"),
        (lambda: TiledShape.from_boundaries([[1, 2]]), "start at 0 and do not decrease"),
        (lambda: TiledShape.from_boundaries([[0, 2, 1]]), "start at 0 and do not decrease"),
        (lambda: TiledShape.from_boundaries([[]]), "start at 0 and do not decrease"),
        (lambda: TiledShape.from_jagged(JaggedShape([Shape(1, 2)])), "is no tiling"),
        (lambda: TiledShape.from_jagged(JaggedShape([[Shape(1, 2)], []])), "is no tiling"),
        (lambda: TiledShape.from_jagged(JaggedShape([[Shape(1, 2)], [Shape(1, 3)]])), "no tiling"),
        (TiledShape.null, "no null tiling"),
        (lambda: TiledShape(CUTS).set_origin(1, 1, 1, 1), "no origin of its own"),
    ],
)
def test_cuts_that_are_refused(make: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: TILED.tile(3, 0),
        lambda: TILED.tile(-1, 0),
        lambda: TILED.tile(0),
        lambda: TILED.tile_of(30, 0),
        lambda: TILED.element((0, 0), (5, 0)),
    ],
)
def test_what_is_not_there(ask: Any) -> None:
    with pytest.raises(BoundsError, match="there is no"):
        ask()


def test_huge_grids_cost_nothing_until_they_are_listed() -> None:
    huge = TiledShape.uniform(Shape(800_000, 800_000), (8, 8))
    assert huge.size == 640_000_000_000
    assert huge.tile_of(799_999, 0) == ((99_999, 0), (7, 0))
    with pytest.raises(SizeError, match="slices would be listed one by one"):
        huge.to_jagged()
    assert hash(huge) == hash(Shape(100_000, 100_000, 8, 8))
    assert repr(huge).startswith("TiledShape([[8, 8, 8, 8, 8, 8, ..., 8")
    with pytest.raises(SizeError, match=r"TiledShape\.uniform"):
        TiledShape.uniform(Shape(1 << 40), 1)
    with pytest.raises(SizeError):
        TiledShape([[1 << 40], [1 << 40]])


def test_what_cuts_say_needs_no_list_of_tiles() -> None:
    huge = TiledShape.uniform(Shape(10**6 + 1, 10**6), (10, 10))
    assert Shape(huge) == Shape.of(huge) == huge.base
    assert huge.extents == (10**5 + 1, 10**5, None, 10)
    assert (huge.jagged_modes, huge.is_smooth) == ((2,), False)
    assert huge.n_slices == (10**5 + 1) * 10**5
    assert huge.origin == (0, 0, 0, 0)
    assert huge.to_padded() == (Shape(10**5 + 1, 10**5, 10, 10), 9 * 10**6)
    assert (10**5, 7, 0, 9) in huge
    assert (10**5, 7, 1, 9) not in huge
    assert not huge.in_bounds(-1, 0, 0, 0)
    assert {huge: 1}[huge.copy()] == 1
    ones = [[1] * 2**15] * 2  # no tile at all, but as many nodes as half of them make
    with pytest.raises(SizeError, match="slices would be listed"):
        TiledShape([*ones, []]).to_jagged()
    assert TiledShape([[], *ones]).to_jagged().extents == (0,) * 6


@given(cuts)
def test_cuts_and_tree_say_the_same(sizes: list[list[int]]) -> None:
    tiled = TiledShape(sizes)
    jagged = tiled.to_jagged()
    for ask in ("extents", "n_slices", "is_smooth", "smooth_modes", "jagged_modes", "origin"):
        assert getattr(tiled, ask) == getattr(jagged, ask)
    assert tiled.to_padded() == jagged.to_padded()
    assert hash(tiled) == hash(jagged)
    box = [range(-1, max(mode, default=0) + 2) for mode in sizes]
    grid = [range(-1, len(mode) + 1) for mode in sizes]
    for index in itertools.islice(itertools.product(*grid, *box), 500):
        assert (index in tiled) == (index in jagged)


def test_a_tuple_may_be_cut() -> None:
    assert TiledShape((30, 30), CUTS) == TILED
    with pytest.raises(ShapeError, match=r"add up to \(30, 30\), not to the extents \(30, 31\)"):
        TiledShape((30, 31), CUTS)


def test_labels_give_jagged_shapes() -> None:
    result = TILED["I,J,i,j"] * TILED["I,J,i,j"]
    assert result.as_shape("I,J,i,j") == TILED
    assert result.as_shape("I,i") == JaggedShape([Shape(5), Shape(15), Shape(10)])
    with pytest.raises(ShapeError, match="cannot become"):
        TiledShape(CUTS)["I,J,i,j"] = result


@given(cuts)
def test_tiles_partition_the_box(sizes: list[list[int]]) -> None:
    tiled = TiledShape(sizes)
    seen = []
    for tile in itertools.product(*[range(len(mode)) for mode in sizes]):
        for index in tiled.tile(tile).indices(absolute=True):
            where, local = tiled.tile_of(index)
            assert where == tile
            assert tiled.element(tile, local) == index
            seen.append(index)
    assert sorted(seen) == list(tiled.base)
    assert tiled.size == len(seen)


@given(cuts, cuts)
def test_round_trips_and_equality(sizes: list[list[int]], others: list[list[int]]) -> None:
    tiled, other = TiledShape(sizes), TiledShape(others)
    jagged = tiled.to_jagged()
    assert TiledShape.from_boundaries(tiled.boundaries) == tiled
    assert pickle.loads(pickle.dumps(tiled)) == tiled
    assert eval(repr(tiled)) == tiled
    assert jagged == tiled
    assert hash(jagged) == hash(tiled)
    assert TiledShape.from_jagged(jagged) == tiled
    assert jagged.size == tiled.size
    assert list(jagged) == list(tiled)
    assert (tiled == other) == (jagged == other.to_jagged())
    assert [tiled.leading_size(n) for n in range(tiled.rank + 1)] == [
        jagged.leading_size(n) for n in range(tiled.rank + 1)
    ]
