"""Programs that take elements out of arrays: each gave a wrong result while these were views.

A program is a function of the module it is written for, NumPy or ours, and returns what it found.
"""

from __future__ import annotations

import copy
import enum
import math
import pickle
import random
from types import ModuleType
from typing import Any

Xp = ModuleType


def swap(xp: Xp) -> Any:
    v = xp.asarray([3.0, 1.0, 2.0])
    v[0], v[1] = v[1], v[0]
    return v


def swap_through_a_name(xp: Xp) -> Any:
    a = xp.asarray([[1, 2], [3, 4]])
    kept = a[0, 0]
    a[0, 0] = a[1, 0]
    a[1, 0] = kept
    return a


def accumulator(xp: Xp) -> Any:
    v = xp.asarray([1.0, 2.0, 4.0])
    s = v[0]
    for x in v[1:]:
        s += x
    return s, v


def history(xp: Xp) -> Any:
    u = xp.asarray([0.0, 5.0])
    seen = []
    for _ in range(3):
        seen.append(u[1])
        u[1] = u[1] * 0.5
    return seen, u


def adding_to_what_is_met(xp: Xp) -> Any:
    v = xp.asarray([1, 2, 3])
    for x in v:
        x += 1
    return v


def best_so_far(xp: Xp) -> Any:
    v = xp.asarray([3.0, 9.0, 4.0])
    best = v[0]
    for i in range(3):
        if v[i] > best:
            best = v[i]
        v[i] = 0.0
    return best, v


def bubble_sort(xp: Xp) -> Any:
    v = xp.asarray([5, 1, 4, 2, 8, -3])
    for end in range(len(v) - 1, 0, -1):
        for i in range(end):
            if v[i] > v[i + 1]:
                v[i], v[i + 1] = v[i + 1], v[i]
    return v


def shuffle(xp: Xp) -> Any:
    v = xp.asarray([1, 2, 3, 4, 5, 6, 7])
    random.Random(3).shuffle(v)
    return v


def recurrence(xp: Xp) -> Any:
    y = xp.asarray([1.0, 0.0, 0.0, 0.0])
    for i in range(3):
        y[i + 1] = y[i] * 1.5 + 0.25
    return y


def fibonacci_that_wraps(xp: Xp) -> Any:
    f = xp.zeros(100, dtype=xp.int32)
    f[0] = f[1] = 1
    for i in range(2, 60):
        f[i] = (f[i - 1] // 2 + f[i - 2]) % 1000
    return f


def written_while_iterated(xp: Xp) -> Any:
    v = xp.asarray([1, 0, 0, 0])
    seen = []
    for i, x in enumerate(v):
        seen.append(x)
        if i < 3:
            v[i + 1] = x + 1
    return seen


def in_place_element(xp: Xp) -> Any:
    a = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    a[0, 1] += 5
    a[-1, -1] *= a[0, 0]
    return a


def rows_are_views(xp: Xp) -> Any:
    a = xp.asarray([[1, 2], [3, 4]])
    row = a[1]
    a[1, 0] = 9
    row[1] = 7
    return row, a, a[1, ...], a[..., 0]


def views_of_rank_0(xp: Xp) -> Any:
    a = xp.asarray([[1, 2], [3, 4]])
    one = a[1, 0, ...]
    a[1, 0] = 9
    kept = one[()]
    one[...] = 5
    return kept, a, one.shape


def keys_and_positions(xp: Xp) -> Any:
    v = xp.asarray([2, 0, 1])
    found = {v[0]: "a", v[1]: "b"}
    return found[2], found[v[1]], [10, 20, 30][v[2]], list(range(v[0])), v[v[0]], 2 in v


def formatting(xp: Xp) -> Any:
    v = xp.asarray([1.23456, -0.5])
    n = xp.asarray([42])
    return (
        f"{v[0]:.3f}|{v[1]:+.1e}|{n[0]:5d}|{n[0]:x}",
        "%s %d %.2f" % (v[1], n[0], v[0]),  # noqa: UP031 the point
        str(v[0]),
        f"{v[0]}",
    )


def numbers(xp: Xp) -> Any:
    v, n = xp.asarray([2.5, -1.25]), xp.asarray([7, -3])
    c = xp.asarray([1 + 2j])
    return (
        round(v[0]),
        round(v[1], 1),
        abs(v[1]),
        divmod(n[0], n[1]),
        -n[0],
        math.sqrt(v[0]),
        int(v[1]),
        complex(c[0]),
        bool(n[0]),
        v[0] / 0,
        v[0] // v[1],
        n[0] // 0,
        n[0] % n[1],
        v[0] ** 2,
        n[0] ** 2,
        n[0] << 2,
        n[0] & 3,
        ~n[0],
        v[0] <= v[1],
        v[0] == 2.5,
        n[0] != 7,
        1 - v[0],
        2 / n[0],
        True + n[0],
        max(v),
        sum(n),
        sorted(v),
    )


def dtypes(xp: Xp) -> Any:
    kinds = (xp.int8, xp.uint8, xp.int32, xp.int64, xp.uint64, xp.float16, xp.float32, xp.float64)
    ones = [xp.asarray([3], dtype=kind)[0] for kind in kinds]
    return [x + 1 for x in ones], [x + 1.5 for x in ones], [[x * y for x in ones] for y in ones]


def strong_beside_arrays(xp: Xp) -> Any:
    small = xp.asarray([1.0, 2.0], dtype=xp.float32)
    wide = xp.asarray([0.1])
    x, y = small * wide[0], small + small[0]
    z = xp.asarray([1, 2])[0] + small
    return x + 0, y + 0, z + 0, 2 * small[0]


def integers_wrap(xp: Xp) -> Any:
    v = xp.asarray([127, -128], dtype=xp.int8)
    w = xp.asarray([2**63 - 1])
    return v[0] + v[0], v[1] - v[0], -v[1], v[0] * 2, w[0] + w[0], w[0] * 3, w[0] + 1


def copies(xp: Xp) -> Any:
    v = xp.asarray([1.5], dtype=xp.float32)
    return copy.copy(v[0]), copy.deepcopy(v[0]), pickle.loads(pickle.dumps(v[0]))


def int_array_takes_a_float(xp: Xp) -> Any:
    v = xp.asarray([1, 2])
    v[0] += 1.75
    v[1] = 3.9
    return v


def classes_made_of_numbers(xp: Xp) -> Any:
    class Count(int):
        pass

    class Share(float):
        pass

    class Level(enum.IntEnum):
        LOW = 1

    v, w = xp.arange(4), xp.arange(4.0)
    made: list[Any] = []
    for x in (Count(3), Share(0.5), Level.LOW, v.itemsize):
        made += [v[2] + x, w[2] - x, x * v[2], x / w[2], v[3] // x, v[2] ** x, w[1] < x]
    sizes = v.itemsize * w, v.itemsize * 0.5, v.itemsize * v[2], w * v.itemsize
    steps = v.strides[0] * 0.5 % 0.5, (v.strides[0] + 0.5) % 1, (v.strides[0] * w).dtype
    return made, sizes, steps, v[Level.LOW], xp.real(1 + 2j), xp.imag(1 + 2j), xp.real(3)


def floats_that_fill_integers(xp: Xp) -> Any:
    n = xp.zeros(3, int)
    made = [xp.full(2, x, dtype) for x in (xp.nan, xp.inf, 2.9, -2.9) for dtype in ("i8", "i4")]
    xp.copyto(n, 2.9, casting="unsafe", where=[True, False, False])
    made.append(xp.full_like(n, xp.nan))
    m = n.copy()
    xp.copyto(m, xp.nan, casting="unsafe")
    return made, n, m


def numbers_that_do_not_fit(xp: Xp) -> Any:
    v = xp.asarray([xp.inf, xp.nan, 1e6, 1e30, 70000, -100.7])
    made: list[Any] = []
    for number in (*v, xp.float32(1e6), xp.int64(70000), xp.uint64(3), xp.float64(-1)):
        for dtype in ("i2", "u2", "i8"):
            a = xp.zeros(4, dtype=dtype)
            for key in (0, slice(1, 3), ..., [1, 2]):
                try:
                    a[key] = number
                except (OverflowError, ValueError) as error:
                    made.append(type(error).__name__)
            made.append(a)
            try:
                a.fill(number)
            except (OverflowError, ValueError) as error:
                made.append(type(error).__name__)
            xp.copyto(a, number, casting="unsafe")
            if abs(number) < 1e9:
                made.append(a)
    n = xp.asarray([1, 2, 3])
    for change in (1e30, xp.nan, xp.inf):
        try:
            n[1] *= change
        except (OverflowError, ValueError) as error:
            made.append(type(error).__name__)
    return made, n


def elements_of_results(xp: Xp) -> Any:
    a = xp.asarray([[1, 2], [3, 4]])
    e = a * 2
    first = e[0, 0]
    kept = first
    first += 0.5
    e[0, 1] += 1.9
    e[1] = e[1][::-1]
    total = e[0, 0]
    for x in e[1]:
        total += x
    return first, kept, e + 0, total, (a + 1)[1, 1], (a > 1)[0, 0], a.sum(0)[1], a.T[0, 1]


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__ and callable(value)
]
