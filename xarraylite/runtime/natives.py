"""Methods in machine code: the functions of `codegen.cpython` as methods of Python's classes.

One module holds them all, with a launch (`runtime.launch`) and a small function for each method
that CPython can call.  What the code must know of this process — where classes, tables and slots
are — are words that the module's entry copies when it is loaded; so its text, and its key in the
disk cache, are the same in every process.

A slot's place is found by storing an object in it and looking where its address appears.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..codegen.assembly import Assembly
from ..codegen.cpython.api import (
    ANY,
    FILLED,
    LISTED,
    METHODS,
    NOTHING,
    ONE,
    SEVERAL,
    SIZE,
    TOGETHER,
    TWO,
)
from ..codegen.cpython.basics import BASE_CLASS, DIGIT_BITS
from ..codegen.cpython.outside import STATE
from ..codegen.emit.routine import OBJECTS
from ..codegen.kernel import code_of
from . import launch

#: The flags and the signature of CPython's definition of a method, by how it is called.
_FORMS = {
    NOTHING: (0x4, "($self, /)"),
    ONE: (0x8, "($self, other, /)"),
    TWO: (0x80, "($self, key, value, /)"),
    LISTED: (0x82, "($self, /, *operands)"),
    ANY: (0x3, "($self, /, *args, **kwargs)"),
}


class Native(NamedTuple):
    """A method in machine code.

    Attributes
    ----------
    function : str
        One of `codegen.cpython.api.METHODS`.
    before : int
        Number of the word that has what it stands before, which is called where it does nothing.
    row : int
        Number of the row of words that belongs to its operation.
    """

    function: str
    before: int
    row: int = 0

    @property
    def form(self) -> int:
        """How CPython calls it."""
        return METHODS[self.function][0]

    @property
    def way(self) -> tuple[int, int]:
        """How what it stands before is called, and which of CPython's arguments comes first."""
        known = {LISTED: (SEVERAL, 0), ANY: (TOGETHER, 0)}
        first = "a1" not in METHODS[self.function][1]
        return known.get(self.form, (_COUNTS.get(self.form, 0) - first, int(first)))


#: How many arguments CPython passes, ``self`` included, by the form of a method.
_COUNTS = {NOTHING: 1, ONE: 2, TWO: 3}


#: Methods that CPython finds in a slot of the class, in a third of the time in which it finds them
#: by name; and such a method of CPython's own, which has at `_BASE` what it tells of the slot.
_SLOTS = {"__getitem__": vars(MappingProxyType)["__getitem__"]}
_BASE = 40


class _Base:
    """What a class may be derived from."""


def can_load() -> bool:
    """Tell whether this interpreter's objects are those that the code is written for."""
    if not launch.can_launch() or object.__basicsize__ != 16:
        return False
    inside = object()
    for holder, at in (((inside,), tuple.__basicsize__), ([inside], 0)):
        place = id(holder) + at if at else launch.word_at(id(holder) + 24)
        if launch.word_at(place) != id(inside) or launch.word_at(id(holder) + 16) != 1:
            return False
    if launch.word_at(id(type("derived", (_Base,), {})) + BASE_CLASS) != id(_Base):
        return False
    if launch.word_at(id(_SLOTS["__getitem__"]) + 16) != id(MappingProxyType):
        return False
    array = np.empty(1, np.uint8)
    address: int = array.__array_interface__["data"][0]
    return launch.word_at(id(array) + 16) == address


def formats() -> Any:
    """Return what NumPy's dtypes are called in buffers, and their sizes, by their numbers."""
    table = (ctypes.c_int64 * 512)()
    for dtype in map(np.dtype, "?bBhHiIlLqQefdFD"):
        name = ctypes.create_string_buffer(np.empty(0, dtype).data.format.encode())
        launch.keep_forever(name)
        table[2 * dtype.num : 2 * dtype.num + 2] = [ctypes.addressof(name), dtype.itemsize]
    return table


def digits() -> tuple[int, int]:
    """Return what ints of one digit and of two have in the place of a tuple's length.

    What nothing has there, where digits have other sizes.
    """
    bits = sys.int_info.bits_per_digit
    if bits != DIGIT_BITS:
        return 1 << 62, 1 << 62
    one, two = (1 << bits) - 1, 1 << bits
    return launch.word_at(id(one) + SIZE), launch.word_at(id(two) + SIZE)


def array_maker() -> int:
    """Return the address of `PyArray_NewFromDescr`, by its number in NumPy's table of functions."""
    table = _pointer(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    return launch.word_at(table + 8 * _NEW_FROM_DESCR)


def temporary_test() -> int:
    """Return the address of CPython's test of a temporary; 0 before 3.14, where counts tell."""
    test = getattr(ctypes.pythonapi, "PyUnstable_Object_IsUniqueReferencedTemporary", None)
    return ctypes.cast(test, ctypes.c_void_p).value or 0 if test else 0


_pointer = launch.from_python(
    "PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p
)
_new_method = launch.from_python(
    "PyDescr_NewMethod", ctypes.py_object, ctypes.py_object, ctypes.c_void_p
)
_new_slot = launch.from_python(
    "PyDescr_NewWrapper", ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p
)

#: Fixed since NumPy 1.0, as extensions that were compiled then go by it.
_NEW_FROM_DESCR = 94


def assembly_of(methods: Sequence[Native], known: Mapping[int, int]) -> Assembly:
    """Return what a module of methods is made of, which asks for these words."""
    words = _count(methods, known)
    state = f"@{STATE} = internal global [{words} x i64] zeroinitializer"
    parts = [_method(k, native) for k, native in enumerate(methods)]
    return Assembly(OBJECTS, state, [*parts, _entry(len(methods), 8 * words)])


def _count(methods: Sequence[Native], known: Mapping[int, int]) -> int:
    """Return how many words there are; those of the first are where the methods will be."""
    return max(*known, len(methods)) + 1


#: What CPython passes, as parameters and as words, by the form of a method; what else there is.
_WORDS = {
    LISTED: (
        "ptr %self, ptr %list, i64 %count, ptr %a",
        """  %b.at = ptrtoint ptr %list to i64
  %c.at = add i64 %count, 0
  %usual = icmp eq i64 %a.at, 0
  br i1 %usual, label %go, label %instead
go:
""",
        "",
    ),
    TWO: (
        "ptr %a, ptr %list, i64 %count",
        """  %usual = icmp eq i64 %count, 2
  br i1 %usual, label %go, label %wrong
go:
  %b.at = load i64, ptr %list
  %second = getelementptr i64, ptr %list, i64 1
  %c.at = load i64, ptr %second
""",
        """wrong:
  %error = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetNone(ptr %error)
  ret ptr null
""",
    ),
}
_PLAIN = (
    "ptr %a, ptr %b, ptr %c",
    "  %b.at = ptrtoint ptr %b to i64\n  %c.at = ptrtoint ptr %c to i64\n",
    "",
)


def _method(number: int, native: Native) -> str:
    """Return what CPython calls: it passes addresses as numbers."""
    which = list(METHODS).index(native.function)
    if native.form == FILLED:
        return f"""
define internal i32 @m{number}(ptr %a, ptr %b, i32 %flags) {{
  %a.at = ptrtoint ptr %a to i64
  %b.at = ptrtoint ptr %b to i64
  %c.at = zext i32 %flags to i64
  %r = call i64 @body(i64 {which}, i64 %a.at, i64 %b.at, i64 %c.at, i64 0)
  %failed = icmp eq i64 %r, 0
  %status = sext i1 %failed to i32
  ret i32 %status
}}"""
    way, first = native.way
    parameters, words, otherwise = _WORDS.get(native.form, _PLAIN)
    given = ", ".join([f"i64 {x}" for x in ("%a.at", "%b.at", "%c.at", "0")[first : first + 3]])
    return f"""
define internal ptr @m{number}({parameters}) {{
  %a.at = ptrtoint ptr %a to i64
{words}  %r = call i64 @body(i64 {which}, i64 %a.at, i64 %b.at, i64 %c.at, i64 {native.row})
  %done = icmp ne i64 %r, 0
  br i1 %done, label %known, label %instead
known:
  %object = inttoptr i64 %r to ptr
  ret ptr %object
instead:
  %s = call i64 @body(i64 {len(METHODS) + way}, {given}, i64 {native.before})
  %other = inttoptr i64 %s to ptr
  ret ptr %other
{otherwise}}}"""


def _entry(count: int, nbytes: int) -> str:
    """Return the builtin that takes the words' address, and stores there where the methods are."""
    stores = "".join(
        f"  %p{k} = getelementptr ptr, ptr %words, i64 {k}\n  store ptr @m{k}, ptr %p{k}\n"
        for k in range(count)
    )
    return f"""
declare i64 @PyLong_AsLongLong(ptr)
declare void @Py_IncRef(ptr)
declare void @PyErr_SetNone(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
@_Py_NoneStruct = external global i8
@PyExc_TypeError = external global ptr

define ptr @kernel(ptr %self, ptr %number) {{
  %at = call i64 @PyLong_AsLongLong(ptr %number)
  %words = inttoptr i64 %at to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr @{STATE}, ptr %words, i64 {nbytes}, i1 false)
{stores}  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
}}
"""


def _signature(function: Any) -> str:
    """Return a function's parameters as `inspect` reads them of a builtin: without types."""
    known = inspect.signature(function)
    plain = [p.replace(annotation=p.empty) for p in known.parameters.values()]
    return str(known.replace(parameters=plain, return_annotation=known.empty))


class Loaded:
    """Methods in machine code, loaded for this process.

    Parameters
    ----------
    methods : sequence of Native
        What there is to be.
    words : mapping of int to int
        What the code must know, by the numbers of `codegen.cpython.words`.
    """

    def __init__(self, methods: Sequence[Native], words: Mapping[int, int]) -> None:
        count = _count(methods, words)
        self._methods = methods
        self._code = code_of(assembly_of(methods, words))
        table = (ctypes.c_int64 * count)(*[words.get(k, 0) for k in range(count)])
        entry = launch.defined(b"load", self._code.address, _FORMS[ONE][0])
        launch.builtin(entry, None)(ctypes.addressof(table))
        self._addresses = list(table[: len(methods)])

    def attribute(self, owner: Any, name: str, number: int) -> Any:
        """Return a method as what stands for an attribute of a class, or of a module.

        What fills buffers stands for none: CPython looks for its address.
        """
        if self._methods[number].form == FILLED:
            return self._addresses[number]
        if name in _SLOTS and isinstance(owner, type):
            return _new_slot(
                owner, launch.word_at(id(_SLOTS[name]) + _BASE), self._addresses[number]
            )
        flag, signature = _FORMS[self._methods[number].form]
        known = getattr(owner, name)
        if isinstance(owner, ModuleType):
            signature = _signature(known)
        doc = f"{name}{signature}\n--\n\n{known.__doc__ or ''}"
        definition = launch.defined(name.encode(), self._addresses[number], flag, doc.encode())
        if isinstance(known, property):
            return property(launch.builtin(definition, None), known.fset, known.fdel, known.__doc__)
        if isinstance(owner, ModuleType):
            return launch.builtin(definition, owner, owner.__name__)
        return _new_method(owner, definition)
