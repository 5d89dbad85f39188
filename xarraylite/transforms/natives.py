"""Operators, evaluations and assignments in machine code, for programs that use them often.

A process that evaluates a few expressions never loads them.  Where launches are counted in hundreds
(`direct.OFTEN`) the methods of the classes are replaced by functions of `codegen.objects`, which do
what is known and call the methods they replace for everything else.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from .._config import Settings
from ..arrays import adapt as adapting
from ..arrays import expression, few, scalar, xarray
from ..arrays.array_object import ArrayObject
from ..arrays.container import XContainer
from ..arrays.described import DescribedMemory
from ..arrays.expression import XExpression
from ..arrays.memo import Recipe
from ..arrays.scalar import CLASSES, XComplex128, XFloat64, XHeld
from ..arrays.scalar_arithmetic import ways_of
from ..arrays.xarray import XArray, XView
from ..arrays.xtensor import XTensor, XTensorFixed, XTensorView
from ..assignment import direct, elements, readers, totals
from ..assignment.inplace import InPlace
from ..assignment.readers import HELD_ASSIGN, HELD_SETITEM
from ..blas.calls import dot, strided
from ..codegen.objects import words as w
from ..dtypes.names import bool_, int64
from ..ir.kind import Kind, row_major
from ..memory.buffer import Buffer
from ..memory.pool import counters
from ..memory.snapshots import Copy, Snapshot, making
from ..operands import dispatch, tracing
from ..operands.dispatch import ViewRecipe
from ..operands.learning import PRODUCT
from ..operands.methods import Methods
from ..operands.operators import entries
from ..ops.op import Op
from ..ops.reductions import Reduction
from ..ops.table import OPS
from ..runtime.counting import evaluations
from ..runtime.floating_errors import silence
from ..runtime.launch import offset
from ..runtime.natives import Loaded, Native, array_maker, can_load
from ..runtime.program import Direct, HostCall
from ..runtime.replay import Replay, Rewrite
from ..xtensor_views import selection
from ..xtensor_views.picked import XIndexView
from . import noalias as promises
from .jit import Jitted
from .noalias import NoAlias
from .planned import Quick

#: Operations of two values of float64 that are in machine code, in the order of their codes.
_OF_VALUES = (
    *("add", "subtract", "multiply", "divide"),
    *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
)


class _Methods:
    """What is to be replaced: classes and names, and the functions in machine code."""

    def __init__(self) -> None:
        self.natives: list[Native] = []
        self.places: list[tuple[Any, str]] = []
        self.words: dict[int, int] = {}
        for function, owner, name, word in _USUAL:
            self._add(function, owner, name, word)
        rows: dict[Op, int] = {}
        codes = {OPS[name]: code for code, name in enumerate(_OF_VALUES, 1)}
        for name, entry in entries().items():
            row = rows.setdefault(entry.op, w.ROWS + w.ROW * len(rows))
            self.words |= {row: id(entry.op), row + 1: id(entry.op.reflected)}
            if entry.operands == 1:
                self._add("single", XExpression, name, row + 2, row=row)
                continue
            what, word = ("reflected", row + 3) if entry.reflected else ("forward", row + 2)
            self._add(what, XExpression, name, word, row=row)
            if entry.op in codes:
                self.words[row + 7] = codes[entry.op]
                what = "scalar_reflected" if entry.reflected else "scalar_forward"
                self._add(what, XFloat64, name, row + 5 + entry.reflected, row=row)
            self.words[row + 10] = id(ways_of(entry.op))
            what = "held_reflected" if entry.reflected else "held_forward"
            for number, owner in enumerate((XHeld, XComplex128)):
                word = None if number else row + 8 + entry.reflected
                self._add(what, owner, name, word, row=row)
            in_place = f"__i{name[2:]}"
            if hasattr(InPlace, in_place):
                self._add("in_place", XContainer, in_place, row + 4, row=row)
                self._add("in_place", XExpression, in_place, row=row)
                self._add("in_place", NoAlias, in_place, row=row)

        self._add_named(w.ROWS + w.ROW * len(rows))

    def _add_named(self, word: int) -> None:
        """Add the methods that call a function of their name, and ``T``; each has a row of two."""
        for name, method in vars(Methods).items():
            row = getattr(method, "row", None)
            if row is not None:
                self.words[word] = id(row)
                function = _OWN.get(name, "method")
                self._add(function, Methods, name, word + 1, row=word)
                word += 2
        for name, row in _ATTRIBUTES.items():
            self.words[word] = id(row)
            function = "real_part" if name == "real" else "attribute"
            self._add(function, ArrayObject, name, word + 1, row=word)
            word += 2
        for function, owner, name in _MORE:
            self._add(function, owner, name, word + 1, row=word)
            word += 2

    def _add(
        self, function: str, owner: Any, name: str, word: int | None = None, row: int = 0
    ) -> None:
        self.natives.append(Native(function, row))
        self.places.append((owner, name))
        if word is not None:
            self.words[word] = id(_function(getattr(owner, name)))


#: Functions in machine code, what they stand for, and the word for what that was.
_USUAL: tuple[tuple[str, Any, str, int | None], ...] = (
    ("evaluated", direct, "evaluate", w.EVALUATED),
    ("folded", expression, "folded", w.FOLDED),
    ("applied", expression, "apply", w.APPLIED),
    ("set_item", XContainer, "__setitem__", w.SETITEM),
    ("set_item", NoAlias, "__setitem__", w.PROMISED_SETITEM),
    ("assign", XContainer, "assign", w.ASSIGN),
    ("assign", NoAlias, "assign", w.PROMISED_ASSIGN),
    ("promised", promises, "promised", w.PROMISED),
    ("promised_part", NoAlias, "__getitem__", w.PROMISED_PART),
    ("get_item", XContainer, "__getitem__", w.GETITEM),
    ("zeros", xarray, "zeros", w.ZEROS),
    ("copied", XArray, "copy", w.COPIED),
    ("to_array", XContainer, "__array__", w.TO_ARRAY),
    ("product", XExpression, "__matmul__", w.PRODUCT),
    ("adapted", adapting, "adapted", w.ADAPTED),
    ("owned", xarray, "owned", w.OWNED),
    ("array_at", elements, "array_of", w.ARRAY_AT),
    ("new_container", elements, "new_container", w.NEW_CONTAINER),
    ("replayed", direct, "replayed", None),
    ("rewritten", direct, "rewritten", None),
    ("to_float", XExpression, "__float__", w.TO_FLOAT),
    ("duplicated", xarray, "duplicated", w.DUPLICATED),
    ("recalled", dispatch, "recalled", None),
    ("handed", dispatch, "handed", None),
    ("selected_few", few, "selected", w.FEW_SELECTED),
    ("pick_evaluated", XIndexView, "_evaluated", w.PICK_EVALUATED),
    ("pick_settled", XIndexView, "settled", w.PICK_SETTLED),
    ("pick_wrote", XIndexView, "_wrote", w.PICK_WROTE),
    ("pick_set", XIndexView, "__setitem__", w.PICK_SET),
    ("filtered", selection, "filtered", w.FILTERED),
    ("indexed", selection, "indexed", w.INDEXED),
    ("basic", selection, "basic", w.BASIC),
    ("element", selection, "element", w.ELEMENT),
    ("wrapped", selection, "wrapped", w.WRAPPED),
    ("valued", scalar, "scalar_of", w.VALUED),
    ("jitted", Jitted, "__call__", w.JITTED),
)

#: The same, where what it was is behind a row of their own.
_MORE: tuple[tuple[str, Any, str], ...] = (
    ("one_element", XContainer, "item"),
    ("length", XExpression, "__len__"),
    ("total", ArrayObject, "size"),
    ("total_bytes", ArrayObject, "nbytes"),
    ("flattened", ArrayObject, "flatten"),
    ("to_int", XExpression, "__int__"),
    ("to_int", XExpression, "__index__"),
    ("to_struct", DescribedMemory, "__array_struct__"),
)

#: Methods that are more than a call of their function.
_OWN = {"take": "taken_along", "dot": "dotted"}

#: Attributes that are views, and their rows among those of methods.
_ATTRIBUTES = {
    "T": ("transpose", (), 0, False),
    "real": ("real", (), 0, False),
    "imag": ("imag", (), 0, False),
}


def _function(attribute: Any) -> Any:
    """Return what is called where an attribute is asked for, or called."""
    return attribute.fget if isinstance(attribute, property) else attribute


#: The classes that are among the facts, or have slots that are.
_CLASSES = {
    cls.__name__: cls
    for cls in (
        *(Buffer, Copy, Direct, HostCall, Jitted, Kind, NoAlias, Op, Quick, Recipe),
        *(
            Reduction,
            Replay,
            Rewrite,
            Settings,
            Snapshot,
            ViewRecipe,
            XArray,
            XComplex128,
            XContainer,
            XExpression,
        ),
        *(XFloat64, XHeld, XIndexView, XTensor, XTensorFixed, XTensorView, XView),
    )
}


def _words() -> dict[int, int]:
    """Return what the code must know of this process."""
    found = {
        number: _slot(fact) if isinstance(fact, w.Slot) else id(fact)
        for number, fact in enumerate(w.FACTS)
    }
    for dtype in (bool_, int64):
        for rank in (1, 2, 3):
            row_major(dtype, rank)  # of the masks and positions that NumPy's arrays are
    found |= {w.MATMUL: id(PRODUCT), w.DOT: id(dot), w.STRIDED_DOT: id(strided)}
    found |= {w.SCALARS: id(CLASSES), w.FRONTS: id(dispatch.FRONTS), w.NOTE: id(totals.note)}
    found |= dict(zip((w.WARNING, w.SILENT), map(id, silence()), strict=True))
    found[w.NEW_ARRAY] = array_maker()
    found[w.TRACING] = ctypes.addressof(tracing.running)
    found[w.EVALUATIONS] = ctypes.addressof(evaluations)
    found[w.MAKING] = ctypes.addressof(making)
    found[w.COUNTERS] = ctypes.addressof(counters)
    found[w.TUPLE_ITEMS] = tuple.__basicsize__
    found[w.BYTES_DATA] = bytes.__basicsize__ - 1
    found[w.ALONE] = int(HELD_SETITEM > 0)  # 0: no count tells a temporary
    return found


def _slot(fact: w.Slot) -> int:
    """Return where a class has a slot, or the class."""
    cls = _CLASSES[fact.owner]
    return offset(cls, fact.name) if fact.name else id(cls)


_replaced: dict[tuple[Any, str], Any] = {}


@cache
def _made() -> list[tuple[Any, str, Any]]:
    """Return the methods with their places; they, and those that they call, are never dropped."""
    methods = _Methods()
    loaded = Loaded(methods.natives, _words() | methods.words)
    _kept.extend([loaded, *[getattr(owner, name) for owner, name in methods.places]])
    return [
        (owner, name, loaded.attribute(owner, name, number))
        for number, (owner, name) in enumerate(methods.places)
    ]


_kept: list[object] = []


def install() -> None:
    """Replace the methods; once, and where this interpreter is one whose objects are known."""
    if _replaced or not can_load():
        return
    for owner, name, method in _made():
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
    _replaced.clear()
    readers.called.assign = HELD_ASSIGN
