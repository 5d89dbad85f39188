"""What is evaluated for the first times is interpreted, with the bits of what is compiled later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.properties import trees
from tests.properties.test_expressions import problems
from xarraylite.codegen.kernel import kernels
from xarraylite.runtime import tiers
from xarraylite.runtime.tiers import FIRST
from xarraylite.testing import assert_same_bits
from xarraylite.testing import strategies as xst

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(autouse=True)
def two_tiers() -> Iterator[None]:
    """Nothing was evaluated before, and ``engine="auto"``."""
    xl.cache_clear()
    with xl.config(engine="auto"):
        yield


def made() -> int:
    """Count the kernels that were compiled or loaded."""
    return kernels.compiled + kernels.loaded


X = np.array([1.5, -2.0, np.nan, -0.0, np.inf, 1e-300, 3.0])
Y = np.array([0.1, 7.0, 1.0, 0.0, -np.inf, 1e-300, -3.0])

M = X[:6].reshape(2, 3)

Write = Callable[[Any, Any, Any], Any]


@pytest.mark.parametrize(
    ("write", "other"),
    [
        (lambda xp, x, y: x + y * 2.0, 0),
        (lambda xp, x, y: xp.where(x < y, x, y / 3), 0),
        (lambda xp, x, y: xp.concat([x[::-1], y]) - 1, 0),
        (lambda xp, x, y: xp.sum(x > y), 0),
        (lambda xp, x, y: xp.sin(x * 2) + y, 1),
        (lambda xp, x, y: xp.exp(xp.sin(x)) * xp.sin(y), 2),
        (lambda xp, x, y: xp.sum((x - y) ** 2) / 7, 1),
        (lambda xp, x, y: xp.max(xp.abs(x - y)), 1),
    ],
    ids=["sum", "where", "concat", "count", "sin", "exp of sin", "fold", "maximum"],
)
def test_the_first_evaluations_need_no_kernel_of_the_expression(write: Write, other: int) -> None:
    """But those of single operations (``other``) that NumPy rounds differently."""
    a, b = xl.asarray(X), xl.asarray(Y)
    with xl.config(engine="compiled"):
        expected = np.asarray(xl.eval(write(xl, a, b))).copy()
    xl.cache_clear()
    before, seen = made(), []
    for _ in range(FIRST + 3):
        assert_same_bits(xl.eval(write(xl, a, b)), expected)
        seen.append(made() - before)
    assert seen[0] == other
    assert seen[-1] > other, "what is used often is compiled"
    assert seen.index(seen[-1]) >= FIRST // 2


@pytest.mark.parametrize(
    "write",
    [
        lambda xp, x, y: x + y * 2.0,
        lambda xp, x, y: xp.sin(x[::2] * 2) + y[1:5],
        lambda xp, x, y: xp.sum((x - y) ** 2) / 7,
        lambda xp, x, y: xp.sum((xp.asarray(M) > 0) * 3),
    ],
)
def test_what_has_a_kind_is_interpreted_without_nodes(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = xl.asarray(X), xl.asarray(Y)
    late = xl.late(a) + 1.0
    expected = np.asarray(xl.eval(write(xl, a, b))).copy()
    with monkeypatch.context() as patch:
        patch.setattr(tiers, "compute", None)
        for _ in range(FIRST // 2):
            assert_same_bits(xl.eval(write(xl, a, b)), expected)
    a[...] = 2.0
    assert xl.eval(late).tolist() == [3.0] * 7


@given(problems(inexact=True))
@settings(max_examples=25)
def test_any_expression_has_the_same_bits(problem: tuple[trees.Tree, list[xst.Sample]]) -> None:
    tree, operands = problem
    own = [operand.operand for operand in operands]
    first = np.array(xl.eval(tree.xl(own)))
    with xl.config(engine="compiled"):
        assert_same_bits(xl.eval(tree.xl(own)), first)
    assert all(operand.unchanged() for operand in operands)


@pytest.mark.parametrize(
    "statement",
    ["a[1:] = a[:-1] + b[1:]", "a[...] = a[::-1] * 2", "a += b", "a[::2] -= a[1::2]", "a *= 0.5"],
)
def test_statements(statement: str) -> None:
    """Operands that lie in the destination are read before it is written."""
    states = []
    for engine in ("auto", "compiled"):
        with xl.config(engine=engine):
            a, b = xl.arange(8.0), xl.arange(8.0) * 0.3
            for _ in range(FIRST + 3):
                exec(statement, {"a": a, "b": b})
                states.append(a.copy().numpy())
    n = len(states) // 2
    for interpreted, compiled in zip(states[:n], states[n:], strict=True):
        assert_same_bits(interpreted, compiled)


def test_old_values_stay() -> None:
    a = xl.arange(4.0)
    e = a + 1
    a[...] = a * 10
    assert e.tolist() == [1, 2, 3, 4]
    assert a.tolist() == [0, 10, 20, 30]


def test_folds_of_floats_that_are_stretched_are_compiled_at_once() -> None:
    """Their order, which decides the bits, is that of the kernel."""
    before = made()
    xl.eval(xl.sum(xl.ones((4, 5)) * xl.arange(5.0) * 0.5))
    assert made() == before + 1
    xl.eval(xl.sum(xl.ones((4, 5)) * xl.arange(5.0) * 0.25))
    assert made() == before + 1


@given(st.data())
@settings(max_examples=25)
def test_folds_have_the_same_bits(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.sampled_from((1, 2, 3, 17, 40)), min_size=1, max_size=3))
    axis = data.draw(st.sampled_from((None, *range(len(shape)))))
    fold = data.draw(st.sampled_from((xl.sum, xl.prod, xl.mean, xl.std, xl.max)))
    x = np.random.default_rng(len(shape)).standard_normal(shape)
    a = xl.asarray(data.draw(st.sampled_from((x, x[::-1], x.T.copy().T))))
    b = xl.asarray(data.draw(st.sampled_from((x * 3, x[..., :1] + 1))))
    write = data.draw(st.sampled_from((lambda: a * b + 1, lambda: a - b * 0.1)))
    first = np.array(xl.eval(fold(write(), axis=axis) * 2))
    with xl.config(engine="compiled"):
        assert_same_bits(xl.eval(fold(write(), axis=axis) * 2), first)


@pytest.mark.parametrize("name", ["sum", "max", "std"])
def test_results_lie_alike_in_both_tiers(name: str) -> None:
    """Also where an extent of 1 leaves the strides open."""
    a = xl.asarray(np.random.default_rng(1).random((4, 5, 6)), layout="column_major")
    for axes in [0, 1, 2, (0, 1), (0, 2), (1, 2)]:
        seen = {
            xl.eval(getattr(xl, name)(a, axis=axes, keepdims=True)).strides
            for _ in range(2 * FIRST)
        }
        with xl.config(engine="reference"):
            seen.add(xl.eval(getattr(xl, name)(a, axis=axes, keepdims=True)).strides)
        assert len(seen) == 1, (axes, seen)


def test_large_work_is_compiled_at_once() -> None:
    a, before = xl.zeros(1 << 19), made()
    xl.eval(a + a * 3.0)
    assert made() > before
