"""Nested shapes: every line of the shape design about layers."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.shapes.models import box_indices
from xarraylite._errors import ShapeError
from xarraylite.index.box import BoundsError
from xarraylite.shapes.jagged import JaggedShape
from xarraylite.shapes.nested import Nested
from xarraylite.shapes.shape import Shape
from xarraylite.shapes.tiled import TiledShape

S = Shape(10, 20, 30)
S2_2 = Nested([2, 2], Shape(2, 2, 10, 10))


@together(
    ("layers", "shape"),
    [
        ([], Shape()),
        ([0], Shape()),
        ([0, 0], Shape()),
        ([1], Shape(10)),
        ([1, 0], Shape(10)),
        ([0, 1], Shape(10)),
        ([2], Shape(10, 20)),
        ([2, 0], Shape(10, 20)),
        ([1, 1], Shape(10, 20)),
        ([0, 2], Shape(10, 20)),
        ([3], S),
        ([1, 2], S),
        ([1, 1, 1], S),
        ([2, 2], Shape(5, 10, 15, 20)),
    ],
)
def test_construction_as_in_the_design(layers: list[int], shape: Shape) -> None:
    nested = Nested(layers, shape)
    assert nested.n_layers == len(layers)
    assert [nested.rank_layer(i) for i in range(len(layers))] == layers
    assert nested.layers == tuple(layers)
    assert nested.rank == shape.rank
    assert nested.size == shape.size
    assert nested.shape == shape
    assert nested.as_tuple() == shape.extents
    assert nested == Nested(iter(layers), shape)
    assert nested != shape
    assert eval(repr(nested)) == nested
    assert pickle.loads(pickle.dumps(nested)) == nested


def test_layers_are_part_of_equality() -> None:
    assert Nested([1, 2], S) != Nested([2, 1], S)
    assert Nested([], Shape()) != Nested([0], Shape())
    assert Nested([1, 2], S).relayer([2, 1]) == Nested([2, 1], S)
    assert len({Nested([1, 2], S), Nested([2, 1], S), Nested([1, 2], S.copy())}) == 2
    assert Nested([1, 2], S) == Nested([1, 2], JaggedShape(S))
    assert hash(Nested([1, 2], S)) == hash(Nested([1, 2], JaggedShape(S)))


@together(
    ("layers", "shape", "text"),
    [
        ([1, 1], S, r"must add up to that of the shape: got \[1, 1\] .* of rank 3"),
        ([-1, 4], S, "must add up"),
        ([True, 2], S, "must be an integer, got True"),
        ([1.0, 2], S, "must be an integer"),
        ([], Shape(3), "must add up"),
        ([1, 2], Nested([3], S), "already has layers"),
        ([0], Shape.null(), "no rank"),
    ],
)
def test_layers_that_are_refused(layers: Any, shape: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        Nested(layers, shape)


def test_elements_in_layers_as_in_the_design() -> None:
    # The design's jagged shape mixes ranks; this one has its numbers.
    js = JaggedShape([Shape(200, 30), Shape(10, 20)])
    for shape, outer, total in ((S, 10, 6000), (js, 2, 6200)):
        nested = Nested([1, 2], shape)
        assert nested.n_layers == 2
        assert (nested.rank_layer(0), nested.rank_layer(1)) == (1, 2)
        assert nested.elements_in_layer(0) == outer
        assert nested.elements_in_layer(1) == total
    assert Nested([0, 3], S).elements_in_layer(0) == 1
    assert Nested([3, 0], S).elements_in_layer(1) == 6000
    assert Nested([2, 2], TiledShape([[2, 3], [4]])).elements_in_layer(0) == 2
    for bad in (2, -1, True):
        with pytest.raises(ShapeError):
            Nested([1, 2], S).elements_in_layer(bad)


def test_element_access_by_layer() -> None:
    # The design's s3_3({0, 0}) == s, with a shape whose outer layer has two modes.
    nested = Nested([2, 3], Shape(4, 5, 10, 20, 30))
    assert nested.element((0, 0)) == S
    assert nested.element(3, 4) == S
    three = Nested([1, 1, 3], Shape(4, 5, 10, 20, 30))
    assert three.element(2) == Nested([1, 3], Shape(5, 10, 20, 30))
    assert three.element(2, 2) == S
    assert three.element(2, 2, 0, 0, 0) == Shape()
    assert Nested([0, 3], S).element() == S
    jagged = Nested([1, 1], JaggedShape([Shape(10), Shape(20)]))
    assert jagged.element(1) == Shape(20)
    with pytest.raises(ShapeError, match="does not fill whole layers"):
        nested.element(0)
    with pytest.raises(BoundsError):
        nested.element(4, 0)


def test_chips_as_in_the_design() -> None:
    assert S2_2.chip(0) == Nested([1, 2], Shape(2, 10, 10))
    # The design's chip(1, 2) asks for index 2 of an extent of 2.
    with pytest.raises(BoundsError, match=r"range 2:3 of mode 1 .* extent is 2"):
        S2_2.chip(1, 2)
    assert S2_2.chip(1, 1) == Shape(10, 10)
    assert S2_2.chip(1, 1, 3) == Shape(10)
    assert S2_2.chip(1, 1, 3, 4) == Shape()


def test_chips_of_other_layers() -> None:
    assert S2_2.chip((0, 1, 0, 0), (2, 2, 10, 10)) == Nested([1, 2], Shape(2, 10, 10))
    inner = S2_2.chip((0, 0, 3, 4), (2, 2, 4, 5))
    assert inner == Nested([2, 0], Shape(2, 2))
    assert Nested([1, 1, 1], S).chip(3) == Nested([1, 1], Shape(20, 30))
    assert Nested([0, 2], Shape(10, 20)).chip(1) == Shape(20)
    assert Nested([2], Shape(10, 20)).chip(1) == Shape(20)


def test_slices_as_in_the_design() -> None:
    s01 = Shape((1, 1, 10, 10), origin=(0, 1, 0, 0))
    assert S2_2.slice(0, 1) == Nested([2, 2], s01)
    # The design gives extents of 1, 2, 5, 5 for this box; its last mode has 10.
    s1050 = Shape((1, 2, 5, 10), origin=(1, 0, 5, 0))
    assert S2_2.slice((1, 0, 5, 0), (2, 2, 10, 10)) == Nested([2, 2], s1050)
    assert S2_2.slice((1, 0, 5, 5), (2, 2, 10, 10)).shape.extents == (1, 2, 5, 5)


def test_a_slice_that_is_no_box_is_built_by_hand() -> None:
    # The first five rows of outer element (1, 0) and the last three of (1, 1).
    e10, e11 = Shape((5, 10), origin=(0, 0)), Shape((3, 10), origin=(7, 0))
    nested = Nested([2, 2], JaggedShape([[e10, e11]], origin=(1, 0)))
    assert nested.elements_in_layer(0) == 2
    assert nested.size == 80
    assert nested.origin == (1, 0, 0, 0)
    assert nested.element(0, 1) == e11


def test_origin_iteration_and_bounds() -> None:
    nested = Nested([1, 1], Shape((2, 3), origin=(10, 10)))
    assert next(nested.indices(absolute=True)) == (10, 10)
    assert list(nested) == box_indices((2, 3))
    assert nested.in_bounds(11, 12, absolute=True)
    inner = nested.shape
    nested.set_origin(0, 0)
    assert nested == Nested([1, 1], Shape(2, 3))
    assert inner.origin == (10, 10)
    assert nested.same_extents(Nested([1, 1], inner))
    assert not nested.same_extents(Nested([2], inner))
    assert not nested.same_extents(inner)


def test_the_shape_given_stays_the_users() -> None:
    s = Shape(2, 3)
    nested = Nested([1, 1], s)
    s.set_origin(5, 5)
    assert nested.origin == (0, 0)


def test_permutations_stay_within_layers() -> None:
    assert Nested([1, 2], S).permute(0, 2, 1) == Nested([1, 2], Shape(10, 30, 20))
    with pytest.raises(ShapeError, match="to other layers"):
        Nested([1, 2], S).permute(1, 0, 2)


def test_the_null_shape() -> None:
    null = Nested.null()
    assert null.is_null
    assert null.size == 0
    assert null == Nested.null()
    assert null != Nested([], Shape())
    assert repr(null) == "Nested.null()"
    assert list(null) == []
    assert pickle.loads(pickle.dumps(null)) == null
    assert null.same_extents(Nested.null())
    with pytest.raises(ShapeError, match="null shape"):
        null.rank


@given(st.lists(st.lists(st.integers(1, 3), max_size=2), max_size=3), st.data())
def test_layers_count_index_prefixes(groups: list[list[int]], data: st.DataObject) -> None:
    extents = tuple([n for group in groups for n in group])
    nested = Nested([len(group) for group in groups], Shape(extents))
    indices = box_indices(extents)
    end = 0
    for layer, group in enumerate(groups):
        end += len(group)
        assert nested.elements_in_layer(layer) == len({index[:end] for index in indices})
    index = data.draw(st.sampled_from(indices))
    ends = [nested.modes_in_layer(layer).stop for layer in range(len(groups))]
    for end in ends:
        inner = nested.element(index[:end])
        assert list(inner) == [i[end:] for i in indices if i[:end] == index[:end]]
        left = len(groups) - 1 - ends.index(end)  # as few layers as the index fills
        assert isinstance(inner, Nested) == (left > 1)


def test_boxes_of_outer_layers_select_whole_inner_shapes() -> None:
    n = xl.Nested([2, 2], xl.Shape(2, 2, 10, 20))
    part = n.slice((1, 0), (2, 2))
    assert part == n.slice((1, 0, 0, 0), (2, 2, 10, 20))
    assert part.element(0, 1) == n.element(1, 1)
    assert n.chip((1, 0), (2, 2)) == n.chip(1)
    deep = xl.Nested([1, 1, 1], xl.Shape(2, 3, 4))
    assert deep.slice((1, 0), (2, 2)) == deep.slice((1, 0, 0), (2, 2, 4))
    rows = xl.Nested([1, 1], xl.JaggedShape([xl.Shape(3), xl.Shape(5)]))
    assert rows.slice((1,), (2,)) == rows.slice(1)
    for box in [((1,), (2,)), ((0, 0, 0), (1, 1, 1)), ((), ())]:  # ends inside a layer
        with pytest.raises(xl.ShapeError, match="two vectors of 4 integers"):
            n.slice(*box)
    assert isinstance(n, xl.ShapeBase)
    assert isinstance(rows.shape, xl.ShapeBase)
    assert not isinstance(n, xl.Shape)
