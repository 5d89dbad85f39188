"""Exercises: lists that become rows, digits, sums over nothing yet, products updated in place."""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any

Xp = ModuleType


def armstrong_numbers(xp: Xp) -> Any:
    digits = [xp.array(list(str(n)), int) for n in range(365, 375)]
    found = [n for n, d in zip(range(365, 375), digits, strict=True) if (d**3).sum() == n]
    squares = [d[0] ** 2 + 2 ** d[1] for d in digits]
    return digits, found, squares, sum(d[-1] ** d[0] for d in digits), digits[0][0] ** 0.5


def samples_of_two(xp: Xp) -> Any:
    rng = xp.random.default_rng(1)
    samples, turns = xp.empty((20, 2)), xp.zeros((20, 2), dtype=xp.int8)
    x = y = 0.0
    for i in range(20):
        x = rng.normal(0.8 * y, xp.sqrt(1 - 0.8**2))
        y = rng.normal(0.8 * x, xp.sqrt(1 - 0.8**2))
        samples[i] = x, y
        turns[i] = [i % 3, x > y]
    samples[3, :] = [0, 1]
    samples[:2] = [(1, 2), (xp.sum(samples[5:, 0]), samples[7, 1])]
    return samples, turns, xp.cov(samples.T)


def gauss_seidel(xp: Xp) -> Any:
    n = 5
    a = 4 * xp.eye(n) - xp.eye(n, k=1) - xp.eye(n, k=-1)
    low, b = xp.linalg.cholesky(a), xp.arange(1.0, n + 1)
    x, y = xp.zeros_like(b), xp.zeros(n)
    for _ in range(3):
        for i in range(n):
            x[i] = (b[i] - xp.dot(a[i, :i], x[:i]) - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    for i in range(n):
        y[i] = (b[i] - low[i, :i] @ y[:i]) / low[i, i]
    return x, y, low[0, :0] @ y[:0], xp.arange(0) @ xp.arange(0)


def classifier(xp: Xp) -> Any:
    x = xp.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    target, w = xp.eye(2)[[0, 1, 1, 1]], xp.array([[0.1, -0.2], [0.3, 0.0], [0.0, 0.1]])
    for _ in range(4):
        z = x @ w
        z -= z.max(axis=1, keepdims=True)
        p = xp.exp(z)
        p /= p.sum(axis=1, keepdims=True)
        w -= 0.5 * x.T @ (p - target) / len(x)
    return w, z, p, p.argmax(1), x.T.dot(p)


def arrays_in_one_file(xp: Xp) -> Any:
    file, kept = io.BytesIO(), []
    for k in range(3):
        xp.save(file, xp.arange(k) * 1.5)
    file.seek(0)
    while True:
        try:
            kept.append(xp.load(file))
        except EOFError:
            return kept


PROGRAMS = [armstrong_numbers, samples_of_two, gauss_seidel, classifier, arrays_in_one_file]
