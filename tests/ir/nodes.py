"""Leaves for tests that need expressions but no containers."""

from __future__ import annotations

import numpy as np

from xarraylite.dtypes.names import as_dtype
from xarraylite.ir.node import Leaf
from xarraylite.layout.strided import Strided
from xarraylite.memory.buffer import Buffer


def leaf(
    shape: tuple[int, ...],
    dtype: object = "float64",
    strides: tuple[int, ...] | None = None,
    offset: int = 0,
    buffer: Buffer | None = None,
) -> Leaf:
    """Return a leaf over new memory, or over ``buffer``; row-major unless strides are given."""
    kind = as_dtype(dtype)
    dense = Strided.row_major(shape)
    layout = Strided(shape, dense.strides if strides is None else strides, offset)
    if buffer is None:
        low, high = layout.bounds()
        layout = Strided(shape, layout.strides, offset - min(low, 0))
        buffer = Buffer.allocate((high + 1 - min(low, 0)) * kind.itemsize)
    return Leaf(shape, kind, buffer.snapshot(), layout)


def filled(values: object) -> Leaf:
    """Return a row-major leaf that holds the values of an array."""
    array = np.asarray(values)
    made = leaf(array.shape, array.dtype)
    np.copyto(made.snapshot.view(made.dtype, made.map), array)
    return made
