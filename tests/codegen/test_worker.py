"""The worker: one thread, jobs done once, errors and notices brought to whoever waits."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.threads import run_all
from xarraylite.codegen import worker


def ident() -> int:
    return threading.get_ident()


def test_jobs_run_on_one_thread_that_is_not_the_callers() -> None:
    idents: list[int] = []
    run_all([threading.Thread(target=lambda: idents.append(worker.run(ident))) for _ in range(16)])
    assert len(idents) == 16
    assert set(idents) == {worker.run(ident)}
    assert ident() not in idents


def test_a_job_inside_a_job_is_done_at_once() -> None:
    assert not worker.inside()
    assert worker.run(worker.inside)
    assert worker.run(lambda: (ident(), worker.run(ident)))[1] == worker.run(ident)


class Trouble(Exception):
    pass


@pytest.mark.parametrize("error", [Trouble, SystemExit, KeyboardInterrupt])
def test_errors_reach_the_caller_with_their_traceback(error: type[BaseException]) -> None:
    def culprit() -> None:
        raise error("why")

    with pytest.raises(error, match="why") as caught:
        worker.run(culprit)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "culprit" in names
    assert worker.run(lambda: 5) == 5


class Memory:
    """Something that can be seen to be gone."""


def test_an_idle_worker_holds_nobodys_memory() -> None:
    def use(memory: Memory) -> weakref.ref[Memory]:
        worker.run(lambda: id(memory))
        return weakref.ref(memory)

    gone = use(Memory())
    worker.run(ident)
    assert gone() is None


def test_what_is_posted_is_called_later_and_in_order() -> None:
    called: list[Any] = []
    hold = threading.Event()
    worker.post(lambda: hold.wait(120))
    worker.post(lambda: called.append(1))
    worker.post(lambda: 1 // 0)
    worker.post(lambda: called.append(ident()))
    assert called == []
    hold.set()
    assert worker.run(ident) == called[1]
    assert called[0] == 1


def test_what_is_held_is_closed_on_the_worker() -> None:
    closed: list[int] = []

    class Library:
        def close(self) -> None:
            closed.append(ident())

    owners = [worker.Closing(Library()), worker.Closing(Library())]
    owners.clear()
    assert worker.run(lambda: (ident(), closed)) == (closed[0], closed)
    assert closed == [closed[0]] * 2


def test_notices_are_given_on_the_callers_thread() -> None:
    given: list[int] = []

    def give() -> None:
        given.append(ident())

    worker.notify(give)
    assert given == [ident()]
    worker.run(lambda: worker.notify(give))
    assert given == [ident()] * 2


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
def test_ctrl_c_returns_at_once_and_the_job_goes_on() -> None:
    left, done = threading.Event(), threading.Event()

    def job() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        left.wait(120)
        done.set()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            worker.run(job)
        assert not done.is_set()  # nobody waited for the job
    finally:
        signal.signal(signal.SIGALRM, before)
        left.set()
    assert done.wait(120)


def test_callers_do_their_jobs_where_no_thread_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(worker, "_state", worker._State())
    monkeypatch.setattr(worker._thread, "start_new_thread", refuse)
    assert worker.run(ident) == ident()
    assert worker.run(lambda: worker.run(worker.inside))
    with pytest.raises(Trouble):
        worker.run(raising(Trouble))
    job = worker.Job(raising(KeyboardInterrupt, 1))
    with pytest.raises(KeyboardInterrupt):
        job.wait()
    assert job.wait() == 1  # an interrupt of one caller is not the next one's


def raising(error: type[BaseException], *later: int) -> Callable[[], int]:
    """Return a function that raises once and returns the given value from then on."""
    answers = [None, *later]

    def call() -> int:
        answer = answers.pop(0)
        if answer is None:
            raise error
        return answer

    return call


def script(code: str, timeout: float = 60) -> str:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_importing_starts_no_thread() -> None:
    assert script(
        "import threading, xarraylite.codegen.worker, xarraylite.codegen.table\n"
        "print(threading.active_count(), len(__import__('sys')._current_frames()))\n"
    ).split() == ["1", "1"]


def test_the_end_of_the_process_waits_for_the_running_job_only() -> None:
    out = script(
        "import atexit, threading, time\n"
        "atexit.register(lambda: print('late', worker.run(lambda: 3)))\n"  # runs after the worker's
        "from xarraylite.codegen import worker\n"
        "atexit.register(lambda: print('early', worker.run(lambda: 2)))\n"
        "def job():\n"
        "    started.set(); time.sleep(0.3); print('whole', flush=True)\n"
        "def loop():\n"
        "    while True:\n"
        "        worker.run(lambda: time.sleep(0.01))\n"
        "started = threading.Event()\n"
        "worker.post(job)\n"
        "threading.Thread(target=lambda: worker.run(job), daemon=True).start()\n"
        "for _ in range(4):\n"
        "    threading.Thread(target=loop, daemon=True).start()\n"
        "started.wait()\n"
    )
    assert out.splitlines()[0] == "whole"
    assert out.splitlines()[-2:] == ["early 2", "late 3"]
