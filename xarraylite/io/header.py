"""The header of an array in a file: which elements, which shape, which order.

``\\x93NUMPY``, a version (1.0, 2.0 or 3.0), the length of a text, and the text, a Python dict of
exactly ``descr``, ``fortran_order`` and ``shape``.  Python is not asked to read it: a deeply
nested text can exhaust its stack.  One item is one match of a regular expression, and all
arithmetic on extents is done before they are taken for a size.

**Narrow types.**  NumPy has no code for bfloat16 and its kind; ``np.save`` writes ``<V2``, and
what the two bytes mean is lost.  Here they are written as a structure of one field, whose name is
the type's and whose code is that of its bits: ``[('bfloat16', '<u2')]``.  Every NumPy reads that
without help, keeps the name through its own ``np.save``, swaps bytes if need be, and gives back
the elements, uncopied, by ``np.load(file)["bfloat16"].view(ml_dtypes.bfloat16)``.  A ``descr``
that simply is the name (``'bfloat16'``), which others write and which NumPy reads only once
ml_dtypes is imported, is read as well.

**Text and dates.**  Labels beside numbers are written as NumPy writes them, and read into its
arrays: their elements have a fixed size and refer to nothing.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from .._config import settings
from ..dtypes.formats import FORMATS, INT_BITS, storage_dtype
from ..dtypes.names import SUPPORTED, DType, dtype_name
from ..index.broadcast import MAX_RANK
from .streams import Source, shown

MAGIC = b"\x93NUMPY"

#: Longest text of a header, in bytes.
LIMIT = 64 << 10

_VERSIONS = {(1, 0): (2, "latin1"), (2, 0): (4, "latin1"), (3, 0): (4, "utf-8")}
_KEYS = frozenset({"descr", "fortran_order", "shape"})
_MAX_BYTES = (1 << 63) - 1

_TEXT = r"""(?:'[^'\\\n]*'|"[^"\\\n]*")"""
_ITEM = re.compile(
    rf"""\s* ({_TEXT}) \s* :
         \s* (True | False | {_TEXT} | \([^()]*\) | \[[^\[\]]*\])
         \s* (,?) \s*""",
    re.ASCII | re.VERBOSE,
)
_FIELD = re.compile(rf"\[\s*\(\s*({_TEXT})\s*,\s*({_TEXT})\s*\)\s*,?\s*\]", re.ASCII)
_EXTENT = re.compile(r"(0|[1-9][0-9]{0,18})L?")  # Python 2 wrote long integers as 3L

#: Types that NumPy has no code for.
_NARROW = frozenset(
    dt for dt in SUPPORTED if (dt in FORMATS or dt in INT_BITS) and dt.isbuiltin != 1
)

#: Text of so many characters, byte strings, dates and differences with their unit.
_UNIT = r"\[[0-9]{0,6}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]"
_OTHER = re.compile(rf"([<>|][US][1-9][0-9]{{0,7}}|[<>][mM]8({_UNIT})?)", re.ASCII)

#: What np.save writes for types it has no code for -> bytes per element.
_NAMELESS = {"V1": 1, "V2": 2, "f1": 1}

_REASONS = {
    "O": "objects are stored as pickles, which can run any code and are never read",
    "[": "structures are no numbers; save one array per field",
}


@dataclass(frozen=True, slots=True)
class Elements:
    """How elements lie in a file.

    Attributes
    ----------
    dtype : numpy.dtype
        What they are, in the byte order of this machine.
    swapped : bool
        Whether the file has the other byte order.
    """

    dtype: DType
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """What a checked header says.

    Attributes
    ----------
    elements : Elements
        How elements lie in the file.
    shape : tuple of int
        Extents.
    column_major : bool
        Order of the elements.
    """

    elements: Elements
    shape: tuple[int, ...]
    column_major: bool


def _elements_by_code() -> dict[str, Elements]:
    """Every ``descr`` that is one string; names of narrow types are of this machine's order."""
    table: dict[str, Elements] = {}
    for dt in SUPPORTED:
        if dt in _NARROW:
            table[dtype_name(dt)] = Elements(dt)
            continue
        code = dt.str[1:]
        for order in "<>":
            table[order + code] = Elements(dt, not np.dtype(order + code).isnative)
        if dt.itemsize == 1:
            table["|" + code] = Elements(dt)
    return table


_BY_CODE = _elements_by_code()
_NARROW_BY_NAME = {dtype_name(dt): dt for dt in _NARROW}


def header_bytes(dtype: DType, shape: tuple[int, ...], column_major: bool) -> bytes:
    """Return magic, version and header of an array; NumPy's own where it knows the dtype."""
    file = BytesIO()
    np.lib.format.write_array_header_1_0(
        file,
        {
            "descr": np.lib.format.dtype_to_descr(written_dtype(dtype)),
            "fortran_order": column_major,
            "shape": shape,
        },
    )
    return file.getvalue()


def written_dtype(dtype: DType) -> np.dtype[np.generic]:
    """Return what NumPy is told that elements are: of narrow types, their bits by their name."""
    return np.dtype([(dtype_name(dtype), storage_dtype(dtype))]) if dtype in _NARROW else dtype


def read_dtype(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """Return what elements are that NumPy has read from a file."""
    named = _NARROW_BY_NAME.get(dtype.names[0]) if dtype.names and len(dtype.names) == 1 else None
    return named if named is not None and dtype == written_dtype(named) else dtype


def read_header(source: Source, wanted: DType | None) -> Header:
    """Read a header and check it against the bytes that follow.

    Parameters
    ----------
    source : Source
        Positioned at the magic string; afterwards at the elements.
    wanted : numpy.dtype or None
        Dtype of elements that the file does not name.

    Raises
    ------
    FormatError
        If anything is not as it should be.  Nothing has been allocated then.
    """
    magic = source.take(len(MAGIC) + 2, "magic string and version")
    if not magic.startswith(MAGIC):
        raise source.refusal(f"begins with {shown(magic)}", f"a .npy file begins with {MAGIC!r}")
    version = (magic[-2], magic[-1])
    if version not in _VERSIONS:
        raise source.refusal(f"has version {version[0]}.{version[1]}", "1.0, 2.0 and 3.0 are known")
    width, encoding = _VERSIONS[version]
    length = int.from_bytes(source.take(width, "header length"), "little")
    if length > LIMIT:
        raise source.refusal(f"has a header of {length} bytes", f"at most {LIMIT} are read")
    try:
        text = source.take(length, "header").decode(encoding)
    except UnicodeDecodeError:
        raise source.refusal("has a header that is no text", f"it must be {encoding}") from None
    items = _items(source, text)
    order = items["fortran_order"]
    if order not in ("True", "False"):
        raise source.refusal(f"has fortran_order {shown(order)}", "it must be True or False")
    elements = _elements(source, items["descr"], wanted)
    shape = _shape(source, items["shape"])
    _check_size(source, elements.dtype, shape)
    return Header(elements, shape, order == "True")


def _items(source: Source, text: str) -> dict[str, str]:
    """Return the three items of a header as they are written."""
    body = text.strip()
    found: dict[str, str] = {}
    position, end = 1, len(body) - 1
    whole = body.startswith("{") and body.endswith("}") and end > 0
    while whole and position < end:
        match = _ITEM.match(body, position, end)
        if match is None or match[1][1:-1] in found:
            whole = False
            break
        found[match[1][1:-1]] = match[2]
        position = match.end()
        if not match[3]:
            whole = position == end
            break
    if not whole or found.keys() != _KEYS:
        raise source.refusal(
            f"has the header {shown(body)}",
            "it must be a dict of exactly 'descr', 'fortran_order' and 'shape', once each",
        )
    return found


def _shape(source: Source, written: str) -> tuple[int, ...]:
    # Two more pieces than there can be: a trailing comma, and the rest of what is too long.
    parts = [part.strip() for part in written[1:-1].split(",", MAX_RANK + 1)]
    is_tuple = written.startswith("(") and (len(parts) > 1 or parts == [""])
    if parts[-1] == "":
        parts.pop()
    if is_tuple and len(parts) > MAX_RANK:
        raise source.refusal(f"has more than {MAX_RANK} dimensions", "no array can")
    if not is_tuple or not all(_EXTENT.fullmatch(part) for part in parts):
        raise source.refusal(
            f"has the shape {shown(written)}", "it must be a tuple of integers from 0 to 2**63 - 1"
        )
    return tuple([int(part.removesuffix("L")) for part in parts])


def _elements(source: Source, descr: str, wanted: DType | None) -> Elements:
    """Return how elements lie, from what the file says and what the caller says."""
    field = _FIELD.fullmatch(descr)
    if field:
        elements = _field(field[1][1:-1], field[2][1:-1])
    else:
        elements = _by_code(descr[1:-1]) if descr[0] in "'\"" else None
    if elements is not None:
        if wanted is not None and wanted != elements.dtype:
            raise source.refusal(
                f"holds elements of {elements.dtype.name}",
                f"dtype={dtype_name(wanted)!r} cannot change that; convert with astype",
            )
        return elements
    code = descr[1:-1]
    size = _NAMELESS.get(code[1:]) if descr[0] != "[" and code[:1] in ("<", ">", "|") else None
    if size is None:
        kind = "[" if descr[0] == "[" else code.lstrip("<>|=")[:1]
        reason = _REASONS.get(kind, "no supported dtype is written so")
        raise source.refusal(f"holds elements of {shown(descr)}", reason)
    if wanted is None:
        raise source.refusal(
            f"holds elements of {descr}, {size} bytes without a name",
            "say what they are: xl.load(file, dtype='bfloat16') for example",
        )
    if wanted.itemsize != size:
        raise source.refusal(
            f"holds elements of {descr}",
            f"dtype={dtype_name(wanted)!r} has {wanted.itemsize} bytes, not {size}",
        )
    native = np.dtype(f"{code[0]}u{size}").isnative if code[0] != "|" else True
    return Elements(wanted, not native)


def _by_code(code: str) -> Elements | None:
    """Return what a ``descr`` of one string means; of text and dates, NumPy's dtype."""
    if code in _BY_CODE or not _OTHER.fullmatch(code):
        return _BY_CODE.get(code)
    dtype: DType = np.dtype(code)
    return Elements(dtype.newbyteorder("="), not dtype.isnative)


def _field(name: str, code: str) -> Elements | None:
    """Return a narrow type that is written as a field of its bits."""
    dt = _NARROW_BY_NAME.get(name)
    bits = _BY_CODE.get(code)
    if dt is None or bits is None or bits.dtype != storage_dtype(dt):
        return None
    return Elements(dt, bits.swapped)


def _check_size(source: Source, dtype: DType, shape: tuple[int, ...]) -> None:
    """Hold the size against the file's, in integers that do not overflow."""
    # Extents beside a 0 count too: strides are products of them.
    if math.prod(extent for extent in shape if extent) * dtype.itemsize > _MAX_BYTES:
        raise source.refusal(f"has the shape {shape}", f"{dtype.name} of it exceed 2**63 bytes")
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes < source.left and source.ahead(nbytes, len(MAGIC)) == MAGIC:
        source.left = nbytes  # another array follows
    if nbytes != source.left:
        raise source.refusal(
            f"holds {source.left} bytes after its header",
            f"shape {shape} of {dtype.name} needs exactly {nbytes}",
        )
    if nbytes > settings.max_result_bytes:
        raise source.refusal(
            f"holds {nbytes} bytes", f"the setting max_result_bytes is {settings.max_result_bytes}"
        )
