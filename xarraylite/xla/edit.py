"""Edits of dimensions: those of a spec and its layout change together.

Every edit returns a new spec.  What becomes of the layout is XLA's choice and is said for each:
a permutation keeps all of it, because physical dimensions stay; an edit that adds dimensions
keeps `minor_to_major` alone, because tiles would apply to other dimensions than before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import index
from typing import Any

from .._errors import IndexRangeError, LayoutError
from ..layout.layout import Layout
from .speclike import (
    UNBOUNDED,
    S,
    check_dimension,
    check_permutation,
    compose,
    inverse,
    layout_of,
    map_leaves,
    rebuild,
    require_array,
)


def _extent(bound: int, operation: str) -> int:
    size = index(bound)
    if size < 0:
        raise LayoutError(f"{operation}: extent {size} is negative")
    return size


def permute_dimensions_ignoring_layout(spec: S, permutation: Iterable[int]) -> S:
    """Return the spec with dimension ``permutation[i]`` at ``i`` and the layout as it is."""
    spec = require_array(spec, "permute_dimensions_ignoring_layout")
    order = check_permutation(
        permutation, len(spec.dimensions), "permute_dimensions_ignoring_layout"
    )
    return rebuild(
        spec, dimensions=compose(spec.dimensions, order), dynamic=compose(spec.dynamic, order)
    )


def permute_dimensions(spec: S, permutation: Iterable[int]) -> S:
    """Return the spec with dimension ``permutation[i]`` at ``i`` and the same physical layout."""
    spec = require_array(spec, "permute_dimensions")
    order = check_permutation(permutation, len(spec.dimensions), "permute_dimensions")
    layout = spec.layout
    if layout is not None:
        padded = layout.padded_dimensions
        layout = replace(
            layout,
            minor_to_major=compose(inverse(order), layout.minor_to_major),
            padded_dimensions=compose(padded, order) if padded else padded,
        )
    return rebuild(
        spec,
        dimensions=compose(spec.dimensions, order),
        dynamic=compose(spec.dynamic, order),
        layout=layout,
    )


def make_shape_with_descending_layout_and_same_physical_layout(spec: S) -> S:
    """Return the physical dimensions, before tiles, as a spec in default order."""
    spec = require_array(spec, "make_shape_with_descending_layout_and_same_physical_layout")
    layout = layout_of(spec)
    found = permute_dimensions(spec, layout.minor_to_major[::-1])
    if layout.split_configs or layout.dynamic_shape_metadata_prefix_bytes:
        # XLA copies tiles, element size, tail padding and memory space, and no more.
        made = replace(layout_of(found), split_configs=(), dynamic_shape_metadata_prefix_bytes=0)
        return rebuild(found, layout=made)
    return found if found.layout is not None else rebuild(found, layout=layout_of(found))


def insert_dimensions_at_index(spec: S, at: int, bounds: Sequence[int]) -> S:
    """Return the spec with dimensions put before dimension ``at``, next more major to it."""
    spec = require_array(spec, "insert_dimensions_at_index")
    rank = len(spec.dimensions)
    where = index(at)
    if not 0 <= where <= rank:
        raise IndexRangeError(
            f"insert_dimensions_at_index: {where} is out of range for {rank} dimensions"
        )
    sizes = tuple([_extent(n, "insert_dimensions_at_index") for n in bounds])
    fresh = list(range(where + len(sizes) - 1, where - 1, -1))
    order: list[int] = fresh if where == rank else []
    for d in layout_of(spec).minor_to_major:
        order = [*order, d + len(sizes) if d >= where else d]
        if d == where:
            order += fresh
    return _resize(spec, where, sizes, order)


def _resize(spec: S, where: int, sizes: tuple[int, ...], order: Iterable[int]) -> S:
    """Return the spec with static dimensions inserted and a plain layout of that order."""
    dimensions, dynamic = spec.dimensions, spec.dynamic
    return rebuild(
        spec,
        dimensions=dimensions[:where] + sizes + dimensions[where:],
        dynamic=dynamic[:where] + (False,) * len(sizes) + dynamic[where:],
        layout=Layout(tuple(order)) if spec.layout is not None else None,
    )


def _grow(spec: S, where: int, bound: int, order: Iterable[int], operation: str) -> S:
    """Return the spec with one more dimension; the rest of the layout stays."""
    size = _extent(bound, operation)
    layout = spec.layout
    if layout is not None:
        padded = layout.padded_dimensions
        layout = replace(
            layout,
            minor_to_major=tuple(order),
            padded_dimensions=(*padded[:where], size, *padded[where:]) if padded else padded,
        )
    return rebuild(
        spec,
        dimensions=(*spec.dimensions[:where], size, *spec.dimensions[where:]),
        dynamic=(*spec.dynamic[:where], False, *spec.dynamic[where:]),
        layout=layout,
    )


def prepend_major_dimension(spec: S, bound: int) -> S:
    """Return the spec with a new dimension 0 that is the most major; tiles are dropped."""
    spec = require_array(spec, "prepend_major_dimension")
    size = _extent(bound, "prepend_major_dimension")
    order = [d + 1 for d in layout_of(spec).minor_to_major]
    return _resize(spec, 0, (size,), [*order, 0])


def append_major_dimension(spec: S, bound: int) -> S:
    """Return the spec with a new last dimension that is the most major; tiles stay."""
    spec = require_array(spec, "append_major_dimension")
    rank = len(spec.dimensions)
    order = (*layout_of(spec).minor_to_major, rank)
    return _grow(spec, rank, bound, order, "append_major_dimension")


def append_minor_dimension(spec: S, bound: int) -> S:
    """Return the spec with a new last dimension that is the most minor; tiles stay."""
    spec = require_array(spec, "append_minor_dimension")
    rank = len(spec.dimensions)
    order = (rank, *layout_of(spec).minor_to_major)
    return _grow(spec, rank, bound, order, "append_minor_dimension")


def delete_dimensions(spec: S, dimensions: Iterable[int]) -> S:
    """Return the spec without some dimensions; the rest of the layout stays."""
    spec = require_array(spec, "delete_dimensions")
    rank = len(spec.dimensions)
    gone = {check_dimension(d, rank, "delete_dimensions") for d in dimensions}
    kept = [d for d in range(rank) if d not in gone]
    number = {d: k for k, d in enumerate(kept)}
    layout = spec.layout
    if layout is not None:
        padded = layout.padded_dimensions
        layout = replace(
            layout,
            minor_to_major=tuple([number[d] for d in layout.minor_to_major if d in number]),
            padded_dimensions=tuple([padded[d] for d in kept]) if padded else padded,
            split_configs=_kept_splits(layout, gone),
        )
    return rebuild(
        spec,
        dimensions=tuple([spec.dimensions[d] for d in kept]),
        dynamic=tuple([spec.dynamic[d] for d in kept]),
        layout=layout,
    )


def _kept_splits(layout: Layout, gone: set[int]) -> tuple[Any, ...]:
    """Return the split configs of dimensions that stay, by their new physical numbers."""
    major_to_minor = layout.minor_to_major[::-1]
    lost = [p for p, d in enumerate(major_to_minor) if d in gone]
    return tuple(
        [
            replace(c, dimension=c.dimension - sum([p < c.dimension for p in lost]))
            for c in layout.split_configs
            if c.dimension not in lost
        ]
    )


def filter_dimensions(spec: S, keep: Callable[[int], bool]) -> S:
    """Return the spec with the dimensions for which ``keep`` is true."""
    spec = require_array(spec, "filter_dimensions")
    return delete_dimensions(spec, [d for d in range(len(spec.dimensions)) if not keep(d)])


def drop_degenerate_dimensions(spec: S) -> S:
    """Return the spec without dimensions of extent 1."""
    return filter_dimensions(spec, lambda d: spec.dimensions[d] != 1)


def move_dim_to_major(spec: S, dimension: int) -> S:
    """Return the spec with a dimension made the most major; a plain layout, as in XLA."""

    def move(leaf: S) -> S:
        if not leaf.is_array:
            return leaf
        d = check_dimension(dimension, len(leaf.dimensions), "move_dim_to_major")
        order = [k for k in layout_of(leaf).minor_to_major if k != d]
        return rebuild(leaf, layout=Layout((*order, d)))

    return map_leaves(spec, move)


def make_static_shape(spec: S) -> S:
    """Return the spec with every bound taken for the extent."""

    def fix(leaf: S) -> S:
        if UNBOUNDED in leaf.dimensions:
            raise LayoutError(
                f"make_static_shape: {leaf} has a dimension without a bound to take for its extent"
            )
        layout = leaf.layout
        if layout is not None:
            layout = replace(layout, dynamic_shape_metadata_prefix_bytes=0)
        return rebuild(leaf, dynamic=(False,) * len(leaf.dimensions), layout=layout)

    return map_leaves(spec, fix)
