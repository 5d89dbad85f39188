"""A user's scalar function as an operation.

The function becomes part of kernels like any scalar body; NumPy's reference calls it element by
element.  Its name never reaches generated code: in its body it is ``user``.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .._records import record
from .op import Op


@record(frozen=True, slots=True, eq=False)
class UserOp(Op):
    """An operation made of a Python function of scalars.

    Attributes
    ----------
    function : function
        The scalar function.
    """

    function: Any = None

    @property
    def private(self) -> bool:
        """Whether its meaning depends on objects that a cache key cannot hold.

        Kernels with it stay in memory.  Asked when a kernel is compiled: by then every global
        name that the function uses must exist.
        """
        return not is_closed(self.function)

    @property
    def may_raise(self) -> bool:
        """Whether a call may end in an exception, so that a destination would be half written."""
        return may_raise(self.function)


def may_raise(function: FunctionType) -> bool:
    """Tell whether a function's code has a ``raise`` or calls functions that may have one."""
    known = function.__globals__
    return any(
        code.co_freevars or any(i.opname == "RAISE_VARARGS" for i in dis.get_instructions(code))
        for code in nested(function.__code__)
    ) or any(isinstance(known.get(name), FunctionType) for name in global_names(function.__code__))


def nested(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions that it makes."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


@lru_cache(maxsize=1024)
def global_names(code: CodeType) -> frozenset[str]:
    """Return the global names that code uses, nested code included.

    ``co_names`` has the names of attributes too: in ``math.erf`` the global is ``math`` alone,
    whatever else of the module is called ``erf``.
    """
    return frozenset(
        instruction.argval
        for part in nested(code)
        for instruction in dis.get_instructions(part)
        if instruction.opname in _GLOBAL
    )


#: Instructions that look a name up, or change it, among a module's globals.
_GLOBAL = frozenset(
    {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "STORE_GLOBAL", "DELETE_GLOBAL"}
)


def is_closed(function: FunctionType) -> bool:
    """Tell whether a function's code, defaults and plain constants say all it depends on."""
    if function.__closure__:
        return False
    known = function.__globals__
    names = global_names(function.__code__)
    return all(_is_plain(known[name]) for name in names if name in known)


#: Modules whose attributes mean the same in every process; those of others may change.
_FIXED_MODULES = frozenset({"cmath", "math", "numpy"})


def _is_plain(value: object) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__ in _FIXED_MODULES
    return isinstance(value, bool | int | float | complex)
