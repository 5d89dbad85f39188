"""What NumPy says: operations of the op table on NumPy arrays, with NumPy's own dtype rules.

Where NumPy has all the dtypes, its functions are called on the arrays as they are, so the result
has the dtype and the bits that a NumPy user would see.  NumPy's rules do not reach the types of
ml_dtypes: there the operands are converted by the documented table (``dtypes.promotion``), the
operation runs in float32 (int8 for narrow integers), and the result is rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xarraylite.dtypes.names import (
    NumpyArray,
    is_narrow_float,
    is_narrow_int,
)
from xarraylite.dtypes.narrow import from_narrow
from xarraylite.ops.op import Op
from xarraylite.ops.table import OPS
from xarraylite.testing.operands import convert, is_foreign, is_narrow

#: Operations whose special cases the array API standard fixes, and NumPy has otherwise.
STANDARD = frozenset({"floor_divide"})


def call(name: str, *args: Any) -> NumpyArray:
    """Return one operation of the op table on arrays and Python scalars.

    Where the array API standard departs from NumPy (`STANDARD`), the standard's answer.

    Parameters
    ----------
    name : str
        Name in the op table.
    *args : ndarray or Python scalar
        Operands; they broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> call("add", np.array([1, 2], np.int8), 1)
    array([2, 3], dtype=int8)
    """
    op = OPS[name]
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    with np.errstate(all="ignore"):
        if any(is_foreign(array.dtype) for array in arrays):
            return _by_table(op, args)
        function = op.numpy if name in STANDARD else getattr(np, name, op.numpy)
        return np.asarray(function(*args))


def _by_table(op: Op, args: tuple[Any, ...]) -> NumpyArray:
    kinds = tuple([arg.dtype if isinstance(arg, np.ndarray) else type(arg) for arg in args])
    loops, result = op.rule(op.name, kinds)
    plain = []
    for arg, loop in zip(args, loops, strict=True):
        converted = convert(np.asarray(arg), loop)
        plain.append(from_narrow(converted) if is_narrow(loop) else converted)
    return convert(np.asarray(op.numpy(*plain)), result)


def reduce(name: str, array: NumpyArray, axis: Any, keepdims: bool) -> NumpyArray:
    """Return a reduction that has one right answer: max, min, any, all, argmax, argmin, sum, prod.

    Sums and products are for integers and for floats whose partial results are all exact.
    """
    wide = from_narrow(array) if is_narrow(array.dtype) else array
    with np.errstate(all="ignore"):
        result = np.asarray(getattr(np, name)(wide, axis=axis, keepdims=keepdims))
    if name in ("max", "min", "sum", "prod") and is_narrow_float(array.dtype):
        return convert(result, array.dtype)
    if name in ("max", "min") and is_narrow_int(array.dtype):
        return convert(result, array.dtype)
    return result
