"""Scalar bodies other than the elementary functions, gathered from the modules that hold them."""

from __future__ import annotations

from functools import cache
from types import FunctionType

from . import scalars_cast, scalars_complex, scalars_float, scalars_int

_MODULES = (scalars_int, scalars_float, scalars_complex, scalars_cast)


@cache
def library() -> dict[str, FunctionType]:
    """Every scalar body by name (``floor_divide_i``, ``divide_c``, ...), helpers included."""
    return {
        name: value
        for module in _MODULES
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
