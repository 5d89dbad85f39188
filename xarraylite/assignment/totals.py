"""Totals of much memory are not lazy for long.

A program keeps a history of what it computes: ``losses.append((r * r).mean())``.  As expressions
such values would keep all that they are of, and every write to it would copy it first.  So results
of rank 0 that hold much are noted, by weak references and for each thread.  Beyond `_WAITING` that
are alive, the oldest is computed and lets go of its operands; those that read memory about to be
overwritten are computed before its old bytes would be copied.  Values are the same either way.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..ir.kind import MUCH, NODE
from ..ir.translation import of as kind_of
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..operands import tracing
from ..operands.convert import computed

#: Totals that stay lazy together: formulas of several take no more passes over their operands.
_WAITING = 8


class _Noted(threading.local):
    """The totals of one thread, oldest first."""

    def __init__(self) -> None:
        self.totals: list[weakref.ref[Any]] = []


_noted = _Noted()


def note(e: Any) -> None:
    """Note a lazy result of rank 0, if it holds much."""
    held = [item.nbytes for item in e._operands if isinstance(item, Memory)]
    if max(held, default=0) < MUCH or tracing.running.value:
        return
    totals = [total for total in _noted.totals if total() is not None]
    while len(totals) >= _WAITING:
        _compute(totals.pop(0)())
    totals.append(weakref.ref(e))
    _noted.totals = totals


def settle(buffer: Buffer) -> None:
    """Compute this thread's totals of a buffer's bytes, which are about to be overwritten."""
    waiting = _noted.totals
    if not waiting:
        return
    snapshot = getattr(buffer, "_snapshot", None)
    for total in waiting:
        e = total()
        if e is not None and snapshot is not None and any([x is snapshot for x in e._operands]):
            _compute(e)


def _compute(e: Any) -> None:
    """Have a total stand for its values, an expression that reads nothing else."""
    if e is None or e._kind is NODE or any([getattr(x, "late", False) for x in e._operands]):
        return
    operands = e._operands
    try:
        made = computed(e, "eval")
    except Exception:
        return  # whoever asks for the values is told what is wrong
    known = kind_of(made.node)
    if known is not None and e._operands is operands:
        e._kind, e._operands = known
