"""Several arrays in one file: a zip archive with a member ``name.npy`` for each.

Nothing is ever extracted to a path; member names become keys of a dict.  They are held to the
rules of harmless relative paths nevertheless, when saving too, because others do extract them.

The standard library reads the archive's directory, through a window that bounds every read and
therefore the directory.  Members are read here, which takes fewer lines than to check what its
reader lets pass: places that overlap, local names that differ, elements that go on after the
announced end.  Before anything is allocated, all of this is checked and every member's header is
read; only damage inside elements (their CRC-32) shows later.

**Bombs.**  Deflate makes at most 1032 bytes of one, and overlap is refused, so what an archive
announces is bounded by its own size; beyond `FREE_BYTES`, it must also be less than the
``max_ratio`` of `load`.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from .._errors import FormatError
from ..containers.xarray import XArray
from .array import Contents, read_array, write_array
from .header import DType, read_header
from .streams import CHUNK, BinaryReader, BinaryWriter, Source, read_into, refusal, shown

MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""How an archive begins; the second has no members."""

MAX_MEMBERS = 10_000
"""Most arrays in one file."""

FREE_BYTES = 1 << 30
"""Arrays of an archive may have so many bytes, however well they were compressed."""

_MAX_NAME = 255  # bytes in UTF-8, ".npy" included: what file systems accept
# A directory of members with the longest names, and some extra fields, fits.
_MAX_DIRECTORY = MAX_MEMBERS * 400
_DEFLATE_LIMIT = 1032  # bytes that deflate makes of one at most
_ENCRYPTED = 0x1 | 0x20 | 0x40  # flags: encryption, patches, strong encryption
_UTF8 = 0x800  # flag: the name is UTF-8, and not code page 437
_LOCAL = struct.Struct("<4s5H3I2H")
_END_RECORD = 22
_SUFFIX = ".npy"
_PIECE = 64 << 10  # compressed bytes read at a time
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]|^/|^[A-Za-z]:|(^|/)\.{0,2}(/|$)")

Wanted: TypeAlias = Mapping[str, DType] | DType | None
"""Dtypes of elements that a file does not name: by key, or one for all."""

# What the standard library raises for archives that are none.
_DAMAGE = (
    zipfile.BadZipFile,
    EOFError,
    IndexError,
    KeyError,
    NotImplementedError,
    OverflowError,
    struct.error,
    ValueError,
)


class _OutOfFile(OSError):
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


class _Window:
    """The archive's part of a file, for the standard library: from here on, in bounded reads."""

    __slots__ = ("_file", "_name", "_nbytes", "_position", "_start")

    def __init__(self, file: BinaryReader, name: str, start: int, nbytes: int) -> None:
        self._file = file
        self._name = name
        self._start = start
        self._nbytes = nbytes
        self._position = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = (0, self._position, self._nbytes)[whence]
        if not 0 <= base + offset <= self._nbytes:
            raise _OutOfFile(f"position {base + offset} of {self._nbytes} bytes")
        self._position = base + offset
        self._file.seek(self._start + self._position)
        return self._position

    def read(self, size: int = -1) -> bytes:
        rest = self._nbytes - self._position
        size = rest if size < 0 else min(size, rest)
        if size > _MAX_DIRECTORY:
            raise refusal(
                self._name,
                f"has a directory of {size} bytes",
                f"at most {_MAX_DIRECTORY} are read, for {MAX_MEMBERS} members",
            )
        data = self._file.read(size)
        self._position += len(data)
        return data

    def readinto(self, memory: memoryview) -> int:
        count = read_into(self._file, memory[: self._nbytes - self._position])
        self._position += count
        return count


@dataclass(frozen=True, slots=True)
class _Member:
    """One entry of the directory: its key, the entry, and where the next thing begins."""

    key: str
    info: zipfile.ZipInfo
    limit: int


class _MemberSource(Source):
    """The bytes of one member, decompressed; its local header is checked when this is made."""

    __slots__ = ("_crc", "_info", "_inflate", "_packed", "_rest", "_window")

    def __init__(self, window: _Window, name: str, member: _Member) -> None:
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

    def _enter(self, member: _Member) -> None:
        """Check the local header and go to the bytes behind it."""
        window, info = self._window, self._info
        window.seek(info.header_offset)
        local = window.read(_LOCAL.size)
        if len(local) < _LOCAL.size:
            raise self.refusal("begins at the end of the file", "the archive is truncated")
        magic, _, _, method, _, _, _, _, _, name_length, extra = _LOCAL.unpack(local)
        stored = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
        name = window.read(name_length)
        if (magic, method, name) != (MAGICS[0], info.compress_type, stored):
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


def read_archive(
    file: BinaryReader,
    name: str,
    place: tuple[int, int],
    wanted: Wanted,
    max_ratio: float,
) -> dict[str, XArray]:
    """Read all arrays of an archive.

    Parameters
    ----------
    file, name : BinaryReader, str
        The file, and how messages call it.
    place : tuple of int
        Where in the file the archive begins, and its bytes.
    wanted : mapping or dtype or None
        Dtypes of elements without a name, by key or for all members.
    max_ratio : float
        How many bytes may become of one.

    Raises
    ------
    FormatError
        If anything is not as it should be.
    """
    window = _Window(file, name, *place)
    members = list(_members(window, name, place[1], max_ratio))
    dtypes = {m.key: wanted.get(m.key) if isinstance(wanted, Mapping) else wanted for m in members}
    unknown = [key for key in wanted if key not in dtypes] if isinstance(wanted, Mapping) else []
    if unknown:
        raise refusal(name, f"has no array {unknown[0]!r}", "dtype= names it")
    for member in members:  # refused before anything is allocated
        read_header(_MemberSource(window, name, member), dtypes[member.key])
    return {
        member.key: read_array(_MemberSource(window, name, member), dtypes[member.key])
        for member in members
    }


def _members(window: _Window, name: str, nbytes: int, max_ratio: float) -> Iterator[_Member]:
    """Check the directory and yield its entries in their order."""
    infos, directory = _directory(window, name, nbytes)
    if len(infos) > MAX_MEMBERS:
        raise refusal(name, f"has {len(infos)} members", f"at most {MAX_MEMBERS} are read")
    by_place = sorted(infos, key=lambda info: info.header_offset)
    limits = [info.header_offset for info in by_place[1:]] + [directory]
    ends = {id(info): end for info, end in zip(by_place, limits, strict=True)}
    if (by_place[0].header_offset if by_place else directory) != 0:
        raise refusal(name, "has bytes before its first member", "an archive begins with one")
    keys = [_key(name, info) for info in infos]
    announced = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    if announced > FREE_BYTES and announced > max_ratio * packed:
        raise refusal(
            name,
            f"announces {announced} bytes from {packed}",
            f"at most {max_ratio} from one are trusted; if you trust the file, raise max_ratio",
        )
    if len(set(keys)) != len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise refusal(name, f"has two arrays {shown(twice)}", "names must differ")
    for key, info in zip(keys, infos, strict=True):
        yield _Member(key, info, ends[id(info)])


def _directory(window: _Window, name: str, nbytes: int) -> tuple[list[zipfile.ZipInfo], int]:
    """Return the entries of the directory, and where it begins."""
    try:
        with zipfile.ZipFile(window) as archive:  # type: ignore[call-overload]
            infos, begin, comment = archive.infolist(), archive.start_dir, archive.comment
        window.seek(nbytes - _END_RECORD - len(comment))
        if window.read(4) != MAGICS[1]:
            raise refusal(name, "goes on after the end of the archive", "nothing may follow it")
        for info in infos:
            window.seek(info.header_offset)
    except FormatError:
        raise
    except (*_DAMAGE, _OutOfFile) as error:
        raise refusal(name, "has no readable zip directory", str(error)) from None
    return infos, begin


def _key(file: str, info: zipfile.ZipInfo) -> str:
    """Return the key of a member, after checking what the directory says about it."""
    name = info.orig_filename
    label = f"{file}, member {shown(name)},"
    problem = name_problem(name.removesuffix(_SUFFIX))
    if not name.endswith(_SUFFIX) or problem:
        raise refusal(label, "has a name that is refused", problem or "it must end in .npy")
    if info.flag_bits & _ENCRYPTED:
        raise refusal(label, "is encrypted or patched", "such members are not read")
    factor = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: _DEFLATE_LIMIT}.get(info.compress_type)
    if factor is None:
        raise refusal(
            label,
            f"is compressed by method {info.compress_type}",
            "0 (stored) and 8 (deflated) are read",
        )
    least = info.compress_size if factor == 1 else 0
    if not least <= info.file_size <= factor * info.compress_size:
        raise refusal(
            label,
            f"announces {info.file_size} bytes from {info.compress_size}",
            "its method cannot do that",
        )
    return name.removesuffix(_SUFFIX)


def name_problem(key: str) -> str:
    """Say why an array cannot have this name in an archive; empty if it can."""
    try:
        length = len((key + _SUFFIX).encode())
    except UnicodeEncodeError:
        return "it must be text that UTF-8 can write"
    if _UNSAFE.search(key):
        return (
            "it must be a relative path of '/' and names, without '..', '.', drives, "
            "backslashes and control characters"
        )
    return f"it must have at most {_MAX_NAME} bytes" if length > _MAX_NAME else ""


def write_archive(file: BinaryWriter, arrays: Mapping[str, Contents], compressed: bool) -> None:
    """Write arrays one after another; equal arrays make equal files, since no time is noted."""
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w") as archive:
        for key, contents in arrays.items():
            info = zipfile.ZipInfo(key + _SUFFIX)
            info.compress_type = method
            info.file_size = contents.nbytes + CHUNK  # decides whether zip64 fields are needed
            with archive.open(info, "w") as member:
                write_array(member, contents)
