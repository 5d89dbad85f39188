"""Calls in machine code (memoised, NumPy's, methods, picks): as in Python, only faster."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests import references
from tests.cases import together
from xarraylite.arrays.container import XContainer
from xarraylite.ops.table import OPS
from xarraylite.runtime import natives as loading
from xarraylite.transforms import natives

pytestmark = [
    pytest.mark.usefixtures("compiled", "installed"),
    pytest.mark.skipif(not loading.can_load(), reason="another interpreter"),
]

V = np.arange(1.0, 13.0).reshape(3, 4)


def told(made: Any) -> Any:
    """Return all there is to know of a result."""
    if isinstance(made, tuple | list):
        return type(made).__name__, [told(part) for part in made]
    if isinstance(made, xl.XExpression):
        kind = type(made).__name__
        values = xl.eval(made)
        # Strides along extents of 1 are nobody's business, and of nothing.
        steps = [s for s, n in zip(values.strides, values.shape, strict=True) if n > 1]
        place = steps if values.size and isinstance(made, XContainer) else None
        return kind, values.dtype, values.shape, place, values.tolist()
    if isinstance(made, xl.XScalar):
        return "XScalar", made.dtype, float(made), type(made.value)
    return type(made), str(made)


def same(work: Callable[[], Any], name: str = "") -> Any:
    """Return what some work does, which is the same in machine code and in Python."""
    return all_same({name: work})[name]


def all_same(works: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Return what each work does, which is the same in machine code and in Python.

    Methods are replaced once for all of them: whatever Python has learned about a class it learns
    again afterwards.
    """
    natives.remove()
    slow = {name: outcome(work) for name, work in works.items()}
    natives.install()
    for name, work in works.items():
        assert [outcome(work) for _ in range(3)] == [slow[name]] * 3, name
    return slow


def outcome(work: Callable[[], Any]) -> Any:
    """Return what some work gives, or what it raises."""
    try:
        return told(work())
    except Exception as error:
        return type(error), str(error)


A: Any = {
    "f8": lambda: xl.asarray(V),
    "bf": lambda: xl.asarray(V, dtype="bfloat16"),
    "lazy": lambda: xl.asarray(V) * 2 - 5,
    "view": lambda: xl.asarray(V)[:, ::2],
    "column": lambda: xl.asarray(V, layout="column_major"),
    "tiled": lambda: xl.asarray(V, layout="{1,0:T(2,2)}"),
    "tensor": lambda: xl.XTensor(V),
    "empty": lambda: xl.zeros((0, 3)),
    "numpy": lambda: V,
    "list": V.tolist,
}


def greater(a: float, b: float) -> float:
    return a if a > b else b


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "a user's fold": lambda a: xl.reduce(greater, a, 0, initial=0.0),
    "a user's fold of all": lambda a: xl.reduce(greater, a, initial=0.0, keepdims=True),
    "sort": lambda a: xl.sort(a, axis=0),
    "argsort": xl.argsort,
    "nonzero": xl.nonzero,
    "interp": lambda a: xl.interp(2.5, [1, 2, 3], [4, 5, 6]),
    "lexsort": lambda a: xl.lexsort((a, a)),
    "histogram": lambda a: xl.histogram(a, bins=3),
    "unique": lambda a: xl.unique(a, return_counts=True),
    "cov": xl.cov,
    "median": lambda a: xl.median(a, axis=0),
    "percentile": lambda a: xl.percentile(a, 30),
    "inv": xl.linalg.inv,
    "svd": xl.linalg.svdvals,
    "qr": xl.linalg.qr,
    "det": lambda a: xl.linalg.det(xl.asarray(a)[:, :3]),
    "fft": lambda a: xl.fft.fft(a, axis=0),
    "wrong": lambda a: xl.sort(a, axis=7),
    "more": lambda a: xl.sort(a, 0, None, None, 5),
    "named": lambda a: xl.searchsorted(xl.asarray([1.0, 2.0]), a, side="right"),
    "bad name": lambda a: xl.argsort(a, sideways=True),
    "sum": lambda a: xl.sum(a, axis=0),
    "mean": lambda a: xl.mean(a, axis=-1, keepdims=True),
    "concat": lambda a: xl.concat([a, a], axis=0),
    "stack": lambda a: xl.stack((a, a)),
    "roll": lambda a: xl.roll(a, (1, 2), axis=(0, 1)),
    "flip": xl.flip,
    "round": lambda a: xl.round(a, 1),
    "clip": lambda a: xl.clip(a, 2, 7),
    "clip float": lambda a: xl.clip(a, -0.0, 0.0),
    "expand": lambda a: xl.expand_dims(a, 1),
    "isreal": xl.isreal,
    "reshape": lambda a: xl.reshape(a, (2, -1)),
    "reshape copy": lambda a: xl.reshape(a, (6, 2), copy=True),
    "reshape F": lambda a: xl.reshape(a, (6, 2), order="F"),
    "products": lambda a: [xl.vdot(a, a), xl.inner(a, a), xl.vecdot(a, a)],
    "einsum": lambda a: [xl.einsum("ij,j", a, a[0]), xl.einsum("ij,kj->ik", a, a)],
    "split": lambda a: [xl.array_split(a, 2), xl.unstack(a, axis=1), xl.array_split(a, 5)],
    "likes": lambda a: [xl.ones_like(a), xl.full_like(a, 2), xl.zeros_like(a, dtype="int32")],
    "append": lambda a: xl.append(a, 2.0),
    "arrays": lambda a: [xl.asarray(a), xl.array(a, ndmin=3), xl.ascontiguousarray(a)],
    "columns": lambda a: [xl.asfortranarray(a), xl.atleast_3d(a), xl.empty_like(a).shape],
    "facts": lambda a: [xl.size(a), xl.ndim(a), xl.shape(a), xl.result_type(a, a, 2)],
    "memory": lambda a: xl.may_share_memory(a, a),
    "powers": lambda a: [xl.float_power(a, a), *xl.modf(a)],
    "no axis": lambda a: xl.mean(a, axis=5),
}


#: Narrow floats are rounded in Python; each of their kernels is compiled anew.
WIDE = [name for name in A if name != "bf"]


@pytest.mark.parametrize("array", WIDE)
def test_functions(array: str) -> None:
    all_same({name: lambda f=f: f(A[array]()) for name, f in FUNCTIONS.items()})  # type: ignore[misc]


METHODS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda a: a.sum(0),
    "sum keyed": lambda a: a.sum(axis=1, keepdims=True),
    "mean": lambda a: a.mean(1),
    "argmax": lambda a: [a.argmax(), a.argmax(axis=1), a.std(0, ddof=1), a.repeat(2, axis=0)],
    "reshape": lambda a: a.reshape(2, -1),
    "reshape tuple": lambda a: a.reshape((4, 3)),
    "transpose": lambda a: a.transpose(),
    "transpose axes": lambda a: a.transpose(1, 0),
    "transpose tuple": lambda a: a.transpose((0, 1)),
    "squeeze": lambda a: [a.squeeze(), a.squeeze(axis=None), a.ravel(), a.ravel(order="C")],
    "converted": lambda a: [a.astype(to) for to in ("f4", float, np.dtype("i2"), xl.int8, "f8")],
    "swapaxes": lambda a: a.swapaxes(0, 1),
    "repeat": lambda a: a.repeat(2),
    "take": lambda a: a.take([1, 0], 0),
    "argsort": lambda a: [a.argsort(0), a.argsort(axis=0), a.argsort(0, kind="stable")],
    "nonzero": lambda a: a.nonzero(),
    "searchsorted": lambda a: a.ravel().searchsorted(3.0, "right"),
    "round": lambda a: a.round(1),
    "clip": lambda a: a.clip(2, 3),
    "too many": lambda a: a.sum(0, None, None, False, 0, True, 1),
    "twice": lambda a: a.argmax(0, axis=0),
    "wrong": lambda a: a.argsort(axis=4),
    "in place": lambda a: (a.sort(), a),
    "flatten": lambda a: a.flatten(),
    "taken": lambda a: a.ravel().take(xl.asarray([1, 0, -1])),
    "taken out": lambda a: a.ravel().take(np.array([99])),
    "dot": lambda a: [a.dot(xl.ones(4)), a.astype("f4", copy=False)],
    "item": lambda a: a.item(1, 2),
    "item out": lambda a: a.item(99),
    "sizes": lambda a: (len(a), a.size, a.nbytes),
    "no length": lambda a: len(a[0, 0] + xl.zeros(())),
    "parts": lambda a: [(a * 1j).real, xl.eval(a * 1j).imag, xl.eval(a * 1j).real],
    "values": lambda a: [a + a[0, 1], a > a[1, 0], a ** a[0, 1], a[0, 1] * a],
    "wrong values": lambda a: a & a[0, 0],
    "stretched": lambda a: [a + a[0], a[0] - a, a[:, :1] * a, a * a[0, :2]],
    "copies": lambda a: [xl.array(a), xl.asarray(a, copy=True), a[1:].copy(), xl.copy(a)],
    "T": lambda a: [a.T, a.mT],
    "value": lambda a: [a[0, 0].sum(), a[0, 0].real, a[0, 0].imag, a.argmax(0)[0].real],
}


@pytest.mark.parametrize("array", [k for k in WIDE if k not in ("numpy", "list")])
def test_methods(array: str) -> None:
    all_same({name: lambda m=m: m(A[array]()) for name, m in METHODS.items()})  # type: ignore[misc]


KEYS: dict[str, Any] = {
    "positions": lambda: xl.asarray([2, 0, -1]),
    "numpy positions": lambda: np.array([2, 0, -1]),
    "out of range": lambda: xl.asarray([0, 3]),
    "far below": lambda: np.array([0, -4]),
    "int32": lambda: xl.asarray([1, 2], dtype="int32"),
    "uint64": lambda: np.array([1, 2**63], np.uint64),
    "two ranks": lambda: xl.asarray([[0, 1], [2, 2]]),
    "lazy": lambda: xl.asarray([1, 0]) + 1,
    "columns": lambda: (slice(None), xl.asarray([3, 0, -4])),
    "columns out": lambda: (slice(None), np.array([4])),
    "part": lambda: (slice(xl.asarray([1])[0], None), xl.asarray([0])),
    "in a tuple": lambda: (xl.asarray([1]),),
    "too deep": lambda: (slice(None), slice(None), xl.asarray([0])),
    "mask": lambda: xl.asarray(V > 4),
    "numpy mask": lambda: V < 3,
    "lazy mask": lambda: xl.asarray(V) > 7,
    "no trues": lambda: xl.asarray(V) > 70,
    "rows": lambda: xl.asarray([True, False, True]),
    "wrong rows": lambda: xl.asarray([True, False]),
    "strided mask": lambda: xl.asarray(np.stack([V > 4, V > 5], -1))[..., 0],
    "none": lambda: xl.asarray(np.zeros(0, np.int64)),
    "list": lambda: [1, 0],
    "floats": lambda: xl.asarray([1.0]),
    "dots": lambda: (Ellipsis, 0),
    "only dots": lambda: Ellipsis,
    "dots twice": lambda: (Ellipsis, Ellipsis),
    "axis": lambda: (None, slice(np.int64(1), xl.asarray([3])[0]), None, 0),
    "bounds": lambda: slice(*xl.asarray([0, 3, 2])),
    "axes and dots": lambda: (None, Ellipsis, None, slice(None, None, -1)),
    "no bound": lambda: (0, slice(xl.asarray([1.0])[0])),
    "all ints and dots": lambda: (1, Ellipsis, 2),
}


@pytest.mark.parametrize("array", [k for k in A if k not in ("numpy", "list")])
def test_picks(array: str) -> None:
    all_same({name: lambda k=k: A[array]()[k()] for name, k in KEYS.items()})  # type: ignore[misc]


def test_picks_keep_their_values() -> None:
    a, i, m = xl.asarray(V), xl.asarray([2, 0]), xl.asarray(V > 4)
    for _ in range(3):
        before, picked, chosen, viewed = np.array(a), a[i], a[m], a[None, ..., 0]
        late = xl.late(a[i] * 1)
        a[...] = a + 1
        i[0] = 1
        assert xl.eval(picked).tolist() == before[[2, 0]].tolist()
        assert chosen.tolist() == before[V > 4].tolist()
        assert viewed.tolist() == np.asarray(a)[None, :, 0].tolist()
        assert xl.eval(late).tolist() == np.asarray(a)[[2, 0]].tolist()
        i[0] = 2


def test_results_are_nobody_elses() -> None:
    a = xl.asarray([3.0, 1.0, 2.0])
    for _ in range(3):
        for made in (xl.sort(a), xl.squeeze(xl.asarray(xl.interp(a, a, a))), xl.unwrap(a)):
            made[0] = 9.0
            assert a.tolist() == [3.0, 1.0, 2.0]
        view = a.reshape(3, 1)
        view[0, 0] = 3.0


def test_stores_of_every_dtype() -> None:
    numbers: tuple[Any, ...] = (1, -1, 300, 2.5, 1e39, -0.0, True, 1 << 63, float("nan"))
    numbers += (np.float32(1.5), np.float64(0.1), np.int8(3), 0.1, 16777217)
    numbers += (65519.0, 65520.0, 1e-7, 2 - 1j, 1e39j, complex("nan+1j"), complex("-inf"))
    for dtype in ("float64", "float32", "float16", "int8", "uint8", "int64", "bool", "complex64"):

        def work(dtype: str = dtype) -> Any:
            found = []
            for number in numbers:
                a = xl.zeros((2, 3), dtype=dtype)
                try:
                    a[0, 0], a[1, 1:] = number, number
                    a[0, 0] = number
                except (ValueError, TypeError, OverflowError) as error:
                    found.append((type(error), str(error)))
                found.append(a.tobytes())
            return found

        same(work)


def test_narrow_floats_are_rounded() -> None:
    same(lambda: xl.sort(A["bf"](), axis=0))
    same(lambda: A["bf"]().argsort(1))
    same(lambda: [xl.median(A["bf"]()), A["bf"]().T, A["bf"]().reshape(2, -1)])


def test_warnings_are_kept_from_users() -> None:
    a = xl.asarray([1.0, 0.0, np.inf, -1.0])
    with np.errstate(all="raise"):
        for _ in range(3):
            xl.interp(a, [0.0, 1.0], [np.inf, -np.inf])
            xl.corrcoef(a)
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))


def test_references_are_balanced() -> None:
    a, i, m = xl.asarray(V), xl.asarray([2, 0]), xl.asarray(V > 4)
    square = xl.asarray(V[:, :3] + 9 * np.eye(3))
    z, h, b = xl.asarray([1 + 2j, 3j]), xl.asarray([1, 2], "f2"), xl.asarray(V)

    def work() -> None:
        for _ in range(50):
            xl.eval(xl.sin(z)), xl.eval(xl.pow(z, 2j)), z[0] + 1, z[0] * z[1], h[0] * h[1], h[0] + 1
            h.take([0, 1]), h.take([9, 1][1:]), a[0][1], 1 - h[0], z[0] == 1
            b[0, 0] = b.max()
            b[0] = b[1] @ b[2]
            a[i], a[m], a[:, i], a[a > 3], a[None, ..., 0], a[V > 3], a[np.array([1])]
            a.T, a.sum(0), a.reshape(2, -1), a.argsort(0), a.nonzero(), a.mean(axis=1)
            xl.sort(a), xl.concat([a, a]), xl.clip(a, 0.5, 2), xl.linalg.inv(square)
            xl.unique(a, return_counts=True), xl.searchsorted(a[0], 2.0), xl.median(a * 2)
            for bad in (lambda: xl.sort(a, axis=4), lambda: a[xl.asarray([9])], lambda: a.sum(4)):
                with pytest.raises((TypeError, ValueError, IndexError)):
                    bad()

    work()
    moves, objects = references.moved(
        work, [a.shape, a._kind, a._buffer, i._buffer, a.dtype, slice(None), 1.0, xl.sort]
    )
    assert max(moves) == 0
    assert objects < 40  # a leak would be 50 at least


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "complex64"])
def test_written_results_and_tiled_arrays_meet_values_of_float64(dtype: str) -> None:
    value, values = xl.asarray([2.0])[0], np.asarray(xl.asarray([[1, 2], [3, 4]], dtype=dtype))
    result = xl.asarray(values) * 1
    result[0] = result[1]
    for x, expected in (
        (result, values[[1, 1]]),
        (xl.asarray(values, layout="{1,0:T(2,2)}"), values),
    ):
        for op in (operator.mul, operator.sub, operator.truediv):
            made, known = op(x, value), op(expected, np.float64(2))
            assert made.dtype == known.dtype
            np.testing.assert_array_equal(np.asarray(made), known)


SELECTED: dict[str, Callable[[Any, Any], None]] = {
    "mask": lambda a, m: operator.setitem(a, m, 9),
    "positions": lambda a, m: operator.setitem(a, xl.asarray([2, -1, 2]), 9),
    "rows": lambda a, m: operator.setitem(a, xl.asarray([[2], [0]]), 9.5),
    "condition": lambda a, m: operator.setitem(a, a > 3, 9),
    "condition, and its values": lambda a, m: operator.setitem(a, a > 3, a[a > 3] * 2),
    "another shape": lambda a, m: operator.setitem(a, m[:2], 9),
    "out of range": lambda a, m: operator.setitem(a, xl.asarray([3]), 9),
    "no index": lambda a, m: operator.setitem(a, xl.asarray([1.0]), 9),
    "one flag": lambda a, m: operator.setitem(a, xl.asarray(True), 9),
    "part of a cut": lambda a, m: operator.setitem(a[:, 1:], a[:, 1:] > 3, 9),
}


@together("name", SELECTED)
@pytest.mark.parametrize("given", ["f8", "i8", "column", "read-only"])
def test_numbers_are_written_through_our_own_indices(name: str, given: str) -> None:
    def work() -> Any:
        dtype = "int64" if given == "i8" else "float64"
        a = xl.asarray(V, dtype, layout="column_major" if given == "column" else None)
        np.asarray(a)  # which leaves it with NumPy's array
        a.flags.writeable = given != "read-only"
        before, condition = a + 0, a > 5
        SELECTED[name](a, xl.asarray(V > 4))
        a[~condition] = 1
        a[condition] = 0  # which says what was greater when it was written
        return a, before, condition, xl.sum(before) + 1

    same(work)


#: Operations of the table that NumPy runs, by dtypes that have no kernel of theirs.
HOSTED = {
    dtype: [
        name
        for name, op in OPS.items()
        if hasattr(xl, name) and op.body((np.dtype(dtype),) * op.arity) is None
    ]
    for dtype in ("complex128", "complex64", "bool", "float16")
}


@pytest.mark.parametrize("dtype", HOSTED)
def test_operations_that_numpy_runs(dtype: str) -> None:
    """Every second one of what both of two dtypes have: the others are of the other one."""
    other = {"complex128": "complex64", "complex64": "complex128"}.get(dtype, dtype)
    names = [name for name in HOSTED[dtype] if name not in HOSTED[other]]
    both = [name for name in HOSTED[dtype] if name in HOSTED[other]]
    names += both if other is dtype else both[dtype == "complex64" :: 2]
    works: dict[str, Callable[[], Any]] = {}
    for turn, name in enumerate(names):
        works |= _works(name, dtype, [(7,), (1,), (0,)][turn % 3])
    known = all_same(works)
    for name in names:
        with contextlib.suppress(xl.DTypeError):
            OPS[name].rule(name, (np.dtype(dtype),) * OPS[name].arity)
            said = [made for work, made in known.items() if work.startswith(f"{name} ")]
            assert [made for made in said if isinstance(made[0], type)] == []


def _works(name: str, dtype: str, few: tuple[int, ...]) -> dict[str, Callable[[], Any]]:
    """What is computed by an operation, of operands of several shapes."""
    function, arity = getattr(xl, name), OPS[name].arity
    works: dict[str, Callable[[], Any]] = {}
    for shape in (few, (2, 3), (300,)):  # 256 elements are copied at a time
        whole = np.arange(2 * max(1, int(np.prod(shape)))) % 23 / 7
        values = whole * (1 - 0.5j) if dtype.startswith("c") else whole
        x = xl.asarray(values[: int(np.prod(shape))].reshape(shape).astype(dtype))

        def said(
            of: Callable[[], Any], operands: tuple[Any, ...] = (x, x[::-1].copy(), x)[:arity]
        ) -> Callable[[], Any]:
            def work() -> Any:
                made = xl.eval(of(*operands))
                return made.dtype, repr(made.tolist())

            return work

        works[f"{name} alone {shape}"] = said(function)
        if dtype.startswith("c"):
            works[f"{name} of sums {shape}"] = said(lambda *o: function(*[v + v for v in o]))
            works[f"{name} inside {shape}"] = said(lambda *o: function(*o) * o[0][::-1])
        if dtype.startswith("c") and arity == 2:
            works[f"{name} of a number {shape}"] = said(lambda v, _: function(v, 2 + 1j))
    return works


def test_operations_that_numpy_runs_read_what_was_there() -> None:
    z = xl.asarray([1 + 1j, 2j, 3.0])
    for _ in range(20):
        expected = xl.eval(xl.sin(z)).tolist()
        e, of_parts, inside = xl.sin(z), xl.sin(z[::-1] * 1), xl.sin(z) * 1
        z[0] = z[0] + 1
        assert xl.eval(e).tolist() == xl.eval(inside).tolist() == expected
        assert xl.eval(of_parts).tolist() == expected[::-1]
        assert xl.eval(xl.sin(z)).tolist() != expected


def test_what_numpy_runs_is_a_part_of_few_elements() -> None:
    for n in (1, 10, 256, 257):
        v = np.linspace(0.5, 2, n) * (1 - 0.5j)
        a, b = xl.asarray(v), xl.asarray(v[::-1] / 3)
        for _ in range(4):
            made = xl.eval(xl.exp(xl.sin(a) * b) / (xl.sqrt(a) + xl.sum(xl.log(b))) - xl.mean(a))
            w = np.asarray(b)
            want = np.exp(np.sin(v) * w) / (np.sqrt(v) + np.sum(np.log(w))) - np.mean(v)
            np.testing.assert_allclose(made, want, rtol=1e-13)
            o = xl.zeros(n, dtype="complex128")
            o[...] = 2 * xl.tan(a + o)
            np.testing.assert_allclose(o, 2 * np.tan(v), rtol=1e-13)


def test_one_value_is_stored() -> None:
    for dtype in ("float64", "float32", "int64", "complex64"):
        x = xl.asarray(np.arange(5.0).astype(dtype))
        for k in range(5):
            waits, held = x * 2, xl.sum(x)
            before, total = (np.arange(5.0) if k == 0 else x.tolist()), xl.sum(x).item()
            x[k] = xl.sum(x)
            assert x[k] == total, dtype
            assert held.item() == total, dtype
            assert xl.eval(waits).tolist() == [2 * one for one in before]
            x[k] = held
            x[1:3] = x @ x
            assert x[1] == x[2]
            x[...] = np.arange(5.0).astype(dtype)
    m = xl.asarray(np.arange(6).reshape(2, 3))
    m[1, 2] = m.max() + m[1][0] + m[:, 1][1]
    assert m.tolist() == [[0, 1, 2], [3, 4, 12]]
    assert m[-1][-1] == 12
    with pytest.raises(IndexError):
        m[1][3]


def test_lists_of_positions() -> None:
    for dtype in ("float64", "int8", "bool"):
        x = xl.asarray(np.arange(6) % 3, dtype)
        for key in ([1, 2], [-1], [], [[0, 1], [2, 3]], [9], [0.5], [True, False], ["a"]):
            same(lambda: x.take(key), str(key))  # noqa: B023
            same(lambda: xl.take(x, key), str(key))  # noqa: B023


@together("dtype", ["float64", "bool", "complex64", "float16", "bfloat16"])
@together("part", [np.s_[:], np.s_[::2, 1], np.s_[1:, 2:], np.s_[..., None], (1, 1)])
def test_numpy_gets_the_same_memory(dtype: str, part: Any) -> None:
    """As machine code fills a buffer with it from the second time on, where NumPy has a name."""
    a = xl.asarray(V, dtype=dtype)[part]

    def work() -> Any:
        found = np.asarray(a)
        views = [memoryview(x) for x in (a, np.asarray(a)) if hasattr(a, "__array_struct__")]
        told = {(m.format, m.tobytes(), m.shape, m.strides, m.readonly) for m in views}
        return found.tobytes(), found.strides, found.dtype, found.flags.writeable, [*told]

    same(work)
    kept, other = xl.zeros(100), xl.zeros((2, 50))
    seen = [np.asarray(x) for x in (kept, other) for _ in range(2)]
    kept.assign(xl.ones(1000))  # elsewhere
    other[...] = 1.0
    assert [x.sum() for x in seen] == [0.0, 0.0, 100.0, 100.0]
    del kept, other
    assert [x.sum() for x in seen] == [0.0, 0.0, 100.0, 100.0]
