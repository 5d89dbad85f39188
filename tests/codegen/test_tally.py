"""Truth values are counted exactly, however many there are and whatever they are made of."""

from __future__ import annotations

import numpy as np

import xarraylite as xl
from tests.cases import together


@together("dtype", ["bool", "int8", "uint16", "float32", "float64", "complex128"])
@together("n", [0, 1, 7, 511, 512, 513, 66_000, 300_001])
def test_counts_of_rows_and_what_is_left(dtype: str, n: int) -> None:
    full = np.ones(n, dtype)
    some = (np.arange(n) % 3 == 0).astype(dtype)
    for values in (full, some, full[::-1], some[::2]):
        ours = xl.asarray(values)
        assert int(xl.count_nonzero(ours)) == np.count_nonzero(values)
        assert xl.eval(xl.count_nonzero(ours)).dtype == np.int64


def test_counts_of_what_is_computed() -> None:
    x = np.random.default_rng(0).random((70, 1500))
    ours = xl.asarray(x)
    assert int(xl.sum(ours > 0.25)) == (x > 0.25).sum()
    assert int(xl.sum((ours > 0.25) & (ours.T.T < 0.5))) == ((x > 0.25) & (x < 0.5)).sum()
    for axis in (0, 1):
        np.testing.assert_array_equal(xl.sum(ours > 0.25, axis=axis), (x > 0.25).sum(axis))
    mask = x.astype(np.float32) > 0.5
    np.testing.assert_array_equal(xl.sum(xl.asarray(mask), axis=1), mask.sum(1))
    assert int(xl.sum(xl.asarray(mask), dtype=xl.uint64)) == mask.sum()


def test_what_a_function_makes_of_truth_values_is_no_count() -> None:
    weight = xl.vectorize(lambda v: 5 if v else 2)
    mask = np.random.default_rng(1).random((40, 700)) > 0.5
    values = np.where(mask, 5, 2)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(xl.sum(weight(xl.asarray(mask)), axis=axis), values.sum(axis))
