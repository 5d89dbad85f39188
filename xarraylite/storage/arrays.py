"""Reading and writing any layout as NumPy arrays: where no kernel is at hand.

Strided memory is a view.  Tiled memory is copied element by element through a table of positions,
which is slow and obviously right: the tests' oracle, and the way out for layouts that no loop
nest serves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes.info import finfo
from ..dtypes.names import kind
from ..dtypes.promotion import int_bounds
from ..layout.layout import PaddingValue
from ..layout.strided import Strided
from ..layout.tiled import Map, TiledMap
from ..shape.transform import FIXED
from .buffer import Buffer

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]


def positions(layout: TiledMap) -> Array:
    """Return the position of every element of a box, in elements of the buffer."""
    rank, tiled = layout.ndim, layout.tiled
    index: list[Array] = []
    for start, pace, axis in layout.step.maps:
        if axis == FIXED:
            index.append(np.full((1,) * rank, start, np.int64))
            continue
        along = start + pace * np.arange(layout.shape[axis], dtype=np.int64)
        index.append(along.reshape([-1 if k == axis else 1 for k in range(rank)]))
    total: Any = layout.offset
    fields = tiled.fields
    if fields is None:
        moved = tiled.physical_index(index)
        place: Any = 0
        for extent, e in zip(tiled.physical_dimensions, moved, strict=True):
            place = place * extent + e
        total = total + place
    else:
        for dims, weights, digits in fields:
            rest: Any = sum([w * index[d] for d, w in zip(dims, weights, strict=True)])
            for period, stride in digits:
                total = total + rest // period * stride
                rest = rest % period
    return np.broadcast_to(np.asarray(total, np.int64), layout.shape)


def read(buffer: Buffer, dtype: np.dtype[Any], layout: Map) -> Array:
    """Return the elements of a layout: a view where it is strided, else a copy."""
    if isinstance(layout, Strided):
        return buffer.view(dtype, layout)
    where = positions(layout)
    if layout.bits >= 8:
        return np.asarray(_cells(buffer, dtype, layout)[where])
    per = 8 // layout.bits
    codes = buffer.data[where // per] >> (where % per * layout.bits).astype(np.uint8)
    codes = np.asarray(codes & np.uint8((1 << layout.bits) - 1))
    return codes.astype(np.bool_) if dtype == np.bool_ else codes.view(dtype)


def write(buffer: Buffer, dtype: np.dtype[Any], layout: Map, values: Array) -> None:
    """Write an array of ``dtype`` to the elements of a layout; what lies between them stays."""
    if isinstance(layout, Strided):
        np.copyto(buffer.view(dtype, layout), values, casting="unsafe")
        return
    where = positions(layout)
    values = np.broadcast_to(np.asarray(values, dtype), layout.shape)
    if layout.bits >= 8:
        _cells(buffer, dtype, layout)[where] = values
        return
    per, mask = 8 // layout.bits, (1 << layout.bits) - 1
    codes = np.ascontiguousarray(values).view(np.uint8).reshape(layout.shape) & np.uint8(mask)
    for place in range(per):  # one element of each byte at a time
        chosen = where % per == place
        bytes_ = where[chosen] // per
        shift = np.uint8(place * layout.bits)
        kept = buffer.data[bytes_] & np.uint8(255 ^ mask << int(shift))
        buffer.data[bytes_] = kept | codes[chosen] << shift


def allocate(layout: Map, dtype: np.dtype[Any]) -> Buffer:
    """Return new memory for a layout that starts at position 0.

    Elements are not initialised; padding is: with the layout's padding value, else with zeros,
    so that the same values always make the same bytes.
    """
    buffer = Buffer.allocate(max(0, layout.byte_range(dtype.itemsize)[1] + 1))
    wide = isinstance(layout, TiledMap) and layout.bits != 8 * dtype.itemsize
    if isinstance(layout, TiledMap) and (layout.has_padding or wide):
        fill_padding(buffer, dtype, layout)
    return buffer


def fill_padding(buffer: Buffer, dtype: np.dtype[Any], layout: TiledMap) -> None:
    """Fill new memory with what padding holds."""
    buffer.data[:] = 0
    value = padding_value(layout.layout.padding_value, dtype)
    if value is None:
        return
    if layout.bits >= 8:
        _cells(buffer, dtype, layout)[...] = value
        return
    code = int(np.asarray(value, dtype).view(np.uint8)) & ((1 << layout.bits) - 1)
    buffer.data[:] = sum([code << at for at in range(0, 8, layout.bits)])


def padding_value(wanted: PaddingValue | None, dtype: np.dtype[Any]) -> Any:
    """Return the value that padding is given, or None for zero bits."""
    if wanted is PaddingValue.ONE:
        return np.ones((), dtype)[()]
    if wanted in (PaddingValue.LOWEST, PaddingValue.HIGHEST):
        lowest = wanted is PaddingValue.LOWEST
        if kind(dtype) == "b":
            return not lowest
        if kind(dtype) in "iu":
            return int_bounds(dtype)[0 if lowest else 1]
        if kind(dtype) == "f":
            endless = np.asarray(-np.inf if lowest else np.inf).astype(dtype)
            if np.isinf(endless):
                return endless[()]
            return finfo(dtype).min if lowest else finfo(dtype).max
    return None


def _cells(buffer: Buffer, dtype: np.dtype[Any], layout: TiledMap) -> Array:
    """Return all positions of a buffer as a one-dimensional array, `bits` apart."""
    step = layout.bits // 8
    count = max(0, buffer.nbytes - dtype.itemsize + step) // step
    flat = buffer.data
    return np.ndarray((count,), dtype, flat, 0, (step,))
