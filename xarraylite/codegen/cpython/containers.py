"""New containers: of zeros, and of the elements of others."""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, store, word
from .basics import (
    DIMENSIONS,
    DTYPE_NUMBER,
    FEW,
    MANY,
    OTHERS,
    get,
    integer,
    is_container,
    is_row_major,
    is_tensor,
    item,
    itemsize_of,
    keep,
    owner_of,
    size_of,
    tuple_of,
    whole,
)
from .evaluation import address_of, new_array, new_array_of, new_buffer


def new_container(items: int, count: int) -> int:
    """``new_container(cls, kind, shape, size)``."""
    kind, shape = load(items + 8), load(items + 16)
    if count == 4 and load(items) == owner_of(kind, shape):
        nbytes = size_of(shape) * itemsize_of(kind)
        buffer = new_buffer(nbytes) if nbytes >= 0 else 0
        if buffer != 0:
            return new_array(buffer, keep(shape), keep(kind))
    return 0


def duplicate(thing: int) -> int:
    """Return a row-major container's elements in a new one of the usual class; 0 if many."""
    return duplicate_as(owner_of(get(thing, w.KIND), get(thing, w.SHAPE)), thing)


def duplicate_as(cls: int, thing: int) -> int:
    """Return a row-major container's elements in a new one of a class, or 0; 0 if they are many."""
    kind, shape, source = get(thing, w.KIND), get(thing, w.SHAPE), get(thing, w.OWN_BUFFER)
    size = size_of(shape)
    if not 0 <= size <= MANY:
        return 0
    nbytes = size * itemsize_of(kind)
    start = integer(get(thing, w.START))
    for part in (kind, shape, source):
        keep(part)
    buffer = new_buffer(nbytes)
    if buffer != 0:
        c.memcpy(address_of(buffer), address_of(source) + start, nbytes)
    c.Py_DecRef(source)
    return new_array_of(cls if buffer != 0 else 0, buffer, shape, kind)


def duplicated(thing: int) -> int:
    """Return the elements of a row-major container in a new one; 0 if they are many."""
    usual = is_container(thing) and is_row_major(thing)
    if usual and get(get(thing, w.KIND), w.OWNER) == word(w.NONE):
        return duplicate(thing)
    return 0


def copied(thing: int, args: int, keywords: int) -> int:
    """``thing.copy()``."""
    cls = load(thing + CLASS)
    usual = is_container(thing) and (cls == word(w.ARRAY) or is_tensor(cls))
    usual = usual and keywords == 0 and load(args + SIZE) == 0 and get(thing, w.FORCED) == 0
    if usual and get(thing, w.POLICY) == word(w.ROW_MAJOR) and is_row_major(thing):
        return duplicate_as(cls, thing)
    return 0


def zeros(place: int, count: int) -> int:
    """``zeros(extents, dtype)``, of an int or a tuple of ints; 0 for any other shape."""
    extents, dtype = load(place), load(place + 8) if count == 2 else 0
    if dtype == 0 or load(extents + CLASS) != word(w.INT):
        return zeros_of(extents, dtype) if dtype != 0 else 0
    shape = tuple_of(1)
    if shape == 0:
        return 0
    store(shape + word(w.TUPLE_ITEMS), keep(extents))
    made = zeros_of(shape, dtype)
    c.Py_DecRef(shape)
    return made


def zeros_of(shape: int, dtype: int) -> int:
    """Return a container of zeros of a tuple of ints; 0 for any other shape."""
    usual = load(shape + CLASS) == word(w.TUPLE) and load(shape + SIZE) <= DIMENSIONS
    usual = usual and get(word(w.SETTINGS), w.DEFAULT_LAYOUT) == word(w.BY_ROWS)
    for k in range(load(shape + SIZE) if usual else 0):
        one = item(shape, k)
        usual = usual and load(one + CLASS) == word(w.INT) and 0 <= whole(one) <= FEW
    size = size_of(shape) if usual and load(dtype + DTYPE_NUMBER) < OTHERS else -1
    if 0 <= size <= FEW:
        kind = kind_of_rank(dtype, load(shape + SIZE))
        if kind != 0:
            keep(kind)
            nbytes = size * itemsize_of(kind)
            buffer = new_buffer(nbytes)
            if buffer != 0:
                c.memset(address_of(buffer), 0, nbytes)
            return new_array(buffer, keep(shape), kind)
    return 0


def kind_of_rank(dtype: int, rank: int) -> int:
    """Return the kind of row-major memory, borrowed; 0 if it is new."""
    ranks = c.PyDict_GetItemWithError(word(w.ALL_PLACES), dtype)
    number = c.PyLong_FromLongLong(rank) if ranks != 0 else 0
    kind = c.PyDict_GetItemWithError(ranks, number) if number != 0 else 0
    c.Py_DecRef(number)
    return kind
