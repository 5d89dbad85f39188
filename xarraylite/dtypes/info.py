"""Limits and classes of the element types: `finfo`, `iinfo`, `isdtype` and the namespace's info.

These follow the array API standard (2025.12), with the narrow types of `ml_dtypes` in their
places: bfloat16 is a real floating type and int4 a signed integer.  Numbers are Python floats
and ints.  ``eps`` is the distance from 1 to the next larger value.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from .._errors import DTypeValueError
from .._records import record
from . import names
from .formats import INT_BITS
from .names import DType
from .promotion import int_bounds

Kind: TypeAlias = "str | np.dtype[Any] | type | tuple[Any, ...]"

_KINDS: dict[str, str] = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
_REAL_PART = {names.complex64: names.float32, names.complex128: names.float64}


@record(frozen=True, slots=True)
class FInfo:
    """Limits of a floating type; see `finfo`.

    Attributes
    ----------
    bits : int
        Bits in use (4 for float4_e2m1fn, whose elements take a byte each).
    eps : float
        Distance from 1 to the next larger value.
    max, min : float
        Largest and least finite value.
    smallest_normal, smallest_subnormal : float
        Least positive value with full precision, and of all.
    dtype : numpy.dtype
        The real type described (float32 for complex64).
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    smallest_subnormal: float
    dtype: DType

    def __getattr__(self, name: str) -> Any:
        """Return what NumPy says beside that of its own types: ``tiny``, ``resolution``, ..."""
        if name.startswith("_") or self.dtype.isbuiltin != 1:
            raise AttributeError(f"finfo({self.dtype}) has no attribute {name!r}")
        return getattr(np.finfo(self.dtype), name)


@record(frozen=True, slots=True)
class IInfo:
    """Limits of an integer type; see `iinfo`.

    Attributes
    ----------
    bits : int
        Bits in use (4 for int4, whose elements take a byte each).
    max, min : int
        Largest and least value.
    dtype : numpy.dtype
        The type described.
    """

    bits: int
    max: int
    min: int
    dtype: DType


def _dtype_of(x: object) -> DType:
    """The dtype of an array, or the dtype that `x` names."""
    dt = getattr(x, "dtype", None)
    if type(x) in (int, float, complex):  # as NumPy takes numbers
        x = type(x)
    return names.as_dtype(dt if isinstance(dt, np.dtype) else x)


def finfo(x: object, /) -> FInfo:
    """Return the limits of a floating type, ml_dtypes' included.

    Parameters
    ----------
    x : dtype, its name, or an array
        A real or complex floating type; a complex one stands for that of its parts.

    Returns
    -------
    FInfo
        Python floats and ints.

    Raises
    ------
    DTypeError
        If the type is not floating.

    Examples
    --------
    >>> from xarraylite.dtypes.info import finfo
    >>> finfo("bfloat16").eps, finfo("float8_e4m3fn").max
    (0.0078125, 448.0)
    """
    dt = _dtype_of(x)
    return _finfo(_REAL_PART.get(dt, dt))


@cache
def _finfo(dt: DType) -> FInfo:
    if names.kind(dt) != "f":
        raise DTypeValueError(f"finfo: got {dt.name}; a real or complex floating type is needed")
    limits = ml_dtypes.finfo(dt)  # type: ignore[no-untyped-call]
    names_of = ("eps", "max", "min", "smallest_normal", "smallest_subnormal")
    values: dict[str, Any] = {name: float(getattr(limits, name)) for name in names_of}
    return FInfo(bits=int(limits.bits), **values, dtype=dt)


def mantissa_bits(dtype: DType) -> int:
    """Return how many bits of a float's mantissa are stored."""
    return round(-math.log2(float(finfo(dtype).eps)))


def iinfo(x: object, /) -> IInfo:
    """Return the limits of an integer type, ml_dtypes' included.

    Parameters
    ----------
    x : dtype, its name, or an array
        An integer type.

    Returns
    -------
    IInfo
        Python ints.

    Raises
    ------
    DTypeError
        If the type is not an integer type.

    Examples
    --------
    >>> from xarraylite.dtypes.info import iinfo
    >>> iinfo("int4").min, iinfo("int4").max
    (-8, 7)
    """
    dt = _dtype_of(x)
    if names.kind(dt) not in ("i", "u"):
        raise DTypeValueError(f"iinfo: got {dt.name}; an integer type is needed")
    low, high = int_bounds(dt)
    return IInfo(INT_BITS.get(dt, 8 * dt.itemsize), high, low, dt)


def bounds(dt: DType) -> tuple[Any, Any]:
    """Return the least and the greatest value of a dtype that has an order.

    Those of floats are infinities, if there are such.

    Examples
    --------
    >>> import ml_dtypes
    >>> from xarraylite.dtypes.info import bounds
    >>> bounds(np.dtype("int8")), bounds(np.dtype("float32"))
    ((-128, 127), (-inf, inf))
    >>> bounds(np.dtype(ml_dtypes.float8_e4m3fn))
    (-448.0, 448.0)
    """
    if names.kind(dt) == "b":
        return False, True
    if names.kind(dt) in "iu":
        return int_bounds(dt)
    if np.isinf(np.asarray(np.inf).astype(dt)):
        return -np.inf, np.inf
    return float(finfo(dt).min), float(finfo(dt).max)


def isdtype(dtype: object, kind: Kind) -> bool:
    """Tell whether a dtype is of a kind.

    Parameters
    ----------
    dtype : dtype
        The dtype to test.
    kind : str, dtype, or tuple of them
        One of "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating", "numeric"; or a dtype, which `dtype` must equal; or several, one of
        which must hold.

    Returns
    -------
    bool
        Whether `dtype` is of that kind.

    Raises
    ------
    DTypeError
        For a kind that the array API does not define, or something that is no dtype.

    Examples
    --------
    >>> from xarraylite.dtypes.info import isdtype
    >>> isdtype("bfloat16", "real floating"), isdtype("int4", ("bool", "unsigned integer"))
    (True, False)
    """
    dt = names.as_dtype(dtype)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    matches = [_is_of(dt, one) for one in kinds]  # all, so that a wrong kind never goes unseen
    return any(matches)


def _is_of(dt: DType, kind: object) -> bool:
    if kind is not None and not isinstance(kind, str):
        return dt == names.as_dtype(kind)
    if kind not in _KINDS:
        raise DTypeValueError(f"isdtype: {kind!r} is not a kind; known: {', '.join(_KINDS)}")
    return names.kind(dt) in _KINDS[kind]


_STANDARD = (
    *(names.bool_, names.int8, names.int16, names.int32, names.int64),
    *(names.uint8, names.uint16, names.uint32, names.uint64),
    *(names.float32, names.float64, names.complex64, names.complex128),
)
_DEFAULTS = {
    "real floating": names.float64,
    "complex floating": names.complex128,
    "integral": names.int64,
    "indexing": names.int64,
}


def _check_device(device: object) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"device: got {device!r}; the only device is 'cpu'")


class NamespaceInfo:
    """What the array API's inspection functions report; see ``__array_namespace_info__``.

    Examples
    --------
    >>> from xarraylite.dtypes.info import NamespaceInfo
    >>> NamespaceInfo().default_dtypes()["real floating"]
    dtype('float64')
    """

    __slots__ = ()

    def capabilities(self) -> dict[str, bool | int]:
        """Return what the library can do, by the standard's names."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 64,  # NumPy's, whose arrays carry the memory
        }

    def default_device(self) -> str:
        """Return the only device, ``"cpu"``."""
        return "cpu"

    def devices(self) -> list[str]:
        """Return all devices: ``["cpu"]``."""
        return ["cpu"]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """Return the dtypes used where none is given.

        Raises
        ------
        ValueError
            If `device` is not the CPU.
        """
        _check_device(device)
        return dict(_DEFAULTS)

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Return the standard's dtypes by name.

        The standard admits only its own names here; `names.SUPPORTED` lists the others too.

        Parameters
        ----------
        device : {"cpu"}, optional
            The device.
        kind : str or tuple of str, optional
            Kinds as in `isdtype`; all by default.

        Raises
        ------
        ValueError
            If `device` is not the CPU.
        DTypeError
            For an unknown kind.
        """
        _check_device(device)
        wanted = tuple(_KINDS) if kind is None else kind
        return {dt.name: dt for dt in _STANDARD if isdtype(dt, wanted)}


def __array_namespace_info__() -> NamespaceInfo:
    """Return the array API's inspection object for this namespace.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.__array_namespace_info__().devices()
    ['cpu']
    """
    return NamespaceInfo()
