"""What users see of the kernel caches, and what they can clear."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xarraylite as xl
from xarraylite._config import settings
from xarraylite.runtime.evaluate import CAPACITY, SIGNATURE_NODES, _programs

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    xl.eval(xl.ones(3) + 1)  # what launches kernels is compiled once for all of them
    settings.cache, settings.cache_dir = True, str(tmp_path / "kernels")
    xl.cache_clear()
    return tmp_path / "kernels"


def evaluate() -> list[float]:
    a = xl.asarray([1.0, 2.0])
    return [*xl.eval(a * 2 - a).numpy().tolist(), float(xl.sum(a))]


def test_counts(place: Path) -> None:
    before = xl.cache_info()
    assert (before.kernels, before.disk.entries) == (0, 0)
    evaluate()
    after = xl.cache_info()
    assert after.kernels == after.compiled - before.compiled == 2
    assert (after.disk.entries, after.disk.directory) == (2, str(place))
    evaluate()
    assert xl.cache_info().kernels == 2
    assert xl.cache_info().compiled == after.compiled


def test_clearing_memory_leaves_the_disk(place: Path) -> None:
    expected = evaluate()
    before = xl.cache_info()
    xl.cache_clear()
    assert xl.cache_info().kernels == len(_programs) == 0
    assert xl.cache_info().disk.entries == 2
    assert evaluate() == expected
    after = xl.cache_info()
    assert (after.compiled - before.compiled, after.loaded - before.loaded) == (0, 2)


def test_clearing_the_disk_too(place: Path) -> None:
    expected = evaluate()
    before = xl.cache_info()
    xl.cache_clear(disk=True)
    assert list(place.iterdir()) == []
    assert evaluate() == expected
    assert xl.cache_info().compiled - before.compiled == 2


@pytest.mark.usefixtures("whole")
def test_plans_are_kept_by_kind_and_bounded(place: Path) -> None:
    evaluate()
    plans = len(_programs)
    evaluate()
    assert len(_programs) == plans <= CAPACITY
    long = xl.zeros(2)
    for _ in range(SIGNATURE_NODES):
        long = -long
    assert np.array_equal(xl.eval(long).numpy(), [0.0, 0.0])
    assert len(_programs) == plans


def test_an_unusable_directory_costs_nothing_but_time(place: Path) -> None:
    place.write_text("not a directory")
    with pytest.warns(xl.CacheWarning):
        assert evaluate() == [1.0, 2.0, 3.0]
    assert "not a directory" in xl.cache_info().disk.problem
