"""From a computation to steps: what is computed together, what is stored, when it is let go.

The result of an instruction stays a lazy expression where whoever takes it can be computed in the
same loop, and is stored where not.  One with several users stays lazy only if they all end in the
same store by the same path: elementwise users, of the same shape, whose own results do.  Then the
kernel meets it as one shared node and computes it once; a path that moves elements, such as a
slice, would compute it again for each mover.  What is stretched is stored first, as every element
would be computed as often as it is repeated.  Groups are bounded, for compilers take their time.

A slot of a run's list holds a value from its instruction to its last user.  Constants, positions
and views of them are lazy and the same in every run, so they are made once.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..._errors import HloError, XarrayliteError
from ...arrays.container import XContainer
from ..instruction import HloComputation, HloInstruction
from .elementwise import ELEMENTWISE
from .moves import VIEWS
from .reductions import is_fused_reduction
from .table import EVALUATORS
from .values import Evaluator, Runner, Value, refuse, stored

__all__ = ["Program"]

_LARGEST_GROUP: Final = 48
"""Most instructions of one kernel."""

_CHEAP: Final = frozenset(("constant", "iota", "parameter"))
_INLINED: Final = frozenset(("call", "fusion", "get-tuple-element", "tuple"))

# Where a lazy value ends: the instruction that is stored, or the mover on the way to it.
_End = tuple[str, HloInstruction]


class Step(NamedTuple):
    """One instruction, ready to run."""

    instruction: HloInstruction
    evaluator: Evaluator
    slot: int
    operands: tuple[int, ...]
    store: bool
    free: tuple[int, ...]


class Program:
    """The steps of one computation.

    Parameters
    ----------
    computation : HloComputation
        What to run.
    table : mapping, optional
        Evaluators by opcode; those of scalars that stand for many elements, for instance.
    """

    __slots__ = ("initial", "parameters", "root", "steps")

    def __init__(
        self, computation: HloComputation, table: dict[str, Evaluator] | None = None
    ) -> None:
        evaluators = EVALUATORS if table is None else table
        numbers = {instr: k for k, instr in enumerate(computation.instructions)}
        lazy = _lazy(computation)
        last = {computation.root: len(numbers)}
        for k, instruction in enumerate(computation.instructions):
            for operand in instruction.operands:
                if operand is not computation.root:
                    last[operand] = k
        dying: dict[int, list[int]] = {}
        for instruction, k in last.items():
            dying.setdefault(k, []).append(numbers[instruction])
        self.parameters = tuple([numbers[instr] for instr in computation.parameters])
        self.root = numbers[computation.root]
        self.initial: list[Value] = [None] * len(numbers)
        steps = [
            Step(
                instruction,
                evaluators.get(instruction.opcode, _unknown),
                k,
                tuple([numbers[operand] for operand in instruction.operands]),
                instruction not in lazy,
                tuple(dying.get(k, ())),
            )
            for instruction, k in numbers.items()
            if instruction.opcode != "parameter" and (instruction in last or _acts(instruction))
        ]
        self.steps = tuple([step for step in steps if not self._is_made(step, computation.root)])

    def _is_made(self, step: Step, root: HloInstruction) -> bool:
        """Make a value that is the same in every run, if this is one."""
        instruction = step.instruction
        opcode = instruction.opcode
        if step.store or instruction is root or not instruction.shape.is_array:
            return False
        operands = [self.initial[slot] for slot in step.operands]
        if opcode not in _CHEAP and (opcode not in VIEWS or not operands):
            return False
        if any([operand is None for operand in operands]):
            return False
        if opcode == "constant" and instruction.literal.is_elided:
            return False  # an error of the run
        made: Any = None  # no evaluator of these asks who runs it
        self.initial[step.slot] = step.evaluator(made, instruction, *operands)
        return True

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
        argument = None
        for step in self.steps:
            operands = [values[slot] for slot in step.operands]
            for slot in step.free:
                values[slot] = None
            try:
                values[step.slot] = _result(runner, step, operands)
            except HloError:
                raise
            except XarrayliteError as error:
                raise refuse(step.instruction, str(error)) from error
        return values[self.root]


def _result(runner: Runner, step: Step, operands: list[Value]) -> Value:
    value = step.evaluator(runner, step.instruction, *operands)
    if step.store and not isinstance(value, XContainer):
        # Operands may be let go while a value that needs them no longer is computed.
        operands.clear()
        return stored(value)
    return value


def _unknown(runner: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    raise refuse(instruction, "is not evaluated")


def _acts(instruction: HloInstruction) -> bool:
    """Whether it does something even if nobody takes its result."""
    return instruction.opcode in ("custom-call", "outfeed", "send", "infeed", "recv")


def _lazy(computation: HloComputation) -> frozenset[HloInstruction]:
    """The instructions whose values are not stored."""
    ends: dict[HloInstruction, _End] = {}
    for instruction in reversed(computation.instructions):
        ends[instruction] = _end(instruction, ends, computation.root)
    lazy: set[HloInstruction] = set()
    sizes: dict[HloInstruction, int] = {}
    for instruction in computation.instructions:
        size = 1 + sum([sizes.get(operand, 0) for operand in instruction.operands])
        if ends[instruction] != ("stored", instruction) and size <= _LARGEST_GROUP:
            lazy.add(instruction)
            sizes[instruction] = size
        elif instruction.opcode in _CHEAP or instruction.opcode in _INLINED:
            lazy.add(instruction)
    return frozenset(lazy)


def _end(
    instruction: HloInstruction, ends: dict[HloInstruction, _End], root: HloInstruction
) -> _End:
    """Where the value of an instruction ends, given where those of its users do."""
    own: _End = ("stored", instruction)
    if instruction is root or not _is_lazy(instruction):
        return own
    found: set[_End] = set()
    for user in instruction.users:
        found.add(_seen(user, instruction, ends))
    if len(found) != 1:
        return own
    (end,) = found
    moved = end == ("moved", instruction.users[0])
    if moved and (
        len(instruction.users) > 1 or instruction.users[0].operands.count(instruction) > 1
    ):
        return own
    return own if end[0] == "none" else end


def _seen(user: HloInstruction, operand: HloInstruction, ends: dict[HloInstruction, _End]) -> _End:
    """Where a user takes the value of an operand: to its own end, or past a move, or nowhere."""
    nowhere: _End = ("none", user)
    if user.shape.is_tuple or not operand.shape.is_array:
        return nowhere
    if user.opcode in ELEMENTWISE:
        return ends[user] if user.shape.dimensions == operand.shape.dimensions else nowhere
    count, size = operand.shape.dimensions, user.shape.dimensions
    if user.opcode == "broadcast":
        return ("moved", user) if _elements(count) == _elements(size) else nowhere
    if user.opcode in VIEWS or is_fused_reduction(user, operand):
        return ("moved", user)
    return nowhere


def _elements(sizes: tuple[int, ...]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _is_lazy(instruction: HloInstruction) -> bool:
    opcode = instruction.opcode
    if opcode in ELEMENTWISE or opcode in VIEWS:
        return True
    return opcode == "reduce" and is_fused_reduction(instruction, instruction.operands[0])
