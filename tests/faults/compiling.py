"""What the scripts of `test_worker_faults` compile: small LLVM modules, as kernels are."""

from __future__ import annotations

import ctypes
import gc
import itertools
from typing import Any

import llvmlite.binding as llvm

from xarraylite.codegen import machine as machine_module
from xarraylite.codegen import worker
from xarraylite.codegen.table import Table

_numbers = itertools.count()
_session: list[Any] = []

TEXT = """
define i64 @f(i64 %x) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %s = phi i64 [%x, %entry], [%t, %loop]
  %j = add i64 %i, 1
  %u = mul i64 %s, {factor}
  %t = xor i64 %u, %j
  %more = icmp slt i64 %j, {rounds}
  br i1 %more, label %loop, label %exit
exit:
  ret i64 %t
}}
"""


class Compiled:
    """A linked function; it is unloaded when nobody has it any more."""

    def __init__(self, factor: int) -> None:
        if not _session:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
            machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
            _session.append(llvm.create_lljit_compiler(machine))
        machine = llvm.Target.from_default_triple().create_target_machine(opt=3, jit=True)
        module = llvm.parse_assembly(TEXT.format(factor=factor, rounds=factor % 7 + 1))
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        image = machine.emit_object(module)
        library = llvm.JITLibraryBuilder().add_object_img(image).export_symbol("f")
        library = library.link(_session[0], f"lib{next(_numbers)}")
        self.call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library["f"])
        self.library = worker.Closing(machine_module.Library(library))
        self.factor = factor
        self.nbytes = len(image)

    def right(self) -> bool:
        s = 3
        for j in range(1, self.factor % 7 + 2):
            s = (s * self.factor) ^ j
        return self.call(3) == (s + 2**63) % 2**64 - 2**63


table: Table[int, Compiled] = Table(50, 1 << 20, lambda value: value.nbytes)


def check(factor: int) -> None:
    """Compile, or find compiled; raise AssertionError if it computes something else."""
    assert table.get(factor, lambda: Compiled(factor)).right()


class Finalised:
    """Garbage in a cycle, whose finaliser compiles wherever the collector happens to run."""

    last = 0

    def __init__(self) -> None:
        self.cycle = self

    def __del__(self) -> None:
        Finalised.last += 1
        check(1000 + Finalised.last % 200)


def collecting(phase: str, _: object) -> None:
    """Callback of the collector that compiles."""
    if phase == "stop":
        check(5)


def littered() -> None:
    """Let the collector run often, in the middle of jobs too."""
    gc.set_threshold(30, 2, 2)
