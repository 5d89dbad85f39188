"""Writes that others wait for, and indices that select by values, in machine code."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.transforms.test_natives import V, both, outcome
from xarraylite.runtime import natives as loading
from xarraylite.testing.counters import count_allocations

pytestmark = [
    pytest.mark.usefixtures("compiled", "installed"),
    pytest.mark.skipif(not loading.can_load(), reason="another interpreter"),
]

#: Statements that write a container of `V`'s shape, of which others wait for the old values.
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a number to all": lambda a, x, r: a.__setitem__(..., 3.0),
    "a number to a row": lambda a, x, r: a.__setitem__(1, 3.0),
    "a number to an element": lambda a, x, r: a.__setitem__((1, 2), 3.0),
    "a number by a mask": lambda a, x, r: a.__setitem__(a > 5, 3.0),
    "a number by positions": lambda a, x, r: a.__setitem__([2, 0], 3.0),
    "memory": lambda a, x, r: a.__setitem__(..., x),
    "memory to a part": lambda a, x, r: a[1:].__setitem__(..., x[1:]),
    "memory of its own": lambda a, x, r: a.__setitem__(slice(1, None), a[:-1]),
    "what is stretched": lambda a, x, r: a.__setitem__(..., x[0]),
    "a result": lambda a, x, r: a.__setitem__(..., a * 2 + x),
    "a result of a reader": lambda a, x, r: a.__setitem__(..., r[0] + x),
    "a reader": lambda a, x, r: a.__setitem__(..., r[0]),
    "a fold": lambda a, x, r: a.__setitem__(0, r[1] * 2),
    "values by positions": lambda a, x, r: a.__setitem__([0, 1], r[0][1:]),
    "assign": lambda a, x, r: a.assign(r[0] - 1),
    "assign memory": lambda a, x, r: a.assign(x),
    "+= a number": lambda a, x, r: operator.iadd(a, 1.5),
    "+= memory": lambda a, x, r: operator.iadd(a, x),
    "-= a result of a reader": lambda a, x, r: operator.isub(a, 0.5 * r[0]),
    "*= a reader": lambda a, x, r: operator.imul(a, r[0]),
    "-= a fold": lambda a, x, r: operator.isub(a, 0.5 * r[1]),
    "+= what is stretched": lambda a, x, r: operator.iadd(a, x[0]),
    "*= a column of its own": lambda a, x, r: operator.imul(a, a[:, :1]),
    "+= to a part": lambda a, x, r: operator.iadd(a[1:], r[2]),
    "**=": lambda a, x, r: operator.ipow(a, 0.5),
    "a list": lambda a, x, r: a.__setitem__((0, slice(0, 2)), [1.5, 2]),
    "a tuple by positions": lambda a, x, r: a.__setitem__(([0, 1], 1), (1.5, 2)),
    "whole numbers": lambda a, x, r: a.__setitem__(..., x.astype("int64")),
    "a stretched row of short floats": lambda a, x, r: a.__setitem__(..., x[0].astype("f4")),
    "a stretched result": lambda a, x, r: a.__setitem__(slice(1, None), x[0] * r[1]),
    "rows for one another": lambda a, x, r: a.__setitem__([0, 1], a[[1, 0]]),
    "columns by positions": lambda a, x, r: a.__setitem__((slice(None), [1, 0]), x[:, :2]),
    "a number to the greatest": lambda a, x, r: a[0].__setitem__(a[0].argmax(), -1.0),
    "out": lambda a, x, r: space(a).add(a, x, out=a),
    "out of a reader": lambda a, x, r: space(a).multiply(r[0], 0.5, out=a),
    "out where": lambda a, x, r: space(a).add(x, 1.0, out=a, where=x > 4),
    "copyto where": lambda a, x, r: space(a).copyto(a, x, where=x > 4),
    "a mean's out": lambda a, x, r: space(a).mean(x, axis=0, out=a[0]),
}


def space(a: Any) -> Any:
    """Return the namespace of an array's functions."""
    return np if isinstance(a, np.ndarray) else xl


#: Writes that are refused, to `V` as int8 (0), float32 (1) and float64 (2).
REFUSED: dict[str, Callable[[Any], Any]] = {
    "a list of numbers that do not fit": lambda a: a[0].__setitem__((0, slice(0, 2)), [1, 300]),
    "a list that is too long": lambda a: a[2].__setitem__((0, slice(0, 2)), [1.0, 2.0, 3.0]),
    "positions out of range": lambda a: a[2].__setitem__([0, 9], 1.0),
    "columns out of range": lambda a: a[2].__setitem__((slice(None), [0, 9]), a[2][:, :2]),
    "rows that do not fit": lambda a: a[2].__setitem__([0, 1], a[1][0, :1].repeat(5)),
    "memory that does not fit": lambda a: a[2].__setitem__(..., a[1][0, :1].repeat(5)),
    "an out that does not fit": lambda a: space(a[2]).add(a[2], 1.0, out=a[2][0]),
    "an out of another kind": lambda a: space(a[2]).add(a[2], 1.0, out=a[0]),
}


@together("name", REFUSED)
def test_writes_that_are_refused_change_nothing(name: str) -> None:
    def work() -> Any:
        arrays = [xl.asarray(V.astype(code)) for code in ("i1", "f4", "f8")]
        for _ in range(3):
            with pytest.raises((ValueError, IndexError, OverflowError, TypeError)) as raised:
                REFUSED[name](arrays)
        return type(raised.value), [a.tolist() for a in arrays]

    fast, slow = both(work)
    assert fast == slow
    theirs = [V.astype(code) for code in ("i1", "f4", "f8")]
    with pytest.raises((ValueError, IndexError, OverflowError, TypeError)) as raised:
        REFUSED[name](theirs)
    usual = [cls for cls in type(raised.value).__mro__ if cls.__module__ == "builtins"]
    assert issubclass(fast[0], usual[0])
    assert fast[1] == [a.tolist() for a in theirs]


@together("name", WRITES)
def test_writes_that_others_wait_for_are_the_same(name: str) -> None:
    def work() -> Any:
        a, x = xl.asarray(V), xl.asarray(V * 0.5 + 3)
        readers = [a * 2, xl.sum(a), a[1:] + 1, a.T - 1]
        with count_allocations() as made:
            WRITES[name](a, x, readers)
        return made.snapshots, a.tolist(), [xl.eval(r).tolist() for r in readers]

    fast, slow = both(work)
    assert fast == slow
    moved, written, read = fast
    assert moved == 1
    v = V.copy()
    theirs = [v * 2, np.sum(v), v[1:] + 1, v.T - 1]
    assert read == [r.tolist() for r in theirs]
    if not name.startswith("assign"):
        WRITES[name](v, V * 0.5 + 3, theirs)
        assert written == v.tolist()


@pytest.mark.parametrize("name", ["out", "out where", "copyto where", "+= what is stretched"])
def test_writes_that_nobody_waits_for_copy_nothing(name: str) -> None:
    def work() -> Any:
        a, x = xl.asarray(V), xl.asarray(V * 0.5 + 3)
        with count_allocations() as made:
            WRITES[name](a, x, [])
        return made.snapshots, a.tolist()

    fast, slow = both(work)
    assert fast == slow
    v = V.copy()
    WRITES[name](v, V * 0.5 + 3, [])
    assert fast == (0, v.tolist())


def test_copies_of_memory_that_lies_alike_are_a_kernels() -> None:
    """What NumPy would copy at once is learned, also where machine code meets it first."""
    a, x = (xl.XTensor(np.full((3, 5, 2), k, "i2")) for k in (1, 2))
    for _ in range(20):
        a[...] = x
    assert a._kind.writes[a._kind]
    for _ in range(20):
        shared = np.arange(24, dtype="i2").reshape(6, 2, 2)
        to, value = xl.adapt(shared[:5]), xl.adapt(shared[1:])
        to[...] = value
        value[...] = to
        assert shared[:, 0, 0].tolist() == [4, 4, 8, 12, 16, 20]


#: Indices of `V`'s shape that select by values, of any array.
BY_VALUES: dict[str, Callable[[Any], Any]] = {
    "a mask": lambda a: a > 5,
    "NumPy's mask": lambda a: V > 5,
    "a mask of the first dimension": lambda a: a[:, 0] > 4,
    "a mask of another shape": lambda a: a[:2] > 4,
    "positions": lambda a: (xl.arange(3), xl.asarray([3, 0, -1])),
    "lazy positions": lambda a: (xl.asarray([0, 1]) + 1, xl.asarray([1, 2]) * -1),
    "positions that are stretched": lambda a: (xl.asarray([[0], [2]]), xl.asarray([3, 1])),
    "NumPy's positions and ours": lambda a: (np.asarray([0, 2]), xl.asarray([3, 1])),
    "short positions": lambda a: (xl.asarray([0, 2], "u1"), xl.asarray([3, 1], "i2")),
    "a position and positions": lambda a: (xl.asarray([1])[0], xl.asarray([3, 1])),
    "out of range": lambda a: (xl.asarray([0, 3]), xl.asarray([3, 1])),
    "unlike": lambda a: (xl.asarray([0, 2, 1]), xl.asarray([3, 1])),
    "floats": lambda a: (xl.asarray([0.0, 2.0]), xl.asarray([3, 1])),
    "none": lambda a: (xl.zeros(0, "int64"), xl.zeros(0, "int64")),
    "of rank 0": lambda a: (xl.asarray(1), xl.asarray(2)),
    "a mask of columns": lambda a: (slice(None), a[0] > 2),
}


@together("name", BY_VALUES)
@pytest.mark.parametrize("of", [lambda a: a, lambda a: a * 2, lambda a: a.T[::-1].T])
def test_what_values_select_is_the_same(of: Any, name: str) -> None:
    def read() -> Any:
        e = of(xl.asarray(V))
        made = e[BY_VALUES[name](e)]
        return type(made), np.asarray(made).tolist(), xl.eval(e).tolist()

    def write() -> Any:
        e, x = of(xl.asarray(V)), xl.asarray([7.0])
        pending = e + 1
        e[BY_VALUES[name](e)] = 0.5
        e[BY_VALUES[name](e)] = x + 1
        return np.asarray(e).tolist(), np.asarray(pending).tolist()

    for work in (read, write):
        fast, slow = both(work)
        assert fast == slow


def test_results_of_products_are_written() -> None:
    def work() -> Any:
        a = xl.asarray(V)
        p, q, r = a.T @ a, a.T @ a, a.T @ a
        p += 1.0
        q[q > 100] = 0
        pending = r * 2
        r[0] = 5.0
        return p.tolist(), q.tolist(), r.tolist(), np.asarray(pending).tolist()

    fast, slow = both(work)
    assert fast == slow
    v = V.T @ V
    assert fast[3] == (v * 2).tolist()
    assert fast[0] == (v + 1).tolist()


def test_arrays_of_arrays_share_no_memory_with_numpy() -> None:
    parts = [xl.asarray(V), xl.asarray(V) * 2, xl.asarray(V).T.T]
    assert xl.array(parts).tolist() == [V.tolist(), (V * 2).tolist(), V.tolist()]
    assert not parts[0].buffer.shared


#: Statements about containers whose memory others have too, whole and two parts that meet.
OF_SHARED: dict[str, Callable[[Any, Any, Any, float], Any]] = {
    "a result to the whole": lambda a, b, c, x: a.__setitem__(..., a * 0.5 + x),
    "a result to a part": lambda a, b, c, x: b.__setitem__(slice(None), b + x),
    "a number to a part": lambda a, b, c, x: c.__setitem__(slice(1, 3), x),
    "an element": lambda a, b, c, x: a.__setitem__(4, x),
    "memory to what it meets": lambda a, b, c, x: b.__setitem__(..., c),
    "memory of its own": lambda a, b, c, x: a.__setitem__(slice(1, 7), a[0:6]),
    "+=": lambda a, b, c, x: operator.iadd(c, x),
    "-= of what it meets": lambda a, b, c, x: operator.isub(b, c),
}


@pytest.mark.parametrize("who", ["adapted", "seen by NumPy"])
def test_memory_that_others_have_is_written_when_nobody_waits(who: str) -> None:
    """Each statement in turn, some with readers of each buffer, which keep the old values."""
    v = np.arange(12.0)
    whole = xl.adapt(v.copy()) if who == "adapted" else xl.asarray(v.copy())
    memory = np.asarray(whole)
    parts = [whole, xl.adapt(memory[2:8]), xl.adapt(memory[5:11])]
    theirs = [v, v[2:8], v[5:11]]
    rng = np.random.default_rng(0)
    for _ in range(600):
        name, x = rng.choice(list(OF_SHARED)), float(rng.integers(8))
        waiting = [(part * 2 - 1, of * 2 - 1) for part, of in zip(parts, theirs, strict=True)]
        waiting = [pair for pair in waiting if rng.random() < 0.2]
        OF_SHARED[name](*parts, x)
        OF_SHARED[name](*theirs, x)
        np.testing.assert_array_equal(memory, v, name)
        for mine, expected in waiting:
            np.testing.assert_array_equal(xl.eval(mine).numpy(), expected, name)


#: Numbers that are written to elements, and indices of them, or of none, in a plane.
NUMBERS = (
    2.5,
    -0.0,
    np.nan,
    7,
    -(1 << 70),
    10**400,
    True,
    np.float64(3),
    np.int64(4),
    np.True_,
    1j,
)
PLACES: tuple[Any, ...] = ((1, 2), (-1, -4), (0, 4), (1 << 80, 0), (True, 0), 1, (1,), (1, 2, 0), 9)


@pytest.mark.parametrize("dtype", ["f8", "i8", "f4"])
def test_numbers_are_written_to_elements_where_they_lie(dtype: str) -> None:
    def made() -> list[Any]:
        whole = xl.asarray(V.astype(dtype))
        locked = xl.adapt(V.astype(dtype))
        locked.numpy()
        repeated = xl.as_strided(xl.asarray(V.astype(dtype)), (3, 4), (0, 1))
        frozen = V.astype(dtype)
        frozen.flags.writeable = False
        strided = xl.asarray(np.arange(48).astype(dtype).reshape(6, 8))[::-2, 1::2]
        return [whole, locked, whole[:, ::-1], strided, repeated, xl.adapt(frozen)]

    def work() -> list[Any]:
        seen = []
        for k, of in enumerate(made()):
            for key in PLACES:
                for number in NUMBERS:
                    waiting = of * 2 if k % 2 else None
                    seen.append(str(outcome(lambda: of.__setitem__(key, number))))  # noqa: B023
                    seen.append(of.numpy().tobytes() + (b"" if waiting is None else b"e"))
                    if waiting is not None:
                        seen.append(xl.eval(waiting).numpy().tobytes())
        return seen

    fast, slow = both(work)
    assert fast == slow


@pytest.mark.parametrize("own", ["seen by NumPy", "adapted"])
def test_old_values_of_shared_memory_are_copied_once_for_all_who_wait(own: str) -> None:
    v = np.arange(8.0)
    x = xl.adapt(v) if own == "adapted" else xl.asarray(v)
    np.asarray(x)
    for k in range(5):
        before, waiting = x.numpy().copy(), [x * 2, x + 1]
        with count_allocations() as counts:
            x[k] = 9.0
            x[:2] = 5.0
        assert counts.snapshots == 1
        np.testing.assert_array_equal(xl.eval(waiting[0]).numpy(), before * 2)
        np.testing.assert_array_equal(xl.eval(waiting[1]).numpy(), before + 1)


def test_memory_is_copied_by_what_was_learned_of_other_memory() -> None:
    """Kernels that copied from elsewhere are asked again where both lie in one buffer."""
    ours, theirs = (xl.asarray(V), xl.asarray(V + 100)), (V.copy(), V + 100)
    for k in range(120):
        to, of = (np.s_[1:], np.s_[:-1]) if k % 3 else (np.s_[:, :-1], np.s_[:, 1:])
        for a, other in (ours, theirs):
            a[to] = other[of]
            a[to] = a[of]
            a[...] = a[::-1]
            other[k % 3] = float(k)
        np.testing.assert_array_equal(ours[0].numpy(), theirs[0])


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "u8", "f2", "f4", "f8", "c16"])
def test_lists_that_do_not_fit_write_nothing(dtype: str) -> None:
    bad = [-1] if dtype[0] == "u" else []
    bad += [] if dtype[0] in "fc" else [2 ** (8 * int(dtype[1]) - (dtype[0] == "i"))]
    bad += [10**400, "a"]
    for key in (..., slice(0, 2), slice(None, None, -1)):
        for ones in [[7, one] for one in bad] * 3:  # from the third on in machine code
            theirs, ours = np.zeros(2, dtype), xl.zeros(2, dtype=dtype)
            for values in ([5, 6], (1, 2)):
                ours[key] = theirs[key] = values
            before = theirs.copy()
            with pytest.raises((OverflowError, ValueError, TypeError)):
                theirs[key] = ones
            with pytest.raises((OverflowError, ValueError, TypeError)):
                ours[key] = ones
            np.testing.assert_array_equal(np.asarray(ours), before)
            ours[key] = theirs[key] = [100, 3]
            np.testing.assert_array_equal(np.asarray(ours), theirs)


def test_assignments_of_two_dtypes_are_the_same() -> None:
    def work() -> Any:
        f, v = xl.asarray(V[0], dtype="float32"), xl.asarray(V[1])
        waiting = f + 1
        for _ in range(4):
            f[...] = v * 2 + f
            v[1:] = f[:-1] * v[1:]
            f[::-1] = f + v
            xl.add(f, v, out=v, where=v > 9)
            xl.add.at(v, [0, 0], f[:2])
        v[:] = range(4)
        w = f.copy()
        xl.putmask(f, f > 30, -w)
        xl.place(f, f < -60, [1.5, 2.5])
        xl.copyto(w, v[2])
        return [np.asarray(x).tolist() for x in (f, v, w, waiting)]

    fast, slow = both(work)
    assert fast == slow


def test_rows_are_moved_within_themselves() -> None:
    """NumPy copies wrongly where the strides differ (``x[1:4] = x[0:7:3]``)."""
    start = np.arange(10) * 3 + 1
    parts = [slice(a, b, s) for s in (1, 2, 3, -1, -2) for a in range(10) for b in (0, 4, 7, 10)]
    for to in parts:
        for of in parts:
            if start[to].size != start[of].size:
                continue
            ours, theirs = xl.asarray(start), start.copy()
            ours[to] = ours[of]
            theirs[to] = start[of]
            assert ours.tolist() == theirs.tolist(), (to, of)
            lent = start.copy()
            xl.adapt(lent)[to] = xl.adapt(lent)[of]
            assert lent.tolist() == theirs.tolist(), (to, of)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "bool", "complex64", "bfloat16"])
def test_sorting_in_place_is_the_same(dtype: str) -> None:
    values = np.array([3, 0, -0.0, 2, 1, 0.0, -1, 5]).astype(dtype)

    def work() -> Any:
        a, m = xl.asarray(values, copy=True), xl.asarray(values.reshape(2, 4), copy=True)
        whole = xl.asarray(np.arange(16)[::-1].copy())
        waiting, part, turned = a + a, a[1::2], m.T
        part.sort()
        once = a.tolist()
        a.sort()
        m.sort()
        turned.sort()
        whole[1::3].sort()
        with pytest.raises(xl.AxisError):
            a[0, ...].sort()
        a.flags.writeable = False
        with pytest.raises(xl.ReadOnlyError):
            a.sort()
        signs = np.signbit(a.numpy().astype("float64")).tolist() if dtype[0] == "f" else None
        return once, a.tolist(), m.tolist(), whole.tolist(), waiting.tolist(), signs

    fast, slow = both(work)
    assert fast == slow


@pytest.mark.parametrize("dtype", [float, "f2", bool, "int4", "bfloat16", "c8", None])
def test_zeros_are_the_same(dtype: Any) -> None:
    def work() -> Any:
        made = [xl.zeros(shape, dtype) for shape in (3, (2, 3), (), (0, 2), [2])]
        made += [xl.zeros_like(made[1]), xl.empty((0, 3), dtype)]
        return [(type(x), x.shape, x.dtype, x.tolist()) for x in made]

    fast, slow = both(work)
    assert fast == slow
    for shape in (-1, (2, -1)):
        with pytest.raises(ValueError, match="-1"):
            xl.zeros(shape, dtype)
