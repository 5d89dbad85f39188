"""The archive of scalar routines that the package comes with.

A file of LLVM IR, one text for each routine of the table of operations (see ``emit/routine.py``),
and of object code, for what is compiled the same way everywhere (``kernel.code_of``) and what
kernels call (``emit/apart.py``):

    magic | digest of the bodies' sources | number of entries | index | texts and objects

The index has, for each entry, the first bytes of the digest of the routine's expression and types,
or of what the object was made of, and where it is; entries are compressed one by one, with
the most frequent lines as a common dictionary.  An archive whose digest is not that of the sources
beside it is not used: an edited body is right at once, only compiled by Numba where it is first
needed.

**Objects** are for any x86-64 processor under Linux (`host.PLATFORM`), or for those of a level
(`host.LEVELS`); elsewhere, and of anything else, LLVM makes them when they are first needed.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from functools import cache

from ..ops import bodies
from . import cpython
from .emit.routine import Routine
from .host import PLATFORM
from .verified_files import hasher

FILE = os.path.join(os.path.dirname(__file__), "routines.bin")


#: Modules whose text decides what a routine's text is, beside those of the rooms of bodies.
_SOURCES = (
    "dtypes.bits",
    "dtypes.formats",
    "dtypes.narrow",
    "codegen.jit",
)

_MAGIC = b"XLROUT\x00\x02"
_HEAD = struct.Struct("<8s32sII")
_ENTRY = struct.Struct("<16sII")

#: What texts are compressed against, the most frequent last.
_DICTIONARY = (
    b"declare i1 @llvm.is.fpclass.f64(double, i32 immarg)\n"
    b"declare double @llvm.copysign.f64(double, double)\ndeclare float @llvm.fabs.f32(float)\n"
    b"declare double @llvm.fabs.f64(double)\n = tail call double @llvm.fabs.f64(double %"
    b" = extractvalue { double, double } %0, 1\n = insertvalue { float, float } poison, float %"
    b" = phi double [ 0x = fptrunc double % to float\n = fpext float % to double\n"
    b" = icmp eq i64 % = icmp slt i32 % = add nsw i64 % = and i64 % = lshr i32 % = shl nuw i32 %"
    b" = bitcast double % to i64\n = bitcast i64 % to double\n = bitcast i32 % to float\n"
    b" = select i1 %, double %, double % = select i1 %, i32 %, i32 %\n  br i1 %, label %"
    b" = fcmp olt double %, 0.000000e+00\n = fcmp une double %"
    b" = fsub double % = fadd double % = fmul double %, 0x3F\n"
    b"define internal double @body(double %0) alwaysinline nounwind mustprogress {\n  %2 = "
    b"\n  ret double %\n}\n"
)


@cache
def sources() -> tuple[str, ...]:
    """Return the names, in the package, of the modules that decide what a routine's text is."""
    found = [
        f"{room}.{file.removesuffix('.py')}"
        for room, package in (("ops.bodies", bodies), ("codegen.cpython", cpython))
        for file in os.listdir(package.__path__[0])
        if file.endswith(".py") and file != "__init__.py"
    ]
    return (*_SOURCES, *sorted(found))


@cache
def digest_of_sources() -> bytes:
    """Return a digest of the text of those modules, without importing them."""
    found, root = hasher(), os.path.dirname(os.path.dirname(__file__))
    read = getattr(bodies.__spec__.loader, "get_data", None)
    for name in sources():
        text = b"" if read is None else read(os.path.join(root, *name.split(".")) + ".py")
        found.update(name.encode() + b"\n" + text.replace(b"\r\n", b"\n"))
    return found.digest()


def name_of(routine: Routine) -> bytes:
    """Return what a routine is found by."""
    text = "\n".join([routine.text, *routine.args, routine.result])
    return hasher(text.encode()).digest()[:16]


def _name_of_object(name: bytes) -> bytes:
    return hasher(PLATFORM.encode() + name).digest()[:16]


class Archive:
    """Texts of routines and object code by name, as they stand in a file."""

    __slots__ = ("_data", "index")

    def __init__(self, data: bytes, digest: bytes) -> None:
        self._data = data
        self.index: dict[bytes, tuple[int, int]] = {}
        if len(data) < _HEAD.size:
            return
        magic, known, count, start = _HEAD.unpack_from(data)
        end = _HEAD.size + count * _ENTRY.size
        if magic == _MAGIC and known == digest and start == end <= len(data):
            entries = _ENTRY.iter_unpack(data[_HEAD.size : end])
            self.index = {name: (at, size) for name, at, size in entries}

    def find(self, routine: Routine) -> str | None:
        """Return the text of a routine, or None."""
        found = self._entry(name_of(routine)) if routine.op is None else None
        try:
            return None if found is None else found.decode()
        except UnicodeDecodeError:
            return None

    def find_object(self, name: bytes) -> bytes | None:
        """Return the object code of some name for `host.PLATFORM`, or None."""
        return self._entry(_name_of_object(name))

    def _entry(self, name: bytes) -> bytes | None:
        """Return an entry; None if there is none, or only a damaged one."""
        at, size = self.index.get(name, (0, 0))
        inflated = zlib.decompressobj(zdict=_DICTIONARY)
        try:
            found = inflated.decompress(self._data[at : at + size])
        except zlib.error:
            return None
        return found if inflated.eof else None


@cache
def archive() -> Archive:
    """Return the archive beside this module; an empty one if it is not that of the sources."""
    try:
        with open(FILE, "rb") as file:
            data = file.read()
    except OSError:
        data = b""
    return Archive(data, digest_of_sources() if data else b"")


def packed(texts: Mapping[Routine, str], objects: Mapping[bytes, bytes] | None = None) -> bytes:
    """Return an archive of texts of routines, and of object code by its assembly's name."""
    named = {name_of(routine): text.encode() for routine, text in texts.items()}
    named |= {_name_of_object(name): image for name, image in (objects or {}).items()}
    entries, blocks = [], []
    start = at = _HEAD.size + len(named) * _ENTRY.size
    for name, content in sorted(named.items()):
        deflate = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zdict=_DICTIONARY)
        body = deflate.compress(content) + deflate.flush()
        entries.append(_ENTRY.pack(name, at, len(body)))
        blocks.append(body)
        at += len(body)
    head = _HEAD.pack(_MAGIC, digest_of_sources(), len(named), start)
    return b"".join([head, *entries, *blocks])


def write(
    texts: Mapping[Routine, str], objects: Mapping[bytes, bytes] | None = None, path: str = FILE
) -> None:
    """Write an archive, the one in use from now on."""
    with open(path, "wb") as file:
        file.write(packed(texts, objects))
    archive.cache_clear()


def names(routines: Iterable[Routine], assemblies: Iterable[bytes] = ()) -> set[bytes]:
    """Return what routines, and objects by the names of their assemblies, are found by."""
    return {*map(name_of, routines), *map(_name_of_object, assemblies)}
