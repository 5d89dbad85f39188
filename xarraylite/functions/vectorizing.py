"""`vectorize`: scalar Python functions as operations on arrays.

A function that Numba compiles becomes a lazy operation, part of the kernels of the expressions it
stands in.  Any other (one that makes text, looks into a dictionary, keeps a count, returns several
results) is called for each element by NumPy's `vectorize`, at once.

As in NumPy the dtype follows from what the function returns for the first elements, where nothing
else says it; while a function is traced, for ones.  Names that the function finds outside of itself
are looked at in every call: a number that has changed since makes another operation, since kernels
have it as a constant.  What can change without becoming another object (arrays, modules but those
of functions) is read where it is, so such functions are called.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .._errors import DTypeError, XarrayliteError
from .._later import routine, routines, tracing, worker
from ..arrays.expression import XExpression, apply
from ..dtypes.names import DType, as_dtype, is_narrow_float, is_narrow_int, kind
from ..dtypes.narrow import from_narrow
from ..dtypes.promotion import result_type
from ..operands.nodes import HasNode, Lifted, OneValue
from ..operands.non_numeric import dtype_of
from ..ops.user import UserOp, global_names, settled
from ..runtime.evaluate import uses_reference
from ..transforms.vectorize import fixed_arity, operation
from .arrays_of_numpy import Narrow, numpy_of, refusal, results


def vectorize(
    pyfunc: Callable[..., object] | None = None,
    otypes: Any = None,
    doc: str | None = None,
    excluded: Any = None,
    cache: bool = False,
    signature: str | None = None,
    *,
    dtype: object = None,
) -> Any:
    """Make a function of scalars an operation on arrays, lazy where it can be compiled.

    What Numba compiles is compiled into the kernels of the expressions that the operation is part
    of; the reference engine calls it element by element.  Other functions are called for each
    element at once, as NumPy's `vectorize` does.

    Parameters
    ----------
    pyfunc : callable
        Takes and returns scalars.
    otypes : dtype or sequence of dtype, optional
        Dtypes of the results.
    doc : str, optional
        The docstring, by default that of the function.
    excluded, cache, signature : optional
        As for ``numpy.vectorize``, which does what they ask for.
    dtype : dtype, optional
        Dtype of the one result.  By default that of what the function returns for the first
        elements, or, in a function traced by `jit`, for ones; where there are no elements, the
        common dtype of the arguments.  Arguments are converted to their common dtype before the
        call.

    Returns
    -------
    callable
        A function of arrays, expressions and numbers that returns an `XExpression`, computed if
        the function is not compiled; a decorator if ``pyfunc`` is left out.

    Raises
    ------
    DTypeError
        If ``pyfunc`` is no function.

    Examples
    --------
    >>> import xarraylite as xl
    >>> @xl.vectorize
    ... def soft(x, limit):
    ...     return x - limit if x > limit else 0.0
    >>> xl.eval(soft(xl.asarray([1.0, 2.0, 3.0]), 1.5))
    XArray([0. , 0.5, 1.5])
    >>> xl.vectorize({1: 10, 2: 20}.get)(xl.asarray([2, 1]))
    XArray([20, 10])
    """
    if pyfunc is None:
        options = (otypes, doc, excluded, cache, signature)
        return lambda late: vectorize(late, *options, dtype=dtype)
    if not callable(pyfunc):
        raise DTypeError(f"vectorize: a function is needed, got {pyfunc!r}")
    otypes = otypes if dtype is None else [as_dtype(dtype)]
    wanted = None if otypes is None else [np.dtype(x) for x in _several(otypes)]
    fused = None
    if excluded is signature is None and not cache and (wanted is None or len(wanted) == 1):
        fused = _fused(pyfunc, wanted)
    cast = any([x.isbuiltin != 1 and dtype_of(x) is None for x in wanted or ()])  # not NumPy's
    each: Any = np.vectorize(pyfunc, None if cast else wanted, None, excluded, cache, signature)

    def vectorized(*operands: Any, **named: Any) -> Any:
        if fused is not None and not named:
            made = fused(operands)
            if made is not NotImplemented:
                return made
        made = _each(each, operands, named)
        return made.astype(wanted[0]) if cast and wanted else made

    vectorized.__name__ = getattr(pyfunc, "__name__", "vectorized")
    vectorized.__doc__ = doc or pyfunc.__doc__
    vectorized.pyfunc = pyfunc  # type: ignore[attr-defined]
    return vectorized


def _several(otypes: Any) -> Any:
    return otypes if isinstance(otypes, (str, list, tuple)) else [otypes]


def _each(each: Any, operands: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return what NumPy's function makes of values."""
    narrow = Narrow()
    taken = [_values(x, narrow) for x in operands]
    values = {key: _values(x, narrow) for key, x in named.items()}
    try:
        made = each(*taken, **values)
    except XarrayliteError:
        raise
    except ValueError as error:
        raise refusal(getattr(each.pyfunc, "__name__", "vectorize"), taken, error) from None
    return results(made, narrow)


def _values(x: object, narrow: Narrow) -> Any:
    return numpy_of(x, "vectorize", narrow) if isinstance(x, XExpression) else x


def _fused(function: object, wanted: list[Any] | None) -> _Fused | None:
    arity = fixed_arity(function)
    text = wanted is not None and dtype_of(wanted[0]) is not None  # or objects, which NumPy makes
    if not isinstance(function, FunctionType) or not arity or text:
        return None
    return _Fused(function, arity, as_dtype(wanted[0]) if wanted else None)


class _Fused:
    """The lazy operations that a function is."""

    __slots__ = ("arity", "dtype", "function")

    def __init__(self, function: FunctionType, arity: int, dtype: DType | None) -> None:
        self.function, self.arity, self.dtype = function, arity, dtype

    def __call__(self, operands: tuple[Any, ...]) -> Any:
        """Return the lazy result, or NotImplemented where the function has to be called."""
        if len(operands) != self.arity:
            if len(operands) > self.arity or not self.function.__defaults__:
                name, count = self.function.__name__, len(operands)
                raise TypeError(f"{name} takes {self.arity} arguments, got {count}")
            return NotImplemented
        traced = tracing.is_active()
        if not all([_is_numeric(x) for x in operands]) or (_changes(self.function) and not traced):
            return NotImplemented
        dtype = self.dtype
        if dtype is None:
            found = self._of_ones(operands) if traced else self._found(operands)
            if found is NotImplemented:
                return NotImplemented
            dtype = found
        op = operation(settled(self.function), dtype)
        made = apply(op, *operands)
        if uses_reference() or not isinstance(made, XExpression):
            return made
        loops = (result_type(*[_dtype_of(x) for x in operands]),) * self.arity
        return made if _compiles(op, loops, made.dtype) else NotImplemented

    def _of_ones(self, operands: tuple[Any, ...]) -> Any:
        """Return the dtype of what the function returns for ones; None if that is not known."""
        try:
            found = self._returned([as_dtype(_dtype_of(x)).type(1) for x in operands], operands)
        except Exception:  # as anything may happen in a function
            return None
        return None if found is NotImplemented else found

    def _found(self, operands: tuple[Any, ...]) -> Any:
        """Return the dtype of what the function returns for the first elements.

        None where there are none, NotImplemented where that is no number.
        """
        first = [_first(x) for x in operands]
        return None if any([x is None for x in first]) else self._returned(first, operands)

    def _returned(self, first: list[Any], operands: tuple[Any, ...]) -> Any:
        """Return the dtype of what the function returns, NotImplemented where it is no number."""
        loop = result_type(*[_dtype_of(x) for x in operands])
        wide = (is_narrow_float(loop) and loop != np.float16) or is_narrow_int(loop)
        with np.errstate(all="ignore"):
            made = self.function(*[_as(x, loop, wide) for x in first])
        if isinstance(made, (bool, np.bool_)):
            return as_dtype(bool)
        if isinstance(made, float) and type(made) is float and kind(loop) == "f":
            return loop  # a Python number has no dtype of its own
        if isinstance(made, XExpression) and not made.ndim:
            made = made.numpy()[()]
        if not isinstance(made, (int, float, complex, np.number)):
            return NotImplemented
        found = np.asarray(made).dtype
        same = kind(loop) == found.kind or (kind(loop) in "iu" and found.kind in "iu" and wide)
        return loop if wide and same else as_dtype(found)


def _changes(function: FunctionType) -> bool:
    """Tell whether a function reads what may change without becoming another object."""
    known = function.__globals__
    found = [known.get(name) for name in global_names(function.__code__)]
    found += [cell.cell_contents for cell in function.__closure__ or ()]
    found += function.__defaults__ or ()
    return any(
        [
            isinstance(x, (np.ndarray, HasNode))
            or (isinstance(x, ModuleType) and x.__name__.partition(".")[0] not in _CONSTANT)
            for x in found
        ]
    )


#: Modules whose names are functions and constants.
_CONSTANT = frozenset(("math", "cmath", "numpy", "numba", "operator", "xarraylite"))


_NUMBERS = frozenset((bool, int, float, complex))


def _is_numeric(x: Any) -> bool:
    """Tell whether an operand is numbers, not text or a dictionary, say."""
    if isinstance(x, (HasNode, Lifted, OneValue)) or type(x) in _NUMBERS:
        return True
    try:
        as_dtype(np.asarray(x).dtype)
    except (DTypeError, ValueError):
        return False
    return True


def _dtype_of(x: Any) -> Any:
    if isinstance(x, (XExpression, np.ndarray, np.generic)):
        return as_dtype(x.dtype)
    return type(x) if type(x) in _NUMBERS else as_dtype(np.asarray(x).dtype)


def _first(x: Any) -> Any:
    """Return the first element of an operand as a NumPy value; None if there is none."""
    if isinstance(x, XExpression):
        return np.asarray(x[(0,) * x.ndim])[()] if x.size else None
    if type(x) in _NUMBERS or isinstance(x, np.generic):
        return x
    if not isinstance(x, (np.ndarray, list, tuple)):
        return None
    values = np.asarray(x)
    return values.flat[0] if values.size else None


def _as(x: Any, loop: DType, wide: bool) -> Any:
    """Return an argument as the reference engine gives it to the function."""
    value = np.asarray(x).astype(loop)
    return (from_narrow(value) if wide else value)[()]


@functools.lru_cache(maxsize=1024)
def _compiles(op: UserOp, loops: tuple[DType, ...], dtype: DType) -> bool:
    """Tell whether Numba compiles a function, by doing so; kernels use what it makes."""
    try:
        worker.run(lambda: routines.text_of(routine.apply(op, loops, dtype)))
    except DTypeError:  # it makes lists, say
        return False
    except XarrayliteError:
        raise
    except Exception:  # Numba has many, and a function that it trips over is not compiled either
        return False
    return True
