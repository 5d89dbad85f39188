"""Edits of dimensions: those of a spec and its layout change together.

Every edit returns a new spec.  What becomes of the layout is XLA's choice and is said for each:
a permutation keeps all of it, because physical dimensions stay; an edit that adds dimensions
keeps `minor_to_major` alone, because tiles would apply to other dimensions than before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import index
from typing import Any, Self, TypeVar

from .._errors import IndexRangeError, LayoutError
from ..index.radix import compose, inverse
from ..layout import spec_fields as specs
from ..layout.layout import Layout

T = TypeVar("T")


def _extent(bound: int, operation: str) -> int:
    size = index(bound)
    if size < 0:
        raise LayoutError(f"{operation}: extent {size} is negative")
    return size


class Edits(specs.SpecFields):
    """Specs with other dimensions."""

    __slots__ = ()

    def permute_dimensions_ignoring_layout(self, permutation: Iterable[int]) -> Self:
        """Return the spec with its dimensions permuted and the layout as it is.

        Parameters
        ----------
        permutation : iterable of int
            Dimension ``i`` of the result is dimension ``permutation[i]`` here.
        """
        spec = specs.require_array(self, "permute_dimensions_ignoring_layout")
        order = specs.check_permutation(
            permutation, len(spec.dimensions), "permute_dimensions_ignoring_layout"
        )
        return _rebuilt(spec, order, (), spec.layout)

    def permute_dimensions(self, permutation: Iterable[int]) -> Self:
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
        spec = specs.require_array(self, "permute_dimensions")
        order = specs.check_permutation(permutation, len(spec.dimensions), "permute_dimensions")
        minor_to_major = compose(inverse(order), specs.layout_of(spec).minor_to_major)
        layout = _renumbered(spec.layout, order, (), minor_to_major)
        return _rebuilt(spec, order, (), layout)

    reorder_logical_dimensions = permute_dimensions

    def make_shape_with_descending_layout_and_same_physical_layout(self) -> Self:
        """Return the physical dimensions as a spec in default order, over the same bytes.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[10,20]{0,1:T(8,128)}")
        >>> print(spec.make_shape_with_descending_layout_and_same_physical_layout())
        f32[20,10]{1,0:T(8,128)}
        """
        spec = specs.require_array(
            self, "make_shape_with_descending_layout_and_same_physical_layout"
        )
        layout = specs.layout_of(spec)
        found = spec.permute_dimensions(layout.minor_to_major[::-1])
        # XLA copies tiles, element size, tail padding and memory space, and no more.
        dropped: dict[str, Any] = {"split_configs": (), "dynamic_shape_metadata_prefix_bytes": 0}
        return specs.rebuild(found, layout=replace(specs.layout_of(found), **dropped))

    def insert_dimensions_at_index(self, dimension: int, bounds: Sequence[int]) -> Self:
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
        spec = specs.require_array(self, "insert_dimensions_at_index")
        rank = len(spec.dimensions)
        where = index(dimension)
        if not 0 <= where <= rank:
            raise IndexRangeError(
                f"insert_dimensions_at_index: {where} is out of range for {rank} dimensions"
            )
        sizes = tuple([_extent(n, "insert_dimensions_at_index") for n in bounds])
        fresh = list(range(where + len(sizes) - 1, where - 1, -1))
        order: list[int] = fresh if where == rank else []
        for d in specs.layout_of(spec).minor_to_major:
            order = [*order, d + len(sizes) if d >= where else d]
            if d == where:
                order += fresh
        return _resize(spec, where, sizes, order)

    def prepend_major_dimension(self, bound: int) -> Self:
        """Return the spec with a new first dimension, the most major; tiles are dropped.

        Parameters
        ----------
        bound : int
            Extent of the new dimension.
        """
        spec = specs.require_array(self, "prepend_major_dimension")
        size = _extent(bound, "prepend_major_dimension")
        order = [d + 1 for d in specs.layout_of(spec).minor_to_major]
        return _resize(spec, 0, (size,), [*order, 0])

    def append_major_dimension(self, bound: int) -> Self:
        """Return the spec with a new last dimension that is the most major.

        Parameters
        ----------
        bound : int
            Extent of the new dimension.
        """
        spec = specs.require_array(self, "append_major_dimension")
        rank = len(spec.dimensions)
        order = (*specs.layout_of(spec).minor_to_major, rank)
        return _grow(spec, bound, order, "append_major_dimension")

    def append_minor_dimension(self, bound: int) -> Self:
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
        spec = specs.require_array(self, "append_minor_dimension")
        rank = len(spec.dimensions)
        order = (rank, *specs.layout_of(spec).minor_to_major)
        return _grow(spec, bound, order, "append_minor_dimension")

    def delete_dimensions(self, dimensions: Iterable[int]) -> Self:
        """Return the spec without some dimensions; tiles stay as they are.

        Parameters
        ----------
        dimensions : iterable of int
            Dimension numbers from 0.
        """
        spec = specs.require_array(self, "delete_dimensions")
        rank = len(spec.dimensions)
        gone = {specs.check_dimension(d, rank, "delete_dimensions") for d in dimensions}
        kept = [d for d in range(rank) if d not in gone]
        return _rebuilt(spec, kept, (), spec.layout and spec.layout._without(gone))

    def filter_dimensions(self, keep: Callable[[int], bool]) -> Self:
        """Return the spec with some of its dimensions.

        Parameters
        ----------
        keep : callable
            Called with each dimension number; true keeps the dimension.
        """
        spec = specs.require_array(self, "filter_dimensions")
        return spec.delete_dimensions([d for d in range(len(spec.dimensions)) if not keep(d)])

    def drop_degenerate_dimensions(self) -> Self:
        """Return the spec without the dimensions of extent 1.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.parse("f32[1,5,1,7]{1,3,2,0}").drop_degenerate_dimensions())
        f32[5,7]{0,1}
        """
        spec = specs.require_array(self, "drop_degenerate_dimensions")
        return spec.filter_dimensions(lambda d: spec.dimensions[d] != 1)

    def move_dim_to_major(self, dimension: int) -> Self:
        """Return the spec with a dimension made the most major; of a tuple, in each member.

        As in XLA the result has nothing but an order; `Layout.move_dim_to_major` keeps the rest.

        Parameters
        ----------
        dimension : int
            Dimension number from 0.
        """

        def move(leaf: Self) -> Self:
            if not leaf.is_array:
                return leaf
            d = specs.check_dimension(dimension, len(leaf.dimensions), "move_dim_to_major")
            order = [k for k in specs.layout_of(leaf).minor_to_major if k != d]
            return specs.rebuild(leaf, layout=Layout((*order, d)))

        return specs.map_leaves(self, move)

    def make_static_shape(self) -> Self:
        """Return the spec with every dynamic dimension at its bound."""

        def fix(leaf: Self) -> Self:
            if specs.UNBOUNDED in leaf.dimensions:
                raise LayoutError(
                    f"make_static_shape: {leaf} has a dimension without a bound to take for its "
                    "extent"
                )
            layout = leaf.layout
            if layout is not None:
                layout = replace(layout, dynamic_shape_metadata_prefix_bytes=0)
            return specs.rebuild(leaf, dynamic=(False,) * len(leaf.dimensions), layout=layout)

        return specs.map_leaves(self, fix)

    def insert_dimension_at_index(self, dimension: int, bound: int) -> Self:
        """Return the spec with a dimension inserted, next more major to the one it displaces.

        Parameters
        ----------
        dimension : int
            Where it stands in the result; the rank appends it, as the most minor.
        bound : int
            Its extent.
        """
        return self.insert_dimensions_at_index(dimension, (bound,))

    def delete_dimension(self, dimension: int) -> Self:
        """Return the spec without a dimension; tiles stay as they are.

        Parameters
        ----------
        dimension : int
            Dimension number from 0.
        """
        return self.delete_dimensions((dimension,))


def _resize(spec: specs.S, where: int, sizes: tuple[int, ...], order: Iterable[int]) -> specs.S:
    """Return the spec with static dimensions inserted and a plain layout of that order."""
    rank = len(spec.dimensions)
    source = [*range(where), *[None for _ in sizes], *range(where, rank)]
    return _rebuilt(spec, source, sizes, None if spec.layout is None else Layout(tuple(order)))


def _grow(spec: specs.S, bound: int, order: Iterable[int], operation: str) -> specs.S:
    """Return the spec with one more dimension at the end; the rest of the layout stays."""
    source, sizes = [*range(len(spec.dimensions)), None], (_extent(bound, operation),)
    return _rebuilt(spec, source, sizes, _renumbered(spec.layout, source, sizes, order))


def _rebuilt(
    spec: specs.S, source: Sequence[int | None], sizes: Sequence[int], layout: Layout | None
) -> specs.S:
    """Return the spec with old dimensions, and for None new ones of these sizes."""
    return specs.rebuild(
        spec,
        dimensions=_taken(spec.dimensions, source, sizes),
        dynamic=_taken(spec.dynamic, source, [False for _ in sizes]),
        layout=layout,
    )


def _renumbered(
    layout: Layout | None,
    source: Sequence[int | None],
    sizes: Sequence[int],
    order: Iterable[int],
) -> Layout | None:
    """Return the layout of such dimensions: their padding follows them, the rest stays."""
    if layout is None:
        return None
    padded = layout.padded_dimensions
    padded = None if padded is None else _taken(padded, source, sizes)
    return replace(layout, minor_to_major=tuple(order), padded_dimensions=padded)


def _taken(old: Sequence[T], source: Sequence[int | None], new: Sequence[T]) -> tuple[T, ...]:
    """Return old entries by their numbers, and for None the next new one."""
    fresh = iter(new)
    return tuple([next(fresh) if d is None else old[d] for d in source])
