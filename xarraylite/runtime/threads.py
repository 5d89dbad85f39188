"""A small pool of threads that take pieces of one job from a common queue.

The calling thread works too, so a pool of two threads wakes one, and it never waits for a helper
to wake up: a job whose pieces are gone is closed, and helpers that come late find it so.  One job
runs at a time: a second caller, or a job started from inside a piece, works serially instead of
waiting, which keeps the package well behaved inside other schedulers' threads.  What the pieces
are never depends on how many threads take them.

There is no lock, so a Ctrl-C cannot leave one taken, nor a fork.  A helper first lists a latch
(`codegen.latch`) and then looks whether the job is closed; the caller closes it first and then
waits for the latches listed.  That one job runs at a time is a courtesy: two callers that meet
within the same microsecond may both be helped.

**Fork.**  A child makes a pool of its own.  A fork inside a job (a signal handler forks while its
thread waits for helpers) first lets the helpers finish it, for in the child there are none.

A thread that is woken starts on the core of its waker if the kernel thinks that they share work,
and on a busy machine it may stay there for the few milliseconds a job takes: two threads, one
core.  Where the system lets a thread choose (Linux), helpers therefore keep off the core that the
caller runs on.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Generic, TypeVar

from .._locks import wait_before_fork
from ..codegen import worker
from ..codegen.latch import Latch

T = TypeVar("T")


class _Job(Generic[T]):
    """Pieces, what to do with them, and who is still at it."""

    __slots__ = ("_helpers", "avoid", "caller", "closed", "error", "make", "pieces")

    def __init__(self, pieces: deque[T], make: Callable[[], Callable[[T], None]]) -> None:
        self.pieces = pieces
        self.make = make
        self.avoid = current_core()
        self.caller = threading.get_ident()
        self.closed = False
        self.error: BaseException | None = None
        self._helpers: list[Latch] = []

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
        gone = Latch()
        self._helpers.append(gone)
        try:
            if not self.closed:
                self.drain()
        except BaseException as error:
            self.error = error
            self.pieces.clear()
        finally:
            gone.set()

    def close(self) -> None:
        """Let no helper begin, and wait until none touches memory, whatever interrupts the wait."""
        self.closed = True
        interrupt: BaseException | None = None
        for helper in self._helpers[:]:
            while not helper.is_set:
                try:
                    helper.wait()
                except BaseException as error:
                    self.pieces.clear()
                    interrupt = error
        if interrupt is not None:
            raise interrupt


def _nothing() -> Callable[[object], None]:
    """Return what does nothing with a piece."""
    return lambda piece: None


class _Crew:
    """The threads of one process: how many were started, and where they get their jobs."""

    __slots__ = ("inbox", "started")

    def __init__(self) -> None:
        self.inbox: queue.SimpleQueue[_Job[Any]] = queue.SimpleQueue()
        self.started = 0

    def start(self, helpers: int) -> None:
        """Start threads up to ``helpers``, or as many as the system allows."""
        while self.started < helpers:
            try:
                # Not `threading.Thread`: its start waits for the thread to run, for ever in the
                # child of a fork in a signal handler that interrupts the wait.
                _thread.start_new_thread(_serve, (self.inbox,))
            except RuntimeError:  # no more threads, or the interpreter is shutting down
                return
            self.started += 1


class Pool:
    """Threads started when first needed and kept, as daemons, until the process ends."""

    __slots__ = ("_crew", "_job")

    def __init__(self) -> None:
        self._crew = _Crew()
        self._job: _Job[Any] | None = None

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
        helpers = threads - 1
        current = self._job
        # The compiler's thread is not helped: a helper's finaliser may be waiting for it.
        if helpers <= 0 or (current is not None and not current.closed) or worker.inside():
            work = make()
            for piece in pieces:
                work(piece)
            return
        job = _Job(deque(pieces), make)
        try:
            self._job = job
            self._spread(job, helpers)
        finally:
            if self._job is job:
                self._job = None

    def _spread(self, job: _Job[T], helpers: int) -> None:
        try:
            wanted = min(helpers, len(job.pieces) - 1)
            self._crew.start(wanted)
            for _ in range(wanted):
                self._crew.inbox.put(job)
            job.drain()
        except BaseException:
            job.pieces.clear()
            raise
        finally:
            try:
                job.close()
            except BaseException:  # possibly before it had begun
                job.close()
                raise
            finally:
                job.make = _nothing  # late helpers find this one, and it holds nobody's memory
        if job.error is not None:
            raise job.error

    def before_fork(self) -> None:
        """Let helpers finish the job of the thread that forks."""
        job = self._job
        if job is not None and job.caller == threading.get_ident():
            job.close()

    def after_fork(self) -> None:
        """Have other threads, in the child."""
        self._crew = _Crew()
        self._job = None


def _serve(inbox: queue.SimpleQueue[_Job[Any]]) -> None:
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
            return ctypes.PyDLL(None).sched_getcpu  # it takes less than giving the lock away
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

# A fork does this before it waits for the worker, which is imported earlier: helpers may need it.
wait_before_fork(pool.before_fork)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.after_fork)
