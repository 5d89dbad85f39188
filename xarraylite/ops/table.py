"""The one table of elementwise operations.

Every operation of the array API standard's elementwise category, ``where``, the cast, and a few
of NumPy's that cost little.  Expressions, both engines, documentation and HLO export read it.
"""

from __future__ import annotations

from . import arithmetic, logic, selection, transcendental
from .op import Op

OPS: dict[str, Op] = {
    op.name: op for op in (*arithmetic.ROWS, *selection.ROWS, *logic.ROWS, *transcendental.ROWS)
}
"""Operations by name."""

ALIASES: dict[str, str] = {alias: op.name for op in OPS.values() for alias in op.aliases}
"""Other names of operations, NumPy's in most cases."""
