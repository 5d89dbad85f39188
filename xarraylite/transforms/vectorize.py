"""`vectorize`: a scalar Python function as one lazy, fusable operation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .._errors import DTypeError
from ..arrays.expression import XExpression, apply
from ..dtypes.names import DType, as_dtype, is_narrow_float, is_narrow_int
from ..dtypes.promotion import result_type
from ..ops.op import Arg, Resolved
from ..ops.user import UserOp


def vectorize(function: Callable[..., object] | None = None, /, *, dtype: object = None) -> Any:
    """Make a function of scalars one lazy operation on arrays.

    The function is compiled into the kernels of the expressions it is part of, so it must be in
    the subset of Python that Numba compiles; the reference engine calls it element by element.

    Parameters
    ----------
    function : function
        Takes and returns scalars.
    dtype : dtype, optional
        Dtype of the result; by default the common dtype of the arguments.  Arguments are
        converted to their common dtype before the call.

    Returns
    -------
    callable
        A function of arrays, expressions and numbers that returns an `XExpression`; a decorator
        if ``function`` is left out.

    Raises
    ------
    DTypeError
        If ``function`` is no plain Python function with a fixed number of arguments.

    Examples
    --------
    >>> import xarraylite as xl
    >>> @xl.vectorize
    ... def soft(x, limit):
    ...     return x - limit if x > limit else 0.0
    >>> xl.eval(soft(xl.asarray([1.0, 2.0, 3.0]), 1.5))
    XArray([0. , 0.5, 1.5])
    """
    if function is None:
        return lambda late_function: vectorize(late_function, dtype=dtype)
    if not isinstance(function, FunctionType):
        raise DTypeError(f"vectorize: a plain Python function is needed, got {function!r}")
    op = operation(function, None if dtype is None else as_dtype(dtype))

    def vectorized(*operands: object) -> XExpression:
        if len(operands) != op.arity:
            raise TypeError(f"{op.name} takes {op.arity} arguments, got {len(operands)}")
        return apply(op, *operands)

    vectorized.__name__ = function.__name__
    vectorized.__doc__ = function.__doc__
    return vectorized


def operation(
    function: FunctionType,
    dtype: DType | None,
    loops: tuple[DType, ...] | None = None,
    caller: str = "vectorize",
) -> UserOp:
    """Return the operation that a function of scalars is.

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
    parameters = inspect.signature(function).parameters.values()
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    arity = len(parameters)
    if any(p.kind not in plain for p in parameters) or arity != len(loops or parameters or "1"):
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
        if is_narrow_float(end) or is_narrow_int(end):
            end = np.dtype(np.float32) if is_narrow_float(end) else np.dtype(np.int8)
        spread = np.broadcast_arrays(*args)
        values = [function(*scalars) for scalars in zip(*[a.ravel() for a in spread], strict=True)]
        return np.asarray(values, dtype=object).astype(end).reshape(spread[0].shape)

    return reference
