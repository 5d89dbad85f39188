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

from .._errors import LayoutError
from ..layout.layout import SplitConfig
from ..layout.tile import COMBINE
from .indexing import linear_index_first_tile
from .positions import physical_size, round_up
from .speclike import SpecLike, check_dimension, layout_of, require_array, require_bounded


def _bytes(elements: int, bits: int) -> int:
    return -(-elements * bits // 8)


def element_size_in_bits(spec: SpecLike) -> int:
    """Return the bits one element takes in memory."""
    spec = require_array(spec, "element_size_in_bits")
    layout = spec.layout
    if layout is not None and layout.element_size_in_bits:
        return layout.element_size_in_bits
    return spec.element_type.storage_bytes * 8


def elements_in(spec: SpecLike) -> int:
    """Return the number of elements."""
    spec = require_bounded(spec, "elements_in")
    return math.prod(spec.dimensions)


def elements_in_recursive(spec: SpecLike) -> int:
    """Return the number of elements of all members."""
    if spec.is_tuple:
        return sum([elements_in_recursive(s) for s in spec.tuple_shapes])
    return elements_in(spec)


def byte_size_of(spec: SpecLike, pointer_size: int) -> int:
    """Return the bytes of the elements; of a tuple, those of its table of pointers."""
    if spec.is_tuple:
        return byte_size_of_tuple_index_table(spec, pointer_size)
    if spec.is_array or spec.is_buffer:
        return byte_size_of_elements(spec)
    return 0 if spec.element_type.name == "token" else pointer_size


def byte_size_of_tuple_index_table(spec: SpecLike, pointer_size: int) -> int:
    """Return the bytes of one pointer per member."""
    if not spec.is_tuple:
        raise LayoutError(f"byte_size_of_tuple_index_table: {spec} is not a tuple")
    return pointer_size * len(spec.tuple_shapes)


def byte_size_of_elements(spec: SpecLike) -> int:
    """Return the bytes of the elements, padded by ``padded_dimensions`` alone."""
    spec = require_bounded(spec, "byte_size_of_elements")
    layout = spec.layout
    padded = layout.padded_dimensions if layout is not None else None
    return _bytes(math.prod(padded or spec.dimensions), element_size_in_bits(spec))


def byte_size_of_elements_recursive(spec: SpecLike) -> int:
    """Return the bytes of the elements of all members."""
    if spec.is_tuple:
        return sum([byte_size_of_elements_recursive(s) for s in spec.tuple_shapes])
    return 0 if spec.element_type.name == "token" else byte_size_of_elements(spec)


def array_size(spec: SpecLike) -> int:
    """Return the bytes by the first tile, the split configs and the tail."""
    spec = require_bounded(spec, "array_size")
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


def array_data_size(spec: SpecLike) -> int:
    """Return the bytes up to the last element, as the first tile places it."""
    spec = require_bounded(spec, "array_data_size")
    if 0 in spec.dimensions:
        return 0
    last = linear_index_first_tile(spec, [n - 1 for n in spec.dimensions])
    return _bytes(last + 1, element_size_in_bits(spec))


def unpacked_byte_strides(spec: SpecLike) -> tuple[int, ...]:
    """Return the strides of the untiled array, each element in whole bytes."""
    spec = require_bounded(spec, "unpacked_byte_strides")
    stride = spec.element_type.storage_bytes
    strides = [0] * len(spec.dimensions)
    for d in layout_of(spec).minor_to_major:
        strides[d] = stride
        stride *= spec.dimensions[d]
    return tuple(strides)


def byte_strides(spec: SpecLike) -> tuple[int, ...] | None:
    """Return `unpacked_byte_strides`; None where an element takes no whole bytes."""
    if layout_of(spec).element_size_in_bits % 8:
        return None
    return unpacked_byte_strides(spec)


def byte_strides_is_major_to_minor(spec: SpecLike, strides: Sequence[int]) -> bool:
    """Tell whether byte strides are those of a row-major array."""
    spec = require_bounded(spec, "byte_strides_is_major_to_minor")
    if len(strides) != len(spec.dimensions):
        raise LayoutError(
            f"byte_strides_is_major_to_minor: {len(strides)} strides for {spec}; "
            "there must be one per dimension"
        )
    expected = spec.element_type.storage_bytes
    for stride, extent in zip(reversed(strides), reversed(spec.dimensions), strict=True):
        if stride != expected:
            return False
        expected *= extent
    return True


def max_split_size(spec: SpecLike, dimension: int) -> int:
    """Return the widest part that split configs leave of a dimension."""
    spec = require_array(spec, "max_split_size")
    d = check_dimension(dimension, len(spec.dimensions), "max_split_size")
    layout = layout_of(spec)
    physical = layout.rank - 1 - layout.minor_to_major.index(d)
    for config in layout.split_configs:
        if config.dimension == physical:
            cuts = [0, *config.split_indices, spec.dimensions[d]]
            return max([after - before for before, after in itertools.pairwise(cuts)])
    return spec.dimensions[d]


def max_elements_in_per_split(spec: SpecLike) -> int:
    """Return the number of elements of the largest part."""
    spec = require_bounded(spec, "max_elements_in_per_split")
    return math.prod([max_split_size(spec, d) for d in range(len(spec.dimensions))])


def get_split_config(spec: SpecLike) -> SplitConfig | None:
    """Return the split config; None without one."""
    spec = require_array(spec, "get_split_config")
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
    return _bytes(physical_size(spec, "nbytes"), element_size_in_bits(spec))


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


def is_padded(spec: SpecLike) -> bool:
    """Tell whether ``padded_dimensions`` differ from the dimensions."""
    spec = require_array(spec, "is_padded")
    layout = spec.layout
    padded = layout.padded_dimensions if layout is not None else None
    return bool(padded) and tuple(padded or ()) != spec.dimensions
