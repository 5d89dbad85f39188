"""Few elements that an index array or a mask selects, copied when the index is written.

As `arrays.few` does it: what integers select is an expression over a copy that knows what it was
copied from, what a mask selects is a container.  Nothing here gives up the interpreter's lock, so
positions that were found to be in range still are when they are used.
"""

from __future__ import annotations

from .api import (
    ADDRESS,
    ALL,
    BOOL_DTYPE,
    CLASS,
    COPY,
    COPY_MADE,
    COPY_ORIGIN,
    DTYPE,
    FEW_SELECTED,
    GETITEM,
    INT64,
    ITEMSIZE,
    KIND,
    NBYTES,
    NDARRAY,
    NONE,
    OPERANDS,
    OWN_BUFFER,
    OWN_DTYPE,
    OWNER,
    PLACES,
    SELECTED,
    SELECTED_BASE,
    SELECTED_KEY,
    SHAPE,
    SIZE,
    SLICE,
    START,
    STRIDES,
    TUPLE,
    TUPLE_ITEMS,
    ZERO,
    Py_DecRef,
    PyDict_GetItemWithError,
    PyErr_Clear,
    PyLong_AsLongLong,
    PyLong_FromLongLong,
    load,
    load_byte,
    memcpy,
    scratch,
    store,
    word,
)
from .basics import (
    DESCRIPTION,
    DIMENSIONS,
    SMALL,
    call,
    get,
    give,
    is_container,
    is_lazy,
    is_traced,
    item,
    keep,
    new,
    size_of,
    tuple_of,
    whole,
)
from .calls import kind_of, owned
from .evaluation import (
    address_of,
    begin_of,
    computed,
    duplicate,
    from_slab,
    new_array,
    new_buffer,
    taken,
)
from .operators import expression
from .views import is_index, tuple_from, value_at, view_class, view_of

#: Elements up to which copying takes less than planning a gather (`operands.gathers.FEW`).
FEW_PICKED = 1 << 12


def is_dense(thing: int) -> bool:
    """Tell whether a container is row-major, its rank not fixed, and its elements are few."""
    kind = get(thing, KIND)
    if get(kind, OWNER) != word(NONE) or get(kind, STRIDES) != word(NONE):
        return False
    return 0 < size_of(get(thing, SHAPE)) <= FEW_PICKED


def leaf_of(kind: int, rank: int) -> int:
    """Return the kind of row-major memory of a dtype, borrowed; 0 if it is new."""
    number = PyLong_FromLongLong(rank)
    found = PyDict_GetItemWithError(get(kind, PLACES), number)
    Py_DecRef(number)
    return found


def private(key: int, dtype: int) -> int:
    """Return what an index array holds in a container that nobody else has; 0 for other indices."""
    made = 0
    if is_lazy(key):
        operands = keep(get(key, OPERANDS))
        made = computed(get(key, KIND), get(key, SHAPE), operands + word(TUPLE_ITEMS))
        Py_DecRef(operands)
    elif is_container(key):
        made = duplicate(key) if get(get(key, KIND), DTYPE) == dtype and is_dense(key) else 0
    elif kind_of(key) != 0 and load(key + DESCRIPTION) == dtype:
        made = owned(key)
    if made == 0:
        PyErr_Clear()
        return 0
    if not is_container(made) or get(get(made, KIND), DTYPE) != dtype or not is_dense(made):
        Py_DecRef(made)
        return 0
    return made


def is_all(one: int) -> bool:
    """Tell whether an item of an index is a slice of everything."""
    if load(one + CLASS) != word(SLICE):
        return False
    bounds = load(one + 16) == word(NONE) and load(one + 24) == word(NONE)
    return bounds and load(one + 32) == word(NONE)


def axis_of(key: int) -> int:
    """Return the dimension that the one array of an index is for, all else whole; -1 if not so."""
    if load(key + CLASS) != word(TUPLE):
        return 0
    last = load(key + SIZE) - 1
    for k in range(last):
        if not is_all(item(key, k)):
            return -1
    return last


def extent_of(shape: int, start: int, stop: int) -> int:
    """Return the product of some extents of a small array."""
    size = 1
    for k in range(start, stop):
        size *= whole(item(shape, k))
    return size


def trues(flags: int, size: int) -> int:
    """Count the true ones of so many flags."""
    count = 0
    for k in range(size):
        count += 1 if load_byte(flags + k) != 0 else 0
    return count


def compressed(to: int, source: int, mask: int, nbytes: int) -> int:
    """Copy the elements, of so many bytes each, for which a mask is true."""
    flags = begin_of(mask)
    for k in range(size_of(get(mask, SHAPE))):
        if load_byte(flags + k) != 0:
            memcpy(to, source + k * nbytes, nbytes)
            to += nbytes
    return to


def masked(thing: int, mask: int) -> int:
    """Return what a mask of the first dimensions selects, in a new container; 0 if not so."""
    shape, own = keep(get(thing, SHAPE)), get(mask, SHAPE)
    rank, front, words, made = load(shape + SIZE), load(own + SIZE), scratch(), 0
    fits = 0 < front <= rank <= DIMENSIONS
    for k in range(front if fits else 0):
        fits = fits and whole(item(shape, k)) == whole(item(own, k))
    kind = keep(get(thing, KIND))
    leaf = leaf_of(kind, rank - front + 1) if fits else 0
    if leaf != 0:
        store(words, trues(begin_of(mask), size_of(get(mask, SHAPE))))
        for k in range(front, rank):
            store(words + 8 * (k - front + 1), whole(item(shape, k)))
        nbytes = extent_of(shape, front, rank) * PyLong_AsLongLong(get(kind, ITEMSIZE))
        keep(leaf)
        buffer = new_buffer(load(words) * nbytes)
        if buffer != 0 and is_still(thing, kind, shape):
            compressed(address_of(buffer), begin_of(thing), mask, nbytes)
            made = new_array(buffer, tuple_from(words, rank - front + 1), leaf)
        else:
            Py_DecRef(leaf)
            if buffer != 0:
                Py_DecRef(buffer)
    Py_DecRef(kind)
    Py_DecRef(shape)
    return made


def is_still(thing: int, kind: int, shape: int) -> bool:
    """Tell whether a container is as it was before memory was allocated."""
    return get(thing, KIND) == kind and get(thing, SHAPE) == shape


def are_inside(positions: int, count: int, extent: int) -> bool:
    """Tell whether positions are in range, negative ones counted from the end."""
    for k in range(count):
        at = load(positions + 8 * k)
        if at < -extent or at >= extent:
            return False
    return True


def gathered(to: int, source: int, positions: int, words: int) -> int:
    """Copy elements; the words are how often, how many positions, the extent, and bytes of each."""
    outer, count, extent, nbytes = load(words), load(words + 8), load(words + 16), load(words + 24)
    for k in range(outer):
        for n in range(count):
            at = load(positions + 8 * n)
            at += extent if at < 0 else 0
            memcpy(to, source + (k * extent + at) * nbytes, nbytes)
            to += nbytes
    return to


def origin_of(thing: int, axis: int, positions: int) -> int:
    """Return what elements were copied from: a view of all, and an index; 0 without memory."""
    view, key, made = new(view_class(thing)), tuple_of(axis + 1), new(word(SELECTED))
    if view == 0 or key == 0 or made == 0:
        return 0
    give(view, KIND, keep(get(thing, KIND)))
    give(view, SHAPE, keep(get(thing, SHAPE)))
    give(view, OWN_BUFFER, keep(get(thing, OWN_BUFFER)))
    give(view, OWN_DTYPE, keep(get(thing, OWN_DTYPE)))
    give(view, START, keep(get(thing, START)))
    for k in range(axis):
        store(key + word(TUPLE_ITEMS) + 8 * k, keep(word(ALL)))
    store(key + word(TUPLE_ITEMS) + 8 * axis, positions)
    give(made, SELECTED_BASE, view)
    give(made, SELECTED_KEY, key)
    return made


def copy_of(nbytes: int, made: int) -> int:
    """Return a snapshot of new memory and of what is copied there, which is given to it."""
    copy = new(word(COPY)) if made != 0 else 0
    if copy == 0:
        if made != 0:
            Py_DecRef(made)
        return 0
    give(copy, NBYTES, PyLong_FromLongLong(nbytes))
    give(copy, COPY_ORIGIN, keep(word(NONE)))
    give(copy, COPY_MADE, made)
    if nbytes <= SMALL and from_slab(copy, nbytes):
        return copy
    if taken(copy, nbytes):
        return copy
    PyErr_Clear()
    Py_DecRef(copy)
    return 0


def picked_shape(shape: int, axis: int, own: int) -> int:
    """Return a shape with other extents in the place of one; 0 where there would be too many."""
    rank, count, words = load(shape + SIZE), load(own + SIZE), scratch()
    if rank + count > DIMENSIONS:
        return 0
    for k in range(axis):
        store(words + 8 * k, whole(item(shape, k)))
    for k in range(count):
        store(words + 8 * (axis + k), whole(item(own, k)))
    for k in range(axis + 1, rank):
        store(words + 8 * (count + k - 1), whole(item(shape, k)))
    return tuple_from(words, rank + count - 1)


def taken_at(thing: int, index: int, axis: int) -> int:
    """Return the elements at some positions along a dimension, as an expression of a copy."""
    shape, kind, words = keep(get(thing, SHAPE)), keep(get(thing, KIND)), scratch()
    rank, count, made = load(shape + SIZE), size_of(get(index, SHAPE)), 0
    extent = whole(item(shape, axis)) if axis < rank else 0
    store(words, extent_of(shape, 0, axis))
    store(words + 8, count)
    store(words + 16, extent)
    store(words + 24, extent_of(shape, axis + 1, rank) * PyLong_AsLongLong(get(kind, ITEMSIZE)))
    usual = axis < rank and count * size_of(shape) <= FEW_PICKED * extent
    usual = usual and are_inside(begin_of(index), count, extent)
    extents = picked_shape(shape, axis, get(index, SHAPE)) if usual else 0
    leaf = leaf_of(kind, load(extents + SIZE)) if extents != 0 else 0
    copy = 0
    if leaf != 0:
        nbytes = load(words) * count * load(words + 24)
        copy = copy_of(nbytes, origin_of(thing, axis, keep(index)))
    if copy != 0:
        if is_still(thing, kind, shape):
            to = PyLong_AsLongLong(get(copy, ADDRESS))
            gathered(to, begin_of(thing), begin_of(index), words)
            store(words + 32, copy)
            store(words + 40, word(ZERO))
            made = expression(leaf, extents, words + 32, 2)
        Py_DecRef(copy)
    if extents != 0:
        Py_DecRef(extents)
    Py_DecRef(kind)
    Py_DecRef(shape)
    return made


def picked(thing: int, key: int) -> int:
    """Return few elements that an index with one array selects; 0 for all other indices."""
    if is_traced() or not is_container(thing) or view_class(thing) == 0 or not is_dense(thing):
        return 0
    axis, made = axis_of(key), 0
    if axis < 0:
        return 0
    one = item(key, axis) if load(key + CLASS) == word(TUPLE) else key
    if not is_lazy(one) and not is_container(one) and load(one + CLASS) != word(NDARRAY):
        return 0
    dtype = word(BOOL_DTYPE) if axis == 0 and is_mask(one) else word(INT64)
    index = private(one, dtype)
    if index != 0:
        made = taken_at(thing, index, axis) if dtype == word(INT64) else masked(thing, index)
        Py_DecRef(index)
    return made


def is_mask(one: int) -> bool:
    """Tell whether the elements of an index are truth values."""
    if load(one + CLASS) == word(NDARRAY):
        return load(one + DESCRIPTION) == word(BOOL_DTYPE)
    return get(get(one, KIND), DTYPE) == word(BOOL_DTYPE)


def selected_few(of: int, key: int) -> int:
    """``selected(of, key)``; None for all but few elements."""
    made = picked(of, key)
    return made if made != 0 else call(word(FEW_SELECTED), of, key, 2)


def get_item(thing: int, key: int) -> int:
    """``thing[key]``."""
    made = value_at(thing, key) if is_index(key, False) else 0
    if made == 0:
        made = view_of(thing, key)
    if made == 0:
        made = picked(thing, key)
    return made if made != 0 else call(word(GETITEM), thing, key, 2)
