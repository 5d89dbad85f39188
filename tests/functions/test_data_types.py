"""`astype`, `result_type`, `can_cast`, `finfo`, `iinfo`, `isdtype` at the public face."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties import oracle
from xarraylite.dtypes.names import SUPPORTED, kind
from xarraylite.testing import assert_same_bits
from xarraylite.testing import strategies as xst

NUMPY = [dt for dt in SUPPORTED if dt.isbuiltin == 1]


@given(st.data())
@settings(max_examples=50)
def test_astype_of_anything(data: st.DataObject) -> None:
    shape = data.draw(xst.shapes(max_dims=3, max_size=600))
    operand = data.draw(xst.samples(shape, data.draw(xst.dtypes())))
    source = operand.array.dtype
    goal = data.draw(xst.dtypes("biufc" if kind(source) in "biu" else "fc" + "b"))
    if isinstance(operand.operand, np.ndarray):
        result = xl.astype(operand.operand, goal)
    else:
        result = operand.operand.astype(goal)
    assert_same_bits(result, oracle.convert(operand.array, goal))


@together("goal", ["i1", "u1", "i2", "u4", "i8", "u8", "?"])
def test_floats_to_integers_in_range(goal: str) -> None:
    info = np.iinfo(goal) if goal != "?" else None
    low, high = (0, 1) if info is None else (max(info.min, -(2**40)), min(info.max, 2**40))
    values = np.array([0.0, -0.0, 0.9, 1.5, low, high, low + 0.5, high - 0.5])
    for source in ("f8", "f4", "f2"):
        part = values[np.abs(values) < (2**20 if source != "f2" else 2**10)].astype(source)
        assert_same_bits(xl.astype(xl.asarray(part), goal), part.astype(goal))


@pytest.mark.parametrize("source", ["f8", "i8", "u8", "f4"])
def test_one_rounding_into_bfloat16(source: str) -> None:
    """Midpoints that look like ties to whoever rounds to float32 first."""
    values = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 - 2.0**-60])
    expected = [1.0078125, 1.0, 1.015625, 1.0]
    if source in ("i8", "u8"):
        values = np.array([2**40 + 2**32 + 1, 2**40 + 2**32, 2**40 + 3 * 2**32]).astype(source)
        expected = [(2**40 + 2**33), 2**40, 2**40 + 2**34]
    elif source == "f4":
        values, expected = values[1:3].astype("f4"), expected[1:3]
    result = xl.astype(xl.asarray(values), "bfloat16")
    assert [float(x) for x in np.asarray(result)] == expected


def test_astype_of_a_container() -> None:
    a = xl.asarray([1, 2])
    same = a.astype("int64", copy=False)
    assert same is a
    copy = a.astype("int64")
    assert type(copy) is xl.XArray
    copy[0] = 9
    assert a.tolist() == [1, 2]
    lazy = a.astype("f4")
    assert type(lazy) is xl.XExpression
    assert str(lazy.dtype) == "float32"
    with pytest.raises(ValueError, match="'gpu'"):
        xl.astype(a, "f4", device="gpu")
    with pytest.raises(xl.DTypeError, match="'quad'"):
        a.astype("quad")


def test_complex_to_real_takes_the_real_part() -> None:
    a = xl.asarray([1.5 + 2j])
    for goal in ("f8", "i4", "bfloat16"):
        assert np.asarray(a.astype(goal)).astype(float).tolist() == [
            int(1.5) if goal == "i4" else 1.5
        ]
    assert bool(xl.asarray(2j).astype("?"))


@pytest.mark.once
@together(("a", "b"), list(itertools.product(NUMPY, NUMPY)))
def test_result_type_is_numpys(a: np.dtype[Any], b: np.dtype[Any]) -> None:
    expected = np.result_type(a, b)
    assert xl.result_type(a, b) == expected
    assert xl.result_type(xl.zeros(2, dtype=a), b) == expected
    assert xl.result_type(xl.zeros((), dtype=a), np.zeros((), b)) == expected
    assert xl.result_type(xl.zeros(2, dtype=a), xl.zeros(2, dtype=b)[0]) == expected
    assert (xl.zeros(1, dtype=a) * xl.zeros(1, dtype=b)).dtype == np.multiply(
        np.zeros(1, a), np.zeros(1, b)
    ).dtype


@pytest.mark.once
@together("dtype", NUMPY)
@pytest.mark.parametrize("value", [True, 1, 1.0, 1j], ids=repr)
def test_python_scalars_are_weak(dtype: np.dtype[Any], value: complex) -> None:
    expected = np.result_type(dtype, value)
    assert xl.result_type(dtype, value) == expected
    assert (xl.zeros(1, dtype=dtype) * value).dtype == expected
    assert (xl.zeros((), dtype=dtype) * value).dtype == expected
    assert (value * xl.zeros((0, 2), dtype=dtype)).dtype == expected


@together("n", [0, 1, 10, 1023, 1024, 1025, 300_000])
def test_dtype_depends_on_no_size(n: int) -> None:
    a = xl.zeros(n, dtype="f4")
    e = xl.sum(a * 2.0 + xl.zeros(n, dtype="i2"))
    assert (a * 2.0).dtype == np.float32
    assert str(e.dtype) == str(xl.eval(e).dtype) == "float32"


def test_can_cast() -> None:
    for a, b in itertools.product(NUMPY, NUMPY):
        for casting in ("safe", "same_kind", "unsafe", "no", "equiv"):
            assert xl.can_cast(a, b, casting=casting) == np.can_cast(a, b, casting)
    assert xl.can_cast(xl.zeros(1, dtype="i1"), "i2")
    assert not xl.can_cast("bfloat16", "float16")
    assert xl.can_cast("float32", "U5", "same_kind")
    assert not xl.can_cast("float32", "U5", "equiv")
    assert xl.can_cast(xl.zeros(1), "U5", "same_kind")


def test_info() -> None:
    assert xl.finfo("f4").eps == np.finfo("f4").eps
    assert xl.finfo(xl.bfloat16).bits == ml_dtypes.finfo(ml_dtypes.bfloat16).bits == 16
    assert xl.iinfo("u1").max == 255
    assert xl.iinfo(xl.int4).min == -8
    assert xl.finfo(xl.zeros(1, dtype="c8")).bits == 32
    for function, wrong in ((xl.finfo, "i4"), (xl.iinfo, "f4")):
        with pytest.raises(TypeError):
            function(wrong)


def test_isdtype() -> None:
    assert xl.isdtype(xl.float32, "real floating")
    assert xl.isdtype(xl.bfloat16, "real floating")
    assert xl.isdtype(xl.int8, ("bool", "signed integer"))
    assert not xl.isdtype(xl.uint8, "signed integer")
    assert xl.isdtype(xl.complex64, "numeric")
    assert xl.isdtype(xl.float64, xl.float64)
    with pytest.raises((ValueError, TypeError)):
        xl.isdtype(xl.float64, "number-like")


def test_names_are_dtypes() -> None:
    assert xl.float64 == np.dtype("f8")
    assert xl.bool == np.dtype("?")
    assert xl.bfloat16 == np.dtype(ml_dtypes.bfloat16)
    assert xl.zeros(1, dtype=xl.int4).dtype == np.dtype(ml_dtypes.int4)
