"""Exact positions, XLA's own, and walks over indices, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

import xarraylite as xl
from tests.xla.specs import indices, specs
from xarraylite._errors import IndexRangeError, LayoutError, SizeError
from xarraylite.xla.spec import ArraySpec

parse = ArraySpec.parse


@given(specs())
def test_positions_agree_with_each_other(spec: ArraySpec) -> None:
    order = spec.memory_order()
    assert len(order) == spec.physical_size()
    for ordinal, index in enumerate(indices(spec)):
        position = spec.linear_index(index)
        assert order[position] == ordinal
        assert spec.multi_index(position) == index
    padding = [p for p, e in enumerate(order) if e is None]
    assert [p for p in padding if spec.multi_index(p) is not None] == []
    assert len(padding) == len(order) - math.prod(spec.dimensions)


@given(specs(combine=False, min_extent=1))
def test_nested_tiling_is_exact_where_xla_has_it(spec: ArraySpec) -> None:
    assert spec.layout is not None
    room = spec.rank
    for tile in spec.layout.tiles:
        if tile.rank > room:
            return
        room += tile.rank
    for index in indices(spec):
        position = spec.linear_index_for_nested_tiling(index)
        if spec.rank:
            assert position == spec.linear_index(index)
        assert spec.delinearize_index_for_nested_tiling(position) == index


def test_padding_delinearizes_to_the_outside() -> None:
    spec = parse("f32[3,5]{1,0:T(2,2)}")
    assert spec.delinearize_index_for_nested_tiling(9) == (0, 5)
    assert spec.multi_index(9) is None


@given(specs(tiled=False, min_extent=1))
def test_untiled_functions_are_the_exact_ones_without_tiles(spec: ArraySpec) -> None:
    for index in indices(spec):
        position = spec.linear_index(index)
        assert spec.multidimensional_index_to_linear_index(index) == position
        assert spec.linear_index_to_multidimensional_index(position) == index
        assert spec.linear_index_first_tile(index) == position
    strides = [spec.get_dimension_stride(d) for d in range(spec.rank)]
    for d, stride in enumerate(strides):
        unit = tuple([int(k == d) for k in range(spec.rank)])
        if spec.dimensions[d] > 1:
            assert spec.linear_index(unit) == stride


@given(specs(min_extent=1, max_rank=3))
def test_walks(spec: ArraySpec) -> None:
    found = [(0,) * spec.rank]
    while (index := spec.bump_indices(found[-1])) is not None:
        assert spec.compare_indices(found[-1], index) == -1
        assert spec.compare_indices(index, found[-1]) == 1
        found.append(index)
    assert found == list(indices(spec))
    untiled = spec.with_layout(None if spec.layout is None else spec.clear_tiles().layout)
    places = [untiled.multidimensional_index_to_linear_index(i) for i in spec.for_each_index()]
    assert places == list(range(len(found)))


def test_window_of_indices() -> None:
    spec = parse("f32[4,6]{0,1}")
    found = list(spec.for_each_index((1, 2), (2, 4), (1, 3)))
    assert found == [(1, 2), (2, 2), (1, 5), (2, 5)]
    assert list(spec.for_each_index((1, 2), (2, 0))) == [(1, 2), (2, 2)]
    assert list(parse("f32[0,6]").for_each_index()) == []
    assert list(parse("f32[]").for_each_index()) == [()]
    with pytest.raises(LayoutError, match="incr"):
        spec.for_each_index(incr=(1, 0))
    with pytest.raises(LayoutError, match="one entry per dimension"):
        spec.for_each_index(base=(1,))


@given(specs(min_extent=1))
def test_untiled_layouts_move_nothing(spec: ArraySpec) -> None:
    if spec.is_untiled_layout():
        assert spec.memory_order() == spec.clear_tiles().memory_order()


def test_first_tile_only() -> None:
    spec = parse("bf16[16,256]{1,0:T(8,128)(2,1)}")
    assert spec.linear_index_first_tile((9, 130)) == parse(
        "bf16[16,256]{1,0:T(8,128)}"
    ).linear_index((9, 130))
    assert parse("f32[9]{0:T(4)}").linear_index_first_tile((7,)) == 7
    with pytest.raises(LayoutError, match="combines"):
        parse("f32[2,2]{1,0:T(*,2)}").linear_index_first_tile((0, 0))


def test_what_is_refused() -> None:
    spec = parse("f32[3,5]{1,0:T(2,2)}")
    for index in ((3, 0), (0, -1), (0,), (0, 0, 0)):
        with pytest.raises(IndexRangeError, match="linear_index"):
            spec.linear_index(index)
    for position in (-1, 24):
        with pytest.raises(IndexRangeError, match="multi_index"):
            spec.multi_index(position)
    with pytest.raises(IndexRangeError, match="15 elements"):
        spec.linear_index_to_multidimensional_index(15)
    with pytest.raises(IndexRangeError):
        spec.get_dimension_stride(2)
    with pytest.raises(LayoutError, match="without a bound"):
        parse("f32[?,2]").linear_index((0, 0))
    with pytest.raises(LayoutError, match="not an array"):
        parse("(f32[2])").memory_order()
    with pytest.raises(LayoutError, match="XLA's function lacks"):
        parse("f32[5]{0:T(8,128)}").linear_index_for_nested_tiling((0,))
    with pytest.raises(SizeError, match="positions"):
        parse("f32[1]{0:T(1000000000000)}").memory_order()
    with pytest.raises(LayoutError, match="as many entries"):
        spec.compare_indices((1,), (1, 2))


def test_negative_entries_are_in_bounds_as_in_xla() -> None:
    spec = parse("f32[3,5]")
    assert spec.index_in_bounds((-1, 4))
    assert not spec.index_in_bounds((0, 5))
    assert not spec.index_in_bounds((0,))


def test_a_buffer_is_its_array() -> None:
    assert parse("b(f32[3,5]{1,0:T(2,2)})").linear_index((2, 3)) == 17
    assert parse("b(f32[3,5]{1,0:T(2,2)})").nbytes == 96


def test_index_functions_see_padded_dimensions() -> None:
    layout = xl.Layout((0, 1), padded_dimensions=(3, 5))
    spec = xl.ArraySpec("f32", (2, 3), layout)
    tiled = xl.ArraySpec.parse("f32[2,3]{0,1:T(5,3)}")
    for index in np.ndindex(2, 3):
        position = spec.multidimensional_index_to_linear_index(index)
        assert position == spec.linear_index(index) == tiled.linear_index(index)
        assert spec.linear_index_to_multidimensional_index(position) == index
    assert [spec.get_dimension_stride(d) for d in (0, 1)] == [1, 3]
    assert spec.linear_index_to_multidimensional_index(14) == (2, 4)  # in the padding
    with pytest.raises(xl.IndexRangeError, match="15 elements"):
        spec.linear_index_to_multidimensional_index(15)
