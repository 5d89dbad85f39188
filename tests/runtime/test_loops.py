"""Loops of NumPy's in pieces that threads take in machine code: each once, nobody left behind."""

from __future__ import annotations

import _thread
import ctypes
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite.runtime import loops
from xarraylite.runtime.launch import word_at
from xarraylite.runtime.natives import can_load
from xarraylite.runtime.threads import pool

pytestmark = [
    pytest.mark.usefixtures("compiled"),
    pytest.mark.skipif(not can_load(), reason="objects of this interpreter lie otherwise"),
]

LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def pieces_of(work: Callable[[int, int, int], object], whole: int, threads: int) -> None:
    """Call a function of Python's as a loop of pieces of two: with where, how many, how wide."""

    def loop(places: int, extents: int, *_: int) -> None:
        work(word_at(places), word_at(extents), word_at(extents + 8))

    made = LOOP(loop)
    address = ctypes.cast(made, ctypes.c_void_p).value or 0
    loops.call((address, 0), (0, 0, 0), (2, whole, 5, 3), (1, 1, 1, 1, 1), threads)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("whole", [0, 1, 2, 101])
def test_every_piece_is_done_once_and_the_end(whole: int, threads: int) -> None:
    done: list[tuple[int, int, int]] = []
    pieces_of(lambda *piece: done.append(piece), whole, threads)
    wanted = [(k, min(2, whole - k), 5) for k in range(0, whole, 2)]
    assert sorted(done) == sorted([*wanted, (whole, 1, 3)])


@pytest.mark.parametrize("last", ["caller", "helper"])
def test_helpers_take_part_and_are_waited_for(last: str) -> None:
    """Two pieces that wait for each other need two threads; one of these takes longer."""
    barrier, caller = threading.Barrier(2, timeout=60), threading.get_ident()
    done: list[str] = []

    def work(*_: int) -> None:
        barrier.wait()
        who = "caller" if threading.get_ident() == caller else "helper"
        if who == last:
            time.sleep(0.05)
        done.append(who)

    for k in range(1, 4):
        pieces_of(work, 2, 2)
        assert sorted(done) == ["caller"] * k + ["helper"] * k


def test_a_call_reaches_a_helper_that_is_about_to_sleep() -> None:
    """One job after the other: the second often comes before the helper of the first sleeps."""
    barrier, caller = threading.Barrier(2, timeout=60), threading.get_ident()
    done: list[bool] = []

    def work(*_: int) -> None:
        barrier.wait()
        done.append(threading.get_ident() == caller)

    for _ in range(4000):
        pieces_of(work, 2, 2)
    assert sum(done) == len(done) // 2 == 4000


def test_callers_at_once_do_not_mix() -> None:
    rng = np.random.default_rng(0)
    factors = [[xl.asarray(rng.random(300_000 + 8192 * k)) for _ in range(2)] for k in range(4)]
    expected, found = [float(a @ b) for a, b in factors], []

    def caller(k: int) -> None:
        a, b = factors[k]
        found.append((k, {float(a @ b) for _ in range(40)}))

    xl.config(threads=3)
    run_all([threading.Thread(target=caller, args=(k,)) for k in range(4)])
    assert sorted(found) == [(k, {value}) for k, value in enumerate(expected)]


def test_helpers_count_with_all_that_are_at_work() -> None:
    """Those of a caller whose turn it is, and of one inside a piece."""
    given: list[int] = []
    inside, leave = threading.Event(), threading.Event()

    def hold(helpers: int) -> None:
        given.append(helpers)
        inside.set()
        leave.wait(20)

    thread = threading.Thread(target=pool.count, args=(hold, 3))
    thread.start()
    inside.wait(20)
    for threads in (2, 3, 4, 6):
        pool.count(given.append, threads)
    leave.set()
    thread.join()
    pool.run([1], lambda: lambda k: pool.count(given.append, 4), 2)
    pool.count(given.append, 4)
    assert given == [2, 0, 0, 0, 2, 0, 3]


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No helper has been started, and none can be."""

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    loops._crew.cache_clear()
    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    yield
    monkeypatch.undo()
    loops._crew.cache_clear()


@pytest.mark.usefixtures("nobody")
def test_where_no_thread_can_be_started() -> None:
    done: list[int] = []
    pieces_of(lambda place, *_: done.append(place), 11, 4)
    assert done == [0, 2, 4, 6, 8, 10, 11]


def test_functions_that_lie_otherwise_are_not_called() -> None:
    assert loops.loop_of(np.vecdot, "dd->d")[0]
    assert loops.loop_of(np.vecdot, "no->t") == (0, 0)

    class Other:
        nin, nout, ntypes, types = 2, 1, np.vecdot.ntypes, np.vecdot.types

        def __init__(self) -> None:
            self.room = (0,) * 8

    assert loops.loop_of(Other(), "dd->d") == (0, 0)
