"""Small results that are computed when they are written, by functions of NumPy's with our bits.

A loop that folds along some axes, or reshapes what lies apart, with ever other extents would plan
each time, which takes a hundred times as long as NumPy.  The first ones, and what is asked again
with the same extents (`arrays.memo`), are expressions.  The result is one of the value as it is;
its snapshot says what it was computed from, so that `late` computes it again.  What needs no more
than NumPy's function of the same name is `arrays.at_once`'s.

A join's kernel runs once for each part, and planning a part takes as long.  So many parts are
copied by NumPy at once (`joined`), several that are small, and few where a loop joins ever other
shapes, as one does that joins what it makes of a join, or what is too long together for a form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._config import settings
from ..arrays.any_length import filled
from ..arrays.at_once import COMMON, FEW, MOST, copy_with, part_of
from ..arrays.expression import XExpression
from ..arrays.recomputed import Recomputed, node_of_part, outlined
from ..arrays.rules import growing
from ..assignment import results
from ..dtypes.names import DType, NumpyArray
from ..dtypes.promotion import result_type
from ..index import transform as steps
from ..ir import build
from ..ir.kind import NODE, Form, parts_of, row_major
from ..ir.node import FREE, RANK, SHAPE, Concat, Leaf, Node, Shape
from ..ir.translation import MOST_FORMED
from ..ir.translation import of as kind_of
from ..ir.walk import postorder
from ..layout.strided import Strided
from ..memory.snapshots import Copy, Snapshot
from ..operands import tracing
from ..operands.nodes import Gathers, OneValue, as_node
from ..ops.reductions import Reduction

#: Parts beyond which a join is copied, of more bytes than `FEW` and of fewer; the most bytes of
#: all, and of one on average.
MANY, SEVERAL, _JOINED, _EACH = 32, 8, 1 << 26, 1 << 16


def with_memory(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return operands of a product: of more than two, small lazy ones in memory that BLAS reads."""
    if len(operands) <= 2:
        return operands
    lazy = {
        id(x): results.evaluate(x)
        for x in operands
        if x.__class__ is XExpression and x._kind is not NODE and x.nbytes <= FEW
    }
    return tuple([x if lazy.get(id(x)) is None else lazy[id(x)] for x in operands])


def _value_and_part(given: Any, most: int) -> tuple[NumpyArray, Any] | None:
    """Return the values of one of several arrays as `part_of` does, also of lists and NumPy's."""
    if isinstance(given, XExpression):
        return part_of(given, most)
    x = np.asarray(given.value) if isinstance(given, OneValue) else given
    if x.__class__ is list:
        try:
            x = np.asarray(x)
        except ValueError:
            return None
    return (x, x) if x.__class__ is np.ndarray else None


def reshaped_at_once(a: XExpression, shape: Shape) -> XExpression | None:
    """Return few elements that lie apart in another shape, in a loop over ever new extents."""
    small = growing.value and not tracing.running.value and 0 < a.size * a.dtype.itemsize <= MOST
    found = part_of(a, FEW) if small else None
    if found is None:
        return None
    kind = row_major(a.dtype, len(shape), min(a._kind.fixed, RANK))
    made = Recomputed(found[1], lambda node: build.reshape(node, shape), a.dtype)
    return copy_with(found[0].reshape(shape), kind, made)


def at_once(
    node: Node, op: Reduction | None = None, axes: tuple[int, ...] = (), keepdims: bool = False
) -> Node | None:
    """Return a small array, folded along some axes or as it is, as memory in such a loop.

    Where the whole function has no rule (`arrays.any_length`), as results that are stretched along
    an inner dimension have strides of other extents; memory may be stretched along extents of 1
    without a plan.  None of all others, and of folds along all axes.

    Parameters
    ----------
    node : Node
        The operand.
    op, axes : Reduction or None, tuple of int
        How it is folded, and along which of some axes.
    keepdims : bool
        Whether these stay, with extent 1.
    """
    if not growing.value or tracing.running.value or bool(axes) != bool(op):
        return None
    known = kind_of(node) if len(axes) < len(node.shape) else None
    if known is None or known[0].formed:
        return None
    kind, operands = known

    def lazily(part: Node) -> Node:
        return part if op is None else build.reduce(op, part, axes, keepdims)

    shape = build.folded(node.shape, axes, keepdims)
    part = kind, node.shape, outlined(kind, operands)
    to = Snapshot.alone(math.prod(shape) * kind.itemsize, Recomputed(part, lazily, kind.dtype))
    if not filled(kind, to, node.shape, operands, op, axes):
        return None
    results.count_launch()
    return Leaf(shape, kind.dtype, to, Strided.row_major(shape), min(kind.fixed, RANK))


class Joined(Gathers):
    """Arrays that were joined, along an existing dimension or a new one, and copied.

    Attributes
    ----------
    parts : list
        NumPy's arrays, and of others kind, shape and operands, as `Recomputed` has them.
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

    def gathered(self) -> Node | None:
        """Return the join of the parts as they are now; None if one is gone."""
        found = [self._node(part) for part in self.parts]
        nodes = [node for node in found if node is not None]
        if len(nodes) < len(found):
            return None
        if self.new and self.axis is not None:
            step = steps.expand(nodes[0].shape, (self.axis,))
            nodes = [build.view(node, step) for node in nodes]
        if self.axis is None:
            nodes = [build.reshape(node, (-1,)) for node in nodes]
        return build.concat(nodes, self.axis or 0)

    @staticmethod
    def _node(part: Any) -> Node | None:
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
    soon = len(arrays) > SEVERAL or growing.value or any(map(_reads_join, arrays))
    soon = soon or sum([x._kind.weight for x in arrays if isinstance(x, XExpression)]) > MOST_FORMED
    if not (soon or all([isinstance(x, OneValue) for x in arrays])):
        return None
    most = min(
        _JOINED, _EACH * len(arrays) if len(arrays) > MANY else FEW, settings.max_result_bytes
    )
    values: list[NumpyArray] = []
    parts: list[Any] = []
    for given in arrays:
        found = _value_and_part(given, most)
        if found is None:
            return None
        values.append(found[0])
        parts.append(found[1])
        most -= found[0].nbytes
    dtypes = {value.dtype for value in values}
    if most < 0 or not dtypes <= COMMON:
        return None
    try:
        whole = (np.stack if new else np.concatenate)(values, axis, dtype=result_type(*dtypes))
    except (TypeError, ValueError, IndexError):
        return None
    along = None if axis is None else axis % whole.ndim
    fixed = min([x._kind.fixed if isinstance(x, XExpression) else FREE for x in arrays])
    fixed = FREE if fixed > SHAPE else min(fixed, RANK)  # of scalars nothing is fixed
    kind = row_major(whole.dtype, whole.ndim, fixed)
    return copy_with(whole, kind, Joined(parts, along, new, whole.dtype))
