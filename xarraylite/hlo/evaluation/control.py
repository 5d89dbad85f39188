"""Operations that run other computations: calls, branches, loops, maps, scans.

And those in which devices meet: each brings its operands and makes its result of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..._errors import HloError
from ...dtypes.names import NumpyArray
from ...functions.joining import concat, stack
from ..instruction import HloInstruction
from ..opcodes import by_opcode
from ..rules.call import Call
from ..rules.callers import scan_shape
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


def _gathered(run: Runner, instruction: HloInstruction, operands: Sequence[Value]) -> list[Value]:
    """Return the operands of each device of the group."""
    brought = run.devices.exchange(instruction, tuple([stored(x) for x in operands]))
    return [brought[device] for device in run.devices.group(instruction)]


def _packed(found: Sequence[Value]) -> Value:
    return tuple(found) if len(found) > 1 else found[0]


def _reduced(
    run: Runner, instruction: HloInstruction, operands: Sequence[Value]
) -> list[NumpyArray]:
    combine = run.batched(instruction.to_apply)
    results = []
    for parts in zip(*_gathered(run, instruction, operands), strict=True):
        result = array(parts[0])
        for part in parts[1:]:
            (result,) = combine(result, array(part))
        results.append(result)
    return results


def _all_reduce(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return _packed([container(x) for x in _reduced(run, instruction, operands)])


def _reduce_scatter(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    (axis,) = instruction.get("dimensions")
    members = run.devices.group(instruction)
    place = members.index(run.devices.device)
    found = _reduced(run, instruction, operands)
    return _packed([container(np.split(whole, len(members), axis)[place]) for whole in found])


def _all_gather(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    (axis,) = instruction.get("dimensions")
    columns = zip(*_gathered(run, instruction, operands), strict=True)
    return _packed([stored(concat(parts, axis=axis)) for parts in columns])


def _all_to_all(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    parts = _gathered(run, instruction, operands)
    place = run.devices.group(instruction).index(run.devices.device)
    axes = instruction.get("dimensions")
    if axes:
        pieces = [np.split(array(part[0]), len(parts), axes[0])[place] for part in parts]
        return container(np.concatenate(pieces, axes[0]))
    return _packed([part[place] for part in parts]) if len(operands) > 1 else (parts[0][place],)


def _collective_permute(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    if instruction.get("slice_sizes"):
        raise refuse(instruction, "exchanges parts of arrays, which is not evaluated")
    brought = run.devices.exchange(instruction, tuple([stored(x) for x in operands]))
    seat, grid = run.devices, np.arange(len(brought)).reshape(run.devices.meeting.replicas, -1)
    own, row = seat.replica, grid[:, seat.partition]
    if instruction.get("channel_id") is not None and grid.shape[1] > 1:
        own, row = seat.partition, grid[seat.replica]
    sources = [source for source, to in instruction.get("source_target_pairs") if to == own]
    if not sources or sources[0] not in range(len(row)):  # nobody sends
        return _packed([container(np.zeros(x.shape, x.dtype)) for x in operands])
    return _packed(brought[row[sources[0]]])


def _collective_permute_start(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return _packed(operands), _collective_permute(run, instruction, *operands), TOKEN, TOKEN


def _ragged_all_to_all(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    """Send slices of rows to each device of the group, to the place that the sender names."""
    parts = _gathered(run, instruction, operands)
    place = run.devices.group(instruction).index(run.devices.device)
    made = np.array(array(operands[1]))
    for rows, _, offsets, sizes, targets, _ in parts:
        per = len(array(offsets)) // len(parts)
        for k in range(place * per, (place + 1) * per):
            start, size, target = [int(array(numbers)[k]) for numbers in (offsets, sizes, targets)]
            made[target : target + size] = array(rows)[start : start + size]
    return container(made)


def _elsewhere(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    raise refuse(instruction, "takes part in what goes on outside of the program")


#: Evaluators of operations that call computations, in which devices meet, or the world outside.
CONTROL: Final[dict[str, Evaluator]] = {
    **by_opcode(_async_start, _call, _conditional, _scan, _while),
    **by_opcode(_all_gather, _all_reduce, _all_to_all, _collective_permute),
    **by_opcode(_collective_permute_start, _ragged_all_to_all, _reduce_scatter),
    **dict.fromkeys(("all-gather-done", "async-done", "collective-permute-done"), taken(1)),
    **dict.fromkeys(("infeed", "outfeed", "recv", "recv-done", "send", "send-done"), _elsewhere),
    "all-gather-start": lambda run, made, *given: (_packed(given), _all_gather(run, made, *given)),
    "all-reduce-done": same,
    "all-reduce-start": _all_reduce,
    "async-update": same,
    "collective-broadcast": lambda run, made, *given: _packed(_gathered(run, made, given)[0]),
    "fusion": _call,
    "map": lambda run, made, *x: container(run.batched(made.to_apply)(*map(array, x))[0]),
    "partition-id": lambda run, made: container(np.uint32(run.devices.partition)),
    "replica-id": lambda run, made: container(np.uint32(run.devices.replica)),
}
