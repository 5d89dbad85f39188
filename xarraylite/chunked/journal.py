"""Which blocks of a store are finished, so that it can be resumed.

Beside the target, in ``.<name>.xl-store``, the first line says what is stored (fingerprints of the
expression and of each of its operands, the chunks and their layout) and in which blocks, and each
line after it is the corner of a block that was written, with what tells it from another one.  The
first line is there before the target is, so whatever is found beside a record without finished
blocks may be made anew.  Blocks that are gone or have changed are made again, as long as one is as
it was: otherwise the target may be another array.  Lines are appended by one system call each,
after the block's own files are complete; a line that a crash has cut short is no line.  The file is
removed when all blocks are there.  A crash of the process loses nothing; after a crash of the
machine whatever the system had not yet written to the disk is lost with it.

Whoever writes holds a lock on the file, which the system takes back when the process ends, so that
of two stores under one path the second is refused.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from .._errors import StorageError
from .._locks import new_lock
from ..io.atomic import replace_file
from .retries import naming
from .selection import Box, window_of

#: Whether there are locks; where there are none, an open file keeps its name (Windows).
_LOCKS = sys.platform != "win32"

if sys.platform != "win32":
    import fcntl

Corner = tuple[int, ...]

#: What is stored: ``expression``, ``operands`` with their names, ``chunks`` and ``layout``.
Mark = Mapping[str, Any]

#: What writers, zarr's own among them, call a chunk or metadata that are not whole yet.
_PARTIAL = re.compile(r"(zarr|c|c?[0-9.]+)\.[0-9a-f]{32}\.partial")


class Journal:
    """The record of one store.

    Attributes
    ----------
    target : Path
        Where it is stored.
    block : tuple of int or None
        Extents of the blocks; None as long as they are not known.
    done : dict
        Corners of the blocks that were finished before, and what tells that they are as they were.
    """

    __slots__ = ("_handle", "_lock", "_mark", "_place", "block", "done", "target")

    def __init__(self, target: Path, mark: Mark) -> None:
        self.target = target
        self._place = _beside(target)
        self._mark = mark
        self._handle = -1
        self._lock = new_lock()
        self.block: tuple[int, ...] | None = None
        self.done: dict[Corner, int] = {}

    @staticmethod
    def beside(target: Path) -> bool:
        """Tell whether there is a record beside a target."""
        return _beside(target).exists()

    @staticmethod
    def found(target: Path, mark: Mark) -> Journal | None:
        """Return the record beside a target; None if there is none.

        Raises
        ------
        StorageError
            If it is of another expression, or of operands that have changed since.
        """
        made = Journal(target, mark)
        try:
            lines = made._place.read_text("utf-8").split("\n")[:-1]
        except FileNotFoundError:
            return None
        try:
            head = json.loads(lines[0])
            known, made.block = head["stored"], tuple(head["block"])
            tuple(known["chunks"])  # a list, or the record is damaged
            made.done = {tuple(at): state for at, state in map(json.loads, lines[1:])}
            reasons = list(_differences(known, mark))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise StorageError(
                f"store: {made._place} is damaged ({error}); overwrite=True begins anew"
            ) from None
        if reasons:
            raise StorageError(
                f"store: cannot resume {target}: {', and '.join(reasons)}; overwrite=True begins "
                "anew"
            )
        return made

    def check(self, shape: Sequence[int], state: Callable[[Box], int]) -> None:
        """Forget the blocks that are not as they were recorded: they are made again.

        Raises
        ------
        StorageError
            If none is, so that nothing says that the target is the one that was begun.
        """
        for at, known in [*self.done.items()]:
            with contextlib.suppress(LookupError, OSError, TypeError, ValueError):  # no such block
                high = [k + n for k, n in zip(at, self.block or (), strict=True)]
                if state(window_of(at, [*map(min, high, shape)])) == known:
                    continue
            del self.done[at]
        if not self.done:
            raise StorageError(
                f"store: cannot resume {self.target}: no finished block is there as it was "
                "written, so it was replaced or changed since; overwrite=True begins anew"
            )

    def begin(self, block: Sequence[int]) -> None:
        """Write what is known, and be ready for more.

        Raises
        ------
        StorageError
            If it cannot be written, or another store is writing to the target.
        """
        self.block = tuple(block)
        head = json.dumps({"stored": dict(self._mark), "block": list(block)})

        def write(file: BinaryIO) -> None:
            for line in (head, *map(json.dumps, sorted(self.done.items()))):
                file.write(line.encode() + b"\n")
            if _LOCKS:
                file.flush()
                self._handle = os.dup(file.fileno())
                _lock(self._handle)

        try:
            with naming(f"store: cannot keep a record in {self._place}"):
                self._place.parent.mkdir(parents=True, exist_ok=True)
                with _locked(self._place.parent, wait=True), _locked(self._place) as free:
                    if not free:
                        raise StorageError(f"store: another store is writing {self.target}")
                    replace_file(self._place, write)  # without a line that was cut short
                if not _LOCKS:
                    self._handle = os.open(self._place, os.O_WRONLY | os.O_APPEND)
        except StorageError:
            self.close()
            raise

    def record(self, corner: Corner, state: int) -> None:
        """Say that a block is finished, and what tells that it is as it was then."""
        with self._lock:
            if self._handle >= 0:
                line = (json.dumps((corner, state)) + "\n").encode()
                with naming(f"store: {self._place}"):
                    if os.write(self._handle, line) < len(line):
                        raise OSError("the disk is full")

    def close(self) -> None:
        """Record no more."""
        with self._lock:
            if self._handle >= 0:
                os.close(self._handle)
            self._handle = -1

    def remove(self) -> None:
        """Remove what killed writers have left, and the record last: all is finished."""
        left = [*self._place.parent.glob(f".{glob.escape(self._place.name)}.*.tmp")]
        if self.done and self.target.is_dir():
            found = self.target.rglob("*.partial")
            left.extend([path for path in found if _PARTIAL.fullmatch(path.name)])
        if not _LOCKS:
            self.close()
        for path in (*left, self._place):
            path.unlink(missing_ok=True)
        self.close()


@contextlib.contextmanager
def _locked(place: Path, wait: bool = False) -> Iterator[bool]:
    """Lock a file or directory, if it is there; tell whether nobody else has."""
    with contextlib.ExitStack() as over:
        free = True
        with contextlib.suppress(OSError):
            over.callback(os.close, handle := os.open(place, os.O_RDONLY))
            free = _lock(handle, wait)
        yield free


def _lock(handle: int, wait: bool = False) -> bool:
    """Lock an open file; False if another has.  Not every system or file system has locks."""
    if sys.platform != "win32":
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            return not isinstance(error, BlockingIOError)
    return True


def _differences(known: Mark, mark: Mark) -> Iterator[str]:
    """Yield why what was begun is not what is to be stored."""
    if known["expression"] != mark["expression"]:
        yield "it was begun with another expression"
    else:
        pairs = zip(known["operands"], mark["operands"], strict=True)
        changed = [name for (_, before), (name, told) in pairs if before != told]
        if changed:
            yield f"an operand has changed since, or is another one: {', '.join(changed)}"
    if known["chunks"] != list(mark["chunks"]):
        yield f"it was begun in chunks of {known['chunks']}, not {list(mark['chunks'])}"
    if known.get("layout") != mark.get("layout"):
        yield "it was begun with another layout of its chunks"


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.xl-store")
