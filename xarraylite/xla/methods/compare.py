"""Methods that compare specs."""

from __future__ import annotations

from .. import compare
from ..compare import Ignoring
from ..speclike import SpecLike

_COMPATIBLE = Ignoring(layout=True, dynamic_dimension=True)
_COMPATIBLE_TYPE = Ignoring(layout=True, dynamic_dimension=True, element_type=True)
_COMPATIBLE_FP = Ignoring(layout=True, dynamic_dimension=True, fp_precision=True)
_KIND = Ignoring(layout=True, dynamic_dimension=True, element_type=True, dimensions=True)
_KIND_BUFFER = Ignoring(
    layout=True, dynamic_dimension=True, element_type=True, dimensions=True, buffer=True
)
_TYPE = Ignoring(element_type=True)
_FP = Ignoring(fp_precision=True)


class CompareMethods:
    """Equality but for chosen parts."""

    __slots__ = ()

    def equal(
        self: SpecLike,
        other: SpecLike,
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
        return compare.equal(
            self,
            other,
            Ignoring(
                layout=ignore_layout,
                element_type=ignore_element_type,
                fp_precision=ignore_fp_precision,
                dimensions=ignore_dimensions,
                dynamic_dimension=ignore_dynamic_dimension,
                buffer=ignore_buffer,
                tiles=ignore_tiles,
                element_size=ignore_element_size,
                memory_space=ignore_memory_space,
                tail_padding_alignment_in_elements=ignore_tail_padding_alignment_in_elements,
                split_configs=ignore_split_configs,
                minor_to_major_only=minor_to_major_only,
            ),
        )

    def equal_ignoring_element_type(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether two specs are equal but for element types."""
        return compare.equal(self, other, _TYPE)

    def equal_ignoring_fp_precision(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether two specs are equal but for which floating-point types they have."""
        return compare.equal(self, other, _FP)

    def equal_structure(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether tuples are nested alike, whatever their leaves are.

        As in XLA, an empty tuple and a leaf are alike.
        """
        return compare.equal_structure(self, other)

    def compatible(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether two specs are equal but for layouts and dynamic flags.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,2]{0,1}")
        >>> spec.compatible(xl.ArraySpec.parse("f32[3,2]{1,0}"))
        True
        """
        return compare.equal(self, other, _COMPATIBLE)

    def compatible_ignoring_element_type(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether two specs are compatible but for element types."""
        return compare.equal(self, other, _COMPATIBLE_TYPE)

    def compatible_ignoring_fp_precision(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether two specs are compatible but for which floating-point types they have."""
        return compare.equal(self, other, _COMPATIBLE_FP)

    def compatible_kind(self: SpecLike, other: SpecLike, ignore_buffer: bool = False) -> bool:
        """Tell whether two specs have the same structure and ranks.

        Parameters
        ----------
        other : ArraySpec
            The spec to compare with.
        ignore_buffer : bool, default False
            Take a buffer for the array in it.
        """
        return compare.equal(self, other, _KIND_BUFFER if ignore_buffer else _KIND)

    def same_element_type(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether the element types are the same."""
        return compare.same_element_type(self, other)

    def same_rank(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether both have as many dimensions."""
        return compare.same_rank(self, other)

    def same_dimensions(self: SpecLike, other: SpecLike) -> bool:
        """Tell whether the extents are equal; one without a bound equals any."""
        return compare.same_dimensions(self, other)

    def layouts_in_shapes_equal(
        self: SpecLike,
        other: SpecLike,
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
        return compare.layouts_in_shapes_equal(
            self,
            other,
            Ignoring(
                tiles=ignore_tiles,
                element_size=ignore_element_size,
                memory_space=ignore_memory_space,
                tail_padding_alignment_in_elements=ignore_tail_padding_alignment_in_elements,
                split_configs=ignore_split_configs,
                minor_to_major_only=minor_to_major_only,
            ),
        )
