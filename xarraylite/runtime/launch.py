"""Launching small work: from Python objects to a running kernel in one call.

A small kernel takes less time than a handful of Python operations, so what happens at every launch
is machine code too.  One function, `launch`, serves all kernels.  It is a builtin of Python
(``METH_FASTCALL``) whose ``self`` is a *record*: bytes that hold the kernel's address, a template
of its argument block, and how the words that change are found from the arguments: the destination's
address, the shape, and the expression's operands (`ir.kind`).  It fills a block on the stack,
asks the guards, calls the kernel and returns None.  Where a guard fails it returns False, nothing
has happened, and the planner decides.

The guards are what depends on addresses and extents: that every snapshot still has an address, that
an operand is exactly the destination's elements where the kernel was made for that, and shares no
byte with the destination otherwise, and that the work is small enough to be done at once, on one
thread.  Small work holds the interpreter's lock from the look at an operand's address until the
kernel is done, so no other thread can move or overwrite what it reads.  What takes longer
and reads snapshots alone lets go of the lock while its kernel runs, and is counted; writers wait
for it before they move a snapshot (`memory.snapshots.flying`).

The loops are those of the shape, without merging: the last dimension is the inner loop.  Row-major
operands of a row-major destination are one flat loop.

A record is made of 64-bit words: a head, one entry for the destination and for each operand, and
the template.  The head has the kernel, the rank, the most elements, how many entries and words of
the template there are, whether addresses are compared, whether all is one flat loop, the result's
itemsize, whether it is folded, how many operations are done twice, up to how many elements the lock
is held, another kernel (or 0), from how many elements and bytes on that is called, and where
running kernels are counted.  An entry says what the argument is (a snapshot and a byte offset, or a
number), which word it fills, the itemsize, whether it is the destination's own elements, its rank
if it is row-major (else -1), and its strides in bytes.
`codegen.cpython.launching` is the function itself.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .._locks import ForkLock
from ..codegen import machine
from ..codegen.assembly import Assembly
from ..codegen.cpython import words as w
from ..codegen.cpython.launching import MOST_DIMENSIONS
from ..codegen.cpython.outside import STATE
from ..codegen.cpython.replay import COMPLEX, COMPLEX_FLOAT, DOUBLE, FLOAT, INTEGER
from ..codegen.emit.routine import LAUNCH
from ..codegen.emit.tokens import token
from ..codegen.kernel import code_of
from ..dtypes.names import DType
from ..memory.buffer import COUNTS
from ..memory.snapshots import Snapshot, flying

Launcher = Callable[..., object]


def can_launch() -> bool:
    """Tell whether this interpreter is one whose objects `launch` understands."""
    return (
        COUNTS
        and sys.implementation.name == "cpython"
        and sys.byteorder == "little"
        and ctypes.sizeof(ctypes.c_void_p) == 8
    )


def number_code(dtype: DType) -> int:
    """Return what a number of a dtype is in the register of a kernel."""
    code = token(dtype).value
    return _CODES.get(code, INTEGER)


_CODES = {"f64": DOUBLE, "f32": FLOAT, "c128": COMPLEX, "c64": COMPLEX_FLOAT}


def entry(
    kind: int,
    word: int,
    itemsize: int = 0,
    same: bool = False,
    row: int = -1,
    strides: Sequence[int] = (),
) -> list[int]:
    """Return the words of one entry; ``strides`` are in bytes, aligned to the last dimensions."""
    padded = [*strides, *[0] * (MOST_DIMENSIONS - len(strides))]
    return [kind, word, itemsize, int(same), row, *padded]


def packed(
    kernel: int,
    rank: int,
    limit: int,
    entries: Sequence[list[int]],
    template: Sequence[int],
    flags: Sequence[int],
) -> bytes:
    """Return the record of one launcher; ``flags`` are the end of its head."""
    head = [kernel, rank, limit, len(entries), len(template), *flags, ctypes.addressof(flying)]
    words = [*head, *[word for one in entries for word in one], *template]
    return struct.pack(f"<{len(words)}q", *words)


class Definition(ctypes.Structure):
    """What CPython is told of a function in machine code."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL = 0x80


def from_python(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of CPython's C interface, with the types of its result and arguments.

    They are said once, and to nobody else: a call reads them as they are, and a collection in the
    middle of it may call the same function.
    """
    found = ctypes.pythonapi[name]
    found.restype, found.argtypes = result, arguments
    return found


_keep = from_python("Py_IncRef", None, ctypes.py_object)
_new = from_python(
    "PyCMethod_New",
    ctypes.py_object,
    *[ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p],
)


def keep_forever(thing: object) -> None:
    """Have an object live as long as the process does.

    Machine code knows addresses, and is called longer than any module lives: by what is deleted
    last, and by the collection at the end of a process, which looks at builtin functions.
    """
    _keep(thing)


def defined(name: bytes, address: int, flags: int, doc: bytes | None = None) -> int:
    """Return the address of a definition, which is never freed."""
    made = Definition(name, address, flags, doc)
    keep_forever(made)
    return ctypes.addressof(made)


def builtin(definition: int, bound: object, module: str = "") -> Any:
    """Return a builtin function of a definition at an address, with its first argument.

    One of a module, which is bound to it then, is found there by name when it is unpickled.
    """
    return _new(definition, bound, id(module) if module else None, None)


_lock = ForkLock()

#: The code, and where CPython is told of it: made once and kept, since all launchers point there.
_made: list[tuple[machine.Code, int]] = []


def launcher(made: bytes) -> Launcher:
    """Return `launch` with a record."""
    if not _made:
        with _lock.held:
            if not _made:
                code = code_of(assembly())
                keep_forever((code, flying))
                _made.append((code, defined(b"launch", code.address, _FASTCALL)))
    function: Launcher = builtin(_made[0][1], made)
    return function


def word_at(address: int) -> int:
    """Return the word at an address."""
    return ctypes.c_int64.from_address(address).value


def offset(cls: type, name: str) -> int:
    """Return how far behind an object's address one of its slots is."""
    probe: Any = (dict if issubclass(cls, dict) else object).__new__(cls)
    inside = object()
    slot: Any = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
    slot.__set__(probe, inside)
    places = [
        k for k in range(2, cls.__basicsize__ // 8) if word_at(id(probe) + 8 * k) == id(inside)
    ]
    slot.__delete__(probe)
    (place,) = places
    return 8 * place


def assembly(items: int = tuple.__basicsize__) -> Assembly:
    """Return what `launch` is made of, for a process that has no methods in machine code.

    ``items`` is how far behind a tuple's address its items are: 24 bytes, and 32 since Python 3.14.
    """
    known = {w.ADDRESS: offset(Snapshot, "address"), w.TUPLE_ITEMS: items}
    words = ", ".join([f"i64 {known.get(k, 0)}" for k in range(max(known) + 1)])
    state = f"@{STATE} = internal constant [{max(known) + 1} x i64] [{words}]"
    return Assembly(LAUNCH, state, [_CALLER])


_CALLER = """
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyBytes_AsString(ptr)
declare void @Py_IncRef(ptr)
@_Py_NoneStruct = external global i8
@_Py_FalseStruct = external global i8

define ptr @kernel(ptr %self, ptr %args, i64 %count) {
  %head = call ptr @PyBytes_AsString(ptr %self)
  %head.at = ptrtoint ptr %head to i64
  %to.object = load ptr, ptr %args
  %to = call i64 @PyLong_AsLongLong(ptr %to.object)
  %a1 = getelementptr ptr, ptr %args, i64 1
  %shape = load ptr, ptr %a1
  %shape.at = ptrtoint ptr %shape to i64
  %a2 = getelementptr ptr, ptr %args, i64 2
  %items = ptrtoint ptr %a2 to i64
  %done = call i64 @body(i64 %head.at, i64 %to, i64 %shape.at, i64 %items)
  %ok = icmp ne i64 %done, 0
  %result = select i1 %ok, ptr @_Py_NoneStruct, ptr @_Py_FalseStruct
  call void @Py_IncRef(ptr %result)
  ret ptr %result
}
"""
