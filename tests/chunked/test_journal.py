"""Stores that end early: what is left, and going on with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, Sink, child_of, names_in
from xarraylite.chunked import journal

zarr = pytest.importorskip("zarr")

VALUES = np.arange(600.0).reshape(20, 30)


@pytest.fixture
def once(engine: str) -> None:
    if engine == "reference":
        pytest.skip("processes and files do not depend on the engine")


class Stops(Kept):
    """Interrupts after some reads."""

    left = 3

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().__getitem__(key)


def _interrupted(tmp_path: Path, name: str = "a") -> Stops:
    source = Stops(VALUES, (1, 30))
    with pytest.raises(KeyboardInterrupt):
        xl.store(xl.open(source) + 1, tmp_path / name, memory=2000)
    source.left = 1000
    source.read.clear()
    return source


@pytest.mark.parametrize("locks", [journal._LOCKS, False])
def test_resuming_does_what_is_left(
    locks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_LOCKS", locks)
    source = _interrupted(tmp_path)
    half = tmp_path / "a" / "c" / "3" / f"0.{'0a' * 16}.partial"  # as a killed process leaves it
    mine = [tmp_path / "a" / name for name in ("my.partial", f"notes.{'0a' * 16}.partial")]
    half.parent.mkdir(parents=True, exist_ok=True)
    other = tmp_path / "a" / f"zarr.{'0a' * 16}.partial"
    for path in (half, other, *mine):
        path.write_text("half")
    with pytest.raises(xl.StorageError, match="resume=True continues it"):
        xl.store(xl.open(source) + 1, tmp_path / "a")
    xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
    assert len(source.read) < 20
    assert [path.exists() for path in (half, other, *mine)] == [False, False, True, True]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES + 1)
    assert names_in(tmp_path) == ["a"]
    with pytest.raises(xl.StorageError, match="no record"):
        xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)


def test_finished_blocks_that_are_gone_or_changed_are_made_again(tmp_path: Path) -> None:
    source = _interrupted(tmp_path)
    (tmp_path / "a" / "c" / "0" / "0").unlink()
    xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES + 1)
    _interrupted(tmp_path / "b")
    array = zarr.open_array(tmp_path / "b" / "a", mode="r+")
    array.attrs["units"] = "m"  # its metadata may change
    array[0] = 7.0
    source.read.clear()
    xl.store(xl.open(source) + 1, tmp_path / "b" / "a", resume=True)
    assert 0 < len(source.read) < 20
    np.testing.assert_array_equal(array[...], VALUES + 1)


@pytest.mark.parametrize("page", range(1, 5))
def test_a_page_that_a_map_has_lost_is_made_again(page: int, tmp_path: Path) -> None:
    values = np.arange(1.0, 12_001.0).reshape(4, 3000)
    source = Stops(values, (1, 3000))
    with pytest.raises(KeyboardInterrupt):
        xl.store(xl.open(source) + 1, tmp_path / "a.npy", memory=120_000)
    source.left = 1000
    with (tmp_path / "a.npy").open("r+b") as file:
        file.seek(4096 * page)
        file.write(bytes(4096))
    xl.store(xl.open(source) + 1, tmp_path / "a.npy", resume=True)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), values + 1)


def _npy(path: Path) -> None:
    np.save(path, VALUES)


def _zarr(path: Path) -> None:
    shutil.rmtree(path)
    zarr.create_array(path, data=VALUES, chunks=(1, 30))


def _emptied(path: Path) -> None:
    shutil.rmtree(path)
    zarr.create_array(path, shape=VALUES.shape, dtype=VALUES.dtype, chunks=(1, 30))


@pytest.mark.parametrize(("name", "replace"), [("a.npy", _npy), ("a", _zarr), ("a", _emptied)])
def test_another_array_in_place_of_the_target_is_not_resumed(
    name: str, replace: Callable[[Path], None], tmp_path: Path
) -> None:
    source = _interrupted(tmp_path, name)
    replace(tmp_path / name)
    with pytest.raises(xl.StorageError, match="replaced or changed since; overwrite=True"):
        xl.store(xl.open(source) + 1, tmp_path / name, resume=True)
    kept = np.load(tmp_path / name) if name == "a.npy" else zarr.open_array(tmp_path / name)[...]
    assert not (kept == VALUES + 1).any(axis=1).any() or replace is _emptied
    xl.store(xl.open(source) + 1, tmp_path / name, overwrite=True)
    assert names_in(tmp_path) == [name]


def test_another_expression_is_not_resumed(tmp_path: Path) -> None:
    source = _interrupted(tmp_path)
    with pytest.raises(xl.StorageError, match="another expression"):
        xl.store(xl.open(source) + 2, tmp_path / "a", resume=True)
    with pytest.raises(xl.StorageError, match=r"chunks of \[1, 30\], not \[2, 30\]"):
        xl.store(xl.open(source) + 1, tmp_path / "a", chunks=(2, 30), resume=True)
    with pytest.raises(xl.StorageError, match=r"expression, and .* another layout"):
        xl.store(xl.open(source) - 1, tmp_path / "a", layout="column_major", resume=True)


def test_changed_operands_are_not_resumed(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", VALUES)
    c = xl.asarray(np.ones(30))
    stops = Stops(VALUES, (1, 30))

    def write() -> Any:
        return xl.open(tmp_path / "in.npy") + c + xl.open(stops)

    with pytest.raises(KeyboardInterrupt):
        xl.store(write(), tmp_path / "a", memory=3000)
    c[0] = 2.0
    with pytest.raises(xl.StorageError, match=r"has changed .*: float64\[30\] in memory;"):
        xl.store(write(), tmp_path / "a", resume=True)
    c[0] = 1.0
    np.save(tmp_path / "in.npy", VALUES * 2)
    os.utime(tmp_path / "in.npy", ns=(1, 1))
    with pytest.raises(xl.StorageError, match=r"has changed .*: \S*in.npy;"):
        xl.store(write(), tmp_path / "a", resume=True)


def test_a_changed_store_in_memory_is_not_resumed(tmp_path: Path) -> None:
    kept = zarr.create_array(zarr.storage.MemoryStore(), data=VALUES, chunks=(5, 30))
    stops = Stops(VALUES, (1, 30))
    with pytest.raises(KeyboardInterrupt):
        xl.store(xl.open(kept) + xl.open(stops), tmp_path / "a", memory=20_000)
    kept[0, 0] = 1.0
    with pytest.raises(xl.StorageError, match="an operand has changed"):
        xl.store(xl.open(kept) + xl.open(stops), tmp_path / "a", resume=True)


def test_what_was_begun_and_never_written_is_made_anew(tmp_path: Path) -> None:
    """As a process leaves it that is killed between the record and the target, or in a pass."""
    source = _interrupted(tmp_path)
    record = tmp_path / ".a.xl-store"
    record.write_bytes(record.read_bytes().split(b"\n")[0] + b"\n")
    (tmp_path / "a" / "zarr.json").unlink()
    (tmp_path / f".{record.name}.0123456789abcdef.tmp").write_text("half")
    xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES + 1)
    assert names_in(tmp_path) == ["a"]


def test_nothing_is_left_of_what_did_not_begin(tmp_path: Path) -> None:
    source = Stops(VALUES, (5, 30))
    source.left = 0
    with pytest.raises(KeyboardInterrupt):
        xl.store(xl.open(source) - xl.max(xl.open(source)), tmp_path / "a")
    with pytest.raises(xl.SizeError, match="the least that does"):
        xl.store(xl.open(source) + 1, tmp_path / "a", memory=1000)
    with pytest.raises(xl.StorageError, match="cannot make a zarr array"):
        xl.store(xl.open(source).astype("bfloat16"), tmp_path / "a")
    assert names_in(tmp_path) == []
    (tmp_path / "a").write_text("mine")
    with pytest.raises(xl.SizeError, match="the least that does"):
        xl.store(xl.open(source) + 1, tmp_path / "a", memory=1000, overwrite=True)
    assert (tmp_path / "a").read_text() == "mine"


def test_what_an_interrupted_store_still_writes_comes_before_the_next_one() -> None:
    class Slow(Sink):
        def __setitem__(self, key: tuple[slice, ...], values: Any) -> None:
            if values.flat[0] == 1:
                time.sleep(0.4)
            self.values[key] = values

    target = Slow(np.zeros((20, 30)), (5, 30))
    source = Stops(np.zeros((20, 30)), (5, 30))
    source.left = 1
    with pytest.raises(KeyboardInterrupt):
        xl.store(xl.open(source) + 1, target, memory=10_000)
    xl.store(xl.open(Kept(VALUES, (5, 30))) + 2, target)
    np.testing.assert_array_equal(target.values, VALUES + 2)
    time.sleep(0.4)
    np.testing.assert_array_equal(target.values, VALUES + 2)


class Meanwhile(Kept):
    """Does something once, while one of its chunks is read."""

    def do(self, at: int, work: Callable[[], object]) -> None:
        self.todo = {at: work}

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        self.todo.pop(key[0].start, int)()
        return super().__getitem__(key)


@pytest.mark.parametrize("name", ["a", "a.npy"])
def test_of_two_stores_under_one_path_the_second_is_refused(name: str, tmp_path: Path) -> None:
    source, told = Meanwhile(VALUES, (1, 30)), []

    def other() -> None:
        for over, again in ((False, False), (True, False), (False, True)):
            e = xl.open(Kept(VALUES, (1, 30))) + 2
            with pytest.raises(xl.StorageError) as found:
                xl.store(e, tmp_path / name, overwrite=over, resume=again)
            told.append(str(found.value))

    source.do(12, other)  # when some blocks are there
    made = xl.store(xl.open(source) + 1, tmp_path / name, memory=3000)
    np.testing.assert_array_equal(made[...], VALUES + 1)
    assert "exists" in told[0]
    assert "another store is writing" in told[1]
    assert "another expression" in told[2]
    assert names_in(tmp_path) == [name]


def test_what_another_store_has_made_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    source = Meanwhile(VALUES, (1, 30))
    source.do(0, lambda: xl.store(xl.asarray(VALUES), tmp_path / "a"))
    with pytest.raises(xl.StorageError, match="another store has made"):
        xl.store(xl.open(source) + xl.max(xl.open(source)), tmp_path / "a")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES)
    assert names_in(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["sum", "max"])
@pytest.mark.parametrize("keepdims", [True, False])
def test_results_of_a_fold_are_resumed(name: str, keepdims: bool, tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(10, 6000))
    source, expected = Stops(values, (10, 500)), getattr(xl, name)(xl.asarray(values), axis=0)
    chunks = (1, 500) if keepdims else (500,)

    def work(resume: bool) -> Any:
        e = getattr(xl, name)(xl.open(source), axis=0, keepdims=keepdims)
        return xl.store(e, tmp_path / "a", chunks=chunks, memory=180_000, resume=resume)

    with pytest.raises(KeyboardInterrupt):
        work(False)
    record = (tmp_path / ".a.xl-store").read_text().split("\n")
    assert len(record) > 2
    source.left = 1000
    source.read.clear()
    made = work(True)
    assert 0 < source.elements < values.size
    np.testing.assert_allclose(np.ravel(made[...]), expected.numpy())
    assert names_in(tmp_path) == ["a"]


def test_a_damaged_record(tmp_path: Path) -> None:
    source = _interrupted(tmp_path)
    record = tmp_path / ".a.xl-store"
    head = record.read_text().split("\n")[0]
    source.left = 2
    for _ in range(2):
        record.write_bytes(record.read_bytes() + b"[19, 0")  # a line cut short by a crash
        with pytest.raises(KeyboardInterrupt):
            xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
        source.left = 2
    source.left = 1000
    nowhere = "[[0], 5]\n[[0, 0, 0], 5]\n[[100, 0], 5]\n[[0.5, 0], 5]\n[[-1, 0], 5]\n"
    record.write_text(record.read_text() + nowhere + "[19, 0")
    xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES + 1)
    known = json.loads(head)
    known["stored"]["chunks"] = 3
    record.write_text(json.dumps(known) + "\n")
    with pytest.raises(xl.StorageError, match="damaged"):
        xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
    record.write_text("nonsense\n")
    with pytest.raises(xl.StorageError, match="damaged"):
        xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)


_WORK = """
import os, random, shutil, signal, sys, time
import numpy as np, xarraylite as xl, zarr
path, kills = {path!r}, {kills!r}

def work():
    a = xl.open(path + "/in.npy")
    xl.store((a - 1) ** 2 + xl.max(a), path + "/out", chunks=(4, 500), memory="600 kB", resume=True)

def unfinished():
    return os.path.exists(path + "/.out.xl-store") or not os.path.exists(path + "/out")

def check():
    a = np.load(path + "/in.npy")
    assert (zarr.open_array(path + "/out")[...] == (a - 1) ** 2 + a.max()).all()
    assert sorted(os.listdir(path)) == ["in.npy", "out"]
    assert not [name for _, _, names in os.walk(path) for name in names if "partial" in name]

def begin():
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    return child

if kills:
    work()  # children have what this process has imported and compiled
    check()
    shutil.rmtree(path + "/out")
    start = time.monotonic()
    os.waitpid(begin(), 0)
    whole = time.monotonic() - start
moments = random.Random(1)
while kills:
    if not unfinished():
        check()
        shutil.rmtree(path + "/out")
    child = begin()
    time.sleep(moments.uniform(0.0, whole))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    kills -= 1
if unfinished():
    work()
check()
print("done", flush=True)
"""


@pytest.mark.usefixtures("once")
def test_killed_at_fifty_random_moments_and_resumed(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.random.default_rng(0).normal(size=(200, 500)))
    child = child_of(_WORK.format(path=str(tmp_path), kills=50))
    out, err = child.communicate(timeout=120)
    assert out.endswith("done\n"), err


@pytest.mark.usefixtures("once")
def test_an_interrupt_returns_at_once_and_can_be_resumed(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.ones((2000, 500)))
    child = child_of(_WORK.format(path=str(tmp_path), kills=0))
    record = tmp_path / ".out.xl-store"
    while not record.exists() or record.read_text().count("\n") < 3:
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    assert "done" not in out
    a = xl.open(tmp_path / "in.npy")
    made = xl.store((a - 1) ** 2 + xl.max(a), tmp_path / "out", chunks=(4, 500), resume=True)
    assert (made[...] == 1.0).all()
