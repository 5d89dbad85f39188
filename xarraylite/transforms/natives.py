"""Operators, evaluations and assignments in machine code, for programs that use them often.

A process that evaluates a few expressions never loads them.  Where launches are counted in hundreds
(`direct.OFTEN`) the methods of the classes are replaced by functions of `codegen.objects`, which do
what is known and call the methods they replace for everything else.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .._config import ENGINES, Settings, settings
from ..arrays import expression
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray, XView
from ..assignment import direct
from ..assignment.inplace import InPlace
from ..assignment.readers import HELD_SETITEM
from ..codegen import pyapi
from ..dtypes.names import float64
from ..ir.kind import Kind
from ..layout.strided import ROW_MAJOR
from ..memory import slabs
from ..memory.buffer import Buffer
from ..memory.pool import Counters, counters
from ..operands import tracing
from ..operands.operators import entries
from ..ops.op import Op
from ..runtime.direct import Direct
from ..runtime.natives import Loaded, Native, binary, called, can_load, offset, ternary, unary
from .jit import Jitted, Quick

#: Slots that are read, by the words that say where they are.
_SLOTS: dict[int, tuple[type, str]] = {
    pyapi.KIND: (XExpression, "_kind"),
    pyapi.SHAPE: (XExpression, "_shape"),
    pyapi.OPERANDS: (XExpression, "_operands"),
    pyapi.OWN_BUFFER: (XContainer, "_buffer"),
    pyapi.OWN_DTYPE: (XContainer, "_dtype"),
    pyapi.START: (XContainer, "_start"),
    pyapi.POLICY: (XArray, "_policy"),
    pyapi.TABLE: (Kind, "table"),
    pyapi.FRESH: (Kind, "fresh"),
    pyapi.WRITES: (Kind, "writes"),
    pyapi.DTYPE: (Kind, "dtype"),
    pyapi.ITEMSIZE: (Kind, "itemsize"),
    pyapi.PLACES: (Kind, "places"),
    pyapi.STRIDES: (Kind, "strides"),
    pyapi.LAST: (Jitted, "_last"),
    pyapi.LAST_KIND: (Quick, "kind"),
    pyapi.LAST_SHAPE: (Quick, "shape"),
    pyapi.LAST_ITEMS: (Quick, "items"),
    pyapi.LAST_KINDS: (Quick, "kinds"),
    pyapi.LAST_SHAPES: (Quick, "shapes"),
    pyapi.MEMORY: (Buffer, "_memory"),
    pyapi.MEMORY_START: (Buffer, "_start"),
    pyapi.ADDRESS: (Buffer, "address"),
    pyapi.NBYTES: (Buffer, "nbytes"),
    pyapi.READING: (Buffer, "_reading"),
    pyapi.SPECIAL: (Buffer, "special"),
    pyapi.SHARED: (Buffer, "shared"),
    pyapi.RECORD: (Direct, "record"),
    pyapi.RESULT: (Direct, "result"),
    pyapi.ENGINE: (Settings, "engine"),
    pyapi.MOST_BYTES: (Settings, "max_result_bytes"),
    pyapi.ALLOCATIONS: (Counters, "allocations"),
    pyapi.BYTES: (Counters, "bytes"),
}


class _Methods:
    """What is to be replaced: classes and names, and the functions in machine code."""

    def __init__(self) -> None:
        self.natives: list[Native] = []
        self.places: list[tuple[Any, str]] = []
        self.words: dict[int, int] = {}
        self._add(binary("evaluated"), direct, "evaluate", pyapi.EVALUATED)
        self._add(ternary("folded"), expression, "folded", pyapi.FOLDED)
        self._add(ternary("set_item"), XContainer, "__setitem__", pyapi.SETITEM)
        self._add(binary("get_item"), XContainer, "__getitem__", pyapi.GETITEM)
        self._add(unary("to_float"), XExpression, "__float__", pyapi.TO_FLOAT)
        self._add(called("jitted"), Jitted, "__call__", pyapi.JITTED)
        rows: dict[Op, int] = {}
        for name, entry in entries().items():
            row = rows.setdefault(entry.op, pyapi.ROWS + pyapi.ROW * len(rows))
            self.words |= {row: id(entry.op), row + 1: id(entry.op.reflected)}
            if entry.operands == 1:
                self._add(unary("single", row), XExpression, name, row + 2)
                continue
            what, word = ("reflected", row + 3) if entry.reflected else ("forward", row + 2)
            self._add(binary(what, row), XExpression, name, word)
            in_place = f"__i{name[2:]}"
            if hasattr(InPlace, in_place):
                self._add(binary("in_place", row), XContainer, in_place, row + 4)

    def _add(self, native: Native, owner: Any, name: str, word: int) -> None:
        self.natives.append(native)
        self.places.append((owner, name))
        self.words[word] = id(getattr(owner, name))


def _words() -> dict[int, int]:
    """Return what the code must know of this process."""
    things: dict[int, object] = {
        pyapi.NONE: None,
        pyapi.FALSE: False,
        pyapi.ELLIPSIS: Ellipsis,
        pyapi.INT: int,
        pyapi.FLOAT: float,
        pyapi.SLICE: slice,
        pyapi.TUPLE: tuple,
        pyapi.EMPTY: (),
        pyapi.FLOAT64: float64,
        pyapi.REFERENCE: ENGINES[2],
        pyapi.ROW_MAJOR: ROW_MAJOR,
        pyapi.ZERO: 0,
        pyapi.EXPRESSION: XExpression,
        pyapi.CONTAINER: XContainer,
        pyapi.ARRAY: XArray,
        pyapi.VIEW: XView,
        pyapi.BUFFER: Buffer,
        pyapi.DIRECT: Direct,
        pyapi.SETTINGS: settings,
        pyapi.COUNTERS: counters,
        pyapi.SLABS: slabs.SLABS,
        pyapi.TAKE: slabs.take,
    }
    found = {number: id(thing) for number, thing in things.items()}
    found |= {number: offset(cls, name) for number, (cls, name) in _SLOTS.items()}
    found[pyapi.TRACING] = ctypes.addressof(tracing.running)
    found[pyapi.TUPLE_ITEMS] = tuple.__basicsize__
    found[pyapi.BYTES_DATA] = bytes.__basicsize__ - 1
    found[pyapi.ALONE] = int(HELD_SETITEM > 0)  # 0: no count tells a temporary
    return found


_replaced: dict[tuple[Any, str], Any] = {}
_kept: list[object] = []


def install() -> None:
    """Replace the methods; once, and where this interpreter is one whose objects are known."""
    if _replaced or not can_load():
        return
    methods = _Methods()
    loaded = Loaded(methods.natives, methods.words | _words())
    made = [
        loaded.method(owner, name, number)
        if isinstance(owner, type)
        else loaded.function(name, number)
        for number, (owner, name) in enumerate(methods.places)
    ]
    # Whoever is in the middle of a method may call it after it was replaced.
    _kept[:] = [loaded, *[getattr(owner, name) for owner, name in methods.places]]
    for (owner, name), method in zip(methods.places, made, strict=True):
        _replaced[owner, name] = vars(owner).get(name)
        setattr(owner, name, method)


def remove() -> None:
    """Put the methods in Python back, for tests."""
    for (owner, name), method in _replaced.items():
        if method is None:
            delattr(owner, name)
        else:
            setattr(owner, name, method)
    _replaced.clear()
