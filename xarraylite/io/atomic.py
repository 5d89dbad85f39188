"""Replace a file as a whole: whoever reads it sees the old file or the new one.

The new file is written beside the old one under a name of its own, flushed to the disk and
renamed over it, and the rename is flushed too.  An error, Ctrl-C included, leaves the old file
and nothing else.  A process that is killed, or a power cut, can leave a hidden file
``.<name>.<16 hexadecimal digits>.tmp``: no one reads it, and it may be deleted.

A new file gets the permissions that any new file gets; one that replaces another keeps the
other's, as writing into it would have.  Symbolic links are followed, and stay links.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_KEPT = 48  # characters of the name, of at most 4 bytes: with 22 more they fit 255 bytes


def replace_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> None:
    """Create or replace a file with what ``write`` writes.

    Parameters
    ----------
    path : str or path
        The file.
    write : callable
        Given the open file.

    Raises
    ------
    OSError
        As when writing any file; it names ``path``.
    ValueError
        If there is something other than a file under that name.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    # The name is chosen before the file exists, so that no interrupt can fall in between.
    beside = target.with_name(f".{target.name[:_KEPT]}.{os.urandom(8).hex()}.tmp")
    try:
        with beside.open("xb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):
            error.filename = os.fspath(path)
            del error.filename2  # None would be told as the second name
        raise
    _flush_directory(target.parent)


def _mode_of(target: Path) -> int | None:
    """Return the permissions of the file that is replaced; None if there is none."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "save: this is a directory", str(target))
    if not stat.S_ISREG(found.st_mode):  # renaming over /dev/null would be the end of it
        raise ValueError(
            f"save: {str(target)!r} is a device or a pipe, which cannot be replaced; pass the file "
            "opened in binary mode to write into it"
        )
    return stat.S_IMODE(found.st_mode) & 0o777


def _flush_directory(directory: Path) -> None:
    """Make the rename survive a power cut, where the system lets a directory be flushed."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):  # the file itself is complete and in place
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
