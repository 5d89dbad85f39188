"""Edits of the element type and of the layout, the dimensions staying as they are.

Every edit returns a new spec, and reaches the members of tuples and the arrays in buffers.
"""

from __future__ import annotations

from dataclasses import replace

from .._errors import LayoutError
from ..dtypes.element_types import element_type
from .speclike import S, SpecLike, layout_of, map_leaves, members, rebuild, retuple


def change_element_type(spec: S, to: object) -> S:
    """Return the spec with another element type; packing ends unless that packs too."""
    new = element_type(to)

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
            padded_dimensions=None,
            padding_value=None,
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
