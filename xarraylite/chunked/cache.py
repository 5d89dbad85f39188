"""Chunks that several blocks need, kept from one to the next.

Blocks that share chunks (the halos of a stencil, the rows that a sum adds along) would read and
decode them again.  A run that has the memory keeps the chunks that were used last; blocks lie in
row-major order, so as many as one row of blocks touches are enough to read each chunk once.
Chunks are read by threads of the cache's own, several of a block at once: who assembles the block
waits for them.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

from ..dtypes.names import NumpyArray
from .selection import Box, Picked, place_of, shape_of
from .source import keeps, reading
from .zarrs import new_array

Key = tuple[int, tuple[int, ...]]


class ChunkCache:
    """Reads blocks through the chunks that were used last.

    Parameters
    ----------
    capacity : int
        Bytes of chunks that are kept; 0 for none.
    """

    __slots__ = ("_capacity", "_held", "_lock", "_pool", "_size")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held: OrderedDict[Key, tuple[Future[NumpyArray], int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(reading(), "xarraylite-chunks")

    def read(self, source: Any, box: Box) -> NumpyArray:
        """Return the elements of an operand in a box, row-major."""
        if not keeps(source) or any([type(s) is Picked for s in box]):
            return cast("NumpyArray", source.read(box))
        if not self._capacity:
            made, reads = source.parts(box)
            if len(reads) < 2:
                return cast("NumpyArray", source.read(box))
            for wait in [self._pool.submit(read) for read in reads]:
                wait.result()
            return cast("NumpyArray", made)
        owners = [range(s[0] // c, s[-1] // c + 1) for s, c in zip(box, source.chunks, strict=True)]
        parts = [(index, self._chunk(source, index)) for index in itertools.product(*owners)]
        if len(parts) == 1 and shape_of(box) == shape_of(_box(source, parts[0][0])):
            return parts[0][1].result()
        made = new_array(shape_of(box), source.dtype)
        for index, future in parts:
            places = [
                place_of(s, c.start, c.stop)
                for s, c in zip(box, _box(source, index), strict=True)
                if isinstance(s, range)
            ]
            made[tuple([to for to, _ in places])] = future.result()[tuple([at for _, at in places])]
        return made

    def _chunk(self, source: Any, index: tuple[int, ...]) -> Future[NumpyArray]:
        key = (id(source), index)
        with self._lock:
            known = self._held.get(key)
            if known is not None:
                self._held.move_to_end(key)
                return known[0]
            box = _box(source, index)
            nbytes = math.prod(map(len, box)) * source.dtype.itemsize
            future = self._pool.submit(source.read, box)
            self._held[key] = future, nbytes
            self._size += nbytes
            while self._size > self._capacity and len(self._held) > 1:
                _, (_, freed) = self._held.popitem(last=False)
                self._size -= freed
            return future

    def close(self) -> None:
        """Forget the chunks, and read no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._held.clear()


def _box(source: Any, index: tuple[int, ...]) -> tuple[range, ...]:
    return tuple(
        [
            range(k * c, min(n, (k + 1) * c))
            for k, c, n in zip(index, source.chunks, source.shape, strict=True)
        ]
    )
