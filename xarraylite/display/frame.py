"""Coordinates for pictures of tiled arrays, with a place for every position in memory.

A picture has two sides.  Each is an *axis*: one dimension, or several that the first tile merges,
or one that only the tile has (a tile longer than the array sees further extents of 1).  An axis is
as long as its positions in memory, so padding has cells like elements do.  With one tile that is
the extent rounded up; when a later tile pads inside an earlier one, gaps appear between elements,
and `Frame.spread` says at which coordinate an element ends up.

The trick that keeps this exact without a second model of tiling: the array is replaced by the
*full* one whose extents and tiles are the padded ones.  It has the same positions and no padding,
so `Tiled` answers for padding cells too.  The tile of level k that a cell is in is the quotient
of its position after k levels by the size of that tile, because a tile is one run of positions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ..layout.digits import Tiled


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

    def split(self, merged: int) -> tuple[int, ...]:
        """Return the index in each of `dims`."""
        found = []
        for extent in reversed(self.extents):
            found.append(merged % extent)
            merged //= extent
        return tuple(reversed(found))

    def join(self, index: Sequence[int]) -> int:
        """Return the index along this axis, given those in each of `dims`."""
        merged = 0
        for extent, e in zip(self.extents, index, strict=True):
            merged = merged * extent + e
        return merged


@dataclass(frozen=True)
class Frame:
    """All axes of an array in physical order, and the arrays that place elements on them.

    Attributes
    ----------
    axes : tuple of Axis
        Major to minor; at least two.
    plain : Tiled
        The array over its axes.
    full : Tiled
        The same positions without padding.
    steps : tuple of Tiled
        The first tiles of `full`: one, two, up to all.
    """

    axes: tuple[Axis, ...]
    plain: Tiled
    full: Tiled
    steps: tuple[Tiled, ...]

    def spread(self, axis: int, index: int) -> int:
        """Return the coordinate of the elements with this index along an axis."""
        moved = [0] * len(self.axes)
        moved[axis] = index
        for level in self.plain.levels:
            moved = level.forward(moved)
        for level in reversed(self.full.levels):
            # The full array has no padding, so there is always an index.
            moved = level.backward(moved) or moved
        return moved[axis]

    def gather(self, axis: int, coordinate: int) -> int | None:
        """Return the index at a coordinate of an axis; None for padding."""
        # `spread` rises.  (Not `bisect`: a range beyond the address space has no length.)
        low, high = 0, self.axes[axis].size
        while low < high:
            middle = (low + high) // 2
            if self.spread(axis, middle) < coordinate:
                low = middle + 1
            else:
                high = middle
        if low < self.axes[axis].size and self.spread(axis, low) == coordinate:
            return low
        return None

    def tile_of(self, level: int, coordinates: Sequence[int]) -> int:
        """Return the number of the tile of a level that a cell is in."""
        step = self.steps[level]
        return step.linear_index(coordinates) // math.prod(step.levels[level].tile)


def _virtual(count: int) -> list[tuple[int, ...]]:
    """Return axes that only a tile has."""
    return [()] * count


def _row_major(rank: int) -> tuple[int, ...]:
    return tuple(range(rank - 1, -1, -1))


@lru_cache(maxsize=64)
def frame_of(
    dimensions: tuple[int, ...], order: tuple[int, ...], tiles: tuple[tuple[int, ...], ...]
) -> Frame:
    """Return the frame of an array with a layout (known to fit it)."""
    levels = Tiled.of(dimensions, order, tiles).levels
    physical: list[tuple[int, ...]] = [(d,) for d in reversed(order)]
    if levels:
        extra = len(levels[0].before) - len(physical)
        before = _virtual(extra) + physical
        physical = [sum([before[at] for at in parts], ()) for parts in levels[0].merged]
        tiles = (levels[0].tile, *tiles[1:])
        # Later tiles may reach beyond what the ones before them left.
        extra = sum([len(b.before) - len(a.after) for a, b in pairwise(levels)])
        physical = _virtual(extra) + physical
    physical = _virtual(2 - len(physical)) + physical
    extents = [tuple([dimensions[d] for d in dims]) for dims in physical]
    sizes = tuple([math.prod(e) for e in extents])
    plain = Tiled.of(sizes, _row_major(len(sizes)), tiles)
    padded, roomy = _full(plain, tiles)
    steps = [Tiled.of(padded, plain.minor_to_major, roomy[:k]) for k in range(len(tiles) + 1)]
    parts = (1,) * (len(sizes) - len(roomy[0])) + roomy[0] if roomy else (0,) * len(sizes)
    axes = [Axis(*of) for of in zip(physical, extents, padded, parts, strict=True)]
    return Frame(tuple(axes), plain, steps[-1], tuple(steps[1:]))


def _full(
    plain: Tiled, tiles: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Return extents and tiles with the padding of all later levels in them.

    Positions that a tile over *merged* digits adds have no coordinates; what is merged stays as
    it is, and such padding is on no axis.
    """
    room = list(plain.physical_dimensions)
    roomy: list[tuple[int, ...]] = []
    for level, tile in zip(reversed(plain.levels), reversed(tiles), strict=True):
        count = len(level.tile)
        keep = len(level.sizes) - count
        grid, inner = room[keep : keep + count], room[keep + count :]
        sizes = room[:keep] + [g * t for g, t in zip(grid, inner, strict=True)]
        room = list(level.before)
        wide = list(tile)
        for parts, size, within in zip(level.merged, sizes, [0] * keep + inner, strict=True):
            if len(parts) == 1:
                room[parts[0]] = size
                if parts[0] >= keep and within:
                    wide[parts[0] - len(room)] = within
        roomy.insert(0, tuple(wide))
    return tuple(room), tuple(roomy)
