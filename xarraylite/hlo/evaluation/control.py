"""Operations that run other computations: calls, branches, loops, maps, scans."""

from __future__ import annotations

from typing import Final

from ...functions.manipulation import stack
from ..instruction import HloInstruction
from .loops import counted
from .values import TOKEN, Evaluator, Runner, Value, array, container, integer, same, stored, taken


def _call(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return run.call(instruction.to_apply, list(operands))


def _conditional(run: Runner, instruction: HloInstruction, index: Value, *operands: Value) -> Value:
    branches = instruction.called_computations
    chosen = array(index)[()]
    if instruction.operands[0].shape.element_type.name == "pred":
        number = 0 if chosen else 1
    else:
        number = int(chosen) if 0 <= int(chosen) < len(branches) else len(branches) - 1
    return run.call(branches[number], [operands[number]])


def _while(run: Runner, instruction: HloInstruction, state: Value) -> Value:
    condition, trips = instruction.called_computations[1], counted(instruction)
    step = run.trip(instruction, state)
    holder = [state]
    del state
    while trips is None and integer(run.call(condition, [holder[0]])):
        # The call empties the list: the body alone holds the state, and lets go what it replaces.
        holder = [step(holder)]
    for _ in range(trips or 0):
        holder = [step(holder)]
    return holder[0]


def _map(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return container(run.batched(instruction.to_apply)(*[array(x) for x in operands])[0])


def _scan(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    """Run a computation over the slices along a dimension, handing on what it carries."""
    count = instruction.get("num_carries")
    (axis,) = instruction.get("dimensions")
    carried, lines = list(operands[:count]), operands[count:]
    length = lines[0].shape[axis]
    rows: list[list[Value]] = []
    steps = range(length - 1, -1, -1) if instruction.get("is_reverse") else range(length)
    lead = (slice(None),) * axis
    for k in steps:
        slices = [line[(*lead, k)] for line in lines]
        found = run.call(instruction.to_apply, [*carried, *slices])
        carried = list(found[:count])
        rows.append([stored(value) for value in found[count:]])
    if instruction.get("is_reverse"):
        rows.reverse()
    columns = [stored(stack(column, axis=axis)) for column in zip(*rows, strict=True)]
    return (*carried, *columns)


def _async_start(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    found = stored(run.call(instruction.to_apply, list(operands)))
    return tuple(operands), found, TOKEN


CONTROL: Final[dict[str, Evaluator]] = {
    "async-done": taken(1),
    "async-start": _async_start,
    "async-update": same,
    "call": _call,
    "conditional": _conditional,
    "fusion": _call,
    "map": _map,
    "scan": _scan,
    "while": _while,
}
"""Evaluators of operations that call computations."""
