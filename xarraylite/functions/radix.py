"""Positions in ascending order, found by radix sort: 16 bits of a key at a time.

NumPy sorts numbers of up to 16 bits by their digits, in linear time, and keeps the order of equal
ones; wider ones it compares.  So wider keys are sorted by their lowest 16 bits, then by the next
ones, and so on: what earlier digits put in order stays so among equals.  A key is an unsigned
integer with the order of the element: integers less the least of them, so that few bits are left;
floats by their bits, negative ones inverted, both zeros and all NaN alike.
"""

from __future__ import annotations

import numpy as np

from ..dtypes.names import NumpyArray

#: Bits of one digit: the widest numbers that NumPy sorts by digits.
_DIGIT = 16

#: Digits up to which rows are sorted so; for more, comparing short rows is faster.
ROW_DIGITS = 2


def positions(x: NumpyArray) -> NumpyArray | None:
    """Return the positions of elements in stable ascending order along the last dimension.

    Parameters
    ----------
    x : ndarray
        At least one-dimensional, not empty.

    Returns
    -------
    ndarray or None
        Positions of int64; None where `numpy.argsort` is the better or the only way.

    Examples
    --------
    >>> import numpy as np
    >>> positions(np.array([0.5, -0.0, 0.0, np.nan, -1.0]))
    array([4, 1, 2, 0, 3])
    """
    if x.dtype.kind not in "iuf" or x.dtype.itemsize > 8 or not x.dtype.isnative:
        return None
    key, bits = _float_key(x) if x.dtype.kind == "f" else _integer_key(x)
    if x.ndim > 1 and bits > ROW_DIGITS * _DIGIT:
        return None
    found = _by_digit(key, 0)
    starts = np.arange(0, x.size, x.shape[-1]).reshape(*x.shape[:-1], 1) if x.ndim > 1 else None
    for shift in range(_DIGIT, bits, _DIGIT):
        order = _by_digit(_picked(key, found, starts), shift)
        found = _picked(found, order, starts)
    return found


def _by_digit(key: NumpyArray, shift: int) -> NumpyArray:
    digit = (key >> key.dtype.type(shift) if shift else key).astype(np.uint16)
    return digit.argsort(axis=-1, kind="stable")


def _picked(x: NumpyArray, found: NumpyArray, starts: NumpyArray | None) -> NumpyArray:
    return x.take(found if starts is None else found + starts)


def _integer_key(x: NumpyArray) -> tuple[NumpyArray, int]:
    """Return integers as unsigned distances from the least, and how many bits these have."""
    least, most = x.min(), x.max()
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    return x.view(unsigned) - least.view(unsigned), (int(most) - int(least)).bit_length()


def _float_key(x: NumpyArray) -> tuple[NumpyArray, int]:
    """Return unsigned integers in the order of floats, and how many bits they have."""
    size = x.dtype.itemsize
    bits = (x + x.dtype.type(0)).view(f"i{size}")  # -0.0 becomes 0.0
    sign = bits >> bits.dtype.type(size * 8 - 1)
    key = (bits ^ (sign | np.iinfo(bits.dtype).min)).view(f"u{size}")
    unordered = x != x
    if unordered.any():
        key[unordered] = np.iinfo(key.dtype).max
    return key, size * 8
