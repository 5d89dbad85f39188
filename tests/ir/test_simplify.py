"""Rewrites keep the dtype and the bits, and look at Python numbers only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.ir.nodes import leaf
from xarraylite.ir import build
from xarraylite.ir.simplify import simpler
from xarraylite.ops.table import OPS
from xarraylite.testing import assert_same_bits

POW = OPS["pow"]


@pytest.mark.parametrize(
    ("exponent", "name"),
    [(2, "square"), (2.0, "square"), (1, "positive"), (1.0, "positive"), (-1, "reciprocal")],
)
def test_small_powers(exponent: float, name: str) -> None:
    a = leaf((3,))
    assert simpler(POW, (a, exponent), a.dtype) == (OPS[name], None)
    assert build.elementwise(POW, a, exponent).op is OPS[name]


@together("exponent", [0, 4, 0.25, -2, True, 2j, np.float64(2), np.int64(2), float("nan")])
def test_other_powers_stay(exponent: Any) -> None:
    assert simpler(POW, (leaf((3,)), exponent), np.dtype(float)) is None


def test_a_cube_is_two_products() -> None:
    a = leaf((3,))
    node = build.elementwise(POW, a, 3)
    assert node.op is OPS["multiply"]
    assert [arg for arg in node.args if arg is a] == [a]
    assert build.elementwise(POW, leaf((3,), "complex128"), 3).op is POW


@together("dtype", ["float16", "float32", "float64"])
@together("exponent", [3, 3.0, -1, -1.0])
def test_cubes_and_reciprocals_are_close_to_the_power(dtype: str, exponent: float) -> None:
    values = np.random.default_rng(0).standard_normal(500).astype(dtype) * 8
    values[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    with np.errstate(all="ignore"):
        expected = values**exponent
    np.testing.assert_array_max_ulp(np.asarray(xl.asarray(values) ** exponent), expected, 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_roots_are_correctly_rounded(dtype: str) -> None:
    """Zeros and infinities are those of the power, in arrays of any length and in values."""
    values = np.random.default_rng(0).standard_normal(3000) * 8
    if dtype != "int32":
        values[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    for n in (1, 5, 3000):
        a = xl.asarray(values[:n], dtype=dtype)
        roots = xl.eval(xl.sqrt(a))
        with np.errstate(all="ignore"):
            expected = np.abs(np.asarray(roots))
        expected[np.isinf(np.asarray(a, "float64"))] = np.inf
        for _ in range(4):
            assert_same_bits(xl.eval(a**0.5), xl.asarray(expected))
            assert_same_bits(xl.eval(xl.pow(a, 0.5)), xl.asarray(expected))
        if n == 5 and dtype != "int32":
            wanted = np.asarray(expected, "float64")
            found = [float(a[k] ** 0.5) for k in range(5)]
            assert np.array_equal(found, wanted, equal_nan=True)
            assert not np.signbit(found[:4]).any()


def test_only_powers_are_looked_at() -> None:
    assert simpler(OPS["multiply"], (leaf((3,)), 2), np.dtype(float)) is None


def test_exponents_in_arrays_are_values() -> None:
    node = build.elementwise(POW, leaf((3,)), leaf((), "float64"))
    assert node.op is POW


def test_traced_exponents_have_no_value_yet() -> None:
    node = build.elementwise(POW, leaf((3,)), build.weak_scalar(2, 0))
    assert node.op is POW
    assert build.elementwise(POW, leaf((3,)), build.weak_scalar(2)).op is OPS["square"]


@together("exponent", [1, 2, 1.0, 2.0])
@together("dtype", ["int8", "uint8", "int64", "float32", "float64", "complex128"])
def test_dtype_and_bits_are_those_of_the_power(dtype: str, exponent: float) -> None:
    values = np.array([-3, -1, 0, 1, 2, 100]).astype(dtype)
    expected = np.power(values, exponent)
    expression = xl.asarray(values) ** exponent
    assert expression.dtype == expected.dtype
    assert_same_bits(expression, expected)


@pytest.mark.parametrize("exponent", [1, 2])
def test_special_values(exponent: int) -> None:
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e200, 1.1])
    with np.errstate(over="ignore", under="ignore"):
        expected = values**exponent
    assert_same_bits(xl.asarray(values) ** exponent, expected)


@pytest.mark.parametrize("dtype", ["bool", "int8"])
def test_where_the_power_changes_the_dtype_nothing_is_rewritten(dtype: str) -> None:
    node = build.elementwise(POW, leaf((3,), dtype), 2.0)
    assert node.dtype == np.float64
    expected = np.power(np.ones(3, dtype), 2)
    assert build.elementwise(POW, leaf((3,), dtype), 2).dtype == expected.dtype
