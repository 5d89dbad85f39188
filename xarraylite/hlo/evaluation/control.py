"""Operations that run other computations: calls, branches, loops, maps, scans."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..._errors import HloError
from ...functions.joining import stack
from ..instruction import HloInstruction
from ..opcodes import by_opcode
from ..rules.call import Call
from ..rules.callers import scan_shape
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
    # What the first trip takes lies in memory, as what later ones do: one kernel serves them all.
    holder = [stored(state)]
    del state
    step = run.trip(instruction, holder[0])
    while trips is None and integer(run.call(condition, [holder[0]])):
        # The call empties the list: the body alone holds the state, and lets go what it replaces.
        holder = [step(holder)]
    for _ in range(trips or 0):
        holder = [step(holder)]
    return holder[0]


def _scan(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    """Run a computation over the slices along a dimension, handing on what it carries.

    Operands, the computation's parameters and its results are rows first, then what is carried.
    """
    shapes = tuple([operand.shape for operand in instruction.operands])
    try:
        made = scan_shape(
            Call("scan", shapes, instruction.attributes, (instruction.to_apply,), instruction.shape)
        )
    except HloError as error:  # verified, but maybe in the order that is not evaluated
        raise HloError(error.expected, instruction=instruction.name) from None
    specs = made.tuple_shapes if made.is_tuple else (made,)
    (axis,) = instruction.get("dimensions")
    cut = len(operands) - instruction.get("num_carries")
    lines, carried = operands[:cut], operands[cut:]
    specs = specs[: len(specs) - len(carried)]
    length = lines[0].shape[axis] if lines else specs[0].dimensions[axis]
    backwards = instruction.get("is_reverse")
    lead = (slice(None),) * axis
    rows: list[tuple[Value, ...]] = []
    for k in reversed(range(length)) if backwards else range(length):
        slices = [line[(*lead, k)] for line in lines]
        found = run.call(instruction.to_apply, [*slices, *carried])
        parts = found if isinstance(found, tuple) else (found,)
        outputs = len(parts) - len(carried)
        carried = parts[outputs:]
        rows.append(stored(parts[:outputs]))
    if backwards:
        rows.reverse()
    columns: list[Value] = [stored(stack(column, axis=axis)) for column in zip(*rows, strict=True)]
    if not rows:
        columns = [container(np.zeros(spec.dimensions, spec.dtype)) for spec in specs]
    return (*columns, *carried) if made.is_tuple else (*columns, *carried)[0]


def _async_start(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    found = stored(run.call(instruction.to_apply, list(operands)))
    return tuple(operands), found, TOKEN


CONTROL: Final[dict[str, Evaluator]] = {
    **by_opcode(_async_start, _call, _conditional, _scan, _while),
    "async-done": taken(1),
    "async-update": same,
    "fusion": _call,
    "map": lambda run, made, *x: container(run.batched(made.to_apply)(*map(array, x))[0]),
}
"""Evaluators of operations that call computations."""
