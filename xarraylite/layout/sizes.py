"""Sizes: four numbers of XLA's that ignore part of a layout, and the exact one.

=============================  ============================================================
`byte_size_of`                 elements times their size; no tiles, no tail, no splits
`array_size`                   the first tile, split configs and the tail (which TPUs allocate)
`array_data_size`              up to the last element, as the first tile places it
`unpacked_byte_strides`        strides of whole bytes, without tiles
`nbytes`                       every tile, the tail, packed elements: what the buffer takes
=============================  ============================================================

`array_size` and `nbytes` differ where a later tile pads again, where dimensions are combined,
where the array is split, and where there is a tail but no tile.  ``element_size_in_bits`` counts
in all but the strides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final

from .._errors import LayoutError
from ..index.radix import contiguous_strides, round_up
from .fields import COMBINE, SplitConfig
from .positions import Positions, count_positions
from .spec_fields import check_dimension, layout_of, leaves, require_array, require_bounded

#: Bytes of a pointer on the devices XLA runs on.
POINTER_SIZE: Final = 8


def _bytes(elements: int, bits: int) -> int:
    return -(-elements * bits // 8)


class Sizes(Positions):
    """Bytes and elements of a spec."""

    __slots__ = ()

    def element_size_in_bits(self) -> int:
        """Return the bits of an element in memory: the layout's, or those of whole bytes."""
        spec = require_array(self, "element_size_in_bits")
        layout = spec.layout
        if layout is not None and layout.element_size_in_bits:
            return layout.element_size_in_bits
        return spec.element_type.storage_bytes * 8

    def elements_in(self) -> int:
        """Return the number of elements of an array."""
        spec = require_bounded(self, "elements_in")
        return math.prod(spec.dimensions)

    def elements_in_recursive(self) -> int:
        """Return the number of elements of an array, or of all arrays of a tuple."""
        return sum([s.elements_in() for s in leaves(self)])

    def byte_size_of(self, pointer_size: int = POINTER_SIZE) -> int:
        """Return the bytes of the elements; tiles, tail padding and splits are not counted.

        Parameters
        ----------
        pointer_size : int, default 8
            Bytes of a pointer: a tuple is a table of pointers, an opaque value is one.
        """
        if self.is_tuple:
            return self.byte_size_of_tuple_index_table(pointer_size)
        if self.is_array or self.is_buffer:
            return self.byte_size_of_elements()
        return 0 if self.is_token else pointer_size

    def byte_size_of_tuple_index_table(self, pointer_size: int = POINTER_SIZE) -> int:
        """Return the bytes of a tuple's table of pointers.

        Parameters
        ----------
        pointer_size : int, default 8
            Bytes of a pointer.
        """
        if not self.is_tuple:
            raise LayoutError(f"byte_size_of_tuple_index_table: {self} is not a tuple")
        return pointer_size * len(self.tuple_shapes)

    def byte_size_of_elements(self) -> int:
        """Return the bytes of the elements of an array, as `byte_size_of` does."""
        spec = require_bounded(self, "byte_size_of_elements")
        layout = spec.layout
        padded = layout.padded_dimensions if layout is not None else None
        return _bytes(math.prod(padded or spec.dimensions), spec.element_size_in_bits())

    def byte_size_of_elements_recursive(self) -> int:
        """Return the bytes of the elements of an array, or of all arrays of a tuple."""
        return sum([s.byte_size_of_elements() for s in leaves(self) if not s.is_token])

    def array_size(self) -> int:
        """Return the bytes that XLA allocates: by the first tile, the splits and the tail.

        Later tiles are taken to pad no further, and an array without tiles has no tail; `nbytes`
        is exact.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("f32[9,129]{0,1:T(8,128)}").array_size()
        69632
        """
        spec = require_bounded(self, "array_size")
        layout = layout_of(spec)
        tiles = layout.tile_dims
        if not tiles:
            return spec.byte_size_of_elements()
        bits = spec.element_size_in_bits()
        extents = [spec.max_split_size(d) for d in layout.minor_to_major]
        extents += [1] * (len(tiles[0]) - len(extents))
        count = math.prod(extents[len(tiles[0]) :])
        for k, tile in enumerate(reversed(tiles[0])):
            if tile == COMBINE:  # XLA rounds to the second tile's size there, or to one 32-bit word
                second = tiles[1][::-1] if len(tiles) > 1 else ()
                tile = second[k] if k < len(second) else max(1, 32 // bits)
            count *= round_up(extents[k], max(tile, 1))
        return _bytes(round_up(count, layout.tail_padding_alignment_in_elements), bits)

    def array_data_size(self) -> int:
        """Return the bytes up to the last element, as the first tile places it."""
        spec = require_bounded(self, "array_data_size")
        if 0 in spec.dimensions:
            return 0
        last = spec.linear_index_first_tile([n - 1 for n in spec.dimensions])
        return _bytes(last + 1, spec.element_size_in_bits())

    def unpacked_byte_strides(self) -> tuple[int, ...]:
        """Return the strides in bytes of the untiled array with elements of whole bytes.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("f32[3,5,7]").unpacked_byte_strides()
        (140, 28, 4)
        """
        spec = require_bounded(self, "unpacked_byte_strides")
        order = layout_of(spec).minor_to_major
        return contiguous_strides(spec.dimensions, order, spec.element_type.storage_bytes)

    def byte_strides(self) -> tuple[int, ...] | None:
        """Return `unpacked_byte_strides`; None if the layout packs elements below a byte."""
        spec = require_array(self, "byte_strides")
        return None if layout_of(spec).element_size_in_bits % 8 else spec.unpacked_byte_strides()

    def byte_strides_is_major_to_minor(self, strides: Sequence[int]) -> bool:
        """Tell whether strides are those of a row-major array of these dimensions.

        Parameters
        ----------
        strides : sequence of int
            One per dimension, in bytes.
        """
        spec = require_bounded(self, "byte_strides_is_major_to_minor")
        if len(strides) != len(spec.dimensions):
            raise LayoutError(
                f"byte_strides_is_major_to_minor: {len(strides)} strides for {spec}; "
                "there must be one per dimension"
            )
        order = range(len(strides) - 1, -1, -1)
        unit = spec.element_type.storage_bytes
        return tuple(strides) == contiguous_strides(spec.dimensions, order, unit)

    def max_split_size(self, dimension: int) -> int:
        """Return the widest part into which split configs cut a dimension.

        Parameters
        ----------
        dimension : int
            Logical dimension number from 0.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("pred[123,456]{1,0:SC(1:200)}")
        >>> spec.max_split_size(0), spec.max_split_size(1)
        (123, 256)
        """
        spec = require_array(self, "max_split_size")
        d = check_dimension(dimension, len(spec.dimensions), "max_split_size")
        layout = layout_of(spec)
        physical = layout.rank - 1 - layout.minor_to_major.index(d)
        for config in layout.split_configs:
            if config.dimension == physical:
                cuts = [0, *config.split_indices, spec.dimensions[d]]
                return max([after - before for before, after in itertools.pairwise(cuts)])
        return spec.dimensions[d]

    def max_elements_in_per_split(self) -> int:
        """Return the number of elements of the largest part that splits make."""
        spec = require_bounded(self, "max_elements_in_per_split")
        return math.prod([spec.max_split_size(d) for d in range(len(spec.dimensions))])

    def get_split_config(self) -> SplitConfig | None:
        """Return the split config; None without one.

        Raises
        ------
        LayoutError
            If there are several.
        """
        spec = require_array(self, "get_split_config")
        configs = layout_of(spec).split_configs
        if len(configs) > 1:
            raise LayoutError(
                f"get_split_config: {spec} has {len(configs)}; at most one is allowed"
            )
        return configs[0] if configs else None

    @property
    def nbytes(self) -> int:
        """Exact bytes of the buffer: all tiles, tail padding, packed elements.

        Of a tuple, the sum over its members.  Differs from `array_size` where XLA's estimate
        leaves something out.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,5]{1,0:T(2,2)(3,3)}")
        >>> spec.nbytes, spec.array_size(), spec.nbytes_logical
        (216, 96, 60)
        """
        if self.is_tuple:
            return sum([s.nbytes for s in self.tuple_shapes])
        if self.is_token:
            return 0
        return _bytes(count_positions(self, "nbytes"), self.element_size_in_bits())

    @property
    def nbytes_logical(self) -> int:
        """Bytes of the elements without any padding; of a tuple, the sum over its members."""
        if self.is_tuple:
            return sum([s.nbytes_logical for s in self.tuple_shapes])
        return 0 if self.is_token else _bytes(self.elements_in(), self.element_size_in_bits())

    @property
    def padding_bytes(self) -> int:
        """Bytes of the buffer that belong to no element."""
        return self.nbytes - self.nbytes_logical

    @property
    def expansion(self) -> float:
        """How many times the bytes of its elements the buffer takes; 1.0 if both are 0.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}").expansion
        3.2
        """
        logical = self.nbytes_logical
        return self.nbytes / logical if logical else 1.0

    def is_padded(self) -> bool:
        """Tell whether ``padded_dimensions``, the older form of padding, pad anything."""
        spec = require_array(self, "is_padded")
        layout = spec.layout
        padded = layout.padded_dimensions if layout is not None else None
        return bool(padded) and tuple(padded or ()) != spec.dimensions
