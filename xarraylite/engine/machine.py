"""LLVM in this process: IR text to object code for this CPU, object code to an address.

Only ``llvmlite.binding`` is needed, and it is imported when the first kernel is asked for: it
takes as long to import as NumPy.  Every module has a context of its own, so that nothing of a
kernel but its code stays in memory.

The optimiser runs LLVM's standard pipeline with the loop vectoriser.  The vectoriser of
straight-line code (SLP) stays off: bodies are scalar so that loops around them become vectors.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

#: A kernel takes the address of its argument block and returns 0, or what a user's function did.
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)

#: What decides about machine code besides the IR and the target.
PIPELINE = "O2 vectorise interleave unroll"


@dataclass(frozen=True, slots=True)
class Target:
    """What machine code is made for.

    Attributes
    ----------
    triple, cpu, features : str
        As LLVM names them.
    fuses : bool
        Whether the CPU has a fused multiply-add (all 64-bit ARM ones do).
    """

    triple: str
    cpu: str
    features: str
    fuses: bool

    def __str__(self) -> str:
        return f"{self.triple} {self.cpu} {self.features}"


@dataclass(frozen=True, slots=True)
class Code:
    """Machine code in this process; it is unmapped when this and its entry are forgotten.

    Attributes
    ----------
    address : int
        Address of an ``i32 (*)(i64)``.
    run : callable
        The same as a function that releases the GIL.
    """

    address: int
    run: Callable[[int], int]


@cache
def _llvm() -> Any:
    """Import LLVM."""
    llvm = importlib.import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def target() -> Target:
    """Return what kernels of this process are made for."""
    llvm = _llvm()
    features, triple = llvm.get_host_cpu_features(), llvm.get_process_triple()
    fuses = bool(features.get("fma", "aarch64" in triple))
    return Target(triple, llvm.get_host_cpu_name(), features.flatten(), fuses)


@cache
def _machine() -> Any:
    """Return LLVM's code generator for the target."""
    known = target()
    return (
        _llvm()
        .Target.from_triple(known.triple)
        .create_target_machine(
            cpu=known.cpu, features=known.features, opt=3, codemodel="jitdefault", jit=True
        )
    )


@cache
def _linker() -> Any:
    """Return LLVM's just-in-time linker."""
    return _llvm().create_lljit_compiler(_machine())


@cache
def _layout() -> str:
    return str(_machine().target_data)


def fma(kind: str) -> str:
    """Return the declaration of LLVM's fused multiply-add."""
    return f"declare {kind} @llvm.fma.{_SUFFIX[kind]}({kind}, {kind}, {kind})"


_SUFFIX = {"float": "f32", "double": "f64"}


def muladd(name: str, kind: str) -> str:
    """Return the IR of ``a * b + c``, rounded once where the CPU can."""
    if target().fuses:
        call = f"call {kind} @llvm.fma.{_SUFFIX[kind]}({kind} %a, {kind} %b, {kind} %c)"
        done = f"  %r = {call}\n"
    else:
        done = f"  %p = fmul {kind} %a, %b\n  %r = fadd {kind} %p, %c\n"
    head = f"define internal {kind} @{name}({kind} %a, {kind} %b, {kind} %c) alwaysinline"
    return f"{head} {{\n{done}  ret {kind} %r\n}}"


def compile_object(text: str) -> bytes:
    """Return the object code of a module.

    Raises
    ------
    RuntimeError
        If LLVM does not understand the text.
    """
    module = _optimised(text)
    return bytes(_machine().emit_object(module))


def _optimised(text: str) -> Any:
    llvm, machine = _llvm(), _machine()
    head = f'target datalayout = "{_layout()}"\ntarget triple = "{machine.triple}"\n'
    module = llvm.parse_assembly(head + text, llvm.create_context())
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = True
    options.slp_vectorization = False
    run_passes(module, machine, options)
    return module


def run_passes(module: Any, machine: Any, options: Any, *extra: str) -> None:
    """Run LLVM's standard pipeline, and more passes by the names of llvmlite's methods."""
    llvm = _llvm()
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    for name in extra:
        getattr(passes, name)()
    passes.run(module, builder)
    # llvmlite 0.50 never frees these: the method that should is inherited from the wrong base.
    llvm.newpassmanagers.NewPassManager._dispose(passes)
    passes.detach()


def optimised_text(text: str) -> str:
    """Return the IR that machine code is made from, for tests and the curious."""
    return str(_optimised(text))


_numbers = itertools.count()


def load(key: str, image: bytes, helpers: Iterable[str] = ()) -> Code:
    """Link object code into this process.

    Parameters
    ----------
    key : str
        Its key.
    image : bytes
        From `compile_object`.
    helpers : iterable of str
        Functions of Numba's that it calls, whose addresses only LLVM knows.

    Raises
    ------
    RuntimeError
        If it refers to something that this process does not have.
    """
    builder = _llvm().JITLibraryBuilder()
    builder.add_object_img(image).add_current_process().export_symbol("kernel")
    for name in helpers:
        builder.import_symbol(name, _llvm().address_of_symbol(name))
    library = builder.link(_linker(), f"{key}.{next(_numbers)}")
    address = int(library["kernel"])
    run = _PROTOTYPE(address)
    run.library = library  # type: ignore[attr-defined]  # whoever can call it keeps it mapped
    return Code(address, run)
