"""Calls of one of NumPy's loops, shared among threads without the interpreter's lock.

A dot product of a million numbers takes a third of a millisecond.  Threads that wait for their
pieces in Python (`threads`) need a tenth of that until they have the first one, and the lock for
each other.  So these take them in machine code (`codegen.cpython.crew`): a *crew* is a block of
words with the number of the next piece, which whoever works counts up, and helpers sleep on locks
of their own without ever holding the interpreter's.  They own no Python object, so the caller waits
until none is at work.  Which thread takes a piece changes no bit.

The crew serves one caller at a time; others do their pieces alone meanwhile.  How many helpers are
woken `threads.pool` says, for all threads at work are counted there.  A piece is some microseconds
long, so a caller that waits looks for the end of the last one for a moment, and then sleeps: the
machine may have put the helper aside.

**Order.**  The number of the next piece is far beyond all pieces between two jobs.  A helper counts
itself in before it takes a number, and the caller sets the number back there before it waits until
nobody is counted in: whoever comes later finds no piece.  Setting a job's words comes before its
first number.

**Fork.**  A child has no helpers, and whatever the words say is about threads of its parent; it
makes a crew of its own when it needs one.  No signal handler runs in the middle of a job.

The loop is what a generalised function of NumPy's has for a dtype, found where its public header
says: ``loop(arguments, dimensions, steps, data)``.
"""

from __future__ import annotations

import _thread
import ctypes
import threading
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .._locks import ForkLock, in_children
from ..codegen.assembly import Assembly
from ..codegen.cpython import crew as w
from ..codegen.emit.routine import CREW
from ..codegen.kernel import code_of
from ..codegen.machine import Code
from ..dtypes.names import NumpyArray
from ..memory.snapshots import own_threads
from .launch import from_python, keep_forever, word_at
from .natives import can_load
from .threads import current_core, keep_off, pool

#: Helpers at most.
_MOST = 15

#: Where a generalised function has its loops, their data and the number of both.
_LOOPS, _DATA, _COUNT = 32, 40, 48

_new_lock = from_python("PyThread_allocate_lock", ctypes.c_void_p)
_take_lock = from_python("PyThread_acquire_lock", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


def _locked() -> int:
    """Return the address of a lock that somebody has."""
    lock: int = _new_lock()
    _take_lock(lock, 1)
    return lock


_lock = ForkLock()


class _Helpers:
    """The words that helpers of this process share, how many there are, and the core they avoid."""

    __slots__ = ("address", "avoided", "known", "started", "words")

    def __init__(self) -> None:
        self.words = (ctypes.c_int64 * (w.HELPERS // 8 + 2 * _MOST))(w.CLOSED)
        self.address = ctypes.addressof(self.words)
        self.words[w.LOCK // 8] = _locked()
        self.started = 0
        self.avoided = -1
        self.known: list[int] = []
        keep_forever(self.words)

    def start(self, count: int, code: Code) -> int:
        """Have so many helpers, or as many as the system allows; return how many."""
        count = min(count, _MOST)
        while self.started < count:
            with _lock.held:
                place = w.HELPERS // 8 + 2 * self.started
                self.words[place + 1] = _locked()
                request = array("q", [self.address, self.address + 8 * place])
                keep_forever(request)
                try:
                    _thread.start_new_thread(self._serve, (code.run, request.buffer_info()[0]))
                except RuntimeError:  # no more threads, or the interpreter is shutting down
                    break
                self.started += 1
        return min(count, self.started)

    def _serve(self, run: Callable[[int], object], request: int) -> None:
        own_threads.append(_thread.get_ident())
        self.known.append(threading.get_native_id())
        keep_off(self.avoided)
        run(request)

    def keep_off(self, core: int) -> None:
        """Let helpers, which sleep, run anywhere but on the caller's core."""
        if core != self.avoided:
            self.avoided = core
            for helper in self.known[:]:
                keep_off(core, helper)


def assembly() -> Assembly:
    """Return what helpers run, and who calls it."""
    return Assembly(CREW, "", [_CALLER])


@cache
def _code() -> Code:
    code = code_of(assembly())
    keep_forever(code)
    return code


@cache
def _crew() -> _Helpers:
    return _Helpers()


in_children(_crew.cache_clear)


@cache
def loop_of(function: Any, types: str) -> tuple[int, int]:
    """Return the addresses of a function's loop for such types, and of what it is called with.

    Zeros where objects of this interpreter, or functions of this NumPy, lie otherwise.
    """
    if not can_load() or types not in function.types:
        return 0, 0
    sides = word_at(id(function) + 16)
    known = sides & 0xFFFFFFFF, sides >> 32, word_at(id(function) + _COUNT) & 0xFFFFFFFF
    if known != (function.nin, function.nout, function.ntypes):
        return 0, 0
    at = 8 * function.types.index(types)
    data = word_at(id(function) + _DATA)
    return word_at(word_at(id(function) + _LOOPS) + at), word_at(data + at) if data else 0


def address_of(values: NumpyArray) -> int:
    """Return where the first element of an array lies."""
    return word_at(id(values) + 16)


def call(
    loop: tuple[int, int],
    places: Sequence[int],
    counts: Sequence[int],
    steps: Sequence[int],
    threads: int,
) -> None:
    """Call a loop of two operands for parts of a stack, and for an end; return when all is done.

    Parameters
    ----------
    loop : tuple of int
        From `loop_of`.
    places : sequence of int
        Addresses of the operands and of the results.
    counts : sequence of int
        Of the stack how many are a piece, and how many there are; the inner extent of these, and
        that of the end, which lies behind the last one.
    steps : sequence of int
        Bytes from one of the stack to the next, of the operands and the results, and within each
        operand.
    threads : int
        Upper bound on threads, all others of this process that are at work included.
    """
    code, pieces = _code(), -(-counts[1] // counts[0]) + 1

    def work(helpers: int) -> None:
        crew = _crew()
        started = crew.start(helpers, code) if helpers > 0 else 0
        if started:
            crew.keep_off(current_core())
        job = [crew.address, 0, started, pieces, *loop, *places, *counts, *steps]
        request = array("q", job)
        code.run(request.buffer_info()[0])

    pool.count(work, min(threads, pieces))


_CALLER = """
define i32 @kernel(i64 %request) {
  %done = call i64 @body(i64 %request)
  ret i32 0
}
"""
