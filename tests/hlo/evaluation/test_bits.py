"""Total order: floats of every format, by their bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from xarraylite.hlo.evaluation.bits import total_order

FORMATS = {
    "float4_e2m1fn": 16, "float6_e2m3fn": 64, "float6_e3m2fn": 64, "float8_e3m4": 256,
    "float8_e4m3": 256, "float8_e4m3b11fnuz": 256, "float8_e4m3fn": 256, "float8_e4m3fnuz": 256,
    "float8_e5m2": 256, "float8_e5m2fnuz": 256, "float8_e8m0fnu": 256, "float16": 65536,
    "bfloat16": 65536,
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
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
