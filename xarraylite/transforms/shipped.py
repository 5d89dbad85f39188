"""What the package ships ready to run: the file that `codegen.archive` describes.

    python -m xarraylite.transforms.shipped

makes it again; whoever changes a scalar body, the table of operations, the functions of
`codegen.cpython` or what calls them runs it.  It has the same bytes wherever it is made with the
same versions.  IR that is that of the sources is kept: then it takes seconds instead of minutes.

Object code is shipped of what is no kernel of an expression, and has the same words in every
process: the methods in machine code, which LLVM takes seconds for, a launch, and what shares dot
products.
"""

from __future__ import annotations

import sys

from ..codegen import archive, machine, routines, worker
from ..codegen.assembly import Assembly
from ..codegen.emit.routine import Routine
from ..codegen.host import any_of_its_kind
from ..runtime import launch, loops
from . import natives


def assemblies() -> tuple[Assembly, ...]:
    """Return what object code is shipped of."""
    return launch.assembly(), loops.assembly(), natives.assembly()


def compiled(assembly: Assembly) -> bytes:
    """Return object code for every processor of the usual kind."""
    text = assembly.text()
    return worker.run(lambda: machine.compile_object(text, plain=True, made_for=any_of_its_kind()))


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
    archive.write(known, objects)
    size = archive.FILE.stat().st_size
    sys.stdout.write(f"{len(known)} routines, {len(objects)} objects, {size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
