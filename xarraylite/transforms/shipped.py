"""What the package ships ready to run: the file that `codegen.archive` describes.

    python -m xarraylite.transforms.shipped

makes it again; whoever changes a scalar body, the table of operations, the functions of
`codegen.cpython` or what calls them runs it.  It has the same bytes wherever it is made with the
same versions.  IR that is that of the sources is kept: then it takes seconds instead of minutes.

Object code is shipped of what is no kernel of an expression, and has the same words in every
process: the methods in machine code, which LLVM takes seconds for, a launch, and what shares dot
products; and, for two sets of instructions, of functions that are most of many kernels.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from ..codegen import archive, kernel, machine, routines, worker
from ..codegen.assembly import Assembly
from ..codegen.emit.apart import of_routine
from ..codegen.emit.builder import Module
from ..codegen.emit.reduction import scratch_fold
from ..codegen.emit.routine import Routine, apply
from ..codegen.host import LEVELS, any_of_its_kind
from ..ops.reductions import MAX, MIN, SUM
from ..ops.table import OPS
from ..runtime import launch
from . import natives


def assemblies() -> tuple[Assembly, ...]:
    """Return what object code is shipped of."""
    launches = [launch.assembly(items) for items in (24, 32)]
    return *launches, natives.assembly()


def compiled(assembly: Assembly) -> bytes:
    """Return object code for every processor of the usual kind."""
    text = assembly.text()
    return worker.run(lambda: machine.compile_object(text, plain=True, made_for=any_of_its_kind()))


def functions() -> dict[bytes, tuple[Module, str]]:
    """Return what kernels call and is compiled apart, and for which processors, by its name."""
    double = np.dtype(np.float64)
    angles = [of_routine(apply(op, (double,), double)) for op in OPS.values() if op.steep]
    numbers = [np.dtype(name) for name in ("f8", "f4", "i8")]
    folds = [scratch_fold(op, dtype) for op in (SUM, MIN, MAX) for dtype in numbers]
    return {
        kernel.name_of_object(function, cpu): (function, cpu)
        for function in (*angles, *folds)
        for cpu in LEVELS
    }


def compiled_apart(function: Module, cpu: str) -> bytes:
    """Return the object code of a function that kernels call."""
    text = routines.assembled(function)
    return worker.run(lambda: machine.compile_object(text, made_for=any_of_its_kind(cpu)))


def _current() -> dict[Routine, str] | None:
    """Return the IR in the file; None if it is not that of the sources."""
    known = archive.archive()
    found = {routine: known.find(routine) for routine in routines.known()}
    whole = {routine: text for routine, text in found.items() if text is not None}
    return whole if len(whole) == len(found) else None


def main() -> int:
    """Make the file again."""
    known = _current() or routines.made_again()
    archive.write(known)
    routines.text_of.cache_clear()
    objects = {assembly.name: compiled(assembly) for assembly in assemblies()}
    objects |= {name: compiled_apart(*made) for name, made in functions().items()}
    archive.write(known, objects)
    size = os.path.getsize(archive.FILE)  # noqa: PTH202
    sys.stdout.write(f"{len(known)} routines, {len(objects)} objects, {size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
