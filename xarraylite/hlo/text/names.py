"""Unique names, made as XLA makes them.

A name that is taken gets a number behind a dot: a second ``x`` is ``x.1``, or the next number that
is free.  A name that ends in a number asks for that number.
"""

from __future__ import annotations

import re

_NUMBERED = re.compile(r"(.+)\.([+-]?[0-9]{1,20})", re.DOTALL)


class NameTable:
    """Names that are taken.

    Examples
    --------
    >>> from xarraylite.hlo.text.names import NameTable
    >>> table = NameTable()
    >>> [table.unique(name) for name in ["x", "x.1", "x", "y.3", "y", "x"]]
    ['x', 'x.1', 'x.2', 'y.3', 'y', 'x.3']
    """

    __slots__ = ("_next", "_taken")

    def __init__(self) -> None:
        self._taken: set[tuple[str, int]] = set()
        self._next: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """Return a name that is not taken yet, the given one if it may be, and take it."""
        root, number, numbered = name, 0, False
        if name[-1].isdigit() and "." in name:
            match = _NUMBERED.fullmatch(name)
            if match is not None and -(2**63) <= int(match[2]) < 2**63:
                root, number, numbered = match[1], int(match[2]), True
        taken = self._taken
        if (root, number) in taken:
            number = self._next.get(root, 0)
            while (root, number) in taken:
                number += 1
            self._next[root] = number + 1
        taken.add((root, number))
        if number == 0:
            return f"{root}.0" if numbered else root
        return f"{root}.{number}"
