"""Functions that many kernels call and that are compiled apart from all of them.

LLVM takes time in proportion to the code that it is given.  The fold of a block of scratch is two
thirds of a sum's kernel, and the code for huge angles, which few elements need, half of a sine's;
both are the same in every kernel.  So they are functions of their own: their object code comes with
the package for usual processors, and is made once and kept as kernels are elsewhere
(`kernel.called_by`).  What a kernel does at each element stays in it, where it becomes vectors.

A function's name ends with a number made of its text and of what that calls, so a kernel's text,
and with it the key of its code, changes where the function that it calls does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..verified_files import hasher
from .builder import Builder, Module, Value
from .routine import LLVM, Routine


def function(b: Builder, hint: str, arguments: Sequence[Value], result: Value) -> Module:
    """Return what was emitted as a function; its arguments have names of ours."""
    args = ", ".join(f"{value.type} {value.text}" for value in arguments)
    made = b.module(f"{result.type} @kernel({args})", f"{result.type} {result.text}")
    called = [repr((r.text, r.args, r.result)) for r, _ in made.routines]
    digest = hasher("\n".join([made.text, *called]).encode()).digest()
    return Module(made.text, made.routines, name=f"{hint}.{int.from_bytes(digest[:8], 'big')}")


def call(b: Builder, called: Module, result: str, arguments: Sequence[Value]) -> Value:
    """Emit the call of a function."""
    types = ", ".join(value.type for value in arguments)
    b.apart[called] = f"declare {result} @{called.name}({types}) nounwind willreturn\n"
    args = ", ".join(f"{value.type} {value.text}" for value in arguments)
    return b.make(result, f"call {result} @{called.name}({args})")


@lru_cache(maxsize=256)
def of_routine(routine: Routine) -> Module:
    """Return a scalar routine as a function."""
    b = Builder()
    args = [Value(b, LLVM[kind], f"%a{k}") for k, kind in enumerate(routine.args)]
    return function(b, routine.hint, args, b.call(routine, args))
