"""Reading and writing any layout as NumPy arrays: where no kernel is at hand.

Strided memory is a view.  Tiled memory is copied element by element through a table of positions,
which is slow and obviously right: the tests' oracle, and the way out for layouts that no loop
nest serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import LayoutError
from .._later import info, mixed_radix
from ..dtypes.names import NumpyArray, dtype_name, kind
from ..index.transform import FIXED
from ..layout.strided import Strided
from ..layout.tiled import Map, TiledMap
from .block import Memory
from .buffer import Buffer

if TYPE_CHECKING:
    from ..layout.fields import PaddingValue

Choice = tuple[int, NumpyArray]
"""A dimension, and the indices along it that are meant (in any shape)."""


def positions(layout: TiledMap, only: Choice | None = None) -> NumpyArray:
    """Return the position of every element of a box, in elements of the buffer.

    With ``only`` those of some indices along one dimension, in whose place the indices' stand.
    """
    tiled = layout.tiled
    shape, along = _grid(layout.shape, only)
    index: list[Any] = [
        start if axis == FIXED else start + pace * along[axis]
        for start, pace, axis in layout.step.maps
    ]
    total: Any = layout.offset
    fields = tiled.fields
    if fields is None:
        total = total + tiled.position_by_levels(index)
    else:
        for dims, weights, digits in fields:
            merged = sum([w * index[d] for d, w in zip(dims, weights, strict=True)])
            total = total + mixed_radix.position_of(merged, digits)
    return np.broadcast_to(np.asarray(total, np.int64), shape)


def _grid(shape: tuple[int, ...], only: Choice | None) -> tuple[tuple[int, ...], list[NumpyArray]]:
    """Return the shape of a table of positions, and along it the indices of each dimension."""
    parts: list[NumpyArray] = [np.arange(extent, dtype=np.int64) for extent in shape]
    if only is not None:
        parts[only[0]] = only[1]
    full = sum([part.shape for part in parts], ())
    ranks = [part.ndim for part in parts]
    return full, [
        part.reshape((1,) * sum(ranks[:k]) + part.shape + (1,) * sum(ranks[k + 1 :]))
        for k, part in enumerate(parts)
    ]


def read(buffer: Memory, dtype: np.dtype[Any], layout: Map) -> NumpyArray:
    """Return the elements of a layout: a view where it is strided, else a copy."""
    if isinstance(layout, Strided):
        return buffer.view(dtype, layout)
    where = positions(layout)
    if layout.bits >= 8:
        return np.asarray(_cells(buffer, dtype, layout)[where])
    per = 8 // layout.bits
    codes = buffer.run()[where // per] >> (where % per * layout.bits).astype(np.uint8)
    codes = np.asarray(codes & np.uint8((1 << layout.bits) - 1))
    return codes.astype(np.bool_) if dtype == np.bool_ else codes.view(dtype)


def write(
    buffer: Memory,
    dtype: np.dtype[Any],
    layout: Map,
    values: NumpyArray,
    only: Choice | None = None,
) -> None:
    """Write an array of ``dtype`` to the elements of a layout; what lies between them stays.

    With ``only`` to those of some indices along one dimension; of equal ones the last counts.
    """
    if isinstance(layout, Strided):
        view = buffer.view(dtype, layout)
        view[... if only is None else (slice(None),) * only[0] + (only[1],)] = values
        return
    where = positions(layout, only)
    values = np.broadcast_to(np.asarray(values, dtype), where.shape)
    if layout.bits >= 8:
        _cells(buffer, dtype, layout)[where] = values
        return
    per, mask = 8 // layout.bits, (1 << layout.bits) - 1
    codes = np.ascontiguousarray(values).view(np.uint8).reshape(where.shape) & np.uint8(mask)
    for place in range(per):  # one element of each byte at a time
        chosen = where % per == place
        bytes_ = where[chosen] // per
        shift = np.uint8(place * layout.bits)
        kept = buffer.run()[bytes_] & np.uint8(255 ^ mask << int(shift))
        buffer.run()[bytes_] = kept | codes[chosen] << shift


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
    buffer.run()[:] = 0
    value = padding_value(layout.layout.padding_value, dtype)
    if value is None:
        return
    if layout.bits >= 8:
        _cells(buffer, dtype, layout)[...] = value
        return
    code = int(np.asarray(value, dtype).view(np.uint8)) & ((1 << layout.bits) - 1)
    buffer.run()[:] = sum([code << at for at in range(0, 8, layout.bits)])


def padding_value(wanted: PaddingValue | None, dtype: np.dtype[Any]) -> Any:
    """Return the value that padding is given, or None for zero bits."""
    named = "" if wanted is None else wanted.name
    if named == "ONE":
        return np.ones((), dtype)[()]
    if named not in ("LOWEST", "HIGHEST"):
        return None
    if kind(dtype) == "c":
        raise LayoutError(
            f"layout: the padding value {named} needs an order, which {dtype_name(dtype)} has not"
        )
    return info.bounds(dtype)[("LOWEST", "HIGHEST").index(named)]


def _cells(buffer: Memory, dtype: np.dtype[Any], layout: TiledMap) -> NumpyArray:
    """Return all positions of a buffer as a one-dimensional array, `bits` apart."""
    step = layout.bits // 8
    count = max(0, buffer.nbytes - dtype.itemsize + step) // step
    flat = buffer.run()
    return np.ndarray((count,), dtype, flat, 0, (step,))
