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

import contextlib
from collections.abc import Callable, Hashable, Mapping
from operator import attrgetter
from typing import Any, TypeVar

from .._records import record
from . import archive, machine, routines, store, worker
from .assembly import Assembly
from .emit.builder import Module
from .host import host
from .table import Table

#: Kernels kept in memory, and bytes of their objects; beyond either those unused for longest go.
CAPACITY, LIMIT = 1024, 64 << 20

Spec = TypeVar("Spec", bound=Hashable)


@record(frozen=True, slots=True)
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
    nbytes : int
        Size of the object it was loaded from.
    key : str
        Under which that is kept; empty if it is not.
    """

    code: machine.Code
    origin: str
    emit: Callable[[], Module]
    nbytes: int
    key: str

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


def key_of(text: str) -> str:
    """Return the key of a module's object code: a hash of everything it depends on."""
    return store.cache_key(["kernel", text, machine.PIPELINE, *host().parts()])


class Kernels:
    """The kernels of this process, by specification; each is compiled once by many threads.

    Attributes
    ----------
    compiled, loaded : int
        How many were compiled, and how many came from disk.
    """

    __slots__ = ("_table", "compiled", "loaded")

    def __init__(self) -> None:
        self._table: Table[Any, Kernel] = Table(CAPACITY, LIMIT, attrgetter("nbytes"))
        self.compiled = 0
        self.loaded = 0

    def get(self, spec: Spec, emit: Callable[[Spec], Module]) -> Kernel:
        """Return the kernel of ``spec``, from memory, from disk or from LLVM.

        Parameters
        ----------
        spec : hashable
            What the kernel does.
        emit : callable
            Makes its IR.
        """
        return self._table.get(spec, lambda: self._make(lambda: emit(spec)))

    def _make(self, emit: Callable[[], Module]) -> Kernel:
        """Do all of LLVM's work for one kernel; on the worker."""
        module = emit()
        text = routines.assembled(module)
        helpers = routines.helpers(text)
        private = helpers or any(routines.is_private(routine) for routine, _ in module.routines)
        key = key_of(text)
        called = machine.addresses(helpers) | called_by(module)
        code, origin, nbytes = _made(key, text, not private, called)
        if origin == "disk":
            self.loaded += 1
        else:
            self.compiled += 1
        return Kernel(code, origin, emit, nbytes, "" if private else key)

    def clear(self) -> None:
        """Forget the kernels in memory."""
        self._table.clear()

    def __len__(self) -> int:
        return len(self._table)


def _made(
    key: str,
    text: str,
    lasting: bool,
    called: Mapping[str, int] | None = None,
    plain: bool = False,
) -> tuple[machine.Code, str, int]:
    """Return machine code from disk or from LLVM, which it was, and its size in bytes."""
    image = store.load(key) if lasting else None
    if image is not None:
        try:
            return machine.load(key, image, called), "disk", len(image)
        except RuntimeError:
            store.discard(key)
    image = machine.compile_object(text, plain)
    code = machine.load(key, image, called)
    if lasting:
        store.save(key, image)
    return code, "compiled", len(image)


def code_of(assembly: Assembly) -> machine.Code:
    """Return the machine code of what is no kernel of an expression.

    It comes with the package where that has it for this kind of processor.
    """

    def made() -> machine.Code:
        text = assembly.text()
        return _made(key_of(text), text, True, plain=True)[0]

    return worker.run(lambda: _shipped(assembly.name) or made())


def called_by(module: Module) -> dict[str, int]:
    """Return where the functions are that a kernel calls and that are compiled apart.

    They come with the package where it has them for this processor, and are never forgotten: there
    are as many as folds and operations, and kernels call them as long as they are held.
    """
    return {function.name: _apart(function).address for function in module.apart}


_functions: dict[str, machine.Code] = {}


def _apart(function: Module) -> machine.Code:
    code = _functions.get(function.name)
    if code is None:
        cpu = host().level
        code = _shipped(name_of_object(function, cpu)) if cpu else None
        if code is None:
            text = routines.assembled(function)
            code = _made(key_of(text), text, True)[0]
        # A finaliser may have made it meanwhile, for a kernel that calls that one.
        code = _functions.setdefault(function.name, code)
    return code


def name_of_object(function: Module, cpu: str) -> bytes:
    """Return what the object code of a function that is compiled apart is found by."""
    return f"{function.name} {cpu}".encode()


def _shipped(name: bytes) -> machine.Code | None:
    image = archive.archive().find_object(name) if host().is_usual else None
    with contextlib.suppress(RuntimeError):  # it does not link: LLVM makes another
        return None if image is None else machine.load(name.hex(), image)
    return None


kernels = Kernels()
