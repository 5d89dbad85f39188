"""Modules that are needed for some of what another does: they are imported when they are used.

``from .._later import overlap`` costs nothing; ``overlap.classify`` imports the module.  Which one
a name stands for is said in the stub, as the public names are in that of the package.
"""

from __future__ import annotations

from ._lazy_import import Later, sources

_SOURCES = sources(__spec__)


def __getattr__(name: str) -> Later:
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = Later(".{}.{}".format(*_SOURCES[name]))
    return globals().setdefault(name, made)  # type: ignore[no-any-return]
