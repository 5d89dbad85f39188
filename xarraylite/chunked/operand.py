"""Stored arrays as operands: they say how an expression that reads them is evaluated."""

from __future__ import annotations

from typing import Any

from ..ir.node import Node
from . import explaining, stream
from .source import StoredArray


class Source(StoredArray):
    """A stored array that a `Stored` node stands for."""

    __slots__ = ()

    def explain(self, node: Node, target: object) -> Any:
        """Return how an expression over such operands would be stored, or evaluated into memory."""
        return explaining.explained(node, target)

    def fill(self, node: Node, target: Any, noalias: bool) -> None:
        """Evaluate an expression over such operands into a destination in memory, in blocks."""
        stream.fill(node, target, noalias)
