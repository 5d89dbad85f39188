"""Whether a function is being traced, so that containers it closes over are read late.

A traced function may use containers that are not among its arguments.  A plain call would read
them at every call, so a leaf that is made of a container while a trace runs reads late.
Expressions that existed before keep their own readings, and so their meaning.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..storage.buffer import Buffer, Reading


class _State(threading.local):
    """The late readings of the trace that this thread runs, by buffer; None outside traces."""

    readings: dict[int, Reading] | None = None


_state = _State()


def reading_of(buffer: Buffer) -> Reading:
    """Return the reading that a leaf over ``buffer`` holds."""
    readings = _state.readings
    if readings is None:
        return buffer.reading()
    return readings.setdefault(id(buffer), Reading(buffer, late=True))


@contextmanager
def tracing() -> Iterator[None]:
    """Make leaves read late inside the ``with``."""
    before = _state.readings
    _state.readings = {}
    try:
        yield
    finally:
        _state.readings = before
