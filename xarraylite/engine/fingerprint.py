"""Text that changes with what a Python function computes."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType

import numpy as np

_PLAIN = (bool, int, float, complex, tuple, np.generic)


def names_of(function: FunctionType | CodeType) -> Iterator[str]:
    """Yield the global names that a function's code uses, nested code included."""
    code = function if isinstance(function, CodeType) else function.__code__
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_of(constant)


def fingerprint(function: FunctionType) -> str:
    """Return text that changes with what a function computes, constants it names included."""
    namespace = function.__globals__
    constants = [
        (name, type(namespace[name]).__name__, repr(namespace[name]))
        for name in sorted(set(names_of(function)))
        if isinstance(namespace.get(name), _PLAIN)
    ]
    return repr((_describe(function.__code__), function.__defaults__, constants))


def _describe(code: CodeType) -> tuple[object, ...]:
    constants = tuple(
        _describe(c) if isinstance(c, CodeType) else (type(c).__name__, repr(c))
        for c in code.co_consts
    )
    return (code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, constants)
