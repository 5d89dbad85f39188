"""Elements by index, and walks: along axes, along lines, through all elements in an order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, cast

import numpy as np

from .._errors import IndexRangeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.memo import memoised
from ..arrays.operand import as_array
from ..index import transform as steps
from ..index.broadcast import as_shape, check_axis
from ..index.indices import parse_index
from ..layout.strided import COLUMN_MAJOR, Strided
from ..operands.convert import LayoutLike, as_order
from . import selection  # whose functions machine code replaces
from .items import Positions, integers


def at(x: object, /, *index: SupportsIndex) -> XExpression:
    """Return the view of one element; there must be an integer in range for each dimension.

    Parameters
    ----------
    x : array
        Whose element.
    *index : int
        One for each dimension; negative ones count from the end.

    Returns
    -------
    XExpression
        A view of rank 0.

    Raises
    ------
    IndexRangeError
        For an integer out of range, or too few or too many of them.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2], [3, 4]])
    >>> xl.at(a, 1, 0)[...] = 30
    >>> int(xl.at(a, 1, 0))
    30
    """
    made = selection.element(x, index)
    if made is not None:
        return made
    array, index = as_array(x, "at"), integers(index, "at")
    if len(index) != array.ndim:
        raise IndexRangeError(f"at: {array.ndim} integers are needed, got {index}")
    return selection.plain(array, index)


def periodic(x: object, /, *index: SupportsIndex) -> XExpression:
    """Return the view of one element of an array that repeats in every dimension.

    Parameters
    ----------
    x : array
        Whose element.
    *index : int
        One for each dimension, of any size.

    Returns
    -------
    XExpression
        A view of rank 0.

    Raises
    ------
    IndexRangeError
        For too few or too many integers, or a dimension without elements.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.periodic(xl.asarray([[1, 2], [3, 4]]), 2, -3))
    2
    """
    made = selection.wrapped(x, index)
    if made is not None:
        return made
    array, index = as_array(x, "periodic"), integers(index, "periodic")
    shape = array.shape
    if len(index) != len(shape) or 0 in shape:
        raise IndexRangeError(f"periodic: index {index} in an array of shape {shape}")
    return selection.plain(array, tuple([i % n for i, n in zip(index, shape, strict=True)]))


def in_bounds(x: object, /, *index: SupportsIndex) -> bool:
    """Tell whether there is an element at an index: one integer from 0 on for each dimension.

    Parameters
    ----------
    x : array
        In which to look.
    *index : int
        Any number.

    Returns
    -------
    bool
        False too for too many, or negative ones.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((2, 3))
    >>> xl.in_bounds(a, 1, 2), xl.in_bounds(a, 1, 3), xl.in_bounds(a, 1)
    (True, False, False)
    """
    shape = x._shape if isinstance(x, XExpression) else as_array(x, "in_bounds").shape
    inside = len(index) == len(shape)
    for axis, i in enumerate(index):
        if i.__class__ is not int:
            (i,) = integers((i,), "in_bounds")
        if inside and not 0 <= i < shape[axis]:
            inside = False
    return inside


@memoised
def flat(x: object, /, order: LayoutLike = None) -> XExpression:
    """Return all elements as a view of one dimension, in an order of traversal.

    Parameters
    ----------
    x : array or expression
        What to walk through.
    order : {"row_major", "column_major", "storage"}, optional
        Row-major by default; ``"storage"`` is the order in memory, xtensor's.

    Returns
    -------
    XExpression
        Of a container a view that can be written, read by index and iterated over.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2], [3, 4]], layout="column_major")
    >>> [int(i) for i in xl.flat(a)], [int(i) for i in xl.flat(a, "storage")]
    ([1, 2, 3, 4], [1, 3, 2, 4])
    """
    array = as_array(x, "flat")
    if order != "storage":
        return selection.reshape_view(array, (-1,), order)
    if isinstance(array, XContainer) and isinstance(array.map, Strided):
        place = array.map
        if place.is_contiguous():
            return array._over(Strided((place.size,), (1,), place.bounds()[0]))
        falling = sorted(range(place.ndim), key=lambda k: -abs(place.strides[k]))
        backwards = tuple([slice(None, None, -1 if s < 0 else 1) for s in place.strides])
        step = parse_index(backwards, array.shape, lambda item: False).transform
        forwards = array._view(step)
        return selection.reshape_view(forwards._view(steps.permute(forwards.shape, falling)), (-1,))
    return selection.reshape_view(array, (-1,))


def iter_axis(x: object, /, axis: SupportsIndex = 0) -> Iterator[XExpression]:
    """Yield the sub-arrays at the positions of one axis, as views without it.

    Parameters
    ----------
    x : array
        What to walk through.
    axis : int
        Along which dimension.

    Raises
    ------
    AxisError
        If there is no such axis.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2, 3], [4, 5, 6]])
    >>> [part.tolist() for part in xl.iter_axis(a, 1)]
    [[1, 4], [2, 5], [3, 6]]
    """
    array, number = _walked(x, axis, "iter_axis")
    if number == 0:
        return _views(array, range(array.shape[0]))
    before = (itertools.repeat(_ALL),) * number
    return _views(array, zip(*before, range(array.shape[number]), strict=False))


#: The slice of a whole dimension.
_ALL = slice(None)


def _walked(x: object, axis: SupportsIndex, operation: str) -> tuple[XExpression, int]:
    array = x if isinstance(x, XContainer) else as_array(x, operation)
    return array, check_axis(axis, len(array.shape), operation)


def _views(array: XExpression, keys: Iterable[Any]) -> Iterator[XExpression]:
    """Return the views that indices select, each an integer or with one at least."""
    if isinstance(array, XContainer) and len(array._shape) > 1:
        return map(array.__getitem__, keys)
    every = (key if key.__class__ is tuple else (key,) for key in keys)
    return map(selection.plain, itertools.repeat(array), every)  # also of one element


def iter_lines(
    x: object, /, axis: SupportsIndex = -1, order: LayoutLike = None
) -> Iterator[XExpression]:
    """Yield every line along an axis, as views of one dimension.

    Parameters
    ----------
    x : array or expression
        What to walk through.
    axis : int, default -1
        Direction of the lines.
    order : {"row_major", "column_major", "storage"}, optional
        In which order the other dimensions are walked through, row-major by default;
        ``"storage"`` takes neighbours in memory first.

    Yields
    ------
    XExpression
        Of a container views that can be written.

    Raises
    ------
    AxisError
        If there is no such axis.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2, 3], [4, 5, 6]])
    >>> for line in xl.iter_lines(a, 0):
    ...     line -= line[0]
    >>> a
    XArray([[0, 0, 0],
            [3, 3, 3]])
    """
    array, number = _walked(x, axis, "iter_lines")
    shape = array.shape
    if order is None and number == 1 and len(shape) == 2:
        return _views(array, range(shape[0]))  # the rows
    if order is None:
        ranges: list[Any] = list(map(range, shape))
        ranges[number:] = [(_ALL,), *ranges[number + 1 :]] if number + 1 < len(shape) else []
        return _views(array, itertools.product(*ranges))
    others = [k for k in range(len(shape)) if k != number]
    if order == "storage":
        if isinstance(array, XContainer) and isinstance(array.map, Strided):
            paces = array.map.strides
            others.sort(key=lambda k: -abs(paces[k]))
    elif as_order(order, "iter_lines") is COLUMN_MAJOR:
        others.reverse()
    places = [others.index(k) if k != number else -1 for k in range(len(shape))]
    walk = itertools.product(*[range(shape[k]) for k in others])
    return _views(array, (tuple([(*index, _ALL)[k] for k in places]) for index in walk))


def ravel_index(indices: Any, shape: Any, /, order: LayoutLike = None) -> Positions | int:
    """Return the position of an index, or of each of a list of them, among a shape's elements.

    Parameters
    ----------
    indices : sequence of int, or of sequences of int
        One integer in range for each dimension.  For a shape of one dimension integers are a list.
    shape : sequence of int
        The shape.
    order : {"row_major", "column_major"}, optional
        How positions are counted; row-major by default.

    Returns
    -------
    int or ndarray of int64
        The position, or one for each index of a list.

    Raises
    ------
    IndexRangeError
        For an index out of range, or not of one integer per dimension.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.ravel_index((1, 2), (2, 3)), xl.ravel_index([(0, 1), (1, 2)], (2, 3)).tolist()
    (5, [1, 5])
    """
    extents = as_shape(shape, "ravel_index")
    alone = isinstance(indices, tuple | list) and all(np.ndim(i) == 0 for i in indices)
    if alone and indices and len(extents) > 1:
        return int(cast("Positions", ravel_index([indices], shape, order))[0])
    if order is not None and as_order(order, "ravel_index") is COLUMN_MAJOR:
        turned = [tuple(index)[::-1] for index in indices]
        return selection.flat_positions(turned, extents[::-1], "ravel_index")
    return selection.flat_positions(indices, extents, "ravel_index")
