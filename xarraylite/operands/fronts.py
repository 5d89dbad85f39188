"""Where machine code finds what the functions of the namespace do with arrays.

`FRONTS` has, by the names that methods have, the table of a memoised function (`transforms.memo`),
or what `functions.computed` says of one that NumPy computes; None of all others.  The functions
here are those in whose place machine code is put.
"""

from __future__ import annotations

from typing import Any

from .namespace import namespace

FRONTS: dict[str, Any] = {}


def function_named(name: str) -> Any:
    """Return a function of the namespace for the method of that name."""
    function = getattr(namespace(None), name)
    if name not in FRONTS:
        FRONTS[name] = getattr(function, "front", None)
    return function


def recalled(known: dict[Any, Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a memoised function returns; None: only machine code beats a look-up."""
    return None


def handed(plan: tuple[Any, ...], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what NumPy computes; NotImplemented: only machine code beats `functions.computed`."""
    return NotImplemented
