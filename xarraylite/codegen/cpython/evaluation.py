"""Evaluating into new memory."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, call_at, load, scratch, store, word
from .launching import started
from .replay import ran


def record_of(program: int) -> int:
    """Return the address of what a launch needs to know of a program; 0 if there is none."""
    if program == 0 or load(program + CLASS) != word(w.DIRECT):
        return 0
    if py.is_interpreted():
        return 0
    return py.get(program, w.RECORD) + word(w.BYTES_DATA)


def is_brief(record: int, size: int) -> bool:
    """Tell whether a launch of so many elements takes less than to plan it."""
    return size <= load(record + py.LIMIT) and size * load(record + py.TWICE) <= py.REPEATED


#: The most plans of a kind (`assignment.results`), and the most launches of one.
MOST_REPLAYS, MOST_PIECES = 64, 16

#: Where the counters of memory have what is counted here.
ALLOCATIONS, BYTES, TEMPORARIES, SNAPSHOTS = 0, 8, 16, 24


def bump(place: int, by: int) -> int:
    """Add to one of the counters of allocations."""
    return store(word(w.COUNTERS) + place, load(word(w.COUNTERS) + place) + by)


def lies(buffer: int, memory: int, start: int, address: int, nbytes: int) -> int:
    """Say where a buffer's bytes lie; memory and start are given to it."""
    py.give(buffer, w.MEMORY, memory)
    py.give(buffer, w.MEMORY_START, start)
    py.give(buffer, w.ADDRESS, c.PyLong_FromLongLong(address))
    bump(ALLOCATIONS, 1)
    return bump(BYTES, nbytes)


def from_slab(buffer: int, nbytes: int) -> bool:
    """Give a buffer a place in a slab; tell whether one was free."""
    slab = load(load(word(w.SLABS) + py.LIST_ITEMS) + 8 * ((nbytes + 63) >> 6))
    free = py.item(slab, 2)
    left = load(free + SIZE) - 1
    if left < 0:
        return False
    start = load(load(free + py.LIST_ITEMS) + 8 * left)  # the list's reference becomes the buffer's
    store(free + SIZE, left)
    address = py.wide(py.item(slab, 1)) + py.integer(start)
    lies(buffer, py.keep(py.item(slab, 0)), start, address, nbytes)
    return True


def array_over(owner: int, address: int, dtype: int, rank: int, extents: int, strides: int) -> int:
    """Return an array of NumPy over memory of another one; 0, and an exception, if that fails.

    Extents, and strides in bytes, are words at addresses; without strides it is row-major.  An
    owner of 0 stands for new memory.
    """
    place = scratch()
    store(place, word(w.NDARRAY))
    store(place + 8, py.keep(dtype))
    store(place + 16, rank)
    store(place + 24, extents)
    store(place + 32, strides)
    store(place + 40, address)
    store(place + 48, py.BY_ROWS | (load(owner + py.FLAGS) & py.WRITABLE) if owner != 0 else 0)
    store(place + 56, 0)
    made = call_at(word(w.NEW_ARRAY), place)
    if made != 0 and owner != 0:
        store(made + py.BASE, py.keep(owner))
    return made


def taken(buffer: int, nbytes: int) -> bool:
    """Give a buffer memory of its own; where there is none an exception is set."""
    size = scratch()
    store(size, nbytes + 64)
    memory = array_over(0, 0, word(w.UINT8), 1, size, 0)
    if memory == 0:
        return False
    first = load(memory + py.DATA)
    start = -first & 63
    lies(buffer, memory, c.PyLong_FromLongLong(start), first + start, nbytes)
    return True


def pooled(buffer: int, nbytes: int) -> bool:
    """Give a buffer memory of the pool, as Python does; see `taken`."""
    size = c.PyLong_FromLongLong(nbytes)
    block = py.call(word(w.TAKE), size, 0, 1)
    c.Py_DecRef(size)
    if block == 0:
        return False
    py.give(buffer, w.MEMORY, py.keep(py.item(block, 0)))
    py.give(buffer, w.MEMORY_START, py.keep(py.item(block, 1)))
    py.give(buffer, w.ADDRESS, py.keep(py.item(block, 2)))
    c.Py_DecRef(block)
    return True


def has_memory(buffer: int, nbytes: int) -> int:
    """Give a buffer, or a snapshot, memory; return it, 0 if there is none to be had."""
    if nbytes <= py.SMALL and from_slab(buffer, nbytes):
        return buffer
    usual = py.SMALL < nbytes < py.LARGE
    if taken(buffer, nbytes) if usual else pooled(buffer, nbytes):
        return buffer
    c.Py_DecRef(buffer)
    return 0


def new_buffer(nbytes: int) -> int:
    """Return a buffer over new memory; 0 if there is none to be had."""
    if nbytes > py.wide(py.get(word(w.SETTINGS), w.MOST_BYTES)):
        c.PyErr_Clear()  # where the limit is no int64
        return 0
    buffer = py.new(word(w.BUFFER))
    if buffer == 0:
        return 0
    py.give(buffer, w.NBYTES, c.PyLong_FromLongLong(nbytes))
    py.give(buffer, w.SPECIAL, py.keep(word(w.FALSE)))
    py.give(buffer, w.SHARED, py.keep(word(w.FALSE)))
    py.give(buffer, w.LENT_BY, py.keep(word(w.NONE)))
    return has_memory(buffer, nbytes)


def new_array(buffer: int, shape: int, kind: int) -> int:
    """Return a row-major container of what is given to it; 0 if there is no memory, or class."""
    return new_array_of(py.owner_of(kind, shape) if buffer != 0 else 0, buffer, shape, kind)


def new_array_of(cls: int, buffer: int, shape: int, kind: int) -> int:
    """Return one of a class, or 0."""
    made = py.container_of(cls, kind, shape, buffer, py.keep(word(w.ZERO)))
    if made != 0:
        py.give(made, w.POLICY, py.keep(word(w.ROW_MAJOR)))
    return made


def address_of(buffer: int) -> int:
    """Return where a buffer's bytes are."""
    number = py.get(buffer, w.ADDRESS)
    return py.wide(number) if number != 0 else c.PyLong_AsLongLong(number)


def begin_of(thing: int) -> int:
    """Return the address of a container's first element."""
    return address_of(py.get(thing, w.OWN_BUFFER)) + py.integer(py.get(thing, w.START))


def run_again(replay: int, shape: int, operands: int) -> int:
    """Return the values of an expression in a new container; 0 if it is not done."""
    if py.is_interpreted():
        return 0
    py.count_evaluation()
    py.keep(replay)
    py.keep(shape)
    record = py.get(replay, w.REPLAY_RECORD) + word(w.BYTES_DATA)
    buffer, temporary, place = new_buffer(load(record + 8)), 0, 0
    if buffer != 0 and load(record + 16) != 0:
        temporary = new_buffer(load(record + 16))
        place = address_of(temporary) if temporary != 0 else 0
    done = buffer != 0 and (place != 0) == (load(record + 16) != 0)
    if done:
        bump(TEMPORARIES, load(record + 24))
        done = ran(record, address_of(buffer), place, operands)
    c.Py_DecRef(temporary)
    if not done:
        c.Py_DecRef(buffer)
        buffer = 0
    made = new_array(buffer, shape, py.keep(py.get(replay, w.REPLAY_RESULT)))
    if made != 0:
        py.change(made, w.POLICY, py.keep(py.get(replay, w.REPLAY_POLICY)))
    c.Py_DecRef(replay)
    return made


def replayed(replay: int, shape: int, operands: int) -> int:
    """Return the values of an expression whose operands are a tuple; see `run_again`."""
    return run_again(replay, shape, operands + word(w.TUPLE_ITEMS))


def copies_of(takes: int, shape: int, operands: int) -> int:
    """Return a tuple of what NumPy is given for operands at an address; 0 where one is gone.

    Memory is copied, and expressions are computed, when all that has to be allocated is: nobody
    writes to copies.
    """
    given, at = py.tuple_of(load(takes + SIZE)), operands
    for k in range(load(takes + SIZE) if given != 0 else 0):
        kind, program = py.item(py.item(takes, k), 0), py.item(py.item(takes, k), 1)
        one = 0
        if program == word(w.NONE):
            one = py.call(kind, load(at), 0, 1)
        else:
            one = py.call(word(w.NUMPY_EMPTY), shape, py.get(kind, w.DTYPE), 2)
        if one == 0:
            c.Py_DecRef(given)
            return 0
        store(given + word(w.TUPLE_ITEMS) + 8 * k, one)
        at += 8 if program == word(w.NONE) else 8 * py.whole(py.get(kind, w.ITEMS))
    at = operands
    for k in range(load(takes + SIZE) if given != 0 else 0):
        kind, program = py.item(py.item(takes, k), 0), py.item(py.item(takes, k), 1)
        if program == word(w.NONE):
            at += 8
            continue
        to, done = load(py.item(given, k) + py.DATA), 0
        if program == word(w.FALSE):
            address = py.get(load(at), w.ADDRESS)
            if address != 0:
                source = c.PyLong_AsLongLong(address) + c.PyLong_AsLongLong(load(at + 8))
                c.memcpy(to, source, py.size_of(shape) * py.itemsize_of(kind))
                done = 1
        else:
            done = started(record_of(program), to, shape, at)
        if done == 0:
            c.Py_DecRef(given)
            return 0
        at += 8 * py.whole(py.get(kind, w.ITEMS))
    return given


def is_of_rows(array: int, dtype: int) -> bool:
    """Tell whether an object is an array of NumPy of a dtype, whose elements lie by rows."""
    if (
        load(array + CLASS) != word(w.NDARRAY)
        or load(array + py.FLAGS) & py.ORDINARY != py.ORDINARY
    ):
        return False
    return load(array + py.DESCRIPTION) == dtype


def asked(program: int, shape: int, operands: int) -> int:
    """Return what NumPy makes of few elements in a new container; 0 if it is not done."""
    size = py.size_of(shape)
    if py.is_interpreted() or not 0 < size <= py.MOST_ASKED:
        return 0
    if word(w.WARNING) == word(w.NONE):
        return 0
    py.count_evaluation()
    py.keep(program)
    py.keep(shape)
    kind, array = py.get(program, w.HOST_RESULT), 0
    given = copies_of(py.get(program, w.HOST_TAKES), shape, operands)
    if given != 0:
        array = py.silently(py.get(program, w.HOST_FUNCTION), given, 0)
        c.Py_DecRef(given)
    if c.PyErr_Occurred() != 0 and c.PyErr_ExceptionMatches(word(w.EXCEPTION)) != 0:
        c.PyErr_Clear()  # the general way says what is wrong
    buffer = 0
    if array != 0:
        if is_of_rows(array, py.get(kind, w.DTYPE)):
            nbytes = size * py.itemsize_of(kind)
            buffer = new_buffer(nbytes)
            if buffer != 0:
                c.memcpy(address_of(buffer), load(array + py.DATA), nbytes)
        c.Py_DecRef(array)
    made = new_array(buffer, shape, py.keep(kind))
    c.Py_DecRef(program)
    return made


def planned_again(kind: int, shape: int, operands: int) -> int:
    """Return values as the plan for such extents gives them; 0 if there is none.

    It is found by the shape and by those that are folded (`assignment.results.again`).
    """
    count, folds = py.whole(py.get(kind, w.ITEMS)), 0
    for k in range(count):
        folds += 1 if load(load(operands + 8 * k) + CLASS) == word(w.TUPLE) else 0
    key = py.tuple_of(2 + folds)
    if key == 0:
        return 0
    place = key + word(w.TUPLE_ITEMS)
    store(place, py.keep(shape))
    store(place + 8, py.keep(word(w.FALSE)))
    for k in range(count):
        if load(load(operands + 8 * k) + CLASS) == word(w.TUPLE):
            place += 8
            store(place + 8, py.keep(load(operands + 8 * k)))
    plan, made = c.PyDict_GetItemWithError(py.get(kind, w.REPLAYS), key), 0
    if plan != 0 and load(plan + CLASS) == word(w.REPLAY):
        made = run_again(plan, shape, operands)
    elif plan == 0 and c.PyDict_Size(py.get(kind, w.REPLAYS)) < MOST_REPLAYS:
        py.keep(kind)
        made = in_pieces(py.get(kind, w.PIECES), shape, operands)
        if made != 0:
            c.PyDict_SetItem(py.get(kind, w.REPLAYS), key, word(w.ONCE))
        c.Py_DecRef(kind)
    c.Py_DecRef(key)
    return made


def in_pieces(pieces: int, shape: int, operands: int) -> int:
    """Return values by the launches that a kind has (`assignment.parts`); 0 if it is not done."""
    usual = load(pieces + CLASS) == word(w.TUPLE) and load(pieces + SIZE) <= MOST_PIECES
    if not usual or py.is_interpreted():
        return 0
    py.keep(pieces)
    py.keep(shape)
    made, done, single = scratch(), 0, py.tuple_of(0)
    items, last, one = made + 8 * MOST_PIECES, load(pieces + SIZE) - 1, single
    py.count_evaluation()
    while done <= last and one != 0:
        step = py.item(pieces, done)
        record = py.item(step, 1) + word(w.BYTES_DATA)
        for k in range(load(record)):
            place = load(record + 8 + 8 * k)
            if place >= 0:
                store(items + 8 * k, load(operands + 8 * place))
            else:
                memory = py.get(load(made + 8 * ((-1 - place) >> 1)), w.OWN_BUFFER)
                store(items + 8 * k, word(w.ZERO) if (-1 - place) & 1 else memory)
        program = py.get(py.item(step, 0), w.FRESH)
        one = by_launch(program, shape if done == last else single, items)
        store(made + 8 * done, one)
        done += 1 if one != 0 else 0
    for k in range(done if one == 0 else last):
        c.Py_DecRef(load(made + 8 * k))
    bump(TEMPORARIES, last if one != 0 else 0)
    for part in (single, shape, pieces):
        c.Py_DecRef(part)
    return one


def computed(kind: int, shape: int, operands: int) -> int:
    """Return the values of an expression, its operands at an address; 0 if it is not done."""
    program = py.get(kind, w.FRESH)
    if program != 0 and load(program + CLASS) == word(w.REPLAY):
        return run_again(program, shape, operands)
    if program != 0 and load(program + CLASS) == word(w.HOST_CALL):
        return asked(program, shape, operands)
    if program == word(w.FALSE):
        return planned_again(kind, shape, operands)
    made = by_launch(program, shape, operands)
    if made != 0:
        py.count_evaluation()
    elif program != 0 and load(program + CLASS) == word(w.TURNED):
        made = planned_again(kind, shape, operands)
    return made


def by_launch(program: int, shape: int, operands: int) -> int:
    """Return what one launch computes in a new container; 0 if it is not done."""
    if program != 0 and load(program + CLASS) == word(w.TURNED):
        return by_turning(program, shape, operands)
    return by_rows(program, shape, operands)


def by_turning(program: int, shape: int, operands: int) -> int:
    """Return what a program computes of operands in another order of dimensions; else 0."""
    rank, step, thin = load(shape + SIZE), 1, 0
    order, strides = py.get(program, w.TURNED_ORDER), py.get(program, w.TURNED_STRIDES)
    for k in range(rank):
        thin += 1 if py.whole(py.item(shape, k)) < 2 else 0
    for k in range(load(order + SIZE)):
        axis = py.whole(py.item(order, rank - 1 - k))
        near = step != 0 and py.whole(py.item(strides, axis)) == step
        step *= py.whole(py.item(shape, axis)) if near else 0
    if thin != 0 and rank > 2:
        return 0
    if thin != 0 or step != py.size_of(shape):  # of two dimensions one is left, or there are gaps
        return by_rows(py.get(program, w.TURNED_ROWS), shape, operands)
    py.keep(program)
    py.keep(shape)
    own = py.tuple_of(rank)
    for k in range(rank if own != 0 else 0):
        extent = py.item(shape, py.whole(py.item(order, k)))
        store(own + word(w.TUPLE_ITEMS) + 8 * k, py.keep(extent))
    made = by_rows(py.get(program, w.TURNED_TURNED), own, operands) if own != 0 else 0
    if made != 0:
        py.change(made, w.SHAPE, py.keep(shape))
        py.change(made, w.POLICY, py.keep(py.get(program, w.TURNED_POLICY)))
    for part in (own, program, shape):
        c.Py_DecRef(part)
    return made


def by_rows(program: int, shape: int, operands: int) -> int:
    """Return what one launch computes in a new row-major container; 0 if it is not done."""
    record = record_of(program)
    if record == 0:
        return 0
    folds, over = load(record + py.FOLDS), shape
    if folds != 0:
        over = load(operands)  # the shape of what is folded
    size = py.size_of(over)
    if size < folds or not is_brief(record, size):
        return 0
    # Where memory is allocated the collector may run, and with it other threads.
    py.keep(program)
    py.keep(shape)
    buffer = new_buffer(load(record + py.BYTES_EACH) * (1 if folds != 0 else size))
    if buffer != 0:
        done = started(record, address_of(buffer), over, operands + 8 * folds)
        if done == 0:
            c.Py_DecRef(buffer)
            buffer = 0
    made = new_array(buffer, shape, py.keep(py.get(program, w.RESULT)))
    c.Py_DecRef(program)
    return made


def copied_again(lazy: int) -> int:
    """Return elements that were copied when they were picked in a new container; 0 for others."""
    kind, operands, shape = py.get(lazy, w.KIND), py.get(lazy, w.OPERANDS), py.get(lazy, w.SHAPE)
    if load(operands + SIZE) != 2 or load(py.item(operands, 0) + CLASS) != word(w.COPY):
        return 0
    leaf = py.get(kind, w.STRIDES) == word(w.NONE) and py.get(kind, w.PLACES) != 0
    if (
        not leaf
        or c.PyDict_Size(py.get(kind, w.PLACES)) == 0
        or py.item(operands, 1) != word(w.ZERO)
    ):
        return 0
    copy = py.keep(py.item(operands, 0))
    py.keep(kind)
    py.keep(shape)
    py.count_evaluation()
    nbytes = py.size_of(shape) * py.itemsize_of(kind)
    buffer = new_buffer(nbytes)
    if buffer != 0:
        c.memcpy(address_of(buffer), address_of(copy), nbytes)
    c.Py_DecRef(copy)
    return new_array(buffer, shape, kind)


def lazy_values(lazy: int) -> int:
    """Return the values of an expression in a new container; 0 if it is not done."""
    made = copied_again(lazy)
    if made != 0:
        return made
    operands = py.keep(py.get(lazy, w.OPERANDS))  # the handle may be written meanwhile
    made = computed(py.get(lazy, w.KIND), py.get(lazy, w.SHAPE), operands + word(w.TUPLE_ITEMS))
    c.Py_DecRef(operands)
    return made


def evaluated(thing: int) -> int:
    """Return the values of an expression in a new container; 0 if it is not done."""
    return lazy_values(thing) if py.is_lazy(thing) else 0
