"""Operators, evaluations and assignments in machine code, for programs that use them often.

A process that evaluates a few expressions never loads them.  Where launches are counted in hundreds
(`direct.OFTEN`) the methods of the classes are replaced by functions of `codegen.objects`, which do
what is known and call the methods they replace for everything else.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np

from .._config import ENGINES, LAYOUTS, Settings, settings
from ..arrays import adapt as adapting
from ..arrays import expression, few, xarray
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.face import Face
from ..arrays.scalar import CLASSES, XComplex128, XFloat64, XHeld
from ..arrays.xarray import XArray, XView
from ..arrays.xtensor import XTensorView
from ..assignment import direct, elements, readers
from ..assignment.inplace import InPlace
from ..assignment.readers import HELD_ASSIGN, HELD_SETITEM
from ..blas.calls import dot, strided
from ..codegen.objects import api
from ..dtypes.names import bool_, float32, float64, int64
from ..ir.kind import NODE, PLACES, Kind, row_major
from ..ir.node import FREE
from ..layout.strided import DYNAMIC, ROW_MAJOR
from ..memory import slabs
from ..memory.buffer import Buffer
from ..memory.pool import Counters, counters
from ..memory.snapshots import Copy
from ..operands import fronts, tracing
from ..operands.fronts import ViewRecipe
from ..operands.learning import PRODUCT
from ..operands.methods import Methods
from ..operands.operators import entries
from ..ops.op import Op
from ..ops.reductions import Reduction
from ..ops.table import OPS
from ..runtime.counting import evaluations
from ..runtime.direct import Direct
from ..runtime.natives import (
    Loaded,
    Native,
    binary,
    called,
    can_load,
    listed,
    offset,
    ternary,
    unary,
)
from ..runtime.replay import Replay, Rewrite
from ..views import selection
from ..views.picked import XIndexView
from . import noalias as promises
from .jit import Jitted
from .memo import Recipe
from .noalias import NoAlias
from .planned import Quick

_UINT8 = np.dtype(np.uint8)
_ONES = (1.0, -1.0)
_ALL = slice(None)

#: Slots that are read, by the words that say where they are.
_SLOTS: dict[int, tuple[type, str]] = {
    api.KIND: (XExpression, "_kind"),
    api.SHAPE: (XExpression, "_shape"),
    api.OPERANDS: (XExpression, "_operands"),
    api.OWN_BUFFER: (XContainer, "_buffer"),
    api.OWN_DTYPE: (XContainer, "_dtype"),
    api.SCALAR_VALUE: (XHeld, "_value"),
    api.OWN_ARRAY: (XContainer, "_array"),
    api.START: (XContainer, "_start"),
    api.FORCED: (XArray, "_forced"),
    api.POLICY: (XArray, "_policy"),
    api.TABLE: (Kind, "table"),
    api.REFLECTED: (Op, "reflected"),
    api.USED: (XExpression, "_used"),
    api.OWNING: (XExpression, "_owning"),
    api.WEIGHT: (Kind, "weight"),
    api.NOTED: (Kind, "noted"),
    api.FRESH: (Kind, "fresh"),
    api.WRITES: (Kind, "writes"),
    api.DTYPE: (Kind, "dtype"),
    api.ITEMSIZE: (Kind, "itemsize"),
    api.ITEMS: (Kind, "items"),
    api.OWNER: (Kind, "owner"),
    api.PLACES: (Kind, "places"),
    api.STRIDES: (Kind, "strides"),
    api.STORED: (Kind, "stored"),
    api.RECIPE_KIND: (Recipe, "kind"),
    api.RECIPE_SHAPE: (Recipe, "shape"),
    api.RECIPE_RECORD: (Recipe, "record"),
    api.RECIPE_CONSTANTS: (Recipe, "constants"),
    api.VIEW_KIND: (ViewRecipe, "kind"),
    api.VIEW_SHAPE: (ViewRecipe, "shape"),
    api.VIEW_BY: (ViewRecipe, "by"),
    api.COPY_MADE: (Copy, "made"),
    api.COPY_ORIGIN: (Copy, "origin"),
    api.SELECTED_BASE: (few.Selected, "base"),
    api.SELECTED_KEY: (few.Selected, "key"),
    api.PICK_BASE: (XIndexView, "_base"),
    api.PICK_OFFSETS: (XIndexView, "_offsets"),
    api.PICK_WHERE: (XIndexView, "_where"),
    api.LAST: (Jitted, "_last"),
    api.LAST_KIND: (Quick, "kind"),
    api.LAST_SHAPE: (Quick, "shape"),
    api.LAST_ITEMS: (Quick, "items"),
    api.LAST_KINDS: (Quick, "kinds"),
    api.LAST_SHAPES: (Quick, "shapes"),
    api.MEMORY: (Buffer, "_memory"),
    api.MEMORY_START: (Buffer, "_start"),
    api.ADDRESS: (Buffer, "address"),
    api.NBYTES: (Buffer, "nbytes"),
    api.SNAPSHOT: (Buffer, "_snapshot"),
    api.SPECIAL: (Buffer, "special"),
    api.SHARED: (Buffer, "shared"),
    api.RECORD: (Direct, "record"),
    api.RESULT: (Direct, "result"),
    api.REPLAY_RECORD: (Replay, "record"),
    api.REPLAY_RESULT: (Replay, "result"),
    api.REPLAY_POLICY: (Replay, "policy"),
    api.REWRITE_RECORD: (Rewrite, "record"),
    api.DESTINATION: (NoAlias, "target"),
    api.ENGINE: (Settings, "engine"),
    api.CHECK_NOALIAS: (Settings, "check_noalias"),
    api.MOST_BYTES: (Settings, "max_result_bytes"),
    api.DEFAULT_LAYOUT: (Settings, "default_layout"),
    api.ALLOCATIONS: (Counters, "allocations"),
    api.BYTES: (Counters, "bytes"),
    api.TEMPORARIES: (Counters, "temporaries"),
}


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
        self._add(binary("evaluated"), direct, "evaluate", api.EVALUATED)
        self._add(ternary("folded"), expression, "folded", api.FOLDED)
        self._add(listed("applied"), expression, "apply", api.APPLIED)
        self._add(ternary("set_item"), XContainer, "__setitem__", api.SETITEM)
        self._add(ternary("set_item"), NoAlias, "__setitem__", api.PROMISED_SETITEM)
        self._add(binary("assign"), XContainer, "assign", api.ASSIGN)
        self._add(binary("assign"), NoAlias, "assign", api.PROMISED_ASSIGN)
        self._add(binary("promised"), promises, "promised", api.PROMISED)
        self._add(binary("promised_part"), NoAlias, "__getitem__", api.PROMISED_PART)
        self._add(binary("get_item"), XContainer, "__getitem__", api.GETITEM)
        self._add(binary("zeros"), xarray, "zeros", api.ZEROS)
        self._add(called("copied"), XArray, "copy", api.COPIED)
        self._add(called("to_array"), XContainer, "__array__", api.TO_ARRAY)
        self._add(binary("product"), XExpression, "__matmul__", api.PRODUCT)
        self._add(binary("adapted"), adapting, "adapted", api.ADAPTED)
        self._add(binary("owned"), xarray, "owned", api.OWNED)
        self._add(listed("new_container"), elements, "new_container", api.NEW_CONTAINER)
        self._add(listed("replayed"), direct, "replayed")
        self._add(listed("rewritten"), direct, "rewritten")
        self._add(unary("to_float"), XExpression, "__float__", api.TO_FLOAT)
        self._add(binary("duplicated"), xarray, "duplicated", api.DUPLICATED)
        self._add(listed("recalled"), fronts, "recalled")
        self._add(listed("handed"), fronts, "handed")
        self._add(ternary("selected_few"), few, "selected", api.FEW_SELECTED)
        self._add(unary("pick_evaluated"), XIndexView, "_evaluated", api.PICK_EVALUATED)
        self._add(unary("pick_settled"), XIndexView, "settled", api.PICK_SETTLED)
        self._add(binary("pick_wrote"), XIndexView, "_wrote", api.PICK_WROTE)
        self._add(ternary("filtered"), selection, "filtered", api.FILTERED)
        self._add(ternary("indexed"), selection, "indexed", api.INDEXED)
        self._add(called("jitted"), Jitted, "__call__", api.JITTED)
        rows: dict[Op, int] = {}
        codes = {OPS[name]: code for code, name in enumerate(_OF_VALUES, 1)}
        for name, entry in entries().items():
            row = rows.setdefault(entry.op, api.ROWS + api.ROW * len(rows))
            self.words |= {row: id(entry.op), row + 1: id(entry.op.reflected)}
            if entry.operands == 1:
                self._add(unary("single", row), XExpression, name, row + 2)
                continue
            what, word = ("reflected", row + 3) if entry.reflected else ("forward", row + 2)
            self._add(binary(what, row), XExpression, name, word)
            if entry.op in codes:
                self.words[row + 7] = codes[entry.op]
                what = "scalar_reflected" if entry.reflected else "scalar_forward"
                self._add(binary(what, row), XFloat64, name, row + 5 + entry.reflected)
            in_place = f"__i{name[2:]}"
            if hasattr(InPlace, in_place):
                self._add(binary("in_place", row), XContainer, in_place, row + 4)
                self._add(binary("in_place", row), XExpression, in_place)
                self._add(binary("in_place", row), NoAlias, in_place)

        self._add_named(api.ROWS + api.ROW * len(rows))

    def _add_named(self, word: int) -> None:
        """Add the methods that call a function of their name, and ``T``; each has a row of two."""
        for name, method in vars(Methods).items():
            row = getattr(method, "row", None)
            if row is not None:
                self.words[word] = id(row)
                function = _OWN.get(name, "method")
                self._add(called(function, word), Methods, name, word + 1)
                word += 2
        for name, row in _ATTRIBUTES.items():
            self.words[word] = id(row)
            self._add(binary("attribute", word), Face, name, word + 1)
            word += 2
        more: tuple[tuple[Native, Any, str], ...] = (
            (called("one_element", word), XContainer, "item"),
            (unary("length", word + 2), XExpression, "__len__"),
            (binary("total", word + 4), Face, "size"),
            (binary("total_bytes", word + 6), Face, "nbytes"),
            (called("flattened", word + 8), Face, "flatten"),
        )
        for native, owner, name in more:
            self._add(native, owner, name, native.row + 1)

    def _add(self, native: Native, owner: Any, name: str, word: int | None = None) -> None:
        self.natives.append(native)
        self.places.append((owner, name))
        if word is not None:
            self.words[word] = id(_function(getattr(owner, name)))


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


#: Kinds of the masks and positions that NumPy's arrays are.
_INDICES = [row_major(dtype, rank) for dtype in (bool_, int64) for rank in (1, 2, 3)]


def _objects() -> dict[int, object]:
    """Return the objects that the code compares with, calls or hands out."""
    return {
        api.NONE: None,
        api.FALSE: False,
        api.TRUE: True,
        api.NODE: NODE,
        api.FLOAT64_KIND: row_major(float64, 1),
        api.NUMPY_EMPTY: np.empty,
        api.UINT8: _UINT8,
        api.NDARRAY: np.ndarray,
        api.MATMUL: PRODUCT,
        api.DOT: dot,
        api.STRIDED_DOT: strided,
        api.MADE_NAME: sys.intern("made"),
        api.SCALARS: CLASSES,
        api.SCALAR_HELD: XHeld,
        api.SCALAR_FLOAT: XFloat64,
        api.SCALAR_COMPLEX: XComplex128,
        api.NUMPY_FLOAT64: np.float64,
        api.POWER: OPS["pow"],
        api.RESHAPE_NAME: sys.intern("reshape"),
        api.OWNER_NAME: sys.intern("owner"),
        api.PIN_NAME: sys.intern("pin"),
        api.MINUS_ONE: -1,
        api.DYNAMIC: DYNAMIC,
        api.ALL_PLACES: PLACES[FREE],
        api.VIEW_NAME: sys.intern("view"),
        api.ITEM_NAME: sys.intern("item"),
        api.ELLIPSIS: Ellipsis,
    }


def _classes() -> dict[int, object]:
    """Return the classes that the code knows, and what it knows of their kind."""
    return {
        api.INDEX_VIEW: XIndexView,
        api.INT: int,
        api.FLOAT: float,
        api.SLICE: slice,
        api.TUPLE: tuple,
        api.DICT: dict,
        api.BOOL: bool,
        api.COMPLEX: complex,
        api.STR: str,
        api.TYPE: type,
        api.NONE_TYPE: type(None),
        api.LIST: list,
        api.PLUS: _ONES[0],
        api.MINUS: _ONES[1],
        api.NUMPY_DTYPE: np.dtype,
        api.NUMPY_GENERIC: np.generic,
        api.NUMPY_FLOAT32: np.float32,
        api.FLOAT32: float32,
        api.INT64: int64,
        api.BOOL_DTYPE: bool_,
        api.REDUCTION: Reduction,
        api.RECIPE: Recipe,
        api.VIEW_RECIPE: ViewRecipe,
        api.FRONTS: fronts.FRONTS,
        api.EXCEPTION: Exception,
        api.NOT_DONE: NotImplemented,
        api.ALL: _ALL,
        api.COPY: Copy,
        api.SELECTED: few.Selected,
        api.EMPTY: (),
        api.FLOAT64: float64,
        api.REFERENCE: ENGINES[2],
        api.BY_ROWS: LAYOUTS[0],
        api.ROW_MAJOR: ROW_MAJOR,
        api.ZERO: 0,
        api.EXPRESSION: XExpression,
        api.CONTAINER: XContainer,
        api.ARRAY: XArray,
        api.VIEW: XView,
        api.TENSOR_VIEW: XTensorView,
        api.PROMISE: NoAlias,
        api.BUFFER: Buffer,
        api.DIRECT: Direct,
        api.REPLAY: Replay,
        api.REWRITE: Rewrite,
        api.SETTINGS: settings,
        api.COUNTERS: counters,
        api.SLABS: slabs.SLABS,
        api.TAKE: slabs.take,
    }


def _words() -> dict[int, int]:
    """Return what the code must know of this process."""
    things = _objects() | _classes()
    found = {number: id(thing) for number, thing in things.items()}
    found |= {number: offset(cls, name) for number, (cls, name) in _SLOTS.items()}
    found[api.TRACING] = ctypes.addressof(tracing.running)
    found[api.EVALUATIONS] = ctypes.addressof(evaluations)
    found[api.TUPLE_ITEMS] = tuple.__basicsize__
    found[api.BYTES_DATA] = bytes.__basicsize__ - 1
    found[api.ALONE] = int(HELD_SETITEM > 0)  # 0: no count tells a temporary
    return found


_replaced: dict[tuple[Any, str], Any] = {}


@cache
def _made() -> list[tuple[Any, str, Any]]:
    """Return the methods with their places; they, and those that they call, are never dropped."""
    methods = _Methods()
    loaded = Loaded(methods.natives, methods.words | _words())
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
