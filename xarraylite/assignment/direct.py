"""Evaluations and assignments straight from a kind's programs.

Each function asks what may have changed since the program was made, in a few compares, and says
whether it did the work; where it did not, nothing has happened, and the general way is taken
(`runtime.evaluate`, `assignment.assign`).  Small work is one launch, which itself asks what depends
on addresses and extents (`runtime.launch`); large work is a plan (`runtime.bound`).
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._config import settings
from .._lazy_import import imported, later
from ..compiler.limits import PARALLEL_FROM
from ..ir.kind import NODE, Form, Kind, Operands, folds_inside, leaves_of
from ..ir.node import Node, Shape
from ..ir.translation import of as kind_of
from ..layout.strided import ROW_MAJOR
from ..memory.block import Memory
from ..memory.buffer import ALONE, Buffer
from ..operands import tracing
from ..operands.convert import policy_of
from ..operands.learning import of_number
from ..operands.nodes import NUMBERS, as_item
from ..ops.op import Op
from ..runtime import tiers
from ..runtime.counting import evaluations
from ..runtime.evaluate import uses_reference
from ..runtime.program import Direct, HostCall
from .parts import computed, has_program, materialised, overlapping, places_of, repeats
from .readers import OWNED

if TYPE_CHECKING:
    from ..runtime import bound, direct, launch, replay
    from ..runtime.bound import Bound
    from ..runtime.replay import Replay, Rewrite
else:
    bound = later(".runtime.bound")
    direct = later(".runtime.direct")
    launch = later(".runtime.launch")
    replay = later(".runtime.replay")

_new = object.__new__

#: Launches from which on a process is taken to make many.
OFTEN = 256
_launches = itertools.count(1)

#: Stand for a plan that is not made before it is asked for once or twice more.
_ONCE, _TWICE = "once", "twice"

#: Extents for which one kind keeps plans.
_EXTENTS = 64

_count = sys.getrefcount


def count_launch() -> None:
    """Count a launch, or what takes as long; where there are many, machine code takes over."""
    evaluations.value += 1
    if next(_launches) == OFTEN:
        imported(".transforms.natives").install()


def count_use() -> None:
    """Count what machine code does faster, and is no evaluation."""
    if next(_launches) == OFTEN:
        imported(".transforms.natives").install()


def evaluate(e: Any) -> Any:
    """Return the values of an expression that is no container; None if it is not done."""
    return evaluated(e._container, e._kind, e._shape, e._operands)


def evaluated(usual: type[Any], kind: Kind, shape: Shape, operands: Sequence[Any]) -> Any:
    """Return an expression's values in a new container; None if it is not done.

    Its class is ``usual`` where nothing of the shape is fixed.  In the place of a snapshot may
    stand a buffer, to read what it holds now.
    """
    if kind.fresh is None and tiers.begins(kind, shape, operands):
        return None
    if not has_program(kind):
        return again(usual, kind, shape, operands)
    program = kind.fresh
    if program.__class__ is not Direct:
        known = program.__class__ is not HostCall
        made = replayed(program, shape, tuple(operands)) if known else None
        return planned(usual, kind, shape, operands) if made is None else made
    if settings.engine == "reference":
        return None
    folds = program.folds
    over, items = (operands[0], operands[1:]) if folds else (shape, operands)
    size = math.prod(over)
    unfit = size > program.limit or (folds and not size)
    if unfit or (program.twins and repeats(program, operands, size)):
        if unfit and not folds:
            return planned(usual, kind, shape, operands)
        return again(usual, kind, shape, operands, not folds)
    buffer = computed(program, over, size, items)
    if buffer is None:
        return None
    count_launch()
    return container(usual, program.result, shape, buffer, ROW_MAJOR)


def container(usual: type[Any], kind: Kind, shape: Shape, buffer: Buffer, policy: object) -> Any:
    """Return a container of new memory, whose class is ``usual`` where nothing is fixed."""
    made = _new(usual if kind.owner is None else kind.owned(shape) or usual)
    made._buffer, made._shape, made._start, made._kind = buffer, shape, 0, kind
    made._dtype, made._policy = kind.dtype, policy
    return made


def planned(usual: type[Any], kind: Kind, shape: Shape, operands: Sequence[Any]) -> Any:
    """Return an expression's values by a plan for large work; None if it is not done."""
    plan = _plan(kind, None, shape, operands, {})
    if plan is None or math.prod(shape) * kind.itemsize > settings.max_result_bytes:
        return None
    buffer = Buffer.allocate(math.prod(shape) * kind.itemsize)
    count_launch()
    if not plan.run(buffer, 0, operands):
        return None
    return container(usual, plan.result, shape, buffer, policy_of(plan.place))


def _plan(
    kind: Kind,
    target: Kind | None,
    shape: Shape,
    operands: Sequence[Any],
    near: Mapping[int, int],
) -> Bound | None:
    """Return the plan of an expression, which is made when it is first asked for."""
    known = bound.sameness(operands)
    if known is None or kind is NODE or 0 in shape or uses_reference():
        return None
    key: Any = (target, shape, known, *near.items())
    plan: Any = kind.plans.get(key)
    if plan is None:
        if len(kind.plans) >= _EXTENTS:
            kind.plans.clear()
        plan = kind.plans[key] = bound.bound_of(kind, shape, operands, target, near) or False
    return plan or None


def again(
    usual: type[Any], kind: Kind, shape: Shape, operands: Sequence[Any], shared: bool = False
) -> Any:
    """Return values as a plan for these extents gives them; None if it is not done.

    What is evaluated once or twice in parts need not be kept ready, so a plan is made when it is
    asked for again; what has no parts is planned for the second time.  ``shared``: some operands
    stand in several places, and what is of them is computed once.
    """
    items = [bound.sameness(operands)] if shared else [x for x in operands if x.__class__ is tuple]
    key: Any = (shape, shared, *items)
    known = kind.replays.get(key) if items != [None] else False
    if known is None or known is _ONCE:
        remember(kind, key, _ONCE if known is None else _TWICE)
        left = None if shared else materialised(kind, shape, operands)
        if left is not None:
            return evaluated(usual, left[0], shape, left[1])
        if known is None and not shared:
            return None
    if known in (_ONCE, _TWICE) and launch.can_launch() and not uses_reference():
        known = replay.replay_of(kind, shape, operands, shared) or False
        remember(kind, key, known)
        if isinstance(kind.op, Form):
            kind.fresh = known
    made = replayed(known, shape, tuple(operands)) if _is_plan(known) else None
    return planned(usual, kind, shape, operands) if made is None else made


def remember(kind: Kind, key: object, found: Replay | Rewrite | str | bool | None) -> None:
    """Keep a plan with a kind; False: there is none, all else: it was asked for, and not made."""
    if len(kind.replays) >= _EXTENTS:
        kind.replays.clear()
    if kind is not NODE:
        kind.replays[key] = found


def _is_plan(known: Any) -> bool:
    return known is not None and known.__class__ not in (bool, str)


def replayed(known: Any, shape: Shape, operands: Operands) -> Any:
    """Return the values of a plan that is run again; None: only machine code can."""
    count_launch()
    return None


def assigned(to: Any, e: Any, held: bool, noalias: bool = False, used: Any = None) -> bool:
    """Assign an expression, or memory, of the container's shape; tell whether it is done.

    ``used`` is an operand of the expression that nobody else holds.
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
    waiting = waiting_for(buffer)
    if waiting and (held or waiting < 0 or waiting != own_of(buffer, e) + own_of(buffer, used)):
        return False
    size, kind, operands = math.prod(to._shape), e._kind, e._operands  # with no call between
    program: Any = kind.writes.get(to._kind)
    if program and size <= program.limit and not repeats(program, operands, size):
        done = program.call(buffer.address + to._start, to._shape, *operands)
        if done is None:
            return True
    learned = program is not None or kind.formed or size >= PARALLEL_FROM
    near = {} if learned and not noalias else _near(to, operands)
    if noalias and near and not _is_in_place(kind, to._kind, near):
        return False  # what was promised needs no temporary
    return (learned or bool(near)) and _written(to, kind, operands)


def _is_in_place(kind: Kind, target: Kind, near: Mapping[int, int]) -> bool:
    """Tell whether all operands in the destination's buffer are its own elements."""
    own = {at for at, leaf in places_of(kind) if leaf is target and near.get(at) == 0}
    return own == near.keys() and not folds_inside(kind)


def _moved(to: Any, of: Any) -> bool:
    """Copy elements of a container into others of its buffer; tell whether it is done."""
    if of._shape != to._shape or of._kind is NODE or waiting_for(to._buffer) != 0:
        return False
    if of._buffer is to._buffer and of._start == to._start and of._kind is to._kind:
        return True  # Python stores what it has updated in place
    operands = (of._buffer, of._start)
    return bool(_near(to, operands)) and _written(to, of._kind, operands)


def _written(to: Any, kind: Kind, operands: Operands) -> bool:
    """Write by a plan for these extents and distances; tell whether it is done.

    That the old values may go has been asked.  What is small and written once need not be planned
    so that it can be run again.
    """
    target = to._kind
    if target is NODE or kind is NODE or kind.dtype is not to._dtype or uses_reference():
        return False
    near = _near(to, operands)
    if math.prod(to._shape) < PARALLEL_FROM:
        key: Any = (target, to._shape, *near.items())
        known = kind.replays.get(key)
        if not _is_plan(known) and tiers.begins(kind, to._shape, operands):
            return False
        if known is None or known is _ONCE:
            remember(kind, key, _ONCE if known is None else _TWICE)
            if _written_in_parts(to, kind, operands, near):
                return True
            if known is None:
                return False
        if known in (_ONCE, _TWICE) and launch.can_launch():
            made = replay.rewrite_of(kind, to._shape, operands, target, near)
            known = made or False
            remember(kind, key, known)
            if made is not None:
                place = (target, to._shape)
                kind.keep(place, made.before(kind.writes.get(place)))
        if _is_plan(known) and rewritten(known, to, operands):
            return True
    plan = _plan(kind, target, to._shape, operands, near)
    return plan is not None and plan.run(to._buffer, to._start, operands)


def _written_in_parts(to: Any, kind: Kind, operands: Operands, near: Mapping[int, int]) -> bool:
    """Write with folds computed first, and copied what needs it; tell whether it is done.

    If not, nothing has happened.  What needs no copy but an order of the loops is left to a plan.
    """
    if kind.formed:
        return False
    if folds_inside(kind):
        left = materialised(kind, to._shape, operands)
        return left is not None and _written_in_parts(to, *left, _near(to, left[1]))
    if _launched(to, kind, operands):
        return True
    copied = overlapping(to, kind, operands, near)
    if copied is None:
        return False
    left = materialised(kind, to._shape, operands, copied) if copied else (kind, operands)
    return left is not None and _launched(to, *left, apart=True)


def _launched(to: Any, kind: Kind, operands: Sequence[Any], apart: bool = False) -> bool:
    """Write by one launch, once readers are safe; tell whether it is done.

    ``apart``: it is known that operands are the destination's elements, or share none with it.
    """
    buffer, size = to._buffer, math.prod(to._shape)  # held while the kernel runs
    address = buffer.address + to._start
    same = None if apart else _same(kind, to._kind, tuple(operands), address)
    program = _program(kind, to._kind, same)
    if not program or size > program.limit or repeats(program, operands, size):
        return False
    if program.call(address, to._shape, *operands) is not None:
        return False
    if not apart:
        kind.keep(to._kind, program)
    return True


def _program(kind: Kind, target: Kind, same: tuple[bool, ...] | None) -> Any:
    """Return the kernel that writes a kind to a destination, False where there is none."""
    program: Any = kind.writes.get(_key(same, target))
    if program is None:
        program = direct.writes(kind, target, same) or False
        kind.keep(_key(same, target), program)
    return program


def _key(same: tuple[bool, ...] | None, target: Kind) -> tuple[Any, Any]:
    """Return by what a kernel is kept; machine code knows the first of the two."""
    return (target, None) if same is None else (same, target)


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


def rewritten(known: Any, to: Any, operands: Operands) -> bool | None:
    """Write a container by a plan that is run again; None: only machine code can."""
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
    steps = to._kind.strides or ()
    places = zip(steps, to._shape[1:], steps[1:], strict=False)
    if any([pace < extent * step for pace, extent, step in places]):
        return False  # it may have an element under two indices
    if kind is NODE or uses_reference() or to._shape != e._shape:
        return False
    program, waiting = _program(kind, to._kind, None), waiting_for(buffer)
    if not program or (waiting and (held or waiting < 0 or waiting != own_of(buffer, e))):
        return False
    return program.call(buffer.address + to._start, to._shape, *e._operands) is None


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
            if value._shape != to._shape:
                return False
            if value.lasting:
                operands = (buffer, to._start, *value._operands)
                own = operands.count(buffer._snapshot) if held else 2 * own_of(buffer, value)
            else:
                operands = (buffer, to._start, value._buffer, value._start)
    except (KeyError, AttributeError):
        return False
    if kind.dtype is not to._dtype or waiting_for(buffer) != own:
        return False
    program = kind.writes.get(to._kind)
    if program and not repeats(program, operands, math.prod(to._shape)):
        done = program.call(buffer.address + to._start, to._shape, *operands)
        if done is None:
            return True
    near = _near(to, operands)
    if noalias and not _is_in_place(kind, to._kind, near):
        return False
    learned = program is not None or any(near.values())
    return learned and _written(to, kind, operands)


def overwritten(to: Any, kind: Kind, operands: Sequence[Any]) -> bool:
    """Write values over those of an operand that nobody else holds; tell whether it is done."""
    shape, place, buffer = to._shape, ("over", to._kind), to._buffer
    program: Any = kind.writes.get(place)
    if program is None:
        evaluates = kind.fresh.__class__ is Direct and kind.dtype is to._dtype and shape != ()
        if not evaluates or uses_reference():
            return False
        same = _same(kind, to._kind, tuple(operands), to._buffer.address + to._start)
        program = direct.writes(kind, to._kind, same) or False
        kind.keep(place, program)
    size = math.prod(shape)
    if not program or settings.engine == "reference":
        return False
    count_launch()
    if size > program.limit:
        return _written(to, kind, tuple(operands))
    if program.twins and repeats(program, operands, size):
        return False
    return program.call(buffer.address + to._start, shape, *operands) is None


def waiting_for(buffer: Buffer) -> int:
    """Count the references that keep a buffer's bytes; -1 where more than counting is to do."""
    if buffer.special and not buffer.is_ordinary():
        return -1
    if buffer.shared:
        return -1 if buffer.is_awaited() else 0
    try:
        return _count(buffer._snapshot) - ALONE
    except AttributeError:
        return 0


def own_of(buffer: Buffer, e: Any) -> int:
    """Count an expression's references to a buffer's snapshot.

    None is its own where another handle has the same operands, as ``-e`` has those of ``e``.
    """
    operands = getattr(e, "_operands", ())
    try:
        return 0 if _count(operands) > OWNED + 1 else operands.count(buffer._snapshot)
    except AttributeError:  # another thread has just written
        return 0


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
    if _key(same, target) not in kind.writes and tiers.begins(kind, to.shape, operands):
        return False
    program = _program(kind, target, same)
    if not program and getattr(value, "_kind", NODE) is kind:
        kind.keep(target, kind.writes.get(target, False))  # from now on a plan for one shape
    if not program or repeats(program, operands, size):
        return False
    large = size > program.limit
    if not large and program.call(address, to.shape, *operands) is not None:
        return False
    kind.keep(target, program)
    written = getattr(value, "_kind", NODE)
    if written is not kind and written.dtype.kind != "c" and _has(value, to.shape, operands):
        written.keep(target, program)
    return not large


def _has(value: object, shape: Shape, operands: Operands) -> bool:
    """Tell whether an expression is what was written, but for its dtype: it was not stretched."""
    return getattr(value, "_shape", None) == shape and getattr(value, "_operands", ()) == operands


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
