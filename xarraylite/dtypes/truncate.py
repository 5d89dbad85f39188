"""Floats to integers on whole arrays, with an answer for what does not fit.

C leaves the conversion of NaN, infinities and numbers out of range undefined.  NumPy has several
answers: its loop over float32 makes 0 or 2**31 of a NaN that becomes uint32, by where in the array
it stands.  The rule here is that of the instructions that x86 has for single numbers, and kernels
follow it too (``ops/bodies/casts.py`` says it per element): truncate to int32 for integers of
at most 16 bits and int32, to int64 for uint32 and int64, the least integer standing for whatever
does not fit, and cut off the high bits.  uint64 takes numbers from 2**63 on by subtracting 2**63.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .names import DType, int32, int64, uint64

if TYPE_CHECKING:
    from numpy.typing import NDArray


def truncated(array: NDArray[Any], dtype: DType) -> NDArray[Any]:
    """Return floats as integers of NumPy's dtype ``dtype``.

    Parameters
    ----------
    array : ndarray
        float16, float32 or float64, of any shape.
    dtype : numpy.dtype
        An integer type of NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([-1.5, np.nan, 2.0**32 + 1])
    >>> truncated(values, np.dtype("u4"))
    array([4294967295,          0,          1], dtype=uint32)
    >>> truncated(values, np.dtype("i4"))
    array([         -1, -2147483648, -2147483648], dtype=int32)
    """
    via = int32 if dtype.itemsize < int32.itemsize or dtype == int32 else int64
    if dtype != uint64:
        return _cut(array, via).astype(dtype, copy=False)
    half = 2.0**63
    large = np.asarray(array >= half)
    low = _cut(np.where(large, array - half, array) if large.any() else array, via)
    return np.where(large, low ^ np.iinfo(via).min, low).view(dtype)


def _cut(array: NDArray[Any], via: DType) -> NDArray[Any]:
    """Return floats toward zero as ``via``, its least value for what does not fit."""
    least = float(np.iinfo(via).min)
    if array.dtype.itemsize == 2:  # float16 does not reach so far, but for its infinities
        array = array.astype(np.float32)
    with np.errstate(invalid="ignore"):
        fits = (array >= least) & (array < -least)
        return np.where(fits, array, array.dtype.type(least)).astype(via)
