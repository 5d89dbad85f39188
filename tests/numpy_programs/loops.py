"""Programs that build on their own results in loops, as simulations and optimisers do."""

from __future__ import annotations

from types import ModuleType
from typing import Any

Xp = ModuleType


def adam(xp: Xp) -> Any:
    def slope(x: Any) -> Any:
        return xp.array([2 * (x[0] - 1) - 4 * x[0] * (x[1] - x[0] ** 2), 2 * (x[1] - x[0] ** 2)])

    x = xp.array([-1.0, 1.0])
    m, v = xp.zeros_like(x), xp.zeros_like(x)
    for t in range(1, 60):
        g = slope(x)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        x = x - 0.05 * (m / (1 - 0.9**t)) / (xp.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return x.round(6), m.round(6)


def life(xp: Xp) -> Any:
    g = xp.zeros((8, 8), dtype=int)
    g[1, 2] = g[2, 3] = g[3, 1] = g[3, 2] = g[3, 3] = 1
    alive = []
    for _ in range(6):
        near = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        n = sum(xp.roll(xp.roll(g, i, 0), j, 1) for i, j in near)
        g = ((g == 1) & ((n == 2) | (n == 3)) | (g == 0) & (n == 3)).astype(int)
        alive.append(int(g.sum()))
    return g + 0, alive


def bodies(xp: Xp) -> Any:
    mass = xp.array([1.0, 0.5, 0.1])
    place = xp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    speed = xp.array([[0.0, 0.0], [0.0, 1.0], [-0.7, 0.0]])
    for _ in range(20):
        apart = place[None, :, :] - place[:, None, :]
        square = (apart**2).sum(-1) + 1e-2
        xp.fill_diagonal(square, 1.0)
        speed += (apart * (mass[None, :, None] / square[..., None] ** 1.5)).sum(axis=1) * 0.01
        place += speed * 0.01
    return place.round(9), speed.round(9)


PROGRAMS = [adam, life, bodies]
