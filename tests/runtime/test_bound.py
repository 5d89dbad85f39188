"""Plans of large expressions, bound to other operands (`runtime.bound`)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite.assignment import writes
from xarraylite.runtime import bound, direct, replay
from xarraylite.testing import assert_same_bits

rng = np.random.default_rng(11)
N = 60


@pytest.fixture(autouse=True)
def _in_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every launch and replay refused, so that little work is bound as much is."""
    for module, name in (
        (replay, "PARALLEL_FROM"),
        (replay, "SHARED_FROM"),
        (writes, "PARALLEL_FROM"),
    ):
        monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr(direct.limits, "PARALLEL_FROM", 1)
    xl.cache_clear()
    yield
    xl.cache_clear()


def _expressions(a: Any, b: Any, xp: Any) -> list[Any]:
    return [
        xp.exp(a.T) + 1,
        xp.sum(a * b, axis=0),
        xp.concat([a, b]),
        (a - xp.mean(a, axis=1, keepdims=True)) * 3.5,
        xp.sum(xp.abs(a)),
    ]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_bits_each_time(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[object] = []
    run = bound.run
    monkeypatch.setattr(bound, "run", lambda *given: (met.append(given), run(*given)))
    with xl.config(threads=threads):
        for _ in range(4):
            x, y = rng.random((N, N)), rng.random((N, N))
            first = _expressions(xl.asarray(x), xl.asarray(y), xl)
            for made, wanted in zip(first, _expressions(x, y, np), strict=True):
                result = xl.eval(made)
                np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-12, atol=1e-12)
                with xl.config(engine="reference"):
                    np.testing.assert_allclose(
                        np.asarray(xl.eval(made)), wanted, rtol=1e-12, atol=1e-12
                    )
    assert len(met) >= 3 * 2, "not bound"


def test_what_is_read_is_what_was_written_over() -> None:
    for k in range(4):
        a = xl.full((N, N), float(k))
        held = xl.exp(a.T - k) + xl.sum(a, axis=0)
        xl.eval(held)
        a[...] = -1.0
        assert_same_bits(held, np.full((N, N), 1.0 + k * N))


def test_scalars_are_those_of_the_call() -> None:
    a = xl.asarray(rng.random((N, N)).astype(np.float32))
    for k in range(4):
        assert_same_bits(a.T * k + 0.5, np.asarray(a).T * k + np.float32(0.5))


def test_limits_and_stale_operands_are_told() -> None:
    a = xl.asarray(rng.random((N, N)))
    for _ in range(3):
        xl.eval(a.T + 1)
    with xl.config(max_result_bytes=100), pytest.raises(xl.SizeError, match="max_result_bytes"):
        xl.eval(a.T + 1)


def test_threads_do_not_mix() -> None:
    """Plans run without the interpreter's lock; writers in other threads leave readers alone."""
    wrong: list[float] = []

    def work(number: int) -> None:
        a = xl.full((N, N), float(number))
        for k in range(30):
            e = a.T * 2 + k
            a += 1.0
            found = float(xl.sum(e)) / (N * N)
            if found != 2.0 * (number + k) + k:
                wrong.append(found)

    run_all([threading.Thread(target=work, args=(100 * k,)) for k in range(4)])
    assert not wrong


@pytest.mark.usefixtures("compiled")
def test_what_is_the_same_is_read_once() -> None:
    a, b = xl.asarray(rng.random((N, N))), xl.asarray(rng.random((N, N)))

    def polynomial(x: Any) -> Any:
        r = x * 0.5
        for k in range(5):
            r = (r + k) * x
        return r

    e = polynomial(a)
    plan = bound.bound_of(e._kind, e._shape, e._operands)
    assert plan is not None
    assert len(plan.leaves) == 1
    for _ in range(3):
        for x, y in ((a, a), (a, b), (b, a)):
            assert_same_bits(polynomial(x) + y * 2.0, polynomial(x.numpy()) + y.numpy() * 2.0)


def test_numbers_that_were_one_may_be_two() -> None:
    a, b = rng.random((2, N, N))
    x, y = xl.asarray(a), xl.asarray(b)
    one = 1.25
    for first, second in ((one, one), (one, 1.25), (1.25, 7.5), (one, one), (3.0, 0.5)):
        assert_same_bits(x * first + y * second, a * first + b * second)


def _assignments(a: Any, b: Any, xp: Any) -> None:
    a[...] = b * 2.0 + a
    a[...] = xp.sqrt(xp.abs(a)) * a - b
    a += b
    a *= 0.5
    a[1:] = a[:-1] + b[1:]
    a[:, ::2] = b[:, 1::2] - 1
    a[...] = b - xp.mean(b, axis=0)
    a[...] = a - xp.sum(a)
    a[1:, 1:] = a[1:, 1:] * a[0, 1:] + b[:-1, 1:]


@pytest.mark.parametrize("threads", [1, 2])
def test_assignments_are_numpys(threads: int) -> None:
    values = rng.random((2, N, N))
    x, y = values.copy()
    a, b = xl.asarray(values[0]), xl.asarray(values[1])
    with xl.config(threads=threads):
        for _ in range(4):
            _assignments(x, y, np)
            _assignments(a, b, xl)
            np.testing.assert_allclose(a.numpy(), x, rtol=1e-9)
            x /= np.abs(x).max()
            a[...] = x


def test_who_still_reads_keeps_what_was_there() -> None:
    for k in range(4):
        a, b = xl.full((N, N), float(k)), xl.full((N, N), 2.0)
        waiting, own = a + b, a * b
        a[...] = own
        assert_same_bits(a, np.full((N, N), 2.0 * k))
        a += own if k % 2 else b
        assert_same_bits(waiting, np.full((N, N), k + 2.0))


def test_a_user_function_may_raise() -> None:
    def refuse(x: float) -> float:
        if x > 0.5:
            raise ValueError("too large")
        return x * 2

    refusing = xl.vectorize(refuse)
    a = xl.zeros((N, N))
    for _ in range(4):
        assert_same_bits(refusing(a) + 1, np.ones((N, N)))
    a[3, 3] = 1.0
    with pytest.raises(ValueError, match="too large"):
        xl.eval(refusing(a) + 1)


@pytest.mark.usefixtures("compiled")
def test_one_number_of_two_dtypes() -> None:
    x, y = rng.random((N, N), dtype=np.float32), rng.integers(0, 9, (N, N), dtype=np.uint64)
    number = 2
    for _ in range(3):
        a, b = xl.asarray(x), xl.asarray(y)
        made = xl.max(xl.maximum(b, number) << 1, axis=0) + (xl.argmax(a) == number)
        wanted = np.max(np.maximum(y, number) << 1, axis=0) + (np.argmax(x) == number)
        assert_same_bits(xl.eval(made), wanted)
        tenth = 0.1
        assert_same_bits(xl.eval((a.T * tenth) * (b.T * tenth)), (x.T * tenth) * (y.T * tenth))
