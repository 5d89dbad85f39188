"""Limits and classes of the element types, against NumPy, ml_dtypes and the array API."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tests.cases import together
from xarraylite._errors import DTypeError
from xarraylite.dtypes.info import NamespaceInfo, bounds, finfo, iinfo, isdtype
from xarraylite.dtypes.names import SUPPORTED, as_dtype, is_narrow_int, kind

FLOATS = [dt for dt in SUPPORTED if kind(dt) == "f"]
INTS = [dt for dt in SUPPORTED if kind(dt) in "iu"]
KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


@together("dt", FLOATS, ids=str)
def test_finfo_has_the_numbers_of_ml_dtypes(dt: np.dtype) -> None:
    ours, theirs = finfo(dt), ml_dtypes.finfo(dt)
    for name in ("eps", "max", "min", "smallest_normal", "smallest_subnormal"):
        number = getattr(ours, name)
        assert type(number) is float
        assert number == float(getattr(theirs, name)), name
    assert type(ours.bits) is int
    assert ours.bits == theirs.bits
    assert ours.dtype is as_dtype(dt)


@together("dt", FLOATS, ids=str)
def test_finfo_numbers_are_what_they_say(dt: np.dtype) -> None:
    """By arithmetic of the type itself, so independent of either table."""
    info = finfo(dt)

    def rounded(x: float) -> float:
        with np.errstate(all="ignore"):
            return float(np.array(x).astype(np.float64).astype(dt).astype(np.float64))

    for number in (info.max, info.min, info.smallest_normal, info.smallest_subnormal):
        assert rounded(number) == number
    assert rounded(1.0 + info.eps) == 1.0 + info.eps
    if info.eps < 1:
        assert rounded(1.0 + info.eps / 2) == 1.0
        assert rounded(1.0 + info.eps * 0.75) == 1.0 + info.eps


def test_finfo_takes_names_arrays_and_complex_types() -> None:
    assert finfo("bfloat16") is finfo(ml_dtypes.bfloat16) is finfo(np.zeros(3, "bfloat16"))
    assert finfo(complex) == finfo("complex128") == finfo(np.float64)
    assert finfo(np.complex64).dtype == np.float32
    assert finfo(np.float32(1)).bits == 32


@pytest.mark.parametrize("given", ["int8", bool, "int4", np.zeros(2, int)])
def test_finfo_refuses_other_types(given: object) -> None:
    with pytest.raises(ValueError, match=r"finfo: got .* floating type is needed"):
        finfo(given)


@together("dt", INTS, ids=str)
def test_iinfo(dt: np.dtype) -> None:
    ours = iinfo(dt)
    theirs = ml_dtypes.iinfo(dt) if is_narrow_int(dt) else np.iinfo(dt)
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, int(theirs.min), int(theirs.max))
    assert type(ours.min) is type(ours.max) is type(ours.bits) is int
    assert ours.dtype is as_dtype(dt)
    assert iinfo(np.zeros(2, dt)) == ours


@pytest.mark.parametrize("given", ["float32", bool, "bfloat16"])
def test_iinfo_refuses_other_types(given: object) -> None:
    with pytest.raises(ValueError, match=r"iinfo: got .* integer type is needed"):
        iinfo(given)


@together("name", KINDS)
def test_isdtype_by_kind(name: str) -> None:
    for dt in SUPPORTED:
        assert isdtype(dt, name) == (kind(dt) in KINDS[name])
        if dt.type.__module__ == "numpy":
            assert isdtype(dt, name) == np.isdtype(dt, name)


def test_isdtype_by_dtype_and_by_several() -> None:
    bfloat16 = as_dtype("bfloat16")
    assert isdtype(bfloat16, bfloat16)
    assert not isdtype(bfloat16, as_dtype("float16"))
    assert isdtype(bfloat16, ("bool", "real floating"))
    assert isdtype(as_dtype("int8"), (np.int8, "bool"))
    assert not isdtype(as_dtype("int8"), ())


@pytest.mark.parametrize("kinds", ["integer", "float32", ("bool", "nope"), None, 3])
def test_isdtype_refuses_unknown_kinds(kinds: object) -> None:
    with pytest.raises(DTypeError, match=r"isdtype|dtype:"):
        isdtype(as_dtype("bool"), kinds)  # type: ignore[arg-type]


def test_namespace_info_dtypes() -> None:
    info = NamespaceInfo()
    numpys = np.__array_namespace_info__()
    assert info.dtypes() == numpys.dtypes()
    for name in KINDS:
        assert info.dtypes(kind=name) == numpys.dtypes(kind=name), name
    both = ("bool", "complex floating")
    assert info.dtypes(device="cpu", kind=both) == numpys.dtypes(kind=both)
    for name, dt in info.dtypes().items():
        assert as_dtype(name) is dt


def test_namespace_info_defaults_and_devices() -> None:
    info = NamespaceInfo()
    assert info.devices() == [info.default_device()] == ["cpu"]
    defaults = info.default_dtypes()
    assert set(defaults) == {"real floating", "complex floating", "integral", "indexing"}
    assert defaults["real floating"] == as_dtype(float)
    assert defaults["complex floating"] == as_dtype(complex)
    assert defaults["integral"] == defaults["indexing"] == as_dtype(int)
    assert set(info.capabilities()) == {
        "boolean indexing",
        "data-dependent shapes",
        "max dimensions",
    }
    assert info.capabilities()["max dimensions"] == 64
    defaults.clear()
    assert info.default_dtypes()  # a copy each time


@pytest.mark.parametrize("ask", [NamespaceInfo().dtypes, NamespaceInfo().default_dtypes])
def test_namespace_info_refuses_other_devices(ask: object) -> None:
    with pytest.raises(ValueError, match="the only device is 'cpu'"):
        ask(device="gpu")  # type: ignore[operator]


def test_namespace_info_refuses_unknown_kinds() -> None:
    with pytest.raises(DTypeError, match="'integer' is not a kind"):
        NamespaceInfo().dtypes(kind="integer")


def test_limits_are_finite_except_where_the_type_has_none() -> None:
    assert all(math.isfinite(finfo(dt).max) for dt in FLOATS)
    assert finfo("float8_e8m0fnu").min == 2.0**-127  # no zero, no sign


def test_bounds_are_values_that_nothing_of_the_dtype_passes() -> None:
    for dt in [dt for dt in SUPPORTED if kind(dt) in "biuf"]:
        low, high = [np.asarray(bound).astype(dt) for bound in bounds(dt)]
        assert not np.isnan(np.asarray([low, high], np.float64)).any(), dt
        assert kind(dt) != "f" or (low <= finfo(dt).min and high >= finfo(dt).max), dt
