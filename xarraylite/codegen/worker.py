"""One thread on which everything is compiled, linked and unloaded.

**Why a thread.**  Python raises KeyboardInterrupt in the main thread alone, between any two
bytecodes.  LLVM's bindings and Numba are Python code around calls that hand over ownership, and
around one lock for all of LLVM: cut short there, they crash later or never give the lock back.  On
a thread of our own no signal handler ever runs.  The caller waits for its job and may be
interrupted at any instant; the job goes on, and its result stays with whoever wrote the job
(`codegen.table`).

**Who may call.**  Any thread, any number at once; signal handlers that interrupt a waiting caller
(they wait as well, and the job is done meanwhile); finalisers and callbacks of the garbage
collector.  The latter may run on the worker itself, in the middle of a job that they must not wait
for: what the worker asks for, it does at once.  Finalisers that unload code use `post`, which
never waits.

**Fork.**  A fork waits for the end of the job that runs, so that LLVM's lock is free and its heap
is whole in the child; it takes ``_gate``, which is held for the length of a job.  Taking and giving
back are calls of C functions by the interpreter, which no signal can come between.  The child makes
a worker when it needs one.  The wait is bounded: hooks of others run before ours, and one of them
may hold what the job needs.

**The end of the process.**  A thread inside LLVM while the process tears down LLVM's globals is a
crash.  At exit the running job is waited for and the worker ends; afterwards the main thread, which
runs what is left of the exit handlers, does its jobs itself, and daemon threads wait for the end.

No thread is started before the first job.  Where none can be started, callers do their jobs
themselves, one at a time.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

from .._locks import in_children, new_lock, wait_before_fork
from ..memory.snapshots import own_threads
from .latch import Latch

T = TypeVar("T")

#: Seconds that a fork waits for a job at most: more than any takes.
PATIENCE = 30.0

#: Held while a job runs, and by the interpreter during a fork.
_gate = new_lock()

_local = threading.local()


class _State:
    """What a forked child has a new one of."""

    __slots__ = ("queue", "role")

    def __init__(self) -> None:
        self.queue: SimpleQueue[Job[Any]] = SimpleQueue()
        self.role = threading.Lock()
        """Held by the worker as long as it lives; other threads started by mistake leave."""


class Job(Generic[T]):
    """Something to be done on the worker, once, whoever waits for it.

    Parameters
    ----------
    call : callable
        What to do.  It must not wait for another thread that may wait for the worker.
    """

    __slots__ = ("_call", "_done", "_error", "_queue", "_result")

    def __init__(self, call: Callable[[], T]) -> None:
        self._call: Callable[[], T] | None = call
        self._done = Latch()
        self._error: BaseException | None = None
        self._result: T | None = None
        self._queue: object = None

    def perform(self) -> None:
        """Do it, unless it is done; the thread holds the gate."""
        call = self._call
        if call is not None and not self._done.is_set:
            try:
                self._result = call()
            except BaseException as error:
                if not (is_worker() or isinstance(error, Exception)):
                    raise  # a Ctrl-C is its caller's own: the next one begins again
                self._error = error
            self._call = None  # and what it holds
        self._done.set()
        del self, call  # the error refers to this frame

    def submit(self) -> bool:
        """Hand it to the worker, unless this one has it; False if there can be no worker."""
        if _closed.is_set:
            return False
        state = _state
        if self._queue is not state.queue:
            state.queue.put(self)  # a second time, after an interrupt here, does no harm
            self._queue = state.queue
        if not state.role.locked():
            try:
                _thread.start_new_thread(_serve, (state,))
            except RuntimeError:  # no more threads, or the interpreter is shutting down
                return False
        return True

    def wait(self) -> T:
        """Return the result or raise the error, as soon as there is one; any thread may ask."""
        while not self._done.is_set:
            if self.submit():
                self._done.wait()
            elif not _closed.is_set or threading.current_thread() is threading.main_thread():
                with _gate:
                    self.perform()
            else:
                self._done.wait()  # for the end of the process
        _deliver()
        if self._error is None:
            return cast("T", self._result)
        try:
            raise self._error
        finally:
            del self  # whose error refers to this frame


_state = _State()
_closed = Latch()
_notices: deque[Callable[[], object]] = deque()


def is_worker() -> bool:
    """Tell whether the calling thread is the worker."""
    return getattr(_local, "worker", False)


def inside() -> bool:
    """Tell whether the calling thread must not wait for the worker.

    That is so on the worker, in a job that its caller does, and in hooks of others at a fork.
    """
    # What `threading.Condition` asks too; no public method tells who holds a lock.
    return is_worker() or bool(_gate._is_owned())  # type: ignore[attr-defined]


def run(call: Callable[[], T]) -> T:
    """Return what ``call`` returns on the worker, or raise what it raises there.

    Parameters
    ----------
    call : callable
        Called once, also if the caller is interrupted meanwhile.  Where the caller must not wait
        (`inside`) it is called at once, possibly in the middle of another job.
    """
    if not inside():
        return Job(call).wait()
    with _gate:
        return call()


def post(call: Callable[[], object]) -> None:
    """Let the worker call something some time, without waiting; safe in finalisers.

    What it raises is dropped.  Nothing is called any more at the end of the process.

    Parameters
    ----------
    call : callable
        For example the method that unloads a library.
    """
    state = _state
    if state is not None:  # at the very end of the process modules lose their names
        state.queue.put(Job(call))


class Closing:
    """Owner of something with a ``close`` that only the worker may call, as of a loaded library.

    It is closed some time after nobody holds this any more, whichever thread was the last.

    Parameters
    ----------
    held : object
        What is to be closed; nobody else keeps it.
    """

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __del__(self, post: Callable[[Callable[[], object]], None] = post) -> None:
        post(self.held.close)


def notify(call: Callable[[], object]) -> None:
    """Call something on a thread of the user: at once, or for the next caller of the worker.

    Warnings are given this way.  They must show the user's line, and may be errors there.

    Parameters
    ----------
    call : callable
        For example one that warns.
    """
    if is_worker():
        _notices.append(call)
    else:
        call()


def _deliver() -> None:
    while _notices:
        with contextlib.suppress(IndexError):  # another thread was faster
            notice = _notices.popleft()
            notice()


def _serve(state: _State) -> None:
    _local.worker = True  # before it is: a finaliser may run anywhere from here on
    if not state.role.acquire(blocking=False):
        return
    own_threads.append(_thread.get_ident())
    try:
        while not _closed.is_set:
            _serve_one(state.queue.get())
    finally:
        if own_threads:  # else this is a child that a job has forked
            own_threads.pop()
        state.role.release()


def _serve_one(job: Job[Any]) -> None:
    """Do one job; a function of its own, so that nothing is held while the worker is idle."""
    _gate.acquire()  # no signal can come between on this thread
    try:
        if not _closed.is_set:
            job.perform()
    finally:
        with contextlib.suppress(RuntimeError):  # forked by the job: the child's gate is open
            _gate.release()


def _close() -> None:
    """At exit: let no job begin, and wait until the worker has ended, whatever interrupts the wait.

    The end of the process would kill it in the middle of a collection of garbage too, and with it
    the lists that the next collection needs.
    """
    _closed.set()
    while True:
        try:
            post(_closed.set)  # wakes it
            with _state.role, _gate:
                return
        except BaseException:
            continue


def _after_fork() -> None:
    """Begin with a new queue; of the old worker's locks nobody knows the state."""
    global _state
    _state = _State()
    _notices.clear()


atexit.register(_close)
wait_before_fork(partial(_gate.acquire, True, PATIENCE), _gate.release)
# Replacing the gate would need Python code; the standard library opens its locks like this too.
in_children(_gate._at_fork_reinit)  # type: ignore[attr-defined]
in_children(_after_fork)
