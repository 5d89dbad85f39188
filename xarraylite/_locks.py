"""Locks that outlive a fork: a child makes them anew; and what a fork waits for.

Another thread of the parent may have held a lock when it forked; in the child nobody would ever
give it back.

Rooms are imported late, so a room may ask forks to wait for it while one has begun: of hooks that
are registered then, Python calls those after the fork and not those before it.  So all that forks
wait for is in one list here, behind hooks that are as old as the package.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[[], None])

_RLock: Any = type(threading.RLock())


class _Entered(_RLock):  # type: ignore[misc]
    """A lock whose ``with`` statement an interrupt either enters or leaves open.

    Since Python 3.14 the interpreter handles signals when ``__enter__`` of a lock has returned, and
    before the ``with`` statement begins, which then never gives the lock back.  It handles none
    when a function written in Python returns.
    """

    def __enter__(self) -> bool:
        before = self._recursion_count()
        try:
            return bool(self.acquire())
        except BaseException:
            if self._recursion_count() > before:
                self.release()
            raise


#: Makes a re-entrant lock, which is given back whenever a signal comes.
new_lock: Callable[[], threading.RLock]
new_lock = _Entered if sys.version_info >= (3, 14) else threading.RLock


def in_children(function: F) -> F:
    """Have a function called in each child that is forked, where systems fork; a decorator."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
    return function


class ForkLock:
    """A re-entrant lock, for signal handlers and finalisers that interrupt the thread holding it.

    Attributes
    ----------
    held : threading.RLock
        The lock of this process, which ``with`` statements take.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self._renew()
        in_children(self._renew)

    def _renew(self) -> None:
        self.held = new_lock()


#: Seconds that a fork waits for what may not end before it, and for imports that stand still.
PATIENCE = 2.0

#: Modules that register hooks by which a fork takes a lock and gives it back, and these locks.
_TAKEN = {"logging": "_lock", "concurrent.futures.thread": "_global_shutdown_lock"}

#: What a fork waits for, each with what ends that in the parent.
_waits: list[tuple[Callable[[], object], Callable[[], None] | None]] = []


class _Forks(threading.local):
    """Of a thread, what ends the waits of the forks that it is in: signal handlers may fork too."""

    def __init__(self) -> None:
        self.ends: list[list[Callable[[], None]]] = []


_forks = _Forks()


def wait_before_fork(begin: Callable[[], object], end: Callable[[], None] | None = None) -> None:
    """Have forks call ``begin`` and, if it says so, ``end`` afterwards in the parent.

    The last one is called first, as `os.register_at_fork` has it.

    Parameters
    ----------
    begin : callable
        Tells whether ``end`` is to be called; for example the method that acquires a lock.
    end : callable, optional
        For example the method that releases it.
    """
    _waits.append((begin, end))


def _before_fork() -> None:
    ends: list[Callable[[], None]] = []
    _forks.ends.append(ends)
    interrupt: BaseException | None = None
    known = _imported()
    while True:
        waits = tuple(_waits)
        for begin, end in reversed(waits):
            try:
                if begin() and end is not None:
                    ends.append(end)
            except BaseException as error:  # it ends this wait, and Python reports it
                interrupt = error
        if len(waits) == len(_waits):
            break
        _end(ends)  # an import that was waited for has more to wait for
    for name in _imported() - known:  # meanwhile: the fork gives back what it has not taken
        getattr(sys.modules[name], _TAKEN[name]).acquire(True, PATIENCE)
    if interrupt is not None:
        raise interrupt


def _imported() -> set[str]:
    """Return which of the modules that have forks take a lock are imported, to the end."""
    specs = {name: getattr(sys.modules.get(name), "__spec__", None) for name in _TAKEN}
    return {name for name, spec in specs.items() if spec and not spec._initializing}


def _after_fork() -> None:
    _end(_forks.ends.pop())


def _forget() -> None:
    _forks.ends.clear()  # of the one thread that the child has


def _end(ends: list[Callable[[], None]]) -> None:
    while ends:
        ends.pop()()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_forget)
