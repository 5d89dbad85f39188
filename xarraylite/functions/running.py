"""Running sums and products of many elements, by the kernels that accumulate.

They are made in order, as NumPy makes them, with the same bits: but a kernel keeps the running
value in a register, or goes along the other dimensions, so it takes a third of NumPy's time; of
whole numbers in a row NumPy takes less.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes.names import NumpyArray, float16, float32
from ..memory.buffer import Buffer
from ..ops.table import OPS
from ..runtime.evaluate import uses_reference
from ..runtime.scan import scan
from .arrays_of_numpy import converted

#: Elements from which a kernel is looked up, and perhaps made.
MANY = 1 << 16

#: Codes of dtypes of which NumPy's running results are of the same dtype.
_KEPT = "fdFDlL"


def running(
    function: Callable[..., Any], name: str, instead: int | None = None
) -> Callable[..., Any]:
    """Return one of NumPy's functions, of which kernels compute large results.

    Parameters
    ----------
    function : callable
        ``numpy.cumsum``, or one like it.
    name : str
        The operation that it repeats.
    instead : int, optional
        What NaN count as.
    """
    op = OPS[name]

    def call(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if dtype is out is None and getattr(a, "dtype", None) is float16:
            return converted(call(converted(a, float32), axis), float16)
        usual = dtype is None and out is None and a.__class__ is np.ndarray and a.size >= MANY
        if not usual or a.dtype.char not in _KEPT or not a.dtype.isnative or uses_reference():
            return function(a, axis, dtype, out)
        values: NumpyArray = a.reshape(-1) if axis is None else a
        at, shape = 0 if axis is None else axis, values.shape
        if at.__class__ is not int or not -len(shape) <= at < len(shape):
            return function(a, axis)
        at %= len(shape)
        if a.dtype.kind in "iu" and at == len(shape) - 1:
            return function(a, axis)  # one sum waits for the last but a cycle, and needs no copy
        buffer = Buffer.allocate(values.nbytes)
        made = buffer.array(values.dtype, shape)
        np.copyto(made, values)
        if instead is not None and made.dtype.kind in "fc":
            made[np.isnan(made)] = instead
        sizes = math.prod(shape[:at]), shape[at], math.prod(shape[at + 1 :])
        scan(buffer, values.dtype, op, sizes)
        return made

    return call
