"""Public dtypes make values, as NumPy's scalar types do, and stay dtypes everywhere else."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.test_facade import NAMES
from xarraylite.functions.scalar_types import ScalarType

TYPES = sorted({name for name in NAMES if isinstance(getattr(xl, name), ScalarType)})


@pytest.mark.once
@together("name", TYPES)
def test_a_type_is_its_dtype(name: str) -> None:
    one = getattr(xl, name)
    dtype = xl.dtype(name)
    assert one == dtype
    assert dtype == one
    assert one == dtype.type
    assert one != None  # noqa: E711
    assert {one: 1}[dtype] == 1
    assert np.zeros(2, one).dtype == dtype
    assert (one.itemsize, one.name, str(one), repr(one)) == (
        dtype.itemsize,
        dtype.name,
        dtype.name,
        repr(dtype),
    )
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one


@pytest.mark.once
@together("name", TYPES)
def test_a_type_makes_values(name: str) -> None:
    one = getattr(xl, name)
    value = one(1)
    assert isinstance(value, xl.XScalar)
    assert value.dtype == one
    assert float(value.real) == 1.0
    assert isinstance(value, one)
    assert isinstance(xl.ones(2, dtype=one)[0], one)
    assert isinstance(xl.prod(xl.ones(2, dtype=one), dtype=one), one)
    assert not isinstance(xl.ones((), dtype=one), one)
    assert not isinstance(1, one)


@together(
    "call",
    ["int8(3.7)", "float64('2.5')", "bool(0)", "complex128(1, 2)", "int16()", "float32([1, 2])"],
)
def test_calls_mean_what_they_mean_in_numpy(call: str) -> None:
    ours, theirs = eval(f"xl.{call}"), eval(f"np.{call}")
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(np.asarray(ours), theirs)


def test_arrays_and_values_are_converted() -> None:
    x = xl.asarray([1.5, -2.5])
    assert isinstance(xl.int32(x), xl.XExpression)
    assert xl.int32(x).tolist() == [1, -2]
    assert isinstance(xl.int32(x[1]), xl.XScalar)
    assert xl.bfloat16(xl.sum(x)) == -1


def test_narrow_values_are_rounded_once() -> None:
    x = 1 + 2.0**-8 + 2.0**-40  # float32 would be a tie, which goes to 1
    assert float(xl.bfloat16(x)) == float(xl.asarray([x]).astype("bfloat16")[0]) == 1 + 2.0**-7


@pytest.mark.parametrize("call", ["int8(300)", "uint8(-1)", "int4(9)", "uint2(4)"])
def test_what_does_not_fit_is_refused(call: str) -> None:
    with pytest.raises(OverflowError, match=r"out of bounds|int[24]"):
        eval(f"xl.{call}")


KINDS = "generic number integer signedinteger unsignedinteger inexact floating complexfloating"


@together("kind", KINDS.split())
def test_kinds_of_elements(kind: str) -> None:
    ours: Any = getattr(xl, kind)
    theirs: Any = getattr(np, kind)
    for dtype in (np.bool_, np.int8, np.uint32, np.float32, np.complex64):
        assert isinstance(xl.ones(2, dtype=dtype)[0], ours) is issubclass(dtype, theirs)
        assert isinstance(dtype(1), ours) is issubclass(dtype, theirs)
        assert isinstance(xl.prod(xl.ones(2, dtype=dtype), dtype=dtype), ours) is (
            issubclass(dtype, theirs)
        )
        assert not isinstance(xl.ones((), dtype=dtype), ours)
        assert xl.issubdtype(dtype, ours) is np.issubdtype(dtype, ours)
        assert xl.issubdtype(dtype, ours) is np.issubdtype(dtype, theirs)
    assert xl.issubdtype(ours, xl.generic)
    assert xl.issubdtype(xl.bfloat16, ours) is issubclass(np.float32, theirs)


def test_types_of_elements_stand_in_unions_of_annotations() -> None:
    for made, of in (
        (xl.float64 | xl.int8, (xl.float64, xl.int8)),
        (xl.float32 | None, (xl.float32, type(None))),
        (int | xl.bfloat16 | xl.ndarray, (int, xl.bfloat16, xl.ndarray)),
    ):
        assert {*made.__args__} == {*of}
