"""Products: dimension numbers of every kind against ``einsum``."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import xarraylite as xl

# Batch, contracted and free dimensions of both sides, by name.
KINDS = [
    (batch, contracted, left, right)
    for batch, contracted, left, right in itertools.product(
        ["", "a", "ab"], ["", "k", "kl"], ["", "m", "mn"], ["", "x", "xy"]
    )
]
SIZES = dict(zip("abklmnxy", [2, 3, 4, 2, 3, 4, 5, 2], strict=True))


@pytest.mark.parametrize("turned", [0, 1], ids=["in order", "turned"])
def test_dot(turned):
    rng = np.random.default_rng(turned)
    with xl.config(engine="reference"):
        for batch, contracted, left, right in KINDS:
            names = [list(batch + contracted + free) for free in (left, right)]
            for side in names if turned else ():
                rng.shuffle(side)
            x, y = (
                rng.integers(-9, 9, [SIZES[name] for name in side]).astype(np.float32)
                for side in names
            )
            free = [name for side in names for name in side if name in left + right]
            lie = [[ord(name) - ord("a") for name in part] for part in (*names, [*batch, *free])]
            want = np.einsum(x, lie[0], y, lie[1], lie[2])
            dims = [
                f"{side}_{what}_dims={{{','.join(str(own.index(name)) for name in chosen)}}}"
                for what, chosen in (("batch", batch), ("contracting", contracted))
                for side, own in zip(("lhs", "rhs"), names, strict=True)
                if chosen or what == "contracting"
            ]
            spec = ",".join(map(str, x.shape)), ",".join(map(str, y.shape))
            module = xl.hlo.parse(
                f"ENTRY e {{ x = f32[{spec[0]}] parameter(0)  y = f32[{spec[1]}] parameter(1)  "
                f"ROOT r = dot(x, y), {', '.join(dims)} }}"
            )
            got = np.asarray(module(x, y))
            assert got.shape == want.shape, dims
            assert np.array_equal(got, want), dims
