"""Values where things go wrong, for every dtype: the ends of ranges, zeros, NaNs, subnormals.

Of types of at most 8 bits it is every value there is.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.properties import oracle
from xarraylite.dtypes.formats import FORMATS
from xarraylite.dtypes.names import is_narrow_float, is_narrow_int, kind
from xarraylite.dtypes.promotion import int_bounds

Array = npt.NDArray[Any]
DType = np.dtype[Any]

_WHOLE = (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255)
_ROUND = (1e-3, 0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 7.0, 100.0, 127.0, 128.0, 255.0, 256.0)
_POWERS = (15, 16, 31, 32, 53, 63, 64)


@cache
def specials(dtype: DType) -> Array:
    """Return special values of a dtype, each bit pattern once.

    Examples
    --------
    >>> import numpy as np
    >>> specials(np.dtype(bool))
    array([False,  True])
    """
    if kind(dtype) == "b":
        return np.array([False, True])
    if kind(dtype) in "iu":
        return _integers(dtype)
    if kind(dtype) == "c":
        return _pairs(dtype)
    if is_narrow_float(dtype) and dtype.itemsize == 1:
        return np.arange(1 << FORMATS[dtype].bits, dtype=np.uint8).view(dtype)
    if is_narrow_float(dtype):  # of 16 bits: as float32 has them, and its own subnormals
        wide = oracle.convert(_floats(np.dtype(np.float32)), dtype)
        low = np.array([1, 2, 3, 0x7F, 0x80, 0x81, 0x3FF, 0x400, 0x7BFF, 0x7F7F], np.uint16)
        return _distinct(np.concatenate([wide, low.view(dtype), (low | 0x8000).view(dtype)]))
    return _floats(dtype)


def _integers(dtype: DType) -> Array:
    low, high = int_bounds(dtype)
    if is_narrow_int(dtype):
        return oracle.convert(np.arange(low, high + 1), dtype)
    near = [*_WHOLE, high // 2, *[bound + d for bound in (low, high) for d in (-1, 0, 1)]]
    return np.array(sorted({x for n in near for x in (n, -n) if low <= x <= high}), dtype)


def _floats(dtype: DType) -> Array:
    info = np.finfo(dtype)
    tiny, least, most = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    ends = [0.0, least, 3 * least, tiny / 2, tiny, most / 2, most / 1.5, most, np.inf, np.nan]
    one = [float(1 - info.epsneg), float(1 + info.eps), np.pi, 1e3, 2.0**31 + 1e3]
    powers = [2.0**k + d for k in _POWERS for d in (-1.0, 0.0)]
    values = np.array([*ends, *one, *_ROUND, *powers]).astype(dtype)
    return _distinct(np.concatenate([values, -values]))


def _distinct(values: Array) -> Array:
    return np.unique(values.view(f"u{values.itemsize}")).view(values.dtype)


def _pairs(dtype: DType) -> Array:
    real = np.dtype(f"f{dtype.itemsize // 2}")
    info = np.finfo(real)
    ends = [0.0, float(info.smallest_subnormal), float(info.tiny), 1.0, 1.5, float(info.max) / 2]
    parts = np.array([*ends, float(info.max), np.inf, np.nan], real)
    parts = np.concatenate([parts, -parts[:-1]])
    values = np.empty((parts.size, parts.size), dtype)
    values.real, values.imag = parts[:, None], parts
    return values.reshape(-1)


def grid(dtypes: tuple[DType, ...], largest: int = 24) -> list[Array]:
    """Return every combination of special values, as one vector per dtype.

    Parameters
    ----------
    dtypes : tuple of numpy.dtype
        Of the operands.
    largest : int
        Of three operands or more, at most about so many values of each are taken.
    """
    columns = [specials(dtype) for dtype in dtypes]
    if len(columns) > 2:
        columns = [values[:: -(-values.size // largest)] for values in columns]
    return [np.ascontiguousarray(g.ravel()) for g in np.meshgrid(*columns, indexing="ij")]
