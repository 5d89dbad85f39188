"""What is compiled once: a bounded table in which each value is made by one job of the worker.

The first caller that misses a key starts a *flight*, a job that makes the value and keeps it;
whoever asks meanwhile waits for the same flight.  A caller may be interrupted anywhere: the flight
stays listed until it has landed, and every waiting caller hands it to the worker again, so none is
lost and none blocks a later one.  A flight that fails raises in all who wait for it and leaves
nothing.

There is no lock.  Values are kept and dropped on the worker, one at a time; everybody else
performs single operations on dictionaries, which are atomic also where threads are free.

**Bounds.**  The table holds at most so many values and so many bytes.  Beyond either, those unused
for longest are dropped down to three quarters, so that sorting them by use stays rare.  The order
of uses is a counter read by each look-up; two threads may get the same number, and then it does
not matter which came first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count
from typing import Generic, TypeVar

from . import worker

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Entry(Generic[V]):
    """A value, its size and when it was used last."""

    __slots__ = ("nbytes", "used", "value")

    def __init__(self, value: V, nbytes: int, used: int) -> None:
        self.value = value
        self.nbytes = nbytes
        self.used = used


class Table(Generic[K, V]):
    """Values by key, each made once however many threads ask.

    Parameters
    ----------
    capacity : int
        Most values kept.
    limit : int
        Most bytes kept; a value larger than that is returned and not kept.
    size : callable
        Bytes that a value holds.
    """

    __slots__ = ("_clock", "_entries", "_flights", "_size", "capacity", "limit", "nbytes")

    def __init__(self, capacity: int, limit: int, size: Callable[[V], int]) -> None:
        self.capacity = capacity
        self.limit = limit
        self.nbytes = 0
        self._size = size
        self._clock = count()
        self._entries: dict[K, _Entry[V]] = {}
        self._flights: dict[K, worker.Job[V]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of ``key``, made by ``make`` on the worker if it is not here.

        Parameters
        ----------
        key : hashable
            Compared by Python's own types (str, bytes, int, tuples of them).
        make : callable
            Called without arguments.  Where two callers bring different ones, one of them.
        """
        entry = self._entries.get(key)
        if entry is not None:
            entry.used = next(self._clock)
            return entry.value
        if worker.inside():  # nobody else would finish a flight that this thread waits for
            return worker.run(lambda: self._make(key, make))
        flight = worker.Job(lambda: self._make(key, make))
        return self._flights.setdefault(key, flight).wait()

    def clear(self) -> None:
        """Drop all values; flights under way land as usual."""
        self._entries.clear()
        self.nbytes = 0

    def _make(self, key: K, make: Callable[[], V]) -> V:
        """Make and keep a value; on the worker."""
        try:
            entry = self._entries.get(key)  # landed after the caller had looked
            if entry is None:
                value = make()
                # What a finaliser made meanwhile, in the middle of this, is used already.
                entry = self._entries.get(key) or self._keep(key, value)
            return entry.value
        finally:
            self._flights.pop(key, None)

    def _keep(self, key: K, value: V) -> _Entry[V]:
        entry = _Entry(value, self._size(value), next(self._clock))
        if entry.nbytes <= self.limit:
            self._entries[key] = entry
            self.nbytes += entry.nbytes
            if len(self._entries) > self.capacity or self.nbytes > self.limit:
                self._make_room()
        return entry

    def _make_room(self) -> None:
        """Drop what is unused for longest, the newest entry excepted."""
        entries = self._entries
        # The copy is made in one step; while the list is, finalisers may run and keep values.
        copy = entries.copy()
        self.nbytes = sum(
            entry.nbytes for entry in copy.values()
        )  # also where `clear` fell between
        oldest = sorted(copy.items(), key=lambda item: item[1].used)
        del copy
        for key, entry in oldest[:-1]:
            if len(entries) <= self.capacity * 3 // 4 and self.nbytes <= self.limit * 3 // 4:
                break
            if entries.pop(key, None) is not None:
                self.nbytes -= entry.nbytes
