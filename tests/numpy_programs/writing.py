"""Programs that write: through indices, masks and lists, and into results that are lazy here."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

Xp = ModuleType


def rows_of_a_lazy_result(xp: Xp) -> Any:
    m = xp.reshape(xp.arange(6), (2, 3)) * 1
    before = m + 0
    for row in m:
        row[:] = row[::-1]
    for i in range(2):
        for j in range(3):
            m[i][j] += 10 * i
    return m, before


def into_a_result(xp: Xp) -> Any:
    a = xp.asarray([1.0, 2.0, 3.0])
    e = a * 2
    before = e + 1
    e[0] = 10
    return e + 0, before, a


def into_a_result_under_two_names(xp: Xp) -> Any:
    e = xp.asarray([1.0, 2.0]) * 2
    f = e
    f[1] = -1
    f += 1
    return e + 0, f is e


def into_views_of_a_result(xp: Xp) -> Any:
    e = xp.asarray([[1, 2, 3], [4, 5, 6]]) * 2
    row, turned = e[1], e.T
    row[0] = 70
    e[0][1] = 50
    e[:, 1:][:, 1] = 9
    turned[0] = turned[0] + 1
    return e + 0, row + 0, turned + 0


def a_view_that_outlives_its_result(xp: Xp) -> Any:
    part = (xp.asarray([1, 2, 3]) * 3)[1:]
    part[0] = 0
    return part + 0


def updates_of_a_result(xp: Xp) -> Any:
    a = xp.asarray([1.0, 2.0, 3.0])
    total = a * 0
    kept = total
    for i in range(50):
        total += a * i
    total -= [1, 1, 1]
    total *= total
    return total + 0, kept is total


def an_update_after_a_view(xp: Xp) -> Any:
    e = xp.asarray([1, 2, 3, 4]) * 2
    head = e[:2]
    e += 1
    head //= 2
    e[e > 6] = 0
    return e + 0, head + 0


def filling_a_result(xp: Xp) -> Any:
    e = xp.asarray([[1, 2], [3, 4]]) + 1
    flat = e.reshape(4)
    e.fill(3)
    flat[3] = 8
    return e + 0, flat + 0


def views_of_a_result_that_is_gone(xp: Xp) -> Any:
    def parts(a: Any) -> Any:
        doubled = a * 2
        return doubled[:-1], doubled[1:], doubled[::-1]

    head, tail, turned = parts(xp.asarray([1, 2, 3, 4]))
    before = tail + 0
    head[...] = 0
    tail += 1
    turned = turned[1:]
    turned[0] = 9
    alone = (head * 1)[::-1][1:]
    alone *= 5
    return before, head, tail, turned, alone


def powers_of_folds(xp: Xp) -> Any:
    found = []
    for n in (1, 1, 4, 2, 4):
        a = xp.asarray([[3.0, 1.0, 5.0, 2.0][:n]] * 3)
        square = xp.zeros(())
        square[...] = xp.argmax(a) ** 2
        found += [square + 0, xp.argmin(a[0]) ** 2, xp.std(a) ** 3, (a.max() - a.min()) ** 2]
    return found


def masks(xp: Xp) -> Any:
    a = xp.asarray([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])
    negative = a < 0
    taken = a[negative]
    a[negative] *= -2
    a[a > 9] = 9
    a[[True, False]] += 0.5
    a[0, a[0] > 5] = xp.asarray([7.0])
    return taken, a, a[negative], a[:, [False, True, True]], (a + 1)[a > 4]


def arrays_of_indices(xp: Xp) -> Any:
    a = xp.asarray([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    i, j = xp.asarray([0, 0, 2]), xp.asarray([1, 1, 0])
    read = a[i, j], a[i], a[:, j], a[i[:, None], j], a[[2, 0]], a[(1, 2), (0, 0)]
    lazy = a[i, 1], (a * 2)[i, j]
    a[i, j] += 10
    a[[0, 1]] = a[[1, 0]]
    a[i] += 1
    a[:, [0, 2]] *= -1
    return *read, *lazy, a


def the_last_of_equal_indices_counts(xp: Xp) -> Any:
    a = xp.zeros(4)
    a[[0, 0, 1]] = [1, 2, 3]
    a[[2, 2]] += 1
    return a


def lists_as_operands(xp: Xp) -> Any:
    a = xp.asarray([1.0, 2.0, 3.0], dtype=xp.float32)
    c = xp.zeros((2, 2))
    c[0] = (1, 2)
    c[:, 1] = [5, 6]
    a += [1, 1, 1]
    return a + [1, 2, 3], [1, 2, 3] - a, a == [2, 2, 4], (1, 2, 3) * a, c, a < (2.5, 2.5, 2.5)


def folds_are_written_into_any_dtype(xp: Xp) -> Any:
    a = xp.arange(12).reshape(3, 4)
    made = []
    for dtype in ("bool", "i1", "f4"):
        for fold in (xp.sum, xp.prod, xp.max, xp.min, xp.mean, xp.any, xp.all, xp.median):
            out = xp.zeros(4, dtype=dtype)
            made.append((fold(a + 0.5, axis=0, out=out) is out, out))
        running, total = xp.zeros((3, 4), dtype=dtype), xp.zeros((), dtype=dtype)
        xp.cumsum(a + 0.5, axis=0, out=running)
        xp.trace(a + 0.5, out=total)
        xp.add.reduce(a + 0.5, axis=1, out=running[:, 0])
        made.append((running, total, a.cumprod(axis=1, out=running) is running, running))
    return made


def numbers_that_wrap(xp: Xp) -> Any:
    u = xp.asarray([1, 2, 3], dtype="u1")
    wrapping = ()
    if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # which refuses them in where
        wrapping = xp.where(u > 1, u, -1), xp.where(u > 1, 300, u), xp.where(True, xp.uint8(3), -1)
    return (
        *wrapping,
        xp.select([u > 2, u > 1], [u.astype("i1"), 2], 7),
        xp.select([u > 1], [u], -7),
        xp.select([u > 1], [[1, 2, 3]], -7.5),
        xp.select([u > 1], [2], 0.5),
        xp.select([u > 1], [xp.float32(2)], 0.5),
    )


def flat(xp: Xp) -> Any:
    a = xp.asarray([[1, 2, 3], [4, 5, 6]])
    a.flat[1] = 20
    a.T.flat[3:5] = 0
    a.flat[[0, 5]] = [7, 8]
    return a, a.flat[2], a.T.flat[1:4], [int(x) for x in a.T.flat], len(a.flat)


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__ and callable(value)
]
