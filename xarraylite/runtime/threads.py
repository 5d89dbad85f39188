"""A small pool of threads that take pieces of one job from a common queue.

The calling thread works too, so a pool of two threads wakes one, and it never waits for a helper
to wake up: a job whose pieces are gone is closed, and helpers that come late find it so.  What the
pieces are never depends on how many threads take them.

**One cap.**  Callers that meet (threads of dask or joblib, say) count as much as helpers: a helper
takes a piece only while no more threads are at work than the job may have, all jobs together.  So
one that is there when another caller begins leaves after its piece, and when a caller has finished,
a job of another one that has much left is helped.  A caller never waits for its turn: who calls
from more threads than are set has them all at work, each alone.  A job that is started from inside
a piece is done by the thread it is started on, which is at work already.

There is no lock, so a Ctrl-C cannot leave one taken, nor a fork.  A helper first lists a latch
(`codegen.latch`) and then looks whether the job is closed; the caller closes it first and then
waits for the latches listed.  And a helper first says that it is at work and then counts: two that
come at once may both find that they are too many, never that they are not.

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

from .._locks import in_children, wait_before_fork
from ..codegen import worker
from ..codegen.latch import Latch
from ..memory.snapshots import own_threads

T = TypeVar("T")

#: Pieces of a job, a millisecond or so, from which a helper that comes late pays.
_MUCH = 8


class _Job(Generic[T]):
    """Pieces, what to do with them, how many threads may be at work, and who is still at it."""

    __slots__ = ("_helpers", "avoid", "caller", "closed", "error", "make", "pieces", "threads")

    def __init__(
        self, pieces: deque[T], make: Callable[[], Callable[[T], None]], threads: int
    ) -> None:
        self.pieces = pieces
        self.make = make
        self.threads = threads
        self.avoid = current_core() if threads > 1 else -1
        self.caller = threading.get_ident()
        self.closed = False
        self.error: BaseException | None = None
        self._helpers: list[Latch] = []

    def drain(self, crew: _Crew | None = None) -> None:
        """Take pieces until none is left; of a crew, while no more threads are at work than may."""
        work = self.make()
        pieces = self.pieces
        while crew is None or crew.busy() <= self.threads:
            try:
                piece = pieces.popleft()
            except IndexError:
                return
            work(piece)

    def help(self, crew: _Crew) -> None:
        """Drain as a helper; an error ends the job and is kept for the caller."""
        gone, me = Latch(), threading.get_ident()
        self._helpers.append(gone)
        try:
            crew.at_work[me] = self
            if not self.closed:
                self.drain(crew)
        except BaseException as error:
            self.error = error
            self.pieces.clear()
        finally:
            crew.at_work.pop(me, None)
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
    """The threads of one process: which are at work, and where helpers get their jobs.

    Attributes
    ----------
    at_work : dict
        What each thread, caller or helper, is working on.
    inbox : queue.SimpleQueue
        Jobs that could be helped.
    started : int
        Helpers, idle ones included.
    """

    __slots__ = ("at_work", "inbox", "started")

    def __init__(self) -> None:
        self.at_work: dict[int, _Job[Any]] = {}
        self.inbox: queue.SimpleQueue[_Job[Any]] = queue.SimpleQueue()
        self.started = 0

    def busy(self) -> int:
        """Return how many threads are at work; a caller that waits for its helpers is not."""
        known = self.at_work.copy()  # at once: no other thread changes it meanwhile
        return sum([not job.closed or job.caller != thread for thread, job in known.items()])

    def inside(self) -> bool:
        """Tell whether the calling thread is in the middle of a piece."""
        me = threading.get_ident()
        job = self.at_work.get(me)
        return job is not None and not (job.closed and job.caller == me)

    def call(self, job: _Job[Any], helpers: int) -> None:
        """Wake so many threads for a job, or as many as the system allows."""
        while self.started < helpers:
            try:
                # Not `threading.Thread`: its start waits for the thread to run, for ever in the
                # child of a fork in a signal handler that interrupts the wait.
                _thread.start_new_thread(_serve, (self,))
            except RuntimeError:  # no more threads, or the interpreter is shutting down
                break
            self.started += 1
        for _ in range(helpers):
            self.inbox.put(job)

    def work(self, job: _Job[Any], do: Callable[[], None]) -> None:
        """Do a job, its caller being at work meanwhile; then help another that has much left."""
        try:
            self.at_work[job.caller] = job
            do()
        finally:
            if self.at_work.get(job.caller) is job:
                del self.at_work[job.caller]
        if self.at_work:
            self.pass_on()

    def pass_on(self) -> None:
        """Wake a thread, in the place of one that has finished, for a job that has much left."""
        for job in self.at_work.copy().values() if self.inbox.empty() else ():
            if len(job.pieces) >= _MUCH and self.busy() < job.threads:
                self.call(job, 1)
                return


class Pool:
    """Threads started when first needed and kept, as daemons, until the process ends."""

    __slots__ = ("_crew",)

    def __init__(self) -> None:
        self._crew = _Crew()

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
            Upper bound on threads, the caller and others that are at work included.
        """
        crew = self._crew
        if crew.inside():
            work = make()
            for piece in pieces:
                work(piece)
            return
        # The compiler's thread is not helped: a helper's finaliser may be waiting for it.
        job = _Job(deque(pieces), make, 1 if worker.inside() else threads)
        crew.work(job, lambda: self._spread(job, crew))

    @staticmethod
    def _spread(job: _Job[T], crew: _Crew) -> None:
        try:
            wanted = min(job.threads - crew.busy(), len(job.pieces) - 1)
            if wanted > 0:
                crew.call(job, wanted)
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
        me = threading.get_ident()
        job = self._crew.at_work.get(me)
        if job is not None and job.caller == me:
            job.close()

    def after_fork(self) -> None:
        """Have other threads, in the child."""
        self._crew = _Crew()


def _serve(crew: _Crew) -> None:
    own_threads.append(threading.get_ident())
    avoided = -1
    while True:
        job = crew.inbox.get()
        if job.avoid != avoided:
            avoided = job.avoid
            keep_off(avoided)
        job.help(crew)
        del job  # a waiting thread holds nobody's memory
        if crew.at_work:
            crew.pass_on()


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


def keep_off(core: int) -> None:
    """Let this thread run anywhere but on ``core``; of no effect where not allowed."""
    others = _cores() - {core}
    if sys.platform == "linux" and others:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, others)


pool = Pool()

# A fork does this before it waits for the worker, which is imported earlier: helpers may need it.
wait_before_fork(pool.before_fork)
in_children(pool.after_fork)
