"""`XTensorFixed`: a shape that never changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl

Square = xl.XTensorFixed[xl.float64, (2, 2)]


def test_construction() -> None:
    f = Square([[1, 2], [3, 4]])
    assert (f.shape, str(f.dtype), f.tolist()) == ((2, 2), "float64", [[1, 2], [3, 4]])
    assert Square is xl.XTensorFixed["f8", (2, 2)]
    assert Square.__name__ == "XTensorFixed[float64, (2, 2)]"
    assert xl.XTensorFixed[xl.int8, ()](3).shape == ()


@pytest.mark.parametrize("values", [1, [1, 2], [[1, 2, 3]], np.zeros((2, 2, 1))])
def test_another_shape_is_refused(values: Any) -> None:
    with pytest.raises(xl.ShapeError) as caught:
        Square(values)
    assert "fixed shape (2, 2)" in str(caught.value)
    assert str(np.shape(values)) in str(caught.value)


def test_a_subscript_is_needed() -> None:
    with pytest.raises(TypeError, match=r"needs its dtype and shape.*XTensorFixed\[xl.float64"):
        xl.XTensorFixed([1, 2])


@pytest.mark.parametrize(
    "subscript", [(xl.float64, 2), xl.float64, (xl.float64, (2, -1)), (0, (2,))]
)
def test_wrong_subscripts(subscript: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        xl.XTensorFixed[subscript]


def test_assign_keeps_the_shape() -> None:
    f = Square([[1, 2], [3, 4]])
    f.assign(f.T + 1)
    assert f.tolist() == [[2, 4], [3, 5]]
    for wrong in (xl.ones((1, 2)), xl.ones(4), 1.0):
        with pytest.raises(xl.ShapeError, match=r"fixed shape \(2, 2\)"):
            f.assign(wrong)
    assert f.tolist() == [[2, 4], [3, 5]]
    f[...] = 1.5
    assert f.tolist() == [[1.5, 1.5], [1.5, 1.5]]


def test_in_place_changes_are_refused() -> None:
    f = xl.XTensorFixed[xl.float64, (2, 3)](np.zeros((2, 3)))
    for change in (lambda: f.reshape_((3, 2)), lambda: f.resize_((2, 4)), f.transpose_):
        with pytest.raises(xl.ShapeError, match=r"fixed shape \(2, 3\)"):
            change()
    assert (f.shape, f.strides) == ((2, 3), (3, 1))
    f.reshape_((2, 3))
    Square([[1, 2], [3, 4]]).transpose_()


def test_another_dtype_is_refused() -> None:
    with pytest.raises(xl.DTypeError, match="float64, got float32"):
        Square([[1, 2], [3, 4]], dtype="float32")


def test_copy() -> None:
    f = Square([[1, 2], [3, 4]])
    copy = f.copy()
    copy += 1
    assert (type(copy), f.tolist()) == (Square, [[1, 2], [3, 4]])


def test_arrays_of_a_type_have_one_shape() -> None:
    kind = xl.XTensorFixed[xl.float64, (2, 3)]
    a, b = kind(np.ones((2, 3))), kind(np.zeros((2, 3)))
    assert a.shape is b.shape
    assert kind(shape=(2, 3)).shape is a.shape
    with pytest.raises(xl.ShapeError):
        kind(np.ones((3, 2)))
