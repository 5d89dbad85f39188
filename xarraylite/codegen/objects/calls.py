"""Calling traced functions again."""

from __future__ import annotations

from .api import (
    JITTED,
    KIND,
    LAST,
    LAST_ITEMS,
    LAST_KIND,
    LAST_KINDS,
    LAST_SHAPE,
    LAST_SHAPES,
    NONE,
    OWN_ARRAY,
    OWN_BUFFER,
    SCRATCH,
    SHAPE,
    SHARED,
    SIZE,
    START,
    TO_ARRAY,
    TRUE,
    VIEW_NAME,
    ZERO,
    Py_DecRef,
    PyLong_AsLongLong,
    PyLong_FromLongLong,
    PyObject_VectorcallMethod,
    load,
    scratch,
    store,
    word,
)
from .basics import call_with, get, is_container, is_same, is_traced, item, keep
from .evaluation import computed


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
    return made if made != 0 else call_with(word(JITTED), function, args, keywords)


def to_array(thing: int, args: int, keywords: int) -> int:
    """``thing.__array__()``, where its memory was given to NumPy before."""
    array = get(thing, OWN_ARRAY) if is_container(thing) else 0
    plain = array != 0 and keywords == 0 and load(args + SIZE) == 0
    if plain and get(get(thing, OWN_BUFFER), SHARED) == word(TRUE):
        place = scratch()
        store(place, array)
        return PyObject_VectorcallMethod(word(VIEW_NAME), place, 1, 0)
    return call_with(word(TO_ARRAY), thing, args, keywords)
