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

from .._locks import ForkLock
from ..codegen import machine
from ..codegen.kernel import code_of
from ..dtypes.names import NumpyArray
from . import evaluate as engine

#: Elements from which on a kernel is worth loading, and those of one call, for which Ctrl-C waits.
LEAST = 1 << 14
PIECE = 1 << 20

_WORDS = ("to", "at", "from", "outer", "count", "a.outer", "a.step", "v.outer", "v.step", "bytes")

_lock = ForkLock()

#: The code, made once and kept.
_made: list[machine.Code] = []


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
    if not _made:
        with _lock.held:
            if not _made:
                _made.append(code_of(text()))
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
            _made[0].run(at)


def text() -> str:
    """Return the kernel as LLVM assembly."""
    loads = "".join(
        f"  %p{k} = getelementptr i64, ptr %words, i64 {k}\n  %{name} = load i64, ptr %p{k}\n"
        for k, name in enumerate(_WORDS)
    )
    cases = " ".join(f"i64 {width}, label %l{width}" for width in (1, 2, 4, 8))
    loops = "".join(map(_loop, (0, 1, 2, 4, 8)))
    return f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define i32 @kernel(i64 %block) {{
entry:
  %words = inttoptr i64 %block to ptr
{loads}  switch i64 %bytes, label %l0 [{cases}]
{loops}done:
  ret i32 0
}}
"""


def _loop(width: int) -> str:
    """Return the loops that copy so many bytes for each position; 0: as many as are asked for."""
    w, kind = f".{width}", f"i{8 * width}"
    copy = f"  call void @llvm.memcpy.p0.p0.i64(ptr %d{w}, ptr %s{w}, i64 %bytes, i1 false)"
    if width:
        copy = (
            f"  %x{w} = load {kind}, ptr %s{w}, align 1\n  store {kind} %x{w}, ptr %d{w}, align 1"
        )
    return f"""l{width}:
  br label %o{w}
o{w}:
  %t{w} = phi i64 [0, %l{width}], [%t1{w}, %e{w}]
  %ta{w} = mul i64 %t{w}, %a.outer
  %tv{w} = mul i64 %t{w}, %v.outer
  %a{w} = add i64 %to, %ta{w}
  %v{w} = add i64 %from, %tv{w}
  br label %i{w}
i{w}:
  %k{w} = phi i64 [0, %o{w}], [%k1{w}, %i{w}]
  %q{w} = phi i64 [%v{w}, %o{w}], [%q1{w}, %i{w}]
  %pp{w} = shl i64 %k{w}, 3
  %pa{w} = add i64 %at, %pp{w}
  %pt{w} = inttoptr i64 %pa{w} to ptr
  %at{w} = load i64, ptr %pt{w}
  %m{w} = mul i64 %at{w}, %a.step
  %da{w} = add i64 %a{w}, %m{w}
  %d{w} = inttoptr i64 %da{w} to ptr
  %s{w} = inttoptr i64 %q{w} to ptr
{copy}
  %q1{w} = add i64 %q{w}, %v.step
  %k1{w} = add i64 %k{w}, 1
  %kc{w} = icmp slt i64 %k1{w}, %count
  br i1 %kc{w}, label %i{w}, label %e{w}
e{w}:
  %t1{w} = add i64 %t{w}, 1
  %tc{w} = icmp slt i64 %t1{w}, %outer
  br i1 %tc{w}, label %o{w}, label %done
"""
