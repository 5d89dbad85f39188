"""Other shapes of the same elements.

A view of a container is a container: it shares the memory and can be assigned to.  A view of a
lazy expression is lazy and moves down to the operands when it is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias

from .._errors import AxisError, AxisTypeError, ShapeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.memo import memoised
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..index import transform as steps
from ..index.box import is_vector
from ..index.broadcast import as_shape, broadcast_shapes, check_axes, check_rank, infer_extent
from ..ir import build
from ..ir.build import describe
from ..operands.moving import moves
from ..operands.nodes import is_number
from ..operands.non_numeric import or_numpy
from ..operands.tracing import is_active
from . import copied
from .arrays_of_numpy import container, numpy

Axes: TypeAlias = "SupportsIndex | Iterable[SupportsIndex]"


def _same(array: XExpression) -> XExpression:
    """Return the same elements: a view of a container, whose own shape may change in place."""
    return array._reshaped(array.shape) if isinstance(array, XContainer) else array


@memoised
@moves
def broadcast_to(array: object, shape: Axes, subok: bool = False) -> XExpression:
    """Return a view of ``array`` stretched to ``shape``; stretched dimensions have stride 0.

    Parameters
    ----------
    array : array or expression
        What to stretch.
    shape : sequence of int
        A shape that ``array`` broadcasts to.
    subok : bool, default False
        Taken for NumPy's sake, and of no effect.

    Returns
    -------
    XExpression
        A view where ``array`` is a container.  It cannot be written, as NumPy's cannot: one
        element may stand in many places.

    Raises
    ------
    BroadcastError
        If ``array`` does not stretch to ``shape``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.broadcast_to(xl.asarray([1, 2]), (2, 2))
    XView([[1, 2],
           [1, 2]])
    """
    made, target = as_array(array, "broadcast_to"), as_shape(shape, "broadcast_to")
    build.broadcast_to(made.node, target)
    if isinstance(made, XContainer) or made.shape != target:
        made = made._view(steps.broadcast(made.shape, target))
    if isinstance(made, XContainer):
        made._shield()
    return made


@or_numpy
def broadcast_arrays(*arrays: object, subok: bool = False) -> tuple[XExpression, ...]:
    """Return all arrays in their common shape.

    Returns
    -------
    tuple of array
        Those that have the shape themselves; of the others read-only views (`broadcast_to`).

    Parameters
    ----------
    *arrays : array or expression
        Any number of arrays.
    subok : bool, default False
        As of `broadcast_to`.

    Raises
    ------
    BroadcastError
        If the shapes do not broadcast.

    Examples
    --------
    >>> import xarraylite as xl
    >>> rows, columns = xl.broadcast_arrays(xl.zeros((2, 1)), xl.zeros(3))
    >>> rows.shape, columns.shape
    ((2, 3), (2, 3))
    """
    held = [container(numpy.asarray(x)) if is_number(x) else x for x in arrays]
    known = [as_array(x, "broadcast_arrays") for x in held]
    shape = broadcast_shapes(*[x.shape for x in known])
    return tuple([x[...] if x.shape == shape else broadcast_to(x, shape) for x in known])


@memoised
def permute_dims(a: object, axes: Sequence[SupportsIndex] | None = None) -> XExpression:
    """Return ``a`` with its dimensions in another order.

    Parameters
    ----------
    a : array or expression
        What to permute.
    axes : sequence of int
        Dimension ``j`` of the result is dimension ``axes[j]`` of ``a``; by default all, reversed.

    Returns
    -------
    XExpression
        A view where ``a`` is a container.

    Raises
    ------
    AxisError
        If ``axes`` is no permutation of the dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.permute_dims(xl.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return _permuted(as_array(a, "permute_dims"), axes)


def _permuted(array: XExpression, axes: Sequence[SupportsIndex] | None) -> XExpression:
    rank = array.ndim
    if axes is None:
        return array._view(steps.permute(array.shape, range(rank)[::-1]))
    if not is_vector(axes):
        raise AxisTypeError(f"permute_dims: axes must be a sequence of integers, got {axes!r}")
    order = tuple(axes)
    if len(check_axes(order, rank, "permute_dims")) != rank:
        raise AxisError(f"permute_dims: {order} is no permutation of {rank} dimensions")
    return array._view(steps.permute(array.shape, [int(axis) % rank for axis in order]))


@memoised
def matrix_transpose(x: object, /) -> XExpression:
    """Return ``x`` with its last two dimensions exchanged.

    Parameters
    ----------
    x : array or expression
        A matrix, or a stack of them.

    Returns
    -------
    XExpression
        A view where ``x`` is a container.

    Raises
    ------
    AxisError
        If the rank is below 2.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.matrix_transpose(xl.asarray([[1, 2, 3], [4, 5, 6]]))
    XView([[1, 4],
           [2, 5],
           [3, 6]])
    """
    array = as_array(x, "matrix_transpose")
    build.require_rank(array.node, 2, "matrix_transpose")
    return permute_dims(array, (*range(array.ndim - 2), -1, -2))


@memoised
def transpose(a: object, axes: Axes | None = None) -> XExpression:
    """Return ``a`` with its dimensions reversed, or in the order ``axes``.

    Parameters
    ----------
    a : array or expression
        What to transpose.
    axes : int or sequence of int, optional
        Which dimension of ``a`` each one of the result is.

    Returns
    -------
    XExpression
        A view where ``a`` is a container.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.transpose(xl.zeros((2, 3, 4))).shape
    (4, 3, 2)
    >>> xl.transpose(xl.zeros((2, 3, 4)), (0, 2, 1)).shape
    (2, 4, 3)
    """
    array = as_array(a, "transpose")
    order: Any = axes if axes is None or is_vector(axes) else (axes,)  # a vector's is one number
    return _permuted(array, order)


@memoised
@moves
def reshape(
    a: object,
    shape: Axes,
    order: Literal["C", "F", "A"] | None = "C",
    *,
    copy: bool | None = None,
) -> XExpression:
    """Return the elements of ``a`` in row-major order under another shape.

    Parameters
    ----------
    a : array or expression
        What to reshape.
    shape : int or sequence of int
        New extents of the same size; one may be -1.
    order : {"C", "F", "A"}, default "C"
        "F": read and written in column-major order; "A": where the elements lie so.
    copy : bool, optional
        True: return a copy.  False: refuse where a view is impossible.

    Returns
    -------
    XExpression
        A view where ``a`` is a container whose strides allow it.

    Raises
    ------
    ShapeError
        If the sizes differ.
    ValueError
        If ``copy=False`` and a copy is needed.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.reshape(xl.arange(6), (2, -1)).shape
    (2, 3)
    """
    array = as_array(a, "reshape")
    target = infer_extent(shape, array.size)
    if order is not None and str(order).upper() not in ("C", "F", "A"):
        raise ValueError(f"reshape: order must be 'C', 'F' or 'A', got {order!r}")
    if array._in_order(order, "reshape") is not array:
        turned: XExpression = reshape(array.T, target[::-1], copy=copy).T
        return turned
    view: XExpression
    if copy is True:
        view = array._reshaped(target)
        return view.copy() if isinstance(view, XContainer) or is_active() else XArray(view)
    if array.shape == target:
        return _same(array)
    view = array._reshaped(target)
    if copy is False and type(view) is XExpression:
        raise ValueError(f"reshape: {describe(array.node)} cannot become {target} without a copy")
    if type(view) is XExpression and isinstance(array, XContainer):
        made = copied.reshaped_at_once(array, target)
        return view if made is None else made
    return view


@memoised
def flip(m: object, axis: Axes | None = None) -> XExpression:
    """Return ``m`` with the order of elements reversed along ``axis`` (all by default).

    Parameters
    ----------
    m : array or expression
        What to reverse.
    axis : int or sequence of int, optional
        Along which dimensions.

    Returns
    -------
    XExpression
        A view where ``m`` is a container.

    Raises
    ------
    AxisError
        For an axis out of range or named twice.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.flip(xl.arange(3))
    XView([2, 1, 0])
    """
    array = as_array(m, "flip")
    return array._view(steps.flip(array.shape, check_axes(axis, array.ndim, "flip")))


@memoised
def squeeze(a: object, axis: Axes | None = None) -> XExpression:
    """Return ``a`` without the dimensions ``axis``, whose extents must be 1; all such by default.

    Parameters
    ----------
    a : array or expression
        Whose dimensions to drop.
    axis : int or sequence of int, optional
        Which ones.

    Returns
    -------
    XExpression
        A view where ``a`` is a container.

    Raises
    ------
    ShapeError
        If an extent is not 1.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.squeeze(xl.zeros((1, 3)), 0).shape
    (3,)
    """
    array = as_array(a, "squeeze")
    if axis is None or (not array.ndim and axis in (0, -1)):  # as NumPy's functions of an axis
        axis = [k for k, extent in enumerate(array.shape) if extent == 1]
    axes = check_axes(axis, array.ndim, "squeeze")
    for k in axes:
        if array.shape[k] != 1:
            raise ShapeError(
                f"squeeze({describe(array.node)}): axis {k} has extent {array.shape[k]}, not 1"
            )
    return array._view(steps.squeeze(array.shape, axes))


@memoised
def expand_dims(a: object, axis: Axes = 0) -> XExpression:
    """Return ``a`` with dimensions of extent 1 inserted at ``axis`` of the result.

    Parameters
    ----------
    a : array or expression
        What to give more dimensions.
    axis : int or sequence of int
        Where the new dimensions are in the result.

    Returns
    -------
    XExpression
        A view where ``a`` is a container.

    Raises
    ------
    AxisError
        For an axis out of range or named twice.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.expand_dims(xl.zeros(3), axis=1).shape
    (3, 1)
    """
    array = as_array(a, "expand_dims")
    given = tuple(axis) if is_vector(axis) else (axis,)
    axes = check_axes(given, array.ndim + len(given), "expand_dims")
    check_rank(array.ndim + len(given), "expand_dims")
    return array._view(steps.expand(array.shape, axes))


@memoised
def moveaxis(a: object, source: Axes, destination: Axes) -> XExpression:
    """Return ``a`` with the dimensions ``source`` moved to ``destination``, the rest in order.

    Parameters
    ----------
    a : array or expression
        Whose dimensions to move.
    source, destination : int or sequence of int
        Where dimensions are, and where they go.

    Returns
    -------
    XExpression
        A view where ``a`` is a container.

    Raises
    ------
    AxisError
        For an axis out of range or named twice, or lists of different lengths.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.moveaxis(xl.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    array = as_array(a, "moveaxis")
    rank = array.ndim
    sources = tuple(source) if is_vector(source) else (source,)
    targets = tuple(destination) if is_vector(destination) else (destination,)
    if len(sources) != len(targets):
        raise AxisError(f"moveaxis: {sources} and {targets} differ in length")
    check_axes(sources, rank, "moveaxis")
    check_axes(targets, rank, "moveaxis")
    where = {int(t) % rank: int(s) % rank for s, t in zip(sources, targets, strict=True)}
    rest = iter([k for k in range(rank) if k not in where.values()])
    order = [where[j] if j in where else next(rest) for j in range(rank)]
    return array._view(steps.permute(array.shape, order))


def at_least(x: object, rank: int, name: str) -> XExpression:
    array = x if isinstance(x, XExpression) else as_array(x, name)
    return array if array.ndim >= rank else _raised(array, rank)


@memoised
def _raised(array: XExpression, rank: int) -> XExpression:
    missing = rank - array.ndim
    # NumPy's rule: a vector is a row, and a matrix has its third dimension last.
    last = rank == 3 and array.ndim > 0
    shape = (1,) * (missing - last) + array.shape + (1,) * last
    return reshape(array, shape)


@or_numpy
def atleast_1d(*arrays: object) -> Any:
    """Return the arrays with at least one dimension; a single one as it is, several as a tuple.

    Parameters
    ----------
    *arrays : array or expression
        Any number of arrays.

    Returns
    -------
    XExpression or tuple of these
        Views of containers that lack dimensions, others as they are.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.atleast_1d(xl.asarray(3)).shape
    (1,)
    """
    made = tuple([at_least(x, 1, "atleast_1d") for x in arrays])
    return made[0] if len(made) == 1 else made


@or_numpy
def atleast_2d(*arrays: object) -> Any:
    """Return the arrays with at least two dimensions; a vector becomes a row.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.atleast_2d(xl.arange(3)).shape
    (1, 3)
    """
    made = tuple([at_least(x, 2, "atleast_2d") for x in arrays])
    return made[0] if len(made) == 1 else made


@or_numpy
def atleast_3d(*arrays: object) -> Any:
    """Return the arrays with at least three dimensions: ``(1, n, 1)``, or ``(m, n, 1)``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.atleast_3d(xl.arange(3)).shape
    (1, 3, 1)
    """
    made = tuple([at_least(x, 3, "atleast_3d") for x in arrays])
    return made[0] if len(made) == 1 else made
