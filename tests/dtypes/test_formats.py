"""What the codes of narrow types mean, and conversions of whole arrays to and from them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.cases import together
from tests.dtypes.codes import value
from xarraylite._errors import DTypeError
from xarraylite.dtypes import names
from xarraylite.dtypes.formats import FORMATS, INT_BITS, loop_dtype, storage_dtype
from xarraylite.dtypes.names import SUPPORTED, is_narrow_float, is_narrow_int
from xarraylite.dtypes.narrow import from_narrow, to_narrow

FLOATS = list(FORMATS)
INTS = list(INT_BITS)
each_float = pytest.mark.parametrize("dt", FLOATS, ids=str)


def test_formats_cover_the_narrow_types() -> None:
    assert set(FORMATS) == {dt for dt in SUPPORTED if is_narrow_float(dt)}
    assert set(INT_BITS) == {dt for dt in SUPPORTED if is_narrow_int(dt)}


@each_float
def test_format_formula_gives_the_values_of_ml_dtypes(dt: np.dtype) -> None:
    form = FORMATS[dt]
    used = np.arange(1 << form.bits).astype(form.storage)
    ours = np.array([value(form, int(code)) for code in used])
    with np.errstate(invalid="ignore"):
        theirs = used.view(dt).astype(np.float64)
    np.testing.assert_array_equal(ours, theirs)
    numbers = ~np.isnan(theirs)
    np.testing.assert_array_equal(np.signbit(ours)[numbers], np.signbit(theirs)[numbers])


def test_format_fields_of_well_known_types() -> None:
    half, brain = FORMATS[names.float16], FORMATS[names.bfloat16]
    assert (half.bits, half.inf, half.nan, half.largest) == (16, 0x7C00, 0x7E00, 0x7BFF)
    assert (brain.bits, brain.inf, brain.nan, brain.largest) == (16, 0x7F80, 0x7FC0, 0x7F7F)
    e4m3fn = FORMATS[names.float8_e4m3fn]
    assert (e4m3fn.inf, e4m3fn.nan, value(e4m3fn, e4m3fn.largest)) == (None, 0x7F, 448.0)
    fnuz = FORMATS[names.float8_e4m3fnuz]
    assert (fnuz.inf, fnuz.nan, value(fnuz, fnuz.largest)) == (None, 0x80, 240.0)
    scale = FORMATS[names.float8_e8m0fnu]
    assert (scale.bits, scale.nan, value(scale, 127)) == (8, 0xFF, 1.0)
    four = FORMATS[names.float4_e2m1fn]
    assert (four.bits, four.inf, four.nan) == (4, None, None)
    assert [value(four, code) for code in range(8)] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


@together("dt", SUPPORTED)
def test_storage_and_loop_dtypes(dt: np.dtype) -> None:
    storage, loops = storage_dtype(dt), loop_dtype(dt)
    assert storage.itemsize == dt.itemsize
    if dt in FORMATS:
        assert storage == FORMATS[dt].storage
        assert loops == np.float32
    elif dt in INT_BITS:
        assert storage == np.uint8
        assert loops == (np.int8 if str(dt).startswith("int") else np.uint8)
    else:
        assert storage is loops is dt


@together("dt", FLOATS + INTS)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (4, 5)])
def test_to_narrow_keeps_shape_and_from_narrow_undoes_it(dt: np.dtype, shape: Any) -> None:
    size = math.prod(shape)
    x = (np.arange(size) % 2 + (1 if dt in FORMATS else -1)).reshape(shape).astype(np.float64)
    narrow = to_narrow(x, dt)
    assert narrow.dtype == dt
    assert narrow.shape == shape
    assert type(narrow) is np.ndarray
    wide = from_narrow(narrow)
    assert wide.dtype == loop_dtype(dt)
    np.testing.assert_array_equal(to_narrow(wide, dt).astype(float), narrow.astype(float))


@each_float
@together("source", SUPPORTED)
def test_to_narrow_from_every_dtype(dt: np.dtype, source: np.dtype) -> None:
    x = np.array([1, 0, 1, 1]).astype(source)[::-1]
    if names.kind(source) == "c":
        with pytest.raises(DTypeError, match=f"to_narrow: cannot convert {source} to {dt}"):
            to_narrow(x, dt)
        return
    expected = x.astype(np.float32).astype(dt)
    found = to_narrow(x, dt)
    assert found.dtype == dt
    np.testing.assert_array_equal(found.view(storage_dtype(dt)), expected.view(storage_dtype(dt)))


def test_to_narrow_of_floats_to_integers_truncates_then_wraps() -> None:
    x = np.array([-1.9, 1.9, 7.5, 8.0, 100.0, -9.0])
    np.testing.assert_array_equal(to_narrow(x, names.int4).astype(int), [-1, 1, 7, -8, 4, 7])
    np.testing.assert_array_equal(to_narrow(x, names.uint4).astype(int), [15, 1, 7, 8, 4, 7])
    np.testing.assert_array_equal(
        to_narrow(np.array([True, False]), names.int4).astype(int), [1, 0]
    )


def test_to_narrow_refuses_wide_targets() -> None:
    with pytest.raises(DTypeError, match="cannot convert float64 to float32"):
        to_narrow(np.zeros(2), names.float32)


def test_from_narrow_leaves_wide_arrays_alone() -> None:
    wide = np.arange(3.0)
    assert from_narrow(wide) is wide
