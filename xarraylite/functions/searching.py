"""Sorting, searching and counting: the standard's functions, computed with NumPy.

Sorts are stable unless ``stable=False`` or another ``kind`` is asked for.  NumPy's unstable sorts
are several times faster, and give the same wherever no two elements are equal; so they are tried
first, and what they gave is kept if it shows no equal elements whose order could matter.  Positions
of numbers are found by `ordering`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from ..arrays import basic_indexing, few
from ..arrays.advanced_indexing import of_copy
from ..arrays.container import XContainer
from ..arrays.expression import XExpression, handle
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..dtypes.names import NumpyArray, bool_
from ..index.broadcast import check_axis
from ..ir.kind import NODE
from ..operands.gathers import taken
from ..operands.moving import moves
from ..operands.nodes import as_node
from ..operands.tracing import running
from . import ordering
from .arrays_of_numpy import into
from .arrays_of_numpy import numpy as np
from .computed import computed
from .manipulation import reshape

Side: TypeAlias = "Literal['left', 'right']"

#: Elements from which a faster unstable sort is worth being checked, and positions looked for so.
_CHECKED, _MANY = 1 << 8, 1 << 10


@computed("a", arithmetic=False)
def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: str | Sequence[str] | None = None,
    *,
    descending: bool = False,
    stable: bool = True,
) -> XArray:
    """Return the elements in ascending order along an axis.

    Parameters
    ----------
    a : array or expression
        Real or complex; NaN are last.
    axis : int or None, default -1
        Dimension to sort along; None sorts all elements.
    kind : {"quicksort", "heapsort", "mergesort", "stable"}, optional
        NumPy's names of algorithms; the first two are not stable.
    order : str or sequence of str, optional
        Fields to compare records by; numbers have none.
    descending : bool, default False
        The other way round: NaN first.
    stable : bool, default True
        Whether equal elements (0.0 and -0.0) keep their order.

    Returns
    -------
    XArray
        Sorted copy.

    Raises
    ------
    AxisError
        If the axis is out of range.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.sort(xl.asarray([3, 1, 2]), descending=True)
    XArray([3, 2, 1])
    """
    if axis is None:
        a, axis = np.ravel(a), 0
    if order is not None:  # of records, by fields
        made = np.sort(a, axis=axis, kind=kind or "stable", order=order)
        return np.flip(made, axis) if descending else made
    keep = stable and kind in (None, "stable", "mergesort")
    made = np.array(a)  # whose methods cost less than NumPy's functions
    # Integers that are equal are the same; NumPy's fastest sort does not tell zeros apart.
    fast = made.dtype.kind in "biu" or (made.size >= _CHECKED and not _has_negative_zero(made))
    made.sort(axis=axis, kind=kind if not keep else None if fast else "stable")
    if descending:
        if keep and _has_negative_zero(made):
            made = np.sort(np.flip(a, axis), axis=axis, kind="stable")
        made = np.flip(made, axis)
    return made


def _has_negative_zero(values: NumpyArray) -> bool:
    """Tell whether equal elements may differ: there are zeros of both signs, perhaps."""
    if values.dtype.kind not in "fc" or not values.size:
        return False
    size = values.itemsize // (2 if values.dtype.kind == "c" else 1)
    least = np.ascontiguousarray(values).view(f"i{size}").min()
    return int(least) == -1 << (8 * size - 1)  # of all bits the least integer


@computed("a", arithmetic=False)
def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: str | Sequence[str] | None = None,
    *,
    descending: bool = False,
    stable: bool = True,
) -> XArray:
    """Return the positions of the elements in ascending order along an axis.

    Parameters
    ----------
    a, axis, kind, order, descending, stable : optional
        As for `sort`; a stable order has the first of equal elements first.

    Returns
    -------
    XArray
        int64 positions.

    Raises
    ------
    AxisError
        If the axis is out of range.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.argsort(xl.asarray([3, 1, 1]), descending=True)
    XArray([0, 1, 2])
    """
    if order is not None and not descending:
        where: Any = np.argsort(a, axis=axis, kind=kind or "stable", order=order)
        return where
    keep = stable and kind in (None, "stable", "mergesort")
    plain = keep and not descending and axis is not None and isinstance(a, np.ndarray)
    if plain and a.size < _MANY:
        return a.argsort(axis, "stable")
    if axis is None:
        a, axis = np.ravel(a), 0
    if not descending:
        found: Any = _positions(a, axis, kind, keep)
        return found
    last = np.shape(a)[check_axis(axis, np.ndim(a), "argsort")] - 1 if np.ndim(a) else 0
    return last - np.flip(_positions(np.flip(a, axis), axis, kind, keep), axis)


def _positions(x: NumpyArray, axis: int, kind: str | None, stable: bool) -> NumpyArray:
    if not stable:
        return np.argsort(x, axis=axis, kind=kind)
    if np.size(x) < _MANY:
        return np.argsort(x, axis=axis, kind="stable")
    lines = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    found = ordering.positions(lines)
    return np.ascontiguousarray(np.moveaxis(found, -1, axis))


@computed("a", "v", "sorter", arithmetic=False)
def searchsorted(a: Any, v: Any, side: Side = "left", sorter: Any = None) -> XArray:
    """Return where elements would have to be inserted to keep an order.

    Parameters
    ----------
    a : array or expression
        Of rank 1, in ascending order.
    v : array, expression or number
        What to insert.
    side : {"left", "right"}, default "left"
        Before or after equal elements.
    sorter : array of int, optional
        Positions that put ``a`` in order, as `argsort` gives them.

    Returns
    -------
    XArray
        int64 positions, of the shape of ``v``.

    Raises
    ------
    ValueError
        If ``a`` is not of rank 1, or the side is unknown.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.searchsorted(xl.asarray([1, 2, 2, 3]), xl.asarray([2, 9]))
    XArray([1, 4])
    """
    if sorter is not None and np.asarray(sorter).dtype.kind == "u":
        sorter = sorter.astype(np.int64)  # NumPy refuses those of 64 bits
    if isinstance(a, np.ndarray):
        return a.searchsorted(v, side, sorter)
    return np.searchsorted(a, v, side=side, sorter=sorter)


@computed("a", arithmetic=False)
def nonzero(a: Any) -> tuple[XArray, ...]:
    """Return the positions of elements that are not zero, one array per dimension.

    Parameters
    ----------
    a : array or expression
        Of rank 1 or more; NaN is not zero.

    Returns
    -------
    tuple of XArray
        int64 positions in row-major order.

    Raises
    ------
    ValueError
        If the rank is 0.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.nonzero(xl.asarray([[0, 1], [2, 0]]))
    (XArray([0, 1]), XArray([1, 0]))
    """
    return a.nonzero() if isinstance(a, np.ndarray) and a.ndim else np.nonzero(a)


def _positions_in(indices: list[Any]) -> object:
    """Return a list of positions as an array, which machine code takes; ragged ones as they are."""
    try:
        made = np.array(indices)
    except ValueError:
        return indices
    return made if made.size else made.astype(np.int64)


def _inside(indices: Any, extent: int, mode: str) -> Any:
    """Return positions along an extent as a mode of `take` has them."""
    if mode == "raise":
        return _positions_in(indices) if indices.__class__ is list else indices
    if mode not in ("wrap", "clip"):
        raise ValueError(f"take: mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    if isinstance(indices, (list, tuple)) and not len(indices):
        indices = np.empty(0, np.intp)
    if mode == "wrap":
        return np.asarray(indices) % max(extent, 1)
    return np.clip(np.asarray(indices), 0, max(extent - 1, 0))


@moves
def take(
    a: object,
    indices: Any,
    axis: int | None = None,
    out: object = None,
    mode: Literal["raise", "wrap", "clip"] = "raise",
) -> XExpression:
    """Return the elements at some positions along an axis, lazily.

    Parameters
    ----------
    a : array or expression
        What to take from.
    indices : array of int, or int
        Positions; negative ones count from the end.
    axis : int or None
        Which dimension they replace; None takes from the flattened array.
    out : container, optional
        Where to write the result.
    mode : {"raise", "wrap", "clip"}, default "raise"
        What positions outside mean: an error, counting on from the start, or the nearest end.

    Returns
    -------
    XExpression
        The dimension ``axis`` is replaced by those of the indices.

    Raises
    ------
    IndexRangeError
        If a position is out of range, or no integer.
    AxisError
        If the axis is out of range.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.take(xl.asarray([[1, 2, 3], [4, 5, 6]]), xl.asarray([2, 0]), axis=1))
    XArray([[3, 1],
            [6, 4]])
    """
    if axis in (0, -1) and getattr(a, "ndim", 1) == 0:
        axis = None  # the axis of one element
    listed = indices if isinstance(indices, (list, tuple)) else (indices,)
    truths = getattr(indices, "dtype", None) is bool_ or bool in map(type, listed)  # 0 and 1
    if truths or float in map(type, listed):  # cut, as in NumPy, where arrays of floats are refused
        indices = np.asarray(indices).astype(np.int64)
    if isinstance(a, XExpression) and (axis is not None or a.ndim == 1):
        axis = check_axis(0 if axis is None else axis, a.ndim, "take")
        indices, mode = _inside(indices, a.shape[axis], mode), "raise"
        before = (slice(None),) * axis
    if isinstance(a, XContainer) and axis is not None:
        views = indices.__class__ is int and a._kind is not NODE and not running.value
        viewed = basic_indexing.part(a, (*before, indices)) if views else None  # as it is now
        if viewed is not None:
            made = handle(viewed._kind, viewed._shape, viewed.now())
            return into(out, made, "take", rule="unsafe")
        known = few.selected(a, (*before, indices))
        if type(known) is XExpression:  # of no mask
            return into(out, known, "take", rule="unsafe")
    elif isinstance(a, XExpression) and axis is not None and isinstance(indices, np.ndarray):
        again = of_copy(a, (*before, indices)) if indices.dtype.kind in "iu" else None
        if again is not None:
            return into(out, again, "take", rule="unsafe")
    if axis is None:
        return take(reshape(as_array(a, "take"), (-1,)), indices, 0, out, mode)
    node = as_node(a, "take")
    axis = check_axis(axis, len(node.shape), "take")
    indices = _inside(indices, node.shape[axis], mode)
    return into(out, XExpression(taken(node, axis, indices)), "take", rule="unsafe")


@computed("arr", "indices", arithmetic=False)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> XArray:
    """Return the elements at positions that differ from place to place along an axis.

    Parameters
    ----------
    arr : array or expression
        What to take from.
    indices : array of int
        Of the same rank; the other dimensions are broadcast.
    axis : int or None, default -1
        The dimension that positions are along; None flattens ``arr``.

    Returns
    -------
    XArray
        Of the shape of ``indices``, broadcast.

    Raises
    ------
    IndexRangeError
        If a position is out of range, or the indices are no integers.
    ValueError
        If the ranks differ.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[3, 1], [1, 2]])
    >>> xl.take_along_axis(a, xl.argsort(a))
    XArray([[1, 3],
            [1, 2]])
    """
    return np.take_along_axis(arr, indices, axis)


def top_k(
    x: Any, k: int, /, *, axis: int = -1, mode: Literal["largest", "smallest"] = "largest"
) -> tuple[XArray, XArray]:
    """Return the largest or smallest elements along an axis, and where they are.

    Parameters
    ----------
    x : array or expression
        What to select from.
    k : int
        How many, from 0 to the extent.
    axis : int, default -1
        The dimension to select along.
    mode : {"largest", "smallest"}
        Which elements.

    Returns
    -------
    tuple of XArray
        The elements, the most extreme one first, and their positions.

    Raises
    ------
    ValueError
        If there are fewer elements, or the mode is another.
    AxisError
        If the axis is out of range.

    Examples
    --------
    >>> import xarraylite as xl
    >>> values, positions = xl.top_k(xl.asarray([3, 1, 4, 1, 5]), 2)
    >>> values, positions
    (XArray([5, 4]), XArray([4, 2]))
    """
    if mode not in ("largest", "smallest"):
        raise ValueError(f"top_k: mode must be 'largest' or 'smallest', got {mode!r}")
    order = argsort(x, axis, descending=mode == "largest")
    axis = check_axis(axis, order.ndim, "top_k")
    if not 0 <= k <= order.shape[axis]:
        raise ValueError(f"top_k: k is {k}, but axis {axis} has {order.shape[axis]} elements")
    first = order[(slice(None),) * axis + (slice(k),)].copy()
    return take_along_axis(x, first, axis), first
