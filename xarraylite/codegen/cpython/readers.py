"""Who waits for the bytes that are about to be written: references counted, and copies for readers.

As `assignment.readers` and `memory.buffer` do it.
"""

from __future__ import annotations

from ...ir.kind import MUCH
from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, call_at, load, scratch, store, word
from .evaluation import SNAPSHOTS, address_of, bump, new_buffer
from .operators import is_listed, is_ordinary
from .scalars import is_truth
from .views import is_index


def waiting_for(buffer: int) -> int:
    """Count the references that keep a buffer's bytes; -1 where more than counting is to do."""
    if py.get(buffer, w.SPECIAL) != word(w.FALSE):
        return -1
    if is_shared(buffer) and py.get(buffer, w.ASKED) != py.get(word(w.NEWEST), w.NEWEST_MARK):
        return -1  # other buffers of these bytes may have snapshots
    snapshot = py.get(buffer, w.SNAPSHOT)
    return 0 if snapshot == 0 else py.count_of(snapshot) - 1


def is_shared(buffer: int) -> bool:
    """Tell whether other buffers may have the same bytes."""
    return py.get(buffer, w.SHARED) != word(w.FALSE)


def is_alone(value: int) -> bool:
    """Tell whether nobody else has an expression, nor its operands (``-e`` has those of ``e``)."""
    return (
        py.count_of(value) == 1
        and not is_lent(value)
        and py.count_of(py.get(value, w.OPERANDS)) == 1
    )


def is_lent(value: int) -> bool:
    """Tell whether the one reference to a value is a variable's (`assignment.readers.is_held`)."""
    is_temporary = word(w.LENT)
    if is_temporary == 0:
        return False
    place = scratch()
    store(place, value)
    return call_at(is_temporary, place) & 0xFFFFFFFF == 0


def own_of(buffer: int, items: int, count: int) -> int:
    """Count the references to a buffer's snapshot among operands."""
    snapshot = py.get(buffer, w.SNAPSHOT)
    found = 0
    for k in range(count):
        if load(items + 8 * k) == snapshot:
            found += 1
    return found


def own_in(buffer: int, thing: int) -> int:
    """Count an expression's references to a buffer's snapshot, if it is a temporary."""
    if not py.is_lazy(thing) or not is_alone(thing):
        return 0
    operands = py.get(thing, w.OPERANDS)
    return own_of(buffer, operands + word(w.TUPLE_ITEMS), load(operands + SIZE))


def is_free(buffer: int, key: int) -> bool:
    """Tell whether nobody waits for a buffer's bytes but an index that is not read any more."""
    return waiting_for(buffer) == own_in(buffer, key)


def hidden(buffer: int) -> int:
    """Have who reads a buffer while it is written read a copy; return what `shown` is given.

    As `memory.snapshots.being_written` does, for writes that let go of the interpreter's lock.
    """
    if c.PyList_Append(word(w.WRITING), buffer) != 0:
        c.PyErr_Clear()
    snapshot = py.get(buffer, w.SNAPSHOT)
    py.give(buffer, w.SNAPSHOT, 0)
    return snapshot


def shown(buffer: int, snapshot: int) -> None:
    """Have a buffer that is written be read where it is, unless another thread writes too."""
    writes, at = word(w.WRITING), 0
    while at < load(writes + SIZE) and py.member(writes, at) != buffer:
        at += 1
    c.PyList_SetSlice(writes, at, at + 1, 0)
    # What was given to others meanwhile (`Buffer.share`) has none that is not noted.
    if load(writes + SIZE) != 0 or py.get(buffer, w.SNAPSHOT) != 0 or is_shared(buffer):
        c.Py_DecRef(snapshot)
    else:
        py.give(buffer, w.SNAPSHOT, snapshot)


#: Elements up to which NumPy writes under the interpreter's lock.
UNDER_LOCK = 500


def are_others() -> bool:
    """Tell whether there are threads of the user's besides one."""
    state, own = c.PyInterpreterState_ThreadHead(c.PyInterpreterState_Get()), word(w.OWN_THREADS)
    for _ in range(load(own + SIZE) + 1):
        state = c.PyThreadState_Next(state) if state != 0 else 0
    return state != 0


def put_in(to: int, array: int, key: int, value: int) -> bool:
    """Have NumPy write a container, for which nobody waits; tell whether it did."""
    simple = load(key + CLASS) not in (word(w.TUPLE), word(w.NDARRAY)) or is_index(key, True)
    if (simple and py.size_of(py.get(to, w.SHAPE)) <= UNDER_LOCK) or not are_others():
        done = c.PyObject_SetItem(array, key, value) == 0
    else:
        buffer = py.keep(py.get(to, w.OWN_BUFFER))
        snapshot = hidden(buffer)
        py.keep(array)
        done = c.PyObject_SetItem(array, key, value) == 0
        c.Py_DecRef(array)
        shown(buffer, snapshot)
        c.Py_DecRef(buffer)
    if not done:
        c.PyErr_Clear()  # Python says what is wrong
    return done


def is_readable(thing: int) -> bool:
    """Tell whether all that a value reads is among its operands, or is its own memory."""
    if py.is_lazy(thing):
        return py.get(thing, w.KIND) != word(w.NODE) and py.get(thing, w.OWNING) == 0
    cls = load(thing + CLASS)
    if py.is_number(thing) or is_truth(thing) or cls == word(w.NDARRAY):
        return True
    held = cls == word(w.SCALAR_FLOAT) or c.PyType_IsSubtype(cls, word(w.SCALAR_HELD)) != 0
    return held or py.is_container(thing) or c.PyType_IsSubtype(cls, word(w.NUMPY_GENERIC)) != 0


def is_plain_index(key: int) -> bool:
    """Tell whether that is so of an index."""
    others = 0
    for k in range(py.parts(key)):
        others += 0 if is_plain_item(py.part(key, k)) else 1
    return others == 0


def is_plain_item(one: int) -> bool:
    """Tell whether that is so of an item of an index; lists are of numbers, if they are any."""
    cls = load(one + CLASS)
    if cls == word(w.SLICE) or cls == word(w.LIST):
        return True
    return one == word(w.ELLIPSIS) or one == word(w.NONE) or is_readable(one)


def is_forgotten(buffer: int) -> bool:
    """Have a product's result that nobody reads be nothing special; tell whether it was one."""
    if py.get(buffer, w.SPECIAL) == word(w.FALSE) or is_shared(buffer):
        return False
    snapshot = py.get(buffer, w.SNAPSHOT)
    if not is_ordinary(buffer) or (snapshot != 0 and py.count_of(snapshot) != 1):
        return False
    if c.PyObject_GenericSetAttr(buffer, word(w.MADE_NAME), word(w.NONE)) != 0:
        c.PyErr_Clear()
        return False
    py.give(buffer, w.SNAPSHOT, 0)  # it tells of the product
    c.Py_DecRef(snapshot)
    py.change(buffer, w.SPECIAL, py.keep(word(w.FALSE)))
    return True


def let_go(to: int, value: int, key: int) -> bool:
    """Have those who wait for a small container's bytes read a copy of them; tell whether it moved.

    As `memory.buffer.release` does, before anything is borrowed.  What is assigned, and an index,
    need no copy where nobody else has them.
    """
    if not py.is_container(to) or not is_readable(value) or not is_plain_index(key):
        return False
    buffer = py.get(to, w.OWN_BUFFER)
    return moved_away(buffer, own_in(buffer, value) + own_in(buffer, key))


def freed(place: int, count: int) -> int:
    """``freed(buffer, own)``, where no more than a small buffer's bytes have to be copied."""
    buffer = load(place)
    usual = load(buffer + CLASS) == word(w.BUFFER) and 0 < count <= 2
    own = py.integer(load(place + 8)) if usual and count == 2 else 0
    waiting = waiting_for(buffer) if usual else -1
    if waiting < 0:
        return 0
    done = waiting == own or (moved_away(buffer, own) and waiting_for(buffer) == 0)
    return py.keep(word(w.TRUE)) if done else 0


def moved_away(buffer: int, own: int) -> bool:
    """Have those who wait for a small buffer's bytes, more than its own, read a copy of them."""
    if is_forgotten(buffer) or waiting_for(buffer) <= own or py.is_traced():
        return False
    nbytes = py.integer(py.get(buffer, w.NBYTES))
    if nbytes >= MUCH:
        return False  # totals of it are computed first (`assignment.totals`)
    py.keep(buffer)
    snapshot = py.keep(py.get(buffer, w.SNAPSHOT))
    spare = new_buffer(nbytes)
    moved = spare != 0 and is_movable(buffer, snapshot)
    if moved:
        c.memcpy(address_of(spare), address_of(snapshot), nbytes)
        for slot in (w.MEMORY, w.MEMORY_START, w.ADDRESS):
            py.swap(snapshot, spare, slot)
        py.give(buffer, w.SNAPSHOT, 0)
        py.change(snapshot, w.ORIGIN, py.keep(word(w.NONE)))
        bump(SNAPSHOTS, 1)
        c.Py_DecRef(snapshot)  # the buffer's
    c.PyErr_Clear()  # where there is no memory Python says so
    for part in (spare, snapshot, buffer):
        c.Py_DecRef(part)
    return moved


def is_movable(buffer: int, snapshot: int) -> bool:
    """Tell whether a buffer has a snapshot that no kernel reads through, nor anyone looks at."""
    return (
        py.get(buffer, w.SNAPSHOT) == snapshot
        and load(snapshot + CLASS) == word(w.SNAPSHOT_CLASS)
        and waiting_for(buffer) > 0
        and not is_listed(buffer)
        and load(word(w.FLYING)) == 0
        and c.PyDict_Size(word(w.PINS)) == 0
    )
