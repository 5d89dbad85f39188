"""Specs made of the fields of arrays and layouts, by the names of XLA's functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, cast

from ..dtypes.element_types import element_type as as_element_type
from ..layout.fields import SplitConfig, Tile
from ..layout.layout import Layout
from ..layout.spec_fields import SpecFields


class Making(SpecFields):
    """Makers of specs."""

    __slots__ = ()

    @classmethod
    def make_shape(
        cls,
        element_type: object,
        dimensions: Iterable[int] = (),
        dynamic_dimensions: Iterable[bool] | None = None,
    ) -> Self:
        """Return an array in the default layout.

        Parameters
        ----------
        element_type : ElementType, str or dtype
            Type of the elements.
        dimensions : iterable of int
            Extents.
        dynamic_dimensions : iterable of bool, optional
            Which extents are mere bounds.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.make_shape("f32", (2, 3)))
        f32[2,3]{1,0}
        """
        sizes = tuple(dimensions)
        layout = Layout.row_major(len(sizes))
        return cast("Any", cls)(element_type, sizes, layout, dynamic=dynamic_dimensions)  # type: ignore[no-any-return]

    @classmethod
    def make_shape_with_dense_layout(
        cls,
        element_type: object,
        dimensions: Iterable[int],
        minor_to_major: Iterable[int],
        tiles: Iterable[Tile | Iterable[int | str]] = (),
        tail_padding_alignment_in_elements: int = 1,
        element_size_in_bits: int = 0,
        memory_space: int = 0,
        split_configs: Iterable[SplitConfig] = (),
    ) -> Self:
        """Return an array in a layout given by its fields.

        Parameters
        ----------
        element_type : ElementType, str or dtype
            Type of the elements.
        dimensions : iterable of int
            Extents.
        minor_to_major : iterable of int
            Dimensions, the fastest varying first.
        tiles : iterable of Tile or of sequences of int
            Levels of tiling.
        tail_padding_alignment_in_elements, element_size_in_bits, memory_space : int
            Fields of the layout; an element size that says no more than the type is dropped.
        split_configs : iterable of SplitConfig
            Where dimensions are cut.

        Examples
        --------
        >>> import xarraylite as xl
        >>> made = xl.ArraySpec.make_shape_with_dense_layout(
        ...     "bf16", (16, 128), (1, 0), [(8, 128), (2, 1)], element_size_in_bits=16
        ... )
        >>> print(made)
        bf16[16,128]{1,0:T(8,128)(2,1)}
        """
        kind = as_element_type(element_type)
        default = element_size_in_bits == kind.storage_bytes * 8
        layout = Layout(
            minor_to_major,
            tiles,
            tail_padding_alignment_in_elements=tail_padding_alignment_in_elements,
            element_size_in_bits=0 if default else element_size_in_bits,
            memory_space=memory_space,
            split_configs=split_configs,
        )
        return cast("Any", cls)(kind, dimensions, layout)  # type: ignore[no-any-return]

    @classmethod
    def make_tuple_shape(cls, shapes: Iterable[Self]) -> Self:
        """Return the tuple of some specs.

        Parameters
        ----------
        shapes : iterable of ArraySpec
            Its members.
        """
        return cast("Any", cls).tuple(shapes)  # type: ignore[no-any-return]
