"""Operations that run other computations: calls, branches, loops, maps, scans, custom calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...functions.manipulation import stack
from ..instruction import HloInstruction
from .ordering import top
from .values import TOKEN, Evaluator, Runner, Value, array, container, refuse, stored

__all__ = ["CONTROL", "CUSTOM_CALLS", "register_custom_call"]

CustomCall = Callable[..., Any]


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
    body, condition = instruction.called_computations
    holder = [state]
    del state
    while bool(array(run.call(condition, [holder[0]]))):
        # The call empties the list: the body alone holds the state, and lets go what it replaces.
        holder = [run.call(body, holder)]
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


def _async_update(run: Runner, instruction: HloInstruction, started: Value) -> Value:
    return started


def _async_done(run: Runner, instruction: HloInstruction, started: Value) -> Value:
    return started[1]


# Custom calls.


def _identity(instruction: HloInstruction, x: Any) -> Any:
    return x


def _custom_top(instruction: HloInstruction, x: Any) -> Any:
    return top(array(x), instruction.shape.tuple_shapes[0].dimensions[-1], True)


CUSTOM_CALLS: Final[dict[str, CustomCall]] = {
    "Sharding": _identity,
    "SPMDFullToShardShape": _identity,
    "SPMDShardToFullShape": _identity,
    "TopK": _custom_top,
}
"""What custom calls do, by target."""


def register_custom_call(target: str, function: CustomCall) -> CustomCall:
    """Say what a custom call does.

    Parameters
    ----------
    target : str
        Its ``custom_call_target``.
    function : callable
        Takes the instruction and NumPy arrays for its operands; returns an array, or a tuple of
        them where the instruction's shape is one.

    Returns
    -------
    callable
        The function, so that this can be used as a decorator with `functools.partial`.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> xl.hlo.register_custom_call("example_twice", lambda instruction, x: 2 * x)(None, 1)
    2
    >>> module = xl.hlo.parse(
    ...     "ENTRY e { p = f32[2] parameter(0)  "
    ...     'ROOT r = f32[2] custom-call(p), custom_call_target="example_twice" }'
    ... )
    >>> module(np.float32([1, 2]))
    XArray([2., 4.], dtype=float32)
    """
    CUSTOM_CALLS[target] = function
    return function


def _custom_call(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    target = instruction.get("custom_call_target")
    function = CUSTOM_CALLS.get(target)
    if function is None:
        raise refuse(
            instruction,
            f"nobody said what the custom call {target!r} does; see xl.hlo.register_custom_call",
        )
    found = function(instruction, *[_plain(operand) for operand in operands])
    return _taken(instruction, instruction.shape, found)


def _plain(value: Value) -> Any:
    return (
        tuple([_plain(element) for element in value]) if isinstance(value, tuple) else array(value)
    )


def _taken(instruction: HloInstruction, spec: Any, found: Any) -> Value:
    """Check what a custom call returned against its shape."""
    if spec.is_tuple:
        parts = found if isinstance(found, tuple | list) else (found,)
        if len(parts) != len(spec.tuple_shapes):
            raise refuse(instruction, f"gave {len(parts)} results for {spec}")
        pairs = zip(spec.tuple_shapes, parts, strict=True)
        return tuple([_taken(instruction, inner, part) for inner, part in pairs])
    if not spec.is_array:
        return TOKEN
    made = array(found) if not isinstance(found, np.generic | int | float) else np.asarray(found)
    if made.shape != spec.dimensions or made.dtype != np.dtype(spec.dtype):
        raise refuse(instruction, f"gave {made.dtype}{list(made.shape)} for {spec}")
    return container(made)


CONTROL: Final[dict[str, Evaluator]] = {
    "async-done": _async_done,
    "async-start": _async_start,
    "async-update": _async_update,
    "call": _call,
    "conditional": _conditional,
    "custom-call": _custom_call,
    "fusion": _call,
    "map": _map,
    "scan": _scan,
    "while": _while,
}
"""Evaluators of operations that call computations, or functions of the user's."""
