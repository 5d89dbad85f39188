"""The in-place operators, once for containers and for ``noalias`` destinations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..ops.op import Op
from ..ops.table import OPS
from .readers import HELD_UPDATE


def _in_place(name: str) -> Callable[..., Any]:
    op = OPS[name]

    def method(self: InPlace, other: object) -> InPlace:
        held = sys.getrefcount(other) > HELD_UPDATE
        self._update(op, other, held)
        return self

    method.__doc__ = f"Apply ``{name}`` in place, by NumPy's rule."
    return method


class InPlace:
    """Gives a destination ``+=`` and its relatives in terms of `_update`."""

    __slots__ = ()

    def _update(self, op: Op, value: object, held: bool) -> None:
        """Perform ``self op= value``; ``held`` if others than the caller refer to ``value``."""
        raise NotImplementedError(f"{type(self).__name__} has no memory to update")

    __iadd__ = _in_place("add")
    __isub__ = _in_place("subtract")
    __imul__ = _in_place("multiply")
    __itruediv__ = _in_place("divide")
    __ifloordiv__ = _in_place("floor_divide")
    __imod__ = _in_place("remainder")
    __ipow__ = _in_place("pow")
    __iand__ = _in_place("bitwise_and")
    __ior__ = _in_place("bitwise_or")
    __ixor__ = _in_place("bitwise_xor")
    __ilshift__ = _in_place("bitwise_left_shift")
    __irshift__ = _in_place("bitwise_right_shift")
