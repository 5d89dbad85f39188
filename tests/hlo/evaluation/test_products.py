"""Products: dimension numbers of every kind against ``einsum``."""

from __future__ import annotations

import itertools
from threading import Thread

import numpy as np
import pytest

import xarraylite as xl
from tests.threads import run_all

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


def test_products_read_arrays_of_any_layout_as_they_are():
    module = xl.hlo.parse(
        "ENTRY e { x = f32[3,4] parameter(0)  y = f32[4,5] parameter(1)  "
        "d = f32[3,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}  "
        "ROOT r = (f32[3,5], f32[3,4]) tuple(d, x) }"
    )
    rng = np.random.default_rng(0)
    x, y = rng.random((3, 4), np.float32), rng.random((4, 5), np.float32)
    kept = x.copy()
    readonly = y.copy()
    readonly.flags.writeable = False
    wide = np.zeros((8, 10), np.float32)
    wide[::2, ::2] = y
    for other in (y, np.asfortranarray(y), y[::-1].copy()[::-1], readonly, wide[::2, ::2]):
        product, same = module(x, other)
        assert np.allclose(product.numpy(), x @ y)
        product[...] = 0.0
        same[...] = 0.0
        assert np.array_equal(x, kept)
        assert np.array_equal(other, y)


def test_results_of_products_are_kept_whatever_other_threads_multiply():
    dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    module = xl.hlo.parse(
        f"ENTRY e {{ x = f32[128,128] parameter(0)  w = f32[128,128] parameter(1)  "
        f"a = f32[128,128] dot(x, w), {dims}  b = f32[128,128] tanh(a)  "
        f"c = f32[128,128] dot(b, w), {dims}  d = f32[128,128] tanh(c)  "
        f"ROOT e = f32[128,128] dot(d, w), {dims} }}"
    )
    rng = np.random.default_rng(0)
    w = rng.normal(size=(128, 128)).astype(np.float32) / 8

    def check(number: int) -> None:
        x = np.full((128, 128), number / 64, np.float32)
        kept.append((module(x, w), np.tanh(np.tanh(x @ w) @ w) @ w))

    kept: list[tuple[xl.XArray, np.ndarray]] = []
    run_all([Thread(target=lambda k=k: [check(k + j) for j in range(20)]) for k in range(3)])
    for found, wanted in kept:
        assert np.allclose(found, wanted, rtol=1e-4, atol=1e-6)
