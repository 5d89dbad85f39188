"""One array as a header and its elements: what a ``.npy`` file is, and each member of a ``.npz``.

Elements are written from the memory they are in where that is contiguous, in either order, and
read into the memory they will stay in.  Kernels rely on the bits that a dtype does not use, so
these are looked at after reading.  Bytes of bool other than 0 and 1, and high bits of int4 and its
kind, are put right: what NumPy and ml_dtypes take them for is clear.  High bits of float4 and
float6, which even ml_dtypes reads as now this and now that, are damage.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from .._errors import DTypeError
from ..arrays.container import XContainer
from ..arrays.evaluation import eval_
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..dtypes.formats import FORMATS, INT_BITS
from ..dtypes.names import SUPPORTED, DType, NumpyArray, bool_, dtype_name
from ..ir.node import Leaf, Node
from ..layout.strided import COLUMN_MAJOR, ROW_MAJOR, Strided
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..operands.convert import raw, store, values_node
from ..operands.non_numeric import array_of
from .header import header_bytes, read_header
from .streams import BinaryWriter, Source, put

#: Kinds of NumPy's dtypes whose elements have a fixed size and refer to nothing.
_OTHER_KINDS = "USMm"


@dataclass(frozen=True, slots=True)
class Contents:
    """What is to be saved: checked, not yet evaluated.

    Attributes
    ----------
    node : Node or NumPy array
        The elements; text and dates as NumPy has them.
    column_major : bool
        Whether a container that keeps column-major order asks for it.
    lazy : bool
        Whether the elements are to be computed.
    """

    node: Node | NumpyArray
    column_major: bool
    lazy: bool

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        if isinstance(self.node, np.ndarray):
            return self.node.nbytes
        return Strided.row_major(self.node.shape).size * self.node.dtype.itemsize


def contents_of(values: object, operation: str) -> Contents:
    """Return any values as `Contents`.

    Raises
    ------
    DTypeError, ShapeError
        If they are neither numbers nor text or dates, or ragged.
    """
    try:
        node = values_node(values, None, operation)
    except DTypeError as error:
        other = array_of(values)
        if other is not None and other.dtype.kind in _OTHER_KINDS:
            return Contents(other, False, False)
        text = str(error)
        raise DTypeError(text if text.startswith(operation) else f"{operation}: {text}") from None
    column = isinstance(values, XArray) and values.static_layout is COLUMN_MAJOR
    lazy = isinstance(values, XExpression) and not isinstance(values, XContainer)
    return Contents(node, column, lazy)


def write_array(file: BinaryWriter, contents: Contents) -> None:
    """Evaluate what needs it, and write header and elements."""
    node, column = contents.node, contents.column_major
    if isinstance(node, np.ndarray):
        written = BytesIO()
        np.lib.format.write_array(written, node, allow_pickle=False)
        put(file, written.getbuffer())
        return
    if contents.lazy:
        node = eval_(XExpression(node)).node
    if isinstance(node, Leaf) and (node.map.is_row_major() or node.map.is_column_major()):
        memory: Memory = node.snapshot
        place = node.map
    else:
        place = (Strided.column_major if column else Strided.row_major)(node.shape)
        memory = store(node, place)
    # Both hold for arrays of rank 0 and 1 and for empty ones: there NumPy says row-major.
    column = place.is_column_major() and (column or not place.is_row_major())
    start = place.offset * node.dtype.itemsize
    elements = memory.run().data[start : start + contents.nbytes]
    put(file, memoryview(header_bytes(node.dtype, node.shape, column)))
    put(file, elements)


def read_array(source: Source, wanted: DType | None) -> XArray | NumpyArray:
    """Read header and elements; allocate only once the header has been checked.

    Text and dates become an array of NumPy's.

    Raises
    ------
    FormatError
        If anything is not as it should be.
    """
    header = read_header(source, wanted)
    dtype = header.elements.dtype
    if dtype.kind in _OTHER_KINDS and dtype not in SUPPORTED:
        memory = np.empty(source.left, np.uint8)
        source.fill(memory.data, "elements")
        source.finish()
        stored = memory.view(dtype.newbyteorder() if header.elements.swapped else dtype)
        return stored.astype(dtype).reshape(header.shape, order="F" if header.column_major else "C")
    policy = COLUMN_MAJOR if header.column_major else ROW_MAJOR
    place = (Strided.column_major if header.column_major else Strided.row_major)(header.shape)
    buffer = raw(place, dtype)
    source.fill(buffer.run().data, "elements")
    source.finish()
    _put_right(source, buffer, dtype, header.elements.swapped)
    return XArray._own(buffer, place, dtype, policy)


def _put_right(source: Source, buffer: Buffer, dtype: DType, swapped: bool) -> None:
    """Turn elements as a file may have them into elements as they are in memory."""
    flat: np.ndarray[Any, Any] = buffer.run()
    if swapped:
        # Complex numbers are two floats; narrow types are swapped as their bits.
        half = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
        flat.view(f"u{half}").byteswap(inplace=True)
    if dtype == bool_:
        np.not_equal(flat, 0, out=flat.view(bool_))
    elif dtype in INT_BITS:
        np.bitwise_and(flat, np.uint8((1 << INT_BITS[dtype]) - 1), out=flat)
    elif dtype in FORMATS and FORMATS[dtype].bits < 8:
        largest = int(flat.max(initial=0))
        if largest >> FORMATS[dtype].bits:
            raise source.refusal(
                f"holds the byte {largest}", f"{dtype_name(dtype)} has {FORMATS[dtype].bits} bits"
            )
