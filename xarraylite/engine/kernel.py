"""Kernels: from a specification to machine code, made once and loaded from then on.

A kernel is a function of one int64, the address of its argument block; it returns 0, or another
status where a user's function raised an exception.  Its LLVM IR (``emit``) and that of the scalar
routines it calls (``bodies``) are one module, compiled by LLVM (``machine``) for this CPU.  The
object code holds nothing but raw memory accesses and calls of the C library's mathematics.

A kernel's key is the hash of the whole IR, of the target and of LLVM's version: whatever changes
the machine code changes the key.  Objects come from the disk (``store``) or from LLVM; either is
loaded the same way, and one that cannot be linked is made again.  Kernels that nobody has used for
long are forgotten, and their code is unmapped as soon as no program holds them.
"""

from __future__ import annotations

import importlib.metadata
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from . import bodies, machine, store
from .emit.builder import Module

#: Kernels kept in memory; beyond it the least recently used are forgotten.
CAPACITY = 1024

Spec = TypeVar("Spec")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One compiled function.

    Attributes
    ----------
    code : Code
        Its machine code.
    origin : str
        ``"compiled"`` or ``"disk"``.
    emit : callable
        Makes its IR again.
    """

    code: machine.Code
    origin: str
    emit: Callable[[], Module]

    @property
    def run(self) -> Callable[[int], int]:
        """``run(block address)``; releases the GIL."""
        return self.code.run

    @property
    def address(self) -> int:
        """Address of an ``i32 (*)(i64)``, as long as the kernel is held."""
        return self.code.address

    @property
    def source(self) -> str:
        """LLVM IR, apart from the scalar routines that it calls."""
        return self.emit().text


class KernelRaised(Exception):
    """A user's function raised an exception, so a kernel ended with a status other than 0."""


@cache
def _version() -> str:
    return importlib.metadata.version("llvmlite")


def key_of(text: str) -> str:
    """Return the key of a module's object code: a hash of everything it depends on."""
    return store.cache_key(["kernel", text, machine.PIPELINE, _version(), str(machine.target())])


class Kernels:
    """The kernels of this process, by specification; each is compiled once even by many threads."""

    __slots__ = ("_kernels", "_locks", "_mutex", "compiled", "loaded")

    def __init__(self) -> None:
        self._kernels: OrderedDict[Any, Kernel] = OrderedDict()
        self.compiled = 0
        self.loaded = 0
        self.make_locks()

    def make_locks(self) -> None:
        """Make new locks; also in a forked child, where nobody would release the old ones."""
        self._locks: dict[Any, threading.Lock] = {}
        self._mutex = threading.Lock()

    def get(self, spec: Spec, emit: Callable[[Spec], Module]) -> Kernel:
        """Return the kernel of ``spec``, from memory, from disk or from LLVM.

        Parameters
        ----------
        spec : hashable
            What the kernel does.
        emit : callable
            Makes its IR.
        """
        with self._mutex:
            kernel = self._kernels.get(spec)
            if kernel is not None:
                self._kernels.move_to_end(spec)
                return kernel
            lock = self._locks.setdefault(spec, threading.Lock())
        with lock:
            kernel = self._kernels.get(spec)
            if kernel is None:
                kernel = self._make(lambda: emit(spec))
                with self._mutex:
                    self._kernels[spec] = kernel
                    self._locks.pop(spec, None)
                    while len(self._kernels) > CAPACITY:
                        self._kernels.popitem(last=False)
        return kernel

    def _make(self, emit: Callable[[], Module]) -> Kernel:
        """Do all of LLVM's work for one kernel."""
        with _llvm_lock:
            module = emit()
            text = bodies.assembled(module)
            key = key_of(text)
            helpers = bodies.helpers(text)
            private = helpers or any(bodies.is_private(routine) for routine, _ in module.routines)
            image = None if private else store.load(key)
            if image is not None:
                try:
                    kernel = Kernel(machine.load(key, image), "disk", emit)
                except RuntimeError:
                    store.discard(key)
                else:
                    self.loaded += 1
                    return kernel
            image = machine.compile_object(text)
            kernel = Kernel(machine.load(key, image, helpers), "compiled", emit)
            self.compiled += 1
            if not private:
                store.save(key, image)
            return kernel

    def clear(self) -> None:
        """Forget the kernels in memory."""
        with self._mutex:
            self._kernels.clear()

    def __len__(self) -> int:
        return len(self._kernels)


kernels = Kernels()
_llvm_lock = threading.RLock()


def _after_fork() -> None:
    """Make new locks: another thread may have held the old ones."""
    global _llvm_lock
    _llvm_lock = threading.RLock()
    kernels.make_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
