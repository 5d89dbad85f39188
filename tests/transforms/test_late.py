"""`late`: operands that are read anew at every evaluation."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.ir.walk import postorder
from xarraylite.testing import assert_same_bits, count_allocations


def test_every_kind_of_node() -> None:
    a = xl.asarray(np.arange(6.0).reshape(2, 3))
    e = xl.late(
        xl.concat([xl.reshape((a + 1).T, (2, 3)), a[[1, 0]], xl.sum(a, axis=0, keepdims=True)])
    )
    for factor in (1.0, 2.0, -1.0):
        a[...] = np.arange(6.0).reshape(2, 3) * factor
        v = np.asarray(a)
        expected = np.concatenate(
            [np.reshape((v + 1).T, (2, 3)), v[[1, 0]], v.sum(axis=0, keepdims=True)]
        )
        assert_same_bits(e, expected)


def test_a_container_itself() -> None:
    a = xl.asarray([1, 2])
    view = xl.late(a)
    assert type(view) is xl.XExpression
    a[0] = 9
    assert xl.eval(view).tolist() == [9, 2]
    assert xl.eval(view + a).tolist() == [18, 4]


def test_index_arrays_stay() -> None:
    a, rows = xl.asarray([10, 20, 30]), xl.asarray([0, 2])
    e = xl.late(a[rows])
    rows[...] = 1
    a[2] = 99
    assert xl.eval(e).tolist() == [10, 99]


def test_late_and_early_operands_together() -> None:
    a, b = xl.asarray([1, 2]), xl.asarray([10, 20])
    e = xl.late(a) + b
    a += 1
    b += 1
    assert xl.eval(e).tolist() == [12, 23]


def test_iterating_an_update() -> None:
    """The closure rule of xtensor: built once, run many times, no snapshot."""
    u = xl.asarray(np.linspace(0, 1, 9))
    inner = u[1:-1]
    step = xl.late(inner + 0.25 * (u[2:] - 2 * inner + u[:-2]))
    expected = np.linspace(0, 1, 9)
    with count_allocations() as count:
        for _ in range(5):
            u[1:-1] = step
            expected[1:-1] = expected[1:-1] + 0.25 * (
                expected[2:] - 2 * expected[1:-1] + expected[:-2]
            )
    assert count.snapshots == 0
    assert_same_bits(u, expected)


def test_numpy_operands_are_late_where_their_memory_is_shared() -> None:
    memory = np.zeros(2)
    e, f = xl.late(xl.add(xl.adapt(memory), 1)), xl.late(xl.add(memory, 1))
    memory += 5
    assert xl.eval(e).tolist() == [6, 6]
    assert xl.eval(f).tolist() == [1, 1]


def test_memory_that_was_given_up() -> None:
    a = xl.asarray([1, 2])
    for move in (lambda: a.resize_(50), lambda: a.assign(xl.zeros(90))):
        e = xl.late(a * 2)
        xl.eval(e)
        move()
        with pytest.raises(xl.StaleOperandError, match="gave up"):
            xl.eval(e)
    fresh = xl.late(a * 2)
    assert fresh.shape == (90,)


def test_scalars_and_numbers() -> None:
    assert float(xl.late(3.5)) == 3.5
    with pytest.raises(xl.DTypeError, match="late: got str"):
        xl.late("a")


def test_what_a_loop_computed_early_is_told_once() -> None:
    """Each step reads the one before twice, which must not double what is late."""
    b = np.linspace(0.0, 1.0, 6)
    x, y, n = xl.asarray(b) + 0.5, xl.asarray(b + 0.1), b + 0.5
    for _ in range(24):
        x, n = (
            xl.clip(x * y * 0.5 + x - 0.25, -4, 4),
            np.clip(n * (b + 0.1) * 0.5 + n - 0.25, -4, 4),
        )
        later = xl.late(x * 1)
        assert len(postorder(later.node)) < 1000
        np.testing.assert_allclose(np.asarray(later), n)
