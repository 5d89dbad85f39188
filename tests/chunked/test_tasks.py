"""Threads of a run: what they do, give back and leave undone."""

import threading
from collections import deque
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, Sink
from xarraylite.chunked.piece import Piece
from xarraylite.chunked.pipeline import behind
from xarraylite.chunked.tasks import Task, Threads
from xarraylite.codegen.latch import Latch
from xarraylite.ir.node import Node


def test_tasks_are_done_in_order_by_as_many_threads_as_are_allowed() -> None:
    gate, seen, threads = threading.Barrier(2), [], Threads(2, Latch())

    def work(number: int) -> int:
        if number < 2:
            gate.wait(10)  # both are there
        seen.append((number, threading.get_ident()))
        return number * 2

    tasks = [threads.submit(work, k) for k in range(20)]
    threads.close(cancel=False)
    assert [task.result() for task in tasks] == [k * 2 for k in range(20)]
    assert len({ident for _, ident in seen}) == 2
    assert [number for number, _ in seen if number > 1] == sorted(range(2, 20))


def test_errors_are_raised_where_tasks_are_waited_for() -> None:
    threads = Threads(1, Latch())
    wrong, right = threads.submit(int, "x"), threads.submit(int, "7")
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            wrong.result()
    assert right.result() == 7
    threads.close(cancel=True)


def test_what_is_not_begun_can_be_left_undone() -> None:
    begun, go, threads = Latch(), Latch(), Threads(1, Latch())

    def work() -> int:
        begun.set()
        while not go.wait():
            pass
        return 1

    first, second = threads.submit(work), threads.submit(work)
    while not begun.wait():
        pass
    threads.close(cancel=True)
    late = threads.submit(work)
    go.set()
    assert first.result() == 1
    for task in (second, late):
        with pytest.raises(CancelledError):
            task.result()


def test_an_interrupt_leaves_no_lock_of_the_threads_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none that the calling thread takes in Python, where a Ctrl-C may come between."""
    taken: list[object] = []
    main = threading.get_ident()
    enter = threading.Condition.__enter__

    def entered(condition: Any) -> bool:
        if threading.get_ident() == main:
            taken.append(condition)
        return enter(condition)

    values = np.arange(60.0 * 40).reshape(60, 40)
    a, target = xl.open(Kept(values, (10, 10))), np.zeros_like(values)
    monkeypatch.setattr(threading.Condition, "__enter__", entered)
    xl.store(a * 2 + xl.sum(a, axis=0), Sink(target, (10, 10)), memory="100 kB")
    assert taken == []
    assert (target == values * 2 + values.sum(axis=0)).all()


def test_a_narrow_block_lets_no_larger_one_wait() -> None:
    narrow, wide = (
        Piece((range(8), range(n)), Node((8, n), np.dtype("f8")), [], alone=True) for n in (1, 8)
    )
    waiting = [(piece, Task(bool)) for piece in (narrow, wide)]
    spare = 2 * narrow.nbytes
    assert behind(deque(waiting[:1]), spare) == 1
    assert behind(deque(waiting[1:]), spare) == behind(deque(waiting), spare) == 0
