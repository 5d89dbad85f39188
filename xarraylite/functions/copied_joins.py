"""Joins of small arrays, which are copied when they are written.

A join is an expression, whose kernel runs once for each part: planning a part takes a hundred times
as long as copying a row.  So many parts are copied by NumPy at once, several that are small, and
few where a loop joins ever other shapes, as one does that joins what it makes of a join.  (What is
joined again in the same shapes is remembered, and is an expression.)  The result is what the join
would be, an expression of the values as they are now; its snapshot says what it was copied from, so
that `late` joins the parts again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._config import settings
from ..arrays.expression import XExpression
from ..arrays.memo import growing
from ..arrays.recomputed import node_of_part
from ..dtypes.names import DType, NumpyArray
from ..dtypes.promotion import result_type
from ..index import transform as steps
from ..ir import build
from ..ir.kind import Form, parts_of
from ..ir.node import FREE, RANK, Concat, Node
from ..ir.walk import postorder
from ..memory.snapshots import Copy
from ..operands import tracing
from ..operands.nodes import Gathers, OneValue, as_node
from .computed import COMMON
from .copied import FEW, copy_with, part_of

#: Parts beyond which a join is copied, of more bytes than `FEW` and of fewer; the most bytes of
#: all, and of one on average.
MANY, SEVERAL, _MOST, _EACH = 32, 8, 1 << 26, 1 << 16


class Joined(Gathers):
    """Arrays that were joined, along an existing dimension or a new one, and copied.

    Attributes
    ----------
    parts : list
        NumPy's arrays, and of others kind, shape and operands, with the buffer of memory.
    axis : int or None
        Along which dimension of the result; None: of the flattened parts.
    new : bool
        Whether that is none of the parts'.
    dtype : numpy.dtype
        Of the result.
    """

    __slots__ = ("axis", "dtype", "new", "parts")

    def __init__(self, parts: list[Any], axis: int | None, new: bool, dtype: DType) -> None:
        self.parts, self.axis, self.new, self.dtype = parts, axis, new, dtype

    def gathered(self) -> Node:
        """Return the join of the parts as they are now."""
        nodes = [self._node(part) for part in self.parts]
        if self.new and self.axis is not None:
            step = steps.expand(nodes[0].shape, (self.axis,))
            nodes = [build.view(node, step) for node in nodes]
        if self.axis is None:
            nodes = [build.reshape(node, (-1,)) for node in nodes]
        return build.concat(nodes, self.axis or 0)

    @staticmethod
    def _node(part: Any) -> Node:
        return as_node(part, "concat") if part.__class__ is np.ndarray else node_of_part(part)


def _reads_join(x: object) -> bool:
    """Tell whether an operand is computed of a lazy join, or of the copy of one."""
    if not isinstance(x, XExpression) or x.__class__ is not XExpression:
        return False
    if x._kind.formed:
        forms = [part.op.root for part in parts_of(x._kind) if isinstance(part.op, Form)]
        return any([isinstance(node, Concat) for root in forms for node in postorder(root)])
    return any([isinstance(y, Copy) and isinstance(y.made, Joined) for y in x._operands])


def joined(arrays: Sequence[Any], axis: Any, new: bool) -> XExpression | None:
    """Return the join of many arrays of plain numbers; None if they are few, large or others.

    Values, which nobody writes, what is appended to a join, and what a loop joins in ever new
    shapes are copied however few they are.

    None, too, where NumPy refuses them: the message is the usual join's.
    """
    if tracing.running.value:
        return None
    many = len(arrays) > MANY
    soon = len(arrays) > SEVERAL or growing.value or any(map(_reads_join, arrays))
    if not (soon or all([isinstance(x, OneValue) for x in arrays])):
        return None
    most = min(_MOST, _EACH * len(arrays) if many else FEW, settings.max_result_bytes)
    values: list[NumpyArray] = []
    parts: list[Any] = []
    fixed = RANK
    made: NumpyArray
    part: Any
    for given in arrays:
        x = np.asarray(given.value) if isinstance(given, OneValue) else given
        if x.__class__ is list:
            try:
                x = np.asarray(x)
            except ValueError:
                return None
        if x.__class__ is np.ndarray:
            made, part, fixed = x, x, FREE
        elif isinstance(x, XExpression):
            found = part_of(x, most)
            if found is None:
                return None
            made, part = found
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
    except (TypeError, ValueError, IndexError):
        return None
    along = None if axis is None else axis % whole.ndim
    return copy_with(whole, fixed, Joined(parts, along, new, whole.dtype))
