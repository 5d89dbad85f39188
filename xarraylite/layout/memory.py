"""From a `Layout` to the map of a container's memory, and back.

A layout without tiles, padding or packing is a `Strided` map; everything else is a `TiledMap`.
Containers hold values of NumPy dtypes, so an element takes at least the bits its type has: an
int4 takes 4, 8, or more, but a float32 cannot be stored in 16.
"""

from __future__ import annotations

from dataclasses import replace

from .._errors import LayoutError
from ..dtypes.names import DType, dtype_name
from .elements import element_type
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
    layout.validate(shape)
    bits = element_bits(layout, dtype, operation)
    tail = layout.tail_padding_alignment_in_elements
    if not layout.tile_dims and tail == 1 and bits == 8 * dtype.itemsize:
        strides, step = [0] * len(shape), 1
        for d in layout.minor_to_major:
            strides[d] = step
            step *= shape[d] or 1
        return Strided(shape, tuple(strides))
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
    chosen = layout_for(layout.layout, dtype, source)
    place = map_of(chosen, layout.dimensions, dtype, "evaluate")
    if isinstance(place, Strided) and not (place.is_row_major() or place.is_column_major()):
        return TiledMap.whole(chosen, layout.dimensions, element_bits(chosen, dtype, "evaluate"))
    return place


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
        return place.layout if place.is_whole else None
    order = sorted(range(place.ndim), key=lambda d: (place.shape[d] != 1 and place.strides[d], -d))
    step = 1
    for d in order:
        if place.shape[d] > 1 and place.strides[d] != step:
            return None
        step *= place.shape[d] or 1
    ranked = place.is_row_major()
    return Layout.row_major(place.ndim) if ranked else Layout(order)
