"""Reading through integer arrays."""

from __future__ import annotations

import numpy as np

from .._errors import IndexRangeError
from ..dtypes.names import dtype_name
from ..expr import build
from ..expr.node import Leaf, Node
from ..layout.strided import Strided
from ..shape import transform as steps
from ..shape.index import Selection
from ..storage.buffer import Buffer
from .operands import HasNode


def is_index_array(item: object) -> bool:
    """Tell whether an index item is an integer array (lists count, 0-d arrays do not)."""
    if isinstance(item, list):
        return True
    return isinstance(item, HasNode | np.ndarray) and item.ndim > 0


def gather(node: Node, selection: Selection) -> Node:
    """Return ``node`` (already basic-indexed) read through the selection's integer array."""
    axis = selection.take_axis
    index = index_leaf(selection.take, node.shape[axis])
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
    if isinstance(index, HasNode):
        values = index.numpy()
    else:
        values = np.asarray(index)
        if values.size == 0 and isinstance(index, list):
            values = values.astype(np.int64)
    if values.dtype.kind not in "iu":
        raise IndexRangeError(
            f"index array of dtype {dtype_name(values.dtype)}: only integer arrays are supported"
        )
    if values.size and not (-extent <= int(values.min()) and int(values.max()) < extent):
        raise IndexRangeError(
            f"index array holds {int(values.min())} to {int(values.max())}, out of range for an "
            f"extent of {extent}"
        )
    positions = values.astype(np.int64)
    layout = Strided.row_major(positions.shape)
    buffer = Buffer.allocate(positions.nbytes)
    wrapped = np.where(positions < 0, positions + extent, positions)
    np.copyto(buffer.view(positions.dtype, layout), wrapped)
    return Leaf(positions.shape, positions.dtype, buffer.reading(), layout)
