"""Small results that are computed when they are written, by functions of NumPy's with our bits.

A loop that searches ever other lengths (the pivot of an elimination) would plan each search, which
takes a hundred times as long as NumPy.  The first ones, and what is asked again with the same
extents (`arrays.memo`), are expressions.  The result is one of the value as it is now; its snapshot
says what it was computed from, so that `late` computes it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lazy_import import later
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.few import copy_of
from ..arrays.memo import growing
from ..arrays.recomputed import Part, Recomputed, outlined
from ..assignment import direct
from ..assignment.direct import count_launch
from ..assignment.elements import array_of
from ..assignment.parts import has_program
from ..dtypes.names import NumpyArray
from ..ir import build
from ..ir.kind import NODE, Kind, Operands, row_major
from ..ir.node import RANK, Leaf, Node, Shape
from ..ir.translation import of as kind_of
from ..layout.strided import Strided
from ..memory.snapshots import Snapshot
from ..operands import tracing
from ..operands.nodes import Gathers
from ..ops.reductions import Reduction
from ..runtime.program import Direct
from .computed import COMMON

if TYPE_CHECKING:
    from ..runtime import axis_folds
else:
    axis_folds = later(".runtime.axis_folds")

#: The most bytes of an operand that is computed first, and of all others and results.
FEW, _MOST = 1 << 16, 1 << 20


def part_of(x: XExpression, most: int) -> tuple[NumpyArray, Part] | None:
    """Return the values of an array of plain numbers, and how it was written.

    None of more bytes than ``most``, if they are to be computed, and of other arrays.
    """
    if x._kind is NODE or x._kind.dtype not in COMMON:
        return None
    if isinstance(x, XContainer):
        return array_of(x), (x._kind, x._shape, (x._buffer, x._start))
    if x.__class__ is not XExpression or x.size * x._kind.itemsize > most:
        return None
    part = x._kind, x._shape, outlined(x._kind, x._operands)
    made = direct.evaluate(x)  # nobody else has it
    return (x.numpy() if made is None or made._kind is NODE else array_of(made)), part


def copy_with(values: NumpyArray, fixed: int, made: Gathers) -> XExpression:
    """Return an expression of values, and of what says where they are from."""
    snapshot = Snapshot.alone(values.nbytes, made)
    snapshot.array(values.dtype, values.shape)[...] = values
    return copy_of(row_major(values.dtype, values.ndim, fixed), values.shape, snapshot)


def computed_at_once(
    function: Callable[..., Any],
    a: object,
    lazily: Callable[[Node], Node],
    shape: Shape,
    **options: Any,
) -> XExpression | None:
    """Return what NumPy makes of a small array, in a loop over ever new extents.

    None of all others, and where NumPy refuses it.

    Parameters
    ----------
    function : callable
        NumPy's.
    a : object
        The operand.
    lazily : callable
        Makes the result's node of the operand's.
    shape : tuple of int
        Of the result.
    **options
        What else NumPy is given.
    """
    if not growing.value or not isinstance(a, XExpression) or tracing.running.value:
        return None
    if not a.size or max(a.size, math.prod(shape)) * a.dtype.itemsize > _MOST:
        return None
    found = part_of(a, FEW)
    if found is None:
        return None
    try:
        values = np.asarray(function(found[0], **options))
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return copy_with(values, min(a._kind.fixed, RANK), Recomputed(found[1], lazily, values.dtype))


def folded_at_once(op: Reduction, node: Node, axes: tuple[int, ...], keepdims: bool) -> Node | None:
    """Return a small array folded along some axes, in a loop over ever new extents.

    None of all others, and of folds along no axis or all.

    Parameters
    ----------
    op : Reduction
        How it is folded.
    node : Node
        The operand.
    axes : tuple of int
        The axes.
    keepdims : bool
        Whether these stay, with extent 1.
    """
    if not 0 < len(axes) < len(node.shape):
        return None
    left = [1 if k in axes else n for k, n in enumerate(node.shape)]
    shape = tuple(left if keepdims else [n for k, n in enumerate(left) if k not in axes])

    def lazily(part: Node) -> Node:
        return build.reduce(op, part, axes, keepdims)

    def fold(kind: Kind, operands: Operands, to: Snapshot) -> bool:
        return axis_folds.fold(op, kind, node.shape, operands, axes, to)

    return _at_once(node, shape, lazily, fold)


def settled_at_once(node: Node) -> Node:
    """Return what is computed for each element as memory, in a loop over ever new extents.

    All others as they are.  Memory may be stretched along extents of 1 without a plan.
    """

    def fill(kind: Kind, operands: Operands, to: Snapshot) -> bool:
        program: Any = kind.fresh if has_program(kind) else None
        size = math.prod(node.shape)
        if program.__class__ is not Direct or program.folds or size > program.limit:
            return False
        return program.call(to.address, node.shape, *operands) is None

    made = _at_once(node, node.shape, lambda part: part, fill)
    return node if made is None else made


def _at_once(
    node: Node,
    shape: Shape,
    lazily: Callable[[Node], Node],
    compute: Callable[[Kind, Operands, Snapshot], bool],
) -> Node | None:
    """Return memory of what is made of a node, if ``compute`` does fill it."""
    if not growing.value or tracing.running.value:
        return None
    known = kind_of(node)
    if known is None or known[0].formed:
        return None
    kind, operands = known
    part = kind, node.shape, outlined(kind, operands)
    to = Snapshot.alone(math.prod(shape) * kind.itemsize, Recomputed(part, lazily, kind.dtype))
    if not compute(kind, operands, to):
        return None
    count_launch()
    return Leaf(shape, kind.dtype, to, Strided.row_major(shape), min(kind.fixed, RANK))
