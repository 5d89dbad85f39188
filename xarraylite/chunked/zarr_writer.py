"""Writing whole chunks of zarr arrays with as few copies as can be.

Where a chunk is one file on a local disk, and its bytes are its elements, compressed or not, they
are encoded from where they were computed and written under another name first, so that nobody reads
half a chunk.  What one call writes gets pages that lie together: pieces of 2 MiB are what virtual
machines give back to their hosts when they are free, and have to ask for again.  The library writes
everything else: parts of chunks, other codecs and stores, and chunks of which each element has the
bits of the fill value, which it leaves out unless the array is to have all of them.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..dtypes.names import NumpyArray
from .extras import imported
from .frames import new_array
from .selection import Box, as_slices, parts_of
from .zarrs import compression_of, is_local

#: How arrays of zarr are told to have all chunks, those that are all fill value too.
ALL = {"write_empty_chunks": True}

#: How numcodecs calls what zarr calls by words.
_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}

#: Bytes that are written by one call: less than what a host takes back of a machine's free memory.
_AT_ONCE = 1 << 20


class ZarrWriter:
    """Writes boxes to an array of zarr.

    Parameters
    ----------
    array : zarr.Array
        The array.
    """

    __slots__ = ("_array", "_bits", "_codec", "_direct", "_dtype", "_fill", "_folder", "_library")

    def __init__(self, array: Any) -> None:
        self._array, self._dtype = array, np.dtype(array.dtype)
        simple = is_local(array) and compression_of(array) is not None
        self._direct = simple and self._dtype.isnative
        self._codec = _encoder(array) if self._direct else None
        self._folder = Path(array.store.root if self._direct else "") / array.path
        fill = array.fill_value
        self._fill = np.zeros((), self._dtype) if fill is None else np.asarray(fill, self._dtype)
        self._bits = f"V{self._dtype.itemsize}"
        self._library = array

    def write(self, box: Box, values: NumpyArray) -> None:
        """Write a box.

        Raises
        ------
        OSError
            If a chunk cannot be written; what was there before it then is there still.
        """
        chunks = self._array.chunks
        sides = zip(box, chunks, self._array.shape, strict=True)
        whole = [s[0] % c == 0 and (s[-1] + 1 == n or len(s) % c == 0) for s, c, n in sides]
        if not self._direct or not all(whole):
            # The library takes complex zeros of any sign for the fill value.
            if self._library is self._array and self._dtype.kind == "c":
                bits = values.view(self._bits) != self._fill.view(self._bits)
                if (bits & (values == self._fill)).any():
                    self._library = with_all(self._array.store, self._array.path)
            self._library[as_slices(box) if box else ()] = values
            return
        for index, at, part in parts_of(box, chunks):
            own = values[at]
            if self._is_fill(own):
                self._array[as_slices(part)] = own
            else:
                name = self._array.metadata.encode_chunk_key(index)
                self._put(self._folder / name, own, chunks)

    def _is_fill(self, values: NumpyArray) -> bool:
        """Tell whether elements have the bits of the fill value; equal ones may have others."""
        begins = values.flat[0].tobytes() == self._fill.tobytes()
        return begins and bool((values.view(self._bits) == self._fill.view(self._bits)).all())

    def _put(self, path: Path, values: NumpyArray, chunk: tuple[int, ...]) -> None:
        if values.shape != chunk or not values.flags.c_contiguous:
            whole = new_array(chunk, self._dtype)
            if values.shape != chunk:
                whole[...] = self._fill
            whole[tuple([slice(n) for n in values.shape])] = values
            values = whole
        data = values.view(np.uint8) if self._codec is None else self._codec.encode(values)
        beside = path.with_suffix(f".{uuid.uuid4().hex}.partial")
        try:
            _write(beside, memoryview(cast("Any", data)).cast("B"))
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def with_all(store: Any, path: str = "") -> Any:
    """Open an array of zarr of which chunks that equal the fill value are written too."""
    zarr = imported("zarr", "zarr")
    with zarr.config.set({f"array.{name}": told for name, told in ALL.items()}):
        return zarr.open_array(store, path=path, mode="r+")


def _write(path: Path, data: memoryview) -> None:
    try:
        file = path.open("wb", buffering=0)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb", buffering=0)
    with file:
        while data:
            data = data[file.write(data[:_AT_ONCE]) :]


def _encoder(array: Any) -> Any:
    """Return what compresses the chunks of an array; None if nothing does."""
    if array.metadata.zarr_format == 2:
        return array.metadata.compressor
    _, *others = array.metadata.codecs
    if not others:
        return None
    told = others[0].to_dict()
    options = dict(told["configuration"])
    if "shuffle" in options:
        options["shuffle"] = _SHUFFLES[options["shuffle"]]
    return imported("numcodecs", "zarr").get_codec({"id": told["name"], **options})
