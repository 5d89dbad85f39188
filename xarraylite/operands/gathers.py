"""Reading through integer arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import IndexRangeError
from ..dtypes.names import int64, is_narrow_int
from ..index import transform as steps
from ..index.indices import Selection
from ..ir import build
from ..ir.node import Leaf, Node
from ..layout.strided import Strided
from ..memory.buffer import Buffer
from .nodes import HasNode, is_masked
from .tracing import remember_index

NumpyArray = np.ndarray[tuple[int, ...], np.dtype[Any]]


def is_index_array(item: object) -> bool:
    """Tell whether an index item is an integer array (lists and tuples are, 0-d arrays are not)."""
    if isinstance(item, list | tuple):
        return True
    return isinstance(item, HasNode | np.ndarray) and item.ndim > 0


def gather(node: Node, selection: Selection) -> Node:
    """Return ``node`` (already basic-indexed) read through the selection's integer array."""
    axis = selection.take_axis
    index = index_leaf(selection.take, node.shape[axis])
    remember_index(index, selection.take, node.shape[axis])
    taken = build.gather(node, axis, index)
    if not selection.take_front:
        return taken
    rank = len(index.shape)
    front = range(axis, axis + rank)
    rest = [k for k in range(len(taken.shape)) if k not in front]
    return build.view(taken, steps.permute(taken.shape, [*front, *rest]))


def index_leaf(index: object, extent: int) -> Leaf:
    """Return an integer array as checked, non-negative int64 in memory of its own.

    Raises
    ------
    IndexRangeError
        If it is no integer array, or a position is out of range.
    """
    values = _index_values(index)
    if values.dtype.kind not in "iu":
        raise IndexRangeError(
            f"index array of dtype {values.dtype} and shape {values.shape}: only integer arrays "
            "are supported"
        )
    if values.size and not (-extent <= int(values.min()) and int(values.max()) < extent):
        raise IndexRangeError(
            f"index array holds {int(values.min())} to {int(values.max())}, out of range for an "
            f"extent of {extent}"
        )
    layout = Strided.row_major(values.shape)
    buffer = Buffer.allocate(values.size * int64.itemsize)
    positions = buffer.view(int64, layout)
    np.copyto(positions, values.astype(np.int64, copy=False))
    np.add(positions, extent, out=positions, where=positions < 0)
    return Leaf(values.shape, int64, buffer.snapshot(), layout)


def _index_values(index: object) -> NumpyArray:
    """Return an index array's values, which nobody else can change: they are checked next."""
    if isinstance(index, np.ndarray) and is_masked(index):
        raise IndexRangeError("index array: got a masked array; fill it first, as masks are lost")
    try:
        values = np.array(index.numpy() if isinstance(index, HasNode) else index)
    except ValueError as error:
        raise IndexRangeError(f"index array: nested lists are ragged ({error})") from None
    empty = not values.size and isinstance(index, list)
    return values.astype(np.int64) if empty or is_narrow_int(values.dtype) else values
