"""Interrupts at every instant of moving, pinning and sharing: others go on, old values stay."""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.memory import buffer as buffers
from xarraylite.memory import pool, snapshots
from xarraylite.memory.buffer import Buffer
from xarraylite.memory.pool import POOL_FROM
from xarraylite.memory.snapshots import Snapshot, pinned
from xarraylite.operands import tracing

FILES = {str(Path(m.__file__)) for m in (buffers, snapshots, pool, threading) if m.__file__}


@contextmanager
def interrupted_at(number: int) -> Iterator[list[bool]]:
    """Raise a KeyboardInterrupt where functions begin or have returned, as a signal would.

    ``number`` says how many such instants go by before.
    """
    done, instants = [False], [0]

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "c_call" or frame.f_code.co_filename not in FILES or done[0]:
            return
        if event in ("call", "return") and frame.f_code.co_flags & inspect.CO_GENERATOR:
            return  # what is raised here would leave the generator without its own handlers
        instants[0] += 1
        if instants[0] > number:
            done[0] = True
            raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield done
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(before)


def release(buffer: Buffer) -> None:
    buffer.release()


def share(buffer: Buffer) -> None:
    buffer.share()


def read(buffer: Buffer) -> None:
    with pinned([buffer.snapshot()]):
        pass


def both(buffer: Buffer) -> None:
    other = Buffer.borrow(buffer.data)
    other.snapshot()
    other.release()


@pytest.mark.parametrize("work", [release, share, read, both])
def test_what_an_interrupt_leaves(work: Callable[[Buffer], None]) -> None:
    """Another thread can write, and who waits for the old bytes keeps them."""
    for number in range(2000):
        buffer = Buffer.allocate(64)
        buffer.run()[...] = 1
        before = buffer.snapshot()
        with interrupted_at(number) as done:
            work(buffer)

        def write(buffer: Buffer = buffer) -> None:
            writer = Buffer.borrow(buffer.data)
            writer.release()
            writer.run()[...] = 2

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        thread.join(120)
        assert not thread.is_alive(), f"instant {number}: it waits without an end"
        assert before.run().tolist() == [1] * 64, f"instant {number}"
        assert not snapshots.pins
        assert [*snapshots.flying] == [0, 0]
        assert not snapshots.writing
        if not done[0]:
            assert number > 5
            return
    raise AssertionError("it does not end")


def test_what_an_interrupt_leaves_of_large_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is raised where nobody can catch it."""
    failed: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", failed.append)
    for number in range(2000):
        with interrupted_at(number) as done:
            Buffer.allocate(POOL_FROM)
        if not done[0]:
            assert number > 5
            break
    assert [what.exc_type for what in failed if what.exc_type is not KeyboardInterrupt] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_knows_what_another_thread_was_about_to_move() -> None:
    buffer = Buffer.allocate(64)
    buffer.run()[...] = 1
    before = buffer.snapshot()
    writer = threading.Thread(target=buffer.release)
    with pinned([before]):
        writer.start()
        while not buffer._moving:
            time.sleep(1e-4)
        pid = os.fork()
        if not pid:
            signal.alarm(20)
            buffer.release()
            buffer.run()[...] = 2
            os._exit(0 if before.run().tolist() == [1] * 64 else 3)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    writer.join()


def test_readers_of_shared_bytes_wait_after_a_write_that_found_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = np.arange(10.0)
    buffer, other = Buffer.borrow(memory), Buffer.borrow(memory)
    assert buffer.shared_waiting() == 0
    kept = buffer.snapshot()

    def refuse(snapshot: Snapshot) -> int:
        raise MemoryError(snapshot.nbytes)

    with monkeypatch.context() as patch:
        patch.setattr(Snapshot, "move", refuse)
        with pytest.raises(MemoryError):
            other.release()
    assert buffer.shared_waiting() != 0
    buffer.release()
    memory[...] = 0
    assert kept.run().view("f8").tolist() == list(range(10))


@pytest.mark.parametrize("instant", [0, 1])
def test_an_interrupt_where_a_trace_begins_or_ends_leaves_none(
    monkeypatch: pytest.MonkeyPatch, instant: int
) -> None:
    """Else all that is written from then on would read what its operands are later."""
    lock, entered = tracing._lock, iter(range(100))

    class Interrupting:
        @property
        def held(self) -> Any:
            if next(entered) == instant:
                raise KeyboardInterrupt
            return lock.held

    with monkeypatch.context() as patch:
        patch.setattr(tracing, "_lock", Interrupting())
        with pytest.raises(KeyboardInterrupt):
            xl.jit(lambda x: x + 1)(xl.ones(3))
    a = xl.ones(3)
    e = a * 2
    a[...] = 5
    assert np.asarray(e).tolist() == [2, 2, 2]
    assert np.asarray(xl.jit(lambda x: x + 1)(a)).tolist() == [6, 6, 6]
    assert tracing.running.value == 0  # of an end that was interrupted, too
