"""What machine code is made of that is no kernel: functions over objects, and their callers.

A routine's functions ask for words that differ between processes, and CPython calls them in other
ways than kernels are called.  An `Assembly` says what is added to a routine; its text, which can be
a megabyte, is put together only where LLVM has to make the code (`kernel.code_of`).
"""

from __future__ import annotations

from collections.abc import Sequence

from .._records import record
from . import routines
from .archive import name_of
from .cpython.outside import STATE
from .emit.routine import Routine
from .verified_files import hasher


@record(frozen=True, slots=True)
class Assembly:
    """A module of functions over objects and of what calls them.

    Attributes
    ----------
    routine : Routine
        The functions; that of the routine is ``@body``.
    state : str
        What defines the words that they ask for.
    parts : sequence of str
        The callers, and declarations of what these call.
    """

    routine: Routine
    state: str
    parts: Sequence[str]

    @property
    def name(self) -> bytes:
        """What its object code is found by among that of the same sources."""
        return hasher(
            "\0".join([self.state, *self.parts]).encode() + name_of(self.routine)
        ).digest()

    def text(self) -> str:
        """Return it as LLVM assembly."""
        declared: dict[str, str] = {}
        lines = [self.state]
        for piece in (routines.text_of(self.routine), *self.parts):
            for line in piece.splitlines():
                if line.startswith("declare "):
                    declared.setdefault(line.partition("(")[0].partition("@")[2], line)
                elif not line.startswith(f"@{STATE} = "):
                    lines.append(line.replace(" alwaysinline", ""))
        return "\n".join([*declared.values(), *lines])
