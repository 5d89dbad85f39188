"""Compressed chunks, decoded to where they belong, and no more of them than is asked for.

A frame of zstd is decoded as a whole, and so is a file of gzip, some of it at a time.  A frame of
Blosc (format 2, of c-blosc 1) is made of blocks that are compressed each by itself: a header of 16
bytes (versions, flags, bytes of an element, then bytes of the content, of a block and of the frame,
as 32-bit integers, little endian), where in the frame each block begins, and the blocks, in any
order.  So some blocks, with a header of their own, are a frame again.  Rows of a chunk are read and
decoded with the blocks that they lie in, into memory that stays in the caches until they are where
they belong.
"""

from __future__ import annotations

import math
import os
import struct
import zlib
from collections.abc import Callable, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..dtypes.names import NumpyArray
from ..memory.pool import POOL_FROM, aligned_bytes, pool

_BYTES = np.dtype(np.uint8)

#: Version, codec's version, flags, bytes of an element; then of the content, a block, the frame.
_BLOSC = struct.Struct("<4B3I")

#: Bytes that are read to learn where blocks begin: enough for 60 of them.
_HEAD = 256

#: Bytes of a file of gzip that are decoded at a time, and of its content: they stay in the caches.
_SLICE = 1 << 18

#: What tells zlib that it is a file of gzip, so that it checks sum and length.
_GZIP = 16 + zlib.MAX_WBITS

#: The flag of Blosc's frames that are not compressed.
_COPIED = 2


def new_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NumpyArray:
    """Return memory for a block, of those that were used before where there are any.

    A run's budget bounds it, not the setting ``max_result_bytes``.
    """
    nbytes = math.prod(shape) * dtype.itemsize
    memory, start, _ = pool.take(nbytes) if nbytes >= POOL_FROM else aligned_bytes(nbytes)
    return memory[start : start + nbytes].view(dtype).reshape(shape)


def file_of(path: Path) -> NumpyArray:
    """Return the bytes of a file."""
    with path.open("rb", buffering=0) as file:
        values = new_array((file.seek(0, 2),), _BYTES)
        return values[: _read(file, values, 0)]


def _read(file: FileIO, values: NumpyArray, begin: int) -> int:
    """Read bytes of a file from a place on; return how many there were."""
    view, done = memoryview(cast("Any", values)), 0
    file.seek(begin)
    while done < len(values) and (count := file.readinto(view[done:])):
        done += count
    return done


def _zstd_size(data: NumpyArray) -> int:
    """Return how long the content of a frame is, as its header says (RFC 8878, 3.1.1.1)."""
    told = int(data[4])
    single, field = told >> 5 & 1, told >> 6
    at = 5 + (1 - single) + (0, 1, 2, 4)[told & 3]
    length = (single, 2, 4, 8)[field]
    return int.from_bytes(data[at : at + length], "little") + (256 if field == 1 else 0)


#: Compressions that are undone here, by what says how long their content is.
SIZES: dict[str, Callable[[NumpyArray], int]] = {
    "": len,
    "blosc": lambda data: int.from_bytes(data[4:8], "little"),
    "gzip": lambda data: int.from_bytes(data[-4:], "little"),  # ISIZE of RFC 1952, 2.3.1
    "zstd": _zstd_size,
}


def rows_at_once(path: Path, row: int) -> int:
    """Return how many rows of a chunk of Blosc are decoded at least; 0 if that is not known.

    Parameters
    ----------
    path : Path
        The file of a chunk.
    row : int
        Bytes of a row.
    """
    try:
        with path.open("rb", buffering=0) as file:
            version, _, flags, _, _, block, _ = _BLOSC.unpack(file.read(_BLOSC.size))
    except (OSError, struct.error):
        return 0
    return 0 if version != 2 or flags & _COPIED else -(-block // row)


def decode(
    codec: Any,
    made: NumpyArray,
    at: tuple[slice, ...],
    path: Path,
    low: Sequence[int],
    chunk: Sequence[int],
) -> bool:
    """Decode a part of a chunk from its file to where it belongs; tell whether it is there, whole.

    Decoders do not say how much they have written, so the content must be as long as a chunk.
    """
    to = made[at]
    row = math.prod(chunk[1:]) * to.itemsize
    begin, end = low[0] * row, (low[0] + len(to)) * row
    try:
        frame, first, length = _frame(codec.codec_id, path, begin, end, chunk[0] * row)
        alone = (first, length) == (begin, end - begin) and to.shape[1:] == tuple(chunk[1:])
        if alone and to.flags.c_contiguous:
            _decode(codec, frame, to.reshape(-1).view(_BYTES))
            return True
        out = new_array((length,), _BYTES)
        _decode(codec, frame, out)
    except Exception:  # whatever it is, the library says what
        return False
    rows = out[begin - first : end - first].view(to.dtype).reshape(len(to), *chunk[1:])
    to[...] = rows[
        (slice(None), *[slice(a, a + n) for a, n in zip(low[1:], to.shape[1:], strict=True)])
    ]
    return True


def _decode(codec: Any, frame: NumpyArray, out: NumpyArray) -> None:
    """Write the content of a frame to bytes.

    Raises
    ------
    Exception
        If it is none, is damaged, or for gzip is not as long, or of several members.
    """
    if codec.codec_id != "gzip":
        codec.decode(frame, out=out)
        return
    undone, to, done = zlib.decompressobj(_GZIP), out.data, 0
    for begin in range(0, len(frame), _SLICE):
        left: Any = frame[begin : begin + _SLICE].data
        while len(left):
            made = undone.decompress(left, _SLICE)
            to[done : done + len(made)] = made
            done, left = done + len(made), undone.unconsumed_tail
    if not undone.eof or undone.unused_data or done != len(out):
        raise ValueError("the frame or its content has another length")


def _frame(
    name: str, path: Path, begin: int, end: int, content: int
) -> tuple[NumpyArray, int, int]:
    """Return a frame with a range of the content of one in a file, where it begins, its length.

    Raises
    ------
    ValueError
        If the content is not as long as it should be, or blocks do not lie in the file.
    """
    if name == "blosc" and end - begin < content:
        with path.open("rb", buffering=0) as file:
            found = _some_blocks(file, begin, end, content)
        if found is not None:
            return found
    data = file_of(path)
    if SIZES[name](data) != content:
        raise ValueError("the content has another length")
    if name == "blosc":
        refuse_short(data, len(data))
    return data, 0, content


def refuse_short(head: Any, length: int) -> None:
    """Refuse a frame of Blosc that is longer than the file it is in; decoders would read on.

    Raises
    ------
    ValueError
        If it is, or has no header.
    """
    if length < _BLOSC.size:
        raise ValueError(f"{length} bytes are no frame of Blosc")
    total = _BLOSC.unpack_from(head)[-1]
    if total > length:
        raise ValueError(f"the file has {length} bytes of a frame of {total}")


def _some_blocks(
    file: FileIO, begin: int, end: int, content: int
) -> tuple[NumpyArray, int, int] | None:
    """Return a frame with the blocks of one that a range is in; None if it has no such blocks."""
    head = file.read(_HEAD)
    version, *others, size, block, total = _BLOSC.unpack_from(head)
    if version != 2 or others[1] & _COPIED or not 0 < block <= size:
        return None
    count = -(-size // block)
    table = _BLOSC.size + 4 * count
    if table > len(head):
        head += file.read(table - len(head))
    starts = struct.unpack_from(f"<{count}I", head, _BLOSC.size)
    if size != content or total != os.fstat(file.fileno()).st_size or min(starts) < table:
        raise ValueError("the content or the frame has another length")
    last = -(-end // block)
    first = min(begin // block, max(0, last - 1 - (last * block > size)))  # no short one alone
    after = dict(zip(order := sorted(starts), [*order[1:], total], strict=True))
    lengths = [after[starts[k]] - starts[k] for k in range(first, last)]
    at = _BLOSC.size + 4 * len(lengths)
    frame = new_array((at + sum(lengths),), _BYTES)
    own = min(last * block, size) - first * block
    places = []
    for k, length in enumerate(lengths, first):
        places.append(at)
        if _read(file, frame[at : at + length], starts[k]) != length:
            raise ValueError("the file has become shorter")
        at += length
    told = _BLOSC.pack(version, *others, own, block, at) + struct.pack(f"<{len(places)}I", *places)
    frame[: len(told)] = np.frombuffer(told, _BYTES)
    return frame, first * block, own
