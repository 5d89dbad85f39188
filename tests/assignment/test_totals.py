"""Totals of much memory: a history of them keeps values, not what they are of."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import assert_same_bits, count_allocations

pytestmark = pytest.mark.usefixtures("machine_code")

SIZE = 1 << 17


@pytest.mark.parametrize(
    "fold",
    [
        lambda x: x.sum(),
        lambda x: x.mean(),
        lambda x: (x * x).max() + 1,
        lambda x: x.std(),
    ],
)
def test_a_history_keeps_few_of_its_operands(fold: Callable[[Any], Any]) -> None:
    history, expected, snapshots = [], [], []
    for k in range(24):
        values = np.arange(SIZE, dtype=np.float64) % (k + 2)
        x = xl.asarray(values.copy())
        history.append(fold(x))
        snapshots.append(weakref.ref(x.node.snapshot))
        expected.append(fold(values))
        del x
    gc.collect()
    assert sum(snapshot() is not None for snapshot in snapshots) <= 9
    assert [total.shape for total in history] == [()] * 24
    np.testing.assert_allclose([float(total) for total in history], expected, rtol=1e-14)


def test_what_is_overwritten_is_folded_before_and_not_copied() -> None:
    x, y = xl.zeros(SIZE), np.zeros(SIZE)
    history, expected = [], []
    with count_allocations() as count:
        for _ in range(6):
            for values in (x, y):
                values += 1.0
            history.append(xl.sum(x))
            expected.append(y.sum())
            x[0] = y[0] = 0.0
    assert count.snapshots == 0
    assert [float(total) for total in history] == expected


def test_totals_stay_values() -> None:
    x = xl.asarray(np.arange(float(SIZE)))
    totals = [xl.sum(x * k) for k in range(16)]
    same = totals[0]
    totals[0] += 1
    assert float(same) == 0
    assert float(totals[0]) == 1
    assert_same_bits(totals[3] * 2, np.sum(np.arange(float(SIZE)) * 3) * 2)


def test_late_operands_are_read_late() -> None:
    x = xl.ones(SIZE)
    total = xl.late(xl.sum(x))
    others = [xl.sum(x * k) for k in range(16)]
    x[...] = 2.0
    assert float(total) == 2 * SIZE
    assert float(others[1]) == SIZE


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("make", [xl.asarray, xl.XTensor])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool"])
def test_totals_of_one_memory_are_computed_together(make: Callable[[Any], Any], dtype: str) -> None:
    values = (np.arange(4 * SIZE) % 1001).astype(dtype)
    x = make(values)
    for size in [4 * SIZE] * 4 + [3 * SIZE]:  # the first ones are not yet
        part, own = x[:size], values[:size]
        low, high = xl.minmax(part)
        others = [xl.max(x[1:]), xl.sum(part)]
        got = [xl.eval(high), xl.eval(low), *map(xl.eval, others)]
        want = [own.max(), own.min(), values[1:].max(), own.sum()]
        for one, other in zip(got, want, strict=True):
            assert_same_bits(one, other)
            assert type(one) is type(xl.eval(make(values[:2])[0] + make(values[:2]).max()))
        got[0][...] = 0
        assert_same_bits(xl.eval(high), own.max())


@pytest.mark.usefixtures("compiled")
def test_what_was_computed_with_another_total_keeps_its_meaning() -> None:
    values = np.arange(4.0 * SIZE)
    for missing in (False, True, False):
        x = xl.asarray(values, copy=True)
        if missing:
            x[7] = np.nan
        low, high, late = xl.min(x), xl.max(x), xl.late(xl.max(x))
        first = float(low)
        again = xl.late(high)
        x[-1] = 1e9
        high += 1
        assert_same_bits(first, np.nan if missing else 0.0)
        assert_same_bits(xl.eval(high), np.nan if missing else 4.0 * SIZE)
        x[7] = 2e9
        assert (float(late), float(again)) == (2e9, 2e9)


@pytest.mark.usefixtures("compiled")
def test_folds_of_one_memory_read_it_once() -> None:
    x = xl.asarray(np.arange(4.0 * SIZE))
    for _ in range(4):
        parts = [x[::2], x[: 2 * SIZE], x.view("int64")[: 2 * SIZE], x[::2][::-1]]
        totals = [f(part) for part in parts for f in (xl.max, xl.min)]
        want = [f(np.asarray(part)) for part in parts for f in (np.max, np.min)]
        assert [total.item() for total in totals] == [value.item() for value in want]
    plan = str(xl.explain(xl.max(x) - xl.min(x) + xl.sum(x[::2])))
    assert plan.count("parts at a time") == 1
    for _ in range(4):
        assert float(xl.max(x) - xl.min(x)) == 4 * SIZE - 1
        assert float((x[1:].max() - x.sum() / x[1:].min()) * 0 + x.max()) == 4 * SIZE - 1
