"""What the collector's callbacks read and write in the middle of a write."""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl


@pytest.fixture
def often() -> Iterator[Callable[[Callable[[], object], int], None]]:
    """Return what has the collector's next run call something, after so many allocations."""
    waiting: list[Callable[[], object]] = []

    def call(phase: str, info: dict[str, int]) -> None:
        if waiting and phase == "start":
            waiting.pop()()

    def arm(what: Callable[[], object], threshold: int) -> None:
        waiting[:] = [what]
        gc.set_threshold(threshold)

    before = gc.get_threshold()
    gc.enable()  # whatever went before
    gc.callbacks.append(call)
    yield arm
    gc.callbacks.remove(call)
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__setitem__(..., x * 2),
        lambda x: operator.iadd(x, x * 2),
        lambda x: xl.noalias(x).__setitem__(..., x * 3),
    ],
)
def test_the_collector_may_read_in_the_middle_of_a_write(write: Any, often: Any) -> None:
    made: list[tuple[Any, Any]] = []
    x = xl.asarray(np.ones(6))
    for _ in range(40):
        write(x)  # its kernels are known from here on
    for k in range(200):
        x = xl.asarray(np.ones(6))
        often(lambda x=x: made.append((x.copy(), x + 0)), 1 + k % 12)
        write(x)
    assert made
    for want, pending in made:
        assert np.asarray(pending).tolist() == want.tolist()


def test_the_collector_may_read_where_what_is_written_is_computed_apart(often: Any) -> None:
    made: list[tuple[Any, Any]] = []
    for k in range(1000):
        n = 6 + k % 90  # extents that no plan is kept for
        x = xl.asarray(np.arange(n + 8.0))
        often(lambda x=x: made.append((x.copy(), x + 0)), 1 + k % 25)
        x[1:n] = x[: n - 1] * 2 + x[1:n]
    assert made
    for want, pending in made:
        assert np.asarray(pending).tolist() == want.tolist()


def test_the_collector_may_write_in_the_middle_of_a_write(often: Any) -> None:
    x = xl.asarray(np.ones(6))
    for k in range(200):
        pending, kept = x * 2 + 1, np.asarray(x) * 2 + 1
        value = x + 1
        often(lambda: x.__setitem__(1, 5.0), 1 + k % 15)
        x.assign(value)
        gc.collect(0)  # now at the latest, not between the two readings of the next round
        assert np.asarray(pending).tolist() == kept.tolist()
