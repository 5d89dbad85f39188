"""Rows that go through several kernels at once, and what is computed into the target first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.compiler import bands
from xarraylite.runtime import run
from xarraylite.testing import assert_same_bits

rng = np.random.default_rng(8)


def softmax(x: Any, xp: Any = xl) -> Any:
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def standard(x: Any, xp: Any = xl) -> Any:
    return (x - xp.mean(x, axis=1, keepdims=True)) / (xp.std(x, axis=1, keepdims=True) + 0.125)


def scaled(x: Any, xp: Any = xl) -> Any:
    """Folds of two parts, one of them expensive, over rows of one more operand."""
    waves = xp.sin(x) * x[:1]
    return waves - xp.max(waves, axis=1, keepdims=True) * xp.min(x, axis=1, keepdims=True)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return a switch: whether little work runs in bands of two rows, and is shared."""
    monkeypatch.setattr(run, "SHARED_FROM", 1)

    def switch(on: bool) -> None:
        monkeypatch.setattr(bands, "_LARGE", 0 if on else 1 << 60)
        monkeypatch.setattr(bands, "_WORTH", 0 if on else 1 << 60)
        monkeypatch.setattr(bands, "BAND_BYTES", 5000)
        xl.cache_clear()

    return switch


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("make", "dtype", "shape"),
    [
        *[(make, "float64", (37, 129)) for make in (softmax, standard)],
        *[(make, "float64", (5, 1000)) for make in (softmax, standard)],
        (softmax, "float64", (40, 1)),
        (scaled, "float32", (37, 129)),
        (standard, "float32", (40, 1)),
        (softmax, "bfloat16", (9, 33)),
        (scaled, "bfloat16", (5, 1000)),
    ],
)
def test_bits_are_those_of_whole_kernels(
    make: Any, dtype: str, shape: tuple[int, ...], small: Callable[[bool], None]
) -> None:
    a = xl.asarray(rng.random((shape[0], 2 * shape[1])), dtype=dtype)
    operands = (a[:, : shape[1]], a[:, ::2], xl.eval(a[:, ::2].T).T)
    found: list[list[Any]] = [[], [], []]
    for on, threads in ((False, 1), (True, 1), (True, 2)):
        small(on)
        with xl.config(threads=threads):
            for x, results in zip(operands, found, strict=True):
                into = xl.zeros(x.shape, dtype=x.dtype)
                into[...] = make(x)
                results += [xl.eval(make(x)), into]
    for first, *others in found:
        for one in others:
            assert_same_bits(one, first)
    np.testing.assert_allclose(
        xl.astype(found[-1][0], "float64").numpy(),
        make(xl.astype(x, "float64").numpy(), np),
        rtol=0.3 if dtype == "bfloat16" else 1e-4,
        atol=0.05 if dtype == "bfloat16" else 1e-5,
    )


@pytest.mark.usefixtures("compiled")
def test_what_runs_in_bands_and_what_is_shared(small: Callable[[bool], None]) -> None:
    small(True)
    a = xl.asarray(rng.random((64, 100)))
    into = xl.zeros((64, 100))
    told = str(xl.explain(into, softmax(a)))
    assert "rows at a time" in told
    assert "read again, in place" in told
    assert "read again, in place" in str(xl.explain(softmax(a))), "new memory"
    assert "read again, in place" not in str(xl.explain(xl.noalias(into), softmax(a)))
    assert "rows at a time" in str(xl.explain(into, standard(a)))
    assert "in place" not in str(xl.explain(into, standard(a))), "cheap to compute again"
    assert "in place" not in str(xl.explain(into.T, softmax(xl.asarray(rng.random((100, 64))))))
    assert "in place" not in str(xl.explain(a, softmax(a))), "the target is read"
    by_columns = (a - xl.mean(a, axis=0)) / xl.std(a, axis=0)
    assert "rows at a time" not in str(xl.explain(into, by_columns))


def test_the_target_among_the_operands(small: Callable[[bool], None]) -> None:
    small(True)
    values = rng.random((64, 100))
    for make in (softmax, standard, scaled):
        a = xl.asarray(values)
        a[...] = make(a)
        np.testing.assert_allclose(a.numpy(), make(values, np), rtol=1e-12, atol=1e-12)
        b = xl.asarray(values)
        b[1:] = make(b[:-1])
        np.testing.assert_allclose(b.numpy()[1:], make(values[:-1], np), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("on", [False, True])
def test_a_promise_allows_the_same_elements(on: bool, small: Callable[[bool], None]) -> None:
    small(on)
    a, values = xl.asarray(rng.random((64, 100))), rng.random((64, 100))
    e = np.exp(a.numpy())
    for _ in range(3):
        into = xl.asarray(values)
        powers = xl.exp(a)
        xl.noalias(into)[...] = into * powers / xl.sum(powers, axis=1, keepdims=True)
        wanted = values * e / e.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(into.numpy(), wanted, rtol=1e-12)


def test_a_function_that_raises_leaves_the_target(small: Callable[[bool], None]) -> None:
    small(True)

    def refuse(x: float) -> float:
        if x > 2:
            raise ValueError("too large")
        return x

    values = rng.random((64, 200))
    whole, powers = xl.asarray(values), xl.eval(xl.exp(xl.asarray(rng.random((64, 100)) / 2)))
    powers[5:, :] = powers[5:, :] + 2.0
    for into in (whole[:, ::2], whole[:, 100:]):
        with pytest.raises(ValueError, match="too large"):
            into[...] = xl.vectorize(refuse)(powers) + xl.sum(powers, axis=1, keepdims=True)
    assert_same_bits(whole, values)
