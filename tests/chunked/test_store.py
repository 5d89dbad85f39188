"""Storing: targets, errors, resuming, and what is left when something fails."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, Sink
from xarraylite.chunked import retries

zarr = pytest.importorskip("zarr")

VALUES = np.arange(600.0).reshape(20, 30)


@pytest.fixture
def once(engine: str) -> None:
    if engine == "reference":
        pytest.skip("processes and files do not depend on the engine")


def names_in(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def kept(chunks: tuple[int, ...] = (5, 10)) -> Any:
    return xl.open(Kept(VALUES, chunks))


def test_a_new_zarr_array_has_the_operands_chunks(tmp_path: Path) -> None:
    made = xl.store(kept() * 2, tmp_path / "a")
    assert made.chunks == (5, 10)
    assert made.metadata.zarr_format == 3
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES * 2)
    assert names_in(tmp_path) == ["a"]


def test_a_new_npy_file(tmp_path: Path) -> None:
    xl.store(kept().T + 1, tmp_path / "a.npy", chunks=7)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), VALUES.T + 1)


def test_chunks_as_asked(tmp_path: Path) -> None:
    assert xl.store(kept(), tmp_path / "a", chunks=(20, 4)).chunks == (20, 4)
    with pytest.raises(xl.ShapeError, match=r"chunks \(4,\)"):
        xl.store(kept(), tmp_path / "b", chunks=(4,))
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("name", ["a", "a.npy"])
def test_what_is_there_stays_unless_told(tmp_path: Path, name: str) -> None:
    xl.store(kept(), tmp_path / name)
    with pytest.raises(xl.StorageError, match="overwrite=True"):
        xl.store(kept() + 1, tmp_path / name)
    np.testing.assert_array_equal(xl.eval(xl.open(tmp_path / name)).numpy(), VALUES)
    xl.store(kept() + 1, tmp_path / name, overwrite=True)
    np.testing.assert_array_equal(xl.eval(xl.open(tmp_path / name)).numpy(), VALUES + 1)


@pytest.mark.parametrize("name", ["a.zip", "a.h5"])
def test_names_of_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(xl.StorageError, match="opened as another format"):
        xl.store(kept(), tmp_path / name)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("layout", ["{1,0:T(8,128)}", "{0,1:T(4,2)}"])
def test_a_target_in_memory_keeps_its_layout(layout: str) -> None:
    made = xl.zeros((20, 30), layout=layout)
    assert xl.store(kept() * 2, made) is made
    assert str(made.layout) == layout
    np.testing.assert_array_equal(made.numpy(), VALUES * 2)


@pytest.mark.parametrize("other", [np.zeros((20, 31)), np.zeros((20, 30), "f4"), [1], None])
def test_targets_that_do_not_fit(other: Any) -> None:
    with pytest.raises((xl.ShapeError, xl.DTypeError), match=r"^store: "):
        xl.store(kept(), other)


@pytest.mark.parametrize("memory", ["many", "2 QiB", 0, "0 GB"])
def test_budgets_that_are_none(memory: Any) -> None:
    with pytest.raises(ValueError, match="memory: "):
        xl.store(kept(), np.zeros((20, 30)), memory=memory)


def test_a_budget_too_small_says_the_least() -> None:
    with pytest.raises(xl.SizeError, match=r"budget is 1000 bytes .* least that does is 2800"):
        xl.store(kept(), Sink(np.zeros((20, 30)), (5, 10)), memory=1000)


def test_a_target_that_is_an_operand(tmp_path: Path) -> None:
    made = xl.store(kept(), tmp_path / "a")
    e = xl.open(made)
    with pytest.raises(xl.OverlapError, match="other blocks write"):
        xl.store(e[::-1], made)
    with pytest.raises(xl.OverlapError, match="other blocks write"):
        xl.store(xl.open(tmp_path / "a") + e.mT[:20, :20][:, :1], zarr.open_array(tmp_path / "a"))
    xl.store(e * 2 - xl.max(e), made)
    np.testing.assert_array_equal(made[...], VALUES * 2 - VALUES.max())


def test_evaluating_what_is_too_large_names_the_way_out() -> None:
    with (
        xl.config(max_result_bytes=1000),
        pytest.raises(xl.SizeError, match=r"needs 4800 bytes; .* with xl.store"),
    ):
        xl.eval(kept() + 1)


def test_assigning_what_reads_the_destination() -> None:
    c = xl.asarray(VALUES.copy())
    c[...] = kept() + c[::-1]
    np.testing.assert_array_equal(c.numpy(), VALUES + VALUES[::-1])


def test_overlapping_requests_are_read_once() -> None:
    source = Kept(VALUES, (5, 10))
    u = xl.open(source)
    e = u[1:-1, 1:-1] * 4 - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
    found = xl.eval(e).numpy()
    v = VALUES
    expected = v[1:-1, 1:-1] * 4 - v[:-2, 1:-1] - v[2:, 1:-1] - v[1:-1, :-2] - v[1:-1, 2:]
    np.testing.assert_array_equal(found, expected)
    assert source.elements == VALUES.size


def test_strided_and_gathered_operands_are_read_where_needed() -> None:
    source = Kept(VALUES, (5, 10))
    xl.eval(xl.open(source)[::5, 3] + 1)
    assert source.elements == 4
    source.read.clear()
    xl.eval(xl.open(source)[[19, 0, 19]])
    assert source.elements == 2 * 30


# --- faults -----------------------------------------------------------------------------------


class Broken(Kept):
    """Fails where some elements are read."""

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        if key[0].start >= 10:
            raise OSError("the disk is gone")
        return super().__getitem__(key)


def test_an_error_of_reading_names_array_elements_and_chunk() -> None:
    e = xl.open(Broken(VALUES, (5, 30)))
    target = Sink(np.zeros((20, 30)), (5, 30))
    message = r"read: tests.* float64\[20, 30\], elements \[10:15, 0:30\] in chunks \(2, 0\): OSErr"
    with pytest.raises(xl.StorageError, match=message):
        xl.store(e + 1, target, memory=10_000)
    np.testing.assert_array_equal(target.values[:10], VALUES[:10] + 1)


class Flaky(Kept):
    """Is busy for a while, wherever it is asked for a chunk, and takes what is written."""

    def __init__(self, values: Any, chunks: tuple[int, ...], errors: list[Exception]) -> None:
        super().__init__(values, chunks)
        self.errors = errors
        self.tried: dict[int, int] = {}

    def _begin(self, row: int, rows: int) -> None:
        self.tried[row] = tries = self.tried.get(row, -1) + 1
        if tries < len(self.errors):
            raise self.errors[tries]

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        self._begin(key[0].start, key[0].stop - key[0].start)
        return super().__getitem__(key)

    def __setitem__(self, key: tuple[slice, ...], values: Any) -> None:
        self._begin(key[0].start, len(values))
        self.values[key] = values


class ClientConnectionError(Exception):
    """As an HTTP library calls it."""


class AnswerError(Exception):
    """What a server has answered, as libraries tell it."""

    def __init__(self, status: int = 0, code: str = "") -> None:
        super().__init__(status, code)
        self.status, self.response = status, {"Error": {"Code": code}}


_BUSY: list[Exception] = [
    TimeoutError("slow"),
    ConnectionResetError("peer"),
    OSError(errno.ENETUNREACH, "net"),
    AnswerError(status=503),
    AnswerError(code="SlowDown"),
    ClientConnectionError("ended"),
]


def test_a_store_that_is_busy_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(retries.time, "sleep", pauses.append)
    source, target = (Flaky(VALUES.copy(), (5, 30), _BUSY) for _ in range(2))
    with xl.config(retries=6):
        xl.store(xl.open(source) + 1, target, memory=10_000)
    np.testing.assert_array_equal(target.values, VALUES + 1)
    assert set(source.tried.values()) == set(target.tried.values()) == {6}
    assert pauses[:6] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2]
    source = Flaky(VALUES, (20, 30), _BUSY)
    with (
        xl.config(retries=2),
        pytest.raises(xl.StorageError, match=r"\(0, 0\): OSError.* \(tried 3 times"),
    ):
        xl.eval(xl.open(source) + 1)
    assert source.tried == {0: 2}


@pytest.mark.parametrize(
    "error",
    [PermissionError(errno.EACCES, "no"), FileNotFoundError("gone"), ValueError("bad"),
     AnswerError(status=403)],
    ids=repr,
)  # fmt: skip
def test_what_will_not_pass_is_raised_at_once(error: Exception) -> None:
    for source, target, what in (
        (Flaky(VALUES, (20, 30), [error]), np.zeros((20, 30)), "read"),
        (Kept(VALUES, (5, 30)), Flaky(VALUES.copy(), (5, 30), [error] * 2), "write"),
    ):
        name = type(error).__name__
        with pytest.raises(xl.StorageError, match=rf"^{what}: .*chunks \(\d, 0\): {name}"):
            xl.store(xl.open(source) + 1, target)
        assert max((source if what == "read" else target).tried.values()) <= 1


def test_a_truncated_chunk(tmp_path: Path) -> None:
    made = zarr.create_array(tmp_path / "a", shape=(8, 8), chunks=(4, 4), dtype="f8",
                             compressors=None)  # fmt: skip
    made[...] = 1.0
    os.truncate(tmp_path / "a" / "c" / "1" / "0", 20)
    with pytest.raises(xl.StorageError, match=r"elements \[4:8, 0:4\] in chunks \(1, 0\): "):
        xl.eval(xl.open(tmp_path / "a") + 1)


def _limited(nbytes: int) -> Any:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, nbytes))

    return limit


def _child(code: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(xl.__file__).parents[1])},
        **options,
    )


def test_a_full_disk(tmp_path: Path) -> None:
    code = f"""
    import numpy as np, xarraylite as xl
    a = xl.open(np.random.default_rng(0).normal(size=(64, 64)))
    for name in ("a", "a.npy"):
        try:
            xl.store(a + 1, {str(tmp_path)!r} + "/" + name, chunks=(64, 64))
        except xl.StorageError as error:
            print(error)
    """
    child = _child(code, preexec_fn=_limited(10_000))
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert "elements [0:64, 0:64] in chunks (0, 0): OSError: [Errno 27]" in out
    assert "cannot make" in out


# --- resuming ---------------------------------------------------------------------------------


class Stops(Kept):
    """Interrupts after some reads."""

    left = 3

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().__getitem__(key)


def _interrupted(tmp_path: Path) -> Stops:
    source = Stops(VALUES, (1, 30))
    with pytest.raises(KeyboardInterrupt):
        xl.store(xl.open(source) + 1, tmp_path / "a", memory=2000)
    source.left = 1000
    source.read.clear()
    return source


def test_resuming_does_what_is_left(tmp_path: Path) -> None:
    source = _interrupted(tmp_path)
    half = tmp_path / "a" / "c" / "3" / f"0.{'0a' * 16}.partial"  # as a killed process leaves it
    mine = [tmp_path / "a" / name for name in ("my.partial", f"notes.{'0a' * 16}.partial")]
    half.parent.mkdir(parents=True, exist_ok=True)
    for path in (half, *mine):
        path.write_text("half")
    with pytest.raises(xl.StorageError, match="resume=True continues it"):
        xl.store(xl.open(source) + 1, tmp_path / "a")
    xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
    assert len(source.read) < 20
    assert [path.exists() for path in (half, *mine)] == [False, True, True]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES + 1)
    assert names_in(tmp_path) == ["a"]
    with pytest.raises(xl.StorageError, match="no record"):
        xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)


def test_another_expression_is_not_resumed(tmp_path: Path) -> None:
    source = _interrupted(tmp_path)
    with pytest.raises(xl.StorageError, match="another expression"):
        xl.store(xl.open(source) + 2, tmp_path / "a", resume=True)
    with pytest.raises(xl.StorageError, match="another expression"):
        xl.store(xl.open(source) + 1, tmp_path / "a", chunks=(2, 30), resume=True)


def test_changed_operands_are_not_resumed(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", VALUES)
    c = xl.asarray(np.ones(30))
    stops = Stops(VALUES, (1, 30))

    def write() -> Any:
        return xl.open(tmp_path / "in.npy") + c + xl.open(stops)

    with pytest.raises(KeyboardInterrupt):
        xl.store(write(), tmp_path / "a", memory=3000)
    c[0] = 2.0
    with pytest.raises(xl.StorageError, match="an operand has changed"):
        xl.store(write(), tmp_path / "a", resume=True)
    c[0] = 1.0
    np.save(tmp_path / "in.npy", VALUES * 2)
    os.utime(tmp_path / "in.npy", ns=(1, 1))
    with pytest.raises(xl.StorageError, match="an operand has changed"):
        xl.store(write(), tmp_path / "a", resume=True)


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
    source.left = 2
    for _ in range(2):
        record.write_bytes(record.read_bytes() + b"[19, 0")  # a line cut short by a crash
        with pytest.raises(KeyboardInterrupt):
            xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
        source.left = 2
    source.left = 1000
    record.write_bytes(record.read_bytes() + b"[19, 0")
    xl.store(xl.open(source) + 1, tmp_path / "a", resume=True)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES + 1)
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
    child = _child(_WORK.format(path=str(tmp_path), kills=50))
    out, err = child.communicate(timeout=120)
    assert out.endswith("done\n"), err


@pytest.mark.usefixtures("once")
def test_an_interrupt_returns_at_once_and_can_be_resumed(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.ones((2000, 500)))
    child = _child(_WORK.format(path=str(tmp_path), kills=0))
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
