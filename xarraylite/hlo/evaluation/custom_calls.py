"""Custom calls: those that JAX writes, and functions of the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..instruction import HloInstruction
from .lapack import LAPACK
from .ordering import top
from .values import TOKEN, Evaluator, Runner, Value, array, container, refuse

CustomCall = Callable[..., Any]

# Where values are placed; on one device, everything is everywhere.
_ANNOTATIONS: Final = (
    "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
    "LayoutConstraint", "MoveToDevice", "MoveToHost", "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape",
)  # fmt: skip


def _identity(instruction: HloInstruction, x: Any) -> Any:
    return x


def _custom_top(instruction: HloInstruction, x: Any) -> Any:
    return top(array(x), instruction.shape.tuple_shapes[0].dimensions[-1], True)


CUSTOM_CALLS: Final[dict[str, CustomCall]] = {
    **dict.fromkeys(_ANNOTATIONS, _identity),
    "TopK": _custom_top,
    **LAPACK,
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


CUSTOM: Final[dict[str, Evaluator]] = {"custom-call": _custom_call}
"""The evaluator of calls of what no operation says."""
