"""Edits of a spec: its dimensions and its layout change together.

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
from .elements import ElementType, element_type
from .layout import Layout
from .speclike import (
    UNBOUNDED,
    S,
    SpecLike,
    check_dimension,
    check_permutation,
    compose,
    inverse,
    layout_of,
    map_leaves,
    members,
    rebuild,
    require_array,
    retuple,
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


def change_element_type(spec: S, to: Any) -> S:
    """Return the spec with another element type; packing ends unless that packs too."""
    new = to if isinstance(to, ElementType) else element_type(to)

    def change(leaf: S) -> S:
        layout = leaf.layout
        if layout is not None and not new.is_sub_byte_non_pred:
            layout = replace(layout, element_size_in_bits=0)
        return rebuild(leaf, element_type=new, layout=layout)

    return map_leaves(spec, change)


def update_element_size_in_bits(spec: S, pack_subbyte_types: bool) -> S:
    """Return the spec with elements narrower than a byte packed, or with none packed."""

    def update(leaf: S) -> S:
        if leaf.layout is None:
            return leaf
        packs = pack_subbyte_types and leaf.element_type.is_sub_byte_non_pred
        bits = leaf.element_type.bits if packs else 0
        return rebuild(leaf, layout=replace(leaf.layout, element_size_in_bits=bits))

    return map_leaves(spec, update)


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


def device_shape_to_host_shape(spec: S) -> S:
    """Return the spec as the host sees it: the order of dimensions and nothing else."""

    def strip(leaf: S) -> S:
        if leaf.layout is None:
            return leaf
        layout = replace(
            leaf.layout,
            tiles=(),
            memory_space=0,
            physical_shape=None,
            element_size_in_bits=0,
            tail_padding_alignment_in_elements=1,
            dynamic_shape_metadata_prefix_bytes=0,
        )
        return rebuild(leaf, layout=layout)

    return map_leaves(spec, strip)


def device_shape_is_host_shape(spec: S) -> bool:
    """Tell whether `device_shape_to_host_shape` would change nothing."""
    if spec.is_tuple:
        return all([device_shape_is_host_shape(s) for s in spec.tuple_shapes])
    host = device_shape_to_host_shape(spec).layout
    if spec.layout is None or host is None:
        return True
    prefix = spec.layout.dynamic_shape_metadata_prefix_bytes
    return spec.layout == host and prefix == 0


def get_with_default_layout(spec: S) -> S:
    """Return the spec with dimensions in default order; the rest of the layout stays."""

    def reset(leaf: S) -> S:
        if not leaf.is_array:
            return leaf
        order = tuple(range(len(leaf.dimensions) - 1, -1, -1))
        return rebuild(leaf, layout=replace(layout_of(leaf), minor_to_major=order))

    return map_leaves(spec, reset)


def clear_layout(spec: S) -> S:
    """Return the spec without layouts."""
    return map_leaves(spec, lambda leaf: rebuild(leaf, layout=None) if leaf.layout else leaf)


def clear_tiles(spec: S) -> S:
    """Return the spec without tiles."""

    def clear(leaf: S) -> S:
        if leaf.layout is None or not leaf.layout.tiles:
            return leaf
        return rebuild(leaf, layout=replace(leaf.layout, tiles=()))

    return map_leaves(spec, clear)


def copy_layout_between_shapes(spec: SpecLike, dst: S) -> S:
    """Return ``dst`` with the layouts of ``spec``."""
    if spec.is_tuple != dst.is_tuple:
        raise LayoutError(f"copy_layout_between_shapes: {spec} and {dst} differ in structure")
    if spec.is_tuple:
        if len(spec.tuple_shapes) != len(dst.tuple_shapes):
            raise LayoutError(
                f"copy_layout_between_shapes: {spec} and {dst} differ in their number of members"
            )
        pairs = zip(members(spec), members(dst), strict=True)
        return retuple(dst, [copy_layout_between_shapes(s, d) for s, d in pairs])
    if spec.is_buffer and dst.is_buffer:
        inner = copy_layout_between_shapes(spec.tuple_shapes[0], dst.tuple_shapes[0])
        return rebuild(dst, tuple_shapes=(inner,))
    if not spec.is_array:
        return dst
    if spec.layout is not None and len(spec.dimensions) != len(dst.dimensions):
        raise LayoutError(
            f"copy_layout_between_shapes: {spec} and {dst} differ in their number of dimensions"
        )
    return rebuild(dst, layout=spec.layout)
