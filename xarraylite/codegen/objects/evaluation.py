"""Evaluating into new memory."""

from __future__ import annotations

from .api import (
    ADDRESS,
    ALLOCATIONS,
    BUFFER,
    BY_ROWS,
    BYTES,
    BYTES_DATA,
    CLASS,
    COPIED,
    COUNTERS,
    DEFAULT_LAYOUT,
    DIRECT,
    DTYPE,
    DUPLICATED,
    ENGINE,
    EVALUATED,
    FALSE,
    FLOAT64,
    FLOAT64_KIND,
    FORCED,
    FRESH,
    INT,
    ITEMSIZE,
    KIND,
    MEMORY,
    MEMORY_START,
    MOST_BYTES,
    NBYTES,
    NEW_CONTAINER,
    NONE,
    NUMPY_EMPTY,
    OPERANDS,
    OWN_BUFFER,
    OWN_DTYPE,
    OWNER,
    PLACES,
    POLICY,
    RECORD,
    REFERENCE,
    REPLAY,
    REPLAY_POLICY,
    REPLAY_RECORD,
    REPLAY_RESULT,
    RESULT,
    ROW_MAJOR,
    SETTINGS,
    SHAPE,
    SHARED,
    SIZE,
    SLABS,
    SPECIAL,
    START,
    STRIDES,
    TAKE,
    TEMPORARIES,
    TO_FLOAT,
    TUPLE,
    TUPLE_ITEMS,
    UINT8,
    ZERO,
    ZEROS,
    Py_DecRef,
    PyDict_GetItemWithError,
    PyErr_Clear,
    PyErr_Occurred,
    PyFloat_FromDouble,
    PyLong_AsLongLong,
    PyLong_FromLongLong,
    PyObject_Vectorcall,
    load,
    load_double,
    memcpy,
    memset,
    scratch,
    store,
    word,
    xl_launch,
)
from .basics import (
    BYTES_EACH,
    DATA,
    DIMENSIONS,
    FEW,
    FOLDS,
    LARGE,
    LIMIT,
    LIST_ITEMS,
    MANY,
    REPEATED,
    SMALL,
    TWICE,
    call,
    call_with,
    count_evaluation,
    get,
    give,
    is_container,
    is_lazy,
    item,
    keep,
    new,
    owner_of,
    size_of,
    tuple_of,
    whole,
)
from .replay import ran


def record_of(program: int) -> int:
    """Return the address of what a launch needs to know of a program; 0 if there is none."""
    if program == 0 or load(program + CLASS) != word(DIRECT):
        return 0
    if get(word(SETTINGS), ENGINE) == word(REFERENCE):
        return 0
    return get(program, RECORD) + word(BYTES_DATA)


def bump(slot: int, by: int) -> int:
    """Add to one of the counters of allocations."""
    counters = word(COUNTERS)
    before = get(counters, slot)
    give(counters, slot, PyLong_FromLongLong(PyLong_AsLongLong(before) + by))
    Py_DecRef(before)
    return 0


def lies(buffer: int, memory: int, start: int, address: int, nbytes: int) -> int:
    """Say where a buffer's bytes lie; memory and start are given to it."""
    give(buffer, MEMORY, memory)
    give(buffer, MEMORY_START, start)
    give(buffer, ADDRESS, PyLong_FromLongLong(address))
    bump(ALLOCATIONS, 1)
    return bump(BYTES, nbytes)


def from_slab(buffer: int, nbytes: int) -> bool:
    """Give a buffer a place in a slab; tell whether one was free."""
    slab = load(load(word(SLABS) + LIST_ITEMS) + 8 * ((nbytes + 63) >> 6))
    free = item(slab, 2)
    left = load(free + SIZE) - 1
    if left < 0:
        return False
    start = load(load(free + LIST_ITEMS) + 8 * left)  # the list's reference becomes the buffer's
    store(free + SIZE, left)
    address = PyLong_AsLongLong(item(slab, 1)) + PyLong_AsLongLong(start)
    lies(buffer, keep(item(slab, 0)), start, address, nbytes)
    return True


def taken(buffer: int, nbytes: int) -> bool:
    """Give a buffer memory of its own; where there is none an exception is set."""
    size = PyLong_FromLongLong(nbytes + 64)
    memory = call(word(NUMPY_EMPTY), size, word(UINT8), 2)
    Py_DecRef(size)
    if memory == 0:
        return False
    first = load(memory + DATA)
    start = -first & 63
    lies(buffer, memory, PyLong_FromLongLong(start), first + start, nbytes)
    return True


def pooled(buffer: int, nbytes: int) -> bool:
    """Give a buffer memory of the pool, as Python does; see `taken`."""
    size = PyLong_FromLongLong(nbytes)
    block = call(word(TAKE), size, 0, 1)
    Py_DecRef(size)
    if block == 0:
        return False
    give(buffer, MEMORY, keep(item(block, 0)))
    give(buffer, MEMORY_START, keep(item(block, 1)))
    give(buffer, ADDRESS, keep(item(block, 2)))
    Py_DecRef(block)
    return True


def new_buffer(nbytes: int) -> int:
    """Return a buffer over new memory; 0 if there is none to be had."""
    if nbytes > PyLong_AsLongLong(get(word(SETTINGS), MOST_BYTES)):
        PyErr_Clear()  # where the limit is no int64
        return 0
    buffer = new(word(BUFFER))
    if buffer == 0:
        return 0
    give(buffer, NBYTES, PyLong_FromLongLong(nbytes))
    give(buffer, SPECIAL, keep(word(FALSE)))
    give(buffer, SHARED, keep(word(FALSE)))
    usual = SMALL < nbytes < LARGE
    if nbytes <= SMALL and from_slab(buffer, nbytes):
        return buffer
    if taken(buffer, nbytes) if usual else pooled(buffer, nbytes):
        return buffer
    Py_DecRef(buffer)
    return 0


def new_array(buffer: int, shape: int, kind: int) -> int:
    """Return a row-major container of what is given to it; 0 if there is no memory, or class."""
    cls = owner_of(kind, shape) if buffer != 0 else 0
    made = new(cls) if cls != 0 else 0
    if made == 0:
        if buffer != 0:
            Py_DecRef(buffer)
        Py_DecRef(shape)
        Py_DecRef(kind)
        return 0
    give(made, OWN_BUFFER, buffer)
    give(made, SHAPE, shape)
    give(made, START, keep(word(ZERO)))
    give(made, KIND, kind)
    give(made, OWN_DTYPE, keep(get(kind, DTYPE)))
    give(made, POLICY, keep(word(ROW_MAJOR)))
    return made


def address_of(buffer: int) -> int:
    """Return where a buffer's bytes are."""
    return PyLong_AsLongLong(get(buffer, ADDRESS))


def begin_of(thing: int) -> int:
    """Return the address of a container's first element."""
    return address_of(get(thing, OWN_BUFFER)) + PyLong_AsLongLong(get(thing, START))


def run_again(replay: int, shape: int, operands: int) -> int:
    """Return the values of an expression in a new container; 0 if it is not done."""
    if get(word(SETTINGS), ENGINE) == word(REFERENCE):
        return 0
    count_evaluation()
    keep(replay)
    keep(shape)
    record = get(replay, REPLAY_RECORD) + word(BYTES_DATA)
    buffer, done = new_buffer(load(record + 8)), False
    if buffer != 0:
        if load(record + 16) == 0:
            done = ran(record, address_of(buffer), 0, operands)
        else:
            temporary = new_buffer(load(record + 16))
            if temporary != 0:
                bump(TEMPORARIES, load(record + 24))
                done = ran(record, address_of(buffer), address_of(temporary), operands)
                Py_DecRef(temporary)
        if not done:
            Py_DecRef(buffer)
            buffer = 0
    made = new_array(buffer, shape, keep(get(replay, REPLAY_RESULT)))
    if made != 0:
        Py_DecRef(get(made, POLICY))
        give(made, POLICY, keep(get(replay, REPLAY_POLICY)))
    Py_DecRef(replay)
    return made


def replayed(replay: int, shape: int, operands: int) -> int:
    """``replayed(replay, shape, operands)``; None if it is not done."""
    made = run_again(replay, shape, operands + word(TUPLE_ITEMS))
    return made if made != 0 else keep(word(NONE))


def computed(kind: int, shape: int, operands: int) -> int:
    """Return the values of an expression, its operands at an address; 0 if it is not done."""
    program = get(kind, FRESH)
    if program != 0 and load(program + CLASS) == word(REPLAY):
        return run_again(program, shape, operands)
    record = record_of(program)
    if record == 0:
        return 0
    folds, over = load(record + FOLDS), shape
    if folds != 0:
        over = load(operands)  # the shape of what is folded
    size = size_of(over)
    if size < folds or size > load(record + LIMIT) or size * load(record + TWICE) > REPEATED:
        return 0
    count_evaluation()
    # Where memory is allocated the collector may run, and with it other threads.
    keep(program)
    keep(shape)
    buffer = new_buffer(load(record + BYTES_EACH) * (1 if folds != 0 else size))
    if buffer != 0:
        done = xl_launch(record, address_of(buffer), over, operands + 8 * folds)
        if done == 0:
            Py_DecRef(buffer)
            buffer = 0
    made = new_array(buffer, shape, keep(get(program, RESULT)))
    Py_DecRef(program)
    return made


def new_container(items: int, count: int) -> int:
    """``new_container(cls, kind, shape, size)``."""
    kind, shape = load(items + 8), load(items + 16)
    if count == 4 and load(items) == owner_of(kind, shape):
        nbytes = size_of(shape) * PyLong_AsLongLong(get(kind, ITEMSIZE))
        buffer = new_buffer(nbytes) if nbytes >= 0 else 0
        if buffer != 0:
            made = new_array(buffer, keep(shape), keep(kind))
            if made != 0:
                return made
    if PyErr_Occurred() != 0:
        return 0
    return PyObject_Vectorcall(word(NEW_CONTAINER), items, count, 0)


def duplicate(thing: int) -> int:
    """Return a row-major container's elements in a new one; 0 if they are many."""
    kind, shape, source = get(thing, KIND), get(thing, SHAPE), get(thing, OWN_BUFFER)
    size = size_of(shape)
    if not 0 <= size <= MANY:
        return 0
    nbytes = size * PyLong_AsLongLong(get(kind, ITEMSIZE))
    start = PyLong_AsLongLong(get(thing, START))
    for part in (kind, shape, source):
        keep(part)
    buffer = new_buffer(nbytes)
    if buffer != 0:
        memcpy(address_of(buffer), address_of(source) + start, nbytes)
    Py_DecRef(source)
    return new_array(buffer, shape, kind)


def duplicated(thing: int) -> int:
    """Return the elements of a strided container in a new one; None if they are many."""
    usual = is_container(thing) and get(get(thing, KIND), STRIDES) == word(NONE)
    if usual and get(get(thing, KIND), OWNER) == word(NONE):
        made = duplicate(thing)
        if made != 0:
            return made
    return call(word(DUPLICATED), thing, 0, 1)


def copied(thing: int, args: int, keywords: int) -> int:
    """``thing.copy()``."""
    kind, shape = get(thing, KIND), get(thing, SHAPE)
    usual = is_container(thing) and load(thing + CLASS) == owner_of(kind, shape)
    usual = usual and keywords == 0 and load(args + SIZE) == 0 and get(thing, FORCED) == 0
    if usual and get(thing, POLICY) == word(ROW_MAJOR) and get(kind, STRIDES) == word(NONE):
        made = duplicate(thing)
        if made != 0:
            return made
    return call_with(word(COPIED), thing, args, keywords)


def zeros(extents: int) -> int:
    """Return a container of zeros of an int or a tuple of ints; None for any other shape."""
    if load(extents + CLASS) != word(INT):
        return zeros_of(extents)
    shape = tuple_of(1)
    if shape == 0:
        return 0
    store(shape + word(TUPLE_ITEMS), keep(extents))
    made = zeros_of(shape)
    Py_DecRef(shape)
    return made


def zeros_of(shape: int) -> int:
    """Return a container of zeros of a tuple of ints; None for any other shape."""
    usual = load(shape + CLASS) == word(TUPLE) and load(shape + SIZE) <= DIMENSIONS
    usual = usual and get(word(SETTINGS), DEFAULT_LAYOUT) == word(BY_ROWS)
    for k in range(load(shape + SIZE) if usual else 0):
        one = item(shape, k)
        usual = usual and load(one + CLASS) == word(INT) and 0 <= whole(one) <= FEW
    size = size_of(shape) if usual else -1
    if 0 <= size <= FEW:
        rank = PyLong_FromLongLong(load(shape + SIZE))
        kind = PyDict_GetItemWithError(get(word(FLOAT64_KIND), PLACES), rank)
        Py_DecRef(rank)
        if kind != 0:
            keep(kind)
            buffer = new_buffer(8 * size)
            if buffer != 0:
                memset(address_of(buffer), 0, 8 * size)
            made = new_array(buffer, keep(shape), kind)
            if made != 0:
                return made
    return call(word(ZEROS), shape, 0, 1)


def evaluated(thing: int) -> int:
    """Return the values of an expression in a new container; None if it is not done."""
    made = 0
    if is_lazy(thing):
        operands = keep(get(thing, OPERANDS))  # the handle may be written meanwhile
        made = computed(get(thing, KIND), get(thing, SHAPE), operands + word(TUPLE_ITEMS))
        Py_DecRef(operands)
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
            count_evaluation()
            if usual and xl_launch(record, result, load(operands), operands + 8) != 0:
                return PyFloat_FromDouble(load_double(result))
    return call(word(TO_FLOAT), thing, 0, 1)
