"""One stack of matrix products on memory: dtypes that BLAS adds up right, and views it takes."""

from __future__ import annotations

from collections.abc import Mapping

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
    is_narrow_float,
    is_narrow_int,
    kind,
    uint8,
)
from ..layout.strided import Strided
from ..memory.block import Memory
from ..memory.buffer import Buffer
from .calls import multiply
from .path import Gemm, Labels, count

#: What BLAS multiplies.
BLAS_DTYPES = frozenset((float32, float64, complex64, complex128))

#: What it makes dot products of, without conjugating one side.
DOT_DTYPES = frozenset((float32, float64))


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


@record(frozen=True, slots=True)
class Matrices:
    """Stacked matrices in memory.

    Attributes
    ----------
    memory : Memory
        Where they lie.  Not a snapshot: writes do not wait for a product that is about to run.
    place : Strided
        The stack's dimensions, rows and columns.
    """

    memory: Memory
    place: Strided

    def view(self, dtype: DType) -> NumpyArray:
        """Return them as a NumPy array over the memory."""
        return self.memory.view(dtype, self.place)

    def reach(self, itemsize: int) -> tuple[int, int]:
        """Return the addresses of the first and the last byte that may be read."""
        low, high = self.place.byte_range(itemsize)
        return self.memory.address + low, self.memory.address + high


@record(frozen=True, slots=True)
class Product:
    """A matrix product whose operands lie as BLAS takes them, not yet run.

    Attributes
    ----------
    gemm : Gemm
        The plan.
    left, right : Matrices or None
        The operands; None where the product is only explained.
    dtype : numpy.dtype
        Dtype of operands and result.
    extents : mapping
        Extent of each label.
    """

    gemm: Gemm
    left: Matrices | None
    right: Matrices | None
    dtype: DType
    extents: Mapping[str, int]

    def run(self, buffer: Buffer, place: Strided, labels: Labels) -> None:
        """Write the product to memory whose dimensions have the given labels."""
        if self.left is None or self.right is None:
            return
        gemm = self.gemm
        out = matrices(place, labels, gemm.stack, gemm.rows, gemm.columns, self.extents)
        left, right = self.left.view(self.dtype), self.right.view(self.dtype)
        multiply(left, right, buffer.view(self.dtype, out))

    def shares_memory(self, buffer: Buffer, place: Strided) -> bool:
        """Tell whether an operand may lie in the bytes that ``place`` reaches."""
        size = self.dtype.itemsize
        low, high = Matrices(buffer, place).reach(size)
        for operand in (self.left, self.right):
            if operand is not None:
                first, last = operand.reach(size)
                if first <= high and low <= last:
                    return True
        return False


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
