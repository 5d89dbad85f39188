"""Writing to some elements of a container; readers that wait keep the old values.

Each function checks everything first and then makes one assignment, so a call that fails changes
nothing.  Where nobody waits for the old values NumPy writes to the container's memory itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from .._errors import DTypeError, IndexRangeError, ShapeError
from ..arrays.at_once import COMMON
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.few import computed, values_of
from ..arrays.operand import as_array
from ..arrays.scalar import XScalar
from ..assignment import elements, readers, writes
from ..assignment.assign import check_cast
from ..dtypes.names import NumpyArray, bool_, dtype_name
from ..ir.build import WEAK_TYPES, describe
from ..ir.kind import NODE
from ..nullable.array import Memory
from ..nullable.masked import write_where
from ..operands import tracing
from ..operands.convert import check_representable, listed
from ..operands.nodes import as_node
from ..operands.non_numeric import numbers_of, or_numpy
from ..ops.table import OPS
from .arrays_of_numpy import Narrow, numpy_of, refusal

Mode: TypeAlias = "Literal['raise', 'wrap', 'clip']"


def _destination(a: object, operation: str) -> Memory:
    if not isinstance(a, XExpression):
        raise DTypeError(f"{operation}: got {type(a).__name__}; only a container can be written")
    target: Memory = a._target()
    return target


def _values(x: object, operation: str) -> NumpyArray:
    if isinstance(x, XContainer) and x._kind is not NODE and x._dtype in COMMON:
        tracing.note_values()
        return elements.array_of(x)
    return np.asarray(numpy_of(x, operation, Narrow()))


def _stored(to: Memory, key: Any, value: Any, places: bool = False) -> bool:
    """Write a number where a mask of the same shape is true, or to positions; tell if it is done.

    That is an assignment like any other, and what it refuses the general way has the words for.
    """
    if value.__class__ is list and len(value) == 1:
        (value,) = value
    if not isinstance(key, XContainer) or elements.fitting(to._kind, value) is None:
        return False
    fits = to.ndim == 1 if places else key.shape == to.shape
    if (key.dtype is bool_) is places or not fits:
        return False
    if key.size > elements.FEW:  # for many NumPy has loops
        return False
    try:
        to[key] = value
    except (IndexError, OverflowError):
        return False
    return True


def _wrote(
    to: Memory,
    values: NumpyArray,
    write: Callable[[NumpyArray, NumpyArray], object],
    *others: NumpyArray,
) -> bool:
    """Have NumPy write values of its dtype to a container's memory, if it may; tell whether it did.

    It must be ordinary memory of which nothing else is read, and NumPy's conversion be ours.
    """
    if not isinstance(to, XContainer) or to._kind is NODE or tracing.running.value:
        return False
    new, array = elements.in_dtype(values, to.dtype), elements.array_of(to)
    if new is None or any([np.may_share_memory(array, x) for x in (new, *others)]):
        return False
    return array.flags.writeable and readers.wrote(to._buffer, 0, (), write, array, new)


def _fitting(x: object, to: Memory, operation: str, rule: str = "unsafe") -> NumpyArray:
    """Return what is written; Python integers must fit, and arrays cast under the rule."""
    if isinstance(x, XExpression) and x.dtype is to.dtype:
        return _values(x, operation)
    if x.__class__ in to._kind.stored:
        try:
            return np.array(x, to.dtype)
        except OverflowError:
            pass  # it is refused below, in words of ours
    several = isinstance(x, (list, tuple))
    few: Any = listed(x, bool_ if to.dtype is bool_ else None) if several else None
    if few is None or few.dtype is not to.dtype:
        check_representable(x, to.dtype, operation)
    if few is not None:
        return cast("NumpyArray", few)
    number = elements.fitting(to._kind, x)
    if number is not None:
        return np.array(number, to.dtype)
    if type(x) is float and to.dtype.char in np.typecodes["AllInteger"]:
        np.empty((), to.dtype)[()] = x  # which NumPy refuses if it is NaN, or beyond all integers
    values = _values(x, operation)
    numbers = numbers_of(values, to.dtype, operation) if values.dtype.kind in "UST" else None
    if numbers is not None:
        return numbers
    if isinstance(x, np.ndarray) or (values.ndim and not several):
        own = x.dtype if isinstance(x, XExpression) else values.dtype  # not that of computing

        def shown() -> str:
            return f"{to.summary()}, {dtype_name(own)}{list(values.shape)}"

        check_cast(operation, shown, own, to.dtype, rule)
    return values


@or_numpy
def put(a: object, ind: object, v: object, mode: Mode = "raise") -> None:
    """Write values to positions of the flattened container.

    Parameters
    ----------
    a : container
        What is written.
    ind : array of int
        Positions in row-major order; negative ones count from the end.
    v : array or number
        Values, repeated as often as needed; of none, nothing is written.
    mode : {"raise", "wrap", "clip"}, default "raise"
        What positions outside mean: an error, counting on from the start, or the nearest end.

    Raises
    ------
    IndexRangeError
        If a position is out of range.
    OverflowError
        If a Python integer does not fit the dtype.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((2, 2), int)
    >>> xl.put(a, [0, 3], [1, 2])
    >>> a
    XArray([[1, 0],
            [0, 2]])
    """
    to = _destination(a, "put")
    if mode == "raise" and _stored(to, ind, v, True):
        return
    places = _values(ind, "put")
    if not places.size:
        return
    if places.dtype.kind not in "iub":
        raise IndexRangeError(f"put({to.summary()}): positions are of {places.dtype}")
    places = places.astype(np.int64, copy=False).reshape(-1)

    def write(whole: NumpyArray, new: NumpyArray) -> None:
        if mode == "raise" and new.size and whole.flags.c_contiguous:
            new = new.reshape(-1)
            again = new.size not in (1, places.size)  # one after another, and from the first on
            whole.reshape(-1)[places] = np.resize(new, places.size) if again else new
            return
        if mode == "raise" and new.size:
            whole.take(places)  # `put` writes before it looks at the next one
        np.put(whole, places, new, mode)

    _written(a, "put", write, v, places)


def _put_under(a: object, name: str, mask: object, values: object) -> None:
    """Write values where a mask holds that has as many elements as the container."""
    to = _destination(a, name)
    if _stored(to, mask, values):
        return
    where = _values(mask, name)
    if where.size != to.size:
        raise ShapeError(
            f"{name}({to.summary()}, {list(where.shape)}): mask and data must be the same size"
        )
    where, write = where.reshape(to.shape), getattr(np, name)
    _written(a, name, lambda whole, new: write(whole, where, new), values, where, rule="safe")


@or_numpy
def place(arr: object, mask: object, vals: object) -> None:
    """Write values one after the other to the elements where a mask holds.

    The mask has as many elements as the container.  Arrays of values must cast safely, and Python
    integers fit.

    Parameters
    ----------
    arr : container or NumPy array
        Where to write.
    mask : array or expression of bool
        Where elements are replaced.
    vals : array or sequence
        Values in order, repeated as often as needed.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.arange(4)
    >>> xl.place(a, a > 1, [7, 8])
    >>> a
    XArray([0, 1, 7, 8])
    """
    _put_under(arr, "place", mask, vals)


@or_numpy
def putmask(a: object, mask: object, values: object) -> None:
    """Write values to the elements where a mask holds: each the value of its own position.

    The mask has as many elements as the container.  Arrays of values must cast safely, and Python
    integers fit.

    Parameters
    ----------
    a : container or NumPy array
        Where to write.
    mask : array or expression of bool
        Where elements are replaced.
    values : array or sequence
        Values, one for each element of ``a``, repeated if there are fewer.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.arange(4)
    >>> xl.putmask(a, a > 1, [7, 8, 9, 10])
    >>> a
    XArray([ 0,  1,  9, 10])
    """
    _put_under(a, "putmask", mask, values)


@or_numpy
def copyto(
    dst: object,
    src: object,
    casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"] = "same_kind",
    where: object = True,
) -> None:
    """Write an array, broadcast, to a container.

    Parameters
    ----------
    dst : container
        What is written.
    src : array, expression or number
        The values.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}, default "same_kind"
        Which conversions are allowed.
    where : array or expression of bool, optional
        Which elements are written.

    Raises
    ------
    CastError
        If the dtype does not convert under that rule.
    BroadcastError
        If the shapes do not fit.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros(3)
    >>> xl.copyto(a, [1, 2, 3], where=[True, False, True])
    >>> a
    XArray([1., 0., 3.])
    """
    to = _destination(dst, "copyto")
    usual = casting == "same_kind"
    if usual and where is True:
        own = getattr(src, "_kind", NODE) is to._kind is not NODE
        own = own or (isinstance(src, (XExpression, XScalar)) and src.dtype is to.dtype)
        if own or (src.__class__ in to._kind.stored and to.dtype is not bool_):
            to[...] = src  # bool casts from no number
            return
    elif (
        usual
        and to.dtype is not bool_
        and src.__class__ in to._kind.stored
        and _stored(to, where, src)
    ):
        return  # of all but Python's numbers the cast is checked
    if usual and writes.computed_into(to, OPS["where"], where, src, to) is not None:
        return
    if type(src) is float and casting == "unsafe":
        src = np.float64(src)  # cast as an array of it, into integers too
    node = as_node(src, "copyto")
    source: Any = type(src) if type(src) in WEAK_TYPES else node.dtype

    def shown() -> str:
        return f"{to.summary()}, {describe(node)}"

    check_cast("copyto", shown, source, to.dtype, casting)
    if where is True:
        to[...] = XExpression(node).astype(to.dtype) if source is node.dtype else src
        return
    if isinstance(where, (list, tuple, int, float)):
        where = np.array(where, bool)  # as NumPy: only arrays must be bool already
    check_representable(src, to.dtype, "copyto")
    mask = XExpression(as_node(where, "copyto"))
    if mask.dtype != bool_:
        raise DTypeError(f"copyto: where must be bool, got {dtype_name(mask.dtype)}")
    write_where(to, mask, XExpression(node).astype(to.dtype))


@or_numpy
def put_along_axis(arr: object, indices: object, values: object, axis: int | None) -> None:
    """Write values to positions that differ from place to place along an axis.

    Parameters
    ----------
    arr : container or NumPy array
        Where to write.
    indices : array or expression of int
        Positions along ``axis``, as `take_along_axis` takes them.
    values : array or expression
        What to write, broadcast to ``indices``.
    axis : int or None
        Along which dimension; None for the flattened array.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((2, 2), int)
    >>> xl.put_along_axis(a, [[1], [0]], 5, 1)
    >>> a
    XArray([[0, 5],
            [5, 0]])
    """
    places = _values(indices, "put_along_axis")
    _written(
        arr,
        "put_along_axis",
        lambda whole, new: np.put_along_axis(whole, places, new, axis),
        values,
        places,
    )


@or_numpy
def fill_diagonal(a: object, val: object, wrap: bool = False) -> None:
    """Write a value, or several in turn, to the main diagonal.

    Parameters
    ----------
    a : container
        Of rank 2, or of any rank with all extents equal.
    val : array or number
        Values, repeated as often as needed.
    wrap : bool, default False
        Begin again below the end of a tall matrix.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((2, 2), int)
    >>> xl.fill_diagonal(a, 3)
    >>> a
    XArray([[3, 0],
            [0, 3]])
    """
    _written(a, "fill_diagonal", lambda whole, new: np.fill_diagonal(whole, new, wrap), val)


def _written(
    a: object,
    name: str,
    function: Callable[[NumpyArray, Any], None],
    values: object,
    *read: NumpyArray,
    rule: str = "unsafe",
) -> None:
    """Have NumPy write to the elements, or to a copy of them that is assigned then."""
    to = _destination(a, name)
    new = _fitting(values, to, name, rule)

    def write(whole: NumpyArray, new: Any) -> None:
        try:
            function(whole, new)
        except (ValueError, TypeError, IndexError) as error:
            raise refusal(name, [whole, new], error) from None

    if _wrote(to, new, write, *read):
        return
    whole = values_of(to).copy()
    if new.dtype.kind not in "US":  # text is read by NumPy
        new = computed(None, as_node(new, name), to.dtype)
    write(whole, new)
    if isinstance(to, XContainer):
        to[...] = whole
        return
    chosen = np.zeros(whole.shape, bool)
    function(chosen, np.True_)
    write_where(to, as_array(chosen, name), whole)
