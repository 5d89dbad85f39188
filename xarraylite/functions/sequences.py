"""Containers from a rule for the elements: ranges, the identity, functions of positions.

`fromfunction` writes its rule as a lazy expression over positions and evaluates it by one kernel;
the others need no compiler.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from .._config import settings
from .._errors import DTypeError, ShapeError, TracedValueError
from ..arrays import xarray
from ..arrays.evaluation import eval_
from ..arrays.expression import XExpression
from ..arrays.scalar import scalar_of
from ..arrays.xarray import XArray
from ..assignment import elements
from ..assignment.elements import FEW
from ..dtypes.names import NumpyArray, as_dtype, float64, int64, kind
from ..dtypes.promotion import result_type
from ..index.broadcast import as_shape
from ..ir import build
from ..ir.node import Iota, Node
from ..layout.strided import ROW_MAJOR, Strided
from ..operands.convert import LayoutLike, layout_of, pinned_dtype, store, values_node
from ..operands.nodes import HasNode, unwrapped
from ..operands.non_numeric import as_other, call_numpy, dtype_of, is_other, numbers_of
from .arguments import check_device, check_numbers
from .arrays_of_numpy import Narrow, container, numpy, numpy_of
from .computed import computed
from .creation import MemoryOrder, ShapeLike, check_size, ordered

#: Classes of Python's real numbers.
_REAL = frozenset((int, float))

#: Elements from which a kernel numbers them, in memory whose pages are there.
_MANY = 1 << 16


def _wrap(values: Any, dtype: np.dtype[Any], layout: LayoutLike, name: str) -> XArray:
    """Return values, an array that nobody else has or a node, in a container of a dtype."""
    if isinstance(values, np.ndarray) and _lies_by_rows(layout):
        usual = values.dtype == dtype or values.size <= FEW
        made = elements.in_dtype(values, dtype) if usual else None
        if made is not None:
            return _own(made)
    node = values if isinstance(values, Node) else values_node(values, dtype, name)
    place, policy = layout_of(node.shape, layout, None, dtype, name)
    return XArray._own(store(node, place), place, dtype, policy)


def _own(values: NumpyArray) -> XArray:
    """Return values that nobody else has in a container; few are copied, which takes less time."""
    few = xarray.owned(values) if values.size <= FEW else None
    return container(values, []) if few is None else few


def _lies_by_rows(layout: LayoutLike) -> bool:
    """Tell whether no layout is asked for, and the usual one is row-major."""
    return layout is None and settings.default_layout == ROW_MAJOR.value


def arange(
    start: float | None = None,
    stop: float | None = None,
    step: float = 1,
    dtype: object = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
) -> XArray:
    """Return evenly spaced values in the half-open interval from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop, step : int or float
        With one argument, ``stop``; element ``i`` is ``start + i * step``.
    dtype : dtype, optional
        By default int64 if all are ints, though none of uint64, else float64.  Start and step are
        converted to it, as NumPy does: whole numbers half a step apart are all the same one.
    device, layout : optional
        As for `empty`.

    Returns
    -------
    XArray
        A container of ``ceil((stop - start) / step)`` elements.

    Raises
    ------
    ValueError
        If ``step`` is 0.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.arange(1, 7, 2)
    XArray([1, 3, 5])
    """
    usual = device is layout is None and dtype_of(dtype) is None
    few = _few(start, stop, step, pinned_dtype(dtype)) if usual else None
    if few is not None:
        return few
    # What is asked for.
    check_device(device, "arange")
    if start is None and stop is None:
        raise DTypeError("arange: stop is needed")
    if start is None or stop is None:
        start, stop = 0, start if stop is None else stop
    dates = isinstance(cast("object", start), (dt.date, dt.timedelta))
    dates = dates or any([is_other(getattr(x, "dtype", None)) for x in (start, stop)])
    if dates or dtype_of(dtype) is not None:
        return cast("XArray", np.arange(start, stop, step, dtype))  # type: ignore[call-overload]
    check_numbers("arange", float, start=start, stop=stop, step=step)
    if step == 0:
        raise ZeroDivisionError("arange: step must not be 0")
    # In which dtype it is counted, and how far: known before there is memory for it.
    whole = all([_is_whole(v) for v in (start, stop, step)])
    within = int64 if whole else float64
    own = within if dtype is None else as_dtype(dtype)
    count = _count(start, stop, step, whole)
    if count is not None:
        check_size(as_shape(count, "arange"), own, "arange")
    # The values: many by a kernel; else by NumPy, which takes start and step in the dtype.
    first = usual and dtype is None and start == 0 and step == 1
    if first and whole and count is not None and count >= _MANY and _lies_by_rows(layout):
        return cast("XArray", eval_(XExpression(Iota((count,), int64, Strided((count,), (1,))))))
    values = np.arange(start, stop, step, dtype=own if own.isbuiltin == 1 else within)
    return _wrap(values, own, layout, "arange")


def _few(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    """Return few numbers between Python's; None of others.  The call takes all of the time."""
    if stop is None:
        start, stop = 0, start
    if not _REAL.issuperset((start.__class__, stop.__class__, step.__class__)):
        return None
    if dtype is not None and dtype.isbuiltin != 1:
        return None
    if step == 0 or not abs(stop - start) <= FEW * abs(step):  # of NaN too
        return None
    values = numpy.arange(start, stop, step, dtype)
    return xarray.owned(values) if values.dtype in (int64, float64, dtype) else None


def _count(start: Any, stop: Any, step: Any, whole: bool) -> int | None:
    """Return how many steps `arange` takes; None if that is not finite, which NumPy refuses.

    Of whole numbers exactly: their quotient as a float64 may be another one.

    Examples
    --------
    >>> _count(1, 7, 2, True), _count(0, 1, 0.3, False), _count(0, -3, 1, True)
    (3, 4, 0)
    """
    if whole:
        return max(0, -((int(start) - int(stop)) // int(step)))
    length = (stop - start) / step
    return max(0, math.ceil(length)) if math.isfinite(length) else None


def _is_whole(value: object) -> bool:
    """Tell whether a number is a bool or an integer that int64 holds, Python's or of such a dtype.

    With others `arange` counts in float64, as NumPy's promotion of uint64 with int64 has it.
    """
    number = unwrapped(value)
    if isinstance(number, np.bool_):
        return True
    try:
        index = operator.index(number)
    except TracedValueError:
        raise
    except TypeError:
        return False
    return -(1 << 63) <= index < 1 << 63 and getattr(number, "dtype", int64) != np.uint64


def linspace(
    start: complex,
    stop: complex,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: object = None,
    axis: int = 0,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
) -> Any:
    """Return ``num`` evenly spaced values from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop : float or complex
        The ends.
    num : int, default 50
        Number of values.
    endpoint : bool, default True
        Whether ``stop`` is the last value.
    retstep : bool, default False
        Return the distance of neighbours too.
    dtype : dtype, optional
        By default what the ends and a float are together.  To integers, values are rounded
        down.
    axis : int, default 0
        Along which new dimension, if the ends are arrays.
    device, layout : optional
        As for `empty`.

    Returns
    -------
    XArray, or a pair
        The values.

    Raises
    ------
    ShapeError
        If ``num`` is negative.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linspace(0, 1, 5)
    XArray([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    real = start.__class__ in _REAL and stop.__class__ in _REAL and dtype is device is None
    few = num.__class__ is int and 0 <= num <= FEW and axis == 0 and not retstep
    if real and few and _lies_by_rows(layout):
        check_size((num,), float64, "linspace")
        return _own(np.linspace(start, stop, num, endpoint))
    check_device(device, "linspace")
    ends = [_number_or_array(x, "linspace", name) for x, name in ((start, "start"), (stop, "stop"))]
    extents = as_shape(num, "linspace")
    if dtype is None:
        pairs = zip((start, stop), ends, strict=True)
        given: list[Any] = [getattr(x, "dtype", getattr(end, "dtype", None)) for x, end in pairs]
        number = complex if any([isinstance(end, complex) for end in ends]) else float
        kind_ = result_type(*[x for x in given if x is not None], number)
    else:
        kind_ = as_dtype(dtype)
    check_size(extents, kind_, "linspace")
    wide = as_dtype(complex) if kind(kind_) == "c" else float64
    values, step = numpy.linspace(
        *ends, num, endpoint=endpoint, retstep=True, dtype=wide, axis=axis
    )
    if kind(kind_) in "iu":
        np.floor(values, out=values)
    made = _wrap(values, kind_, layout, "linspace")
    if not retstep:
        return made
    return made, container(step) if np.ndim(step) else step if step != step else scalar_of(step)


def _number_or_array(x: object, operation: str, name: str) -> Any:
    """Return a number, or an array's values."""
    if isinstance(x, (HasNode, np.ndarray, list, tuple)):
        return numpy_of(x, operation, Narrow())
    check_numbers(operation, complex, **{name: x})
    return unwrapped(x)


@computed("start", "stop", "base")
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: object = None,
    axis: int = 0,
) -> XArray:
    """Return powers of ``base``, a number or an array, with evenly spaced exponents.

    Other parameters are as for `linspace`.

    Parameters
    ----------
    start, stop : array or number
        Exponents of the first and the last value.
    num : int, default 50
        How many values.
    endpoint : bool, default True
        Whether ``stop`` is the last exponent.
    base : array or number, default 10
        Whose powers.
    dtype : dtype, optional
        Of the result.
    axis : int, default 0
        Where values lie if ``start`` and ``stop`` are arrays.

    Returns
    -------
    XArray
        The values.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.logspace(0, 2, 3)
    XArray([  1.,  10., 100.])
    """
    return numpy.logspace(start, stop, num, endpoint, base, dtype, axis)


@computed("start", "stop")
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: object = None,
    axis: int = 0,
) -> XArray:
    """Return a geometric progression from ``start`` to ``stop``; parameters as for `linspace`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.geomspace(1, 8, 4)
    XArray([1., 2., 4., 8.])
    """
    return numpy.geomspace(start, stop, num, endpoint, dtype, axis)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: object = None,
    order: MemoryOrder = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
) -> XArray:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    N, M : int
        Extents; square by default.
    k : int, default 0
        Which diagonal: positive above the main one.
    dtype : dtype, default float64
        Dtype of the elements.
    order, device, layout : optional
        As for `empty`.

    Returns
    -------
    XArray
        The matrix.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eye(2, 3, k=1, dtype=int)
    XArray([[0, 1, 0],
            [0, 0, 1]])
    """
    check_device(device, "eye")
    layout = ordered(order, layout, "eye")
    shape = as_shape((N, N if M is None else M), "eye")
    try:
        kind_ = float64 if dtype is None else as_dtype(dtype)
    except DTypeError:
        return cast("XArray", call_numpy("eye", (*shape, k, dtype_of(dtype)), {}))
    check_size(shape, kind_, "eye")
    values = np.eye(shape[0], shape[1], k=k, dtype=kind_ if kind_.isbuiltin == 1 else bool)
    return _wrap(values, kind_, layout, "eye")


def identity(n: int, dtype: object = None) -> XArray:
    """Return a square matrix with ones on the diagonal; see `eye`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.identity(2, int)
    XArray([[1, 0],
            [0, 1]])
    """
    return eye(n, dtype=dtype)


def fromfunction(
    function: Callable[..., object],
    shape: ShapeLike,
    *,
    dtype: object = float,
    layout: LayoutLike = None,
    **kwargs: object,
) -> XArray:
    """Return the container whose element ``i, j, …`` is ``function(i, j, …)``.

    The function is called once, with lazy arrays of positions, so it must be made of array
    operations; the result is computed by one kernel without storing the positions.

    Parameters
    ----------
    function : callable
        Takes one array of positions per dimension.
    shape : int or sequence of int
        Extents.
    dtype : dtype, default float64
        Dtype of the positions.
    layout : optional
        As for `empty`.
    **kwargs
        Further arguments of the function.

    Returns
    -------
    XArray
        The values.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int)
    XArray([[ 0,  1,  2],
            [10, 11, 12]])
    """
    extents = as_shape(shape, "fromfunction")
    kind_ = float64 if dtype is None else as_dtype(dtype)
    positions: list[Any] = []
    if math.prod(extents) <= FEW and kind_.isbuiltin == 1:  # small ones are cheaper than planned
        grid = (
            [np.arange(extents[0], dtype=kind_)]
            if len(extents) == 1
            else np.indices(extents, kind_)
        )
        positions = [container(x, []) for x in grid]
    else:
        for axis in range(len(extents)):
            strides = tuple([1 if k == axis else 0 for k in range(len(extents))])
            positions.append(XExpression(Iota(extents, kind_, Strided(extents, strides))))
    made = function(*positions, **kwargs)
    if isinstance(made, XExpression) and made.shape == extents and _lies_by_rows(layout):
        return eval_(made)  # type: ignore[return-value]
    node = values_node(made, None, "fromfunction")
    return _wrap(build.broadcast_to(node, extents), node.dtype, layout, "fromfunction")


def fromiter(iter: Iterable[Any], dtype: object, count: int = -1) -> XArray:
    """Return a container of rank 1 of what an iterable yields.

    Parameters
    ----------
    iter : iterable
        What yields the elements.
    dtype : dtype
        Of the result.
    count : int, default -1
        How many to take; -1 for all.

    Returns
    -------
    XArray
        A vector.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fromiter((k * k for k in range(3)), int)
    XArray([0, 1, 4])
    """
    if dtype not in (float, int):
        if isinstance(dtype, np.dtype) and dtype.shape:  # rows
            return container(np.fromiter(iter, dtype, count))
        if dtype_of(dtype) is not None:
            return np.fromiter(iter, dtype, count)  # type: ignore[call-overload]
    values = list(iter if count < 0 else itertools.islice(iter, count))
    if len(values) < count:
        raise ShapeError(f"fromiter: {count} elements are wanted, there are {len(values)}")
    try:
        wanted = as_dtype(dtype)
    except DTypeError:
        return cast("XArray", as_other(values, dtype))
    if {*map(type, values)} <= _EXACT.get(wanted, frozenset()):
        return _own(np.array(values, wanted))
    try:
        return XArray(values, wanted)
    except DTypeError:
        numbers = numbers_of(values, wanted, "fromiter")
        if numbers is None:
            raise
        return XArray(numbers, wanted)


_EXACT = {float64: frozenset((float, int)), int64: frozenset((int,))}
