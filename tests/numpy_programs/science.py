"""Programs of numerical work, signals, images, graphs and games, as NumPy's users write them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

Xp = ModuleType


def newton(xp: Xp) -> Any:
    x = xp.array([2.0, 0.5])
    rounds = 0
    while rounds < 20:
        f = xp.array([x[0] ** 2 + x[1] ** 2 - 4, x[0] * x[1] - 1])
        jacobian = xp.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]])
        step = xp.linalg.solve(jacobian, -f)
        x += step
        rounds += 1
        if xp.linalg.norm(step) < 1e-12:
            break
    return rounds, xp.round(x, 9), bool(xp.allclose(f, 0))


def lu_with_pivots(xp: Xp) -> Any:
    u = xp.array([[2, 1, 1], [4, 3, 3], [8, 7, 9]]).astype(float)
    n = len(u)
    lower, p = xp.eye(n), xp.arange(n)
    for k in range(n - 1):
        best = xp.argmax(xp.abs(u[k:, k])) + k
        u[[k, best], k:] = u[[best, k], k:]
        lower[[k, best], :k] = lower[[best, k], :k]
        p[[k, best]] = p[[best, k]]
        lower[k + 1 :, k] = u[k + 1 :, k] / u[k, k]
        u[k + 1 :] -= xp.outer(lower[k + 1 :, k], u[k])
    return lower, xp.round(u, 9), p


def shortest_paths(xp: Xp) -> Any:
    far = xp.inf
    d = xp.array([[0, 3, far, 7], [8, 0, 2, far], [5, far, 0, 1], [2, far, far, 0]])
    for k in range(4):
        d = xp.minimum(d, d[:, k, None] + d[None, k])
    weights = xp.array([[0, 4, 1, 0], [4, 0, 2, 5], [1, 2, 0, 8], [0, 5, 8, 0]])
    most = xp.iinfo(xp.int64).max
    dist, done = xp.full(4, most), xp.zeros(4, dtype=bool)
    dist[0] = 0
    for _ in range(4):
        u = xp.argmin(xp.where(done, most, dist))
        done[u] = True
        for v in xp.flatnonzero(weights[u]):
            dist[v] = min(dist[v], dist[u] + weights[u, v])
    return d, dist, done.all().item(), xp.unravel_index(d.argmax(), d.shape)[0].item()


def likeliest_path(xp: Xp) -> Any:
    a, b = xp.array([[0.7, 0.3], [0.4, 0.6]]), xp.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    best, back = xp.zeros((3, 2)), xp.zeros((3, 2), int)
    best[0] = xp.array([0.6, 0.4]) * b[:, 0]
    for t, seen in ((1, 1), (2, 2)):
        scores = best[t - 1][:, None] * a
        back[t] = scores.argmax(0)
        best[t] = scores.max(axis=0) * b[:, seen]
    path = [int(best[-1].argmax())]
    for t in (2, 1):
        path.insert(0, int(back[t, path[0]]))
    return best, path


def equalised(xp: Xp) -> Any:
    image = (xp.arange(36).reshape(6, 6) * 7 % 50 + 50).astype(xp.uint8)
    counts, _ = xp.histogram(image.flatten(), 256, [0, 256])
    total = counts.cumsum()
    shown = xp.ma.masked_equal(total, 0)
    shown = (shown - shown.min()) * 255 / (shown.max() - shown.min())
    table = xp.ma.filled(shown, 0).astype("uint8")
    return [int(x) for x in table[image].ravel()], xp.bincount(image.ravel())[50:60]


def dithered(xp: Xp) -> Any:
    image = xp.tile(xp.linspace(0, 1, 8), (4, 1))
    for y in range(4):
        for x in range(8):
            error = image[y, x] - xp.round(image[y, x])
            image[y, x] -= error
            if x + 1 < 8:
                image[y, x + 1] += error * 7 / 16
            if y + 1 < 4:
                image[y + 1, x] += error * 5 / 16
    return image.astype(int)


def regions(xp: Xp) -> Any:
    image = xp.array([[1, 1, 0, 0], [0, 0, 0, 1], [1, 0, 1, 1]])
    label, count = xp.zeros_like(image), 0
    for p in zip(*xp.nonzero(image), strict=True):
        if label[p]:
            continue
        count, todo = count + 1, [p]
        while todo:
            q = todo.pop()
            if min(q) < 0 or q[0] >= 3 or q[1] >= 4 or not image[q] or label[q]:
                continue
            label[q] = count
            todo += [(q[0] + i, q[1] + j) for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0))]
    return label, xp.bincount(label.ravel())[1:], xp.argwhere(label == 2)


def run_lengths(xp: Xp) -> Any:
    x = xp.array([1, 1, 2, 2, 2, 3, 1])
    ends = xp.flatnonzero(xp.concatenate(([True], x[1:] != x[:-1], [True])))
    values, lengths = x[ends[:-1]], xp.diff(ends)
    return values, lengths, xp.repeat(values, lengths), [len(part) for part in xp.split(x, ends)]


def tiles_that_slide(xp: Xp) -> Any:
    def slid(row: Any) -> Any:
        left, out, i = row[row != 0], [], 0
        while i < len(left):
            twice = i + 1 < len(left) and left[i] == left[i + 1]
            out.append(left[i] * (2 if twice else 1))
            i += 2 if twice else 1
        return xp.array(out + [0] * (len(row) - len(out)))

    board = xp.array([[2, 2, 4, 0], [0, 4, 4, 4], [2, 0, 0, 2], [0, 0, 0, 0]])
    return xp.apply_along_axis(slid, 1, board), xp.array([slid(row) for row in board.T]).T


def mandelbrot(xp: Xp) -> Any:
    y, x = xp.ogrid[-1.2:1.2:9j, -2:0.8:25j]
    c = x + 1j * y
    z, steps = xp.zeros_like(c), xp.full(c.shape, 20, dtype=int)
    for i in range(20):
        inside = xp.abs(z) < 2
        z[inside] = z[inside] ** 2 + c[inside]
        steps[(xp.abs(z) >= 2) & (steps == 20)] = i
    return steps, "".join(" .:-=+*#%@"[min(v // 2, 9)] for v in steps[4])


PROGRAMS = [newton, lu_with_pivots, shortest_paths, likeliest_path, equalised, dithered]
PROGRAMS += [regions, run_lengths, tiles_that_slide, mandelbrot]
