"""The pool: every piece once, errors and interrupts only when nobody works any more."""

from __future__ import annotations

import _thread
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite.blas import calls
from xarraylite.memory import snapshots
from xarraylite.runtime import evaluate
from xarraylite.runtime.threads import Pool, _Crew, _Job, current_core

pytestmark = pytest.mark.once

Worker = Callable[[int], None]


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def patient() -> Iterator[threading.Event]:
    """An event that is set at the end, so that no helper outlives its test."""
    event = threading.Event()
    yield event
    event.set()


def same(work: Worker) -> Callable[[], Worker]:
    return lambda: work


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_every_piece_is_done_once(pool: Pool, threads: int, count: int) -> None:
    done: list[int] = []
    pool.run(range(count), same(done.append), threads)
    assert sorted(done) == list(range(count))


def test_one_thread_works_in_order_and_alone(pool: Pool) -> None:
    done: list[tuple[int, int]] = []
    pool.run(range(50), same(lambda k: done.append((k, threading.get_ident()))), 1)
    assert done == [(k, threading.get_ident()) for k in range(50)]
    assert pool._crew.started == 0


def test_helpers_take_part(pool: Pool) -> None:
    """Two pieces that wait for each other need two threads."""
    barrier = threading.Barrier(2, timeout=120)
    pool.run(range(2), same(lambda k: (barrier.wait(), None)[1]), 2)


def test_each_thread_has_a_worker_of_its_own(pool: Pool) -> None:
    made: list[int] = []
    barrier = threading.Barrier(3, timeout=120)

    def make() -> Worker:
        made.append(threading.get_ident())
        return lambda k: (barrier.wait(), None)[1]

    pool.run(range(3), make, 3)
    assert len(made) == len(set(made)) == 3


def test_threads_are_kept(pool: Pool) -> None:
    for _ in range(20):
        pool.run(range(10), same(lambda k: None), 3)
    assert pool._crew.started == 2


def test_a_job_inside_a_piece_is_done_by_its_caller(pool: Pool) -> None:
    seen: list[tuple[int, int, bool]] = []

    def outer(k: int) -> None:
        me = threading.get_ident()
        pool.run(range(3), same(lambda j: seen.append((k, j, me == threading.get_ident()))), 4)

    pool.run(range(5), same(outer), 2)
    assert sorted(seen) == [(k, j, True) for k in range(5) for j in range(3)]


def test_concurrent_callers_do_not_mix(pool: Pool) -> None:
    wrong: list[Any] = []

    def caller(number: int) -> None:
        for _ in range(50):
            done: list[int] = []
            pool.run(range(number, number + 20), same(done.append), 3)
            if sorted(done) != list(range(number, number + 20)):
                wrong.append((number, done))

    run_all([threading.Thread(target=caller, args=(100 * k,)) for k in range(8)])
    assert wrong == []


# --- errors --------------------------------------------------------------------------------------


class Trouble(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_error_ends_the_job(pool: Pool, threads: int) -> None:
    done: list[int] = []

    def work(k: int) -> None:
        if k == 5:
            raise Trouble("piece 5")
        done.append(k)

    with pytest.raises(Trouble, match="piece 5"):
        pool.run(range(100_000), same(work), threads)
    assert len(done) < 100_000 - 1
    settled = len(done)
    time.sleep(0.01)
    assert len(done) == settled
    pool.run(range(10), same(done.append), threads)
    assert len(done) == settled + 10


def test_an_error_of_a_helper_reaches_the_caller(pool: Pool) -> None:
    caller = threading.get_ident()
    ready = threading.Event()

    def work(k: int) -> None:
        if threading.get_ident() == caller:
            ready.wait(120)
        else:
            ready.set()
            raise Trouble("helper")

    with pytest.raises(Trouble, match="helper"):
        pool.run(range(2), same(work), 2)


def test_an_error_while_a_worker_is_made(pool: Pool) -> None:
    def make() -> Worker:
        raise Trouble("make")

    for threads in (1, 3):
        with pytest.raises(Trouble):
            pool.run(range(3), make, threads)
    pool.run(range(3), same(lambda k: None), 3)


@pytest.mark.parametrize("error", [Trouble, KeyboardInterrupt, SystemExit])
def test_the_caller_leaves_when_helpers_have_finished(
    pool: Pool, error: type[BaseException]
) -> None:
    """Their piece writes to memory that the caller may free as soon as it has left."""
    caller = threading.get_ident()
    begun, finished = threading.Event(), threading.Event()

    def work(k: int) -> None:
        if threading.get_ident() == caller:
            begun.wait(120)
            raise error
        begun.set()
        time.sleep(0.2)
        finished.set()

    with pytest.raises(error):
        pool.run(range(2), same(work), 2)
    assert finished.is_set()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
def test_ctrl_c_while_waiting_for_helpers(pool: Pool) -> None:
    caller = threading.get_ident()
    begun, twice, finished = threading.Event(), threading.Event(), threading.Event()
    interrupts: list[int] = []

    def work(k: int) -> None:
        if threading.get_ident() == caller:
            begun.wait(120)
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        else:
            begun.set()
            twice.wait(120)
            signal.setitimer(signal.ITIMER_REAL, 0)
            finished.set()

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        if len(interrupts) == 2:
            twice.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            pool.run(range(2), same(work), 2)
        assert finished.is_set()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(interrupts) >= 2  # the wait was interrupted more than once and went on


def test_ctrl_c_while_helpers_are_being_woken(pool: Pool) -> None:
    """Some have begun already: they must be waited for like all others."""
    begun, finished = threading.Event(), threading.Event()
    pool.run(range(2), same(lambda k: None), 2)
    inbox = pool._crew.inbox

    class Interrupting:
        def put(self, job: Any) -> None:
            inbox.put(job)
            begun.wait(120)
            raise KeyboardInterrupt

        def get(self) -> Any:
            return inbox.get()

        def empty(self) -> bool:
            return inbox.empty()

    def work(k: int) -> None:
        begun.set()
        time.sleep(0.2)
        finished.set()

    pool._crew.inbox = Interrupting()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        pool.run(range(3), same(work), 2)
    assert finished.is_set()
    pool._crew.inbox = inbox
    assert pool._crew.at_work == {}


# --- helpers that are late, few or idle ----------------------------------------------------------


def test_nobody_waits_for_a_helper_that_is_asleep(pool: Pool, patient: threading.Event) -> None:
    pool.run(range(2), same(lambda k: None), 2)
    awake: list[bool] = []
    busy: _Job[int] = _Job(deque([1]), same(lambda k: awake.append(patient.wait(120))), 2)
    pool._crew.inbox.put(busy)
    done: list[int] = []
    pool.run(range(100), same(done.append), 3)
    assert done == list(range(100))
    assert awake == []


def test_a_late_helper_finds_the_job_closed() -> None:
    job: _Job[int] = _Job(deque([1, 2]), same(lambda k: None), 2)
    job.close()
    job.help(_Crew())
    assert list(job.pieces) == [1, 2]


def test_fewer_threads_than_asked_for(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers limit them, and a process that ends allows none."""

    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    done: list[int] = []
    pool.run(range(100), same(done.append), 4)
    assert done == list(range(100))
    assert pool._crew.started == 0
    monkeypatch.undo()
    pool.run(range(100), same(done.append), 4)
    assert pool._crew.started == 3


class Memory:
    """Something that can be seen to be gone."""


def test_idle_helpers_hold_nobodys_memory(pool: Pool) -> None:
    barrier = threading.Barrier(2, timeout=120)

    def use(memory: Memory) -> weakref.ref[Memory]:
        def make() -> Worker:
            return lambda k: (memory, barrier.wait(), None)[-1]

        pool.run(range(2), make, 2)
        return weakref.ref(memory)

    gone = use(Memory())
    for _ in range(200):
        gc.collect()
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs affinities")
def test_the_callers_own_cores_are_left_alone(pool: Pool) -> None:
    before = os.sched_getaffinity(0)
    for _ in range(5):
        pool.run(range(10), same(lambda k: time.sleep(0)), 2)
    assert os.sched_getaffinity(0) == before
    assert current_core() in before


# --- processes -----------------------------------------------------------------------------------

FORK = """
import os, sys, threading, warnings
import numpy as np
import xarraylite as xl
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of fork with threads
xl.config(threads=3)
a = xl.asarray(np.arange(2_000_000.0))
e, square = a * 2 + 1, float(a @ a)
expected = np.arange(2_000_000.0) * 2 + 1

def right():
    both = np.array_equal(xl.eval(e).numpy(), expected) and float(xl.sum(a)) == a.numpy().sum()
    return both and float(a @ a) == square

assert right()
# A caller is in the middle of a job while the process forks.
stop = threading.Event()
def hammer():
    while not stop.is_set():
        xl.eval(e), a @ a
others = [threading.Thread(target=hammer, daemon=True) for _ in range(2)]
for thread in others:
    thread.start()
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        os._exit(0 if right() and right() else 3)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
stop.set()
assert right()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_threads_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK], check=False, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0, 0, 0, 0]"


FORK_WITH_LOCKS = """
import os, threading, warnings
import xarraylite as xl
from xarraylite.runtime import evaluate
from xarraylite.memory import snapshots
warnings.simplefilter("ignore", DeprecationWarning)
xl.config(engine="compiled", threads=2)
a = xl.ones(5)
xl.eval(a + 1)
locks = [evaluate._lock.held, snapshots.guard.held]
held, leave = threading.Event(), threading.Event()

def hold():
    for lock in locks:
        lock.acquire()
    held.set()
    leave.wait()
    for lock in locks:
        lock.release()

holder = threading.Thread(target=hold)
holder.start()
held.wait()
child = os.fork()
if child == 0:
    import faulthandler
    faulthandler.dump_traceback_later(30, exit=True)
    result = xl.eval(xl.ones(5) * 3 - a)
    os._exit(0 if result.numpy().tolist() == [2.0] * 5 and not snapshots.are_others() else 3)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
leave.set()
holder.join()
print(code)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_wait_for_threads_it_does_not_have() -> None:
    """Another thread held every lock at the fork, and nobody will release them in the child."""
    command = [sys.executable, "-c", FORK_WITH_LOCKS]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0", done.stderr


FORK_INSIDE = """
import os, random, signal, sys, threading, time, warnings
from xarraylite.runtime.threads import pool
warnings.simplefilter("ignore", DeprecationWarning)
rng, pids = random.Random(3), []

def whole():
    done = []
    pool.run(range(40), lambda: lambda k: (time.sleep(2e-4), done.append(k)), 3)
    return sorted(done) == list(range(40))

def fork(*_):
    pids.append(os.fork())
    if not pids[-1]:
        assert whole()

signal.signal(signal.SIGALRM, fork)
while len(pids) < 20:
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 5e-3))
    right = whole()
    signal.setitimer(signal.ITIMER_REAL, 0)
    if 0 in pids:  # the child, which has gone on where the parent was
        threads = [threading.Thread(target=whole) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        os._exit(0 if right and whole() else 3)
    assert right
print({os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_in_a_handler_that_interrupts_a_job() -> None:
    """The child goes on with the job, and has no helpers that would finish it."""
    done = subprocess.run(
        [sys.executable, "-c", FORK_INSIDE],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.stdout, done.stderr) == ("{0}\n", "")


@pytest.mark.parametrize("lock", [evaluate._lock.held, calls._lock.held, snapshots.guard.held])
def test_whoever_interrupts_the_holder_of_a_lock_may_evaluate(lock: Any) -> None:
    """A signal handler, or a finaliser."""
    xl.config(threads=1)
    seen: list[Any] = []

    def work() -> None:
        a = xl.ones((80, 80))
        with lock:
            a[0] = xl.ones(80) + a[1]
            seen.append(xl.eval(a @ a + a).numpy()[0, 0])

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert seen == [164.0]


def test_evaluating_while_the_process_ends() -> None:
    """No thread can be started then, and those that exist may never run again."""
    code = (
        "import atexit, numpy as np, xarraylite as xl\n"
        "xl.config(threads=3)\n"
        "a = xl.asarray(np.ones(2_000_000))\n"
        "atexit.register(lambda: print(float(xl.sum(a * 2))))\n"
        "print(float(xl.sum(a * 3)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["6000000.0", "4000000.0"]


def test_a_job_that_is_over_holds_nobodys_memory(pool: Pool) -> None:
    pool._crew.started = 2  # helpers that come late, if at all
    memory = frozenset([1])
    gone = weakref.ref(memory)
    pool.run(range(8), lambda keep=memory: int, 3)
    del memory
    assert pool._crew.inbox.qsize() == 2
    assert gone() is None
