"""Equality of specs, whole or but for chosen parts, through tuples.

XLA compares two shapes with a configurable functor; *compatible* shapes are those that are equal
but for layouts and dynamic flags, so that a value of one can stand where the other is expected
after a copy.  The bytes in front of a dynamic array are never compared.
"""

from __future__ import annotations

from .._records import record
from .speclike import UNBOUNDED, SpecLike, members


@record(frozen=True, slots=True)
class Ignoring:
    """What a comparison leaves out.

    Attributes
    ----------
    layout, element_type, fp_precision, dimensions, dynamic_dimension, buffer : bool
        Parts of the spec: all of the layout; the element type; which floating-point type it is;
        the extents, but not their number; which dimensions are dynamic (and one without a bound
        equals any); whether an array is wrapped in a buffer.
    tiles, element_size, memory_space, tail_padding_alignment_in_elements, split_configs : bool
        Parts of the layout.
    minor_to_major_only : bool
        All of the layout but the order of the dimensions.
    """

    layout: bool = False
    element_type: bool = False
    fp_precision: bool = False
    dimensions: bool = False
    dynamic_dimension: bool = False
    buffer: bool = False
    tiles: bool = False
    element_size: bool = False
    memory_space: bool = False
    tail_padding_alignment_in_elements: bool = False
    split_configs: bool = False
    minor_to_major_only: bool = False


def equal(lhs: SpecLike, rhs: SpecLike, ignoring: Ignoring) -> bool:
    """Tell whether two specs are equal but for what is left out."""
    if lhs.is_tuple or rhs.is_tuple:
        return lhs.is_tuple and rhs.is_tuple and _members_equal(lhs, rhs, ignoring)
    if not ignoring.buffer and lhs.is_buffer != rhs.is_buffer:
        return False
    lhs = lhs.tuple_shapes[0] if lhs.is_buffer else lhs
    rhs = rhs.tuple_shapes[0] if rhs.is_buffer else rhs
    if not (lhs.is_array and rhs.is_array):
        return lhs.element_type.name == rhs.element_type.name
    return (
        _same_elements(lhs, rhs, ignoring)
        and _same_extents(lhs, rhs, ignoring)
        and (ignoring.layout or _same_layout(lhs, rhs, ignoring))
        and (ignoring.dynamic_dimension or lhs.dynamic == rhs.dynamic)
    )


def _members_equal(lhs: SpecLike, rhs: SpecLike, ignoring: Ignoring) -> bool:
    left, right = lhs.tuple_shapes, rhs.tuple_shapes
    return len(left) == len(right) and all(
        [equal(a, b, ignoring) for a, b in zip(left, right, strict=True)]
    )


def same_element_type(lhs: SpecLike, rhs: SpecLike) -> bool:
    """Tell whether the element types are the same."""
    return lhs.element_type.name == rhs.element_type.name


def _same_elements(lhs: SpecLike, rhs: SpecLike, ignoring: Ignoring) -> bool:
    floating = lhs.element_type.is_floating and rhs.element_type.is_floating
    return (
        ignoring.element_type or same_element_type(lhs, rhs) or (ignoring.fp_precision and floating)
    )


def _same_extents(lhs: SpecLike, rhs: SpecLike, ignoring: Ignoring) -> bool:
    if not same_rank(lhs, rhs):
        return False
    if ignoring.dimensions:
        return True
    if ignoring.dynamic_dimension:
        return same_dimensions(lhs, rhs)
    return lhs.dimensions == rhs.dimensions


def _same_layout(lhs: SpecLike, rhs: SpecLike, ignoring: Ignoring) -> bool:
    if lhs.layout is None or rhs.layout is None:
        return lhs.layout is rhs.layout
    return lhs.layout.equal(
        rhs.layout,
        ignore_tiles=ignoring.tiles,
        ignore_element_size=ignoring.element_size,
        ignore_memory_space=ignoring.memory_space,
        ignore_tail_padding_alignment_in_elements=ignoring.tail_padding_alignment_in_elements,
        ignore_split_configs=ignoring.split_configs,
        minor_to_major_only=ignoring.minor_to_major_only,
    )


def same_rank(lhs: SpecLike, rhs: SpecLike) -> bool:
    """Tell whether both have as many dimensions."""
    return len(lhs.dimensions) == len(rhs.dimensions)


def same_dimensions(lhs: SpecLike, rhs: SpecLike) -> bool:
    """Tell whether the extents are equal; one without a bound equals any."""
    return same_rank(lhs, rhs) and all(
        [a == b or UNBOUNDED in (a, b) for a, b in zip(lhs.dimensions, rhs.dimensions, strict=True)]
    )


def equal_structure(lhs: SpecLike, rhs: SpecLike) -> bool:
    """Tell whether tuples are nested alike."""
    left, right = members(lhs), members(rhs)
    # To XLA a leaf and an empty tuple are alike: neither has members.
    return len(left) == len(right) and all(
        [equal_structure(a, b) for a, b in zip(left, right, strict=True)]
    )


def layouts_in_shapes_equal(lhs: SpecLike, rhs: SpecLike, ignoring: Ignoring) -> bool:
    """Tell whether the layouts of two specs are equal, member by member."""
    if lhs.is_tuple or rhs.is_tuple:
        left, right = lhs.tuple_shapes, rhs.tuple_shapes
        return (
            lhs.is_tuple
            and rhs.is_tuple
            and len(left) == len(right)
            and all(
                [layouts_in_shapes_equal(a, b, ignoring) for a, b in zip(left, right, strict=True)]
            )
        )
    if lhs.is_buffer and rhs.is_buffer:
        return layouts_in_shapes_equal(lhs.tuple_shapes[0], rhs.tuple_shapes[0], ignoring)
    if not lhs.is_array:
        return True
    return same_rank(lhs, rhs) and _same_layout(lhs, rhs, ignoring)
