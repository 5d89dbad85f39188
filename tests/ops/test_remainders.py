"""Remainders are exact, also where the quotient is one division (`bodies.floats.fmod_f`)."""

from __future__ import annotations

import numpy as np

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits

SPECIAL = [0.0, -0.0, 1.0, -1.0, 3.5, -7.25, np.inf, -np.inf, np.nan, 1e-45, 1e38, 2.0**53]


def pairs(dtype: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Operands whose quotients have few bits, many, or are next to whole numbers."""
    rng = np.random.default_rng(4)
    n, spread = 4000, 60 if dtype == "f8" else 30
    x, y = rng.normal(size=(2, n)) * 2.0 ** rng.integers(-spread, spread, (2, n))
    x, y = x.astype(dtype), y.astype(dtype)
    if kind == "multiples":
        x = (y * rng.integers(-(1 << 27), 1 << 27, n).astype(dtype)).astype(dtype)
    elif kind == "beside multiples":
        x = np.nextafter(y * rng.integers(1, 1 << 20, n).astype(dtype), y - y)
    elif kind == "shares":
        y = x / rng.integers(1, 1 << 20, n).astype(dtype)
    elif kind == "special":
        x, y = (part.ravel().astype(dtype) for part in np.meshgrid(SPECIAL, SPECIAL))
    return x.astype(dtype), y.astype(dtype)


@together("dtype", ["f4", "f8"])
@together("kind", ["any", "multiples", "beside multiples", "shares", "special"])
def test_bit_for_bit_numpys(dtype: str, kind: str) -> None:
    x, y = pairs(dtype, kind)
    with np.errstate(all="ignore"):
        assert_same_bits(xl.fmod(xl.asarray(x), xl.asarray(y)), np.fmod(x, y))
        assert_same_bits(xl.asarray(x) % xl.asarray(y), x % y)
        if kind != "special":  # where the standard has other quotients
            assert_same_bits(xl.asarray(x) // xl.asarray(y), x // y)
