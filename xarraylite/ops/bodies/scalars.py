"""Scalar bodies other than the elementary functions, gathered from the modules that hold them."""

from __future__ import annotations

from functools import cache
from types import FunctionType

from . import casts, complex, floats, integers

_MODULES = (integers, floats, complex, casts)


@cache
def library() -> dict[str, FunctionType]:
    """Every scalar body by name (``floor_divide_i``, ``divide_c``, ...), helpers included."""
    return {
        name: value
        for module in _MODULES
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
