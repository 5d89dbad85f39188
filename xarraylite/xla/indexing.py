"""Positions as XLA's own index functions count them, and walks over indices.

``IndexUtil`` reads `minor_to_major` alone (and ``padded_dimensions``, the older form of padding,
which XLA's refuses); ``LayoutUtil::LinearIndex`` the first tile, and none
at all for one dimension; ``LinearIndexForNestedTiling`` all of them, but no combined dimensions
and no tile longer than the array.  They are here under XLA's names because code that is moved
over relies on their numbers.  The exact position is `positions.linear_index`.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence

from .._errors import IndexRangeError, LayoutError
from ..layout.tile import COMBINE
from .positions import geometry
from .speclike import (
    SpecLike,
    check_dimension,
    check_index,
    layout_of,
    require_array,
    require_bounded,
)


def _room(spec: SpecLike) -> tuple[int, ...]:
    """Return the extents that positions count: ``padded_dimensions``, or the dimensions."""
    return layout_of(spec).padded_dimensions or spec.dimensions


def multidimensional_index_to_linear_index(spec: SpecLike, index: Sequence[int]) -> int:
    """Return the position of ``index`` in the untiled array."""
    spec = require_bounded(spec, "multidimensional_index_to_linear_index")
    at = check_index(index, spec.dimensions, "multidimensional_index_to_linear_index")
    position, scale, room = 0, 1, _room(spec)
    for d in layout_of(spec).minor_to_major:
        position += at[d] * scale
        scale *= room[d]
    return position


def linear_index_to_multidimensional_index(spec: SpecLike, position: int) -> tuple[int, ...]:
    """Return the index at ``position`` of the untiled array; for padding, one outside of it."""
    spec = require_bounded(spec, "linear_index_to_multidimensional_index")
    room = _room(spec)
    rest, size = operator.index(position), math.prod(room)
    if not 0 <= rest < size:
        raise IndexRangeError(
            f"linear_index_to_multidimensional_index: position {rest} is out of range for "
            f"{spec} ({size} elements)"
        )
    index = [0] * len(spec.dimensions)
    for d in layout_of(spec).minor_to_major:
        rest, index[d] = divmod(rest, room[d])
    return tuple(index)


def bump_indices(spec: SpecLike, index: Sequence[int]) -> tuple[int, ...] | None:
    """Return the next index, the last dimension fastest; None after the last."""
    spec = require_bounded(spec, "bump_indices")
    at = check_index(index, spec.dimensions, "bump_indices")
    for d in range(len(at) - 1, -1, -1):
        if at[d] + 1 < spec.dimensions[d]:
            return (*at[:d], at[d] + 1, *[0] * (len(at) - d - 1))
    return None


def get_dimension_stride(spec: SpecLike, dimension: int) -> int:
    """Return the distance of neighbours along a dimension of the untiled array."""
    spec = require_bounded(spec, "get_dimension_stride")
    d = check_dimension(dimension, len(spec.dimensions), "get_dimension_stride")
    order, room = layout_of(spec).minor_to_major, _room(spec)
    return math.prod([room[k] for k in order[: order.index(d)]])


def index_in_bounds(spec: SpecLike, index: Sequence[int]) -> bool:
    """Tell whether there is one entry per dimension, each below the extent."""
    spec = require_bounded(spec, "index_in_bounds")
    return len(index) == len(spec.dimensions) and all(
        [i < extent for i, extent in zip(index, spec.dimensions, strict=True)]
    )


def compare_indices(lhs: Sequence[int], rhs: Sequence[int]) -> int:
    """Return -1, 0 or 1 as ``lhs`` comes before, at or after ``rhs``, the first entry first."""
    if len(lhs) != len(rhs):
        raise LayoutError(
            f"compare_indices: {tuple(lhs)} and {tuple(rhs)} must have as many entries"
        )
    left, right = tuple(lhs), tuple(rhs)
    return (left > right) - (left < right)


def linear_index_first_tile(spec: SpecLike, index: Sequence[int]) -> int:
    """Return the position as ``LayoutUtil::LinearIndex`` counts it."""
    spec = require_bounded(spec, "linear_index_first_tile")
    at = check_index(index, spec.dimensions, "linear_index_first_tile")
    layout = layout_of(spec)
    if len(at) < 2:
        return at[0] if at else 0
    tile = layout.tile_dims[0][::-1] if layout.tile_dims else ()
    if COMBINE in tile:
        raise LayoutError(f"linear_index_first_tile: {spec} combines dimensions, which XLA's lacks")
    position, outside, inside = 0, math.prod(tile), 1
    for k, d in enumerate(layout.minor_to_major):
        if k < len(tile):
            position += at[d] // tile[k] * outside + at[d] % tile[k] * inside
            outside *= -(-spec.dimensions[d] // tile[k])
            inside *= tile[k]
        else:
            position += at[d] * outside
            outside *= spec.dimensions[d]
    return position


def _nested_tiles(spec: SpecLike, operation: str) -> tuple[tuple[int, ...], ...]:
    """Return the tiles XLA's nested functions can follow."""
    spec = require_bounded(spec, operation)
    tiles = layout_of(spec).tile_dims
    room = len(spec.dimensions)
    for tile in tiles:
        if COMBINE in tile or len(tile) > room:
            raise LayoutError(
                f"{operation}: {spec} combines dimensions or has a tile longer than the array, "
                "which XLA's function lacks; linear_index and multi_index are for every layout"
            )
        room += len(tile)
    return tiles


def linear_index_for_nested_tiling(spec: SpecLike, index: Sequence[int]) -> int:
    """Return the position with all tiles; equal to `positions.linear_index` where defined."""
    if spec.is_array and not spec.dimensions:
        return 0
    _nested_tiles(spec, "linear_index_for_nested_tiling")
    at = check_index(index, spec.dimensions, "linear_index_for_nested_tiling")
    return geometry(spec, "linear_index_for_nested_tiling").linear_index(at)


def delinearize_index_for_nested_tiling(spec: SpecLike, position: int) -> tuple[int, ...]:
    """Return the index at ``position``; for padding, one outside of the array."""
    if spec.is_array and not spec.dimensions:
        return ()
    tiles = _nested_tiles(spec, "delinearize_index_for_nested_tiling")
    rest = operator.index(position)
    extents = geometry(spec, "delinearize_index_for_nested_tiling").physical_dimensions
    if not 0 <= rest < math.prod(extents):
        raise IndexRangeError(
            f"delinearize_index_for_nested_tiling: position {rest} is out of range for {spec} "
            f"({math.prod(extents)})"
        )
    index = [0] * len(extents)
    for k in range(len(extents) - 1, -1, -1):
        rest, index[k] = divmod(rest, extents[k])
    for tile in reversed(tiles):
        k = len(tile)
        grid, inside = index[-2 * k : -k], index[-k:]
        whole = [q * t + r for q, t, r in zip(grid, tile, inside, strict=True)]
        index = index[: -2 * k] + whole
    found = [0] * len(index)
    for d, i in zip(reversed(layout_of(spec).minor_to_major), index, strict=True):
        found[d] = i
    return tuple(found)


def for_each_index(
    spec: SpecLike,
    base: Sequence[int] | None = None,
    count: Sequence[int] | None = None,
    incr: Sequence[int] | None = None,
) -> Iterator[tuple[int, ...]]:
    """Return the indices of a window in the order of `minor_to_major`."""
    spec = require_bounded(spec, "for_each_index")
    rank = len(spec.dimensions)
    starts = tuple(base) if base is not None else (0,) * rank
    counts = tuple(count) if count is not None else spec.dimensions
    steps = tuple(incr) if incr is not None else (1,) * rank
    if not len(starts) == len(counts) == len(steps) == rank:
        raise LayoutError(
            f"for_each_index: base {starts}, count {counts} and incr {steps} must have one entry "
            f"per dimension of {spec}"
        )
    if any([n < 0 or (n and step < 1) for step, n in zip(steps, counts, strict=True)]):
        raise LayoutError(
            f"for_each_index: count {counts} must not be negative and incr {steps} must be positive"
        )
    if 0 in spec.dimensions:
        return iter(())
    order = layout_of(spec).minor_to_major[::-1]
    back = [order.index(d) for d in range(rank)]
    # A count of 0 fixes the dimension at its base.
    walks = [
        range(starts[d], starts[d] + counts[d], steps[d]) if counts[d] else (starts[d],)
        for d in order
    ]
    return (tuple([moved[k] for k in back]) for moved in itertools.product(*walks))


def is_untiled_layout(spec: SpecLike) -> bool:
    """Tell, on the safe side, whether the tiles of a spec move nothing."""
    spec = require_array(spec, "is_untiled_layout")
    layout = layout_of(spec)
    return layout.is_untiled_layout([spec.dimensions[d] for d in reversed(layout.minor_to_major)])
