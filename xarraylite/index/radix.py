"""Indices as mixed-radix numbers: positions in a box, and permutations of its dimensions.

An index ``(i_0, …, i_r)`` of a box with extents ``(n_0, …, n_r)`` is a number whose digits have
those radices, the last one fastest.  Merged dimensions, row-major ordinals and the positions of
tiles are all read and written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def ravel_multi_index(index: Iterable[Any], extents: Iterable[int]) -> Any:
    """Return the row-major position of an index; of ints, or of arrays of them.

    Examples
    --------
    >>> ravel_multi_index((1, 2), (3, 5))
    7
    """
    position: Any = 0
    for digit, extent in zip(index, extents, strict=True):
        position = position * extent + digit
    return position


def unravel_index(position: int, extents: Sequence[int]) -> tuple[int, ...]:
    """Return the index at a row-major position: the inverse of `ravel_multi_index`.

    Examples
    --------
    >>> unravel_index(7, (3, 5))
    (1, 2)
    """
    digits = []
    for extent in reversed(extents):
        position, digit = divmod(position, extent)
        digits.append(digit)
    return tuple(reversed(digits))


def contiguous_strides(
    extents: Sequence[int], minor_to_major: Iterable[int], unit: int = 1
) -> tuple[int, ...]:
    """Return the strides of a box without gaps, given its dimensions from the fastest on.

    Examples
    --------
    >>> contiguous_strides((2, 3, 4), (1, 2, 0), unit=8)
    (96, 8, 24)
    """
    strides = [0] * len(extents)
    for d in minor_to_major:
        strides[d] = unit
        unit *= extents[d]
    return tuple(strides)


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the permutation that undoes ``permutation``.

    Examples
    --------
    >>> inverse((2, 0, 1))
    (1, 2, 0)
    """
    found = [0] * len(permutation)
    for at, p in enumerate(permutation):
        found[p] = at
    return tuple(found)


def compose(first: Sequence[T], second: Iterable[int]) -> tuple[T, ...]:
    """Return ``first[second[i]]`` for each ``i``: entries in another order, or some of them.

    Examples
    --------
    >>> compose("abc", (2, 0))
    ('c', 'a')
    """
    return tuple([first[p] for p in second])


def round_up(value: int, multiple: int) -> int:
    """Return the least multiple that is not below ``value``."""
    return -(-value // multiple) * multiple
