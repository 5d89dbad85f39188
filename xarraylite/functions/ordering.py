"""Positions in stable ascending order, by sorting numbers that have their position in the low bits.

No two such numbers are equal, so a sort that does not keep the order of equal elements does as
well, and NumPy sorts integers in vectors where the CPU has them.  In the upper bits is a *key*, an
integer with the order of the elements: integers themselves; floats by their bits, the lower the
larger a negative one is, both zeros and all NaN alike.  Keys count from the least of them, without
lower bits that all have in common (as whole numbers do as floats), so that few bits are left.

What does not fit into 64 bits is cut off at the lower end of the keys.  If it is not 0, neighbours
with equal upper bits may be in a wrong order; these are looked up, and sorted again if they are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays.adapt import adapt
from ..arrays.evaluation import eval_
from ..arrays.expression import XExpression
from ..assignment.elements import array_of
from ..dtypes.names import NumpyArray
from ..ir.node import Iota
from ..layout.strided import Strided

#: Elements from which numbers are made by kernels, which may have to be compiled.
_MANY = 1 << 16

#: Bits of the largest numbers; those of half as many are sorted in half the time.
_BITS = 64


def positions(x: NumpyArray) -> NumpyArray:
    """Return the positions of elements in stable ascending order along the last dimension.

    Parameters
    ----------
    x : ndarray
        At least one-dimensional, not empty, in row-major order.

    Returns
    -------
    ndarray
        Positions of int64.

    Examples
    --------
    >>> import numpy as np
    >>> positions(np.array([0.5, -0.0, 0.0, np.nan, -1.0]))
    array([4, 1, 2, 0, 3])
    """
    if x.dtype.kind not in "biuf" or x.dtype.itemsize > 8 or not x.dtype.isnative:
        found: NumpyArray = x.argsort(axis=-1, kind="stable")
        return found
    if (x[..., :-1] <= x[..., 1:]).all():  # of NaN it is not
        order = np.arange(x.shape[-1])
        return order if x.ndim == 1 else np.broadcast_to(order, x.shape).copy()
    key = _key(x)
    low = (x.shape[-1] - 1).bit_length()  # bits of a position
    varying = int(np.bitwise_or.reduce(key, axis=None) ^ np.bitwise_and.reduce(key, axis=None))
    alike = max((varying & -varying).bit_length() - 1, 0)  # lower bits that all keys share
    least = int(key.min()) >> alike
    bits = ((int(key.max()) >> alike) - least).bit_length() + low
    dtype = np.dtype(np.uint64 if bits > _BITS // 2 else np.uint32)
    mask: Any = dtype.type((1 << low) - 1)
    cut = max(bits - _BITS, 0)
    counted = (_by_kernel(key) >> alike).astype(dtype) - least % (1 << 8 * dtype.itemsize)
    upper = counted << low - cut
    if cut:
        upper = _values(upper)
        cut = int((upper & mask).any())
        upper &= ~mask
    ordered = _values(upper | _counting(x.shape, dtype))
    ordered.sort(axis=-1)
    if cut:
        _mend(ordered, x, mask)
    ordered &= mask
    return ordered.view(np.int64) if bits > _BITS // 2 else ordered.astype(np.int64)


def _key(x: NumpyArray) -> NumpyArray:
    """Return integers in the order of the elements."""
    size = x.dtype.itemsize
    if x.dtype.kind != "f":
        return x.view(np.uint8) if x.dtype.kind == "b" else x
    bits: Any = x.view(f"i{size}")
    infinite = int(np.array(np.inf, x.dtype).view(bits.dtype))
    last, sign = np.iinfo(bits.dtype).max, 8 * size - 1
    bits = _by_kernel(bits)
    magnitude, down = bits & last, bits >> sign
    missing = (infinite - magnitude) >> sign
    key = ((magnitude ^ down) - down) & ~missing | missing & last
    return _values(key)


def _by_kernel(x: NumpyArray) -> Any:
    """Return an array, or if it is large what kernels compute with."""
    return x if x.size < _MANY else adapt(x)


def _counting(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return the positions of elements along the last dimension."""
    if math.prod(shape) < _MANY:
        return np.arange(shape[-1], dtype=dtype)
    return XExpression(Iota(shape, dtype, Strided(shape, (*[0] * (len(shape) - 1), 1))))


def _values(x: Any) -> NumpyArray:
    """Return what NumPy or a kernel computes as an array of its own."""
    return x if isinstance(x, np.ndarray) else array_of(eval_(x))


def _mend(ordered: NumpyArray, x: NumpyArray, mask: Any) -> None:
    """Put neighbours in order whose keys were cut off where they differ."""
    alike = np.zeros(x.shape, bool)  # as the one before
    alike[..., 1:] = (ordered[..., 1:] ^ ordered[..., :-1]) <= mask
    alike, flat = alike.reshape(-1), ordered.reshape(-1)
    among = alike.copy()
    among[:-1] |= alike[1:]
    at = among.nonzero()[0]
    where = (flat[at] & mask).astype(np.int64)
    values = x.reshape(-1)[at - at % x.shape[-1] + where]
    if (alike[at[1:]] & (values[1:] < values[:-1])).any():
        flat[at] = flat[at[np.lexsort((values, (~alike[at]).cumsum()))]]
