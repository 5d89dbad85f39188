"""`explain`: the plan of an evaluation, without evaluating it."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import assert_same_bits, count_allocations


@pytest.fixture(autouse=True)
def _compiled() -> None:
    xl.config(engine="auto")


def test_an_expression_into_a_new_container() -> None:
    a, b = xl.zeros((100, 50)), xl.zeros(50)
    plan = xl.explain(a * 2 + b)
    assert (plan.kernels, plan.temporaries, plan.result_bytes) == (1, (), 40_000)
    assert plan.bytes_moved == 2 * 40_000 + 400
    text = str(plan)
    assert "float64[100, 50] into a new container" in text
    assert "1 kernel(s), 80,400 bytes moved, 40,000 bytes for the result" in text
    assert repr(plan) == text


def test_an_assignment() -> None:
    a, b = xl.zeros((100, 50)), xl.zeros((100, 50))
    plan = xl.explain(a[::2], b[1::2] + a[::2])
    assert (plan.kernels, plan.temporaries, plan.result_bytes) == (1, (), 0)
    assert "XView float64[50, 50]" in plan.title
    assert xl.explain(a, 1.5).kernels == 1
    assert xl.explain(a, [1.0] * 50).result_bytes == 0


def test_temporaries_have_reasons() -> None:
    m = xl.zeros((40, 40))
    plan = xl.explain(m, m + m.T)
    assert [t.nbytes for t in plan.temporaries] == [m.nbytes]
    assert "written before" in plan.temporaries[0].reason
    assert "temporary of 12,800 bytes" in str(plan)
    reduced = xl.explain(m / xl.sum(m, axis=1, keepdims=True))
    assert [t.nbytes for t in reduced.temporaries] == [40 * 8]
    assert "evaluated once" in reduced.temporaries[0].reason


def test_noalias_needs_no_temporary() -> None:
    m = xl.zeros((40, 40))
    assert xl.explain(xl.noalias(m), m + m.T).temporaries == ()
    assert "noalias(XArray" in xl.explain(xl.noalias(m), m + 1).title


def test_what_is_said_is_what_happens() -> None:
    a, m = xl.asarray(np.arange(50.0)), xl.asarray(np.random.default_rng(0).random((30, 30)))
    cases = [
        (a, lambda: a[::-1] * 2),
        (a[1:], lambda: a[:-1]),
        (a, lambda: a + a[::-1] * 2 - a[:1]),
        (m, lambda: xl.sum(m.T, axis=1) + m),
        (m, lambda: xl.concat([m[10:], m[:10]])),
        (m[0], lambda: xl.max(m, axis=0) - xl.min(m, axis=0)),
        (m, lambda: xl.reshape(xl.reshape(m.T, (900,))[::-1], (30, 30))),
    ]
    for target, expression in cases:
        plan = xl.explain(target, expression())
        with count_allocations() as count:
            target[...] = expression()
        assert count.temporaries == len(plan.temporaries), plan
        assert count.bytes == sum(t.nbytes for t in plan.temporaries), plan


def test_nothing_is_computed_or_changed() -> None:
    values = np.arange(9.0).reshape(3, 3)
    m = xl.asarray(values)
    e = m + m.T
    with count_allocations() as count:
        xl.explain(m, e)
    assert count.bytes == 0
    xl.explain(e)
    assert_same_bits(m, values)
    assert_same_bits(e, values + values.T)


def test_sources_hold_our_tokens_only() -> None:
    a = xl.zeros(5)
    for source in xl.explain(xl.sqrt(a) + xl.sum(a)).sources:
        assert source.startswith("def kernel(block):\n")


def test_sizes_that_could_never_be_allocated() -> None:
    huge = xl.broadcast_to(xl.ones(1), (1 << 40,)) * 2
    assert xl.explain(huge).result_bytes == 8 << 40


def test_errors() -> None:
    a = xl.zeros(3)
    with pytest.raises(xl.BroadcastError, match=r"float64\[4\] cannot be broadcast into"):
        xl.explain(a, xl.zeros(4) + 1)
    with pytest.raises(TypeError, match="destination must be a container"):
        xl.explain(np.zeros(3), a)
    with pytest.raises(xl.DTypeError, match="explain: got str"):
        xl.explain("a")


def test_the_reference_engine_says_what_it_does() -> None:
    with xl.config(engine="reference"):
        plan = xl.explain(xl.zeros(3) + 1)
    assert (plan.kernels, plan.temporaries) == (0, ())
    assert "NumPy evaluates every operation" in str(plan)
