"""The operators of containers: as those of expressions, on operands that are made when they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.kind import Operands
from ..operands import tracing
from ..operands.learning import key_of
from ..operands.nodes import NUMBERS, as_item, ends, is_operand, unwrapped
from ..ops.op import Op
from .expression import XExpression, again

_new = object.__new__


def binary(op: Op) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return an operator's method and its reflected method; as those of expressions."""
    back = object()

    def forward(self: Any, other: Any) -> Any:
        operands: Operands
        try:
            mine = (self._buffer._reading, self._start)
            if other.__class__ in NUMBERS:
                kind, low, high = self._kind.table[op, other.__class__]
                operands = (*mine, as_item(other, low, high))
                shape = self._shape
            else:
                kind = self._kind.table[op, other._kind]
                if other.__class__ is XExpression:
                    operands = mine + other._operands
                else:
                    operands = (*mine, other._buffer._reading, other._start)
                shape = self._shape
                if shape != other._shape:
                    shape = ends(shape, other._shape)
            if tracing.running:
                raise KeyError
        except (KeyError, AttributeError):
            other = unwrapped(other)
            if not is_operand(other):
                return NotImplemented
            return again((op, key_of(other)), op, self, other)
        made = _new(XExpression)
        made._kind, made._shape, made._operands = kind, shape, operands
        return made

    def reflected(self: Any, other: Any) -> Any:
        operands: Operands
        # Python asks a container on the right first, as its class is derived from expressions'.
        lazy = other.__class__ is XExpression
        try:
            shape = self._shape
            if lazy:
                kind = other._kind.table[op, self._kind]
                operands = (*other._operands, self._buffer._reading, self._start)
                if shape != other._shape:
                    shape = ends(shape, other._shape)
            else:
                kind, low, high = self._kind.table[back, other.__class__]
                operands = (as_item(other, low, high), self._buffer._reading, self._start)
            if tracing.running:
                raise KeyError
        except (KeyError, AttributeError):
            other = unwrapped(other)
            if not is_operand(other):
                return NotImplemented
            return again((op, self._kind) if lazy else (back, other.__class__), op, other, self)
        made = _new(XExpression)
        made._kind, made._shape, made._operands = kind, shape, operands
        return made

    return forward, reflected


def unary(op: Op) -> Callable[..., Any]:
    """Return an operator's method."""
    key = (op,)

    def method(self: Any) -> XExpression:
        try:
            kind = self._kind.table[key]
            operands = (self._buffer._reading, self._start)
            if tracing.running:
                raise KeyError
        except (KeyError, AttributeError):
            return again(key, op, self)
        made = _new(XExpression)
        made._kind, made._shape, made._operands = kind, self._shape, operands
        return made

    return method
