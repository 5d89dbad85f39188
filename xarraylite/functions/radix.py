"""Positions in stable ascending order, found by radix sort or by sorting twice.

NumPy sorts numbers of up to 16 bits by their digits, in linear time, and keeps the order of equal
ones; wider ones it compares.  So keys of up to 32 bits are sorted by their lowest 16, then by the
upper ones: what the first digit put in order stays so among equals.  A key is an unsigned integer
with the order of the element: integers less the least of them, so that few bits are left; floats by
their bits, negative ones inverted, both zeros and all NaN alike.

Each further digit costs a walk through memory in no order.  Beyond two, elements are sorted without
regard to the order of equal ones, which NumPy does in vectors where the CPU has them; then equal
neighbours are numbered, and their positions sorted behind the numbers.
"""

from __future__ import annotations

import numpy as np

from ..dtypes.names import NumpyArray

#: Bits of one digit: the widest numbers that NumPy sorts by digits.
_DIGIT = 16

#: Digits up to which a key is sorted so.
DIGITS = 2


def positions(x: NumpyArray) -> NumpyArray:
    """Return the positions of elements in stable ascending order along the last dimension.

    Parameters
    ----------
    x : ndarray
        At least one-dimensional, not empty.

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
    if x.dtype.kind not in "iuf" or x.dtype.itemsize > 8 or not x.dtype.isnative:
        return _by_comparing(x)
    floats = x.dtype.kind == "f"
    bits = 8 * x.dtype.itemsize if floats else (int(x.max()) - int(x.min())).bit_length()
    if bits > DIGITS * _DIGIT:
        return _by_comparing(x)
    key = _float_key(x) if floats else _integer_key(x)
    found = _by_digit(key, 0)
    starts = np.arange(0, x.size, x.shape[-1]).reshape(*x.shape[:-1], 1) if x.ndim > 1 else None
    for shift in range(_DIGIT, bits, _DIGIT):
        order = _by_digit(_picked(key, found, starts), shift)
        found = _picked(found, order, starts)
    return found


def _by_comparing(x: NumpyArray) -> NumpyArray:
    found: NumpyArray = x.argsort(axis=-1)
    ordered = np.take_along_axis(x, found, -1)
    alike = np.zeros(x.shape, bool)  # as the one before
    alike[..., 1:] = ordered[..., 1:] == ordered[..., :-1]
    unordered = ordered != ordered
    if unordered[..., -1].any():  # NaN are last
        alike[..., 1:] |= unordered[..., 1:] & unordered[..., :-1]
    if not alike.any():
        return found
    if x.dtype.kind == "c" or x.shape[-1] >= 1 << 31 or x.size >= 1 << 31:
        stable: NumpyArray = x.argsort(axis=-1, kind="stable")
        return stable
    alike, flat = alike.reshape(-1), found.reshape(-1)
    among = alike.copy()
    among[:-1] |= alike[1:]
    at = among.nonzero()[0]
    key = (~alike[at]).cumsum() << 32 | flat[at]
    key.sort()
    flat[at] = key & 0xFFFFFFFF
    return flat.reshape(x.shape)


def _by_digit(key: NumpyArray, shift: int) -> NumpyArray:
    digit = (key >> key.dtype.type(shift) if shift else key).astype(np.uint16)
    found: NumpyArray = digit.argsort(axis=-1, kind="stable")
    return found


def _picked(x: NumpyArray, found: NumpyArray, starts: NumpyArray | None) -> NumpyArray:
    return x.take(found if starts is None else found + starts)


def _integer_key(x: NumpyArray) -> NumpyArray:
    """Return integers as unsigned distances from the least."""
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    key: NumpyArray = x.view(unsigned) - x.min().view(unsigned)
    return key


def _float_key(x: NumpyArray) -> NumpyArray:
    """Return unsigned integers in the order of floats."""
    size = x.dtype.itemsize
    bits = (x + x.dtype.type(0)).view(f"i{size}")  # -0.0 becomes 0.0
    sign = bits >> bits.dtype.type(size * 8 - 1)
    key: NumpyArray = (bits ^ (sign | np.iinfo(bits.dtype).min)).view(f"u{size}")
    unordered = x != x
    if unordered.any():
        key[unordered] = np.iinfo(key.dtype).max
    return key
