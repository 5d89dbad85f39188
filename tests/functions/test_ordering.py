"""Positions in order are those of NumPy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.functions import ordering

RNG = np.random.default_rng(0)
COUNT = 3000


def lines(dtype: str) -> list[np.ndarray]:
    """Many equal elements, few, and the extremes of a dtype."""
    if np.dtype(dtype).kind == "f":
        few = RNG.integers(-4, 4, COUNT).astype(dtype) * np.dtype(dtype).type(-0.5)
        few[::7], few[1::7], few[2::50] = -0.0, np.inf, -np.nan
        few[3::50], few[4::50] = np.nan, -np.inf
        wide = RNG.standard_normal(COUNT).astype(dtype)
        wide[0] = np.finfo(dtype).smallest_subnormal
        return [few, wide, np.full(COUNT, -np.nan, dtype)]
    info = np.iinfo(dtype)
    wide = RNG.integers(info.min, info.max, COUNT, dtype, endpoint=True)
    wide[1], wide[2] = info.min, info.max
    near = np.dtype(dtype).type(info.max) - RNG.integers(0, 100, COUNT, dtype)
    return [wide, near, np.full(COUNT, info.min, dtype)]


@together("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_equal_elements_keep_their_order(dtype: str) -> None:
    for line in lines(dtype):
        before = line.copy()
        found = ordering.positions(line)
        assert found is not None
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, line.argsort(kind="stable"))
        assert line.tobytes() == before.tobytes()
        rows = line.reshape(30, 2, 50)
        np.testing.assert_array_equal(ordering.positions(rows), rows.argsort(kind="stable"))


def test_many_elements_and_rows_by_kernels() -> None:
    """Keys of few bits and of many, which differ in the lowest ones alone, or not there."""
    few = RNG.integers(-9, 9, 70_000)
    wide = RNG.standard_normal(few.size)
    near = np.where(few < 0, np.uint64(few % 5), np.uint64(1 << 63) + np.uint64(few % 7))
    wide[::9] = np.nan
    lines = (few, few << 40, few * 0.5, wide, wide.astype("f4"), near, near.reshape(7, -1))
    for line in (*lines, np.sort(near)):
        np.testing.assert_array_equal(ordering.positions(line), line.argsort(kind="stable"))


@pytest.mark.parametrize("end", [[], [-0.0, 0.0, -0.0], [np.nan, np.nan], [np.nan, -1.0, np.nan]])
def test_what_is_in_order_stays_there_but_beside_nan(end: list[float]) -> None:
    line = np.concatenate([np.arange(-9.0, 0.0), end])
    for values in (line, np.stack([line, line])):
        found = ordering.positions(values)
        np.testing.assert_array_equal(found, values.argsort(kind="stable"))
        found[...] = 0


def other(dtype: str) -> np.ndarray:
    """Numbers of few values, some of them NaN where the dtype has it."""
    values = RNG.integers(0, 3, (5, 40)).astype(dtype)
    if values.dtype.kind in "fc":
        values[RNG.random(values.shape) < 0.2] = np.nan
    return values


@together("dtype", ["c8", "c16", "?", ">i4", ">f8", "g"])
def test_other_dtypes_are_compared(dtype: str) -> None:
    values = other(dtype)
    np.testing.assert_array_equal(ordering.positions(values), values.argsort(kind="stable"))
    distinct = RNG.permutation(200).reshape(5, 40).astype(dtype)
    np.testing.assert_array_equal(ordering.positions(distinct), distinct.argsort(kind="stable"))


@together("axis", [0, 1, -1, None])
@together("dtype", ["int64", "float32", "float64", "complex64", "bool"])
def test_argsort_of_many(dtype: str, axis: int | None) -> None:
    for values in (
        RNG.integers(-9, 9, (60, 50)).astype(dtype),
        RNG.standard_normal((60, 50)).astype(dtype),
    ):
        found = np.asarray(xl.argsort(xl.asarray(values), axis))
        np.testing.assert_array_equal(found, np.argsort(values, axis, kind="stable"))
        assert found.flags.c_contiguous
        assert found.dtype == np.int64
        last = np.asarray(xl.argsort(xl.asarray(values.T), axis, descending=True))
        if dtype not in ("bool", "complex64"):
            np.testing.assert_array_equal(last, np.argsort(-values.T, axis, kind="stable"))


@pytest.mark.parametrize("descending", [False, True])
def test_zeros_keep_their_signs_and_order(descending: bool) -> None:
    """Of many too, which NumPy sorts in a way that does not tell them apart."""
    values = np.random.default_rng(0).standard_normal((50, 400))
    values[:, 3], values[:, 50] = -0.0, 0.0
    for row in values:
        made = np.asarray(xl.sort(row, descending=descending))
        assert np.signbit(made[made == 0]).tolist() == [True, False]
