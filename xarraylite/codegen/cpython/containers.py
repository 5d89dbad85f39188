"""New containers: of zeros, and of the elements of others."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, word
from .evaluation import address_of, new_array, new_array_of, new_buffer


def new_container(items: int, count: int) -> int:
    """``new_container(cls, kind, shape, size)``."""
    kind, shape = load(items + 8), load(items + 16)
    if count == 4 and load(items) == py.owner_of(kind, shape):
        nbytes = py.size_of(shape) * py.itemsize_of(kind)
        buffer = new_buffer(nbytes) if nbytes >= 0 else 0
        if buffer != 0:
            return new_array(buffer, py.keep(shape), py.keep(kind))
    return 0


def duplicate(thing: int) -> int:
    """Return a row-major container's elements in a new one of the usual class; 0 if many."""
    return duplicate_as(py.owner_of(py.get(thing, w.KIND), py.get(thing, w.SHAPE)), thing)


def duplicate_as(cls: int, thing: int) -> int:
    """Return a row-major container's elements in a new one of a class, or 0; 0 if they are many."""
    kind, shape, source = py.get(thing, w.KIND), py.get(thing, w.SHAPE), py.get(thing, w.OWN_BUFFER)
    size = py.size_of(shape)
    if not 0 <= size <= py.MANY:
        return 0
    nbytes = size * py.itemsize_of(kind)
    start = py.integer(py.get(thing, w.START))
    for part in (kind, shape, source):
        py.keep(part)
    buffer = new_buffer(nbytes)
    if buffer != 0:
        c.memcpy(address_of(buffer), address_of(source) + start, nbytes)
    c.Py_DecRef(source)
    return new_array_of(cls if buffer != 0 else 0, buffer, shape, kind)


def zeros(place: int, count: int) -> int:
    """``zeros(extents, dtype)``, of an int or a tuple of ints; 0 for any other shape."""
    extents, dtype = load(place), load(place + 8) if count == 2 else 0
    if dtype == 0 or load(extents + CLASS) != word(w.INT):
        return zeros_of(extents, dtype) if dtype != 0 else 0
    shape = py.few(extents, 0, 0)
    made = zeros_of(shape, dtype) if shape != 0 else 0
    c.Py_DecRef(shape)
    return made


def zeros_of(shape: int, dtype: int) -> int:
    """Return a container of zeros of a tuple of ints; 0 for any other shape."""
    usual = load(shape + CLASS) == word(w.TUPLE) and load(shape + SIZE) <= py.DIMENSIONS
    usual = usual and py.get(word(w.SETTINGS), w.DEFAULT_LAYOUT) == word(w.BY_ROWS)
    for k in range(load(shape + SIZE) if usual else 0):
        one = py.item(shape, k)
        usual = usual and load(one + CLASS) == word(w.INT) and 0 <= py.whole(one) <= py.FEW
    size = py.size_of(shape) if usual and load(dtype + py.DTYPE_NUMBER) < py.OTHERS else -1
    if 0 <= size <= py.FEW:
        kind = kind_of_rank(dtype, load(shape + SIZE))
        if kind != 0:
            py.keep(kind)
            nbytes = size * py.itemsize_of(kind)
            buffer = new_buffer(nbytes)
            if buffer != 0:
                c.memset(address_of(buffer), 0, nbytes)
            return new_array(buffer, py.keep(shape), kind)
    return 0


def kind_of_rank(dtype: int, rank: int) -> int:
    """Return the kind of row-major memory, borrowed; 0 if it is new."""
    ranks = c.PyDict_GetItemWithError(word(w.ALL_PLACES), dtype)
    number = c.PyLong_FromLongLong(rank) if ranks != 0 else 0
    kind = c.PyDict_GetItemWithError(ranks, number) if number != 0 else 0
    c.Py_DecRef(number)
    return kind
