"""Lazy results on which more and more is built are computed before they get too long."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.arrays.ownership import _BRIEF, _FEW, _LONG, _OFTEN
from xarraylite.arrays.recomputed import Recomputed
from xarraylite.ir.walk import postorder


def momentum(steps: int, size: int) -> tuple[xl.XExpression, xl.XExpression]:
    w, v = xl.ones(size), xl.zeros(size)
    for _ in range(steps):
        v = 0.9 * v - 0.01 * (2 * w)
        w = w + v
    return w, v


@pytest.mark.parametrize(("size", "most"), [(4, _FEW), (20_000, _LONG)])
def test_what_a_loop_builds_stays_short(size: int, most: int) -> None:
    w, v = momentum(70, size)
    assert len(postorder(w.node)) <= 2 * most + 3
    x, y = 1.0, 0.0
    for _ in range(70):
        y = 0.9 * y - 0.01 * (2 * x)
        x = x + y
    np.testing.assert_allclose(np.asarray(w), np.full(size, x), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(v), np.full(size, y), rtol=1e-12)


def test_also_what_is_no_kind() -> None:
    u = xl.asarray([0.0, 1.0, 0.0, 0.0])
    for _ in range(50):
        u = u + 0.1 * (xl.roll(u, 1) - u)
    assert len(postorder(u.node)) <= 2 * _FEW + 12


def test_one_expression_is_not_divided() -> None:
    a = xl.ones(4)
    e = a
    for _ in range(_FEW // 2 - 1):
        e = e * a
    assert len(postorder(e.node)) == _FEW // 2 - 1 + 1


def test_what_reads_late_stays_late() -> None:
    a = xl.zeros(2)
    e = xl.late(a + 0)
    for _ in range(3 * _LONG):
        e = e + 1
    a[...] = 1
    assert xl.eval(e).tolist() == [3 * _LONG + 1] * 2


def test_what_is_stored_is_not_read(tmp_path: Path) -> None:
    xl.save(tmp_path / "a.npy", xl.ones(3))
    e = xl.open(tmp_path / "a.npy")
    length = 0
    for _ in range(3 * _LONG):
        e, length = e + 1, length + 1
    assert len(postorder(e.node)) >= length
    assert xl.eval(e).tolist() == [1 + length] * 3


def test_a_traced_function_is_not_divided() -> None:
    def steps(x: xl.XExpression) -> xl.XExpression:
        for _ in range(3 * _LONG):
            x = x * 0.5 + 1
        return x

    fast = xl.jit(steps)
    for value in (1.0, 3.0):
        np.testing.assert_allclose(np.asarray(fast(xl.full(2, value))), 2.0, rtol=1e-9)


def test_what_was_written_keeps_its_meaning() -> None:
    a = xl.ones(3)
    e = a + 0
    for _ in range(_LONG + 5):
        e = e + a
    a[...] = 100
    later = e + a
    assert later.tolist() == [_LONG + 6 + 100] * 3


def test_functions_shorten_their_operands_too() -> None:
    a = xl.ones(4)
    e = a
    for _ in range(_LONG - 2):
        e = e + a
    for _ in range(3):
        long = e * 2 + a + a + a
        assert xl.clip(long, 0.0, 3.0).tolist() == [3.0] * 4


def _built(a: xl.XArray) -> xl.XExpression:
    e = a * 2
    for _ in range(_BRIEF):
        e = e * 2 - a
    return e


def test_in_a_loop_small_results_are_computed_before_they_are_viewed() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    expected = np.asarray(_built(a))
    lengths = []
    for _ in range(_OFTEN + 2):
        e = _built(a)
        turned = e.T
        assert type(turned) is xl.XExpression
        lengths.append(len(postorder(turned.node)))
        own = xl.eval(turned)
        assert type(own) is xl.XArray
        own[...] = 0.0
        assert np.array_equal(np.asarray(e), expected), "memory of its own"
        line = e.reshape(4)
        turned[0, 1] = 7.0
        assert float(e[1, 0]) == float(line[2]) == 7.0, "one memory, as NumPy's"
        large = _built(xl.ones((1024, 200)))
        assert len(postorder(large.T.node)) > _BRIEF
    assert lengths[0] > _BRIEF
    assert lengths[-1] == 1


def test_parts_of_small_results_are_parts_of_their_values_in_a_loop() -> None:
    """Shortest paths: each step reads a row and a column of what the step before has made."""
    there = np.random.default_rng(1).random((9, 9))
    ours = xl.asarray(there.copy())
    for _ in range(3 * _OFTEN):
        for k in range(9):
            there = np.minimum(there, there[:, k : k + 1] + there[k : k + 1, :])
            row = ours[k : k + 1, :]
            ours = xl.minimum(ours, ours[:, k : k + 1] + row)
            assert type(row) is xl.XExpression or k == 0
        np.testing.assert_array_equal(np.asarray(ours), there)
    assert row._kind.op is None, "a view of values"
    row[0, 0] = 9.0
    assert float(row[0, 0]) == 9.0


def test_rows_made_of_the_row_before() -> None:
    """Pascal's triangle: what a join is made of is itself made of a join."""
    for _ in range(2):
        there, ours = np.ones(1, int), xl.ones(1, int)
        for _ in range(30):
            there = np.concatenate([[1], there[1:] + there[:-1], [1]])
            ours = xl.concatenate([[1], ours[1:] + ours[:-1], [1]])
            assert len(postorder(ours.node)) < 12
        assert np.asarray(ours).tolist() == there.tolist()


def test_products_are_updated_in_place_by_values() -> None:
    there, ours = np.asarray([[2.0, 1.0], [1.0, 3.0]]), xl.asarray([[2.0, 1.0], [1.0, 3.0]])
    v, w = np.ones(2), xl.ones(2)
    for _ in range(_OFTEN):
        v, w = there @ v, ours @ w
        kept = w * 1
        old = v.copy()
        v /= np.linalg.norm(v)
        w /= xl.linalg.norm(w)
        np.testing.assert_array_equal(np.asarray(w), v)
        np.testing.assert_array_equal(np.asarray(kept), old)


def test_late_parts_of_small_results_are_late_in_a_loop_too() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(3 * _OFTEN):
        row, turned = (a + 1)[1:], (a + 1).T
        late = xl.late(xl.concat([(a + 1)[:1], (a + 1).T, row]))
        before = np.concatenate([np.asarray(a)[:1], np.asarray(a).T, np.asarray(a)[1:]]) + 1
        a *= -1.5
        after = np.concatenate([np.asarray(a)[:1], np.asarray(a).T, np.asarray(a)[1:]]) + 1
        np.testing.assert_array_equal(np.asarray(late), after)
        np.testing.assert_array_equal(np.asarray(turned), before[1:3])
        a[...] = [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("extents", ["the same", "ever new"])
def test_no_loop_keeps_all_its_past(extents: str) -> None:
    u = xl.asarray(np.linspace(0.0, 1.0, 900).reshape(90, 10))
    before, sizes = sum(type(x) is Recomputed for x in gc.get_objects()), []
    for k in range(160):
        step = u[:, 1:2] * 0.5 + u[1:2, :]
        u = xl.minimum(u, step) if extents == "the same" else u - u[: 1 + k % 80].mean(axis=0)
        assert np.isfinite(float(u[0, 0]))
        if k % 40 == 39:
            gc.collect()
            sizes.append(sum(type(x) is Recomputed for x in gc.get_objects()))
    assert max(sizes) - before < 100


@pytest.mark.parametrize("view", ["real", "imag", "T"])
def test_what_a_view_is_asked_of_may_have_got_long(view: str) -> None:
    """A result that is computed for its view has the memory that the view writes."""

    def written(xp: Any) -> Any:
        a = xp.asarray(np.asarray([[1 + 1j, 3, 3]]))
        e = a * 2 + 1
        for _ in range(2):
            e = e - a * e
        e = a - e * a
        e = xp.concatenate([e, e[:1]])
        part = getattr(e, view)
        part[0] = -3.0
        return np.asarray(e)

    np.testing.assert_array_equal(written(xl), written(np))
