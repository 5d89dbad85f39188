"""Arrays put together and taken apart: lazy joins, and views where the operand is memory."""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np

from .._errors import ShapeError, SizeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.memo import memoised
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..assignment.elements import FEW
from ..dtypes.names import bool_, int64
from ..index import transform as steps
from ..index.broadcast import check_axis
from ..ir import build
from ..ir.build import WEAK_TYPES, describe
from ..operands.moving import moves
from ..operands.nodes import as_node
from ..operands.non_numeric import or_numpy
from ..operands.tracing import is_active
from .arguments import whole
from .computed import COPIED, Narrow, container, numpy_of
from .groups import Lazy
from .manipulation import broadcast_to, concat, listed, reshape
from .searching import nonzero


@moves
def unstack(x: object, /, *, axis: SupportsIndex = 0) -> tuple[XExpression, ...]:
    """Return the sub-arrays along a dimension, as views where ``x`` is a container.

    Parameters
    ----------
    x : array or expression
        What to take apart.
    axis : int, default 0
        Along which dimension.

    Returns
    -------
    tuple of XExpression
        As many as the extent, of one dimension less.

    Raises
    ------
    AxisError
        If the axis is out of range; a rank of 0 has none.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.unstack(xl.asarray([[1, 2], [3, 4]]), axis=1)
    (XView([1, 3]), XView([2, 4]))
    """
    array = as_array(x, "unstack")
    along = check_axis(axis, array.ndim, "unstack")
    shape = array.shape
    if isinstance(array, XContainer):
        front = (slice(None),) * along
        return tuple([array[(*front, k, ...)] for k in range(shape[along])])
    thin = (*shape[:along], 1, *shape[along + 1 :])
    drop = steps.squeeze(thin, (along,))
    return tuple(
        [array._view(drop.after(steps.window(shape, along, k, 1))) for k in range(shape[along])]
    )


@or_numpy
def array_split(
    ary: object, indices_or_sections: Any, axis: SupportsIndex = 0
) -> list[XExpression]:
    """Return parts of an array along a dimension, as views where it is a container.

    Parameters
    ----------
    ary : array or expression
        What to split.
    indices_or_sections : int or sequence of int
        Number of parts, of which the first may be longer by one; or where parts begin.
    axis : int, default 0
        Along which dimension.

    Returns
    -------
    list of XExpression
        The parts.

    Raises
    ------
    ShapeError
        If the number of parts is not positive.
    SizeError, MemoryError
        If there are more parts than a list, or the memory, can have.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.array_split(xl.arange(5), 2)
    [XView([0, 1, 2]), XView([3, 4])]
    """
    return _split(ary, indices_or_sections, axis, "array_split", False)


def _split(
    ary: object, cuts: Any, axis: SupportsIndex, operation: str, equal: bool
) -> list[XExpression]:
    array = as_array(ary, operation)
    along = check_axis(axis, array.ndim, operation)
    extent = array.shape[along]
    if np.ndim(cuts):
        edges = [0, *[whole(c, operation, "a place of a cut") for c in np.asarray(cuts)], extent]
    else:
        count = whole(cuts, operation, "the number of parts", cut=True)
        if count < 1:
            raise ShapeError(f"{operation}: the number of parts must be positive, got {count}")
        size, rest = divmod(extent, count)
        if rest and equal:
            raise ShapeError(
                f"{operation}({describe(array.node)}): an extent of {extent} has no {count} equal "
                "parts; use array_split"
            )
        try:
            edges = [extent] * (count + 1)  # where that many are too many, it is known at once
        except OverflowError:
            raise SizeError(f"{operation}: {count} parts are more than a list can have") from None
        filled = builtins.min(count, extent)  # parts that are not empty
        edges[:filled] = [k * size + builtins.min(k, rest) for k in range(filled)]
    parts = []
    for low, high in itertools.pairwise(edges):
        if isinstance(array, XContainer):
            parts.append(array[(*(slice(None),) * along, slice(low, high))])
            continue
        first, last, _ = slice(low, high).indices(extent)
        step = steps.window(array.shape, along, first, builtins.max(last - first, 0))
        parts.append(array._view(step))
    return parts


@or_numpy
def split(ary: object, indices_or_sections: Any, axis: SupportsIndex = 0) -> list[XExpression]:
    """Return equal parts of an array along a dimension; otherwise as `array_split`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.split(xl.arange(4), [1, 3])
    [XView([0]), XView([1, 2]), XView([3])]
    """
    return _split(ary, indices_or_sections, axis, "split", True)


@moves
def vsplit(ary: object, indices_or_sections: Any) -> list[XExpression]:
    """Return `split` of the rows.

    Examples
    --------
    >>> import xarraylite as xl
    >>> [part.shape for part in xl.vsplit(xl.zeros((4, 3)), 2)]
    [(2, 3), (2, 3)]
    """
    build.require_rank(as_node(ary, "vsplit"), 2, "vsplit")
    return _split(ary, indices_or_sections, 0, "vsplit", True)


@moves
def hsplit(ary: object, indices_or_sections: Any) -> list[XExpression]:
    """Return `split` of the columns; of the elements, if the rank is 1.

    Examples
    --------
    >>> import xarraylite as xl
    >>> [part.shape for part in xl.hsplit(xl.zeros((3, 4)), 2)]
    [(3, 2), (3, 2)]
    """
    node = as_node(ary, "hsplit")
    build.require_rank(node, 1, "hsplit")
    return _split(ary, indices_or_sections, builtins.min(1, len(node.shape) - 1), "hsplit", True)


@moves
def dsplit(ary: object, indices_or_sections: Any) -> list[XExpression]:
    """Return `split` of the third dimension.

    Examples
    --------
    >>> import xarraylite as xl
    >>> [part.shape for part in xl.dsplit(xl.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    build.require_rank(as_node(ary, "dsplit"), 3, "dsplit")
    return _split(ary, indices_or_sections, 2, "dsplit", True)


def _at_least(x: object, rank: int, name: str) -> XExpression:
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

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.atleast_1d(xl.asarray(3)).shape
    (1,)
    """
    made = tuple([_at_least(x, 1, "atleast_1d") for x in arrays])
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
    made = tuple([_at_least(x, 2, "atleast_2d") for x in arrays])
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
    made = tuple([_at_least(x, 3, "atleast_3d") for x in arrays])
    return made[0] if len(made) == 1 else made


@memoised
@moves
def vstack(tup: Sequence[object], *, dtype: object = None, casting: str = "same_kind") -> Lazy:
    """Return the arrays joined row by row, lazily; vectors are rows.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.vstack([xl.arange(2), xl.arange(2)]))
    XArray([[0, 1],
            [0, 1]])
    """
    rows = [_at_least(x, 2, "vstack") for x in listed(tup, "vstack")]
    return concat(rows, axis=0, dtype=dtype, casting=casting)


@memoised
@moves
def hstack(tup: Sequence[object], *, dtype: object = None, casting: str = "same_kind") -> Lazy:
    """Return the arrays joined column by column, lazily; vectors one after the other.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.hstack([xl.arange(2), xl.arange(3)]))
    XArray([0, 1, 0, 1, 2])
    """
    parts = [_at_least(x, 1, "hstack") for x in listed(tup, "hstack")]
    return concat(parts, axis=int(bool(parts) and parts[0].ndim > 1), dtype=dtype, casting=casting)


@memoised
@moves
def dstack(tup: Sequence[object]) -> Lazy:
    """Return the arrays joined along the third dimension, lazily.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.dstack([xl.zeros((2, 3)), xl.zeros((2, 3))]).shape
    (2, 3, 2)
    """
    return concat([_at_least(x, 3, "dstack") for x in listed(tup, "dstack")], axis=2)


@memoised
@moves
def column_stack(tup: Sequence[object]) -> Lazy:
    """Return vectors as the columns of a matrix, lazily, beside matrices' own.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.column_stack([xl.arange(2), xl.arange(2)]))
    XArray([[0, 0],
            [1, 1]])
    """
    parts = [as_array(x, "column_stack") for x in listed(tup, "column_stack")]
    columns = [reshape(p, (-1, 1)) if p.ndim < 2 else p for p in parts]
    return concat(columns, axis=1)


def append(arr: object, values: object, axis: SupportsIndex | None = None) -> Lazy:
    """Return two arrays joined, lazily; flattened where no axis is given.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.append(xl.arange(2), [5]))
    XArray([0, 1, 5])
    """
    if type(values) in WEAK_TYPES:
        values = container(np.array([values]))
    return concat([arr, values], axis=axis)


@or_numpy
def block(arrays: Any) -> XExpression:
    """Return blocks, given as nested lists, joined: the innermost along the last dimension.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.block([[xl.ones((1, 1)), xl.zeros((1, 2))], [xl.zeros((1, 3))]]))
    XArray([[1., 0., 0.],
            [0., 0., 0.]])
    """
    depth = _depth(arrays)
    rank = builtins.max([depth, *[x.ndim for x in _leaves(arrays)]])

    def joined(part: Any, level: int) -> Any:
        if level == depth:
            array = as_array(part, "block")
            return reshape(array, (1,) * (rank - array.ndim) + array.shape)
        return concat([joined(p, level + 1) for p in part], axis=rank - depth + level)

    made: XExpression = joined(arrays, 0)
    return made if depth else made.copy()  # one array alone


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ShapeError("block: a list of blocks is empty")
    depths = {_depth(part) for part in arrays}
    if len(depths) > 1:
        raise ShapeError("block: the lists are not nested equally deep everywhere")
    return 1 + depths.pop()


def _leaves(arrays: Any) -> Iterable[XExpression]:
    if isinstance(arrays, list):
        for part in arrays:
            yield from _leaves(part)
    else:
        yield as_array(arrays, "block")


@or_numpy
def meshgrid(
    *arrays: object,
    indexing: Literal["xy", "ij"] = "xy",
    sparse: bool = False,
    copy: bool = True,
) -> tuple[XExpression, ...]:
    """Return coordinates of the points of a grid, one array per dimension.

    Parameters
    ----------
    *arrays : array or expression
        Coordinates along each dimension; flattened.
    indexing : {"xy", "ij"}, default "xy"
        "ij": the first array runs along the first dimension; "xy": along the second.
    sparse : bool, default False
        Give the others an extent of 1, which broadcasts.
    copy : bool, default True
        Make containers of their own; False: stretched views of containers.

    Returns
    -------
    tuple of XExpression
        As many as arrays.

    Raises
    ------
    ValueError
        For any other ``indexing``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> rows, columns = xl.meshgrid(xl.arange(2), xl.arange(3), indexing="ij")
    >>> rows
    XArray([[0, 0, 0],
            [1, 1, 1]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    known = [as_array(x, "meshgrid") for x in arrays]
    if copy and not (sparse or is_active()) and math.prod([x.size for x in known]) <= FEW:
        narrow = Narrow(COPIED)
        plain = [numpy_of(x, "meshgrid", narrow) for x in known]
        grids = np.meshgrid(*plain, indexing=indexing)  # small ones are not worth a plan
        return tuple([container(narrow.rounded(x)) for x in grids])
    places = list(range(len(known)))
    if indexing == "xy" and len(known) > 1:
        places[:2] = [1, 0]
    thin = [
        reshape(x, [x.size if k == place else 1 for k in range(len(known))])
        for x, place in zip(known, places, strict=True)
    ]
    shape = [0] * len(known)
    for x, place in zip(known, places, strict=True):
        shape[place] = x.size
    made = thin if sparse else [broadcast_to(x, shape) for x in thin]
    return tuple([XArray(x) for x in made] if copy else made)


def ix_(*args: object) -> tuple[XExpression, ...]:
    """Return index arrays that select the product of positions.

    Parameters
    ----------
    *args : array or expression
        Positions along each dimension, or a mask of them.

    Returns
    -------
    tuple of XExpression
        As many, of as many dimensions, which broadcast: views of containers.

    Raises
    ------
    ShapeError
        If an array is not of rank 1.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.reshape(xl.arange(9), (3, 3))
    >>> a[xl.ix_([0, 2], [True, False, True])]
    XArray([[0, 2],
            [6, 8]])
    """
    found = []
    for place, arg in enumerate(args):
        plain = isinstance(arg, list | range) and {*map(type, arg)} <= {int, bool}
        given = container(np.array(arg, None if arg else int64)) if plain else arg
        array = as_array(given, "ix_")
        if array.ndim != 1:
            raise ShapeError(f"ix_({describe(array.node)}): positions are of rank 1")
        array = nonzero(array)[0] if array.dtype == bool_ else array
        shape = [array.size if k == place else 1 for k in range(len(args))]
        found.append(array._reshaped(tuple(shape)))
    return tuple(found)
