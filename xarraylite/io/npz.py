"""Several arrays in one file: a zip archive with a member ``name.npy`` for each.

Nothing is ever extracted to a path; member names become keys of a dict.  They are held to the
rules of harmless relative paths nevertheless, when saving too, because others do extract them.

The standard library reads the archive's directory, `members` the members.  Before anything is
allocated, the directory is checked and every member's header is read; only damage inside elements
(their CRC-32) shows later.

**Bombs.**  Deflate makes at most 1032 bytes of one, and overlap is refused, so what an archive
announces is bounded by its own size; beyond `FREE_BYTES`, it must also be less than the
``max_ratio`` of `load`.

One array as a header and its elements: what a ``.npy`` file is, and each member of a ``.npz``.

Elements are written from the memory they are in where that is contiguous, in either order, and
read into the memory they will stay in.  Kernels rely on the bits that a dtype does not use, so
these are looked at after reading.  Bytes of bool other than 0 and 1, and high bits of int4 and its
kind, are put right: what NumPy and ml_dtypes take them for is clear.  High bits of float4 and
float6, which even ml_dtypes reads as now this and now that, are damage.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np

from .._errors import DTypeError, FormatError
from ..arrays.container import XContainer
from ..arrays.evaluation import eval_
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..dtypes.formats import FORMATS, INT_BITS
from ..dtypes.names import SUPPORTED, DType, NumpyArray, bool_, dtype_name
from ..ir.node import Leaf, Node
from ..layout.strided import COLUMN_MAJOR, ROW_MAJOR, Strided
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..operands.convert import raw, store, values_node
from ..operands.non_numeric import array_of
from .header import header_bytes, read_header
from .members import MEMBER_MAGIC, Member, MemberSource, OutOfFile, Window
from .streams import CHUNK, BinaryReader, BinaryWriter, Source, put, refusal, shown

#: Kinds of NumPy's dtypes whose elements have a fixed size and refer to nothing.
_OTHER_KINDS = "USMm"


@dataclass(frozen=True, slots=True)
class Contents:
    """What is to be saved: checked, not yet evaluated.

    Attributes
    ----------
    node : Node or NumPy array
        The elements; text and dates as NumPy has them.
    column_major : bool
        Whether a container that keeps column-major order asks for it.
    lazy : bool
        Whether the elements are to be computed.
    """

    node: Node | NumpyArray
    column_major: bool
    lazy: bool

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        if isinstance(self.node, np.ndarray):
            return self.node.nbytes
        return Strided.row_major(self.node.shape).size * self.node.dtype.itemsize


def contents_of(values: object, operation: str) -> Contents:
    """Return any values as `Contents`.

    Raises
    ------
    DTypeError, ShapeError
        If they are neither numbers nor text or dates, or ragged.
    """
    try:
        node = values_node(values, None, operation)
    except DTypeError as error:
        other = array_of(values)
        if other is not None and other.dtype.kind in _OTHER_KINDS:
            return Contents(other, False, False)
        text = str(error)
        raise DTypeError(text if text.startswith(operation) else f"{operation}: {text}") from None
    column = isinstance(values, XArray) and values.static_layout is COLUMN_MAJOR
    lazy = isinstance(values, XExpression) and not isinstance(values, XContainer)
    return Contents(node, column, lazy)


def write_array(file: BinaryWriter, contents: Contents) -> None:
    """Evaluate what needs it, and write header and elements."""
    node, column = contents.node, contents.column_major
    if isinstance(node, np.ndarray):
        written = BytesIO()
        np.lib.format.write_array(written, node, allow_pickle=False)
        put(file, written.getbuffer())
        return
    if contents.lazy:
        node = eval_(XExpression(node)).node
    if isinstance(node, Leaf) and (node.map.is_row_major() or node.map.is_column_major()):
        memory: Memory = node.snapshot
        place = node.map
    else:
        place = (Strided.column_major if column else Strided.row_major)(node.shape)
        memory = store(node, place)
    # Both hold for arrays of rank 0 and 1 and for empty ones: there NumPy says row-major.
    column = place.is_column_major() and (column or not place.is_row_major())
    start = place.offset * node.dtype.itemsize
    elements = memory.run().data[start : start + contents.nbytes]
    put(file, memoryview(header_bytes(node.dtype, node.shape, column)))
    put(file, elements)


def read_array(source: Source, wanted: DType | None) -> XArray | NumpyArray:
    """Read header and elements; allocate only once the header has been checked.

    Text and dates become an array of NumPy's.

    Raises
    ------
    FormatError
        If anything is not as it should be.
    """
    header = read_header(source, wanted)
    dtype = header.elements.dtype
    if dtype.kind in _OTHER_KINDS and dtype not in SUPPORTED:
        memory = np.empty(source.left, np.uint8)
        source.fill(memory.data, "elements")
        source.finish()
        stored = memory.view(dtype.newbyteorder() if header.elements.swapped else dtype)
        return stored.astype(dtype).reshape(header.shape, order="F" if header.column_major else "C")
    policy = COLUMN_MAJOR if header.column_major else ROW_MAJOR
    place = (Strided.column_major if header.column_major else Strided.row_major)(header.shape)
    buffer = raw(place, dtype)
    source.fill(buffer.run().data, "elements")
    source.finish()
    _put_right(source, buffer, dtype, header.elements.swapped)
    return XArray._own(buffer, place, dtype, policy)


def _put_right(source: Source, buffer: Buffer, dtype: DType, swapped: bool) -> None:
    """Turn elements as a file may have them into elements as they are in memory."""
    flat: np.ndarray[Any, Any] = buffer.run()
    if swapped:
        # Complex numbers are two floats; narrow types are swapped as their bits.
        half = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
        flat.view(f"u{half}").byteswap(inplace=True)
    if dtype == bool_:
        np.not_equal(flat, 0, out=flat.view(bool_))
    elif dtype in INT_BITS:
        np.bitwise_and(flat, np.uint8((1 << INT_BITS[dtype]) - 1), out=flat)
    elif dtype in FORMATS and FORMATS[dtype].bits < 8:
        largest = int(flat.max(initial=0))
        if largest >> FORMATS[dtype].bits:
            raise source.refusal(
                f"holds the byte {largest}", f"{dtype_name(dtype)} has {FORMATS[dtype].bits} bits"
            )


#: How an archive begins; the second has no members.
MAGICS = (MEMBER_MAGIC, b"PK\x05\x06")

#: Most arrays in one file.
MAX_MEMBERS = 10_000

#: Arrays of an archive may have so many bytes, however well they were compressed.
FREE_BYTES = 1 << 30

_MAX_NAME = 255  # bytes in UTF-8, ".npy" included: what file systems accept
# A directory of members with the longest names, and some extra fields, fits; a forged one of
# this size has less than 90 000 entries.
_MAX_DIRECTORY = MAX_MEMBERS * 400
_DEFLATE_LIMIT = 1032  # bytes that deflate makes of one at most
_ENCRYPTED = 0x1 | 0x20 | 0x40  # flags: encryption, patches, strong encryption
_END_RECORD = 22
_SUFFIX = ".npy"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]|^/|^[A-Za-z]:|(^|/)\.{0,2}(/|$)")

#: Dtypes of elements that a file does not name: by key, or one for all.
Wanted: TypeAlias = Mapping[str, DType] | DType | None

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
