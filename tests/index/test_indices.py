"""Indices mean what they mean to NumPy, and what is not supported says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, basic_indices

from tests.cases import together
from tests.index.test_transform import numbered, read
from xarraylite._errors import IndexRangeError
from xarraylite.index.indices import parse_index


def is_array(item: object) -> bool:
    return isinstance(item, np.ndarray)


@given(array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4), st.data())
def test_basic_indices_are_numpys(shape: tuple[int, ...], data: st.DataObject) -> None:
    # NumPy gives a scalar where all dimensions are picked; we give rank 0, as the standard does.
    key = data.draw(basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    array = numbered(shape)
    selection = parse_index(key, shape, is_array)
    assert selection.take is None
    assert np.array_equal(read(array, selection.transform), array[key])
    assert selection.transform.shape == np.shape(array[key])


@given(st.data())
def test_one_integer_array_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    axis = data.draw(st.integers(0, len(shape) - 1))
    index = np.array(data.draw(st.lists(st.integers(0, shape[axis] - 1), min_size=1, max_size=3)))
    if data.draw(st.booleans()):
        index = index.reshape(1, -1)
    key: list[Any] = []
    for k, extent in enumerate(shape):
        others = st.one_of(st.integers(-extent, extent - 1), st.slices(extent))
        key.append(index if k == axis else data.draw(others))
    if data.draw(st.booleans()):
        key.insert(data.draw(st.integers(0, len(key))), None)
    array = numbered(shape)
    selection = parse_index(tuple(key), shape, is_array)
    taken = np.take(read(array, selection.transform), index, axis=selection.take_axis)
    if selection.take_front:
        at = range(selection.take_axis, selection.take_axis + index.ndim)
        taken = np.moveaxis(taken, at, range(index.ndim))
    assert selection.take is index
    assert np.array_equal(taken, array[tuple(key)])


@together(
    ("key", "shape", "text"),
    [
        (3, (3,), r"index 3 is out of range for axis 0 of extent 3 \(shape \(3,\)\)"),
        ((0, -3), (4, 2), "index -3 is out of range for axis 1 of extent 2"),
        ((0, 0), (4,), r"too many indices: 2 given for shape \(4,\) of rank 1"),
        (0, (), "too many indices: 1 given for shape"),
        ((..., ...), (4,), "only one ellipsis"),
        ((..., 0, 0, 0), (4, 4), "too many indices: 3 given"),
        (1.0, (4,), "index 1.0 of type float is not supported"),
        ("x", (4,), "index 'x' of type str is not supported"),
        (True, (4,), "index True of type bool is not supported"),
        (slice(None, None, 0), (4,), "the step must not be zero"),
        (slice(1.5, None), (4,), "bounds and step must be integers or None"),
        ((np.array([0]), np.array([0])), (4, 4), "a gather has one array"),
    ],
)
def test_refused(key: Any, shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(IndexRangeError, match=text) as caught:
        parse_index(key, shape, is_array)
    assert isinstance(caught.value, IndexError)


def test_numpy_integers_are_integers() -> None:
    selection = parse_index((np.int8(-1), slice(np.int64(1), None)), (3, 4), is_array)
    assert np.array_equal(read(numbered((3, 4)), selection.transform), numbered((3, 4))[-1, 1:])


def test_an_empty_slice_points_nowhere() -> None:
    """Starts beyond the end would be addresses out of bounds, were they ever used."""
    selection = parse_index(slice(7, 9, 5), (3,), is_array)
    assert selection.transform.shape == (0,)
    assert selection.transform.maps == ((0, 1, 0),)


def test_slices_longer_than_an_address_are_clipped() -> None:
    selection = parse_index(slice(-(1 << 80), 1 << 80, 1 << 70), (5,), is_array)
    assert selection.transform.shape == (1,)
    assert selection.transform.maps[0].start == 0
