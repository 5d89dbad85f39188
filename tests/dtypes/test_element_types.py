"""Element types against what jaxlib reports of them, copied here as a table."""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest

from tests.cases import together
from xarraylite._errors import DTypeError
from xarraylite.dtypes.element_types import (
    ARRAY_TYPES,
    ELEMENT_TYPES,
    ELEMENT_TYPES_BY_NUMBER,
    element_type,
)
from xarraylite.dtypes.names import SUPPORTED, xla_name

# name: number, bits, bytes of an element that is not packed
KNOWN = {
    "pred": (1, 1, 1),
    "s4": (21, 4, 1),
    "s64": (5, 64, 8),
    "u1": (31, 1, 1),
    "u2": (27, 2, 1),
    "f16": (10, 16, 2),
    "bf16": (16, 16, 2),
    "f64": (12, 64, 8),
    "c128": (18, 128, 16),
    "f8e5m2fnuz": (24, 8, 1),
    "f4e2m1fn": (32, 4, 1),
    "f6e2m3fn": (36, 6, 1),
    "token": (17, 0, 0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known(name: str) -> None:
    kind = element_type(name)
    assert (kind.number, kind.bits, kind.storage_bytes) == KNOWN[name]
    assert kind.enum == kind.number
    assert str(kind) == name
    assert eval(repr(kind)) is kind


def test_numbers_are_unique_and_complete() -> None:
    assert len(ELEMENT_TYPES_BY_NUMBER) == len(ELEMENT_TYPES)
    assert sorted(ELEMENT_TYPES_BY_NUMBER) == list(range(37))
    assert set(ELEMENT_TYPES) - set(ARRAY_TYPES) == {
        "invalid", "tuple", "opaque", "token", "buffer"
    }  # fmt: skip


@together("dt", SUPPORTED)
def test_every_dtype_has_its_type(dt: np.dtype[np.generic]) -> None:
    kind = element_type(dt)
    assert kind.name == xla_name(dt)
    assert kind.dtype == dt
    assert kind.storage_bytes == dt.itemsize


def test_names_are_read_as_xla_reads_them() -> None:
    assert element_type("u4").dtype == np.dtype(ml_dtypes.uint4)
    assert element_type("u8").dtype == np.dtype(np.uint8)
    assert element_type("float32") is element_type(np.float32) is element_type("f32")
    assert element_type(ml_dtypes.bfloat16) is element_type("bf16")
    assert element_type(element_type("s8")) is element_type("s8")


def test_kinds() -> None:
    kinds = {name: element_type(name) for name in ELEMENT_TYPES}
    integral = {name for name, kind in kinds.items() if kind.is_integral}
    assert integral == {f"{sign}{bits}" for sign in "su" for bits in (1, 2, 4, 8, 16, 32, 64)}
    assert {name for name in integral if kinds[name].is_unsigned} == {
        name for name in integral if name[0] == "u"
    }
    assert {name for name, kind in kinds.items() if kind.is_complex} == {"c64", "c128"}
    floating = {name for name, kind in kinds.items() if kind.is_floating}
    assert floating == set(ARRAY_TYPES) - integral - {"c64", "c128", "pred"}
    packable = {name for name, kind in kinds.items() if kind.is_sub_byte_non_pred}
    assert packable == {"s1", "s2", "s4", "u1", "u2", "u4", "f4e2m1fn", "f6e2m3fn", "f6e3m2fn"}


@together("bad", ["F32", "float33", None, 11, object, "", "c32", np.dtype("M8[s]")])
def test_refused(bad: object) -> None:
    with pytest.raises(DTypeError, match="element_type"):
        element_type(bad)


def test_pickles_to_the_same_object() -> None:
    kind = element_type("bf16")
    assert pickle.loads(pickle.dumps(kind)) is kind
