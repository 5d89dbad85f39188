"""Compiled kernels on disk: one verified file per key.

A wrong byte here is wrong machine code, so nothing read is believed.  An entry is

    magic, format version | key echoed | payload length | sha256(payload) | payload

in a file named by its key, and it counts only if every field agrees and nothing follows.
Damage (a truncated file, a flipped bit, another key's content) is therefore a miss; the entry
is removed and compiled again.  A file is written beside its final name, flushed to the disk
and renamed, so readers see the old entry, the new one or none.  There is no index that could
disagree with the files; two writers of one key write the same content.

The digest detects damage, not an attacker: who may write the directory may run code as the
user.  So the directory is created with mode 0700, and refused if it is a symbolic link, belongs
to somebody else or is writable by group or others; files are opened without following links
and must belong to the user.  A refused or failing directory costs speed and never a result:
kernels stay in memory and one `CacheWarning` per process says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .._config import settings
from .._errors import CacheWarning, warn_caller

LIMIT = 256 << 20
"""Most bytes kept on disk; the entries unused for longest are removed beyond it."""

_MAGIC = b"XLKERNEL"
_VERSION = 1
# Magic, version, key as 64 hexadecimal digits, payload length, digest; no padding.
_HEADER = struct.Struct("<8sH64sQ32s")
_SUFFIX = ".xlk"
_KEY = re.compile(r"[0-9a-f]{64}\Z")
_OURS = re.compile(rf"[0-9a-f]{{64}}{re.escape(_SUFFIX)}\Z|\.[0-9a-f]{{16}}-[0-9a-f]{{16}}\.tmp\Z")
_ABANDONED = 3600.0  # seconds after which a temporary file's writer is taken for dead
_RESCAN = 64  # saves after which other processes' writes are counted again
_DAY = 86400.0
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_READ: int = os.O_RDONLY | _NOFOLLOW
for _flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # where they exist
    _READ |= getattr(os, _flag, 0)


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """State of the disk cache, and what this process did with it.

    Attributes
    ----------
    directory : str
        Where entries are kept; empty if no place could be found.
    problem : str
        Why the directory is not used; empty if it is (or will be, when first needed).
    entries, nbytes, limit : int
        Files, their size in bytes, and the most bytes kept.
    hits, misses, saves : int
        Calls of this process.
    damaged : int
        Entries that did not verify; each was a miss.
    errors : int
        Operating system errors; each was a miss or an entry not saved.
    """

    directory: str
    problem: str
    entries: int
    nbytes: int
    limit: int
    hits: int
    misses: int
    saves: int
    damaged: int
    errors: int


class _State:
    """Counts of this process.  Races between threads can only make them approximate."""

    __slots__ = (
        "damaged",
        "errors",
        "estimate",
        "hits",
        "misses",
        "place",
        "saves",
        "until_scan",
        "warned",
    )

    def __init__(self) -> None:
        self.hits = self.misses = self.saves = self.damaged = self.errors = 0
        self.warned = False
        self.place: Path | None = None  # directory of the last save
        self.estimate = 0  # bytes in it, as far as known
        self.until_scan = 0


_state = _State()


class _Unusable(Exception):
    """The directory must not be used; the message says why."""


class _Damaged(Exception):
    """An entry did not verify."""


def cache_key(parts: Iterable[bytes | str]) -> str:
    """Return the key of everything a kernel depends on.

    Parameters
    ----------
    parts : iterable of bytes or str
        For example source, constants, flags, versions, name and features of the processor.
        Each is hashed with its kind and length, so no two sequences run together.

    Returns
    -------
    str
        64 hexadecimal digits (SHA-256).

    Examples
    --------
    >>> cache_key(["ab", "c"]) == cache_key(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"s" if isinstance(part, str) else b"b")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def load(key: str) -> bytes | None:
    """Return the payload saved under ``key``, or None.

    Parameters
    ----------
    key : str
        From `cache_key`.

    Returns
    -------
    bytes or None
        Verified bytes; None if there is no entry, it is damaged, or the cache is unusable.
    """
    name = _file_name(key)
    if not settings.cache:
        return None
    payload: bytes | None = None
    try:
        directory = _directory(create=False)
        if directory is not None:
            payload = _verified(directory / name, key)
    except (OSError, _Unusable) as error:
        _give_up("read", error)
    if payload is None:
        _state.misses += 1
    else:
        _state.hits += 1
    return payload


def save(key: str, payload: bytes) -> None:
    """Keep ``payload`` under ``key``, if possible.

    Parameters
    ----------
    key : str
        From `cache_key`.
    payload : bytes
        Anything; an entry that would fill the whole cache is not saved.
    """
    name = _file_name(key)
    if not settings.cache or len(payload) + _HEADER.size > LIMIT:
        return
    try:
        directory = _directory(create=True)
        if directory is None:
            return
        header = _HEADER.pack(
            _MAGIC, _VERSION, key.encode(), len(payload), hashlib.sha256(payload).digest()
        )
        _write(directory / name, header, payload)
        _state.saves += 1
        _make_room(directory, _HEADER.size + len(payload))
    except (OSError, _Unusable) as error:
        _give_up("written", error)


def discard(key: str) -> None:
    """Remove the entry of ``key``, whose payload turned out to be of no use."""
    with contextlib.suppress(OSError, _Unusable):
        directory = _directory(create=False)
        if directory is not None:
            _remove(directory / _file_name(key))


def cache_info() -> CacheInfo:
    """Return what is on disk and what this process did with it; never warns or raises."""
    place, problem, entries, nbytes = "", "", 0, 0
    try:
        place = str(_place())
        directory = _directory(create=False)
        if directory is not None:
            for entry in _entries(directory):
                entries += entry.name.endswith(_SUFFIX)
                nbytes += entry.nbytes
    except (OSError, _Unusable) as error:
        problem = str(error)
    if not settings.cache:
        problem = "switched off by the setting 'cache'"
    return CacheInfo(
        place,
        problem,
        entries,
        nbytes,
        LIMIT,
        _state.hits,
        _state.misses,
        _state.saves,
        _state.damaged,
        _state.errors,
    )


def clear() -> int:
    """Remove every entry (and nothing else) from the directory.

    Returns
    -------
    int
        Files removed.
    """
    removed = 0
    try:
        directory = _directory(create=False)
        if directory is not None:
            removed = sum(_remove(directory / entry.name) for entry in _entries(directory))
        _state.place = None
    except (OSError, _Unusable) as error:
        _give_up("cleared", error)
    return removed


def _file_name(key: str) -> str:
    if not _KEY.match(key):
        raise ValueError(f"disk cache: {key!r} is not a key made by cache_key")
    return key + _SUFFIX


def _place() -> Path:
    """Return where the directory is, or will be."""
    if settings.cache_dir:
        # abspath, because it also drops a trailing "/" or "/." that would follow a link
        return Path(os.path.abspath(os.path.expanduser(settings.cache_dir)))  # noqa: PTH100, PTH111
    import platformdirs  # noqa: PLC0415

    place = platformdirs.user_cache_path("xarraylite")
    if not place.is_absolute():  # an unknown user without HOME gets "~/.cache"
        raise _Unusable("this user has no home directory")
    return place / "kernels"


def _directory(*, create: bool) -> Path | None:
    """Return the directory, checked; None if it does not exist and is not to be created."""
    place = _place()
    try:
        found = place.lstat()
    except FileNotFoundError:
        if not create:
            return None
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another process was faster
            place.mkdir(mode=0o700)
        found = place.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise _Unusable(f"{place} is a symbolic link")
    if not stat.S_ISDIR(found.st_mode):
        raise _Unusable(f"{place} is not a directory")
    reason = _not_private(found)
    if reason:
        raise _Unusable(f"{place} {reason}")
    return place


def _not_private(found: os.stat_result) -> str:
    """Say why somebody else could have written this, if so."""
    if not hasattr(os, "geteuid"):
        return ""  # Windows: the profile directory's access list is the protection
    if found.st_uid != os.geteuid():
        return f"belongs to user {found.st_uid}, not to user {os.geteuid()}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"is writable by others (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""


def _verified(path: Path, key: str) -> bytes | None:
    """Return the payload of a file; remove the file and return None if it is damaged."""
    try:
        return _read(path, key)
    except _Damaged:
        _state.damaged += 1
        _remove(path)  # possibly a good file written this moment: that costs one compilation
        return None


def _read(path: Path, key: str) -> bytes | None:
    """Return the payload of a file, None if there is none; `_Damaged` if it does not verify."""
    try:
        handle = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except OSError:
        if not path.is_symlink():
            raise
        raise _Damaged from None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or _not_private(found) or found.st_size > LIMIT:
            raise _Damaged
        content = file.read()
        if time.time() - found.st_mtime > _DAY:  # recently used entries are removed last
            with contextlib.suppress(OSError):
                os.utime(path)
    if len(content) < _HEADER.size:
        raise _Damaged
    magic, version, echoed, nbytes, digest = _HEADER.unpack_from(content)
    payload = content[_HEADER.size :]
    if (
        (magic, version, echoed) != (_MAGIC, _VERSION, key.encode())
        or nbytes != len(payload)
        or hashlib.sha256(payload).digest() != digest
    ):
        raise _Damaged
    return payload


def _write(path: Path, header: bytes, payload: bytes) -> None:
    """Write beside, flush, rename; leave nothing behind if anything at all interrupts it."""
    # The name is chosen before the file exists, so that no interrupt can fall in between.
    # (The directory is not flushed: an entry lost with the power is compiled again.)
    beside = path.with_name(f".{path.name[:16]}-{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb", opener=_private_opener) as file:
            file.write(header)
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)  # noqa: PTH105
    except BaseException:
        _remove(beside)
        raise


def _private_opener(path: str, flags: int) -> int:
    return os.open(path, flags | _NOFOLLOW, 0o600)


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    nbytes: int
    used: float


def _entries(directory: Path) -> Iterator[_Entry]:
    """List files whose names are ours; those that vanish meanwhile are left out."""
    with os.scandir(directory) as found:
        for item in found:
            if _OURS.match(item.name):
                with contextlib.suppress(FileNotFoundError):
                    info = item.stat(follow_symlinks=False)
                    yield _Entry(item.name, info.st_size, info.st_mtime)


def _make_room(directory: Path, added: int) -> None:
    """Remove the entries unused for longest once the directory has outgrown the limit.

    The directory is listed at a process's first save, every 64 saves after it, and when the
    known bytes exceed the limit; removing goes down to 3/4 of it, so listings stay rare.
    """
    _state.estimate += added
    _state.until_scan -= 1
    if directory == _state.place and _state.until_scan > 0 and _state.estimate <= LIMIT:
        return
    _state.place, _state.until_scan = directory, _RESCAN
    now = time.time()
    kept: list[_Entry] = []
    for entry in _entries(directory):
        if entry.name.endswith(_SUFFIX):
            kept.append(entry)
        elif now - entry.used > _ABANDONED:
            _remove(directory / entry.name)
    total = sum(entry.nbytes for entry in kept)
    if total > LIMIT:
        for entry in sorted(kept, key=lambda entry: entry.used):
            if total <= LIMIT * 3 // 4:
                break
            if _remove(directory / entry.name):
                total -= entry.nbytes
    _state.estimate = total


def _give_up(action: str, error: Exception) -> None:
    """Count a failure, and warn about the first one of this process."""
    _state.errors += 1
    if not _state.warned:
        _state.warned = True
        warn_caller(
            f"the kernel cache cannot be {action}: {error}. Kernels stay in memory; set "
            "XARRAYLITE_CACHE_DIR to a private directory, or XARRAYLITE_CACHE=0.",
            CacheWarning,
        )
