"""Files of the kernel cache: what one entry looks like, and how it is read and written whole.

An entry is

    magic, format version, key, payload length | digest of all of these and the payload | payload

in a file named by its key, and it counts only if every field agrees and the file is just as long
as they say, which is asked before the payload is read.  The digest covers the key, so a payload
is believed under the key it was written for and under no other, whatever header it is put behind.

**Writing.**  A file is written beside its final name and renamed, so readers see the old entry,
the new one or none.  Nothing is flushed to the disk: what a loss of power leaves does not verify.
The writer holds a lock on its temporary file, which the system drops when it dies, however it
dies, so whoever finds a temporary file that is not locked may remove it (`remove_orphan`).  A file
exists for a moment before it is locked; the writer looks afterwards whether it is still there, and
begins again if not.  Where files cannot be locked, age decides.

Digests are BLAKE2b of 32 bytes, from the module of the interpreter's that has nothing else:
`hashlib` loads OpenSSL, which takes 3 ms of every start.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import struct
import sys
import time
from collections.abc import Iterator

from .._records import record

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that has it elsewhere
    from hashlib import blake2b

if sys.platform != "win32":
    import fcntl

SUFFIX = ".xlk"

#: Bytes of a digest.
DIGEST = 32

_MAGIC = b"XLKERNEL"
_VERSION = 3
# Magic, version, key as 64 hexadecimal digits, payload length; no padding.  The digest follows.
_FIELDS = struct.Struct("<8sH64sQ")
HEADER = _FIELDS.size + DIGEST
"""Bytes before the payload."""

_OURS = rf"[0-9a-f]{{64}}\{SUFFIX}\Z|\.[0-9a-f]{{16}}-[0-9a-f]{{16}}\.tmp\Z"
_ABANDONED = 3600.0  # seconds after which the writer of a file that cannot be locked is dead
_DAY = 86400.0
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_READ: int = os.O_RDONLY | _NOFOLLOW
for _flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # where they exist
    _READ |= getattr(os, _flag, 0)


def hasher(data: bytes = b"") -> blake2b:
    """Return what computes a digest, of some bytes already."""
    return blake2b(data, digest_size=DIGEST)


class Damaged(Exception):
    """An entry did not verify."""


def not_private(found: os.stat_result) -> str:
    """Say why somebody else could have written a file or directory; empty if nobody could."""
    if not hasattr(os, "geteuid"):
        return ""  # Windows: the profile directory's access list is the protection
    if found.st_uid != os.geteuid():
        return f"belongs to user {found.st_uid}, not to user {os.geteuid()}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"is writable by others (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""


def read(path: str, key: str, limit: int) -> bytes | None:
    """Return the payload of a file of at most ``limit`` bytes; None if there is no file.

    Raises
    ------
    Damaged
        If the file is not the entry of ``key``.
    """
    try:
        handle = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except OSError:
        if not os.path.islink(path):
            raise
        raise Damaged from None
    try:
        found = os.fstat(handle)
        nbytes = found.st_size - HEADER
        if not stat.S_ISREG(found.st_mode) or not_private(found):
            raise Damaged
        if not 0 <= nbytes <= limit - HEADER:
            raise Damaged
        header = os.read(handle, HEADER)
        if header[: _FIELDS.size] != _FIELDS.pack(_MAGIC, _VERSION, key.encode(), nbytes):
            raise Damaged
        payload = os.read(handle, nbytes)
    finally:
        os.close(handle)
    if header != _head(key, payload):
        raise Damaged
    if time.time() - found.st_mtime > _DAY:  # recently used entries are removed last
        with contextlib.suppress(OSError):
            os.utime(path)
    return payload


def _head(key: str, payload: bytes) -> bytes:
    """Return what stands before a payload."""
    fields = _FIELDS.pack(_MAGIC, _VERSION, key.encode(), len(payload))
    digest = hasher(fields)
    digest.update(payload)
    return fields + digest.digest()


def write(path: str, key: str, payload: bytes) -> None:
    """Write beside and rename; leave nothing behind if anything at all interrupts it."""
    while True:
        # The name is chosen before the file exists, so that no interrupt can fall in between.
        directory, name = os.path.split(path)
        beside = os.path.join(directory, f".{name[:16]}-{os.urandom(8).hex()}.tmp")
        try:
            with open(beside, "xb", opener=_private_opener) as file:
                if not _lock(file.fileno()):
                    continue
                file.write(_head(key, payload))
                file.write(payload)
                file.flush()
                if sys.platform != "win32":  # the lock is held until the name is final
                    os.replace(beside, path)
            if sys.platform == "win32":  # where an open file keeps its name
                os.replace(beside, path)
        except BaseException:
            remove(beside)
            raise
        return


def _lock(handle: int) -> bool:
    """Lock a new temporary file, if possible; False if it was removed before."""
    if sys.platform == "win32":
        return True
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
    return os.fstat(handle).st_nlink > 0


def _private_opener(path: str, flags: int) -> int:
    return os.open(path, flags | _NOFOLLOW, 0o600)


def remove(path: str) -> bool:
    """Remove a file; return whether that was done."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


@record(frozen=True, slots=True)
class Entry:
    """A file of ours: its name, its size in bytes, and when it was used last."""

    name: str
    nbytes: int
    used: float


def listed(directory: str) -> Iterator[Entry]:
    """List files whose names are ours; those that vanish meanwhile are left out."""
    with os.scandir(directory) as found:
        for item in found:
            if re.match(_OURS, item.name):
                with contextlib.suppress(FileNotFoundError):
                    info = item.stat(follow_symlinks=False)
                    yield Entry(item.name, info.st_size, info.st_mtime)


def remove_orphan(directory: str, entry: Entry) -> bool:
    """Remove a temporary file if its writer is dead; return whether that was done."""
    path = os.path.join(directory, entry.name)
    old = time.time() - entry.used > _ABANDONED
    if sys.platform == "win32":
        return old and remove(path)
    try:
        handle = os.open(path, _READ)
    except OSError:  # for example a link
        return old and remove(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return remove(path)  # while it is locked
    except BlockingIOError:
        return False
    except OSError:
        return old and remove(path)
    finally:
        os.close(handle)
