"""Views that strides can say beyond slices: other strides, parts of elements, parents' indices."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, SupportsIndex

import numpy as np

from .._errors import BoundsError, DTypeError, IndexRangeError, LayoutError, ShapeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.memo import memoised
from ..arrays.operand import as_array, as_matrix
from ..arrays.ownership import remembered
from ..dtypes.names import as_dtype, dtype_name, kind
from ..index import transform as steps
from ..index.broadcast import as_shape, check_axis
from ..index.transform import FIXED
from ..ir import build
from ..layout.strided import Strided, row_major_strides
from ..layout.tiled import TiledMap
from ..operands.gathers import index_leaf
from ..operands.moving import moves
from . import selection  # whose functions machine code replaces
from .items import Pick, integers
from .picked import XPicked, check_index, places


@moves
@memoised
def as_strided(
    x: object,
    /,
    shape: SupportsIndex | Iterable[SupportsIndex],
    strides: Sequence[SupportsIndex] | None = None,
    offset: SupportsIndex = 0,
) -> XExpression:
    """Return the memory of an array under another shape and other strides.

    Parameters
    ----------
    x : array or expression
        Of strided memory strides and offset count its elements in memory from its first one; of
        anything else, elements in row-major order.
    shape : int or sequence of int
        Extents of the view.
    strides : sequence of int, optional
        In elements, not bytes; row-major by default.
    offset : int, optional
        Where the view begins.

    Returns
    -------
    XExpression
        Of a container a view that can be written unless it repeats elements.

    Raises
    ------
    BoundsError
        If the view reaches beyond what ``x`` itself reaches: nothing outside is ever read.
    LayoutError
        If there is not one stride per dimension.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.as_strided(xl.arange(5), (3, 3), (1, 1))
    XView([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]])
    """
    array = as_array(x, "as_strided")
    extents = as_shape(shape, "as_strided")
    paces = row_major_strides(extents) if strides is None else _integers(strides)
    if len(paces) != len(extents):
        raise LayoutError(f"as_strided: strides {paces} are not one for each of {extents}")
    (first,) = _integers((offset,))
    place = Strided(extents, paces, first)
    strided = isinstance(array, XContainer) and isinstance(array.map, Strided)
    own = array.map if strided else Strided.row_major(array.shape)  # type: ignore[attr-defined]
    low, high = own.bounds()
    first, last = place.bounds()
    if place.size and not (low <= own.offset + first and own.offset + last <= high):
        raise BoundsError(
            f"as_strided: shape {extents} with strides {paces} and offset {place.offset} reaches "
            f"elements {first} to {last} from the first of {build.describe(array.node)}, which has "
            f"{low - own.offset} to {high - own.offset}"
        )
    if strided:
        assert isinstance(array, XContainer)
        return array._over(replace(place, offset=own.offset + place.offset))
    return selection.pointed(array, places(place))


def _integers(values: Iterable[SupportsIndex]) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, values))
    except TypeError:
        raise LayoutError(
            f"as_strided: strides and offset must be integers, got {values!r}"
        ) from None


@moves
def sliding_window_view(
    x: object,
    window_shape: SupportsIndex | Iterable[SupportsIndex],
    axis: SupportsIndex | Iterable[SupportsIndex] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> XExpression:
    """Return all windows of an array: a view.

    Parameters
    ----------
    x : array or expression
        What to look at.  A lazy one is computed, unless it is traced or stored.
    window_shape : int or sequence of int
        Extents of the windows.
    axis : int or sequence of int, optional
        Along which dimensions; all by default.
    subok, writeable : bool, default False
        Accepted as NumPy does; whether the view can be written, element by element where windows
        share them.

    Returns
    -------
    XExpression
        The positions of the windows, then their own dimensions.  Of strided memory a view; of
        tiled memory, lazy.

    Raises
    ------
    ShapeError
        If a window is larger than the array.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.sliding_window_view(xl.arange(4), 2)
    XView([[0, 1],
           [1, 2],
           [2, 3]])
    """
    array = remembered(as_array(x, "sliding_window_view"))
    extents = as_shape(window_shape, "sliding_window_view")
    given = range(array.ndim) if axis is None else axis
    listed = given if isinstance(given, Iterable) else [given]
    axes = [check_axis(a, array.ndim, "sliding_window_view") for a in listed]
    if len(axes) != len(extents):
        raise ShapeError(f"sliding_window_view: {len(extents)} extents for {len(axes)} axes")
    starts = list(array.shape)
    for axis_, extent in zip(axes, extents, strict=True):
        starts[axis_] -= extent - 1
        if starts[axis_] < 1:
            raise ShapeError(
                f"sliding_window_view({build.describe(array.node)}): a window of {extent} along "
                f"axis {axis_}, which has {array.shape[axis_]} elements"
            )
    if isinstance(array, XContainer) and isinstance(array.map, Strided):
        strides = array.map.strides
        strides += tuple([strides[axis_] for axis_ in axes])
        made: Any = array._over(Strided((*starts, *extents), strides, array.map.offset))
        if not writeable:
            made.flags.writeable = False
        return made  # type: ignore[no-any-return]
    node = array.node
    for axis_, extent in zip(axes, extents, strict=True):
        where = np.arange(node.shape[axis_] - extent + 1)[:, None] + np.arange(extent)
        node = build.gather(node, axis_, index_leaf(where, node.shape[axis_]))
        order = [k for k in range(len(node.shape)) if k != axis_ + 1] + [axis_ + 1]
        node = build.view(node, steps.permute(node.shape, order))
    return XExpression(node)


def strided_view(x: object, items: Sequence[Any], /) -> XExpression:
    """Return the view that a list of integers, ranges, `newaxis` and `ellipsis` selects.

    xtensor's form with a shape and strides is `as_strided`.

    Raises
    ------
    IndexRangeError
        For `keep` and `drop`, which `dynamic_view` takes.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.strided_view(xl.zeros((3, 2, 4)), [xl.range(0, 1), xl.ellipsis, xl.newaxis, 1]).shape
    (1, 2, 1)
    """
    made = selection.basic(x, items)
    if made is not None:
        return made
    given = selection.sequence(items, "strided_view")
    if any(isinstance(item, Pick) for item in given):
        raise IndexRangeError("strided_view: no strides say keep or drop; use dynamic_view")
    return selection.selected(as_array(x, "strided_view"), given)


def row(x: object, index: SupportsIndex, /) -> XExpression:
    """Return the view of one row of an array of two dimensions.

    Raises
    ------
    ShapeError
        For another rank.
    IndexRangeError
        For an index out of range, or no integer.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.row(xl.asarray([[1, 2], [3, 4]]), 1)
    XView([3, 4])
    """
    return _line(x, index, (), "row")


def col(x: object, index: SupportsIndex, /) -> XExpression:
    """Return the view of one column of an array of two dimensions; see `row`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.col(xl.asarray([[1, 2], [3, 4]]), -1)
    XView([2, 4])
    """
    return _line(x, index, (slice(None),), "col")


def _line(x: object, index: SupportsIndex, before: tuple[slice, ...], name: str) -> XExpression:
    made = selection.basic(x, (*before, index)) if index.__class__ is int else None
    if made is not None and made.ndim == 1:
        return made
    return selection.selected(as_matrix(x, name), (*before, *integers((index,), name)))


@memoised
def block_view(x: object, /, blocks: SupportsIndex | Iterable[SupportsIndex]) -> XExpression:
    """Return an array as a grid of equal blocks: first where a block is, then its elements.

    Reducers over the last half of the dimensions give one result for each block.

    Parameters
    ----------
    x : array or expression
        What to look at.
    blocks : int or sequence of int
        Extents of a block, one for each dimension.

    Returns
    -------
    XExpression
        Of twice the rank; of a container a view that can be written.

    Raises
    ------
    ShapeError
        Unless blocks fill every dimension.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.reshape(xl.arange(24), (4, 6))
    >>> b = xl.block_view(a, (2, 3))
    >>> b.shape, xl.sum(b, axis=(2, 3)).tolist()
    ((2, 2, 2, 3), [[24, 42], [96, 114]])
    >>> b[1, 0] = 0
    >>> a[2].tolist()
    [0, 0, 0, 15, 16, 17]
    """
    array, sizes = as_array(x, "block_view"), as_shape(blocks, "block_view")
    whole = array.shape
    fits = len(sizes) == len(whole) and all(
        [size > 0 and extent % size == 0 for size, extent in zip(sizes, whole, strict=False)]
    )
    if not fits:
        raise ShapeError(
            f"block_view: blocks of {sizes} do not fill the shape {whole}; pad or cut it first"
        )
    split = [n for size, extent in zip(sizes, whole, strict=True) for n in (extent // size, size)]
    order = [*range(0, len(split), 2), *range(1, len(split), 2)]
    made: XExpression = selection.reshape_view(array, split)
    return made._view(steps.permute(made.shape, order))


@memoised
def offset_view(x: object, /, dtype: object, offset: SupportsIndex = 0) -> XContainer | XPicked:
    """Return a part of each element, as the imaginary part of a complex one, to be written through.

    Parameters
    ----------
    x : container or view
        Memory, tiled or not.
    dtype : dtype
        Of the part; its size divides that of an element.
    offset : int, default 0
        Which part of the element, counted in parts.

    Returns
    -------
    XContainer or XPicked
        A view of the same shape.

    Raises
    ------
    DTypeError
        If elements have no such part.
    LayoutError
        If there is no memory, or its elements do not lie there by their own width.

    Examples
    --------
    >>> import xarraylite as xl
    >>> z = xl.asarray([1 + 2j, 3 + 4j])
    >>> xl.offset_view(z, xl.float64, 1)[...] = 0
    >>> z
    XArray([1.+0.j, 3.+0.j])
    """
    inner, which = as_dtype(dtype), operator.index(offset)
    if not isinstance(x, XContainer | XPicked):
        raise LayoutError(f"offset_view: memory is needed, got {_shown(x)}")
    place, width = (x.base if isinstance(x, XPicked) else x).map, x.dtype.itemsize
    if place.bits_of(width) != 8 * width:
        raise LayoutError(
            f"offset_view: elements of {x.summary()} take {place.bits_of(width)} bits in memory"
        )
    count, rest = divmod(width, inner.itemsize)
    if rest or not 0 <= which < count:
        raise DTypeError(
            f"offset_view: an element of {x.summary()} has no part {which} of {dtype_name(inner)}"
        )
    return _part(x, inner, count, which)


def _part(
    x: XContainer | XPicked, dtype: np.dtype[Any], count: int, which: int
) -> XContainer | XPicked:
    if isinstance(x, XPicked):
        base = _part(x.base, dtype, count, which)
        assert isinstance(base, XContainer)
        return x.over(base)
    made: XContainer = x._view_class._wrap(x.buffer, x.map.part(count, which), dtype)
    return made


def _shown(x: object) -> str:
    return build.describe(x.node) if isinstance(x, XExpression) else type(x).__name__


def part(x: object, number: int) -> XContainer | XPicked | None:
    """Return the real (0) or imaginary (1) part of memory as a view to be written through.

    None where there is no such memory: of expressions, and the imaginary part of real numbers.
    """
    if isinstance(x, XPicked):
        base = part(x.base, number)
        return x.over(base) if isinstance(base, XContainer) else None
    if not isinstance(x, XContainer):
        return None
    if kind(x.dtype) == "c":
        own = np.dtype(f"f{x.dtype.itemsize // 2}")
        return x._view_class._wrap(x.buffer, x.map.part(2, number), own)
    return x._view_class._wrap(x.buffer, x.map, x.dtype) if number == 0 else None


def parent_index(
    view: XContainer | XPicked, index: Sequence[SupportsIndex], parent: XContainer
) -> tuple[int, ...]:
    """Return where in a container the element at an index of one of its views is.

    Parameters
    ----------
    view : container or view
        A view of ``parent``, or a view of a view of it.
    index : sequence of int
        One for each dimension of the view.
    parent : container
        Strided memory whose elements do not overlap, or a whole tiled array.

    Returns
    -------
    tuple of int
        One for each dimension of the parent.

    Raises
    ------
    IndexRangeError
        If the index is out of range, or its element is not one of the parent's.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((5, 4))
    >>> xl.parent_index(a[1:, ::2].T, (1, 3), a)
    (4, 2)
    """
    at = given = check_index(selection.sequence(index, "parent_index"), view.shape)
    if isinstance(view, XPicked):
        at, view = view.parent_index(*at), view.base
    own, other = getattr(view, "buffer", None), getattr(parent, "buffer", None)
    same = own is not None and other is not None and own.is_same(other)
    found = _found(view, at, parent) if same else None
    if found is None:
        raise IndexRangeError(
            f"parent_index: the element at {given} of {_shown(view)} is none of {_shown(parent)}"
        )
    return found


def _found(view: XContainer, at: tuple[int, ...], parent: XContainer) -> tuple[int, ...] | None:
    """Return the parent's index of a place in their memory; None if it has none."""
    place, whole = view.map, parent.map
    if isinstance(place, TiledMap) and isinstance(whole, TiledMap):
        if not whole.is_whole or whole.layout != place.layout or whole.offset != place.offset:
            return None
        along = [0 if axis == FIXED else pace * at[axis] for _, pace, axis in place.step.maps]
        return tuple([m.start + moved for m, moved in zip(place.step.maps, along, strict=True)])
    if isinstance(place, TiledMap) or isinstance(whole, TiledMap):
        return None
    if view.itemsize != parent.itemsize:
        return None
    moved = sum([i * s for i, s in zip(at, place.strides, strict=True)])
    return _index_of(place.offset + moved, whole)


def _index_of(position: int, whole: Strided) -> tuple[int, ...] | None:
    """Return the index of the element at a position; None if there is none.

    Strides are gone through from the largest down, as the digits of a number: the quotients are the
    indices, counted from the end with the lowest address, and the last rest is 0.
    """
    rest = position - whole.bounds()[0]
    found = [0] * whole.ndim
    for axis in sorted(range(whole.ndim), key=lambda k: -abs(whole.strides[k])):
        stride, extent = whole.strides[axis], whole.shape[axis]
        if extent > 1 and stride != 0:
            steps, rest = divmod(rest, abs(stride))
            found[axis] = extent - 1 - steps if stride < 0 else steps
    fits = rest == 0 and all([0 <= i < n for i, n in zip(found, whole.shape, strict=True)])
    return tuple(found) if fits else None
