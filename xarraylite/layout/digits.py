"""Tiled layouts as mixed-radix numbers: where each element of a tiled array lies.

Laying out an array takes *levels*.  First its dimensions are put in physical order, the reverse
of ``minor_to_major``.  Then each tile ``(t_k, …, t_1)`` replaces the ``k`` minor-most dimensions
by twice as many: extents ``ceil(d / t)`` (the grid of tiles) and then ``t`` (inside a tile), index
``e // t`` and ``e % t``.  A dimension marked with `COMBINE` is first merged with the next more
minor one.  The position is the row-major linear index in the dimensions of the last level.  Where
``t`` does not divide ``d``, positions at the end of the last tile belong to no element: padding.

Seen from one dimension, splitting it again and again makes *digits*.  Splitting the quotient of
an earlier split only moves the larger period in front, so every dimension has one normal form:
periods ``p_1 > p_2 > … > 1`` with strides ``s_k``,

    position = r_0 // p_1 * s_1 + r_1 // p_2 * s_2 + …,    r_0 = e,  r_k = r_{k-1} % p_k,

which is NVIDIA CuTe's hierarchical layout plus bounds.  Merged dimensions share one such number.
Everything that computes with layouts reads these digits: `linear_index` here, the loops of the
engine, the overlap test.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from .._records import record
from ..index.radix import compose, contiguous_strides, inverse, ravel_multi_index, unravel_index
from .fields import COMBINE

#: (period, stride) pairs, periods falling, the last one 1.
Digits = tuple[tuple[int, int], ...]


class Field(NamedTuple):
    """Logical dimensions whose merged index is written in digits.

    Attributes
    ----------
    dims : tuple of int
        The dimensions, major to minor; one, unless tiles combine.
    weights : tuple of int
        The merged index is the sum of ``weight * index`` over ``dims``.
    digits : Digits
        Periods and strides, in elements.
    """

    dims: tuple[int, ...]
    weights: tuple[int, ...]
    digits: Digits


class Level(NamedTuple):
    """What one tile does to the physical dimensions before it.

    Attributes
    ----------
    extra : int
        Dimensions of extent 1 put in front, where the tile is longer than the array.
    before : tuple of int
        Extents it is applied to, these included, major to minor.
    merged : tuple of tuple of int
        For each dimension after combining, the positions in ``before`` that form it.
    sizes : tuple of int
        Sizes of the dimensions after combining.
    tile : tuple of int
        Tile sizes of the minor-most of them.
    """

    extra: int
    before: tuple[int, ...]
    merged: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    tile: tuple[int, ...]

    @property
    def after(self) -> tuple[int, ...]:
        """Extents that it leaves."""
        keep = len(self.sizes) - len(self.tile)
        grid = [-(-d // t) for d, t in zip(self.sizes[keep:], self.tile, strict=True)]
        return (*self.sizes[:keep], *grid, *self.tile)

    def forward(self, index: Sequence[Any]) -> list[Any]:
        """Return the index after this level."""
        index = [0] * self.extra + list(index)
        joined = [
            ravel_multi_index(compose(index, parts), compose(self.before, parts))
            if len(parts) > 1
            else index[parts[0]]
            for parts in self.merged
        ]
        keep = len(joined) - len(self.tile)
        inside = list(zip(joined[keep:], self.tile, strict=True))
        return joined[:keep] + [e // t for e, t in inside] + [e % t for e, t in inside]

    def whole(self, index: Sequence[int]) -> list[int]:
        """Return the index before this level, in dimensions that are combined as there."""
        count = len(self.tile)
        keep = len(self.sizes) - count
        parts = zip(index[keep : keep + count], index[keep + count :], self.tile, strict=True)
        return [*index[:keep], *[q * t + r for q, r, t in parts]]

    def backward(self, index: Sequence[int]) -> list[int] | None:
        """Return the index before this level; None for padding."""
        joined = self.whole(index)
        if any(e >= d for e, d in zip(joined, self.sizes, strict=True)):
            return None
        found: list[int] = []
        for value, parts in zip(joined, self.merged, strict=True):
            alone = len(parts) == 1
            found += (value,) if alone else unravel_index(value, compose(self.before, parts))
        return found[self.extra :]


@record(frozen=True, eq=False)
class Tiled:
    """The geometry of a tiled array; `Tiled.of` makes and remembers them.

    Attributes
    ----------
    dimensions : tuple of int
        Logical extents.
    minor_to_major : tuple of int
        Dimensions from the fastest to the slowest.
    levels : tuple of Level
        One per tile.
    """

    dimensions: tuple[int, ...]
    minor_to_major: tuple[int, ...]
    levels: tuple[Level, ...]

    @staticmethod
    @lru_cache(maxsize=4096)
    def of(
        dimensions: tuple[int, ...],
        minor_to_major: tuple[int, ...],
        tiles: tuple[tuple[int, ...], ...] = (),
    ) -> Tiled:
        """Return the geometry of ``dimensions`` under a layout (known to fit them).

        Examples
        --------
        The element at (2, 3) of ``f32[3,5]{1,0:T(2,2)}``:

        >>> Tiled.of((3, 5), (1, 0), ((2, 2),)).linear_index((2, 3))
        17
        """
        extents = tuple([dimensions[d] for d in reversed(minor_to_major)])
        levels = []
        for tile in tiles:
            level = _level(extents, tile)
            levels.append(level)
            extents = level.after
        return Tiled(dimensions, minor_to_major, tuple(levels))

    @cached_property
    def physical_dimensions(self) -> tuple[int, ...]:
        """Extents after all tiles, major to minor."""
        if self.levels:
            return self.levels[-1].after
        return tuple([self.dimensions[d] for d in reversed(self.minor_to_major)])

    @cached_property
    def physical_size(self) -> int:
        """Number of positions, padding included."""
        return math.prod(self.physical_dimensions)

    @cached_property
    def fields(self) -> tuple[Field, ...] | None:
        """The layout as sums of digits; None if a later tile combines digits."""
        return _fields(self)

    @cached_property
    def has_padding(self) -> bool:
        """Whether some position belongs to no element."""
        return self.physical_size != math.prod(self.dimensions)

    def linear_index(self, index: Sequence[int]) -> int:
        """Return the position of the element at ``index`` (known to be in range)."""
        fields = self.fields
        if fields is None:
            return int(self.position_by_levels(index))
        position = 0
        for dims, weights, digits in fields:
            if len(dims) == 1:
                rest = index[dims[0]]
            else:
                rest = sum([w * index[d] for d, w in zip(dims, weights, strict=True)])
            position += position_of(rest, digits)
        return position

    def position_by_levels(self, index: Sequence[Any]) -> Any:
        """Follow every level: the definition, for layouts without digits and for tests."""
        return ravel_multi_index(self.physical_index(index), self.physical_dimensions)

    def physical_index(self, index: Sequence[Any]) -> list[Any]:
        """Return the index in the physical dimensions; of ints, or of arrays of them."""
        moved = [index[d] for d in reversed(self.minor_to_major)]
        for level in self.levels:
            moved = level.forward(moved)
        return moved

    def multi_index(self, position: int) -> tuple[int, ...] | None:
        """Return the index of the element at ``position`` (known to be in range), or None."""
        moved: Sequence[int] = unravel_index(position, self.physical_dimensions)
        for level in reversed(self.levels):
            before = level.backward(moved)
            if before is None:
                return None
            moved = before
        return compose(moved, inverse(self.minor_to_major[::-1]))

    def memory_order(self) -> list[int | None]:
        """Return the row-major ordinal of the element at each position, None for padding."""
        order: list[int | None] = [None] * self.physical_size
        if 0 in self.dimensions:
            return order
        for ordinal, index in enumerate(itertools.product(*map(range, self.dimensions))):
            order[self.linear_index(index)] = ordinal
        return order


def position_of(value: Any, digits: Digits) -> Any:
    """Return the sum of a number's digits times their strides; of an int, or of an array."""
    place = 0
    for period, stride in digits:
        place = place + value // period * stride
        value = value % period
    return place


def _level(extents: tuple[int, ...], tile: tuple[int, ...]) -> Level:
    """Return the level that ``tile`` makes of physical ``extents``."""
    extra = max(0, len(tile) - len(extents))
    before = (1,) * extra + extents
    keep = len(before) - len(tile)
    merged: list[tuple[int, ...]] = [(at,) for at in range(keep)]
    sizes: list[int] = []
    open_parts: tuple[int, ...] = ()
    for at, size in enumerate(tile, keep):
        open_parts = (*open_parts, at)
        if size != COMBINE:
            merged.append(open_parts)
            sizes.append(size)
            open_parts = ()
    joined = tuple([math.prod([before[at] for at in parts]) for parts in merged])
    return Level(extra, before, tuple(merged), joined, tuple(sizes))


class _Digit:
    """One digit of a number that is written in digits: `all` of them, periods falling.

    Splitting the quotient of an earlier split multiplies the periods, so this is the normal form.
    """

    __slots__ = ("all", "period", "stride")

    def __init__(self, period: int = 1, among: list[_Digit] | None = None) -> None:
        self.period = period
        self.stride = 0
        self.all: list[_Digit] = [self] if among is None else among

    def split(self, size: int) -> tuple[_Digit, _Digit]:
        """Put its quotient by ``size`` and the rest in its place."""
        high, low = _Digit(self.period * size, self.all), _Digit(self.period, self.all)
        at = self.all.index(self)
        self.all[at : at + 1] = [high, low]
        return high, low


def _fields(tiled: Tiled) -> tuple[Field, ...] | None:
    """Return the digits of every dimension or merged group; None if a later level merges.

    ``current`` has, for each dimension of the level that is reached, the digit of `numbers` that it
    is: a tile puts two digits in the place of one.
    """
    groups: list[tuple[int, ...]] = [(d,) for d in reversed(tiled.minor_to_major)]
    numbers = current = [_Digit() for _ in groups]
    for depth, level in enumerate(tiled.levels):
        if depth == 0:  # the first tile may merge dimensions, and is applied to what they become
            padded: list[tuple[int, ...]] = [*[()] * level.extra, *groups]
            groups = [sum(compose(padded, parts), ()) for parts in level.merged]
            numbers = current = [_Digit() for _ in groups]
        elif any(len(parts) > 1 for parts in level.merged):
            return None
        else:
            current = [*[_Digit() for _ in range(level.extra)], *current]
        keep = len(current) - len(level.tile)
        pairs = [digit.split(t) for digit, t in zip(current[keep:], level.tile, strict=True)]
        current = current[:keep] + [high for high, _ in pairs] + [low for _, low in pairs]
    for digit, stride in zip(current, _row_major(tiled.physical_dimensions), strict=True):
        digit.stride = stride
    found = []
    for dims, number in zip(groups, numbers, strict=True):
        if dims:
            extents = compose(tiled.dimensions, dims)
            digits = [(digit.period, digit.stride) for digit in number.all]
            found.append(Field(dims, _row_major(extents), simplify(digits, math.prod(extents))))
    return tuple(found)


def _row_major(extents: Sequence[int]) -> tuple[int, ...]:
    return contiguous_strides(extents, range(len(extents) - 1, -1, -1))


def simplify(digits: Sequence[tuple[int, int]], extent: int) -> Digits:
    """Return the same function on ``0 … extent - 1`` with as few digits as possible."""
    reach = extent
    kept: list[tuple[int, int]] = []
    for period, stride in digits:
        if reach <= period and period > 1:
            continue  # the digit is always 0
        reach = min(reach, period)
        while (
            kept and kept[-1][0] % period == 0 and kept[-1][1] == stride * (kept[-1][0] // period)
        ):
            kept.pop()
        kept.append((period, stride))
        if period == 1:
            break  # nothing is left: more digits are always 0
    return tuple(kept)
