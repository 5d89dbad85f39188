"""The disk cache under damage, hostile directories, failing systems and racing processes.

In every case: no exception, no wrong bytes, at most one warning, nothing left behind.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xarraylite._config import settings
from xarraylite._errors import CacheWarning
from xarraylite.codegen import store, verified_files
from xarraylite.codegen.store import cache_info, cache_key, clear, discard, load, save

pytestmark = pytest.mark.once

KEY, OTHER = cache_key(["one"]), cache_key(["another"])
PAYLOAD = bytes(range(256)) * 2
POSIX = pytest.mark.skipif(os.name != "posix", reason="owners, modes and links")


def entry(place: Path, key: str = KEY) -> Path:
    return place / f"{key}.xlk"


def leftovers(place: Path) -> list[str]:
    return [path.name for path in place.iterdir() if path.suffix != ".xlk"]


def test_round_trip(place: Path) -> None:
    assert load(KEY) is None
    assert not place.exists()
    for payload in (PAYLOAD, b"", bytes(300_000), PAYLOAD):
        save(KEY, payload)
        assert load(KEY) == payload
    assert load(OTHER) is None
    assert leftovers(place) == []
    info = cache_info()
    assert (info.directory, info.problem, info.entries) == (str(place), "", 1)
    assert info.nbytes == entry(place).stat().st_size > len(PAYLOAD)
    assert (info.hits, info.misses, info.saves, info.damaged, info.errors) == (4, 2, 4, 0, 0)


def test_entries_of_other_processes_are_taken_when_they_are_asked_for(place: Path) -> None:
    store.offer({KEY: PAYLOAD})
    assert not place.exists()
    assert load(OTHER) is None
    assert load(KEY) == PAYLOAD
    assert entry(place).exists()
    discard(KEY)  # it did not link
    assert load(KEY) is None
    with pytest.raises(ValueError, match="is not a key"):
        store.offer({"../x": PAYLOAD})


@POSIX
def test_what_is_created_is_private(place: Path) -> None:
    before = os.umask(0)
    try:
        save(KEY, PAYLOAD)
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(place).stat().st_mode) == 0o600


def test_every_truncation_is_a_miss(place: Path) -> None:
    save(KEY, b"small payload")
    whole = entry(place).read_bytes()
    for length in range(len(whole)):
        entry(place).write_bytes(whole[:length])
        entry(place).chmod(0o600)
        assert load(KEY) is None, length
        assert not entry(place).exists(), length
    entry(place).write_bytes(whole + b"\0")
    assert load(KEY) is None
    assert cache_info().damaged == len(whole) + 1
    save(KEY, b"small payload")
    assert load(KEY) == b"small payload"


def test_every_flipped_bit_is_a_miss(place: Path) -> None:
    save(KEY, PAYLOAD)
    whole = entry(place).read_bytes()
    header = len(whole) - len(PAYLOAD)
    rng = random.Random(3)
    flips = [(at, bit) for at in range(header) for bit in range(8)]
    flips += [(rng.randrange(header, len(whole)), rng.randrange(8)) for _ in range(200)]
    for at, bit in flips:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << bit
        entry(place).write_bytes(damaged)
        entry(place).chmod(0o600)
        assert load(KEY) is None, (at, bit)
    assert cache_info().damaged == len(flips)


def test_the_content_of_another_key_is_a_miss(place: Path) -> None:
    save(KEY, PAYLOAD)
    save(OTHER, b"other")
    entry(place, OTHER).replace(entry(place))
    assert load(KEY) is None
    assert load(OTHER) is None
    assert cache_info().damaged == 1


def test_a_payload_is_believed_under_its_own_key_only(place: Path) -> None:
    """Also where everything behind the key is another entry's, so that all lengths agree."""
    save(KEY, PAYLOAD)
    save(OTHER, PAYLOAD[::-1])
    mine, theirs = entry(place).read_bytes(), entry(place, OTHER).read_bytes()
    assert len(mine) == len(theirs)
    behind = mine.index(KEY.encode()) + len(KEY)
    entry(place).write_bytes(mine[:behind] + theirs[behind:])
    assert load(KEY) is None
    assert load(OTHER) == PAYLOAD[::-1]
    assert cache_info().damaged == 1


def test_what_does_not_verify_by_its_header_is_not_read(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(KEY, PAYLOAD)
    real, sizes = os.read, []

    def read(handle: int, size: int) -> bytes:
        sizes.append(size)
        return real(handle, size)

    monkeypatch.setattr(os, "read", read)
    assert load(KEY) == PAYLOAD
    assert sizes == [verified_files.HEADER, len(PAYLOAD)]
    sizes.clear()
    os.truncate(entry(place), 200 << 20)  # sparse, and longer than its header says
    assert load(KEY) is None
    assert sizes == [verified_files.HEADER]


def test_an_entry_that_does_not_link_is_replaced(place: Path) -> None:
    discard(KEY)  # before there is a directory
    save(KEY, b"verified, and yet no object code")
    save(OTHER, PAYLOAD)
    discard(KEY)
    assert load(KEY) is None
    assert cache_info().damaged == 2
    save(KEY, PAYLOAD)
    assert load(KEY) == load(OTHER) == PAYLOAD


@POSIX
def test_half_written_files_are_never_read_and_removed_when_their_writer_is_dead(
    place: Path,
) -> None:
    import fcntl

    save(KEY, PAYLOAD)
    whole = entry(place).read_bytes()
    alive, dead = (place / f".{OTHER[:16]}-{mark * 16}.tmp" for mark in "ab")
    for path in (alive, dead):
        path.write_bytes(whole[: len(whole) // 2])
    assert load(OTHER) is None
    assert cache_info().nbytes == 2 * (len(whole) // 2) + len(whole)
    with alive.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        store._state.until_scan = 0
        save(OTHER, b"other")
        assert leftovers(place) == [alive.name]
    assert load(OTHER) == b"other"
    store._state.until_scan = 0
    save(OTHER, b"other")
    assert leftovers(place) == []


def test_where_files_cannot_be_locked_age_decides(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", fail(OSError(errno.ENOLCK, "no locks"))(fcntl.flock))
    save(KEY, PAYLOAD)
    young, old = (place / f".{OTHER[:16]}-{mark * 16}.tmp" for mark in "ab")
    for path in (young, old):
        path.write_bytes(b"half")
    os.utime(old, (0, time.time() - 7200))
    store._state.until_scan = 0
    save(OTHER, PAYLOAD)
    assert leftovers(place) == [young.name]
    assert load(OTHER) == PAYLOAD


@POSIX
def test_a_temporary_file_removed_before_it_is_locked_is_written_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    save(OTHER, PAYLOAD)
    real, times = fcntl.flock, []

    def late(handle: int, operation: int) -> None:
        times.append(operation)
        if len(times) < 3:
            (place / leftovers(place)[0]).unlink()
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    save(KEY, PAYLOAD)
    assert len(times) == 3
    assert load(KEY) == PAYLOAD
    assert leftovers(place) == []


def fail(error: BaseException, when: Callable[..., bool] = lambda *_: True) -> Any:
    """A patch maker: raise ``error`` from a function of `os` for arguments that ``when`` picks."""

    def patch(real: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*args: Any, **options: Any) -> Any:
            if when(*args):
                raise error
            return real(*args, **options)

        return failing

    return patch


def for_writing(_: Any, flags: int, *rest: Any) -> bool:
    return bool(flags & os.O_CREAT)


FAULTS = {
    "no permission": ("open", fail(PermissionError(errno.EACCES, "denied"), for_writing)),
    "read-only file system": ("open", fail(OSError(errno.EROFS, "read-only"), for_writing)),
    "full disk": ("open", fail(OSError(errno.ENOSPC, "no space"), for_writing)),
    "stale handle at rename": ("replace", fail(OSError(errno.ESTALE, "stale"))),
    "quota at rename": ("replace", fail(OSError(errno.EDQUOT, "quota"))),
    "broken disk at rename": ("replace", fail(OSError(errno.EIO, "input/output"))),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_failing_writes(place: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    save(OTHER, PAYLOAD)
    name, patch = FAULTS[fault]
    monkeypatch.setattr(os, name, patch(getattr(os, name)))
    with pytest.warns(CacheWarning, match="kernel cache cannot be written"):
        save(KEY, PAYLOAD)
    save(KEY, PAYLOAD)  # a second warning would be an error
    assert leftovers(place) == []
    assert load(KEY) is None
    assert load(OTHER) == PAYLOAD  # what is there is still served
    assert cache_info().errors == 2


@POSIX
def test_a_disk_that_is_full_after_some_bytes(place: Path) -> None:
    """The system refuses the rest of the file; Python learns it when it flushes."""
    import resource

    save(OTHER, PAYLOAD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (verified_files.HEADER + 10, before[1]))
        with pytest.warns(CacheWarning, match="kernel cache cannot be written"):
            save(KEY, PAYLOAD)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert leftovers(place) == []
    assert load(KEY) is None
    assert load(OTHER) == PAYLOAD


@POSIX
def test_a_directory_in_place_of_an_entry(place: Path) -> None:
    save(OTHER, PAYLOAD)
    entry(place).mkdir()
    (entry(place) / "something").touch()
    assert load(KEY) is None
    with pytest.warns(CacheWarning, match="kernel cache cannot be written"):
        save(KEY, PAYLOAD)
    assert load(KEY) is None
    assert leftovers(place) == []
    assert load(OTHER) == PAYLOAD


def test_a_directory_that_cannot_be_made(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "mkdir", fail(OSError(errno.EROFS, "read-only"))(os.mkdir))
    with pytest.warns(CacheWarning, match="read-only"):
        save(KEY, PAYLOAD)
    assert load(KEY) is None


@pytest.mark.parametrize("where", ["open", "fstat", "read"])
@pytest.mark.parametrize("error", [errno.EIO, errno.ESTALE])
def test_failing_reads(
    place: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: int
) -> None:
    save(KEY, PAYLOAD)
    with monkeypatch.context() as patched:
        patched.setattr(os, where, fail(OSError(error, "broken"))(getattr(os, where)))
        with pytest.warns(CacheWarning, match="cannot be read"):
            assert load(KEY) is None
    assert load(KEY) == PAYLOAD  # the entry was not removed for it


def test_a_rename_not_yet_visible_is_a_plain_miss(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network file systems may report a file missing right after its rename."""
    save(KEY, PAYLOAD)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fail(FileNotFoundError(errno.ENOENT, "gone"))(os.open))
        assert load(KEY) is None
    assert load(KEY) == PAYLOAD
    assert (cache_info().errors, cache_info().damaged) == (0, 0)


@pytest.mark.parametrize("where", ["fstat", "replace", "open"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupted_write_leaves_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: type[BaseException]
) -> None:
    save(OTHER, PAYLOAD)
    real = getattr(os, where)

    def interrupted(*args: Any) -> Any:
        if where == "open":  # the file exists, its descriptor is not yet known to anybody
            os.close(real(*args))
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, where, interrupted)
        with pytest.raises(error):
            save(KEY, PAYLOAD)
    assert sorted(path.name for path in place.iterdir()) == [entry(place, OTHER).name]


def test_warnings_as_errors_leave_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(OTHER, PAYLOAD)
    monkeypatch.setattr(os, "replace", fail(OSError(errno.EIO, "broken"))(os.replace))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CacheWarning):
            save(KEY, PAYLOAD)
        save(KEY, PAYLOAD)  # once per process
    assert leftovers(place) == []


def test_directory_removed_while_running(place: Path) -> None:
    save(KEY, PAYLOAD)
    entry(place).unlink()
    place.rmdir()
    assert load(KEY) is None
    assert clear() == 0
    save(KEY, PAYLOAD)
    assert load(KEY) == PAYLOAD


def test_switched_off(place: Path) -> None:
    save(KEY, PAYLOAD)
    settings.cache = False
    assert load(KEY) is None
    save(OTHER, PAYLOAD)
    assert "switched off" in cache_info().problem
    settings.cache = True
    assert load(OTHER) is None
    assert load(KEY) == PAYLOAD


def test_clear_removes_only_what_is_ours(place: Path) -> None:
    save(KEY, PAYLOAD)
    save(OTHER, PAYLOAD)
    theirs = place / "notes.txt"
    theirs.write_text("keep")
    assert clear() == 2
    assert [path.name for path in place.iterdir()] == ["notes.txt"]
    assert load(KEY) is None


def test_the_size_is_bounded_and_the_longest_unused_go_first(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LIMIT", 20_000)
    keys = [cache_key([str(k)]) for k in range(40)]
    start = time.time() - 90_000
    for k, key in enumerate(keys):
        save(key, bytes(1000))
        if entry(place, key).exists():
            os.utime(entry(place, key), (start + k, start + k))
        assert cache_info().nbytes <= 20_000
        assert load(keys[0]) is not None  # used all the time: it is never the oldest
    assert all(load(key) is not None for key in keys[-10:])
    assert load(keys[1]) is None
    save(OTHER, bytes(20_000))  # would be the whole cache
    assert load(OTHER) is None
    assert load(keys[0]) is not None


def test_entries_of_other_processes_are_counted_in(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LIMIT", 20_000)
    save(KEY, bytes(1000))
    for k in range(30):  # behind our back
        entry(place, cache_key([str(k)])).write_bytes(bytes(1000))
    for _ in range(store._RESCAN):
        save(KEY, bytes(10))
    assert cache_info().nbytes <= 20_000


@pytest.mark.parametrize(
    "key", ["", "../" + "a" * 61, "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n", "/etc/passwd"]
)
def test_only_keys_of_ours_become_file_names(place: Path, key: str) -> None:
    for call in (lambda: load(key), lambda: save(key, b"")):
        with pytest.raises(ValueError, match="is not a key made by cache_key"):
            call()


def test_keys_tell_sequences_apart() -> None:
    sequences: list[list[bytes | str]] = [
        [],
        [""],
        ["", ""],
        [b""],
        ["ab"],
        [b"ab"],
        ["a", "b"],
        ["b", "a"],
        ["a", b"b"],
        ["s\x01\0\0\0\0\0\0\0"],
    ]
    assert len({cache_key(parts) for parts in sequences}) == len(sequences)
    assert cache_key(iter(["ä", b"\xff"])) == cache_key(["ä", b"\xff"])
