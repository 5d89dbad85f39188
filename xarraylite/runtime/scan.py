"""Running values along an axis, in place: by a kernel, or by Python for the reference engine."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from ..codegen.emit.scan import ScanSpec, emit_scan
from ..codegen.kernel import KernelRaised, kernels
from ..memory.buffer import Buffer
from ..ops.op import Op
from . import evaluate as engine
from .reference import convert

#: Elements of one call of a kernel; a Ctrl-C waits for it.
PIECE = 1 << 20


def scan(buffer: Buffer, dtype: np.dtype[Any], op: Op, shape: tuple[int, int, int]) -> None:
    """Apply an operation to each element and the result before it along the middle dimension.

    Parameters
    ----------
    buffer : Buffer
        Row-major elements, which become the results.
    dtype : numpy.dtype
        Of the elements.
    op : Op
        Of two values of that dtype, the result before and the element.
    shape : tuple of int
        Extents before, along and after the axis.

    Raises
    ------
    KernelRaised
        If a user's function raised in a kernel; some elements are written by then.
    """
    outer, length, inner = shape
    if length < 2 or not outer * inner:
        return
    if engine.uses_reference():
        _in_python(buffer, dtype, op, shape)
        return
    spec = ScanSpec(op, dtype, inner == 1)
    words = spec.words().index
    block = array("q", [0]) * len(words)
    kernel = kernels.get(spec, emit_scan)
    block[words["p0"]], block[words["n"]], block[words["m"]] = buffer.address, length, inner
    rows = max(1, PIECE // inner)
    lines = max(1, rows // length)
    for t in range(0, outer, lines):
        block[words["t0"]], block[words["t1"]] = t, min(t + lines, outer)
        for k in range(1, length, rows):
            block[words["k0"]], block[words["k1"]] = k, min(k + rows, length)
            if kernel.run(block.buffer_info()[0]):
                raise KernelRaised


def _in_python(buffer: Buffer, dtype: np.dtype[Any], op: Op, shape: tuple[int, int, int]) -> None:
    values = buffer.run().view(dtype)[: int(np.prod(shape))].reshape(shape)
    for k in range(1, shape[1]):
        done: Any = op.numpy(values[:, k - 1], values[:, k])
        values[:, k] = convert(np.asarray(done), dtype)
