"""Bits of numbers: total order, reduced precision, the same bits as other types."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...dtypes.info import finfo
from ...dtypes.names import NumpyArray

_UNSIGNED: Final = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _raw(values: NumpyArray) -> NumpyArray:
    return np.ascontiguousarray(values).reshape(values.shape).view(_UNSIGNED[values.itemsize])


def _mantissa(dtype: np.dtype[Any]) -> int:
    return round(-math.log2(float(finfo(dtype).eps)))


def total_order(values: NumpyArray) -> NumpyArray:
    """Return signed integers in the order of floats from -NaN to NaN, or integers as they are.

    Floats are a sign and a magnitude; negative ones are turned around.  Types without -0 write
    their one NaN in its place: its sign is negative, so it is before all numbers, as on CPUs.
    """
    name = values.dtype.name
    if values.dtype.kind in "iub" or "int" in name:
        return values.astype(np.uint8) if values.dtype.kind == "b" else values
    raw = _raw(values)
    if "e8m0" in name:
        return raw  # powers of two, without a sign
    unused = 8 * values.itemsize - finfo(values.dtype).bits
    signed = (raw << raw.dtype.type(unused)).view(f"i{values.itemsize}")
    turned = np.where(signed < 0, signed ^ np.iinfo(signed.dtype).max, signed)
    return np.where(signed == -128, np.int16(-129), turned) if "fnuz" in name else turned


def reduce_precision(values: NumpyArray, exponent: int, mantissa: int) -> NumpyArray:
    """Round floats to fewer bits of exponent and mantissa, ties to even, keeping their type.

    What is too large becomes infinite, what is too small for the exponent zero; NaNs stay, and so
    do subnormals where the exponent is as long as theirs.  Floats of a byte become float16 for it.
    """
    if values.dtype.itemsize == 1:
        wide = values.astype(np.float32 if "e8m0" in values.dtype.name else np.float16)
        return reduce_precision(wide, exponent, mantissa).astype(values.dtype)
    width = 8 * values.itemsize
    have = _mantissa(values.dtype)
    have_exponent = width - 1 - have
    word: Any = _UNSIGNED[values.itemsize]
    bits = _raw(values)
    drop = have - mantissa
    if drop > 0:
        last = (bits >> word(drop)) & word(1)
        bits = (bits + word((1 << (drop - 1)) - 1) + last) & ~word((1 << drop) - 1)
    if exponent < have_exponent:
        bias, narrow = (1 << (have_exponent - 1)) - 1, (1 << (exponent - 1)) - 1
        field = (bits >> word(have)) & word((1 << have_exponent) - 1)
        sign = bits & word(1 << (width - 1))
        infinite = word(((1 << have_exponent) - 1) << have)
        bits = np.where(field > bias + narrow, sign | infinite, bits)
        bits = np.where(field <= bias - narrow, sign, bits)
    made: NumpyArray = np.asarray(bits, word).view(values.dtype)
    return np.where(np.isnan(values), values, made)


def stochastic_convert(values: NumpyArray, random: NumpyArray, target: np.dtype[Any]) -> NumpyArray:
    """Round to integers or shorter floats, up as often as the lost fraction is large."""
    digits = 8 * random.itemsize
    if target.kind not in "iu" and "int" not in target.name:
        # The lost bits plus random ones carry into those that stay.
        drop = 23 - (_mantissa(target) if target.itemsize < 4 else 23)
        bits = _raw(values.astype(np.float32))
        lost = random >> random.dtype.type(digits - drop) if drop else random & 0
        rounded = (bits + lost.astype(np.uint32)) & np.uint32(~((1 << drop) - 1) & 0xFFFFFFFF)
        return np.where(np.isfinite(values), rounded.view(np.float32), values).astype(target)
    limits = np.iinfo(target)
    wide = values.astype(np.float64)
    finite = np.abs(np.nan_to_num(wide, nan=0.0, posinf=0.0, neginf=0.0))
    whole = np.trunc(finite)
    up = random < np.floor(np.ldexp(finite - whole, digits))
    signed = np.copysign(whole + up, wide)
    inside = np.clip(signed, limits.min, limits.max)
    made = np.where(np.isnan(wide), 0, inside)
    made = np.where(wide >= limits.max, limits.max, np.where(wide <= limits.min, limits.min, made))
    return np.asarray(made).astype(target)


def bitcast_convert(
    values: NumpyArray, target: np.dtype[Any], bits: tuple[int, int], shape: tuple[int, ...]
) -> NumpyArray:
    """Return the same bits as elements of another type.

    Parameters
    ----------
    values : numpy.ndarray
        The elements; those of 2 and 4 bits have a byte each.
    target : numpy.dtype
        Type of the result.
    bits : tuple of int
        Bits of an element of the operand and of the result.
    shape : tuple of int
        Shape of the result: narrower elements have one dimension more, wider ones one fewer.
    """
    before, after = bits
    if min(before, after) >= 8:
        flat = np.ascontiguousarray(values).reshape(-1)
        return flat.view(target).reshape(shape)
    raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    shifts = np.array(range(0, min(max(bits), 8), min(bits)), np.uint8)
    mask = np.uint8((1 << min(bits)) - 1)
    if before <= after:
        parts = (raw & mask).reshape(-1, len(shifts)) << shifts
        raw = np.bitwise_or.reduce(parts, axis=1, dtype=np.uint8)
    else:
        raw = raw[:, None] >> shifts & mask
    return (raw.view(target) if after >= 8 else _signed(raw, after, target)).reshape(shape)


def _signed(raw: NumpyArray, bits: int, target: np.dtype[Any]) -> NumpyArray:
    """Narrow elements of their bits: numbers of 2 and 4 bits keep a byte that says their sign."""
    if target.name.startswith("int"):
        lifted = (raw ^ np.uint8(1 << (bits - 1))).astype(np.int8) - np.int8(1 << (bits - 1))
        return lifted.astype(target)
    return raw.astype(target) if target.name.startswith("uint") else raw.view(target)
