"""One stack of matrix products on memory: dtypes that BLAS adds up right, and views it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from .._records import record
from ..dtypes.names import (
    DType,
    NumpyArray,
    bool_,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    is_narrow,
    is_narrow_float,
    is_narrow_int,
    kind,
    uint8,
)
from ..ir.kind import Kind, row_major
from ..layout.strided import Strided
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..runtime.floating_errors import silently
from .calls import in_one_call, multiply
from .path import Gemm, Labels, count

#: What BLAS multiplies.
BLAS_DTYPES = frozenset((float32, float64, complex64, complex128))


def wraps(dtype: DType) -> bool:
    """Tell whether NumPy's products of a dtype are ours: no order of adding changes a bit."""
    return kind(dtype) in "biu" and not is_narrow(dtype)


def accumulator(dtype: DType) -> DType:
    """Return the dtype in which products of ``dtype`` are made and added up."""
    if is_narrow_float(dtype):
        return float32
    if is_narrow_int(dtype):
        return int8 if kind(dtype) == "i" else uint8
    return dtype


def carrier(dtype: DType, terms: int) -> DType | None:
    """Return the dtype in which BLAS adds up ``terms`` products exactly, or as ``dtype`` does.

    None if there is none: int32 and int64, and sums too long.
    """
    if dtype in BLAS_DTYPES:
        return dtype
    bits = 1 if dtype == bool_ else 8 * dtype.itemsize
    if bits > 16:
        return None
    largest = terms << (2 * bits)
    if largest <= 1 << 24:
        return float32
    return float64 if largest <= 1 << 53 else None


class Matrices(NamedTuple):
    """Stacked matrices in memory.

    Attributes
    ----------
    memory : Memory
        Where they lie.  Not a snapshot: writes do not wait for a product that is about to run.
    place : Strided
        The stack's dimensions, rows and columns.
    start : int
        Position of the first element of the array that they are matrices of.
    """

    memory: Memory
    place: Strided
    start: int


#: Memory, and the byte at which an array begins in it.
Located = tuple[Memory, int]


class Window(NamedTuple):
    """Memory as an array, in bytes from the first element of the array that it is part of."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int
    low: int
    high: int

    @classmethod
    def of(cls, place: Strided, base: int, itemsize: int, squeezed: tuple[int, ...]) -> Window:
        """Return a place, less some dimensions of extent 1, seen from the position ``base``."""
        axes = [d for d in range(place.ndim) if d - place.ndim not in squeezed]
        low, high = place.byte_range(itemsize)
        first = base * itemsize
        return cls(
            tuple([place.shape[d] for d in axes]),
            # never stepped along, and may be too large for a C integer
            tuple([(place.strides[d] if place.shape[d] > 1 else 1) * itemsize for d in axes]),
            place.offset * itemsize - first,
            low - first,
            high - first,
        )

    def array(self, dtype: DType, memory: Memory, first: int) -> NumpyArray:
        """Return the memory; NumPy refuses what would lie outside the buffer."""
        shape, strides, start, _, _ = self
        return np.ndarray(shape, dtype, memory.run(), first + start, strides)


@record(frozen=True, slots=True)
class Recipe:
    """How two operands are multiplied, wherever they lie: what a product is but for addresses.

    Attributes
    ----------
    function : callable
        Takes two arrays and the one it writes.
    left, right, out : Window
        What it is given of the operands and the destination.
    place : Strided
        The destination, its first element at position 0.
    kind : Kind
        Of a result of its own, row-major: its dtype is that of all of them.
    nbytes : int
        Bytes of such a result.
    made : object
        What `explain` is told of such a result.
    """

    function: Callable[[NumpyArray, NumpyArray, NumpyArray], object]
    left: Window
    right: Window
    out: Window
    place: Strided
    kind: Kind
    nbytes: int
    made: object

    @property
    def dtype(self) -> DType:
        """Dtype of all operands."""
        return self.kind.dtype

    def arrays(self, left: Located, right: Located) -> tuple[NumpyArray, NumpyArray]:
        """Return what is multiplied of two operands."""
        dtype = self.kind.dtype
        return self.left.array(dtype, *left), self.right.array(dtype, *right)

    def reads(self, left: Located, right: Located, buffer: Buffer, first: int) -> bool:
        """Tell whether an operand may lie where a destination, ``first`` bytes into it, does."""
        low, high = buffer.address + first + self.out.low, buffer.address + first + self.out.high
        for window, (memory, begin) in ((self.left, left), (self.right, right)):
            start = memory.address + begin
            if start + window.low <= high and low <= start + window.high:
                return True
        return False

    def run(self, left: NumpyArray, right: NumpyArray, buffer: Buffer, first: int) -> None:
        """Write the product to a destination that begins ``first`` bytes into a buffer."""
        silently(self.function, left, right, self.out.array(self.kind.dtype, buffer, first))


@record(frozen=True, slots=True)
class Product:
    """A matrix product whose operands lie as BLAS takes them, not yet run.

    Attributes
    ----------
    gemm : Gemm
        The plan.
    factors : tuple of Matrices
        The two operands; none where the product is only explained.
    dtype : numpy.dtype
        Dtype of operands and result.
    extents : mapping
        Extent of each label.
    """

    gemm: Gemm
    factors: tuple[Matrices, ...]
    dtype: DType
    extents: Mapping[str, int]

    @property
    def operands(self) -> tuple[Located, Located]:
        """Where the operands are."""
        left, right = [(x.memory, x.start * self.dtype.itemsize) for x in self.factors]
        return left, right

    def recipe(self, place: Strided, labels: Labels, made: object = None) -> Recipe:
        """Return how the product is written to memory whose dimensions have the given labels."""
        (left, right), gemm, size = self.factors, self.gemm, self.dtype.itemsize
        place = place.based()
        out = matrices(place, labels, gemm.stack, gemm.rows, gemm.columns, self.extents)
        one = in_one_call(left.place.shape, out.shape)  # the one that `multiply` makes
        dots = one and out.shape[-2:] == (1, 1) and self.dtype.kind == "f"  # it conjugates
        squeezed = ((-2,), (-1,), (-2, -1)) if dots else ((), (), ())
        return Recipe(
            np.vecdot if dots else np.matmul if one else multiply,
            Window.of(left.place, left.start, size, squeezed[0]),
            Window.of(right.place, right.start, size, squeezed[1]),
            Window.of(out, 0, size, squeezed[2]),
            place,
            row_major(self.dtype, place.ndim),
            place.size * size,
            made,
        )

    def run(self, buffer: Buffer, place: Strided, labels: Labels) -> None:
        """Write the product to memory whose dimensions have the given labels."""
        recipe = self.recipe(place, labels)
        recipe.run(*recipe.arrays(*self.operands), buffer, place.offset * self.dtype.itemsize)


def matrices(
    place: Strided,
    labels: Labels,
    stack: Labels,
    rows: Labels,
    columns: Labels,
    extents: Mapping[str, int],
) -> Strided:
    """Return the same memory as stacked matrices; labels it does not have are repeated."""
    strides = dict(zip(labels, place.strides, strict=True))
    shape = [extents[k] for k in stack]
    paces = [strides.get(k, 0) for k in stack]
    for group in (rows, columns):
        real = [k for k in group if extents[k] != 1]
        shape.append(count(real, extents))
        paces.append(strides[real[-1]] if real else 1)
    return Strided(tuple(shape), tuple(paces), place.offset)
