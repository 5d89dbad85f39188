"""Reductions of jagged arrays: which modes may be folded, and what shape is left.

A mode can be folded if what is left is jagged by rows again.  Rows that differ in length cannot be
added element by element, so a mode goes only together with all jagged modes after it:

* trailing smooth modes, any of them: each row is folded on its own, the shape stays jagged;
* the last jagged mode, and modes right before it: runs of the flat buffer are folded, between
  offsets (`SegmentReduce`);
* everything.

Results are jagged if both of the first two modes are left, else dense.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from .._errors import ShapeError
from .._records import record
from ..arrays.expression import XExpression
from ..dtypes.names import DType
from ..index.broadcast import check_axes
from ..ir import build
from ..ir.node import Node
from ..jagged.lazy import XJaggedExpression
from ..jagged.rows import Rows, leading, rows_of
from ..nullable.array import XOptional
from ..operands.nodes import Lifted, as_operand, borrow_array
from ..ops.reductions import ALL, Reduction
from ..ops.table import OPS
from ..shapes.jagged import JaggedShape
from .groups import GIVE_INITIAL, Axes, Axis, Lazy, dense_groups, refuse_empty, with_initial

#: The elements of one operand, divided into groups that are folded: both answer the same questions.
Groups: TypeAlias = "Axes | Segments"


def groups_of(x: Lifted, axis: Axis, keepdims: bool, operation: str) -> tuple[Node, Groups]:
    """Return what a reducer folds of an operand that is more than an array.

    Raises
    ------
    AxisError
        For axes out of range.
    ShapeError
        For modes of a jagged array that cannot be folded.
    """
    if isinstance(x, XOptional):
        node = x.value().node
        axes = check_axes(axis, len(node.shape), operation)
        return node, Present(node.shape, axes, keepdims, x.has_value().node)
    if not isinstance(x, XJaggedExpression):
        return dense_groups(x, axis, keepdims, operation)
    rows = x.rows
    modes = check_axes(axis, rows.rank, operation)
    head = [mode for mode in modes if mode < rows.head]
    first = rows.head - len(head)
    if head != list(range(first, rows.head)):
        raise ShapeError(
            f"{operation}: modes {modes} of the jagged extents {rows.modes} cannot be folded: mode "
            f"{rows.head - 1} is jagged and would have to go with them, and all modes between; use "
            "to_padded() for sums across rows of different lengths"
        )
    return x.node, Segments(x._shape, rows, modes, first, keepdims)


@record(frozen=True, slots=True)
class Present(Axes):
    """Groups along axes of an optional array: a result is there if all that it is made of is.

    Attributes
    ----------
    flags : Node
        Which elements there are.
    """

    flags: Node

    def wrap(self, folded: Node) -> Any:
        """Return the lazy results, and which of them there are."""
        known = build.reduce(ALL, self.flags, self.axes, self.keepdims)
        return XOptional(XExpression(folded), XExpression(known))


@record(frozen=True, slots=True)
class Segments:
    """Groups of elements of a jagged array; see `groups.Axes`.

    Attributes
    ----------
    shape : JaggedShape
        The index space.
    rows : Rows
        How the elements are laid out.
    modes : tuple of int
        The modes that are folded.
    depth : int
        How many leading modes stay: up to ``rows.head``.
    keepdims : bool
        Whether folded modes stay, with extent 1.
    """

    shape: JaggedShape
    rows: Rows
    modes: tuple[int, ...]
    depth: int
    keepdims: bool

    @property
    def _tail(self) -> tuple[int, ...]:
        """Folded dimensions of the node behind its rows."""
        return tuple([mode - self.rows.head + 1 for mode in self.modes if mode >= self.rows.head])

    @property
    def _dense(self) -> Axes | None:
        """The same groups as axes of the node, where they are that."""
        if self.depth == self.rows.head:
            return Axes(self.rows.shape, self._tail, True)
        return Axes(self.rows.shape, (0, *self._tail), True) if self.depth == 0 else None

    @property
    def _inner(self) -> int:
        """Number of elements of each row that are folded."""
        return math.prod([self.rows.shape[k] for k in self._tail])

    @property
    def largest(self) -> int:
        """Number of elements of the largest group."""
        if self._dense is not None:
            return self._dense.largest
        return self.rows.lengths(self.depth)[2] * self._inner

    @property
    def empty(self) -> str:
        """Which group is the first without elements, in words."""
        along = f"along modes {self.modes}"
        if self._dense is not None:
            dense = self._dense
            groups = math.prod([n for k, n in enumerate(dense.shape) if k not in dense.axes])
            if dense.largest or not groups:
                return ""
            return f"the jagged extents {self.rows.modes} have no elements {along}"
        lengths, least, _ = self.rows.lengths(self.depth)
        left = [n for k, n in enumerate(self.rows.shape) if k and k not in self._tail]
        if least * self._inner or not math.prod(left):
            return ""
        at = int(lengths.argmin()) if self._inner else 0
        address = ", ".join(map(str, self.rows.address(self.depth, at)))
        return f"slice {address} of the jagged extents {self.rows.modes} has no elements {along}"

    def fold(self, op: Reduction, node: Node, initial: object = None) -> Node:
        """Return each group folded, as one row with dimensions of extent 1; see `Axes.fold`."""
        if op.identity is None and initial is None:
            refuse_empty(self.empty, op.name, node, GIVE_INITIAL)
        dense = self._dense
        if dense is not None:
            if op.identity is None and initial is None and dense.empty:
                initial = 0  # of no result
            return dense.fold(op, node, initial)
        if self._tail:
            nothing = op.identity is None and not self._inner
            node = self._nothing(node) if nothing else build.reduce(op, node, self._tail, True)
        folded = build.segment_reduce(op, node, self.rows.offsets_leaf(self.depth))
        result = with_initial(op, folded, initial)
        if op.identity is None and self.empty:
            some = self.rows.lengths(self.depth)[0] * self._inner > 0
            full = borrow_array(np.asarray(some), op.name)
            first = build.convert(as_operand(initial, op.name), node.dtype)
            result = build.elementwise(OPS["where"], self._beside(full), result, first)
        return result

    def _nothing(self, node: Node) -> Node:
        """Return a value for each row without elements, which will not be looked at."""
        shape = tuple([1 if k in self._tail else n for k, n in enumerate(node.shape)])
        return build.broadcast_to(build.scalar(0, node.dtype), shape)

    def _beside(self, node: Node) -> Node:
        """Return one value for each group as it broadcasts against folded rows."""
        return build.reshape(node, (node.shape[0], *[1] * len(self.rows.tail)))

    def kept(self) -> Segments:
        """Return the groups themselves: their results have all dimensions."""
        return self

    def back(self, folded: Node) -> Node:
        """Return for each row the result of its group."""
        if self._dense is not None:
            return folded
        return build.gather(folded, 0, self.rows.nodes_leaf(self.depth))

    def count(self, dtype: DType, less: float = 0.0) -> build.Operand:
        """Return the number of elements of each group."""
        if self._dense is not None:
            return self._dense.count(dtype, less)
        counts = np.maximum(self.rows.lengths(self.depth)[0] * self._inner - less, 0.0)
        return build.cast(self._beside(borrow_array(counts, "mean")), dtype)

    def places(self, shape: tuple[int, ...]) -> Node:
        """Return the position along the folded mode; in the flat buffer, if all are folded."""
        if self._dense is not None:
            return self._dense.places(shape)
        return self._beside(self.rows.positions_leaf(self.modes[0]))

    def wrap(self, folded: Node) -> Lazy:
        """Return dense results if one of the first two modes is folded, else jagged ones."""
        rows, depth = self.rows, self.depth
        sides = [
            1 if mode in self.modes else _smooth(rows.modes[mode])
            for mode in range(depth, rows.rank)
            if self.keepdims or mode not in self.modes
        ]
        if not {0, 1}.isdisjoint(self.modes):
            lead = [_smooth(n) for n in rows.modes[:depth]]
            return XExpression(build.reshape(folded, [*lead, *sides]))
        shape = leading(self.shape, depth, tuple(sides))
        return XJaggedExpression(build.reshape(folded, rows_of(shape).shape), shape)


def _smooth(extent: int | None) -> int:
    """Return the extent of a mode that is not jagged, as all are that stay in an array."""
    assert extent is not None, "jagged modes before the folded ones stay jagged"
    return extent
