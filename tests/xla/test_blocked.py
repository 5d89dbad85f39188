"""Blocked layouts: tiles chosen by the layers of a nested shape."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl


def test_blocked_layouts() -> None:
    nested = xl.Nested([2, 2], xl.Shape(2, 2, 3, 4))
    folded = np.arange(48).reshape(6, 8)
    apart = np.ascontiguousarray(folded.reshape(2, 3, 2, 4).transpose(0, 2, 1, 3))
    a = xl.asarray(folded, shape=nested, layout="blocked")
    b = xl.asarray(apart, shape=nested, layout="blocked")
    assert str(a.layout) == "{1,0:T(3,4)}"
    assert str(b.layout) == "{3,2,1,0:T(3,4)}"
    assert bytes(a.buffer.data) == bytes(b.buffer.data) == apart.tobytes()
    assert np.array_equal(a, folded)
    assert np.array_equal(xl.eval(a + 1), folded + 1)
    deep = xl.asarray(np.arange(24), shape=xl.Nested([1, 1, 1], (2, 3, 4)), layout="blocked")
    assert str(deep.layout) == "{0:T(12)(4)}"
    assert xl.asarray(apart, shape=nested).shape == apart.shape
    with pytest.raises(xl.LayoutError, match="folded"):
        xl.asarray(np.ones((5, 5)), shape=nested, layout="blocked")
    empty = xl.Nested([1, 1], (2, 0))
    with pytest.raises(xl.LayoutError, match="extent 0"):
        xl.asarray(np.ones((2, 0)), shape=empty, layout="blocked")
    with pytest.raises(xl.ShapeError, match="not of the shape"):
        xl.asarray(folded, shape=nested)
    with pytest.raises(xl.LayoutError):
        xl.asarray(folded, layout="blocked")


def test_blocks_of_a_tiling() -> None:
    values = np.arange(400.0).reshape(20, 20)
    nested = xl.Nested([2, 2], xl.TiledShape([[10, 10], [10, 10]]))
    a = xl.asarray(values, shape=nested, layout="blocked")
    assert str(a.layout) == "{1,0:T(10,10)}"
    assert np.array_equal(a, values)
    apart = xl.asarray(np.zeros((2, 2, 10, 10)), shape=nested, layout="blocked")
    assert str(apart.layout) == "{3,2,1,0:T(10,10)}"
    uneven = xl.Nested([2, 2], xl.TiledShape([[10, 10], [5, 15]]))
    with pytest.raises(xl.LayoutError, match="differ in size"):
        xl.asarray(values, shape=uneven, layout="blocked")
