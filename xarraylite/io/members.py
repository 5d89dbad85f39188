"""Members of a zip archive: bytes at a place that a directory names, perhaps deflated.

The standard library's reader of members accepts what only forged archives have: places that
overlap, compressed bytes after the end, elements that go on after the announced number.  Holding
members against the directory and inflating them into their final memory is less than to check its
result, so that is done here.  The directory itself is the library's to read, through a `Window`.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import Protocol

from .streams import BinaryReader, Source, read_into, refusal, shown

#: How a member begins.
MEMBER_MAGIC = b"PK\x03\x04"

_UTF8 = 0x800  # flag: the name is UTF-8, and not code page 437
_LOCAL = struct.Struct("<4s5H3I2H")
_PIECE = 64 << 10  # compressed bytes read at a time


class OutOfFile(OSError):
    """A directory points outside the file."""


class _Inflate(Protocol):
    """What `zlib.decompressobj` returns."""

    @property
    def eof(self) -> bool: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Window:
    """The archive's part of a file, for the standard library: from here on, in bounded reads."""

    __slots__ = ("_file", "_most", "_name", "_nbytes", "_position", "_start")

    def __init__(self, file: BinaryReader, name: str, start: int, nbytes: int, most: int) -> None:
        self._file = file
        self._name = name
        self._start = start
        self._nbytes = nbytes
        self._most = most
        self._position = 0

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = (0, self._position, self._nbytes)[whence]
        if not 0 <= base + offset <= self._nbytes:
            raise OutOfFile(f"position {base + offset} of {self._nbytes} bytes")
        self._position = base + offset
        self._file.seek(self._start + self._position)
        return self._position

    def read(self, size: int = -1) -> bytes:
        rest = self._nbytes - self._position
        size = rest if size < 0 else min(size, rest)
        if size > self._most:
            raise refusal(
                self._name, f"has a directory of {size} bytes", f"at most {self._most} are read"
            )
        data = self._file.read(size)
        self._position += len(data)
        return data

    def readinto(self, memory: memoryview) -> int:
        count = read_into(self._file, memory[: self._nbytes - self._position])
        self._position += count
        return count


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of the directory: its key, the entry, and where the next thing begins."""

    key: str
    info: zipfile.ZipInfo
    limit: int


class MemberSource(Source):
    """The bytes of one member, decompressed; its local header is checked when this is made."""

    __slots__ = ("_crc", "_info", "_inflate", "_packed", "_rest", "_window")

    def __init__(self, window: Window, name: str, member: Member) -> None:
        info = member.info
        super().__init__(f"{name}, member {shown(info.orig_filename)},", info.file_size)
        self._window = window
        self._info = info
        self._packed = info.compress_size
        self._crc = 0
        self._rest = b""
        deflated = info.compress_type == zipfile.ZIP_DEFLATED
        self._inflate: _Inflate | None = zlib.decompressobj(-zlib.MAX_WBITS) if deflated else None
        self._enter(member)

    def _enter(self, member: Member) -> None:
        """Check the local header and go to the bytes behind it."""
        window, info = self._window, self._info
        window.seek(info.header_offset)
        local = window.read(_LOCAL.size)
        if len(local) < _LOCAL.size:
            raise self.refusal("begins at the end of the file", "the archive is truncated")
        magic, _, _, method, _, _, _, _, _, name_length, extra = _LOCAL.unpack(local)
        stored = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
        name = window.read(name_length)
        if (magic, method, name) != (MEMBER_MAGIC, info.compress_type, stored):
            raise self.refusal("differs from the directory", "the archive is damaged or forged")
        begin = window.tell() + extra
        if begin + info.compress_size > member.limit:
            raise self.refusal("overlaps what follows", "every member has its own bytes")
        window.seek(begin)

    def _into(self, memory: memoryview) -> int:
        if self._inflate is None:
            count = self._window.readinto(memory[: self._packed])
            self._packed -= count
        else:
            data = self._inflated(self._inflate, len(memory))
            count = len(data)
            memory[:count] = data
        self._crc = zlib.crc32(memory[:count], self._crc)
        return count

    def _inflated(self, inflate: _Inflate, limit: int) -> bytes:
        """Return at least one byte and at most ``limit``; none at the end."""
        data = b""
        while not data and not inflate.eof:
            if not self._rest and self._packed:
                self._rest = self._window.read(min(_PIECE, self._packed))
                self._packed -= len(self._rest)
            given = self._rest
            try:
                data = inflate.decompress(given, limit)
            except zlib.error as error:
                raise self.refusal("cannot be decompressed", str(error)) from None
            self._rest = inflate.unconsumed_tail
            if not given:  # the file is at its end, and so is what zlib held back
                break
        return data

    def finish(self) -> None:
        """Check that the member ends here, and its CRC-32.

        Raises
        ------
        FormatError
            If it does not.
        """
        inflate = self._inflate
        ended = True
        if inflate is not None:  # the mark of the end may still be unread
            ended = not self._inflated(inflate, 1) and inflate.eof and not inflate.unused_data
        if self._packed or self._rest or not ended:
            raise self.refusal(
                "does not end where it should", f"{self._info.file_size} bytes were announced"
            )
        if self._crc != self._info.CRC:
            raise self.refusal(
                f"has the CRC-32 {self._crc:08x}", f"{self._info.CRC:08x} was announced"
            )
