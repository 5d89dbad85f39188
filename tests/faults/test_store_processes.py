"""The disk cache between processes: racing writers, and writers killed at any instant."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xarraylite._config import settings
from xarraylite.codegen import store
from xarraylite.codegen.store import cache_info, cache_key, load, save

pytestmark = pytest.mark.once

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals that kill, locks on files")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own, not yet existing cache directory, and counts that start at zero."""
    monkeypatch.setattr(store, "_state", store._State())
    settings.cache, settings.cache_dir = True, str(tmp_path / "kernels")
    return tmp_path / "kernels"


def leftovers(place: Path) -> list[str]:
    return [path.name for path in place.iterdir() if path.suffix != ".xlk"]


WRITER = """
import sys
from xarraylite._config import settings
from xarraylite.codegen.store import cache_key, load, save
settings.cache, settings.cache_dir = True, sys.argv[1]
mark, rounds = int(sys.argv[2]), int(sys.argv[3])
key = cache_key(["shared"])
print("ready", flush=True)
for k in range(rounds):
    save(key, bytes([mark]) * (1 + 977 * ((k * 7 + mark) % 40)))
    found = load(key)
    assert found is None or len(set(found)) == 1, "mixed content"
    assert found is not None, "an entry was lost"
"""


def writer(place: Path, mark: int, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WRITER, str(place), str(mark), str(rounds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )


def test_processes_writing_one_key_never_mix(place: Path) -> None:
    writers = [writer(place, mark, 60) for mark in range(1, 6)]
    key = cache_key(["shared"])
    seen: set[int] = set()
    while any(process.poll() is None for process in writers):
        found = load(key)
        if found is not None:
            assert len(set(found)) == 1
            seen.add(found[0])
    for process in writers:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "ready\n", "")
    assert seen <= {1, 2, 3, 4, 5}
    assert seen
    assert leftovers(place) == []
    assert (cache_info().damaged, cache_info().entries) == (0, 1)


@POSIX
def test_killed_writers_leave_no_wrong_entry(place: Path) -> None:
    rng = random.Random(5)
    key = cache_key(["shared"])
    save(key, b"\x09")
    for mark in range(1, 9):
        process = writer(place, mark, 100_000)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        found = load(key)
        assert found is not None
        assert len(set(found)) == 1
    assert cache_info().damaged == 0
    store._state.until_scan = 0
    save(key, b"\x09")
    assert leftovers(place) == []


@POSIX
def test_what_killed_writers_leave_does_not_add_up(place: Path) -> None:
    """Each is killed in the middle of its first entry, which the next removes before its own."""
    code = (
        "import os, signal, sys\n"
        "from xarraylite._config import settings\n"
        "from xarraylite.codegen.store import cache_key, save\n"
        "settings.cache, settings.cache_dir = True, sys.argv[1]\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "save(cache_key([sys.argv[2]]), bytes(50_000))\n"
    )
    for k in range(5):
        done = subprocess.run(
            [sys.executable, "-c", code, str(place), str(k)],
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        assert done.returncode == -signal.SIGKILL
        assert len(leftovers(place)) == 1
        assert cache_info().nbytes > 50_000
    key = cache_key(["one"])
    save(key, b"payload")
    assert [path.name for path in place.iterdir()] == [f"{key}.xlk"]
