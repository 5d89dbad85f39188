"""Positions of extremes, which are one kernel where elements lie side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits

rng = np.random.default_rng(5)


def check(a: np.ndarray[Any, Any], axis: int | None = None, **given: Any) -> None:
    for name in ("argmax", "argmin"):
        ours = getattr(xl, name)(given.get("ours", xl.asarray(a)), axis=axis)
        theirs = getattr(np, name)(a, axis=axis)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(np.asarray(ours), theirs)


def kernels(e: Any) -> int:
    return str(xl.explain(e)).count("over axes")


@together(
    ("dtype", "n"),
    [
        (dtype, n)
        for k, dtype in enumerate(["f4", "f8", "i4", "i8", "u4", "u8", "f2", "i1", "u2", "?"])
        for n in [(1, 63, 511, 4097), (2, 65, 2049, 16385)][k % 2]
    ],
)
def test_ties_at_the_first_place(dtype: str, n: int) -> None:
    a = rng.integers(0, 5, n).astype(dtype)
    check(a)
    check(np.full(n, a[0]))
    check(np.sort(a))
    check(np.sort(a)[::-1])


@together("n", [3, 70, 4100])
@together("dtype", ["f4", "f8"])
def test_special_values(n: int, dtype: str) -> None:
    a = rng.normal(size=n).astype(dtype)
    for value in (np.nan, np.inf, -np.inf):
        for place in {0, n // 2, n - 1}:
            b = a.copy()
            b[place] = value
            check(b)
            b[n // 3] = np.nan
            check(b)
    zeros = np.zeros(n, dtype)
    zeros[::2] = -0.0
    check(zeros)
    check(np.full(n, np.nan, dtype))
    check(np.full(n, -np.inf, dtype))


@together("limit", ["min", "max"])
@together("dtype", ["i1", "u1", "i2", "u2", "i4", "i8", "u4", "u8"])
def test_least_and_greatest_integers(dtype: str, limit: str) -> None:
    a = np.full(3000, getattr(np.iinfo(dtype), limit), dtype)
    check(a)
    a[2500] = 7
    check(a)
    check(a[::-1])
    many = np.full(40000, 7, dtype)
    many[20000::7] = a[0]
    check(many)


def test_the_first_truth_is_one_kernel_whose_values_are_bytes() -> None:
    a = np.zeros((3, 40000), bool)
    a[0, 39999] = a[1, 16384] = True
    a[2, :-1] = True
    check(a)
    check(a, 1)
    assert kernels(xl.argmax(xl.asarray(a), axis=1)) == 1


def test_rows_views_and_orders() -> None:
    a = rng.integers(0, 9, (40, 300)).astype(float)
    for axis in (None, 0, 1, -1):
        check(a, axis)
        check(a.T, axis, ours=xl.asarray(a).T)
        check(a[::-1, 3:], axis, ours=xl.asarray(a)[::-1, 3:])
        check(a[:, ::-1], axis, ours=xl.asarray(a)[:, ::-1])
        check(a[::2, ::3], axis, ours=xl.asarray(a)[::2, ::3])
        check(a * 2, axis, ours=xl.asarray(a) * 2)
    b = a.reshape(4, 10, 300)
    for axis in (0, 1, 2, None):
        check(b, axis)
    kept = xl.argmax(xl.asarray(a), axis=1, keepdims=True)
    np.testing.assert_array_equal(np.asarray(kept), np.argmax(a, axis=1, keepdims=True))


def test_in_expressions_and_into_memory() -> None:
    a = rng.normal(size=(30, 500))
    x = xl.asarray(a)
    found = xl.argmax(x, axis=1) * 2 + xl.argmin(x, axis=1)
    np.testing.assert_array_equal(np.asarray(found), a.argmax(1) * 2 + a.argmin(1))
    both = xl.max(x, axis=1) + xl.argmax(x, axis=1)
    np.testing.assert_array_equal(np.asarray(both), a.max(1) + a.argmax(1))
    to = xl.zeros(30, dtype="int32")
    to[...] = xl.argmax(x, axis=1)
    assert to.tolist() == a.argmax(1).tolist()
    own = xl.asarray(np.arange(200) % 7)
    own[0] = xl.argmax(own)
    assert own[0] == 6


@pytest.mark.usefixtures("compiled")
def test_one_kernel_reads_the_memory_once() -> None:
    a = xl.asarray(rng.normal(size=(20, 400)))
    assert kernels(xl.argmax(a)) == kernels(xl.argmin(a, axis=1)) == 1
    assert kernels(xl.argmax(a, axis=0)) == 2
    assert kernels(xl.argmax(a + 1)) == 2


def test_what_looks_alike_is_not_taken_for_it() -> None:
    a = rng.integers(0, 5, (6, 70)).astype(float)
    x = xl.asarray(a)
    count = xl.asarray(np.arange(70))
    top = xl.max(x, axis=1, keepdims=True)
    last = xl.max(xl.where(x == top, count, -1), axis=1)
    np.testing.assert_array_equal(
        np.asarray(last), np.where(a == a.max(1, keepdims=True), np.arange(70), -1).max(1)
    )
    other = xl.min(xl.where(x == xl.max(x, axis=0, keepdims=True), count, 70), axis=1)
    np.testing.assert_array_equal(
        np.asarray(other), np.where(a == a.max(0, keepdims=True), np.arange(70), 70).min(1)
    )


@together("axis", [0, 1])
def test_operands_that_are_one_are_folded_in_the_order_of_several(axis: int) -> None:
    rng = np.random.default_rng(64)
    b, row = rng.standard_normal((17, 19)), rng.standard_normal((1, 17))

    def folded(b: Any, other: Any, c: Any, again: Any) -> Any:
        return xl.eval(xl.sum((c * b.T) * (other.T * again)[::-1], axis=axis))

    xl.cache_clear()
    one, c = xl.asarray(b), xl.broadcast_to(xl.asarray(row), (19, 17))
    wanted = folded(one, xl.asarray(b), c, xl.broadcast_to(xl.asarray(row), (19, 17)))
    for _ in range(4):  # it is planned, learned and run again
        assert_same_bits(folded(one, one, c, c), wanted)
