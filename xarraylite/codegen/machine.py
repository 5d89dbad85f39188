"""LLVM in this process: IR text to object code for this CPU, object code to an address.

Only ``llvmlite.binding`` is needed, and it is imported when the first kernel is compiled, or an
object is not one that `linking` knows: it takes half as long to import as NumPy.  Every module has
a context of its own, so that nothing of a kernel but its code stays in memory.  Everything here is
called on the worker (``worker``), and made for the machine that ``host`` describes.

The optimiser runs LLVM's standard pipeline with the loop vectoriser.  The vectoriser of
straight-line code (SLP) stays off: bodies are scalar so that loops around them become vectors.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from .._records import record
from . import worker
from .host import Host, host, llvm
from .linking import linked

#: A kernel takes the address of its argument block and returns 0, or what a user's function did.
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)

#: What decides about machine code besides the IR and the host.
PIPELINE = "interleave unroll held"

#: A vector of 16 to 64 bytes that is told apart from what computes it.
_FROZEN = re.compile(
    r"= freeze (<(?:2|4|8) x (?:i64|double)>|<(?:4|8|16) x (?:i32|float)>"
    r"|<(?:8|16|32) x i16>|<(?:16|32|64) x i8>) (%[^\s,]+)"
)


@record(frozen=True, slots=True)
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
def _machine(made_for: Host) -> Any:
    """Return LLVM's code generator."""
    return made_for.target_machine()


@cache
def _linker(made_for: Host) -> Any:
    """Return LLVM's just-in-time linker."""
    return llvm().create_lljit_compiler(_machine(made_for))


def fma(kind: str) -> str:
    """Return the declaration of LLVM's fused multiply-add."""
    return f"declare {kind} @llvm.fma.{_SUFFIX[kind]}({kind}, {kind}, {kind})"


_SUFFIX = {"float": "f32", "double": "f64"}


def muladd(name: str, kind: str) -> str:
    """Return the IR of ``a * b + c``, rounded once if ``name`` says so or where the CPU can.

    Where it cannot, LLVM has the C library do it.
    """
    if "fused" in name or host().fuses:
        call = f"call {kind} @llvm.fma.{_SUFFIX[kind]}({kind} %a, {kind} %b, {kind} %c)"
        done = f"  %r = {call}\n"
    else:
        done = f"  %p = fmul {kind} %a, %b\n  %r = fadd {kind} %p, %c\n"
    head = f"define internal {kind} @{name}({kind} %a, {kind} %b, {kind} %c) alwaysinline"
    return f"{head} {{\n{done}  ret {kind} %r\n}}"


#: Conversions of float16 that the CPU may have instructions for, by what routines are called.
_HALVES = {
    "decode_float16(a0)": (
        "float @body(i16 %b)",
        "%h = bitcast i16 %b to half\n  %r = fpext half %h to float\n  ret float %r",
    ),
    "encode_float16(a0)": (
        "i16 @body(float %x)",
        "%h = fptrunc float %x to half\n  %r = bitcast half %h to i16\n  ret i16 %r",
    ),
    "round_float16(a0)": (
        "float @body(float %x)",
        "%h = fptrunc float %x to half\n  %r = fpext half %h to float\n  ret float %r",
    ),
}


def half(text: str) -> str | None:
    """Return the IR of a conversion of float16 by the CPU's own instructions, if it has any.

    They round as the scalar bodies do; where it has none, LLVM would call a library that is not
    there.

    Parameters
    ----------
    text : str
        The routine's expression.
    """
    if text not in _HALVES or not host().converts_halves:
        return None
    head, body = _HALVES[text]
    return f"define internal {head} alwaysinline nounwind mustprogress {{\n  {body}\n}}"


def compile_object(text: str, plain: bool = False, made_for: Host | None = None) -> bytes:
    """Return the object code of a module.

    Parameters
    ----------
    text : str
        LLVM IR.
    plain : bool, optional
        Whether it has nothing to gain from LLVM's optimiser: no loop over elements, and written
        by hand or optimised before.
    made_for : Host, optional
        The machine that it is for, by default this one.

    Raises
    ------
    RuntimeError
        If LLVM does not understand the text.
    """
    made_for = made_for or host()
    module = _parsed(text, made_for) if plain else _optimised(text, made_for)
    return bytes(_machine(made_for).emit_object(module))


def _parsed(text: str, made_for: Host) -> Any:
    binding, machine = llvm(), _machine(made_for)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
    return binding.parse_assembly(head + text, binding.create_context())


def _optimised(text: str, made_for: Host) -> Any:
    binding, machine, module = llvm(), _machine(made_for), _parsed(text, made_for)
    # O3 makes no better kernels than O2, and makes them no faster.
    options = binding.create_pipeline_tuning_options(speed_level=min(made_for.opt, 2))
    options.loop_vectorization = made_for.loop_vectorize
    options.loop_interleaving = options.loop_unrolling = True
    options.slp_vectorization = made_for.slp_vectorize
    run_passes(module, machine, options)
    masks = "freeze" in text and made_for.level == "x86-64-v4"
    return _held(module, made_for) if masks else module


def _held(module: Any, made_for: Host) -> Any:
    """Return a module whose frozen vectors are in registers before anything computes with them.

    LLVM's last passes make one instruction of a load and of what is computed of it, under a mask
    where that is chosen from: see `emit.body.Body.chooses`.  They look into no assembly, even
    where it is empty, as it is here.
    """
    return _parsed(_FROZEN.sub(r'= call \1 asm "", "=v,0"(\1 \2)', str(module)), made_for)


def run_passes(module: Any, machine: Any, options: Any, *extra: str) -> None:
    """Run LLVM's standard pipeline, and more passes by the names of llvmlite's methods."""
    binding = llvm()
    builder = binding.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    for name in extra:
        getattr(passes, name)()
    passes.run(module, builder)
    # llvmlite 0.50 never frees these: the method that should is inherited from the wrong base.
    binding.newpassmanagers.NewPassManager._dispose(passes)
    passes.detach()


class Library:
    """A loaded library, taken over from LLVM's bindings.

    Their own object unloads it in its finaliser, on whatever thread the garbage collector runs.
    Where that collects the owner too, both would unload the same library.
    """

    __slots__ = ("__weakref__", "_pointer")

    def __init__(self, library: Any) -> None:
        self._pointer = library._ptr
        library.detach()

    def close(self) -> None:
        """Unload it; once, and on the worker."""
        ffi = llvm().ffi
        with ffi.OutputString() as error:
            if ffi.lib.LLVMPY_LLJIT_Dylib_Tracker_Dispose(self._pointer, error):
                raise RuntimeError(str(error))


def addresses(names: Iterable[str]) -> dict[str, int]:
    """Return where functions of Numba's are, which only LLVM knows."""
    return {name: llvm().address_of_symbol(name) for name in names}


_numbers = itertools.count()


def load(key: str, image: bytes, called: Mapping[str, int] | None = None) -> Code:
    """Link object code into this process.

    Parameters
    ----------
    key : str
        Its key.
    image : bytes
        From `compile_object`.
    called : mapping of str to int, optional
        Addresses of functions that it calls, where they have none in this process by name.

    Raises
    ------
    RuntimeError
        If it refers to something that this process does not have.
    """
    address, library = linked(image, "kernel", called or {}) or _by_llvm(key, image, called or {})
    run = _PROTOTYPE(address)
    # Whoever can call it keeps it mapped; it is unmapped by the worker.
    run.library = worker.Closing(library)  # type: ignore[attr-defined]
    return Code(address, run)


def _by_llvm(key: str, image: bytes, called: Mapping[str, int]) -> tuple[int, Library]:
    builder = llvm().JITLibraryBuilder()
    builder.add_object_img(image).add_current_process().export_symbol("kernel")
    for name, address in called.items():
        builder.import_symbol(name, address)
    library = builder.link(_linker(host()), f"{key}.{next(_numbers)}")
    return int(library["kernel"]), Library(library)
