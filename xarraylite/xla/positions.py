"""Exact positions: where each element of a spec lies, for every layout there is.

All tiles count, tile padding and tail padding are positions too, and a spec of old messages with
``padded_dimensions`` is one tiled by its padded extents.  Positions are in elements of the
layout's element size.  The functions named after XLA's own, which look at part of the layout,
are in `indexing`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from .._errors import IndexRangeError, SizeError
from ..layout.digits import Tiled
from .speclike import SpecLike, check_index, layout_of, require_bounded

#: Most positions that `memory_order` lists; `multi_index` answers for one at a time.
MOST_POSITIONS = 1 << 28


def geometry(spec: SpecLike, operation: str) -> Tiled:
    """Return the digits of an array's positions."""
    spec = require_bounded(spec, operation)
    layout = layout_of(spec)
    return Tiled.of(spec.dimensions, layout.minor_to_major, layout.tile_dims)


def physical_dimensions(spec: SpecLike) -> tuple[int, ...]:
    """Return the extents after all tiles, major to minor."""
    return geometry(spec, "physical_dimensions").physical_dimensions


def physical_size(spec: SpecLike, operation: str = "physical_size") -> int:
    """Return the number of positions, all padding included."""
    spec = require_bounded(spec, operation)
    return round_up(
        geometry(spec, operation).physical_size, layout_of(spec).tail_padding_alignment_in_elements
    )


def linear_index(spec: SpecLike, index: Sequence[int]) -> int:
    """Return the position of the element at ``index``."""
    tiled = geometry(spec, "linear_index")
    return tiled.linear_index(check_index(index, tiled.dimensions, "linear_index"))


def multi_index(spec: SpecLike, position: int) -> tuple[int, ...] | None:
    """Return the index of the element at ``position``; None for padding."""
    tiled = geometry(spec, "multi_index")
    at = operator.index(position)
    size = physical_size(spec, "multi_index")
    if not 0 <= at < size:
        raise IndexRangeError(f"multi_index: position {at} is out of range for {spec} ({size})")
    return tiled.multi_index(at) if at < tiled.physical_size else None


def memory_order(spec: SpecLike) -> list[int | None]:
    """Return the row-major ordinal of the element at each position; None for padding."""
    size = physical_size(spec, "memory_order")
    if size > MOST_POSITIONS:
        raise SizeError(
            f"memory_order: {spec} has {size} positions; at most {MOST_POSITIONS} are listed"
        )
    order = geometry(spec, "memory_order").memory_order()
    return order + [None] * (size - len(order))


def round_up(value: int, multiple: int) -> int:
    """Return the least multiple that is not below ``value``."""
    return -(-value // multiple) * multiple
