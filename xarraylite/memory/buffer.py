"""Flat bytes that may be written, and who is still reading them.

**Owning and borrowing.**  `Buffer.allocate` gives 64-byte aligned memory (`slabs`),
`Buffer.borrow` any object of the buffer protocol the same interface without a copy: exactly the
bytes that it can reach, read-only if it is.

**Snapshots.**  A buffer that nobody else can reach owns its current `Snapshot`, so "does any
expression still refer to these bytes?" is one reference count.  A writer that finds one takes the
snapshot away from the buffer, which then has none, and moves it to a copy of the bytes
(`Buffer.release`); only where its readers are the very expression that is being assigned does it
stay, to expire when the bytes are gone.  References are counted after the snapshot was taken away:
an expression that another thread writes meanwhile belongs to the next one, and is neither lost nor
marked stale.

Borrowed buffers can share memory, with each other and with what NumPy was given (`share`).  Their
snapshots are known by weak references too, and a writer asks for all whose bytes intersect, unless
none was made since (``asked``).

**Free-threaded builds.**  There a count is the sum of two numbers that others change while they are
read, and can be too small.  So a buffer knows its snapshot by a weak reference alone, and whoever
reads it is there as long as it lives.  Counts only tell whether these are all the assigned
expression's own, which saves a copy; where one is wrong, another reader's operand has expired.

**Fork.**  Slabs and allocated buffers are private memory: the child has its own copy-on-write
copy and its own list of free places, so both processes go on cutting without meeting.
"""

from __future__ import annotations

import operator
import re
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import DTypeError
from .._locks import in_children
from . import snapshots as readers
from .block import Memory, byte_reach
from .pool import UINT8, Bytes, Range, Raw, address_of
from .slabs import take
from .snapshots import ALONE, GLANCE, NAMED, Snapshot, guard, newest, noted, shared_snapshots

if TYPE_CHECKING:
    import numpy.typing as npt

#: Whether counts tell who holds an object that other threads may hold: they have to wait meanwhile.
#: (`sysconfig` would say so too, for 1 ms.)
COUNTS = "free-threading build" not in sys.version

#: Buffers whose snapshots a thread is about to move, and which.
_leaving: dict[Buffer, tuple[int, list[Snapshot]]] = {}


@in_children
def _stay() -> None:
    """Have buffers know in a forked child what other threads were about to move."""
    for buffer, (thread, snapshots) in [*_leaving.items()]:
        if thread != threading.get_ident():
            buffer._give_back(snapshots)
            buffer._moving, buffer.special = False, buffer.readonly or buffer.made is not None
            del _leaving[buffer]


class Buffer(Memory):
    """A flat run of bytes that may be written.  Make one with `allocate` or `borrow`.

    Attributes
    ----------
    readonly : bool
        Whether writing is refused.
    owner : object or None
        The object the bytes were borrowed from; None if they were allocated here.
    pin : weak reference
        To the array of NumPy whose memory was borrowed by machine code, which NumPy does not move
        then.
    kept : bool
        Whether another container than its first one owns it too, after a bitcast.
    retired : bool
        Set by a container that has moved to another buffer: nobody will write here again.
    shared : bool
        Whether other buffers may have the same bytes: this one was borrowed, or given out.
    asked : weak reference or None
        What `newest` was when no other buffer's snapshot had these bytes; until that is
        another one, none has.
    special : bool
        Whether a writer has more to ask than who is reading: it is read-only, a product's result,
        or another writer is about to move its snapshots.
    """

    __slots__ = ("_mark", "_snapshot", "asked", "owner", "pin", "shared", "special")

    readonly: bool = False
    owner: object
    kept: bool = False
    retired: bool = False
    shared: bool
    special: bool

    asked: weakref.ref[Snapshot] | None

    _moving: bool = False
    _mark: weakref.ref[Snapshot]
    _snapshot: Snapshot

    def __init__(
        self,
        memory: Bytes,
        start: int,
        address: int,
        nbytes: int,
        readonly: bool = False,
        owner: object = None,
    ) -> None:
        self._memory, self._start, self.address, self.nbytes = memory, start, address, nbytes
        self.special, self.shared, self.owner = readonly, owner is not None, owner
        if readonly:
            self.readonly = True

    @staticmethod
    def allocate(nbytes: int) -> Buffer:
        """Return uninitialised bytes, aligned to 64; see `slabs.take`."""
        nbytes = operator.index(nbytes)
        made = _new(Buffer)
        made._memory, made._start, made.address = take(nbytes)
        made.nbytes, made.special, made.shared, made.owner = nbytes, False, False, None
        return made

    @staticmethod
    def of_array(array: npt.NDArray[Any], owner: object = None) -> Buffer:
        """Return a buffer over the bytes of an array that lies in row-major order."""
        made, writeable = _new(Buffer), array.flags.writeable
        made._memory = memory = (array if array.ndim == 1 else array.reshape(-1)).view(UINT8)
        made._start, made.nbytes = 0, memory.nbytes
        asked = writeable and made.nbytes
        made.address = address_of(memory) if asked else array.__array_interface__["data"][0]
        made.special, made.shared, made.owner = not writeable, owner is not None, owner
        if not writeable:
            made.readonly = True
        return made

    @staticmethod
    def lent(memory: Memory) -> Buffer:
        """Return a buffer over the bytes of another object, which may be written through both."""
        made = Buffer(memory._memory, memory._start, memory.address, memory.nbytes)
        made.shared = True
        return made

    @staticmethod
    def borrow(obj: Any) -> Buffer:
        """Use the bytes of a foreign object, without a copy.

        Parameters
        ----------
        obj : ndarray or buffer-protocol object
            For example bytes, bytearray, memoryview, mmap, array.array.  Of strided ones the range
            of bytes that the elements reach, from the lowest address, whatever the strides' signs.

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
                f"adapt: got {type(obj).__name__}; the rule is an ndarray or an object with the"
                " buffer protocol (bytes, bytearray, memoryview, mmap, array.array)"
            ) from None
        if "O" in re.sub(r":[^:]*:", "", export.format):  # field names stand between colons
            raise DTypeError(
                f"adapt: got {type(obj).__name__} of format {export.format!r}; elements that are"
                " Python objects are not supported"
            )
        if export.c_contiguous:
            # The raw bytes, whatever the format says (NumPy does not know all of them).
            return _borrow_array(np.frombuffer(export, UINT8), obj)
        return _borrow_array(np.asarray(export), obj)

    @property
    def data(self) -> Bytes:
        """The bytes, a 1-D uint8 view of exactly ``nbytes`` (read-only if the buffer is)."""
        self.lend()
        return self.run()

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """Return the bytes as a NumPy array, uncopied unless asked for."""
        plain = self.data if dtype is None else self.data.astype(dtype)
        return plain.copy() if copy else plain

    def __reduce__(self) -> Any:
        """Refuse: an address means nothing in a copy or in another process."""
        raise TypeError("a Buffer cannot be copied or pickled; copy or pickle its container")

    # --- who reads ------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the current `Snapshot`, made if there is none; of a copy if others write."""
        with guard.held:
            if readers.writing and readers.is_being_written(self):
                return Snapshot.of_copy(self)
            try:
                readers.writing.append(self)
                known = self._known()
                if known is not None:
                    return known
                fresh = self._fresh()
            finally:
                if self in readers.writing:
                    readers.writing.remove(self)
            if not (readers.writing and readers.is_being_written(self)):
                return fresh
            _let_go(fresh)
        # Machine code, which waits for no lock, has begun to write since; what other threads have
        # read meanwhile is this snapshot too.
        try:
            fresh.move()
        except BaseException:
            fresh.expire("there was no copy of it before it was written")
            raise
        return fresh

    def _fresh(self) -> Snapshot:
        """Return a new snapshot, the current one from now on."""
        fresh = Snapshot.of(self)
        fresh.origin = weakref.ref(self)
        if self.made is not None:
            fresh.made = self.made
        if self.shared and len(shared_snapshots) >= _most_shared:
            _drop_idle()
        self._know(fresh)
        return fresh

    def _know(self, snapshot: Snapshot) -> None:
        """Have a snapshot be the current one, for which writers of this buffer need not ask."""
        if self.shared:
            asked = getattr(self, "asked", self) is newest.mark
            self._mark = noted(snapshot)
            if asked:
                self.asked = self._mark
        elif not COUNTS:
            self._mark = weakref.ref(snapshot)
        if COUNTS:
            self._snapshot = snapshot

    def _known(self) -> Snapshot | None:
        """Return the current snapshot; None if there is none."""
        try:
            return self._snapshot
        except AttributeError:
            mark: weakref.ref[Snapshot] | None = getattr(self, "_mark", None)
        known = None if mark is None else mark()
        # One that was moved, or has expired and so has no address, is no longer this buffer's.
        if known is None or getattr(known, "address", None) != self.address:
            return None
        return known if known.stale is None and known.nbytes == self.nbytes else None

    def is_read_by(self, snapshot: Snapshot) -> bool:
        """Tell whether this is the buffer's current snapshot."""
        with guard.held:
            return self._known() is snapshot

    def share(self) -> None:
        """Note that the memory is given to others, who may lend it back as another buffer."""
        if self.shared:
            return
        with guard.held, readers.being_written(self):
            known = self._known()
            if known is not None:
                self._mark = noted(known)
            self.shared = True

    def lend(self) -> None:
        """Give the memory to others, who may write unseen: who waits for it gets a copy first."""
        self.share()
        if not self.readonly and self.shared_waiting():
            self.release()

    def is_awaited(self) -> bool:
        """Tell whether any expression refers to these bytes."""
        with guard.held:
            return _are_held(self._live()) if self.shared else self.references() > 0

    def references(self) -> int:
        """Count the references to the current snapshot, without the buffer's own."""
        if COUNTS:
            try:
                return sys.getrefcount(self._snapshot) - ALONE if hasattr(self, "_snapshot") else 0
            except AttributeError:  # another thread has just written
                return 0
        known = self._known()
        return 0 if known is None else max(sys.getrefcount(known) - NAMED + 1, 1)

    def shared_waiting(self) -> int:
        """Count the references to shared bytes' only snapshot; -1 if it is another buffer's too."""
        with guard.held:
            if getattr(self, "asked", self) is not newest.mark:
                alive = self._live()
                known = getattr(self, "_snapshot", None) if COUNTS else self._known()
                only = not alive or (len(alive) == 1 and alive[0] is known)
                known = None  # it would count as a reader, as what follows would
                alive.clear()
                if not only:
                    return -1 if self.is_awaited() else 0
                self.asked = newest.mark
            return self.references()

    def release(self, own: int = 0, which: int = 0) -> Snapshot | None:
        """Let every expression that refers to these bytes keep them, before they are written.

        Parameters
        ----------
        own, which : int
            References to a snapshot, given by its ``id``, that belong to the expression about to be
            written here, if nobody else holds that expression or a part of it that reads these
            bytes.

        Returns
        -------
        Snapshot or None
            The snapshot of that expression, if it is the only one that refers to these bytes: it
            still reads them here, and has to expire when they are written.  All others have moved
            to copies.

        Raises
        ------
        SizeError, MemoryError
            If the bytes cannot be copied; nothing has changed then.
        """
        kept, mine, snapshots = None, False, list[Snapshot]()
        leaving = threading.get_ident(), snapshots
        try:
            while not mine:
                with guard.held:
                    if not self._moving:
                        _leaving[self] = leaving
                        self._moving = self.special = mine = True
                    thread, others = _leaving[self]
                if thread != leaving[0]:  # another thread moves them
                    time.sleep(GLANCE)
                elif not mine:  # this one does, where a finaliser that writes came in between
                    self._take(snapshots)
                    for snapshot in (*others, *snapshots):
                        snapshot.move()
                    return None
            self._take(snapshots)
            while snapshots:
                snapshot = snapshots[-1]
                held = own if id(snapshot) == which else 0
                count = sys.getrefcount(snapshot) - NAMED
                if held and count == held:
                    kept = snapshot
                elif count > 0 or not COUNTS:
                    snapshot.move()
                del snapshots[-1]
        except BaseException:
            self._give_back(snapshots)
            raise
        finally:
            if mine:
                self._moving, self.made, self.special = False, None, self.readonly
                del _leaving[self]
        return kept

    def is_ordinary(self) -> bool:
        """Tell whether a writer has nothing more to ask than who is reading.

        What is only a product's result that nobody reads is none from now on.
        """
        if self.special and self.made is not None and not self.shared and self.references() == 0:
            self.release()  # its snapshot tells of the product
        return not self.special

    def _take(self, snapshots: list[Snapshot]) -> None:
        """Move the snapshots of these bytes from their buffers to a list."""
        with guard.held:
            snapshots += self._live() if self.shared else filter(None, [self._known()])
            self._mark = _NOBODY
            for snapshot in snapshots:
                _let_go(snapshot)

    def _give_back(self, snapshots: list[Snapshot]) -> None:
        """Know snapshots again that were taken and have not moved."""
        with guard.held:
            for snapshot in snapshots:
                if snapshot.origin is None or self._known() is snapshot:
                    continue
                own = not self.shared or snapshot.origin() is self
                if own and self._known() is None:
                    self._know(snapshot)
                    continue
                self.share()
                mark = noted(snapshot)
                if self._known() is None:  # else another thread has read meanwhile
                    self._mark = mark

    def _live(self) -> list[Snapshot]:
        """Return the snapshots of all shared buffers that have bytes of this one."""
        end = self.address + self.nbytes
        found = []
        for mark in shared_snapshots.copy():  # callbacks may shrink the set meanwhile
            snapshot = mark()
            if snapshot is None or snapshot.stale is not None:
                continue
            if snapshot.address < end and self.address < snapshot.address + snapshot.nbytes:
                found.append(snapshot)
        return found

    def __repr__(self) -> str:
        kind = "owned" if self.owner is None else "borrowed"
        return f"<Buffer of {self.nbytes} bytes, {kind}{', read-only' if self.readonly else ''}>"


_new = Buffer.__new__

#: A buffer without bytes, for those who need one but no memory.
NOWHERE = Buffer.allocate(0)
_NOBODY = weakref.ref(Snapshot.of(NOWHERE))

#: Bytes of memory that is kept by what was made of it; machine code keeps as many.
KEPT = 1 << 16


def _keeper(snapshot: Snapshot) -> Buffer | None:
    """Return the buffer that holds a snapshot as its current one."""
    buffer: Any = None if snapshot.origin is None else snapshot.origin()
    return buffer if getattr(buffer, "_snapshot", None) is snapshot else None


def _let_go(snapshot: Snapshot | None) -> None:
    """Take a snapshot away from the buffer that holds it."""
    buffer = None if snapshot is None else _keeper(snapshot)
    if buffer is not None:
        del buffer._snapshot


def _are_held(snapshots: list[Any]) -> bool:
    """Tell whether anyone but its buffer holds one of the snapshots; the list is used up."""
    while snapshots:
        snapshot = snapshots[-1]
        kept = _keeper(snapshot) is not None
        if not COUNTS or sys.getrefcount(snapshot) - NAMED > kept:
            return True
        del snapshots[-1]
    return False


#: Snapshots of shared buffers from which on those that nobody waits for are dropped: at least so
#: many, and twice as many as are waited for, so that each is looked at a few times only.
_IDLE = 16
_most_shared = _IDLE


def _drop_idle() -> None:
    """Drop the snapshots of shared buffers that nobody but these hold."""
    global _most_shared
    newest.mark = weakref.ref(Snapshot.of(NOWHERE))  # who writes asks: machine code reads meanwhile
    for mark in shared_snapshots.copy():
        found = [mark()]
        if found[0] is not None and not _are_held(found):
            _let_go(mark())
    _most_shared = max(_IDLE, 2 * len(shared_snapshots))


def _borrow_array(array: npt.NDArray[Any], owner: object) -> Buffer:
    if array.dtype.hasobject:
        raise DTypeError(
            f"adapt: got an array of dtype {array.dtype}; elements that are Python objects are"
            " not supported"
        )
    address, readonly = array.__array_interface__["data"]
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    moves = root.flags.owndata and type(root) is not Raw
    if type(array) is np.ndarray and array.flags.c_contiguous and not moves:
        return Buffer(array.reshape(-1).view(UINT8), 0, address, array.nbytes, readonly, owner)
    low, high = byte_reach(array.shape, list(array.strides), address, array.itemsize)
    if low == high:
        low = high = address
    # The range keeps `array`, whose base chain keeps the memory's real owner.  A weak reference
    # makes NumPy refuse to move that memory, in ``resize(refcheck=False)`` too.
    pinned = weakref.ref(root)
    memory: Bytes = np.asarray(Range(low, high - low, readonly, (array, owner, pinned)))
    return Buffer(memory, 0, low, high - low, readonly, owner)
