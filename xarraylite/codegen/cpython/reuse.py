"""Lazy results that are used again, and the copies of their values that stand for them.

What `arrays.ownership` decides for operands (`kept`, `shortened`), of few elements that are
computed of little memory: all else is left to Python.  The copy says what it is of, so that `late`
computes it anew.
"""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, add_to, load, scratch, store, word
from .evaluation import lazy_values

#: Bytes of a result that is computed here, and of memory that it is computed of; elements of one
#: that is computed for its length, and the operations that this takes (`arrays.ownership`).
LITTLE, FEW_ELEMENTS, LONG = 1 << 16, 1 << 12, 32

#: Results that were used again, from which on each is computed then (`arrays.ownership`), and
#: results, each computed of the one before, of which no more is remembered (`arrays.recomputed`).
OFTEN, DEEP = 8, 16

#: What is noted of a lazy result that was computed: its operands, what stands for it among other
#: operands, and the container of its values.
OF, STANDING, VALUES = range(3)


def own_memory(lazy: int) -> int:
    """Return the container that a handle without kind stands for, borrowed; 0 if there is none."""
    own = py.get(lazy, w.OWNING)
    memory = py.get(own, w.FAMILY_MEMORY) if own != 0 else word(w.NONE)
    return 0 if memory == word(w.NONE) else memory


def noted(lazy: int, slot: int) -> int:
    """Return what is noted of a lazy result's operands, borrowed; 0 if nothing is."""
    used = py.get(lazy, w.USED)
    if used == 0 or load(used + CLASS) != word(w.TUPLE):
        return 0
    return py.item(used, slot) if py.item(used, OF) == py.get(lazy, w.OPERANDS) else 0


def depth_of(operand: int) -> int:
    """Return how many results, each computed of the one before, an operand was computed of."""
    if load(operand + CLASS) != word(w.COPY):
        return 0
    told = py.get(operand, w.COPY_MADE)
    if load(told + CLASS) == word(w.COPY):  # elements of a result
        told = py.get(told, w.COPY_MADE)
    known = load(told + CLASS) == word(w.RECOMPUTED)
    return c.PyLong_AsLongLong(py.get(told, w.DEPTH)) if known else 0


def bare(snapshot: int) -> int:
    """Return a snapshot of the same bytes that says nothing of them, the caller's."""
    made = py.new(word(w.SNAPSHOT_CLASS))
    return py.read_by(made, snapshot, py.keep(word(w.NONE))) if made != 0 else 0


def recomputed(kind: int, shape: int, operands: int) -> int:
    """Return what a copy is told of the result that it has the values of; 0 if it is not done.

    It holds the operands, as the lazy result would.
    """
    count, depth = load(operands + SIZE), 0
    items = py.tuple_of(count)
    for k in range(count if items != 0 else 0):
        one = py.item(operands, k)
        cls, deep = load(one + CLASS), depth_of(one)
        memory = cls == word(w.SNAPSHOT_CLASS) or cls == word(w.COPY)
        if memory and c.PyLong_AsLongLong(py.get(one, w.NBYTES)) > LITTLE:
            c.Py_DecRef(items)
            return 0
        store(items + word(w.TUPLE_ITEMS) + 8 * k, bare(one) if deep >= DEEP else py.keep(one))
        depth = deep if depth < deep < DEEP else depth
    part = py.few(kind, shape, items) if items != 0 else 0
    c.Py_DecRef(items)
    made = py.new(word(w.RECOMPUTED)) if part != 0 else 0
    if made == 0:
        c.Py_DecRef(part)
        return 0
    py.give(made, w.DEPTH, c.PyLong_FromLongLong(depth + 1))
    py.give(made, w.COPY_DTYPE, py.keep(py.get(kind, w.DTYPE)))
    py.give(made, w.LAZILY, py.keep(word(w.UNCHANGED)))
    py.give(made, w.PART, part)
    return made


def standing(values: int, told: int) -> int:
    """Return an expression of the bytes of new values, and of what is told of them.

    What is told is given to it.
    """
    copy, place = py.new(word(w.COPY)), scratch()
    if copy == 0:
        c.Py_DecRef(told)
        return 0
    py.read_by(copy, py.get(values, w.OWN_BUFFER), py.keep(word(w.NONE)))
    py.give(copy, w.COPY_WHERE, py.keep(word(w.NONE)))
    py.give(copy, w.COPY_MADE, told)
    store(place, copy)
    store(place + 8, word(w.ZERO))
    made = py.expression(py.get(values, w.KIND), py.get(values, w.SHAPE), place, 2)
    c.Py_DecRef(copy)
    return made


def settle(lazy: int) -> bool:
    """Compute a small result, and note with it what stands for it; tell whether that was done."""
    if noted(lazy, OF) != 0:
        return True
    kind, shape = py.get(lazy, w.KIND), py.get(lazy, w.SHAPE)
    if not 0 <= py.size_of(shape) * py.itemsize_of(kind) <= LITTLE:
        return False
    operands = py.keep(py.get(lazy, w.OPERANDS))
    told = recomputed(kind, shape, operands)
    values = lazy_values(lazy) if told != 0 else 0
    by_rows = values != 0 and py.get(values, w.KIND) != word(w.NODE) and py.is_row_major(values)
    stands = standing(values, told) if by_rows else 0
    if not by_rows:
        c.Py_DecRef(told)
        ordered = values != 0 and py.get(values, w.KIND) != word(w.NODE)
        stands = py.keep(values) if ordered else 0  # as Python has it
    used = py.few(operands, stands, values) if stands != 0 else 0
    done = used != 0 and py.get(lazy, w.OPERANDS) == operands  # it was not written meanwhile
    if done:
        py.change(lazy, w.USED, used)
    else:
        c.PyErr_Clear()
        c.Py_DecRef(used)
    for part in (stands, values, operands):
        c.Py_DecRef(part)
    return done


def kept_values(lazy: int) -> int:
    """Return the container of a small result's values, the caller's, which the result keeps.

    0 where Python has to make it.
    """
    if py.get(lazy, w.KIND) == word(w.NODE):
        return py.keep(own_memory(lazy))
    values = noted(lazy, VALUES) if settle(lazy) else 0
    return 0 if values == word(w.NONE) else py.keep(values)


def looked_at(thing: int) -> int:
    """``values_of(e)``: what is to be looked at only, of a small lazy result."""
    usual = py.is_lazy(thing) and not py.is_traced() and py.get(thing, w.KIND) != word(w.NODE)
    return kept_values(thing) if usual else 0


def is_long(lazy: int) -> bool:
    """Tell whether a small result has got so long that it is computed before it gets longer."""
    if c.PyLong_AsLongLong(py.get(py.get(lazy, w.KIND), w.WEIGHT)) <= LONG:
        return False
    return 0 <= py.size_of(py.get(lazy, w.SHAPE)) <= FEW_ELEMENTS


def is_used_again(lazy: int) -> bool:
    """Tell whether a lazy result was used before the last evaluation."""
    used = py.get(lazy, w.USED)
    if used == 0 or load(used + CLASS) == word(w.TUPLE):
        return False
    return c.PyLong_AsLongLong(used) != load(word(w.EVALUATIONS))


def note_use(thing: int) -> int:
    """Note that a lazy result was used, if that is noted of its kind and it is the first time.

    Where Python has to do the operation, it notes the use itself.
    """
    if not py.is_lazy(thing) or py.get(thing, w.KIND) == word(w.NODE) or py.is_traced():
        return 0
    used = py.get(thing, w.USED)
    first = used == 0 or (load(used + CLASS) == word(w.TUPLE) and noted(thing, OF) == 0)
    if first and py.get(py.get(thing, w.KIND), w.NOTED) == word(w.TRUE):
        py.change(thing, w.USED, c.PyLong_FromLongLong(load(word(w.EVALUATIONS))))
    return 0


def is_built_on(lazy: int) -> bool:
    """Tell whether a lazy result reads what was computed of another one, as in a loop."""
    operands, found = py.get(lazy, w.OPERANDS), False
    for k in range(load(operands + SIZE)):
        found = found or depth_of(py.item(operands, k)) > 0
    return found


def is_used_twice(lazy: int) -> bool:
    """Tell whether a small result was used before, and so were others; it is counted."""
    used, kind = py.get(lazy, w.USED), py.get(lazy, w.KIND)
    if used == 0 or load(used + CLASS) == word(w.TUPLE):
        return False
    if not 0 <= py.size_of(py.get(lazy, w.SHAPE)) * py.itemsize_of(kind) <= LITTLE:
        return False
    return is_built_on(lazy) and add_to(word(w.REUSES), 1) >= OFTEN


def settled(thing: int) -> int:
    """Return what stands for an operand of which no view is made, the caller's.

    0 where Python has to have it computed.
    """
    if not py.is_lazy(thing) or py.is_traced():
        return py.keep(thing)
    if py.get(thing, w.KIND) == word(w.NODE):
        memory = own_memory(thing)
        return py.keep(memory if memory != 0 else thing)
    known = noted(thing, STANDING)
    if known != 0:
        return py.keep(known)
    if is_used_again(thing) or is_long(thing) or is_used_twice(thing):
        return py.keep(noted(thing, STANDING)) if settle(thing) else 0
    return py.keep(thing)
