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
from ..index.radix import round_up
from .digits import Tiled
from .spec_fields import SpecFields, check_index, layout_of, require_bounded

#: Most positions that `memory_order` lists; `multi_index` answers for one at a time.
MOST_POSITIONS = 1 << 28


def geometry(spec: SpecFields, operation: str) -> Tiled:
    """Return the digits of an array's positions."""
    spec = require_bounded(spec, operation)
    layout = layout_of(spec)
    return Tiled.of(spec.dimensions, layout.minor_to_major, layout.tile_dims)


class Positions(SpecFields):
    """Where the elements of an array lie: positions by indices, and back."""

    __slots__ = ()

    def physical_dimensions(self) -> tuple[int, ...]:
        """Return the extents after all tiles, the slowest varying first.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("f32[3,5]{1,0:T(2,2)}").physical_dimensions()
        (2, 3, 2, 2)
        """
        return geometry(self, "physical_dimensions").physical_dimensions

    def physical_size(self) -> int:
        """Return the number of positions, all padding included."""
        return count_positions(self, "physical_size")

    def linear_index(self, index: Sequence[int]) -> int:
        """Return the position of an element, for every layout.

        Parameters
        ----------
        index : sequence of int
            One entry per dimension, from 0.

        Returns
        -------
        int
            Distance from the start of the buffer, in elements.

        Raises
        ------
        IndexRangeError
            If the index is out of range or of another length.
        LayoutError
            If the spec is no array, or has a dimension without a bound.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("f32[3,5]{1,0:T(2,2)}").linear_index((2, 3))
        17
        """
        tiled = geometry(self, "linear_index")
        return tiled.linear_index(check_index(index, tiled.dimensions, "linear_index"))

    def multi_index(self, position: int) -> tuple[int, ...] | None:
        """Return the index of the element at a position; None for padding.

        Parameters
        ----------
        position : int
            From 0, in elements; tile padding and tail padding are positions too.

        Raises
        ------
        IndexRangeError
            If the position is not in the buffer.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,5]{1,0:T(2,2)}")
        >>> spec.multi_index(17), spec.multi_index(9)
        ((2, 3), None)
        """
        tiled = geometry(self, "multi_index")
        at = operator.index(position)
        size = count_positions(self, "multi_index")
        if not 0 <= at < size:
            raise IndexRangeError(f"multi_index: position {at} is out of range for {self} ({size})")
        return tiled.multi_index(at) if at < tiled.physical_size else None

    def memory_order(self) -> list[int | None]:
        """Return which element is at each position.

        Returns
        -------
        list of int or None
            For each position the row-major ordinal of its element; None for padding.

        Raises
        ------
        SizeError
            If there are more than 2**28 positions.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("f32[3,2]{1,0:T(2,2)L(10)}").memory_order()
        [0, 1, 2, 3, 4, 5, None, None, None, None]
        """
        size = count_positions(self, "memory_order")
        if size > MOST_POSITIONS:
            raise SizeError(
                f"memory_order: {self} has {size} positions; at most {MOST_POSITIONS} are listed"
            )
        order = geometry(self, "memory_order").memory_order()
        return order + [None] * (size - len(order))


def count_positions(spec: SpecFields, operation: str) -> int:
    """Return the number of positions; `operation` is who asks, for the message of an error."""
    spec = require_bounded(spec, operation)
    return round_up(
        geometry(spec, operation).physical_size, layout_of(spec).tail_padding_alignment_in_elements
    )
