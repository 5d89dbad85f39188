"""Methods in machine code: the functions of `codegen.objects` as methods of Python's classes.

One module holds them all, with a launch (`runtime.launch`) and a small function for each method
that CPython can call.  What the code must know of this process — where classes, tables and slots
are — are words that the module's entry copies when it is loaded; so its text, and its key in the
disk cache, are the same in every process.

A slot's place is found by storing an object in it and looking where its address appears.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..codegen import routines
from ..codegen.emit.routine import OBJECTS
from ..codegen.kernel import code_of
from ..codegen.objects.api import CALL, LAUNCH, METHODS, STATE
from . import launch

#: How CPython calls a method, by what it takes beside itself; the flag of its definition.
_NONE, _ONE, _MANY, _CALL = 0x4, 0x8, 0x80, 0x3

#: The same as `_MANY` to CPython; the code is given the arguments' place and their number.
_LIST = _MANY | 0x10000

_SIGNATURES = {
    _NONE: "($self, /)",
    _ONE: "($self, other, /)",
    _MANY: "($self, key, value, /)",
    _CALL: "($self, /, *args, **kwargs)",
    _LIST: "($self, /, *operands)",
}


class Native(NamedTuple):
    """A method in machine code.

    Attributes
    ----------
    function : str
        One of `codegen.objects`.
    flag : int
        What it takes.
    row : int
        Number of the row of words that belongs to its operation.
    """

    function: str
    flag: int
    row: int = 0


def unary(function: str, row: int = 0) -> Native:
    """Return a method of no arguments."""
    return Native(function, _NONE, row)


def binary(function: str, row: int = 0) -> Native:
    """Return a method, or a function, of one argument beside ``self``, which it may ignore."""
    return Native(function, _ONE, row)


def ternary(function: str) -> Native:
    """Return a method, or a function, of two arguments beside ``self``."""
    return Native(function, _MANY)


def listed(function: str) -> Native:
    """Return a function of any number of arguments, which are given by their place."""
    return Native(function, _LIST)


def called(function: str, row: int = 0) -> Native:
    """Return a method of any arguments: a tuple, and a dictionary or nothing."""
    return Native(function, _CALL, row)


def can_load() -> bool:
    """Tell whether this interpreter's objects are those that the code is written for."""
    if not launch.can_launch() or object.__basicsize__ != 16:
        return False
    inside = object()
    for holder, at in (((inside,), tuple.__basicsize__), ([inside], 0)):
        place = id(holder) + at if at else _word(id(holder) + 24)
        if _word(place) != id(inside) or _word(id(holder) + 16) != 1:
            return False
    array = np.empty(1, np.uint8)
    address: int = array.__array_interface__["data"][0]
    return _word(id(array) + 16) == address


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def offset(cls: type, name: str) -> int:
    """Return how far behind an object's address one of its slots is."""
    probe: Any = object.__new__(cls)
    inside = object()
    slot: Any = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
    slot.__set__(probe, inside)
    places = [k for k in range(2, cls.__basicsize__ // 8) if _word(id(probe) + 8 * k) == id(inside)]
    slot.__delete__(probe)
    (place,) = places
    return 8 * place


def text(methods: Sequence[Native], words: int) -> str:
    """Return the LLVM assembly of a module of methods."""
    declared: dict[str, str] = {}
    parts = [f"@{STATE} = internal global [{words} x i64] zeroinitializer"]
    for piece in (routines.text_of(OBJECTS), launch.inner()):
        for line in piece.splitlines():
            if line.startswith("declare "):
                declared.setdefault(line.partition("(")[0].partition("@")[2], line)
            elif not line.startswith(f"@{STATE} = "):
                parts.append(line.replace(" alwaysinline", ""))
    declared.pop(LAUNCH, None)
    declared.pop(CALL, None)
    parts += [_method(k, native) for k, native in enumerate(methods)]
    parts.append(_entry(len(methods), 8 * words))
    outside = (
        "declare void @Py_IncRef(ptr)",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare void @PyErr_SetNone(ptr)",
    )
    for line in outside:
        declared.setdefault(line.partition("(")[0].partition("@")[2], line)
    return "\n".join([*declared.values(), *parts])


def _method(number: int, native: Native) -> str:
    """Return what CPython calls: it passes addresses as numbers."""
    which = METHODS.index(native.function)
    if native.flag == _LIST:
        return f"""
define internal ptr @m{number}(ptr %a, ptr %list, i64 %count) {{
  %a.at = ptrtoint ptr %a to i64
  %list.at = ptrtoint ptr %list to i64
  %r = call i64 @body(i64 {which}, i64 %a.at, i64 %list.at, i64 %count, i64 {native.row})
  %object = inttoptr i64 %r to ptr
  ret ptr %object
}}"""
    if native.flag == _MANY:
        return f"""
define internal ptr @m{number}(ptr %a, ptr %list, i64 %count) {{
  %usual = icmp eq i64 %count, 2
  br i1 %usual, label %go, label %wrong
go:
  %a.at = ptrtoint ptr %a to i64
  %b.at = load i64, ptr %list
  %second = getelementptr i64, ptr %list, i64 1
  %c.at = load i64, ptr %second
  %r = call i64 @body(i64 {which}, i64 %a.at, i64 %b.at, i64 %c.at, i64 {native.row})
  %object = inttoptr i64 %r to ptr
  ret ptr %object
wrong:
  %error = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetNone(ptr %error)
  ret ptr null
}}"""
    return f"""
define internal ptr @m{number}(ptr %a, ptr %b, ptr %c) {{
  %a.at = ptrtoint ptr %a to i64
  %b.at = ptrtoint ptr %b to i64
  %c.at = ptrtoint ptr %c to i64
  %r = call i64 @body(i64 {which}, i64 %a.at, i64 %b.at, i64 %c.at, i64 {native.row})
  %object = inttoptr i64 %r to ptr
  ret ptr %object
}}"""


def _entry(count: int, nbytes: int) -> str:
    """Return the builtin that takes the words' address, and stores there where the methods are."""
    stores = "".join(
        f"  %p{k} = getelementptr ptr, ptr %words, i64 {k}\n  store ptr @m{k}, ptr %p{k}\n"
        for k in range(count)
    )
    return f"""
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


class Loaded:
    """Methods in machine code, loaded for this process.

    Parameters
    ----------
    methods : sequence of Native
        What there is to be.
    words : mapping of int to int
        What the code must know, by the numbers of `codegen.objects.api`.
    """

    def __init__(self, methods: Sequence[Native], words: Mapping[int, int]) -> None:
        count = max(*words, len(methods)) + 1
        self._methods = methods
        self._code = code_of(text(methods, count))
        self._kept: list[object] = []
        table = (ctypes.c_int64 * count)(*[words.get(k, 0) for k in range(count)])
        entry = self._definition("load", _ONE, self._code.address, "")
        launch.builtin(entry, None)(ctypes.addressof(table))
        self._addresses = list(table[: len(methods)])

    def attribute(self, owner: Any, name: str, number: int) -> Any:
        """Return a method as what stands for an attribute of a class, or of a module."""
        flag, known = self._methods[number].flag, getattr(owner, name)
        doc = f"{name}{_SIGNATURES[flag]}\n--\n\n{known.__doc__ or ''}"
        definition = self._definition(name, flag & 0xFF, self._addresses[number], doc)
        if isinstance(known, property):
            return property(launch.builtin(definition, None), known.fset, known.fdel, known.__doc__)
        if not isinstance(owner, type):
            return launch.builtin(definition, None)
        new = ctypes.pythonapi.PyDescr_NewMethod
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.py_object, ctypes.c_void_p]
        return new(owner, definition)

    def _definition(self, name: str, flag: int, address: int, doc: str) -> int:
        made = launch.Definition(name.encode(), address, flag, doc.encode())
        self._kept.append(made)
        return ctypes.addressof(made)


def slots(places: Mapping[int, tuple[type, str]]) -> Iterator[tuple[int, int]]:
    """Yield the words that say where slots are."""
    for number, (cls, name) in places.items():
        yield number, offset(cls, name)
