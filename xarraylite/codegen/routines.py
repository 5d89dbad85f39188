"""Where the LLVM of a scalar routine comes from: memory, the archive, the disk, or Numba.

A user's function is found again by its `fingerprint`, which changes with what it computes.
"""

from __future__ import annotations

import importlib
import itertools
import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from types import FunctionType

import numpy as np

from .._errors import DTypeError
from ..dtypes.names import SUPPORTED
from ..ops.reductions import REDUCTIONS
from ..ops.table import OPS
from ..ops.user import described, global_names
from . import archive, machine, store
from .emit import routine as routines
from .emit.builder import Module
from .emit.routine import LAUNCH, OBJECTS, Routine

_HELPER = re.compile(r"^declare [^@]*@(numba_\w+)", re.MULTILINE)

_BODY = re.compile(r"@body\b")
#: The C library's functions behind the instruction ``frem``, which LLVM takes for a cheap one and
#: computes for all elements where a body asks for it for few.
_FMOD = {"double": "fmod", "float": "fmodf"}

_MULADD = {
    f"xl.{name}.{short}": kind
    for name in ("muladd", "fused")
    for short, kind in (("f32", "float"), ("f64", "double"))
}


def assembled(module: Module) -> str:
    """Return the IR of a kernel with everything it calls."""
    declared: dict[str, str] = {}
    parts: list[str] = []
    for routine, name in module.routines:
        for line in (machine.half(routine.text) or text_of(routine)).splitlines():
            if line.startswith("declare "):
                declared[line.partition("(")[0].partition("@")[2]] = line
            else:
                parts.append(_BODY.sub(f"@{name}", line))
    for name, kind in _MULADD.items():
        if declared.pop(name, ""):
            parts.append(machine.muladd(name, kind))
            fused = machine.fma(kind)
            declared[fused.partition("(")[0].partition("@")[2]] = fused
    text = "\n".join([*parts, module.text])
    for kind, name in _FMOD.items():
        if f"= frem {kind} " in text:
            called = rf"= call {kind} @{name}({kind} \1, {kind} \2)"
            text = re.sub(rf"= frem {kind} ([^,]+), (\S+)", called, text)
            declared[name] = f"declare {kind} @{name}({kind}, {kind})"
    return "\n".join([*declared.values(), text])


@lru_cache(maxsize=1024)
def text_of(routine: Routine) -> str:
    """Return the IR of a routine."""
    found = archive.archive().find(routine)
    if found is not None:
        return found
    key = "" if is_private(routine) else _key(routine)
    payload = store.load(key) if key else None
    if payload is not None:
        return payload.decode()
    text: str = importlib.import_module("xarraylite.codegen.jit").routine_text(routine)
    if key and not helpers(text):
        store.save(key, text.encode())
    return text


def helpers(text: str) -> list[str]:
    """Return the functions of Numba's own that a text calls.

    A process has them only when it has imported Numba, so nothing that calls them is kept for
    another one.
    """
    return _HELPER.findall(text)


def is_private(routine: Routine) -> bool:
    """Tell whether a routine depends on objects that no key can describe."""
    return routine.op is not None and routine.op.private


def _key(routine: Routine) -> str:
    parts: list[bytes | str] = [
        "routine",
        routine.text,
        *routine.args,
        routine.result,
        archive.digest_of_sources(),
        *_versions(),
    ]
    if routine.op is not None:
        parts.append(fingerprint(routine.op.function))
    return store.cache_key(parts)


@cache
def _versions() -> tuple[str, ...]:
    # Imports the mail package and more, for bodies that were edited alone.
    metadata = importlib.import_module("importlib.metadata")
    return tuple([f"{name}={metadata.version(name)}" for name in ("numba", "llvmlite")])


# --- everything there is ---------------------------------------------------------------------


def known() -> dict[Routine, None]:
    """Return every routine that kernels of known operations call, in a fixed order."""
    return dict.fromkeys(
        [*_storages(), *_conversions(), *_operations(), *_folds(), OBJECTS, LAUNCH]
    )


def _storages() -> Iterator[Routine]:
    for dtype in SUPPORTED:
        for made in (routines.decode(dtype), routines.encode(dtype), routines.settle(dtype)):
            if made is not None:
                yield made


def _conversions() -> Iterator[Routine]:
    for source, result in itertools.product(SUPPORTED, repeat=2):
        yield routines.cast(source, result)


def _operations() -> Iterator[Routine]:
    for op in OPS.values():
        for args in itertools.product(SUPPORTED, repeat=op.arity):
            try:
                loops, result = op.rule(op.name, args)
            except DTypeError:
                continue
            if op.body(loops) is not None:
                yield routines.apply(op, loops, result)
                yield from routines.near(op, loops, result) or ()


def _folds() -> Iterator[Routine]:
    for op in REDUCTIONS.values():
        for dtype in SUPPORTED:
            if op.combine.body((dtype, dtype)) is not None:
                yield routines.apply(op.combine, (dtype, dtype), dtype)
    for value in ("f32", "f64", "c64", "c128"):
        yield routines.collect_error(value)
        yield routines.compensate(value)
        yield routines.plain_sum(value)


def made_again() -> dict[Routine, str]:
    """Return the IR that Numba makes of every routine's body, which takes minutes."""
    os.environ.update(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    jit = importlib.import_module("xarraylite.codegen.jit")
    return {routine: jit.routine_text(routine) for routine in known()}


_PLAIN = (bool, int, float, complex, tuple, np.generic)


def fingerprint(function: FunctionType) -> str:
    """Return text that changes with what a function computes, constants it names included."""
    namespace = function.__globals__
    constants = [
        (name, type(namespace[name]).__name__, repr(namespace[name]))
        for name in sorted(global_names(function.__code__))
        if isinstance(namespace.get(name), _PLAIN)
    ]
    return repr((described(function.__code__), function.__defaults__, constants))
