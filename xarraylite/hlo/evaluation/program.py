"""From a computation to steps: what is computed together, what is stored, when it is let go.

A step is an operation on values in memory, or a *group*: the operations that one kernel computes
(`groups`).  A group is traced once for operands of some shapes and layouts, as a function given to
`xl.jit` is, and run again from then on; so the trips of a loop plan nothing.  Where an operation
of a group asks for values, or where there is nothing to compute (views of what is stored), its
operations are applied one after the other instead.

A slot of a run's list holds a value from its step to the last one that takes it.  Constants,
positions and views of them are lazy and the same in every run, so they are made once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from ..._errors import HloError, TracedValueError, XarrayliteError
from ...arrays.container import XContainer
from ...transforms.jit import Jitted, jit
from ..instruction import HloInstruction
from .bits import RANDOM
from .control import CONTROL
from .custom_calls import CUSTOM
from .elementwise import ELEMENTWISE, of_live
from .indexing import IN_PLACE, INDEXING
from .inlining import Flat, Site, is_element, is_lazy, lazy_sites
from .linear_algebra import LINEAR_ALGEBRA
from .moves import HEAVY, VIEWS
from .ordering import ORDERING
from .products import PRODUCTS, planned_dot
from .reductions import REDUCTIONS
from .values import Evaluator, Runner, Value, is_alone, refuse, stored

#: What each operation computes.
EVALUATORS: Final[dict[str, Evaluator]] = {
    **ELEMENTWISE,
    **VIEWS,
    **HEAVY,
    **REDUCTIONS,
    **PRODUCTS,
    **INDEXING,
    **ORDERING,
    **CONTROL,
    **CUSTOM,
    **LINEAR_ALGEBRA,
    **RANDOM,
}


#: Bytes from which on a value is written over one that it is computed of, where nobody needs that.
#:
#: New memory for less is found sooner than it is asked who holds the old.
_OVERWRITTEN: Final = 1 << 16

_Table = Mapping[str, Evaluator]


class Step(NamedTuple):
    """One operation or group, ready to run."""

    instruction: HloInstruction
    action: Callable[..., Value]
    slot: int
    operands: tuple[int, ...]
    free: tuple[int, ...]


class Element(NamedTuple):
    """An element of a parameter, or a parameter all of whose elements have been taken."""

    slot: int
    whole: int
    element: int | None


class Program:
    """The steps of one computation.

    Parameters
    ----------
    flat : Flat
        What to run.
    table : mapping, optional
        Evaluators by opcode; those of scalars that stand for many elements, for instance.  Their
        shapes are not those of the text, and often others, so nothing is traced.

    Attributes
    ----------
    arrays : frozenset of int
        Parameters that may be NumPy's arrays, as those who take them read arrays.
    """

    __slots__ = ("arrays", "elements", "initial", "parameters", "root", "steps")

    def __init__(self, flat: Flat, table: _Table | None = None) -> None:
        numbers = {site: k for k, site in enumerate((*flat.parameters, *flat.sites))}
        self.parameters = tuple([numbers[site] for site in flat.parameters])
        self.root = numbers[flat.root]
        self.initial: list[Value] = [None] * (1 + max(numbers.values()))
        made = _Planner(flat, numbers, EVALUATORS if table is None else table)
        for site, value in made.made.items():
            self.initial[numbers[site]] = value
        self.steps, self.elements = made.steps(table is None)
        self.arrays = frozenset(
            [
                k
                for k, site in enumerate(flat.parameters)
                if site is not flat.root
                and all([user.instruction.opcode in PRODUCTS for user in site.users])
            ]
        )

    def run(self, runner: Runner, arguments: list[Value]) -> Value:
        """Return the value of the root; the list of arguments is emptied.

        Raises
        ------
        HloError
            If an instruction cannot be evaluated; it names the instruction.
        """
        values = self.initial.copy()
        for slot, argument in zip(self.parameters, arguments, strict=True):
            values[slot] = argument
        arguments.clear()
        for slot, whole, element in self.elements:
            values[slot] = None if element is None else values[whole][element]
        argument = None
        for instruction, action, slot, taken, free in self.steps:
            operands = [values[number] for number in taken]
            for number in free:
                values[number] = None
            try:
                values[slot] = action(runner, instruction, operands)
            except HloError:
                raise
            except (XarrayliteError, IndexError, ValueError) as error:
                # NumPy's, where there are fewer elements than the text lets there be; not those of
                # a custom call, which have a note.
                if hasattr(error, "__notes__") and not isinstance(error, XarrayliteError):
                    raise
                raise refuse(instruction, str(error)) from error
        return values[self.root]


class _Planner:
    """What is known of the sites of a computation while steps are made of them."""

    def __init__(self, flat: Flat, numbers: dict[Site, int], table: _Table) -> None:
        self.flat, self.numbers, self.table = flat, numbers, table
        self.lazy = lazy_sites(flat)
        told = [site.instruction.shape for site in (*flat.parameters, *flat.sites)]
        self.dynamic = any([shape.is_array and any(shape.dynamic) for shape in told])
        self.made: dict[Site, Value] = {}
        for site in flat.sites:
            if self._is_made(site):
                made: Any = None  # no evaluator of these asks who runs it
                operands = [self.made[operand] for operand in site.operands]
                self.made[site] = self.evaluator(site)(made, site.instruction, *operands)

    def evaluator(self, site: Site) -> Evaluator:
        """What computes a site."""
        opcode = site.instruction.opcode
        evaluator = self.table.get(opcode, _unknown)
        return of_live(evaluator) if self.dynamic and opcode in ELEMENTWISE else evaluator

    def _is_made(self, site: Site) -> bool:
        """Whether its value is the same in every run, and costs nothing to keep."""
        instruction = site.instruction
        opcode = instruction.opcode
        if site is self.flat.root or not instruction.shape.is_array:
            return False
        spread = opcode == "broadcast" and not site.operands[0].instruction.shape.dimensions
        if site not in self.lazy and not spread:
            return False
        if opcode == "constant":
            return not instruction.literal.is_elided  # that is an error of the run
        known = opcode == "iota" or (opcode in VIEWS and bool(site.operands))
        return known and all([operand in self.made for operand in site.operands])

    def steps(self, traced: bool) -> tuple[tuple[Step, ...], tuple[Element, ...]]:
        """Return the steps, each with what is needed for the last time, and what precedes them."""
        units: list[tuple[Site, Callable[..., Value], list[Site]]] = []
        elements: list[Site] = []
        for site in self.flat.sites:
            if site in self.made or site.instruction.opcode == "parameter":
                continue
            if is_element(site):
                elements.append(site)
            elif not (site in self.lazy and is_lazy(site)):  # that is a part of its users' groups
                units.append((site, *self._action(site, traced)))
        numbers = self.numbers
        last = {leaf: k for k, (_, _, leaves) in enumerate(units) for leaf in leaves}
        last[self.flat.root] = len(units)
        dying: dict[int, list[int]] = {}
        for site, k in last.items():
            dying.setdefault(k, []).append(numbers[site])
        steps = [
            Step(
                site.instruction,
                action,
                numbers[site],
                tuple([numbers[leaf] for leaf in leaves]),
                tuple(dying.get(k, ())),
            )
            for k, (site, action, leaves) in enumerate(units)
        ]
        taken = [
            Element(numbers[site], numbers[site.operands[0]], site.instruction.get("index"))
            for site in elements
        ]
        whole = [site.operands[0] for site in elements]
        let_go = dict.fromkeys([numbers[site] for site in whole if site not in last])
        return tuple(steps), (*taken, *[Element(number, number, None) for number in let_go])

    def _action(self, site: Site, traced: bool) -> tuple[Callable[..., Value], list[Site]]:
        """Return what makes the value of a site, and of which sites' values."""
        members, leaves = self._group(site)
        if is_lazy(site) and (len(members) > 1 or _computes(site)):
            known = {leaf: self.made[leaf] for leaf in leaves if leaf in self.made}
            leaves = [leaf for leaf in leaves if leaf not in known]
            pairs = [(member, self.evaluator(member)) for member in members]
            works = any([_computes(member) or _copies(member) for member in members])
            traces = traced and bool(leaves) and works
            return Group(pairs, leaves, known, traces).run, leaves
        opcode, evaluator = site.instruction.opcode, self.evaluator(site)
        if opcode == "tuple":
            return (lambda runner, instruction, parts: tuple(parts)), list(site.operands)
        if opcode == "get-tuple-element":
            index = site.instruction.get("index")
            return (lambda runner, instruction, whole: whole[0][index]), list(site.operands)
        if opcode in IN_PLACE:
            return _replaced(evaluator), list(site.operands)
        stores = site not in self.lazy
        if traced and opcode == "dot":
            dot = planned_dot(site.instruction)
            if dot is not None:
                return dot.of, list(site.operands)
        return _applied(evaluator, stores, self._wanted(site)), list(site.operands)

    def _wanted(self, site: Site) -> frozenset[int] | None:
        """The elements of a tuple that somebody takes; None for all."""
        users = [user.instruction for user in site.users]
        takers = all([user.opcode == "get-tuple-element" for user in users])
        if site is self.flat.root or not users or not takers:
            return None
        return frozenset([user.get("index") for user in users])

    def _group(self, root: Site) -> tuple[list[Site], list[Site]]:
        """Return the sites that are computed with one, in order, and those that they take."""
        if not is_lazy(root):
            return [root], list(root.operands)
        members, leaves, waiting = {root}, dict[Site, None](), [root]
        while waiting:
            for operand in waiting.pop().operands:
                inner = operand in self.lazy and is_lazy(operand)
                if not inner or operand in self.made:
                    leaves[operand] = None
                elif operand not in members:
                    members.add(operand)
                    waiting.append(operand)
        return sorted(members, key=self.numbers.__getitem__), list(leaves)


class Group:
    """Operations that one kernel computes.

    Parameters
    ----------
    members : list of (Site, evaluator)
        In order; the last one is stored.
    leaves : list of Site
        Whose values they take.
    known : dict
        Values that they take and that are always the same.
    traced : bool
        Whether to trace it.
    """

    __slots__ = ("_known", "_leaves", "_members", "_places", "_traced")

    def __init__(
        self,
        members: list[tuple[Site, Evaluator]],
        leaves: list[Site],
        known: dict[Site, Value],
        traced: bool,
    ) -> None:
        self._members, self._leaves, self._known = members, leaves, known
        self._traced: Jitted[..., Value] | None = jit(self._value) if traced else None
        self._places = _overwritable([site for site, _ in members], leaves) if traced else ()

    def run(self, runner: Runner, instruction: HloInstruction, operands: list[Value]) -> Value:
        """Return the value of the last member."""
        traced = self._traced
        if traced is not None:
            for place in self._places:
                placed = operands[place]._kind.strides is None
                if placed and is_alone(operands, place) and traced.over(place, operands):
                    return operands[place]
            try:
                return traced(*operands)
            except TracedValueError:
                self._traced = None  # an operation asks for values
        value = self._value(*operands)
        # Operands may be let go while a value that needs them no longer is computed.
        operands.clear()
        return stored(value)

    def _value(self, *operands: Value) -> Value:
        values = self._known | dict(zip(self._leaves, operands, strict=True))
        nobody: Any = None  # no elementwise operation or view asks who runs it
        for site, evaluator in self._members:
            instruction = site.instruction
            try:
                given = [values[operand] for operand in site.operands]
                values[site] = evaluator(nobody, instruction, *given)
            except (HloError, TracedValueError):
                raise
            except XarrayliteError as error:
                raise refuse(instruction, str(error)) from error
        return values[self._members[-1][0]]


def _overwritable(members: list[Site], leaves: list[Site]) -> tuple[int, ...]:
    """The leaves in whose place the last member can be written: read element by element alone."""
    root = members[-1]
    shape = root.instruction.shape
    dtype = shape.element_type.dtype if shape.is_array else None
    if dtype is None or prod(shape.dimensions) * np.dtype(dtype).itemsize < _OVERWRITTEN:
        return ()
    inside, straight = set(members), set[Site]()
    for site in reversed(members):
        alike = site.instruction.opcode in ELEMENTWISE and _dimensions(site) == shape.dimensions
        if alike and all([user in straight for user in site.users if user in inside]):
            straight.add(site)
    return tuple(
        [
            k
            for k, leaf in enumerate(leaves)
            if leaf.instruction.shape.is_array
            and leaf.instruction.shape.element_type is shape.element_type
            and _dimensions(leaf) == shape.dimensions
            and all([user in straight for user in leaf.users if user in inside])
        ]
    )


def _computes(site: Site) -> bool:
    """Whether it is more than a view."""
    return site.instruction.opcode not in VIEWS


def _copies(site: Site) -> bool:
    """Whether it gives elements another shape that stand in another order than in memory."""
    moved = site.operands[0].instruction if site.operands else site.instruction
    if site.instruction.opcode != "reshape" or moved.opcode != "transpose":
        return False
    kept = [
        axis for axis in moved.get("dimensions") if moved.operands[0].shape.dimensions[axis] > 1
    ]
    return kept != sorted(kept)


def _dimensions(site: Site) -> tuple[int, ...]:
    return site.instruction.shape.dimensions


def _applied(
    evaluator: Evaluator, stores: bool, wanted: frozenset[int] | None
) -> Callable[..., Value]:
    """Return the step that is one operation on values in memory."""

    def action(runner: Runner, instruction: HloInstruction, operands: list[Value]) -> Value:
        value = evaluator(runner, instruction, *operands)
        if not stores or isinstance(value, XContainer):
            return value
        operands.clear()
        if wanted is None or not isinstance(value, tuple):
            return stored(value)
        return tuple([stored(part) if k in wanted else None for k, part in enumerate(value)])

    return action


def _replaced(evaluator: Evaluator) -> Callable[..., Value]:
    """Return the step that may write into its first operand, where nobody else has it."""

    def action(runner: Runner, instruction: HloInstruction, operands: list[Value]) -> Value:
        alone = is_alone(operands)
        return evaluator(runner, instruction, *operands, alone=alone)

    return action


def _unknown(runner: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    raise refuse(instruction, "is not evaluated")
