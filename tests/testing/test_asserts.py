"""The assertions that other tests rely on: they must be able to fail."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.dtypes.names import SUPPORTED, kind
from xarraylite.testing import assert_same_bits, assert_ulp
from xarraylite.testing.asserts import ulp_distance

NAN = float("nan")


@pytest.mark.once
@together("dtype", SUPPORTED)
def test_equal_and_unequal_arrays_of_every_dtype(dtype: np.dtype[Any]) -> None:
    codes = np.array([0, 1, 0], f"u{dtype.itemsize}") if dtype.itemsize < 16 else None
    values = np.array([0, 1, 0], dtype) if codes is None else codes.view(dtype)
    if dtype == np.bool_:
        values = np.array([False, True, False])
    assert_same_bits(values, values.copy())
    assert_ulp(values, values.copy(), 0)
    with pytest.raises(AssertionError, match=r"2 of 3 elements differ.*the first at \(0,\)"):
        assert_same_bits(values, values[[1, 0, 2]])
    with pytest.raises(AssertionError, match="2 of 3 elements differ"):
        assert_ulp(values, values[[1, 0, 2]], 0)
    if kind(dtype) in "fc":
        assert_ulp(values, values[[1, 0, 2]], 1 if codes is not None else 1 << 62)


@together(
    ("actual", "expected", "message"),
    [
        (np.zeros(2), np.zeros(3), r"shape is \(2,\), expected \(3,\)"),
        (np.zeros(1), np.zeros(1, "f4"), "dtype is float64, expected float32"),
        (np.array([0.0]), np.array([-0.0]), r"0x0000000000000000.*0x8000000000000000"),
        (np.array([NAN]), np.array([1.0]), "nan"),
        (np.array(2), np.array(3), r"first at \(\): 2"),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]), r"1 of 4.*\(1, 1\): 4"),
        (np.array([1 + 2j]), np.array([1 - 2j]), "1 of 1"),
        (xl.ones(2) + 1, np.array([2.0, 3.0]), "1 of 2"),
    ],
)
def test_differences_of_bits(actual: Any, expected: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_same_bits(actual, expected)


def test_every_nan_is_the_same() -> None:
    for code in ("f2", "f4", "f8", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        values = np.array([NAN, 1.0]).astype(code)
        assert_same_bits(values, np.array([-NAN, 1.0]).astype(code))
    assert_same_bits(np.array([complex(NAN, 1)]), np.array([complex(-NAN, 1)]))
    with pytest.raises(AssertionError):
        assert_same_bits(np.array([complex(NAN, 1)]), np.array([complex(NAN, 2)]))


@pytest.mark.parametrize("code", ["f2", "f4", "f8", "bfloat16"])
def test_distances(code: str) -> None:
    dtype = xl.zeros(0, dtype=code).dtype
    bits = np.arange(200, dtype=f"u{dtype.itemsize}")
    small, negative = bits.view(dtype), -bits.view(dtype)
    expected = np.abs(np.arange(200)[:, None] - np.arange(200))
    left, right = np.broadcast_arrays(small[:, None], small)
    assert ulp_distance(left, right).tolist() == expected.tolist()
    left, right = np.broadcast_arrays(small[:, None], negative)
    both = np.arange(200)[:, None] + np.arange(200)
    assert ulp_distance(left, right).tolist() == both.tolist()
    one = np.array([1.0], dtype)
    assert ulp_distance(one, np.nextafter(one, np.array([2], dtype))).tolist() == [1]


def test_distance_to_not_a_number() -> None:
    assert ulp_distance(np.array([NAN, NAN, 1.0]), np.array([NAN, 1.0, NAN])).tolist() == [
        0,
        2**64 - 1,
        2**64 - 1,
    ]
    with pytest.raises(AssertionError, match="by up to 18446744073709551615 ulp"):
        assert_ulp(np.array([NAN]), np.array([np.inf]), 1 << 62)


def test_integers_must_be_equal() -> None:
    with pytest.raises(AssertionError, match="1 of 1"):
        assert_ulp(np.array([1]), np.array([2]), 1000)
    assert_ulp(np.array([True]), np.array([True]), 0)


def test_shapes_without_elements() -> None:
    for code in ("f8", "c8", "i4", "bfloat16"):
        assert_same_bits(xl.zeros((0, 3), dtype=code), xl.zeros((0, 3), dtype=code))
        assert_ulp(xl.zeros((0, 3), dtype=code), xl.zeros((0, 3), dtype=code), 0)
