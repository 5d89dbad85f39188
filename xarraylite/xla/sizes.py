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
from ..layout.fields import SplitConfig
from ..layout.tile import COMBINE
from .indexing import linear_index_first_tile
from .positions import count_positions
from .speclike import SpecLike, check_dimension, layout_of, require_array, require_bounded

POINTER_SIZE: Final = 8
"""Bytes of a pointer on the devices XLA runs on."""


def _bytes(elements: int, bits: int) -> int:
    return -(-elements * bits // 8)


def element_size_in_bits(self: SpecLike) -> int:
    """Return the bits of an element in memory: the layout's, or those of whole bytes."""
    spec = require_array(self, "element_size_in_bits")
    layout = spec.layout
    if layout is not None and layout.element_size_in_bits:
        return layout.element_size_in_bits
    return spec.element_type.storage_bytes * 8


def elements_in(self: SpecLike) -> int:
    """Return the number of elements of an array."""
    spec = require_bounded(self, "elements_in")
    return math.prod(spec.dimensions)


def elements_in_recursive(self: SpecLike) -> int:
    """Return the number of elements of an array, or of all arrays of a tuple."""
    if self.is_tuple:
        return sum([elements_in_recursive(s) for s in self.tuple_shapes])
    return elements_in(self)


def byte_size_of(self: SpecLike, pointer_size: int = POINTER_SIZE) -> int:
    """Return the bytes of the elements; tiles, tail padding and splits are not counted.

    Parameters
    ----------
    pointer_size : int, default 8
        Bytes of a pointer: a tuple is a table of pointers, an opaque value is one.
    """
    if self.is_tuple:
        return byte_size_of_tuple_index_table(self, pointer_size)
    if self.is_array or self.is_buffer:
        return byte_size_of_elements(self)
    return 0 if self.element_type.name == "token" else pointer_size


def byte_size_of_tuple_index_table(self: SpecLike, pointer_size: int = POINTER_SIZE) -> int:
    """Return the bytes of a tuple's table of pointers.

    Parameters
    ----------
    pointer_size : int, default 8
        Bytes of a pointer.
    """
    if not self.is_tuple:
        raise LayoutError(f"byte_size_of_tuple_index_table: {self} is not a tuple")
    return pointer_size * len(self.tuple_shapes)


def byte_size_of_elements(self: SpecLike) -> int:
    """Return the bytes of the elements of an array, as `byte_size_of` does."""
    spec = require_bounded(self, "byte_size_of_elements")
    layout = spec.layout
    padded = layout.padded_dimensions if layout is not None else None
    return _bytes(math.prod(padded or spec.dimensions), element_size_in_bits(spec))


def byte_size_of_elements_recursive(self: SpecLike) -> int:
    """Return the bytes of the elements of an array, or of all arrays of a tuple."""
    if self.is_tuple:
        return sum([byte_size_of_elements_recursive(s) for s in self.tuple_shapes])
    return 0 if self.element_type.name == "token" else byte_size_of_elements(self)


def array_size(self: SpecLike) -> int:
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
        return byte_size_of_elements(spec)
    bits = element_size_in_bits(spec)
    extents = [max_split_size(spec, d) for d in layout.minor_to_major]
    extents += [1] * (len(tiles[0]) - len(extents))
    count = math.prod(extents[len(tiles[0]) :])
    for k, tile in enumerate(reversed(tiles[0])):
        if tile == COMBINE:  # XLA rounds to the second tile's size there, or to one 32-bit word
            second = tiles[1][::-1] if len(tiles) > 1 else ()
            tile = second[k] if k < len(second) else max(1, 32 // bits)
        count *= round_up(extents[k], max(tile, 1))
    return _bytes(round_up(count, layout.tail_padding_alignment_in_elements), bits)


def array_data_size(self: SpecLike) -> int:
    """Return the bytes up to the last element, as the first tile places it."""
    spec = require_bounded(self, "array_data_size")
    if 0 in spec.dimensions:
        return 0
    last = linear_index_first_tile(spec, [n - 1 for n in spec.dimensions])
    return _bytes(last + 1, element_size_in_bits(spec))


def unpacked_byte_strides(self: SpecLike) -> tuple[int, ...]:
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


def byte_strides(self: SpecLike) -> tuple[int, ...] | None:
    """Return `unpacked_byte_strides`; None if the layout packs elements below a byte."""
    spec = require_array(self, "byte_strides")
    return None if layout_of(spec).element_size_in_bits % 8 else unpacked_byte_strides(spec)


def byte_strides_is_major_to_minor(self: SpecLike, strides: Sequence[int]) -> bool:
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


def max_split_size(self: SpecLike, dimension: int) -> int:
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


def max_elements_in_per_split(self: SpecLike) -> int:
    """Return the number of elements of the largest part that splits make."""
    spec = require_bounded(self, "max_elements_in_per_split")
    return math.prod([max_split_size(spec, d) for d in range(len(spec.dimensions))])


def get_split_config(self: SpecLike) -> SplitConfig | None:
    """Return the split config; None without one.

    Raises
    ------
    LayoutError
        If there are several.
    """
    spec = require_array(self, "get_split_config")
    configs = layout_of(spec).split_configs
    if len(configs) > 1:
        raise LayoutError(f"get_split_config: {spec} has {len(configs)}; at most one is allowed")
    return configs[0] if configs else None


def nbytes(spec: SpecLike) -> int:
    """Return the exact bytes of the buffer; of a tuple, those of its members."""
    if spec.is_tuple:
        return sum([nbytes(s) for s in spec.tuple_shapes])
    if spec.element_type.name == "token":
        return 0
    return _bytes(count_positions(spec, "nbytes"), element_size_in_bits(spec))


def nbytes_logical(spec: SpecLike) -> int:
    """Return the bytes without any padding; of a tuple, those of its members."""
    if spec.is_tuple:
        return sum([nbytes_logical(s) for s in spec.tuple_shapes])
    if spec.element_type.name == "token":
        return 0
    return _bytes(elements_in(spec), element_size_in_bits(spec))


def padding_bytes(spec: SpecLike) -> int:
    """Return the bytes that belong to no element."""
    return nbytes(spec) - nbytes_logical(spec)


def expansion(spec: SpecLike) -> float:
    """Return the exact bytes over the bytes without padding; 1.0 where both are 0."""
    logical = nbytes_logical(spec)
    return nbytes(spec) / logical if logical else 1.0


def is_padded(self: SpecLike) -> bool:
    """Tell whether ``padded_dimensions``, the older form of padding, pad anything."""
    spec = require_array(self, "is_padded")
    layout = spec.layout
    padded = layout.padded_dimensions if layout is not None else None
    return bool(padded) and tuple(padded or ()) != spec.dimensions
