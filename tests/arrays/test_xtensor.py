"""`XTensor`: a fixed rank, a dtype as part of the type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together


def test_rank_follows_the_values() -> None:
    t = xl.XTensor([[1, 2], [3, 4]])
    assert (t.rank, t.ndim, str(t.dtype)) == (2, 2, "int64")
    assert isinstance(t, xl.XArray)


def test_subscripts_are_types() -> None:
    matrix = xl.XTensor[xl.float64, 2]
    assert matrix is xl.XTensor["f8", 2] is xl.XTensor[float, 2]
    assert matrix is not xl.XTensor[xl.float32, 2]
    assert matrix.__name__ == "XTensor[float64, 2]"
    m = matrix([[1, 2]])
    assert isinstance(m, matrix)
    assert isinstance(m, xl.XTensor)
    assert (str(m.dtype), m.rank) == ("float64", 2)


def test_annotations() -> None:
    def area(sides: xl.XTensor[xl.float64, 1]) -> xl.XTensor[xl.float64, 1]:
        return xl.XTensor[xl.float64, 1](sides * 2)

    assert area(xl.XTensor[xl.float64, 1]([1, 2])).tolist() == [2, 4]


@pytest.mark.parametrize("values", [3, [1, 2], [[[1]]], np.zeros((2, 2, 2, 2))])
def test_another_rank_is_refused(values: Any) -> None:
    shape = np.shape(values)
    with pytest.raises(xl.ShapeError) as caught:
        xl.XTensor[xl.float64, 2](values)
    assert "XTensor[float64, 2] has rank 2" in str(caught.value)
    assert str(shape) in str(caught.value)


def test_another_dtype_is_refused() -> None:
    with pytest.raises(xl.DTypeError, match=r"XTensor\[float64, 1\].*float64, got int8"):
        xl.XTensor[xl.float64, 1]([1], dtype="int8")
    assert str(xl.XTensor[xl.int8, 1]([1.5], dtype="i1").dtype) == "int8"


@together(
    "subscript",
    [3, (xl.float64,), (xl.float64, -1), (xl.float64, True), (xl.float64, (2,)), (2, 2), ("U3", 1)],
)
def test_wrong_subscripts(subscript: Any) -> None:
    with pytest.raises(TypeError):
        xl.XTensor[subscript]


def test_a_subscripted_type_has_no_other_subscript() -> None:
    with pytest.raises(TypeError, match="has its subscript already"):
        xl.XTensor[xl.float64, 2][xl.float64, 2]


def test_assign_keeps_the_rank() -> None:
    t = xl.XTensor([[1.0, 2.0]])
    t.assign(xl.ones((3, 5)))
    assert t.shape == (3, 5)
    for wrong in (xl.ones(3), xl.ones((1, 1, 1)), 2.0):
        with pytest.raises(xl.ShapeError, match="XTensor has rank 2"):
            t.assign(wrong)
        with pytest.raises(xl.ShapeError, match="XTensor has rank 2"):
            xl.noalias(t).assign(wrong)
    assert (t.shape, set(np.asarray(t).ravel().tolist())) == ((3, 5), {1.0})


def test_in_place_changes_keep_the_rank() -> None:
    t = xl.XTensor(np.arange(6).reshape(2, 3))
    t.reshape_((3, 2))
    t.resize_((1, 6))
    t.transpose_()
    assert (t.shape, t.rank) == ((6, 1), 2)
    for method in (t.reshape_, t.resize_):
        with pytest.raises(xl.ShapeError, match=f"{method.__name__}.*rank 2"):
            method((6,))
    assert t.shape == (6, 1)


def test_copies_are_of_the_same_type() -> None:
    t = xl.XTensor[xl.float32, 1]([1, 2])
    copy = t.copy()
    assert (type(copy), copy.rank) == (type(t), 1)
    with pytest.raises(xl.ShapeError, match="rank 1"):
        copy.assign(xl.ones((2, 2)))


def test_views_are_not_tensors() -> None:
    t = xl.XTensor([[1, 2], [3, 4]])
    for view in (t[0], t.T):
        assert isinstance(view, xl.XView)
        assert not isinstance(view, xl.XTensor)
    t[0] = 9
    assert t.tolist() == [[9, 9], [3, 4]]


def test_layout() -> None:
    t = xl.XTensor([[1, 2, 3]], layout="column_major")
    assert (t.strides, t.static_layout) == ((1, 1), xl.column_major)
    t.assign(xl.ones((4, 2)))
    assert t.strides == (1, 4)
