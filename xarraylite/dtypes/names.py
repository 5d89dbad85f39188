"""Which element types exist, and the names users and other systems give them.

An element type is always a native-order ``numpy.dtype``; the narrow ones come from `ml_dtypes`.
One canonical object stands for each type, so identity, equality and hashing agree.

Strings are read in this order:

1. NumPy's and ml_dtypes' names (``"float32"``, ``"bfloat16"``, ``"intp"``);
2. NumPy's codes, which count *bytes*: ``"f4"`` is float32, ``"u4"`` is uint32;
3. XLA's names, which count *bits*: ``"f32"``, ``"s8"``, ``"bf16"``, ``"pred"``.

The only strings that NumPy and XLA read differently are ``u1 u2 u4 u8``, where NumPy's reading
holds (`from_xla` has XLA's), and ``f16``, NumPy's unsupported long double on some platforms,
which is XLA's half precision here on all of them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from .._errors import DTypeError

DType: TypeAlias = np.dtype[Any]
NumpyArray: TypeAlias = np.ndarray[tuple[int, ...], DType]

bool_: DType = np.dtype(np.bool_)
int8: DType = np.dtype(np.int8)
int16: DType = np.dtype(np.int16)
int32: DType = np.dtype(np.int32)
int64: DType = np.dtype(np.int64)
uint8: DType = np.dtype(np.uint8)
uint16: DType = np.dtype(np.uint16)
uint32: DType = np.dtype(np.uint32)
uint64: DType = np.dtype(np.uint64)
float16: DType = np.dtype(np.float16)
float32: DType = np.dtype(np.float32)
float64: DType = np.dtype(np.float64)
complex64: DType = np.dtype(np.complex64)
complex128: DType = np.dtype(np.complex128)
bfloat16: DType = np.dtype(ml_dtypes.bfloat16)
float8_e3m4: DType = np.dtype(ml_dtypes.float8_e3m4)
float8_e4m3: DType = np.dtype(ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz: DType = np.dtype(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn: DType = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz: DType = np.dtype(ml_dtypes.float8_e4m3fnuz)
float8_e5m2: DType = np.dtype(ml_dtypes.float8_e5m2)
float8_e5m2fnuz: DType = np.dtype(ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu: DType = np.dtype(ml_dtypes.float8_e8m0fnu)
float6_e2m3fn: DType = np.dtype(ml_dtypes.float6_e2m3fn)
float6_e3m2fn: DType = np.dtype(ml_dtypes.float6_e3m2fn)
float4_e2m1fn: DType = np.dtype(ml_dtypes.float4_e2m1fn)
int2: DType = np.dtype(ml_dtypes.int2)
int4: DType = np.dtype(ml_dtypes.int4)
uint2: DType = np.dtype(ml_dtypes.uint2)
uint4: DType = np.dtype(ml_dtypes.uint4)

#: Every element type of this package.
SUPPORTED: tuple[DType, ...] = (
    *(bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(float16, float32, float64, complex64, complex128, bfloat16),
    *(float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz),
    *(float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu),
    *(float6_e2m3fn, float6_e3m2fn, float4_e2m1fn, int2, int4, uint2, uint4),
)
if hasattr(ml_dtypes, "int1"):  # since ml_dtypes 0.6
    int1: DType = np.dtype(ml_dtypes.int1)
    uint1: DType = np.dtype(ml_dtypes.uint1)
    SUPPORTED += (int1, uint1)

#: How a dtype's name begins -> its kind, and how XLA's begins.
_STEMS = {
    "bool": ("b", "pred"),
    "int": ("i", "s"),
    "uint": ("u", "u"),
    "float": ("f", "f"),
    "bfloat": ("f", "bf"),
    "complex": ("c", "c"),
}


class Named:
    """Base of what equals a dtype, hashes as it, and serves wherever one is expected."""

    __slots__ = ("dtype",)

    dtype: DType


def _stem_and_rest(dt: DType) -> tuple[str, str]:
    """Return a name's letters up to the bits, and the bits with what follows them."""
    rest = dt.name.lstrip("abcdefghijklmnopqrstuvwxyz")
    return dt.name.removesuffix(rest), rest


_KIND = {dt: _STEMS[_stem_and_rest(dt)[0]][0] for dt in SUPPORTED}
# XLA has no 6-bit floats; their names follow its pattern.
_XLA_NAME = {
    dt: _STEMS[stem][1] + rest.replace("_", "")
    for dt, (stem, rest) in zip(SUPPORTED, map(_stem_and_rest, SUPPORTED), strict=True)
}
_FROM_XLA: dict[object, DType] = {name: dt for dt, name in _XLA_NAME.items()}
_NAME = {dt: dt.name for dt in SUPPORTED}
_BUILTIN = frozenset(np.dtype(code) for code in "?bhilqBHILQefdFD")
_NARROW_FLOAT = frozenset(
    dt for dt in SUPPORTED if _KIND[dt] == "f" and dt not in (float32, float64)
)
_NARROW_INT = frozenset(dt for dt in SUPPORTED if _KIND[dt] in ("i", "u") and dt not in _BUILTIN)

_PYTHON = {bool: bool_, int: int64, float: float64, complex: complex128}
_REASONS = {
    "O": "its elements are references to Python objects, which no kernel can read",
    "U": "text is not numeric",
    "S": "byte strings are not numeric",
    "M": "view dates as int64",
    "m": "view time differences as int64",
    "V": "structured and void elements have no arithmetic; take one field",
    "f": "extended precision differs between platforms; use float64",
    "c": "extended precision differs between platforms; use complex128",
}


def _lookup_table() -> dict[object, DType]:
    """Everything that names a dtype directly; later rows win, so NumPy's readings go last."""
    table = dict(_FROM_XLA)
    for dt in SUPPORTED:
        table |= dict.fromkeys((dt, dt.type, dt.name), dt)
    for dt in _BUILTIN:  # NumPy's codes: "f4", "<f4", "=f4"
        code = dt.str[1:]
        canonical = table[dt]
        table |= dict.fromkeys((code, dt.str, "=" + code, "|" + code, dt.char), canonical)
    for name, scalar in np.sctypeDict.items():
        if np.dtype(scalar) in _KIND:
            table[name] = table[np.dtype(scalar)]
    return table | {key: table[dt] for key, dt in _PYTHON.items()}


_LOOKUP = _lookup_table()


def as_dtype(x: object) -> DType:
    """Return the canonical dtype that `x` names.

    Parameters
    ----------
    x : dtype, scalar type, str or Python type
        A NumPy or ml_dtypes dtype or scalar type, one of their names or codes (``"float32"``,
        ``"f4"``, ``"bfloat16"``), an XLA name (``"f32"``, ``"s8"``, ``"pred"``), or Python's
        ``bool``, ``int``, ``float`` or ``complex``.

    Returns
    -------
    numpy.dtype
        One of `SUPPORTED`, always the same object for the same type.

    Raises
    ------
    DTypeError
        For everything else, naming what was given and why it is not supported: object, text,
        dates, structured, extended precision, and non-native byte order.

    Examples
    --------
    >>> from xarraylite.dtypes.names import as_dtype
    >>> as_dtype("bf16"), as_dtype(float), as_dtype("f4")
    (dtype(bfloat16), dtype('float64'), dtype('float32'))
    """
    try:
        return _LOOKUP[x]
    except (KeyError, TypeError):  # unknown, or unhashable
        return _resolve(x)


def _resolve(x: object) -> DType:
    """Second chance for what only NumPy can read, else the reason for the refusal."""
    rule = "expected a boolean, integer, float or complex dtype, such as 'float32' or 'bfloat16'"
    if isinstance(x, int):
        rule += "; the extents of a shape are one argument, a tuple"
    given = repr(x)[:80]
    if x is None:  # as in NumPy
        return float64
    is_array = hasattr(x, "__array_namespace__") and hasattr(x, "__setitem__")  # and no value
    if is_array and not isinstance(x, type):
        raise DTypeError(f"dtype: the array {given} is not the name of a dtype; {rule}")
    try:
        dt = np.dtype(x)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError, Warning):
        raise DTypeError(f"dtype: {given} is not the name of a dtype; {rule}") from None
    found = _LOOKUP.get(dt)
    if found is not None:
        return found
    if not dt.isnative and dt.newbyteorder("=") in _KIND:
        native = dt.newbyteorder("=").name
        raise DTypeError(
            f"dtype: {given} has non-native byte order, and elements must be native; "
            f"convert with NumPy's astype('{native}') first"
        )
    reason = _REASONS.get(dt.kind, "half-precision complex has no kernels; use complex64")
    raise DTypeError(f"dtype: {given} ({dt.name}) is not supported: {reason}; {rule}")


def from_xla(name: str) -> DType:
    """Return the dtype of an XLA primitive type name; ``"u4"`` is four *bits* here.

    Parameters
    ----------
    name : str
        Lower-case name as in HLO text, such as ``"f32"``, ``"pred"`` or ``"u4"``.

    Raises
    ------
    DTypeError
        If XLA has no such array element type.

    Examples
    --------
    >>> from xarraylite.dtypes.names import from_xla
    >>> from_xla("u4"), from_xla("u32")
    (dtype(uint4), dtype('uint32'))
    """
    try:
        return _FROM_XLA[name]
    except (KeyError, TypeError):
        known = " ".join(_XLA_NAME.values())
        raise DTypeError(f"dtype: {name!r} is not an XLA element type; known: {known}") from None


def dtype_name(dt: DType) -> str:
    """Return the NumPy or ml_dtypes name of a dtype, such as ``"bfloat16"``.

    Examples
    --------
    >>> from xarraylite.dtypes.names import as_dtype, dtype_name
    >>> dtype_name(as_dtype("f64"))
    'float64'
    """
    return _NAME[dt]


def xla_name(dt: DType) -> str:
    """Return the XLA name of a dtype, such as ``"bf16"``, ``"s32"`` or ``"pred"``.

    Examples
    --------
    >>> from xarraylite.dtypes.names import as_dtype, xla_name
    >>> xla_name(as_dtype("int32"))
    's32'
    """
    return _XLA_NAME[dt]


def kind(dt: DType) -> str:
    """Return ``"b"``, ``"i"``, ``"u"``, ``"f"`` or ``"c"``.

    ``dt.kind`` cannot serve: NumPy reports most ml_dtypes types as ``"V"``.
    """
    return _KIND[dt]


def is_narrow_float(dt: DType) -> bool:
    """Tell whether `dt` is a float that kernels decode to float32: float16 and ml_dtypes'."""
    return dt in _NARROW_FLOAT


def is_narrow_int(dt: DType) -> bool:
    """Tell whether `dt` is an integer of fewer than eight bits, kept one per byte."""
    return dt in _NARROW_INT


def is_narrow(dt: DType) -> bool:
    """Tell whether kernels compute elements of `dt` in a wider type that they are decoded to."""
    return dt in _NARROW_FLOAT or dt in _NARROW_INT
