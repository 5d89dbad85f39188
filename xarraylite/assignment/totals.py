"""Totals of much memory are not lazy for long.

A program keeps a history of what it computes: ``losses.append((r * r).mean())``.  As expressions
such values would keep all that they are of, and every write to it would copy it first.  So results
of rank 0 that hold much are noted, by weak references and for each thread.  Beyond `_WAITING` that
are alive, the oldest is computed and lets go of its operands; those that read memory about to be
overwritten are computed before its old bytes would be copied.  Values are the same either way.

Where one is asked for, others that fold the very same memory are computed with it, so that this is
read once (`minmax`): each is kept with its note until it is asked for.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..ir import build
from ..ir.kind import MUCH, NODE, Kind, Operands
from ..ir.node import Reduce
from ..ir.translation import form_of, node_of
from ..ir.translation import of as kind_of
from ..ir.walk import with_args
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..operands import tracing
from ..operands.convert import computed
from ..ops.reductions import Reduction

#: Totals that stay lazy together: formulas of several take no more passes over their operands.
_WAITING = 8


class _Total(weakref.ref[Any]):
    """A lazy total, and its value if that was computed with another: behind what it is of."""

    operands: Operands | None = None
    value: Any = None


class _Noted(threading.local):
    """The totals of one thread, oldest first."""

    def __init__(self) -> None:
        self.totals: list[_Total] = []


_noted = _Noted()


def note(e: Any) -> None:
    """Note a lazy result of rank 0, if it holds much."""
    for item in e._operands:
        if isinstance(item, Memory) and item.nbytes >= MUCH:
            break
    else:
        return
    if tracing.running.value:
        return
    totals = [total for total in _noted.totals if total() is not None]
    while len(totals) >= _WAITING:
        _compute(totals.pop(0)())
    totals.append(_Total(e))
    _noted.totals = totals


def known(e: Any) -> Any:
    """Return the value of a total that was computed with another; None if there is none."""
    for total in _noted.totals:
        if total.operands is e._operands and total() is e:
            return total.value
    return None


def beside(e: Any) -> list[tuple[_Total, Any, Operands]]:
    """Return this thread's totals that fold what a total folds, with their notes, it first.

    Empty if it is the only one.
    """
    own, kind = e._operands, e._kind
    if len(_noted.totals) < 2 or not _folds_memory(kind) or tracing.running.value:
        return []
    found: list[tuple[_Total, Any, Operands]] = []
    for total in _noted.totals:
        x = total()
        if x is e:
            found.insert(0, (total, e, own))
        elif x is not None and total.operands is None and _folds_memory(x._kind):
            items, of = x._operands, x._kind
            alike = of.args == kind.args and of.dtype is kind.dtype and of.fixed == kind.fixed
            if alike and items == own:
                found.append((total, x, items))
    return found if len(found) > 1 and found[0][1] is e else []


def _folds_memory(kind: Kind) -> bool:
    """Tell whether a kind is a whole fold of memory as it is."""
    return isinstance(kind.op, Reduction) and kind.args[0].op is None and kind.items == 3


def together(folds: list[Any]) -> tuple[Kind, Operands] | None:
    """Return the kind of an array of totals that fold the same memory, and its operands."""
    first, *others = folds
    key = (*[x._kind for x in others], first._operands[0])
    joint: Kind | None = first._kind.leads("together", key)
    if joint is None:
        own = node_of(first._kind, (), first._operands)
        nodes = [own, *[with_args(node_of(x._kind, (), x._operands), own.args) for x in others]]
        if not all([isinstance(node, Reduce) for node in nodes]):
            return None
        found = form_of(build.concat([build.reshape(node, (1,)) for node in nodes], 0))
        if found is None or found[1] != first._operands[1:]:
            return None
        joint = found[0]
        first._kind.learn("together", key, joint)
    return joint, first._operands[1:]


def keep(folds: list[tuple[_Total, Any, Operands]], values: Any) -> None:
    """Note what totals are that were computed together, until each is asked for."""
    for (total, _, operands), value in zip(folds, values, strict=True):
        total.value, total.operands = value, operands


def settle(buffer: Buffer) -> None:
    """Compute this thread's totals of a buffer's bytes, which are about to be overwritten."""
    waiting = _noted.totals
    if not waiting:
        return
    snapshot = buffer._known()
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
