"""Operations that run other computations: calls, branches, loops, maps, scans."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...functions.manipulation import stack
from ..instruction import HloInstruction
from .loops import counted
from .values import (
    TOKEN,
    Evaluator,
    Runner,
    Value,
    array,
    container,
    integer,
    refuse,
    same,
    stored,
    taken,
)


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
    """Run a computation over the slices along a dimension, handing on what it carries.

    Operands, the computation's parameters and its results are rows first, then what is carried.
    """
    (axis,) = instruction.get("dimensions")
    cut = len(operands) - instruction.get("num_carries")
    lines, carried = operands[:cut], operands[cut:]
    if not lines or any([line.ndim <= axis for line in lines]):
        raise refuse(instruction, f"goes along dimension {axis} of all but the last operands")
    length = lines[0].shape[axis]
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
    shape = instruction.shape
    specs = shape.tuple_shapes if shape.is_tuple else (shape,)
    columns: list[Value] = [stored(stack(column, axis=axis)) for column in zip(*rows, strict=True)]
    if not rows:
        made = specs[: len(specs) - len(carried)]
        columns = [container(np.zeros(spec.dimensions, spec.dtype)) for spec in made]
    return (*columns, *carried) if shape.is_tuple else (*columns, *carried)[0]


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
