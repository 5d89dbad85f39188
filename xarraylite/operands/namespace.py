"""The way from an array back to the package's namespace, without importing it.

Whoever has an array has imported the package, which is its own facade; arrays ask by version.
"""

from __future__ import annotations

import sys
from types import ModuleType

#: Versions of the array API standard that the namespace follows.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def namespace(version: str | None) -> ModuleType:
    """Return the namespace.

    Raises
    ------
    ValueError
        For an unknown version of the standard.
    """
    if version is not None and version not in VERSIONS:
        raise ValueError(f"array API version {version!r} is unknown; known: {VERSIONS}")
    return sys.modules[__name__.partition(".")[0]]
