"""Source to machine code: compile with Numba once, load from then on without it.

A kernel is a function of one int64, the address of its argument block.  It is compiled with one
explicit signature; its object code holds nothing but raw memory accesses and calls of the C
library's mathematics, so a later process loads it with LLVM alone, in less than a millisecond,
and Numba is imported only when something new must be compiled.

A kernel's key is the hash of its source, of the sources of the scalar functions it calls, of the
compiler's flags and versions and of the CPU's name and features: whatever changes the machine
code changes the key.  Compiled objects come from memory, then from disk (``store``), then from
the compiler; every one of them is loaded the same way.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.metadata
import importlib.util
import os
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .._errors import DTypeError, XarrayliteError
from ..dtypes import bits, narrow
from ..ops.user import global_names
from . import scalars, store, vmath

#: Kernels kept in memory; beyond it the least recently used are forgotten (their code stays
#: mapped, as programs may still point at it).
CAPACITY = 4096

_FLAGS = "error_model=numpy fastmath=off forceinline 1"

#: Kernels follow Numba's native convention: status(return slot, exception slot, argument).  Only a
#: user's function can raise, and what is wrong is asked of NumPy then: all share one pair of slots.
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_SLOTS = (ctypes.c_int64 * 16)()
RETURN_SLOT = ctypes.addressof(_SLOTS)
EXCEPTION_SLOT = RETURN_SLOT + 64

CASTS: dict[str, Any] = {
    **{f"f{n}": getattr(np, f"float{n}") for n in (32, 64)},
    **{f"i{n}": getattr(np, f"int{n}") for n in (8, 16, 32, 64)},
    **{f"u{n}": getattr(np, f"uint{n}") for n in (8, 16, 32, 64)},
    "c64": np.complex64,
    "c128": np.complex128,
    "b1": bool,
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """One compiled function.

    Attributes
    ----------
    run : callable
        ``run(RETURN_SLOT, EXCEPTION_SLOT, block address)``; releases the GIL.
    source : str
        What it was compiled from.
    origin : str
        ``"compiled"`` or ``"disk"``.
    """

    run: Callable[[int, int, int], int]
    source: str
    origin: str


class KernelRaised(Exception):
    """A user's function raised an exception, so a kernel ended with a status other than 0."""


@cache
def scalar_library() -> dict[str, types.FunctionType]:
    """Return the scalar functions that bodies may call, by name."""
    return {**narrow.library(), **scalars.library(), **vmath.library()}


def users(function: types.FunctionType | types.CodeType) -> Iterator[str]:
    """Yield the global names that a function's code uses, nested code included."""
    code = function if isinstance(function, types.CodeType) else function.__code__
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from users(constant)


def _needed(code: types.CodeType, extra: Mapping[str, types.FunctionType]) -> list[str]:
    """Return the scalar functions that ``code`` calls, directly or not, in a fixed order."""
    library = {**scalar_library(), **extra}
    found: dict[str, None] = {}
    queue = list(users(code))
    while queue:
        name = queue.pop()
        if name in library and name not in found:
            found[name] = None
            queue.extend(users(library[name]))
    return sorted(found)


def _fingerprint(function: types.FunctionType) -> str:
    """Return text that changes with what a function computes, constants it names included."""
    namespace = function.__globals__
    constants = [
        (name, type(namespace[name]).__name__, repr(namespace[name]))
        for name in sorted(global_names(function.__code__))
        if isinstance(namespace.get(name), _PLAIN)
    ]
    return repr((_describe(function.__code__), function.__defaults__, constants))


_PLAIN = (bool, int, float, complex, tuple, np.generic)


def _describe(code: types.CodeType) -> tuple[object, ...]:
    constants = tuple(
        _describe(c) if isinstance(c, types.CodeType) else (type(c).__name__, repr(c))
        for c in code.co_consts
    )
    return (code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, constants)


@cache
def _llvm() -> Any:
    """Import LLVM, which takes as long as NumPy, when the first kernel is asked for."""
    return importlib.import_module("llvmlite.binding")


@cache
def _machine() -> str:
    llvm = _llvm()
    features = llvm.get_host_cpu_features().flatten()
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"


@cache
def _versions() -> str:
    names = ("numba", "llvmlite", "numpy", "xarraylite")
    return " ".join([f"{name}={_version(name)}" for name in names] + [_intrinsics_code()])


def _intrinsics_code() -> str:
    """Return the text of what kernels call besides scalar functions, without importing it."""
    name = "xarraylite.engine.intrinsics"
    spec = importlib.util.find_spec(name)
    source = getattr(spec and spec.loader, "get_source", None)
    return str(source(name)) if source else ""


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "source"


def key_of(source: str, extra: Mapping[str, types.FunctionType], tag: str = "") -> str:
    """Return the key of a kernel: a hash of everything its machine code depends on."""
    library = {**scalar_library(), **extra}
    needed = _needed(compile(source, "<kernel>", "exec"), extra)
    parts = [source, tag, _FLAGS, _versions(), _machine()]
    parts += [f"{name}={_fingerprint(library[name])}" for name in needed]
    return store.cache_key(parts)


class Kernels:
    """The kernels of this process, by key; each is compiled once even by many threads."""

    __slots__ = ("_kernels", "_locks", "_mutex", "compiled", "loaded")

    def __init__(self) -> None:
        self._kernels: OrderedDict[str, Kernel] = OrderedDict()
        self.compiled = 0
        self.loaded = 0
        self.make_locks()

    def make_locks(self) -> None:
        """Make new locks; also in a forked child, where nobody would release the old ones."""
        self._locks: dict[str, threading.Lock] = {}
        self._mutex = threading.Lock()

    def get(
        self, source: str, extra: Mapping[str, types.FunctionType] | None = None, tag: str = ""
    ) -> Kernel:
        """Return the kernel of ``source``, from memory, from disk or from the compiler.

        Parameters
        ----------
        source : str
            Source of a function ``kernel(block)``.
        extra : mapping, optional
            A user's scalar functions by the names the source calls them.
        tag : str, optional
            What else the kernel depends on; ``"private"`` keeps it off the disk.
        """
        functions = extra or {}
        key = key_of(source, functions, tag)
        with self._mutex:
            kernel = self._kernels.get(key)
            if kernel is not None:
                self._kernels.move_to_end(key)
                return kernel
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            kernel = self._kernels.get(key)
            if kernel is None:
                kernel = self._make(key, source, functions, tag)
                with self._mutex:
                    self._kernels[key] = kernel
                    self._locks.pop(key, None)
                    while len(self._kernels) > CAPACITY:
                        self._kernels.popitem(last=False)
        return kernel

    def _make(
        self, key: str, source: str, extra: Mapping[str, types.FunctionType], tag: str
    ) -> Kernel:
        payload = None if tag == "private" else store.load(key)
        origin = "disk"
        if payload is None:
            payload = compile_object(source, extra)
            origin = "compiled"
            self.compiled += 1
            if tag != "private":
                store.save(key, payload)
        else:
            self.loaded += 1
        return Kernel(_load(key, payload), source, origin)

    def clear(self) -> None:
        """Forget the kernels in memory."""
        with self._mutex:
            self._kernels.clear()

    def __len__(self) -> int:
        return len(self._kernels)


kernels = Kernels()


@cache
def _session() -> Any:
    """Return LLVM's just-in-time linker for this CPU."""
    llvm = _llvm()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        codemodel="jitdefault",
        jit=True,
    )
    return llvm.create_lljit_compiler(machine)


_libraries: list[Any] = []
_load_lock = threading.Lock()


def _load(key: str, payload: bytes) -> Callable[[int, int, int], int]:
    """Link object code into this process and return its entry."""
    length = int.from_bytes(payload[:4], "little")
    name = payload[4 : 4 + length].decode()
    with _load_lock:
        builder = _llvm().JITLibraryBuilder()
        builder.add_object_img(payload[4 + length :]).add_current_process().export_symbol(name)
        library = builder.link(_session(), f"{key}.{len(_libraries)}")
        _libraries.append(library)
    return _PROTOTYPE(library[name])


def _import_quietly(name: str) -> None:
    """Import a module on a thread of its own, where no Ctrl-C can cut the import short.

    Numba cannot be imported again after that, and every later compilation would fail.
    """
    with contextlib.suppress(Exception):  # whoever imports it next sees the error
        importlib.import_module(name)


@cache
def _numba() -> tuple[Any, dict[str, Any]]:
    """Import Numba, which costs more than everything else here, and our intrinsics."""
    thread = threading.Thread(target=_import_quietly, args=("numba",), daemon=True)
    thread.start()
    thread.join()
    numba = importlib.import_module("numba")
    intrinsics = importlib.import_module("xarraylite.engine.intrinsics")
    return numba, intrinsics.library()


_jitted: dict[str, Any] = {}
_compile_lock = threading.RLock()


def _scalar(name: str, extra: Mapping[str, types.FunctionType]) -> Any:
    """Return the compiled form of one scalar function, which callers inline."""
    own = name not in extra
    if own and name in _jitted:
        return _jitted[name]
    function = extra.get(name) or scalar_library()[name]
    done = _jit_scalar(function, lambda other: _scalar(other, extra))
    if own:
        _jitted[name] = done
    return done


def _jit_scalar(function: types.FunctionType, resolve: Callable[[str], Any]) -> Any:
    numba, intrinsics = _numba()
    namespace = dict(function.__globals__)
    library = scalar_library()
    for name in users(function):
        if name in intrinsics and getattr(bits, name, None) is namespace.get(name):
            namespace[name] = intrinsics[name]
        elif name in library and namespace.get(name) is library[name]:
            namespace[name] = resolve(name)
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    return numba.njit(error_model="numpy", forceinline=True)(copy)


def compile_object(source: str, extra: Mapping[str, types.FunctionType]) -> bytes:
    """Compile a kernel's source; return its symbol's name and object code as one string."""
    with _compile_lock:
        numba, intrinsics = _numba()
        if numba.config.DISABLE_JIT:
            raise XarrayliteError(
                "engine 'compiled' needs Numba's compiler, which NUMBA_DISABLE_JIT switches off; "
                "use engine 'auto' or 'reference'"
            )
        code = compile(source, "<kernel>", "exec")
        namespace: dict[str, Any] = {"__name__": "xarraylite.kernel", **CASTS, **intrinsics}
        for name in _needed(code, extra):
            namespace[name] = _scalar(name, extra)
        exec(code, namespace)  # source of our own tokens only, see emit/__init__.py
        signature = numba.void(numba.int64)
        function = numba.njit(
            signature,
            nogil=True,
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            error_model="numpy",
        )(namespace["kernel"])
        result = function.overloads[(numba.int64,)]
        symbol: bytes = result.fndesc.llvm_func_name.encode()
        image = bytes(result.library._get_compiled_object())
    if b"NRT_" in image:
        names = ", ".join(function.__name__ for function in extra.values())
        raise DTypeError(
            f"vectorize: {names}: a function of scalars that makes arrays, lists or strings cannot "
            "be part of a kernel; it may use numbers, math and NumPy's scalars"
        )
    return len(symbol).to_bytes(4, "little") + symbol + image


def _after_fork() -> None:
    """Make new locks: another thread may have held the old ones."""
    global _load_lock, _compile_lock
    _load_lock, _compile_lock = threading.Lock(), threading.RLock()
    kernels.make_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
