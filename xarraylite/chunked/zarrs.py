"""Reading arrays of zarr with as few copies as can be.

Where chunks on a local disk are what elements look like in memory (one file each, one codec, which
copies bytes in this machine's order), the rows that a box has of each are read to where they
belong, with no copy between and without the rest of the chunk.  Where that is compressed (zstd,
Blosc, gzip), a chunk is decoded to where it belongs.  The library does everything else: metadata,
keys, other codecs, fill values, shards; and it reads again whatever is not as expected, to say what
is wrong.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..dtypes.names import NumpyArray
from .extras import imported
from .frames import SIZES, decode, new_array, refuse_short, rows_at_once
from .selection import owners_of, parts_of

#: Where elements of a chunk go in what is read, and what reads them there if it can.
Part = tuple[tuple[slice, ...], Callable[[], bool]]

#: What the index of a shard has for a chunk that is not in it.
_ABSENT = 2**64 - 1

#: Pieces of memory that one call reads to, at most.
_IOV = 1024


class ZarrReader:
    """Reads boxes of an array of zarr.

    Parameters
    ----------
    array : zarr.Array
        The array.
    dtype : numpy.dtype
        Dtype of its elements.
    complete : bool
        Whether a chunk that is missing is an error.

    Attributes
    ----------
    plain : bool
        Whether chunks lie on the disk as they lie in memory.
    rows : int
        Rows of a chunk that are read at once, at least; 0 if chunks are read as a whole.
    direct : bool
        Whether they are read here, each to where it belongs.
    """

    __slots__ = (
        "_array",
        "_codec",
        "_complete",
        "_dtype",
        "_lent",
        "_place",
        "direct",
        "plain",
        "rows",
    )

    def __init__(self, array: Any, dtype: np.dtype[Any], complete: bool) -> None:
        self._complete = complete
        self._array, self._dtype, self._lent = array, dtype, _lent()
        store, here = array.store, is_local(array)
        name = compression_of(array) if here else None
        self.plain = name == "" and hasattr(os, "preadv")
        self._codec: Any = None
        if name:
            self._codec = imported("numcodecs", "zarr").get_codec({"id": name})
        self.direct = self.plain or self._codec is not None
        self._place = Path(store.root) / array.path if here else Path()
        self.rows = int(self.plain)
        if name == "blosc":
            first = self._place / array.metadata.encode_chunk_key((0,) * len(array.shape))
            self.rows = rows_at_once(first, math.prod(array.chunks[1:]) * dtype.itemsize)

    def __call__(self, array: Any, key: Any, shape: tuple[int, ...]) -> NumpyArray:
        """Return the elements of slices of the array."""
        made, parts = self.parts(key, shape)
        left = [at for at, part in parts if not part()]
        if len(left) == len(parts):
            return self._by_library(key, shape)
        for at in left:
            inside = [
                slice(s.start + p.start, s.start + p.stop) for s, p in zip(key, at, strict=True)
            ]
            made[at] = self._by_library(tuple(inside), made[at].shape)
        return made

    def _by_library(self, key: Any, shape: tuple[int, ...]) -> NumpyArray:
        if self._complete:
            refuse_missing(self._array, key)
        if not self._place.exists():  # all chunks would be fill value
            raise FileNotFoundError(f"{self._place} is not there any longer")
        for index, *_ in _touched(self._array, key) if is_local(self._array) else ():
            path = self._place / self._array.metadata.encode_chunk_key(index)
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                head = file.read(16)
                if self._codec and self._codec.codec_id == "blosc":
                    refuse_short(head, path.stat().st_size)
                if not head:  # of a shard, all would be fill value
                    raise EOFError(f"{path.name} is empty")
        out = self._lent(shape, self._dtype)
        self._array.get_basic_selection(key, out=out)
        found: NumpyArray = out.as_numpy_array()
        return found

    def parts(
        self, key: Sequence[slice], shape: tuple[int, ...], made: NumpyArray | None = None
    ) -> tuple[NumpyArray, list[Part]]:
        """Return memory, new or what is given, and what reads the elements of slices to it.

        Each tells whether its file is there and whole; there are none where the library must read.
        """
        if not self.direct or any([s.step != 1 for s in key]):
            return np.empty(0, self._dtype), []
        made = new_array(shape, self._dtype) if made is None else made
        chunks, found = self._array.chunks, list[Part]()
        for index, at, part in parts_of(tuple([range(s.start, s.stop) for s in key]), chunks):
            name = self._array.metadata.encode_chunk_key(index)
            low = [s[0] - k * c for s, k, c in zip(part, index, chunks, strict=True)]
            fill = functools.partial(decode, self._codec) if self._codec else _fill
            found.append((at, functools.partial(fill, made, at, self._place / name, low, chunks)))
        return made, found


def _touched(array: Any, key: Sequence[slice]) -> Iterator[Any]:
    """Yield the chunks, or shards, that have elements of slices, as `parts_of` does."""
    ranges = [range(s.start, s.stop, s.step) for s in key]
    return parts_of(ranges, array.shards or array.chunks)


def refuse_missing(array: Any, key: Sequence[slice]) -> None:
    """Refuse a chunk that is not there, in a file of its own or in a shard.

    The library would give the fill value.

    Raises
    ------
    FileNotFoundError
        If one that has elements of slices is missing.
    """
    sync = imported("zarr.core.sync", "zarr").sync
    ranges = [range(s.start, s.stop, s.step) for s in key]
    for index, *_ in _touched(array, key):
        name = array.metadata.encode_chunk_key(index)
        place = array.store_path / name
        if not sync(place.exists()):
            raise FileNotFoundError(f"{name} is missing")
        lengths = _lengths(array, sync, place) if array.shards else None
        if lengths is None:
            continue
        sides = [[p for p in owners_of(s, c) if p // n == k] for s, c, n, k in zip(
            ranges, array.chunks, lengths.shape, index, strict=True)]  # fmt: skip
        for own in itertools.product(*sides):
            if lengths[tuple([p % n for p, n in zip(own, lengths.shape, strict=True)])] == _ABSENT:
                raise FileNotFoundError(f"chunk {own} is missing in the shard {name}")


def _lengths(array: Any, sync: Callable[..., Any], place: Any) -> NumpyArray | None:
    """Return how long the chunks of a shard are, as its index says; None if that is encoded."""
    sharding = array.metadata.codecs[0]
    told = [codec.to_dict() for codec in sharding.index_codecs]
    order = told[0].get("configuration", {}).get("endian")
    if told[0]["name"] != "bytes" or [codec["name"] for codec in told[1:]] not in ([], ["crc32c"]):
        return None
    stores = imported("zarr.abc.store", "zarr")
    per = tuple([s // c for s, c in zip(array.shards, array.chunks, strict=True)])
    size, check = 16 * math.prod(per), 4 * (len(told) - 1)
    if _word(sharding.index_location) == "start":
        asked = stores.RangeByteRequest(0, size + check)
    else:
        asked = stores.SuffixByteRequest(size + check)
    data = sync(place.get(byte_range=asked))
    if data is None or len(data) != size + check:
        raise EOFError(f"the index of a shard has {size + check} bytes, got {len(data or ())}")
    index = np.frombuffer(data.to_bytes(), "<u8" if order == "little" else ">u8", size // 8)
    return index.reshape(*per, 2)[..., 1]


def is_local(array: Any) -> bool:
    """Tell whether the chunks of an array are files."""
    return bool(array.shape) and type(array.store) is imported("zarr", "zarr").storage.LocalStore


def _word(choice: Any) -> object:
    """Return a choice that a codec was made with as text; it was of an enum before zarr 3.4."""
    return getattr(choice, "value", choice)


def compression_of(array: Any) -> str | None:
    """Return what a file with the elements of a chunk, row-major, is compressed with.

    Empty if it is not compressed; None if there is more to it, or it is compressed otherwise.
    """
    metadata = array.metadata
    if metadata.zarr_format == 2:
        name = getattr(metadata.compressor, "codec_id", "")
        simple = metadata.order == "C" and not metadata.filters
        return name if simple and name in SIZES else None
    known = imported("zarr.codecs", "zarr")
    copies, *others = metadata.codecs
    if type(copies) is not known.BytesCodec or len(others) > 1:
        return None
    if copies.endian is not None and _word(copies.endian) != sys.byteorder:
        return None
    names = {known.ZstdCodec: "zstd", known.BloscCodec: "blosc", known.GzipCodec: "gzip"}
    return names.get(type(others[0])) if others else ""


def _fill(
    made: NumpyArray, at: tuple[slice, ...], path: Path, low: Sequence[int], chunk: Sequence[int]
) -> bool:
    """Read a part of a chunk from its file; tell whether it is there and whole.

    The rows of a part (along the first dimension) are one range of the file.  Where they are whole
    rows of the chunk, and lie in one piece each in memory, they are read there in one call,
    otherwise to memory between.
    """
    to = made[at]
    row = math.prod(chunk[1:]) * to.itemsize
    begin = low[0] * row
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return False
    try:
        if os.fstat(handle).st_size != chunk[0] * row:
            return False
        if to.shape[1:] == tuple(chunk[1:]) and to[0].flags.c_contiguous:
            first = sum([s.start * n for s, n in zip(at, made.strides, strict=True)])
            return _scatter(handle, begin, made, first, len(to), row)
        between = new_array((len(to), *chunk[1:]), to.dtype)
        if not _scatter(handle, begin, between, 0, len(to), row):
            return False
    finally:
        os.close(handle)
    inside = [slice(a, a + n) for a, n in zip(low[1:], to.shape[1:], strict=True)]
    to[...] = between[(slice(None), *inside)]
    return True


def _scatter(handle: int, begin: int, made: NumpyArray, first: int, count: int, row: int) -> bool:
    """Read rows that follow each other in a file to memory; tell whether all of them were there.

    Parameters
    ----------
    handle, begin : int
        The file, and where in it.
    made : numpy.ndarray
        Row-major memory.
    first, count, row : int
        Where in it the first row goes, how many there are, and how long they are, in bytes.
    """
    memory = memoryview(cast("Any", made)).cast("B")
    step = made.strides[0]
    if step == row:
        count, row, step = 1, count * row, count * row
    for k in range(0, count, _IOV):
        low, high = first + k * step, first + min(count, k + _IOV) * step
        some = [memory[at : at + row] for at in range(low, high, step)]
        while some:
            found = os.preadv(handle, some, begin)
            if not found:
                return False
            begin += found
            while some and found >= len(some[0]):
                found -= len(some.pop(0))
            if found:
                some[0] = some[0][found:]
    return True


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
