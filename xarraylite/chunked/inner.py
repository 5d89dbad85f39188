"""Chunks of zarr arrays whose elements lie in a layout: column-major, permuted or tiled.

The format has codecs between the elements of a chunk and its bytes.  Ours, ``xarraylite.layout``,
writes the memory of a container of that layout, padding included, which other codecs may compress;
its configuration in the array's metadata is the layout's text.  zarr finds it by the package's
entry point wherever the package is installed, so zarr reads such an array too.  A
chunk is packed and unpacked by the kernel that assigns between layouts.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import LayoutError
from ..dtypes.names import DType, NumpyArray, as_dtype
from ..ir.node import Leaf
from ..layout.tiled import Map
from ..memory.arrays import allocate
from ..memory.buffer import Buffer
from ..memory.target import Target
from ..operands.convert import LayoutLike, as_order, layout_of
from ..runtime import evaluate as engine
from .extras import imported
from .joins import leaf_of
from .pipeline import computed

NAME = "xarraylite.layout"

_BYTES = np.dtype(np.uint8)


def place_of_chunk(layout: LayoutLike, chunk: Sequence[int], dtype: DType) -> Map:
    """Return where the elements of a chunk lie.

    Raises
    ------
    LayoutError
        If the layout does not fit the chunk.
    """
    return layout_of(tuple(chunk), layout, None, dtype, "store")[0]


def packed(values: NumpyArray, place: Map) -> NumpyArray:
    """Return the bytes of the memory of a layout that has these elements."""
    buffer = allocate(place, values.dtype)
    node = leaf_of(np.ascontiguousarray(values))
    engine.assign(Target(buffer, place, values.dtype), node, True)
    return buffer.array(_BYTES, (buffer.nbytes,))


def unpacked(data: NumpyArray, place: Map, dtype: DType) -> NumpyArray:
    """Return the elements that the bytes of such memory hold, row-major.

    Raises
    ------
    LayoutError
        If there are not as many bytes as the layout has.
    """
    wanted = max(0, place.byte_range(dtype.itemsize)[1] + 1)
    if data.size != wanted:
        raise LayoutError(f"read: a chunk of this layout has {wanted} bytes, got {data.size}")
    buffer = Buffer.allocate(wanted)
    buffer.array(_BYTES, (wanted,))[...] = data
    return computed(Leaf(place.shape, dtype, buffer.snapshot(), place))


@functools.cache
def layout_codec() -> Any:
    """Return the codec, known to zarr."""

    class LayoutCodec(imported("zarr.abc.codec", "zarr").ArrayBytesCodec):  # type: ignore[misc]
        is_fixed_size = True

        def __init__(self, *, layout: str, endian: str = sys.byteorder) -> None:
            if endian != sys.byteorder:
                raise LayoutError(f"open: chunks of {endian}-endian elements in layout {layout}")
            self.layout, self.endian = layout, endian

        def __eq__(self, other: object) -> bool:
            return type(other) is type(self) and other.to_dict() == self.to_dict()

        def __hash__(self) -> int:
            return hash((self.layout, self.endian))

        def __reduce__(self) -> Any:
            return _again, (self.layout, self.endian)

        @classmethod
        def from_dict(cls, data: Any) -> Any:
            return cls(**data["configuration"])

        def to_dict(self) -> dict[str, Any]:
            return {"name": NAME, "configuration": {"layout": self.layout, "endian": self.endian}}

        def evolve_from_array_spec(self, array_spec: Any) -> Any:
            self._place(array_spec)  # refused when the array is made, not when it is written
            return self

        def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
            place, dtype = self._place(chunk_spec)
            return max(0, place.byte_range(dtype.itemsize)[1] + 1)

        def _place(self, spec: Any) -> tuple[Map, DType]:
            native = getattr(spec.dtype, "to_native_dtype", lambda: spec.dtype)()
            dtype = as_dtype(native)
            return place_of_chunk(self.layout, spec.shape, dtype), dtype

        async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
            place, dtype = self._place(chunk_spec)
            values = chunk_array.as_numpy_array().astype(dtype, copy=False)
            made = await asyncio.to_thread(packed, values, place)
            return chunk_spec.prototype.buffer.from_array_like(made)

        async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
            data = chunk_bytes.as_numpy_array().view(_BYTES)
            made = await asyncio.to_thread(unpacked, data, *self._place(chunk_spec))
            return chunk_spec.prototype.nd_buffer.from_ndarray_like(made)

    imported("zarr.registry", "zarr").register_codec(NAME, LayoutCodec)
    return LayoutCodec


def codec_of(layout: LayoutLike) -> Any:
    """Return the codec of a layout."""
    return layout_codec()(layout=text_of_layout(layout))


def text_of_layout(layout: LayoutLike) -> str:
    """Return a layout as text that is the same however it was given."""
    return str(as_order(layout, "store"))


def _again(layout: str, endian: str) -> Any:
    return layout_codec()(layout=layout, endian=endian)


def __getattr__(name: str) -> Any:
    """Make the codec when zarr asks for it by the entry point."""
    if name == "LayoutCodec":
        return layout_codec()
    raise AttributeError(name)
