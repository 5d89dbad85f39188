"""The table: one job per key, bounds by number and bytes, nothing left behind by failures."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest

from xarraylite.codegen import worker
from xarraylite.codegen.table import Table


class Value:
    """Something with a size that can be seen to be gone."""

    def __init__(self, nbytes: int = 1) -> None:
        self.nbytes = nbytes


def table(capacity: int = 100, limit: int = 10_000) -> Table[str, Value]:
    return Table(capacity, limit, lambda value: value.nbytes)


def test_one_job_serves_all_who_ask() -> None:
    values = table()
    made: list[int] = []
    found: list[Value] = []

    def make() -> Value:
        made.append(threading.get_ident())
        time.sleep(0.05)
        return Value()

    threads = [
        threading.Thread(target=lambda: found.append(values.get("a", make))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert made[0] not in {thread.ident for thread in threads}
    assert len(found) == 16
    assert len(set(found)) == 1
    assert values.get("a", make) is found[0]


def test_a_failure_leaves_nothing() -> None:
    values = table()

    def fail() -> Value:
        raise ZeroDivisionError("in the job")

    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="in the job") as caught:
            values.get("a", fail)
        assert "fail" in [entry.name for entry in caught.traceback]
    assert not values._flights
    assert "a" not in values
    assert values.get("a", Value).nbytes == 1


def test_the_longest_unused_go_first() -> None:
    values = table(capacity=20)
    for k in range(100):
        values.get(str(k), Value)
        values.get("0", Value)
        assert len(values) <= 20
    assert "0" in values
    assert "99" in values
    assert "1" not in values


def test_bytes_are_bounded() -> None:
    values = table(limit=1000)
    for k in range(200):
        values.get(str(k), lambda: Value(90))
        assert values.nbytes == 90 * len(values) <= 1000
    whole = values.get("whole", lambda: Value(1000))
    assert values.get("whole", Value) is whole
    assert values.get("more", lambda: Value(1001)).nbytes == 1001
    assert "more" not in values


def test_dropped_values_are_released() -> None:
    values = table(capacity=4)
    gone = weakref.ref(values.get("a", Value))
    for k in range(10):
        values.get(str(k), Value)
    worker.run(gc.collect)
    assert gone() is None
    gone = weakref.ref(values.get("b", Value))
    values.clear()
    worker.run(gc.collect)
    assert (gone(), len(values), values.nbytes) == (None, 0, 0)


def test_a_job_that_asks_for_its_own_key_gets_it() -> None:
    """As a finaliser does that runs in the middle of the job."""
    values = table()

    def make() -> Value:
        return values.get("a", lambda: Value(7))

    assert values.get("a", make).nbytes == 7
    assert values.nbytes == 7
    assert not values._flights


def test_a_flight_that_its_caller_left_before_takeoff_is_flown_by_the_next() -> None:
    values = table()
    values._flights["a"] = worker.Job(lambda: values._make("a", lambda: Value(3)))
    assert values.get("a", Value).nbytes == 3
