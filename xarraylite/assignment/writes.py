"""Assignments and in-place operations straight from a kind's programs, as `results` are.

What else there is to ask: whether pending readers want the old values, and which operands are the
destination's elements.  Where a function says that it did not write, nothing has happened, and
`assign` takes the general way.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .._config import settings
from .._later import direct, launch, overlap, replay
from .._lazy_import import uncollected
from ..compiler.limits import PARALLEL_FROM
from ..dtypes.promotion import can_cast
from ..ir.build import CAST
from ..ir.kind import NODE, Kind, Operands, folds_inside, leaves_of
from ..ir.node import Node, Shape
from ..ir.translation import of as kind_of
from ..memory.block import Memory
from ..memory.pool import counters
from ..operands import tracing
from ..operands.learning import of_number
from ..operands.nodes import NUMBERS, as_item
from ..ops.op import Op
from ..runtime import tiers
from ..runtime.evaluate import uses_reference
from ..runtime.program import Direct
from . import readers
from .parts import key_of, materialised, meeting, places_of, program_into, repeats
from .readers import own_of
from .results import ONCE, TWICE, count_launch, evaluated, is_plan, plan_of, remember

#: Elements up to which, and extents for which a kind has been asked from which on, it costs less to
#: compute apart what is written over its own operands, and to copy it, than to plan an order.
_APART, _SHAPES = 1 << 16, 8

#: Stands in the key of destinations that were written before operands in such places were read.
_LATE = "late"


def assigned(to: Any, e: Any, held: bool, noalias: bool = False, used: Any = None) -> bool:
    """Assign an expression, or memory, of the container's shape; tell whether it is done.

    ``used`` is an operand of the expression that nobody else holds.  What is promised is used up,
    and expires in the general way where others hold it.
    """
    count_launch()
    if not e.lasting:
        return not noalias and settings.engine != "reference" and _moved(to, e)
    owning = None if held else getattr(e, "_owning", None)
    if owning is not None:
        owning.source()  # a result that it alone is a view of is let go, and reads no more
    if to._shape != e._shape or settings.engine == "reference":
        return False
    buffer = to._buffer
    own = own_of(buffer, e, used) if noalias or not held else 0
    if e._kind is NODE or (held and own) or not readers.freed(buffer, own):
        return False
    size, kind, operands = math.prod(to._shape), e._kind, e._operands  # with no call between
    program: Any = kind.writes.get(to._kind)
    if program and program.limit < size <= program.more:
        program = _longer(to, kind, operands)
    small = bool(program) and size <= program.limit and not repeats(program, operands, size)
    if small and _called(program, to, operands, own):
        return True
    learned = program is not None or kind.formed or size >= PARALLEL_FROM
    near = _near(to, operands)
    if noalias and near and not _is_in_place(kind, to._kind, near):
        return False  # what was promised needs no temporary
    return (learned or bool(near)) and _written(to, kind, operands, own, near)


def learn(to: Any, value: Any, written: Any) -> None:
    """Remember how a value was written that had to be made one of the destination's dtype."""
    if value is not written and written.lasting and NODE not in (value._kind, to._kind):
        program = written._kind.writes.get(to._kind)
        if program and _tells(value, to._shape, written._operands):
            value._kind.keep(to._kind, program)


def _called(program: Any, to: Any, operands: Sequence[Any], own: int) -> bool:
    """Launch a kernel that writes a container, if nobody waits by now; tell whether it is done.

    Asked once more, as whatever was allocated since may have run the collector, and its callbacks
    may read: between this and the launch nothing is.
    """
    if _overlaps_itself(to):
        return False
    buffer = to._buffer
    arguments = (buffer.address + to._start, to._shape, *operands)
    own += arguments.count(buffer._known()) if own else 0
    return readers.wrote(buffer, own, operands, lambda: program.call(*arguments) is None)


def _overlaps_itself(to: Any) -> bool:
    """Tell whether memory may have an element under two indices: its strides do not nest."""
    pairs, reach = zip(to._kind.strides or (), to._shape, strict=False), 1
    for step, extent in sorted([(abs(step), extent) for step, extent in pairs if extent != 1]):
        if step < reach:
            return True
        reach += (extent - 1) * step
    return False


def _is_in_place(kind: Kind, target: Kind, near: Mapping[int, int]) -> bool:
    """Tell whether all operands in the destination's buffer are its own elements."""
    own = {at for at, leaf in places_of(kind) if leaf is target and near.get(at) == 0}
    return own == near.keys() and not folds_inside(kind)


def _moved(to: Any, of: Any) -> bool:
    """Copy elements of a container into others of its shape; tell whether it is done."""
    kind, target = of._kind, to._kind
    if of._shape != to._shape or kind is NODE or not readers.freed(to._buffer):
        return False
    if of._buffer is to._buffer and of._start == to._start and kind is target:
        return True  # Python stores what it has updated in place
    operands = (of._buffer, of._start)
    if near := _near(to, operands):
        return _written(to, kind, operands, 0, near)
    if target is NODE or kind.dtype is not to._dtype or uses_reference():
        return False
    small = math.prod(to._shape) < PARALLEL_FROM
    if not small or tiers.begins_copy(kind, target) or not launch.can_launch():
        return False  # NumPy copies it
    return readers.wrote(to._buffer, 0, (), _launched, to, kind, operands)


def _written(to: Any, kind: Kind, operands: Operands, own: int, near: Mapping[int, int]) -> bool:
    """Write by a plan for these extents and distances; tell whether it is done.

    ``own`` references to the old values are the operands'.
    """
    target = to._kind
    if target is NODE or kind is NODE or kind.dtype is not to._dtype or uses_reference():
        return False
    small = math.prod(to._shape) < PARALLEL_FROM
    done = _written_again(to, kind, operands, near, own) if small else None
    if done is not None:
        return done
    plan = plan_of(kind, target, to._shape, operands, near)
    if plan is None:
        return False
    # What the collector calls back may read: none comes between the question and a small write.
    with uncollected() if small else contextlib.nullcontext():
        return readers.wrote(to._buffer, own, operands, plan.run, to._buffer, to._start, operands)


def _written_again(
    to: Any, kind: Kind, operands: Operands, near: Mapping[int, int], own: int
) -> bool | None:
    """Write what is small as often as it comes; None where it is left to a plan that runs once.

    The first and the second time in parts, if that will do.  A plan that can be run again is made
    the second time or later, and kept: False where there is none.
    """
    key: Any = (to._kind, to._shape, *near.items())
    known, buffer = kind.replays.get(key), to._buffer
    if not is_plan(known) and tiers.begins(kind, to._shape, operands):
        return False
    if known is None or known is ONCE:
        remember(kind, key, ONCE if known is None else TWICE)
        with uncollected():  # as in `_written`
            if readers.wrote(buffer, own, operands, _written_in_parts, to, kind, operands, near):
                return True
        if known is None:
            return False
    if known in (ONCE, TWICE) and launch.can_launch():
        made = replay.rewrite_of(kind, to._shape, operands, to._kind, near)
        known = made or False
        remember(kind, key, known)
        if made is not None:
            kind.keep(key[:2], made.before(kind.writes.get(key[:2])))
    if is_plan(known) and readers.wrote(buffer, own, operands, rewritten, known, to, operands):
        return True
    return None


def _written_in_parts(to: Any, kind: Kind, operands: Operands, near: Mapping[int, int]) -> bool:
    """Write with folds computed first, or all of it where it needs that; tell whether it is done.

    If not, nothing has happened.  What needs no copy but an order of the loops is left to a plan,
    unless it is small and a loop has ever new extents.
    """
    if kind.formed:
        return False
    if kind.apart and folds_inside(kind):
        left = materialised(kind, to._shape, operands)
        return left is not None and _written_in_parts(to, *left, _near(to, left[1]))
    late, small = (_LATE, to._kind, *near), math.prod(to._shape) <= _APART
    if not (small and late in kind.writes):
        if _launched(to, kind, operands):
            return True
        found = meeting(to, kind, operands, near)
        if found <= {overlap.Direction.DISJOINT, overlap.Direction.SAME}:
            return _launched(to, kind, operands, apart=True)
        ever_new = small and len(kind.replays) >= _SHAPES
        if overlap.Direction.COPY not in found and not ever_new:
            return False
        kind.keep(late, True)
    counters.temporaries += 1
    made: Any = evaluated(to._container, kind, to._shape, operands)
    return made is not None and _launched(to, made._kind, (made._buffer, 0), apart=True)


def _launched(to: Any, kind: Kind, operands: Sequence[Any], apart: bool = False) -> bool:
    """Write by one launch, once readers are safe; tell whether it is done.

    ``apart``: it is known that operands are the destination's elements, or share none with it.
    """
    if _overlaps_itself(to):
        return False
    buffer, size = to._buffer, math.prod(to._shape)  # held while the kernel runs
    address = buffer.address + to._start
    same = None if apart else _same(kind, to._kind, tuple(operands), address)
    program = program_into(kind, to._kind, same)
    if not program or size > program.limit or repeats(program, operands, size):
        return False
    if program.call(address, to._shape, *operands) is not None:
        return False
    if not apart:
        kind.keep(to._kind, program)
    return True


def _longer(to: Any, kind: Kind, operands: Operands) -> Any:
    """Have a kind write to a destination by the program for many elements, False without one."""
    same = _same(kind, to._kind, operands, to._buffer.address + to._start)
    program = direct.writes(kind, to._kind, same, short=False) or False
    kind.keep(key_of(same, to._kind), program)
    kind.keep(to._kind, program)
    return program


def _near(to: Any, operands: Operands) -> dict[int, int]:
    """Return how many bytes behind a container those operands begin that lie in its buffer."""
    buffer = to._buffer
    first, last = buffer.address, buffer.address + buffer.nbytes
    return {
        k: item.address + operands[k + 1] - first - to._start
        for k, item in enumerate(operands)
        if isinstance(item, Memory) and getattr(item, "stale", None) is None
        if item.address < last and first < item.address + item.nbytes
    }


def rewritten(known: Any, to: Any, operands: Operands) -> bool:
    """Write a container by a plan that is run again; False: only machine code can."""
    return False


def computed_into(to: Any, op: Op, *operands: object) -> Any:
    """Write an operation of the container's shape and dtype; return it.  None: not done.

    Only machine code does, which stands here where it can be loaded (`transforms.natives`).
    """
    return None


def promised(to: Any, e: Any, held: bool) -> bool:
    """Assign an expression that reads no element in another place; tell whether it is done.

    Nothing is asked about addresses: whoever breaks the promise gets values that are undefined.
    """
    if settings.check_noalias or settings.engine == "reference" or to._kind is NODE:
        return False
    if assigned(to, e, held, True):
        return True
    kind, buffer = e._kind, to._buffer
    if kind is NODE or uses_reference() or to._shape != e._shape:
        return False
    program, own = program_into(kind, to._kind, None), own_of(buffer, e)
    return bool(program) and not (held and own) and _called(program, to, e._operands, own)


def updated(to: Any, op: Op, value: Any, held: bool, noalias: bool = False) -> bool:
    """Perform an in-place operation on operands of one shape; tell whether it is done."""
    if tracing.running.value or settings.engine == "reference":
        return False
    count_launch()
    operands: Operands
    buffer, cls, own = to._buffer, value.__class__, 0
    try:
        # What is read at once needs no snapshot: its buffer stands for it.
        if cls in NUMBERS:
            entry = of_number(to._kind.table[op][cls], value)
            if entry.__class__ is tuple:
                kind, low, high = entry
                operands = (buffer, to._start, as_item(value, low, high))
            else:
                kind, operands = entry, (buffer, to._start) * (entry.items // 2)
        else:
            kind = to._kind.table[op][value._kind]
            if value._shape != to._shape or (noalias and held and own_of(buffer, value)):
                return False  # what was promised expires
            if value.lasting:
                operands = (buffer, to._start, *value._operands)
                own = operands.count(buffer._known()) if held else 2 * own_of(buffer, value)
            else:
                operands = (buffer, to._start, value._buffer, value._start)
    except (KeyError, AttributeError):
        return False
    if kind.dtype is not to._dtype:
        kind = kind.leads(CAST, to._dtype) if can_cast(kind.dtype, to._dtype, "same_kind") else None
    if kind is None or not readers.freed(buffer, own):
        return False
    program = kind.writes.get(to._kind)
    small = bool(program) and not repeats(program, operands, math.prod(to._shape))
    if small and _called(program, to, operands, own):
        return True
    near = _near(to, operands)
    if noalias and not _is_in_place(kind, to._kind, near):
        return False
    learned = program is not None or any(near.values())
    return learned and _written(to, kind, operands, own, near)


def overwritten(to: Any, kind: Kind, operands: Sequence[Any]) -> bool:
    """Write values over those of an operand that nobody else holds; tell whether it is done."""
    shape, place, buffer, items = to._shape, ("over", to._kind), to._buffer, tuple(operands)
    program: Any = kind.writes.get(place)
    if program is None:
        evaluates = kind.fresh.__class__ is Direct and kind.dtype is to._dtype and shape != ()
        if not evaluates or uses_reference():
            return False
        same = _same(kind, to._kind, items, buffer.address + to._start)
        program = direct.writes(kind, to._kind, same) or False
        kind.keep(place, program)
    size = math.prod(shape)
    if not program or settings.engine == "reference":
        return False
    count_launch()
    if size > program.limit:
        return _written(to, kind, items, 0, _near(to, items))
    if program.twins and repeats(program, items, size):
        return False
    return program.call(buffer.address + to._start, shape, *items) is None


def wrote(to: Any, node: Node, value: object) -> bool:
    """Write a node of the destination's shape and dtype, once readers are safe; tell whether done.

    The program is remembered for expressions of the same kind as ``value``.
    """
    target = getattr(to, "_kind", NODE)
    if target is NODE or uses_reference() or math.prod(to.shape) >= PARALLEL_FROM:
        return False
    if (known := kind_of(node)) is None or known[0].formed:
        return False
    (kind, operands), size, buffer = known, math.prod(to.shape), to.buffer
    address = buffer.address + to.map.byte_start(to.dtype.itemsize)
    same = _same(kind, target, operands, address)
    if key_of(same, target) not in kind.writes and tiers.begins(kind, to.shape, operands):
        return False
    program = program_into(kind, target, same)
    if not program and getattr(value, "_kind", NODE) is kind:
        kind.keep(target, kind.writes.get(target, False))  # from now on a plan for one shape
    if not program or repeats(program, operands, size):
        return False
    large = size > program.limit
    if not large and program.call(address, to.shape, *operands) is not None:
        return False
    kind.keep(target, program)
    written = getattr(value, "_kind", NODE)
    if written is not kind and written is not NODE and _tells(value, to.shape, operands):
        written.keep(target, program)
    return not large


def _tells(value: Any, shape: Shape, operands: Operands) -> bool:
    """Tell whether an expression is what was written, but for its dtype: it was not stretched.

    Of complex numbers whose imaginary parts are lost one is told each time.
    """
    same = getattr(value, "_shape", None) == shape and getattr(value, "_operands", ()) == operands
    return same and value._kind.dtype.kind != "c"


def _same(kind: Kind, target: Kind, operands: Operands, address: int) -> tuple[bool, ...]:
    """Tell for each operand in memory whether its elements are the destination's."""
    found = []
    items = iter([item for item in operands if type(item) is not tuple])  # a shape that is folded
    for leaf in leaves_of(kind):
        item = next(items)
        if not leaf.scalar:
            start = next(items)
            found.append(leaf is target and item.address + start == address)
    return tuple(found)
