"""Equality of specs, whole or but for chosen parts, through tuples.

XLA compares two shapes with a configurable functor; *compatible* shapes are those that are equal
but for layouts and dynamic flags, so that a value of one can stand where the other is expected
after a copy.  The bytes in front of a dynamic array are never compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Self, TypeAlias

from ..layout.spec_fields import UNBOUNDED, SpecFields, members, require_spec

#: What a comparison leaves out: the names of the options of `equal` that are set.
Parts: TypeAlias = frozenset[str]

_ELEMENT_TYPE: Final = Parts({"ignore_element_type"})
_PRECISION: Final = Parts({"ignore_fp_precision"})
_COMPATIBLE: Final = Parts({"ignore_layout", "ignore_dynamic_dimension"})
_KIND: Final = _COMPATIBLE | _ELEMENT_TYPE | {"ignore_dimensions"}
_OF_LAYOUT: Final = Parts(
    {
        "ignore_tiles",
        "ignore_element_size",
        "ignore_memory_space",
        "ignore_tail_padding_alignment_in_elements",
        "ignore_split_configs",
        "minor_to_major_only",
    }
)


class Comparisons(SpecFields):
    """Equality but for chosen parts."""

    __slots__ = ()

    def same_element_type(self, other: Self) -> bool:
        """Tell whether the element types are the same."""
        return self.element_type.name == require_spec(other, "same_element_type").element_type.name

    def same_rank(self, other: Self) -> bool:
        """Tell whether both have as many dimensions."""
        return len(self.dimensions) == len(require_spec(other, "same_rank").dimensions)

    def same_dimensions(self, other: Self) -> bool:
        """Tell whether the extents are equal; one without a bound equals any."""
        return self.same_rank(other) and all(
            [
                a == b or UNBOUNDED in (a, b)
                for a, b in zip(self.dimensions, other.dimensions, strict=True)
            ]
        )

    def equal_structure(self, other: Self) -> bool:
        """Tell whether tuples are nested alike, whatever their leaves are.

        As in XLA, an empty tuple and a leaf are alike: neither has members.
        """
        left, right = members(self), members(require_spec(other, "equal_structure"))
        return len(left) == len(right) and all(
            [a.equal_structure(b) for a, b in zip(left, right, strict=True)]
        )

    def equal(
        self,
        other: Self,
        *,
        ignore_layout: bool = False,
        ignore_element_type: bool = False,
        ignore_fp_precision: bool = False,
        ignore_dimensions: bool = False,
        ignore_dynamic_dimension: bool = False,
        ignore_buffer: bool = False,
        ignore_tiles: bool = False,
        ignore_element_size: bool = False,
        ignore_memory_space: bool = False,
        ignore_tail_padding_alignment_in_elements: bool = False,
        ignore_split_configs: bool = False,
        minor_to_major_only: bool = False,
    ) -> bool:
        """Tell whether two specs are equal but for what is ignored.

        Parameters
        ----------
        other : ArraySpec
            The spec to compare with.
        ignore_layout : bool
            Leave out the layout as a whole.
        ignore_element_type, ignore_fp_precision : bool
            Leave out the element type, or take all floating-point types for one.
        ignore_dimensions, ignore_dynamic_dimension : bool
            Leave out the extents (not their number), or which of them are dynamic; in the
            latter case a dimension without a bound equals any.
        ignore_buffer : bool
            Take a buffer for the array in it.
        ignore_tiles, ignore_element_size, ignore_memory_space : bool
            Leave out this part of the layout.
        ignore_tail_padding_alignment_in_elements, ignore_split_configs : bool
            Leave out this part of the layout.
        minor_to_major_only : bool
            Compare nothing of the layout but the order of dimensions.

        Examples
        --------
        >>> import xarraylite as xl
        >>> tiled, plain = xl.ArraySpec.parse("f32[8]{0:T(8)}"), xl.ArraySpec.parse("f32[8]")
        >>> tiled.equal(plain), tiled.equal(plain, ignore_tiles=True)
        (False, True)
        """
        return _equal(self, other, _set(locals()))

    def equal_ignoring_element_type(self, other: Self) -> bool:
        """Tell whether two specs are equal but for element types."""
        return _equal(self, other, _ELEMENT_TYPE)

    def equal_ignoring_fp_precision(self, other: Self) -> bool:
        """Tell whether two specs are equal but for which floating-point types they have."""
        return _equal(self, other, _PRECISION)

    def compatible(self, other: Self) -> bool:
        """Tell whether two specs are equal but for layouts and dynamic flags.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,2]{0,1}")
        >>> spec.compatible(xl.ArraySpec.parse("f32[3,2]{1,0}"))
        True
        """
        return _equal(self, other, _COMPATIBLE)

    def compatible_ignoring_element_type(self, other: Self) -> bool:
        """Tell whether two specs are compatible but for element types."""
        return _equal(self, other, _COMPATIBLE | _ELEMENT_TYPE)

    def compatible_ignoring_fp_precision(self, other: Self) -> bool:
        """Tell whether two specs are compatible but for which floating-point types they have."""
        return _equal(self, other, _COMPATIBLE | _PRECISION)

    def compatible_kind(self, other: Self, ignore_buffer: bool = False) -> bool:
        """Tell whether two specs have the same structure and ranks.

        Parameters
        ----------
        other : ArraySpec
            The spec to compare with.
        ignore_buffer : bool, default False
            Take a buffer for the array in it.
        """
        return _equal(self, other, _KIND | _set(locals()))

    def layouts_in_shapes_equal(
        self,
        other: Self,
        *,
        ignore_tiles: bool = False,
        ignore_element_size: bool = False,
        ignore_memory_space: bool = False,
        ignore_tail_padding_alignment_in_elements: bool = False,
        ignore_split_configs: bool = False,
        minor_to_major_only: bool = False,
    ) -> bool:
        """Tell whether the layouts of two specs are equal, member by member.

        Parameters
        ----------
        other : ArraySpec
            Of the same structure and ranks, else the answer is False.
        ignore_tiles, ignore_element_size, ignore_memory_space : bool
            Leave out this part of the layouts.
        ignore_tail_padding_alignment_in_elements, ignore_split_configs : bool
            Leave out this part of the layouts.
        minor_to_major_only : bool
            Compare nothing but the order of dimensions.
        """
        ignoring = _set(locals())
        pairs = _leaves(self, other)
        return pairs is not None and all([_leaf_layouts_equal(a, b, ignoring) for a, b in pairs])


def _set(options: Mapping[str, object]) -> Parts:
    """Return the options that are set among the arguments of a comparison."""
    return Parts([name for name in options if name not in ("self", "other") and options[name]])


def _leaves(lhs: Comparisons, rhs: Comparisons) -> list[tuple[Comparisons, Comparisons]] | None:
    """Return what stands at the same path of both; None where tuples are nested otherwise."""
    require_spec(rhs, "comparison of specs")
    if not (lhs.is_tuple or rhs.is_tuple):
        return [(lhs, rhs)]
    if lhs.is_tuple != rhs.is_tuple or len(lhs.tuple_shapes) != len(rhs.tuple_shapes):
        return None
    found = [_leaves(a, b) for a, b in zip(lhs.tuple_shapes, rhs.tuple_shapes, strict=True)]
    return None if None in found else [pair for pairs in found for pair in pairs or ()]


def _equal(lhs: Comparisons, rhs: Comparisons, ignoring: Parts) -> bool:
    """Tell whether two specs are equal but for what is left out."""
    pairs = _leaves(lhs, rhs)
    return pairs is not None and all([_leaf_equal(a, b, ignoring) for a, b in pairs])


def _leaf_equal(lhs: Comparisons, rhs: Comparisons, ignoring: Parts) -> bool:
    if "ignore_buffer" not in ignoring and lhs.is_buffer != rhs.is_buffer:
        return False
    lhs = lhs.tuple_shapes[0] if lhs.is_buffer else lhs
    rhs = rhs.tuple_shapes[0] if rhs.is_buffer else rhs
    if not (lhs.is_array and rhs.is_array):
        return lhs.same_element_type(rhs)
    return (
        _same_elements(lhs, rhs, ignoring)
        and _same_extents(lhs, rhs, ignoring)
        and ("ignore_layout" in ignoring or _same_layout(lhs, rhs, ignoring))
        and ("ignore_dynamic_dimension" in ignoring or lhs.dynamic == rhs.dynamic)
    )


def _same_elements(lhs: Comparisons, rhs: Comparisons, ignoring: Parts) -> bool:
    if "ignore_element_type" in ignoring or lhs.same_element_type(rhs):
        return True
    floating = lhs.element_type.is_floating and rhs.element_type.is_floating
    return floating and "ignore_fp_precision" in ignoring


def _same_extents(lhs: Comparisons, rhs: Comparisons, ignoring: Parts) -> bool:
    if "ignore_dimensions" in ignoring:
        return lhs.same_rank(rhs)
    if "ignore_dynamic_dimension" in ignoring:
        return lhs.same_dimensions(rhs)
    return lhs.dimensions == rhs.dimensions


def _same_layout(lhs: Comparisons, rhs: Comparisons, ignoring: Parts) -> bool:
    if lhs.layout is None or rhs.layout is None:
        return lhs.layout is rhs.layout
    return lhs.layout.equal(rhs.layout, **dict.fromkeys(ignoring & _OF_LAYOUT, True))


def _leaf_layouts_equal(lhs: Comparisons, rhs: Comparisons, ignoring: Parts) -> bool:
    if lhs.is_buffer and rhs.is_buffer:
        lhs, rhs = lhs.tuple_shapes[0], rhs.tuple_shapes[0]
    return not lhs.is_array or (lhs.same_rank(rhs) and _same_layout(lhs, rhs, ignoring))
