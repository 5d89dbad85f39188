"""Files under interruption, failing disks, racing writers and random damage.

A file is either whole or refused; a failed or killed save leaves the old file or the new one.
"""

from __future__ import annotations

import _thread
import errno
import io
import os
import random
import re
import signal
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

import xarraylite as xl
from tests.io.files import MOST_MEMORY, loaded, numpy_saved, numpy_savez, same, sample, saved
from xarraylite.io import atomic, streams
from xarraylite.memory.pool import counters

pytestmark = pytest.mark.once

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes, links and signals")
TEMPORARY = re.compile(r"\.a\.np[yz]\.[0-9a-f]{16}\.tmp")

# Each save writes one number everywhere, so a mixture of two files shows.
WRITER = """
import sys
import numpy as np
import xarraylite as xl
path, first, size, several = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "npz"
for value in range(first, 10**9, 2):
    array = np.full(size, value)
    xl.save(path, {"a": array, "b": array} if several else array)
    if value == first:
        print("ready", flush=True)
"""


def start(path: Path, first: int, size: int) -> subprocess.Popen[str]:
    """Run a process that saves without end; return when it has saved once."""
    command = [sys.executable, "-c", WRITER, path, str(first), str(size), path.suffix[1:]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


# Makes a process for each line that it is given, which saves without end, and says how that ended.
FORKS = """
import os, sys, tempfile
import numpy as np
import xarraylite as xl
with tempfile.TemporaryDirectory() as scratch:  # all that is imported to save
    xl.save(f"{scratch}/a.npy", [1])
    xl.save(f"{scratch}/a.npz", {"a": [1]})
for line in sys.stdin:
    path, first, size = line.split()
    child = os.fork()
    if not child:
        array = np.empty(int(size), int)
        for value in range(int(first), 10**9, 2):
            array[...] = value
            xl.save(path, {"a": array, "b": array} if path.endswith("z") else array)
            if value == int(first):
                print(os.getpid(), flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def value_of(path: Path, size: int) -> int:
    """Return the one number a file holds, after checking that it is whole."""
    content: Any = xl.load(path)
    arrays = list(content.values()) if isinstance(content, dict) else [content]
    values = {int(v) for array in arrays for v in np.unique(np.asarray(array))}
    assert len(values) == 1
    assert all(array.size == size for array in arrays)
    return values.pop()


@POSIX
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_killed_writers_leave_whole_files(tmp_path: Path, name: str) -> None:
    path, size, rng = tmp_path / name, 200_000, random.Random(3)
    command = [sys.executable, "-c", FORKS]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for turn in range(15):
            process.stdin.write(f"{path} {turn * 10**6} {size}\n")
            writer = int(process.stdout.readline())  # it has saved once
            time.sleep(rng.uniform(0, 0.03))
            os.kill(writer, signal.SIGKILL)
            assert int(process.stdout.readline()) == -signal.SIGKILL
            assert value_of(path, size) // 10**6 == turn
    others = [item.name for item in tmp_path.iterdir() if item != path]
    assert all(TEMPORARY.fullmatch(other) for other in others)  # ignored, and recognisable
    xl.save(path, {"a": [7], "b": [7]} if name == "a.npz" else [7])
    assert value_of(path, 1) == 7


def test_two_writers_and_a_reader(tmp_path: Path) -> None:
    path, size = tmp_path / "a.npy", 50_000
    xl.save(path, np.zeros(size, np.int64))
    writers = [start(path, first, size) for first in (0, 1)]
    seen: set[int] = set()
    try:
        for _ in range(100_000):  # until enough has been seen, however the machine is loaded
            seen.add(value_of(path, size))
            if len(seen) > 20 and {value % 2 for value in seen} == {0, 1}:
                break
    finally:
        for writer in writers:
            end(writer)
    assert {value % 2 for value in seen} == {0, 1}
    assert len(seen) > 20


def test_threads_that_save_to_one_path(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"

    def work(value: int) -> None:
        for _ in range(20):
            xl.save(path, np.full(1000, value))

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert value_of(path, 1000) in range(4)
    assert value_of(path, 1000) in range(4)
    assert [item.name for item in tmp_path.iterdir()] == ["a.npy"]


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Path]:
    """A file that must still be there afterwards, alone."""
    path = tmp_path / "a.npy"
    xl.save(path, [1, 2, 3])
    before = path.read_bytes()
    yield path
    same = path.read_bytes() == before  # a name, so that no difference of megabytes is shown
    assert same
    assert [item.name for item in tmp_path.iterdir()] == ["a.npy"]


class Refusing:
    """Stands for a function; raises at its n-th call."""

    def __init__(self, function: Callable[..., Any], error: BaseException, at: int = 1) -> None:
        self.function, self.error, self.left = function, error, at

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise self.error
        return self.function(*args, **options)


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, SystemExit])
def test_interrupts_leave_the_old_file(
    old: Path, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException], at: int
) -> None:
    monkeypatch.setattr("xarraylite.io.npz.put", Refusing(streams.put, kind(), at))
    with pytest.raises(kind):
        xl.save(old, np.ones(1000))


@pytest.mark.parametrize("function", ["fsync", "fchmod"])
def test_failing_systems_leave_the_old_file(
    old: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    if not hasattr(os, function):
        pytest.skip("not on this system")
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(atomic.os, function, Refusing(getattr(os, function), error))
    with pytest.raises(OSError, match="No space left") as caught:
        xl.save(old, np.ones(1000))
    assert caught.value.filename == str(old)  # not the name of the temporary file


def test_a_failing_rename_leaves_the_old_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = PermissionError(errno.EACCES, "somebody has it open", "x", None, "y")
    monkeypatch.setattr(Path, "replace", Refusing(Path.replace, error))
    with pytest.raises(PermissionError) as caught:
        xl.save(old, np.ones(1000))
    assert (caught.value.filename, caught.value.filename2) == (str(old), None)
    assert "None" not in str(caught.value)


def test_failing_evaluations_leave_the_old_file(old: Path, tmp_path: Path) -> None:
    with xl.config(max_result_bytes=64):
        with pytest.raises(xl.SizeError):
            xl.save(old, np.ones(100) + xl.asarray(1.0))
        with pytest.raises(xl.SizeError):
            xl.save(tmp_path / "new.npz", a=[1.0], b=np.ones(100) + xl.asarray(1.0))


@POSIX
def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stops the write in the middle."""
    code = (
        "import resource, signal, sys, numpy as np, xarraylite as xl\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "for path, arrays in zip(sys.argv[1:], ({'a': np.ones(10**5)}, np.ones(10**5))):\n"
        "    try:\n"
        "        xl.save(path, arrays)\n"
        "    except OSError as error:\n"
        "        print(error.errno, error.filename == path)\n"
    )
    paths = [tmp_path / "file.npz", tmp_path / "file.npy"]
    for path in paths:
        path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(errno.EFBIG), "True"] * 2
    assert [path.read_bytes() for path in paths] == [b"old"] * 2
    assert sorted(tmp_path.iterdir()) == sorted(paths)


@POSIX
def test_ctrl_c_in_the_middle(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupting(file: BinaryIO, memory: memoryview) -> None:
        streams.put(file, memory)
        _thread.interrupt_main()

    monkeypatch.setattr("xarraylite.io.npz.put", interrupting)
    with pytest.raises(KeyboardInterrupt):
        xl.save(old, np.ones(10**6))


def test_an_interrupted_archive(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(1, 5):
        with monkeypatch.context() as patch:
            refusing = Refusing(streams.put, KeyboardInterrupt(), at)
            patch.setattr("xarraylite.io.npz.put", refusing)
            with pytest.raises(KeyboardInterrupt):
                xl.save(old.with_suffix(".npz"), a=np.ones(10), b=np.ones(10))


@POSIX
def test_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    before = os.umask(0o027)
    try:
        xl.save(path, [1])
        plain = tmp_path / "plain"
        plain.write_bytes(b"")
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode) == 0o640
        for mode in (0o600, 0o666, 0o444):
            path.chmod(mode)
            xl.save(path, [2])
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


@POSIX
def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a.npy", tmp_path / "link.npy"
    link.symlink_to(target)
    for value in (1, 2):
        xl.save(link, [value])
        assert link.is_symlink()
        assert same(xl.load(target), [value])
    assert [item.name for item in target.parent.iterdir()] == ["a.npy"]
    loop = tmp_path / "loop.npy"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match=r"symbolic links|Too many levels"):
        xl.save(loop, [1])


def test_names_that_are_long_or_odd(tmp_path: Path) -> None:
    for name in ("x" * 251 + ".npy", "ä" * 125 + ".npy", ".npy", "a b\n.npy"):
        xl.save(tmp_path / name, [1])
        assert same(xl.load(tmp_path / name), [1])
        (tmp_path / name).unlink()
    assert list(tmp_path.iterdir()) == []
    missing = tmp_path / "none" / "a.npy"
    with pytest.raises(FileNotFoundError) as caught:
        xl.save(missing, [1])
    assert caught.value.filename == str(missing)


def test_a_file_that_shrinks_while_it_is_read() -> None:
    class Shrinking(io.BytesIO):
        def readinto(self, memory: Any) -> int:
            count = super().readinto(memory)
            self.truncate(200)
            return count

    with pytest.raises(xl.FormatError, match=r"ends after .* bytes of its elements"):
        xl.load(Shrinking(numpy_saved(np.ones(10**6))))


def test_errors_of_the_system_are_not_taken_for_damage() -> None:
    class Broken(io.BytesIO):
        def readinto(self, memory: Any) -> int:
            raise OSError(errno.EIO, "the disk is broken")

    for data in (saved(xl.ones(3)), saved(a=xl.ones(3))):
        with pytest.raises(OSError, match="the disk is broken"):
            xl.load(Broken(data))


FILES = {
    "npy": saved(sample("float32", (3, 4))),
    "narrow": saved(sample("bfloat16", (3, 4))),
    "npz": saved(a=sample("int16", (5,)), b=sample("bool", (2, 2))),
    "packed": saved({"a": sample("int16", (50,)), "b": np.zeros(9)}, compressed=True),
    "savez": numpy_savez({"a": np.arange(3.0)}, compressed=True),
}


@pytest.mark.parametrize("name", FILES)
def test_every_truncation_is_refused(name: str) -> None:
    data = FILES[name]
    before = counters.allocations
    for length in range(len(data)):
        with pytest.raises(xl.FormatError):
            loaded(data[:length])
    assert counters.allocations == before
    assert loaded(data) is not None


@pytest.mark.parametrize("name", FILES)
def test_random_damage_is_refused_or_harmless(name: str) -> None:
    data, rng = FILES[name], random.Random(name)
    refused = 0
    tracemalloc.start()
    try:
        for _ in range(400):
            damaged = bytearray(data)
            for _ in range(rng.choice((1, 1, 1, 2, 5))):
                damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            try:
                content = loaded(damaged)
            except xl.FormatError:
                refused += 1
            else:
                arrays = content.values() if isinstance(content, dict) else [content]
                assert sum(array.nbytes for array in arrays) <= len(data) * 8
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY
    assert refused > 40  # a flip of an element's bit in a .npy file cannot be seen


@pytest.mark.parametrize("name", FILES)
def test_random_splices_are_refused_or_harmless(name: str) -> None:
    """Pieces repeated, removed, moved, or replaced by numbers that parsers stumble over."""
    data, rng = FILES[name], random.Random(name)
    marks = [b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x07", b"PK\x06\x06", b"(((", b"'", b",", b"-1"]
    numbers = [b"\xff" * 4, b"\x00" * 4, b"\xff\xff", b"\x00\x00\x00\x80", b"\x01\x00", b"9" * 19]
    for _ in range(1500):
        a, b, c = sorted(rng.randrange(len(data)) for _ in range(3))
        piece = rng.choice((data[b:c], b"", rng.choice(marks), rng.choice(numbers)))
        keep = data[a + len(piece) :] if rng.random() < 0.7 else data[b:]
        try:
            loaded(data[:a] + piece + keep)
        except xl.FormatError:
            continue
