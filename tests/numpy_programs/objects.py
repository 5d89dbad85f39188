"""Programs with NumPy's objects: polynomials, iterators, flags, results written into lazy arrays.

A program is a function of the module it is written for, NumPy or ours, and returns what it found.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

Xp = ModuleType


def results_into_lazy_arrays(xp: Xp) -> Any:
    x = xp.ones(3) * 2
    y = xp.arange(3) + 0.5
    xp.add(x, y, out=y)
    xp.negative(x, x)
    total = xp.zeros(3) + 0
    xp.sum(xp.ones((2, 3)), axis=0, out=total)
    xp.cumsum(y, out=y)
    ends = y * 1
    xp.clip(y, 3, 6, out=ends)
    return x, y, total, ends


def shuffled_lazy(xp: Xp) -> Any:
    x = xp.arange(8) * 2
    x[::-1].sort()
    xp.random.seed(3)
    xp.random.shuffle(x)
    return x


def gradient_descent_with_a_mean(xp: Xp) -> Any:
    x = xp.reshape(xp.arange(12.0) / 7 - 0.5, (4, 3))
    wanted = (x[:, 0] > 0).astype(float)
    w, b = xp.zeros(3), 0.0
    for _ in range(50):
        p = 1 / (1 + xp.exp(-(x @ w + b)))
        off = p - wanted
        w -= 0.1 * x.T @ off / len(wanted)
        b -= 0.1 * off.mean()
    return xp.round(w, 9), xp.round(b, 9)


def whole_numbers_in_a_range(xp: Xp) -> Any:
    return xp.sum(range(5)), xp.dot(range(3), range(3)), xp.asarray([1, 2]) + range(2)


def frozen(xp: Xp) -> Any:
    x = xp.arange(4)
    before = x[1:]
    x.flags.writeable = False
    refused = 0
    for write in (lambda: x.__setitem__(0, 9), lambda: x[2:].fill(9), x.sort):
        try:
            write()
        except ValueError:
            refused += 1
    before[0] = 7
    seen = x.copy()
    kept = x + 0
    x.setflags(write=True)
    x[0] = 5
    return refused, seen, kept, x, x.flags.writeable, before.flags["WRITEABLE"]


def arrays_over_shared_memory(xp: Xp) -> Any:
    memory = bytearray(48)
    whole = xp.ndarray((2, 3), dtype=xp.float64, buffer=memory)
    whole[...] = xp.arange(6).reshape(2, 3)
    part = xp.ndarray((2,), float, buffer=memory, offset=16, strides=(24,))
    part += 10
    over = xp.ndarray((3, 2), buffer=whole, strides=(8, 24), dtype=float)
    over[0, 1] = -1
    kinds = [issubclass(type(whole), xp.ndarray), isinstance(whole.sum(0), xp.ndarray)]
    return whole, memory[6:8], xp.ndarray((4, 5), order="F").flags.fnc, kinds, xp.ndarray.max(over)


def polynomial_objects(xp: Xp) -> Any:
    p, q = xp.poly1d([1, -3, 2]), xp.poly1d([1.0, -1.0], True)
    quotient, rest = p / xp.poly1d([1, -1])
    return (
        p(2),
        p(xp.asarray([0.0, 0.5])),
        p(q).c,
        p.roots,
        p.order,
        (p * q + 1 - p).coeffs,
        (2 - p).c,
        (-p).c,
        (p**2).c,
        (p / 2).c,
        quotient.c,
        rest.c,
        p.deriv().c,
        p.integ(k=3).c,
        p[1],
        len(p),
        list(p),
        bool(p == xp.poly1d([1, -3, 2])),
        str(xp.polyadd(p, q) - xp.polymul(p, 2)),
        xp.polyder(xp.polyint(p))(3),
        [str(part) for part in xp.polydiv(p, [1, -1])],
        str(p),
        xp.polyval(p, 3),
    )


def series(xp: Xp) -> Any:
    p = xp.polynomial.Polynomial([1, 2, 3])
    x = xp.linspace(0, 1, 7)
    fitted = xp.polynomial.Chebyshev.fit(x, x**2, 2)
    return (
        p(x),
        p(2.0),
        (p * p - 1)(x),
        p.deriv()(x),
        p.roots(),
        xp.round(fitted(x), 9),
        xp.polynomial.polynomial.polyval(x, [1, 2, 3]),
        xp.polynomial.legendre.leggauss(3),
        xp.polynomial.hermite_e.hermeval(0.5, xp.asarray([1.0, 2.0])),
    )


def complex_where_needed(xp: Xp) -> Any:
    return (
        xp.emath.sqrt([-1.0, 4.0]),
        xp.emath.log(xp.asarray([-1.0])),
        xp.emath.power([2, -4], 0.5),
    )


def element_by_element(xp: Xp) -> Any:
    x = xp.reshape(xp.arange(6), (2, 3))
    waiting = x + 0
    with xp.nditer(x, op_flags=["readwrite"]) as walk:
        for item in walk:
            item[...] = 2 * item
    places, walk = [], xp.nditer(x, flags=["multi_index"])
    while not walk.finished:
        places.append((walk.multi_index, int(walk[0])))
        walk.iternext()
    both = xp.nditer([xp.asarray([[0], [1]]), xp.arange(2), None])
    for left, right, to in both:
        to[...] = left * 10 + right
    backwards, ways = xp.arange(6, dtype="i4")[::-2], ["writeonly", "updateifcopy"]
    with xp.nditer(backwards, [], [ways], op_dtypes=["f4"], casting="unsafe") as walk:
        walk.operands[0][:] = [-1, -2, -3]
    places.append(backwards)
    return x, waiting, places, both.operands[2], [int(item) for item in xp.nditer(x.T, order="C")]


def loose_arguments(xp: Xp) -> Any:
    a = xp.reshape(xp.arange(6), (2, 3))
    to = xp.zeros(3, dtype=bool)
    xp.isneginf(xp.asarray([1.0, -xp.inf, xp.inf]), to)
    return (
        xp.full((2, 2), [0, 1]),
        xp.full_like(a, [7, 8, 9]),
        xp.full((2,), xp.asarray(3)),
        xp.meshgrid(a[:, :2], [1, 2]),
        xp.roll(a, xp.asarray(1), axis=0),
        xp.roll(a, xp.asarray([1, 2]), axis=(0, 1)),
        xp.broadcast_shapes(3, (2, 1)),
        xp.size(a, (0, 1)),
        to,
    )


def small_questions(xp: Xp) -> Any:
    joined = xp.broadcast(xp.ones((3, 1)), xp.arange(4))
    return (
        joined.shape,
        joined.size,
        len(list(joined)),
        xp.mask_indices(3, xp.triu, 1),
        xp.require(xp.ones((2, 3)).T, "f4", "C"),
        xp.common_type(xp.ones(1, dtype="f4"), xp.arange(2)) is not None,
        xp.asarray_chkfinite([1.0]),
        xp.typename("d"),
        isinstance(xp.ones(1), xp.ndarray),
        xp.typing.NDArray is not None,
        issubclass(xp.exceptions.AxisError, ValueError),
    )


def coefficients_written_in_place(xp: Xp) -> Any:
    given = xp.asarray([1.0, -3.0, 2.0])
    double = given * 2
    p = xp.poly1d(given)
    p.coeffs[0] = 4
    p[1] = 5
    p.c += 1
    q = xp.poly1d([1, 2])
    q[3] = 7
    refused = 0
    try:
        p.coeffs = xp.ones(3)
    except AttributeError:
        refused += 1
    return p.c, p(2.0), given, double, q.coef, q.order, refused


class Wrapped:
    """An object that is taken for the array it keeps."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.kept


def objects_that_keep_arrays(xp: Xp) -> Any:
    x, y = Wrapped(xp.asarray([1.0, 2.0])), Wrapped(np.asarray([3.0, 5.0]))
    whole, places = xp.arange(6).reshape(2, 3), Wrapped(xp.asarray([0, 2]))
    whole[1, places] += 9
    return (
        xp.asarray(x),
        xp.array([x, x]),
        xp.sum(x),
        xp.ones(2) + x,
        y - xp.ones(2),
        xp.sqrt(x),
        xp.bincount(places),
        whole[:, places],
        xp.take(whole, places),
    )


class Metres(np.lib.mixins.NDArrayOperatorsMixin):
    """Lengths that keep their unit through every ufunc, as NumPy's documentation shows it."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [x.values if isinstance(x, Metres) else x for x in inputs]
        return Metres(getattr(ufunc, method)(*plain, **options))


def ufuncs_of_other_classes(xp: Xp) -> Any:
    x = Metres(xp.asarray([1.0, 4.0]))
    made = (
        xp.sqrt(x),
        xp.add(xp.ones(2), x),
        xp.maximum(x, 2),
        xp.ones(2) - x,
        x * xp.ones(2),
        xp.hypot(x, x),
    )
    return [(type(m).__name__, xp.asarray(m.values)) for m in made]


def questions_about_anything(xp: Xp) -> Any:
    a = xp.asarray([1.0, 2.0])
    things = (None, "abc", {}, 3, [1, 2], [[1.0]])
    return (
        [(xp.shape(x), xp.ndim(x), xp.size(x)) for x in things],
        [xp.array_equal(a, x) for x in things],
        [xp.array_equal(x, x) for x in things],
        xp.array_equal(a, [[1], [1, 2]]),
    )


def evenly_spaced_between_arrays(xp: Xp) -> Any:
    short = xp.asarray([0.0, 1.0], dtype="f4")
    return (
        xp.linspace(short, 2, 3),
        xp.linspace(short, xp.asarray([1, 2]), 3),
        xp.linspace(xp.float32(0), xp.float32(1), 5),
        xp.linspace(xp.asarray([0, 1], dtype="f2"), 1, 3),
        xp.linspace(0, short * 1j, 3),
    )


def kept_while_walking(xp: Xp) -> Any:
    a, walked = xp.reshape(xp.arange(6.0), (2, 3)), xp.zeros(0)
    roots = [xp.sqrt(x) for x in xp.nditer(a)]
    sums = [xp.add(x, y) for x, y in xp.nditer([a, xp.ones(3)])]
    it = xp.nditer(a, order="F")
    first = [xp.exp(it[0] * 0), xp.negative(it.value)]
    it.iternext()
    first.append(xp.negative(it.value) + xp.negative(it[0]))
    options = {"op_dtypes": "f4", "casting": "same_kind", "buffersize": 2}
    for x in xp.nditer(a, ["external_loop", "buffered"], order="F", **options):
        walked = xp.concatenate([walked, x])
    with xp.nditer([a, None]) as pairs:
        for x, y in pairs:
            y[...] = xp.square(x)
        squares = xp.array(pairs.operands[1])
    a[...] = 0
    return [float(x) for x in (*roots, *sums, *first)], walked, squares


class Picked:
    """An object of another library that says its values, and is no sequence."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values)


def picked_by_objects(xp: Xp) -> Any:
    a = xp.reshape(xp.arange(6.0), (2, 3))
    written = xp.copy(a)
    written[Picked([1])] = 9
    written[0, Picked([1, 2])] += 1
    masked, both = a[Picked([True, False])], a[Picked([0, 1]), Picked([1, 2])]
    return a[Picked([1, 0])], a[:, Picked([0, 2])], a[1, Picked(1)], masked, both, written


def classes_of_arrays(xp: Xp) -> Any:
    class Signal(xp.ndarray):  # type: ignore[misc, name-defined]  # noqa: PLW1641
        unit: Any

        def __new__(cls, values: Any, unit: str | None = None) -> Any:
            made = xp.asarray(values).view(cls)
            made.unit = unit
            return made

        def __array_finalize__(self, source: Any) -> None:
            xp.ndarray.__array_finalize__(self, source)
            self.unit = getattr(source, "unit", None)

        def __getitem__(self, key: Any) -> Any:
            return xp.ndarray.__getitem__(self, key)

        def mean(self, axis: Any = None) -> Any:  # type: ignore[override]
            return xp.ndarray.mean(self, axis) + 1

        def __eq__(self, other: object) -> Any:
            return xp.ndarray.__eq__(self, other).tolist()

        def __reduce__(self) -> Any:
            return Signal, (self.tolist(), len(xp.ndarray.__reduce__(self)))

    class Twice:
        def twice(self) -> Any:
            return self * 2  # type: ignore[operator]

    class Window(Twice, xp.ndarray):  # type: ignore[misc, name-defined]
        def __new__(cls, shape: Any) -> Any:
            made = xp.ndarray.__new__(cls, shape, float)
            made[...] = 3
            return made

    class Over(xp.ndarray):  # type: ignore[misc, name-defined]
        def __new__(cls, memory: Any) -> Any:
            return super().__new__(cls, memory.shape, memory.dtype, memory)

    values = xp.array([1.0, 2.0, 4.0])
    over = Over(xp.ones((2, 2)) * values[1]), Over(values)
    over[1][2] += 1
    signal = Signal(values, "mV")
    signal[0] = 9
    part = (signal[1:] * 2).T
    kinds = [type(part).__name__, part.unit, isinstance(part, xp.ndarray), Signal.__qualname__]
    kinds.append((xp.ndarray[Any, xp.dtype[Any]] | None).__args__[1])
    totals = float(xp.sum(signal)), float(signal.mean()), float((values + signal)[0])
    kinds += [signal == 9, copy.copy(signal).unit, type("A", (xp.ndarray,), {}).__module__]
    kinds += [(type(x).__name__, x.tolist(), isinstance(x, np.ndarray)) for x in over]
    return values.tolist(), part.tolist(), kinds, totals, Window(2).twice().tolist()


def objects_in_lists(xp: Xp) -> Any:
    column = xp.array([[None] * 3]).T
    column[1] = 2.5
    total = xp.ones(3).sum()
    made = [column, xp.atleast_1d([None, 2]), xp.asarray([Fraction(1, 3)]) * 3, xp.array((None,))]
    made += [xp.atleast_1d(None), *xp.atleast_2d(xp.ones(2), len)]
    made += [xp.array([None, total, total * 2]), xp.repeat([None, 1], 2), xp.tile([None], (2, 1))]
    made += [
        xp.array([10**30, None]),
        xp.array([None], ndmin=2),
        *xp.atleast_2d(xp.ones(2), [None]),
    ]
    return [(str(x.tolist()), x.dtype == object) for x in made]


def results_of_objects(xp: Xp) -> Any:
    a, weights = xp.arange(3), np.array([Fraction(1, 3), 2, 3], dtype=object)
    made = [xp.concatenate([a, a], dtype=object), xp.stack([a, a], dtype=">f4")]
    made += [
        xp.concatenate([a, a], dtype="U3", casting="unsafe"),
        xp.histogram(a, 2, None, None, weights)[0],
    ]
    return [(x.tolist(), str(x.dtype)) for x in made], xp.prod(xp.arange(1, 30), dtype=object)


def edges_of_the_ranges_dtype(xp: Xp) -> Any:
    short, ends = xp.ones(3, "f4"), xp.array([0.1, 2.0])
    ranges = ends, (ends[0], ends[1]), (ends.min(), ends.max()), ends.tolist()
    return [xp.histogram(short, 2, r)[1] for r in ranges], xp.histogram_bin_edges(short, 2, ends)


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__ and isinstance(value, FunctionType)
]
