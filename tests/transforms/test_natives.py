"""Methods in machine code: they are those in Python, only faster."""

from __future__ import annotations

import functools
import gc
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests import references
from tests.cases import together
from xarraylite._config import settings
from xarraylite.operands.operators import entries
from xarraylite.runtime import counting
from xarraylite.runtime import natives as loading
from xarraylite.testing.counters import count_allocations
from xarraylite.transforms import natives

pytestmark = [
    pytest.mark.usefixtures("compiled", "installed"),
    pytest.mark.skipif(not loading.can_load(), reason="another interpreter"),
]

V = np.arange(1.0, 13.0).reshape(3, 4)


def outcome(work: Callable[[], Any]) -> Any:
    """Return what some work returns, or raises."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


def both(work: Callable[[], Any]) -> tuple[Any, Any]:
    """Return what some work does with the methods in machine code, three times, and in Python."""
    natives.install()
    fast = [outcome(work) for _ in range(3)]
    natives.remove()
    slow = outcome(work)
    assert fast[0] == fast[1] == fast[2]
    return fast[2], slow


def said(e: Any) -> Any:
    """Return all there is to know of a lazy result, without evaluating it."""
    if not isinstance(e, xl.XExpression):
        return e
    numbers = [x for x in e._operands if isinstance(x, int | float)]
    return e.shape, e.dtype, repr(e._kind), len(e._operands), numbers


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "bool"])
def test_every_operator_is_the_same(dtype: str) -> None:
    names = list(entries())
    assert {"__add__", "__radd__", "__neg__", "__invert__", "__eq__"} <= set(names)

    def operands() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return new ones: some operators write the left one."""
        a, b = xl.asarray(V, dtype=dtype), xl.asarray(V[::-1], dtype=dtype)
        values = (np.float32(2), np.int8(2), np.bool_(1), a[0, 1], xl.asarray([2.0, 1j])[0])
        others = (b, b > 1, a[0], 2, 2.5, True, -1, 1 << 70, *values, None, "text", [1])
        return (a, a[:, 1:], a == b), others

    calls = [
        (name, k, other)
        for name, entry in entries().items()
        for other in range(len(operands()[1]) if entry.operands == 2 else 1)
        for k in range(len(operands()[0]))
    ]

    def made(name: str, k: int, other: int) -> Any:
        left, right = operands()
        args = (right[other],) if entries()[name].operands == 2 else ()
        return said(getattr(type(left[k]), name)(left[k], *args))

    fast, slow = both(lambda: [outcome(functools.partial(made, *call)) for call in calls])
    for call, quick, usual in zip(calls, fast, slow, strict=True):
        assert quick == usual, call


def test_powers_and_comparisons_with_numbers_are_the_same() -> None:
    for dtype in ("float64", "float32", "int64"):
        for number in (2, 3, 1, 0, 5, 0.5, 2.0, 1.5, -1, -1.0, True, 1 << 70, np.float64(2)):

            def work(dtype: str = dtype, number: Any = number) -> Any:
                a = xl.asarray(V, dtype=dtype)
                made = [xl.eval(a**number), xl.eval(xl.pow(a, number)), xl.eval(a > number)]
                own = a.copy()
                own **= number  # nobody waits for it
                b, pending = a[1:], a * 1
                b **= number
                return [(x.dtype, x.tolist()) for x in (*made, own, a, xl.eval(pending))]

            fast, slow = both(work)
            assert fast == slow, (dtype, number)


KEYS = (
    *(slice(1, -1), slice(None), slice(2, 1), slice(-9, 9), slice(None, None, -2), slice(0, 3, 0)),
    *((slice(1, None), slice(None, -1)), (1, slice(None)), (slice(None), -1), (3, slice(1))),
    *((slice(None), slice(None), slice(None)), (slice(None), 1 << 70), (1, True), 1, -4, None, ...),
    *((..., slice(1)), slice(np.int64(1), None), (), [0, 1], slice(1.5, None)),
    *((..., 1), (1, ..., -1), (..., 1, 0), (0, 1, ...), (..., 0, ...), (..., 9, 0), (0, 1, ..., 0)),
)


@together("key", KEYS, ids=str)
def test_views_are_the_same(key: Any) -> None:
    for values in (V, V.T, V[:, ::2]):
        a = xl.asarray(V)
        a = a[:, ::2] if values.shape == (3, 2) else a.T if values.shape == (4, 3) else a

        def work(a: Any = a) -> Any:
            part = a[key]
            if not isinstance(part, xl.XContainer):
                return said(part)
            return type(part), part.shape, part.strides, part.offset, part.tolist()

        fast, slow = both(work)
        assert fast == slow


def test_parts_of_parts_write_through() -> None:
    for _ in range(3):
        a, v = xl.asarray(V), V.copy()
        a[1:][:, ::2][...] = a[1:, ::2] * 2
        v[1:][:, ::2] *= 2
        a[0, 1:] += a[1, :-1]
        v[0, 1:] += v[1, :-1]
        assert np.array_equal(np.asarray(a), v)


@pytest.mark.parametrize("update", [operator.iadd, operator.imul, operator.isub])
def test_pending_readers_keep_their_values(update: Any) -> None:
    for other in (3.0, xl.asarray(V), xl.asarray(V) + 1):
        a = xl.asarray(V)
        for _ in range(3):
            before, pending = np.array(a), a * 2
            a = update(a, other)
            assert np.array_equal(np.asarray(xl.eval(pending)), before * 2)
            held = a + 1
            a[...] = held
            assert np.array_equal(np.asarray(xl.eval(held)), np.asarray(a))


def test_a_held_expression_keeps_what_it_read() -> None:
    a, b = xl.asarray([1.0, 2.0]), xl.asarray([1.0, 1.0])
    for number in range(3):
        e = a + b
        a[...] = e
        assert xl.eval(e).tolist() == a.tolist() == [2.0 + number, 3.0 + number]
        a[...] = a + xl.zeros(2)


def test_settings_are_asked() -> None:
    a = xl.asarray(V)
    xl.eval(a + a)
    with xl.config(max_result_bytes=8), pytest.raises(xl.SizeError):
        xl.eval(a + a)
    with xl.config(max_result_bytes=8), pytest.raises(xl.SizeError):
        a.copy()
    with xl.config(max_result_bytes=1 << 80):
        assert xl.eval(a + a).tolist() == (V + V).tolist()
    with xl.config(engine="reference"):
        assert settings.engine == "reference"
        assert xl.eval(a + a).tolist() == (V + V).tolist()


def test_allocations_are_counted() -> None:
    a, large = xl.asarray(V), xl.zeros(1000)
    xl.eval(a + a), xl.eval(large + large)
    with count_allocations() as seen:
        xl.eval(a + a)
        assert (seen.allocations, seen.bytes) == (1, V.nbytes)
        xl.eval(large + large)
        large.copy()
        assert (seen.allocations, seen.bytes) == (3, V.nbytes + 16_000)


def test_a_temporary_that_python_assigns_is_not_held() -> None:
    """What the code leaves to the method counts as few references as a call from Python."""
    a, b = xl.asarray(V), xl.asarray(V)
    for to in (a, xl.noalias(a)):
        for engine in ("reference", "compiled"):
            with xl.config(engine=engine), count_allocations() as counted:
                to.assign(a + b)
                to.assign(a + b[:1])  # which has no kind
            assert (counted.snapshots, counted.temporaries) == (0, 0)
    for engine in ("reference", "compiled"):
        e, kept = a * 2, np.asarray(a) * 2
        with xl.config(engine=engine):
            a.assign(e)
        np.testing.assert_array_equal(np.asarray(e), kept)


def test_memory_is_aligned() -> None:
    for n in (1, 63, 64, 65, 1000, 200_000):
        a = xl.zeros((n,))
        for made in (xl.eval(a + 1), a.copy(), xl.zeros((n, 1)), xl.eval(a + 1)):
            assert made.buffer.address % 64 == 0
            assert made.buffer.nbytes == 8 * n


def test_zeros_and_copies_are_the_same() -> None:
    usual, unusual = ((), (0,), (3, 4), (3, 0), (100, 100)), ((-1,), (2.0,), (True, 2), 3, [2])
    for shape in (*usual, *unusual, (1 << 40,)):
        fast, slow = both(lambda s=shape: (lambda z: (z.shape, z.dtype, z.tolist()))(xl.zeros(s)))
        assert fast == slow
    for a in (
        xl.asarray(V),
        xl.asarray(V, layout="column_major"),
        xl.asarray(V)[:, 1:],
        xl.ones(()),
    ):
        made = a.copy()
        assert made.tolist() == a.tolist()
        assert (made.strides, type(made)) == (a.copy().strides, xl.XArray)
        made[...] = 0.0
        assert a.tolist() != made.tolist()


def test_elements_are_the_same() -> None:
    for dtype in ("float64", "float32", "int64", "bool"):
        a = xl.asarray(V > 3 if dtype == "bool" else V, dtype=dtype)
        a[0, 0], a[1:] = a[1, 1], a[:-1]
        n, flag = xl.asarray([1, -1, 9]), xl.asarray([True])[0]
        values = (n[0], (n[0], n[1]), (n[2], 0), (n[1], slice(1, 3)), (xl.asarray([2], "u1")[0], 0))
        values += ((flag, 0), flag, a[0, 0], (np.int64(1), np.int8(0)), (..., n[0]))
        ints = (0, (1, 2), (-1, -1), (3, 0), (0, 1 << 70), (0, 1, 2), (True, 0), (slice(2), 1))
        keys = ints + values
        reads = [lambda a=a, k=key: (type(a[k]), np.asarray(a[k]).tobytes()) for key in keys]
        fast, slow = both(lambda w=reads: [*map(outcome, w)])
        assert fast == slow
        writes = (
            *(((0, 0), 2), ((0, 0), 2.5), ((1, slice(1, 3)), 7.0), ((2, 2), a[0, 1]), (1, 3.0)),
            *(((0, 0), "text"), ((0, 9), 1.0), ((0, 0), 1 << 2000), ((0, 0), True), ((), 4.0)),
            *(((0, 0), np.float64(8)), ((0, 0), np.float32(9)), ((0, np.int64(1)), 1.0)),
            *[(key, value) for key in values for value in (1.0, a[1, 1], a[0] + 0)],
        )

        def work(a: Any, key: Any, value: Any) -> Any:
            b = a.copy()
            b[0, 0] = b[0, 0]
            b[key] = value
            return float(b[0, 1]), b.tolist()

        works = [functools.partial(work, a, *written) for written in writes]
        found = both(lambda w=works: [*map(outcome, w)])
        for written, fast, slow in zip(writes, *found, strict=True):
            assert fast == slow, (dtype, written)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_arithmetic_of_elements_is_the_same(op: Any) -> None:
    for dtype in ("float64", "float32", "int64"):
        x, y = xl.asarray([3.0, 0.0], dtype=dtype)
        pairs = [
            pair
            for other in (x, y, 2.5, 0.0, 1e308, 4, np.float64(2), "text")
            for pair in ((x, other), (other, x), (y, other), (other, y))
        ]

        def work(left: Any, right: Any) -> Any:
            made = op(left, right)
            return type(made), made.dtype, np.asarray(made).tobytes()

        works = [functools.partial(work, *pair) for pair in pairs]
        for pair, fast, slow in zip(pairs, *both(lambda w=works: [*map(outcome, w)]), strict=True):
            assert fast == slow, (op, pair)
    assert isinstance(op(x, xl.ones(2)), xl.XExpression)


def test_adaptors_are_the_same() -> None:
    memory = np.arange(24.0)
    frozen = memory.copy()
    frozen.flags.writeable = False
    arrays = (memory, memory[3:], memory[::2], memory.reshape(2, 3, 4), memory.reshape(4, 6).T)
    others = (frozen, np.zeros(()), np.zeros((0, 3)), np.arange(3, dtype=">i4"), np.arange(3) > 1)
    more = (np.zeros(2, "f4"), memory.view(np.matrix), [1], np.zeros(2, "M8[s]"))
    for x in (*arrays, *others, *more):

        def work(x: Any = x) -> Any:
            a = xl.adapt(x)
            buffer = a.buffer
            where = a.shape, a.strides, a.offset, a.dtype, a.layout, a.static_layout
            return *where, buffer.address, buffer.nbytes, buffer.readonly, buffer.owner is x

        fast, slow = both(work)
        assert fast == slow
    natives.install()
    xl.adapt(memory)
    a, pending = xl.adapt(memory), xl.adapt(memory) * 1
    a[0] = 5.0
    assert (memory[0], float(np.asarray(pending)[0])) == (5.0, 0.0)
    with pytest.raises(ValueError, match="resize"):
        memory.resize(10**6, refcheck=False)
    del memory, arrays
    assert a.tolist()[:2] == [5.0, 1.0]


def test_an_element_that_was_taken_stays() -> None:
    v = xl.asarray([1.0, 2.0])
    for _ in range(3):
        v[0], v[1] = v[1], v[0]
        first, pending = v[0], v * 1
        v[0] = 9.0
        assert (float(first), np.asarray(pending)[0]) == (float(first), float(first))
        v[0] = first
    assert v.tolist() == [2.0, 1.0]


def test_floats_of_folds() -> None:
    a = xl.asarray(V)
    for e in (xl.sum(a), xl.max(a * 2), xl.sum(xl.asarray(V, dtype="float32")), xl.sum(a[1:, 1:])):
        assert float(e) == float(e) == float(np.asarray(e))
    with pytest.raises(TypeError, match="rank 0"):
        float(a + a)
    assert float(xl.sum(xl.zeros((0, 2)))) == 0.0


def test_traced_functions_run_again() -> None:
    function = xl.jit(lambda a, b: (a[1:] + b * 2 - 1.5) * a[1:])
    total = xl.jit(lambda a: xl.sum(a * 2))
    for shape in ((3, 4), (3, 4), (5, 2), (3, 4)):
        a, b = np.ones(shape), np.arange(float(shape[1]))
        for x in (xl.asarray(a), xl.asarray(a) + 0, xl.asarray(np.stack([a, a]))[1]):
            got = function(x, xl.asarray(b))
            assert np.array_equal(np.asarray(got), (a[1:] + b * 2 - 1.5) * a[1:])
        assert float(total(xl.asarray(a))) == 2 * a.size
    with pytest.raises(TypeError, match="by position"):
        function(xl.asarray(V), b=xl.asarray(V))
    with pytest.raises(TypeError, match="missing"):
        function(xl.asarray(V))
    assert float(xl.jit(lambda a: total(a) + 1)(xl.asarray(V))) == 2 * V.sum() + 1


def test_what_is_written_while_a_trace_runs_is_late() -> None:
    factor = xl.asarray([1.0])
    step = xl.jit(lambda a: a * factor + (factor + factor))
    assert step(xl.ones(2)).tolist() == [3.0, 3.0]
    factor[...] = 2.0
    assert step(xl.ones(2)).tolist() == [6.0, 6.0]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_have_the_same_bits(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for m, k, n in (
        (2, 2, 2),
        (3, 7, 5),
        (8, 8, 8),
        (1, 4, 4),
        (4, 4, 1),
        (17, 33, 20),
        (64, 64, 63),
    ):
        a, b = (xl.asarray(rng.normal(size=s), dtype=dtype) for s in ((m, k), (k, n)))
        fast, slow = both(lambda a=a, b=b: np.asarray(a @ b).tobytes())
        assert fast == slow
    fast, slow = both(lambda: str(xl.explain(a @ b)))
    assert fast == slow
    assert (a @ a[:0].T).shape == (64, 0)
    c = xl.asarray([[np.inf, -np.inf], [1e300, 1e300]])
    for _ in range(3):
        assert np.isnan(np.asarray(c @ c)).any()  # and no warning, which would be an error here


def test_arrays_of_numpy_see_the_memory() -> None:
    a = xl.asarray(V)
    for _ in range(3):
        np.asarray(a)[0, 0] += 1
        assert np.asarray(a, dtype="float32").dtype == "float32"
        assert np.array(a, copy=True).base is None
    assert a.tolist()[0][0] == 4.0


def test_references_are_balanced() -> None:
    a, b, step = xl.asarray(V), xl.asarray(V), xl.jit(lambda a, b: a + b[:, :1] * 0 + 2.0)
    square = xl.asarray(V[:, :3])

    def work() -> None:
        for _ in range(50):
            c = xl.eval(a + b * 2.5 - 1)
            c += a
            c *= 2
            c[1:, 1:] = c[1:, 1:] + a[:-1, :-1]
            c[...] = xl.zeros((3, 4))
            -c, 1.5 - c, c.copy(), step(a, b), float(xl.sum(a * b)), square @ square
            np.asarray(c)
            for bad in (lambda: a + xl.zeros((2, 3)), lambda: a[1:, 5], lambda: a + "text"):
                with pytest.raises((TypeError, ValueError, IndexError)):
                    bad()

    work()
    moves, objects = references.moved(
        work, [a.shape, a._kind, b._buffer, a._buffer._snapshot, a.dtype, step]
    )
    assert max(moves) == 0
    assert objects < 40  # a leak would be 50 at least


def test_a_process_that_launches_often_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    natives.remove()
    monkeypatch.setattr(counting, "_uses", iter(range(counting.OFTEN - 2, 1 << 30)))
    a = xl.asarray(V)
    xl.eval(a + a)
    assert not isinstance(vars(xl.XExpression)["__add__"], type(str.join))
    xl.eval(a + a), xl.eval(a + a)
    assert isinstance(vars(xl.XExpression)["__add__"], type(str.join))
    assert xl.XExpression.__add__.__doc__.startswith("Return the lazy ``add``")
    with pytest.raises(TypeError):
        a.__setitem__(1)


def test_a_handle_may_be_written_while_it_is_evaluated() -> None:
    """The collector runs where memory is allocated, and with it whatever it calls."""
    handles: list[Any] = []

    def write(phase: str, info: Any) -> None:
        if phase == "start" and handles:
            handles.pop()[0] = 123.0

    threshold = gc.get_threshold()
    gc.callbacks.append(write)
    gc.set_threshold(1)
    try:
        for k in range(300):
            e = xl.asarray([1.0 + k, 2.0]) + xl.asarray([3.0, 4.0]) * 3.0
            handles.append(e)
            made = xl.eval(e).tolist()
            assert made in ([10.0 + k, 14.0], [123.0, 14.0])
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(write)


def _locked() -> Any:
    values = V.copy()
    values.flags.writeable = False
    return xl.adapt(values)


PROMISES: dict[str, Callable[[Any], Any]] = {
    "whole": lambda c: xl.noalias(c).__setitem__(..., c * 2 + 1),
    "memory": lambda c: xl.noalias(c).__setitem__(..., xl.asarray(V[::-1])),
    "interleaved": lambda c: xl.noalias(c[:, ::2]).__setitem__(..., c[:, 1::2] * 0.5),
    "part": lambda c: xl.noalias(c)[1:, 0].__setitem__(slice(1), c[:1, 3] + 1),
    "number": lambda c: xl.noalias(c).__setitem__((0, slice(1, 3)), 7.0),
    "assigned": lambda c: xl.noalias(c).assign(c + 1),
    "assigned part": lambda c: xl.noalias(c[0]).assign(c[1] + 1),
    "grown": lambda c: xl.noalias(c).assign(xl.ones((2, 5)) + 1),
    "updated": lambda c: operator.imul(xl.noalias(c), c),
    "updated by a number": lambda c: operator.isub(xl.noalias(c)[1:], 2),
    "shifted": lambda c: operator.iadd(xl.noalias(c)[1:], c[:-1]),
    "shifted by an expression": lambda c: operator.iadd(xl.noalias(c)[:, :2], c[:, 2:] * c[:, 1:3]),
    "of another kind": lambda c: operator.iadd(xl.noalias(c), c * 1j),
    "stretched": lambda c: operator.iadd(xl.noalias(c), xl.asarray(V[0])),
    "checked": lambda c: c.assign(c.T + 0 if c.shape[0] == c.shape[1] else c - 1),
    "shape": lambda c: xl.noalias(c).__setitem__(..., xl.ones((2, 5)) + 1),
    "index": lambda c: xl.noalias(c)[9],
    "no container": lambda c: xl.noalias(c + 1),
    "read-only": lambda c: xl.noalias(_locked()).__setitem__(..., c + 1),
    "more elements than memory": lambda c: xl.noalias(xl.as_strided(c, (3, 3), (1, 1))).__setitem__(
        ..., c[:, :3] + 1
    ),
}


@together("name", PROMISES)
def test_promises_are_the_same(name: str) -> None:
    def work() -> Any:
        c = xl.asarray(V, copy=True)
        waiting = c * 3
        made = PROMISES[name](c)
        assert made is None or "noalias" in repr(made) or made is c or made.ndim == 1
        return c.tolist(), repr(made), waiting.tolist()

    fast, slow = both(work)
    assert fast == slow


def test_a_broken_promise_is_told_where_that_is_wanted() -> None:
    c = xl.asarray(V, copy=True)
    for _ in range(3):
        xl.noalias(c)[:, ::2] = c[:, 1::2] + 1
    with xl.config(check_noalias=True):
        for _ in range(3):
            xl.noalias(c)[:, ::2] = c[:, 1::2] + 1
            with pytest.raises(xl.NoAliasError):
                xl.noalias(c)[1:] = c[:-1] + 1
