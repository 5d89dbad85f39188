"""Files made by hand, and what a refused one must not do."""

from __future__ import annotations

import io
import struct
import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.dtypes.formats import FORMATS, INT_BITS
from xarraylite.dtypes.names import SUPPORTED, dtype_name
from xarraylite.memory.pool import counters

#: Dtypes whose bytes have bits that stand for nothing, and how many do.
USED_BITS = {dt: form.bits for dt, form in FORMATS.items() if form.bits < 8} | INT_BITS

NAMES = [dtype_name(dt) for dt in SUPPORTED]
MOST_MEMORY = 1 << 20  # a refused file may cost a header, a directory and an error message


def npy(
    header: str | bytes = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
    data: bytes = bytes(16),
    *,
    magic: bytes = b"\x93NUMPY",
    version: tuple[int, int] = (1, 0),
    length: int | None = None,
) -> bytes:
    """Return a .npy file with any header."""
    text = header if isinstance(header, bytes) else header.encode()
    size = struct.pack("<H" if version == (1, 0) else "<I", len(text) if length is None else length)
    return magic + bytes(version) + size + text + data


def described(descr: object, shape: object = (2,), data: bytes = bytes(16)) -> bytes:
    """Return a .npy file of the usual form."""
    return npy(f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}", data)


def loaded(data: bytes | bytearray, **options: Any) -> Any:
    """Load a file from memory."""
    return xl.load(io.BytesIO(data), **options)


def saved(*args: object, **arrays: Any) -> bytes:
    """Return the bytes of a saved file."""
    file = io.BytesIO()
    xl.save(file, *args, **arrays)
    return file.getvalue()


def numpy_saved(array: object) -> bytes:
    """Return what np.save writes."""
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


def numpy_savez(arrays: Mapping[str, object], compressed: bool = False) -> bytes:
    """Return what np.savez writes."""
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def refuses(data: bytes | bytearray, message: str, **options: Any) -> None:
    """Check that a file is refused for the named reason, before anything is allocated."""
    file = io.BytesIO(data)
    before = counters.allocations, counters.bytes
    tracemalloc.start()
    try:
        with pytest.raises(xl.FormatError, match=message) as caught:
            xl.load(file, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (counters.allocations, counters.bytes) == before
    assert peak < MOST_MEMORY
    text = str(caught.value)
    assert text.startswith("load: <BytesIO>")
    assert "; " in text  # what was found; the rule
    assert len(text) < 400


def same(array: Any, expected: Any) -> bool:
    """Tell whether two arrays have the same dtype, shape and bytes."""
    left, right = np.asarray(array), np.asarray(expected)
    return (
        left.dtype == right.dtype
        and left.shape == right.shape
        and left.tobytes() == right.tobytes()
    )


def sample(name: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    """Return random elements of a dtype: every encoding it has."""
    dt = xl.zeros(1, dtype=name).dtype
    size = int(np.prod(shape, dtype=np.int64))
    bits = np.random.default_rng(seed).integers(0, 256, size * dt.itemsize, dtype=np.uint8)
    if name == "bool":
        bits &= 1
    elif dt in USED_BITS:
        bits &= np.uint8((1 << USED_BITS[dt]) - 1)
    return bits.view(dt).reshape(shape)
