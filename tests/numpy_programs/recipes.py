"""Programs as textbooks have them: solvers, tables of optima, sparse matrices, filters, finance."""

from __future__ import annotations

from types import ModuleType
from typing import Any

Xp = ModuleType


def runge_kutta_by_its_tableau(xp: Xp) -> Any:
    a = xp.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]])
    b, h = xp.array([1, 2, 2, 1]) / 6, 0.25
    y, path = xp.array([1.0, 0.0]), xp.empty((5, 2))
    path[0] = y
    for n in range(4):
        k = xp.zeros((4, 2))
        for i in range(4):
            at = y + h * (a[i] @ k)
            k[i] = xp.array([at[1], -at[0] - 0.1 * at[1]])
        y = y + h * (b @ k)
        path[n + 1] = y
    return xp.round(path, 9), path.argmin(axis=0)


def tridiagonal_elimination(xp: Xp) -> Any:
    n = 6
    low, main, high = xp.full(n - 1, -1.0), xp.full(n, 3.0), xp.full(n - 1, -1.0)
    m = xp.diag(main) + xp.diag(low, -1) + xp.diag(high, 1)
    d = xp.arange(n, dtype=float)
    for i in range(1, n):
        w = low[i - 1] / main[i - 1]
        main[i] -= w * high[i - 1]
        d[i] -= w * d[i - 1]
    x = xp.zeros(n)
    x[-1] = d[-1] / main[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - high[i] * x[i + 1]) / main[i]
    return x, xp.round(m @ x, 9), xp.linalg.norm(m, xp.inf)


def compressed_rows(xp: Xp) -> Any:
    dense = xp.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 4, 0]])
    rows, columns = xp.nonzero(dense)
    data = dense[rows, columns]
    starts = xp.concatenate(([0], xp.cumsum(xp.bincount(rows, minlength=3))))
    x = xp.array([1, 10, 100, 1000])
    y = xp.add.reduceat(xp.append(data * x[columns], 0), starts[:-1])
    y[xp.diff(starts) == 0] = 0
    z = xp.zeros(3, dtype=int)
    xp.add.at(z, rows, data * x[columns])
    back = xp.zeros_like(dense)
    back[rows, columns] = data
    key, place = xp.unique(columns * 3 + rows, return_inverse=True)
    return starts, y, z, back, xp.divmod(key, 3)[1], xp.bincount(place, weights=data)


def a_knapsack(xp: Xp) -> Any:
    weights, worth, room = xp.array([1, 3, 4, 5]), xp.array([1, 4, 5, 7]), 7
    best = xp.zeros((5, room + 1), dtype=int)
    for i in range(1, 5):
        w = weights[i - 1]
        best[i] = best[i - 1]
        best[i, w:] = xp.maximum(best[i - 1, w:], best[i - 1, : room + 1 - w] + worth[i - 1])
    taken, left = [], room
    for i in range(4, 0, -1):
        if best[i, left] != best[i - 1, left]:
            taken.append(i - 1)
            left -= weights[i - 1]
    return best, taken, left


def distance_of_words(xp: Xp) -> Any:
    one, two = "kitten", "sitting"
    d = xp.zeros((len(one) + 1, len(two) + 1), xp.int32)
    d[:, 0] = xp.arange(len(one) + 1)
    d[0] = xp.arange(len(two) + 1)
    for i in range(1, len(one) + 1):
        for j in range(1, len(two) + 1):
            differs = one[i - 1] != two[j - 1]
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + differs)
    return d, d[-1, -1]


def filters_of_an_image(xp: Xp) -> Any:
    image = (xp.arange(30).reshape(5, 6) * 37 % 251).astype(xp.uint8)
    framed = xp.pad(image, 1, "reflect")
    around = xp.stack([framed[i : i + 5, j : j + 6] for i in range(3) for j in range(3)])
    counts, edges = xp.histogram(image, bins=8, range=(0, 256))
    share = counts.cumsum() / image.size
    even = xp.interp(image.ravel(), edges[:-1], share * 255).reshape(image.shape)
    return xp.median(around, axis=0), around.max(0) - around.min(0), even.astype(xp.uint8)


def bands_of_a_price(xp: Xp) -> Any:
    price = 100 * xp.cumprod(1 + xp.array([0.01, -0.02, 0.015, 0.03, -0.01, 0.005]))
    mean = xp.convolve(price, xp.ones(3) / 3, "valid")
    spread = xp.array([price[i : i + 3].std() for i in range(4)])
    smooth = xp.empty_like(price)
    smooth[0] = price[0]
    for i in range(1, len(price)):
        smooth[i] = 0.3 * price[i] + 0.7 * smooth[i - 1]
    fall = 1 - price / xp.maximum.accumulate(price)
    turns = xp.flatnonzero(xp.sign(xp.diff(xp.sign(price - smooth))))
    return xp.round(xp.vstack([mean - spread, mean + spread]).T, 9), fall.argmax(), turns


def ranks_and_levels_of_a_graph(xp: Xp) -> Any:
    a = xp.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0]], float)
    out = a.sum(1)
    p = xp.where(out[:, None] > 0, a / xp.where(out == 0, 1, out)[:, None], 0.25)
    x = xp.ones(4) / 4
    for _ in range(30):
        x = 0.85 * x @ p + 0.0375
    level, front, step = xp.full(4, -1), xp.arange(4) == 0, 0
    while front.any():
        level[front & (level < 0)] = step
        front = (a > 0)[front].any(axis=0) & (level < 0)
        step += 1
    return xp.round(x, 9), xp.argsort(-x), level, step


def numbers_of_other_classes(xp: Xp) -> Any:
    counts, short, flags = xp.zeros(6, int), xp.zeros(4, "f4"), xp.zeros(3, bool)
    for i, weight in enumerate(xp.array([0.2, 1.7, 3.9, -2.5, 7.0])):
        counts[i] = weight
    counts[[5, 0]] = True, False
    counts[counts > 5] = 2.9
    short[:] = xp.float64(1) / 3
    short[1], short[2:3] = xp.int64(7), True
    flags[0], flags[1] = 2.5, xp.float32(0)
    bytes_ = xp.zeros(3, "u1")
    bytes_[0], bytes_[xp.array([False, True, False])] = 255.9, xp.float64(3.5)
    refused = []
    for value in (256.0, -1.0, xp.nan, xp.inf):
        try:
            bytes_[2] = value
        except (OverflowError, ValueError) as error:
            refused.append(isinstance(error, OverflowError))
    return counts, short, flags, bytes_, refused, xp.full_like(counts, -2.7)


PROGRAMS = [
    runge_kutta_by_its_tableau,
    tridiagonal_elimination,
    compressed_rows,
    a_knapsack,
    distance_of_words,
    filters_of_an_image,
    bands_of_a_price,
    ranks_and_levels_of_a_graph,
    numbers_of_other_classes,
]
