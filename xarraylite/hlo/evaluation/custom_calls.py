"""Custom calls: those that JAX writes, and functions of the user's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, overload

import numpy as np

from ...arrays.xarray import XArray
from ...dtypes.names import NumpyArray
from ...xla.spec import ArraySpec
from ..instruction import HloInstruction
from .lapack import LAPACK
from .ordering import top
from .values import TOKEN, Evaluator, Runner, Value, array, container, dtype_of, fits, refuse

CustomCall = Callable[..., Any]

# Where values are placed; on one device, everything is everywhere.
_ANNOTATIONS: Final = (
    "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
    "LayoutConstraint", "MoveToDevice", "MoveToHost", "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape",
)  # fmt: skip


CUSTOM_CALLS: Final[dict[str, CustomCall]] = {
    **dict.fromkeys(_ANNOTATIONS, lambda instruction, x: x),
    "TopK": lambda made, x: top(array(x), made.shape.tuple_shapes[0].dimensions[-1], True),
    **LAPACK,
}
"""What custom calls do, by target."""


@overload
def register_custom_call(target: str) -> Callable[[CustomCall], CustomCall]: ...


@overload
def register_custom_call(target: str, function: CustomCall) -> CustomCall: ...


def register_custom_call(target: str, function: CustomCall | None = None) -> Any:
    """Say what a custom call does, from now on and in every module.

    Parameters
    ----------
    target : str
        Its ``custom_call_target``.
    function : callable, optional
        Takes the instruction and its operands: read-only NumPy arrays in the order of their
        dimensions, however they lie, and tuples of such.  Returns an array of the instruction's
        dtype and shape, or a list or number that is converted to it unless that
        changes an integer; a tuple where the shape is
        one.  What the call says of itself stands in ``instruction.get("backend_config")``, and
        `evaluate` runs the computations that it calls.

    Returns
    -------
    callable
        The function; without one, a decorator that takes it.

    Raises
    ------
    TypeError
        If the function cannot be called, or the target is no string.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> @xl.hlo.register_custom_call("example_extremes")
    ... def extremes(instruction, x):
    ...     return x.min(), x.max()
    >>> module = xl.hlo.parse(
    ...     "ENTRY e { p = f32[3] parameter(0)  "
    ...     'ROOT r = (f32[], f32[]) custom-call(p), custom_call_target="example_extremes" }'
    ... )
    >>> [float(x) for x in module(np.float32([2, 1, 4]))]
    [1.0, 4.0]
    """
    if not isinstance(target, str):
        raise TypeError(f"register_custom_call: the target is a string, not {target!r}")
    if function is None:
        return partial(register_custom_call, target)
    if not callable(function):
        raise TypeError(f"register_custom_call: {function!r} for {target!r} cannot be called")
    CUSTOM_CALLS[target] = function
    return function


def _custom_call(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    target = instruction.get("custom_call_target")
    function = CUSTOM_CALLS.get(target)
    if function is None:
        raise refuse(
            instruction,
            f"module {run.module} calls {target!r}, and nobody said what that does; "
            "see xl.hlo.register_custom_call",
        )
    given = [_plain(operand) for operand in operands]
    try:
        found = function(instruction, *given)
    except Exception as error:
        note = f"in the custom call {target!r}: {instruction.name} of {run.module}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise
    return _taken(instruction, instruction.shape, found)


def _plain(value: Value) -> Any:
    """Return an operand for a function that others wrote."""
    if isinstance(value, tuple):
        return tuple([_plain(element) for element in value])
    return _locked(array(value))


def _locked(values: NumpyArray) -> NumpyArray:
    """Return a view that cannot be written to: of what others hold, too."""
    view = values.view()
    view.flags.writeable = False
    return view


def _taken(instruction: HloInstruction, spec: ArraySpec, found: Any) -> Value:
    """Check what a custom call returned against its shape."""
    if spec.is_tuple:
        parts = found if isinstance(found, tuple | list) else (found,)
        if len(parts) != len(spec.tuple_shapes):
            raise refuse(
                instruction, f"{_target(instruction)} gave {len(parts)} results for {spec}"
            )
        pairs = zip(spec.tuple_shapes, parts, strict=True)
        return tuple([_taken(instruction, inner, part) for inner, part in pairs])
    if not spec.is_array:
        return TOKEN
    dtype = dtype_of(spec.element_type, instruction)
    try:
        if hasattr(found, "dtype"):
            made = array(found)
        else:
            made = array(XArray(found, dtype))
            _same_values(found, made)
    except (OverflowError, TypeError, ValueError) as error:
        raise refuse(
            instruction, f"{_target(instruction)} gave {type(found).__name__} for {spec}: {error}"
        ) from error
    if not made.dtype.isnative:
        made = made.astype(made.dtype.newbyteorder("="))
    if made.dtype != dtype or not fits(made.shape, spec):
        raise refuse(
            instruction, f"{_target(instruction)} gave {made.dtype}{list(made.shape)} for {spec}"
        )
    return container(_locked(made))


def _target(instruction: HloInstruction) -> str:
    return repr(instruction.get("custom_call_target"))


def _same_values(found: Any, made: NumpyArray) -> None:
    """Check that integers and truth values are what was given, not what became of it."""
    if made.dtype.kind not in "biu":
        return
    given = np.asarray(found, object)
    if any([a != b for a, b in zip(given.flat, made.astype(object).flat, strict=True)]):
        raise ValueError(f"not of {made.dtype}")


CUSTOM: Final[dict[str, Evaluator]] = {"custom-call": _custom_call}
"""The evaluator of calls of what no operation says."""
