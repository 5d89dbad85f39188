"""Constants that a text leaves out (``{...}``): the numbers that XLA makes up for them.

XLA's reader fills them with words of 32 bits that count up over all constants that it reads, so
that no two are the same and programs with them are compiled as others are.  Bytes that fill no word
have a count of their own.  They are written not behind the words but at the place in bytes that is
the number of words, over what is there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.element_types import ElementType
from ...xla.spec import ArraySpec


def dtype_of(kind: ElementType) -> np.dtype[Any]:
    """Return the dtype that holds elements of a type, one in each byte where they are narrower."""
    if kind.dtype is not None:
        return np.dtype(kind.dtype)
    return np.dtype(np.uint8 if kind.is_unsigned else np.int8)


def frozen(values: Any, sizes: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return values as a read-only array of some sizes."""
    array: np.ndarray[Any, Any] = values.reshape(sizes)
    array.flags.writeable = False
    return array


class Filler:
    """Counts what is made up, over all the constants of a text."""

    words = 0
    rest = 0

    def take(self, shape: ArraySpec) -> tuple[int, int]:
        """Return the counts so far, and add the bytes of one more constant."""
        before = (self.words, self.rest)
        size = math.prod(shape.dimensions) * dtype_of(shape.element_type).itemsize
        self.words = (self.words + size // 4) % 2**32
        self.rest = (self.rest + size % 4) % 2**8
        return before


def made_up(shape: ArraySpec, words: int, rest: int) -> np.ndarray[Any, Any]:
    """Return what is made up for a shape after so many words and bytes that are no words."""
    dtype = dtype_of(shape.element_type)
    size = math.prod(shape.dimensions) * dtype.itemsize
    raw = np.zeros(size, np.uint8)
    count = size // 4
    raw[: 4 * count].view("<u4")[:] = np.arange(words, words + count, dtype=np.uint64)
    raw[count : count + size % 4] = np.arange(rest, rest + size % 4)
    if shape.element_type.name == "pred":
        raw &= 1
    return frozen(raw.view(dtype), shape.dimensions)


def narrowed(values: np.ndarray[Any, Any], kind: ElementType) -> np.ndarray[Any, Any]:
    """Return elements narrower than a byte as their bytes are read where all bits are taken.

    Integers have the low bits.  A number with a point is negative if any bit above its magnitude
    is there.
    """
    raw = values.view(np.uint8)
    sign = np.uint8(1 << (kind.bits - 1))
    if kind.is_floating:
        narrow = (raw & (sign - 1)) | sign * (raw >= sign)
    else:
        narrow = raw & (2 * sign - 1)
        if not kind.is_unsigned:
            narrow = (narrow ^ sign) - sign
    return narrow.astype(np.uint8).view(values.dtype)
