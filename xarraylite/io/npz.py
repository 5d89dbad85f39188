"""Several arrays in one file: a zip archive with a member ``name.npy`` for each.

Nothing is ever extracted to a path; member names become keys of a dict.  They are held to the
rules of harmless relative paths nevertheless, when saving too, because others do extract them.

The standard library reads the archive's directory, `members` the members.  Before anything is
allocated, the directory is checked and every member's header is read; only damage inside elements
(their CRC-32) shows later.

**Bombs.**  Deflate makes at most 1032 bytes of one, and overlap is refused, so what an archive
announces is bounded by its own size; beyond `FREE_BYTES`, it must also be less than the
``max_ratio`` of `load`.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from .._errors import FormatError
from ..arrays.xarray import XArray
from ..dtypes.names import DType, NumpyArray
from .array import Contents, read_array, write_array
from .header import read_header
from .members import MEMBER_MAGIC, Member, MemberSource, OutOfFile, Window
from .streams import CHUNK, BinaryReader, BinaryWriter, refusal, shown

MAGICS = (MEMBER_MAGIC, b"PK\x05\x06")
"""How an archive begins; the second has no members."""

MAX_MEMBERS = 10_000
"""Most arrays in one file."""

FREE_BYTES = 1 << 30
"""Arrays of an archive may have so many bytes, however well they were compressed."""

_MAX_NAME = 255  # bytes in UTF-8, ".npy" included: what file systems accept
# A directory of members with the longest names, and some extra fields, fits; a forged one of
# this size has less than 90 000 entries.
_MAX_DIRECTORY = MAX_MEMBERS * 400
_DEFLATE_LIMIT = 1032  # bytes that deflate makes of one at most
_ENCRYPTED = 0x1 | 0x20 | 0x40  # flags: encryption, patches, strong encryption
_END_RECORD = 22
_SUFFIX = ".npy"
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


def read_archive(
    file: BinaryReader,
    name: str,
    place: tuple[int, int],
    wanted: Wanted,
    max_ratio: float,
) -> dict[str, XArray | NumpyArray]:
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
    window = Window(file, name, *place, _MAX_DIRECTORY)
    members = list(_members(window, name, place[1], max_ratio))
    dtypes = {m.key: wanted.get(m.key) if isinstance(wanted, Mapping) else wanted for m in members}
    unknown = [key for key in wanted if key not in dtypes] if isinstance(wanted, Mapping) else []
    if unknown:
        raise refusal(name, f"has no array {unknown[0]!r}", "dtype= names it")
    for member in members:  # refused before anything is allocated
        read_header(MemberSource(window, name, member), dtypes[member.key])
    return {
        member.key: read_array(MemberSource(window, name, member), dtypes[member.key])
        for member in members
    }


def _members(window: Window, name: str, nbytes: int, max_ratio: float) -> Iterator[Member]:
    """Check the directory and yield its entries in their order."""
    infos, directory = _directory(window, name, nbytes)
    if len(infos) > MAX_MEMBERS:
        raise refusal(name, f"has {len(infos)} members", f"at most {MAX_MEMBERS} are read")
    by_place = sorted(infos, key=lambda info: info.header_offset)
    places = [info.header_offset for info in by_place] + [directory]
    ends = {id(info): end for info, end in zip(by_place, places[1:], strict=True)}
    if places[0] != 0:
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
        yield Member(key, info, ends[id(info)])


def _directory(window: Window, name: str, nbytes: int) -> tuple[list[zipfile.ZipInfo], int]:
    """Return the entries of the directory, and where it begins."""
    try:
        with zipfile.ZipFile(window) as archive:
            infos, begin, comment = archive.infolist(), archive.start_dir, archive.comment
        window.seek(nbytes - _END_RECORD - len(comment))
        if window.read(4) != MAGICS[1]:
            raise refusal(name, "goes on after the end of the archive", "nothing may follow it")
        for info in infos:
            window.seek(info.header_offset)
    except FormatError:
        raise
    except (*_DAMAGE, OutOfFile) as error:
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
    with zipfile.ZipFile(file, "w") as archive:  # type: ignore[call-overload]
        for key, contents in arrays.items():
            info = zipfile.ZipInfo(key + _SUFFIX)
            info.compress_type = method
            info.file_size = contents.nbytes + CHUNK  # decides whether zip64 fields are needed
            with archive.open(info, "w") as member:
                write_array(member, contents)
