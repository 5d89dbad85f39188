"""The compiled `launch`, made when the first small kernel runs."""

from __future__ import annotations

from .._locks import ForkLock
from ..codegen import machine
from ..codegen.kernel import code_of
from .launch import Definition, Launcher, definition, launcher, text

_lock = ForkLock()

#: The code and what CPython is told of it: made once and kept, since all launchers point there.
_made: list[tuple[machine.Code, Definition]] = []


def launcher_of(made: bytes) -> Launcher:
    """Return `launch` with a record."""
    if not _made:
        with _lock.held:
            if not _made:
                code = code_of(text())
                _made.append((code, definition(code.address)))
    return launcher(_made[0][1], made)
