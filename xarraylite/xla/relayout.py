"""Edits of the element type and of the layout, the dimensions staying as they are.

Every edit returns a new spec, and reaches the members of tuples and the arrays in buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Final, Self

from .._errors import LayoutError
from ..dtypes.element_types import element_type as as_element_type
from ..layout import spec_fields as specs
from ..layout.layout import Layout

#: What hosts have of a layout, and for all its other fields the values of layouts without them.
_KEPT: Final = (
    "minor_to_major", "split_configs", "index_primitive_type", "pointer_primitive_type",
)  # fmt: skip
_HOST: Final[dict[str, Any]] = {
    field.name: field.default for field in fields(Layout) if field.name not in _KEPT
}


def _with_fields(spec: specs.S, fields: Callable[[specs.S], dict[str, Any]]) -> specs.S:
    """Return the spec with some fields of every layout replaced."""

    def change(leaf: specs.S) -> specs.S:
        if leaf.layout is None:
            return leaf
        return specs.rebuild(leaf, layout=replace(leaf.layout, **fields(leaf)))

    return specs.map_leaves(spec, change)


class Relayouts(specs.SpecFields):
    """Specs with other layouts and element types."""

    __slots__ = ()

    def change_element_type(self, element_type: object) -> Self:
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
        new = as_element_type(element_type)

        def change(leaf: Self) -> Self:
            layout = leaf.layout
            if layout is not None and not new.is_sub_byte_non_pred:
                layout = replace(layout, element_size_in_bits=0)
            return specs.rebuild(leaf, element_type=new, layout=layout)

        return specs.map_leaves(self, change)

    def update_element_size_in_bits(self, pack_subbyte_types: bool = True) -> Self:
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

        def element_size(leaf: Self) -> dict[str, Any]:
            packs = pack_subbyte_types and leaf.element_type.is_sub_byte_non_pred
            return {"element_size_in_bits": leaf.element_type.bits if packs else 0}

        return _with_fields(self, element_size)

    def device_shape_to_host_shape(self) -> Self:
        """Return the spec without tiles, padding, packing, memory space and prefix.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.parse("f32[8,3]{0,1:T(8,128)S(1)}").device_shape_to_host_shape())
        f32[8,3]{0,1}
        """
        return _with_fields(self, lambda _: _HOST)

    def device_shape_is_host_shape(self) -> bool:
        """Tell whether `device_shape_to_host_shape` changes nothing."""
        layouts = [leaf.layout for leaf in specs.leaves(self) if leaf.layout is not None]
        prefixes = [layout.dynamic_shape_metadata_prefix_bytes for layout in layouts]
        return not any(prefixes) and all([x == replace(x, **_HOST) for x in layouts])

    def get_with_default_layout(self) -> Self:
        """Return the spec with its dimensions in default order; tiles and the like stay."""

        def reset(leaf: Self) -> Self:
            if not leaf.is_array:
                return leaf
            order = tuple(range(len(leaf.dimensions) - 1, -1, -1))
            return specs.rebuild(leaf, layout=replace(specs.layout_of(leaf), minor_to_major=order))

        return specs.map_leaves(self, reset)

    set_to_default_layout = get_with_default_layout

    def clear_layout(self) -> Self:
        """Return the spec without a layout."""
        return specs.map_leaves(
            self, lambda leaf: specs.rebuild(leaf, layout=None) if leaf.layout else leaf
        )

    def clear_tiles(self) -> Self:
        """Return the spec without tiles."""
        return _with_fields(self, lambda _: {"tiles": ()})

    def copy_layout_between_shapes(self, dst: Self) -> Self:
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
        if self.is_tuple != specs.require_spec(dst, "copy_layout_between_shapes").is_tuple:
            raise LayoutError(f"copy_layout_between_shapes: {self} and {dst} differ in structure")
        if self.is_tuple:
            if len(self.tuple_shapes) != len(dst.tuple_shapes):
                raise LayoutError(
                    f"copy_layout_between_shapes: {self} and {dst} differ in their number of "
                    "members"
                )
            pairs = zip(specs.members(self), specs.members(dst), strict=True)
            return specs.retuple(dst, [s.copy_layout_between_shapes(d) for s, d in pairs])
        if self.is_buffer and dst.is_buffer:
            inner = self.tuple_shapes[0].copy_layout_between_shapes(dst.tuple_shapes[0])
            return specs.rebuild(dst, tuple_shapes=(inner,))
        if not self.is_array:
            return dst
        if self.layout is not None and len(self.dimensions) != len(dst.dimensions):
            raise LayoutError(
                f"copy_layout_between_shapes: {self} and {dst} differ in their number of dimensions"
            )
        return specs.rebuild(dst, layout=self.layout)

    def get_default_layout_for_shape(self) -> Layout:
        """Return the default layout: row major, untiled; empty for tokens and opaque values."""
        if self.element_type.name in ("token", "opaque"):
            return Layout(())
        array = specs.require_array(self, "get_default_layout_for_shape")
        return Layout.row_major(len(array.dimensions))

    def memory_space(self) -> int:
        """Return the number of the memory space, 0 without a layout."""
        return specs.layout_of(specs.require_array(self, "memory_space")).memory_space
