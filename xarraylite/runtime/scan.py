"""Running values along an axis, in place: by a kernel, or by Python for the reference engine."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np

from ..codegen.emit.scan import ScanSpec, emit_scan
from ..codegen.kernel import Kernel, KernelRaised, kernels
from ..compiler.arguments import ArgumentBlock
from ..layout.strided import ROW_MAJOR
from ..memory.buffer import Buffer
from ..ops.op import Op
from ..ops.user import UserOp
from . import evaluate as engine
from .reference import convert
from .replay import Replay

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
    kernel, words, block = _prepared(dtype, op, shape)
    block[words["p0"]] = buffer.address
    rows = max(1, PIECE // inner)
    lines = max(1, rows // length)
    for t in range(0, outer, lines):
        block[words["t0"]], block[words["t1"]] = t, min(t + lines, outer)
        for k in range(1, length, rows):
            block[words["k0"]], block[words["k1"]] = k, min(k + rows, length)
            if kernel.run(block.buffer_info()[0]):
                raise KernelRaised


def _prepared(
    dtype: np.dtype[Any], op: Op, shape: tuple[int, int, int]
) -> tuple[Kernel, dict[str, int], array[int]]:
    """Return a kernel, the places of its words, and its argument block for all elements."""
    outer, length, inner = shape
    spec = ScanSpec(op, dtype, inner == 1)
    block = ArgumentBlock(spec.words())
    block.put([("t1", outer), ("k0", 1), ("k1", length), ("n", length), ("m", inner)])
    return kernels.get(spec, emit_scan), block.words.index, block.values


def scanned(plan: Replay, op: Op, shape: tuple[int, int, int]) -> Replay | None:
    """Return a plan whose results are accumulated; None where only `scan` can."""
    if plan.policy is not ROW_MAJOR or (isinstance(op, UserOp) and not op.is_brief):
        return None
    if shape[1] < 2 or not math.prod(shape):
        return plan
    kernel, words, block = _prepared(plan.result.dtype, op, shape)
    return plan.followed(kernel, block, words["p0"])


def _in_python(buffer: Buffer, dtype: np.dtype[Any], op: Op, shape: tuple[int, int, int]) -> None:
    values = buffer.run().view(dtype)[: int(np.prod(shape))].reshape(shape)
    for k in range(1, shape[1]):
        done: Any = op.numpy(values[:, k - 1], values[:, k])
        values[:, k] = convert(np.asarray(done), dtype)
