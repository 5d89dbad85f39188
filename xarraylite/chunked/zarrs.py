"""Reading arrays of zarr with as few copies as the library lets us.

A chunk on a local disk is read into a block of the pool, whose pages are there already, and where
it is not compressed that is the block that the kernel reads.  Only where a box has parts of several
chunks are they copied together.  The library does everything else: metadata, keys, codecs, fill
values, shards.
"""

from __future__ import annotations

import asyncio
import functools
import math
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..memory.buffer import Buffer
from ..memory.pool import POOL_FROM
from .extras import imported

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]

_BYTES = np.dtype(np.uint8)


def new_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return memory to read into, of blocks that were used before where there are any."""
    return Buffer.allocate(math.prod(shape) * dtype.itemsize).array(dtype, shape)


class ZarrReader:
    """Reads boxes of an array of zarr.

    Parameters
    ----------
    array : zarr.Array
        The array.
    dtype : numpy.dtype
        Dtype of its elements.
    """

    __slots__ = ("_array", "_dtype", "_lent")

    def __init__(self, array: Any, dtype: np.dtype[Any]) -> None:
        zarr = imported("zarr", "zarr")
        self._array, self._dtype, self._lent = array, dtype, _lent()
        store = array.store
        large = math.prod(array.chunks) * dtype.itemsize >= POOL_FROM
        if large and type(store) is zarr.storage.LocalStore:
            self._array = zarr.open_array(
                _pooled()(store.root, read_only=True),
                path=array.path,
                mode="r",
                zarr_format=array.metadata.zarr_format,
            )

    def __call__(self, array: Any, key: Any, shape: tuple[int, ...]) -> Array:
        """Return the elements of slices of the array."""
        out = self._lent(shape, self._dtype)
        self._array.get_basic_selection(key, out=out)
        values: Array = out.as_numpy_array()
        return values


@functools.cache
def _lent() -> Any:
    """Return a class of zarr's buffers that takes what it is given, if that is all of it."""

    class Lent(imported("zarr.buffer.cpu", "zarr").NDBuffer):  # type: ignore[misc]
        def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
            self._data: Any = None
            super().__init__(np.broadcast_to(np.zeros((), dtype), shape))  # no memory yet

        def __setitem__(self, key: Any, value: Any) -> None:
            own: Any = self._data
            given = getattr(value, "_data", value)
            if not own.flags.writeable:
                whole = getattr(given, "shape", None) == own.shape
                if whole and given.dtype == own.dtype and given.flags.c_contiguous:
                    self._data = given
                    return
                own = self._data = new_array(own.shape, own.dtype)
            own[key] = given

    return Lent


@functools.cache
def _pooled() -> Any:
    """Return a class of zarr's local stores that reads into memory that was used before."""

    class Pooled(imported("zarr", "zarr").storage.LocalStore):  # type: ignore[misc]
        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
            if byte_range is not None or prototype is None:
                return await super().get(key, prototype, byte_range)
            try:
                values = await asyncio.to_thread(_file, self.root / key)
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                return None
            return prototype.buffer.from_array_like(values)

    return Pooled


def _file(path: Path) -> Array:
    """Return the bytes of a file."""
    with path.open("rb", buffering=0) as file:
        size = file.seek(0, 2)
        file.seek(0)
        values = new_array((size,), _BYTES)
        view, done = memoryview(cast("Any", values)), 0
        while done < size:
            count = file.readinto(view[done:])
            if not count:
                break  # it has become shorter
            done += count
        return values[:done]
