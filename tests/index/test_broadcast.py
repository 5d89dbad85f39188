"""Shapes: what is accepted, what broadcasts, and what the messages say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from xarraylite._errors import AxisError, AxisTypeError, BroadcastError, ShapeError, SizeError
from xarraylite.index.broadcast import (
    MAX_RANK,
    MAX_SIZE,
    as_shape,
    broadcast_shapes,
    check_axes,
    check_axis,
    infer_extent,
)

extents = st.integers(0, 4)
shapes = st.lists(extents, max_size=5).map(tuple)


class Index:
    """An object that is an integer only by ``__index__``, as NumPy's scalars are."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@together(
    ("value", "expected"),
    [
        (3, (3,)),
        ((), ()),
        ([2, 3], (2, 3)),
        (iter([4, 0]), (4, 0)),
        (np.int32(5), (5,)),
        ((np.uint8(2), Index(7)), (2, 7)),
        (range(2), (0, 1)),
        ((0, MAX_SIZE), (0, MAX_SIZE)),
    ],
)
def test_as_shape_takes(value: Any, expected: tuple[int, ...]) -> None:
    shape = as_shape(value)
    assert shape == expected
    assert all(type(extent) is int for extent in shape)


@together(
    ("value", "error", "text"),
    [
        ((2, -1), ShapeError, "make: extents must not be negative, got -1"),
        ((True,), ShapeError, "make: an extent must be an integer, got True"),
        (2.0, TypeError, "make: an extent must be an integer, got 2.0"),
        ((1, "2"), ShapeError, "make: an extent must be an integer, got '2'"),
        ((1,) * (MAX_RANK + 1), ShapeError, "make: rank 65 is above the maximum of 64"),
        ((1 << 32, 1 << 31), SizeError, r"make: shape .* has more than 2\*\*63 - 1 elements"),
        # A zero does not excuse the other extents: their strides must be representable.
        ((0, 1 << 32, 1 << 32), SizeError, r"make: shape .* has more than 2\*\*63 - 1 elements"),
    ],
)
def test_as_shape_refuses(value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        as_shape(value, "make")


def test_a_size_error_is_also_an_overflow_error() -> None:
    with pytest.raises(OverflowError):
        as_shape((1 << 62, 4))


@given(shapes, st.integers(0, 4))
def test_infer_extent_finds_the_missing_one(shape: tuple[int, ...], at: int) -> None:
    if not shape:
        return
    k = at % len(shape)
    asked = (*shape[:k], -1, *shape[k + 1 :])
    size = int(np.prod(shape, dtype=int))
    if 0 in asked:
        with pytest.raises(ShapeError, match="do not fit"):
            infer_extent(asked, size)
    else:
        assert infer_extent(asked, size) == shape


@together(
    ("shape", "size", "text"),
    [
        ((-1, -1), 4, "only one extent may be -1"),
        ((3, -1), 4, "4 elements do not fit"),
        ((3, 2), 4, "4 elements do not fit"),
        ((-2, 2), 4, "must not be negative"),
        ((0, -1), 0, "0 elements do not fit"),
        ((), 2, "2 elements do not fit"),
    ],
)
def test_infer_extent_refuses(shape: tuple[int, ...], size: int, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        infer_extent(shape, size)


def test_infer_extent_takes_one_number() -> None:
    assert infer_extent(-1, 6) == (6,)
    assert infer_extent(6, 6) == (6,)


@given(st.lists(shapes, max_size=4))
def test_broadcasting_is_numpys(many: list[tuple[int, ...]]) -> None:
    try:
        expected = np.broadcast_shapes(*many)
    except ValueError:
        with pytest.raises(BroadcastError):
            broadcast_shapes(*many)
    else:
        assert broadcast_shapes(*many) == expected


def test_a_broadcast_error_shows_every_shape_and_the_axis() -> None:
    with pytest.raises(BroadcastError) as caught:
        broadcast_shapes((5, 3, 2), (1,), (3, 4))
    assert str(caught.value) == (
        "shapes (5, 3, 2), (1,), (3, 4) could not be broadcast together: extents 2 and 4 at axis 2 "
        "differ and neither is 1"
    )
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("rank", [1, 3])
def test_axes_count_from_both_ends(rank: int) -> None:
    assert [check_axis(k, rank, "f") for k in range(-rank, rank)] == [*range(rank)] * 2


@pytest.mark.parametrize(("axis", "rank"), [(0, 0), (-1, 0), (2, 2), (-3, 2), (1 << 70, 2)])
def test_axes_out_of_range_are_refused(axis: int, rank: int) -> None:
    with pytest.raises(AxisError, match=f"f: axis {axis} is out of range for rank {rank}"):
        check_axis(axis, rank, "f")


@pytest.mark.parametrize("axis", [1.0, "0", None, (0,)])
def test_axes_are_integers(axis: Any) -> None:
    with pytest.raises(AxisTypeError, match="f: axis must be an integer"):
        check_axis(axis, 2, "f")


@pytest.mark.parametrize(
    ("axis", "expected"),
    [(None, (0, 1, 2)), ((), ()), (-1, (2,)), ((2, 0), (0, 2)), ([Index(1), -1], (1, 2))],
)
def test_check_axes_sorts(axis: Any, expected: tuple[int, ...]) -> None:
    assert check_axes(axis, 3, "f") == expected


def test_an_axis_named_twice_is_refused() -> None:
    with pytest.raises(AxisError, match=r"f: axis \(0, -3\) names an axis twice \(rank 3\)"):
        check_axes((0, -3), 3, "f")
    with pytest.raises(IndexError):
        check_axes((0, 3), 3, "f")
