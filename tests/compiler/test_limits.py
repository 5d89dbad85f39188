"""Long, wide, deep and concurrent: nothing recurses, explodes, or depends on a threshold."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite.compiler import steps
from xarraylite.runtime import run as running
from xarraylite.runtime.evaluate import clear_programs
from xarraylite.testing import assert_same_bits
from xarraylite.testing.counters import count_allocations

# --- size of expressions -------------------------------------------------------------------------


def test_two_hundred_operands() -> None:
    operands = [xl.full(3, float(k)) for k in range(200)]
    total = operands[0]
    for operand in operands[1:]:
        total = total + operand
    assert total.numpy().tolist() == [19_900.0] * 3


def test_a_balanced_tree_of_operands() -> None:
    level: list[Any] = [xl.full(3, float(k)) for k in range(256)]
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
    assert level[0].numpy().tolist() == [32_640.0] * 3


def test_a_pyramid_of_neighbours() -> None:
    """As a tree the last element has 2**20 leaves."""
    values = np.arange(100.0)
    e = xl.asarray(values)
    for _ in range(20):
        e, values = e[1:] - e[:-1] + 1, values[1:] - values[:-1] + 1
    assert_same_bits(e, values)


def test_sixty_four_dimensions() -> None:
    a = np.arange(6.0).reshape((1,) * 30 + (2,) + (1,) * 32 + (3,))
    assert_same_bits(xl.asarray(a).T * 2, a.T * 2)


def test_many_dimensions_that_do_not_merge() -> None:
    a = np.arange(2.0**12).reshape((2,) * 12)
    axes = tuple(range(0, 12, 2))
    assert_same_bits(xl.asarray(a).T * 2 + xl.asarray(a), a.T * 2 + a)
    assert_same_bits(xl.sum(xl.asarray(a).T - 1, axis=axes), (a.T - 1).sum(axis=axes))


@pytest.mark.usefixtures("compiled")
def test_what_is_the_same_for_all_rows_is_computed_once() -> None:
    values = np.random.default_rng(4).random((300, 500))
    a, row = xl.asarray(values), xl.asarray(values[0])
    few = a[:10] / xl.sqrt(row)
    by_rows = a / xl.sqrt(xl.sum(a, axis=1, keepdims=True))  # the same along each row
    for e, temporaries in ((a / xl.sqrt(row), 1), (few, 0), (by_rows, 1)):
        with count_allocations() as count:
            xl.eval(e)
        assert count.temporaries == temporaries
    wanted = values / np.sqrt(values[0])
    assert_same_bits(a / xl.sqrt(row), wanted)
    assert_same_bits(xl.max(a / xl.sqrt(row), axis=1), wanted.max(axis=1))
    assert_same_bits((a / xl.sqrt(row))[:, ::-2], wanted[:, ::-2])


# --- thresholds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", ["SHARED_FROM", "GRAIN", "STREAM_BYTES", "CHUNK"])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_on_either_side_of_a_threshold(
    threshold: str, off: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same dtype, same bits, whatever a size switches on."""
    module = steps if hasattr(steps, threshold) else running
    monkeypatch.setattr(module, threshold, 1 << 12)
    clear_programs()
    scale = {"STREAM_BYTES": 4, "CHUNK": 1}.get(threshold, 3)
    for n in ((1 << 12) // scale + off, (2 << 12) // scale + off):
        a = (np.arange(n) * 7 % 31 - 9).astype(np.float32)
        e = xl.asarray(a) * 2 + 1
        assert_same_bits(e, a * np.float32(2) + np.float32(1))
        assert_same_bits(xl.sum(e), (a * np.float32(2) + np.float32(1)).sum())
    clear_programs()


# --- concurrent callers --------------------------------------------------------------------------


def test_many_threads_evaluate_one_kind() -> None:
    """The first call, which plans and compiles, included; operands and results do not mix."""
    barrier = threading.Barrier(16, timeout=60)
    wrong: list[Any] = []

    def caller(number: int) -> None:
        a = xl.full((50, 60 + number), float(number))
        barrier.wait()
        for k in range(30):
            e = xl.sum(a * 3 - k, axis=1) + 0.25
            if not (e.numpy() == (number * 3 - k) * (60 + number) + 0.25).all():
                wrong.append((number, k))

    run_all([threading.Thread(target=caller, args=(k,)) for k in range(16)])
    assert wrong == []


def test_large_evaluations_from_several_threads() -> None:
    """One of them has the pool; the others work alone instead of waiting."""
    a = xl.asarray(np.arange(1_500_000.0))
    results: list[float] = []

    def caller(number: int) -> None:
        for _ in range(5):
            results.append(float(xl.max(a * number + 1)) - number * 1_499_999.0)

    with xl.config(threads=3):
        run_all([threading.Thread(target=caller, args=(k,)) for k in range(1, 6)])
    assert results == [1.0] * 25


# --- failures ------------------------------------------------------------------------------------


def test_a_failing_assignment_changes_nothing_but_its_destination() -> None:
    @xl.vectorize
    def careful(x: float) -> float:
        if x > 4:
            raise ValueError("large")
        return x * 2

    a, c = xl.asarray(np.arange(6.0)), xl.zeros(8)
    with pytest.raises(ValueError, match="large"):
        c[1:7] = careful(a)
    assert a.numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert (float(c[0]), float(c[7])) == (0.0, 0.0)
    c[1:7] = careful(a - 1)
    assert c.numpy().tolist() == [0.0, -2.0, 0.0, 2.0, 4.0, 6.0, 8.0, 0.0]


def test_a_result_beyond_the_limit_is_refused_before_anything_is_allocated() -> None:
    wide = xl.broadcast_to(xl.ones(1), (1 << 40,))
    with (
        xl.config(max_result_bytes=1 << 30),
        pytest.raises(xl.SizeError, match="needs 8796093022208"),
    ):
        xl.eval(wide + 1)
    assert float(xl.sum(wide[:100])) == 100.0
