"""What machine code over Python's objects must know of a process, each fact with a number.

A fact is an object, one of the package's classes by its name, or where objects of a class have a
slot.  `api.word` reads it by its number, as which `transforms.natives` has found it out: addresses
of objects, and how far from an object's address a slot is.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import NamedTuple

import numpy as np

from ..._config import ENGINES, LAYOUTS, settings
from ...dtypes.names import Named, bool_, complex64, float16, float32, float64, int64
from ...ir.kind import NODE as KIND_OF_NODES
from ...ir.kind import PLACES as KINDS_OF_PLACES
from ...ir.node import FREE
from ...layout import strided
from ...memory import slabs
from ...memory.snapshots import newest
from ...ops.table import OPS


class Slot(NamedTuple):
    """Where objects of a class have an attribute; the class itself where that is "".

    Attributes
    ----------
    owner, name : str
        The class, and its attribute.
    """

    owner: str
    name: str = ""


#: The facts, by their numbers.
FACTS: list[object] = []


def _object(fact: object) -> int:
    FACTS.append(fact)
    return len(FACTS) - 1


def _classes(names: str) -> list[int]:
    return [_object(Slot(name)) for name in names.split()]


def _slot(owner: str, name: str) -> int:
    return _object(Slot(owner, name))


def _slots(owner: str, names: str) -> list[int]:
    return [_slot(owner, name) for name in names.split()]


def _later(count: int) -> range:
    """Return the numbers of what `transforms.natives` puts there."""
    FACTS.extend([None] * count)
    return range(len(FACTS) - count, len(FACTS))


NONE, FALSE, TRUE = map(_object, (None, False, True))
ELLIPSIS, EMPTY = map(_object, (Ellipsis, ()))
ALL = _object(slice(None))
ZERO, MINUS_ONE = map(_object, (0, -1))
PLUS, MINUS = map(_object, (1.0, -1.0))

BOOL, INT, FLOAT, COMPLEX, STR = map(_object, (bool, int, float, complex, str))
TUPLE, LIST, DICT, SLICE, TYPE = map(_object, (tuple, list, dict, slice, type))
NONE_TYPE, EXCEPTION, FUNCTION = map(_object, (type(None), Exception, FunctionType))
NDARRAY, NUMPY_DTYPE, NUMPY_GENERIC, NAMED = map(_object, (np.ndarray, np.dtype, np.generic, Named))
NUMPY_FLOAT64, UINT8 = map(_object, (np.float64, np.dtype(np.uint8)))
NUMPY_BOOL, NUMPY_INT64 = map(_object, (np.bool_, np.int64))
NUMPY_TRUE, NUMPY_FALSE = map(_object, (np.True_, np.False_))
NUMPY_COMPLEX128 = _object(np.complex128)
NUMPY_EMPTY, NUMPY_ARRAY = _object(np.empty), _object(np.array)
AS_STRIDED = _object(np.lib.stride_tricks.as_strided.__code__)
FLOAT32, FLOAT64, INT64, BOOL_DTYPE = map(_object, (float32, float64, int64, bool_))
FLOAT16, COMPLEX64 = map(_object, (float16, complex64))

#: Names of methods and attributes.
ITEM_NAME, COPY_NAME = map(_object, map(sys.intern, ("item", "copy")))
BUFFER_NAME, READONLY_NAME = map(_object, map(sys.intern, ("__buffer__", "readonly")))
SORT_NAME, STABLE_NAME = map(_object, map(sys.intern, ("sort", "stable")))
TRANSPOSE_NAME, ASKED_NAME = map(_object, map(sys.intern, ("transpose", "_asked_first")))
RESHAPE_NAME = _object(sys.intern("reshape"))
MADE_NAME, MOVING_NAME = map(_object, map(sys.intern, ("made", "_moving")))

SETTINGS, SLABS, TAKE, NEWEST = map(_object, (settings, slabs.SLABS, slabs.take, newest))
REFERENCE, BY_ROWS = map(_object, (ENGINES[2], LAYOUTS[0]))
ROW_MAJOR, DYNAMIC = map(_object, (strided.ROW_MAJOR, strided.DYNAMIC))
NODE = _object(KIND_OF_NODES)
ALL_PLACES = _object(KINDS_OF_PLACES[FREE])
POWER = _object(OPS["pow"])

ARRAY, BUFFER, CONTAINER, COPY = _classes("XArray Buffer XContainer Copy")
DYNAMIC_VIEW, DIRECT, EXPRESSION = _classes("XDynamicView Direct XExpression")
HOST_CALL, INDEX_VIEW, OWNING_CLASS, PICK = _classes("HostCall XIndexView Owning Pick")
PROMISE, RECIPE, RECOMPUTED, REDUCTION = _classes("NoAlias Recipe Recomputed Reduction")
REPLAY, REWRITE, SNAPSHOT_CLASS, CALLS_TABLE = _classes("Replay Rewrite Snapshot Table")
SCALAR_COMPLEX, SCALAR_FLOAT, SCALAR_HELD = _classes("XComplex128 XFloat64 XHeld")
SCALAR_INTEGER, SCALAR_KERNEL, TENSOR = _classes("XInteger ScalarKernel XTensor")
TENSOR_FIXED, TENSOR_VIEW, VALUES_TABLE = _classes("XTensorFixed XTensorView ValuesTable")
TURNED, VIEW, VIEW_RECIPE = _classes("Turned XView ViewRecipe")

KIND, SHAPE, OPERANDS, USED = _slots("XExpression", "_kind _shape _operands _used")
OWNING = _slot("XExpression", "_owning")
OWN_BUFFER, OWN_DTYPE, OWN_ARRAY = _slots("XContainer", "_buffer _dtype _array")
START = _slot("XContainer", "_start")
SCALAR_VALUE = _slot("XHeld", "_value")
KERNEL_KIND, KERNEL_CLASSES = _slots("ScalarKernel", "kind classes")
FORCED, POLICY = _slots("XArray", "_forced _policy")
TABLE, WEIGHT, REPLAYS, NOTED, FRESH = _slots("Kind", "table weight replays noted fresh")
PIECES, WRITES, DTYPE, ITEMSIZE = _slots("Kind", "pieces writes dtype itemsize")
ITEMS, OWNER, PLACES, STRIDES, STORED = _slots("Kind", "items owner places strides stored")
REFLECTED = _slot("Op", "reflected")
FAMILY_MEMORY, ROOT, FAMILY_ORIGIN, PATH = _slots("Owning", "memory root origin path")
FAMILY_BEGIN, FAMILY = _slots("Owning", "begin family")
DEPTH, COPY_DTYPE, LAZILY, PART = _slots("Recomputed", "depth dtype lazily part")
UNSEEN = _slot("Table", "unseen")
RECIPE_KIND, RECIPE_SHAPE, RECIPE_RECORD = _slots("Recipe", "kind shape record")
RECIPE_CONSTANTS = _slot("Recipe", "constants")
VIEW_KIND, VIEW_SHAPE, VIEW_BY = _slots("ViewRecipe", "kind shape by")
COPY_MADE, COPY_WHERE, COPY_KIND, COPY_SHAPE = _slots("Copy", "made where kind shape")
COPY_START = _slot("Copy", "start")
ORIGIN = _slot("Snapshot", "origin")
PICK_BASE, PICK_OFFSETS, PICK_LISTED = _slots("XIndexView", "_base _offsets _listed")
PICK_LENT = _slot("XIndexView", "_lent")
PICK_TAKES = _slot("XDynamicView", "_takes")
PICK_POSITIONS, PICK_DROPS = _slots("Pick", "positions drops")
LAST = _slot("Jitted", "_last")
LAST_KIND, LAST_SHAPE, LAST_ITEMS, LAST_KINDS = _slots("Quick", "kind shape items kinds")
LAST_SHAPES = _slot("Quick", "shapes")
MEMORY, MEMORY_START, ADDRESS, NBYTES = _slots("Buffer", "_memory _start address nbytes")
SNAPSHOT, SPECIAL, SHARED, ASKED = _slots("Buffer", "_snapshot special shared asked")
LENT_BY, PIN = _slots("Buffer", "owner pin")
NAMED_DTYPE = _slot("Named", "dtype")
NEWEST_MARK = _slot("Newest", "mark")
RECORD, RESULT = _slots("Direct", "record result")
HOST_FUNCTION, HOST_TAKES, HOST_RESULT = _slots("HostCall", "function takes result")
REPLAY_RECORD, REPLAY_RESULT, REPLAY_POLICY = _slots("Replay", "record result policy")
TURNED_ROWS, TURNED_STRIDES, TURNED_ORDER = _slots("Turned", "rows strides order")
TURNED_TURNED, TURNED_POLICY = _slots("Turned", "turned policy")
REWRITE_RECORD, REWRITE_NEXT = _slots("Rewrite", "record next")
DESTINATION = _slot("NoAlias", "target")
ENGINE, CHECK_NOALIAS = _slots("Settings", "engine check_noalias")
MOST_BYTES, DEFAULT_LAYOUT = _slots("Settings", "max_result_bytes default_layout")

#: Functions of rooms above this one, and tables of theirs.
MATMUL, DOT, STRIDED_DOT, SCALARS, FRONTS, NOTE = _later(6)

#: What NumPy warns about, as a variable of contexts (None: elsewhere), and nothing of it.
WARNING, SILENT = _later(2)

#: Ways to the square of a value.
(SQUARES,) = _later(1)

#: What makes nodes of results that are their operands, computed (`arrays.recomputed`).
UNCHANGED, ONCE = _later(2)

#: NumPy's function of C that makes an array; and what an int has in the place of a tuple's length,
#: if it is greater than 0 and has one digit, or two.
NEW_ARRAY, ONE_DIGIT, TWO_DIGITS = _later(3)

#: Tuples of one int, which shapes of short vectors are, by that int; and by the numbers of NumPy's
#: own dtypes their names in the buffer protocol (0: they have none), and the bytes of an element.
LINES, FORMATS = _later(2)

#: Who reads through snapshots: the table of evaluations, and how many kernels of machine code;
#: what is being written, and the package's own threads.
PINS, FLYING, WRITING, OWN_THREADS = _later(4)

#: Cells in memory, the last of them the counters of memory; the function of C that tells what only
#: the statement has from what its variables lend it (0: counts do); and how far from their
#: addresses tuples and bytes have what they hold.
TRACING, EVALUATIONS, REUSES, COUNTED, COUNTERS, LENT, TUPLE_ITEMS, BYTES_DATA = _later(8)

#: The words behind the facts.  For each operation that is an operator: its keys in the tables of
#: kinds, Python's methods, its number among those of two values of float64, and ways by classes.
ROWS = len(FACTS)
REFLECTION, FORWARD, BACKWARD, CODE, WAYS, ROW = range(1, 7)
