"""Users' functions of parts of arrays, and iteration over positions."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .._errors import ShapeError
from ..arrays import xarray
from ..arrays.evaluation import eval_
from ..arrays.expression import XExpression, apply
from ..arrays.few import values_of
from ..arrays.operand import as_array
from ..arrays.ownership import remembered
from ..assignment.elements import FEW
from ..dtypes.names import NumpyArray, bool_
from ..index.broadcast import as_shape, check_axis
from ..operands import tracing
from ..operands.nodes import HasNode, as_node
from ..operands.non_numeric import is_not_ours, or_numpy
from ..ops.table import OPS
from .arrays_of_numpy import Narrow, container, numpy_of
from .conversion import asarray
from .creation import ShapeLike, zeros
from .manipulation import broadcast_to, expand_dims


@or_numpy
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: object, *args: Any, **kwargs: Any
) -> Any:
    """Return what a function makes of each vector along an axis.

    Parameters
    ----------
    func1d : callable
        Takes a container of rank 1, and returns a number or an array.
    axis : int
        Along which dimension.
    arr : array or expression
        What to look at.
    *args, **kwargs
        Further arguments of the function.

    Returns
    -------
    XArray
        The axis is replaced by the dimensions of what the function returns; NumPy's array where
        that is text, or has a mask.

    Raises
    ------
    AxisError
        If the axis is out of range.
    ShapeError
        If there is no vector to call the function with.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.apply_along_axis(lambda u: u[-1] - u[0], 1, xl.asarray([[1, 5], [2, 3]]))
    XArray([4, 1])
    """
    values = np.asarray(as_array(arr, "apply_along_axis"))
    along = check_axis(axis, values.ndim, "apply_along_axis")
    if not values.size and 0 in (outer := np.delete(values.shape, along)):
        raise ShapeError(f"apply_along_axis: {outer} has no vectors to call the function with")

    def of_vector(vector: NumpyArray) -> Any:
        few = xarray.owned(vector) if vector.size <= FEW else None
        made = func1d(container(vector) if few is None else few, *args, **kwargs)
        return values_of(made) if isinstance(made, HasNode) else made

    joined = np.apply_along_axis(of_vector, along, values)
    return joined if is_not_ours(joined) else container(joined, [])


def apply_over_axes(func: Callable[..., Any], a: object, axes: int | Iterable[int]) -> Any:
    """Return what a reducer makes of an array along one axis after the other, dimensions kept.

    Parameters
    ----------
    func : callable
        Called with an array and an axis.
    a : array or expression
        What to look at.
    axes : int or sequence of int
        Along which dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.apply_over_axes(xl.sum, xl.ones((2, 3)), (0, 1)))
    XArray([[6.]])
    """
    made: Any = as_array(a, "apply_over_axes")
    rank = made.ndim
    for axis in axes if isinstance(axes, Iterable) else [axes]:
        along = check_axis(axis, rank, "apply_over_axes")
        made = func(made, along)
        if made.ndim < rank:
            made = expand_dims(made, axis=along)
    return made


def piecewise(
    x: object, condlist: Sequence[Any], funclist: Sequence[Any], *args: Any, **kw: Any
) -> XExpression:
    """Return for each element what the function of the last condition that holds gives.

    Parameters
    ----------
    x : array or expression
        Whose elements functions are called with: those for which the condition holds.
    condlist : sequence of arrays of bool
        Where each function is used.
    funclist : sequence of callable or number
        As many as conditions, or one more for the rest, which is 0 otherwise.
    *args, **kw
        Further arguments of the functions.

    Returns
    -------
    XArray
        Of the dtype of ``x``, as NumPy's.  While a function is traced, lazy: functions are called
        with all elements.

    Raises
    ------
    ShapeError
        If the numbers of conditions and functions do not fit.

    Examples
    --------
    >>> import xarraylite as xl
    >>> x = xl.asarray([-2.0, 1.0, 3.0])
    >>> xl.piecewise(x, [x < 0, x >= 2], [lambda u: -u, 7]).tolist()
    [2.0, 0.0, 7.0]
    """
    array = as_array(x, "piecewise")
    given: Any = condlist
    one = np.isscalar(given) or getattr(given, "ndim", 1) == 0
    if one or (array.ndim and np.ndim(given[0]) == 0):
        given = [given]
    conditions, functions = list(given), list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ShapeError(
            f"piecewise: {len(functions)} functions for {len(conditions)} conditions; as many, or "
            "one more, are needed"
        )
    rest = functions.pop() if len(functions) > len(conditions) else 0
    if tracing.is_active():
        made = XExpression(as_node(_value(rest, array, args, kw), "piecewise")).astype(array.dtype)
        for condition, function in zip(conditions, functions, strict=True):
            part = _value(function, array, args, kw)
            made = apply(OPS["where"], condition, part, made).astype(array.dtype)
        return broadcast_to(made, array.shape)
    found: list[Any] = [
        eval_(x) if isinstance(x, XExpression) else asarray(x) for x in (*conditions, array)
    ]
    values = found.pop()
    holds: list[Any] = [x if x.dtype is bool_ else x.astype(bool, copy=False) for x in found]
    if rest.__class__ is not int or rest:
        elsewhere = eval_(apply(OPS["logical_not"], functools.reduce(operator.or_, holds)))
        holds, functions = [elsewhere, *holds], [rest, *functions]
    end = zeros(array.shape, array.dtype)
    for where, function in zip(holds, functions, strict=True):
        if not callable(function):
            end[where] = function
            continue
        chosen = values[where]
        if chosen.size:
            end[where] = function(chosen, *args, **kw)
    return end


def _value(function: Any, array: XExpression, args: Any, kw: Any) -> Any:
    return function(array, *args, **kw) if callable(function) else function


def ndindex(*shape: ShapeLike) -> Iterator[tuple[int, ...]]:
    """Iterate over the positions of a shape, in row-major order.

    Examples
    --------
    >>> import xarraylite as xl
    >>> list(xl.ndindex(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    one = len(shape) == 1 and isinstance(shape[0], Iterable)
    return np.ndindex(as_shape(shape[0] if one else shape, "ndindex"))  # type: ignore[arg-type]


def ndenumerate(arr: object) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Iterate over positions and elements, which are NumPy's scalars, in row-major order.

    Examples
    --------
    >>> import xarraylite as xl
    >>> [(place, int(value)) for place, value in xl.ndenumerate(xl.asarray([[1, 2]]))]
    [((0, 0), 1), ((0, 1), 2)]
    """
    own = remembered(arr)  # which the loop may write
    return iter(np.ndenumerate(np.asarray(numpy_of(own, "ndenumerate", Narrow()))))
