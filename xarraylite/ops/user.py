"""A user's scalar function as an operation.

The function becomes part of kernels like any scalar body; NumPy's reference calls it element by
element.  Its name never reaches generated code: in its body it is ``user``.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .._records import record
from .._tables import kept
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

    @property
    def is_brief(self) -> bool:
        """Whether a call is over at once: no exceptions, no loops, no calls of what may have them.

        Kernels with it may run while the interpreter's lock is held.
        """
        return is_brief(self.function)


def may_raise(function: FunctionType) -> bool:
    """Tell whether a function's code has a ``raise`` or calls functions that may have one."""
    return _has(function.__code__, _raises) or _may_call(function)


def is_brief(function: FunctionType) -> bool:
    """Tell whether a function has neither exceptions nor loops, nor calls what may have them."""
    return not _has(function.__code__, _goes_back) and not may_raise(function)


@lru_cache(maxsize=1024)
def _has(code: CodeType, what: Callable[[dis.Instruction], bool]) -> bool:
    """Tell whether code, or that of a function that it makes, has an instruction of some kind."""
    return any(map(what, chain.from_iterable(map(dis.get_instructions, nested(code)))))


def _raises(one: dis.Instruction) -> bool:
    return one.opname == "RAISE_VARARGS"


def _goes_back(one: dis.Instruction) -> bool:
    return one.opcode in _JUMPS and one.argval <= one.offset


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))


def _may_call(function: FunctionType) -> bool:
    """Tell whether a function refers to others than Python's own and those of mathematics."""
    try:
        values = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a name that has no value yet
        return True
    known = function.__globals__
    for name in global_names(function.__code__):
        if name not in known and not hasattr(builtins, name):
            return True
        values.append(known.get(name, 0))
    return not all(_is_plain(value) or _is_mathematics(value) for value in values)


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


def described(code: CodeType) -> tuple[object, ...]:
    """Return what code does, as text that is the same in every process."""
    constants = tuple(
        described(c) if isinstance(c, CodeType) else (type(c).__name__, repr(c))
        for c in code.co_consts
    )
    return (code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, constants)


def is_closed(function: FunctionType) -> bool:
    """Tell whether a function's code, defaults and plain constants say all it depends on."""
    if function.__closure__:
        return False
    known = function.__globals__
    names = global_names(function.__code__)
    return all(_is_plain(known[name]) for name in names if name in known)


#: Modules whose attributes mean the same in every process; those of others may change.
FIXED_MODULES = frozenset({"cmath", "math", "numpy"})


def _is_plain(value: object) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__ in FIXED_MODULES
    return isinstance(value, bool | int | float | complex)


def _is_mathematics(value: object) -> bool:
    """Tell whether a value is a function of a module of mathematics, in machine code."""
    plain = isinstance(value, BuiltinFunctionType | np.ufunc)
    return plain and getattr(value, "__module__", "numpy") in FIXED_MODULES


_NUMBERS = frozenset((bool, int, float, complex))


def meaning(function: FunctionType) -> tuple[object, ...]:
    """Return what a function's own names mean outside of it now: numbers, and which objects."""
    known = function.__globals__
    found = [known.get(name) for name in sorted(global_names(function.__code__))]
    found += [cell.cell_contents for cell in function.__closure__ or ()]
    found += function.__defaults__ or ()
    return tuple([(type(x), repr(x)) if type(x) in _NUMBERS else id(x) for x in found])


def frozen(function: FunctionType) -> FunctionType:
    """Return a function whose own names keep what they mean now."""
    known = function.__globals__
    names = {name: known[name] for name in global_names(function.__code__) if name in known}
    cells = tuple([CellType(cell.cell_contents) for cell in function.__closure__ or ()])
    made = FunctionType(
        function.__code__,
        {"__builtins__": builtins, "__name__": function.__module__, **names},
        function.__name__,
        function.__defaults__,
        cells or None,
    )
    made.__doc__ = function.__doc__
    return made


#: Frozen functions by their code and what their names mean, which they keep alive; those without
#: names also by the address of the code.
_settled: dict[Any, FunctionType] = {}
_KEPT = 512


def settled(function: Any) -> Any:
    """Return the function that means what this one means now: the same one each time.

    So a function that is made anew (a lambda in a loop) is compiled once, and one whose names have
    got other values is another one.
    """
    if not isinstance(function, FunctionType):
        return function
    code = function.__code__
    found = _settled.get(id(code))  # code itself takes as long to hash as a small fold
    if found is not None and found.__code__ is code and not function.__defaults__:
        return found
    try:
        outside = meaning(function)
    except ValueError:  # a name that has no value yet: who compiles it says so
        return function
    found = _settled.get((code, *outside))
    if found is None:
        found = kept(_settled, (code, *outside), frozen(function), _KEPT)
        if not outside and not global_names(code):
            _settled[id(code)] = found
    return found
