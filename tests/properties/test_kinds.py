"""Random small expressions: written anew and again, evaluated, assigned, in place, folded."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)
NUMBERS = (2, 3.5, True, np.float64(0.25))


class Maker:
    """Makes the same expression of ours and of NumPy's."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.values = np.random.default_rng(seed)

    def operand(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        """An array of the shape, of its end or of rank 0; whole, or part of a larger one."""
        own = self.random.choice([shape, shape, shape, shape[-1:], ()])
        if not own or self.random.random() < 0.6:
            v = self.values.random(own) + 0.5
            return xl.asarray(v), v
        v = self.values.random(tuple(2 * n + 1 for n in own)) + 0.5
        key = tuple(
            self.random.choice([slice(1, n + 1), slice(0, 2 * n, 2), slice(n, 0, -1)]) for n in own
        )
        return xl.asarray(v)[key], v[key]

    def expression(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        x, y = self.operand(shape)
        for _ in range(self.random.randint(1, 5)):
            f, way = self.random.choice(OPERATIONS), self.random.random()
            if way < 0.4:
                c = self.random.choice(NUMBERS)
                x, y = (f(x, c), f(y, c)) if way < 0.2 else (f(c, x), f(c, y))
            elif way < 0.9:
                p, q = self.operand(shape)
                x, y = (f(x, p), f(y, q)) if way < 0.65 else (f(p, x), f(q, y))
            else:
                x, y = -x, -y
        return x, y


@pytest.mark.parametrize("seed", range(3))
def test_values_do_not_depend_on_the_way(seed: int) -> None:
    maker = Maker(seed)
    for _ in range(8):
        shape = maker.random.choice([(4,), (1,), (3, 4), (2, 1), (2, 3, 4)])
        with np.errstate(all="ignore"):
            e, expected = maker.expression(shape)
        result = np.asarray(xl.eval(e))
        assert result.shape == np.shape(expected)
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(
            np.asarray(xl.eval(xl.reshape(e, (-1,))[::-1])), np.ravel(expected)[::-1]
        )
        to = xl.zeros(shape)
        to[...] = e
        np.testing.assert_array_equal(np.asarray(to), np.broadcast_to(expected, shape))
        if np.shape(expected) == shape:
            to += e
            np.testing.assert_array_equal(np.asarray(to), expected + expected)
            whole = float(xl.sum(e))
            assert abs(whole - expected.sum()) <= 1e-12 * np.abs(expected).sum()


@pytest.mark.parametrize("seed", range(4))
def test_destinations_that_are_read(seed: int) -> None:
    maker = Maker(seed)
    for _ in range(30):
        n = maker.random.choice([5, 6, 17])
        v = maker.values.random((n, n))
        a = xl.asarray(v)
        low, high = sorted(maker.random.sample(range(n), 2))
        rows, last = slice(low, high), slice(n - (high - low), n)
        key, other = maker.random.choice(
            [
                (rows, rows),
                (rows, last),
                ((rows, slice(0, n)), (last, slice(0, n))),
                ((slice(None), rows), (slice(None), last)),
            ]
        )
        a[key] = a[other] * 2 + a[key]
        v[key] = v[other] * 2 + v[key]
        np.testing.assert_array_equal(np.asarray(a), v)


def test_shapes_that_were_never_seen_need_no_more_memory() -> None:
    a, b = xl.ones(3000), xl.ones(3000)
    square = xl.ones((300, 300))
    from xarraylite.ir import kind
    from xarraylite.ir.node import FREE
    from xarraylite.runtime import evaluate

    xl.eval(a[:5] + b[:5] * 2)
    square[:5, :5] = square[:5, :5] * 1.0 + 0
    before = len(kind._kinds), len(evaluate._programs), sum(map(len, kind.PLACES[FREE].values()))
    for n in range(1, 300):
        assert xl.eval(a[:n] + b[:n] * 2).tolist() == [3.0] * n
        assert float(xl.sum(a[:n] * b[:n])) == n
        square[:n, :n] = square[:n, :n] * 1.0 + 0
    after = len(kind._kinds), len(evaluate._programs), sum(map(len, kind.PLACES[FREE].values()))
    assert all(y - x <= 8 for x, y in zip(before, after, strict=True))


BEGINNINGS: dict[str, Callable[[Any, Any], Any]] = {
    "head": lambda v, m: v - v[:3].sum(),
    "whole": lambda v, m: v[:3] * v.max(),
    "two folds": lambda v, m: v[:3].sum() - v[:4].sum() + v[0],
    "one element": lambda v, m: v - v[:1].sum(),
    "mean": lambda v, m: v - v[:3].mean(),
    "rows": lambda v, m: m - m[:2].sum(),
    "row": lambda v, m: m[0] - m[0, :2].sum(),
    "column": lambda v, m: m[:, 0].sum() - m[:2, 0].sum() + m,
    "some axes": lambda v, m: m.sum(0) - m[:2].sum(0),
    "computed": lambda v, m: (v * 2)[:3] * (v * 2).sum(),
    "nested": lambda v, m: (m - m[:2].sum()) * m[:1].sum() - m[0],
}


@together("name", BEGINNINGS)
def test_what_begins_alike_is_not_the_same(name: str) -> None:
    """The first time, from a plan that is kept, and assigned."""
    v, m = np.array([2.0, 2.0, -2.0, -1.0, 4.0, 4.0]), np.arange(12.0).reshape(3, 4)
    expected = BEGINNINGS[name](v, m)
    for _ in range(3):
        made = BEGINNINGS[name](xl.asarray(v), xl.asarray(m))
        np.testing.assert_allclose(np.asarray(xl.eval(made)), expected, 1e-15)
        out = xl.zeros(np.shape(expected))
        out[...] = BEGINNINGS[name](xl.asarray(v), xl.asarray(m))
        np.testing.assert_allclose(np.asarray(out), expected, 1e-15)
