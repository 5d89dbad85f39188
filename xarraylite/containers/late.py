"""`late`: expressions that read their operands again at every evaluation."""

from __future__ import annotations

from dataclasses import replace

from ..expr.node import (
    Concat,
    Elementwise,
    Gather,
    Leaf,
    Node,
    Reduce,
    View,
)
from ..expr.walk import rebuild
from ..storage.buffer import Reading
from .expression import XExpression
from .operands import as_node


def late(expression: object) -> XExpression:
    """Return the expression with its operands read anew at every evaluation.

    Without it an expression means what it meant when it was written.  Late operands follow
    writes to their memory, as closures do in xtensor; where a container gave its memory up (a
    resize), evaluation raises.

    Parameters
    ----------
    expression : XExpression or container
        What to read late.

    Returns
    -------
    XExpression
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
    return XExpression(read_late(as_node(expression, "late"), frozenset()))


def read_late(root: Node, skip: frozenset[int]) -> Node:
    """Return a graph with late readings, except of those whose identity is in ``skip``."""
    readings: dict[int, Reading] = {}

    def visit(node: Node, args: tuple[Node, ...]) -> Node:
        if isinstance(node, Leaf) and id(node.reading) not in skip:
            buffer = node.reading.buffer
            reading = readings.setdefault(id(buffer), Reading(buffer, late=True))
            return replace(node, reading=reading)
        return with_args(node, args)

    return rebuild(root, visit)


def with_args(node: Node, args: tuple[Node, ...]) -> Node:
    """Return a node with other arguments of the same shapes and dtypes."""
    if args == node.args:
        return node
    if isinstance(node, Elementwise):
        return replace(node, operands=args)
    if isinstance(node, Concat):
        return replace(node, parts=args)
    if isinstance(node, View | Reduce):
        return replace(node, arg=args[0])
    assert isinstance(node, Gather)
    index = args[1]
    assert isinstance(index, Leaf)
    return replace(node, arg=args[0], index=index)
