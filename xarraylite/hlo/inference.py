"""Shapes of results, from operands and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..xla.spec import ArraySpec

if TYPE_CHECKING:
    from .instruction import HloComputation


def infer_shape(
    opcode: str,
    shapes: tuple[ArraySpec, ...],
    attributes: Mapping[str, Any],
    called: tuple[HloComputation, ...],
) -> ArraySpec | None:
    """Return the shape of a result."""
    return shapes[0] if shapes else None
