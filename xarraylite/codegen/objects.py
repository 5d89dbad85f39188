"""Small steps on Python's objects, as functions that Numba compiles.

What an operator does where everything is known — look two kinds up, put operands one after the
other, make an expression of them — is a dozen operations on Python's objects, each of which costs
as much in Python as ten elements of arithmetic.  These functions do the same by CPython's own C
functions and by loads from slots whose places are known (`runtime.natives` finds them).  They are
compiled as the scalar bodies are, and become methods of the classes once these are used often.

An int is an object's address, or 0.  A function does the usual case and nothing else: where
anything is not as it should be, nothing has happened, and the method in Python that it stands
before is called.  So none has a message, and none decides anything that Python's does not.
References are those of C: what `get` returns is borrowed, what a step makes is the caller's.
"""

from __future__ import annotations

from types import FunctionType

from .pyapi import (
    ADDRESS,
    ALLOCATIONS,
    ALONE,
    ARRAY,
    BUFFER,
    BYTES,
    BYTES_DATA,
    CLASS,
    CONTAINER,
    COUNT,
    COUNTERS,
    DIRECT,
    DTYPE,
    ELLIPSIS,
    EMPTY,
    ENGINE,
    EVALUATED,
    EXPRESSION,
    FALSE,
    FLOAT,
    FLOAT64,
    FOLDED,
    FRESH,
    GETITEM,
    INT,
    ITEMSIZE,
    JITTED,
    KIND,
    LAST,
    LAST_ITEMS,
    LAST_KIND,
    LAST_KINDS,
    LAST_SHAPE,
    LAST_SHAPES,
    MEMORY,
    MEMORY_START,
    MOST_BYTES,
    NBYTES,
    NONE,
    OPERANDS,
    OWN_BUFFER,
    OWN_DTYPE,
    PLACES,
    POLICY,
    READING,
    RECORD,
    REFERENCE,
    RESULT,
    ROW_MAJOR,
    SCRATCH,
    SETITEM,
    SETTINGS,
    SHAPE,
    SHARED,
    SIZE,
    SLABS,
    SLICE,
    SPECIAL,
    START,
    STRIDES,
    TABLE,
    TAKE,
    TO_FLOAT,
    TRACING,
    TUPLE,
    TUPLE_ITEMS,
    VIEW,
    WRITES,
    ZERO,
    Py_DecRef,
    Py_IncRef,
    PyDict_GetItemWithError,
    PyErr_Clear,
    PyErr_Occurred,
    PyFloat_FromDouble,
    PyLong_AsLongLong,
    PyLong_FromLongLong,
    PyNumber_Float,
    PyObject_Call,
    PyObject_RichCompareBool,
    PyObject_Vectorcall,
    PySlice_AdjustIndices,
    PySlice_Unpack,
    PyTuple_New,
    PyType_GenericAlloc,
    PyType_IsSubtype,
    load,
    load_double,
    scratch,
    store,
    word,
    xl_launch,
)

_LE, _EQ = 1, 2  # of PyObject_RichCompareBool

#: Where a list has its items, and a record (`runtime.launch`) what these functions ask.
LIST_ITEMS = 24
LIMIT, BYTES_EACH, FOLDS, TWICE = 16, 56, 64, 72

#: Most dimensions of a view, and a number beyond any extent.
DIMENSIONS, FAR = 32, 1 << 62

#: Bytes that come from slabs.
SMALL = 512

#: Operations on elements that take about as long as to plan an expression.
REPEATED = 1 << 14


def get(thing: int, slot: int) -> int:
    """Return what a slot of an object holds; 0 if it is empty."""
    return load(thing + word(slot))


def give(thing: int, slot: int, value: int) -> int:
    """Let an empty slot hold an object, whose reference was the caller's."""
    return store(thing + word(slot), value)


def keep(thing: int) -> int:
    """Return an object that is borrowed as one that is the caller's."""
    Py_IncRef(thing)
    return thing


def call(function: int, one: int, two: int, count: int) -> int:
    """Call Python with one argument, or two."""
    args = scratch()
    store(args, one)
    store(args + 8, two)
    return PyObject_Vectorcall(function, args, count, 0)


def call_three(function: int, one: int, two: int, three: int) -> int:
    """Call Python with three arguments."""
    args = scratch()
    store(args, one)
    store(args + 8, two)
    store(args + 16, three)
    return PyObject_Vectorcall(function, args, 3, 0)


def new(cls: int) -> int:
    """Return a new object whose slots are empty; 0 if there is no memory."""
    made = PyType_GenericAlloc(word(cls), 0)
    if made == 0:
        PyErr_Clear()
    return made


def tuple_of(count: int) -> int:
    """Return a tuple that is to be filled; 0 if there is no memory."""
    made = PyTuple_New(count)
    if made == 0:
        PyErr_Clear()
    return made


def is_lazy(thing: int) -> bool:
    """Tell whether an object is an expression and nothing more."""
    return load(thing + CLASS) == word(EXPRESSION)


def is_container(thing: int) -> bool:
    """Tell whether an object is a container with a kind."""
    cls = load(thing + CLASS)
    usual = cls == word(ARRAY) or cls == word(VIEW)
    if not usual and PyType_IsSubtype(cls, word(CONTAINER)) == 0:
        return False
    return get(thing, KIND) != 0 and get(thing, OWN_BUFFER) != 0


def item(items: int, number: int) -> int:
    """Return one item of a tuple."""
    return load(items + word(TUPLE_ITEMS) + 8 * number)


def is_same(one: int, other: int) -> bool:
    """Tell whether two shapes are equal."""
    return one == other or PyObject_RichCompareBool(one, other, _EQ) == 1


# --- operators ------------------------------------------------------------------------------------


def operands_of(thing: int, lazy: bool) -> int:
    """Return how many operands an array brings; -1 where they are not at hand."""
    if lazy:
        return load(get(thing, OPERANDS) + SIZE)
    return -1 if get(get(thing, OWN_BUFFER), READING) == 0 else 2


def put(place: int, thing: int, lazy: bool) -> int:
    """Store an array's operands from an address on; return the address behind them."""
    if not lazy:
        store(place, keep(get(get(thing, OWN_BUFFER), READING)))
        store(place + 8, keep(get(thing, START)))
        return place + 16
    operands = get(thing, OPERANDS)
    for k in range(load(operands + SIZE)):
        store(place, keep(item(operands, k)))
        place += 8
    return place


def number_of(value: int, entry: int) -> int:
    """Return a Python number as it stands among operands; 0 if it does not fit.

    The entry says where it leads: a kind, and the least and greatest whole number.
    """
    cls = load(value + CLASS)
    low = item(entry, 1)
    if low == word(NONE):
        if cls == word(FLOAT):
            return keep(value)
        made = PyNumber_Float(value)
        if made == 0:
            PyErr_Clear()
        return made
    if cls != word(INT) or PyObject_RichCompareBool(low, value, _LE) != 1:
        return 0
    return keep(value) if PyObject_RichCompareBool(value, item(entry, 2), _LE) == 1 else 0


def is_number(value: int) -> bool:
    """Tell whether a value is of one of the two usual classes of numbers."""
    cls = load(value + CLASS)
    return cls == word(FLOAT) or cls == word(INT)


def is_traced() -> bool:
    """Tell whether a function is traced somewhere."""
    return load(word(TRACING)) != 0


def expression(kind: int, shape: int, operands: int) -> int:
    """Return a new expression; the operands are given to it."""
    made = new(EXPRESSION)
    if made == 0:
        Py_DecRef(operands)
        return 0
    give(made, KIND, keep(kind))
    give(made, SHAPE, keep(shape))
    give(made, OPERANDS, operands)
    return made


def leads(thing: int, key: int, other: int) -> int:
    """Return where an operation on an array's kind and another key leads; 0 if it is not known."""
    found = PyDict_GetItemWithError(get(get(thing, KIND), TABLE), key)
    return 0 if found == 0 else PyDict_GetItemWithError(found, other)


def with_number(thing: int, lazy: bool, number: int, entry: int, first: bool) -> int:
    """Return an operation on an array and a number, which may be the first of the two."""
    count = operands_of(thing, lazy)
    if count < 0:
        return 0
    value = number_of(number, entry)
    operands = 0 if value == 0 else tuple_of(count + 1)
    if operands == 0:
        return 0
    place = operands + word(TUPLE_ITEMS)
    if first:
        store(place, value)
        put(place + 8, thing, lazy)
    else:
        store(put(place, thing, lazy), value)
    return expression(item(entry, 0), get(thing, SHAPE), operands)


def combined(left: int, right: int, key: int) -> int:
    """Return an operation on two operands like two that were met before; 0 if it is not known."""
    lazy = is_lazy(left)
    if is_traced() or not (lazy or is_container(left)):
        return 0
    if is_number(right):
        entry = leads(left, key, load(right + CLASS))
        return 0 if entry == 0 else with_number(left, lazy, right, entry, False)
    other = is_lazy(right)
    if not (other or is_container(right)):
        return 0
    kind = leads(left, key, get(right, KIND))
    if kind == 0 or not is_same(get(left, SHAPE), get(right, SHAPE)):
        return 0
    first, second = operands_of(left, lazy), operands_of(right, other)
    if first < 0 or second < 0:
        return 0
    operands = tuple_of(first + second)
    if operands == 0:
        return 0
    put(put(operands + word(TUPLE_ITEMS), left, lazy), right, other)
    return expression(kind, get(left, SHAPE), operands)


def forward(left: int, right: int, row: int) -> int:
    """``left + right``, for each operation that is an operator."""
    made = combined(left, right, word(row))
    return made if made != 0 else call(word(row + 2), left, right, 2)


def reflected(right: int, left: int, row: int) -> int:
    """``left + right`` where the left one does not know how."""
    lazy = is_lazy(right)
    if is_number(left) and not is_traced() and (lazy or is_container(right)):
        entry = leads(right, word(row + 1), load(left + CLASS))
        if entry != 0:
            made = with_number(right, lazy, left, entry, True)
            if made != 0:
                return made
    return call(word(row + 3), right, left, 2)


def single(thing: int, row: int) -> int:
    """``-thing``."""
    lazy = is_lazy(thing)
    if not is_traced() and (lazy or is_container(thing)):
        kind, count = leads(thing, word(row), word(NONE)), operands_of(thing, lazy)
        # A tuple of its own: references to readings are counted.
        operands = tuple_of(count) if kind != 0 and count >= 0 else 0
        if operands != 0:
            put(operands + word(TUPLE_ITEMS), thing, lazy)
            made = expression(kind, get(thing, SHAPE), operands)
            if made != 0:
                return made
    return call(word(row + 2), thing, 0, 1)


def folded(_: int, op: int, thing: int) -> int:
    """Fold over all dimensions."""
    lazy = is_lazy(thing)
    if not is_traced() and (lazy or is_container(thing)):
        kind, shape = leads(thing, op, word(NONE)), get(thing, SHAPE)
        count = operands_of(thing, lazy)
        usual = kind != 0 and count >= 0 and load(shape + SIZE) != 0 and size_of(shape) > 0
        operands = tuple_of(count + 1) if usual else 0
        if operands != 0:
            place = operands + word(TUPLE_ITEMS)
            store(place, keep(shape))
            put(place + 8, thing, lazy)
            made = expression(kind, word(EMPTY), operands)
            if made != 0:
                return made
    return call(word(FOLDED), op, thing, 2)


# --- views ----------------------------------------------------------------------------------------


def whole(value: int) -> int:
    """Return a Python int; `FAR` where it is larger than any extent."""
    found = PyLong_AsLongLong(value)
    if found == -1 and PyErr_Occurred() != 0:
        PyErr_Clear()
        return FAR
    return found


def steps_of(thing: int, extents: int, steps: int) -> int:
    """Store a container's extents and strides; return how many there are, 0 if too many."""
    shape, given = get(thing, SHAPE), get(get(thing, KIND), STRIDES)
    rank = load(shape + SIZE)
    if rank > DIMENSIONS:
        return 0
    step = 1
    for k in range(rank - 1, -1, -1):
        extent = whole(item(shape, k))
        store(extents + 8 * k, extent)
        store(steps + 8 * k, step if given == word(NONE) else whole(item(given, k)))
        step *= extent
    return rank


def sliced(found: int, key: int, extent: int) -> int:
    """Store first position and step of a slice; return its length, -1 if it has none."""
    if PySlice_Unpack(key, found, found + 8, found + 16) != 0:
        PyErr_Clear()
        return -1
    return PySlice_AdjustIndices(extent, found, found + 8, load(found + 16))


def selected(extents: int, steps: int, rank: int, key: int) -> int:
    """Let extents and strides be those of what an index selects, and store its start behind them.

    Returns the number of dimensions; -1 for an index that Python has to look at.
    """
    many = load(key + CLASS) == word(TUPLE)
    count = load(key + SIZE) if many else 1
    if count > rank:
        return -1
    start = out = 0
    for k in range(rank):
        extent, step = load(extents + 8 * k), load(steps + 8 * k)
        if k < count:
            one = item(key, k) if many else key
            if load(one + CLASS) == word(INT):
                at = whole(one)
                at += extent if at < 0 else 0
                if at < 0 or at >= extent:
                    return -1
                start += at * step
                continue
            if load(one + CLASS) != word(SLICE):
                return -1
            found = steps + 8 * DIMENSIONS
            extent = sliced(found, one, extent)
            if extent <= 0:
                return -1
            start += load(found) * step
            step *= load(found + 16)
        store(extents + 8 * out, extent)
        store(steps + 8 * out, step)
        out += 1
    store(steps + 8 * DIMENSIONS, start)
    return out


def tuple_from(words: int, count: int) -> int:
    """Return a tuple of Python's ints; 0 if there is no memory."""
    made = tuple_of(count)
    if made != 0:
        for k in range(count):
            store(made + word(TUPLE_ITEMS) + 8 * k, PyLong_FromLongLong(load(words + 8 * k)))
    return made


def place_of(kind: int, extents: int, steps: int, rank: int) -> int:
    """Return the kind of other elements in memory of a leaf's dtype; 0 if it is new."""
    expected = 1
    dense = True
    for k in range(rank - 1, -1, -1):
        extent = load(extents + 8 * k)
        if extent != 1:
            dense = dense and load(steps + 8 * k) == expected
            expected *= extent
    key = PyLong_FromLongLong(rank) if dense else tuple_from(steps, rank)
    if key == 0:
        return 0
    found = PyDict_GetItemWithError(get(kind, PLACES), key)
    Py_DecRef(key)
    return found


def view_of(thing: int, key: int) -> int:
    """Return the view that an index of ints and slices selects; 0 if it is not a usual one."""
    cls = load(thing + CLASS)
    if (cls != word(ARRAY) and cls != word(VIEW)) or not is_container(thing):
        return 0
    extents = scratch()
    steps = extents + 8 * DIMENSIONS
    rank = selected(extents, steps, steps_of(thing, extents, steps), key)
    kind = place_of(get(thing, KIND), extents, steps, rank) if rank > 0 else 0
    if kind == 0:
        return 0
    start = load(steps + 8 * DIMENSIONS) * PyLong_AsLongLong(get(kind, ITEMSIZE))
    shape = tuple_from(extents, rank)
    made = new(VIEW) if shape != 0 else 0
    if made != 0:
        give(made, SHAPE, shape)
        give(made, KIND, keep(kind))
        give(made, OWN_BUFFER, keep(get(thing, OWN_BUFFER)))
        give(made, OWN_DTYPE, keep(get(thing, OWN_DTYPE)))
        give(made, START, PyLong_FromLongLong(PyLong_AsLongLong(get(thing, START)) + start))
    return made


def get_item(thing: int, key: int) -> int:
    """``thing[key]``."""
    made = view_of(thing, key)
    return made if made != 0 else call(word(GETITEM), thing, key, 2)


# --- evaluations ----------------------------------------------------------------------------------


def record_of(program: int) -> int:
    """Return the address of what a launch needs to know of a program; 0 if there is none."""
    if program == 0 or load(program + CLASS) != word(DIRECT):
        return 0
    if get(word(SETTINGS), ENGINE) == word(REFERENCE):
        return 0
    return get(program, RECORD) + word(BYTES_DATA)


def size_of(shape: int) -> int:
    """Return the number of elements; -1 where it is too large for a launch."""
    size = 1
    for k in range(load(shape + SIZE)):
        extent = PyLong_AsLongLong(item(shape, k))
        if extent < 0 or size > 1 << 30:
            return -1
        size *= extent
    return size


def bump(slot: int, by: int) -> int:
    """Add to one of the counters of allocations."""
    counters = word(COUNTERS)
    before = get(counters, slot)
    give(counters, slot, PyLong_FromLongLong(PyLong_AsLongLong(before) + by))
    Py_DecRef(before)
    return 0


def from_slab(buffer: int, nbytes: int) -> int:
    """Give a buffer a place in a slab; return its address, 0 if none is free."""
    slab = load(load(word(SLABS) + LIST_ITEMS) + 8 * ((nbytes + 63) >> 6))
    free = item(slab, 2)
    left = load(free + SIZE) - 1
    if left < 0:
        return 0
    start = load(load(free + LIST_ITEMS) + 8 * left)  # the list's reference becomes the buffer's
    store(free + SIZE, left)
    address = PyLong_AsLongLong(item(slab, 1)) + PyLong_AsLongLong(start)
    give(buffer, MEMORY, keep(item(slab, 0)))
    give(buffer, MEMORY_START, start)
    give(buffer, ADDRESS, PyLong_FromLongLong(address))
    bump(ALLOCATIONS, 1)
    bump(BYTES, nbytes)
    return address


def taken(buffer: int, nbytes: int) -> int:
    """Give a buffer memory from wherever it comes; return its address, 0 if there is none."""
    size = PyLong_FromLongLong(nbytes)
    block = call(word(TAKE), size, 0, 1)
    Py_DecRef(size)
    if block == 0:
        PyErr_Clear()
        return 0
    give(buffer, MEMORY, keep(item(block, 0)))
    give(buffer, MEMORY_START, keep(item(block, 1)))
    give(buffer, ADDRESS, keep(item(block, 2)))
    Py_DecRef(block)
    return PyLong_AsLongLong(get(buffer, ADDRESS))


def computed(kind: int, shape: int, operands: int) -> int:
    """Return the values of an expression, its operands at an address; 0 if it is not done."""
    program = get(kind, FRESH)
    record = record_of(program)
    if record == 0:
        return 0
    folds, over = load(record + FOLDS), shape
    if folds != 0:
        over = load(operands)  # the shape of what is folded
    size = size_of(over)
    if size < folds or size > load(record + LIMIT) or size * load(record + TWICE) > REPEATED:
        return 0
    nbytes = load(record + BYTES_EACH) * (1 if folds != 0 else size)
    if nbytes > PyLong_AsLongLong(get(word(SETTINGS), MOST_BYTES)):
        PyErr_Clear()  # where the limit is no int64
        return 0
    buffer = new(BUFFER)
    if buffer == 0:
        return 0
    give(buffer, NBYTES, PyLong_FromLongLong(nbytes))
    give(buffer, SPECIAL, keep(word(FALSE)))
    give(buffer, SHARED, keep(word(FALSE)))
    address = from_slab(buffer, nbytes) if nbytes <= SMALL else 0
    if address == 0:
        address = taken(buffer, nbytes)
    made = 0
    if address != 0 and xl_launch(record, address, over, operands + 8 * folds) != 0:
        made = new(ARRAY)
    if made == 0:
        Py_DecRef(buffer)
        return 0
    result = get(program, RESULT)
    give(made, OWN_BUFFER, buffer)
    give(made, SHAPE, keep(shape))
    give(made, START, keep(word(ZERO)))
    give(made, KIND, keep(result))
    give(made, OWN_DTYPE, keep(get(result, DTYPE)))
    give(made, POLICY, keep(word(ROW_MAJOR)))
    return made


def evaluated(_: int, thing: int) -> int:
    """Return the values of an expression in a new container; None if it is not done."""
    made = 0
    if is_lazy(thing):
        operands = get(thing, OPERANDS) + word(TUPLE_ITEMS)
        made = computed(get(thing, KIND), get(thing, SHAPE), operands)
    return made if made != 0 else call(word(EVALUATED), thing, 0, 1)


def to_float(thing: int) -> int:
    """``float(thing)``, where it is folded: the result needs no memory but a word."""
    if is_lazy(thing):
        kind, operands = get(thing, KIND), get(thing, OPERANDS) + word(TUPLE_ITEMS)
        program = get(kind, FRESH)
        record = record_of(program)
        if record != 0 and get(kind, DTYPE) == word(FLOAT64) and load(record + FOLDS) != 0:
            size, result = size_of(load(operands)), scratch()
            usual = 0 < size <= load(record + LIMIT) and size * load(record + TWICE) <= REPEATED
            if usual and xl_launch(record, result, load(operands), operands + 8) != 0:
                return PyFloat_FromDouble(load_double(result))
    return call(word(TO_FLOAT), thing, 0, 1)


def is_like(quick: int, args: int) -> bool:
    """Tell whether arguments are containers of the kinds and shapes that a trace was made for."""
    kinds, shapes = get(quick, LAST_KINDS), get(quick, LAST_SHAPES)
    count = load(args + SIZE)
    if count != load(kinds + SIZE):
        return False
    for k in range(count):
        arg = item(args, k)
        if not is_container(arg) or get(arg, KIND) != item(kinds, k):
            return False
        if not is_same(get(arg, SHAPE), item(shapes, k)):
            return False
    return True


def filled(place: int, items: int, args: int) -> int:
    """Store the operands of a traced expression for other arguments; return how many there are."""
    count = 0
    for k in range(0, load(items + SIZE), 2):
        number, what = item(items, k), item(items, k + 1)
        if number == word(NONE):
            store(place + 8 * count, keep(what))
            count += 1
            continue
        arg = item(args, PyLong_AsLongLong(number))
        start = keep(get(arg, START))
        if what != word(ZERO):
            Py_DecRef(start)
            start = PyLong_FromLongLong(PyLong_AsLongLong(start) + PyLong_AsLongLong(what))
        store(place + 8 * count, keep(get(arg, OWN_BUFFER)))
        store(place + 8 * count + 8, start)
        count += 2
    return count


def jitted(function: int, args: int, keywords: int) -> int:
    """Call a traced function again."""
    quick, made = get(function, LAST), 0
    usual = keywords == 0 and quick != 0 and quick != word(NONE) and not is_traced()
    if usual and is_like(quick, args) and load(get(quick, LAST_ITEMS) + SIZE) <= SCRATCH:
        place = scratch()
        count = filled(place, get(quick, LAST_ITEMS), args)
        made = computed(get(quick, LAST_KIND), get(quick, LAST_SHAPE), place)
        for k in range(count):
            Py_DecRef(load(place + 8 * k))
    if made != 0:
        return made
    count = load(args + SIZE)
    given = PyTuple_New(count + 1)
    if given == 0:
        return 0
    store(given + word(TUPLE_ITEMS), keep(function))
    for k in range(count):
        store(given + word(TUPLE_ITEMS) + 8 * (k + 1), keep(item(args, k)))
    made = PyObject_Call(word(JITTED), given, keywords)
    Py_DecRef(given)
    return made


# --- assignments ----------------------------------------------------------------------------------


def count_of(thing: int) -> int:
    """Return how many references an object has."""
    return load(thing + COUNT) & 0xFFFFFFFF


def waiting_for(buffer: int) -> int:
    """Count the references that keep a buffer's bytes; -1 where more than counting is to do."""
    if get(buffer, SPECIAL) != word(FALSE) or get(buffer, SHARED) != word(FALSE):
        return -1
    reading = get(buffer, READING)
    return 0 if reading == 0 else count_of(reading) - 1


def own_of(buffer: int, items: int, count: int) -> int:
    """Count the references to a buffer's reading among operands."""
    reading = get(buffer, READING)
    found = 0
    for k in range(count):
        if load(items + 8 * k) == reading:
            found += 1
    return found


def written(to: int, program: int, items: int) -> bool:
    """Launch a program that writes into a container."""
    record = record_of(program)
    if record == 0 or size_of(get(to, SHAPE)) * load(record + TWICE) > REPEATED:
        return False
    address = PyLong_AsLongLong(get(get(to, OWN_BUFFER), ADDRESS))
    place = address + PyLong_AsLongLong(get(to, START))
    return xl_launch(record, place, get(to, SHAPE), items) != 0


def assigned(to: int, value: int) -> bool:
    """Assign an expression of the container's shape; tell whether it is done."""
    if not is_lazy(value) or not is_container(to):
        return False
    program = PyDict_GetItemWithError(get(get(value, KIND), WRITES), get(to, KIND))
    if program == 0 or not is_same(get(to, SHAPE), get(value, SHAPE)):
        return False
    buffer, operands = get(to, OWN_BUFFER), get(value, OPERANDS)
    items = operands + word(TUPLE_ITEMS)
    waiting = waiting_for(buffer)
    if waiting != 0:
        # Only the expression itself waits, and nobody else has it.
        alone = count_of(value) <= word(ALONE)
        if waiting < 0 or not alone or waiting != own_of(buffer, items, load(operands + SIZE)):
            return False
    return written(to, program, items)


def set_item(to: int, key: int, value: int) -> int:
    """``to[key] = value``."""
    if is_lazy(value):
        part = keep(to) if key == word(ELLIPSIS) else view_of(to, key)
        if part != 0:
            done = assigned(part, value)
            Py_DecRef(part)
            if done:
                return keep(word(NONE))
    return call_three(word(SETITEM), to, key, value)


def updated(to: int, value: int, key: int) -> bool:
    """Perform an in-place operation on operands of one shape; tell whether it is done."""
    if is_traced() or not is_container(to):
        return False
    items = scratch()
    buffer, own = get(to, OWN_BUFFER), 0
    # What is read at once needs no reading: its buffer stands for it.
    store(items, buffer)
    store(items + 8, get(to, START))
    number = kind = 0
    if is_number(value):
        entry = leads(to, key, load(value + CLASS))
        if entry != 0:
            number, kind = number_of(value, entry), item(entry, 0)
            store(items + 16, number)
        if number == 0:
            return False
    else:
        lazy = is_lazy(value)
        if not (lazy or is_container(value)) or not is_same(get(value, SHAPE), get(to, SHAPE)):
            return False
        kind = leads(to, key, get(value, KIND))
        if lazy:
            operands = get(value, OPERANDS)
            count = load(operands + SIZE)
            if count > SCRATCH - 2:
                return False
            for k in range(count):
                store(items + 16 + 8 * k, item(operands, k))
            own = own_of(buffer, operands + word(TUPLE_ITEMS), count)
            if own != 0 and count_of(value) > word(ALONE):
                return False
        else:
            store(items + 16, get(value, OWN_BUFFER))
            store(items + 24, get(value, START))
    done = False
    if kind != 0 and get(kind, DTYPE) == get(to, OWN_DTYPE) and waiting_for(buffer) == own:
        program = PyDict_GetItemWithError(get(kind, WRITES), get(to, KIND))
        done = program != 0 and written(to, program, items)
    if number != 0:
        Py_DecRef(number)
    return done


def in_place(to: int, value: int, row: int) -> int:
    """``to += value``, for each operation that has such an operator."""
    if updated(to, value, word(row)):
        return keep(to)
    return call(word(row + 4), to, value, 2)


def library() -> dict[str, FunctionType]:
    """Return these functions by name."""
    return {
        name: value
        for name, value in globals().items()
        if isinstance(value, FunctionType) and value.__module__ == __name__
    }
