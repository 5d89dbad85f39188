"""Bytes from something that is not trusted, and bytes to a file.

A `Source` knows how many bytes it has before the first is read, so a header can be held against
it before memory is allocated.  Bytes go straight into the memory that will keep them, at most
`CHUNK` at a time: what a hostile file can make us hold besides that is bounded, and Ctrl-C is
seen between two chunks.
"""

from __future__ import annotations

import io
import os
from typing import Any, Protocol

from .._errors import FormatError

#: Bytes read or written at a time.
CHUNK = 1 << 20

_SHOWN = 80  # characters of a file's own text that a message repeats


class BinaryReader(Protocol):
    """What `load` needs of an open file: bytes, from any position."""

    def read(self, size: int = ..., /) -> bytes:
        """Return at most ``size`` bytes."""

    def seek(self, offset: int, whence: int = ..., /) -> int:
        """Go to a position."""

    def tell(self) -> int:
        """Return the position."""


class BinaryWriter(Protocol):
    """What `save` needs of an open file."""

    def write(self, data: Any, /) -> object:
        """Write bytes."""


def refusal(name: str, found: str, rule: str) -> FormatError:
    """Return the error for a file that breaks a rule.

    Parameters
    ----------
    name : str
        The file, and the member of it.
    found : str
        What is in the file.
    rule : str
        What it should have been.
    """
    return FormatError(f"load: {name} {found}; {rule}")


def shown(text: object) -> str:
    """Return text from a file as a message may show it: escaped, and not too long."""
    plain = ascii(text)
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


def extent(file: Any, name: str) -> tuple[int, int]:
    """Return the current position of an open file and how many bytes follow it.

    Raises
    ------
    TypeError
        If the file is not open for reading bytes.
    FormatError
        If it cannot seek, so that its size cannot be known.
    """
    if isinstance(file, io.TextIOBase) or not hasattr(file, "read"):
        kind = type(file).__name__
        raise TypeError(f"load: got {kind}; a path or a file opened in binary mode is needed")
    try:
        start = file.tell()
        end = file.seek(0, os.SEEK_END)
        file.seek(start)
    except (AttributeError, io.UnsupportedOperation):
        end = None
    except OSError:
        if not isinstance(file, io.IOBase) or file.seekable():
            raise
        end = None
    if end is None:
        raise refusal(
            name,
            "cannot seek",
            "a size must be known before memory is allocated: pass io.BytesIO(file.read())",
        )
    return start, max(end - start, 0)


class Source:
    """Bytes of known number, read once from first to last.

    Attributes
    ----------
    name : str
        The file, and the member of it, for messages.
    left : int
        Bytes not yet read.
    """

    __slots__ = ("left", "name")

    def __init__(self, name: str, nbytes: int) -> None:
        self.name = name
        self.left = nbytes

    def _into(self, memory: memoryview) -> int:
        """Read some bytes into ``memory`` and return how many; 0 at the end."""
        raise NotImplementedError

    def fill(self, memory: memoryview, what: str) -> None:
        """Read exactly as many bytes as fit ``memory``.

        Raises
        ------
        FormatError
            If the source ends before.
        """
        done = 0
        while done < len(memory):
            count = self._into(memory[done : done + CHUNK])
            if count == 0:
                raise self.refusal(
                    f"ends after {done} bytes of its {what}", f"{len(memory)} were announced"
                )
            done += count
            self.left -= count

    def take(self, count: int, what: str) -> bytes:
        """Return exactly ``count`` bytes; the caller has bounded their number.

        Raises
        ------
        FormatError
            If there are not so many.
        """
        if count > self.left:
            raise self.refusal(f"ends after {self.left} bytes of its {what}", f"{count} are needed")
        memory = bytearray(count)
        self.fill(memoryview(memory), what)
        return bytes(memory)

    def ahead(self, distance: int, count: int) -> bytes:
        """Return some bytes that lie so far ahead, without reading on; none where they must not."""
        return b""

    def finish(self) -> None:
        """Check what can only be checked when everything has been read."""

    def refusal(self, found: str, rule: str) -> FormatError:
        """Return the error for something in this source."""
        return refusal(self.name, found, rule)


class FileSource(Source):
    """The rest of an open file.

    Parameters
    ----------
    file : BinaryReader
        Where the bytes come from.
    name : str
        Its name.
    nbytes : int
        How many bytes there are, from `extent`.
    several : bool, default False
        Whether more than what is read may be in the file.
    """

    __slots__ = ("_file", "_several")

    def __init__(self, file: BinaryReader, name: str, nbytes: int, several: bool = False) -> None:
        super().__init__(name, nbytes)
        self._file, self._several = file, several

    def ahead(self, distance: int, count: int) -> bytes:
        if not self._several:
            return b""
        place = self._file.tell()
        self._file.seek(place + distance)
        data = self._file.read(count)
        self._file.seek(place)
        return data

    def _into(self, memory: memoryview) -> int:
        return read_into(self._file, memory)


def read_into(file: BinaryReader, memory: memoryview) -> int:
    """Read some bytes of a file into ``memory``, without a copy where the file can do that."""
    direct = getattr(file, "readinto", None)
    if direct is not None:
        return direct(memory) or 0
    data = file.read(len(memory))
    memory[: len(data)] = data
    return len(data)


def put(file: BinaryWriter, memory: memoryview) -> None:
    """Write all of ``memory``, however little the file accepts at a time."""
    while len(memory):
        count = file.write(memory[:CHUNK])
        if count is None and isinstance(file, io.RawIOBase):
            raise BlockingIOError("save: the file would block; open it in blocking mode")
        # Objects that are only like files often return nothing, and write everything.
        memory = memory[count if isinstance(count, int) else CHUNK :]
