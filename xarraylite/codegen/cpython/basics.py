"""Looking at objects, making them, and calling Python."""

from __future__ import annotations

from ...ir.kind import MUCH
from . import outside as c
from . import words as w
from .api import CLASS, COUNT, SEVERAL, SIZE, TOGETHER, load, scratch, store, word

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

#: A bit of the references of objects that nobody counts.
IMMORTAL = 1 << 31

#: Where an int has its digits, of which two are a word, and what the second of them counts.
DIGITS, DIGIT_BITS = 24, 30

#: Bytes up to which memory comes from slabs, and from which it comes from the pool.
SMALL, LARGE = 512, 1 << 20

#: Where a class has the one that it is derived from.
BASE_CLASS = 256

#: Where an array of NumPy has its address, and a float its value.
DATA = 16

#: Where an array of NumPy has the rest, and the flags of one that is aligned and row-major, and
#: of one that may be written as well.
RANK, EXTENTS, STEPS, BASE, DESCRIPTION, FLAGS = 24, 32, 40, 48, 56, 64
BY_ROWS, WRITABLE = 0x101, 0x400
ORDINARY, OWNS = BY_ROWS | WRITABLE, 0x4

#: Where a dtype of NumPy has the class of its numbers, and the upper half of a word that is its
#: number, and the least such word of dtypes that are not NumPy's own.
DTYPE_CLASS, DTYPE_NUMBER, OTHERS = 16, 24, 256 << 32

#: Operations on elements that take about as long as to plan an expression.
REPEATED = 1 << 15


def get(thing: int, slot: int) -> int:
    """Return what a slot of an object holds; 0 if it is empty."""
    return load(thing + word(slot))


def give(thing: int, slot: int, value: int) -> int:
    """Let an empty slot hold an object, whose reference was the caller's."""
    return store(thing + word(slot), value)


def change(thing: int, slot: int, value: int) -> int:
    """Let a slot hold another object, whose reference was the caller's."""
    before = get(thing, slot)
    given = give(thing, slot, value)
    c.Py_DecRef(before)  # last: what ends with it may look at the slot
    return given


def swap(one: int, other: int, slot: int) -> int:
    """Exchange what two objects hold."""
    held = get(one, slot)
    give(one, slot, get(other, slot))
    return give(other, slot, held)


def keep(thing: int) -> int:
    """Return an object that is borrowed as one that is the caller's."""
    if thing != 0:
        count = load(thing + COUNT)
        if count & IMMORTAL == 0:
            store(thing + COUNT, count + 1)
    return thing


def call(function: int, one: int, two: int, count: int) -> int:
    """Call Python with one argument, or two; not where an exception was raised on the way."""
    if c.PyErr_Occurred() != 0:
        return 0
    args = scratch()
    store(args, one)
    store(args + 8, two)
    return c.PyObject_Vectorcall(function, args, count, 0)


def call_method(name: int, thing: int, one: int, count: int) -> int:
    """Call a method of an object with nothing else (a count of 1), or with one argument."""
    args = scratch()
    store(args, thing)
    store(args + 8, one)
    return c.PyObject_VectorcallMethod(name, args, count, 0)


def instead(way: int, one: int, two: int, three: int, number: int) -> int:
    """Call what a method stands before, which did nothing; not where it raised an exception.

    The way is how many arguments there are, or one of `api.SEVERAL` and `api.TOGETHER`.
    """
    function = word(number)
    if c.PyErr_Occurred() != 0:
        return 0
    if way == SEVERAL:
        return c.PyObject_Vectorcall(function, two, three, one)  # which are the names
    if way == TOGETHER:
        args = with_first(two, load(two + SIZE), one)
        made = c.PyObject_Call(function, args, three) if args != 0 else 0
        c.Py_DecRef(args)
        return made
    place = scratch()
    store(place, one)
    store(place + 8, two)
    store(place + 16, three)
    return c.PyObject_Vectorcall(function, place, way, 0)


def with_first(args: int, count: int, thing: int) -> int:
    """Return a tuple of an object and the first of other arguments; 0 if there is no memory."""
    made = tuple_of(count + 1)
    if made != 0:
        store(made + word(w.TUPLE_ITEMS), keep(thing))
        for k in range(count):
            store(made + word(w.TUPLE_ITEMS) + 8 * (k + 1), keep(item(args, k)))
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


def or_nothing(made: int) -> int:
    """Return what was made; 0, and no exception, where nothing was: Python says what is wrong."""
    if made == 0:
        c.PyErr_Clear()
    return made


def new(cls: int) -> int:
    """Return a new object of a class whose slots are empty; 0 if there is no memory."""
    return or_nothing(c.PyType_GenericAlloc(cls, 0))


def read_by(snapshot: int, memory: int, origin: int) -> int:
    """Have a new snapshot read the bytes of a buffer, or of another snapshot; return it.

    The origin is given to it.
    """
    give(snapshot, w.MEMORY, keep(get(memory, w.MEMORY)))
    give(snapshot, w.MEMORY_START, keep(get(memory, w.MEMORY_START)))
    give(snapshot, w.ADDRESS, keep(get(memory, w.ADDRESS)))
    give(snapshot, w.NBYTES, keep(get(memory, w.NBYTES)))
    give(snapshot, w.ORIGIN, origin)
    return snapshot


def tuple_of(count: int) -> int:
    """Return a tuple that is to be filled; 0 if there is no memory."""
    return or_nothing(c.PyTuple_New(count))


def few(one: int, two: int, three: int) -> int:
    """Return a tuple of one object, or of two or three if these are not 0; 0 if memory is out."""
    made = tuple_of(1 if two == 0 else (2 if three == 0 else 3))
    if made != 0:
        store(made + word(w.TUPLE_ITEMS), keep(one))
        if two != 0:
            store(made + word(w.TUPLE_ITEMS) + 8, keep(two))
        if three != 0:
            store(made + word(w.TUPLE_ITEMS) + 16, keep(three))
    return made


def container_of(cls: int, kind: int, shape: int, buffer: int, start: int) -> int:
    """Return a container of a class, or 0, of what is given to it; 0 if there is no memory."""
    made = new(cls) if cls != 0 else 0
    if made == 0:
        for part in (kind, shape, buffer, start):
            c.Py_DecRef(part)
        return 0
    give(made, w.KIND, kind)
    give(made, w.SHAPE, shape)
    give(made, w.OWN_BUFFER, buffer)
    give(made, w.OWN_DTYPE, keep(get(kind, w.DTYPE)))
    give(made, w.START, start)
    return made


def is_lazy(thing: int) -> bool:
    """Tell whether an object is an expression and nothing more."""
    return load(thing + CLASS) == word(w.EXPRESSION)


def is_tensor(cls: int) -> bool:
    """Tell whether a class is one of arrays of fixed rank or shape, or directly derived from it."""
    base = load(cls + BASE_CLASS)
    return cls == word(w.TENSOR) or base == word(w.TENSOR_FIXED) or base == word(w.TENSOR)


def is_container(thing: int) -> bool:
    """Tell whether an object is a container with a kind, of a class that does as ours do."""
    cls = load(thing + CLASS)
    own = cls == word(w.ARRAY) or cls == word(w.VIEW)
    if not (own or cls == word(w.TENSOR) or cls == word(w.TENSOR_VIEW)):
        if c.PyType_IsSubtype(cls, word(w.CONTAINER)) == 0:
            return False
        told = c.PyObject_GenericGetAttr(thing, word(w.ASKED_NAME))
        c.Py_DecRef(told)
        if told != word(w.FALSE):
            return False
    kind = get(thing, w.KIND)
    return kind != 0 and kind != word(w.NODE) and get(thing, w.OWN_BUFFER) != 0


def owner_of(kind: int, shape: int) -> int:
    """Return the class of containers of a leaf's kind, borrowed; 0 if it is not known yet."""
    owner = get(kind, w.OWNER)
    if owner == word(w.NONE):
        return word(w.ARRAY)
    if load(owner + CLASS) != word(w.TUPLE):
        return owner
    if item(owner, 0) == shape:
        return item(owner, 1)
    return c.PyDict_GetItemWithError(item(owner, 2), shape)


def is_array(thing: int) -> bool:
    """Tell whether an object is an expression, or a container with a kind."""
    return is_lazy(thing) or is_container(thing)


def is_plain_array(array: int) -> bool:
    """Tell whether an array of NumPy is aligned and row-major."""
    return load(array + FLAGS) & BY_ROWS == BY_ROWS


def rank_at(thing: int) -> int:
    """Return the number of dimensions of an array."""
    return load(get(thing, w.SHAPE) + SIZE)


def is_array_or_numpys(thing: int) -> bool:
    """Tell whether an object is memory, NumPy's too, or an expression of it."""
    return load(thing + CLASS) == word(w.NDARRAY) or is_array(thing)


def is_row_major(thing: int) -> bool:
    """Tell whether a container's elements lie by rows."""
    return get(get(thing, w.KIND), w.STRIDES) == word(w.NONE)


def dtype_of(thing: int) -> int:
    """Return the dtype of an array's elements, borrowed."""
    return get(get(thing, w.KIND), w.DTYPE)


def itemsize_of(kind: int) -> int:
    """Return the bytes of an element of a kind."""
    return integer(get(kind, w.ITEMSIZE))


def integer(value: int) -> int:
    """Return a Python int; as C's function does it, which takes longer."""
    if load(value + CLASS) == word(w.INT) and load(value + SIZE) == word(w.ONE_DIGIT):
        return load(value + DIGITS) & 0xFFFFFFFF
    return wide(value)


def wide(value: int) -> int:
    """Return a Python int, nearly always one of two digits."""
    if load(value + SIZE) == word(w.TWO_DIGITS):
        digits = load(value + DIGITS)
        return (digits & 0xFFFFFFFF) + ((digits >> 32) << DIGIT_BITS)
    return c.PyLong_AsLongLong(value)


def is_number(value: int) -> bool:
    """Tell whether a value is of one of the three usual classes of numbers."""
    cls = load(value + CLASS)
    return cls == word(w.FLOAT) or cls == word(w.INT) or cls == word(w.COMPLEX)


def is_traced() -> bool:
    """Tell whether a function is traced somewhere."""
    return load(word(w.TRACING)) != 0


def is_interpreted() -> bool:
    """Tell whether all is left to the reference engine."""
    return get(word(w.SETTINGS), w.ENGINE) == word(w.REFERENCE)


def count_evaluation() -> int:
    """Count an evaluation: what was used before one, and is used again, is then computed."""
    return store(word(w.EVALUATIONS), load(word(w.EVALUATIONS)) + 1)


def item(items: int, number: int) -> int:
    """Return one item of a tuple."""
    return load(items + word(w.TUPLE_ITEMS) + 8 * number)


def parts(key: int) -> int:
    """Return how many items an index has: one that is no tuple is one."""
    return load(key + SIZE) if load(key + CLASS) == word(w.TUPLE) else 1


def part(key: int, number: int) -> int:
    """Return one of these items."""
    return item(key, number) if load(key + CLASS) == word(w.TUPLE) else key


def member(sequence: int, number: int) -> int:
    """Return one item of a list or a tuple."""
    if load(sequence + CLASS) == word(w.LIST):
        return load(load(sequence + LIST_ITEMS) + 8 * number)
    return item(sequence, number)


def is_same(one: int, other: int) -> bool:
    """Tell whether two shapes are equal."""
    return one == other or c.PyObject_RichCompareBool(one, other, EQ) == 1


def whole(value: int) -> int:
    """Return a Python int; `FAR` where it is larger than any extent."""
    found = integer(value)
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
        extent = integer(item(shape, k))
        if extent < 0 or size > 1 << 30:
            return -1
        size *= extent
    return size


def holds_much(place: int, count: int) -> bool:
    """Tell whether one of the operands at an address is much memory."""
    for k in range(count):
        operand = load(place + 8 * k)
        memory = load(operand + CLASS) == word(w.SNAPSHOT_CLASS)
        if memory and c.PyLong_AsLongLong(get(operand, w.NBYTES)) >= MUCH:
            return True
    return False


def expression(kind: int, shape: int, place: int, count: int) -> int:
    """Return a new expression of operands at an address; 0 if there is no memory.

    What is borrowed is kept before anything is allocated: the collector may run then, and with it
    other threads.
    """
    keep(kind)
    keep(shape)
    for k in range(count):
        keep(load(place + 8 * k))
    made, operands = 0, tuple_of(count)
    if operands != 0:
        for k in range(count):
            store(operands + word(w.TUPLE_ITEMS) + 8 * k, load(place + 8 * k))
        made = new(word(w.EXPRESSION))
        if made != 0:
            give(made, w.KIND, kind)
            give(made, w.SHAPE, shape)
            made = give_last(made, operands)
            if shape == word(w.EMPTY) and holds_much(place, count):
                noted = call(word(w.NOTE), made, 0, 1)
                c.Py_DecRef(made if noted == 0 else noted)
                made = 0 if noted == 0 else made
            return made
        c.Py_DecRef(operands)
    else:
        for k in range(count):
            c.Py_DecRef(load(place + 8 * k))
    c.Py_DecRef(kind)
    c.Py_DecRef(shape)
    return 0


def give_last(made: int, operands: int) -> int:
    """Give an expression its operands; return it."""
    give(made, w.OPERANDS, operands)
    return made
