"""Coordinates for pictures of tiled arrays, with a place for every position in memory.

A picture has two sides.  Each is an *axis*: one dimension, or several that the first tile merges,
or one that only the tile has (a tile longer than the array sees further extents of 1).  An axis is
as long as its positions in memory, so padding has cells like elements do.  With one tile that is
the extent rounded up; when a later tile pads inside an earlier one, gaps appear between elements,
and `Frame.spread` says at which coordinate an element ends up.

There is no second model of tiling here: the levels of `Tiled` split every axis into physical
dimensions, and a coordinate is the number whose digits are the indices in those, major to minor.
Which digits an axis has, and which of them number the tiles of a level, is followed through the
levels by position (`_refine`); indices move by `Level.forward` and `Level.backward` alone.

From the first later tile that merges digits of several axes on, digits no longer belong to one
axis.  Coordinates stop there: padding that such a tile adds is on no axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..index.radix import compose, ravel_multi_index, unravel_index
from ..layout.digits import Level, Tiled

#: Physical dimensions that are the digits of one number, major to minor.
Chain = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """One side that a picture can have.

    Attributes
    ----------
    dims : tuple of int
        Logical dimensions, major to minor; none if only the tile has it.
    extents : tuple of int
        Their extents.
    padded : int
        Number of positions along it.
    tile : int
        Its part of a tile of the first level: 1 where that tile does not reach, 0 if the layout
        has no tiles.
    """

    dims: tuple[int, ...]
    extents: tuple[int, ...]
    padded: int
    tile: int

    @property
    def size(self) -> int:
        """Number of elements along it."""
        return math.prod(self.extents)


@dataclass(frozen=True)
class Frame:
    """All axes of an array in physical order, and the tiled array that places elements on them.

    Attributes
    ----------
    axes : tuple of Axis
        Major to minor; at least two.
    tiled : Tiled
        The array over its axes.
    depth : int
        How many levels the digits of coordinates come from: all before one that merges digits.
    chains : tuple of tuple of int
        For each axis, its digits.
    tile_chains : tuple of tuple of int
        For each level, the digits that number its tiles, after ``max(depth, level + 1)`` levels.
    """

    axes: tuple[Axis, ...]
    tiled: Tiled
    depth: int
    chains: tuple[Chain, ...]
    tile_chains: tuple[Chain, ...]

    def spread(self, axis: int, index: int) -> int:
        """Return the coordinate of the elements with this index along an axis."""
        moved = [0] * len(self.axes)
        moved[axis] = index
        for level in self.tiled.levels[: self.depth]:
            moved = level.forward(moved)
        return _number(self.chains[axis], moved, _extents(self.tiled, self.depth))

    def gather(self, axis: int, coordinate: int) -> int | None:
        """Return the index at a coordinate of an axis; None for padding."""
        extents = _extents(self.tiled, self.depth)
        moved = [0] * len(extents)
        _spell(coordinate, self.chains[axis], extents, moved)
        for level in reversed(self.tiled.levels[: self.depth]):
            before = level.backward(moved)
            if before is None:
                return None
            moved = before
        return moved[axis] if moved[axis] < self.axes[axis].size else None

    def position(self, coordinates: Sequence[int]) -> int:
        """Return the position in memory of the cell at the coordinates along all axes."""
        index = self._index(coordinates, len(self.tiled.levels))
        return _number(range(len(index)), index, self.tiled.physical_dimensions)

    def tile_of(self, level: int, coordinates: Sequence[int]) -> int:
        """Return the number of the tile of a level that a cell is in."""
        depth = max(self.depth, level + 1)
        index = self._index(coordinates, depth)
        return _number(self.tile_chains[level], index, _extents(self.tiled, depth))

    def _index(self, coordinates: Sequence[int], depth: int) -> list[int]:
        """Return the index of a cell after as many levels, which are at least those of digits."""
        extents = _extents(self.tiled, self.depth)
        index = [0] * len(extents)
        for chain, coordinate in zip(self.chains, coordinates, strict=True):
            _spell(coordinate, chain, extents, index)
        for level in self.tiled.levels[self.depth : depth]:
            index = level.forward(index)
        return index


def _number(chain: Sequence[int], index: Sequence[int], extents: Sequence[int]) -> int:
    """Return the number that an index spells in the digits of a chain."""
    return int(ravel_multi_index(compose(index, chain), compose(extents, chain)))


def _spell(number: int, chain: Chain, extents: Sequence[int], index: list[int]) -> None:
    """Write the digits of a number into an index: the inverse of `_number`."""
    for at, digit in zip(chain, unravel_index(number, compose(extents, chain)), strict=True):
        index[at] = digit


def _extents(tiled: Tiled, depth: int) -> tuple[int, ...]:
    """Return the extents after some levels."""
    return tiled.levels[depth - 1].after if depth else tiled.dimensions


def _refine(chain: Chain, level: Level) -> Chain:
    """Return the digits of the same number after a level, which must not merge digits."""
    count = len(level.tile)
    keep = len(level.sizes) - count
    return tuple([q for at in chain for q in ((at,) if at < keep else (at, at + count))])


def _virtual(count: int) -> list[tuple[int, ...]]:
    """Return axes that only a tile has."""
    return [()] * count


@lru_cache(maxsize=64)
def frame_of(
    dimensions: tuple[int, ...], order: tuple[int, ...], tiles: tuple[tuple[int, ...], ...]
) -> Frame:
    """Return the frame of an array with a layout (known to fit it)."""
    levels = Tiled.of(dimensions, order, tiles).levels
    physical: list[tuple[int, ...]] = [(d,) for d in reversed(order)]
    if levels:
        before = _virtual(levels[0].extra) + physical
        physical = [sum([before[at] for at in parts], ()) for parts in levels[0].merged]
        tiles = (levels[0].tile, *tiles[1:])
        # Later tiles may reach beyond what the ones before them left.
        physical = _virtual(sum([level.extra for level in levels[1:]])) + physical
    physical = _virtual(2 - len(physical)) + physical
    extents = [tuple([dimensions[d] for d in dims]) for dims in physical]
    sizes = tuple([math.prod(e) for e in extents])
    tiled = Tiled.of(sizes, tuple(range(len(sizes) - 1, -1, -1)), tiles)
    return _cut(tiled, tuple(physical), extents)


def _cut(
    tiled: Tiled, physical: Sequence[tuple[int, ...]], extents: Sequence[tuple[int, ...]]
) -> Frame:
    """Return the frame of an array over its axes, of which the first tile merges none."""
    levels = tiled.levels
    merging = [any([len(parts) > 1 for parts in level.merged]) for level in levels]
    depth = merging.index(True) if any(merging) else len(levels)
    chains: list[Chain] = [(axis,) for axis in range(len(physical))]
    tile_chains: list[Chain] = []
    inside: list[Chain] = []  # of each axis, the digits inside a tile of the first level
    for k, level in enumerate(levels):
        number, count = len(level.sizes), len(level.tile)
        if k < depth:
            chains, tile_chains, inside = [
                [_refine(chain, level) for chain in group]
                for group in (chains, tile_chains, inside)
            ]
        if k == 0:
            inside = [(at + count,) if at >= number - count else () for at in range(number)]
        tile_chains.append(tuple(range(number)))
    after = _extents(tiled, depth)
    padded = [math.prod([after[at] for at in chain]) for chain in chains]
    parts = [math.prod([after[at] for at in chain]) for chain in inside] or [0] * len(chains)
    axes = [Axis(*of) for of in zip(physical, extents, padded, parts, strict=True)]
    return Frame(tuple(axes), tiled, depth, tuple(chains), tuple(tile_chains))
