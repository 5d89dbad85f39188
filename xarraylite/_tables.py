"""Tables of what was found before: they begin anew where they would get too large."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def kept(table: dict[K, V], key: K, value: V, most: int) -> V:
    """Return a value that is kept in a table, whose ``most`` others are forgotten before.

    Examples
    --------
    >>> table = {1: "one", 2: "two"}
    >>> kept(table, 3, "three", most=2), table
    ('three', {3: 'three'})
    """
    if len(table) >= most and key not in table:
        table.clear()
    table[key] = value
    return value
