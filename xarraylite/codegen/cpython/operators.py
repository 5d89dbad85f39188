"""Operators: the expression that an operation makes of its operands."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, scratch, store, word
from .reuse import note_use, settled
from .scalars import in_class, inside, strong_class


def is_ordinary(buffer: int) -> bool:
    """Tell whether a buffer is nothing special, or only the result of a product."""
    if py.get(buffer, w.SPECIAL) == word(w.FALSE):
        return True
    told = c.PyObject_GenericGetAttr(buffer, word(w.MADE_NAME))
    moving = c.PyObject_GenericGetAttr(buffer, word(w.MOVING_NAME))
    product = told != word(w.NONE) and moving == word(w.FALSE)  # both have a default
    c.Py_DecRef(told)
    c.Py_DecRef(moving)
    return product


def is_listed(buffer: int) -> bool:
    """Tell whether a buffer that has its bytes alone is written, or a snapshot of it is made."""
    writing, found = word(w.WRITING), False
    for k in range(load(writing + SIZE)):
        found = found or py.member(writing, k) == buffer
    return found


def is_unread(buffer: int) -> bool:
    """Tell whether a buffer has no snapshot, and nobody is about to make one."""
    return (
        py.get(buffer, w.SNAPSHOT) == 0
        and load(buffer + CLASS) == word(w.BUFFER)
        and py.get(buffer, w.SHARED) == word(w.FALSE)
        and not is_listed(buffer)
        and is_ordinary(buffer)
    )


def tell(snapshot: int, buffer: int) -> bool:
    """Give a snapshot what is told of a product's result; tell whether it has all that is told."""
    if py.get(buffer, w.SPECIAL) == word(w.FALSE):
        return True
    told = c.PyObject_GenericGetAttr(buffer, word(w.MADE_NAME))
    done = told != 0 and c.PyObject_GenericSetAttr(snapshot, word(w.MADE_NAME), told) == 0
    c.Py_DecRef(told)
    return done


def give_snapshot(thing: int) -> int:
    """Have the memory of a container that is new a snapshot, as `memory.buffer` makes it.

    Before anything is borrowed: the collector may run, and with it other threads.
    """
    if py.is_container(thing):
        buffer = py.get(thing, w.OWN_BUFFER)
        if is_unread(buffer):
            py.keep(buffer)
            made, origin = py.new(word(w.SNAPSHOT_CLASS)), c.PyWeakref_NewRef(buffer, 0)
            told = made != 0 and tell(made, buffer)
            if told and origin != 0 and is_unread(buffer):
                py.give(buffer, w.SNAPSHOT, py.read_by(made, buffer, origin))
            else:
                c.PyErr_Clear()
                c.Py_DecRef(made)
                c.Py_DecRef(origin)
            c.Py_DecRef(buffer)
    return thing


def put(place: int, thing: int) -> int:
    """Store an array's operands from an address on; return how many, -1 if they are not at hand."""
    if not py.is_lazy(thing):
        snapshot = py.get(py.get(thing, w.OWN_BUFFER), w.SNAPSHOT)
        if snapshot == 0:
            return -1
        store(place, snapshot)
        store(place + 8, py.get(thing, w.START))
        return 2
    operands = py.get(thing, w.OPERANDS)
    count = load(operands + SIZE)
    if count > py.MOST:
        return -1
    for k in range(count):
        store(place + 8 * k, py.item(operands, k))
    return count


def number_of(value: int, entry: int) -> int:
    """Return a number, or the one in a value, as it stands among operands; 0 if it does not fit.

    The entry says where it leads: a kind, and the least and greatest whole number, None of floats,
    the class of complex numbers, or of short floats what rounds them and what some are rounded to.
    """
    low, high, plain, made = py.item(entry, 1), py.item(entry, 2), inside(value), 0
    if low == word(w.NONE):
        made = c.PyNumber_Float(plain)
    elif low == word(w.COMPLEX):
        made = in_class(plain, low)
    elif load(high + CLASS) == word(w.DICT):
        made = py.keep(c.PyDict_GetItemWithError(high, plain))
    elif load(low + CLASS) == word(w.INT):
        made = between(in_class(plain, word(w.INT)), plain, low, high)
    if made == 0:
        c.PyErr_Clear()
    c.Py_DecRef(plain)
    return made


def between(made: int, value: int, low: int, high: int) -> int:
    """Return an int, the caller's, if it is equal to a number and between two; else 0."""
    usual = made != 0 and (made == value or c.PyObject_RichCompareBool(made, value, py.EQ) == 1)
    usual = usual and c.PyObject_RichCompareBool(low, made, py.LE) == 1
    if usual and c.PyObject_RichCompareBool(made, high, py.LE) == 1:
        return made
    c.Py_DecRef(made)
    return 0


def class_of_number(value: int) -> int:
    """Return by which class kinds know a number, or a value; 0 of anything else."""
    cls = load(value + CLASS)
    return cls if py.is_number(value) or cls == word(w.BOOL) else strong_class(value)


def leads(thing: int, key: int, other: int) -> int:
    """Return where an operation on an array's kind and another key leads; 0 if it is not known."""
    found = c.PyDict_GetItemWithError(py.get(py.get(thing, w.KIND), w.TABLE), key)
    return 0 if found == 0 else c.PyDict_GetItemWithError(found, other)


def with_number(thing: int, number: int, entry: int, first: bool) -> int:
    """Return an operation on an array and a number, which may be the first of the two."""
    place = scratch()
    count = put(place + 8 if first else place, thing)
    value = number_of(number, entry) if count >= 0 else 0
    if value == 0:
        return 0
    store(place if first else place + 8 * count, value)
    made = py.expression(py.item(entry, 0), py.get(thing, w.SHAPE), place, count + 1)
    c.Py_DecRef(value)
    return made


def of_number(entry: int, number: int) -> int:
    """Return where an operation with a number leads, of a power by the number; 0 if unknown."""
    if entry != 0 and load(entry + CLASS) == word(w.DICT):
        plain = inside(number)  # no code of Python's runs, and forgets the entry, for its hash
        own = c.PyDict_GetItemWithError(entry, plain)
        c.Py_DecRef(plain)
        entry = own if own != 0 else c.PyDict_GetItemWithError(entry, word(w.NONE))
        return 0 if entry == word(w.NONE) else entry
    return entry


def repeated(thing: int, kind: int) -> int:
    """Return an expression of a kind whose operands are an array's, once or several times."""
    place, items = scratch(), py.whole(py.get(kind, w.ITEMS))
    count = put(place, thing)
    if count <= 0 or items > 2 * py.MOST:
        return 0
    for k in range(count, items):
        store(place + 8 * k, load(place + 8 * (k - count)))
    return py.expression(kind, py.get(thing, w.SHAPE), place, items)


def longer(one: int, other: int) -> int:
    """Return the longer of two shapes of which the other is the end, borrowed; 0 if not so."""
    if one == other:
        return one
    most, few = (one, other) if load(one + SIZE) >= load(other + SIZE) else (other, one)
    begin, count = load(most + SIZE) - load(few + SIZE), load(few + SIZE)
    for k in range(count):
        extent, end = py.item(most, begin + k), py.item(few, k)
        if extent != end and c.PyObject_RichCompareBool(extent, end, py.EQ) != 1:
            return 0
    return most


def both(left: int, right: int, kind: int, shape: int) -> int:
    """Return an expression of a kind with the operands of two arrays; 0 if it is not done."""
    place = scratch()
    first = put(place, left)
    second = put(place + 8 * first, right) if first >= 0 else -1
    return 0 if second < 0 else py.expression(kind, shape, place, first + second)


def stretched(left: int, right: int, key: int) -> int:
    """Return an operation on two arrays, extents of which are stretched; 0 if it is not known."""
    shapes = py.few(py.get(right, w.KIND), py.get(left, w.SHAPE), py.get(right, w.SHAPE))
    entry, made = leads(left, key, shapes) if shapes != 0 else 0, 0
    if entry != 0:
        made = both(left, right, py.item(entry, 0), py.item(entry, 1))
    c.Py_DecRef(shapes)
    return made


def combined(left: int, right: int, key: int) -> int:
    """Return an operation on two operands like two that were met before; 0 if it is not known."""
    if not py.is_number(right) and py.is_array(right):
        kind = leads(left, key, py.get(right, w.KIND))
        shape = longer(py.get(left, w.SHAPE), py.get(right, w.SHAPE)) if kind != 0 else 0
        return stretched(left, right, key) if shape == 0 else both(left, right, kind, shape)
    cls = class_of_number(right)
    entry = of_number(leads(left, key, cls), right) if cls != 0 else 0
    if entry != 0 and load(entry + CLASS) != word(w.TUPLE):
        return repeated(left, entry)
    return 0 if entry == 0 else with_number(left, right, entry, False)


def after(made: int, thing: int, stands: int) -> int:
    """Let go of what stood for an operand; note the operand's use where an operation was made."""
    c.Py_DecRef(stands)
    return note_use(thing) if made != 0 else 0


def operand(thing: int) -> int:
    """Return what stands for an operand, the caller's, with a snapshot; 0 where Python has to."""
    one = settled(thing)
    return give_snapshot(one) if one != 0 else 0


def with_known(left: int, right: int, row: int) -> int:
    """``left + right`` of operands that have snapshots; 0 if it is not known."""
    return combined(left, right, word(row)) if py.is_array(left) and not py.is_traced() else 0


def forward(left: int, right: int, row: int) -> int:
    """``left + right``, for each operation that is an operator."""
    one = operand(left)
    other = py.keep(one) if right == left else operand(right)
    made = with_known(one, other, row) if one != 0 and other != 0 else 0
    after(made, left, one)
    after(made, right, other)
    return made


def exchanged(left: int, right: int, key: int) -> int:
    """Return an operation on a number and an operand like one met before; 0 if it is not known."""
    cls = class_of_number(left) if py.is_array(right) and not py.is_traced() else 0
    entry = leads(right, key, cls) if cls != 0 else 0
    return with_number(right, left, entry, True) if entry != 0 else 0


def reflected(right: int, left: int, row: int) -> int:
    """``left + right`` where the left one does not know how."""
    one = operand(right)
    made = exchanged(left, one, word(row + w.REFLECTION)) if one != 0 else 0
    after(made, right, one)
    return made


def alone(thing: int, key: int, other: int) -> int:
    """Return an operation on one operand like one that was met before; 0 if it is not known."""
    kind, place = leads(thing, key, other), scratch()
    count = put(place, thing) if kind != 0 else -1
    return py.expression(kind, py.get(thing, w.SHAPE), place, count) if count >= 0 else 0


def single(thing: int, row: int) -> int:
    """``-thing``."""
    one = operand(thing)
    made = 0
    if one != 0 and py.is_array(one) and not py.is_traced():
        made = alone(one, word(row), word(w.NONE))
    after(made, thing, one)
    return made


def converted(thing: int, args: int, keywords: int, row: int) -> int:
    """``thing.astype(dtype)``, of a dtype, or what names one, that was given before."""
    # Where something is to convert, the result is a new one whether or not that is asked for.
    alone_or_copied = keywords == 0 or (
        c.PyDict_Size(keywords) == 1 and c.PyDict_Contains(keywords, word(w.COPY_NAME)) == 1
    )
    if not alone_or_copied or load(args + SIZE) != 1 or py.is_traced():
        return 0
    given, one, made = py.item(args, 0), operand(thing), 0
    if c.PyType_IsSubtype(load(given + CLASS), word(w.NAMED)) != 0:
        given = py.get(given, w.NAMED_DTYPE)
    cls = load(given + CLASS)
    named = cls == word(w.STR) or cls == word(w.TYPE)
    if one != 0 and (named or c.PyType_IsSubtype(cls, word(w.NUMPY_DTYPE)) != 0):
        made = alone(one, word(row), given)
    after(made, thing, one)
    return made


def key_of(operand: int) -> int:
    """Return what stands for an operand in a kind's table; what is in none if it has no kind."""
    if py.is_array(operand):
        return py.get(operand, w.KIND)
    cls = class_of_number(operand)
    return cls if cls != 0 else word(w.FALSE)


def added(place: int, operand: int, bounds: int, shape: int) -> int:
    """Store one of three operands from an address on; return how many words, -1 if it cannot be.

    A number becomes the caller's own object.
    """
    if bounds == word(w.NONE):
        return put(place, operand) if py.is_same(py.get(operand, w.SHAPE), shape) else -1
    value = number_of(operand, bounds)
    store(place, value)
    return 1 if value != 0 else -1


def chosen(first: int, second: int, third: int, key: int) -> int:
    """Return an operation on three operands like three that were met; 0 if it is not known."""
    found = leads(first, key, key_of(second))
    entry = c.PyDict_GetItemWithError(found, key_of(third)) if found != 0 else 0
    if entry == 0:
        return 0
    shape, place, made = py.get(first, w.SHAPE), scratch(), 0
    one = put(place, first)
    if one < 0:
        return 0
    two = added(place + 8 * one, second, py.item(entry, 1), shape)
    if two < 0:
        return 0
    end = place + 8 * (one + two)
    three = added(end, third, py.item(entry, 2), shape)
    if three > 0:
        made = py.expression(py.item(entry, 0), shape, place, one + two + three)
        if py.item(entry, 2) != word(w.NONE):
            c.Py_DecRef(load(end))
    if py.item(entry, 1) != word(w.NONE):
        c.Py_DecRef(load(place + 8 * one))
    return made


def applied_to(items: int, count: int) -> int:
    """``apply(op, *operands)`` of operands that have snapshots; 0 if it is not known."""
    key, first = load(items), load(items + 8)
    if count == 2:
        return alone(first, key, word(w.NONE)) if py.is_array(first) else 0
    second = load(items + 16)
    if count == 4:
        return chosen(first, second, load(items + 24), key) if py.is_array(first) else 0
    if py.is_array(first):
        return combined(first, second, key)
    return exchanged(first, second, py.get(key, w.REFLECTED))


def applied(items: int, count: int) -> int:
    """``apply(op, *operands)``."""
    if not 2 <= count <= 4 or py.is_traced():
        return 0
    place, usual = scratch(), True
    store(place, load(items))
    for k in range(1, count):
        store(place + 8 * k, operand(load(items + 8 * k)) if usual else 0)
        usual = usual and load(place + 8 * k) != 0
    made = applied_to(place, count) if usual else 0
    for k in range(1, count):
        after(made, load(items + 8 * k), load(place + 8 * k))
    return made


def fold(op: int, thing: int) -> int:
    """Fold an operand that has a snapshot over all dimensions; 0 if it is not known."""
    kind, shape, place = leads(thing, op, word(w.NONE)), py.get(thing, w.SHAPE), scratch()
    usual = kind != 0 and load(shape + SIZE) != 0 and py.size_of(shape) > 0
    count = put(place + 8, thing) if usual else -1
    store(place, shape)
    return py.expression(kind, word(w.EMPTY), place, count + 1) if count >= 0 else 0


def folded(op: int, thing: int) -> int:
    """Fold over all dimensions."""
    one = operand(thing)
    made = fold(op, one) if one != 0 and py.is_array(one) and not py.is_traced() else 0
    after(made, thing, one)
    return made
