"""Operators, evaluations and assignments in machine code, for programs that use them often.

A process that evaluates a few expressions never loads them.  Where launches are counted in hundreds
(`direct.OFTEN`) the methods of the classes are replaced by functions of `codegen.objects`, which do
what is known and call the methods they replace for everything else.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .._config import ENGINES, Settings, settings
from ..assignment import direct
from ..assignment.inplace import InPlace
from ..assignment.readers import HELD_SETITEM
from ..codegen import pyapi
from ..ir.kind import Kind
from ..layout.strided import ROW_MAJOR
from ..memory import slabs
from ..memory.buffer import Buffer
from ..memory.pool import Counters, counters
from ..operands import tracing
from ..operands.operators import entries
from ..ops.op import Op
from ..runtime.direct import Direct
from ..runtime.natives import Loaded, Native, binary, can_load, offset, one, two, unary
from .container import XContainer
from .expression import XExpression
from .xarray import XArray, XView

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
        self.natives: list[Native] = [one("evaluated")]
        self.places: list[tuple[type, str]] = [(XExpression, "")]
        self.words: dict[int, int] = {}
        self._add(two("set_item"), XContainer, "__setitem__", pyapi.SETITEM)
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

    def _add(self, native: Native, cls: type, name: str, word: int) -> None:
        self.natives.append(native)
        self.places.append((cls, name))
        self.words[word] = id(getattr(cls, name))


def _words() -> dict[int, int]:
    """Return what the code must know of this process."""
    things: dict[int, object] = {
        pyapi.NONE: None,
        pyapi.FALSE: False,
        pyapi.ELLIPSIS: Ellipsis,
        pyapi.INT: int,
        pyapi.FLOAT: float,
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
        pyapi.EVALUATED: _evaluate,
    }
    found = {number: id(thing) for number, thing in things.items()}
    found |= {number: offset(cls, name) for number, (cls, name) in _SLOTS.items()}
    found[pyapi.TRACING] = ctypes.addressof(tracing.running)
    found[pyapi.TUPLE_ITEMS] = tuple.__basicsize__
    found[pyapi.BYTES_DATA] = bytes.__basicsize__ - 1
    found[pyapi.ALONE] = int(HELD_SETITEM > 0)  # 0: no count tells a temporary
    return found


_evaluate = direct.evaluate
_replaced: dict[tuple[type, str], Any] = {}
_kept: list[object] = []


def install() -> None:
    """Replace the methods; once, and where this interpreter is one whose objects are known."""
    if _replaced or not can_load():
        return
    methods = _Methods()
    loaded = Loaded(methods.natives, methods.words | _words())
    made = [
        loaded.method(cls, name, number) if name else loaded.function("evaluated", number)
        for number, (cls, name) in enumerate(methods.places)
    ]
    _kept[:] = [methods, loaded, *[getattr(cls, name, None) for cls, name in methods.places]]
    direct.evaluate, *others = made
    for (cls, name), method in zip(methods.places[1:], others, strict=True):
        _replaced[cls, name] = vars(cls).get(name)
        setattr(cls, name, method)


def remove() -> None:
    """Put the methods in Python back, for tests."""
    for (cls, name), method in _replaced.items():
        if method is None:
            delattr(cls, name)
        else:
            setattr(cls, name, method)
    _replaced.clear()
    direct.evaluate = _evaluate
