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
    READING,
    SHAPE,
    SIZE,
    START,
    TABLE,
    TUPLE_ITEMS,
    Py_DecRef,
    PyDict_GetItemWithError,
    PyErr_Clear,
    PyNumber_Float,
    PyObject_RichCompareBool,
    load,
    store,
    word,
)
from .basics import (
    LE,
    call,
    get,
    give,
    is_container,
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
    if cls != word(INT) or PyObject_RichCompareBool(low, value, LE) != 1:
        return 0
    return keep(value) if PyObject_RichCompareBool(value, item(entry, 2), LE) == 1 else 0


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
