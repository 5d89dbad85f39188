"""Operands as arrays, which have views."""

from __future__ import annotations

from .._errors import ShapeError
from ..ir.build import convert, describe
from ..operands.moving import Parted
from ..operands.nodes import as_node, unwrapped
from .expression import XExpression


def as_array(x: object, operation: str) -> XExpression:
    """Return an operand as an array: an expression or container as it is."""
    x = unwrapped(x)
    if isinstance(x, Parted):  # which has views as an array has
        return x  # type: ignore[return-value]
    if isinstance(x, XExpression):
        return x
    node = as_node(x, operation)
    return XExpression(convert(node, node.dtype))  # a number's dtype is settled


def as_matrix(x: object, operation: str) -> XExpression:
    """Return an operand of rank 2 as an array.

    Raises
    ------
    ShapeError
        If the rank is another.
    """
    array = as_array(x, operation)
    if array.ndim != 2:
        raise ShapeError(f"{operation}({describe(array.node)}): the rank must be 2")
    return array
