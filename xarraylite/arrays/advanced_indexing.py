"""Indices whose result depends on values, or that meet in more than one array: NumPy's own.

An index of integers, slices and one integer array is lazy: it is a view, or a gather inside a
kernel.  Boolean masks (whose result has as many elements as they have trues), several arrays,
which are broadcast against each other, and sequences of other libraries are computed when they are
written, by NumPy on the evaluated elements, so that every combination means what it means there.
While a function is traced they are a gather of the flattened elements, if their values are known.
So is what one array selects of few elements that were copied when they were written: an expression
of another copy, which says what it is of.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .._errors import BroadcastError, IndexRangeError, TracedValueError
from ..dtypes.names import NumpyArray, as_dtype, kind
from ..ir import build
from ..ir.kind import NODE, owner_class
from ..ir.node import RANK, Node
from ..memory.snapshots import Copy
from ..operands import tracing
from ..operands.gathers import FEW, index_values, is_index_array, taken
from ..operands.nodes import HasNode, OneValue, has_array, unwrapped, values_in
from . import ownership

_FINAL = frozenset((int, type(None), type(Ellipsis), str))
_BASIC = _FINAL | {slice}
_PLAIN = (HasNode, OneValue, np.ndarray, np.generic, str)


def with_ints(key: Any) -> Any:
    """Return an index with ints for whole numbers of rank 0, which are computed; itself without.

    So `argmin` of an array is an index as quick as the int, and so are values of integers.
    """
    cls = key.__class__
    if cls in _FINAL:
        return key
    if cls is tuple or cls is list:
        items = [item if item.__class__ in _FINAL else with_ints(item) for item in key]
        return key if all(map(operator.is_, items, key)) else cls(items)
    if cls is slice:
        bounds = (key.start, key.stop, key.step)
        plain = tuple([x if x.__class__ in _FINAL else with_ints(x) for x in bounds])
        return key if all(map(operator.is_, plain, bounds)) else slice(*plain)
    number = key._value if isinstance(key, OneValue) else key
    one = number.__class__ is np.ndarray and not number.ndim and number.dtype.kind in "iu"
    if one or number.__class__ is int or isinstance(number, np.integer):
        return operator.index(number)
    of: Any = key
    if not isinstance(key, HasNode) or of._shape or kind(of.dtype) not in "iu":
        return key
    if tracing.running.value:
        return key
    lazy = of.lasting and of._kind is not NODE  # it keeps the value
    return operator.index(ownership.values_of(of) if lazy else of)


def is_advanced(key: Any) -> bool:
    """Tell whether an index has masks, several arrays, or other sequences of integers."""
    if key.__class__ in _BASIC:
        return False
    arrays = 0
    for item in key if isinstance(key, tuple) else (key,):
        if item.__class__ in _BASIC:
            continue
        if isinstance(item, (list, tuple)):
            if _is_mask(item):
                return True
            arrays += 1
        elif isinstance(item, bool) or getattr(item, "dtype", None) == np.bool_:
            return True
        elif isinstance(item, _PLAIN) or not (hasattr(item, "__len__") or has_array(type(item))):
            arrays += getattr(item, "ndim", 0) > 0
        else:  # a range, a deque, a column of a data frame
            return True
    return arrays > 1


def _is_mask(items: Any) -> bool:
    """Tell whether nested sequences hold truth values (the first one tells)."""
    while isinstance(items, (list, tuple)):
        if not items:
            return False
        items = items[0]
    return isinstance(items, bool) or getattr(items, "dtype", None) == np.bool_


def numpy_index(key: Any, operation: str) -> Any:
    """Return an index with NumPy's arrays in the place of ours.

    Raises
    ------
    TracedValueError
        While a function is traced: what is selected depends on values.
    """
    if tracing.is_active():
        raise TracedValueError(
            f"{operation}: masks and several index arrays select by values, which a traced "
            "function does not have; use xl.where, or index outside of it"
        )
    return _numpy_key(key)


def _numpy_key(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple([_numpy_item(item) for item in key])
    return _numpy_item(key)


def _numpy_item(item: Any) -> Any:
    if item.__class__ in _BASIC:
        return item
    if isinstance(item, (list, tuple)):
        return np.asarray(values_in(item)) if len(item) else np.empty(0, np.intp)
    if isinstance(item, HasNode):
        of: Any = item  # a mask, say, that selects of several arrays is computed once
        lazy = of.lasting and of._kind is not NODE
        item = np.asarray(ownership.values_of(of) if lazy else of)
    return index_values(item) if has_array(type(item)) else unwrapped(item)


def selected(of: Any, key: Any) -> Any:
    """Return a container of what NumPy selects of an array's values.

    Raises
    ------
    IndexRangeError
        For indices out of range, of other kinds, or that do not broadcast.
    """
    index = numpy_index(key, "index")
    try:
        values = np.asarray(ownership.to_view(of, of._shape)._as_numpy()[index])
    except IndexError as error:
        raise IndexRangeError(f"index of {of.summary()}: {error}") from None
    owner = owner_class(min(of._fixed_now(), RANK), as_dtype(values.dtype), values.shape)
    return owner._adopted(values)


class _Positions:
    """Where the elements that an index selects lie in the flattened array.

    They are found anew whenever they are asked for: a trace asks in each call.
    """

    __slots__ = ("key", "of")

    def __init__(self, of: tuple[str, tuple[int, ...]], key: Any) -> None:
        self.of = of
        self.key = key

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NumpyArray:
        summary, shape = self.of
        try:
            found = np.arange(math.prod(shape)).reshape(shape)[_numpy_key(self.key)]
        except IndexError as error:
            raise IndexRangeError(f"index of {summary}: {error}") from None
        return np.asarray(found)


def traced(of: Any, key: Any) -> Node:
    """Return what NumPy would select while a function is traced, by indices that it closed over.

    Raises
    ------
    TracedValueError
        If an index is an argument of the function.
    IndexRangeError
        As `selected`.
    """
    positions = _Positions((of.summary(), of.shape), key)
    return taken(build.reshape(of.node, (of.size,)), 0, positions)


def of_copy(e: Any, key: Any) -> Any:
    """Return what one integer array, and slices, select of a copy of few elements.

    Of a lazy result of few elements too, which is computed in a loop.  None of all other results,
    and where NumPy refuses it.
    """
    items = key if key.__class__ is tuple else (key,)
    if not e.lasting or e.size > FEW or tracing.running.value:
        return None
    if not any([item.__class__ not in _BASIC and is_index_array(item) for item in items]):
        return None
    stands = ownership.to_view(e, e._shape)
    own = stands._kind
    if own is NODE or own.op is not None or own.strides is not None or own.scalar:
        return None
    if stands._operands[0].__class__ is not Copy or stands._operands[1]:
        return None
    try:
        made = ownership.values_of(e)[key]
    except IndexError:
        return None
    copy = made._operands[0]
    if copy.__class__ is not Copy:
        return None
    copy.made = stands._operands[0]  # which says what computes it anew
    return made


def put(values: NumpyArray, key: Any, new: NumpyArray, summary: str) -> None:
    """Write to what one of NumPy's indices selects, the last of equal ones counts.

    Raises
    ------
    IndexRangeError, BroadcastError
        As NumPy; nothing has been written then.
    """
    try:
        values[key] = new
    except IndexError as error:
        raise IndexRangeError(f"assignment to {summary}: {error}") from None
    except ValueError as error:
        raise BroadcastError(f"assignment to {summary}: {error}") from None


def stretched(values: NumpyArray, shape: tuple[int, ...], given: str, container: str) -> NumpyArray:
    """Return values as they are written to a selection; leading extents of 1 may be too many.

    Raises
    ------
    BroadcastError
        If they do not stretch to its shape.
    """
    extra = max(values.ndim - len(shape), 0)
    plain = values.shape[:extra] == (1,) * extra
    try:
        return np.broadcast_to(values.reshape(values.shape[extra:]) if plain else values, shape)
    except ValueError:
        raise BroadcastError(
            f"assignment: {given} cannot be broadcast to the selection's shape {shape} in "
            f"{container}"
        ) from None
