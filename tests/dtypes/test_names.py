"""Names of element types: what is accepted, what it means, and why the rest is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.cases import together
from xarraylite._errors import DTypeError, XarrayliteError
from xarraylite.dtypes import names
from xarraylite.dtypes.names import SUPPORTED, as_dtype, dtype_name, from_xla, kind, xla_name

NUMPY = [np.dtype(code) for code in "?bhilBHILefdFD"]
FLOATS = [
    *("bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
    *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
]
INTS = ["int2", "int4", "uint2", "uint4"]
if hasattr(ml_dtypes, "int1"):
    INTS += ["int1", "uint1"]


def test_supported_is_what_the_package_promises() -> None:
    expected = {*NUMPY, *(np.dtype(getattr(ml_dtypes, name)) for name in FLOATS + INTS)}
    assert set(SUPPORTED) == expected
    assert len(SUPPORTED) == len(expected)


@together("dt", SUPPORTED)
def test_every_spelling_gives_the_same_object(dt: np.dtype) -> None:
    canonical = as_dtype(dt)
    assert canonical == dt
    for spelling in (dt.type, dt.name, np.dtype(dt.type), dtype_name(dt)):
        assert as_dtype(spelling) is canonical
    assert from_xla(xla_name(dt)) is canonical
    assert vars(names)[dt.name if dt.name != "bool" else "bool_"] is canonical


def test_numpy_names_and_codes_mean_what_numpy_says() -> None:
    spellings = [name for name in np.sctypeDict if np.dtype(np.sctypeDict[name]) in SUPPORTED]
    for dt in NUMPY:
        code = f"{dt.kind}{dt.itemsize}"
        spellings += [dt.char, code, f"={code}", f"|{code}", dt.str]
    assert len(spellings) > 80
    for spelling in spellings:
        assert as_dtype(spelling) == np.dtype(spelling), spelling


def test_c_types_that_share_a_size_share_the_dtype() -> None:
    assert as_dtype(np.longlong) is as_dtype(np.dtype("q")) is names.int64
    assert as_dtype(np.ulonglong) is names.uint64
    assert as_dtype(np.intp) is as_dtype("p")


def test_python_types() -> None:
    assert as_dtype(bool) is names.bool_
    assert as_dtype(int) is names.int64
    assert as_dtype(float) is names.float64
    assert as_dtype(complex) is names.complex128


XLA = {
    "pred": "bool",
    "s4": "int4",
    "s8": "int8",
    "s16": "int16",
    "s32": "int32",
    "s64": "int64",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
    "f8e5m2": "float8_e5m2",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f4e2m1fn": "float4_e2m1fn",
}


@together("name", XLA)
def test_xla_names(name: str) -> None:
    assert dtype_name(as_dtype(name)) == XLA[name]
    assert from_xla(name) is as_dtype(name)


def test_where_numpy_and_xla_disagree_numpy_wins_and_from_xla_has_the_other() -> None:
    disagree = {
        xla_name(dt) for dt in SUPPORTED if as_dtype(xla_name(dt)) is not from_xla(xla_name(dt))
    }
    assert disagree == {
        name for name in ("u1", "u2", "u4", "u8") if name in map(xla_name, SUPPORTED)
    }
    assert as_dtype("u4") == np.dtype("u4") == np.uint32
    assert dtype_name(from_xla("u4")) == "uint4"
    assert as_dtype("u8") is names.uint64
    assert from_xla("u8") is names.uint8


def test_metadata_is_dropped() -> None:
    tagged = np.dtype("f8", metadata={"unit": "m"})
    assert as_dtype(tagged).metadata is None


@together(
    ("given", "reason"),
    [
        (object, "references to Python objects"),
        ("O", "references to Python objects"),
        (str, "text is not numeric"),
        ("U5", "text is not numeric"),
        (bytes, "byte strings"),
        ("datetime64[ns]", "view dates as int64"),
        ("m8[s]", "view time differences as int64"),
        ("f4,f4", "structured"),
        (np.dtype([("x", "f4")]), "structured"),
        ("V4", "structured"),
        (">f4" if np.little_endian else "<f4", r"byte order.*astype\('float32'\)"),
        (np.dtype(">i2" if np.little_endian else "<i2"), r"byte order.*astype\('int16'\)"),
        ("flaot32", "'flaot32' is not the name of a dtype"),
        ("", "not the name of a dtype"),
        ("a" * 10_000, "not the name of a dtype"),
        (3, "not the name of a dtype"),
        (1.5, "not the name of a dtype"),
        ({"a": 1}, "dtype"),
        ([1, 2], "dtype"),
        (np.zeros(3), "not the name of a dtype"),
        (type("Mine", (), {}), "references to Python objects"),
    ],
    ids=lambda x: repr(x)[:30],
)
def test_refusals_name_what_was_given_and_why(given: object, reason: str) -> None:
    with pytest.raises(DTypeError, match=reason) as caught:
        as_dtype(given)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, XarrayliteError)
    assert repr(given)[:20] in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.skipif(np.longdouble(0).itemsize == 8, reason="long double is double here")
@pytest.mark.parametrize("given", [np.longdouble, "clongdouble", "g"])
def test_extended_precision_is_refused(given: object) -> None:
    with pytest.raises(DTypeError, match="extended precision differs between platforms"):
        as_dtype(given)


@pytest.mark.skipif(not hasattr(ml_dtypes, "complex32"), reason="ml_dtypes before 0.6")
def test_half_precision_complex_is_refused_by_name() -> None:
    with pytest.raises(DTypeError, match=r"complex32.*use complex64"):
        as_dtype(ml_dtypes.complex32)


@together("given", ["f31", "F32", "uint32", "", "tuple", None, ["f32"]])
def test_from_xla_takes_xla_names_only(given: object) -> None:
    with pytest.raises(DTypeError, match=r"not an XLA element type.*bf16"):
        from_xla(given)  # type: ignore[arg-type]


def test_kinds() -> None:
    for dt in NUMPY:
        assert kind(dt) == dt.kind
    for name in FLOATS:
        assert kind(as_dtype(name)) == "f"
    for name in INTS:
        assert kind(as_dtype(name)) == name[0]


def test_narrow_predicates() -> None:
    narrow_floats = {dtype_name(dt) for dt in SUPPORTED if names.is_narrow_float(dt)}
    narrow_ints = {dtype_name(dt) for dt in SUPPORTED if names.is_narrow_int(dt)}
    assert narrow_floats == {"float16", *FLOATS}
    assert narrow_ints == set(INTS)
