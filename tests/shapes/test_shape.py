"""Smooth shapes: every line of the shape design, and a model that lists all indices."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from tests.shapes.models import box_indices, smooth_extents
from xarraylite._errors import ShapeError, SizeError
from xarraylite.index.box import BoundsError
from xarraylite.shapes.jagged import JaggedShape
from xarraylite.shapes.shape import Shape


def test_construction_as_in_the_design() -> None:
    null, scalar, vector = Shape.null(), Shape(), Shape(10)
    matrix, tensor = Shape(10, 20), Shape(10, 20, 30)
    assert null.is_null
    assert null.size == 0
    assert [s.rank for s in (scalar, vector, matrix, tensor)] == [0, 1, 2, 3]
    assert [s.size for s in (scalar, vector, matrix, tensor)] == [1, 10, 200, 6000]
    assert Shape(iter([10, 20, 30])) == tensor  # the rank is only known at run time
    assert Shape(np.array([10, 20])) == matrix
    assert Shape(np.int8(10)) == vector
    assert Shape(tensor) == tensor


def test_the_null_shape_has_no_rank() -> None:
    null = Shape.null()
    for ask in (lambda: null.rank, lambda: null.extents, lambda: null.origin, lambda: null["i"]):
        with pytest.raises(ShapeError, match="null shape has no"):
            ask()
    assert null == Shape.null()
    assert null != Shape()
    assert hash(null) == hash(Shape.null())
    assert list(null) == []
    assert null.same_extents(Shape.null())
    assert not null.same_extents(Shape())


@together(
    ("given_", "error", "text"),
    [
        ((-1,), ShapeError, "extents must not be negative, got -1"),
        ((True,), ShapeError, "an extent must be an integer, got True"),
        ((2.0, 3), ShapeError, r"an extent must be an integer, got 2\.0"),
        (("ab",), ShapeError, "an extent must be an integer, got 'ab'"),
        ((1 << 62, 4), SizeError, r"more than 2\*\*63 - 1 elements"),
        ((1 << 63,), SizeError, r"more than 2\*\*63 - 1 elements"),
        ((1,) * 65, ShapeError, "rank 65 is above the maximum"),
    ],
)
def test_extents_that_are_refused(given_: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Shape(*given_)


def test_extents_and_modes() -> None:
    s = Shape(10, 0, 30)
    assert s.extents == s.as_tuple() == (10, 0, 30)
    assert [s.extent(mode) for mode in range(3)] == [10, 0, 30]
    assert s.size == 0
    assert [s.leading_size(n) for n in range(4)] == [1, 10, 0, 0]
    for bad in (3, -1, 1.0, True):
        with pytest.raises(ShapeError, match="extent: "):
            s.extent(bad)  # type: ignore[arg-type]
    with pytest.raises(IndexError, match="there is no mode 0"):
        Shape().extent(0)
    with pytest.raises(ShapeError, match="4 modes were asked for"):
        s.leading_size(4)


def test_slices_as_in_the_design() -> None:
    s = Shape(10, 20)
    assert s.slice(0) == Shape(1, 20)
    assert s.slice((0, 0), (10, 1)) == Shape(10, 1)
    assert s.slice((0, 0), (5, 5)) == Shape(5, 5)
    assert s.slice((0, 0), (1, 5)) == Shape(1, 5)
    assert s.slice() == s


def test_chips_as_in_the_design() -> None:
    s = Shape(10, 20)
    assert s.chip(2) == Shape(20)
    assert s.chip((0, 2), (10, 3)) == Shape(10)
    assert s.chip(2, 3) == Shape()


def test_a_slice_remembers_its_origin() -> None:
    s = Shape(10, 20)
    part = s.slice((1, 2), (5, 5))
    assert part == Shape((4, 3), origin=(1, 2))
    assert part.slice((1, 1), (2, 2)) == Shape((1, 1), origin=(2, 3))
    assert part != Shape(4, 3)
    assert part.same_extents(Shape(4, 3))
    assert s.chip((3, 2), (4, 5)) == Shape(3, origin=2)


def test_iteration_as_in_the_design() -> None:
    s = Shape(2, 3)
    assert list(s) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    part = s.slice((0, 1), (1, 3))
    assert list(part) == [(0, 0), (0, 1)]
    assert list(part.indices(absolute=True)) == [(0, 1), (0, 2)]
    s.set_origin((10, 10))
    assert list(s.indices(absolute=True)) == [
        (10, 10), (10, 11), (10, 12), (11, 10), (11, 11), (11, 12),
    ]  # fmt: skip
    assert next(iter(s)) == (0, 0)
    assert s == Shape((2, 3), origin=(10, 10))


@together(
    ("box", "error", "text"),
    [
        (
            (10,),
            BoundsError,
            "range 10:11 of mode 0 is out of bounds: the extent is 10",
        ),
        (((0, 0), (11, 1)), BoundsError, r"range 0:11 of mode 0"),
        ((-1,), BoundsError, "offsets count from 0"),
        ((0, 0, 0), ShapeError, "takes up to 2 integers or two vectors of 2 integers"),
        (((0, 0),), ShapeError, "takes up to 2 integers or two vectors"),
        (((0,), (1,)), ShapeError, "two vectors of 2 integers"),
        (((5, 5), (4, 6)), ShapeError, "before it starts"),
        ((True,), ShapeError, "must be an integer, got True"),
        ((1.5,), ShapeError, r"must be an integer, got 1\.5"),
        (((np.ones(2), 1), (2, 2)), ShapeError, "an entry of the first element must be an integer"),
    ],
)
def test_boxes_that_are_refused(box: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Shape(10, 20).slice(*box)


def test_a_chip_drops_a_mode() -> None:
    with pytest.raises(ShapeError, match="the rank would stay; use slice"):
        Shape(10, 20).chip((0, 0), (5, 5))
    with pytest.raises(ShapeError, match="use slice"):
        Shape(10, 20).chip()
    assert Shape(1, 20).chip((0, 0), (1, 20)) == Shape(20)


def test_out_of_bounds_is_an_index_error_and_a_value_error() -> None:
    for kind in (IndexError, ValueError, ShapeError):
        with pytest.raises(kind):
            Shape(3).chip(3)


def test_bounds() -> None:
    s = Shape((2, 3), origin=(10, -1))
    assert s.in_bounds(1, 2)
    assert s.in_bounds((1, 2))
    assert not s.in_bounds(2, 0)
    assert not s.in_bounds(-1, 0)
    assert s.in_bounds(11, -1, absolute=True)
    assert (1, 2) in s
    assert (10, -1) not in s
    assert 4 in Shape(5)
    with pytest.raises(ShapeError, match="has 1 entries"):
        s.in_bounds(1)


def test_permute() -> None:
    s = Shape((10, 20, 30), origin=(1, 2, 3))
    assert s.permute(2, 0, 1) == Shape((30, 10, 20), origin=(3, 1, 2))
    assert s.permute([0, 1, 2]) == s
    assert Shape().permute() == Shape()
    for bad in ((0, 1), (0, 1, 1), (0, 1, 3)):
        with pytest.raises(ShapeError, match="is not a permutation"):
            s.permute(bad)


def test_origins_that_are_refused() -> None:
    with pytest.raises(ShapeError, match="needs one integer for each"):
        Shape((2, 3), origin=(1,))
    with pytest.raises(ShapeError, match="must be an integer"):
        Shape((2, 3), origin=(1, 0.5))
    with pytest.raises(ShapeError, match="beyond"):
        Shape(2, origin=1 << 63)
    with pytest.raises(ShapeError, match="needs one integer"):
        Shape(2, 3).set_origin(1)


def test_a_hashed_shape_is_sealed_and_its_copies_are_not() -> None:
    s = Shape(2, 3)
    table = {s: "value"}
    with pytest.raises(ShapeError, match=r"was hashed.*change a copy\(\)"):
        s.set_origin(1, 1)
    with pytest.raises(ShapeError, match="was hashed"):
        s["i,j"] = Shape(4, 5)["i,j"]
    other = s.copy()
    other.set_origin(1, 1)
    assert table[Shape(2, 3)] == "value"
    assert other not in table
    assert other.with_origin(0, 0) in table
    for clone in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert clone == s
        clone.set_origin(5, 5)
        assert clone != s


def test_a_failed_change_leaves_the_shape_as_it_was() -> None:
    s = Shape(2, 3)
    with pytest.raises(ShapeError):
        s["i,k"] = Shape(4, 5)["i,j"]
    with pytest.raises(ShapeError):
        s.set_origin(1)
    assert s == Shape(2, 3)


def test_equality_and_repr() -> None:
    assert Shape(2, 3) != (2, 3)
    assert Shape(2, 3) == JaggedShape(Shape(2, 3))
    assert hash(Shape(2, 3)) == hash(JaggedShape([Shape(3), Shape(3)]))
    assert repr(Shape()) == "Shape()"
    assert repr(Shape((2,), origin=(-1,))) == "Shape((2,), origin=(-1,))"
    assert repr(Shape.null()) == "Shape.null()"


def test_shape_of() -> None:
    assert Shape.of(np.zeros((2, 3))) == Shape(2, 3)
    assert Shape.of((2, 3)) == Shape(2, 3)
    assert Shape.of(JaggedShape([Shape(3), Shape(3)])) == Shape(2, 3)
    with pytest.raises(ShapeError, match="is not smooth"):
        Shape.of(JaggedShape([Shape(3), Shape(4)]))


@given(smooth_extents)
def test_indices_are_those_of_the_model(extents: tuple[int, ...]) -> None:
    s = Shape(extents)
    assert list(s) == box_indices(extents)
    assert s.size == len(box_indices(extents))
    assert [s.leading_size(n) for n in range(s.rank + 1)] == [
        len(box_indices(extents[:n])) for n in range(s.rank + 1)
    ]


@given(st.data())
def test_slices_and_chips_select_what_they_say(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
    first = tuple([data.draw(st.integers(0, n)) for n in extents])
    stop = tuple([data.draw(st.integers(a, n)) for a, n in zip(first, extents, strict=True)])
    s = Shape(extents)
    inside = [
        index
        for index in box_indices(extents)
        if all([a <= i < b for a, i, b in zip(first, index, stop, strict=True)])
    ]
    assert list(s.slice(first, stop).indices(absolute=True)) == inside
    kept = [k for k in range(len(extents)) if stop[k] - first[k] != 1]
    if len(kept) < len(extents):
        chip = s.chip(first, stop)
        assert list(chip.indices(absolute=True)) == [tuple([i[k] for k in kept]) for i in inside]


@given(smooth_extents, st.lists(st.integers(-5, 5), min_size=4, max_size=4))
def test_repr_and_pickle_round_trips(extents: tuple[int, ...], origin: list[int]) -> None:
    s = Shape(extents, origin=origin[: len(extents)])
    assert eval(repr(s)) == s
    assert pickle.loads(pickle.dumps(s)) == s
    assert hash(s.copy()) == hash(s)


def test_iteration_makes_no_lists() -> None:
    assert next(iter(Shape(1 << 40, 1 << 20))) == (0, 0)
    assert next(iter(JaggedShape([Shape(1 << 40), Shape(1)]))) == (0, 0)
    assert list(Shape(1 << 60, 0)) == []


def test_boxes_and_origins_may_be_arrays() -> None:
    first, stop = np.array([0, 1]), np.array([1, 3], dtype=np.uint8)
    assert Shape(2, 3).slice(first, stop) == Shape((1, 2), origin=first)
    assert Shape(2, 3).chip(np.array(1)) == Shape(3)
    assert np.array([1, 2]) in Shape(2, 3)


def test_a_size_beyond_64_bits_is_refused() -> None:
    with pytest.raises(SizeError):
        Shape([1 << 40] * 60)
