"""Small evaluations and assignments: straight from a kind's program to its launch.

Each function asks what may have changed since the program was made, in a few compares, and says
whether it did the work; where it did not, nothing has happened, and the general way is taken
(`engine.evaluate`, `containers.assign`).  What depends on addresses and extents is asked by the
launch itself (`engine.launch`).
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from .._config import settings
from ..engine import direct
from ..engine.direct import Direct, leaves_of
from ..engine.evaluate import uses_reference
from ..engine.run import PARALLEL_FROM
from ..expr.kind import NODE, Kind, Operands
from ..expr.kind import of as kind_of
from ..expr.node import Node
from ..ops.op import Op
from ..storage.buffer import ALONE, Buffer
from ..storage.slabs import take
from . import tracing
from .operands import NUMBERS, as_item

if TYPE_CHECKING:
    from .assign import Writable
    from .container import XContainer
    from .expression import XExpression

_new = object.__new__
_count = sys.getrefcount


def evaluated(e: XExpression) -> tuple[Buffer, Kind] | None:
    """Return new row-major memory that holds an expression, and its kind; None if it is not done."""
    kind = e._kind
    program = kind.fresh
    if program is None and kind is not NODE and not uses_reference():
        program = kind.fresh = direct.fresh(kind) or False
    if not program or settings.engine == "reference":
        return None
    shape, operands = e._shape, e._operands
    if program.folds:
        size = math.prod(operands[0])
        if not 0 < size <= program.limit:
            return None
        size = 1
    else:
        size = math.prod(shape)
        if size > program.limit:
            return None
        operands = (shape, *operands)
    buffer = _new(Buffer)
    buffer.nbytes = nbytes = size * program.itemsize
    buffer._memory, buffer._start, buffer.address = take(nbytes)
    return (buffer, program.result) if program.call(buffer.address, *operands) is None else None


def assigned(to: XContainer, e: XExpression, held: bool) -> bool:
    """Assign an expression of the container's shape; tell whether it is done."""
    program: Any = e._kind.writes.get(to._kind)
    if not program or to._shape != e._shape or settings.engine == "reference":
        return False
    buffer, operands = to._buffer, e._operands
    waiting = waiting_for(buffer)
    if waiting and (held or waiting != operands.count(buffer._reading)):
        return False
    return program.call(buffer.address + to._start, to._shape, *operands) is None


def updated(to: XContainer, op: Op, value: Any, held: bool) -> bool:
    """Perform an in-place operation on operands of one shape; tell whether it is done."""
    if tracing.running or settings.engine == "reference":
        return False
    buffer, cls, own = to._buffer, value.__class__, 0
    try:
        if cls in NUMBERS:
            kind, low, high = to._kind.table[op, cls]
            operands = (buffer._reading, to._start, as_item(value, low, high))
        else:
            kind = to._kind.table[op, value._kind]
            if value._shape != to._shape:
                return False
            if hasattr(value, "_operands"):
                operands = (buffer._reading, to._start, *value._operands)
                own = 0 if held else value._operands.count(buffer._reading)
            else:
                operands = (buffer._reading, to._start, value._buffer._reading, value._start)
        program = kind.writes[to._kind]
    except (KeyError, AttributeError):
        return False
    if not program or kind.dtype is not to._dtype:
        return False
    if waiting_for(buffer) != own + operands.count(buffer._reading):
        return False
    return program.call(buffer.address + to._start, to._shape, *operands) is None


def waiting_for(buffer: Buffer) -> int:
    """Count the references that keep a buffer's bytes; -1 where more than counting is to do."""
    if buffer.shared or buffer.readonly or buffer.made is not None:
        return -1
    try:
        return _count(buffer._reading) - ALONE
    except AttributeError:
        return 0


def wrote(to: Writable, node: Node, value: object) -> bool:
    """Write a node of the destination's shape and dtype, once readers are safe; tell whether done.

    The program is remembered for expressions of the same kind as ``value``.
    """
    target = getattr(to, "_kind", NODE)
    if target is NODE or uses_reference() or math.prod(to.shape) >= PARALLEL_FROM:
        return False
    known = kind_of(node)
    if known is None:
        return False
    kind, operands = known
    address = to.buffer.address + to.map.byte_start(to.dtype.itemsize)
    same = _same(kind, target, operands, address)
    key: Any = (target, same)
    program = kind.writes.get(key)
    if program is None:
        kind.keep(key, direct.writes(kind, target, same) or False)
        program = kind.writes[key]
    if not program or program.call(address, to.shape, *operands) is not None:
        return False
    kind.keep(target, program)
    written = getattr(value, "_kind", NODE)
    if written is not kind and written.dtype.kind != "c" and _has(value, operands):
        written.keep(target, program)
    return True


def _has(value: object, operands: Operands) -> bool:
    """Tell whether an expression's operands are those of what was written: it was converted."""
    return getattr(value, "_operands", ()) == operands


def _same(kind: Kind, target: Kind, operands: Operands, address: int) -> tuple[bool, ...]:
    """Tell for each operand in memory whether its elements are the destination's."""
    found, items = [], iter(operands)
    for leaf in leaves_of(kind):
        item = next(items)
        if not leaf.scalar:
            start = next(items)
            if type(item) is tuple:  # the shape of what is folded
                item, start = start, next(items)
            found.append(leaf is target and item.address + start == address)
    return tuple(found)
