"""`view` and its relatives: of containers to be written through, of expressions to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, SupportsIndex

import numpy as np

from .._errors import IndexRangeError
from ..arrays import basic_indexing
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.few import values_of
from ..arrays.memo import memoised
from ..arrays.operand import as_array
from ..dtypes.names import NumpyArray, int64
from ..index.box import is_vector
from ..index.broadcast import infer_extent
from ..index.indices import fill_ellipsis, parse_index
from ..ir import build
from ..layout.strided import COLUMN_MAJOR
from ..memory.buffer import Buffer
from ..operands.convert import LayoutLike, as_order
from ..operands.gathers import counted_from_front
from ..operands.moving import moves
from ..runtime.counting import count_use
from .items import SHORT, Pick, Positions
from .picked import XDynamicView, XIndexView, XPicked, leaf_of
from .reshaped import XReshapeView


def view(x: object, /, *items: Any) -> XExpression:
    """Return a view of the elements that one item for each dimension selects.

    Parameters
    ----------
    x : array or expression
        What to look at.
    *items : int, slice, None, ..., `keep` or `drop`
        As in an index; `keep` and `drop` pick positions of their own dimension, any number of them.
        Dimensions that are left out at the end are whole.

    Returns
    -------
    XExpression
        Of a container a view that can be written: an `XView` where strides can say it, else an
        `XDynamicView`.  Of an expression an expression.

    Raises
    ------
    IndexRangeError
        For a position out of range, or more items than dimensions.

    Notes
    -----
    Positions are read when the view is made.  What is assigned is computed first, so
    ``view(a, keep(…))[...] = view(a, drop(…))`` reads the old values; where `keep` repeats a
    position, the last value stays.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.reshape(xl.arange(12), (3, 4))
    >>> xl.view(a, xl.drop(1), xl.range(1, 3))
    XView([[ 1,  2],
           [ 9, 10]])
    >>> xl.eval(xl.view(a * 2, xl.keep(2, 0, 0), 1))
    XArray([18,  2,  2])
    """
    made = basic(x, items)
    return selected(as_array(x, "view"), items) if made is None else made


def _uncommon(x: object, what: Any) -> XIndexView | None:
    """Return None: there is a usual view, if there is one, only in machine code."""
    count_use()
    return None


#: A view of a container by ints, slices, None and dots; of the element at integers, and of that of
#: a container that repeats; of few elements of a vector at positions, and of those for which a
#: condition holds.  Machine code takes the place of each; None: the view is not a usual one.
basic = element = wrapped = indexed = filtered = _uncommon


def selected(array: XExpression, items: Iterable[Any]) -> XExpression:
    """Return the view of an array that items select."""
    given, shape = tuple(items), array.shape
    known = tuple([_described(item, shape) for item in given])
    key, found = _parsed(shape, given) if _UNUSUAL in known else _parsed_again(shape, known)
    if key is None:
        if isinstance(array, XContainer):
            return XDynamicView.of(array, found)
        return taken(array, found)
    view = plain(array, key)
    return taken(view, found) if found else view


def plain(array: XExpression, key: tuple[Any, ...]) -> XExpression:
    """Return the view of an array that ints, slices, None and dots select."""
    view = basic(array, key)
    if view is None and isinstance(array, XContainer):
        view = basic_indexing.part(array, key)  # from which on its kind is known
    return array._view(parse_index(key, array.shape, _no_array).transform) if view is None else view


Parsed = tuple[tuple[Any, ...] | None, dict[int, Positions]]


def _parsed(shape: tuple[int, ...], items: tuple[Any, ...]) -> Parsed:
    """Return items as a plain index, None for everything, and the positions picked of that."""
    plain: list[Any] = []
    picks: dict[int, Positions] = {}
    axis = out = 0
    for item in fill_ellipsis(items, shape):
        if isinstance(item, Pick):
            positions = item.of(shape[axis])
            regular = _slice_of(positions)
            if regular is None:
                picks[out] = positions
            plain.append(slice(None) if regular is None else regular)
        else:
            plain.append(item)
        axis += item is not None
        out += item is None or isinstance(item, Pick | slice)
    whole = picks and all([item == slice(None) for item in plain])
    return None if whole else tuple(plain), picks


#: Stands for an item that is not remembered.
_UNUSUAL: tuple[Any, ...] = ()

_BOUNDS = frozenset((int, type(None)))


def _described(item: Any, shape: tuple[int, ...]) -> Any:
    """Return what an item is remembered by, `_UNUSUAL` if it is long or equal to other things."""
    cls = item.__class__
    if cls is Pick:
        usual = item.is_short(max(shape, default=0) if item.drops else 0)
        return (Pick, item.positions, item.drops) if usual else _UNUSUAL
    if cls is not slice:
        return item if cls in _BOUNDS or item is Ellipsis else _UNUSUAL
    known = (slice, item.start, item.stop, item.step)
    for bound in known[1:]:
        if bound.__class__ not in _BOUNDS:
            return _UNUSUAL
    return known


@lru_cache(maxsize=512)
def _parsed_again(shape: tuple[int, ...], known: tuple[Any, ...]) -> Parsed:
    """Return what was found of items before; nobody writes to the positions."""
    return _parsed(shape, tuple([x[0](*x[1:]) if x.__class__ is tuple else x for x in known]))


def _no_array(item: object) -> bool:
    if is_vector(item):
        raise IndexRangeError(f"view: xl.keep picks positions of a dimension, got {item!r}")
    return False


def _slice_of(positions: Positions) -> slice | None:
    """Return positions as a slice; None if they are not equally far apart, or the same."""
    count = positions.size
    if count == 0:
        return slice(0, 0)
    first = int(positions[0])
    pace = int(positions[1]) - first if count > 1 else 1
    if pace == 0 or (count > 2 and (positions[1:] - positions[:-1] != pace).any()):
        return None
    stop = first + pace * count
    return slice(first, stop if stop >= 0 else None, pace)


@moves
def taken(array: XExpression, picks: Mapping[int, Positions]) -> XExpression:
    """Return an array read through checked positions along some dimensions."""
    if isinstance(array, XPicked):
        return array.take(picks)
    if isinstance(array, XContainer):
        return XDynamicView.of(array, picks)
    node = array.node
    for axis, chosen in picks.items():
        node = build.gather(node, axis, leaf_of(chosen))
    return XExpression(node)


@moves
def pointed(array: XExpression, positions: Positions) -> XExpression:
    """Return an array of checked row-major positions of an array's elements."""
    if isinstance(array, XPicked):
        return XIndexView.of(array.base, array.positions().reshape(-1)[positions])
    if isinstance(array, XContainer):
        return XIndexView.of(array, positions)
    return XExpression(build.gather(build.reshape(array.node, (-1,)), 0, leaf_of(positions)))


def dynamic_view(x: object, items: Sequence[Any], /) -> XExpression:
    """Return the view that a list of items selects; see `view`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.dynamic_view(xl.arange(5), [xl.keep(4, 0)])
    XView([4, 0])
    """
    made = basic(x, items)
    if made is not None:
        return made
    return selected(as_array(x, "dynamic_view"), sequence(items, "dynamic_view"))


def sequence(items: Any, operation: str) -> tuple[Any, ...]:
    """Return what a sequence has.

    Raises
    ------
    IndexRangeError
        For anything else, and a text.
    """
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise IndexRangeError(f"{operation}: a sequence of indices is needed, got {items!r}")
    return tuple(items)


def index_view(x: object, indices: Any, /) -> XExpression:
    """Return the one-dimensional view of the elements at listed indices.

    Parameters
    ----------
    x : array or expression
        What to look at.
    indices : sequence of sequences of int
        One index with an integer for each dimension per element; of one dimension integers will do.

    Returns
    -------
    XExpression
        Of a container an `XIndexView`, which can be written; of repeated indices the last value
        stays.

    Raises
    ------
    IndexRangeError
        For an index out of range, or not of one integer per dimension.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2, 3], [4, 5, 6]])
    >>> v = xl.index_view(a, [(0, 0), (1, 2), (0, 1)])
    >>> v += 10
    >>> v
    XIndexView([11, 16, 12])
    """
    if indices.__class__ is list and indices and all([i.__class__ is int for i in indices]):
        indices = np.array(indices)
    made = indexed(x, indices)
    if made is not None:
        return made
    found = _few_positions(indices, x._shape) if isinstance(x, XContainer) else None
    if found is not None:
        return XIndexView.of(x, found)  # type: ignore[arg-type]
    array = as_array(x, "index_view")
    return pointed(array, flat_positions(indices, array.shape, "index_view"))


def flat_positions(indices: Any, shape: tuple[int, ...], operation: str) -> Positions:
    """Return the row-major position of each of a list of indices.

    Raises
    ------
    IndexRangeError
        For an index out of range, or not of one integer per dimension.
    """
    rank = len(shape)
    few = _few_positions(indices, shape)
    if few is not None:
        return few
    if not hasattr(indices, "dtype"):
        indices = list(sequence(indices, operation))
    try:
        listed = values_of(indices)
    except (TypeError, ValueError):
        listed = np.zeros(1, object)  # which is refused below
    listed = listed.reshape(0, rank) if listed.size == 0 and len(indices) == 0 else listed
    if listed.ndim == 1 and rank == 1:
        listed = listed[:, None]
    integers = not listed.size or listed.dtype.kind in "iu"
    if listed.ndim != 2 or listed.shape[1] != rank or not integers:
        raise IndexRangeError(
            f"{operation}: indices must be a list with {rank} integers each, for shape {shape}"
        )
    total: Positions | None = None
    for axis, extent in enumerate(shape if listed.size else ()):
        along = Buffer.allocate(8 * len(listed)).array(int64, (len(listed),))
        try:
            counted_from_front(listed[:, axis], extent, along)
        except IndexRangeError:
            bad = tuple(map(int, listed[_out_of_range(listed[:, axis], extent)][0]))
            raise IndexRangeError(
                f"{operation}: index {bad} is out of range for shape {shape}"
            ) from None
        total = along if total is None else total * extent + along
    return np.zeros(len(listed), np.int64) if total is None else total


#: What each of a few indices may be.
_LISTED = (tuple, list)


def _few_positions(indices: Any, shape: tuple[int, ...]) -> Positions | None:
    """Return the positions of a short list of tuples or lists of ints; None for anything else."""
    if indices.__class__ is np.ndarray and indices.dtype is int64 and indices.ndim == 2:
        indices = indices.tolist() if len(indices) <= SHORT else None
    if indices.__class__ is not list or not 0 < len(indices) <= SHORT:
        return None
    rank, found = len(shape), []
    for index in indices:
        if index.__class__ not in _LISTED or len(index) != rank:
            return None
        at = 0
        for i, extent in zip(index, shape, strict=False):
            if i.__class__ is not int:
                return None
            if i < 0:
                i += extent
            if not 0 <= i < extent:
                return None
            at = at * extent + i
        found.append(at)
    return np.array(found, np.int64)


def _out_of_range(given: NumpyArray, extent: int) -> NumpyArray:
    return (given >= extent) | ((given < -extent) if given.dtype.kind == "i" else False)


def filter(x: object, condition: object, /, order: LayoutLike = None) -> XExpression:
    """Return the one-dimensional view of the elements where a condition holds.

    The condition is evaluated when the view is made, and its positions are kept: what is written
    later changes none of them.

    Parameters
    ----------
    x : array or expression
        What to look at.
    condition : array or expression of bool
        Of the shape of ``x``, or one that broadcasts to it.
    order : {"row_major", "column_major"}, optional
        Order of the elements; row-major by default.

    Returns
    -------
    XExpression
        Of a container an `XIndexView`, which can be written.

    Raises
    ------
    IndexRangeError
        If the condition is not bool, or does not broadcast to the shape.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([3, -1, 4, -1])
    >>> xl.filter(a, a < 0)[...] = 0
    >>> a
    XArray([3, 0, 4, 0])
    """
    made = filtered(x, condition) if order is None else None
    if made is not None:
        return made
    array = as_array(x, "filter")
    return pointed(array, where_true(condition, array.shape, order))


def where_true(condition: object, shape: tuple[int, ...], order: LayoutLike = None) -> Positions:
    """Return the row-major positions at which a condition holds, in an order of traversal."""
    mask = mask_of(condition, shape, "filter")
    if order is not None and as_order(order, "filter") is COLUMN_MAJOR:
        numbers = np.arange(mask.size, dtype=np.int64).reshape(shape)
        return numbers.T[mask.T]
    return mask.reshape(-1).nonzero()[0].astype(np.int64, copy=False)


def mask_of(
    condition: object, shape: tuple[int, ...], operation: str
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return a condition's values, of a shape.

    Raises
    ------
    IndexRangeError
        If it is not bool, or does not broadcast to the shape.
    """
    values = values_of(condition)
    if values.shape == shape and values.dtype.kind == "b":
        return values
    if values.dtype.kind != "b":
        raise IndexRangeError(f"{operation}: the condition must be bool, got {values.dtype}")
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise IndexRangeError(
            f"{operation}: a condition of shape {values.shape} does not broadcast to {shape}"
        ) from None


@memoised
def reshape_view(
    x: object,
    shape: SupportsIndex | Iterable[SupportsIndex],
    /,
    order: LayoutLike = None,
) -> XExpression:
    """Return the elements under another shape, as a view that can be written whatever the strides.

    Parameters
    ----------
    x : array or expression
        What to look at.
    shape : int or sequence of int
        New extents of the same size; one may be -1.
    order : {"row_major", "column_major"}, optional
        The order in which elements are taken, and laid out under the new shape.

    Returns
    -------
    XExpression
        Of a container an `XView` where strides can say it, else an `XReshapeView` (`xl.reshape`
        gives an expression there).

    Raises
    ------
    ShapeError
        If the sizes differ.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2, 3], [4, 5, 6]])
    >>> xl.reshape_view(a, (3, 2), "column_major")
    XReshapeView([[1, 5],
                  [4, 3],
                  [2, 6]])
    """
    array = as_array(x, "reshape_view")
    target = infer_extent(shape, array.size)
    if order is not None and as_order(order, "reshape_view") is COLUMN_MAJOR:
        turned: XExpression = _reshaped(array.T, target[::-1]).T
        return turned
    return _reshaped(array, target)


@moves
def _reshaped(array: XExpression, shape: tuple[int, ...]) -> XExpression:
    found = array._reshaped(shape)
    if isinstance(array, XContainer) and not isinstance(found, XContainer):
        return XReshapeView.of(array, shape)
    return found


@memoised
def flatten(x: object, /, order: LayoutLike = None) -> XExpression:
    """Return the elements as a view of one dimension, in row- or column-major order.

    Parameters
    ----------
    x : array or expression
        What to flatten.
    order : str or layout
        Row- or column-major.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((2, 3))
    >>> xl.flatten(a[:, :2])[...] = [1, 2, 3, 4]
    >>> a
    XArray([[1., 2., 0.],
            [3., 4., 0.]])
    """
    return reshape_view(x, (-1,), order)
