"""The in-place operators, once for containers and for ``noalias`` destinations."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..ops.op import Op
from ..ops.table import OPS
from .readers import HELD_UPDATE, is_held


def _in_place(name: str, plain: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    op = OPS[name]

    def method(self: InPlace, other: object) -> Any:
        if self._is_value():
            return plain(self, other)
        held = is_held(other, HELD_UPDATE)
        self._update(op, other, held)
        return self

    method.__doc__ = f"Apply ``{name}`` in place, by NumPy's rule."
    return method


class InPlace:
    """Gives a destination ``+=`` and its relatives in terms of `_update`."""

    __slots__ = ()

    def _is_value(self) -> bool:
        """Tell whether this is a value: ``s += 1`` then gives the name another one."""
        return False

    def _update(self, op: Op, value: object, held: bool) -> None:
        """Perform ``self op= value``; ``held`` if others than the caller refer to ``value``."""
        raise NotImplementedError(f"{type(self).__name__} has no memory to update")

    __iadd__ = _in_place("add", operator.add)
    __isub__ = _in_place("subtract", operator.sub)
    __imul__ = _in_place("multiply", operator.mul)
    __itruediv__ = _in_place("divide", operator.truediv)
    __ifloordiv__ = _in_place("floor_divide", operator.floordiv)
    __imod__ = _in_place("remainder", operator.mod)
    __ipow__ = _in_place("pow", operator.pow)
    __iand__ = _in_place("bitwise_and", operator.and_)
    __ior__ = _in_place("bitwise_or", operator.or_)
    __ixor__ = _in_place("bitwise_xor", operator.xor)
    __ilshift__ = _in_place("bitwise_left_shift", operator.lshift)
    __irshift__ = _in_place("bitwise_right_shift", operator.rshift)
