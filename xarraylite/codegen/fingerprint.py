"""Text that changes with what a Python function computes."""

from __future__ import annotations

from types import CodeType, FunctionType

import numpy as np

from ..ops.user import global_names

_PLAIN = (bool, int, float, complex, tuple, np.generic)


def fingerprint(function: FunctionType) -> str:
    """Return text that changes with what a function computes, constants it names included."""
    namespace = function.__globals__
    constants = [
        (name, type(namespace[name]).__name__, repr(namespace[name]))
        for name in sorted(global_names(function.__code__))
        if isinstance(namespace.get(name), _PLAIN)
    ]
    return repr((_describe(function.__code__), function.__defaults__, constants))


def _describe(code: CodeType) -> tuple[object, ...]:
    constants = tuple(
        _describe(c) if isinstance(c, CodeType) else (type(c).__name__, repr(c))
        for c in code.co_consts
    )
    return (code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, constants)
