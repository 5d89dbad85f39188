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
byte with the destination otherwise, and that the work is small enough to be done at once, holding
the interpreter's lock.  As the lock is held from the look at an operand's address until the kernel
is done, no other thread can move or overwrite what it reads.

The loops are those of the shape, without merging: the last dimension is the inner loop.  Row-major
operands of a row-major destination are one flat loop.

A record is made of 64-bit words: `HEADER`, one entry of `ENTRY` words for the destination and for
each operand, and the template.  An entry says what the argument is (`ADDRESS` is a snapshot and a
byte offset, the others are numbers), which word it fills, the itemsize, whether it is the
destination's own elements, its rank if it is row-major (else -1), and its strides in bytes.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..codegen.emit.tokens import token
from ..codegen.objects.replay import COMPLEX, COMPLEX_FLOAT, DOUBLE, FLOAT, INTEGER
from ..dtypes.names import DType
from ..memory.buffer import COUNTS, NOWHERE
from ..memory.snapshots import Snapshot

#: Most dimensions and words of a block; larger ones are planned.
MOST_DIMENSIONS = 6
MOST_WORDS = 240

HEADER = (
    "kernel",
    "rank",
    "limit",
    "entries",
    "words",
    "guarded",
    "flat",
    "itemsize",
    "folds",
    "twice",
)
ENTRY = 5 + MOST_DIMENSIONS

#: What an argument is that is no number (`codegen.objects.replay` has what numbers are).
ADDRESS = 0

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
    """Return the record of one launcher; ``flags`` are the end of `HEADER`."""
    head = [kernel, rank, limit, len(entries), len(template), *flags]
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


def builtin(definition: int, bound: object) -> Any:
    """Return a builtin function of a definition at an address, with its first argument."""
    new = ctypes.pythonapi.PyCMethod_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p]
    return new(definition, bound, None, None)


def definition(address: int) -> Definition:
    """Return what CPython is told of `launch`, which machine code has at an address."""
    return Definition(b"launch", address, _FASTCALL, None)


def launcher(defined: Definition, made: bytes) -> Launcher:
    """Return `launch` with a record; the definition must outlive it."""
    function: Launcher = builtin(ctypes.addressof(defined), made)
    return function


@cache
def _offset() -> int:
    """Return where a snapshot keeps its address: found by looking for one that is known."""
    probe = Snapshot.of(NOWHERE)
    probe.address = number = 0x1234_5678_9ABC
    words = ctypes.cast(id(probe), ctypes.POINTER(ctypes.c_void_p))
    places = [k for k in range(2, Snapshot.__basicsize__ // 8) if words[k] == id(number)]
    (place,) = places
    return 8 * place


def text() -> str:
    """Return `launch` as LLVM assembly."""
    return _OUTER + inner()


def inner() -> str:
    """Return ``xl_launch(record, destination, shape, operands)`` on addresses; 0 if it refused."""
    return (
        _INNER.replace("@OFFSET", str(_offset()))
        .replace("@HEADER", str(8 * len(HEADER)))
        .replace("@ENTRYBYTES", str(8 * ENTRY))
        .replace("@WORDS", str(MOST_WORDS))
        .replace("@DIMS", str(MOST_DIMENSIONS))
        .replace("@ADDRESS", str(ADDRESS))
        .replace("@DOUBLE", str(DOUBLE))
        .replace("@FLOAT", str(FLOAT))
        .replace("@COMPLEX", str(COMPLEX))
        .replace("@PAIR", str(COMPLEX_FLOAT))
    )


_OUTER = """
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
  %done = call i64 @xl_launch(i64 %head.at, i64 %to, i64 %shape.at, i64 %items)
  %ok = icmp ne i64 %done, 0
  %result = select i1 %ok, ptr @_Py_NoneStruct, ptr @_Py_FalseStruct
  call void @Py_IncRef(ptr %result)
  ret ptr %result
}
"""

_INNER = """
declare i64 @PyLong_AsLongLong(ptr)
define internal i64 @xl_launch(i64 %head.at, i64 %to, i64 %shape.at, i64 %args.at) {
entry:
  %block = alloca [@WORDS x i64], align 64
  %extents = alloca [@DIMS x i64], align 16
  %strides = alloca [@DIMS x i64], align 16
  %head = inttoptr i64 %head.at to ptr
  %shape = inttoptr i64 %shape.at to ptr
  %args = inttoptr i64 %args.at to ptr
  %kernel.at = load i64, ptr %head
  %h1 = getelementptr i64, ptr %head, i64 1
  %rank = load i64, ptr %h1
  %h2 = getelementptr i64, ptr %head, i64 2
  %limit = load i64, ptr %h2
  %h3 = getelementptr i64, ptr %head, i64 3
  %entries = load i64, ptr %h3
  %h4 = getelementptr i64, ptr %head, i64 4
  %words = load i64, ptr %h4
  %h5 = getelementptr i64, ptr %head, i64 5
  %guarded = load i64, ptr %h5
  %h6 = getelementptr i64, ptr %head, i64 6
  %flat = load i64, ptr %h6
  %is.flat = icmp ne i64 %flat, 0
  %list = getelementptr i8, ptr %head, i64 @HEADER
  %size.entries = mul i64 %entries, @ENTRYBYTES
  %template = getelementptr i8, ptr %list, i64 %size.entries
  %size.words = shl i64 %words, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %block, ptr %template, i64 %size.words, i1 false)
  br label %shape.loop

shape.loop:
  %d = phi i64 [0, %entry], [%d.next, %shape.step]
  %total = phi i64 [1, %entry], [%total.next, %shape.step]
  %outer = phi i64 [1, %entry], [%total, %shape.step]
  %last = phi i64 [1, %entry], [%extent, %shape.step]
  %more = icmp slt i64 %d, %rank
  br i1 %more, label %shape.step, label %shape.done
shape.step:
  %item = call ptr @PyTuple_GetItem(ptr %shape, i64 %d)
  %extent = call i64 @PyLong_AsLongLong(ptr %item)
  %extent.at = getelementptr i64, ptr %extents, i64 %d
  store i64 %extent, ptr %extent.at
  ; the trip counts of the loops around the inner one follow the ranges
  %word.n = add i64 %d, 4
  %word.n.at = getelementptr i64, ptr %block, i64 %word.n
  %d.next = add i64 %d, 1
  %inner = icmp eq i64 %d.next, %rank
  %keep = or i1 %inner, %is.flat
  %old.n = load i64, ptr %word.n.at
  %new.n = select i1 %keep, i64 %old.n, i64 %extent
  store i64 %new.n, ptr %word.n.at
  %product = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %total, i64 %extent)
  %total.next = extractvalue {i64, i1} %product, 0
  %large = extractvalue {i64, i1} %product, 1
  br i1 %large, label %refuse, label %shape.loop

shape.done:
  %none = icmp eq i64 %total, 0
  br i1 %none, label %nothing, label %check.limit
nothing:
  br label %accept
check.limit:
  %over = icmp sgt i64 %total, %limit
  br i1 %over, label %refuse, label %ranges
ranges:
  %t1 = select i1 %is.flat, i64 1, i64 %outer
  %j1 = select i1 %is.flat, i64 %total, i64 %last
  %t1.at = getelementptr i64, ptr %block, i64 1
  store i64 %t1, ptr %t1.at
  %j1.at = getelementptr i64, ptr %block, i64 3
  store i64 %j1, ptr %j1.at
  %flat.extent = load i64, ptr %extents
  %first.extent = select i1 %is.flat, i64 %total, i64 %flat.extent
  store i64 %first.extent, ptr %extents
  %loops = select i1 %is.flat, i64 1, i64 %rank
  %loops.last = sub i64 %loops, 1
  br label %operand

operand:
  %e = phi i64 [0, %ranges], [%e.next, %operand.next]
  %arg = phi i64 [0, %ranges], [%arg.next, %operand.next]
  %to.low = phi i64 [0, %ranges], [%to.low.next, %operand.next]
  %to.high = phi i64 [0, %ranges], [%to.high.next, %operand.next]
  %left = icmp slt i64 %e, %entries
  br i1 %left, label %operand.read, label %call
operand.read:
  %own.offset = mul i64 %e, @ENTRYBYTES
  %own = getelementptr i8, ptr %list, i64 %own.offset
  %type = load i64, ptr %own
  %own.word = getelementptr i64, ptr %own, i64 1
  %word = load i64, ptr %own.word
  %word.at = getelementptr i64, ptr %block, i64 %word
  %is.target = icmp eq i64 %e, 0
  br i1 %is.target, label %walk.start, label %by.type
by.type:
  %object.at = getelementptr ptr, ptr %args, i64 %arg
  %object = load ptr, ptr %object.at
  %arg.one = add i64 %arg, 1
  switch i64 %type, label %integer [
    i64 @ADDRESS, label %address
    i64 @DOUBLE, label %double
    i64 @FLOAT, label %float
    i64 @COMPLEX, label %complex
    i64 @PAIR, label %pair
  ]
double:
  %f64 = call double @PyFloat_AsDouble(ptr %object)
  store double %f64, ptr %word.at
  br label %operand.plain
float:
  %f32.wide = call double @PyFloat_AsDouble(ptr %object)
  %f32 = fptrunc double %f32.wide to float
  store float %f32, ptr %word.at
  br label %operand.plain
complex:
  %c.real = call double @PyComplex_RealAsDouble(ptr %object)
  %c.imag = call double @PyComplex_ImagAsDouble(ptr %object)
  store double %c.real, ptr %word.at
  %c.imag.at = getelementptr i64, ptr %word.at, i64 1
  store double %c.imag, ptr %c.imag.at
  br label %operand.plain
pair:
  %p.real.wide = call double @PyComplex_RealAsDouble(ptr %object)
  %p.imag.wide = call double @PyComplex_ImagAsDouble(ptr %object)
  %p.real = fptrunc double %p.real.wide to float
  %p.imag = fptrunc double %p.imag.wide to float
  store float %p.real, ptr %word.at
  %p.imag.at = getelementptr i32, ptr %word.at, i64 1
  store float %p.imag, ptr %p.imag.at
  br label %operand.plain
integer:
  %i64 = call i64 @PyLong_AsUnsignedLongLongMask(ptr %object)
  store i64 %i64, ptr %word.at
  br label %operand.plain
operand.plain:
  br label %operand.next

address:
  %slot = getelementptr i8, ptr %object, i64 @OFFSET
  %number = load ptr, ptr %slot
  %gone = icmp eq ptr %number, null
  br i1 %gone, label %refuse, label %address.read
address.read:
  %base = call i64 @PyLong_AsLongLong(ptr %number)
  %start.at = getelementptr ptr, ptr %args, i64 %arg.one
  %start.object = load ptr, ptr %start.at
  %start = call i64 @PyLong_AsLongLong(ptr %start.object)
  %sum = add i64 %base, %start
  %arg.two = add i64 %arg, 2
  br label %walk.start

walk.start:
  %place = phi i64 [%to, %operand.read], [%sum, %address.read]
  %arg.after = phi i64 [0, %operand.read], [%arg.two, %address.read]
  store i64 %place, ptr %word.at
  %own.size = getelementptr i64, ptr %own, i64 2
  %itemsize = load i64, ptr %own.size
  %own.same = getelementptr i64, ptr %own, i64 3
  %same = load i64, ptr %own.same
  %own.row = getelementptr i64, ptr %own, i64 4
  %row = load i64, ptr %own.row
  %own.strides = getelementptr i64, ptr %own, i64 5
  %is.row = icmp sge i64 %row, 0
  %row.first = sub i64 %loops, %row
  br label %walk

walk:
  %w = phi i64 [%loops.last, %walk.start], [%w.next, %walk.reach]
  %dense = phi i64 [%itemsize, %walk.start], [%dense.next, %walk.reach]
  %low = phi i64 [%place, %walk.start], [%low.next, %walk.reach]
  %high = phi i64 [%place, %walk.start], [%high.next, %walk.reach]
  %w.left = icmp sge i64 %w, 0
  br i1 %w.left, label %walk.step, label %walked
walk.step:
  %w.extent.at = getelementptr i64, ptr %extents, i64 %w
  %w.extent = load i64, ptr %w.extent.at
  %given.at = getelementptr i64, ptr %own.strides, i64 %w
  %given = load i64, ptr %given.at
  %w.inside = icmp sge i64 %w, %row.first
  %row.stride = select i1 %w.inside, i64 %dense, i64 0
  %stride = select i1 %is.row, i64 %row.stride, i64 %given
  %dense.next = mul i64 %dense, %w.extent
  %is.outer = icmp slt i64 %w, %loops.last
  br i1 %is.outer, label %walk.store, label %walk.reach
walk.store:
  %s.word = add i64 %w, 1
  %s.at = getelementptr i64, ptr %word.at, i64 %s.word
  store i64 %stride, ptr %s.at
  br label %walk.reach
walk.reach:
  %steps = sub i64 %w.extent, 1
  %reach = mul i64 %steps, %stride
  %down = call i64 @llvm.smin.i64(i64 %reach, i64 0)
  %up = call i64 @llvm.smax.i64(i64 %reach, i64 0)
  %low.next = add i64 %low, %down
  %high.next = add i64 %high, %up
  %w.next = sub i64 %w, 1
  br label %walk
walked:
  %end = add i64 %high, %itemsize
  %checked = icmp ne i64 %guarded, 0
  %not.target = icmp ne i64 %e, 0
  %check = and i1 %checked, %not.target
  br i1 %check, label %guard, label %operand.walked
guard:
  %wants.same = icmp ne i64 %same, 0
  br i1 %wants.same, label %guard.same, label %guard.apart
guard.same:
  %is.same = icmp eq i64 %place, %to
  br i1 %is.same, label %operand.walked, label %refuse
guard.apart:
  %before = icmp sle i64 %end, %to.low
  %behind = icmp sge i64 %low, %to.high
  %apart = or i1 %before, %behind
  br i1 %apart, label %operand.walked, label %refuse
operand.walked:
  %low.kept = select i1 %not.target, i64 %to.low, i64 %low
  %high.kept = select i1 %not.target, i64 %to.high, i64 %end
  br label %operand.next
operand.next:
  %arg.next = phi i64 [%arg.one, %operand.plain], [%arg.after, %operand.walked]
  %to.low.next = phi i64 [%to.low, %operand.plain], [%low.kept, %operand.walked]
  %to.high.next = phi i64 [%to.high, %operand.plain], [%high.kept, %operand.walked]
  %e.next = add i64 %e, 1
  br label %operand

call:
  %kernel = inttoptr i64 %kernel.at to ptr
  %argument = ptrtoint ptr %block to i64
  %status = call i32 %kernel(i64 %argument)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %accept, label %refuse
accept:
  ret i64 1
refuse:
  ret i64 0
}
define internal i64 @xl_call(i64 %kernel.at, i64 %block) {
  %kernel = inttoptr i64 %kernel.at to ptr
  %status = call i32 %kernel(i64 %block)
  %wide = sext i32 %status to i64
  ret i64 %wide
}
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @PyLong_AsUnsignedLongLongMask(ptr)
declare double @PyFloat_AsDouble(ptr)
declare double @PyComplex_RealAsDouble(ptr)
declare double @PyComplex_ImagAsDouble(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
"""
