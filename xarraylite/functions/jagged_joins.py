"""Several jagged arrays at once: one behind the other, one above the other, or compared.

The elements of joined arrays are those of the first, then those of the second and so on: along the
first mode, and along a new one before it, a join is a join of flat buffers.  Along any other mode
it would be one of each pair of rows, which nothing here can do.

Dense arrays stand beside jagged ones as jagged arrays whose rows happen to have one length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from .._errors import ShapeError
from ..arrays.expression import XExpression
from ..index.broadcast import check_axis
from ..ir import build
from ..jagged.lazy import XJaggedExpression
from ..jagged.rows import rows_of
from ..operands.nodes import as_node
from ..shapes.combine import stack as stack_spaces
from ..shapes.jagged import JaggedShape
from ..shapes.jagged_tree import Ragged, ints
from ..shapes.shape import Shape
from .groups import Lazy


def as_jagged(x: object, operation: str) -> XJaggedExpression:
    """Return any array of rank 1 or more as a jagged one.

    Raises
    ------
    ShapeError
        For arrays of rank 0.
    """
    if isinstance(x, XJaggedExpression):
        return x
    node = as_node(x, operation)
    if not node.shape:
        raise ShapeError(f"{operation}: {build.describe(node)} has no rows to join with others")
    return XJaggedExpression(node, JaggedShape(Shape(node.shape)))


def concat(arrays: Sequence[object], axis: SupportsIndex | None) -> Lazy:
    """Return arrays, a jagged one among them, one behind the other; see `xl.concat`.

    Raises
    ------
    ShapeError
        If the ranks differ, or ``axis`` is neither 0 nor None.
    """
    items = [as_jagged(x, "concat") for x in arrays]
    if axis is None:
        return XExpression(build.concat([x.flat.node for x in items], 0))
    spaces = _spaces(items, axis, 0, "concat")
    rank = spaces[0].rank
    if rank == 1:
        return _joined(items, Ragged.smooth((sum([x.size for x in items]),)))
    stacked = stack_spaces([space.expand(max(space.outer, 1)) for space in spaces])
    _, lengths, *counts = stacked.counts
    columns = [ints([lengths.sum()]), *counts]
    return _joined(items, Ragged.checked(columns, stacked.extents, [None] * rank))


def stack(arrays: Sequence[object], axis: SupportsIndex) -> Lazy:
    """Return arrays, a jagged one among them, as the slices of a new one; see `xl.stack`.

    Raises
    ------
    ShapeError
        If the ranks differ, or ``axis`` is not 0.
    """
    items = [as_jagged(x, "stack") for x in arrays]
    stacked = stack_spaces(_spaces(items, axis, 1, "stack"))
    plain = Ragged(stacked.counts, stacked.extents, (None,) * stacked.rank)
    return _joined(items, plain)


def _spaces(
    items: Sequence[XJaggedExpression], axis: SupportsIndex, more: int, operation: str
) -> list[Ragged]:
    """Return the index spaces of arrays of one rank."""
    shown = ", ".join([x.summary() for x in items])
    ranks = {x.ndim for x in items}
    if len(ranks) > 1:
        raise ShapeError(f"{operation}({shown}): jagged arrays of one rank are joined")
    if check_axis(axis, ranks.pop() + more, operation):
        raise ShapeError(
            f"{operation}({shown}): jagged arrays are joined along axis 0 only, got axis {axis}; "
            "along another each row would grow on its own"
        )
    return [x.jagged_shape._space() for x in items]


def _joined(items: Sequence[XJaggedExpression], space: Ragged) -> XJaggedExpression:
    shape = JaggedShape._make(space)
    node = build.concat([x.flat.node for x in items], 0)
    return XJaggedExpression(build.reshape(node, rows_of(shape).shape), shape)


def same_extents(left: object, right: object, operation: str) -> bool:
    """Tell whether two arrays, of which one is jagged, have the same extents everywhere."""
    for x in (left, right):
        if not isinstance(x, XJaggedExpression) and not as_node(x, operation).shape:
            return False
    return as_jagged(left, operation).rows.same(as_jagged(right, operation).rows)
