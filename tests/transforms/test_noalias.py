"""`noalias`: no analysis on the caller's word, and what happens when it is broken."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations


def fresh() -> tuple[Any, Any]:
    return xl.asarray(np.arange(12.0).reshape(3, 4)), xl.asarray(np.arange(12.0).reshape(3, 4) * 10)


def test_every_form() -> None:
    a, b = fresh()
    assert xl.noalias(a).assign(b + 1) is a
    assert a.tolist() == (np.arange(12.0).reshape(3, 4) * 10 + 1).tolist()
    xl.noalias(a)[...] = b
    assert_same_bits(a, b)
    xl.noalias(a)[1:] += b[:-1]
    expected = np.asarray(b).copy()
    expected[1:] += np.asarray(b)[:-1]
    assert_same_bits(a, expected)
    target = xl.noalias(a)
    target -= b
    target *= 2
    assert_same_bits(a, (expected - np.asarray(b)) * 2)
    xl.noalias(a)[0] = 5
    xl.noalias(a)[:, 1][1:] = b[1:, 1]
    assert np.asarray(a)[0].tolist() == [5, 5, 5, 5]
    assert np.asarray(a)[1:, 1].tolist() == [50, 90]


@together(
    ("symbol", "method"),
    [
        ("-", "__isub__"),
        ("*", "__imul__"),
        ("//", "__ifloordiv__"),
        ("%", "__imod__"),
        ("**", "__ipow__"),
        ("&", "__iand__"),
        ("|", "__ior__"),
        ("^", "__ixor__"),
        ("<<", "__ilshift__"),
        (">>", "__irshift__"),
    ],
)
def test_in_place_operators(symbol: str, method: str) -> None:
    values, other = np.arange(1, 9), np.arange(8) % 3 + 1
    a, target = xl.asarray(values), None
    target = getattr(xl.noalias(a), method)(xl.asarray(other))
    assert repr(target) == "noalias(XArray int64[8])"
    assert_same_bits(a, getattr(values, method)(other))


def test_true_division() -> None:
    a = xl.asarray([1.0, 2.0])
    target = xl.noalias(a)
    target /= 4
    assert a.tolist() == [0.25, 0.5]


def test_the_container_rule() -> None:
    a, b = fresh()
    xl.noalias(b).assign(xl.ones((2, 2)))
    assert b.tolist() == [[1, 1], [1, 1]]
    xl.noalias(a).assign(3.0)
    assert a.shape == ()


def test_nothing_is_allocated() -> None:
    a, b = fresh()
    with count_allocations() as count:
        xl.noalias(a)[...] = a + b
        xl.noalias(a)[1:] = b[:-1]
        xl.noalias(a)[...] = a * 2
    assert count.temporaries == 0


def test_pending_expressions_keep_their_values_all_the_same() -> None:
    a, b = fresh()
    e, f = a + 1, a * 2
    xl.noalias(a)[...] = b
    xl.noalias(a)[...] = e
    xl.noalias(a).assign(f)
    target = xl.noalias(a)
    target += e
    for _ in range(2):
        assert_same_bits(e, np.arange(12.0).reshape(3, 4) + 1)
        assert_same_bits(f, np.arange(12.0).reshape(3, 4) * 2)


@pytest.mark.parametrize("shared", [True, False])
def test_what_is_assigned_is_used_up(shared: bool) -> None:
    """Also when the kernel is known, and what was not assigned keeps its value."""
    for _ in range(4):
        a, _ = fresh()
        if shared:
            np.asarray(a)
        e = a + 1
        xl.noalias(a)[...] = -e
        assert_same_bits(a, -(np.arange(12.0).reshape(3, 4) + 1))
        assert_same_bits(e, np.arange(12.0).reshape(3, 4) + 1)
        e = a + 1
        xl.noalias(a)[...] = e
        assert_same_bits(a, 0 - np.arange(12.0).reshape(3, 4))
        with pytest.raises(xl.StaleOperandError, match=r"float64\[3, 4\] was overwritten"):
            xl.eval(e)
        e = a + 1
        target = xl.noalias(a)
        target += e
        with pytest.raises(xl.StaleOperandError, match=r"float64\[3, 4\] was overwritten"):
            xl.eval(e)


@pytest.mark.parametrize("wrong", [np.zeros(3), [1, 2], 3, "a"], ids=repr)
def test_only_containers(wrong: Any) -> None:
    with pytest.raises(xl.NotWritableError, match=f"noalias.*{type(wrong).__name__}"):
        xl.noalias(wrong)
    with pytest.raises(xl.NotWritableError, match="XExpression"):
        xl.noalias(xl.ones(2) + 1)


SLICES = [
    slice(a, None if b < 0 else b, s)
    for a, b, s in (
        (0, 5, 1),
        (1, 6, 1),
        (5, 10, 1),
        (0, 10, 2),
        (1, 10, 2),
        (4, -1, -1),
        (9, 4, -1),
        (9, -1, -2),
        (3, 8, 1),
    )
]


def test_lies_never_leave_the_destination() -> None:
    """Values are undefined, but only inside, and nothing crashes."""
    start = np.arange(10)
    for dst, src in itertools.product(SLICES, SLICES):
        a = xl.asarray(start)
        xl.noalias(a)[dst] = a[src] * 2 - a[src][::-1]
        outside = np.ones(10, np.bool_)
        outside[dst] = False
        assert np.asarray(a)[outside].tolist() == start[outside].tolist()
    for size in (3, 100, 1000):
        m = xl.asarray(np.random.default_rng(0).random((size, size)))
        for lie in (
            m + m.T,
            m[::-1] + m,
            m[[0] * size],
            xl.sum(m, axis=0),
            xl.concat([m[1:], m[:1]]),
        ):
            xl.noalias(m)[...] = lie
        xl.noalias(m).assign(xl.concat([m, m]))
        assert m.shape == (2 * size, size)


def is_lie(dst: slice, src: slice) -> bool:
    written, read = np.arange(10)[dst], np.arange(10)[src]
    return bool(set(written) & set(read)) and written.tolist() != read.tolist()


@pytest.mark.once
@pytest.mark.parametrize("form", ["=", "+="])
def test_checking_finds_every_lie(form: str) -> None:
    """Also for shapes that were assigned honestly before, whose plan is known."""
    with xl.config(check_noalias=True):
        for dst, src in itertools.product(SLICES, SLICES):
            a, other = xl.asarray(np.arange(10)), xl.asarray(np.arange(10) * 7)
            target = xl.noalias(a)
            expected = np.arange(10)
            if form == "=":
                target[dst] = other[src] + 1
                expected[dst] = np.arange(10)[src] * 7 + 1
            else:
                target[dst] += other[src]
                expected[dst] += np.arange(10)[src] * 7
            assert a.tolist() == expected.tolist()
            a[...] = np.arange(10)
            try:
                if form == "=":
                    target[dst] = a[src] + 1
                else:
                    target[dst] += a[src]
            except xl.NoAliasError as error:
                message = str(error)
                assert is_lie(dst, src)
                assert f"int64[{len(range(10)[src])}]" in message
                assert a.tolist() == list(range(10))
            else:
                assert not is_lie(dst, src), (dst, src)


def test_what_is_promised_is_not_looked_at() -> None:
    """Operands among the destination's elements: a launch, where the planner would be asked."""
    values = np.arange(40.0)
    a = xl.asarray(values, copy=True)
    for _ in range(3):
        xl.noalias(a)[:-1:2] = a[1::2] * 2 + a[1::2]
        values[:-1:2] = values[1::2] * 3
        np.testing.assert_array_equal(a, values)
        a[1::2] += 1
        values[1::2] += 1
    kept = a[:4] + 0
    xl.noalias(a)[:4] = a[4:8] - a[8:12]
    assert kept.tolist() == values[:4].tolist()
    held = a[1:5] * 1
    xl.noalias(a)[:4] = held
    with pytest.raises(xl.StaleOperandError):
        xl.eval(held)
    overlapping = xl.as_strided(a, (3, 6), (4, 1))
    xl.noalias(xl.as_strided(a, (3, 4), (4, 1)))[...] = xl.ones((3, 4)) * 2
    with pytest.raises(xl.OverlapError):
        xl.noalias(overlapping)[...] = xl.ones((3, 6)) * 2
    with pytest.raises(xl.ReadOnlyError):
        xl.noalias(xl.adapt(bytes(24), (3,), dtype="float64"))[...] = xl.ones(3) * 2


@pytest.mark.once
def test_checking_of_other_nodes() -> None:
    m = xl.asarray(np.arange(16.0).reshape(4, 4))
    other = xl.asarray(np.arange(16.0).reshape(4, 4))
    with xl.config(check_noalias=True):
        for honest in (
            other.T,
            xl.sum(other, axis=0),
            other[[1, 0, 2, 3]],
            m[[1, 0, 2, 3]],  # few elements, which are copied
            m * 2,
            m + other.T,
            m / xl.max(m),  # the maximum is known before anything is written
        ):
            xl.noalias(m)[...] = honest
        before = np.asarray(m).copy()
        for lie in (
            lambda: m.T,
            lambda: xl.concat([m[2:], m[:2]]),
            lambda: m - m[::-1] * other,
        ):
            with pytest.raises(xl.NoAliasError, match=r"noalias: operand float64\["):
                xl.noalias(m)[...] = lie()
        with pytest.raises(xl.NoAliasError, match=r"noalias: operand float64\["):
            xl.noalias(m)[0] = xl.sum(m, axis=0)
        assert_same_bits(m, before)
    xl.noalias(m)[...] = m.T  # unchecked again


@pytest.mark.once
def test_the_environment_switches_checking_on() -> None:
    code = (
        "import os; os.environ['XARRAYLITE_CHECK_NOALIAS'] = '1'\n"
        "import xarraylite as xl\n"
        "a = xl.arange(5)\n"
        "try:\n"
        "    xl.noalias(a)[1:] = a[:-1]\n"
        "except xl.NoAliasError as error:\n"
        "    print('caught', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("caught noalias")


@pytest.mark.usefixtures("compiled", "installed")
def test_a_promise_is_checked_where_one_value_is_stored() -> None:
    for _ in range(3):
        a = xl.ones(10)
        with xl.config(check_noalias=True), pytest.raises(xl.NoAliasError):
            xl.noalias(a)[0] = xl.sum(a)
        assert a.tolist() == [1.0] * 10
        xl.noalias(a)[0] = xl.sum(a)
        assert a[0] == 10.0
