"""Threads that share expressions, forked children, interrupts: right answers or a clean end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite.testing import assert_same_bits

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(number)`` in threads that start together; raise what any of them raises."""
    start = threading.Barrier(count)
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    run_all([threading.Thread(target=guarded, args=(number,)) for number in range(count)])
    if errors:
        raise errors[0]


@pytest.mark.parametrize("size", [11, 5000, 400_000])
def test_32_threads_evaluate_one_expression(size: int) -> None:
    values = np.random.default_rng(size).random(size)
    a = xl.asarray(values)
    e = xl.sqrt(a * 3.25 + 1) - a[::-1]
    expected = np.sqrt(values * 3.25 + 1) - values[::-1]

    def work(number: int) -> None:
        for _ in range(3):
            assert_same_bits(e, expected)

    in_threads(32, work)


def test_32_threads_compile_at_once() -> None:
    """Few kinds of kernels, first needed by many threads at the same time."""
    values = np.arange(40.0)

    def work(number: int) -> None:
        a = xl.asarray(values + number)
        for k in range(4):
            e = xl.abs(a - 7.5) * (a + k) if k % 2 else (a / 3 - 1) * a[::-1] + number
            x = values + number
            y = abs(x - 7.5) * (x + k) if k % 2 else (x / 3 - 1) * x[::-1] + number
            assert_same_bits(e, y)

    in_threads(32, work)


def test_threads_with_containers_of_their_own() -> None:
    """Assignments, snapshots, reductions and growing, 16 threads, nothing shared."""

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        values = rng.random(300)
        a = xl.asarray(values)
        for _ in range(20):
            pending = a * 2
            a[1:] += a[:-1]
            values, old = values.copy(), values
            values[1:] += old[:-1]
            assert_same_bits(a, values)
            assert_same_bits(pending, old * 2)
            a.assign(xl.concat([a[:150], a[150:] / xl.max(a)]))
            values = np.concatenate([values[:150], values[150:] / values.max()])
            assert_same_bits(a, values)

    in_threads(16, work)


def test_expressions_written_while_others_evaluate() -> None:
    """Readers of one container in many threads; nobody writes."""
    a = xl.asarray(np.arange(1000.0))
    total = float(np.arange(1000.0).sum())

    def work(number: int) -> None:
        for k in range(50):
            assert float(xl.sum(a * k)) == total * k

    in_threads(16, work)


def child_says(work: Callable[[], object]) -> bytes:
    """Fork, run ``work`` in the child, return its printed result; fail after 20 seconds."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, repr(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    limit = time.monotonic() + 120
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("the forked child hangs")
        time.sleep(0.01)
    with os.fdopen(read, "rb") as pipe:
        return pipe.read()


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork_after_threads() -> None:
    values = np.random.default_rng(0).random(900_000)
    with xl.config(threads=2):
        a = xl.asarray(values)
        expected = float(xl.sum(xl.sqrt(a) * 2))
        waiting = a + 1

        def work() -> tuple[float, float, float, int]:
            result = float(xl.sum(xl.sqrt(a) * 2))
            a[...] = a[::-1] * 2  # the snapshot for `waiting`, in the child alone
            new = float(xl.max(xl.exp(a * 0.125) - 1))  # a kernel the parent never had
            return result, float(xl.max(waiting)), float(xl.max(a)), int(new > 0)

        assert (
            child_says(work)
            == repr((expected, float(values.max() + 1), float(values.max() * 2), 1)).encode()
        )
        assert float(xl.sum(xl.sqrt(a) * 2)) == expected
        assert_same_bits(a, values)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork_while_other_threads_evaluate() -> None:
    values = np.random.default_rng(1).random(700_000)
    a = xl.asarray(values)
    expected = float(xl.sum(a * 3))
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            xl.eval(a * 2 + 1)

    with xl.config(threads=2):
        thread = threading.Thread(target=busy)
        thread.start()
        try:
            for _ in range(3):
                assert child_says(lambda: float(xl.sum(a * 3))) == repr(expected).encode()
        finally:
            stop.set()
            thread.join()


INTERRUPT = """
import os, signal, sys, threading, time
import numpy as np
import xarraylite as xl
one = xl.asarray(np.linspace(0.5, 1, 1000))
big = xl.zeros(1 << 22)
a = xl.asarray([1.0, 2.0, 3.0])


def in_place(n):
    for _ in range(1 if n < 100 else 10**6):
        big[...] = xl.sin(big) + 1


# Each takes the number of rows of 1000 elements.
forms = {
    "sum": lambda n: xl.eval(xl.sum(xl.sin(xl.broadcast_to(one, (n, 1000))))),
    "rows": lambda n: xl.eval(xl.sum(xl.sin(xl.broadcast_to(one, (n, 1000))), axis=1)),
    "columns": lambda n: xl.eval(xl.max(xl.sin(xl.broadcast_to(one, (n, 1000))), axis=0)),
    "few rows": lambda n: xl.eval(xl.sum(xl.sin(xl.broadcast_to(one[:10], (100 * n, 10))), axis=0)),
    "in place": in_place,
}
def press():
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)
for name, work in forms.items():
    for threads in (1, 2):
        xl.config(threads=threads)
        work(10)
        pressing = threading.Thread(target=press, daemon=True)
        pressing.start()
        try:
            work(1 << 26)
        except KeyboardInterrupt:
            print("interrupted")
        else:
            print(name, "finished")
        pressing.join()
    print((a * 2).tolist(), float(xl.sum(xl.zeros(1 << 20) + 1)))
"""


@pytest.mark.usefixtures("compiled")
def test_an_interrupt_ends_a_long_evaluation() -> None:
    """With one thread and with two; how soon it ends is counted in `tests.runtime.test_run`."""
    command = [sys.executable, "-c", INTERRUPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    told = ["interrupted", "interrupted", "[2.0, 4.0, 6.0] 1048576.0"]
    assert done.stdout.splitlines() == told * 5, done.stderr


def test_an_interrupted_assignment_spoils_its_destination_alone(engine: str) -> None:
    if engine == "reference":
        pytest.skip("NumPy does not look for interrupts")
    rows = np.linspace(0, 1, 1 << 20)
    a, other = xl.asarray(rows), xl.asarray(rows)
    pending = a + 1

    spinning = threading.Event()

    def press() -> None:
        spinning.wait(120)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    def spin() -> None:
        for _ in range(5_000):
            a[...] = xl.sin(a) + xl.cos(other)
            spinning.set()

    presser = threading.Thread(target=press)
    # The workers of xdist ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        presser.start()
        with pytest.raises(KeyboardInterrupt):
            spin()
    finally:
        presser.join()
        signal.signal(signal.SIGINT, before)
    assert_same_bits(other, rows)
    assert_same_bits(pending, rows + 1)
    a[...] = other * 2
    assert_same_bits(a, rows * 2)
