"""A latch: set once, seen by all who wait, whatever cuts a wait short."""

from __future__ import annotations

import signal
import threading

import pytest

from xarraylite.codegen.latch import Latch


def test_a_wait_ends_when_the_latch_is_set() -> None:
    latch = Latch()
    assert not latch.wait(0.001)
    threading.Timer(0.02, latch.set).start()
    assert latch.wait(120)
    assert latch.wait(0)


def test_all_who_wait_see_it() -> None:
    latch = Latch()
    seen: list[bool] = []
    threads = [threading.Thread(target=lambda: seen.append(latch.wait(120))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in [threading.Thread(target=latch.set) for _ in range(4)]:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 16


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
def test_a_handler_may_end_a_wait_and_wait_itself() -> None:
    latch = Latch()
    seen: list[bool] = []

    def interrupt(*_: object) -> None:
        seen.append(latch.wait(0.01))
        latch.set()
        seen.append(latch.wait(0.01))
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            latch.wait(120)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [False, True]
