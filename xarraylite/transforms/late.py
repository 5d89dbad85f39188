"""`late`: expressions that read their operands again at every evaluation."""

from __future__ import annotations

from dataclasses import replace
from typing import overload

from ..arrays.expression import XExpression
from ..ir.node import Leaf, Node
from ..ir.walk import rebuild, with_args
from ..jagged.lazy import XJaggedExpression
from ..memory.snapshots import LateSnapshot, Snapshot
from ..operands.gathers import gathered_again
from ..operands.nodes import as_node


@overload
def late(  # type: ignore[overload-overlap]
    expression: XJaggedExpression,
) -> XJaggedExpression: ...


@overload
def late(expression: object) -> XExpression: ...


def late(expression: object) -> XExpression | XJaggedExpression:
    """Return the expression with its operands read anew at every evaluation.

    Without it an expression means what it meant when it was written.  Late operands follow
    writes to their memory, as closures do in xtensor; where a container gave its memory up (a
    resize), evaluation raises.  A part that was computed early, as it had been used before, is
    computed again where it is known what it is of; if that was written meanwhile, it may have its
    old values or new ones: write the whole expression inside.  A small array of NumPy's is copied
    when it becomes an operand; what NumPy writes is seen through ``xl.adapt(array)``.

    Parameters
    ----------
    expression : XExpression, XJaggedExpression or container
        What to read late.

    Returns
    -------
    XExpression or XJaggedExpression
        A new expression; the given one is not changed.

    Raises
    ------
    StaleOperandError
        On evaluation, if an operand's container moved to other memory.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([1, 2])
    >>> now, later = a + 1, xl.late(a + 1)
    >>> a[...] = 10
    >>> xl.eval(now), xl.eval(later)
    (XArray([2, 3]), XArray([11, 11]))
    """
    if isinstance(expression, XJaggedExpression):
        return XJaggedExpression(read_late(expression.node, frozenset()), expression.jagged_shape)
    return XExpression(read_late(as_node(expression, "late"), frozenset()))


def read_late(root: Node, skip: frozenset[int]) -> Node:
    """Return a graph with late snapshots, except of those whose identity is in ``skip``."""
    snapshots: dict[int, Snapshot] = {}

    def visit(node: Node, args: tuple[Node, ...]) -> Node:
        if isinstance(node, Leaf) and id(node.snapshot) not in skip:
            snapshot = snapshots.setdefault(id(node.snapshot), LateSnapshot.after(node.snapshot))
            return replace(node, snapshot=snapshot)
        return with_args(node, args)

    return rebuild(gathered_again(root), visit)
