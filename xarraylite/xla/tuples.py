"""Trees of specs: the members of nested tuples, addressed by paths.

A path (XLA's ``ShapeIndex``) is a tuple of member numbers from the root; ``()`` is the spec
itself.  Walks go from a tuple to its members, the first member first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._errors import IndexRangeError, LayoutError
from ..layout.layout import Layout
from .speclike import S, SpecLike, layout_of, members, rebuild, require_array, retuple

Path = tuple[int, ...]


def for_each_subshape(spec: S, path: Path = ()) -> Iterator[tuple[Path, S]]:
    """Return every spec of the tree with its path."""
    yield path, spec
    for number, member in enumerate(members(spec)):
        yield from for_each_subshape(member, (*path, number))


def get_leaf_shapes(spec: S) -> list[tuple[Path, S]]:
    """Return the members that are no tuples, with their paths."""
    return [(path, sub) for path, sub in for_each_subshape(spec) if not sub.is_tuple]


def index_is_valid(spec: SpecLike, path: Sequence[int]) -> bool:
    """Tell whether a path leads to a member."""
    for number in path:
        inner = members(spec)
        if not 0 <= number < len(inner):
            return False
        spec = inner[number]
    return True


def get_subshape(spec: S, path: Sequence[int]) -> S:
    """Return the member at a path."""
    if not index_is_valid(spec, path):
        raise IndexRangeError(f"get_subshape: path {tuple(path)} leads to no member of {spec}")
    for number in path:
        spec = members(spec)[number]
    return spec


def slice_tuple(spec: S, start: int, limit: int) -> S:
    """Return the tuple of the members ``start`` to ``limit - 1``."""
    require_tuple(spec, "slice_tuple")
    count = len(spec.tuple_shapes)
    if not 0 <= start <= limit <= count:
        raise IndexRangeError(f"slice_tuple: {start} to {limit} is no part of {count} members")
    return retuple(spec, members(spec)[start:limit])


def get_tuple_element_shape(spec: S, number: int) -> S:
    """Return a member of a tuple."""
    require_tuple(spec, "get_tuple_element_shape")
    return get_subshape(spec, (number,))


def tuple_element_count(spec: SpecLike) -> int:
    """Return the number of members."""
    require_tuple(spec, "tuple_element_count")
    return len(spec.tuple_shapes)


def require_tuple(spec: SpecLike, operation: str) -> None:
    """Refuse what is no tuple."""
    if not spec.is_tuple:
        raise LayoutError(f"{operation}: {spec} is not a tuple; the operation is for tuples")


def has_layout(spec: SpecLike) -> bool:
    """Tell whether every array has a layout."""
    if spec.is_tuple or spec.is_buffer:
        return all([has_layout(s) for s in spec.tuple_shapes])
    return not spec.is_array or spec.layout is not None


def has_any_layout(spec: SpecLike) -> bool:
    """Tell whether some array has a layout, or there is something that needs none."""
    if spec.is_tuple or spec.is_buffer:
        return any([has_any_layout(s) for s in spec.tuple_shapes])
    return not spec.is_array or spec.layout is not None


def has_custom_element_size_in_bits(spec: SpecLike) -> bool:
    """Tell whether some layout sets the element size."""
    if spec.is_tuple or spec.is_buffer:
        return any([has_custom_element_size_in_bits(s) for s in spec.tuple_shapes])
    return spec.layout is not None and spec.layout.element_size_in_bits != 0


def has_primitive_type(spec: SpecLike, name: str) -> bool:
    """Tell whether some spec of the tree has an element type."""
    return any([sub.element_type.name == name for _, sub in for_each_subshape(spec)])


def validate_layout_in_shape(spec: SpecLike, allow_missing_layouts: bool) -> None:
    """Refuse layouts that do not fit their arrays, and arrays without one."""
    for path, leaf in get_leaf_shapes(spec):
        if leaf.is_buffer:
            leaf = leaf.tuple_shapes[0]
        if leaf.layout is not None:
            leaf.layout.validate(leaf.dimensions)
        elif leaf.is_array and not allow_missing_layouts:
            where = f" at {path}" if path else ""
            raise LayoutError(f"validate_layout_in_shape: {leaf}{where} does not have a layout")


def validate_shape(spec: SpecLike, allow_missing_layouts: bool) -> None:
    """Refuse what constructors refuse, and arrays without a layout."""
    for _, leaf in get_leaf_shapes(spec):
        rebuild(leaf)
        for inner in leaf.tuple_shapes:
            rebuild(inner)
    validate_layout_in_shape(spec, allow_missing_layouts)


def validate_layout_for_shape(spec: SpecLike, layout: Layout) -> None:
    """Refuse a layout that does not fit the spec."""
    if spec.is_tuple:
        raise LayoutError(f"validate_layout_for_shape: one layout does not fit the tuple {spec}")
    if spec.is_array or spec.is_buffer:
        array = require_array(spec, "validate_layout_for_shape")
        layout.validate(array.dimensions)


def packed_factor_for_1d_interleaved_array(spec: SpecLike) -> int:
    """Return how many rows of a one-dimensional interleaved array share a word."""
    spec = require_array(spec, "packed_factor_for_1d_interleaved_array")
    tiles = layout_of(spec).tile_dims
    if len(spec.dimensions) == 1 and len(tiles) == 3 and len(tiles[2]) == 2:
        return tiles[2][0]
    raise LayoutError(
        f"packed_factor_for_1d_interleaved_array: {spec} is not interleaved; one dimension and "
        "three tiles, the last of two sizes, would be"
    )


def is_effectively_most_major_dimension(spec: SpecLike, dimension: int) -> bool:
    """Tell whether only extents of 1 are more major than a dimension."""
    spec = require_array(spec, "is_effectively_most_major_dimension")
    for d in reversed(layout_of(spec).minor_to_major):
        if d == dimension:
            return True
        if spec.dimensions[d] != 1:
            return False
    return False
