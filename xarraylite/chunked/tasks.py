"""Threads of a run, and what they are given to do.

Those of `concurrent.futures` share conditions with the thread that asks them: Python code around a
lock.  A Ctrl-C may come when that thread has taken one and nobody is responsible yet for giving it
back; the others then wait for good, and the end of the process for them.  So a task has a latch
(`codegen.latch`), and tasks lie in queues of C.

What is begun is finished before the process ends: a file that is being written becomes whole.
"""

from __future__ import annotations

import _thread
import atexit
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar, cast

from .._locks import in_children
from ..codegen.latch import Latch
from .retries import give_up_at

T = TypeVar("T")

#: Tasks that threads of this process have begun.
_begun: list[Task[Any]] = []


class Task(Generic[T]):
    """Something that a thread does once, and that others wait for.

    Attributes
    ----------
    done : Latch
        Set when it is done, or never will be.

    Parameters
    ----------
    call : callable
        What to do.
    """

    __slots__ = ("_call", "_error", "_value", "done")

    def __init__(self, call: Callable[[], T]) -> None:
        self._call: Callable[[], T] | None = call
        self._error: BaseException | None = None
        self._value: T | None = None
        self.done = Latch()

    def perform(self) -> None:
        """Do it."""
        call, self._call = self._call, None
        _begun.append(self)
        try:
            self._value = None if call is None else call()
        except BaseException as error:  # it is raised where it is waited for
            self._error = error
        del call  # and what it holds
        _begun.remove(self)
        self.done.set()
        del self  # the error refers to this frame

    def cancel(self) -> None:
        """Have it not be done; no thread has begun it."""
        self._call, self._error = None, CancelledError()
        self.done.set()

    def result(self) -> T:
        """Wait for it, and return its value or raise its error."""
        while not self.done.wait():
            pass
        try:
            if self._error is not None:
                raise self._error
            return cast("T", self._value)
        finally:
            del self  # the error refers to this frame


class Threads:
    """Threads that do tasks in the order in which they are given.

    Parameters
    ----------
    most : int
        How many there are, at most; one is started when a task finds none that is free.
    over : Latch
        Ends their pauses between tries.
    """

    __slots__ = ("_closed", "_left", "_over", "_tasks")

    def __init__(self, most: int, over: Latch) -> None:
        self._closed = False
        self._over = over
        self._tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()
        self._left: SimpleQueue[None] = SimpleQueue()
        for _ in range(most):
            self._left.put(None)

    def submit(self, call: Callable[..., T], *args: Any) -> Task[T]:
        """Give a task; after `close`, it is cancelled."""
        task = Task(partial(call, *args))
        self._tasks.put(task)
        if self._closed:
            self._cancel()
        elif not self._tasks.empty():
            with suppress(Empty):
                self._left.get_nowait()
                _thread.start_new_thread(self._serve, ())
        return task

    def _serve(self) -> None:
        give_up_at(self._over)
        while (task := self._tasks.get()) is not None:
            task.perform()
            del task
        self._tasks.put(None)  # for the next one

    def close(self, cancel: bool) -> None:
        """End the threads when they have done their tasks, or what they have begun."""
        self._closed = self._closed or cancel
        if cancel:
            self._cancel()
        else:
            self._tasks.put(None)

    def _cancel(self) -> None:
        with suppress(Empty):
            while True:
                task = self._tasks.get_nowait()
                if task is not None:
                    task.cancel()
        self._tasks.put(None)


@in_children
def _forget() -> None:
    _begun.clear()  # which no thread of a child does


@atexit.register
def _finish() -> None:
    for task in _begun.copy():
        while not task.done.wait():
            pass
