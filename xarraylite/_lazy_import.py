"""Modules that are imported when something of them is first used.

A process that adds two arrays needs neither labels nor XLA's specs, and a module costs a third of a
millisecond of its start.  Who needs another room for some of its methods only imports it from
`_later`, whose stub says for type checkers, and for the test of ranks, which module that is.

A process that forks while another thread imports leaves its child with a module that nobody goes on
importing, and for which the child would wait for ever.  So a fork waits for such imports as long as
they go on; one that stands still may want a lock that the one who forks holds (logging has such).
What has not ended by then, the child forgets, and imports anew when it needs it.  Not all that had
begun can begin a second time: modules of Cython's raise there, as those of `numpy.random`, and so
do packages that look up as attributes those of their own modules that had ended (``import p.a``,
then ``p.a.x``), which nobody enters into the new package.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from threading import get_ident
from time import monotonic
from types import FrameType
from typing import Any

from ._locks import PATIENCE, ForkLock, in_children, wait_before_fork

#: Held while something is imported; re-entrant, as what is imported may import more.
_importing = ForkLock()

#: Weak references to Python's own locks of modules, which no public function tells.
_modules: dict[str, Any] = getattr(sys.modules["_frozen_importlib"], "_module_locks", {})

#: The threads that have the collector wait.
_uncollected: set[int] = set()


#: The thread that imports, or did so last.
_importer: int | None = None


def _hold() -> bool:
    """Wait until no other thread imports, or the one that does stands still, or polls for ever."""
    place: tuple[FrameType, int] | None = None
    begun = since = monotonic()
    while not _importing.held.acquire(timeout=PATIENCE / 20):
        frame = sys._current_frames().get(_importer or 0)
        now = frame and (frame, frame.f_lasti)
        if now != place:
            place, since = now, monotonic()
        if since - begun > 30 * PATIENCE or monotonic() - since > PATIENCE:
            return False
    return True


def _let_go() -> None:
    _importing.held.release()


def _forget() -> None:
    """In a child, forget what threads that it does not have were importing.

    Nobody would give back their locks of modules, which Python leaves as they are.
    """
    if _uncollected and get_ident() not in _uncollected:
        gc.enable()
    _uncollected.intersection_update({get_ident()})
    for name, reference in tuple(_modules.items()):
        lock = reference()
        if lock is not None and lock.owner != get_ident():
            del _modules[name]
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                del sys.modules[name]


wait_before_fork(_hold, _let_go)
in_children(_forget)


def imported(name: str) -> Any:
    """Import a module by its name, of the package as there: ``.labels.products``.

    The collector waits meanwhile: a finaliser that evaluates would meet half of the module.
    """
    global _importer
    with _importing.held, uncollected():
        _importer = get_ident()
        module = import_module(name, __package__)
        _grow_old()
    return module


@contextmanager
def uncollected() -> Iterator[None]:
    """Have the collector of cycles wait."""
    if not gc.isenabled():
        yield
        return
    _uncollected.add(get_ident())
    try:  # an interrupt may come as soon as it is off
        gc.disable()
        yield
    finally:
        gc.enable()  # before it is told: a fork in between leaves a child with a collector
        _uncollected.discard(get_ident())


def _grow_old() -> None:
    """Take what a large import has made for old, as the collector would after looking at it.

    That would be a tenth of a short process's time, and find no garbage.  Where the user keeps
    objects frozen nothing is done, as they would not stay so.
    """
    if gc.get_count()[0] > gc.get_threshold()[0] and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


class Later:
    """A module, as far as its names are looked up."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        """Import the module, and keep what was asked for: the next time nobody comes here."""
        found = getattr(imported(self.__name__), name)
        setattr(self, name, found)
        return found


def sources(spec: ModuleSpec) -> dict[str, tuple[str, str]]:
    """Return where each name of a module's stub comes from: a module, and its name there.

    It is said once, in the stub that type checkers read: ``from .module import name as name``, and
    ``name = other`` for what would hide a name of Python's or is another name of the same.  What is
    declared, ``name: _Type``, is made by the module that the type is imported from.
    """
    found: dict[str, tuple[str, str]] = {}
    types: set[str] = set()
    loader: Any = spec.loader
    stub = loader.get_data(f"{str(spec.origin).rpartition('.')[0]}.pyi")
    for line in stub.decode().splitlines():
        match line.split():
            case ["from", module, "import", inner, "as", name]:
                found[name] = module.removeprefix("."), inner
            case [name, "=", other]:
                found[name] = found.pop(other) if other.startswith("_") else found[other]
            case [name, kind] if kind in found:
                types.add(kind)
                found[name.rstrip(":")] = found[kind][0], name.rstrip(":")
    return {name: place for name, place in found.items() if name not in types}
