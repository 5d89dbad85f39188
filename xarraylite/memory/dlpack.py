"""DLPack for all dtypes: what NumPy does, with the names of the narrow ones written in.

A DLPack capsule holds a tensor whose dtype is a code and a number of bits.  NumPy makes and reads
capsules of its own dtypes only.  Narrow floats go through it as unsigned integers of the same
width, and the code in the capsule is exchanged while nobody else has it: so versions, copies,
devices, read-only memory and lifetimes are NumPy's.  Types of fewer than 8 bits, of which DLPack
packs several into a byte and ``ml_dtypes`` does not, cannot be passed on.

The codes and the layout of the structures are those of ``dlpack.h``, version 1.1.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..dtypes.names import NumpyArray, as_dtype, dtype_name

#: Codes of narrow floats; those of NumPy's dtypes are NumPy's business.
_CODES = {
    "bfloat16": 4,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
}
_NAMES = {code: name for name, code in _CODES.items()}
_UINT = 1

#: The kind of device that is the CPU.
_CPU = 1

#: Where the dtype lies in a tensor (behind its address, device and rank), and in a tensor with a
#: version the tensor (behind version, context, deleter and flags); in bytes.
_DTYPE, _VERSIONED = 20, 32

_pointer = ctypes.pythonapi["PyCapsule_GetPointer"]  # our own: of `pythonapi.…` others set types
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_valid = ctypes.pythonapi["PyCapsule_IsValid"]
_valid.restype = ctypes.c_int
_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _dtype_of(capsule: Any) -> Any:
    """Return code and bits of a capsule's tensor, which can be written."""
    versioned = bool(_valid(capsule, b"dltensor_versioned"))
    name = b"dltensor_versioned" if versioned else b"dltensor"
    start = _pointer(capsule, name) + (_VERSIONED if versioned else 0)
    return (ctypes.c_uint8 * 2).from_address(start + _DTYPE)


def exported(values: NumpyArray, options: dict[str, Any]) -> Any:
    """Return the capsule of an array.

    Raises
    ------
    BufferError
        If DLPack has no name for the dtype, or as NumPy refuses.
    """
    if values.dtype.isbuiltin == 1:
        return values.__dlpack__(**options)
    name = dtype_name(values.dtype)
    if name not in _CODES:
        raise BufferError(f"__dlpack__: DLPack has no elements of a byte each for {name}")
    capsule = values.view(f"u{values.itemsize}").__dlpack__(**options)
    _dtype_of(capsule)[0] = _CODES[name]
    return capsule


class _Holder:
    """Gives one capsule away, to NumPy."""

    __slots__ = ("_capsule", "_device")

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def imported(x: Any, copy: bool | None) -> NumpyArray:
    """Return the memory of an object that speaks DLPack as an array.

    Raises
    ------
    BufferError
        If the object refuses, or its memory is not on the CPU.
    """
    device = x.__dlpack_device__()
    usual = copy is None and device[0] == _CPU
    if usual and getattr(getattr(x, "dtype", None), "isbuiltin", 0) == 1:
        plain: NumpyArray = np.from_dlpack(x)
        return plain
    options = {} if copy is None else {"copy": copy}
    try:
        capsule = x.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # it is older than versions
        capsule = x.__dlpack__()
    words = _dtype_of(capsule)
    name = _NAMES.get(words[0])
    if name is not None:
        words[0] = _UINT
    values: NumpyArray = np.from_dlpack(_Holder(capsule, device))
    return values if name is None else values.view(as_dtype(name))
