"""Diagonals and triangles of matrices, and products that spread them out; all are lazy.

A diagonal is a view: both dimensions follow one of the result.  A triangle is a choice between an
element and zero by the element's position, which a kernel knows anyway.
"""

from __future__ import annotations

import builtins
import math
from typing import Any, SupportsIndex

from .._errors import AxisError, AxisTypeError, ShapeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression, apply
from ..arrays.memo import memoised
from ..arrays.operand import as_array
from ..dtypes.names import int64
from ..index.broadcast import broadcast_shapes, check_axis
from ..index.transform import IndexMap, Transform
from ..ir import build
from ..ir.node import Iota, Node
from ..layout.strided import Strided
from ..operands.moving import moves
from ..ops.table import OPS
from .arguments import whole
from .arrays_of_numpy import into
from .joining import stack
from .manipulation import broadcast_to, expand_dims, moveaxis, reshape
from .reducers import sum as total


@memoised
@moves
def diagonal(
    a: object, offset: int = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
) -> XExpression:
    """Return the diagonals of two dimensions: a view where ``a`` is a container.

    Parameters
    ----------
    a : array or expression
        Of rank 2 or more.
    offset : int, default 0
        Which diagonal: positive above the main one.
    axis1, axis2 : int
        Rows and columns; as in NumPy the first two dimensions (`xarraylite.linalg.diagonal` takes
        the last two).

    Returns
    -------
    XExpression
        The other dimensions, then one along the diagonal.  A view cannot be written, as NumPy's
        cannot; ``einsum("ii->i", a)`` is one that can.

    Raises
    ------
    AxisError
        If the rank is below 2, or an axis is out of range or named twice.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.diagonal(xl.asarray([[1, 2], [3, 4]]))
    XView([1, 4])
    """
    array = as_array(a, "diagonal")
    build.require_rank(array.node, 2, "diagonal")
    rows, columns = [check_axis(axis, array.ndim, "diagonal") for axis in (axis1, axis2)]
    if rows == columns:
        raise AxisError(f"diagonal({build.describe(array.node)}): axis1 and axis2 are both {rows}")
    offset = whole(offset, "diagonal", "offset")
    down, right = builtins.max(-offset, 0), builtins.max(offset, 0)
    length = builtins.min(array.shape[rows] - down, array.shape[columns] - right)
    length = builtins.max(length, 0)
    kept = [k for k in range(array.ndim) if k not in (rows, columns)]
    shape = (*[array.shape[k] for k in kept], length)
    maps = [
        IndexMap(0, 1, kept.index(k)) if k in kept else IndexMap(0, 1, len(kept))
        for k in range(array.ndim)
    ]
    if length:  # else there is no such row or column
        maps[rows], maps[columns] = IndexMap(down, 1, len(kept)), IndexMap(right, 1, len(kept))
    view: Any = array._view(Transform(shape, tuple(maps)))
    if isinstance(array, XContainer):
        view._shield()
    return view  # type: ignore[no-any-return]


@memoised
def trace(
    a: object,
    offset: int = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
    dtype: object = None,
    out: object = None,
) -> XExpression:
    """Return the sums of diagonals, lazily; parameters as for `diagonal` and `sum`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.trace(xl.asarray([[1, 2], [3, 4]])))
    5
    """
    along = diagonal(as_array(a, "trace"), offset, axis1, axis2)
    return into(out, total(along, axis=-1, dtype=dtype), "trace", rule="unsafe")


def _distance(shape: tuple[int, ...]) -> Node:
    """Return the column less the row of each element of matrices."""
    rank = len(shape)
    rows, columns = [
        Iota(shape, int64, Strided(shape, tuple([int(k == axis) for k in range(rank)])))
        for axis in (rank - 2, rank - 1)
    ]
    return build.elementwise(OPS["subtract"], columns, rows)


def _triangle(x: object, k: int, name: str, upper: bool) -> XExpression:
    array = as_array(x, name)
    shape = array.shape * 2 if array.ndim == 1 else array.shape
    if not array.ndim:  # where NumPy lacks an extent
        raise AxisTypeError(f"{name}({build.describe(array.node)}): rank must be at least 1")
    last = whole(k, name, "k", cut=True)
    node = build.broadcast_to(array.node, shape)
    inside = OPS["greater_equal" if upper else "less_equal"]
    chosen = build.elementwise(inside, _distance(shape), last)
    return XExpression(build.elementwise(OPS["where"], chosen, node, build.scalar(0, node.dtype)))


@memoised
def tril(m: object, k: int = 0) -> XExpression:
    """Return the lower triangles of matrices, zero elsewhere, lazily.

    Parameters
    ----------
    m : array or expression
        Matrices in the last two dimensions; a vector is every row of one.
    k : int, default 0
        The last diagonal that is kept: positive above the main one.

    Returns
    -------
    XExpression
        Of the shape and dtype of ``m``.

    Raises
    ------
    AxisTypeError
        If the rank is 0.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.tril(xl.asarray([[1, 2], [3, 4]])))
    XArray([[1, 0],
            [3, 4]])
    """
    return _triangle(m, k, "tril", False)


@memoised
def triu(m: object, k: int = 0) -> XExpression:
    """Return the upper triangles of matrices, from diagonal ``k`` on; see `tril`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.triu(xl.asarray([[1, 2], [3, 4]])))
    XArray([[1, 2],
            [0, 4]])
    """
    return _triangle(m, k, "triu", True)


@memoised
def diag(v: object, k: int = 0) -> XExpression:
    """Return a diagonal of a matrix, or the matrix with a vector on a diagonal, lazily.

    Parameters
    ----------
    v : array or expression
        Of rank 2, or of rank 1.
    k : int, default 0
        Which diagonal: positive above the main one.

    Returns
    -------
    XExpression
        A read-only view of a container's diagonal; or a square matrix, zero elsewhere.

    Raises
    ------
    ShapeError
        For any other rank.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.diag(xl.asarray([1, 2])))
    XArray([[1, 0],
            [0, 2]])
    >>> xl.diag(xl.asarray([[1, 2], [3, 4]]), 1)
    XView([2])
    """
    array = as_array(v, "diag")
    if array.ndim == 2:
        return diagonal(v, k)
    if array.ndim != 1:
        raise ShapeError(f"diag({build.describe(array.node)}): the rank must be 1 or 2")
    k, length = whole(k, "diag", "k"), array.shape[0]
    size = length + builtins.abs(k)
    zero = build.scalar(0, array.dtype)
    gap = build.broadcast_to(zero, (builtins.abs(k),))
    row = array.node
    # Element i of the vector stands in row i + down and column i + right.
    row = build.concat([row, gap] if k < 0 else [gap, row], 0) if k else row
    inside = build.elementwise(OPS["equal"], _distance((size, size)), k)
    rows = build.broadcast_to(row, (size, size))
    return XExpression(build.elementwise(OPS["where"], inside, rows, zero))


@memoised
def diagflat(v: object, k: int = 0) -> XExpression:
    """Return the matrix with the elements of ``v``, flattened, on diagonal ``k``, lazily.

    Parameters
    ----------
    v : array or expression
        Elements, flattened.
    k : int, default 0
        Which diagonal: above the main one if positive.

    Returns
    -------
    XExpression
        Lazy, square.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.diagflat(xl.asarray([[1], [2]])))
    XArray([[1, 0],
            [0, 2]])
    """
    return diag(reshape(as_array(v, "diagflat"), (-1,)), k)


@memoised
def cross(
    a: object,
    b: object,
    axisa: SupportsIndex = -1,
    axisb: SupportsIndex = -1,
    axisc: SupportsIndex = -1,
    axis: SupportsIndex | None = None,
) -> XExpression:
    """Return the cross products of vectors of 3 elements, or of 2, lazily.

    Parameters
    ----------
    a, b : array or expression
        Vectors along a dimension of extent 3 or 2; the others are broadcast.  A vector of 2
        elements has a third one of 0.
    axisa, axisb, axisc : int, default -1
        That dimension of ``a``, of ``b``, and of the result.
    axis : int, optional
        All three.

    Returns
    -------
    XExpression
        Of the operands' common dtype; of two vectors of 2 elements the third component alone,
        without that dimension.

    Raises
    ------
    ShapeError
        If an extent is neither 3 nor 2, or the others do not broadcast.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.cross(xl.asarray([1, 0, 0]), xl.asarray([0, 1, 0])))
    XArray([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = as_array(a, "cross"), as_array(b, "cross")
    for x, where in ((left, axisa), (right, axisb)):
        if x.shape[check_axis(where, x.ndim, "cross")] not in (2, 3):
            raise ShapeError(
                f"cross({build.describe(left.node)}, {build.describe(right.node)}): the extents of "
                "the vectors' dimension must be 3 or 2"
            )
    left, right = moveaxis(left, axisa, -1), moveaxis(right, axisb, -1)
    broadcast_shapes(left.shape[:-1], right.shape[:-1])
    flat = left.shape[-1] == right.shape[-1] == 2
    parts = [
        _minor(left, right, j, k) for j, k in (((0, 1),) if flat else ((1, 2), (2, 0), (0, 1)))
    ]
    return parts[0] if flat else moveaxis(stack(parts, axis=-1), -1, axisc)


def _minor(left: XExpression, right: XExpression, j: int, k: int) -> XExpression:
    """Return ``left[j] * right[k] - left[k] * right[j]``, where third elements may be absent."""
    made: XExpression
    if not (k < left.shape[-1] and j < right.shape[-1]):
        made = left[..., j] * right[..., k]
    elif not (j < left.shape[-1] and k < right.shape[-1]):
        made = -(left[..., k] * right[..., j])
    else:
        made = left[..., j] * right[..., k] - left[..., k] * right[..., j]
    return made


@memoised
def kron(a: object, b: object) -> XExpression:
    """Return the Kronecker product, lazily: ``b`` times each element of ``a``, side by side.

    Parameters
    ----------
    a, b : array or expression
        Of any ranks.

    Returns
    -------
    XExpression
        Each extent is the product of the operands'.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.kron(xl.asarray([1, 10]), xl.asarray([1, 2, 3])))
    XArray([ 1,  2,  3, 10, 20, 30])
    """
    left, right = as_array(a, "kron"), as_array(b, "kron")
    rank = builtins.max(left.ndim, right.ndim)
    ones = [reshape(x, (1,) * (rank - x.ndim) + x.shape) for x in (left, right)]
    coarse = expand_dims(ones[0], axis=tuple(range(1, 2 * rank, 2)))
    fine = expand_dims(ones[1], axis=tuple(range(0, 2 * rank, 2)))
    shape = tuple([m * n for m, n in zip(ones[0].shape, ones[1].shape, strict=True)])
    return reshape(apply(OPS["multiply"], coarse, fine), shape)


@memoised
def tri(N: int, M: int | None = None, k: int = 0, dtype: object = None) -> XExpression:
    """Return a matrix with ones up to a diagonal and zeros above it, lazily.

    Parameters
    ----------
    N, M : int
        Extents; square by default.
    k : int, default 0
        The last diagonal of ones.
    dtype : dtype, default float64
        Of the elements.

    Returns
    -------
    XExpression
        Lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.tri(2, 3, dtype=int))
    XArray([[1, 0, 0],
            [1, 1, 0]])
    """
    one = XExpression(build.scalar(1, int64)).astype(float if dtype is None else dtype)
    given: tuple[Any, Any] = N, N if M is None else M
    sizes = [math.ceil(x) if type(x) is float else x for x in given]
    rows, columns = [whole(x, "tri", name) for x, name in zip(sizes, "NM", strict=True)]
    return tril(broadcast_to(one, (builtins.max(rows, 0), builtins.max(columns, 0))), k)
