"""Arrays taken apart along a dimension, into views where they are memory."""

from __future__ import annotations

import builtins
import itertools
from typing import Any, SupportsIndex

import numpy as np

from .._errors import ShapeError, SizeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.operand import as_array
from ..index import transform as steps
from ..index.broadcast import check_axis
from ..ir import build
from ..operands.moving import moves
from ..operands.nodes import as_node
from ..operands.non_numeric import or_numpy
from .arguments import whole


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
                f"{operation}({build.describe(array.node)}): an extent of {extent} has no {count} "
                "equal parts; use array_split"
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

    Parameters
    ----------
    ary : array or expression
        What to split.
    indices_or_sections : int or sequence of int
        Number of parts, or where parts begin.
    axis : int, default 0
        Along which dimension.

    Returns
    -------
    list of XExpression
        The parts.

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
