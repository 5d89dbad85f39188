"""Copy-on-write snapshots: what a leaf of an expression holds of the memory it was written over.

An expression means what it meant when it was written.  A `Snapshot` is an address and what keeps
the bytes there alive.  Whoever wants to overwrite them moves the snapshot to a copy first.

A snapshot's address changes in one store.  Kernels take it where no other thread can run
(`runtime.launch`) or after pinning the snapshot (`pinned`), and a writer that wants to move a
pinned snapshot waits until no other thread's kernel reads through it.  Snapshots are made, moved
and pinned under one lock, which nobody holds while a kernel runs, nor while waiting.

Between a writer's question who waits and its last store another thread may read.  So memory that
is written is listed (`writing`), and has no snapshot of its own meanwhile: who reads gets one of a
copy, as it is at that moment.  Nobody waits for anybody, and an expression has one meaning from
when it is written on.  What asks and writes under one hold of the interpreter's lock need not be
listed: machine code does that, but for long kernels and where NumPy writes many elements.  A
writer's own readings, those of the very expression it writes, are told by their identity, never by
their number alone: another thread's may be as many (what is not covered is in
docs/developer/architecture.md).

An interrupt may come wherever the main thread calls something.  So the lock is one of C, whose
``with`` statements no interrupt comes between (those of `threading.Condition` run Python), what
waits looks again every `GLANCE`, and nothing is between two states while anything is called.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._locks import ForkLock, in_children
from .block import Memory
from .pool import Bytes, counters
from .slabs import take

#: Under its lock snapshots are made, moved and pinned.
guard = ForkLock()

#: What the running evaluations of each thread read, by something that stands for the evaluation.
pins: dict[object, tuple[int, Sequence[Snapshot]]] = {}

#: Seconds between two looks of who waits.
GLANCE = 1e-4

#: Kernels that machine code runs without the interpreter's lock, which pin nothing; and how many
#: writers wait until there are none: meanwhile such kernels keep the lock.
flying = (ctypes.c_int64 * 2)()


#: What threads are writing, or making a snapshot of; as often as several do.  Machine code, which
#: has no lock, makes no snapshots of it meanwhile.
writing: list[Memory] = []


#: The package's own threads, which read nobody's arrays; and how many the process had that this one
#: was forked from, which Python goes on counting.
own_threads: list[int] = []
_past = [0]


def are_others() -> bool:
    """Tell whether there are threads of the user's besides the main one."""
    return _thread._count() > len(own_threads) + _past[0]  # without the main one


@contextlib.contextmanager
def being_written(memory: Memory) -> Iterator[None]:
    """Have new snapshots of memory be of copies while the block writes it.

    Those that are there are the block's to take away (`Buffer.release`), as its first step.
    """
    try:
        writing.append(memory)  # no interrupt comes before
        yield
    finally:
        if memory in writing:  # else a child was forked meanwhile
            writing.remove(memory)


def is_being_written(memory: Memory) -> bool:
    """Tell whether a thread writes some of these bytes."""
    low, high = memory.address, memory.address + memory.nbytes
    return any([its.address < high and low < its.address + its.nbytes for its in writing.copy()])


@in_children
def _forget_threads() -> None:
    """Forget in a forked child what other threads were doing."""
    pins.clear()
    writing.clear()
    flying[0], flying[1] = 0, 0
    own_threads.clear()
    _past[0] = _thread._count()


class Snapshot(Memory):
    """What a leaf of an expression holds: the bytes it was written over.

    Attributes
    ----------
    stale : str or None
        Why the old values are gone (there is no address then); evaluation must raise
        `StaleOperandError` with it.
    traced : bool
        It stands for an argument of a function being traced, which has no values yet.
    late, retired : bool
        Whether it reads what the buffer holds at every evaluation (`LateSnapshot`), and that
        buffer's container has given it up.
    origin : weak reference to a buffer, or None
        The buffer it was made of, as long as both have the same bytes.
    """

    __slots__ = ("origin",)

    stale: str | None = None
    traced: bool = False
    late: bool = False
    retired: bool = False

    origin: weakref.ref[Memory] | None

    @staticmethod
    def of(memory: Memory) -> Snapshot:
        """Return a snapshot of some bytes, which no buffer knows."""
        made = Snapshot.__new__(Snapshot)
        made._memory, made._start = memory._memory, memory._start
        made.address, made.nbytes, made.origin = memory.address, memory.nbytes, None
        return made

    @staticmethod
    def of_copy(memory: Memory) -> Snapshot:
        """Return a snapshot of what some bytes are now."""
        made, (own, start, address) = Snapshot.of(memory), take(memory.nbytes)
        np.copyto(own[start : start + memory.nbytes], made.run())
        made._memory, made._start, made.address = own, start, address
        counters.snapshots += 1
        return made

    @staticmethod
    def alone(nbytes: int, made: object) -> Copy:
        """Return a snapshot of new memory, to be filled, and of what is copied into it."""
        own = Copy(nbytes, made)
        own._memory, own._start, own.address = take(nbytes)
        return own

    @staticmethod
    def of_values(memory: Memory, made: object) -> Snapshot:
        """Return a snapshot of memory that nobody else has, and of what is in it."""
        own = Copy(memory.nbytes, made)
        own._memory, own._start, own.address = memory._memory, memory._start, memory.address
        return own

    def expire(self, reason: str) -> None:
        """Say that the old values are gone."""
        self.stale = reason
        with contextlib.suppress(AttributeError):
            del self.address

    def move(self) -> int:
        """Copy the bytes and read the copy from now on; return the number of bytes.

        Kernels that other threads run over the old bytes end first.
        """
        if self.stale is not None:
            return 0
        block = take(self.nbytes)
        flying[1] += 1
        try:
            while not self._moved(*block):
                time.sleep(GLANCE)
        finally:
            flying[1] -= 1
        return self.nbytes

    def _moved(self, memory: Bytes, start: int, address: int) -> bool:
        """Copy the bytes to an address, unless another thread's kernel runs over them."""
        me = threading.get_ident()
        with guard.held:
            if flying[0] or any([self in read for own, read in [*pins.values()] if own != me]):
                return False
            np.copyto(memory[start : start + self.nbytes], self.run())
            self._memory, self._start = memory, start
            self.address, self.origin = address, None
            counters.snapshots += 1
        return True

    def __repr__(self) -> str:
        state = "late" if self.late else self.stale or "current"
        return f"<Snapshot of {self.nbytes} bytes, {state}>"


def _measure() -> tuple[int, int]:
    """Count the references to an object that a list holds, with a local name and without."""
    held = [object()]
    named = held[0]
    count = sys.getrefcount(named)
    del named
    return count, max([sys.getrefcount(held[k]) for k in range(1)])


#: References to an object that one list, tuple or attribute holds, as a callee counts them; with a
#: local variable that names it, and without.
NAMED, ALONE = _measure()

#: Those of buffers whose bytes other buffers may have.
shared_snapshots: set[weakref.ref[Snapshot]] = set()


class Newest:
    """The last snapshot of a shared buffer that was noted: until another is, readers only leave."""

    __slots__ = ("mark",)

    mark: weakref.ref[Snapshot] | None


newest = Newest()
newest.mark = None


def noted(snapshot: Snapshot) -> weakref.ref[Snapshot]:
    """Note a snapshot of a shared buffer, for writers of others."""
    mark = weakref.ref(snapshot, shared_snapshots.discard)
    shared_snapshots.add(mark)
    newest.mark = mark
    return mark


class Copy(Snapshot):
    """A snapshot of memory of its own, and of what was copied into it.

    Attributes
    ----------
    made : Gathers, Copy, or what `histories.held` returns
        What the elements are of, or were picked from: a copy, where that is a lazy result.
    where : array of int64, int or None
        Positions of picked elements in the row-major order of what they were picked from.  An int
        is the dimension along which they are; the positions lie behind the elements then.
    kind, shape, start
        What the elements were picked from, in the memory.
    """

    __slots__ = ("kind", "made", "shape", "start", "where")

    made: Any
    where: Any
    kind: Any
    shape: tuple[int, ...]
    start: int

    def __init__(self, nbytes: int, made: object) -> None:
        self.nbytes, self.origin, self.made, self.where = nbytes, None, made, None

    def outline(self) -> Copy:
        """Return what it is a copy of, without the bytes; there are no positions among them."""
        return Copy(0, self.made)

    def positions(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return so many positions, which lie behind the elements."""
        start = self._start + self.nbytes + -self.nbytes % 8
        return self._memory[start : start + 8 * count].view(np.int64)


class LateSnapshot(Snapshot):
    """Reads whatever a buffer holds at every evaluation (``xl.late``).

    Late snapshots are not registered with the buffer, so no write ever copies for them.
    """

    __slots__ = ("_source",)

    late = True

    def __init__(self, source: Memory) -> None:
        self.become(source)

    def become(self, source: Memory) -> None:
        """Read other memory from now on."""
        self._source = source
        self.origin = None
        self._memory, self._start = source._memory, source._start
        self.address, self.nbytes = source.address, source.nbytes

    @property
    def retired(self) -> bool:  # type: ignore[override]
        """Whether the buffer's container has moved to another one."""
        return bool(getattr(self._source, "retired", False))

    @staticmethod
    def after(snapshot: Snapshot) -> LateSnapshot:
        """Return a late snapshot of the buffer that a snapshot was made of."""
        if isinstance(snapshot, LateSnapshot):
            return snapshot
        buffer = None if snapshot.origin is None else snapshot.origin()
        return LateSnapshot(snapshot if buffer is None else buffer)


@contextlib.contextmanager
def pinned(snapshots: Sequence[Snapshot]) -> Iterator[None]:
    """Keep writers of other threads from moving snapshots while the block reads through them."""
    evaluation = object()
    try:
        with guard.held:
            pins[evaluation] = threading.get_ident(), snapshots
        yield
    finally:
        pins.pop(evaluation, None)
