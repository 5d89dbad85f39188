"""Where a container's elements lie: what follows from its buffer and its map."""

from __future__ import annotations

import builtins
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import starmap
from typing import Any, ClassVar

import numpy as np

from .._errors import DTypeError, LayoutError, ReadOnlyError
from .._later import placement, specs
from ..dtypes.names import DType, as_dtype
from ..layout.strided import COLUMN_MAJOR, DYNAMIC, ROW_MAJOR, ElementStride, Strided
from ..layout.tiled import Map, TiledMap
from ..memory.buffer import Buffer
from ..memory.shield import Shield
from ..operands.convert import Policy
from ..operands.dispatch import namespace
from ..operands.non_numeric import dtype_of

#: What says where a container's elements lie.
_PLACE = ("_buffer", "_dtype", "_kind", "_place", "_shape", "_start")


class Placed:
    """Base of containers: memory, and a map from indices to places in it."""

    __slots__ = ()

    _view_class: ClassVar[Any]
    _wrap: Callable[..., Any]  # a container over existing memory, unchecked
    _buffer: Buffer
    _dtype: np.dtype[Any]

    @property
    def _map(self) -> Map:
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def _lie_elsewhere(self, buffer: Buffer, place: Map, dtype: np.dtype[Any]) -> None:
        """Have the elements of a container that is in use lie in a buffer as a map says.

        At once, as no code of Python runs between: other threads find one place or the other.
        """
        before, other = self._buffer, self._wrap(buffer, place, dtype)
        found = [(name, getattr(other, name)) for name in _PLACE if hasattr(other, name)]
        deque(starmap(partial(setattr, self), found), 0)
        del before  # not earlier: what goes with it may run code
        for remembered in ("_steps", "_array"):
            with suppress(AttributeError):
                delattr(self, remembered)

    def _still(self) -> Any:
        """Return the container as it lies now, whatever place other threads give it meanwhile."""
        return self

    def summary(self) -> str:
        """Return kind, dtype, shape and tiled layout, as error messages show them."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    @property
    def buffer(self) -> Buffer:
        """The flat buffer that holds the elements."""
        return self._buffer

    @property
    def map(self) -> Map:
        """Where each element lies in the buffer."""
        return self._map

    def _strided(self, what: str) -> Strided:
        """Return the map of strided memory; tiled memory has no strides.

        Raises
        ------
        LayoutError
            If the layout is tiled.
        """
        if isinstance(self._map, Strided):
            return self._map
        raise LayoutError(
            f"{what}: {self.summary()} with the layout {self._map.layout} has no strides; see "
            "spec, or copy it with to_layout('row_major')"
        )

    def view(self, dtype: object = None, type: builtins.type | None = None) -> Any:
        """Return the same memory with another dtype; see `ArrayObject.view`.

        As in NumPy a class of arrays may stand in its place, of NumPy's or of ours.

        Raises
        ------
        ValueError, LayoutError
            If the elements do not lie so that they can be read in this way.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.asarray([1.0, -0.0]).view("uint64") >> 63
        <XFunction bitwise_right_shift: uint64[2], lazy>
        """
        own: Any = self
        if not own._shape and own._is_value():
            return own.copy().view(dtype, type)
        if type is not None and issubclass(type, np.ndarray):
            return np.asarray(self if dtype is None else self.view(dtype)).view(type)
        if isinstance(dtype, builtins.type):
            if issubclass(dtype, np.ndarray):
                return np.asarray(self).view(dtype)
            if issubclass(dtype, Placed) or dtype is namespace(None).ndarray:
                dtype = None
        if dtype is None:
            if own._is_strided():
                return own[...]  # which machine code makes
            return self._view_class._wrap(self._buffer, self._map, self._dtype)
        try:
            wanted = as_dtype(dtype)
        except DTypeError:
            other = dtype_of(dtype)
            if other is None:
                raise
            return np.asarray(self).view(other)  # bytes as they are, say, to be compared
        return self._reinterpreted(wanted)

    def _reinterpreted(self, wanted: DType) -> Any:
        """Return the same bytes as elements of another dtype, of the same size or not."""
        width = self._dtype.itemsize
        if wanted.itemsize == width and self._map.bits_of(width) == 8 * width:
            return self._view_class._wrap(self._buffer, self._map, wanted)
        place = self._strided("view")
        values = self._buffer.view(self._dtype, place).view(wanted)
        size, start = wanted.itemsize, place.offset * self._dtype.itemsize
        moving = [s for s, n in zip(values.strides, values.shape, strict=True) if n > 1]
        if start % size or any([s % size for s in moving]):
            raise LayoutError(f"view: {self.summary()} does not lie at multiples of {size} bytes")
        strides = tuple([s // size for s in values.strides])
        made = Strided(values.shape, strides, start // size)
        return self._view_class._wrap(self._buffer, made, wanted)

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance between neighbours along each dimension, in elements (not bytes).

        Raises
        ------
        LayoutError
            If the layout is tiled: neighbours are not always as far apart.
        """
        return tuple(map(ElementStride, self._strided("strides").strides))

    @property
    def backstrides(self) -> tuple[int, ...]:
        """Distance from the first to the last element along each dimension, in elements."""
        return self._strided("backstrides").backstrides

    @property
    def offset(self) -> int:
        """Place of the first element in the buffer, in elements."""
        return self._map.offset

    @property
    def layout(self) -> Policy:
        """How the elements lie now: row-major, column-major, an XLA layout, or none (dynamic)."""
        if isinstance(self._map, TiledMap):
            return self._map.layout if self._map.is_whole else DYNAMIC
        if self._map.is_row_major():
            return ROW_MAJOR
        return COLUMN_MAJOR if self._map.is_column_major() else DYNAMIC

    @property
    def spec(self) -> specs.ArraySpec:
        """Element type, shape and layout, as XLA writes them.

        Raises
        ------
        LayoutError
            If the elements do not lie as any layout says: a view with gaps, or part of a tile.

        Examples
        --------
        >>> import xarraylite as xl
        >>> str(xl.zeros((10, 300), dtype="bfloat16", layout="{1,0:T(8,128)(2,1)}").spec)
        'bf16[10,300]{1,0:T(8,128)(2,1)}'
        """
        layout = placement.layout_of_map(self._map)
        if layout is None:
            raise LayoutError(
                f"spec: the elements of {self.summary()} lie as no layout says: it is a view that "
                "is cut, strided, reversed, repeated or reshaped"
            )
        return specs.ArraySpec(self._dtype, self._map.shape, layout)

    @property
    def readonly(self) -> bool:
        """Whether assignments are refused."""
        return self._buffer.readonly

    def _protect(self, readonly: bool) -> None:
        """Refuse assignments through this container and its later views, or allow them again."""
        buffer = self._buffer
        if buffer.readonly is readonly:
            return
        if readonly:
            self._shield()
        elif isinstance(buffer, Shield):
            self._lie_elsewhere(buffer.owner, self._map, self._dtype)
        else:
            raise ReadOnlyError(f"flags: {self.summary()} is read-only memory, so it stays so")

    def _shield(self) -> None:
        """Refuse assignments through this container, also where its memory can be written."""
        self._lie_elsewhere(Shield(self._buffer), self._map, self._dtype)

    def is_contiguous(self) -> bool:
        """Tell whether the elements fill one run of the buffer."""
        return self._map.is_contiguous()
