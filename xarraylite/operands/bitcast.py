"""The same memory under another shape and layout: when that is allowed, and how it lies then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._errors import LayoutError
from ..dtypes.names import DType, dtype_name
from ..layout.layout import Layout
from ..layout.tiled import Map
from ..memory.buffer import Buffer
from ..xla.spec import ArraySpec
from .convert import Policy, layout_of


def bitcast_of(
    mine: ArraySpec, buffer: Buffer, place: Map, spec: ArraySpec | str
) -> tuple[Map, DType, Policy]:
    """Return map, dtype and static layout of a container over the same elements.

    Raises
    ------
    LayoutError
        Unless every element keeps its place and its width, and the memory its size and space.
    """
    wanted: Any = ArraySpec.parse(spec) if isinstance(spec, str) else spec
    if not isinstance(wanted, ArraySpec) or not (wanted.is_array and wanted.is_static):
        raise LayoutError(f"bitcast: {wanted!s} is not the spec of one array of a fixed shape")
    source, target = [s.layout or Layout.row_major(s.rank) for s in (mine, wanted)]
    before, dtype = mine.dtype, wanted.dtype
    same = before.itemsize == dtype.itemsize and source.memory_space == target.memory_space
    if not same or not mine.is_bitcast(wanted):
        raise LayoutError(
            f"bitcast: {mine} is not {wanted} in memory; every element must keep its place and "
            "its width, and the memory its size and space"
        )
    start = place.byte_start(before.itemsize)
    if (buffer.address + start) % dtype.alignment:
        raise LayoutError(
            f"bitcast: {mine} begins at an address that is no multiple of {dtype.alignment} "
            f"bytes, the alignment of {dtype_name(dtype)}"
        )
    moved, policy = layout_of(wanted.dimensions, target, None, dtype, "bitcast")
    return replace(moved, offset=start * 8 // moved.bits_of(dtype.itemsize)), dtype, policy
