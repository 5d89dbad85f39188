"""Methods that edit the element type and the layout."""

from __future__ import annotations

from ...layout.layout import Layout
from .. import relayout, tuples
from ..speclike import S, SpecLike, layout_of, require_array


class LayoutMethods:
    """Specs with other layouts; of tuples, in each member."""

    __slots__ = ()

    def change_element_type(self: S, element_type: object) -> S:
        """Return the spec with another element type.

        Parameters
        ----------
        element_type : ElementType, str or dtype
            The new type.  A layout's element size is dropped unless the type is narrower than
            a byte; then, as in XLA, it stays what it was.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.parse("s4[64,128]{1,0:E(4)}").change_element_type("u8"))
        u8[64,128]{1,0}
        """
        return relayout.change_element_type(self, element_type)

    def update_element_size_in_bits(self: S, pack_subbyte_types: bool = True) -> S:
        """Return the spec with elements narrower than a byte packed, or unpacked.

        Parameters
        ----------
        pack_subbyte_types : bool, default True
            Pack integers of 1, 2 and 4 bits and 4-bit floats, and nothing else; or nothing.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.parse("s4[64,128]").update_element_size_in_bits())
        s4[64,128]{1,0:E(4)}
        """
        return relayout.update_element_size_in_bits(self, pack_subbyte_types)

    def device_shape_to_host_shape(self: S) -> S:
        """Return the spec without tiles, padding, packing, memory space and prefix.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.parse("f32[8,3]{0,1:T(8,128)S(1)}").device_shape_to_host_shape())
        f32[8,3]{0,1}
        """
        return relayout.device_shape_to_host_shape(self)

    def device_shape_is_host_shape(self: S) -> bool:
        """Tell whether `device_shape_to_host_shape` changes nothing."""
        return relayout.device_shape_is_host_shape(self)

    def get_default_layout_for_shape(self: SpecLike) -> Layout:
        """Return the default layout: row major, untiled; empty for tokens and opaque values."""
        if self.element_type.name in ("token", "opaque"):
            return Layout(())
        array = require_array(self, "get_default_layout_for_shape")
        return Layout.row_major(len(array.dimensions))

    def get_with_default_layout(self: S) -> S:
        """Return the spec with its dimensions in default order; tiles and the like stay."""
        return relayout.get_with_default_layout(self)

    def set_to_default_layout(self: S) -> S:
        """Return the spec with its dimensions in default order; specs are never changed."""
        return relayout.get_with_default_layout(self)

    def clear_layout(self: S) -> S:
        """Return the spec without a layout."""
        return relayout.clear_layout(self)

    def clear_tiles(self: S) -> S:
        """Return the spec without tiles."""
        return relayout.clear_tiles(self)

    def copy_layout_between_shapes(self: SpecLike, dst: S) -> S:
        """Return ``dst`` with the layouts of this spec.

        Parameters
        ----------
        dst : ArraySpec
            Of the same structure and ranks.

        Raises
        ------
        LayoutError
            If structures or ranks differ, or a layout does not fit.
        """
        return relayout.copy_layout_between_shapes(self, dst)

    def has_layout(self: SpecLike) -> bool:
        """Tell whether every array here has a layout."""
        return tuples.has_layout(self)

    def has_any_layout(self: SpecLike) -> bool:
        """Tell whether an array here has a layout; what needs none counts as having one."""
        return tuples.has_any_layout(self)

    def has_custom_element_size_in_bits(self: SpecLike) -> bool:
        """Tell whether a layout here sets the element size."""
        return tuples.has_custom_element_size_in_bits(self)

    def memory_space(self: SpecLike) -> int:
        """Return the number of the memory space, 0 without a layout."""
        return layout_of(require_array(self, "memory_space")).memory_space

    def validate_layout_in_shape(self: SpecLike, allow_missing_layouts: bool = False) -> None:
        """Refuse layouts that do not fit.

        Parameters
        ----------
        allow_missing_layouts : bool, default False
            Accept arrays without a layout.

        Raises
        ------
        LayoutError
            If a layout does not fit its array, or is missing.
        """
        tuples.validate_layout_in_shape(self, allow_missing_layouts)

    def validate_layout_for_shape(self: SpecLike, layout: Layout) -> None:
        """Refuse a layout that would not fit.

        Parameters
        ----------
        layout : Layout
            The layout to check.

        Raises
        ------
        LayoutError
            If it does not fit, or this is a tuple.
        """
        tuples.validate_layout_for_shape(self, layout)

    def packed_factor_for_1d_interleaved_array(self: SpecLike) -> int:
        """Return how many elements share a word in a layout such as ``T(1024)(128)(2,1)``.

        Raises
        ------
        LayoutError
            If the layout is not of that form.
        """
        return tuples.packed_factor_for_1d_interleaved_array(self)

    def is_effectively_most_major_dimension(self: SpecLike, dimension: int) -> bool:
        """Tell whether nothing but extents of 1 is more major than a dimension.

        Parameters
        ----------
        dimension : int
            Dimension number from 0.
        """
        return tuples.is_effectively_most_major_dimension(self, dimension)
