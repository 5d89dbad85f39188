"""A small pool of threads that take pieces of one job from a common queue.

The calling thread works too, so a pool of two threads wakes one, and it never waits for a helper
to wake up: a job whose pieces are gone is closed, and helpers that come late find it so.  One job
runs at a time: a second caller, or a job started from inside a piece, works serially instead of
waiting, which keeps the package well behaved inside other schedulers' threads.  After a fork the
child makes a pool of its own.  What the pieces are never depends on how many threads take them.

A thread that is woken starts on the core of its waker if the kernel thinks that they share work,
and on a busy machine it may stay there for the few milliseconds a job takes: two threads, one
core.  Where the system lets a thread choose (Linux), helpers therefore keep off the core that the
caller runs on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from typing import Generic, TypeVar

T = TypeVar("T")


class _Job(Generic[T]):
    """Pieces, what to do with them, and who is still at it."""

    __slots__ = ("_active", "_closed", "_state", "avoid", "error", "make", "pieces")

    def __init__(self, pieces: deque[T], make: Callable[[], Callable[[T], None]]) -> None:
        self.pieces = pieces
        self.make = make
        self.avoid = current_core()
        self.error: BaseException | None = None
        self._active = 0
        self._closed = False
        self._state = threading.Condition(threading.Lock())

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
        with self._state:
            if self._closed:
                return
            self._active += 1
        try:
            self.drain()
        except BaseException as error:
            self.error = error
            self.pieces.clear()
        finally:
            with self._state:
                self._active -= 1
                self._state.notify_all()

    def close(self) -> None:
        """Let no helper begin, and wait until none touches memory, whatever interrupts the wait."""
        interrupt: BaseException | None = None
        open_ = True
        while open_:
            try:
                with self._state:
                    self._closed = True
                    while self._active:
                        self._state.wait()
                open_ = False
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
            self._spread(_Job(deque(pieces), make), helpers)
        finally:
            self._busy.release()

    def _spread(self, job: _Job[T], helpers: int) -> None:
        try:
            wanted = min(helpers, len(job.pieces) - 1)
            self._start(wanted)
            for _ in range(wanted):
                self._inbox.put(job)  # type: ignore[arg-type]
            job.drain()
        except BaseException:
            job.pieces.clear()
            raise
        finally:
            job.close()
        if job.error is not None:
            raise job.error

    def _start(self, helpers: int) -> None:
        """Start threads up to ``helpers``, or as many as the system allows."""
        while self._started < helpers:
            name = f"xarraylite-{self._started + 1}"
            thread = threading.Thread(target=_serve, args=(self._inbox,), name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads, or the interpreter is shutting down
                return
            self._started += 1


def _serve(inbox: queue.SimpleQueue[_Job[object]]) -> None:
    avoided = -1
    while True:
        job = inbox.get()
        if job.avoid != avoided:
            avoided = job.avoid
            _keep_off(avoided)
        job.help()
        del job  # a waiting thread holds nobody's memory


@cache
def _getcpu() -> Callable[[], int]:
    """Return the system's function that names the current core, or one that returns -1."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            return ctypes.CDLL(None).sched_getcpu
    return lambda: -1


def current_core() -> int:
    """Return the number of the core that the calling thread runs on, or -1 if unknown."""
    return _getcpu()()


@cache
def _cores() -> frozenset[int]:
    """Return the cores this process may use, as they were when first asked."""
    return frozenset(os.sched_getaffinity(0)) if sys.platform == "linux" else frozenset()


def _keep_off(core: int) -> None:
    """Let the calling thread run anywhere but on ``core``; of no effect where not allowed."""
    others = _cores() - {core}
    if sys.platform == "linux" and others:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, others)


pool = Pool()
