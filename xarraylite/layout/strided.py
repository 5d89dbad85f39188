"""Strided layouts: element ``(i0, …, in)`` of a box lies at ``offset + i0*s0 + … + in*sn``.

Strides and offset count elements, not bytes.  Row-major strides grow from right to left,
column-major ones from left to right; a stride of 0 repeats elements (a broadcast), a negative
one reverses them.  `Strided` is the description that leaves of expressions, containers, the
overlap test and the loop planner all read.

Not to be confused with *internal* strides of xtensor, which are 0 for extents of 1; here every
dimension keeps its real stride and code that merges loops drops extents of 1 first.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from enum import Enum
from typing import Any, Self

from .._errors import LayoutError
from .._records import record
from ..index.transform import FIXED, Transform


class Order(Enum):
    """The layouts a strided container may be asked for by name.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.zeros((2, 3), layout=xl.column_major).strides
    (1, 2)
    >>> xl.zeros((2, 3), layout="row_major").layout
    xl.row_major

    NumPy's letters are other names of the first two.

    >>> xl.zeros((2, 3), layout="F").strides
    (1, 2)
    """

    ROW_MAJOR = "row_major"
    """C order: the last dimension is contiguous."""
    COLUMN_MAJOR = "column_major"
    """Fortran order: the first dimension is contiguous."""
    DYNAMIC = "dynamic"
    """Row-major to begin with; explicit strides and re-layout are accepted later."""

    @classmethod
    def _missing_(cls, value: object) -> Order | None:
        return {"C": cls.ROW_MAJOR, "F": cls.COLUMN_MAJOR}.get(str(value))

    def __repr__(self) -> str:
        return f"xl.{self.value}"

    def __str__(self) -> str:
        return self.value


ROW_MAJOR = Order.ROW_MAJOR
COLUMN_MAJOR = Order.COLUMN_MAJOR
DYNAMIC = Order.DYNAMIC

#: Whether there were ever strides of containers, which NumPy could take for bytes.
counted = ctypes.c_int64(0)


class ByteCount(int):
    """The size of an element as containers say it, which knows how many elements its multiples are.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((3, 3))
    >>> a.itemsize, a.strides[0] + a.itemsize, a.strides[0] + 2 * a.itemsize
    (8, 4, 5)
    """

    one: int

    @classmethod
    def of(cls, count: int, one: int) -> ByteCount:
        """Return so many bytes, of elements that each are ``one``."""
        made = cls(count)
        made.one = one
        return made

    def __add__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, ElementStride) else int(self) + other

    def __mul__(self, other: Any) -> Any:
        if type(other) is int:
            return ByteCount.of(int(self) * other, self.one)
        return int(self) * other

    __rmul__ = __mul__

    def __neg__(self) -> ByteCount:
        return ByteCount.of(-int(self), self.one)

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)


class ElementStride(int):
    """A stride as containers say it, which remembers that it counts elements, not bytes.

    So do its multiples, sums and differences, those with multiples of an `itemsize` too: where
    NumPy's programs give strides, what they made of ours is told from bytes.  Divided by an
    `itemsize` they are plain numbers of elements, multiplied by one numbers of bytes.

    Examples
    --------
    >>> import xarraylite as xl
    >>> [type(s).__name__ for s in (xl.zeros((2, 3)).strides[0] * 2, 2 * xl.zeros(2).strides[0])]
    ['ElementStride', 'ElementStride']
    """

    __slots__ = ()

    def __new__(cls, count: int) -> Self:
        """Return a stride, and note that there are such."""
        counted.value = 1
        return super().__new__(cls, count)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, ByteCount):  # so many elements of so many bytes
            return ByteCount.of(int(self) * int(other), other.one)
        made = int(self) * other
        return ElementStride(made) if isinstance(other, int) else made

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        made = int(self) + _elements(other)
        return ElementStride(made) if isinstance(other, int) else made

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        made = int(self) - _elements(other)
        return ElementStride(made) if isinstance(other, int) else made

    def __floordiv__(self, other: Any) -> Any:
        if isinstance(other, ByteCount):  # of bytes divided by those of an element
            return int(self) // _elements(other)
        made = int(self) // other
        return ElementStride(made) if isinstance(other, int) else made

    def __neg__(self) -> ElementStride:
        return ElementStride(-int(self))

    def __reduce__(self) -> tuple[type[ElementStride], tuple[int]]:
        return ElementStride, (int(self),)


def _elements(count: Any) -> Any:
    return int(count) // count.one if isinstance(count, ByteCount) else count


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a contiguous row-major box."""
    strides = [1] * len(shape)
    for k in range(len(shape) - 1, 0, -1):
        strides[k - 1] = strides[k] * (shape[k] or 1)
    return tuple(strides)


def column_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a contiguous column-major box."""
    return row_major_strides(shape[::-1])[::-1]


@record(frozen=True, slots=True)
class Strided:
    """Where each element of an index box lies in a flat buffer.

    Attributes
    ----------
    shape : tuple of int
        Extents of the box.
    strides : tuple of int
        Distance between neighbours along each dimension, in elements.
    offset : int
        Position of element ``(0, …, 0)``, in elements.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @staticmethod
    def row_major(shape: tuple[int, ...]) -> Strided:
        """Return the contiguous row-major layout of ``shape``."""
        return Strided(shape, row_major_strides(shape))

    @staticmethod
    def column_major(shape: tuple[int, ...]) -> Strided:
        """Return the contiguous column-major layout of ``shape``."""
        return Strided(shape, column_major_strides(shape))

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of the box."""
        return math.prod(self.shape)

    @property
    def backstrides(self) -> tuple[int, ...]:
        """Distance from the first to the last element along each dimension, in elements."""
        return tuple([s * max(n - 1, 0) for n, s in zip(self.shape, self.strides, strict=True)])

    def bounds(self) -> tuple[int, int]:
        """Return the lowest and highest position reached; ``(offset, offset - 1)`` if empty."""
        low = high = self.offset
        for extent, stride in zip(self.shape, self.strides, strict=True):
            if extent == 0:
                return self.offset, self.offset - 1
            if stride < 0:
                low += stride * (extent - 1)
            else:
                high += stride * (extent - 1)
        return low, high

    @property
    def pattern(self) -> tuple[object, ...]:
        """All but shape and offset: what plans depend on."""
        return self.strides

    def based(self) -> Strided:
        """Return the same layout with element ``(0, …, 0)`` at position 0."""
        return Strided(self.shape, self.strides)

    def bits_of(self, itemsize: int) -> int:
        """Return the bits from one element to the next in memory."""
        return 8 * itemsize

    def byte_start(self, itemsize: int) -> int:
        """Return the byte of the buffer where element ``(0, …, 0)`` begins."""
        return self.offset * itemsize

    def byte_range(self, itemsize: int) -> tuple[int, int]:
        """Return the first and the last byte of the buffer that may be reached."""
        low, high = self.bounds()
        return low * itemsize, high * itemsize + itemsize - 1

    def is_row_major(self) -> bool:
        """Tell whether the elements are contiguous in row-major order."""
        return _is_dense(self.shape, self.strides, range(self.ndim - 1, -1, -1))

    def is_column_major(self) -> bool:
        """Tell whether the elements are contiguous in column-major order."""
        return _is_dense(self.shape, self.strides, range(self.ndim))

    def is_contiguous(self) -> bool:
        """Tell whether the elements fill one run of the buffer, in whatever order of dimensions."""
        order = sorted(range(self.ndim), key=lambda k: (self.strides[k], self.shape[k]))
        return _is_dense(self.shape, self.strides, order)

    def apply(self, step: Transform) -> Strided:
        """Return the layout of the view that ``step`` makes of this box."""
        strides = [0] * len(step.shape)
        offset = self.offset
        for stride, (start, pace, axis) in zip(self.strides, step.maps, strict=True):
            offset += stride * start
            if axis != FIXED:
                strides[axis] += stride * pace
        return Strided(step.shape, tuple(strides), offset)

    def part(self, count: int, which: int) -> Strided:
        """Return the layout of one of the parts of elements, such as their imaginary ones."""
        strides = tuple([count * s for s in self.strides])
        return Strided(self.shape, strides, count * self.offset + which)

    def reshape(self, shape: tuple[int, ...]) -> Strided | None:
        """Return the same elements, row by row, as ``shape``; None if that needs a copy."""
        if self.size == 0 or math.prod(shape) != self.size:
            return Strided(shape, row_major_strides(shape), self.offset) if self.size == 0 else None
        runs = merged_runs(self.shape, self.strides)
        strides = [0] * len(shape)
        k = len(shape)
        for extent, stride in reversed(runs):
            filled, inner = 1, stride
            while filled < extent:
                k -= 1
                while shape[k] == 1:
                    strides[k] = inner
                    k -= 1
                filled *= shape[k]
                if extent % filled:
                    return None
                strides[k] = inner
                inner *= shape[k]
        for j in range(k):
            strides[j] = strides[k] * shape[k] if k < len(shape) else 1
        return Strided(shape, tuple(strides), self.offset)


def _is_dense(shape: Sequence[int], strides: Sequence[int], order: Sequence[int]) -> bool:
    expected = 1
    for k in order:
        if shape[k] == 0:
            return True
        if shape[k] != 1:
            if strides[k] != expected:
                return 0 in shape
            expected *= shape[k]
    return True


def merged_runs(shape: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Merge neighbouring dimensions that step as one; extents of 1 are dropped."""
    runs: list[tuple[int, int]] = []
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 1:
            continue
        if runs and runs[-1][1] == stride * extent:
            runs[-1] = (runs[-1][0] * extent, stride)
        else:
            runs.append((extent, stride))
    return runs


def check_strides(shape: tuple[int, ...], strides: tuple[int, ...], operation: str) -> Strided:
    """Return the layout of ``shape`` with ``strides``, moved so that it begins at position 0.

    Raises
    ------
    LayoutError
        If the ranks differ.
    """
    if len(shape) != len(strides):
        raise LayoutError(
            f"{operation}: strides {strides} have {len(strides)} entries, shape {shape} has "
            f"{len(shape)}; they must have one per dimension"
        )
    low, _ = Strided(shape, strides).bounds()
    return Strided(shape, strides, -low)
