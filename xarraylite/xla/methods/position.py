"""Methods on positions and indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import indexing, positions
from ..speclike import SpecLike


class PositionMethods:
    """Where elements lie."""

    __slots__ = ()

    def linear_index(self: SpecLike, index: Sequence[int]) -> int:
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
        return positions.linear_index(self, index)

    def multi_index(self: SpecLike, position: int) -> tuple[int, ...] | None:
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
        return positions.multi_index(self, position)

    def memory_order(self: SpecLike) -> list[int | None]:
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
        return positions.memory_order(self)

    def physical_dimensions(self: SpecLike) -> tuple[int, ...]:
        """Return the extents after all tiles, the slowest varying first.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("f32[3,5]{1,0:T(2,2)}").physical_dimensions()
        (2, 3, 2, 2)
        """
        return positions.physical_dimensions(self)

    def physical_size(self: SpecLike) -> int:
        """Return the number of positions, all padding included."""
        return positions.physical_size(self)

    def multidimensional_index_to_linear_index(self: SpecLike, index: Sequence[int]) -> int:
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
        return indexing.multidimensional_index_to_linear_index(self, index)

    def linear_index_to_multidimensional_index(self: SpecLike, position: int) -> tuple[int, ...]:
        """Return the index of the element at a position as if there were no tiles.

        Parameters
        ----------
        position : int
            From 0, in elements.
        """
        return indexing.linear_index_to_multidimensional_index(self, position)

    def linear_index_first_tile(self: SpecLike, index: Sequence[int]) -> int:
        """Return the position by the first tile alone: XLA's ``LayoutUtil::LinearIndex``.

        Arrays of one dimension count as untiled.

        Parameters
        ----------
        index : sequence of int
            One entry per dimension, from 0.
        """
        return indexing.linear_index_first_tile(self, index)

    def linear_index_for_nested_tiling(self: SpecLike, index: Sequence[int]) -> int:
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
        return indexing.linear_index_for_nested_tiling(self, index)

    def delinearize_index_for_nested_tiling(self: SpecLike, position: int) -> tuple[int, ...]:
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
        return indexing.delinearize_index_for_nested_tiling(self, position)

    def bump_indices(self: SpecLike, index: Sequence[int]) -> tuple[int, ...] | None:
        """Return the next index in row-major order; None after the last.

        Parameters
        ----------
        index : sequence of int
            One entry per dimension, from 0.
        """
        return indexing.bump_indices(self, index)

    def get_dimension_stride(self: SpecLike, dimension: int) -> int:
        """Return the distance of neighbours along a dimension, in elements, without tiles.

        Parameters
        ----------
        dimension : int
            Dimension number from 0.
        """
        return indexing.get_dimension_stride(self, dimension)

    def index_in_bounds(self: SpecLike, index: Sequence[int]) -> bool:
        """Tell whether an index has one entry per dimension, each below the extent.

        As in XLA, negative entries pass.

        Parameters
        ----------
        index : sequence of int
            Any integers.
        """
        return indexing.index_in_bounds(self, index)

    @staticmethod
    def compare_indices(lhs: Sequence[int], rhs: Sequence[int]) -> int:
        """Return -1, 0 or 1 as an index comes before, at or after another in row-major order.

        Parameters
        ----------
        lhs, rhs : sequence of int
            Indices of the same length.
        """
        return indexing.compare_indices(lhs, rhs)

    def for_each_index(
        self: SpecLike,
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
        return indexing.for_each_index(self, base, count, incr)

    def is_untiled_layout(self: SpecLike) -> bool:
        """Tell, on the safe side, whether the tiles move nothing.

        Returns
        -------
        bool
            True only if every element is where it would be without tiles; False also where an
            extent is no multiple of its tile.
        """
        return indexing.is_untiled_layout(self)
