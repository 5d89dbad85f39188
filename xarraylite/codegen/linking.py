"""Object code put into this process without LLVM, whose bindings alone take a quarter of a start.

For x86-64 under Linux LLVM writes ELF objects, and as code and data may lie anywhere, they refer to
each other, and to functions of the process, by whole addresses.  So there is little to link:
sections are copied one behind the other, and 64 bits are filled in where a relocation says so.

Only that is done here.  An object that has anything else (another kind of relocation, a name
that this process does not have) is left to LLVM, which says what is wrong with
it, as are all objects on other machines.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..memory.pool import address_of

_HERE = sys.platform == "linux" and os.uname().machine == "x86_64" and sys.maxsize >> 62 == 1

#: How such an object begins: 64 bits, little-endian, version 1; later: relocatable, x86-64.
_MAGIC, _KIND, _HEADER = b"\x7fELF\x02\x01\x01", (1, 62), 64

#: Name, type, flags, address, offset, size, link, info, alignment, size of an entry; name, info,
#: other, section, value, size; offset, type, symbol, addend.
_SECTION = np.dtype("u4, u4, u8, u8, u8, u8, u4, u4, u8, u8")
_SYMBOL = np.dtype("u4, u1, u1, u2, u8, u8")
_PATCH = np.dtype("u8, u4, u4, i8")

#: Types of sections: content, symbols, relocations, zeros, and how stacks are unwound, for
#: exceptions that nothing called from here raises; and flags: to be written, part of the image.
_CONTENT, _SYMBOLS, _PATCHES, _EMPTY, _UNWINDING = 1, 2, 4, 8, 0x70000001
_WRITTEN, _LOADED = 1, 2

#: Bytes of a section that nobody needs more of.
_MOST = 1 << 28

#: Types of relocations: an address, and how far it is from the place that is filled.
_ABSOLUTE, _RELATIVE = 1, 24

#: Sections of symbols: of none, and from here on of special kinds.
_UNDEFINED, _SPECIAL = 0, 0xFF00


#: The process, by whose names objects call its functions.
_process = ctypes.CDLL(None) if _HERE else ctypes.pythonapi
_protect: Any = _process.mprotect if _HERE else None
if _HERE:
    _protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


class _Unusual(Exception):
    """The object has something that is left to LLVM."""


def linked(image: bytes, name: str, called: Mapping[str, int]) -> tuple[int, mmap.mmap] | None:
    """Return the address of a function, and the memory that its object's code lies in.

    Parameters
    ----------
    image : bytes
        Object code.
    name : str
        The function.
    called : mapping of str to int
        Addresses of functions that have none in this process by name.

    Returns
    -------
    tuple of int and mmap, or None
        None if it is left to LLVM.  The code is there as long as the memory is not closed.
    """
    if not _HERE or image[:7] != _MAGIC or len(image) < _HEADER:
        return None
    if struct.unpack_from("<2H", image, 16) != _KIND:
        return None
    try:
        return _linked(image, name.encode(), called)
    except (_Unusual, ValueError, IndexError, OverflowError, OSError):  # sizes may be lies, too
        return None


def _linked(image: bytes, name: bytes, called: Mapping[str, int]) -> tuple[int, mmap.mmap]:
    (start,), (count,) = struct.unpack_from("<Q", image, 40), struct.unpack_from("<H", image, 60)
    sections = np.frombuffer(image, _SECTION, count, start).tolist()
    places, code, end = _places(sections)
    memory = mmap.mmap(-1, max(end, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    content = np.frombuffer(memory, np.uint8)
    base = address_of(content)
    for number, place in places.items():
        _, kind, _, _, offset, size, *_ = sections[number]
        if kind == _CONTENT:
            memory[place : place + size] = image[offset : offset + size]  # refused if that is less
    table = [section[1] for section in sections].index(_SYMBOLS)  # there is one
    names, addresses = _symbols(image, sections, table, places, base, called)
    for section in sections:
        if section[1] == _PATCHES and section[7] in places:
            _fill(content, base, places[section[7]], _table(image, section, _PATCH), addresses)
    del content  # or the memory could not be closed
    address = addresses[names.index(name)]
    if address is None or _protect(base, code, mmap.PROT_READ | mmap.PROT_EXEC):
        raise _Unusual
    return address, memory


def _places(sections: list[Any]) -> tuple[dict[int, int], int, int]:
    """Return where the sections begin that are loaded, where data to be written does, and the end.

    Such data begins a page of its own.
    """
    places, end, code = {}, 0, 0
    for written in (0, _WRITTEN):
        code = end
        for number, section in enumerate(sections):
            kind, flags, size, align = section[1], section[2], section[5], max(section[8], 1)
            if not flags & _LOADED or flags & _WRITTEN != written or kind == _UNWINDING:
                continue
            if kind not in (_CONTENT, _EMPTY) or align > mmap.PAGESIZE or size > _MOST:
                raise _Unusual
            places[number] = end = -(-end // align) * align
            end += size
        end = -(-end // mmap.PAGESIZE) * mmap.PAGESIZE
    return places, code, end


def _table(image: bytes, section: Any, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(image, kind, section[5] // kind.itemsize, section[4])


def _symbols(
    image: bytes,
    sections: list[Any],
    number: int,
    places: Mapping[int, int],
    base: int,
    called: Mapping[str, int],
) -> tuple[list[bytes], list[int | None]]:
    """Return names and addresses of a table of symbols; None for what is no part of the image."""
    text = sections[sections[number][6]][4]
    names: list[bytes] = []
    addresses: list[int | None] = []
    for at, _, _, section, value, _ in _table(image, sections[number], _SYMBOL).tolist():
        name = image[text + at : image.index(b"\0", text + at)]
        address = None
        if section in places and section < _SPECIAL:
            address = base + places[section] + value
        elif section == _UNDEFINED and name:
            address = called.get(name.decode()) or _address(name)
        names.append(name)
        addresses.append(address)
    return names, addresses


def _address(name: bytes) -> int:
    """Return where the process has a function or an object."""
    return ctypes.addressof(ctypes.c_byte.in_dll(_process, name.decode()))


def _fill(
    code: np.ndarray[Any, Any],
    base: int,
    place: int,
    patches: np.ndarray[Any, Any],
    addresses: list[int | None],
) -> None:
    """Fill in what the relocations of a section say."""
    offsets, kinds, symbols, addends = [patches[name] for name in patches.dtype.names or ()]
    at = place + offsets.astype(np.int64)
    found = [addresses[symbol] for symbol in symbols.tolist()]
    relative = kinds == _RELATIVE
    if None in found or not (relative | (kinds == _ABSOLUTE)).all():
        raise _Unusual
    values = np.array(found, np.int64) + addends - np.where(relative, base + at, 0)
    code[at[:, None] + np.arange(8)] = values.view(np.uint8).reshape(-1, 8)
