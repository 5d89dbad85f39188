"""Readers and writers of one array in several threads: no wrong value, no error.

``XARRAYLITE_FAULT_ROUNDS`` sets how many rounds each thread makes.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite.arrays.expression import XExpression
from xarraylite.assignment import elements, readers
from xarraylite.memory import buffer, snapshots
from xarraylite.memory.pool import counters
from xarraylite.memory.snapshots import Snapshot
from xarraylite.testing import assert_same_bits
from xarraylite.transforms import natives

ROUNDS = int(os.environ.get("XARRAYLITE_FAULT_ROUNDS", "200"))


@pytest.fixture(params=[1e-6, 5e-3])
def interval(request: pytest.FixtureRequest) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param)
    yield
    sys.setswitchinterval(before)


def together(*works: Callable[[], None]) -> list[BaseException]:
    """Run functions in threads of their own; return what they raise."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    run_all([threading.Thread(target=guarded, args=(work,)) for work in works])
    return errors


@pytest.mark.usefixtures("interval")
@pytest.mark.parametrize("size", [8, 40_000, 700_000])
def test_an_expression_keeps_the_values_it_was_written_over(size: int) -> None:
    c, lock, done = xl.zeros(size), threading.Lock(), threading.Event()

    def write() -> None:
        number = 0.0
        while not done.is_set():
            number += 1
            with lock:
                c[...] = number
            with lock:
                c[...] = xl.asarray([number]) + 1

    def read() -> None:
        try:
            for _ in range(ROUNDS // (1 if size < 100 else 10 if size < 100_000 else 40) + 1):
                with lock:
                    e, expected = c * 2, float(c[0]) * 2
                values = np.asarray(e)
                assert (values.min(), values.max()) == (expected, expected)
        finally:
            done.set()

    assert together(write, write, read) == []


@pytest.mark.usefixtures("interval")
def test_threads_that_write_and_read_rows_of_their_own() -> None:
    m = xl.zeros((8, 64))

    def work(k: int) -> None:
        for i in range(ROUNDS):
            m[k] = float(i)
            e = m[k] * 2
            m[k] = -1.0
            assert (np.asarray(xl.eval(e)) == 2 * i).all()

    assert together(*[lambda k=k: work(k) for k in range(8)]) == []  # type: ignore[misc]


@pytest.mark.usefixtures("interval")
def test_threads_that_update_rows_of_their_own() -> None:
    m = xl.zeros((8, 64))

    def work(k: int) -> None:
        for _ in range(ROUNDS):
            m[k] = m[k] + 1

    assert together(*[lambda k=k: work(k) for k in range(8)]) == []  # type: ignore[misc]
    assert (np.asarray(m) == ROUNDS).all()


@pytest.mark.usefixtures("interval")
def test_threads_that_keep_expressions_of_one_array() -> None:
    """Expressions come and go while others count who reads."""
    m = xl.zeros((8, 64))

    def work(k: int) -> None:
        kept: list[tuple[Any, int]] = []
        for i in range(ROUNDS):
            m[k] = float(i)
            kept.append((m[k] + 0.5, i))
            if len(kept) > 3:
                e, old = kept.pop(0)
                assert (np.asarray(e) == old + 0.5).all()
            m[k] *= 3

    assert together(*[lambda k=k: work(k) for k in range(8)]) == []  # type: ignore[misc]


@pytest.mark.parametrize("installed", [False, True], ids=["methods", "machine code"])
def test_resizing_beside_reads_and_writes(installed: bool) -> None:
    """Whoever reads or writes meanwhile finds one place or the other, and is refused or not."""
    sizes = (16, 300_000, 4, 70_000)
    c, values, done = xl.zeros(16), [xl.asarray(np.ones(n)) for n in sizes], threading.Event()
    works: list[Callable[[Any], object]] = [
        lambda v: c.__setitem__(..., v * 2 + 1),
        lambda v: c.__setitem__(slice(1, -1), 3.0),
        lambda v: c[2:].__setitem__(..., 4.0),
        lambda v: c.__iadd__(1.0),
        lambda v: xl.noalias(c).__setitem__(..., v + 1),
        lambda v: xl.eval(c[::-1] + 1),
        lambda v: float(xl.sum(c * c)),
        lambda v: c.copy(),
    ]
    if installed:
        natives.install()
    for n, value in zip(sizes, values, strict=True):
        c.resize_(n)
        for work in works * 3:
            work(value)

    def resize() -> None:
        for k in range(5 * ROUNDS):
            c.resize_(sizes[k % 4])
        done.set()

    def use(first: int) -> None:
        k = first
        while not done.is_set():
            with contextlib.suppress(ValueError):  # of a shape that is another by now
                works[k % len(works)](values[k // 3 % 4])
            k += 1

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        errors = together(resize, lambda: use(0), lambda: use(5))
    finally:
        sys.setswitchinterval(before)
        natives.remove()
    assert not errors
    c[...] = 7.0
    assert float(xl.sum(c)) == 7.0 * c.size


def write_number(x: Any, y: Any, k: float) -> None:
    x[...] = k


def write_memory(x: Any, y: Any, k: float) -> None:
    x[...] = y[::-1]


def write_list(x: Any, y: Any, k: float) -> None:
    x[0:2] = [k, k + 1]


def write_array(x: Any, y: Any, k: float) -> None:
    x[...] = np.full(x.size, k)


def write_total(x: Any, y: Any, k: float) -> None:
    x[...] = xl.sum(y) + k


def write_at(x: Any, y: Any, k: float) -> None:
    np.add.at(x, [1, 2], 1.0)


def put(x: Any, y: Any, k: float) -> None:
    np.put(x, [1, 2], k)


def write_shifted(x: Any, y: Any, k: float) -> None:
    x[1:] = x[:-1] * 0.5 + k


def write_updated(x: Any, y: Any, k: float) -> None:
    x += 1


def write_normed(x: Any, y: Any, k: float) -> None:
    x[...] = x * 0.5 + xl.sum(x) * 0 + k


def write_masked(x: Any, y: Any, k: float) -> None:
    x[x < 1e9] = k


def write_computed(x: Any, y: Any, k: float) -> None:
    x[...] = y * 2 + k


#: Many positions of few elements.
POSITIONS = np.random.default_rng(0).integers(0, 400, 200_000)


def write_positions(x: Any, y: Any, k: float) -> None:
    x[POSITIONS] = k


WRITES = [
    *(write_number, write_memory, write_list, write_array),
    *(write_total, write_at, put, write_shifted, write_updated, write_normed, write_masked),
]

#: What lets go of the interpreter's lock where there is much.
LONG_WRITES = [write_number, write_masked, write_computed]


@pytest.mark.parametrize(
    ("shared", "size", "writes", "installed"),
    [
        (False, 8, WRITES, False),
        (True, 8, WRITES, False),
        (False, 300_000, LONG_WRITES, False),
        (False, 300_000, LONG_WRITES, True),
        (False, 400, [write_positions], True),
    ],
    ids=["own", "shared", "large", "machine code", "positions"],
)
def test_an_expression_means_the_same_each_time(
    shared: bool, size: int, writes: list[Callable[..., None]], installed: bool
) -> None:
    """Without a lock it is of the values before a write or after it, and stays what it was."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    memory, y = np.zeros(size), xl.asarray(np.arange(float(size)))
    x = xl.adapt(memory) if shared else xl.zeros(size)
    other = xl.adapt(memory[:]) if shared else x
    done = threading.Event()
    if installed:
        natives.install()

    def write() -> None:
        try:
            for k in range(ROUNDS // 4):
                for one in writes:
                    one(x, y, float(k % 20))
        finally:
            done.set()

    def read(of: Any) -> None:
        while not done.is_set():
            e = of * 2
            first = np.asarray(xl.eval(e)).tobytes()
            of.sum()
            assert np.asarray(xl.eval(e)).tobytes() == first

    try:
        assert together(write, lambda: read(x), lambda: read(other)) == []
    finally:
        sys.setswitchinterval(before)
        natives.remove()


def test_who_reads_while_idle_snapshots_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code, which waits for no lock, takes one that nobody had when it was counted."""
    shared = buffer.Buffer.borrow(np.arange(8.0))
    shared.snapshot()
    assert shared.shared_waiting() == 0
    taken, let_go, noticed = list[Snapshot](), buffer._let_go, list[bool]()

    def read_first(snapshot: Snapshot) -> None:
        if snapshot is shared._known():
            taken.append(snapshot)
        let_go(snapshot)
        noticed.append(shared.asked is not snapshots.newest.mark)  # by a writer in machine code

    with monkeypatch.context() as patch:
        patch.setattr(buffer, "_let_go", read_first)
        buffer._drop_idle()
    assert len(taken) == 1
    assert all(noticed)
    assert shared.shared_waiting() == -1
    shared.release()
    shared.run()[...] = 0
    assert taken[0].run().view("f8").tolist() == list(range(8))


@pytest.mark.parametrize("error", [None, MemoryError, KeyboardInterrupt])
def test_a_write_that_begins_while_a_snapshot_is_made(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | None
) -> None:
    """Machine code, which waits for no lock, does not know of a reader that has no snapshot yet."""
    x, of = xl.ones(8), Snapshot.of
    assert_same_bits(xl.eval(xl.ones(8) * 1), np.ones(8))  # from now on it asks for no node

    def interrupted(memory: Any) -> Snapshot:
        if memory is x._buffer and memory not in snapshots.writing[1:]:
            snapshots.writing.append(memory)  # as another thread does, where nobody waits
        return of(memory)

    def read_too(snapshot: Snapshot | None) -> None:
        others.append(x * 1)  # as a third thread, which finds it in the buffer
        let_go(snapshot)

    def refuse(snapshot: Snapshot) -> int:
        assert error is not None
        raise error

    others, let_go = list[Any](), buffer._let_go
    with monkeypatch.context() as patch:
        patch.setattr(Snapshot, "of", staticmethod(interrupted))
        patch.setattr(buffer, "_let_go", read_too)
        if error is None:
            others.append(XExpression(x.node))
        else:
            patch.setattr(Snapshot, "move", refuse)
            with pytest.raises(error):
                XExpression(x.node)
    x._buffer.run()[:] = 0
    snapshots.writing.remove(x._buffer)
    assert len(others) == 1 + (error is None)
    for read in others:
        if error is None:
            assert_same_bits(xl.eval(read), np.ones(8))
        else:
            with pytest.raises(xl.StaleOperandError, match="no copy of it"):
                xl.eval(read)
    assert_same_bits(xl.eval(x * 1), np.zeros(8))


def test_who_reads_a_product_that_is_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody had waited for it when that was asked."""
    x, counted, read = xl.ones((4, 4)) @ xl.ones((4, 4)), buffer.Buffer.references, list[Any]()
    xl.eval(x * 1)

    def interrupted(memory: Any) -> int:
        found = counted(memory)
        if memory is x._buffer and not read:
            read.append(x * 1)  # as another thread does
        return found

    with monkeypatch.context() as patch:
        patch.setattr(buffer.Buffer, "references", interrupted)
        assert readers.waiting_for(x._buffer) == 0
    x[0, 0] = 9.0
    assert_same_bits(xl.eval(read[0]), np.full((4, 4), 4.0))


def test_references_of_strangers_are_not_the_own_ones_of_what_is_written() -> None:
    """Those of an expression that was moved to a copy meanwhile are as many as a reader's."""
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    try:
        x = xl.zeros(8)
        e = x * 2
        assert readers.wrote(x._buffer, 1, (), elements.filled, x, ..., 1.0)
        assert np.asarray(e).tolist() == [0.0] * 8
        own = x * 2
        assert readers.wrote(x._buffer, 1, own._operands, elements.filled, x, ..., 2.0)
        assert np.asarray(x).tolist() == [2.0] * 8
    finally:
        end.set()
        other.join()


@pytest.mark.usefixtures("installed")
def test_memory_that_is_given_to_others_while_it_is_written_keeps_its_readers() -> None:
    x = xl.asarray(np.full(100_000, 0.5))
    given = threading.Event()

    def give() -> None:
        while not given.is_set():
            if snapshots.writing:
                x.buffer.share()
                given.set()

    other = threading.Thread(target=give)
    other.start()
    for _ in range(2000):
        x[...] = xl.sin(x) * xl.cos(x) + 0.25
        if given.is_set():
            break
    given.set()
    other.join()
    e, wanted = x + 1, np.asarray(x) + 1
    x[...] = 7.0
    assert_same_bits(xl.eval(e), wanted)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("size", [100, 300_000])
def test_memory_written_beside_other_threads_is_not_copied(size: int) -> None:
    """Given memory too, of which snapshots are known by weak references."""
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    try:
        for x in (xl.zeros(size), xl.adapt(np.zeros(size))):
            made = []
            for _ in range(5):
                before = counters.bytes
                x[1:] = x[:-1] * 0.5 + 1
                made.append(counters.bytes - before)
            assert made[2:] == [0, 0, 0]
    finally:
        end.set()
        other.join()
