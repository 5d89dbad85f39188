"""Writing many values to positions along one dimension of strided memory, in order.

NumPy goes through such an assignment position by position, with the other dimensions inside, which
for columns of a row-major matrix touches a cache line for each element.  Here the dimensions before
the positions are the outer loop, and what lies behind them is copied in one piece.  Everything is
done in order on the calling thread, so that of equal positions the last one stays.
"""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np

from ..codegen.emit.scatter import ScatterSpec, emit_scatter
from ..codegen.kernel import kernels
from ..dtypes.names import NumpyArray
from . import evaluate as engine

#: Elements from which on a kernel is worth loading, and those of one call, for which Ctrl-C waits.
LEAST = 1 << 14
PIECE = 1 << 20

#: Bytes that are written as one number.
_WIDTHS = (1, 2, 4, 8)


def scatter(to: NumpyArray, axis: int, positions: NumpyArray, values: Any) -> bool:
    """Write values along a dimension of memory at positions; tell whether it is done.

    Parameters
    ----------
    to : ndarray
        The memory.
    axis : int
        The dimension that the positions are of.
    positions : ndarray of int64
        From 0 on and smaller than its extent.
    values : number or ndarray
        Of the dtype of the memory; an array broadcasts to what is written.

    Raises
    ------
    OverflowError, TypeError, ValueError
        If a number does not fit, as NumPy says it.
    """
    shape = (*to.shape[:axis], positions.size, *to.shape[axis + 1 :])
    given = np.asarray(values, to.dtype) if np.ndim(values) == 0 else values
    if math.prod(shape) < LEAST or given.dtype != to.dtype or engine.uses_reference():
        return False
    if not to.flags.writeable or int(positions.min()) < 0 or positions.max() >= to.shape[axis]:
        return False
    if to.ndim > 2 and not to.flags.c_contiguous:
        return False
    a, v = _lines(to, axis), _lines(np.broadcast_to(given, shape), axis)
    if a.shape[2] == 1 and a.strides[0] == to.itemsize:
        a, v = a.T, v.T
    width, inner = to.itemsize, a.shape[2]
    if inner > 1 and a.strides[2] != width:
        return False
    if inner > 1 and v.strides[2] != width:
        constant = not any(v.strides)
        v = np.broadcast_to(np.ascontiguousarray(v[:1, :1] if constant else v), v.shape)
    _run(a, np.ascontiguousarray(positions), v, inner * width)
    return True


def _lines(of: NumpyArray, axis: int) -> NumpyArray:
    """Return an array with one dimension before an axis and one behind; perhaps a copy."""
    shape = (math.prod(of.shape[:axis]), of.shape[axis], math.prod(of.shape[axis + 1 :]))
    if not any(of.strides) and of.size:
        return np.broadcast_to(of[(0,) * of.ndim], shape)
    return of.reshape(shape)


def _run(a: NumpyArray, positions: NumpyArray, v: NumpyArray, nbytes: int) -> None:
    run = kernels.get(ScatterSpec(nbytes if nbytes in _WIDTHS else 0), emit_scatter).run
    outer, count, inner = v.shape
    steps = (*a.strides[:2], *v.strides[:2])
    begin = (a.ctypes.data, positions.ctypes.data, v.ctypes.data)
    block = array("q", [*begin, outer, count, *steps, nbytes])
    at = block.buffer_info()[0]
    most = max(1, PIECE // inner)
    rows, each = max(1, most // count), min(most, count)
    for t in range(0, outer, rows):
        block[3] = min(rows, outer - t)
        for k in range(0, count, each):
            block[0], block[1] = begin[0] + t * steps[0], begin[1] + 8 * k
            block[2], block[4] = begin[2] + t * steps[2] + k * steps[3], min(each, count - k)
            run(at)
