"""A run of bytes at a known address, and arrays over it whose reach is proven first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import LayoutError
from .pool import Bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..layout.strided import Strided


class Memory:
    """A run of bytes and what keeps it alive.

    Attributes
    ----------
    address : int
        Address of the first byte; stays valid as long as this object or any view of it lives.
    nbytes : int
        Length in bytes.
    made : object
        How a product of arrays made the bytes, for `explain`, or the view that they were copied
        from, for `late`; None for all others, and as soon as an assignment writes them.
    """

    __slots__ = ("__dict__", "__weakref__", "_memory", "_start", "address", "nbytes")

    # Rarely anything else, so an instance has it in its dictionary, if it has one.
    made: object = None

    _memory: Bytes
    _start: int
    address: int
    nbytes: int

    @staticmethod
    def over(other: Memory) -> Memory:
        """Return the bytes of another object alone: no snapshot, whose readers count."""
        made = Memory.__new__(Memory)
        made._memory, made._start = other._memory, other._start
        made.address, made.nbytes = other.address, other.nbytes
        return made

    def is_same(self, other: Memory) -> bool:
        """Tell whether both are the same bytes."""
        return self.address == other.address and self.nbytes == other.nbytes

    def run(self) -> Bytes:
        """Return the bytes as a 1-D uint8 array, for callers that do not give it away."""
        return self._memory[self._start : self._start + self.nbytes]

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Return all the bytes as a row-major array of a shape that fills them."""
        return np.ndarray(shape, dtype, self._memory, self._start)

    def view(self, dtype: np.dtype[Any], strided: Strided) -> npt.NDArray[Any]:
        """Return an ndarray of these bytes, its reach proven to lie inside first.

        Parameters
        ----------
        dtype : numpy.dtype
            Element type.
        strided : Strided
            Shape, strides and offset in elements of ``dtype``.

        Raises
        ------
        LayoutError
            If any element would lie outside the buffer.
        """
        size = dtype.itemsize
        shape = strided.shape
        offset = strided.offset * size
        strides = [step * size for step in strided.strides]
        low, high = byte_reach(shape, strides, offset, size)
        if low < 0 or high > self.nbytes:
            raise LayoutError(
                f"view: shape {shape}, strides {strided.strides} and offset {strided.offset} of"
                f" {dtype} reach bytes {low}..{high} of a buffer of {self.nbytes} bytes"
            )
        if low == high:  # no element: any position inside will do
            offset = low
        for axis, extent in enumerate(shape):
            if extent == 1:  # never stepped along, and may be too large for a C integer
                strides[axis] = size
        try:
            return np.ndarray(shape, dtype, self._memory, self._start + offset, strides)
        except (ValueError, OverflowError) as error:
            raise LayoutError(
                f"view: shape {shape} and strides {strided.strides} of {dtype}: {error}"
            ) from None


def byte_reach(
    shape: tuple[int, ...], strides: list[int], offset: int, itemsize: int
) -> tuple[int, int]:
    """Return the range ``[low, high)`` of bytes that a strided array touches.

    All arguments are Python ints in bytes, so nothing wraps.  An array without elements
    touches nothing: the range is empty and lies at 0.
    """
    low = high = offset
    for extent, step in zip(shape, strides, strict=True):
        if extent <= 0:
            return 0, 0
        if step < 0:
            low += (extent - 1) * step
        else:
            high += (extent - 1) * step
    return low, high + itemsize
