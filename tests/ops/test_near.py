"""What takes less time for most arguments has the same bits, whatever stands beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite._config import settings
from xarraylite.compiler import steps
from xarraylite.ops.table import OPS
from xarraylite.testing import assert_same_bits

ALIKE = {("remainder", "i64"), ("floor_divide", "u64")}  # others of those bodies
CASES = [(op.name, t) for op in OPS.values() for t in op.near if (op.name, t) not in ALIKE]
#: More than are launched at once: kernels of plans are those that try.
MANY = 120_077
TYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "u64": np.uint64}
each = pytest.mark.parametrize(("name", "t"), CASES)
#: One of each way in which kernels are made of them: the code around bodies knows no more.
KINDS = {(OPS[name].arity, OPS[name].steep, t): (name, t) for name, t in CASES}


def values(t: str, n: int, seed: int = 0) -> Any:
    """Numbers of all sizes, most of them moderate."""
    rng = np.random.default_rng(seed)
    few = rng.random(n) < 0.2
    if t[0] in "iu":
        words = rng.integers(0, 2**64, n, np.uint64) >> rng.integers(0, 64, n).astype(np.uint64)
        x = np.where(few, words.view(TYPES[t]), rng.integers(1, 500, n).astype(TYPES[t]))
        return x * rng.choice([1, -1], n) if t == "i64" else x
    limits = np.finfo(TYPES[t])
    wide = np.exp2(rng.uniform(limits.minexp, limits.maxexp, n))
    x = np.where(few, wide, np.exp2(rng.uniform(-9, 9, n)))
    return (x * rng.choice([1.0, -1.0], n)).astype(TYPES[t])


def hard(dtype: Any) -> Any:
    """Return a number that is always hard."""
    return np.nan if dtype.kind == "f" else np.iinfo(dtype).max


def operands(name: str, t: str, n: int) -> list[Any]:
    return [values(t, n, seed) for seed in range(OPS[name].arity)]


def one_by_one(name: str, args: list[Any]) -> Any:
    """Results of kernels of one row of few elements each, beside one that is always hard."""
    rows = [np.stack([x, np.full_like(x, hard(x.dtype))], axis=1) for x in args]
    wide = [xl.asarray(row) for row in rows]
    out = xl.zeros(rows[0].shape, dtype=args[0].dtype)
    out[...] = getattr(xl, name)(*wide)
    return out.numpy()[:, 0]


@each
def test_hard_arguments_change_nothing_for_others(name: str, t: str) -> None:
    args = operands(name, t, MANY)
    function = getattr(xl, name)
    alone = np.asarray(
        [
            np.asarray(xl.eval(function(*map(xl.asarray, p))))
            for p in zip(*[x[:60, None] for x in args], strict=True)
        ]
    )[:, 0]
    e = function(*map(xl.asarray, args))
    if settings.engine == "compiled":
        assert f"near_{name}" in "".join(xl.explain(e).sources)
    together = xl.eval(e).numpy()
    assert_same_bits(together, one_by_one(name, args))
    assert_same_bits(together[:60], alone)
    moderate = [np.abs(x[(np.abs(x) > 1 / 64) & (np.abs(x) < 64)]) for x in args]
    moderate = [x[: min(map(len, moderate))] for x in moderate]
    mild = xl.eval(function(*map(xl.asarray, moderate))).numpy()
    assert_same_bits(mild, one_by_one(name, moderate))


@pytest.mark.parametrize("t", ["i64", "u64"])
def test_multiples_below_the_largest_numbers_that_are_divided_as_floats(t: str) -> None:
    rng = np.random.default_rng(5)
    b = rng.integers(1, np.exp2(rng.integers(1, 50, MANY)).astype(np.int64) + 1)
    a = (2**50 - rng.integers(2, 2**20, MANY)) // b * b + rng.integers(-1, 2, MANY)
    if t == "i64":
        a, b = [x * rng.choice([1, -1], MANY) for x in (a, b)]
    a, b = a.astype(TYPES[t]), b.astype(TYPES[t])
    ours, by = xl.asarray(a), xl.asarray(b)
    assert_same_bits(xl.eval(ours // by), a // b)
    assert_same_bits(xl.eval(ours % by), a % b)


@pytest.mark.parametrize(("name", "t"), KINDS.values())
def test_wherever_results_go(name: str, t: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place, apart from each other, past the caches, and after some that were hard."""
    n = MANY
    low = 0 if t == "u64" else -50
    args = [np.abs(np.clip(x, low, 50)) + TYPES[t](0.01) for x in operands(name, t, n)]
    args[0][5] = np.inf if t[0] == "f" else 2**62
    args[0][-9] = hard(args[0].dtype)
    function = getattr(xl, name)
    wanted = one_by_one(name, args)
    wide = [xl.asarray(x) for x in args]
    apart = xl.zeros(2 * n, dtype=args[0].dtype)
    apart[::2] = function(*wide)
    assert_same_bits(apart[::2].copy(), wanted)
    monkeypatch.setattr(steps, "STREAM_BYTES", 1 << 14)
    large = xl.zeros(n + 3, dtype=args[0].dtype)
    large[3:] = function(*wide)
    assert_same_bits(large[3:].copy(), wanted)
    own = xl.array(args[0])
    own[...] = function(own, *wide[1:])
    assert_same_bits(own, wanted)
    shifted = xl.array(np.concatenate([args[0][:1], args[0]]))
    shifted[:-1] = function(shifted[1:], *wide[1:])
    assert_same_bits(shifted[:-1].copy(), wanted)
    other = xl.array(np.concatenate([args[0], args[0][:1]]))
    other[1:] = function(other[:-1], *wide[1:])
    assert_same_bits(other[1:].copy(), wanted)


@pytest.mark.parametrize(("name", "t"), KINDS.values())
def test_parts_of_expressions(name: str, t: str) -> None:
    args = operands(name, t, 256 * 470)
    wide = [xl.asarray(x) for x in args]
    function = getattr(xl, name)
    with np.errstate(all="ignore"):
        inner = one_by_one(name, [xl.eval(x * 3).numpy() for x in wide])
        assert_same_bits(function(*[x * 3 for x in wide]) + 1, inner + TYPES[t](1))
        square = [x.reshape(256, 470) for x in wide]
        turned = xl.eval(function(*[x.T for x in square])).numpy()
    assert_same_bits(turned, one_by_one(name, args).reshape(256, 470).T)


def test_functions_of_users_see_no_values_that_are_no_results() -> None:
    """What they made of such might raise, or never end."""

    def doubled(x: float) -> float:
        if x > 1.0:
            raise ValueError("no square of a sine")
        return x * 2

    double = xl.vectorize(doubled)
    x = np.full(MANY, 1.5)
    x[77] = 1e300
    sine = xl.sin(xl.asarray(x))
    assert_same_bits(xl.eval(double(sine * sine)), xl.eval(sine * sine).numpy() * 2)
