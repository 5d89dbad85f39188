"""Where machine code finds what the functions of the namespace do with arrays.

`FRONTS` has, by the names that methods have, the table of a memoised function (`arrays.memo`),
or what `functions.computed` says of one that NumPy computes; None of all others.  The functions
here are those in whose place machine code is put.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from ..ir.kind import Kind
from ..memory.shield import Shield
from ..runtime.counting import count_use

_new = object.__new__

#: Versions of the array API standard that the namespace follows.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

FRONTS: dict[str, Any] = {}

_PACKAGE = __name__.partition(".")[0]


def namespace(version: str | None) -> ModuleType:
    """Return the package's namespace without importing it: who has an array has imported that.

    Raises
    ------
    ValueError
        For an unknown version of the standard.
    """
    if version is not None and version not in VERSIONS:
        raise ValueError(f"array API version {version!r} is unknown; known: {VERSIONS}")
    return sys.modules[_PACKAGE]


class ViewRecipe:
    """How a view of a container is made.

    Attributes
    ----------
    kind, shape, by
        Of the view, and where it begins, in bytes behind the container's first element.
    """

    __slots__ = ("by", "kind", "shape")

    def __init__(self, kind: Kind, shape: tuple[int, ...], by: int) -> None:
        self.kind, self.shape, self.by = kind, shape, by

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Return the view of another container."""
        (of,) = arrays
        made: Any = _new(of._view_class)
        made._buffer, made._start = of._buffer, of._start + self.by
        made._kind, made._shape, made._dtype = self.kind, self.shape, self.kind.dtype
        return made


class ShieldedRecipe(ViewRecipe):
    """How a view of a container is made that cannot be written.  Machine code does not make it."""

    __slots__ = ()

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Return the view of another container."""
        made = super().__call__(arrays)
        made._buffer = Shield(made._buffer)
        return made


def function_named(name: str) -> Any:
    """Return a function of the namespace for the method of that name."""
    function = getattr(namespace(None), name)
    if name not in FRONTS:
        FRONTS[name] = getattr(function, "front", None)
    return function


def recalled(known: dict[Any, Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a memoised function returns; None: only machine code beats a look-up."""
    count_use()
    return None


def handed(plan: tuple[Any, ...], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what NumPy computes; NotImplemented: only machine code beats `functions.computed`."""
    return NotImplemented
