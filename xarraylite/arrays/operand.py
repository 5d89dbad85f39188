"""Operands as arrays, which have views."""

from __future__ import annotations

from ..operands.moving import Parted
from ..operands.nodes import as_node, unwrapped
from .expression import XExpression


def as_array(x: object, operation: str) -> XExpression:
    """Return an operand as an array: an expression or container as it is."""
    x = unwrapped(x)
    if isinstance(x, Parted):  # which has views as an array has
        return x  # type: ignore[return-value]
    return x if isinstance(x, XExpression) else XExpression(as_node(x, operation))
