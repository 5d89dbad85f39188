"""Calling traced functions again."""

from __future__ import annotations

from .api import (
    ADAPTED,
    ADDRESS,
    ALL_PLACES,
    BUFFER,
    CLASS,
    DOT,
    DYNAMIC,
    ENGINE,
    FALSE,
    ITEMSIZE,
    JITTED,
    KIND,
    LAST,
    LAST_ITEMS,
    LAST_KIND,
    LAST_KINDS,
    LAST_SHAPE,
    LAST_SHAPES,
    MADE_NAME,
    MATMUL,
    MEMORY,
    MEMORY_START,
    MINUS_ONE,
    NBYTES,
    NDARRAY,
    NONE,
    OWN_ARRAY,
    OWN_BUFFER,
    OWN_DTYPE,
    OWNED,
    OWNER_NAME,
    PIN_NAME,
    POLICY,
    PRODUCT,
    REFERENCE,
    RESHAPE_NAME,
    SCRATCH,
    SETTINGS,
    SHAPE,
    SHARED,
    SIZE,
    SPECIAL,
    START,
    STRIDED_DOT,
    STRIDES,
    TO_ARRAY,
    TRUE,
    TUPLE_ITEMS,
    UINT8,
    VIEW_NAME,
    ZERO,
    Py_DecRef,
    PyDict_GetItemWithError,
    PyErr_Clear,
    PyLong_AsLongLong,
    PyLong_FromLongLong,
    PyObject_GenericSetAttr,
    PyObject_Vectorcall,
    PyObject_VectorcallMethod,
    PyType_IsSubtype,
    PyWeakref_NewRef,
    load,
    memcpy,
    scratch,
    store,
    word,
)
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
    call,
    call_with,
    get,
    give,
    is_container,
    is_same,
    is_traced,
    item,
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
        keep(quick)
        count = filled(place, get(quick, LAST_ITEMS), args)
        made = computed(get(quick, LAST_KIND), get(quick, LAST_SHAPE), place)
        for k in range(count):
            Py_DecRef(load(place + 8 * k))
        Py_DecRef(quick)
    return made if made != 0 else call_with(word(JITTED), function, args, keywords)


def array_of(thing: int) -> int:
    """Return a row-major container's memory as an array of NumPy, made once; borrowed."""
    known = get(thing, OWN_ARRAY)
    return known if known != 0 else array_by(thing, word(NONE))


def array_by(thing: int, steps: int) -> int:
    """Return a container's memory as an array of NumPy of such strides, or None; borrowed."""
    buffer, place = get(thing, OWN_BUFFER), scratch()
    start = PyLong_AsLongLong(get(buffer, MEMORY_START)) + PyLong_AsLongLong(get(thing, START))
    at = PyLong_FromLongLong(start)
    store(place, get(thing, SHAPE))
    store(place + 8, get(thing, OWN_DTYPE))
    store(place + 16, get(buffer, MEMORY))
    store(place + 24, at)
    store(place + 32, steps)
    made = PyObject_Vectorcall(word(NDARRAY), place, 5, 0)
    Py_DecRef(at)
    if made == 0:
        PyErr_Clear()
        return 0
    return give(thing, OWN_ARRAY, made)


def factor_of(thing: int) -> int:
    """Return an operand of a product as an array of NumPy, whatever its strides; borrowed.

    A product of the like was learned, so no element has two indices.
    """
    strides = get(get(thing, KIND), STRIDES)
    if get(thing, OWN_ARRAY) != 0 or strides == word(NONE):
        return array_of(thing)
    size, rank = PyLong_AsLongLong(get(get(thing, KIND), ITEMSIZE)), load(strides + SIZE)
    steps = tuple_of(rank)
    if steps == 0:
        return 0
    for k in range(rank):
        one = PyLong_FromLongLong(size * whole(item(strides, k)))
        store(steps + word(TUPLE_ITEMS) + 8 * k, one)
    made = array_by(thing, steps)
    Py_DecRef(steps)
    return made


def multiplied(left: int, right: int) -> int:
    """Return the product of two small operands like two that were multiplied before; 0 if not so.

    An entry has their shapes, the result's, what `explain` is told of it, and its kind.
    """
    if is_traced() or not is_container(left) or not is_container(right):
        return 0
    entry = leads(left, word(MATMUL), get(right, KIND))
    if entry == 0 or get(word(SETTINGS), ENGINE) == word(REFERENCE):
        return 0
    if not is_same(get(left, SHAPE), item(entry, 0)):
        return 0
    if not is_same(get(right, SHAPE), item(entry, 1)):
        return 0
    shape, told, kind = item(entry, 2), item(entry, 3), item(entry, 4)
    nbytes = size_of(shape) * PyLong_AsLongLong(get(kind, ITEMSIZE))
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
            dense = get(get(left, KIND), STRIDES) == get(get(right, KIND), STRIDES) == word(NONE)
            done = PyObject_Vectorcall(word(DOT) if dense else word(STRIDED_DOT), place, 3, 0)
        if done != 0 and PyObject_GenericSetAttr(buffer, word(MADE_NAME), told) == 0:
            Py_DecRef(get(buffer, SPECIAL))
            give(buffer, SPECIAL, keep(word(TRUE)))
        if done != 0:
            Py_DecRef(done)
        else:
            Py_DecRef(made)
            made = 0
    Py_DecRef(told)
    return made


def product(left: int, right: int) -> int:
    """``left @ right``."""
    made = multiplied(left, right)
    return made if made != 0 else call(word(PRODUCT), left, right, 2)


def to_array(thing: int, args: int, keywords: int) -> int:
    """``thing.__array__()``, where its memory was given to NumPy before."""
    array = get(thing, OWN_ARRAY) if is_container(thing) else 0
    plain = array != 0 and keywords == 0 and load(args + SIZE) == 0
    if plain and get(get(thing, OWN_BUFFER), SHARED) == word(TRUE):
        place = scratch()
        store(place, array)
        return PyObject_VectorcallMethod(word(VIEW_NAME), place, 1, 0)
    return call_with(word(TO_ARRAY), thing, args, keywords)


def flat_bytes(array: int) -> int:
    """Return an array's elements as a vector of bytes; 0 if that fails."""
    place = scratch()
    store(place, array)
    store(place + 8, word(MINUS_ONE))
    flat = PyObject_VectorcallMethod(word(RESHAPE_NAME), place, 2, 0)
    if flat == 0:
        return 0
    store(place, flat)
    store(place + 8, word(UINT8))
    made = PyObject_VectorcallMethod(word(VIEW_NAME), place, 2, 0)
    Py_DecRef(flat)
    return made


def is_array_of_numpy(thing: int) -> bool:
    """Tell whether an object is an array of NumPy."""
    return thing != 0 and PyType_IsSubtype(load(thing + CLASS), word(NDARRAY)) != 0


def pin(buffer: int, array: int) -> bool:
    """Let a buffer own an array.

    NumPy refuses to move memory of an array to which there are weak references.
    """
    root = array
    while is_array_of_numpy(load(root + BASE)):
        root = load(root + BASE)
    ref = PyWeakref_NewRef(root, 0)
    if ref == 0:
        return False
    done = PyObject_GenericSetAttr(buffer, word(OWNER_NAME), array) == 0
    done = done and PyObject_GenericSetAttr(buffer, word(PIN_NAME), ref) == 0
    Py_DecRef(ref)
    return done


def borrowed(array: int, nbytes: int) -> int:
    """Return a buffer of an array's memory; 0 if that fails."""
    buffer = new(word(BUFFER))
    if buffer == 0:
        return 0
    give(buffer, NBYTES, PyLong_FromLongLong(nbytes))
    give(buffer, SPECIAL, keep(word(FALSE)))
    give(buffer, SHARED, keep(word(TRUE)))
    give(buffer, MEMORY_START, keep(word(ZERO)))
    give(buffer, ADDRESS, PyLong_FromLongLong(load(array + DATA)))
    memory = flat_bytes(array)
    if memory != 0:
        give(buffer, MEMORY, memory)
        if pin(buffer, array):
            return buffer
    PyErr_Clear()
    Py_DecRef(buffer)
    return 0


def kind_of(array: int) -> int:
    """Return the kind of an ordinary array's elements, borrowed; 0 of any other object."""
    if load(array + CLASS) != word(NDARRAY) or load(array + FLAGS) & ORDINARY != ORDINARY:
        return 0
    rank = load(array + RANK) & 0xFFFFFFFF
    ranks = PyDict_GetItemWithError(word(ALL_PLACES), load(array + DESCRIPTION))
    if ranks == 0 or rank > DIMENSIONS:
        return 0
    number = PyLong_FromLongLong(rank)
    kind = PyDict_GetItemWithError(ranks, number)
    Py_DecRef(number)
    return kind


def adapted(array: int) -> int:
    """Return a container over an ordinary array's memory; None for any other object."""
    kind = kind_of(array)
    rank = load(array + RANK) & 0xFFFFFFFF
    shape = tuple_from(load(array + EXTENTS), rank) if kind != 0 else 0
    size = size_of(shape) if shape != 0 else 0
    if size > 0:
        keep(kind)
        nbytes = size * PyLong_AsLongLong(get(kind, ITEMSIZE))
        made = new_array(borrowed(array, nbytes), shape, kind)
        if made != 0:
            Py_DecRef(get(made, POLICY))
            give(made, POLICY, keep(word(DYNAMIC)))
            return made
    elif shape != 0:
        Py_DecRef(shape)
    PyErr_Clear()
    return call(word(ADAPTED), array, 0, 1)


def owned(array: int) -> int:
    """Return the elements of an ordinary array in a container of their own; None of others."""
    kind = kind_of(array)
    rank = load(array + RANK) & 0xFFFFFFFF
    shape = tuple_from(load(array + EXTENTS), rank) if kind != 0 else 0
    size = size_of(shape) if shape != 0 else -1
    if 0 <= size <= MANY:
        keep(kind)
        nbytes = size * PyLong_AsLongLong(get(kind, ITEMSIZE))
        buffer = new_buffer(nbytes)
        if buffer != 0:
            memcpy(address_of(buffer), load(array + DATA), nbytes)
        made = new_array(buffer, shape, kind)
        if made != 0:
            return made
    elif shape != 0:
        Py_DecRef(shape)
    PyErr_Clear()
    return call(word(OWNED), array, 0, 1)
