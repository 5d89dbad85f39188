"""The functions of this room by name."""

from __future__ import annotations

from types import FunctionType

from . import assignment, basics, calls, evaluation, operators, views

_MODULES = (assignment, basics, calls, evaluation, operators, views)


def library() -> dict[str, FunctionType]:
    """Return the functions by name."""
    return {
        name: value
        for module in _MODULES
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
