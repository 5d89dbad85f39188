"""Indices of every kind, read and written, against NumPy: whatever the layout and the dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.properties.tiling import LAYOUTS, padding_of, poisoned
from xarraylite.testing import assert_same_bits
from xarraylite.testing.operands import fill

DTYPES = [np.dtype(d) for d in ("f8", "f4", "i4", "u1", "?", "c16", xl.bfloat16, xl.int4)]


def containers(values: Any, layout: str) -> Any:
    """Return a container of the values that lies as its name says."""
    if layout == "column":
        return xl.asarray(values, layout="column_major")
    if layout == "tiled":
        return poisoned(values, LAYOUTS[values.ndim][0])
    if layout == "view":
        around = np.zeros([2 * n + 1 for n in values.shape], values.dtype)
        key = (slice(1, None, 2),) * values.ndim
        around[key] = values
        return xl.asarray(around)[(*key, ...)]
    return xl.asarray(values)


@st.composite
def indices(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """Draw an index of anything NumPy takes: masks and arrays, mixed with what is basic."""
    rank = len(shape)
    common = draw(st.sampled_from([(2,), (3,), (1, 2), (2, 1)]))
    key: list[Any] = []
    axis = 0
    while axis < rank and draw(st.integers(0, 4)):
        extent = shape[axis]
        kinds = ["slice", "none", "mask", "mask of lists"]
        kinds += ["int", "array", "list", "container"] if extent else []
        kinds += ["wide mask"] if axis + 1 < rank else []
        kind = draw(st.sampled_from(kinds))
        seed = np.random.default_rng(draw(st.integers(0, 99)))
        if kind == "none":
            key.append(None)
            continue
        if kind == "slice":
            key.append(draw(st.slices(extent)))
        elif kind == "int":
            key.append(draw(st.integers(-extent, extent - 1)))
        elif kind == "list":
            key.append(seed.integers(-extent, extent, common).tolist())
        elif kind in ("array", "container"):
            array = seed.integers(-extent, extent, common)
            key.append(array if kind == "array" else xl.asarray(array))
        elif kind == "wide mask":
            key.append(seed.random(shape[axis : axis + 2]) < 0.5)
            axis += 1
        else:
            mask = seed.random(extent) < 0.5
            key.append(mask.tolist() if kind == "mask of lists" and extent else xl.asarray(mask))
        axis += 1
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), Ellipsis)
    return tuple(key) if len(key) != 1 or draw(st.booleans()) else key[0]


def for_numpy(key: Any) -> Any:
    """Return the index with NumPy's arrays in the place of ours."""
    if isinstance(key, tuple):
        return tuple([for_numpy(item) for item in key])
    return np.asarray(key) if isinstance(key, xl.XExpression) else key


SHAPES = [(4,), (3, 4), (2, 3, 4), (0,), (3, 0), (1, 5)]


@given(st.data())
def test_reading_and_writing_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    dtype = data.draw(st.sampled_from(DTYPES))
    layouts = ["row", "column", "view", *(["tiled"] if 0 not in shape else [])]
    values = fill(dtype, shape, data.draw(st.integers(0, 99)), plain=True)
    a = containers(values.copy(), data.draw(st.sampled_from(layouts)))
    tiled = isinstance(a.layout, xl.Layout)
    before = padding_of(a) if tiled else b""
    key = data.draw(indices(shape))
    try:
        wanted = values[for_numpy(key)]
    except IndexError:
        with pytest.raises(IndexError):
            xl.eval(a[key])
        with pytest.raises(IndexError):
            a[key] = 1
        assert_same_bits(a, values)
        return
    pending = a[key]
    assert_same_bits(np.asarray(a[key]), wanted)
    assert_same_bits(np.asarray((a == a)[key]), (values == values)[for_numpy(key)])
    new = fill(dtype, np.shape(wanted), 7, plain=True)
    kept = isinstance(pending, xl.XExpression) and not isinstance(pending, xl.XView)
    how = data.draw(st.sampled_from(["values", "one", "itself", "expression", "update"]))
    if how == "values":
        a[key] = xl.asarray(new)
        values[for_numpy(key)] = new
    elif how == "one":
        a[key] = 1
        values[for_numpy(key)] = 1
    elif how == "itself":
        a[key] = a[key]
    elif how == "expression":
        a[key] = xl.where(xl.asarray(new) == 0, xl.asarray(new), xl.asarray(new))
        values[for_numpy(key)] = new
    elif dtype.kind != "b" and dtype.isbuiltin == 1:
        a[key] += xl.asarray(new)
        values[for_numpy(key)] += new
    assert_same_bits(a, values)
    if kept and isinstance(pending, xl.XArray):
        assert_same_bits(pending, wanted)
    assert not tiled or padding_of(a) == before


@given(st.data())
def test_masks_of_the_whole_array(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    values = fill(np.dtype("f8"), shape, data.draw(st.integers(0, 99)), plain=True)
    a = containers(values.copy(), data.draw(st.sampled_from(["row", "column", "view"])))
    mask = a > data.draw(st.sampled_from([-100, 0, 1, 100]))
    chosen = np.asarray(mask)
    assert_same_bits(np.asarray(a[mask]), values[chosen])
    a[mask] = a[mask] * 2 + 1
    values[chosen] = values[chosen] * 2 + 1
    a[~mask] *= -1
    values[~chosen] *= -1
    assert_same_bits(a, values)
