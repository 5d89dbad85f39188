"""Looking at objects, making them, and calling Python."""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, COUNT, SIZE, load, scratch, store, word

LE, EQ = 1, 2  # of PyObject_RichCompareBool

#: Where a list has its items, and a record (`runtime.launch`) what these functions ask.
LIST_ITEMS = 24
LIMIT, BYTES_EACH, FOLDS, TWICE = 16, 56, 64, 72

#: Most dimensions of a view, and a number beyond any extent.
DIMENSIONS, FAR = 32, 1 << 62

#: Most operands of an expression: several fit into `scratch`.
MOST = 120

#: Elements of new containers that are made here, and up to which the calling thread copies and
#: fills: several threads are faster from where memory is larger than caches.
FEW, MANY = 1 << 14, 1 << 20

#: Elements that are copied for NumPy to compute of them; of more it is given the memory itself.
MOST_ASKED = 256

#: Bytes up to which memory comes from slabs, and from which it comes from the pool.
SMALL, LARGE = 512, 1 << 20

#: Where a class has the one that it is derived from.
BASE_CLASS = 256

#: Where an array of NumPy has its address, and a float its value.
DATA = 16

#: Where an array of NumPy has the rest, and the flags of one that is aligned and row-major, and
#: of one that may be written as well.
RANK, EXTENTS, BASE, DESCRIPTION, FLAGS, BY_ROWS, WRITABLE = 24, 32, 48, 56, 64, 0x101, 0x400
ORDINARY = BY_ROWS | WRITABLE

#: Where a dtype of NumPy has the upper half of a word that is its number, and the least such word
#: of dtypes that are not NumPy's own.
DTYPE_NUMBER, OTHERS = 24, 256 << 32

#: Operations on elements that take about as long as to plan an expression.
REPEATED = 1 << 15


def get(thing: int, slot: int) -> int:
    """Return what a slot of an object holds; 0 if it is empty."""
    return load(thing + word(slot))


def give(thing: int, slot: int, value: int) -> int:
    """Let an empty slot hold an object, whose reference was the caller's."""
    return store(thing + word(slot), value)


def keep(thing: int) -> int:
    """Return an object that is borrowed as one that is the caller's."""
    c.Py_IncRef(thing)
    return thing


def call(function: int, one: int, two: int, count: int) -> int:
    """Call Python with one argument, or two; not where an exception was raised on the way."""
    if c.PyErr_Occurred() != 0:
        return 0
    args = scratch()
    store(args, one)
    store(args + 8, two)
    return c.PyObject_Vectorcall(function, args, count, 0)


def call_three(function: int, one: int, two: int, three: int) -> int:
    """Call Python with three arguments."""
    if c.PyErr_Occurred() != 0:
        return 0
    args = scratch()
    store(args, one)
    store(args + 8, two)
    store(args + 16, three)
    return c.PyObject_Vectorcall(function, args, 3, 0)


def call_with(function: int, first: int, args: int, keywords: int) -> int:
    """Call Python with one argument before a tuple of others."""
    if c.PyErr_Occurred() != 0:
        return 0
    count = load(args + SIZE)
    given = c.PyTuple_New(count + 1)
    if given == 0:
        return 0
    store(given + word(w.TUPLE_ITEMS), keep(first))
    for k in range(count):
        store(given + word(w.TUPLE_ITEMS) + 8 * (k + 1), keep(item(args, k)))
    made = c.PyObject_Call(function, given, keywords)
    c.Py_DecRef(given)
    return made


def silently(function: int, args: int, options: int) -> int:
    """Call a function of NumPy arrays with warnings about floating point kept from it.

    Not where it is unknown how (`word(w.WARNING)` is None).
    """
    token = c.PyContextVar_Set(word(w.WARNING), word(w.SILENT))
    if token == 0:
        return 0
    made, error = c.PyObject_Call(function, args, options), scratch()
    c.PyErr_Fetch(error, error + 8, error + 16)
    c.PyContextVar_Reset(word(w.WARNING), token)
    c.PyErr_Restore(load(error), load(error + 8), load(error + 16))
    c.Py_DecRef(token)
    return made


def new(cls: int) -> int:
    """Return a new object of a class whose slots are empty; 0 if there is no memory."""
    made = c.PyType_GenericAlloc(cls, 0)
    if made == 0:
        c.PyErr_Clear()
    return made


def tuple_of(count: int) -> int:
    """Return a tuple that is to be filled; 0 if there is no memory."""
    made = c.PyTuple_New(count)
    if made == 0:
        c.PyErr_Clear()
    return made


def is_lazy(thing: int) -> bool:
    """Tell whether an object is an expression and nothing more."""
    return load(thing + CLASS) == word(w.EXPRESSION)


def is_tensor(cls: int) -> bool:
    """Tell whether a class is one of arrays of fixed rank or shape, or directly derived from it."""
    if cls == word(w.TENSOR) or cls == word(w.TENSOR_VIEW):
        return True
    base = load(cls + BASE_CLASS)
    return base == word(w.TENSOR) or base == word(w.TENSOR_FIXED)


def is_container(thing: int) -> bool:
    """Tell whether an object is a container with a kind."""
    cls = load(thing + CLASS)
    usual = cls == word(w.ARRAY) or cls == word(w.VIEW) or is_tensor(cls)
    if not usual and c.PyType_IsSubtype(cls, word(w.CONTAINER)) == 0:
        return False
    kind = get(thing, w.KIND)
    return kind != 0 and kind != word(w.NODE) and get(thing, w.OWN_BUFFER) != 0


def owner_of(kind: int, shape: int) -> int:
    """Return the class of containers of a leaf's kind, borrowed; 0 if it is not known yet."""
    owner = get(kind, w.OWNER)
    if owner == word(w.NONE):
        return word(w.ARRAY)
    return c.PyDict_GetItemWithError(owner, shape) if load(owner + CLASS) == word(w.DICT) else owner


def is_array(thing: int) -> bool:
    """Tell whether an object is an expression, or a container with a kind."""
    return is_lazy(thing) or is_container(thing)


def is_number(value: int) -> bool:
    """Tell whether a value is of one of the three usual classes of numbers."""
    cls = load(value + CLASS)
    return cls == word(w.FLOAT) or cls == word(w.INT) or cls == word(w.COMPLEX)


def is_traced() -> bool:
    """Tell whether a function is traced somewhere."""
    return load(word(w.TRACING)) != 0


def count_evaluation() -> int:
    """Count an evaluation: what was used before one, and is used again, is then computed."""
    return store(word(w.EVALUATIONS), load(word(w.EVALUATIONS)) + 1)


def item(items: int, number: int) -> int:
    """Return one item of a tuple."""
    return load(items + word(w.TUPLE_ITEMS) + 8 * number)


def is_same(one: int, other: int) -> bool:
    """Tell whether two shapes are equal."""
    return one == other or c.PyObject_RichCompareBool(one, other, EQ) == 1


def whole(value: int) -> int:
    """Return a Python int; `FAR` where it is larger than any extent."""
    found = c.PyLong_AsLongLong(value)
    if found == -1 and c.PyErr_Occurred() != 0:
        c.PyErr_Clear()
        return FAR
    return found


def count_of(thing: int) -> int:
    """Return how many references an object has."""
    return load(thing + COUNT) & 0xFFFFFFFF


def size_of(shape: int) -> int:
    """Return the number of elements; -1 where it is too large for a launch."""
    size = 1
    for k in range(load(shape + SIZE)):
        extent = c.PyLong_AsLongLong(item(shape, k))
        if extent < 0 or size > 1 << 30:
            return -1
        size *= extent
    return size
