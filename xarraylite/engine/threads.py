"""A small pool of threads that take pieces of one job from a common queue.

The calling thread works too, so a pool of two threads wakes one.  One job runs at a time: a
second caller, or a job started from inside a piece, works serially instead of waiting, which
keeps the package well behaved inside other schedulers' threads.  After a fork the child makes a
pool of its own.  What the pieces are never depends on how many threads take them.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Job(Generic[T]):
    """Pieces, what to do with them, and who is still at it."""

    __slots__ = ("_finished", "_left", "_lock", "error", "make", "pieces")

    def __init__(
        self, pieces: deque[T], make: Callable[[], Callable[[T], None]], helpers: int
    ) -> None:
        self.pieces = pieces
        self.make = make
        self.error: BaseException | None = None
        self._left = helpers
        self._lock = threading.Lock()
        self._finished = threading.Event()
        if helpers == 0:
            self._finished.set()

    def drain(self) -> None:
        """Take pieces until none is left."""
        work = self.make()
        pieces = self.pieces
        while True:
            try:
                piece = pieces.popleft()
            except IndexError:
                return
            work(piece)

    def help(self) -> None:
        """Drain as a helper; an error ends the job and is kept for the caller."""
        try:
            self.drain()
        except BaseException as error:
            self.error = error
            self.pieces.clear()
        finally:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    self._finished.set()

    def wait(self) -> None:
        """Wait until no helper touches memory any more, whatever interrupts the wait."""
        interrupt: BaseException | None = None
        while not self._finished.is_set():
            try:
                self._finished.wait()
            except BaseException as error:
                self.pieces.clear()
                interrupt = error
        if interrupt is not None:
            raise interrupt


class Pool:
    """Threads started when first needed and kept, as daemons, until the process ends."""

    __slots__ = ("_busy", "_inbox", "_pid", "_started")

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._busy = threading.Lock()
        self._inbox: queue.SimpleQueue[_Job[object]] = queue.SimpleQueue()
        self._started = 0
        self._pid = os.getpid()

    def run(
        self, pieces: Iterable[T], make: Callable[[], Callable[[T], None]], threads: int
    ) -> None:
        """Do every piece, on up to ``threads`` threads; return when all are done.

        Parameters
        ----------
        pieces : iterable
            What to do, in the order they are started.
        make : callable
            Returns a worker for one thread: a function of one piece.
        threads : int
            Upper bound on threads, the caller included.
        """
        if self._pid != os.getpid():
            self._reset()
        helpers = threads - 1
        if helpers <= 0 or not self._busy.acquire(blocking=False):
            work = make()
            for piece in pieces:
                work(piece)
            return
        try:
            self._spread(_Job(deque(pieces), make, helpers), helpers)
        finally:
            self._busy.release()

    def _spread(self, job: _Job[T], helpers: int) -> None:
        while self._started < helpers:
            self._started += 1
            name = f"xarraylite-{self._started}"
            threading.Thread(target=_serve, args=(self._inbox,), name=name, daemon=True).start()
        for _ in range(helpers):
            self._inbox.put(job)  # type: ignore[arg-type]
        try:
            job.drain()
        except BaseException:
            job.pieces.clear()
            job.wait()
            raise
        job.wait()
        if job.error is not None:
            raise job.error


def _serve(inbox: queue.SimpleQueue[_Job[object]]) -> None:
    while True:
        inbox.get().help()


pool = Pool()
