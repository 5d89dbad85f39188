"""Where each element of a spec lies: exactly, and as XLA's own index functions count.

The exact positions are those of every layout there is: all tiles count, tile padding and tail
padding are positions too, and a spec of old messages with ``padded_dimensions`` is one tiled by its
padded extents.  Positions are in elements of the layout's element size.

The functions named after XLA's look at part of the layout, and are here because code that is moved
over relies on their numbers.  ``IndexUtil`` reads `minor_to_major` alone (and
``padded_dimensions``, the older form of padding, which XLA's refuses); ``LayoutUtil::LinearIndex``
the first tile, and none at all for one dimension; ``LinearIndexForNestedTiling`` all of them, but
no combined dimensions and no tile longer than the array.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence

from .._errors import IndexRangeError, LayoutError, SizeError
from ..index.radix import (
    compose,
    contiguous_strides,
    inverse,
    ravel_multi_index,
    round_up,
    unravel_index,
)
from . import spec_fields as specs
from .digits import Tiled
from .fields import COMBINE

#: Most positions that `memory_order` lists; `multi_index` answers for one at a time.
MOST_POSITIONS = 1 << 28


def geometry(spec: specs.SpecFields, operation: str) -> Tiled:
    """Return the digits of an array's positions."""
    spec = specs.require_bounded(spec, operation)
    layout = specs.layout_of(spec)
    return Tiled.of(spec.dimensions, layout.minor_to_major, layout.tile_dims)


class Positions(specs.SpecFields):
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
        return tiled.linear_index(specs.check_index(index, tiled.dimensions, "linear_index"))

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
        at = _checked(position, count_positions(self, "multi_index"), self, "multi_index")
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

    # --- as XLA's own index functions count them -----------------------------------------------

    def multidimensional_index_to_linear_index(self, index: Sequence[int]) -> int:
        """Return the position of an element as if there were no tiles.

        Parameters
        ----------
        index : sequence of int
            One entry per dimension, from 0.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,5]{1,0:T(2,2)}")
        >>> spec.multidimensional_index_to_linear_index((2, 3))
        13
        """
        spec = specs.require_bounded(self, "multidimensional_index_to_linear_index")
        at = specs.check_index(index, spec.dimensions, "multidimensional_index_to_linear_index")
        order = specs.layout_of(spec).minor_to_major[::-1]
        return int(ravel_multi_index(compose(at, order), compose(_room(spec), order)))

    def linear_index_to_multidimensional_index(self, position: int) -> tuple[int, ...]:
        """Return the index of the element at a position as if there were no tiles.

        Parameters
        ----------
        position : int
            From 0, in elements; in padding the index is outside of the array.
        """
        spec = specs.require_bounded(self, "linear_index_to_multidimensional_index")
        room = _room(spec)
        rest = _checked(position, math.prod(room), spec, "linear_index_to_multidimensional_index")
        order = specs.layout_of(spec).minor_to_major[::-1]
        return compose(unravel_index(rest, compose(room, order)), inverse(order))

    def bump_indices(self, index: Sequence[int]) -> tuple[int, ...] | None:
        """Return the next index in row-major order; None after the last.

        Parameters
        ----------
        index : sequence of int
            One entry per dimension, from 0.
        """
        spec = specs.require_bounded(self, "bump_indices")
        at = specs.check_index(index, spec.dimensions, "bump_indices")
        following = int(ravel_multi_index(at, spec.dimensions)) + 1
        last = following == math.prod(spec.dimensions)
        return None if last else unravel_index(following, spec.dimensions)

    def get_dimension_stride(self, dimension: int) -> int:
        """Return the distance of neighbours along a dimension, in elements, without tiles.

        Parameters
        ----------
        dimension : int
            Dimension number from 0.
        """
        spec = specs.require_bounded(self, "get_dimension_stride")
        d = specs.check_dimension(dimension, len(spec.dimensions), "get_dimension_stride")
        return contiguous_strides(_room(spec), specs.layout_of(spec).minor_to_major)[d]

    def index_in_bounds(self, index: Sequence[int]) -> bool:
        """Tell whether an index has one entry per dimension, each below the extent.

        As in XLA, negative entries pass.

        Parameters
        ----------
        index : sequence of int
            Any integers.
        """
        spec = specs.require_bounded(self, "index_in_bounds")
        return len(index) == len(spec.dimensions) and all(
            [i < extent for i, extent in zip(index, spec.dimensions, strict=True)]
        )

    @staticmethod
    def compare_indices(lhs: Sequence[int], rhs: Sequence[int]) -> int:
        """Return -1, 0 or 1 as an index comes before, at or after another in row-major order.

        Parameters
        ----------
        lhs, rhs : sequence of int
            Indices of the same length.
        """
        if len(lhs) != len(rhs):
            raise LayoutError(
                f"compare_indices: {tuple(lhs)} and {tuple(rhs)} must have as many entries"
            )
        left, right = tuple(lhs), tuple(rhs)
        return (left > right) - (left < right)

    def linear_index_first_tile(self, index: Sequence[int]) -> int:
        """Return the position by the first tile alone: XLA's ``LayoutUtil::LinearIndex``.

        Arrays of one dimension count as untiled.

        Parameters
        ----------
        index : sequence of int
            One entry per dimension, from 0.
        """
        spec = specs.require_bounded(self, "linear_index_first_tile")
        at = specs.check_index(index, spec.dimensions, "linear_index_first_tile")
        layout = specs.layout_of(spec)
        if len(at) < 2:
            return at[0] if at else 0
        tiles = layout.tile_dims[:1]
        if tiles and COMBINE in tiles[0]:
            raise LayoutError(
                f"linear_index_first_tile: {spec} combines dimensions, which XLA's lacks"
            )
        return Tiled.of(spec.dimensions, layout.minor_to_major, tiles).linear_index(at)

    def linear_index_for_nested_tiling(self, index: Sequence[int]) -> int:
        """Return the position with all tiles, where XLA has it.

        Parameters
        ----------
        index : sequence of int
            One entry per dimension, from 0.

        Raises
        ------
        LayoutError
            If tiles combine dimensions or are longer than the array, which `linear_index` allows.
        """
        spec = specs.require_array(self, "linear_index_for_nested_tiling")
        if not spec.dimensions:
            return 0
        tiled = _nested(spec, "linear_index_for_nested_tiling")
        at = specs.check_index(index, spec.dimensions, "linear_index_for_nested_tiling")
        return tiled.linear_index(at)

    def delinearize_index_for_nested_tiling(self, position: int) -> tuple[int, ...]:
        """Return the index at a position with all tiles, where XLA has it.

        Parameters
        ----------
        position : int
            From 0, in elements, tile padding included.

        Returns
        -------
        tuple of int
            For padding an index outside of the array; `multi_index` returns None there.
        """
        spec = specs.require_array(self, "delinearize_index_for_nested_tiling")
        if not spec.dimensions:
            return ()
        operation = "delinearize_index_for_nested_tiling"
        tiled = _nested(spec, operation)
        rest = _checked(position, tiled.physical_size, spec, operation)
        index: Sequence[int] = unravel_index(rest, tiled.physical_dimensions)
        for level in reversed(tiled.levels):
            index = level.whole(index)
        return compose(index, inverse(specs.layout_of(spec).minor_to_major[::-1]))

    def for_each_index(
        self,
        base: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        incr: Sequence[int] | None = None,
    ) -> Iterator[tuple[int, ...]]:
        """Return the indices of a window, those of the most minor dimension fastest.

        Parameters
        ----------
        base : sequence of int, default all 0
            First index.
        count : sequence of int, default the dimensions
            Extents of the window; 0 keeps a dimension at its base.
        incr : sequence of int, default all 1
            Steps.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[4,2]{0,1}")
        >>> list(spec.for_each_index(incr=(2, 1)))
        [(0, 0), (2, 0), (0, 1), (2, 1)]
        """
        spec = specs.require_bounded(self, "for_each_index")
        rank = len(spec.dimensions)
        starts = tuple(base) if base is not None else (0,) * rank
        counts = tuple(count) if count is not None else spec.dimensions
        steps = tuple(incr) if incr is not None else (1,) * rank
        if not len(starts) == len(counts) == len(steps) == rank:
            raise LayoutError(
                f"for_each_index: base {starts}, count {counts} and incr {steps} must have one "
                f"entry per dimension of {spec}"
            )
        if any([n < 0 or (n and step < 1) for step, n in zip(steps, counts, strict=True)]):
            raise LayoutError(
                f"for_each_index: count {counts} must not be negative and incr {steps} must be "
                "positive"
            )
        if 0 in spec.dimensions:
            return iter(())
        order = specs.layout_of(spec).minor_to_major[::-1]
        back = inverse(order)
        # A count of 0 fixes the dimension at its base.
        walks = [
            range(starts[d], starts[d] + counts[d], steps[d]) if counts[d] else (starts[d],)
            for d in order
        ]
        return (compose(moved, back) for moved in itertools.product(*walks))

    def is_untiled_layout(self) -> bool:
        """Tell, on the safe side, whether the tiles move nothing.

        Returns
        -------
        bool
            True only if every element is where it would be without tiles; False also where an
            extent is no multiple of its tile.
        """
        spec = specs.require_array(self, "is_untiled_layout")
        layout = specs.layout_of(spec)
        return layout.is_untiled_layout(compose(spec.dimensions, layout.minor_to_major[::-1]))


def count_positions(spec: specs.SpecFields, operation: str) -> int:
    """Return the number of positions; `operation` is who asks, for the message of an error."""
    spec = specs.require_bounded(spec, operation)
    return round_up(
        geometry(spec, operation).physical_size,
        specs.layout_of(spec).tail_padding_alignment_in_elements,
    )


def _checked(position: int, size: int, spec: specs.SpecFields, operation: str) -> int:
    """Return a position as a plain integer, one of so many."""
    at = operator.index(position)
    if not 0 <= at < size:
        room = f"{spec} ({size} elements)"
        raise IndexRangeError(f"{operation}: position {at} is out of range for {room}")
    return at


def _room(spec: specs.SpecFields) -> tuple[int, ...]:
    """Return the extents that positions count: ``padded_dimensions``, or the dimensions."""
    return specs.layout_of(spec).padded_dimensions or spec.dimensions


def _nested(spec: specs.SpecFields, operation: str) -> Tiled:
    """Return the digits of an array whose tiles XLA's nested functions can follow."""
    tiled = geometry(spec, operation)
    if any([level.extra or len(level.merged) != len(level.before) for level in tiled.levels]):
        raise LayoutError(
            f"{operation}: {spec} combines dimensions or has a tile longer than the array, "
            "which XLA's function lacks; linear_index and multi_index are for every layout"
        )
    return tiled
