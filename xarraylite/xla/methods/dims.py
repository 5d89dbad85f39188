"""Methods that edit dimensions, with the layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .. import edit
from ..speclike import S


class DimensionMethods:
    """Specs with other dimensions."""

    __slots__ = ()

    def permute_dimensions(self: S, permutation: Iterable[int]) -> S:
        """Return the spec with its dimensions renamed and every byte where it was.

        Parameters
        ----------
        permutation : iterable of int
            Dimension ``i`` of the result is dimension ``permutation[i]`` here.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.parse("f32[10,20,30]{2,1,0:T(8,128)}").permute_dimensions((1, 2, 0)))
        f32[20,30,10]{1,0,2:T(8,128)}
        """
        return edit.permute_dimensions(self, permutation)

    def reorder_logical_dimensions(self: S, permutation: Iterable[int]) -> S:
        """Return the spec with its dimensions renamed: XLA's second name of the same thing.

        Parameters
        ----------
        permutation : iterable of int
            Dimension ``i`` of the result is dimension ``permutation[i]`` here.
        """
        return edit.permute_dimensions(self, permutation)

    def permute_dimensions_ignoring_layout(self: S, permutation: Iterable[int]) -> S:
        """Return the spec with its dimensions permuted and the layout as it is.

        Parameters
        ----------
        permutation : iterable of int
            Dimension ``i`` of the result is dimension ``permutation[i]`` here.
        """
        return edit.permute_dimensions_ignoring_layout(self, permutation)

    def make_shape_with_descending_layout_and_same_physical_layout(self: S) -> S:
        """Return the physical dimensions as a spec in default order, over the same bytes.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[10,20]{0,1:T(8,128)}")
        >>> print(spec.make_shape_with_descending_layout_and_same_physical_layout())
        f32[20,10]{1,0:T(8,128)}
        """
        return edit.make_shape_with_descending_layout_and_same_physical_layout(self)

    def prepend_major_dimension(self: S, bound: int) -> S:
        """Return the spec with a new first dimension, the most major; tiles are dropped.

        Parameters
        ----------
        bound : int
            Extent of the new dimension.
        """
        return edit.prepend_major_dimension(self, bound)

    def append_major_dimension(self: S, bound: int) -> S:
        """Return the spec with a new last dimension that is the most major.

        Parameters
        ----------
        bound : int
            Extent of the new dimension.
        """
        return edit.append_major_dimension(self, bound)

    def append_minor_dimension(self: S, bound: int) -> S:
        """Return the spec with a new last dimension that is the most minor.

        Parameters
        ----------
        bound : int
            Extent of the new dimension.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.parse("f32[10,20,30]{0,2,1}").append_minor_dimension(40))
        f32[10,20,30,40]{3,0,2,1}
        """
        return edit.append_minor_dimension(self, bound)

    def insert_dimension_at_index(self: S, dimension: int, bound: int) -> S:
        """Return the spec with a dimension inserted, next more major to the one it displaces.

        Parameters
        ----------
        dimension : int
            Where it stands in the result; the rank appends it, as the most minor.
        bound : int
            Its extent.
        """
        return edit.insert_dimensions_at_index(self, dimension, (bound,))

    def insert_dimensions_at_index(self: S, dimension: int, bounds: Sequence[int]) -> S:
        """Return the spec with dimensions inserted; tiles are dropped.

        Parameters
        ----------
        dimension : int
            Where the first of them stands in the result.
        bounds : sequence of int
            Their extents.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[10,20,30]{0,2,1}")
        >>> print(spec.insert_dimensions_at_index(1, (40, 50)))
        f32[10,40,50,20,30]{0,4,3,2,1}
        """
        return edit.insert_dimensions_at_index(self, dimension, bounds)

    def delete_dimension(self: S, dimension: int) -> S:
        """Return the spec without a dimension; tiles stay as they are.

        Parameters
        ----------
        dimension : int
            Dimension number from 0.
        """
        return edit.delete_dimensions(self, (dimension,))

    def delete_dimensions(self: S, dimensions: Iterable[int]) -> S:
        """Return the spec without some dimensions; tiles stay as they are.

        Parameters
        ----------
        dimensions : iterable of int
            Dimension numbers from 0.
        """
        return edit.delete_dimensions(self, dimensions)

    def filter_dimensions(self: S, keep: Callable[[int], bool]) -> S:
        """Return the spec with some of its dimensions.

        Parameters
        ----------
        keep : callable
            Called with each dimension number; true keeps the dimension.
        """
        return edit.filter_dimensions(self, keep)

    def drop_degenerate_dimensions(self: S) -> S:
        """Return the spec without the dimensions of extent 1.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.parse("f32[1,5,1,7]{1,3,2,0}").drop_degenerate_dimensions())
        f32[5,7]{0,1}
        """
        return edit.drop_degenerate_dimensions(self)

    def move_dim_to_major(self: S, dimension: int) -> S:
        """Return the spec with a dimension made the most major; of a tuple, in each member.

        As in XLA the result has nothing but an order; `Layout.move_dim_to_major` keeps the rest.

        Parameters
        ----------
        dimension : int
            Dimension number from 0.
        """
        return edit.move_dim_to_major(self, dimension)

    def make_static_shape(self: S) -> S:
        """Return the spec with every dynamic dimension at its bound."""
        return edit.make_static_shape(self)
