"""Plans of large expressions, bound to other operands (`runtime.bound`)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.runtime import bound, replay
from xarraylite.testing import assert_same_bits

rng = np.random.default_rng(11)
N = 60


@pytest.fixture(autouse=True)
def _in_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every replay refused, so that little work is bound as much is."""
    monkeypatch.setattr(replay, "PARALLEL_FROM", 0)
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
    run = bound.run_steps
    monkeypatch.setattr(bound, "run_steps", lambda *given: (met.append(given), run(*given)))
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

    threads = [threading.Thread(target=work, args=(100 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
