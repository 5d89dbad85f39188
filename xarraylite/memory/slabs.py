"""Where new memory comes from: slabs, the system, or the pool of large blocks, by size."""

from __future__ import annotations

from functools import cache

import numpy as np

from .._config import is_too_large, settings
from .._errors import SizeError
from .pool import ALIGNMENT, POOL_FROM, UINT8, Bytes, aligned_bytes, counters, pool

INT64_MAX = (1 << 63) - 1

_SMALL = 512
_SLAB = 16 << 10

Block = tuple[Bytes, int, int]
"""Memory, where the bytes begin in it, and their address."""


def take(nbytes: int) -> Block:
    """Return uninitialised bytes, aligned to 64.

    Parameters
    ----------
    nbytes : int
        Bytes; zero is allowed and still has a valid address.

    Raises
    ------
    SizeError
        If ``nbytes`` is negative, does not fit 63 bits, or exceeds the ``max_result_bytes``
        setting.
    MemoryError
        If the system refuses.
    """
    too_large = nbytes > settings.max_result_bytes and is_too_large(nbytes)
    if nbytes < 0 or too_large or nbytes > INT64_MAX:
        raise SizeError(_size_message(nbytes))
    counters.allocations += 1
    counters.bytes += nbytes
    if nbytes > _SMALL:
        return aligned_bytes(nbytes) if nbytes < POOL_FROM else pool.take(nbytes)
    lines = (nbytes + 63) >> 6  # of 64 bytes
    memory, first, free = SLABS[lines]
    try:
        start = free.pop()
    except IndexError:
        fresh = memory, first, free = _new_slab(lines)
        start = free.pop()  # ours, since no other thread has seen the list yet
        SLABS[lines] = fresh
    return memory, start, first + start


_Slab = tuple[Bytes, int, list[int]]  # memory, its address, free places in it


def _new_slab(lines: int) -> _Slab:
    """Allocate a slab for buffers of ``lines`` cache lines; the lowest free place is last.

    Two threads that find a slab used up at once each make one; the loser's is used for one
    buffer and then dropped.
    """
    memory, start, address = aligned_bytes(_SLAB)
    return memory, address - start, list(_places(lines or 1, start))


@cache
def _places(lines: int, start: int) -> tuple[int, ...]:
    """Return where buffers of ``lines`` cache lines begin, the lowest place last."""
    step = lines * ALIGNMENT
    return tuple(range(start + (_SLAB // step - 1) * step, start - 1, -step))


#: The slab that is cut now, by the lines of a buffer.
SLABS: list[_Slab] = [(np.empty(0, UINT8), 0, []) for _ in range(_SMALL // ALIGNMENT + 1)]


def _size_message(nbytes: int) -> str:
    if nbytes < 0:
        return f"allocate: got {nbytes} bytes; a size cannot be negative"
    limit = min(settings.max_result_bytes, INT64_MAX)
    return f"allocate: {nbytes} bytes asked for; the limit is {limit} bytes (max_result_bytes)"
