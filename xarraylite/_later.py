"""Modules that are imported when something of them is first used.

A process that adds two arrays needs neither labels nor XLA's specs, and a module costs a third of a
millisecond of its start.  Who needs another room for some of its methods only asks for it `later`;
type checkers, and the test of ranks, read the ordinary import beside it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """A module, as far as its names are looked up."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        """Import the module, and keep what was asked for: the next time nobody comes here."""
        found = getattr(import_module(self.__name__, __package__), name)
        setattr(self, name, found)
        return found


def later(name: str) -> Any:
    """Return a module, such as ``.labels.products`` here, which is imported when it is used."""
    return Later(name)
