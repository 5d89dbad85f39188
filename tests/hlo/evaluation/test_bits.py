"""Total order: floats of every format, by their bits.  The same bits as narrower elements."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.cases import together
from xarraylite.hlo.evaluation.bits import bitcast_convert, reduce_precision, total_order

pytestmark = pytest.mark.once

FORMATS = {
    "float4_e2m1fn": 16, "float6_e2m3fn": 64, "float6_e3m2fn": 64, "float8_e3m4": 256,
    "float8_e4m3": 256, "float8_e4m3b11fnuz": 256, "float8_e4m3fn": 256, "float8_e4m3fnuz": 256,
    "float8_e5m2": 256, "float8_e5m2fnuz": 256, "float8_e8m0fnu": 256, "float16": 65536,
    "bfloat16": 65536,
}  # fmt: skip


@together("name", FORMATS)
def test_all_numbers_of_a_format(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    values = np.arange(FORMATS[name]).astype(f"u{dtype.itemsize}").view(dtype)
    keys = total_order(values)
    assert len(np.unique(keys)) == len(keys)
    with np.errstate(invalid="ignore"):
        ordered = values[np.argsort(keys)].astype(np.float64)
    missing = np.isnan(ordered)
    numbers = ordered[~missing]
    assert (np.diff(numbers) >= 0).all()
    signs = np.signbit(numbers[numbers == 0]).tolist()
    assert signs == sorted(signs, reverse=True)
    if missing.sum() == 1:  # that of a format without -0 stands where -0 would, and is negative
        assert missing[0] == name.endswith("fnuz")


UNSIGNED = {2: ml_dtypes.uint2, 4: ml_dtypes.uint4, 8: np.uint8, 16: np.uint16, 32: np.uint32}


@pytest.mark.parametrize("narrow", [2, 4, 8])
def test_the_first_of_narrower_elements_has_the_lowest_bits(narrow):
    for wide in (width for width in UNSIGNED if width > narrow):
        count = min(1 << wide, 4096)
        words = np.random.default_rng(wide).permutation(count).astype(UNSIGNED[wide])
        parts = bitcast_convert(
            words, np.dtype(UNSIGNED[narrow]), (wide, narrow), (count, wide // narrow)
        )
        values = [int(word) for word in words.astype(np.uint32)]
        for k in range(wide // narrow):
            want = [value >> (k * narrow) & (1 << narrow) - 1 for value in values]
            assert parts[:, k].astype(np.uint32).tolist() == want
        back = bitcast_convert(parts, words.dtype, (narrow, wide), (count,))
        assert back.tobytes() == words.tobytes()


def test_nans_stay_where_no_mantissa_does():
    made = reduce_precision(np.float32([np.nan, -np.nan, np.inf, 1.7]), 5, 0)
    assert np.array_equal(made, np.float32([np.nan, -np.nan, np.inf, 2]), equal_nan=True)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_no_number_changes_where_no_bit_is_lost(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    values = np.arange(FORMATS[name]).astype(f"u{dtype.itemsize}").view(dtype)
    for exponent, mantissa in ((8, 10), (8, 7)) if name == "bfloat16" else ((5, 10), (8, 23)):
        with np.errstate(invalid="ignore"):
            made = reduce_precision(values, exponent, mantissa)
            missing = np.isnan(values)
            assert np.array_equal(np.isnan(made), missing)
        assert made[~missing].tobytes() == values[~missing].tobytes()


def test_numbers_of_16_bits_are_rounded_in_their_own_format():
    tiny = np.float16([1, 3, 4, 5, 12, 1023]) * np.float16(2**-24)
    made = reduce_precision(tiny, 8, 7).astype(np.float64) * 2.0**24
    assert made.tolist() == [0, 0, 0, 8, 16, 1024]  # as JAX has it: ties to even, of 3 bits
    assert reduce_precision(np.float16([6e-5, 1.2002, 300, -3e-5]), 4, 3).tolist() == [
        0, 1.25, np.inf, -0.0,
    ]  # fmt: skip
