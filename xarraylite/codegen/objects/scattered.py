"""Few elements at positions in a row-major container: making such views, reading and writing them.

As `views.scattered` and `views.selection` do it, where each element has a position of its own
(`XIndexView`), and `arrays.few` for what is written through an index array or a mask.
"""

from __future__ import annotations

from .api import (
    ADDRESS,
    BOOL_DTYPE,
    BUFFER,
    CLASS,
    DTYPE,
    ELLIPSIS,
    EMPTY,
    FILTERED,
    FLOAT,
    FLOAT64,
    INDEX_VIEW,
    INDEXED,
    INT64,
    ITEMSIZE,
    KIND,
    NDARRAY,
    NODE,
    NONE,
    NUMPY_EMPTY,
    OPERANDS,
    OWN_BUFFER,
    PICK_BASE,
    PICK_EVALUATED,
    PICK_OFFSETS,
    PICK_SETTLED,
    PICK_WHERE,
    PICK_WROTE,
    PROMISED_SETITEM,
    SETITEM,
    SHAPE,
    SIZE,
    STRIDES,
    TRUE,
    TUPLE_ITEMS,
    ZERO,
    Py_DecRef,
    PyErr_Clear,
    PyErr_Occurred,
    PyLong_AsLongLong,
    PyLong_FromLongLong,
    load,
    load_byte,
    memcpy,
    scratch,
    store,
    word,
)
from .assignment import (
    assigned,
    destination_of,
    is_part,
    is_promise,
    stored,
    unchecked,
    waiting_for,
)
from .basics import (
    DATA,
    DESCRIPTION,
    EXTENTS,
    FLAGS,
    RANK,
    call,
    call_three,
    get,
    give,
    is_container,
    is_lazy,
    is_same,
    is_traced,
    item,
    keep,
    new,
    size_of,
    whole,
)
from .evaluation import address_of, begin_of, computed, duplicate, new_array, new_buffer
from .operators import expression
from .picks import (
    FEW_PICKED,
    are_inside,
    copy_of,
    extent_of,
    is_mask,
    is_still,
    leaf_of,
    private,
    trues,
)
from .views import tuple_from, view_class, view_of

#: Flags of an array that is aligned and row-major.
PLAIN = 0x101


def offsets_of(view: int) -> int:
    """Return where a view has its elements' positions in row-major memory; 0 if not so."""
    base, offsets = get(view, PICK_BASE), get(view, PICK_OFFSETS)
    if offsets == 0 or is_traced() or not is_container(base):
        return 0
    if get(get(base, KIND), STRIDES) != word(NONE) or load(offsets + FLAGS) & PLAIN != PLAIN:
        return 0
    few = 0 <= size_of(get(view, SHAPE)) <= FEW_PICKED
    return load(offsets + DATA) if few and load(offsets + DESCRIPTION) == word(INT64) else 0


def picked_up(view: int, to: int, offsets: int) -> int:
    """Copy a view's elements to an address."""
    base = get(view, PICK_BASE)
    source, nbytes = begin_of(base), PyLong_AsLongLong(get(get(base, KIND), ITEMSIZE))
    for k in range(size_of(get(view, SHAPE))):
        memcpy(to, source + load(offsets + 8 * k) * nbytes, nbytes)
        to += nbytes
    return to


def values_of(view: int) -> int:
    """Return a view's elements in a new container; 0 if they are not few, in row-major memory."""
    offsets = offsets_of(view)
    if offsets == 0:
        return 0
    base, shape = keep(get(view, PICK_BASE)), keep(get(view, SHAPE))
    kind, own = keep(get(base, KIND)), keep(get(base, SHAPE))
    leaf, made = leaf_of(kind, load(shape + SIZE)), 0
    if leaf != 0:
        keep(leaf)
        buffer = new_buffer(size_of(shape) * PyLong_AsLongLong(get(kind, ITEMSIZE)))
        if buffer != 0 and is_still(base, kind, own):
            picked_up(view, address_of(buffer), offsets)
            made = new_array(buffer, keep(shape), leaf)
        else:
            Py_DecRef(leaf)
            if buffer != 0:
                Py_DecRef(buffer)
    for part in (kind, own, shape, base):
        Py_DecRef(part)
    return made


def pick_evaluated(view: int) -> int:
    """Return the elements in a new container; None if they are not few."""
    made = values_of(view)
    if made != 0:
        return made
    return 0 if PyErr_Occurred() != 0 else call(word(PICK_EVALUATED), view, 0, 1)


def pick_settled(view: int) -> int:
    """Return the elements as they are now, as an expression of a copy that knows its view."""
    offsets, made = offsets_of(view), 0
    if offsets != 0:
        base, shape = keep(get(view, PICK_BASE)), keep(get(view, SHAPE))
        kind, own, words = keep(get(base, KIND)), keep(get(base, SHAPE)), scratch()
        leaf = leaf_of(kind, load(shape + SIZE))
        nbytes = size_of(shape) * PyLong_AsLongLong(get(kind, ITEMSIZE))
        copy = copy_of(nbytes, keep(view)) if leaf != 0 else 0
        if copy != 0:
            if is_still(base, kind, own):
                picked_up(view, PyLong_AsLongLong(get(copy, ADDRESS)), offsets)
                store(words, copy)
                store(words + 8, word(ZERO))
                made = expression(leaf, shape, words, 2)
            Py_DecRef(copy)
        for part in (kind, own, shape, base):
            Py_DecRef(part)
    if made != 0:
        return made
    return 0 if PyErr_Occurred() != 0 else call(word(PICK_SETTLED), view, 0, 1)


def number_put(view: int, value: int, offsets: int) -> bool:
    """Write a float to float64 elements; tell whether it is done."""
    base = get(view, PICK_BASE)
    if get(get(base, KIND), DTYPE) != word(FLOAT64) or waiting_for(get(base, OWN_BUFFER)) != 0:
        return False
    to, bits = begin_of(base), load(value + DATA)
    for k in range(size_of(get(view, SHAPE))):
        store(to + 8 * load(offsets + 8 * k), bits)
    return True


def dropped_in(view: int, values: int, offsets: int) -> bool:
    """Write the elements of a container of the same shape; tell whether it is done."""
    base = get(view, PICK_BASE)
    usual = is_container(values) and get(get(values, KIND), STRIDES) == word(NONE)
    if not usual or get(get(values, KIND), DTYPE) != get(get(base, KIND), DTYPE):
        return False
    if waiting_for(get(base, OWN_BUFFER)) != 0:
        return False
    to, source = begin_of(base), begin_of(values)
    nbytes = PyLong_AsLongLong(get(get(base, KIND), ITEMSIZE))
    for k in range(size_of(get(view, SHAPE))):
        memcpy(to + load(offsets + 8 * k) * nbytes, source + k * nbytes, nbytes)
    return True


def wrote(view: int, value: int) -> bool:
    """Write a float, or values of the view's dtype and shape; tell whether it is done."""
    cls, offsets = load(value + CLASS), offsets_of(view)
    if offsets == 0:
        return False
    if cls == word(FLOAT):
        return number_put(view, value, offsets)
    lazy = is_lazy(value)
    if not (lazy or cls == word(INDEX_VIEW)) or not is_same(get(value, SHAPE), get(view, SHAPE)):
        return False
    made, done = 0, False
    if lazy:
        operands = keep(get(value, OPERANDS))
        made = computed(get(value, KIND), get(value, SHAPE), operands + word(TUPLE_ITEMS))
        Py_DecRef(operands)
    else:
        made = values_of(value)
    offsets = offsets_of(view)
    if made != 0:
        done = offsets != 0 and dropped_in(view, made, offsets)
        Py_DecRef(made)
    return done


def pick_wrote(view: int, value: int) -> int:
    """Write a number, or few elements of this dtype and shape; tell whether it is done."""
    if wrote(view, value):
        return keep(word(TRUE))
    return 0 if PyErr_Occurred() != 0 else call(word(PICK_WROTE), view, value, 2)


def view_at(base: int, positions: int, count: int) -> int:
    """Return the view of positions, which are given to it, of a row-major container's elements."""
    own = load(base + CLASS)
    place, words = keep(base) if own == view_class(base) else view_of(base, word(EMPTY)), scratch()
    store(words, count)
    shape = tuple_from(words, 1) if place != 0 else 0
    made = new(word(INDEX_VIEW)) if shape != 0 else 0
    if made == 0:
        for part in (place, shape, positions):
            if part != 0:
                Py_DecRef(part)
        return 0
    give(made, PICK_BASE, place)
    give(made, SHAPE, shape)
    give(made, KIND, keep(word(NODE)))
    give(made, OPERANDS, keep(word(EMPTY)))
    give(made, PICK_OFFSETS, keep(positions))
    give(made, PICK_WHERE, positions)
    return made


def new_positions(count: int) -> int:
    """Return an array of so many int64; 0 if there is no memory."""
    size = PyLong_FromLongLong(count)
    made = call(word(NUMPY_EMPTY), size, word(INT64), 2)
    Py_DecRef(size)
    if made == 0:
        PyErr_Clear()
    return made


def is_usual(base: int) -> bool:
    """Tell whether a container is row-major and of some dimensions, and has few elements."""
    if is_traced() or not is_container(base) or get(get(base, KIND), STRIDES) != word(NONE):
        return False
    return load(get(base, SHAPE) + SIZE) > 0 and 0 < size_of(get(base, SHAPE)) <= FEW_PICKED


def is_array_or_lazy(thing: int) -> bool:
    """Tell whether something is memory, or an expression of it."""
    return is_lazy(thing) or is_container(thing) or load(thing + CLASS) == word(NDARRAY)


def where_true(base: int, condition: int) -> int:
    """Return a view of the elements for which a condition holds; 0 for all but usual operands."""
    if not is_usual(base) or not is_array_or_lazy(condition):
        return 0
    if is_line(condition, word(BOOL_DTYPE)):
        return of_trues(base, load(condition + DATA), length_of(condition), condition)
    mask, made = private(condition, word(BOOL_DTYPE)), 0
    if mask == 0:
        return 0
    if is_same(get(mask, SHAPE), get(base, SHAPE)):
        made = of_trues(base, begin_of(mask), size_of(get(mask, SHAPE)), 0)
    Py_DecRef(mask)
    return made


def is_line(thing: int, dtype: int) -> bool:
    """Tell whether something is a NumPy array in one line of memory, of few elements of a dtype.

    It may be read where it is: making an array of positions starts no collector.
    """
    if load(thing + CLASS) != word(NDARRAY) or load(thing + DESCRIPTION) != dtype:
        return False
    line = load(thing + RANK) & 0xFFFFFFFF == 1 and load(thing + FLAGS) & PLAIN == PLAIN
    return line and length_of(thing) <= FEW_PICKED


def length_of(line: int) -> int:
    """Return the extent of a NumPy array of one dimension."""
    return load(load(line + EXTENTS))


def of_trues(base: int, flags: int, size: int, line: int) -> int:
    """Return a view of the elements for which flags are set; of a line of them, if it fits."""
    shape = get(base, SHAPE)
    if line != 0 and (load(shape + SIZE) != 1 or whole(item(shape, 0)) != size):
        return 0
    count = trues(flags, size)
    positions = new_positions(count)
    if positions == 0:
        return 0
    if line != 0 and (load(line + DATA) != flags or length_of(line) != size):
        Py_DecRef(positions)
        return 0
    to = load(positions + DATA)
    for k in range(size):
        if load_byte(flags + k) != 0 and count > 0:
            store(to, k)
            to += 8
            count -= 1
    if count != 0:  # somebody wrote
        Py_DecRef(positions)
        return 0
    return view_at(base, positions, (to - load(positions + DATA)) // 8)


def filtered(base: int, condition: int) -> int:
    """``filtered(x, condition)``; None if Python has to make the view."""
    made = where_true(base, condition)
    if made != 0 or PyErr_Occurred() != 0:
        return made
    return call(word(FILTERED), base, condition, 2)


def at_positions(base: int, indices: int) -> int:
    """Return a view of the elements of a vector at positions; 0 for all but usual operands."""
    if not is_usual(base) or load(get(base, SHAPE) + SIZE) != 1 or not is_array_or_lazy(indices):
        return 0
    if is_line(indices, word(INT64)):
        return of_positions(base, load(indices + DATA), length_of(indices), indices)
    given, made = private(indices, word(INT64)), 0
    if given == 0:
        return 0
    shape = get(given, SHAPE)
    if load(shape + SIZE) == 1:
        made = of_positions(base, begin_of(given), size_of(shape), 0)
    Py_DecRef(given)
    return made


def of_positions(base: int, source: int, count: int, line: int) -> int:
    """Return a view of the elements of a vector at positions, perhaps those of a line."""
    positions, inside = new_positions(count) if count > 0 else 0, True
    if positions == 0:
        return 0
    if line != 0:
        inside = load(line + DATA) == source and length_of(line) == count
    extent, to = whole(item(get(base, SHAPE), 0)), load(positions + DATA)
    for k in range(count if inside else 0):
        at = load(source + 8 * k)
        at += extent if at < 0 else 0
        inside = inside and 0 <= at < extent
        store(to + 8 * k, at)
    if inside:
        return view_at(base, positions, count)
    Py_DecRef(positions)  # Python says what is wrong
    return 0


def indexed(base: int, indices: int) -> int:
    """``indexed(x, indices)``; None if Python has to make the view."""
    made = at_positions(base, indices)
    if made != 0 or PyErr_Occurred() != 0:
        return made
    return call(word(INDEXED), base, indices, 2)


def apart(to: int, value: int) -> int:
    """Return values in memory that is not a container's; 0 if they are not of its dtype, or few."""
    kind, made = get(value, KIND), 0
    if is_lazy(value) and kind != word(NODE):
        operands = keep(get(value, OPERANDS))
        made = computed(kind, get(value, SHAPE), operands + word(TUPLE_ITEMS))
        Py_DecRef(operands)
    elif get(kind, STRIDES) == word(NONE) and get(kind, DTYPE) == get(get(to, KIND), DTYPE):
        buffer = get(value, OWN_BUFFER)  # a shield has another buffer's bytes
        alone = buffer != get(to, OWN_BUFFER) and load(buffer + CLASS) == word(BUFFER)
        made = keep(value) if alone else duplicate(value)
    if made == 0:
        PyErr_Clear()
        return 0
    own = get(made, KIND)
    if get(own, DTYPE) == get(get(to, KIND), DTYPE) and get(own, STRIDES) == word(NONE):
        return made
    Py_DecRef(made)
    return 0


def is_for(value: int, count: int, shape: int, front: int) -> bool:
    """Tell whether values have the shape of so many selected elements behind some dimensions."""
    own, rank = get(value, SHAPE), load(shape + SIZE)
    fits = load(own + SIZE) == rank - front + 1 and whole(item(own, 0)) == count
    for k in range(front, rank if fits else 0):
        fits = fits and whole(item(own, k - front + 1)) == whole(item(shape, k))
    return fits


def put_at(to: int, value: int, places: int, count: int) -> bool:
    """Write to the rows at positions, if all are in range; tell whether it is done."""
    shape = get(to, SHAPE)
    rank, extent = load(shape + SIZE), whole(item(shape, 0))
    if not is_for(value, count, shape, 1) or not are_inside(places, count, extent):
        return False
    nbytes = extent_of(shape, 1, rank) * PyLong_AsLongLong(get(get(to, KIND), ITEMSIZE))
    first, source = begin_of(to), begin_of(value)
    for k in range(count):
        at = load(places + 8 * k)
        at += extent if at < 0 else 0
        memcpy(first + at * nbytes, source + k * nbytes, nbytes)
    return True


def put_where(to: int, value: int, flags: int, size: int, front: int) -> bool:
    """Write where a mask of the first dimensions is true; tell whether it is done."""
    shape = get(to, SHAPE)
    rank, count = load(shape + SIZE), trues(flags, size)
    if not is_for(value, count, shape, front):
        return False
    nbytes = extent_of(shape, front, rank) * PyLong_AsLongLong(get(get(to, KIND), ITEMSIZE))
    first, source = begin_of(to), begin_of(value)
    for k in range(size):
        if load_byte(flags + k) != 0 and count > 0:
            memcpy(first + k * nbytes, source, nbytes)
            source += nbytes
            count -= 1
    return True


def put_down(to: int, key: int, value: int) -> bool:
    """Write few elements to those that one index array or mask selects; tell whether it is done."""
    if not is_array_or_lazy(key) or not is_usual(to):
        return False
    mask, made, done = is_mask(key), apart(to, value), False
    if made == 0:
        return False
    dtype = word(BOOL_DTYPE) if mask else word(INT64)
    line = is_line(key, dtype)  # which is read where it is: nothing is allocated from here on
    index = 0 if line else private(key, dtype)
    if (line or index != 0) and is_usual(to) and waiting_for(get(to, OWN_BUFFER)) == 0:
        places = load(key + DATA) if line else begin_of(index)
        count = length_of(key) if line else size_of(get(index, SHAPE))
        front = 1 if line else load(get(index, SHAPE) + SIZE)
        if mask:
            done = is_front(to, count if line else -1, index, front)
            done = done and put_where(to, made, places, count, front)
        else:
            done = front == 1 and put_at(to, made, places, count)
    if index != 0:
        Py_DecRef(index)
    Py_DecRef(made)
    return done


def is_front(to: int, count: int, index: int, front: int) -> bool:
    """Tell whether a mask, perhaps a line of so many flags, has a container's first extents."""
    shape = get(to, SHAPE)
    if count >= 0:
        return whole(item(shape, 0)) == count
    fits = front <= load(shape + SIZE)
    for k in range(front if fits else 0):
        fits = fits and whole(item(get(index, SHAPE), k)) == whole(item(shape, k))
    return fits


def set_item(to: int, key: int, value: int) -> int:
    """``to[key] = value``, of a container or a promise."""
    promise, target = is_promise(to), destination_of(to)
    if is_lazy(value) or is_container(value):
        if not promise and put_down(target, key, value):
            return keep(word(NONE))
        part = keep(target) if key == word(ELLIPSIS) else view_of(target, key)
        if part != 0:
            done = is_part(part, value) or assigned(part, value)
            done = done or (promise and unchecked(part, value))
            Py_DecRef(part)
            if done:
                return keep(word(NONE))
    elif stored(target, key, value):
        return keep(word(NONE))
    return call_three(word(PROMISED_SETITEM if promise else SETITEM), to, key, value)
