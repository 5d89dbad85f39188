"""`adapt`: give a foreign buffer the container interface, without a copy."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, SupportsIndex

import numpy as np

from .._errors import DTypeError, LayoutError, OverlapError
from .._later import layouts, overlap, specs
from ..dtypes.names import as_dtype, dtype_name
from ..index.broadcast import as_shape
from ..layout.strided import DYNAMIC, Strided
from ..layout.tiled import Map, TiledMap
from ..memory.buffer import Buffer
from ..operands.convert import LayoutLike, layout_of
from ..operands.nodes import HasNode, Lifted, borrowed, has_array
from ..runtime.counting import count_use
from .xarray import XArray


def adapt(
    buffer: Any,
    shape: SupportsIndex | Iterable[SupportsIndex] | None = None,
    *,
    dtype: object = None,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    layout: LayoutLike = None,
    spec: specs.ArraySpec | str | None = None,
) -> XArray:
    """Use foreign memory as a container; nothing is copied.

    Every position the layout reaches is proven to lie inside the buffer before any pointer
    exists.  Memory that is read-only stays read-only.  What others write to the memory is seen
    by expressions when they are evaluated.

    Parameters
    ----------
    buffer : ndarray or buffer-protocol object
        For example bytes, bytearray, memoryview, mmap, array.array; without further arguments
        also an object that NumPy makes an array of with no copy.
    shape : int or sequence of int, optional
        By default that of an array, or as many elements as fit the rest of a flat buffer.
    dtype : dtype, optional
        By default that of an array; required for raw bytes.
    strides : sequence of int, optional
        Element strides.
    offset : int, optional
        Place of element ``(0, …, 0)`` in the buffer, in elements.
    layout : optional
        Order of the dimensions where no strides are given, or an XLA layout.
    spec : ArraySpec or str, optional
        Dtype, shape and layout at once, as of a dump made elsewhere:
        ``"bf16[10,300]{1,0:T(8,128)(2,1)}"``.

    Returns
    -------
    XArray
        A container that cannot change its size.

    Raises
    ------
    LayoutError
        If the layout reaches outside the buffer.
    OverlapError
        If writable elements share memory with each other.
    DTypeError
        If the buffer holds no numbers, or its dtype is not known.

    Examples
    --------
    >>> import xarraylite as xl
    >>> memory = bytearray(16)
    >>> a = xl.adapt(memory, (2, 2), dtype="int32")
    >>> a[0] = 7
    >>> memory[0], memory[4], memory[8]
    (7, 7, 0)
    """
    bare = shape is dtype is layout is spec is None and strides is None and offset == 0
    made = adapted(buffer) if bare else None
    if made is not None:
        return made
    if isinstance(buffer, HasNode):
        raise DTypeError(f"adapt: got {type(buffer).__name__}; index a container for a view")
    offset = operator.index(offset)
    if spec is not None:
        shape, dtype, layout = _parts_of(spec, shape, dtype, layout, strides)
    plain = shape is None and strides is None and dtype is None and offset == 0
    if plain and isinstance(buffer, np.generic):
        buffer = memoryview(buffer)  # type: ignore[arg-type]
    if plain and isinstance(buffer, memoryview) and not (buffer.ndim == 1 and buffer.c_contiguous):
        buffer = np.asarray(buffer)
    if plain and not isinstance(buffer, (np.ndarray, Lifted)) and has_array(type(buffer)):
        buffer = np.asarray(buffer, copy=False)
    if plain and isinstance(buffer, np.ndarray):
        memory, own, kind = borrowed(buffer, "adapt")
        _refuse_overlap(memory, own, kind)
        return XArray._own(memory, own, kind, DYNAMIC)
    return _placed(buffer, shape, dtype, strides, offset, layout)


def _placed(
    buffer: Any, shape: Any, dtype: object, strides: Any, offset: int, layout: LayoutLike
) -> XArray:
    """Return a container over flat memory, as the caller says how the elements lie."""
    memory = Buffer.borrow(_flat(buffer))
    kind = _dtype_of(buffer, dtype)
    extents = _extents(memory, kind, offset) if shape is None else as_shape(shape, "adapt")
    place, order = layout_of(extents, layout, None, kind, "adapt")
    if strides is not None:
        place, order = _strided(extents, strides, layout, kind), DYNAMIC
    place = replace(place, offset=offset)
    _check_reach(memory, place, kind)
    _refuse_overlap(memory, place, kind)
    return XArray._own(memory, place, kind, order)


def adapted(buffer: object) -> XArray | None:
    """Return a container over an ordinary array; None: only machine code beats `adapt`."""
    count_use()
    return None


def _extents(memory: Buffer, dtype: np.dtype[Any], offset: int) -> tuple[int, ...]:
    """Return the shape of all elements from ``offset`` to the end of the buffer."""
    rest, over = divmod(memory.nbytes, dtype.itemsize)
    rest -= offset
    if over:
        raise LayoutError(
            f"adapt: {memory.nbytes} bytes are no whole number of elements of "
            f"{dtype_name(dtype)}; give a shape"
        )
    if offset < 0 or rest < 0:
        raise LayoutError(
            f"adapt: offset {offset} lies outside a buffer of {rest + offset} elements of "
            f"{dtype_name(dtype)}"
        )
    return (rest,)


def _strided(
    extents: tuple[int, ...], strides: Sequence[int], layout: LayoutLike, dtype: np.dtype[Any]
) -> Strided:
    given = tuple(map(operator.index, strides))
    layout_of(extents, layout, given, dtype, "adapt")
    return Strided(extents, given)


def _flat(buffer: Any) -> Any:
    """Return an array's elements as flat memory; they must be contiguous."""
    if isinstance(buffer, memoryview) and not buffer.c_contiguous:
        raise LayoutError(
            f"adapt: a memoryview of shape {buffer.shape} and byte strides {buffer.strides} is "
            "not contiguous in row-major order; adapt np.asarray(view)"
        )
    if isinstance(buffer, np.ndarray):
        if not (buffer.flags.c_contiguous or buffer.flags.f_contiguous):
            raise LayoutError(
                f"adapt: an array of shape {buffer.shape} and byte strides {buffer.strides} is "
                "not contiguous, so it cannot be given another shape; adapt it as it is"
            )
        return buffer.reshape(-1, order="A").view(np.uint8) if buffer.size else buffer
    return buffer


def _dtype_of(buffer: Any, dtype: object) -> np.dtype[Any]:
    if dtype is not None:
        return as_dtype(dtype)
    if isinstance(buffer, np.ndarray):
        return as_dtype(buffer.dtype)
    view = memoryview(buffer)
    if view.format in ("B", "c", "b") and not hasattr(buffer, "typecode"):
        raise LayoutError(
            f"adapt: {type(buffer).__name__} holds raw bytes; say what they are with dtype="
        )
    return as_dtype(np.dtype(view.format))


def _parts_of(spec: specs.ArraySpec | str, *others: object) -> tuple[Any, Any, LayoutLike]:
    """Return shape, dtype and layout of a spec, which must be all that is said of them."""
    if any(other is not None for other in others):
        raise LayoutError("adapt: spec says shape, dtype and layout; give nothing else of them")
    parsed = specs.ArraySpec.parse(spec) if isinstance(spec, str) else spec
    if not (parsed.is_array and parsed.is_static):
        raise LayoutError(f"adapt: {parsed} is not the spec of one array of a fixed shape")
    return parsed.dimensions, parsed.dtype, parsed.layout or layouts.Layout.row_major(parsed.rank)


def _check_reach(memory: Buffer, place: Map, dtype: np.dtype[Any]) -> None:
    size = dtype.itemsize
    if memory.nbytes and memory.address % dtype.alignment:  # no bytes may lie anywhere
        raise LayoutError(
            f"adapt: the buffer's address is no multiple of {dtype.alignment} bytes, the "
            f"alignment of {dtype_name(dtype)}"
        )
    how = (
        f"the layout {place.layout}" if isinstance(place, TiledMap) else f"strides {place.strides}"
    )
    low, last = place.byte_range(size) if isinstance(place, TiledMap) or place.size else (0, -1)
    if low < 0 or last >= memory.nbytes or place.offset * place.bits_of(size) % 8:
        raise LayoutError(
            f"adapt: {dtype_name(dtype)}{list(place.shape)} with {how} and offset {place.offset} "
            f"needs bytes {low} to {last + 1} of a buffer of {memory.nbytes} bytes"
        )


def _refuse_overlap(memory: Buffer, place: Map, dtype: np.dtype[Any]) -> None:
    if isinstance(place, TiledMap) or memory.readonly:
        return
    if overlap.repeats(place):
        raise OverlapError(
            f"adapt: shape {place.shape} with strides {place.strides} addresses some element "
            "more than once; only read-only memory can be adapted so"
        )


def rebind(container: XArray, buffer: Any) -> XArray:
    """Have an adaptor stand for other foreign memory of the same shape, dtype and layout.

    Expressions and views that were made before stay with the memory they were made of.

    Parameters
    ----------
    container : XArray
        Made by `adapt`.
    buffer : ndarray or buffer-protocol object
        Flat memory with room for it; see `adapt`.

    Returns
    -------
    XArray
        The container itself.

    Raises
    ------
    LayoutError
        If the container owns its memory, or its layout reaches outside the buffer.
    OverlapError
        If writable elements would share memory with each other.

    Examples
    --------
    >>> import xarraylite as xl
    >>> first, second = bytearray(4), bytearray(b"\\x05\\x06\\x07\\x08")
    >>> a = xl.adapt(first, (2, 2), dtype="uint8")
    >>> xl.rebind(a, second)
    XArray([[5, 6],
            [7, 8]], dtype=uint8)
    """
    if getattr(getattr(container, "buffer", None), "owner", None) is None:
        raise LayoutError("rebind: only what adapt has made stands for foreign memory")
    memory = Buffer.borrow(_flat(buffer))
    place, kind = container.map, container.dtype
    low = place.byte_range(kind.itemsize)[0] if container.size else 0
    if isinstance(place, Strided):
        place = replace(place, offset=place.offset - low // kind.itemsize)
    _check_reach(memory, place, kind)
    _refuse_overlap(memory, place, kind)
    container._lie_elsewhere(memory, place, kind)
    return container
