"""Assignments over memory that they read, run again and again.

Copies are compared: memory that NumPy has seen may be written by others, and is not written so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.assignment import writes

Statement = Callable[[Any, Any, Any], None]


def _shifted(a: Any, b: Any, np_: Any) -> None:
    a[1:] = a[:-1]


def _back(a: Any, b: Any, np_: Any) -> None:
    a[:-1] = a[1:]


def _turned(a: Any, b: Any, np_: Any) -> None:
    a[...] = a[::-1]


def _smoothed(a: Any, b: Any, np_: Any) -> None:
    a[1:-1] = 0.25 * (a[:-2] + 2 * a[1:-1] + a[2:])


def _with_another(a: Any, b: Any, np_: Any) -> None:
    a[1:] = a[:-1] * 0.5 + b[1:]


def _added(a: Any, b: Any, np_: Any) -> None:
    a[1:] += a[:-1]


def _centred(a: Any, b: Any, np_: Any) -> None:
    a[...] = a - a.max()


def _held(a: Any, b: Any, np_: Any) -> None:
    e = xl.eval(a[1:] + b[1:]) if np_ is xl else a[1:] + b[1:]
    f = a[1:] + b[1:]
    a[:-1] = f
    a[1:] = e - f[::-1] * 0


@pytest.mark.parametrize(
    "statement",
    [_shifted, _back, _turned, _smoothed, _with_another, _added, _centred, _held],
    ids=lambda f: f.__name__.strip("_"),
)
@pytest.mark.parametrize("shape", [(9,), (7, 5), (400, 300)], ids=str)
@pytest.mark.parametrize("machine", [False, True], ids=["python", "natives"])
def test_later_rounds_give_what_numpy_gives(
    statement: Statement, shape: tuple[int, ...], machine: bool, request: pytest.FixtureRequest
) -> None:
    if machine:
        request.getfixturevalue("installed")
    first = np.random.default_rng(3).integers(0, 99, shape).astype(np.float64)
    a, b = xl.asarray(first), xl.asarray(first[::-1].copy())
    mine, other = first.copy(), first[::-1].copy()
    for _ in range(5):
        statement(a, b, xl)
        statement(mine, other, np)
        np.testing.assert_array_equal(a.copy().numpy(), mine)
    np.testing.assert_array_equal(b.copy().numpy(), other)


@pytest.mark.usefixtures("installed")
def test_distances_are_told_apart() -> None:
    a, mine = xl.asarray(np.arange(12.0)), np.arange(12.0)
    for by in (1, 1, 1, 1, 2, 1, 3, 3, 3, 2, 1, 4, 4, 5, 5, 6, 6, 1, 2, 3, 4, 5, 6) * 2:
        a[by : by + 6] = a[:6] + a[by : by + 6]
        mine[by : by + 6] = mine[:6] + mine[by : by + 6]
        np.testing.assert_array_equal(a.copy().numpy(), mine)


@pytest.mark.usefixtures("installed")
def test_two_arrays_of_one_kind_are_told_from_one() -> None:
    a, b = xl.asarray(np.arange(9.0)), xl.asarray(np.arange(9.0) * 2)
    mine, other = np.arange(9.0), np.arange(9.0) * 2
    for source, same in [(a, mine)] * 4 + [(b, other), (a, mine), (b, other)]:
        a[1:] = source[:-1] - a[1:]
        mine[1:] = same[:-1] - mine[1:]
        np.testing.assert_array_equal(a.copy().numpy(), mine)


@pytest.mark.usefixtures("compiled", "installed")
def test_plans_for_many_distances_are_bounded() -> None:
    a, mine = xl.asarray(np.arange(40.0)), np.arange(40.0)
    for by in [k // 3 for k in range(3, 60)] * 2:
        a[by : by + 20] = -a[:20]
        mine[by : by + 20] = -mine[:20]
        np.testing.assert_array_equal(a.copy().numpy(), mine)
    plan, length = (-a[:20])._kind.writes[a._kind, (20,)], 0
    while plan is not None:
        plan, length = plan.next, length + 1
    assert 1 < length <= 8


@pytest.mark.usefixtures("compiled", "installed")
def test_a_plan_is_made_for_the_second_round_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    original = writes.replay.rewrite_of

    def counted(*args: Any) -> Any:
        made.append(args)
        return original(*args)

    monkeypatch.setattr(writes.replay, "rewrite_of", counted)
    a = xl.asarray(np.arange(37.0))
    for _ in range(5):
        a[1:-1] = a[2:] - 3 * a[:-2]
    assert [shape for _, shape, *_ in made] == [(35,)]


@pytest.mark.usefixtures("installed")
def test_readers_keep_what_they_were_written_over() -> None:
    a = xl.asarray(np.arange(10.0))
    for _ in range(4):
        before = np.array(a.tolist())
        e = a[1:] * 2
        a[1:] = a[:-1]
        np.testing.assert_array_equal(xl.eval(e).numpy(), before[1:] * 2)
        a[1:] += before[1:]


def test_an_extent_of_one_is_no_truth() -> None:
    """A plan for shape (1,) is another thing than a program for operands of which (True,)."""
    a = xl.asarray(np.arange(4.0))
    part = a[1:2]
    kind = (-part)._kind
    kind.writes.clear()
    kind.keep((part._kind, part.shape), "no program")
    part[...] = -part
    assert a.tolist() == [0.0, -1.0, 2.0, 3.0]


@pytest.mark.parametrize("part", [np.s_[1:], np.s_[::2], np.s_[::-1]])
def test_what_numpy_computes_goes_where_it_is_written_though_it_is_read_there(part: Any) -> None:
    values = np.tile([1, 2, -1, 3], 300)
    a, n = xl.asarray(values), values[part].size
    for read in (np.s_[:n], np.s_[len(values) - n :]):
        for _ in range(3):
            a[...] = values
            expected = values.copy()
            a[part] = xl.reciprocal(a[read])
            expected[part] = np.reciprocal(values[read])
            assert a.tolist() == expected.tolist()
