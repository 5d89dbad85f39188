"""Arrays put together: joins, lazy unless they are small."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from .._errors import CastError, DTypeError, ShapeError
from .._later import jagged_joins
from ..arrays.expression import XExpression
from ..arrays.memo import memoised_joins
from ..arrays.operand import as_array
from ..dtypes.names import as_dtype, dtype_name
from ..dtypes.promotion import can_cast, result_type
from ..index import transform as steps
from ..index.broadcast import check_axis, check_rank
from ..ir import build
from ..ir.node import Node
from ..operands.moving import moves
from ..operands.nodes import as_node
from ..operands.non_numeric import or_numpy
from . import copied
from .arrays_of_numpy import container, into
from .groups import Lazy, any_jagged, takes_jagged
from .manipulation import at_least, reshape


def listed(arrays: Any, operation: str) -> list[object]:
    if not isinstance(arrays, Iterable) or isinstance(arrays, (str, bytes)):
        raise DTypeError(f"{operation}: a sequence of arrays is needed, got {arrays!r}")
    return list(arrays)


def _parts(
    arrays: Sequence[object], dtype: object, casting: str, operation: str, out: object
) -> list[Node]:
    """Return what is joined, at least one array, in a dtype if one is given."""
    if out is not None and dtype is not None:
        raise DTypeError(f"{operation}: out has a dtype of its own; give out or dtype, not both")
    nodes = [as_node(x, operation) for x in arrays]
    if not nodes:
        raise ShapeError(f"{operation}: at least one array is needed")
    weak = [dtype is None and operation == "concat" and type(x) in build.WEAK_TYPES for x in arrays]
    if any(weak):  # Python's numbers take the dtype of the others
        pairs = zip(arrays, nodes, weak, strict=True)
        dtype = result_type(*[type(x) if free else node.dtype for x, node, free in pairs])  # type: ignore[arg-type]
    if dtype is None and casting == "same_kind":
        return nodes
    wanted = result_type(*[n.dtype for n in nodes]) if dtype is None else as_dtype(dtype)
    for node, free in zip(nodes, weak, strict=True):
        if not free and not can_cast(node.dtype, wanted, casting):
            raise CastError(
                f"{operation}: {build.describe(node)} does not cast to dtype="
                f"{dtype_name(wanted)} (rule: {casting})"
            )
    return [build.convert(node, wanted) for node in nodes]


@takes_jagged
@memoised_joins
@moves
def concat(
    arrays: Sequence[object],
    /,
    axis: SupportsIndex | None = 0,
    out: object = None,
    *,
    dtype: object = None,
    casting: str = "same_kind",
) -> Lazy:
    """Return the arrays joined along an existing dimension, lazily.

    Parameters
    ----------
    arrays : sequence of arrays or expressions
        Shapes must agree except along ``axis``.  With a jagged one among them, all have one rank,
        rows may have any lengths, and ``axis`` is 0 or None.
    axis : int or None, default 0
        Where to join; None joins the flattened arrays.
    out : container, optional
        Where to write the result.
    dtype : dtype, optional
        Of the result; by default the common one.
    casting : str, default "same_kind"
        Which casts to ``dtype`` are allowed.

    Returns
    -------
    XExpression or XJaggedExpression
        The join, in the common dtype.

    Raises
    ------
    ShapeError
        If there is no array, or the shapes do not agree.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.concat([xl.arange(2), xl.arange(3)]))
    XArray([0, 1, 0, 1, 2])
    >>> xl.eval(xl.concat([xl.XJagged([[1, 2], []]), xl.XJagged([[3]])]))
    XJagged([[1, 2], [], [3]])
    """
    arrays = listed(arrays, "concat")
    if any_jagged(arrays):
        return jagged_joins.concat(arrays, axis)
    usual = dtype is None and casting == "same_kind"
    known = copied.joined(arrays, axis, False) if usual else None
    if known is not None:
        return into(out, known, "concat")
    nodes = _parts(arrays, dtype, casting, "concat", out)
    if axis is None:
        nodes, axis = [build.reshape(node, (-1,)) for node in nodes], 0
    if not nodes[0].shape:
        raise ShapeError("concat: arrays of rank 0 cannot be joined")
    joined = XExpression(build.concat(nodes, check_axis(axis, len(nodes[0].shape), "concat")))
    return into(out, joined, "concat", rule=casting)


@takes_jagged
@memoised_joins
@moves
def stack(
    arrays: Sequence[object],
    axis: SupportsIndex = 0,
    out: object = None,
    *,
    dtype: object = None,
    casting: str = "same_kind",
) -> Lazy:
    """Return the arrays joined along a new dimension, lazily.

    Parameters
    ----------
    arrays : sequence of arrays or expressions
        All of one shape.  With a jagged one among them, they need one rank only, and ``axis`` is 0.
    axis : int, default 0
        Place of the new dimension in the result.
    out : container, optional
        Where to write the result.
    dtype : dtype, optional
        Of the result; by default the common one.

    Returns
    -------
    XExpression or XJaggedExpression
        The stack, in the common dtype.

    Raises
    ------
    ShapeError
        If there is no array, or the shapes differ.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.stack([xl.arange(2), xl.arange(2)], axis=1))
    XArray([[0, 0],
            [1, 1]])
    >>> xl.eval(xl.stack([xl.XJagged([[1, 2], []]), xl.XJagged([[3]])]))
    XJagged([[[1, 2], []], [[3]]])
    """
    arrays = listed(arrays, "stack")
    if any_jagged(arrays):
        return jagged_joins.stack(arrays, axis)
    usual = dtype is None and casting == "same_kind"
    known = copied.joined(arrays, axis, True) if usual else None
    if known is not None:
        return into(out, known, "stack")
    nodes = _parts(arrays, dtype, casting, "stack", out)
    shape = nodes[0].shape
    if any(node.shape != shape for node in nodes):
        shown = ", ".join(build.describe(node) for node in nodes)
        raise ShapeError(f"stack({shown}): all shapes must be the same")
    place = check_axis(axis, len(shape) + 1, "stack")
    check_rank(len(shape) + 1, "stack")
    step = steps.expand(shape, (place,))
    joined = XExpression(build.concat([build.view(n, step) for n in nodes], place, "stack"))
    return into(out, joined, "stack", rule=casting)


@memoised_joins
@moves
def vstack(tup: Sequence[object], *, dtype: object = None, casting: str = "same_kind") -> Lazy:
    """Return the arrays joined row by row, lazily; vectors are rows.

    Parameters
    ----------
    tup : sequence of arrays or expressions
        What to join.
    dtype, casting : optional
        As for `concat`.

    Returns
    -------
    XExpression
        Lazy, of rank 2 at least.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.vstack([xl.arange(2), xl.arange(2)]))
    XArray([[0, 1],
            [0, 1]])
    """
    rows = [at_least(x, 2, "vstack") for x in listed(tup, "vstack")]
    return concat(rows, axis=0, dtype=dtype, casting=casting)


@memoised_joins
@moves
def hstack(tup: Sequence[object], *, dtype: object = None, casting: str = "same_kind") -> Lazy:
    """Return the arrays joined column by column, lazily; vectors one after the other.

    Parameters
    ----------
    tup : sequence of arrays or expressions
        What to join.
    dtype, casting : optional
        As for `concat`.

    Returns
    -------
    XExpression
        Lazy, of rank 1 at least.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.hstack([xl.arange(2), xl.arange(3)]))
    XArray([0, 1, 0, 1, 2])
    """
    parts = [at_least(x, 1, "hstack") for x in listed(tup, "hstack")]
    return concat(parts, axis=int(bool(parts) and parts[0].ndim > 1), dtype=dtype, casting=casting)


@memoised_joins
@moves
def dstack(tup: Sequence[object]) -> Lazy:
    """Return the arrays joined along the third dimension, lazily.

    Parameters
    ----------
    tup : sequence of arrays or expressions
        What to join; vectors and matrices get a third dimension of extent 1.

    Returns
    -------
    XExpression
        Lazy, of rank 3 at least.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.dstack([xl.zeros((2, 3)), xl.zeros((2, 3))]).shape
    (2, 3, 2)
    """
    return concat([at_least(x, 3, "dstack") for x in listed(tup, "dstack")], axis=2)


@memoised_joins
@moves
def column_stack(tup: Sequence[object]) -> Lazy:
    """Return vectors, each as a column, and matrices joined column by column, lazily.

    Parameters
    ----------
    tup : sequence of arrays or expressions
        Vectors and matrices with as many rows.

    Returns
    -------
    XExpression
        Lazy, of rank 2.

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


@or_numpy
def append(arr: object, values: object, axis: SupportsIndex | None = None) -> Lazy:
    """Return two arrays joined, lazily; flattened where no axis is given.

    Parameters
    ----------
    arr, values : array or expression
        What to join.
    axis : int, optional
        Along which dimension.

    Returns
    -------
    XExpression
        Lazy; ``arr`` itself does not grow.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.append(xl.arange(2), [5]))
    XArray([0, 1, 5])
    """
    parts = [container(np.array([x])) if type(x) in build.WEAK_TYPES else x for x in (arr, values)]
    parts = [[x] if isinstance(x, (str, bytes)) else x for x in parts]
    return concat(parts, axis=axis)


@or_numpy
def block(arrays: Any) -> XExpression:
    """Return blocks, given as nested lists, joined: the innermost along the last dimension.

    Parameters
    ----------
    arrays : nested lists of arrays
        Blocks, nested equally deep everywhere.

    Returns
    -------
    XExpression
        Lazy, of as many dimensions as lists are nested, at least.

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
