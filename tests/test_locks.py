"""Locks that a signal comes between: whoever is interrupted does not keep them."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable
from types import FrameType

import pytest

from xarraylite._locks import ForkLock, new_lock


class Interrupt(Exception):
    pass


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise Interrupt


def _enter(lock: threading.RLock, seconds: float) -> int:
    """Take a lock and give it back again and again; return how often an interrupt ended that."""
    gc.disable()  # what the collector calls would keep the interrupt to itself
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        for _ in range(20_000):
            with lock, lock:
                pass
    except Interrupt:
        return 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
    return 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
@pytest.mark.parametrize("make", [new_lock, lambda: ForkLock().held])
def test_an_interrupted_thread_keeps_no_lock(make: Callable[[], threading.RLock]) -> None:
    """At instants all over a loop that does nothing but take a lock and give it back."""
    before, interrupts = signal.signal(signal.SIGALRM, _interrupt), 0
    try:
        for number in range(400):
            lock = make()
            interrupts += _enter(lock, 2e-5 + number % 50 * 1e-6)
            assert not lock._is_owned(), f"interrupt {number}"  # type: ignore[attr-defined]
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 200


def test_it_is_entered_again_and_shuts_others_out() -> None:
    lock, entered = new_lock(), list[bool]()
    with lock, lock:
        other = threading.Thread(target=lambda: entered.append(lock.acquire(blocking=False)))
        other.start()
        other.join()
    assert entered == [False]
    with pytest.raises(RuntimeError):
        lock.release()
