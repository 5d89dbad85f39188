"""NumPy's functions on our arrays: ``np.add(a, 1, out=b)``, ``np.sum(a)`` and their like.

A ufunc that is an operation of the op table gives a lazy expression, as our own function of that
name does.  With ``out=`` the result is written, by the rule of in-place operators; with ``where=``
other elements stay.  Ufuncs without an operation, and the methods of all (``reduce``,
``accumulate``, ``outer``, ``at``…) are computed by NumPy at once, and the results are containers.

NumPy's other functions find ours by an explicit table of names.  What is not in it is NumPy's
function on the values, and its result NumPy's.
"""

from __future__ import annotations

from collections import UserList, deque
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from .._errors import DTypeError
from ..assignment import elements, readers
from ..assignment.assign import check_update, check_writable
from ..assignment.readers import protect
from ..ir.kind import NODE
from ..operands.dispatch import namespace
from ..operands.nodes import NUMBERS, HasNode, Lifted, OneValue, is_foreign, unwrapped
from ..operands.non_numeric import is_not_ours
from ..operands.operators import ufunc_table

#: NumPy's functions that are not ours of the same name: files are what NumPy makes of them, and of
#: what is stretched, libraries give the strides to functions that take bytes.
_NUMPYS = frozenset(("save", "savetxt", "savez", "savez_compressed", "broadcast_arrays"))

#: Namespaces of NumPy's whose functions are those of ours of that name.
_SPACES = {"numpy.linalg": "linalg", "numpy.fft": "fft"}

#: NumPy's functions that ask for less than values.
_OWN: dict[Callable[..., Any], Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
}


def call_function(
    function: Callable[..., Any], types: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return what one of NumPy's functions means of our arrays (``__array_function__``).

    Arrays of other libraries (``types``) have the last word, and are given NumPy's for ours: few
    take every class.
    """
    ours = all([issubclass(kind, (HasNode, OneValue, Lifted, np.ndarray)) for kind in types])
    own = _of_function(function) if ours else None
    if own is not None:
        try:
            return own(*args, **options)
        except DTypeError:  # NumPy may know what to do with None, text or objects
            if not any([x is None or isinstance(x, (str, np.ndarray)) for x in args]):
                raise
    if any([issubclass(kind, Lifted) for kind in types]):
        return NotImplemented  # which has no values for NumPy
    return function(*_numpy_of(args), **_numpy_of(options))


@lru_cache(1024)
def _of_function(function: Callable[..., Any]) -> Any:
    """Return our function for one of NumPy's; None where there is none."""
    own, name = _OWN.get(function), function.__name__
    known = getattr(np, name, None) is function
    if own is None and known and name not in _NUMPYS:
        own = getattr(namespace(None), name, None)
    elif function.__module__ in _SPACES:
        own = getattr(getattr(namespace(None), _SPACES[function.__module__]), name, None)
    return None if own is function else own  # some of the namespace's are NumPy's


def _of_ufunc(ufunc: np.ufunc) -> Any:
    """Return our function for a ufunc that is an operation; None for all others."""
    op = ufunc_table().get(ufunc)
    name = "matmul" if ufunc is np.matmul else op.name if op is not None else None
    return None if name is None else _named(name)


@cache
def _named(name: str) -> Any:
    return getattr(namespace(None), name, None)


def _numpy_of(value: Any, read: bool = False) -> Any:
    """Return arguments with NumPy's arrays in the place of ours, in nested sequences too.

    ``read``: NumPy only looks at them, and returns no view.
    """
    if isinstance(value, (HasNode, OneValue)):
        return value._as_numpy() if read else np.asarray(value)  # type: ignore[union-attr]
    if isinstance(value, (list, tuple, deque, UserList)):
        made = [_numpy_of(item, read) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {key: _numpy_of(item, read) for key, item in value.items()}
    return value


#: Classes of operands that are no other library's.
_OURS: tuple[Any, ...] = (HasNode, *NUMBERS)

#: Methods that write into ``out`` whatever its dtype.
_FOLDS = ("accumulate", "reduce", "reduceat")


def call_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return what a ufunc means of our arrays (``__array_ufunc__``).

    Raises
    ------
    CastError, BroadcastError, ReadOnlyError
        If what ``out`` names cannot take the result.
    """
    own = _of_ufunc(ufunc) if method == "__call__" else None
    if own is not None and not options and all([isinstance(x, _OURS) for x in inputs]):
        return own(*inputs)
    if any([is_foreign(x) for x in inputs]):
        return getattr(ufunc, method)(*_numpy_of(inputs), **options)
    outs = options.pop("out", None) or ()
    where = options.pop("where", True)
    if method == "at":
        return at(ufunc, *inputs)
    ours = any([isinstance(out, HasNode) for out in outs])
    if own is not None and not options and (ours or (not outs and where is True)):
        result = own(*inputs)
        if not outs:
            return result
        (out,) = outs
        _write(out, result, where, ufunc.__name__)
        return out
    if where is not True:
        options["where"] = _numpy_of(where)
    if outs and not ours:
        return getattr(ufunc, method)(*_numpy_of(inputs), out=outs, **options)
    # NumPy computes of the values; what `outs` names, one of which is ours, is written then.
    if outs and "where" in options:  # elements that are not computed keep what is there
        options["out"] = tuple([None if out is None else np.array(out) for out in outs])
    made = getattr(ufunc, method)(*_numpy_of(inputs, True), **options)
    items = made if isinstance(made, tuple) else (made,)
    results = [_container(item, options.get("order")) for item in items]
    name = f"{ufunc.__name__}.{method}".removesuffix(".__call__")
    rule = options.get("casting", "unsafe" if method in _FOLDS else "same_kind")
    for k, out in enumerate(outs):  # before anything is written
        if not isinstance(out, (HasNode, np.ndarray, type(None))):
            raise DTypeError(f"{name}: out must be an array, got {type(out).__name__}")
        if (k or method in _FOLDS) and isinstance(out, HasNode):
            check_update(out, name, np.shape(results[k]), results[k].dtype, rule)  # type: ignore[arg-type]
    for k, out in enumerate(outs):
        if out is not None:
            _write(out, results[k], True, name, rule)
            results[k] = out
    return tuple(results) if isinstance(made, tuple) else results[0]


def _container(made: Any, order: str | None = None) -> Any:
    """Return what NumPy computed as a container, column-major for an order "F", or as a value."""
    if isinstance(made, np.ndarray):
        if is_not_ours(made):
            return made
        held = namespace(None).XArray._adopted(made)
        return held.copy("F") if order in ("F", "f") else held
    return namespace(None).XScalar(made) if isinstance(made, np.generic) else made


def _write(out: Any, values: Any, where: Any, operation: str, rule: Any = "same_kind") -> None:
    """Write values by the rule of in-place operators, or another, where a mask is true."""
    if isinstance(out, np.ndarray):
        np.copyto(out, np.asarray(values), casting=rule, where=_numpy_of(where))
        return
    to: Any = out
    if where is not True:
        values = namespace(None).where(where, values, to)
    dtype = getattr(values, "dtype", None)
    if dtype is not None:
        check_update(to, operation, np.broadcast_shapes(values.shape, to.shape), dtype, rule)
    if isinstance(values, OneValue):  # a number that is assigned would have to fit
        values = np.asarray(values)
    if hasattr(to, "buffer"):
        to._store(Ellipsis, values, False, False)
    else:
        to[...] = values


def at(ufunc: np.ufunc, array: Any, index: Any, *values: Any) -> None:
    """Apply a ufunc at indices, one after another, in place."""
    array = unwrapped(array)
    key = index if isinstance(index, list) else _numpy_of(index, True)
    rest = _numpy_of(values, True)
    if not isinstance(array, HasNode):
        ufunc.at(array, key, *rest)
    elif not hasattr(array, "_buffer") or array._kind is NODE:
        changed = np.array(array)
        ufunc.at(changed, key, *rest)
        array[...] = changed  # type: ignore[index]
    else:
        check_writable(array, f"{ufunc.__name__}.at")  # type: ignore[arg-type]
        target = elements.array_of(array)
        if not readers.wrote(array._buffer, 0, (), ufunc.at, target, key, *rest):
            with protect(array._buffer, array.node, None, None, True):
                ufunc.at(target, key, *rest)
