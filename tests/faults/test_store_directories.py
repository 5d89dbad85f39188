"""The disk cache in directories, and over files, that must not be used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xarraylite._config import settings
from xarraylite._errors import CacheWarning
from xarraylite.codegen import store
from xarraylite.codegen.store import cache_info, cache_key, clear, load, save

pytestmark = pytest.mark.once

KEY, OTHER = cache_key(["one"]), cache_key(["another"])
PAYLOAD = bytes(range(256)) * 2
POSIX = pytest.mark.skipif(os.name != "posix", reason="owners, modes and links")


def entry(place: Path, key: str = KEY) -> Path:
    return place / f"{key}.xlk"


def leftovers(place: Path) -> list[str]:
    return [path.name for path in place.iterdir() if path.suffix != ".xlk"]


def refused(place: Path, reason: str) -> None:
    """One warning that gives the reason; neither a result nor an exception, again and again."""
    before = cache_info()
    with pytest.warns(CacheWarning, match=reason) as caught:
        save(KEY, PAYLOAD)
    assert [warning.filename for warning in caught] == [__file__]
    assert load(KEY) is None  # a second warning would be an error
    save(KEY, PAYLOAD)
    assert clear() == 0
    info = cache_info()
    assert re.search(reason, info.problem)
    assert (info.hits, info.saves, info.errors) == (before.hits, before.saves, 4)


@POSIX
@pytest.mark.parametrize("suffix", ["", "/", "/."])
def test_a_linked_directory_is_refused(place: Path, suffix: str) -> None:
    real = place.with_name("real")
    real.mkdir(mode=0o700)
    place.symlink_to(real)
    settings.cache_dir = str(place) + suffix
    refused(place, "is a symbolic link")
    assert list(real.iterdir()) == []


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_directory_that_others_can_write_is_refused(place: Path, mode: int) -> None:
    save(KEY, PAYLOAD)
    place.chmod(mode)
    refused(place, rf"is writable by others \(mode {mode:04o}\)")
    place.chmod(0o755)
    assert load(KEY) == PAYLOAD


@POSIX
def test_a_directory_of_another_user_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(KEY, PAYLOAD)
    monkeypatch.setattr(store, "_state", store._State())
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    refused(place, "belongs to user .*, not to user 4242")


def test_a_file_in_place_of_the_directory(place: Path) -> None:
    place.write_text("mine")
    refused(place, "is not a directory")
    assert place.read_text() == "mine"


def test_no_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_state", store._State())
    monkeypatch.setattr(store, "_usual_directory", lambda: "~/.cache")
    settings.cache, settings.cache_dir = True, ""
    refused(Path(), "no home directory")
    assert cache_info().directory == ""


NOBODY = """
import os, sys, warnings
os.environ.pop("HOME", None)
for name in [n for n in os.environ if n.startswith("XDG_")]:
    del os.environ[name]
os.environ.update(XARRAYLITE_CACHE_DIR=sys.argv[1], XARRAYLITE_ENGINE="compiled")
import numpy, platformdirs, xarraylite as xl
os.getuid = lambda: 54321  # whom no list of users has
os.chdir(sys.argv[2])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for k in range(3):
        assert xl.eval(xl.ones(3) + k).numpy().tolist() == [1.0 + k] * 3
print([warning.category.__name__ for warning in caught], os.listdir())
"""


@POSIX
@pytest.mark.parametrize("cache_dir", ["", "~/kernels", "~nobody-of-that-name/kernels"])
def test_an_unknown_user_without_home_can_evaluate(tmp_path: Path, cache_dir: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOBODY, cache_dir, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stderr == ""
    assert done.stdout == "['CacheWarning'] []\n"


def test_the_default_is_the_users_cache_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_usual_directory", lambda: str(tmp_path / "deep"))
    settings.cache, settings.cache_dir = True, ""
    save(KEY, PAYLOAD)
    assert load(KEY) == PAYLOAD
    assert entry(tmp_path / "deep" / "xarraylite" / "kernels").exists()


@pytest.mark.parametrize("named", ["", "relative", "absolute"])
def test_the_users_cache_directory_is_where_platformdirs_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path) if named == "absolute" else named)
    assert store._usual_directory() == str(platformdirs.user_cache_path())


def link_to_elsewhere(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def huge(path: Path) -> None:
    os.truncate(path, store.LIMIT + 1)  # sparse: nothing may read it


@POSIX
@pytest.mark.parametrize(
    "spoil",
    [link_to_elsewhere, pipe, huge, lambda path: path.chmod(0o666)],
    ids=["link", "pipe", "huge", "writable by others"],
)
def test_an_entry_that_is_not_a_private_file_is_a_miss(
    place: Path, spoil: Callable[[Path], None]
) -> None:
    save(KEY, PAYLOAD)
    spoil(entry(place))
    assert load(KEY) is None
    assert cache_info().damaged == 1
    save(KEY, PAYLOAD)
    assert load(KEY) == PAYLOAD
