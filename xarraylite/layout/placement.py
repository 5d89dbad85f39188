"""From a `Layout` to the map of a container's memory, and back.

A layout without tiles, padding or packing is a `Strided` map; everything else is a `TiledMap`.
Containers hold values of NumPy dtypes, so an element takes at least the bits its type has: an
int4 takes 4, 8, or more, but a float32 cannot be stored in 16.
"""

from __future__ import annotations

from dataclasses import replace

from .._errors import LayoutError
from ..dtypes.element_types import element_type
from ..dtypes.names import DType, dtype_name
from ..index.radix import compose, contiguous_strides, inverse
from .layout import Layout
from .strided import Strided
from .tiled import Map, TiledMap


def map_of(layout: Layout, shape: tuple[int, ...], dtype: DType, operation: str) -> Map:
    """Return where the elements of a new container lie.

    Raises
    ------
    LayoutError
        If the layout does not fit the shape, or its elements are too narrow for the dtype.
    """
    try:
        layout.validate(shape)
    except LayoutError as error:
        name = f"{dtype_name(dtype)}{list(shape)}"
        raise LayoutError(f"{operation}: {layout} is no layout of {name}: {error}") from None
    if layout.dynamic_shape_metadata_prefix_bytes:
        raise LayoutError(
            f"{operation}: layout {layout} puts the sizes of a dynamic shape before the elements; "
            "a container's elements begin where its memory does"
        )
    bits = element_bits(layout, dtype, operation)
    tail = layout.tail_padding_alignment_in_elements
    if not layout.tile_dims and tail == 1 and bits == 8 * dtype.itemsize:
        filled = [extent or 1 for extent in shape]
        return Strided(shape, contiguous_strides(filled, layout.minor_to_major))
    return TiledMap.whole(layout, shape, bits)


def element_bits(layout: Layout, dtype: DType, operation: str) -> int:
    """Return the bits from one element to the next in memory.

    Raises
    ------
    LayoutError
        If they are fewer than the dtype needs, or neither 1, 2, 4 nor such that every element is
        aligned.
    """
    given = layout.element_size_in_bits
    if given == 0:
        return 8 * dtype.itemsize
    needed, unit = element_type(dtype).bits, 8 * dtype.alignment
    if given < needed or (given not in (1, 2, 4) and given % unit):
        raise LayoutError(
            f"{operation}: layout {layout} gives an element {given} bits; {dtype_name(dtype)} "
            f"needs at least {needed}, and as many as 1, 2, 4 or a multiple of {unit}"
        )
    return given


def like(layout: TiledMap, dtype: DType, source: DType) -> Map:
    """Return the map of a whole array of ``dtype`` that lies as one of ``source`` does."""
    return map_of(layout_for(layout.layout, dtype, source), layout.dimensions, dtype, "evaluate")


def layout_for(layout: Layout, dtype: DType, source: DType) -> Layout:
    """Return a layout of elements of ``source`` for elements of ``dtype``.

    A size of elements that it names is kept for the same dtype, and for one with as many bits.
    """
    given = layout.element_size_in_bits
    if given and dtype != source and given != element_type(dtype).bits:
        return replace(layout, element_size_in_bits=0)
    return layout


def layout_of_map(place: Map) -> Layout | None:
    """Return the layout that a map of a whole array follows; None if it is none of XLA's.

    Where extents of 1 leave a choice, the order is the row-major one.
    """
    if isinstance(place, TiledMap):
        return _permuted(place)
    order = sorted(range(place.ndim), key=lambda d: (place.shape[d] != 1 and place.strides[d], -d))
    step = 1
    for d in order:
        if place.shape[d] > 1 and place.strides[d] != step:
            return None
        step *= place.shape[d] or 1
    ranked = place.is_row_major()
    return Layout.row_major(place.ndim) if ranked else Layout(order)


def _permuted(place: TiledMap) -> Layout | None:
    """Return the layout of a whole tiled array, or of one with its dimensions permuted."""
    if place.is_whole:
        return place.layout
    axes = [m.axis for m in place.step.maps]
    plain = all(m.start == 0 and m.step == 1 for m in place.step.maps)
    if not plain or sorted(axes) != list(range(place.ndim)):
        return None
    back = inverse(axes)
    if compose(place.dimensions, back) != place.shape:
        return None
    padded = place.layout.padded_dimensions
    return replace(
        place.layout,
        minor_to_major=compose(axes, place.layout.minor_to_major),
        padded_dimensions=padded and compose(padded, back),
    )
