"""Joins of many small arrays, which are copied when they are written.

A join is an expression, whose kernel runs once for each part: planning a part takes a hundred times
as long as copying a row.  So many parts are copied by NumPy at once.  The result is what the join
would be, an expression of the values as they are now; its snapshot says what it was copied from, so
that `late` joins the parts again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._config import settings
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.few import copy_of
from ..assignment import direct
from ..assignment.elements import array_of
from ..dtypes.names import NumpyArray
from ..dtypes.promotion import result_type
from ..index import transform as steps
from ..ir import build
from ..ir.kind import NODE, row_major
from ..ir.node import FREE, RANK, Node
from ..ir.translation import node_of
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot
from ..operands import tracing
from ..operands.nodes import Gathers, OneValue, as_node
from .computed import COMMON

#: Parts beyond which a join is copied; the most bytes of all, and of one on average.
MANY, _MOST, _EACH = 32, 1 << 26, 1 << 16


class Joined(Gathers):
    """Arrays that were joined, along an existing dimension or a new one, and copied.

    Attributes
    ----------
    parts : list
        NumPy's arrays, and of others kind, shape and operands, with the buffer of memory.
    axis : int
        Along which dimension of the result.
    new : bool
        Whether that is none of the parts'.
    """

    __slots__ = ("axis", "new", "parts")

    def __init__(self, parts: list[Any], axis: int, new: bool) -> None:
        self.parts, self.axis, self.new = parts, axis, new

    def gathered(self) -> Node:
        """Return the join of the parts as they are now."""
        nodes = [self._node(part) for part in self.parts]
        if self.new:
            step = steps.expand(nodes[0].shape, (self.axis,))
            nodes = [build.view(node, step) for node in nodes]
        return build.concat(nodes, self.axis)

    @staticmethod
    def _node(part: Any) -> Node:
        if part.__class__ is np.ndarray:
            return as_node(part, "concat")
        kind, shape, operands = part
        if operands and isinstance(operands[0], Buffer):
            operands = (operands[0].snapshot(), operands[1])
        return node_of(kind, shape, operands)


def joined(arrays: Sequence[Any], axis: Any, new: bool) -> XExpression | None:
    """Return the join of many arrays of plain numbers; None if they are few, large or others.

    Values, which nobody writes, are copied however few they are.

    Where NumPy refuses them too: the message is the usual join's.
    """
    if axis is None or tracing.running.value:
        return None
    if len(arrays) <= MANY and not all([isinstance(x, OneValue) for x in arrays]):
        return None
    most = min(_MOST, _EACH * len(arrays), settings.max_result_bytes)
    values: list[NumpyArray] = []
    parts: list[Any] = []
    fixed = RANK
    made: NumpyArray
    part: Any
    for given in arrays:
        x = np.asarray(given.value) if isinstance(given, OneValue) else given
        if x.__class__ is np.ndarray:
            made, part, fixed = x, x, FREE
        elif not isinstance(x, XExpression) or x._kind is NODE or x._kind.dtype not in COMMON:
            return None
        elif isinstance(x, XContainer):
            made, part = array_of(x), (x._kind, x._shape, (x._buffer, x._start))
            fixed = min(fixed, x._fixed)
        elif x.__class__ is XExpression and x.size * x._kind.itemsize <= most:
            made, part = _values(x), (x._kind, x._shape, x._operands)
            fixed = min(fixed, x._kind.fixed)
        else:
            return None
        most -= made.nbytes
        values.append(made)
        parts.append(part)
    dtypes = {value.dtype for value in values}
    if most < 0 or not dtypes <= COMMON:
        return None
    try:
        whole = (np.stack if new else np.concatenate)(values, axis, dtype=result_type(*dtypes))
    except (TypeError, ValueError):
        return None
    snapshot = Snapshot.alone(whole.nbytes, Joined(parts, axis % whole.ndim, new))
    snapshot.array(whole.dtype, whole.shape)[...] = whole
    return copy_of(row_major(whole.dtype, whole.ndim, fixed), whole.shape, snapshot)


def _values(e: XExpression) -> NumpyArray:
    """Return the values of a lazy result, which nobody else has."""
    made = direct.evaluate(e)
    return e.numpy() if made is None or made._kind is NODE else array_of(made)
