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
