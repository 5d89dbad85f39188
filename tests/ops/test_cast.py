"""Casts between every pair of dtypes against NumPy's astype."""

from __future__ import annotations

import platform
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tests.ops.compiling import BF16, COMPLEX, REAL, converted, edges, register, same_bits
from xarraylite.dtypes.names import DType, NumpyArray, is_narrow_float, is_narrow_int, kind
from xarraylite.dtypes.narrow import from_narrow, to_narrow

pytestmark = pytest.mark.once

ON_X86 = platform.machine().lower() in ("x86_64", "amd64")

INTS = [np.dtype(getattr(ml_dtypes, name)) for name in ("int4", "uint4")]
BYTES = [np.dtype(getattr(ml_dtypes, name)) for name in ("float8_e4m3fn", "float8_e5m2")]
DTYPES = [*REAL, *COMPLEX, BF16, *BYTES, *INTS]

LIMITS = [2.0**k for k in (7, 8, 15, 16, 31, 32, 63, 64)]
NEAR = [x + d for x in LIMITS for d in (-1.0, -0.5, 0.0, 0.5, 1.0)]
FLOATS = [*NEAR, 300.7, 65535.9, 5e9, 9.3e18, 1.8446744073709550e19, 2e19, 1e30, 0.9]


def values(dtype: DType) -> NumpyArray:
    """Edge values, and for floats those around the ranges of the integers."""
    if kind(dtype) in "iub":
        source = np.arange(-8, 16) if is_narrow_int(dtype) else edges(dtype)
        return source.astype(register(dtype)).astype(dtype)
    with np.errstate(all="ignore"):
        real = np.array([*FLOATS, *[-x for x in FLOATS]]).astype("f4" if dtype in BYTES else dtype)
        return np.concatenate([edges(dtype), real]).astype(dtype)


def expected(x: NumpyArray, dst: DType) -> NumpyArray:
    """NumPy's answer for single elements; for narrow dtypes, one rounding of it."""
    x = from_narrow(x)
    x = x.real if kind(x.dtype) == "c" and kind(dst) not in "cb" else x
    with np.errstate(all="ignore"):
        if is_narrow_float(dst):
            return to_narrow(x, dst)
        if is_narrow_int(dst):
            return to_narrow(x.astype(register(dst)), dst)
        # one by one: NumPy's vector loop has other answers for uint32 out of range
        return np.concatenate([x[k : k + 1].astype(dst) for k in range(len(x))])


@pytest.mark.parametrize("src", DTYPES, ids=str)
def test_cast_from(src: DType) -> None:
    x = values(src)
    for dst in DTYPES:
        ours, theirs = converted(x, dst), expected(x, dst)
        good = same_bits(from_narrow(ours), from_narrow(theirs))
        if not ON_X86 and kind(src) in "fc" and kind(dst) in "iu":
            good |= ~in_range(x, dst)
        assert good.all(), f"{x[~good][:8]} to {dst}: {ours[~good][:8]}, NumPy {theirs[~good][:8]}"


def in_range(x: NumpyArray, dst: DType) -> NumpyArray:
    real = from_narrow(x).real.astype("f8")
    info = np.iinfo(register(dst))
    return np.asarray((real >= info.min) & (real <= info.max))


@pytest.mark.parametrize("dtype", [np.dtype("i8"), np.dtype("u8")], ids=str)
def test_wide_integers_to_floats(dtype: DType) -> None:
    """Halfway cases: one rounding, to even."""
    base = 2**53 + 2**30
    near = [base + k for k in range(-3, 4)] + [2**40 + 2**16 + k for k in (-1, 0, 1)]
    near += [2**62 + 2**54 + k for k in (-1, 0, 1)] + [2**62 + 2**38 + k for k in (-1, 0, 1)]
    x = np.array(near, dtype)
    for dst, digits in ((np.dtype("f4"), 24), (np.dtype("f8"), 53), (BF16, 8)):
        assert from_narrow(converted(x, dst)).tolist() == [
            float(rounded(Fraction(v), digits)) for v in near
        ], dst


def rounded(x: Fraction, digits: int) -> Fraction:
    """Positive `x` to so many binary digits, halves to even (what round does)."""
    unit = Fraction(2) ** (int(x).bit_length() - digits)
    return round(x / unit) * unit


def test_bits_are_those_of_astype_on_whole_arrays() -> None:
    """In range the vector loops of NumPy agree with its scalar ones, and with us."""
    x = np.random.default_rng(5).uniform(0, 127, 1000)
    for dst in REAL:
        np.testing.assert_array_equal(converted(x, dst), x.astype(dst))
