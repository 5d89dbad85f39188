"""Calling traced functions again."""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, SCRATCH, SIZE, load, scratch, store, word
from .basics import (
    BASE,
    DATA,
    DESCRIPTION,
    DIMENSIONS,
    EXTENTS,
    FLAGS,
    MANY,
    ORDINARY,
    RANK,
    change,
    get,
    give,
    is_container,
    is_row_major,
    is_same,
    is_traced,
    item,
    itemsize_of,
    keep,
    new,
    size_of,
    tuple_of,
    whole,
)
from .evaluation import address_of, computed, new_array, new_buffer
from .operators import leads
from .views import tuple_from


def is_like(quick: int, args: int) -> bool:
    """Tell whether arguments are containers of the kinds and shapes that a trace was made for."""
    kinds, shapes = get(quick, w.LAST_KINDS), get(quick, w.LAST_SHAPES)
    count = load(args + SIZE)
    if count != load(kinds + SIZE):
        return False
    for k in range(count):
        arg = item(args, k)
        if not is_container(arg) or get(arg, w.KIND) != item(kinds, k):
            return False
        if not is_same(get(arg, w.SHAPE), item(shapes, k)):
            return False
    return True


def filled(place: int, items: int, args: int) -> int:
    """Store the operands of a traced expression for other arguments; return how many there are."""
    count = 0
    for k in range(0, load(items + SIZE), 2):
        number, what = item(items, k), item(items, k + 1)
        if number == word(w.NONE):
            store(place + 8 * count, keep(what))
            count += 1
            continue
        arg = item(args, c.PyLong_AsLongLong(number))
        start = keep(get(arg, w.START))
        if what != word(w.ZERO):
            c.Py_DecRef(start)
            start = c.PyLong_FromLongLong(c.PyLong_AsLongLong(start) + c.PyLong_AsLongLong(what))
        store(place + 8 * count, keep(get(arg, w.OWN_BUFFER)))
        store(place + 8 * count + 8, start)
        count += 2
    return count


def jitted(function: int, args: int, keywords: int) -> int:
    """Call a traced function again."""
    quick, made = get(function, w.LAST), 0
    usual = keywords == 0 and quick != 0 and quick != word(w.NONE) and not is_traced()
    if usual and is_like(quick, args) and load(get(quick, w.LAST_ITEMS) + SIZE) <= SCRATCH:
        place = scratch()
        keep(quick)
        count = filled(place, get(quick, w.LAST_ITEMS), args)
        made = computed(get(quick, w.LAST_KIND), get(quick, w.LAST_SHAPE), place)
        for k in range(count):
            c.Py_DecRef(load(place + 8 * k))
        c.Py_DecRef(quick)
    return made


def array_of(thing: int) -> int:
    """Return a row-major container's memory as an array of NumPy, made once; borrowed."""
    known = get(thing, w.OWN_ARRAY)
    return known if known != 0 else array_by(thing, word(w.NONE))


def array_by(thing: int, steps: int) -> int:
    """Return a container's memory as an array of NumPy of such strides, or None; borrowed."""
    buffer, place = get(thing, w.OWN_BUFFER), scratch()
    start = c.PyLong_AsLongLong(get(buffer, w.MEMORY_START)) + c.PyLong_AsLongLong(
        get(thing, w.START)
    )
    at = c.PyLong_FromLongLong(start)
    store(place, get(thing, w.SHAPE))
    store(place + 8, get(thing, w.OWN_DTYPE))
    store(place + 16, get(buffer, w.MEMORY))
    store(place + 24, at)
    store(place + 32, steps)
    made = c.PyObject_Vectorcall(word(w.NDARRAY), place, 5, 0)
    c.Py_DecRef(at)
    if made == 0:
        c.PyErr_Clear()
        return 0
    return give(thing, w.OWN_ARRAY, made)


def factor_of(thing: int) -> int:
    """Return an operand of a product as an array of NumPy, whatever its strides; borrowed.

    A product of the like was learned, so no element has two indices.
    """
    strides = get(get(thing, w.KIND), w.STRIDES)
    if get(thing, w.OWN_ARRAY) != 0 or strides == word(w.NONE):
        return array_of(thing)
    size, rank = itemsize_of(get(thing, w.KIND)), load(strides + SIZE)
    steps = tuple_of(rank)
    if steps == 0:
        return 0
    for k in range(rank):
        one = c.PyLong_FromLongLong(size * whole(item(strides, k)))
        store(steps + word(w.TUPLE_ITEMS) + 8 * k, one)
    made = array_by(thing, steps)
    c.Py_DecRef(steps)
    return made


def learned_product(left: int, right: int) -> int:
    """Return what is remembered of the product of two operands of such shapes; 0 if nothing.

    An entry has their shapes, the result's, what `explain` is told of it, its kind, and the next.
    """
    entry = leads(left, word(w.MATMUL), get(right, w.KIND))
    while entry != 0 and entry != word(w.NONE):
        same = is_same(get(left, w.SHAPE), item(entry, 0))
        if same and is_same(get(right, w.SHAPE), item(entry, 1)):
            return entry
        entry = item(entry, 5)
    return 0


def product(left: int, right: int) -> int:
    """``left @ right``, of operands like two that were multiplied before."""
    if is_traced() or not is_container(left) or not is_container(right):
        return 0
    entry = learned_product(left, right)
    if entry == 0 or get(word(w.SETTINGS), w.ENGINE) == word(w.REFERENCE):
        return 0
    shape, told, kind = item(entry, 2), item(entry, 3), item(entry, 4)
    nbytes = size_of(shape) * itemsize_of(kind)
    for part in (kind, shape, told):
        keep(part)
    buffer = new_buffer(nbytes)
    made, done = new_array(buffer, shape, kind), 0
    if made != 0:
        place = scratch()
        store(place, factor_of(left))
        store(place + 8, factor_of(right))
        store(place + 16, array_of(made))
        if load(place) != 0 and load(place + 8) != 0 and load(place + 16) != 0:
            dense = is_row_major(left) and is_row_major(right)
            done = c.PyObject_Vectorcall(word(w.DOT) if dense else word(w.STRIDED_DOT), place, 3, 0)
        if done != 0 and c.PyObject_GenericSetAttr(buffer, word(w.MADE_NAME), told) == 0:
            change(buffer, w.SPECIAL, keep(word(w.TRUE)))
        if done != 0:
            c.Py_DecRef(done)
        else:
            c.Py_DecRef(made)
            made = 0
    c.Py_DecRef(told)
    return made


def to_array(thing: int, args: int, keywords: int) -> int:
    """``thing.__array__()``, where its memory was given to NumPy before."""
    array = get(thing, w.OWN_ARRAY) if is_container(thing) else 0
    plain = array != 0 and keywords == 0 and load(args + SIZE) == 0
    if plain and get(get(thing, w.OWN_BUFFER), w.SHARED) == word(w.TRUE):
        place = scratch()
        store(place, array)
        return c.PyObject_VectorcallMethod(word(w.VIEW_NAME), place, 1, 0)
    return 0


def flat_bytes(array: int) -> int:
    """Return an array's elements as a vector of bytes; 0 if that fails."""
    place, flat = scratch(), keep(array)
    store(place, array)
    store(place + 8, word(w.MINUS_ONE))
    if load(array + RANK) & 0xFFFFFFFF != 1:
        c.Py_DecRef(flat)
        flat = c.PyObject_VectorcallMethod(word(w.RESHAPE_NAME), place, 2, 0)
    if flat == 0:
        return 0
    store(place, flat)
    store(place + 8, word(w.UINT8))
    made = c.PyObject_VectorcallMethod(word(w.VIEW_NAME), place, 2, 0)
    c.Py_DecRef(flat)
    return made


def is_array_of_numpy(thing: int) -> bool:
    """Tell whether an object is an array of NumPy."""
    return thing != 0 and c.PyType_IsSubtype(load(thing + CLASS), word(w.NDARRAY)) != 0


def pin(buffer: int, array: int) -> bool:
    """Let a buffer own an array.

    NumPy refuses to move memory of an array to which there are weak references.
    """
    root = array
    while is_array_of_numpy(load(root + BASE)):
        root = load(root + BASE)
    ref = c.PyWeakref_NewRef(root, 0)
    if ref == 0:
        return False
    done = c.PyObject_GenericSetAttr(buffer, word(w.OWNER_NAME), array) == 0
    done = done and c.PyObject_GenericSetAttr(buffer, word(w.PIN_NAME), ref) == 0
    c.Py_DecRef(ref)
    return done


def borrowed(array: int, nbytes: int) -> int:
    """Return a buffer of an array's memory; 0 if that fails."""
    buffer = new(word(w.BUFFER))
    if buffer == 0:
        return 0
    give(buffer, w.NBYTES, c.PyLong_FromLongLong(nbytes))
    give(buffer, w.SPECIAL, keep(word(w.FALSE)))
    give(buffer, w.SHARED, keep(word(w.TRUE)))
    give(buffer, w.MEMORY_START, keep(word(w.ZERO)))
    give(buffer, w.ADDRESS, c.PyLong_FromLongLong(load(array + DATA)))
    memory = flat_bytes(array)
    if memory != 0:
        give(buffer, w.MEMORY, memory)
        if pin(buffer, array):
            return buffer
    c.PyErr_Clear()
    c.Py_DecRef(buffer)
    return 0


def kind_of(array: int) -> int:
    """Return the kind of an ordinary array's elements, borrowed; 0 of any other object."""
    if load(array + CLASS) != word(w.NDARRAY) or load(array + FLAGS) & ORDINARY != ORDINARY:
        return 0
    rank = load(array + RANK) & 0xFFFFFFFF
    ranks = c.PyDict_GetItemWithError(word(w.ALL_PLACES), load(array + DESCRIPTION))
    if ranks == 0 or rank > DIMENSIONS:
        return 0
    number = c.PyLong_FromLongLong(rank)
    kind = c.PyDict_GetItemWithError(ranks, number)
    c.Py_DecRef(number)
    return kind


def adapted(array: int) -> int:
    """Return a container over an ordinary array's memory; 0 for any other object."""
    kind = kind_of(array)
    rank = load(array + RANK) & 0xFFFFFFFF
    shape = tuple_from(load(array + EXTENTS), rank) if kind != 0 else 0
    size = size_of(shape) if shape != 0 else 0
    if size > 0:
        keep(kind)
        nbytes = size * itemsize_of(kind)
        made = new_array(borrowed(array, nbytes), shape, kind)
        if made != 0:
            change(made, w.POLICY, keep(word(w.DYNAMIC)))
            return made
    else:
        c.Py_DecRef(shape)
    c.PyErr_Clear()
    return 0


def owned(array: int) -> int:
    """Return the elements of an ordinary array in a container of their own; 0 of others."""
    kind = kind_of(array)
    rank = load(array + RANK) & 0xFFFFFFFF
    shape = tuple_from(load(array + EXTENTS), rank) if kind != 0 else 0
    size = size_of(shape) if shape != 0 else -1
    if 0 <= size <= MANY:
        keep(kind)
        nbytes = size * itemsize_of(kind)
        buffer = new_buffer(nbytes)
        if buffer != 0:
            c.memcpy(address_of(buffer), load(array + DATA), nbytes)
        made = new_array(buffer, shape, kind)
        if made != 0:
            return made
    else:
        c.Py_DecRef(shape)
    c.PyErr_Clear()
    return 0
