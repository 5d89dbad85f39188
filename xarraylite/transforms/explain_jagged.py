"""What `explain` is asked of jagged arrays, as the same question about arrays of their rows."""

from __future__ import annotations

from ..arrays.expression import XExpression
from ..ir.node import Node
from ..jagged.array import XJagged
from ..jagged.contraction import flattened
from ..jagged.labels import XJaggedLabelled, prepared
from ..jagged.lazy import XJaggedExpression, spread
from ..labels.notes import Note
from ..shapes.labels import parse_labels
from .noalias import NoAlias, noalias


def as_rows(
    destination: object, expression: object, notes: list[Note]
) -> tuple[object, object] | None:
    """Return a destination and an expression of rows for those of jagged arrays; None for others.

    Products that are made before a jagged label can be summed are noted.

    Raises
    ------
    TypeError
        For a destination that owns no memory.
    ShapeError, BroadcastError
        As for the assignment or the evaluation.
    """
    if isinstance(destination, XJaggedLabelled):
        return _labelled_rows(destination, expression, notes)
    target = destination.target if isinstance(destination, NoAlias) else destination
    if not isinstance(target, XJaggedExpression):
        return None
    rows = target._flat
    if expression is None:
        return rows, None
    if not isinstance(target, XJagged):
        raise TypeError("explain: the destination must be a container or noalias(container)")
    operand = spread(expression, target.rows, "assignment")
    value = XExpression(operand) if isinstance(operand, Node) else operand
    return (rows if target is destination else noalias(rows)), value


def _labelled_rows(
    destination: XJaggedLabelled, expression: object, notes: list[Note]
) -> tuple[object, object] | None:
    if isinstance(expression, str):
        labels = parse_labels(expression, "eval")
        value, out = flattened(destination, labels, destination.shaped(labels), notes)
        return value, ",".join(out)
    if expression is None or not isinstance(destination.origin, XJagged):
        return None
    text = ",".join(destination.labels)
    value, out, target = prepared(destination.origin, text, expression, notes)
    return target[",".join(out)], value
