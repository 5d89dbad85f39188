"""Compiled kernels on disk: one verified file per key.

A wrong byte here is wrong machine code, so nothing read is believed: `codegen.verified_files`
verifies a file before anybody sees its content.  Damage (a truncated file, a flipped bit, another
key's content) is a miss; the entry is removed and compiled again, and so is one that turns out not
to link (`discard`).  There is no index that could disagree with the files; two writers of one key
write the same content.

**Bounds.**  Entries and temporary files together are kept below a limit.  Each process, before its
first entry and every 64 entries after it, removes what dead writers left and, if need be, the
entries unused for longest.

**Whose it is.**  The digest detects damage, not an attacker: who may write the directory may run
code as the user.  So the directory is created with mode 0700, and refused if it is a symbolic
link, belongs to somebody else or is writable by group or others; files are opened without
following links and must belong to the user.  A refused or failing directory costs speed and never
a result: kernels stay in memory and one `CacheWarning` per process says why.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from operator import attrgetter

from .._config import settings
from .._errors import CacheWarning, warn_caller
from .._records import record
from . import verified_files, worker

LIMIT = 256 << 20
"""Most bytes kept on disk; the entries unused for longest are removed beyond it."""

_KEY = re.compile(r"[0-9a-f]{64}\Z")
_RESCAN = 64  # saves after which other processes' writes are counted again


@record(frozen=True, slots=True)
class CacheInfo:
    """State of the disk cache, and what this process did with it.

    Attributes
    ----------
    directory : str
        Where entries are kept; empty if none could be found.
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


@record(slots=True, eq=False)
class _State:
    """Counts of this process.  Races between threads can only make them approximate."""

    hits: int = 0
    misses: int = 0
    saves: int = 0
    damaged: int = 0
    errors: int = 0
    warned: bool = False
    directory: str = ""  # directory of the last save
    estimate: int = 0  # bytes in it, as far as known
    until_scan: int = 0


_state = _State()

#: Entries from other processes, kept in memory until they are asked for; the latest ones.
_offered: dict[str, bytes] = {}
_OFFERS = 256


class _Unusable(Exception):
    """The directory must not be used; the message says why."""


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
        64 hexadecimal digits.

    Examples
    --------
    >>> cache_key(["ab", "c"]) == cache_key(["a", "bc"])
    False
    """
    digest = verified_files.hasher()
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
            payload = _verified(os.path.join(directory, name), key)
    except (OSError, _Unusable) as error:
        _give_up("read", error)
    if payload is None:
        payload = _offered.get(key)
        if payload is not None:
            save(key, payload)
    if payload is None:
        _state.misses += 1
    else:
        _state.hits += 1
    return payload


def offer(found: Mapping[str, bytes]) -> None:
    """Take over entries of another process, as a task of a cluster brings them.

    Who sends tasks may run any code here, so its entries are believed as its tasks are; that an
    entry is for this processor and these versions, its key says: no other is ever asked for.

    Parameters
    ----------
    found : mapping of str to bytes
        Payloads by key.
    """
    for key, payload in found.items():
        _file_name(key)  # refuses what is no key
        _offered[key] = payload
    for key in list(_offered)[: max(0, len(_offered) - _OFFERS)]:
        _offered.pop(key, None)


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
    if not settings.cache or len(payload) + verified_files.HEADER > LIMIT:
        return
    try:
        directory = _directory(create=True)
        if directory is None:
            return
        _make_room(directory, verified_files.HEADER + len(payload))
        verified_files.write(os.path.join(directory, name), key, payload)
        _state.saves += 1
    except (OSError, _Unusable) as error:
        _give_up("written", error)


def discard(key: str) -> None:
    """Remove the entry of ``key``, whose payload proved to be of no use; never warns or raises.

    Parameters
    ----------
    key : str
        From `cache_key`.
    """
    name = _file_name(key)
    _state.damaged += 1
    _offered.pop(key, None)
    with contextlib.suppress(OSError, _Unusable):
        directory = _directory(create=False)
        if directory is not None:
            verified_files.remove(os.path.join(directory, name))


def cache_info() -> CacheInfo:
    """Return what is on disk and what this process did with it; never warns or raises."""
    shown, problem, files, nbytes = "", "", 0, 0
    try:
        shown = _chosen_directory()
        directory = _directory(create=False)
        if directory is not None:
            for entry in verified_files.listed(directory):
                files += entry.name.endswith(verified_files.SUFFIX)
                nbytes += entry.nbytes
    except (OSError, _Unusable) as error:
        problem = str(error)
    if not settings.cache:
        problem = "switched off by the setting 'cache'"
    return CacheInfo(shown, problem, files, nbytes, LIMIT, *_counts(_state))


_counts = attrgetter("hits", "misses", "saves", "damaged", "errors")


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
            removed = sum(
                verified_files.remove(os.path.join(directory, entry.name))
                for entry in verified_files.listed(directory)
            )
        _state.directory = ""
    except (OSError, _Unusable) as error:
        _give_up("cleared", error)
    return removed


def _file_name(key: str) -> str:
    if not _KEY.match(key):
        raise ValueError(f"disk cache: {key!r} is not a key made by cache_key")
    return key + verified_files.SUFFIX


def _chosen_directory() -> str:
    """Return where the directory is, or will be."""
    try:
        if settings.cache_dir:
            named = os.path.expanduser(settings.cache_dir)
            if named.startswith("~"):
                raise _Unusable(f"there is no home directory for {named}")
            # abspath, because it also drops a trailing "/" or "/." that would follow a link
            return os.path.abspath(named)
        directory = _usual_directory()
    except (RuntimeError, LookupError, ValueError) as error:
        raise _Unusable(f"the system names none: {error}") from error
    if not os.path.isabs(directory):  # an unknown user without HOME gets "~/.cache"
        raise _Unusable("this user has no home directory")
    return os.path.join(directory, "xarraylite", "kernels")


def _usual_directory() -> str:
    """Return where the system has what programs of the user's keep."""
    if sys.platform != "linux":
        import platformdirs  # noqa: PLC0415

        return platformdirs.user_cache_dir()
    # What that says there; its import takes 8 ms.
    named = os.environ.get("XDG_CACHE_HOME", "")
    return named if os.path.isabs(named) else os.path.expanduser("~/.cache")


def _directory(*, create: bool) -> str | None:
    """Return the directory, checked; None if it does not exist and is not to be created."""
    directory = _chosen_directory()
    try:
        found = os.lstat(directory)
    except FileNotFoundError:
        if not create:
            return None
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.mkdir(directory, mode=0o700)
        found = os.lstat(directory)
    if stat.S_ISLNK(found.st_mode):
        raise _Unusable(f"{directory} is a symbolic link")
    if not stat.S_ISDIR(found.st_mode):
        raise _Unusable(f"{directory} is not a directory")
    reason = verified_files.not_private(found)
    if reason:
        raise _Unusable(f"{directory} {reason}")
    return directory


def _verified(path: str, key: str) -> bytes | None:
    """Return the payload of a file; remove the file and return None if it is damaged."""
    try:
        return verified_files.read(path, key, LIMIT)
    except verified_files.Damaged:
        _state.damaged += 1
        verified_files.remove(
            path
        )  # possibly a good file written this moment: that costs one compilation
        return None


def _make_room(directory: str, added: int) -> None:
    """Remove what dead writers left, and the entries unused for longest if ``added`` is too much.

    The directory is listed at a process's first save, every 64 saves after it, and when the
    known bytes exceed the limit; removing goes down to 3/4 of it, so listings stay rare.
    """
    _state.estimate += added
    _state.until_scan -= 1
    if directory == _state.directory and _state.until_scan > 0 and _state.estimate <= LIMIT:
        return
    _state.directory, _state.until_scan = directory, _RESCAN
    kept: list[verified_files.Entry] = []
    total = added
    for entry in verified_files.listed(directory):
        if entry.name.endswith(verified_files.SUFFIX):
            kept.append(entry)
        elif verified_files.remove_orphan(directory, entry):
            continue
        total += entry.nbytes
    if total > LIMIT:
        for entry in sorted(kept, key=lambda entry: entry.used):
            if total <= LIMIT * 3 // 4:
                break
            if verified_files.remove(os.path.join(directory, entry.name)):
                total -= entry.nbytes
    _state.estimate = total


def _give_up(action: str, error: Exception) -> None:
    """Count a failure, and warn about the first one of this process."""
    _state.errors += 1
    if not _state.warned:
        _state.warned = True
        message = (
            f"the kernel cache cannot be {action}: {error}. Kernels stay in memory; set "
            "XARRAYLITE_CACHE_DIR to a private directory, or XARRAYLITE_CACHE=0."
        )
        worker.notify(lambda: warn_caller(message, CacheWarning))
