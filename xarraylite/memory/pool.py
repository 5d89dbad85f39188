"""Released large blocks are kept and handed out again.

A fresh large allocation is a map of untouched pages: writing it the first time costs a page
fault per 4 KiB, which is more than the arithmetic of a memory-bound kernel.  Blocks from 1 MiB
up therefore return to this pool when their last user goes away, and the next request of the
same size class gets pages that are already there.

A block is a view of a `_Lease`, itself a view of the raw memory.  NumPy has views of views keep
what owns the memory, past all arrays of the same class between; a lease is of another class than
the block, and so is the raw memory, so every view of the block, NumPy's included, keeps the lease
alive.  When the last one goes, ``_Lease.__del__`` gives the raw memory back.  A finaliser can run
at any allocation, on any thread, also while that thread is inside this module, and so can a signal
handler that raises, or forks.  So there is no lock: kept blocks are entries of a dictionary, and
every change is one atomic operation on it.  Who pops an entry has the block.  A forked child has
the blocks as private copy-on-write memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

ALIGNMENT = 64
"""Every block starts at a multiple of this: a cache line and a 512-bit vector."""

POOL_FROM = 1 << 20
"""Requests of at least this many bytes go through the pool."""

POOL_LIMIT = 512 << 20
"""Most bytes kept; the least recently released blocks are dropped beyond it."""

Bytes: TypeAlias = "npt.NDArray[np.uint8]"

UINT8 = np.dtype(np.uint8)
_from_buffer: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


class Counters(ctypes.Structure):
    """Allocations made so far in this process; differences are what tests compare.

    Attributes
    ----------
    allocations : int
        Buffers allocated (borrowed ones are not counted).
    bytes : int
        Bytes asked for by them.
    temporaries : int
        Buffers the engine allocated for its own use during an evaluation.
    snapshots : int
        Snapshots moved to a copy because an expression written earlier still needed the old values.
    reused : int
        Large allocations served from kept blocks.

    Notes
    -----
    Plain ``+=`` on attributes: exact under the global interpreter lock (no call in between, so
    no thread switch), approximate on a free-threaded build with concurrent evaluations.  Machine
    code counts the first four in their places.
    """

    _fields_: ClassVar = [
        (name, ctypes.c_int64)
        for name in ("allocations", "bytes", "temporaries", "snapshots", "reused")
    ]

    allocations: int
    bytes: int
    temporaries: int
    snapshots: int
    reused: int


counters = Counters()


def address_of(memory: Bytes) -> int:
    """Return where writable bytes lie; asking NumPy takes five times as long."""
    return _address_of(_from_buffer(memory))


def aligned_bytes(nbytes: int) -> tuple[Bytes, int, int]:
    """Allocate memory and return ``(memory, start, address)``.

    Parameters
    ----------
    nbytes : int
        Bytes needed, at least 0; the caller has checked the upper bound.

    Returns
    -------
    memory : ndarray of uint8
        At least ``start + nbytes`` bytes.
    start : int
        Position in ``memory`` of the first aligned byte.
    address : int
        Address of that byte, a multiple of `ALIGNMENT`.

    Raises
    ------
    MemoryError
        If the system refuses.
    """
    memory = np.empty(nbytes + ALIGNMENT, UINT8)
    first = address_of(memory)
    start = -first % ALIGNMENT
    return memory, start, first + start


class Range:
    """A byte range in the form NumPy reads, keeping its owner alive as array base."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, address: int, nbytes: int, readonly: bool, owner: object) -> None:
        self.owner = owner
        self.__array_interface__: dict[str, Any] = {
            "data": (address, readonly),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }


class Raw(np.ndarray[Any, np.dtype[np.uint8]]):
    """The memory of one block, and where its first aligned byte is."""

    __slots__ = ("address", "start")

    address: int
    start: int


class _Lease(np.ndarray[Any, np.dtype[np.uint8]]):
    """Keeps one block's memory, its base, in use; gives it to the pool when the last view goes."""

    __slots__ = ("pool",)

    pool: Pool
    base: Raw

    def __del__(self) -> None:
        # No module globals: at interpreter exit they may be gone already.
        try:
            pool = self.pool
        except AttributeError:  # it was interrupted before it had one, or is a view of a lease
            return
        pool.give_back(self.base)


def size_class(nbytes: int) -> int:
    """Round up so that a block serves requests up to 1/8 smaller than itself.

    The rounding is at most 12.5 % of address space; pages never touched are never committed.
    """
    step = 1 << max(nbytes.bit_length() - 4, 0)
    return -(-nbytes // step) * step


def _fresh(size: int) -> Raw:
    """Return new memory."""
    raw = Raw(size, UINT8)
    first = address_of(raw)
    raw.start = -first % ALIGNMENT
    raw.address = first + raw.start
    return raw


class Pool:
    """Kept blocks, oldest first.

    Parameters
    ----------
    limit : int
        Most bytes kept.
    """

    __slots__ = ("_estimate", "_kept", "_numbers", "limit")

    def __init__(self, limit: int = POOL_LIMIT) -> None:
        self.limit = limit
        self._kept: dict[int, Raw] = {}
        self._numbers = count()
        self._estimate = 0  # bytes kept, or more where an interrupt fell between

    @property
    def kept_bytes(self) -> int:
        """Bytes held by blocks that nobody uses."""
        return sum(raw.nbytes for raw in self._kept.copy().values())

    def take(self, nbytes: int) -> tuple[Bytes, int, int]:
        """Return ``(memory, start, address)`` of a kept or new block, as `aligned_bytes`."""
        size = size_class(nbytes) + ALIGNMENT
        raw = self._reuse(size)
        if raw is None:
            try:
                raw = _fresh(size)
            except MemoryError:
                self.trim()
                raw = _fresh(size)
        else:
            counters.reused += 1
        lease = raw.view(_Lease)
        lease.pool = self
        return lease.view(np.ndarray), raw.start, raw.address

    def give_back(self, raw: Raw) -> None:
        """Keep a block for the next request; called by finalisers."""
        if raw.nbytes <= self.limit:
            self._estimate += raw.nbytes
            self._kept[next(self._numbers)] = raw
            if self._estimate > self.limit:
                self.trim(self.limit)

    def trim(self, keep: int = 0) -> None:
        """Give kept blocks back to the system until at most ``keep`` bytes are held."""
        kept = self._kept.copy()  # oldest first
        total = sum(raw.nbytes for raw in kept.values())
        for number, raw in kept.items():
            if total <= keep:
                break
            self._kept.pop(number, None)  # unmapped when the copy goes
            total -= raw.nbytes
        self._estimate = total

    def _reuse(self, size: int) -> Raw | None:
        # At most limit / POOL_FROM = 512 entries; the newest is the warmest.
        for number, raw in reversed(self._kept.copy().items()):
            if raw.nbytes == size and self._kept.pop(number, None) is not None:
                self._estimate -= size
                return raw
        return None


pool = Pool()
