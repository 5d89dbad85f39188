"""Expressions whose extents are new each time: computed in parts, planned only when they repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.runtime import evaluate
from xarraylite.testing import count_allocations

Program = Callable[[Any, Any, Any, int], Any]


def _softmax(xp: Any, m: Any, v: Any, k: int) -> Any:
    e = xp.exp(v[:k] - xp.max(v[:k]))
    return e / xp.sum(e)


#: Results of ever new extents.
RESULTS: dict[str, Program] = {
    "centred": lambda xp, m, v, k: v[:k] - xp.mean(v[:k]),
    "softmax": _softmax,
    "nested folds": lambda xp, m, v, k: xp.sum((v[:k] - xp.mean(v[:k])) ** 2) / v[:k],
    "a column and a row": lambda xp, m, v, k: v[:k, None] * v[1 : k + 1],
    "outer": lambda xp, m, v, k: xp.outer(v[:k], v[2:k]),
    "a column of a matrix": lambda xp, m, v, k: m[:k, :k] - m[:k, k : k + 1],
    "a row of a matrix": lambda xp, m, v, k: m[k : k + 1, :k] + m[:k, :k] * 2,
    "converted": lambda xp, m, v, k: m[:k, :3] * xp.arange(k)[:, None],
    "columns of columns": lambda xp, m, v, k: xp.asfortranarray(m[:k, :4]) + v[:k, None],
    "three dimensions": lambda xp, m, v, k: m[:k, None, :3] - m[None, :k, :3],
}


def _pivot(xp: Any, m: Any, v: Any, k: int) -> None:
    m[k:, k:] -= m[k:, k - 1, None] * m[k - 1, k:] / m[k - 1, k - 1]


def _column(xp: Any, m: Any, v: Any, k: int) -> None:
    m[k:, k] = m[k:, k - 1] * 2


def _centre(xp: Any, m: Any, v: Any, k: int) -> None:
    v[:k] = v[:k] - xp.max(v[:k])


def _reversed(xp: Any, m: Any, v: Any, k: int) -> None:
    v[:k] = v[:k][::-1] / 2


def _shift(xp: Any, m: Any, v: Any, k: int) -> None:
    v[1 : k + 1] = v[:k] + 1


def _running(xp: Any, m: Any, v: Any, k: int) -> None:
    v[1 : k + 1] += v[:k]


def _turned(xp: Any, m: Any, v: Any, k: int) -> None:
    m[:k, :k] = m[:k, :k].T - m[:k, :k]


def _diagonal(xp: Any, m: Any, v: Any, k: int) -> None:
    m[:k, :k] -= m[:k, :1] * m[0, :k] / 9


WRITES = {
    f.__name__.strip("_"): f
    for f in (_pivot, _column, _centre, _reversed, _shift, _running, _turned, _diagonal)
}


def _columns(xp: Any, m: Any, v: Any, k: int) -> Any:
    return m[:k, :3].T * 2 - v[:k]


def _operands() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    return rng.random((14, 14)) + 1, rng.random(14) + 1


@together("name", RESULTS)
def test_results_of_new_extents(name: str) -> None:
    m, v = _operands()
    ours = xl.asarray(m.copy()), xl.asarray(v.copy())
    for _ in range(3):  # the third round has met all extents twice
        for k in range(3, 14):
            expected = RESULTS[name](np, m, v, k)
            found = xl.eval(RESULTS[name](xl, *ours, k))
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)
            if expected.ndim > 1 and min(expected.shape) > 1:
                assert found.numpy().strides == expected.strides


@together("name", WRITES)
def test_writes_of_new_extents(name: str) -> None:
    m, v = _operands()
    ours = xl.asarray(m.copy()), xl.asarray(v.copy())
    for _ in range(3):
        for k in range(1, 13):
            WRITES[name](np, m, v, k)
            WRITES[name](xl, *ours, k)
    np.testing.assert_allclose(np.array(ours[0].tolist()), m, rtol=1e-9)
    np.testing.assert_allclose(np.array(ours[1].tolist()), v, rtol=1e-9)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", ["centred", "softmax", "nested folds"])
def test_parts_have_the_bits_of_a_plan(name: str) -> None:
    m, v = _operands()
    for k in range(3, 14):
        # The same expression: computed in parts, planned, and planned for the second time.
        rounds = [
            xl.eval(RESULTS[name](xl, xl.asarray(m), xl.asarray(v), k)).tolist() for _ in range(3)
        ]
        assert rounds[0] == rounds[1] == rounds[2]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("few", [5, 6])
def test_one_number_is_stretched_to_the_extents_of_each_part(few: int) -> None:
    number, zero = xl.asarray([1.5 + 2j]), xl.asarray([0j, 0j])
    parts = [xl.sin(xl.broadcast_to(number, (n,))).sum() for n in (few, 200)]
    expected = np.sin(1.5 + 2j) * (few + 200)
    np.testing.assert_allclose(xl.eval(parts[0] + parts[1] + zero).numpy(), expected, rtol=1e-12)


@pytest.mark.usefixtures("compiled")
def test_nothing_is_planned_for_new_extents(monkeypatch: pytest.MonkeyPatch) -> None:
    m, v = _operands()
    ours = xl.asarray(m.copy()), xl.asarray(v.copy())
    known = RESULTS["softmax"], RESULTS["a column and a row"]
    programs = [*known, _columns, _pivot, _column, _centre]
    for program in programs:
        for k in (3, 4):
            made = program(xl, *ours, k)
            if made is not None:
                xl.eval(made)
    planned: list[object] = []
    plan = evaluate.planning.plan
    monkeypatch.setattr(evaluate.planning, "plan", lambda *a: planned.append(a) or plan(*a))
    for program in programs:
        for k in range(5, 12):
            made = program(xl, *ours, k)
            if made is not None:
                xl.eval(made)
    assert not planned


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("write", [_shift, _running])
def test_an_order_of_loops_is_not_planned_for_ever_new_extents(
    write: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = np.arange(140.0)
    ours = xl.asarray(expected.copy())
    planned: list[object] = []
    plan = evaluate.planning.plan
    for k in range(30):
        if k == 10:
            monkeypatch.setattr(evaluate.planning, "plan", lambda *a: planned.append(a) or plan(*a))
        write(np, None, expected, k + 105)  # extents of no other test
        write(xl, None, ours, k + 105)
    assert not planned
    assert ours.tolist() == expected.tolist()


@pytest.mark.usefixtures("compiled")
def test_what_needs_no_copy_is_not_copied() -> None:
    m, _ = _operands()
    a = xl.asarray(m.copy())
    for k in (2, 3):
        _pivot(xl, a, None, k)
    for k in range(4, 13):  # column and row lie among what is written, and are no part of it
        column, row = a[k:, k - 1, None], a[k - 1, k:]
        with count_allocations() as counters:
            a[k:, k:] -= column * row
        assert (counters.allocations, counters.snapshots) == (0, 0)


@given(st.data())
def test_any_views_of_one_matrix(data: st.DataObject) -> None:
    """Stretched views of a matrix are written to views of it, of sizes that are drawn."""
    n = 6
    m = np.arange(1.0, n * n + 1).reshape(n, n) % 7
    a = xl.asarray(m.copy())

    def part(least: int = 1) -> slice:
        start = data.draw(st.integers(0, n - least))
        return slice(start, data.draw(st.integers(start + least, n)))

    for _ in range(4):
        rows, columns = part(), part()
        height, width = rows.stop - rows.start, columns.stop - columns.start
        top, left = data.draw(st.integers(0, n - height)), data.draw(st.integers(0, n - width))
        column, row = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
        keys = (
            (slice(top, top + height), slice(column, column + 1)),
            (slice(row, row + 1), slice(left, left + width)),
        )
        assigned = data.draw(st.booleans())
        for x in (m, a):
            if assigned:
                x[rows, columns] = x[keys[0]] - x[keys[1]] * 0.5
            else:
                x[rows, columns] += x[keys[0]] * x[keys[1]] % 3
    np.testing.assert_allclose(np.array(a.tolist()), m, rtol=1e-12)


@pytest.mark.usefixtures("compiled")
def test_strides_of_one_shape_alone_keep_no_program() -> None:
    """Else a process that meets ever new strides would grow."""
    for n in range(5, 9):
        z = xl.asarray(np.arange(3.0 * n).reshape(3, n))
        turned = z[::-1] - z * 2  # strides of this n
        assert xl.eval(turned).tolist() == (np.asarray(z)[::-1] - np.asarray(z) * 2).tolist()
        assert not turned._kind.writes
