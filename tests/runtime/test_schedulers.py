"""Inside the threads and processes of other schedulers: how many threads are at work.

What is counted are threads that take pieces of kernels, not time.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite._config import available_cores, default_threads, settings
from xarraylite.runtime import run
from xarraylite.runtime.threads import Pool

pytestmark = pytest.mark.once

VALUES = np.random.default_rng(0).random((64, 40_000))


class Watched:
    """A pool that notes who takes pieces while so many callers are in the middle of a job.

    Each waits for the others in its first piece.  What is noted ends with the first job.
    """

    def __init__(self, callers: int) -> None:
        self.pool = Pool()
        self.all_in = threading.Event()
        self.barrier = threading.Barrier(callers, self.all_in.set, timeout=120)
        self.callers: set[int] = set()
        self.taken: Counter[int] = Counter()

    def run(self, pieces: Iterable[Any], make: Callable[[], Callable[[Any], None]], n: int) -> None:
        parts, caller = list(pieces), threading.get_ident()
        self.callers.add(caller)
        first = iter([None])

        def watched() -> Callable[[Any], None]:
            work, me = make(), threading.get_ident()

            def one(part: Any) -> None:
                if me == caller:
                    for _ in first:
                        self.barrier.wait()
                if self.all_in.is_set():
                    self.taken[me] += 1
                if part == parts[-1]:
                    self.all_in.clear()
                time.sleep(5e-4)
                work(part)

            return one

        self.pool.run(parts, watched, n)

    @property
    def helpers(self) -> int:
        """Threads that took pieces besides the callers, not counting one that they had begun."""
        return sum([n > 1 for thread, n in self.taken.items() if thread not in self.callers])


def shade() -> Any:
    """Evaluate something that takes long enough to be shared."""
    return xl.eval(xl.sqrt(xl.asarray(VALUES)) * 2.0 + 1.0).numpy()


@pytest.mark.parametrize(("callers", "threads"), [(1, 2), (2, 2), (2, 3), (3, 2), (2, 4)])
def test_callers_and_helpers_are_no_more_than_threads(callers: int, threads: int) -> None:
    watched, done = Watched(callers), Counter[int]()

    def call() -> None:
        watched.run(range(200), lambda: lambda k: done.update([k]), threads)

    run_all([threading.Thread(target=call) for _ in range(callers)])
    assert len(watched.callers) == callers
    assert watched.helpers == max(0, threads - callers)
    assert sorted(done) == list(range(200))


def test_a_job_that_goes_on_is_helped_when_another_caller_has_ended() -> None:
    pool, caller = Pool(), threading.get_ident()
    inside, ended, helped = threading.Event(), threading.Event(), threading.Event()

    def other(k: int) -> None:
        inside.wait(120)

    def work(k: int) -> None:
        inside.set()
        ended.wait(120)
        if threading.get_ident() == caller:
            assert helped.wait(120)
        else:
            helped.set()

    def call() -> None:
        pool.run(range(3), lambda: other, 2)
        ended.set()

    thread = threading.Thread(target=call)
    thread.start()
    while not pool._crew.at_work:
        time.sleep(1e-3)
    pool.run(range(20), lambda: work, 2)
    thread.join()
    assert helped.is_set()


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Two callers, two threads."""
    found = Watched(2)
    monkeypatch.setattr(run, "pool", found)
    xl.config(threads=2)
    return found


def _alone(watched: Watched, results: Iterable[Any]) -> None:
    """Check that two callers worked, and nobody else."""
    for values in results:
        np.testing.assert_array_equal(values, np.sqrt(VALUES) * 2.0 + 1.0)
    assert len(watched.callers) == 2
    assert watched.helpers == 0
    assert min(watched.taken[thread] for thread in watched.callers) > 1


@pytest.mark.usefixtures("compiled")
def test_threads_of_joblib(watched: Watched) -> None:
    joblib = pytest.importorskip("joblib")
    run_both = joblib.Parallel(n_jobs=2, backend="threading")
    _alone(watched, run_both([joblib.delayed(shade)() for _ in range(2)]))


@pytest.mark.usefixtures("compiled")
def test_threads_of_dask(watched: Watched) -> None:
    dask = pytest.importorskip("dask")
    both = [dask.delayed(shade, pure=False)() for _ in range(2)]
    _alone(watched, dask.compute(*both, scheduler="threads", num_workers=2))


@pytest.mark.usefixtures("compiled")
def test_threads_of_a_distributed_worker(watched: Watched) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert list(client.nthreads().values()) == [2]
        both = [client.submit(shade, pure=False) for _ in range(2)]
        _alone(watched, client.gather(both))


def _in_a_process() -> tuple[int, int, bytes]:
    """Return how many threads are set, how many callers and helpers worked, and the result."""
    found = Watched(1)
    run.pool = found  # type: ignore[assignment]
    values = shade()
    return settings.threads, len(found.taken), values.tobytes()


@pytest.mark.usefixtures("compiled")
def test_processes_of_joblib(monkeypatch: pytest.MonkeyPatch) -> None:
    joblib = pytest.importorskip("joblib")
    monkeypatch.delenv("XARRAYLITE_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    share = max(1, joblib.cpu_count() // 2)
    found = joblib.Parallel(n_jobs=2)([joblib.delayed(_in_a_process)() for _ in range(2)])
    for threads, working, values in found:
        assert threads == share
        assert 1 <= working <= share
        assert values == (np.sqrt(VALUES) * 2.0 + 1.0).tobytes()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, 3),
        ({"OMP_NUM_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": " 1,4"}, 1),
        ({"OMP_NUM_THREADS": "64"}, 3),
        ({"OMP_NUM_THREADS": "0"}, 3),
        ({"OMP_NUM_THREADS": "many"}, 3),
        ({"OMP_NUM_THREADS": ""}, 3),
    ],
)
def test_the_environment_says_how_many(
    environ: Mapping[str, str], expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("xarraylite._config.available_cores", lambda: 3)
    assert default_threads(environ, str(tmp_path / "none")) == expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [("max 100000", 4), ("150000 100000", 2), ("50000 100000", 1), ("900000 100000", 4), ("", 4)],
)
def test_a_control_group_has_a_share_of_the_cores(
    told: str, expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("xarraylite._config.available_cores", lambda: 4)
    quota = tmp_path / "cpu.max"
    quota.write_text(told + "\n")
    assert default_threads({}, str(quota)) == expected


def test_what_is_set_for_this_package_counts_first() -> None:
    found = type(settings)({"XARRAYLITE_THREADS": "7", "OMP_NUM_THREADS": "1"})
    assert found.threads == 7
    assert type(settings)({"XARRAYLITE_THREADS": "0"}).threads <= available_cores()
