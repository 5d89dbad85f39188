"""Operators, evaluations and assignments in machine code, for programs that use them often.

A process that evaluates a few expressions never loads them.  Where launches are counted in hundreds
(`counting.OFTEN`) the methods of the classes are replaced by functions of `codegen.cpython`, which
do what is known and call the methods they replace for everything else.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import Any

from .._config import Settings
from ..arrays import adapt as adapting
from ..arrays import buffer_slot, evaluation, expression, few, ownership, scalar, xarray
from ..arrays.array_object import ArrayObject
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.families import Owning
from ..arrays.memo import Table, ValuesTable
from ..arrays.numpy_interface import DescribedMemory
from ..arrays.recipes import Recipe
from ..arrays.recomputed import Recomputed, unchanged
from ..arrays.scalar import CLASSES, XComplex128, XFloat64, XHeld, XInteger
from ..arrays.scalar_arithmetic import ScalarKernel, ways_of
from ..arrays.xarray import XArray, XView
from ..arrays.xtensor import XTensor, XTensorFixed, XTensorView
from ..assignment import elements, readers, results, totals, writes
from ..assignment.inplace import InPlace
from ..assignment.readers import HELD_ASSIGN, HELD_SETITEM
from ..blas.calls import dot, strided
from ..codegen.assembly import Assembly
from ..codegen.cpython import words as w
from ..dtypes.names import Named, bool_, int64
from ..ir.kind import Kind, row_major
from ..layout.strided import counted
from ..memory.buffer import Buffer
from ..memory.pool import counters
from ..memory.snapshots import Copy, Newest, Snapshot, flying, own_threads, pins, writing
from ..operands import dispatch, tracing
from ..operands.dispatch import ViewRecipe, namespace
from ..operands.learning import PRODUCT
from ..operands.methods import Methods
from ..operands.operators import entries
from ..ops.op import Op
from ..ops.reductions import Reduction
from ..ops.table import OPS
from ..runtime.counting import evaluations, reuses
from ..runtime.floating_errors import silence
from ..runtime.launch import keep_forever, offset
from ..runtime.natives import (
    Loaded,
    Native,
    array_maker,
    assembly_of,
    can_load,
    digits,
    formats,
    temporary_test,
)
from ..runtime.program import Direct, HostCall, Turned
from ..runtime.replay import Replay, Rewrite
from ..xtensor_views import selection
from ..xtensor_views.items import Pick
from ..xtensor_views.picked import XDynamicView, XIndexView, XPicked
from . import noalias as promises
from .jit import Jitted
from .noalias import NoAlias
from .planned import Quick

#: Operations of values of float64 or int64 that are in machine code, and their codes there.
_CODES = {
    name: code
    for code, name in enumerate(
        (
            *("add", "subtract", "multiply", "divide"),
            *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
            *("floor_divide", "remainder", "bitwise_and", "bitwise_or", "bitwise_xor"),
            *("bitwise_left_shift", "bitwise_right_shift", "pow"),
            *("negative", "abs", "bitwise_invert"),
        ),
        1,
    )
}


class _Methods:
    """What is to be replaced: classes and names, and the functions in machine code."""

    def __init__(self) -> None:
        self.natives: list[Native] = []
        self.places: list[tuple[Any, str]] = []
        self.words: dict[int, int] = {}
        self._next = w.ROWS
        for function, owner, name in _USUAL:
            self._add(function, owner, name)
        rows: dict[Op, int] = {}
        for name, entry in entries().items():
            if entry.op not in rows:
                rows[entry.op] = self._row(entry.op)
            row = rows[entry.op]
            self.words[row + w.WAYS] = _address(ways_of(entry.op))
            if entry.operands == 1:
                self._add("single", XExpression, name, row)
                for owner in (XHeld, XFloat64, XComplex128):
                    self._add("held_single", owner, name, row)
                continue
            way = "reflected" if entry.reflected else "forward"
            number = self._add(way, XExpression, name, row)
            self.words[row + (w.BACKWARD if entry.reflected else w.FORWARD)] = self.words[number]
            for owner in (XHeld, XFloat64, XComplex128):
                self._add(f"held_{way}", owner, name, row)
            in_place = f"__i{name[2:]}"
            if hasattr(InPlace, in_place):
                for owner in (XContainer, XExpression, NoAlias):
                    self._add("in_place", owner, in_place, row)
        self._add("converted", XExpression, "astype", self._word(OPS["cast"]))
        for name, method in vars(Methods).items():
            if hasattr(method, "row"):
                self._add(_OWN.get(name, "method"), Methods, name, self._word(method.row))
        for name, known in _ATTRIBUTES.items():
            function = "real_part" if name == "real" else "attribute"
            self._add(function, ArrayObject, name, self._word(known))

    def _word(self, fact: object) -> int:
        """Return the number of a word that has an object's address."""
        self.words[self._next] = _address(fact)
        self._next += 1
        return self._next - 1

    def _row(self, op: Op) -> int:
        """Return the number of the first word of an operation."""
        row = self._word(op)
        self.words[row + w.REFLECTION] = _address(op.reflected)
        self.words[row + w.CODE] = _CODES.get(op.name, 0)
        self._next = row + w.ROW
        return row

    def _add(self, function: str, owner: Any, name: str, row: int = 0) -> int:
        """Add a method; return the number of the word that has what it stands before."""
        known = getattr(owner, name)
        number = self._word(known.fget if isinstance(known, property) else known)
        self.natives.append(Native(function, number, row))
        self.places.append((owner, name))
        return number


#: Functions in machine code, and what they stand for.
_USUAL: tuple[tuple[str, Any, str], ...] = (
    ("evaluated", results, "evaluate"),
    ("at_once", evaluation, "at_once"),
    ("valued_alone", namespace(None), "eval"),
    ("folded", expression, "folded"),
    ("applied", expression, "apply"),
    ("computed_into", writes, "computed_into"),
    ("freed", readers, "freed"),
    ("set_item", XContainer, "__setitem__"),
    ("set_item", NoAlias, "__setitem__"),
    ("assign", XContainer, "assign"),
    ("assign", NoAlias, "assign"),
    ("promised", promises, "promised"),
    ("promised_part", NoAlias, "__getitem__"),
    ("get_item", XContainer, "__getitem__"),
    ("lazy_item", XExpression, "__getitem__"),
    ("looked_at", ownership, "values_of"),
    ("zeros", xarray, "zeros"),
    ("sorted_inside", ArrayObject, "sort"),
    ("copied", XArray, "copy"),
    ("copied", XView, "copy"),
    ("product", XExpression, "__matmul__"),
    ("adapted", adapting, "adapted"),
    ("adapted_alone", namespace(None), "adapt"),
    ("owned", xarray, "owned"),
    ("owned_alone", namespace(None), "asarray"),
    ("array_at", elements, "array_of"),
    ("new_container", elements, "new_container"),
    ("replayed", results, "replayed"),
    ("rewritten", writes, "rewritten"),
    ("to_float", XExpression, "__float__"),
    ("duplicated", xarray, "duplicated"),
    ("recall", dispatch, "recalled"),
    ("hand", dispatch, "handed"),
    ("picked", few, "selected"),
    ("pick_evaluated", XPicked, "_evaluated"),
    ("pick_settled", XPicked, "settled"),
    ("pick_wrote", XPicked, "_wrote"),
    ("pick_set", XPicked, "__setitem__"),
    ("filtered", selection, "filtered"),
    ("filtered_pair", namespace(None), "filter"),
    ("indexed", selection, "indexed"),
    ("indexed_pair", namespace(None), "index_view"),
    ("basic", selection, "basic"),
    ("element", selection, "element"),
    ("wrapped", selection, "wrapped"),
    ("value_of", scalar, "scalar_of"),
    ("jitted", Jitted, "__call__"),
    ("one_element", XContainer, "item"),
    ("length", XExpression, "__len__"),
    ("total", ArrayObject, "size"),
    ("total_bytes", ArrayObject, "nbytes"),
    ("flattened", XContainer, "flatten"),
    ("to_bool", XExpression, "__bool__"),
    ("to_int", XExpression, "__int__"),
    ("to_int", XExpression, "__index__"),
    ("to_buffer", DescribedMemory, "__buffer__"),
)

#: Shapes of short vectors.
_LINES = tuple([(extent,) for extent in range(256)])

#: Methods that are more than a call of their function.
_OWN = {"take": "taken_along", "dot": "dotted"}

#: Attributes that are views, and their rows among those of methods.
_ATTRIBUTES = {
    "T": ("transpose", (), 0, False),
    "real": ("real", (), 0, False),
    "imag": ("imag", (), 0, False),
    "mT": ("matrix_transpose", (), 0, False),
}


#: The classes that are among the facts, or have slots that are.
_CLASSES = {
    cls.__name__: cls
    for cls in (
        *(Buffer, Copy, Direct, HostCall, Jitted, Kind, Named, Newest, NoAlias, Op, Owning, Pick),
        *(Quick, Turned),
        *(Recipe, Recomputed, Reduction, Replay, Rewrite, ScalarKernel, Settings, Snapshot, Table),
        *(ValuesTable, ViewRecipe, XArray, XComplex128, XContainer, XDynamicView, XExpression),
        *(XFloat64, XHeld, XIndexView, XInteger, XTensor, XTensorFixed, XTensorView, XView),
    )
}


def _address(thing: object) -> int:
    """Return where an object is, for as long as the process lives."""
    keep_forever(thing)
    return id(thing)


def _memory(data: Any) -> int:
    """Return where a value of C's is, for as long as the process lives."""
    keep_forever(data)
    return ctypes.addressof(data)


def _words() -> dict[int, int]:
    """Return what the code must know of this process."""
    found = {
        number: _slot(fact) if isinstance(fact, w.Slot) else _address(fact)
        for number, fact in enumerate(w.FACTS)
    }
    for dtype in (bool_, int64):
        for rank in (1, 2, 3):
            row_major(dtype, rank)  # of the masks and positions that NumPy's arrays are
    found |= {w.MATMUL: _address(PRODUCT), w.DOT: _address(dot), w.STRIDED_DOT: _address(strided)}
    found |= {
        w.SCALARS: _address(CLASSES),
        w.FRONTS: _address(dispatch.FRONTS),
        w.NOTE: _address(totals.note),
    }
    found |= dict(zip((w.WARNING, w.SILENT), map(_address, silence()), strict=True))
    found[w.SQUARES] = _address(ways_of(OPS["square"]))
    found[w.UNCHANGED], found[w.ONCE] = _address(unchanged), _address(results.ONCE)
    found[w.NEW_ARRAY] = array_maker()
    found |= dict(zip((w.ONE_DIGIT, w.TWO_DIGITS), digits(), strict=True))
    found[w.LINES], found[w.FORMATS] = _address(_LINES), _memory(formats())
    found[w.TRACING] = _memory(tracing.running)
    found[w.EVALUATIONS], found[w.REUSES] = _memory(evaluations), _memory(reuses)
    found[w.PINS], found[w.WRITING] = _address(pins), _address(writing)
    found[w.OWN_THREADS], found[w.FLYING] = _address(own_threads), _memory(flying)
    found[w.COUNTED] = _memory(counted)
    found[w.COUNTERS] = _memory(counters)
    found[w.TUPLE_ITEMS] = tuple.__basicsize__
    found[w.BYTES_DATA] = bytes.__basicsize__ - 1
    found[w.LENT] = temporary_test()
    return found


def _slot(fact: w.Slot) -> int:
    """Return where a class has a slot, or the class."""
    cls = _CLASSES[fact.owner]
    return offset(cls, fact.name) if fact.name else _address(cls)


_replaced: dict[tuple[Any, str], Any] = {}

#: Classes whose buffers are filled by machine code, and what filled them before.
_buffers: dict[type, int] = {}


def _heirs(cls: type[Any], name: str) -> Iterator[type[Any]]:
    """Yield a class, and the classes that have a method from it."""
    yield cls
    derived: type[Any]
    for derived in cls.__subclasses__():
        if getattr(derived, name) is getattr(cls, name):
            yield from _heirs(derived, name)


def assembly() -> Assembly:
    """Return what all methods are made of."""
    methods = _Methods()
    return assembly_of(methods.natives, _words() | methods.words)


@cache
def _made() -> list[tuple[Any, str, Any]]:
    """Return the methods with their places; they, and those that they call, are never dropped."""
    methods = _Methods()
    loaded = Loaded(methods.natives, _words() | methods.words)
    keep_forever(loaded)
    return [
        (owner, name, loaded.attribute(owner, name, number))
        for number, (owner, name) in enumerate(methods.places)
    ]


def install() -> None:
    """Replace the methods; once, and where this interpreter is one whose objects are known."""
    if _replaced or not can_load():
        return
    for owner, name, method in _made():
        if isinstance(method, int):
            heirs = dict.fromkeys(_heirs(owner, name))  # a class may have two bases among them
            _buffers.update({cls: buffer_slot.put(cls, method) for cls in heirs})
            continue
        _replaced[owner, name] = vars(owner).get(name)
        setattr(owner, name, method)
    readers.called.assign = HELD_SETITEM


def remove() -> None:
    """Put the methods in Python back, for tests."""
    for (owner, name), method in _replaced.items():
        if method is None:
            delattr(owner, name)
        else:
            setattr(owner, name, method)
    for cls, function in _buffers.items():
        buffer_slot.put(cls, function)
    _replaced.clear()
    _buffers.clear()
    readers.called.assign = HELD_ASSIGN
