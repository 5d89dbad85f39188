"""Extremes and sums of integers fold neighbours in memory as vectors."""

from __future__ import annotations

import numpy as np

import xarraylite as xl
from tests.cases import together

LENGTHS = (1, 31, 63, 64, 65, 127, 128, 129, 257, 1000, 4099, 70001)


@together("dtype", ["float32", "float64", "int8", "uint16", "int64", "uint32"])
def test_any_length(dtype: str) -> None:
    rng = np.random.default_rng(1)
    names = ["max", "min"] if dtype.startswith("f") else ["max", "min", "sum", "prod"]
    for length in LENGTHS:
        values = (rng.standard_normal(length) * 1000).astype(dtype)
        a = xl.asarray(values)
        for name in names:
            made = np.asarray(getattr(xl, name)(a))
            assert made == getattr(np, name)(values), (name, length)


@together("dtype", ["float32", "float64"])
@together("place", [0, 5, 63, 64, 130, 199, -1])
def test_nan_anywhere(dtype: str, place: int) -> None:
    values = np.linspace(-1, 1, 200).astype(dtype)
    values[3] = np.inf
    values[place] = np.nan
    a = xl.asarray(values)
    assert np.isnan(float(xl.max(a)))
    assert np.isnan(float(xl.min(a)))


def test_rows_and_parts_of_rows() -> None:
    values = np.random.default_rng(2).integers(-99, 99, (9, 300))
    a = xl.asarray(values)
    for part in (np.s_[:, :], np.s_[:, 1:-3], np.s_[::2, 5:], np.s_[:, ::3]):
        for name in ("max", "min", "sum"):
            made = getattr(xl, name)(a[part], axis=1)
            assert np.array_equal(np.asarray(made), getattr(np, name)(values[part], axis=1))
