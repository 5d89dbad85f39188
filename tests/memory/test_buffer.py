"""Owning, borrowing, viewing, and the record of who still reads a buffer."""

from __future__ import annotations

import array
import gc
import mmap
import os
import random
import threading
import weakref
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.cases import together
from tests.threads import run_all
from xarraylite._config import config
from xarraylite._errors import DTypeError, LayoutError, SizeError
from xarraylite.layout.strided import Strided
from xarraylite.memory import buffer as buffers
from xarraylite.memory import snapshots
from xarraylite.memory.block import byte_reach
from xarraylite.memory.buffer import Buffer
from xarraylite.memory.pool import POOL_FROM, counters
from xarraylite.memory.snapshots import LateSnapshot, Snapshot, pinned

F8 = np.dtype("f8")
SIZES = (0, 1, 63, 64, 65, 127, 128, 511, 512, 513, 4096, POOL_FROM - 1, POOL_FROM, POOL_FROM + 1)


def address_of(a: np.ndarray) -> int:
    return int(a.__array_interface__["data"][0])


@together("nbytes", SIZES)
def test_allocate(nbytes: int) -> None:
    buffer = Buffer.allocate(nbytes)
    assert buffer.nbytes == nbytes
    assert buffer.address % 64 == 0
    assert buffer.address > 0
    assert (buffer.readonly, buffer.owner, buffer.retired) == (False, None, False)
    assert buffer.data.shape == (nbytes,)
    assert buffer.data.dtype == np.uint8
    buffer.data[...] = 7
    if nbytes:
        assert address_of(buffer.data) == buffer.address


def test_buffers_in_use_never_share_bytes() -> None:
    rng = random.Random(1)
    live: list[Buffer] = []
    for _ in range(3000):
        live.append(Buffer.allocate(rng.choice((0, 1, 8, 64, 80, 200, 512, 700))))
        if len(live) > 400:
            del live[rng.randrange(400)]
    ranges = sorted((b.address, b.address + max(b.nbytes, 1)) for b in live)
    assert all(end <= start for (_, end), (start, _) in pairwise(ranges))


def test_threads_never_get_the_same_bytes() -> None:
    found: list[list[Buffer]] = [[] for _ in range(8)]
    start = threading.Barrier(8)

    def work(mine: list[Buffer]) -> None:
        start.wait()
        mine.extend(Buffer.allocate(64) for _ in range(3000))

    run_all([threading.Thread(target=work, args=(mine,)) for mine in found])
    addresses = [b.address for mine in found for b in mine]
    assert len(addresses) == len(set(addresses)) == 24000


def test_a_slab_is_freed_with_its_last_buffer() -> None:
    buffers = [Buffer.allocate(512) for _ in range(200)]
    slabs = {id(b._memory): weakref.ref(b._memory) for b in buffers}
    view = buffers[0].data
    keeps = id(buffers[0]._memory)
    last = id(buffers[-1]._memory)  # still being cut from
    del buffers
    gc.collect()
    alive = {key for key, slab in slabs.items() if slab() is not None}
    assert alive <= {keeps, last}
    assert keeps in alive
    view[...] = 1


@pytest.mark.parametrize("nbytes", [-1, 1 << 63, 1 << 64, 10**30])
def test_impossible_sizes_are_refused(nbytes: int) -> None:
    with pytest.raises(SizeError, match=rf"{nbytes} bytes"):
        Buffer.allocate(nbytes)


def test_configured_limit() -> None:
    with config(max_result_bytes=100):
        Buffer.allocate(100)
        with pytest.raises(SizeError, match=r"101 bytes asked for; the limit is 100 bytes"):
            Buffer.allocate(101)
    with config(max_result_bytes=1 << 70), pytest.raises(SizeError, match=str(2**63 - 1)):
        Buffer.allocate(1 << 63)


def test_numpy_integers_do_not_wrap() -> None:
    assert Buffer.allocate(np.int8(100)).nbytes == 100  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Buffer.allocate(8.0)  # type: ignore[arg-type]


def test_allocations_are_counted() -> None:
    before = counters.allocations, counters.bytes
    Buffer.allocate(80)
    Buffer.allocate(5000)
    Buffer.borrow(b"12345")
    assert (counters.allocations - before[0], counters.bytes - before[1]) == (2, 5080)


def mapped(path: Path) -> mmap.mmap:
    path.write_bytes(bytes(range(48)))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


def memory_map(path: Path) -> np.ndarray:
    path.write_bytes(bytes(range(48)))
    return np.memmap(path, dtype="f4", mode="r")


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "bytes": lambda _: bytes(range(48)),
    "bytearray": lambda _: bytearray(range(48)),
    "memoryview": lambda _: memoryview(bytearray(range(48))),
    "part of a memoryview": lambda _: memoryview(bytearray(range(99)))[7:55],
    "mmap": mapped,
    "array.array": lambda _: array.array("d", range(6)),
    "array.array of characters": lambda _: array.array("u", "abcdefghijkl"),
    "memoryview of doubles": lambda _: memoryview(np.arange(6.0)),
    "ndarray": lambda _: np.arange(6.0),
    "column-major": lambda _: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "bfloat16": lambda _: np.arange(24).astype(ml_dtypes.bfloat16),
    "structured": lambda _: np.zeros(3, [("O", "f8"), ("b", "f8")]),
    "scalar": lambda _: np.complex128(1 + 2j),
    "memory map": memory_map,
}


@pytest.mark.parametrize("name", FOREIGN)
def test_borrow(name: str, tmp_path: Path) -> None:
    obj = FOREIGN[name](tmp_path / "bytes")
    buffer = Buffer.borrow(obj)
    expected = obj.tobytes("A") if isinstance(obj, np.ndarray) else bytes(obj)
    assert buffer.data.tobytes() == expected
    assert buffer.owner is obj
    assert buffer.address == address_of(buffer.data)
    read_only = name in ("bytes", "scalar", "memory map")
    assert buffer.readonly is read_only
    assert buffer.data.flags.writeable is not read_only
    if not read_only:
        buffer.data[3] = 77
        assert Buffer.borrow(obj).data[3] == 77


def test_borrow_of_strided_arrays_is_the_range_they_reach() -> None:
    base = np.arange(60, dtype="i2").reshape(6, 10)
    raw = base.view("u1").ravel()
    for view in (base[1:4, 2:9:3], base[::-1], base[4:0:-2, ::-3], base.T[3:5], base[2:3, 4:5]):
        buffer = Buffer.borrow(view)
        low, high = np.lib.array_utils.byte_bounds(view)
        assert (buffer.address, buffer.nbytes) == (low, high - low)
        assert np.shares_memory(buffer.data, view)
        first = low - address_of(base)
        assert np.array_equal(buffer.data, raw[first : first + buffer.nbytes])
    for view in (base[3:3], base[:, 5:5], np.empty(0)):
        assert Buffer.borrow(view).nbytes == 0
    assert Buffer.borrow(np.broadcast_to(base[0], (5, 10))).nbytes == 20
    assert Buffer.borrow(np.broadcast_to(base[0], (5, 10))).readonly
    assert Buffer.borrow(memoryview(bytearray(range(10)))[::-2]).nbytes == 9
    assert Buffer.borrow(memoryview(bytearray(range(10)))[::-2]).data[0] == 1


def test_borrowed_memory_is_kept_alive_by_views_alone() -> None:
    source = np.arange(8.0)[::-1]
    gone = weakref.ref(source)
    buffer = Buffer.borrow(source)
    view = buffer.view(F8, Strided((8,), (1,), 0))
    del buffer, source
    gc.collect()
    assert gone() is not None
    assert view.tolist() == list(range(8))
    del view
    gc.collect()
    assert gone() is None


def test_borrowing_pins_a_resizable_owner() -> None:
    owner = bytearray(16)
    buffer = Buffer.borrow(owner)
    with pytest.raises(BufferError):
        owner.append(1)
    del buffer
    owner.append(1)


@together(
    "obj",
    [
        np.array([1, None]),
        np.zeros(2, [("a", "O")]),
        memoryview(np.array([1, None])),
        3,
        "text",
        [1.0, 2.0],
        None,
    ],
)
def test_what_cannot_be_borrowed(obj: object) -> None:
    with pytest.raises(DTypeError, match=r"^adapt: got .*(rule is|not supported)"):
        Buffer.borrow(obj)


def test_view() -> None:
    buffer = Buffer.allocate(96)
    flat = buffer.data.view("f8")
    flat[...] = np.arange(12)
    matrix = buffer.view(F8, Strided((3, 4), (4, 1), 0))
    assert matrix.tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert buffer.view(F8, Strided((4, 3), (-1, -4), 11)).tolist() == matrix[::-1, ::-1].T.tolist()
    assert buffer.view(F8, Strided((2, 2), (0, 1), 10)).tolist() == [[10, 11], [10, 11]]
    assert buffer.view(F8, Strided((), (), 11)).item() == 11
    assert buffer.view(F8, Strided((0, 5), (100, 1), 50)).shape == (0, 5)
    assert buffer.view(F8, Strided((1, 2), (1 << 62, 1), 3)).tolist() == [[3, 4]]
    matrix[0, 0] = 99
    assert flat[0] == 99
    assert buffer.view(np.dtype(ml_dtypes.bfloat16), Strided((48,), (1,), 0)).itemsize == 2
    assert not Buffer.borrow(bytes(8)).view(F8, Strided((1,), (1,), 0)).flags.writeable


@together(
    ("shape", "strides", "offset"),
    [
        ((13,), (1,), 0),
        ((12,), (1,), 1),
        ((2,), (1,), -1),
        ((12,), (-1,), 10),
        ((2,), (1 << 62,), 0),
        ((3,), (-(1 << 62),), 0),
        ((1 << 40, 1 << 40), (0, 1), 0),
        ((2, 2), (1 << 63, -(1 << 63)), 0),
        ((1,), (1,), 1 << 64),
    ],
)
def test_views_that_reach_outside_are_refused(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    with pytest.raises(LayoutError, match=r"^view: .* reach bytes .* of a buffer of 96 bytes"):
        Buffer.allocate(96).view(F8, Strided(shape, strides, offset))


def test_view_of_too_many_repeated_elements_is_refused() -> None:
    with pytest.raises(LayoutError, match=r"^view: shape"):
        Buffer.allocate(8).view(F8, Strided((1 << 40, 1 << 40), (0, 0), 0))


def test_byte_reach() -> None:
    assert byte_reach((), [], 24, 8) == (24, 32)
    assert byte_reach((3, 2), [-16, 8], 32, 8) == (0, 48)
    assert byte_reach((3, 0), [-16, 8], 32, 8) == (0, 0)
    assert byte_reach((2,), [1 << 70], 0, 1) == (0, (1 << 70) + 1)


def test_a_buffer_is_awaited_as_long_as_somebody_holds_its_snapshot() -> None:
    buffer = Buffer.allocate(64)
    assert not buffer.is_awaited()
    snapshot = buffer.snapshot()
    assert (snapshot.address, snapshot.nbytes) == (buffer.address, 64)
    assert (snapshot.stale, snapshot.late) == (None, False)
    assert buffer.snapshot() is snapshot
    assert buffer.is_awaited()
    del snapshot
    assert not buffer.is_awaited()
    late = LateSnapshot(buffer)
    assert late.late
    assert not buffer.is_awaited()


def test_a_reading_keeps_the_memory_but_not_the_buffer() -> None:
    buffer = Buffer.allocate(64)
    buffer.run()[...] = 7
    snapshot, gone = buffer.snapshot(), weakref.ref(buffer)
    del buffer
    assert gone() is None
    assert snapshot.run().tolist() == [7] * 64


def test_release_moves_the_reading_to_the_old_values() -> None:
    buffer = Buffer.allocate(64)
    buffer.run()[...] = 1
    before = counters.snapshots
    assert buffer.release() is None
    snapshot = buffer.snapshot()
    assert buffer.release() is None
    assert counters.snapshots == before + 1
    buffer.run()[...] = 2
    assert snapshot.address != buffer.address
    assert snapshot.run().tolist() == [1] * 64
    assert not buffer.is_awaited()
    again = buffer.snapshot()
    assert again is not snapshot
    assert buffer.is_read_by(again)
    assert not buffer.is_read_by(snapshot)


def test_release_leaves_a_reading_that_only_the_assigned_expression_holds() -> None:
    buffer = Buffer.allocate(64)
    held = [buffer.snapshot()]
    which = id(held[0])
    kept = buffer.release(1, which)
    assert kept is held[0]
    assert kept.address == buffer.address
    kept.expire("overwritten by +=")
    assert kept.stale == "overwritten by +="
    assert not hasattr(kept, "address")
    assert buffer.snapshot().stale is None
    other = buffer.snapshot()
    assert buffer.release(1, which) is None, "another snapshot"
    assert other.address != buffer.address


def test_release_of_too_much_changes_nothing() -> None:
    buffer = Buffer.allocate(64)
    snapshot = buffer.snapshot()
    with config(max_result_bytes=63), pytest.raises(SizeError):
        buffer.release()
    assert buffer.is_read_by(snapshot)
    assert snapshot.address == buffer.address
    assert buffer.is_awaited()


def test_borrowed_buffers_over_the_same_bytes_know_each_other() -> None:
    memory = np.arange(10.0)
    whole, left, right = (Buffer.borrow(part) for part in (memory, memory[:5], memory[5:]))
    snapshot = left.snapshot()
    assert whole.is_awaited()
    assert not right.is_awaited()
    before = counters.snapshots
    right.release()
    assert counters.snapshots == before
    whole.release()
    assert counters.snapshots == before + 1
    memory[...] = -1
    assert snapshot.run().view("f8").tolist() == list(range(5))
    assert not left.is_awaited()
    assert not whole.is_awaited()
    assert left.snapshot() is not snapshot


def test_references_to_shared_bytes_are_counted_if_they_are_one_buffers() -> None:
    memory = np.arange(10.0)
    whole, left = Buffer.borrow(memory), Buffer.borrow(memory[:5])
    assert whole.shared_waiting() == 0
    mine = whole.snapshot()
    twice = [mine, mine]
    assert whole.shared_waiting() == 1 + len(twice)
    assert left.shared_waiting() == -1
    del mine, twice
    assert whole.shared_waiting() == left.shared_waiting() == 0


def test_shared_bytes_whose_readers_have_left_are_not_looked_for_among_all_again() -> None:
    buffer = Buffer.borrow(np.arange(10.0))
    assert buffer.shared_waiting() == 0
    buffer.release()
    kept = buffer.snapshot()
    assert buffer.asked is snapshots.newest.mark  # it is the buffer's own
    assert buffer.shared_waiting() == 1
    del kept


@pytest.mark.parametrize("given", ["data", "array", "share"])
def test_memory_that_was_given_away_may_be_written_through_another_buffer(given: str) -> None:
    buffer = Buffer.allocate(64)
    buffer.run()[...] = 1
    before = buffer.snapshot()
    memory = {"data": lambda: buffer.data, "array": lambda: np.asarray(buffer)}.get(given)
    if memory is None:
        buffer.share()
        other = Buffer.lent(buffer)
    else:
        other = Buffer.borrow(memory())
    assert (before.address == buffer.address) == (given == "share")  # what NumPy writes is not seen
    after = buffer.snapshot()
    assert other.is_awaited()
    other.release()
    other.run()[...] = 2
    assert before.run().tolist() == after.run().tolist() == [1] * 64


def test_a_writer_waits_for_a_kernel_that_reads() -> None:
    buffer = Buffer.allocate(64)
    buffer.run()[...] = 1
    snapshot, seen = buffer.snapshot(), []
    with pinned([snapshot]):
        writer = threading.Thread(target=lambda: (buffer.release(), seen.append(1)))
        writer.start()
        writer.join(0.05)
        assert not seen
        assert snapshot.address == buffer.address
    writer.join()
    assert snapshot.address != buffer.address


class _Landing(list[int]):
    """Kernels in flight, of which one ends whenever somebody has looked."""

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        if place == 0 and found:
            self[0] = found - 1
        return found


def test_a_writer_does_not_wait_for_a_kernel_that_has_just_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kernels that run without the interpreter's lock do not say when they end."""
    buffer = Buffer.allocate(64)
    snapshot = buffer.snapshot()
    monkeypatch.setattr(snapshots, "flying", _Landing([1, 0]))
    writer = threading.Thread(target=buffer.release, daemon=True)
    writer.start()
    writer.join(120)
    assert not writer.is_alive(), "it waited without an end"
    assert snapshot.address != buffer.address


def test_one_reading_for_all_threads() -> None:
    for _ in range(30):
        buffer = Buffer.allocate(64)
        start = threading.Barrier(6)
        found: list[Snapshot] = []

        def work(
            buffer: Buffer = buffer,
            start: threading.Barrier = start,
            found: list[Snapshot] = found,
        ) -> None:
            start.wait()
            found.append(buffer.snapshot())

        run_all([threading.Thread(target=work) for _ in range(6)])
        assert len({id(snapshot) for snapshot in found}) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_parent_and_child_go_on_allocating_after_a_fork() -> None:
    kept = [Buffer.allocate(n) for n in (64, 512, 5000, POOL_FROM)]
    for buffer in kept:
        buffer.data[...] = 1
    child = os.fork()
    if child == 0:
        fine = all(buffer.data.min() == 1 for buffer in kept)
        more = [Buffer.allocate(n) for n in (64, 512, 5000, POOL_FROM)]
        for buffer in more:
            buffer.data[...] = 2
        fine = fine and all(buffer.data.max() == 1 for buffer in kept)
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    more = [Buffer.allocate(n) for n in (64, 512, 5000, POOL_FROM)]
    for buffer in more:
        buffer.data[...] = 3
    assert all(buffer.data.max() == 1 for buffer in kept)


def test_repr_names_size_and_access() -> None:
    assert repr(Buffer.allocate(8)) == "<Buffer of 8 bytes, owned>"
    assert repr(Buffer.borrow(b"1234")) == "<Buffer of 4 bytes, borrowed, read-only>"
    assert "current" in repr(Buffer.allocate(8).snapshot())


def test_many_shared_buffers_that_are_read_are_looked_at_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = 0
    held = buffers._are_held

    def counting(snapshots: list[Any]) -> bool:
        nonlocal looks
        looks += 1
        return held(snapshots)

    monkeypatch.setattr(buffers, "_are_held", counting)
    lent = [Buffer.borrow(np.zeros(8)) for _ in range(500)]
    read = [buffer.snapshot() for buffer in lent]
    assert looks < 4 * len(read)
