"""Where a box is cut: the sizes of its tiles along every mode, however they are said.

`TiledShape` keeps nothing else.  Here they are read from what users give, and the tree of tiles
that they stand for is described: all of it (`tree_of_tiles`), or its extents without making it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from .._errors import ShapeError
from ..index.box import integers, is_vector
from .jagged_tree import Ragged, check_nodes, ints

Sizes = Sequence[tuple[int, ...]]


def tile_sizes(mode: int, given: Any) -> tuple[int, ...]:
    """Return the sizes of the tiles of a mode, checked.

    Raises
    ------
    ShapeError
        For anything but integers from 0 on.
    """
    if not is_vector(given):
        raise ShapeError(
            f"TiledShape: mode {mode} needs the sizes of its tiles, got {given!r}; one size for "
            "all goes to TiledShape.uniform"
        )
    sizes = integers(given, "TiledShape", "a tile size")
    if min(sizes, default=0) < 0:
        raise ShapeError(f"TiledShape: tile sizes of mode {mode} must not be negative, got {sizes}")
    return sizes


def uniform_sizes(extents: Sequence[int], tile: Any) -> list[tuple[int, ...]]:
    """Return tiles of one size per mode; the last one takes what is left.

    Raises
    ------
    ShapeError
        If a size is not positive, or there is not one for each mode.
    """
    steps = integers(tile, "TiledShape.uniform", "a tile size")
    if len(steps) != len(extents) or any([step < 1 for step in steps]):
        raise ShapeError(
            f"TiledShape.uniform: one tile size of at least 1 is needed for each of the "
            f"extents {tuple(extents)}, got {steps}"
        )
    sizes = []
    for extent, step in zip(extents, steps, strict=True):
        whole, rest = divmod(extent, step)
        check_nodes(whole, "TiledShape.uniform")
        sizes.append((step,) * whole + ((rest,) if rest or not whole else ()))
    return sizes


def sizes_between(boundaries: Any) -> list[list[int]]:
    """Return the sizes of the tiles between boundaries, which start at 0 and end at the extent.

    Raises
    ------
    ShapeError
        If the boundaries of a mode do not start at 0, or decrease.
    """
    if not is_vector(boundaries):
        raise ShapeError(
            f"TiledShape.from_boundaries: boundaries are needed for each mode, got {boundaries!r}"
        )
    sizes = []
    for mode, given in enumerate(boundaries):
        cuts = integers(given, "TiledShape.from_boundaries", "a boundary")
        steps = [after - before for before, after in pairwise(cuts)]
        if cuts[:1] != (0,) or any([step < 0 for step in steps]):
            raise ShapeError(
                f"TiledShape.from_boundaries: the boundaries of mode {mode} start at 0 and do "
                f"not decrease, got {cuts}"
            )
        sizes.append(steps)
    return sizes


def tree_of_tiles(sizes: Sizes) -> Ragged:
    """Return the tiles one by one: a tree of twice as many modes.

    Raises
    ------
    SizeError
        If there are too many, or too many nodes above them.
    """
    counts = [len(mode) for mode in sizes]
    nodes = list(accumulate(counts, operator.mul, initial=1))
    check_nodes(max(nodes), "TiledShape")
    levels = [
        ints(np.repeat(np.int64(count), above)) for count, above in zip(counts, nodes, strict=False)
    ]
    columns = []
    for k, mode in enumerate(sizes):
        below = math.prod(counts[k + 1 :]) if nodes[k] else 0  # else more than there are tiles
        columns.append(ints(np.tile(np.repeat(ints(mode), below), nodes[k])))
    return Ragged.checked(levels, columns, [None] * (2 * len(counts)))


def bounding_of_tiles(sizes: Sizes) -> tuple[int, ...]:
    """Return the largest extent of every mode of that tree; 0 where a mode never occurs."""
    counts = [len(mode) for mode in sizes]
    nodes = list(accumulate(counts, operator.mul, initial=1))
    grid = [count if above else 0 for count, above in zip(counts, nodes, strict=False)]
    return (*grid, *[max(mode) if nodes[-1] else 0 for mode in sizes])


def sizes_text(sizes: tuple[int, ...], limit: int = 12) -> str:
    """Return sizes as `repr` shows them, the middle left out where they are many."""
    if len(sizes) <= limit:
        return str(list(sizes))
    half = limit // 2
    return f"[{', '.join(map(str, sizes[:half]))}, ..., {', '.join(map(str, sizes[-half:]))}]"
