"""Modules that are imported when something of them is first used.

A process that adds two arrays needs neither labels nor XLA's specs, and a module costs a third of a
millisecond of its start.  Who needs another room for some of its methods only asks for it `later`;
type checkers, and the test of ranks, read the ordinary import beside it.

A process that forks while another thread imports leaves its child with a module that nobody goes on
importing, and for which the child would wait for ever.  So a fork waits for such imports.
"""

from __future__ import annotations

import os
import threading
from importlib import import_module
from typing import Any

#: Held while something is imported; re-entrant, as what is imported may import more.
_importing = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_importing.acquire,
        after_in_parent=_importing.release,
        after_in_child=_importing.release,
    )


def imported(name: str) -> Any:
    """Import a module of the package by its name there, such as ``.labels.products``."""
    with _importing:
        return import_module(name, __package__)


class Later:
    """A module, as far as its names are looked up."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        """Import the module, and keep what was asked for: the next time nobody comes here."""
        found = getattr(imported(self.__name__), name)
        setattr(self, name, found)
        return found


def later(name: str) -> Any:
    """Return a module, such as ``.labels.products`` here, which is imported when it is used."""
    return Later(name)
