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


def _class(name: str) -> int:
    return _object(Slot(name))


def _slot(owner: str, name: str) -> int:
    return _object(Slot(owner, name))


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
VIEW_NAME, ITEM_NAME, COPY_NAME = map(_object, map(sys.intern, ("view", "item", "copy")))
STRUCT_NAME, READONLY_NAME = map(_object, map(sys.intern, ("__array_struct__", "readonly")))
SORT_NAME, STABLE_NAME = map(_object, map(sys.intern, ("sort", "stable")))
TRANSPOSE_NAME, ASKED_NAME = map(_object, map(sys.intern, ("transpose", "_asked_first")))
MADE_NAME, MOVING_NAME = map(_object, map(sys.intern, ("made", "_moving")))

SETTINGS, SLABS, TAKE, NEWEST = map(_object, (settings, slabs.SLABS, slabs.take, newest))
REFERENCE, BY_ROWS = map(_object, (ENGINES[2], LAYOUTS[0]))
ROW_MAJOR, DYNAMIC = map(_object, (strided.ROW_MAJOR, strided.DYNAMIC))
NODE = _object(KIND_OF_NODES)
ALL_PLACES = _object(KINDS_OF_PLACES[FREE])
POWER = _object(OPS["pow"])

ARRAY = _class("XArray")
BUFFER = _class("Buffer")
CONTAINER = _class("XContainer")
COPY = _class("Copy")
DYNAMIC_VIEW = _class("XDynamicView")
DIRECT = _class("Direct")
EXPRESSION = _class("XExpression")
HOST_CALL = _class("HostCall")
INDEX_VIEW = _class("XIndexView")
OWNING_CLASS = _class("Owning")
PICK = _class("Pick")
PROMISE = _class("NoAlias")
RECIPE = _class("Recipe")
RECOMPUTED = _class("Recomputed")
REDUCTION = _class("Reduction")
REPLAY = _class("Replay")
REWRITE = _class("Rewrite")
SNAPSHOT_CLASS = _class("Snapshot")
CALLS_TABLE = _class("Table")
SCALAR_COMPLEX = _class("XComplex128")
SCALAR_FLOAT = _class("XFloat64")
SCALAR_HELD = _class("XHeld")
SCALAR_INTEGER = _class("XInteger")
SCALAR_KERNEL = _class("ScalarKernel")
TENSOR = _class("XTensor")
TENSOR_FIXED = _class("XTensorFixed")
TENSOR_VIEW = _class("XTensorView")
VALUES_TABLE = _class("ValuesTable")
VIEW = _class("XView")
VIEW_RECIPE = _class("ViewRecipe")

KIND = _slot("XExpression", "_kind")
SHAPE = _slot("XExpression", "_shape")
OPERANDS = _slot("XExpression", "_operands")
OWN_BUFFER = _slot("XContainer", "_buffer")
OWN_DTYPE = _slot("XContainer", "_dtype")
SCALAR_VALUE = _slot("XHeld", "_value")
KERNEL_KIND = _slot("ScalarKernel", "kind")
KERNEL_CLASSES = _slot("ScalarKernel", "classes")
OWN_ARRAY = _slot("XContainer", "_array")
START = _slot("XContainer", "_start")
FORCED = _slot("XArray", "_forced")
POLICY = _slot("XArray", "_policy")
TABLE = _slot("Kind", "table")
REFLECTED = _slot("Op", "reflected")
USED = _slot("XExpression", "_used")
OWNING = _slot("XExpression", "_owning")
FAMILY_MEMORY = _slot("Owning", "memory")
ROOT = _slot("Owning", "root")
FAMILY_ORIGIN = _slot("Owning", "origin")
PATH = _slot("Owning", "path")
FAMILY_BEGIN = _slot("Owning", "begin")
FAMILY = _slot("Owning", "family")
DEPTH = _slot("Recomputed", "depth")
COPY_DTYPE = _slot("Recomputed", "dtype")
LAZILY = _slot("Recomputed", "lazily")
PART = _slot("Recomputed", "part")
WEIGHT = _slot("Kind", "weight")
REPLAYS = _slot("Kind", "replays")
NOTED = _slot("Kind", "noted")
FRESH = _slot("Kind", "fresh")
PIECES = _slot("Kind", "pieces")
WRITES = _slot("Kind", "writes")
DTYPE = _slot("Kind", "dtype")
ITEMSIZE = _slot("Kind", "itemsize")
ITEMS = _slot("Kind", "items")
OWNER = _slot("Kind", "owner")
PLACES = _slot("Kind", "places")
STRIDES = _slot("Kind", "strides")
STORED = _slot("Kind", "stored")
UNSEEN = _slot("Table", "unseen")
RECIPE_KIND = _slot("Recipe", "kind")
RECIPE_SHAPE = _slot("Recipe", "shape")
RECIPE_RECORD = _slot("Recipe", "record")
RECIPE_CONSTANTS = _slot("Recipe", "constants")
VIEW_KIND = _slot("ViewRecipe", "kind")
VIEW_SHAPE = _slot("ViewRecipe", "shape")
VIEW_BY = _slot("ViewRecipe", "by")
COPY_MADE = _slot("Copy", "made")
COPY_WHERE = _slot("Copy", "where")
COPY_KIND = _slot("Copy", "kind")
COPY_SHAPE = _slot("Copy", "shape")
COPY_START = _slot("Copy", "start")
ORIGIN = _slot("Snapshot", "origin")
PICK_BASE = _slot("XIndexView", "_base")
PICK_OFFSETS = _slot("XIndexView", "_offsets")
PICK_LISTED = _slot("XIndexView", "_listed")
PICK_LENT = _slot("XIndexView", "_lent")
PICK_TAKES = _slot("XDynamicView", "_takes")
PICK_POSITIONS = _slot("Pick", "positions")
PICK_DROPS = _slot("Pick", "drops")
LAST = _slot("Jitted", "_last")
LAST_KIND = _slot("Quick", "kind")
LAST_SHAPE = _slot("Quick", "shape")
LAST_ITEMS = _slot("Quick", "items")
LAST_KINDS = _slot("Quick", "kinds")
LAST_SHAPES = _slot("Quick", "shapes")
NAMED_DTYPE = _slot("Named", "dtype")
MEMORY = _slot("Buffer", "_memory")
MEMORY_START = _slot("Buffer", "_start")
ADDRESS = _slot("Buffer", "address")
NBYTES = _slot("Buffer", "nbytes")
SNAPSHOT = _slot("Buffer", "_snapshot")
SPECIAL = _slot("Buffer", "special")
SHARED = _slot("Buffer", "shared")
ASKED = _slot("Buffer", "asked")
NEWEST_MARK = _slot("Newest", "mark")
LENT_BY = _slot("Buffer", "owner")
PIN = _slot("Buffer", "pin")
RECORD = _slot("Direct", "record")
RESULT = _slot("Direct", "result")
HOST_FUNCTION = _slot("HostCall", "function")
HOST_TAKES = _slot("HostCall", "takes")
HOST_RESULT = _slot("HostCall", "result")
REPLAY_RECORD = _slot("Replay", "record")
REPLAY_RESULT = _slot("Replay", "result")
REPLAY_POLICY = _slot("Replay", "policy")
REWRITE_RECORD = _slot("Rewrite", "record")
REWRITE_NEXT = _slot("Rewrite", "next")
DESTINATION = _slot("NoAlias", "target")
ENGINE = _slot("Settings", "engine")
CHECK_NOALIAS = _slot("Settings", "check_noalias")
MOST_BYTES = _slot("Settings", "max_result_bytes")
DEFAULT_LAYOUT = _slot("Settings", "default_layout")

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

#: Tuples of one int, which shapes of short vectors are, by that int.
(LINES,) = _later(1)

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
