"""Dot products of any length: the same sums of so many elements each, whatever the threads."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from threading import Thread
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.threads import run_all
from xarraylite.blas import calls
from xarraylite.blas.calls import DOT, multiply
from xarraylite.testing import assert_same_bits

RNG = np.random.default_rng(0)


@together("count", [DOT, DOT + 1, 2 * DOT, 5 * DOT + 77])
@together("dtype", ["float32", "float64"])
def test_long_dot_products(dtype: str, count: int) -> None:
    x, y = [RNG.standard_normal(count).astype(dtype) for _ in range(2)]
    a, b = xl.asarray(x), xl.asarray(y)
    exact = float(
        sum(Fraction(p) * Fraction(q) for p, q in zip(x.tolist(), y.tolist(), strict=True))
    )
    largest = math.fsum(abs(p * q) for p, q in zip(x.tolist(), y.tolist(), strict=True))
    found = [f(a, b) for f in (xl.dot, xl.inner, xl.vdot, xl.matmul, xl.vecdot)]
    found += [a @ b, xl.einsum("i,i->", a, b), xl.tensordot(a, b, 1)]
    for one in found:
        assert (one.shape, one.dtype) == ((), x.dtype)
        assert abs(float(one) - exact) <= 200 * np.finfo(dtype).eps * largest / 8
        assert float(one) == float(found[0])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_vectors_are_one_call(dtype: str) -> None:
    for count in (1, 2, 7, 1000, 4096, 4097, DOT, DOT + 1):
        x, y = [
            (RNG.standard_normal(count) + 1j * RNG.standard_normal(count)).astype(dtype)
            for _ in range(2)
        ]
        a, b = xl.asarray(x), xl.asarray(y)
        first, again = complex(a @ b), [complex(xl.dot(a, b)) for _ in range(3)]
        assert again == [first] * 3
        assert complex(a @ b) == first
        # Lazy ones, which no call of BLAS reads, and others of that length by what is known now.
        np.testing.assert_allclose(complex((a + 1) @ (b - 1)), (x + 1) @ (y - 1), 1e-3)
        np.testing.assert_allclose(complex(b[::-1] @ a), y[::-1] @ x, 1e-3)
        assert complex(a.copy() @ b.copy()) == first
        if 1 < count <= 4096:
            assert first == complex(x @ y) == complex((a[None, :] @ b[:, None])[0, 0])
        np.testing.assert_allclose(first, x @ y, 1e-4 if dtype == "complex64" else 1e-12)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("count", [0, 1, 7, 1003, DOT, 5 * DOT + 77])
def test_conjugated_dot_products(dtype: str, count: int) -> None:
    x, y = [
        (RNG.standard_normal(2 * count) + 1j * RNG.standard_normal(2 * count)).astype(dtype)
        for _ in range(2)
    ]
    for p, q in ((x[:count], y[:count]), (x[::2], y[::-2]), (x[:count], x[:count])):
        exact = np.sum(np.conj(p).astype("complex128") * q)
        size = np.sum(np.abs(p) * np.abs(q)) + 1e-300
        a, b = xl.asarray(p), xl.asarray(q)
        found = [xl.vdot(a, b), xl.vecdot(a, b), xl.linalg.vecdot(a, b), xl.vdot(a + 0, b)]
        with xl.config(threads=1):
            found.append(xl.vecdot(a, b, out=xl.zeros((), dtype=dtype)))
        for one in found:
            assert (one.shape, one.dtype) == ((), p.dtype)
            assert abs(complex(one) - exact) <= 20 * np.finfo(dtype).eps * size
        assert complex(found[0]) == complex(found[1]) == complex(found[-1])
    fixed = xl.XTensor(x[:count])
    assert isinstance(xl.vdot(fixed, fixed), xl.XTensor)


def test_stacked_and_strided_dot_products() -> None:
    x = RNG.standard_normal((3, 2, 2 * DOT + 5))
    y = RNG.standard_normal((3, 1, 2 * DOT + 5))
    out = np.empty((3, 2, 1, 1))
    multiply(x[..., None, :], y.repeat(2, 1)[..., None], out)
    np.testing.assert_allclose(out[..., 0, 0], (x * y).sum(-1), atol=1e-9)
    flat = x.reshape(-1)
    every = xl.asarray(flat)[::2] @ xl.asarray(flat)[::2]
    np.testing.assert_allclose(float(every), flat[::2] @ flat[::2])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("blocks", "times"), [(3, 300), (300, 3)])
def test_neither_threads_nor_repeats_change_a_bit(blocks: int, times: int, dtype: str) -> None:
    values = [RNG.standard_normal(2 * (blocks * DOT + 3)).view(dtype) for _ in range(2)]
    a, b = [xl.asarray(v[: blocks * DOT + 3]) for v in values]
    found = []
    for threads in (1, 2, 3):
        with xl.config(threads=threads):
            found += [np.asarray(a @ b) for _ in range(times)]  # the last ones by machine code
    for one in found:
        assert_same_bits(one, found[0])


_alone = calls._takes() < 2 or calls._Cap.parts != "dD"
_parts = pytest.mark.skipif(_alone, reason="BLAS has one thread, or makes other parts")


@_parts
@pytest.mark.parametrize(("dtype", "conjugate"), [("d", False), ("D", False), ("D", True)])
@pytest.mark.parametrize(
    ("count", "step"), [(10_001, 1), (123_457, 2), (50_000, -1), (1_100_003, 1)]
)
def test_one_thread_adds_up_what_all_of_blas_do(
    dtype: str, conjugate: bool, count: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = [RNG.standard_normal(4 * count).view(dtype)[::step][:count] for _ in range(2)]
    found = [np.empty((), dtype) for _ in range(6)]

    def made(out: Any) -> None:
        calls.long_dot(x, y, out, conjugate)

    with xl.config(threads=calls._cores()):
        made(found[0])
        monkeypatch.setattr(calls._Cap, "late", 1)
        made(found[1])  # by one thread
        assert calls._Cap.late == (step < 0)
        with calls.pieces_on_one_thread():  # somebody else's, for this thread's own have no parts
            run_all([Thread(target=made, args=(found[2],))])
        monkeypatch.setattr(calls, "_LATE", -1.0)
        monkeypatch.setattr(calls, "_SLOW", math.inf)
        made(found[3])
        assert step < 0 or calls._Cap.late
    with xl.config(threads=1):
        made(found[4])
    with calls._controller().limit(limits=1):  # as others do
        made(found[5])
    for one in found:
        assert_same_bits(one, found[0])
    np.testing.assert_allclose(found[0], np.vdot(x, y) if conjugate else x @ y)


@_parts
def test_callers_at_a_time_have_the_same_bits_and_leave_no_cap() -> None:
    x = RNG.standard_normal(50_001)
    found: list[Any] = []

    def made(threads: int) -> None:
        with xl.config(threads=threads):
            for _ in range(50):
                out = np.empty(())
                calls.long_dot(x, x, out)
                found.append(out)

    run_all([Thread(target=made, args=(threads,)) for threads in (1, calls._cores(), 1)])
    assert len(found) == 150
    for one in found:
        assert_same_bits(one, found[0])
    assert calls._most() == calls._takes()


@pytest.mark.parametrize(("dtype", "own"), [("f8", "c16"), ("c16", "f8"), ("f8", "f4")])
def test_threads_change_no_bit_of_what_blas_does_not_read(dtype: str, own: str) -> None:
    """Of records NumPy copies the numbers, or adds up their products itself."""
    x = np.zeros(30_001, [("a", dtype), ("b", own)])["a"]
    x[...] = RNG.standard_normal(x.shape)
    found = [np.empty((), dtype) for _ in range(2)]
    for threads, out in zip((1, calls._cores()), found, strict=True):
        with xl.config(threads=threads):
            calls.long_dot(x, x, out)
    assert_same_bits(*found)


@pytest.mark.parametrize("other", ["capped at first", "other parts"])
def test_blas_as_it_is_elsewhere(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told, found = calls._takes(), [np.empty(()) for _ in range(3)]
    x = RNG.standard_normal(50_001)
    with contextlib.ExitStack() as capped:
        if other == "other parts":
            assert not calls._makes_parts("d", told + 1)
            monkeypatch.setattr(calls._Cap, "parts", "")
        else:
            monkeypatch.setattr(calls._Cap, "told", 0)
            capped.enter_context(calls._controller().limit(limits=1))
        calls.long_dot(x, x, found[0])
    for threads, out in zip((1, calls._cores()), found[1:], strict=True):
        with xl.config(threads=threads):
            calls.long_dot(x, x, out)
        assert_same_bits(out, found[0])


def test_infinities_do_not_warn() -> None:
    a = xl.asarray(np.r_[np.inf, np.zeros(DOT), -np.inf, 0.0])
    assert math.isnan(float(a @ xl.ones(DOT + 3)))


def test_lazy_vectors_are_folded_in_one_kernel() -> None:
    a = xl.asarray(RNG.standard_normal(3 * DOT))
    np.testing.assert_allclose(float((a - 1) @ (a + 1)), float(xl.sum((a - 1) * (a + 1))))
    assert "BLAS" not in str(xl.explain((a - 1) @ (a + 1)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_dot_products_that_come_again_have_the_same_bits(dtype: str) -> None:
    values = [RNG.standard_normal(5 * DOT + 9).astype(dtype) for _ in range(2)]
    a, b = map(xl.asarray, values)
    first = xl.eval(a @ b)
    for x, y in ((a, b), (b, a), (a.copy(), b.copy())):
        again = xl.eval(x @ y)
        assert (again.shape, again.dtype) == ((), first.dtype)
        assert again.item() == first.item()
    for step in (2, -1):  # as they would be multiplied if nothing was remembered
        x, y = a[::step], b[::step]
        assert float(x @ y) == float(x @ y)
        np.testing.assert_allclose(float(x @ y), values[0][::step] @ values[1][::step], 1e-3)
    with pytest.raises(xl.ShapeError):
        a @ b[1:]
    a[0] += 1
    assert (a @ b).item() != first.item()


@pytest.mark.skipif(calls._cores() < 2 or calls._takes() < 2, reason="BLAS has one thread")
def test_the_cap_of_another_call_is_not_what_blas_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    monkeypatch.setattr(calls, "_multiply_capped", lambda *given: used.append(given[-1]))
    x = np.ones((128, 128))
    with xl.config(threads=1), calls.pieces_on_one_thread():  # BLAS takes one thread for now
        run_all([Thread(target=calls.multiply, args=(x, x, np.empty_like(x)))])
    assert used == [1]
