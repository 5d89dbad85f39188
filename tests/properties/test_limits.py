"""Long, deep, wide and large: nothing is recursive, nothing grows, no bit depends on it.

Sizes stand around the thresholds of the engine: a block of 1024 elements, a part of 2**17 of a
reduction, the cost from which several threads run, the bytes from which stores go past caches.
"""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import assert_same_bits, assert_ulp, count_allocations

Array = np.ndarray[Any, np.dtype[Any]]


def test_a_chain_of_a_hundred_thousand_operations(engine: str) -> None:
    """The interpreter, which takes its time, has a fifth: no recursion gets as far either."""
    length = 20_000 if engine == "reference" else 100_000
    a = xl.asarray(np.arange(4.0))
    e = a
    for _ in range(length):
        e = e + 1
    assert_same_bits(e, np.arange(4.0) + length)
    assert "float64[4]" in repr(e)
    a[...] = e
    assert a.tolist() == [length, length + 1, length + 2, length + 3]
    del e  # nodes are freed without recursion, too


def test_a_long_chain_of_different_operations() -> None:
    values = np.linspace(0.5, 2, 7)
    e, expected = xl.asarray(values), values
    for k in range(700):
        step: Callable[[Any], Any] = (
            lambda x: x * 1.01,
            lambda x: x - 0.01,
            abs,
            lambda x: x / 1.005,
        )[k % 4]
        e, expected = step(e), step(expected)
    assert_same_bits(e, expected)


def test_doubling_twenty_times() -> None:
    """As a tree it has a million nodes."""
    a = xl.asarray([1.0, 2.0])
    e = a
    for _ in range(20):
        e = e + e
    assert xl.eval(e).tolist() == [2.0**20, 2.0**21]
    a[...] = e
    assert a.tolist() == [2.0**20, 2.0**21]
    f = a * 1
    for k in range(20):
        f = f + f[::-1] if k % 2 else f - f[::-1]
    g = np.array([2.0**20, 2.0**21])
    for k in range(20):
        g = g + g[::-1] if k % 2 else g - g[::-1]
    assert_same_bits(f, g)


def test_two_hundred_operands() -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.random((3, 40)) for _ in range(200)]
    e: Any = xl.asarray(arrays[0])
    expected = arrays[0]
    for k, array in enumerate(arrays[1:]):
        e = e * 0.5 + (xl.asarray(array) if k % 2 else array)
        expected = expected * 0.5 + array
    assert_same_bits(e, expected)


def test_two_hundred_scalars() -> None:
    a = xl.asarray([1.0, 2.0])
    e: Any = a
    for k in range(200):
        e = e + k * 0.25
    assert xl.eval(e).tolist() == [1 + 19900 * 0.25, 2 + 19900 * 0.25]


def test_wide_joins() -> None:
    parts = [xl.asarray([k, -k]) for k in range(300)]
    assert xl.eval(xl.concat(parts)).tolist() == [v for k in range(300) for v in (k, -k)]
    assert xl.eval(xl.sum(xl.stack(parts), axis=0)).tolist() == [44850, -44850]


def test_rank_64() -> None:
    shape = [1] * 64
    shape[3], shape[40], shape[63] = 2, 3, 4
    values = np.arange(24.0).reshape(shape)
    a = xl.asarray(values)
    assert_same_bits(a * 2 + xl.flip(a, axis=40), values * 2 + np.flip(values, 40))
    assert_same_bits(a.T - 1, values.T - 1)
    assert_same_bits(xl.sum(a, axis=40), values.sum(axis=40))
    assert_same_bits(xl.max(a), values.max())
    b = xl.asarray(values)
    b[...] = xl.permute_dims(xl.permute_dims(b, range(63, -1, -1)), range(63, -1, -1)) + b
    assert_same_bits(b, values + values)
    for larger in (
        lambda: xl.expand_dims(a, axis=0),
        lambda: xl.stack([a, a]),
        lambda: a[None],
        lambda: a[[[0]]],
        lambda: xl.reshape(a, [1] * 61 + [2, 3, 4, 1]),
    ):
        with pytest.raises(xl.ShapeError, match="rank 65 is above the maximum of 64"):
            larger()


def test_ten_real_dimensions() -> None:
    values = np.arange(2.0**10).reshape([2] * 10)
    axes = [3, 1, 4, 0, 5, 9, 2, 6, 8, 7]
    a = xl.asarray(values)
    assert_same_bits(xl.permute_dims(a, axes) + a, np.transpose(values, axes) + values)
    assert_same_bits(
        xl.sum(xl.permute_dims(a, axes), axis=(1, 5)), np.transpose(values, axes).sum((1, 5))
    )


def test_deep_views() -> None:
    a = xl.asarray(np.arange(1000))
    view: Any = a
    for _ in range(400):
        view = view[::-1][1:][:-1] if view.shape[0] > 2 else view
    expected = np.arange(1000)
    for _ in range(400):
        expected = expected[::-1][1:][:-1]
    assert_same_bits(view, expected)
    view += 1
    assert int(xl.sum(a)) == 499_500 + 200


def test_extents_without_elements() -> None:
    for shape in ((0,), (0, 2**40), (2**20, 0, 2**31)):
        a = xl.zeros(shape)
        assert xl.eval(a * 2 + 1).shape == shape
        assert float(xl.sum(a)) == 0
        a += 1
        a[...] = xl.sin(a)


def test_stretched_dimensions_of_any_size() -> None:
    one = xl.broadcast_to(xl.asarray([[1.0], [2.0]]), (2, 2**40))
    assert xl.eval(one[:, 12345] * 3).tolist() == [3, 6]
    assert xl.eval(one[:, :: 2**38] + 1).tolist() == [[2] * 4, [3] * 4]
    part = xl.broadcast_to(xl.asarray(1.0), (2**31, 2**31))[2**30 :: 2**29, -1]
    assert xl.eval(part).tolist() == [1, 1]


# --- no bit depends on size, threads or caches ---------------------------------------------------

AROUND = (1, 7, 8, 9, 1023, 1024, 1025, 4095, 131071, 131072, 131073, 262143, 524289, 1_100_000)


def stencil(xp: Any, x: Array) -> Any:
    return x[2:] * 0.25 + x[1:-1] / 2 - x[:-2]


def mixed(xp: Any, x: Array) -> Any:
    return xp.where(x > 0.5, xp.sqrt(x) * 3, x - 1) + xp.floor(x * 7)


@pytest.mark.parametrize("size", AROUND)
def test_sizes_around_thresholds(size: int) -> None:
    values = np.random.default_rng(size).random(size + 2)
    for threads in (1, 2, 5):
        with xl.config(threads=threads):
            a = xl.asarray(values)
            for function in (stencil, mixed):
                assert_same_bits(function(xl, a), function(np, values))
            out = xl.zeros(size + 2)
            out[...] = a * 2 + a[::-1]
            assert_same_bits(out, values * 2 + values[::-1])
            out[1:-1] = stencil(xl, out)
            assert_same_bits(out[1:-1], stencil(np, values * 2 + values[::-1]))


@pytest.mark.parametrize(
    "shape", [(1025, 1023), (3, 400_000), (400_000, 3), (60, 130, 140)], ids=str
)
def test_large_shapes_in_every_order(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).random(shape)
    for threads in (1, 2):
        with xl.config(threads=threads):
            for layout in ("row_major", "column_major"):
                a = xl.XArray(values, layout=layout)
                for into in ("row_major", "column_major"):
                    out = xl.zeros(shape, layout=into)
                    out[...] = a * 2 + 1
                    assert_same_bits(out, values * 2 + 1)
                assert_same_bits(a.T + xl.flip(a.T, axis=0), values.T + np.flip(values.T, 0))


@pytest.mark.parametrize("code", ["f4", "i2", "u1", "bfloat16", "c16"])
def test_streamed_results(code: str) -> None:
    """Large enough to be stored past the caches, from places that are not aligned."""
    size = (20 << 20) // np.dtype(xl.zeros(0, dtype=code).dtype).itemsize
    base = xl.zeros(size + 3, dtype=code)
    base[...] = xl.astype(xl.arange(size + 3) % 50, code)
    expected = np.asarray(base)[1:-1] + np.asarray(base)[:-2]
    for start in (0, 1, 2):
        out = xl.zeros(size + 3, dtype=code)
        out[start : start + size + 1] = base[1:-1] + base[:-2]
        assert np.asarray(out)[start : start + size + 1].tobytes() == expected.tobytes()
        assert not np.asarray(out)[:start].astype(bool).any()
        assert not np.asarray(out)[start + size + 1 :].astype(bool).any()


def test_elementary_functions_have_the_same_bits_at_every_size() -> None:
    values = np.random.default_rng(2).normal(size=600_000) * 10
    a = xl.asarray(values)
    for name in ("sin", "exp", "log1p", "tanh", "atan", "cbrt"):
        function = getattr(xl, name)
        whole = np.asarray(function(a))
        for part in (slice(0, 1), slice(5, 12), slice(1000, 2025), slice(None, None, 7)):
            assert_same_bits(function(a[part]), whole[part])
        with xl.config(threads=1):
            assert_same_bits(function(a), whole)
        with np.errstate(all="ignore"):
            assert_ulp(whole, getattr(np, name.replace("atan", "arctan"))(values), 8)


SCRIPT = """
import hashlib, sys
import numpy as np
import xarraylite as xl
xl.config(threads=int(sys.argv[1]))
x = xl.asarray(np.random.default_rng(0).normal(size=(700, 801)))
results = [
    xl.sin(x) * xl.exp(-x) + x / 3,
    xl.sum(x * x), xl.sum(x, axis=0), xl.mean(x, axis=1), xl.var(x), xl.argmax(x, axis=0),
    x.T[5:, ::2] - 1, xl.concat([x, x])[::3], (x[1:] - x[:-1])[[5, 3, 3]],
    xl.astype(x, "bfloat16") * 3, xl.where(x > 0, x, -x) ** 0.5,
]
digest = hashlib.sha256()
for result in results:
    digest.update(np.ascontiguousarray(np.asarray(result)).tobytes())
info = xl.cache_info()
print(digest.hexdigest(), info.compiled, info.loaded)
"""


@pytest.mark.once
def test_warm_and_cold_caches_and_threads_give_the_same_bits(tmp_path: Path, engine: str) -> None:
    directory = tmp_path / "kernels"
    directory.mkdir(mode=0o700)
    environment = {**os.environ, "XARRAYLITE_CACHE_DIR": str(directory)}
    seen = []
    for threads in ("1", "2", "4"):
        command = [sys.executable, "-c", SCRIPT, threads]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seen.append(done.stdout.split())
    assert len({digest for digest, _, _ in seen}) == 1
    if engine == "compiled":
        assert (int(seen[0][1]) > 0, seen[0][2]) == (True, "0")
        assert [compiled for _, compiled, _ in seen[1:]] == ["0", "0"]
        # One thread launches some of what others plan, by a kernel of its own.
        assert int(seen[1][2]) in (int(seen[0][1]), int(seen[0][1]) - 1)


def test_memory_of_an_evaluation(engine: str) -> None:
    """Result and named temporaries, nothing else, at any length of the expression."""
    if engine == "reference":
        pytest.skip("the reference engine keeps every node's values")
    a = xl.asarray(np.random.default_rng(0).random(100_000))
    e: Any = a
    for k in range(15):
        e = xl.sqrt(e * 1.5 + k) - a[::-1]
    with count_allocations() as count:
        xl.eval(e)
    assert count.bytes == a.nbytes
    assert count.temporaries == 0


def a_copy() -> Any:
    return xl.eval(xl.ones(1000) * 2)


def failing(a: Any) -> None:
    with pytest.raises(xl.BroadcastError):
        a += xl.ones(3)


ACTIONS: dict[str, Callable[[Any], object]] = {
    "evaluation": lambda a: xl.eval(a * 2 + 1),
    "assignment": lambda a: a.__setitem__(slice(1, None), a[:-1] + a[1:][::-1]),
    "pending": lambda a: (a + 1, a.fill(3)),
    "reduction": lambda a: float(xl.sum(a / xl.max(a))),
    "gather": lambda a: xl.eval(a[[3, 1]]),
    "explanation": lambda a: str(xl.explain(a, a + a[::-1])),
    "growth": lambda a: a.assign(xl.concat([a, a])),
    "late": lambda a: xl.eval(xl.late(a)),
    "jit": xl.jit(lambda u: u + 1),
    "numpy": lambda a: (np.asarray(a) + 1, xl.eval(a - np.asarray(a))),
    "views": lambda a: [part.fill(0) for part in a[:3, None]],
    "failure": failing,
}


@pytest.mark.parametrize("name", ACTIONS)
def test_memory_is_given_back(name: str) -> None:
    """Kept plans and kernels hold no operand."""
    a = a_copy()
    memory = weakref.ref(a.buffer)
    ACTIONS[name](a)
    del a
    gc.collect()
    assert memory() is None


def test_sums_of_a_long_row_by_fsum() -> None:
    values = np.random.default_rng(4).normal(size=1_000_003) * 1e6
    exact = math.fsum(values.tolist())
    assert abs(float(xl.sum(xl.asarray(values))) - exact) <= abs(float(values.sum()) - exact) + 1e-6
