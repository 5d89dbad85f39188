"""Scalar Python functions as lazy, fusable operations; `vectorize` is made of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from .._errors import DTypeError
from ..dtypes.names import DType, is_narrow, is_narrow_float
from ..dtypes.promotion import result_type
from ..ops.op import Arg, Resolved
from ..ops.user import UserOp


def fixed_arity(function: object) -> int:
    """Return how many arguments a function takes; 0 if that is not fixed, or not known."""
    try:
        parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len(parameters) if all(p.kind in plain for p in parameters) else 0


@lru_cache(maxsize=512)
def operation(
    function: Callable[..., object],
    dtype: DType | None,
    loops: tuple[DType, ...] | None = None,
    caller: str = "vectorize",
) -> UserOp:
    """Return the operation that a function of scalars is, the same each time: kernels are by it.

    Parameters
    ----------
    function : function
        Takes and returns scalars.
    dtype : numpy.dtype or None
        Dtype of the result; None for the common dtype of the arguments.
    loops : tuple of numpy.dtype, optional
        What the arguments are converted to, by default their common dtype.
    caller : str, optional
        Named in messages.

    Raises
    ------
    DTypeError
        If the function does not take a fixed number of arguments (that of ``loops``).
    """
    if not isinstance(function, FunctionType):
        raise DTypeError(f"{caller}: a plain Python function is needed, got {function!r}")
    arity = fixed_arity(function)
    if not arity or (loops and arity != len(loops)):
        number = f"{len(loops)} arguments" if loops else "a fixed, positive number of arguments"
        raise DTypeError(f"{caller}: {function.__name__} must take {number}")
    arguments = ", ".join(f"{{{k}}}" for k in range(arity))

    def rule(name: str, args: tuple[Arg, ...]) -> Resolved:
        if loops is not None and dtype is not None:
            return loops, dtype
        loop = result_type(*args)
        return (loop,) * arity, loop if dtype is None else dtype

    return UserOp(
        name=function.__name__,
        arity=arity,
        rule=rule,
        numpy=_reference(function, dtype),
        bodies=dict.fromkeys((*"biufc", "iu", "ui"), f"user({arguments})"),
        summary=(function.__doc__ or f"User function {function.__name__}.").strip(),
        cost=10,
        exact="",
        function=function,
    )


def _reference(function: FunctionType, dtype: DType | None) -> Callable[..., Any]:
    """Return the function called element by element on NumPy scalars, whose arithmetic is ours."""

    def reference(*args: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        end = args[0].dtype if dtype is None else dtype
        if is_narrow(end):
            end = np.dtype(np.float32) if is_narrow_float(end) else np.dtype(np.int8)
        spread = np.broadcast_arrays(*args)
        values = [function(*scalars) for scalars in zip(*[a.ravel() for a in spread], strict=True)]
        return np.asarray(values, dtype=object).astype(end).reshape(spread[0].shape)

    return reference
