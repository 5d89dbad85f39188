"""Evaluations straight from a kind's programs.

Each function asks what may have changed since the program was made, in a few compares, and says
whether it did the work; where it did not, nothing has happened, and the general way is taken
(`runtime.evaluate`).  Small work is one launch, which itself asks what depends on addresses and
extents (`runtime.launch`); large work is a plan (`runtime.bound`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from .._config import settings
from .._later import bound, launch, replay
from .._tables import kept
from ..compiler.limits import CHUNK
from ..ir.kind import NODE, Form, Kind, Operands, row_major
from ..ir.node import FREE, RANK, SHAPE, Shape
from ..layout.strided import ROW_MAJOR
from ..memory.buffer import Buffer
from ..operands.convert import policy_of
from ..ops.reductions import Reduction
from ..runtime import tiers
from ..runtime.counting import count_use, evaluations
from ..runtime.evaluate import uses_reference
from ..runtime.program import Direct, HostCall, Turned
from . import elements, totals
from .parts import (
    FEW_ASKED,
    computed,
    materialised,
    program_for,
    program_of,
    repeats,
)

T = TypeVar("T")

_new = object.__new__

#: Stand for a plan that is not made before it is asked for once or twice more.
ONCE, TWICE = "once", "twice"

#: Extents for which one kind keeps plans.
_EXTENTS = 64


def count_launch() -> None:
    """Count a launch, or what takes as long; where there are many, machine code takes over."""
    evaluations.value += 1
    count_use()


def evaluate(e: Any) -> Any:
    """Return the values of an expression that is no container; None if it is not done."""
    kind = e._kind
    if not e._shape and isinstance(kind.op, Reduction):
        value = totals.known(e)
        folds = totals.beside(e) if value is None else []
        if folds:
            value = _first_of(folds, e)
        if value is not None:
            return _holding(e, value)
    return evaluated(e._container, kind, e._shape, e._operands)


def _first_of(folds: list[Any], e: Any) -> Any:
    """Compute totals of the same memory together; return the first's value, None if not done."""
    joint = totals.together([x for _, x, _ in folds])
    if joint is None:
        return None
    made = evaluated(e._container, joint[0], (len(folds),), joint[1])
    if made is None:
        return None
    values = elements.array_of(made)
    totals.keep(folds, values)
    return values[0]


def _holding(e: Any, value: Any) -> Any:
    """Return a new container of the value of an expression of rank 0."""
    place = row_major(e._kind.dtype, 0, min(e._kind.fixed, RANK))
    made = elements.new_container(place.owned(()) or e._container, place, (), 1)
    elements.array_of(made)[...] = value
    return made


def evaluated(usual: type[T], kind: Kind, shape: Shape, operands: Sequence[Any]) -> T | None:
    """Return an expression's values in a new container; None if it is not done.

    Its class is ``usual`` where nothing of the shape is fixed.  In the place of a snapshot may
    stand a buffer, to read what it holds now.
    """
    if kind.fresh is None and tiers.begins(kind, shape, operands):
        return _interpreted(usual, kind, shape, operands)
    program = program_of(kind)
    if program is None:
        return again(usual, kind, shape, operands)
    if program.__class__ is Turned and settings.engine != "reference":
        return _turned(usual, kind, program, shape, operands)
    if program.__class__ is not Direct:
        known = program.__class__ is not HostCall
        made = replayed(program, shape, tuple(operands)) if known else None
        return planned(usual, kind, shape, operands) if made is None else made
    if settings.engine == "reference":
        return None
    folds = program.folds
    over, items = (operands[0], operands[1:]) if folds else (shape, operands)
    size = math.prod(over)
    program = program_for(kind, program, size)
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


def _turned(
    usual: type[T], kind: Kind, turned: Turned, shape: Shape, operands: Sequence[Any]
) -> T | None:
    """Return values of operands in another order of dimensions; None if it is not done."""
    program, own, policy = turned.way(shape) or (None, shape, None)
    size = math.prod(shape)
    known = program is not None and not repeats(program, operands, size)
    buffer = computed(program, own, size, operands) if known else None
    if program is None or buffer is None:
        return again(usual, kind, shape, operands)
    count_launch()
    return container(usual, program.result, shape, buffer, policy)


def _interpreted(usual: type[T], kind: Kind, shape: Shape, operands: Sequence[Any]) -> T | None:
    """Return the values of one of the first evaluations of a kind; None if it is not done."""

    def by_kernel(*part: Any) -> Any:
        made = evaluated(usual, *part)
        return None if made is None else elements.array_of(made)

    nbytes = math.prod(shape) * kind.itemsize
    if not nbytes or nbytes > settings.max_result_bytes:
        return None
    values = tiers.interpreted(kind, shape, operands, by_kernel)
    if values is None:
        return None
    evaluations.value += 1
    buffer = Buffer.allocate(nbytes)
    buffer.array(kind.dtype, shape)[...] = values
    place = row_major(kind.dtype, kind.rank, kind.fixed if kind.fixed <= SHAPE else FREE)
    return container(usual, place, shape, buffer, ROW_MAJOR)


def container(usual: type[T], kind: Kind, shape: Shape, buffer: Buffer, policy: object) -> T:
    """Return a container of new memory, whose class is ``usual`` where nothing is fixed."""
    made = _new(usual if kind.owner is None else kind.owned(shape) or usual)
    made._buffer, made._shape, made._start, made._kind = buffer, shape, 0, kind
    made._dtype, made._policy = kind.dtype, policy
    return made  # type: ignore[no-any-return]


def planned(usual: type[T], kind: Kind, shape: Shape, operands: Sequence[Any]) -> T | None:
    """Return an expression's values by a plan for large work; None if it is not done."""
    plan = plan_of(kind, None, shape, operands, {})
    if plan is None or math.prod(shape) * kind.itemsize > settings.max_result_bytes:
        return None
    buffer = Buffer.allocate(math.prod(shape) * kind.itemsize)
    count_launch()
    if not plan.run(buffer, 0, operands):
        return None
    return container(usual, plan.result, shape, buffer, policy_of(plan.place))


def plan_of(
    kind: Kind,
    target: Kind | None,
    shape: Shape,
    operands: Sequence[Any],
    near: Mapping[int, int],
) -> bound.Bound | None:
    """Return the plan of an expression, which is made when it is first asked for."""
    known = bound.sameness(operands)
    if known is None or kind is NODE or 0 in shape or uses_reference():
        return None
    key: Any = (target, shape, known, *near.items())
    plan: Any = kind.plans.get(key)
    if plan is None:
        plan = bound.bound_of(kind, shape, operands, target, near) or False
        kept(kind.plans, key, plan, _EXTENTS)
    return plan or None


def again(
    usual: type[T], kind: Kind, shape: Shape, operands: Sequence[Any], shared: bool = False
) -> T | None:
    """Return values as a plan for these extents gives them; None if it is not done.

    What is evaluated once or twice in parts need not be kept ready, so a plan is made when it is
    asked for again; what has no parts is planned for the second time.  ``shared``: some operands
    stand in several places, and what is of them is computed once.  So is what is folded twice of
    much memory: it is read once.
    """
    items: list[Any] = [x for x in operands if x.__class__ is tuple]
    if shared or (len(items) > 1 and _folds_again(operands, items)):
        shared, items = True, [bound.sameness(operands)]
    key: Any = (shape, shared, *items)
    known = kind.replays.get(key) if items != [None] else False
    few = known is False and math.prod(shape) <= FEW_ASKED
    if known is None or known is ONCE or few:
        if not few:
            remember(kind, key, ONCE if known is None else TWICE)
        left = None if shared else materialised(kind, shape, operands)
        if left is not None:
            return evaluated(usual, left[0], shape, left[1])
        if known is None and not shared:
            return None
    if known in (ONCE, TWICE) and launch.can_launch() and not uses_reference():
        known = replay.replay_of(kind, shape, operands, shared) or False
        remember(kind, key, known)
        if isinstance(kind.op, Form):
            kind.fresh = known
    made = replayed(known, shape, tuple(operands)) if is_plan(known) else None
    return planned(usual, kind, shape, operands) if made is None else made


def _folds_again(operands: Sequence[Any], extents: Sequence[Any]) -> bool:
    """Tell whether the same memory is folded twice, and so much that each fold has parts."""
    folded = [id(operands[k + 1]) for k, x in enumerate(operands) if x.__class__ is tuple]
    return len({*folded}) < len(folded) and math.prod(extents[0]) >= 2 * CHUNK


def remember(
    kind: Kind, key: object, found: replay.Replay | replay.Rewrite | str | bool | None
) -> None:
    """Keep a plan with a kind; False: there is none, all else: it was asked for, and not made."""
    if kind is not NODE:
        kept(kind.replays, key, found, _EXTENTS)


def is_plan(known: Any) -> bool:
    return known is not None and known.__class__ not in (bool, str)


def replayed(known: Any, shape: Shape, operands: Operands) -> Any:
    """Return the values of a plan that is run again; None: only machine code can."""
    count_launch()
    return None
