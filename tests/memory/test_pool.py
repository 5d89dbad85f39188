"""Large blocks are reused, bounded, and given back whoever drops them last."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.threads import run_all
from xarraylite.memory.buffer import Buffer
from xarraylite.memory.pool import (
    ALIGNMENT,
    POOL_FROM,
    POOL_LIMIT,
    Pool,
    aligned_bytes,
    counters,
    pool,
    size_class,
)

MB = 1 << 20


def test_size_classes_waste_at_most_an_eighth() -> None:
    for n in [*range(1, 3000), *(random.Random(1).randrange(1, 1 << 50) for _ in range(2000))]:
        capacity = size_class(n)
        assert n <= capacity <= n + n // 8 + 1
        assert size_class(capacity) == capacity


@pytest.mark.parametrize("nbytes", [0, 1, 64, 100_000, 3 * MB])
def test_aligned_bytes(nbytes: int) -> None:
    memory, start, address = aligned_bytes(nbytes)
    assert address % ALIGNMENT == 0
    assert memory.__array_interface__["data"][0] + start == address
    assert memory.nbytes >= start + nbytes


def test_a_released_block_is_used_again() -> None:
    own = Pool()
    memory, first, address = own.take(3 * MB)
    assert own.kept_bytes == 0
    del memory
    assert own.kept_bytes >= 3 * MB
    before = counters.reused
    memory, start, again = own.take(3 * MB - 5)  # the same size class
    assert (again, start) == (address, first)
    assert memory.nbytes >= start + 3 * MB - 5
    assert own.kept_bytes == 0
    assert counters.reused == before + 1
    other, _, elsewhere = own.take(3 * MB)
    assert abs(elsewhere - address) >= other.nbytes


def test_any_view_keeps_the_block() -> None:
    own = Pool()
    view: np.ndarray[Any, Any] = own.take(2 * MB)[0][16:80].view("f8")[::2]
    view[...] = 5
    gc.collect()
    assert own.kept_bytes == 0
    others = [own.take(2 * MB)[0] for _ in range(3)]
    for other in others:
        other[...] = 0
    assert view.tolist() == [5.0] * 4
    del view, other, others
    assert own.kept_bytes >= 8 * MB


def test_the_oldest_blocks_are_dropped_beyond_the_limit() -> None:
    own = Pool(limit=10 * MB)
    addresses = []
    for n in (2, 3, 4, 5):  # 14 MiB and a little: the block of 2 and the block of 3 must go
        memory, _, address = own.take(n * MB)
        addresses.append(address)
        del memory
    assert 9 * MB <= own.kept_bytes <= 10 * MB
    before = counters.reused
    held = [own.take(n * MB) for n in (5, 4)]
    assert [address for _, _, address in held] == [addresses[3], addresses[2]]
    assert counters.reused == before + 2
    held.append(own.take(2 * MB))
    assert counters.reused == before + 2


def test_a_block_larger_than_the_limit_is_never_kept() -> None:
    own = Pool(limit=2 * MB)
    memory = own.take(3 * MB)[0]
    del memory
    assert own.kept_bytes == 0


def test_trim() -> None:
    own = Pool()
    held = [own.take(n * MB)[0] for n in (1, 2, 3)]
    del held
    own.trim(4 * MB)
    assert 0 < own.kept_bytes <= 4 * MB
    own.trim()
    assert own.kept_bytes == 0
    assert own.limit == POOL_LIMIT


def test_buffers_from_the_threshold_up_use_the_shared_pool() -> None:
    pool.trim()
    Buffer.allocate(POOL_FROM - 1)
    assert pool.kept_bytes == 0
    address = Buffer.allocate(POOL_FROM).address
    assert pool.kept_bytes >= POOL_FROM
    before = counters.allocations, counters.reused
    assert Buffer.allocate(POOL_FROM).address == address
    assert (counters.allocations, counters.reused) == (before[0] + 1, before[1] + 1)
    pool.trim()


def test_a_reference_cycle_gives_its_block_back() -> None:
    own = Pool()
    cycle: list[Any] = [own.take(MB)[0]]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert own.kept_bytes >= MB


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupts_at_any_instant_leave_the_pool_working() -> None:
    """A handler uses the pool too, and raises; blocks go on being reused."""
    own = Pool(limit=4 * MB)

    def interrupt(*_: object) -> None:
        own.take(MB)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    rng = random.Random(5)
    try:
        for _ in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 2e-4))
                for _ in range(100):
                    own.take(MB)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert own.kept_bytes <= own.limit
    own.take(MB)
    reused = counters.reused
    own.take(MB)
    assert counters.reused == reused + 1


def test_threads_share_the_pool() -> None:
    own = Pool(limit=24 * MB)
    failures: list[str] = []
    start = threading.Barrier(6)

    def work(mark: int) -> None:
        rng = random.Random(mark)
        start.wait()
        held: list[np.ndarray[Any, Any]] = []
        for _ in range(150):
            memory = own.take(rng.choice((MB, MB + 5, 2 * MB)))[0]
            memory[:64] = mark
            memory[-64:] = mark
            held.append(memory)
            if len(held) > 3:
                gone = held.pop(rng.randrange(4))
                if gone[:64].min() != mark or gone[-64:].max() != mark:
                    failures.append(f"bytes of thread {mark} were overwritten")

    run_all([threading.Thread(target=work, args=(mark,)) for mark in range(1, 7)])
    assert not failures
    assert 0 < own.kept_bytes <= own.limit
    kept = own._kept.values()
    ranges = sorted((raw.__array_interface__["data"][0], raw.nbytes) for raw in kept)
    assert all(a + n <= b for (a, n), (b, _) in pairwise(ranges))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_inside_the_pool() -> None:
    """As in a signal handler, whose child goes on here."""
    children: list[int] = []

    class Forking(dict[int, Any]):
        def pop(self, *args: Any) -> Any:
            children.append(os.fork())
            return super().pop(*args)

    own = Pool()
    own.take(MB)
    own._kept = Forking(own._kept)
    own._kept.copy = lambda: dict(own._kept)  # type: ignore[method-assign]
    reused = counters.reused
    own.take(MB)
    right = counters.reused == reused + 1 and own.kept_bytes >= MB
    if children == [0]:
        os._exit(0 if right else 1)
    assert right
    assert os.waitpid(children[0], 0)[1] == 0


def test_blocks_alive_at_interpreter_exit_are_no_trouble() -> None:
    code = (
        "import threading, builtins\n"
        "from xarraylite.memory.buffer import Buffer\n"
        "builtins.kept = [Buffer.allocate(n) for n in (64, 5000, 1 << 20, 1 << 22)]\n"
        "views = [b.data for b in builtins.kept]\n"
        "cycle = [views]; cycle.append(cycle); del views\n"
        "threading.Thread(target=lambda: Buffer.allocate(1 << 21), daemon=True).start()\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
