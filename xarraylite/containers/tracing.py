"""Whether a function is being traced, so that containers it closes over are read late.

A traced function may use containers that are not among its arguments.  A plain call would read
them at every call, so a leaf that is made of a container while a trace runs reads late.
Expressions that existed before keep their own readings, and so their meaning.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..storage.buffer import Buffer
from ..storage.reading import LateReading, Reading


class _State(threading.local):
    """The late readings of the trace that this thread runs, by buffer; None outside traces."""

    readings: dict[int, Reading] | None = None


_state = _State()

#: How many traces run, in any thread: while one does, leaves are made by `reading_of` alone.
running = 0

_lock = threading.Lock()


def _make_lock() -> None:
    """Make a new lock in a forked child, in which no other thread traces."""
    global _lock, running
    _lock = threading.Lock()
    running = int(_state.readings is not None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_make_lock)


def _count(by: int) -> None:
    global running
    with _lock:
        running += by


def reading_of(buffer: Buffer) -> Reading:
    """Return the reading that a leaf over ``buffer`` holds."""
    readings = _state.readings
    if readings is None:
        return buffer.reading()
    return readings.setdefault(id(buffer), LateReading(buffer))


@contextmanager
def tracing() -> Iterator[None]:
    """Make leaves read late inside the ``with``."""
    before = _state.readings
    _state.readings = {}
    _count(1)
    try:
        yield
    finally:
        _state.readings = before
        _count(-1)
