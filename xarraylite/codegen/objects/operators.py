"""Operators: the expression that an operation makes of its operands."""

from __future__ import annotations

from .api import (
    CLASS,
    EMPTY,
    EXPRESSION,
    FLOAT,
    FOLDED,
    INT,
    KIND,
    NONE,
    OPERANDS,
    OWN_BUFFER,
    SHAPE,
    SIZE,
    SNAPSHOT,
    START,
    TABLE,
    TUPLE_ITEMS,
    Py_DecRef,
    PyDict_GetItemWithError,
    PyErr_Clear,
    PyNumber_Float,
    PyObject_RichCompareBool,
    load,
    scratch,
    store,
    word,
)
from .basics import (
    LE,
    MOST,
    call,
    get,
    give,
    is_array,
    is_lazy,
    is_number,
    is_same,
    is_traced,
    item,
    keep,
    new,
    size_of,
    tuple_of,
)


def put(place: int, thing: int) -> int:
    """Store an array's operands from an address on; return how many, -1 if they are not at hand."""
    if not is_lazy(thing):
        snapshot = get(get(thing, OWN_BUFFER), SNAPSHOT)
        if snapshot == 0:
            return -1
        store(place, snapshot)
        store(place + 8, get(thing, START))
        return 2
    operands = get(thing, OPERANDS)
    count = load(operands + SIZE)
    if count > MOST:
        return -1
    for k in range(count):
        store(place + 8 * k, item(operands, k))
    return count


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
    if cls != word(INT) or PyObject_RichCompareBool(low, value, LE) != 1:
        return 0
    return keep(value) if PyObject_RichCompareBool(value, item(entry, 2), LE) == 1 else 0


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
            store(operands + word(TUPLE_ITEMS) + 8 * k, load(place + 8 * k))
        made = new(word(EXPRESSION))
        if made != 0:
            give(made, KIND, kind)
            give(made, SHAPE, shape)
            return give_last(made, operands)
        Py_DecRef(operands)
    else:
        for k in range(count):
            Py_DecRef(load(place + 8 * k))
    Py_DecRef(kind)
    Py_DecRef(shape)
    return 0


def give_last(made: int, operands: int) -> int:
    """Give an expression its operands; return it."""
    give(made, OPERANDS, operands)
    return made


def leads(thing: int, key: int, other: int) -> int:
    """Return where an operation on an array's kind and another key leads; 0 if it is not known."""
    found = PyDict_GetItemWithError(get(get(thing, KIND), TABLE), key)
    return 0 if found == 0 else PyDict_GetItemWithError(found, other)


def with_number(thing: int, number: int, entry: int, first: bool) -> int:
    """Return an operation on an array and a number, which may be the first of the two."""
    place = scratch()
    count = put(place + 8 if first else place, thing)
    value = number_of(number, entry) if count >= 0 else 0
    if value == 0:
        return 0
    store(place if first else place + 8 * count, value)
    made = expression(item(entry, 0), get(thing, SHAPE), place, count + 1)
    Py_DecRef(value)
    return made


def combined(left: int, right: int, key: int) -> int:
    """Return an operation on two operands like two that were met before; 0 if it is not known."""
    if is_number(right):
        entry = leads(left, key, load(right + CLASS))
        return 0 if entry == 0 else with_number(left, right, entry, False)
    if not is_array(right):
        return 0
    kind = leads(left, key, get(right, KIND))
    if kind == 0 or not is_same(get(left, SHAPE), get(right, SHAPE)):
        return 0
    place = scratch()
    first = put(place, left)
    second = put(place + 8 * first, right) if first >= 0 else -1
    return 0 if second < 0 else expression(kind, get(left, SHAPE), place, first + second)


def forward(left: int, right: int, row: int) -> int:
    """``left + right``, for each operation that is an operator."""
    made = combined(left, right, word(row)) if is_array(left) and not is_traced() else 0
    return made if made != 0 else call(word(row + 2), left, right, 2)


def reflected(right: int, left: int, row: int) -> int:
    """``left + right`` where the left one does not know how."""
    if is_number(left) and is_array(right) and not is_traced():
        entry = leads(right, word(row + 1), load(left + CLASS))
        made = with_number(right, left, entry, True) if entry != 0 else 0
        if made != 0:
            return made
    return call(word(row + 3), right, left, 2)


def single(thing: int, row: int) -> int:
    """``-thing``."""
    if is_array(thing) and not is_traced():
        kind, place = leads(thing, word(row), word(NONE)), scratch()
        count = put(place, thing) if kind != 0 else -1
        made = expression(kind, get(thing, SHAPE), place, count) if count >= 0 else 0
        if made != 0:
            return made
    return call(word(row + 2), thing, 0, 1)


def folded(op: int, thing: int) -> int:
    """Fold over all dimensions."""
    if is_array(thing) and not is_traced():
        kind, shape, place = leads(thing, op, word(NONE)), get(thing, SHAPE), scratch()
        usual = kind != 0 and load(shape + SIZE) != 0 and size_of(shape) > 0
        count = put(place + 8, thing) if usual else -1
        store(place, shape)
        made = expression(kind, word(EMPTY), place, count + 1) if count >= 0 else 0
        if made != 0:
            return made
    return call(word(FOLDED), op, thing, 2)
