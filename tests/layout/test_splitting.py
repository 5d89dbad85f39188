"""Index-set splitting: boxes that cover each element once, in which every operand is strided."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import together
from tests.layout.test_digits import cases
from xarraylite.index.transform import FIXED, IndexMap, Transform
from xarraylite.layout.fields import COMBINE
from xarraylite.layout.layout import Layout
from xarraylite.layout.splitting import MOST_BOXES, Box, TooManyBoxes, split_index_set
from xarraylite.layout.strided import Strided
from xarraylite.layout.tiled import Map as Place
from xarraylite.layout.tiled import TiledMap

Cells = list[tuple[int, ...]]
STEPS = (1, 1, 1, 2, 3, -1, -2)


@st.composite
def operands(draw: st.DrawFn, shape: tuple[int, ...]) -> TiledMap:
    """Draw a view of a tiled array: a step, an offset and an order for every dimension."""
    dims, maps = [], []
    for axis in draw(st.permutations(range(len(shape)))):
        if draw(st.integers(0, 6)) == 0:
            continue  # the operand is broadcast along this dimension
        step, before = draw(st.sampled_from(STEPS)), draw(st.integers(0, 4))
        extent = (shape[axis] - 1) * abs(step) + 1
        maps.append(IndexMap(before if step > 0 else before + extent - 1, step, axis))
        dims.append(before + extent + draw(st.integers(0, 2)))
    if draw(st.booleans()):
        dims.append(4)
        maps.append(IndexMap(draw(st.integers(0, 3)), 0, FIXED))
    _, _, tiles = draw(cases(most_rank=2, combine=draw(st.integers(0, 4)) == 0))
    layout = Layout(draw(st.permutations(range(len(dims)))), tiles)
    step_ = Transform(shape, tuple(maps))
    return TiledMap(layout, tuple(dims), step_, draw(st.integers(0, 3)), 32)


@st.composite
def spaces(draw: st.DrawFn) -> tuple[tuple[int, ...], list[TiledMap]]:
    shape = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 5, 8, 11, 24)), min_size=1, max_size=3)))
    while math.prod(shape) > 400:
        shape = shape[1:]
    return shape, draw(st.lists(operands(shape), min_size=1, max_size=3))


def cells(box: Box) -> Cells:
    """Positions of all operands at each element of a box."""
    return [
        tuple(
            place.offset + sum(s * i for s, i in zip(place.strides, index, strict=True))
            for place in box.layouts
        )
        for index in np.ndindex(box.layouts[0].shape)
    ]


def expected_cells(shape: tuple[int, ...], maps: list[TiledMap]) -> Cells:
    """The same for the whole space by the definition; the ordinal comes last."""
    return [
        (*[m.position(index) for m in maps], ordinal)
        for ordinal, index in enumerate(np.ndindex(shape))
    ]


def split(shape: tuple[int, ...], maps: Sequence[Place]) -> tuple[Box, ...] | int:
    """The boxes, or which operand is to blame that there are none."""
    try:
        return split_index_set(shape, maps)
    except TooManyBoxes as error:
        return error.which


@given(spaces())
@settings(max_examples=100)
def test_every_element_once_and_in_its_place(drawn: tuple[tuple[int, ...], list[TiledMap]]) -> None:
    shape, maps = drawn
    boxes = split(shape, [*maps, Strided.row_major(shape)])
    if isinstance(boxes, int):
        # Only what is no sum over the dimensions may be refused in spaces this small.
        assert any(COMBINE in tile for tile in maps[boxes].layout.tile_dims)
        return
    found = [cell for box in boxes for cell in cells(box)]
    assert sorted(found) == sorted(expected_cells(shape, maps))


@given(spaces())
@settings(max_examples=80)
def test_boxes_know_the_dimensions_they_are_part_of(
    drawn: tuple[tuple[int, ...], list[TiledMap]],
) -> None:
    shape, maps = drawn
    rank = len(shape)
    along = [Strided(shape, tuple(int(k == d) for k in range(rank))) for d in range(rank)]
    boxes = split(shape, [*maps, *along])
    if isinstance(boxes, int):
        assert boxes < len(maps)
        return
    assert len({box.runs for box in boxes}) == len(boxes)
    covered: dict[tuple[int, int], set[int]] = {}
    for box in boxes:
        assert len(box.axes) == len(box.layouts[0].shape)
        for d, place in enumerate(box.layouts[-rank:]):
            moving = zip(place.strides, place.shape, box.axes, strict=True)
            assert all(axis == d for stride, n, axis in moving if stride and n > 1)
            run = covered.setdefault((d, box.runs[d]), set())
            run.update(cell[len(maps) + d] for cell in cells(box))
    for d, extent in enumerate(shape):
        runs = [run for (axis, _), run in covered.items() if axis == d]
        assert sorted(itertools.chain(*runs)) == list(range(extent)), "a run is a part of one axis"


def whole(text: str, *dims: int) -> TiledMap:
    return TiledMap.whole(Layout.parse(text), dims, 32)


T8 = "{1,0:T(8,128)}"
BF16 = "{1,0:T(8,128)(2,1)}"


@together(
    ("maps", "most"),
    [
        ([whole(T8, 4096, 4096)], 1),
        ([whole(T8, 4096, 4096), whole(T8, 4096, 4096)], 1),
        ([whole(T8, 4096, 4096), Strided.row_major((4096, 4096))], 1),
        ([whole(T8, 4096, 4096), Strided.column_major((4096, 4096))], 1),
        ([whole(T8, 4096, 4096), whole(BF16, 4096, 4096)], 1),
        ([whole(T8, 4096, 4096), whole("{0,1:T(8,128)}", 4096, 4096)], 1),
        ([whole(T8, 4095, 4097), Strided.row_major((4095, 4097))], 4),
        ([whole(BF16, 4095, 4097), Strided.row_major((4095, 4097))], 6),
        ([whole("{2,1,0:T(*,2)}", 6, 7, 8)], 1),
        ([whole("{0:T(1024)}", 1 << 30), Strided.row_major((1 << 30,))], 1),
        ([whole("{0:T(1024)}", (1 << 30) + 5), whole("{0:T(128)}", (1 << 30) + 5)], 2),
        ([whole("{0:T(2)(3)}", 1000), whole("{0:T(5)}", 1000)], 24),
    ],
)
def test_few_boxes_where_tiles_fit(maps: list[Place], most: int) -> None:
    assert len(split_index_set(maps[0].shape, maps)) <= most


def test_views_add_edges_only() -> None:
    base = whole(T8, 4096, 4096)
    inner = Transform((4000, 3000), (IndexMap(3, 1, 0), IndexMap(77, 1, 1)))
    assert len(split_index_set((4000, 3000), [base.apply(inner)])) <= 9
    flipped = Transform((4096, 4096), (IndexMap(4095, -1, 0), IndexMap(4095, -1, 1)))
    assert len(split_index_set((4096, 4096), [base.apply(flipped), base])) <= 1
    one = Transform((4096,), (IndexMap(17, 0, FIXED), IndexMap(0, 1, 0)))
    (box,) = split_index_set((4096,), [base.apply(one)])
    assert [n for n in box.layouts[0].shape if n > 1] == [32, 128]


def test_offsets_count_once() -> None:
    shifted = TiledMap(Layout.parse("{1,0:T(2,2)}"), (2, 2), whole(T8, 2, 2).step, 100, 32)
    (box,) = split_index_set((2, 2), [shifted])
    assert sorted(cells(box)) == [(100,), (101,), (102,), (103,)]


def test_scalars_and_single_elements() -> None:
    empty = TiledMap.whole(Layout.parse("{:T(4)}"), (), 32)
    (box,) = split_index_set((), [empty, Strided((), (), 7)])
    assert cells(box) == [(0, 7)]
    (box,) = split_index_set((1, 1), [whole(T8, 1, 1)])
    assert cells(box) == [(0,)]


def test_too_many_boxes_name_the_operand() -> None:
    shape = (3, 5_000_000)
    rough, fine = whole("{1,0:T(2,997)}", *shape), whole("{1,0:T(2,1009)}", *shape)
    with pytest.raises(TooManyBoxes) as caught:
        split_index_set(shape, [rough, fine])
    assert caught.value.which == 1, "rather not the destination"
    combined = whole("{1,0:T(2,2)(*,3)}", 4, 4)
    assert combined.summands() is None
    with pytest.raises(TooManyBoxes) as caught:
        split_index_set((4, 4), [Strided.row_major((4, 4)), combined])
    assert caught.value.which == 1
    mixed = whole("{1,0:T(*,4)(2,1)}", 5, 7)  # digits of i * 7 + j: no sum over i and j
    with pytest.raises(TooManyBoxes) as caught:
        split_index_set((5, 7), [mixed])
    assert caught.value.which == 0


def test_never_more_boxes_than_the_limit() -> None:
    prime = [whole(f"{{1,0:T({p},{p})}}", 600, 600) for p in (7, 11, 13)]
    found = split((600, 600), prime)
    assert found in (1, 2) if isinstance(found, int) else len(found) <= MOST_BOXES
