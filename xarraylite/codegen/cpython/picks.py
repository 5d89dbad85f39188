"""Few elements that an index array or a mask selects, copied when the index is written.

As `arrays.few` does it: what integers select is an expression over a copy that knows what it was
copied from, what a mask selects is a container.  Nothing here gives up the interpreter's lock, so
positions that were found to be in range still are when they are used.
"""

from __future__ import annotations

from . import basics as py
from . import indices
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, load_byte, scratch, store, word
from .calls import array_of, kind_of, owned, rows_in, rows_of
from .containers import duplicate
from .evaluation import address_of, begin_of, has_memory, lazy_values, new_array, new_buffer
from .scalars import truth_of, value_of
from .views import given_of, offset_of, steps_of, tuple_from, view_class, view_of

#: Elements up to which copying takes less than planning a gather (`operands.gathers.FEW`).
FEW_PICKED = 1 << 12

#: Bytes of memory that a copy of some of its elements keeps alive (`memory.buffer.KEPT`).
KEPT = 1 << 16

#: Words about an index array or a mask: where its elements lie and how many there are, and the
#: container that holds them, of nobody else's; 0 for a line of NumPy's, which is read in place.
LENGTH, HOLDER = 8, 16


def is_dense(thing: int, most: int) -> bool:
    """Tell whether a container is row-major, its rank not fixed, and its elements so few."""
    kind = py.get(thing, w.KIND)
    if py.get(kind, w.OWNER) != word(w.NONE) or py.get(kind, w.STRIDES) != word(w.NONE):
        return False
    return 0 < py.size_of(py.get(thing, w.SHAPE)) <= most


def leaf_of(kind: int, rank: int, own: int) -> int:
    """Return the kind of row-major memory of a dtype, borrowed; 0 if it is new.

    Of a rank, where the kind is that of memory of a rank of its own.
    """
    if rank == own and py.get(kind, w.OWNER) == word(w.NONE) == py.get(kind, w.STRIDES):
        return kind
    number = c.PyLong_FromLongLong(rank)
    found = c.PyDict_GetItemWithError(py.get(kind, w.PLACES), number)
    c.Py_DecRef(number)
    return found


def private(key: int, dtype: int) -> int:
    """Return what an index array holds in a container that nobody else has; 0 for other indices."""
    made = 0
    if py.is_lazy(key):
        made = lazy_values(key)
    elif py.is_container(key):
        if py.dtype_of(key) == dtype:
            made = duplicate(key) if is_dense(key, FEW_PICKED) else rows_in(key, FEW_PICKED)
    elif kind_of(key) != 0 and load(key + py.DESCRIPTION) == dtype:
        made = owned(key)
    if made == 0:
        c.PyErr_Clear()
        return 0
    if not py.is_container(made) or py.dtype_of(made) != dtype or not is_dense(made, FEW_PICKED):
        c.Py_DecRef(made)
        return 0
    return made


def is_line(thing: int, dtype: int) -> bool:
    """Tell whether something is a NumPy array in one line of memory, of few elements of a dtype.

    It may be read where it is: making an array of positions starts no collector.
    """
    if load(thing + CLASS) != word(w.NDARRAY) or load(thing + py.DESCRIPTION) != dtype:
        return False
    line = load(thing + py.RANK) & 0xFFFFFFFF == 1 and py.is_plain_array(thing)
    return line and length_of(thing) <= FEW_PICKED


def length_of(line: int) -> int:
    """Return the extent of a NumPy array of one dimension."""
    return load(load(line + py.EXTENTS))


def extent_of(shape: int, start: int, stop: int) -> int:
    """Return the product of some extents of a small array."""
    size = 1
    for k in range(start, stop):
        size *= py.whole(py.item(shape, k))
    return size


def trues(flags: int, size: int) -> int:
    """Count the true ones of so many flags."""
    count = 0
    for k in range(size):
        count += 1 if load_byte(flags + k) != 0 else 0
    return count


def moved(to: int, source: int, nbytes: int) -> int:
    """Copy an element."""
    return store(to, load(source)) if nbytes == 8 else c.memcpy(to, source, nbytes)


def compressed(to: int, source: int, flags: int, size: int, nbytes: int) -> int:
    """Copy the elements, of so many bytes each, for which flags are true."""
    for k in range(size):
        if load_byte(flags + k) != 0:
            moved(to, source + k * nbytes, nbytes)
            to += nbytes
    return to


def is_given(one: int, dtype: int, given: int) -> bool:
    """Store where an index array or a mask has its elements; tell whether they are few."""
    line = is_line(one, dtype)
    holder = 0 if line else private(one, dtype)
    if line:
        store(given, load(one + py.DATA))
        store(given + LENGTH, length_of(one))
    elif holder != 0:
        store(given, begin_of(holder))
        store(given + LENGTH, py.size_of(py.get(holder, w.SHAPE)))
    store(given + HOLDER, holder)
    return line or holder != 0


def is_steady(one: int, given: int) -> bool:
    """Tell whether a line of NumPy's lies as it did before memory was allocated."""
    if load(given + HOLDER) != 0:
        return True
    return load(one + py.DATA) == load(given) and length_of(one) == load(given + LENGTH)


def rank_of(given: int) -> int:
    """Return how many dimensions an index array or a mask has."""
    holder = load(given + HOLDER)
    return 1 if holder == 0 else load(py.get(holder, w.SHAPE) + SIZE)


def is_front(thing: int, given: int) -> bool:
    """Tell whether a mask has the extents of a container's first dimensions."""
    shape, holder, front = py.get(thing, w.SHAPE), load(given + HOLDER), rank_of(given)
    if holder == 0:
        return load(shape + SIZE) != 0 and py.whole(py.item(shape, 0)) == load(given + LENGTH)
    fits = 0 < front <= load(shape + SIZE)
    for k in range(front if fits else 0):
        fits = fits and py.whole(py.item(py.get(holder, w.SHAPE), k)) == py.whole(py.item(shape, k))
    return fits


def is_still(thing: int, kind: int, shape: int) -> bool:
    """Tell whether a container is as it was before memory was allocated."""
    return py.get(thing, w.KIND) == kind and py.get(thing, w.SHAPE) == shape


def masked(thing: int, rows: int, mask: int, given: int) -> int:
    """Return what a mask selects of rows, those of a container, in a new one; 0 if not so."""
    shape, kind = py.keep(py.get(thing, w.SHAPE)), py.keep(py.get(thing, w.KIND))
    front, rank, words, made = rank_of(given), load(shape + SIZE), scratch(), 0
    fits = rank <= py.DIMENSIONS and is_front(thing, given)
    leaf = leaf_of(kind, rank - front + 1, rank) if fits else 0
    if leaf != 0:
        flags, size = load(given), load(given + LENGTH)
        store(words, trues(flags, size))
        for k in range(front, rank):
            store(words + 8 * (k - front + 1), py.whole(py.item(shape, k)))
        nbytes = extent_of(shape, front, rank) * py.itemsize_of(kind)
        py.keep(leaf)
        buffer = new_buffer(load(words) * nbytes)
        same = buffer != 0 and is_still(thing, kind, shape) and is_steady(mask, given)
        # Of a line of NumPy's others may have written to what was counted.
        held = load(given + HOLDER) != 0
        if same and (held or trues(flags, size) == load(words)):
            compressed(address_of(buffer), begin_of(rows), flags, size, nbytes)
            made = new_array(buffer, tuple_from(words, rank - front + 1), leaf)
        else:
            c.Py_DecRef(leaf)
            c.Py_DecRef(buffer)
    c.Py_DecRef(kind)
    c.Py_DecRef(shape)
    return made


def are_inside(positions: int, count: int, extent: int) -> bool:
    """Tell whether positions are in range, negative ones counted from the end."""
    for k in range(count):
        at = load(positions + 8 * k)
        if at < -extent or at >= extent:
            return False
    return True


def gathered(to: int, source: int, positions: int, words: int) -> int:
    """Copy elements.

    The words are how often, how many positions, the extent, bytes of each, and how far the next is.
    """
    outer, count, extent, nbytes = load(words), load(words + 8), load(words + 16), load(words + 24)
    step = load(words + 32)
    for k in range(outer):
        for n in range(count):
            at = load(positions + 8 * n)
            at += extent if at < 0 else 0
            moved(to, source + (k * extent + at) * step, nbytes)
            to += nbytes
    return to


def copy_of(nbytes: int, more: int, buffer: int) -> int:
    """Return a snapshot of new memory, and more, for elements of a buffer; 0 if there is none."""
    much = py.integer(py.get(buffer, w.NBYTES)) > KEPT
    much = much and py.get(buffer, w.SHARED) == word(w.FALSE)
    made = c.PyWeakref_NewRef(buffer, 0) if much else py.keep(buffer)
    copy = py.new(word(w.COPY)) if made != 0 else 0
    if copy == 0:
        c.Py_DecRef(made)
        c.PyErr_Clear()
        return 0
    py.give(copy, w.NBYTES, c.PyLong_FromLongLong(nbytes))
    py.give(copy, w.ORIGIN, py.keep(word(w.NONE)))
    py.give(copy, w.COPY_MADE, made)
    copy = has_memory(copy, nbytes + more)
    if copy == 0:
        c.PyErr_Clear()
    return copy


def knows(copy: int, kind: int, shape: int, start: int, where: int) -> int:
    """Let a snapshot know the container that it is of, and its positions, which are given to it."""
    py.give(copy, w.COPY_KIND, py.keep(kind))
    py.give(copy, w.COPY_SHAPE, py.keep(shape))
    py.give(copy, w.COPY_START, py.keep(start))
    return py.give(copy, w.COPY_WHERE, where)


def picked_shape(shape: int, axis: int, given: int) -> int:
    """Return a shape with an index array's extents in the place of one; 0 if they are too many."""
    rank, count, words = load(shape + SIZE), rank_of(given), scratch()
    holder = load(given + HOLDER)
    if rank + count > py.DIMENSIONS:
        return 0
    for k in range(axis):
        store(words + 8 * k, py.whole(py.item(shape, k)))
    store(words + 8 * axis, load(given + LENGTH))
    for k in range(count if holder != 0 else 0):
        store(words + 8 * (axis + k), py.whole(py.item(py.get(holder, w.SHAPE), k)))
    for k in range(axis + 1, rank):
        store(words + 8 * (count + k - 1), py.whole(py.item(shape, k)))
    return tuple_from(words, rank + count - 1)


def taken_at(thing: int, rows: int, index: int, given: int, axis: int) -> int:
    """Return the elements at some positions along a dimension, as an expression of a copy.

    The positions are kept behind the elements, for whoever reads these again.  ``rows`` is the
    container, or a copy that lies by rows.
    """
    shape, kind, words = py.keep(py.get(thing, w.SHAPE)), py.keep(py.get(thing, w.KIND)), scratch()
    buffer, rank, made = py.keep(py.get(thing, w.OWN_BUFFER)), load(shape + SIZE), 0
    count = load(given + LENGTH)
    extent = py.whole(py.item(shape, axis)) if axis < rank else 0
    store(words, extent_of(shape, 0, axis if axis < rank else rank))
    store(words + 8, count)
    store(words + 16, extent)
    store(words + 24, extent_of(shape, axis + 1, rank) * py.itemsize_of(kind))
    steps = py.get(py.get(rows, w.KIND), w.STRIDES)  # of what is no row-major memory, a vector
    store(words + 32, load(words + 24))
    if steps != word(w.NONE):
        store(words + 32, py.whole(py.item(steps, 0)) * py.itemsize_of(kind))
    usual = axis < rank and count > 0 and count * py.size_of(shape) <= FEW_PICKED * extent
    extents = picked_shape(shape, axis, given) if usual else 0
    leaf = leaf_of(kind, load(extents + SIZE), rank) if extents != 0 else 0
    nbytes, copy = load(words) * count * load(words + 24), 0
    if leaf != 0:
        copy = copy_of(nbytes, (-nbytes & 7) + 8 * count, buffer)
    if copy != 0:
        to = address_of(copy)
        places = to + nbytes + (-nbytes & 7)
        same = is_still(thing, kind, shape) and is_steady(index, given)
        same = same and py.get(thing, w.OWN_BUFFER) == buffer
        if same:
            c.memcpy(places, load(given), 8 * count)
        if same and are_inside(places, count, extent):
            gathered(to, begin_of(rows), places, words)
            knows(copy, kind, shape, py.get(thing, w.START), c.PyLong_FromLongLong(axis))
            store(words, copy)
            store(words + 8, word(w.ZERO))
            made = py.expression(leaf, extents, words, 2)
        c.Py_DecRef(copy)
    for part in (buffer, extents, kind, shape):
        c.Py_DecRef(part)
    return made


def picked_along(thing: int, key: int, axis: int) -> int:
    """Return few elements that an array for one dimension selects, all others whole; else 0."""
    if py.is_traced() or view_class(thing) == 0:
        return 0
    made = 0
    one = py.part(key, py.parts(key) - 1)
    if not py.is_array_or_numpys(one) or py.get(py.get(thing, w.KIND), w.OWNER) != word(w.NONE):
        return 0
    mask, given = axis == 0 and indices.is_mask(one), scratch()
    # Stored arrays add what is picked of many as a gather.
    dense = is_dense(thing, FEW_PICKED) or (not mask and is_short_line(thing))
    kind, shape = py.keep(py.get(thing, w.KIND)), py.keep(py.get(thing, w.SHAPE))
    rows = py.keep(thing) if dense else rows_in(thing, FEW_PICKED)
    if rows != 0 and is_given(one, word(w.BOOL_DTYPE) if mask else word(w.INT64), given):
        same = is_still(thing, kind, shape)
        if same and mask:
            made = masked(thing, rows, one, given)
        elif same and rank_of(given) != 0:  # what has no dimension is a number
            made = taken_at(thing, rows, one, given, axis)
        c.Py_DecRef(load(given + HOLDER))
    for part in (rows, kind, shape):
        c.Py_DecRef(part)
    return made


def is_short_line(thing: int) -> bool:
    """Tell whether a container is a vector, wherever it lies, of a free rank and few elements."""
    if py.get(py.get(thing, w.KIND), w.OWNER) != word(w.NONE):
        return False
    shape = py.get(thing, w.SHAPE)
    return load(shape + SIZE) == 1 and 0 < py.size_of(shape) <= FEW_PICKED


def picked_part(thing: int, key: int) -> int:
    """Return few elements that an array selects of what ints and slices do; 0 if not so."""
    place, axis, made = indices.line_of(key), 0, 0
    if place < 0 or indices.is_mask(py.item(key, place)):
        return 0
    for k in range(place):
        axis += 1 if load(py.item(key, k) + CLASS) == word(w.SLICE) else 0
    rest, own = py.tuple_of(load(key + SIZE)), py.tuple_of(axis + 1)
    if rest != 0 and own != 0:
        for k in range(load(key + SIZE)):
            one = word(w.ALL) if k == place else py.item(key, k)
            store(rest + word(w.TUPLE_ITEMS) + 8 * k, py.keep(one))
        for k in range(axis + 1):
            one = word(w.ALL) if k < axis else py.item(key, place)
            store(own + word(w.TUPLE_ITEMS) + 8 * k, py.keep(one))
        part = view_of(thing, rest)
        made = picked_along(part, own, axis) if part != 0 else 0
        c.Py_DecRef(part)
    c.Py_DecRef(rest)
    c.Py_DecRef(own)
    return made


def picked(thing: int, key: int) -> int:
    """Return few elements that an index with one array selects; 0 for all other indices."""
    axis = indices.axis_of(key, py.rank_at(thing))
    return picked_part(thing, key) if axis < 0 else picked_along(thing, key, axis)


def by_numpy(thing: int, key: int) -> int:
    """Return what masks or several index arrays select, in a new container; 0 if not so."""
    if py.is_traced() or view_class(thing) == 0 or not is_dense(thing, FEW_PICKED):
        return 0
    if not indices.is_by_values(key) or not indices.selects_few(key):
        return 0
    array = array_of(thing)
    found = c.PyObject_GetItem(array, key) if array != 0 else 0
    if found == 0:
        c.PyErr_Clear()  # Python says what is wrong
        return 0
    made = rows_of(found)
    c.PyErr_Clear()  # of no memory
    c.Py_DecRef(found)
    return made


def listed(thing: int, key: int) -> int:
    """Return few elements that an index with one list selects, its last item; 0 if not so.

    Or with an array of NumPy whose elements lie apart.
    """
    axis = indices.axis_of(key, py.rank_at(thing))
    one = py.part(key, py.parts(key) - 1)
    if axis < 0 or not (load(one + CLASS) == word(w.LIST) or indices.is_apart(one)):
        return 0
    if not py.is_container(thing) or py.is_traced():
        return 0
    made, given = 0, py.call(word(w.NUMPY_ARRAY), one, 0, 1)
    keys = py.tuple_of(axis + 1) if given != 0 else 0
    if keys != 0:
        for k in range(axis):
            store(keys + word(w.TUPLE_ITEMS) + 8 * k, py.keep(word(w.ALL)))
        store(keys + word(w.TUPLE_ITEMS) + 8 * axis, py.keep(given))
        made = picked(thing, keys)
        c.Py_DecRef(keys)
    c.PyErr_Clear()  # Python says what is wrong
    c.Py_DecRef(given)
    return made


def element_at(thing: int, key: int) -> int:
    """Return where the element at as many integers as dimensions is; 0 where one is too large."""
    words = scratch()
    rank = steps_of(thing, words, words + 8 * py.DIMENSIONS)
    start = offset_of(words, rank, key, False) if rank != 0 else py.FAR
    nbytes = py.itemsize_of(py.get(thing, w.KIND))
    return begin_of(thing) + start * nbytes if start != py.FAR else 0


def value_in(place: int, dtype: int, nbytes: int) -> int:
    """Return a number in memory, of one of NumPy's own dtypes, as a value."""
    if dtype == word(w.BOOL_DTYPE):
        return truth_of(load_byte(place) != 0)
    direct = dtype == word(w.FLOAT64)
    one = py.new(word(w.SCALAR_FLOAT) if direct else load(dtype + py.DTYPE_CLASS))
    if one == 0:  # the collector does not run for these
        return 0
    c.memcpy(one + py.DATA, place, nbytes)
    if direct:
        return one
    made = value_of(one)
    c.Py_DecRef(one)
    return made


def value_at(thing: int, key: int) -> int:
    """Return the element at integers as a value; 0 if they do not select one."""
    if not py.is_container(thing) or py.is_traced():
        return 0
    if given_of(key) != load(py.get(thing, w.SHAPE) + SIZE):
        return 0
    dtype = py.dtype_of(thing)
    place = element_at(thing, key) if load(dtype + py.DTYPE_NUMBER) < py.OTHERS else 0
    if place != 0:
        return value_in(place, dtype, py.itemsize_of(py.get(thing, w.KIND)))
    array = py.get(thing, w.OWN_ARRAY)
    if array == 0 and py.is_row_major(thing):
        array = array_of(thing)
    one = c.PyObject_GetItem(array, key) if array != 0 else 0
    if one == 0:
        c.PyErr_Clear()  # Python says what is wrong
        return 0
    made = value_of(one)
    c.Py_DecRef(one)
    return made
