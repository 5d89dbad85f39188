"""Flat bytes with a known address, and who is still reading them.

**Owning.**  `Buffer.allocate` gives 64-byte aligned memory.  Asking NumPy for the address of a
fresh array costs more than a small kernel, so buffers up to 512 bytes are cut from 16 KiB
slabs whose address was asked once; larger ones pay one look-up, and from 1 MiB up blocks come
from the pool of `storage.pool`.  A slab is freed when the last buffer cut from it is gone.

**Borrowing.**  `Buffer.borrow` gives any buffer-protocol object the same interface without a
copy: exactly the byte range it can reach, read-only if it is.

**Reading.**  An expression means what it meant when it was written.  A leaf holds a `Reading`,
not the buffer; the buffer knows its live `Reading` by weak reference, so "does any expression
still refer to these bytes?" is one look-up, and the cost of a later write falls on the writer
only if one does: it moves the reading to a copy (`snapshot_readers`) or marks it stale
(`invalidate_readers`).  Borrowed buffers can share memory, with each other and with buffers whose
memory was given to NumPy (`share`); for these the question covers the readings of every such
buffer whose bytes intersect.

**Threads.**  Cutting from a slab is one ``list.pop``, atomic also on free-threaded builds, and
cannot deadlock when a finaliser allocates.  Making a reading takes a lock, because a reading
that is not registered would be overwritten silently.  Writing a container while another thread
builds an expression from it is a race of the caller, as it is in NumPy.

**Fork.**  Slabs and allocated buffers are private memory: the child has its own copy-on-write
copy and its own list of free places, so both processes go on cutting without meeting.
"""

from __future__ import annotations

import operator
import os
import re
import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._config import settings
from .._errors import DTypeError, LayoutError, SizeError
from .pool import ALIGNMENT, POOL_FROM, Bytes, aligned_bytes, counters, pool

if TYPE_CHECKING:
    from ..layout.strided import Strided

INT64_MAX = (1 << 63) - 1

_SMALL = 512
_SLAB = 16 << 10
_UINT8 = np.dtype(np.uint8)

_readings_lock = threading.RLock()


def _make_lock() -> None:
    """Make a new lock in a forked child: another thread may have held the old one."""
    global _readings_lock
    _readings_lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_make_lock)

_shared_readings: set[weakref.ref[Reading]] = set()


class Reading:
    """What a leaf of an expression holds: the bytes it was written over.

    Parameters
    ----------
    buffer : Buffer
        The bytes to read now.
    late : bool, default False
        Read whatever the buffer holds at every evaluation (``xl.late``).  Late readings are
        not registered with the buffer, so no write ever copies for them.

    Attributes
    ----------
    stale : str or None
        Why the old values are gone; evaluation must raise `StaleOperandError` with it.
    traced : bool
        It stands for an argument of a function being traced, which has no values yet.
    """

    __slots__ = ("__weakref__", "buffer", "late", "stale", "traced")

    def __init__(self, buffer: Buffer, late: bool = False) -> None:
        self.buffer = buffer
        self.late = late
        self.stale: str | None = None
        self.traced = False

    def __repr__(self) -> str:
        state = "late" if self.late else self.stale or "current"
        return f"<Reading of {self.buffer!r}, {state}>"


class Buffer:
    """A flat run of bytes.  Make one with `allocate` or `borrow`.

    Attributes
    ----------
    address : int
        Address of the first byte; stays valid as long as the buffer or any view of it lives.
    nbytes : int
        Length in bytes.
    readonly : bool
        Whether writing is refused.
    owner : object or None
        The object the bytes were borrowed from; None if they were allocated here.
    kept : bool
        Whether another container than its first one owns it too, after a bitcast.
    retired : bool
        Set by a container that has moved to another buffer: nobody will write here again.
    shared : bool
        Whether other buffers may have the same bytes: this one was borrowed, or given out.
    made : object
        How a product of arrays made its bytes, for `explain`; None for all others, and as soon
        as an assignment writes them.
    """

    __slots__ = (
        "__weakref__",
        "_memory",
        "_reading",
        "_start",
        "address",
        "nbytes",
        "owner",
        "readonly",
        "kept",
        "made",
        "retired",
        "shared",
    )

    def __init__(
        self,
        memory: Bytes,
        start: int,
        address: int,
        nbytes: int,
        readonly: bool = False,
        owner: object = None,
    ) -> None:
        self._memory = memory
        self._start = start
        self.address = address
        self.nbytes = nbytes
        self.readonly = readonly
        self.owner = owner
        self.kept = False
        self.retired = False
        self.shared = owner is not None
        self.made: object = None
        self._reading: weakref.ref[Reading] | None = None

    @staticmethod
    def allocate(nbytes: int) -> Buffer:
        """Allocate uninitialised bytes, aligned to 64.

        Parameters
        ----------
        nbytes : int
            Bytes; zero is allowed and still has a valid address.

        Raises
        ------
        SizeError
            If ``nbytes`` is negative, does not fit 63 bits, or exceeds the
            ``max_result_bytes`` setting.
        MemoryError
            If the system refuses.
        """
        if type(nbytes) is not int:
            nbytes = operator.index(nbytes)
        if nbytes < 0 or nbytes > settings.max_result_bytes or nbytes > INT64_MAX:
            raise SizeError(_size_message(nbytes))
        if nbytes <= _SMALL:
            lines = (nbytes + ALIGNMENT - 1) // ALIGNMENT or 1
            memory, first, free = _slabs[lines]
            try:
                start = free.pop()
            except IndexError:
                fresh = memory, first, free = _new_slab(lines)
                start = free.pop()  # ours, since no other thread has seen the list yet
                _slabs[lines] = fresh
            address = first + start
        elif nbytes < POOL_FROM:
            memory, start, address = aligned_bytes(nbytes)
        else:
            memory, start, address = pool.take(nbytes)
        counters.allocations += 1
        counters.bytes += nbytes
        return Buffer(memory, start, address, nbytes)

    @staticmethod
    def borrow(obj: Any) -> Buffer:
        """Use the bytes of a foreign object, without a copy.

        Parameters
        ----------
        obj : ndarray or buffer-protocol object
            For example bytes, bytearray, memoryview, mmap, array.array.  For a strided array
            or memoryview the buffer is the range of bytes its elements reach, the lowest
            address first, whatever the signs of its strides.

        Returns
        -------
        Buffer
            Read-only if ``obj`` is; keeps ``obj`` alive.

        Raises
        ------
        DTypeError
            If ``obj`` has no buffer, or its elements are Python objects.
        """
        if isinstance(obj, np.ndarray):
            return _borrow_array(obj, obj)
        try:
            export = memoryview(obj)
        except TypeError:
            raise DTypeError(
                f"borrow: got {type(obj).__name__}; the rule is an ndarray or an object with the"
                " buffer protocol (bytes, bytearray, memoryview, mmap, array.array)"
            ) from None
        if "O" in re.sub(r":[^:]*:", "", export.format):  # field names stand between colons
            raise DTypeError(
                f"borrow: got {type(obj).__name__} of format {export.format!r}; elements that are"
                " Python objects are not supported"
            )
        if export.c_contiguous:
            # The raw bytes, whatever the format says (NumPy does not know all of them).
            return _borrow_array(np.frombuffer(export, _UINT8), obj)
        return _borrow_array(np.asarray(export), obj)

    @property
    def data(self) -> Bytes:
        """The bytes, a 1-D uint8 view of exactly ``nbytes`` (read-only if the buffer is)."""
        return self._memory[self._start : self._start + self.nbytes]

    def view(self, dtype: np.dtype[Any], strided: Strided) -> npt.NDArray[Any]:
        """Return an ndarray of these bytes, its reach proven to lie inside first.

        Parameters
        ----------
        dtype : numpy.dtype
            Element type.
        strided : Strided
            Shape, strides and offset in elements of ``dtype``.

        Raises
        ------
        LayoutError
            If any element would lie outside the buffer.
        """
        size = dtype.itemsize
        shape = strided.shape
        offset = strided.offset * size
        strides = [step * size for step in strided.strides]
        low, high = byte_reach(shape, strides, offset, size)
        if low < 0 or high > self.nbytes:
            raise LayoutError(
                f"view: shape {shape}, strides {strided.strides} and offset {strided.offset} of"
                f" {dtype} reach bytes {low}..{high} of a buffer of {self.nbytes} bytes"
            )
        if low == high:  # no element: any position inside will do
            offset = low
        for axis, extent in enumerate(shape):
            if extent == 1:  # never stepped along, and may be too large for a C integer
                strides[axis] = size
        try:
            return np.ndarray(shape, dtype, self._memory, self._start + offset, strides)
        except (ValueError, OverflowError) as error:
            raise LayoutError(
                f"view: shape {shape} and strides {strided.strides} of {dtype}: {error}"
            ) from None

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """Return the bytes as a NumPy array, uncopied unless asked for."""
        plain = self.data if dtype is None else self.data.astype(dtype)
        return plain.copy() if copy else plain

    def __reduce__(self) -> Any:
        """Refuse: an address means nothing in a copy or in another process."""
        raise TypeError("a Buffer cannot be copied or pickled; copy or pickle its container")

    def reading(self) -> Reading:
        """Return the live `Reading` of this buffer, made if there is none."""
        known = self._reading
        live = known() if known is not None else None
        if live is not None:
            return live
        fresh = Reading(self)
        shared = self.shared
        mark = weakref.ref(fresh, _shared_readings.discard if shared else None)
        with _readings_lock:
            known = self._reading
            live = known() if known is not None else None
            if live is not None:
                return live
            self._reading = mark
            if shared:
                _shared_readings.add(mark)
        return fresh

    def share(self) -> None:
        """Note that the memory is given to others, who may lend it back as another buffer."""
        if self.shared:
            return
        self.shared = True
        with _readings_lock:
            known = self._reading
            live = known() if known is not None else None
            if live is not None:
                self._reading = weakref.ref(live, _shared_readings.discard)
                _shared_readings.add(self._reading)

    def pending(self) -> Reading | None:
        """Return a live `Reading` of these bytes, or None if no expression refers to them."""
        known = self._reading
        if known is not None:
            live = known()
            if live is not None:
                return live
        if self.shared and _shared_readings:
            return next(self._foreign_readings(), None)
        return None

    def is_read_elsewhere(self) -> bool:
        """Tell whether another buffer with some of these bytes has a live `Reading`."""
        return self.shared and next(self._foreign_readings(), None) is not None

    def snapshot_readers(self) -> int:
        """Keep the current bytes for every pending expression, before they are overwritten.

        The live `Reading` is moved to a copy of the bytes and detached, so the next expression
        written over this buffer gets a new one.

        Returns
        -------
        int
            Bytes copied; 0 if nothing was pending.
        """
        copied = 0
        for reading in self._all_readings():
            source = reading.buffer
            kept = Buffer.allocate(source.nbytes)
            np.copyto(kept.data, source.data)
            kept._reading = source._detach()
            reading.buffer = kept
            counters.snapshots += 1
            copied += source.nbytes
        return copied

    def invalidate_readers(self, reason: str) -> None:
        """Mark every pending expression stale, for when its values cannot be kept.

        Parameters
        ----------
        reason : str
            What overwrote the bytes, for the message of `StaleOperandError`.
        """
        for reading in self._all_readings():
            reading.stale = reason
            reading.buffer._detach()

    def _detach(self) -> weakref.ref[Reading] | None:
        mark, self._reading = self._reading, None
        if mark is not None:
            _shared_readings.discard(mark)
        return mark

    def _all_readings(self) -> list[Reading]:
        known = self._reading
        live = known() if known is not None else None
        own = [] if live is None else [live]
        if not self.shared:
            return own
        return own + list(self._foreign_readings())

    def _foreign_readings(self) -> Iterator[Reading]:
        """Live readings of other buffers that share bytes with this one."""
        end = self.address + self.nbytes
        for mark in _shared_readings.copy():  # callbacks may shrink the set meanwhile
            reading = mark()
            if reading is None:
                continue
            other = reading.buffer
            if (
                other is not self
                and other.address < end
                and self.address < other.address + other.nbytes
            ):
                yield reading

    def __repr__(self) -> str:
        kind = "borrowed" if self.owner is not None else "owned"
        access = ", read-only" if self.readonly else ""
        return f"<Buffer of {self.nbytes} bytes, {kind}{access}>"


_Slab = tuple[Bytes, int, list[int]]  # memory, its address, free places in it


def _new_slab(lines: int) -> _Slab:
    """Allocate a slab for buffers of ``lines`` cache lines; the lowest free place is last.

    Two threads that find a slab used up at once each make one; the loser's is used for one
    buffer and then dropped.
    """
    memory, start, address = aligned_bytes(_SLAB)
    step = lines * ALIGNMENT
    last = start + (_SLAB // step - 1) * step
    return memory, address - start, list(range(last, start - 1, -step))


_slabs: list[_Slab] = [(np.empty(0, _UINT8), 0, []) for _ in range(_SMALL // ALIGNMENT + 1)]


def byte_reach(
    shape: tuple[int, ...], strides: list[int], offset: int, itemsize: int
) -> tuple[int, int]:
    """Return the range ``[low, high)`` of bytes that a strided array touches.

    All arguments are Python ints in bytes, so nothing wraps.  An array without elements
    touches nothing: the range is empty and lies at 0.
    """
    low = high = offset
    for extent, step in zip(shape, strides, strict=True):
        if extent <= 0:
            return 0, 0
        if step < 0:
            low += (extent - 1) * step
        else:
            high += (extent - 1) * step
    return low, high + itemsize


def _size_message(nbytes: int) -> str:
    if nbytes < 0:
        return f"allocate: got {nbytes} bytes; a size cannot be negative"
    limit = min(settings.max_result_bytes, INT64_MAX)
    return f"allocate: {nbytes} bytes asked for; the limit is {limit} bytes (max_result_bytes)"


class _Range:
    """A foreign byte range in the form NumPy reads, keeping its owner alive as array base."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, address: int, nbytes: int, readonly: bool, owner: object) -> None:
        self.owner = owner
        self.__array_interface__: dict[str, Any] = {
            "data": (address, readonly),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }


def _borrow_array(array: npt.NDArray[Any], owner: object) -> Buffer:
    if array.dtype.hasobject:
        raise DTypeError(
            f"borrow: got an array of dtype {array.dtype}; elements that are Python objects are"
            " not supported"
        )
    address, readonly = array.__array_interface__["data"]
    low, high = byte_reach(array.shape, list(array.strides), address, array.itemsize)
    if low == high:
        low = high = address
    # The range keeps `array`, whose base chain keeps the memory's real owner.  A weak reference
    # makes NumPy refuse to move that memory, in ``resize(refcheck=False)`` too.
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    pinned = weakref.ref(root)
    memory: Bytes = np.asarray(_Range(low, high - low, readonly, (array, owner, pinned)))
    return Buffer(memory, 0, low, high - low, readonly, owner)
