"""Few elements at positions in a row-major container: making such views, reading and writing them.

As `xtensor_views.scattered` and `xtensor_views.selection` do it, where each element has a position
of its own (`XIndexView`), and `arrays.few` for what is written through an index array or a mask.
"""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import picks
from . import words as w
from .api import CLASS, SIZE, load, load_byte, scratch, store, word
from .calls import array_of, writable
from .containers import duplicate
from .evaluation import address_of, begin_of, lazy_values, new_array, new_buffer
from .indices import FEW_AT_ONCE, is_mask, selects_few
from .places import fact_of, is_usual
from .readers import is_free, is_shared, let_go, put_in, waiting_for
from .scalars import fits
from .views import is_index


def offsets_of(view: int) -> int:
    """Return where a view has its elements' positions in row-major memory; 0 if not so."""
    base, offsets, listed = (
        origin_of(view),
        py.get(view, w.PICK_OFFSETS),
        py.get(view, w.PICK_LISTED),
    )
    if (
        base == 0
        or py.is_traced()
        or not 0 <= py.size_of(py.get(view, w.SHAPE)) <= picks.FEW_PICKED
    ):
        return 0
    if load(base + CLASS) != word(w.TUPLE) and not (
        py.is_container(base) and py.is_row_major(base)
    ):
        return 0
    if listed != 0:
        return listed + word(w.BYTES_DATA)
    if offsets == 0 or not py.is_plain_array(offsets):
        return 0
    return load(offsets + py.DATA) if load(offsets + py.DESCRIPTION) == word(w.INT64) else 0


def origin_of(view: int) -> int:
    """Return a view's base, or where that lies (`places.base_of`), borrowed."""
    base = py.get(view, w.PICK_BASE)
    return py.get(view, w.PICK_LENT) if base == 0 else base


def base_in(view: int) -> int:
    """Return a view's base, borrowed, and made where it was not yet; 0 if there is no memory."""
    base, lent = py.get(view, w.PICK_BASE), py.get(view, w.PICK_LENT)
    if base == 0 and lent != 0:
        for k in range(4):
            py.keep(py.item(lent, k))  # which the view that is made is given
        at = lent + word(w.TUPLE_ITEMS)
        made = py.container_of(word(w.VIEW), load(at), load(at + 8), load(at + 16), load(at + 24))
        base = py.get(view, w.PICK_BASE)  # the collector may have run, and with it other threads
        if base != 0:
            c.Py_DecRef(made)
        else:
            base = py.give(view, w.PICK_BASE, made)
    return base


def picked_up(view: int, to: int, offsets: int) -> int:
    """Copy a view's elements to an address."""
    base = origin_of(view)
    nbytes = py.itemsize_of(fact_of(base, w.KIND, 0))
    source = address_of(fact_of(base, w.OWN_BUFFER, 2)) + py.integer(fact_of(base, w.START, 3))
    for k in range(py.size_of(py.get(view, w.SHAPE))):
        picks.moved(to, source + load(offsets + 8 * k) * nbytes, nbytes)
        to += nbytes
    return to


def values_of(view: int, lazily: bool) -> int:
    """Return a view's elements in a new container, or as an expression of a copy that knows it.

    0 if they are not few, in row-major memory.
    """
    offsets, words, made, place = offsets_of(view), scratch(), 0, 0
    if offsets == 0:
        return 0
    base, shape = py.keep(origin_of(view)), py.keep(py.get(view, w.SHAPE))
    kind, own = py.keep(fact_of(base, w.KIND, 0)), py.keep(fact_of(base, w.SHAPE, 1))
    nbytes, buffer = (
        py.size_of(shape) * py.itemsize_of(kind),
        py.keep(fact_of(base, w.OWN_BUFFER, 2)),
    )
    leaf = picks.leaf_of(kind, load(shape + SIZE), load(own + SIZE))
    if leaf != 0:
        place = picks.copy_of(nbytes, 0, buffer) if lazily else new_buffer(nbytes)
    same = place != 0 and fact_of(base, w.KIND, 0) == kind and fact_of(base, w.SHAPE, 1) == own
    if same and fact_of(base, w.OWN_BUFFER, 2) == buffer:
        picked_up(view, address_of(place), offsets)
        if lazily:
            listed = py.get(view, w.PICK_LISTED)
            where = listed if listed != 0 else py.get(view, w.PICK_OFFSETS)
            picks.knows(place, kind, own, fact_of(base, w.START, 3), py.keep(where))
        store(words, place)
        store(words + 8, word(w.ZERO))
        if lazily:
            made = py.expression(leaf, shape, words, 2)
        else:
            made = new_array(py.keep(place), py.keep(shape), py.keep(leaf))
    for part in (place, buffer, kind, own, shape, base):
        c.Py_DecRef(part)
    return made


def at_once(thing: int) -> int:
    """Return the values of an expression, or of few elements at positions, in a new container.

    A container is its own; 0 of all others.
    """
    cls = load(thing + CLASS)
    if cls == word(w.EXPRESSION):
        return lazy_values(thing)
    if cls == word(w.INDEX_VIEW) or cls == word(w.DYNAMIC_VIEW):
        return values_of(thing, False)
    return py.keep(thing) if cls == word(w.ARRAY) or cls == word(w.VIEW) else 0


def is_nobodys(buffer: int) -> bool:
    """Tell whether nobody waits for a buffer's bytes, and none of them is a value or a position."""
    return waiting_for(buffer) == 0 and not is_shared(buffer)


def number_put(view: int, value: int, offsets: int) -> bool:
    """Write a float to float64 elements; tell whether it is done."""
    base = base_in(view)
    if (
        base == 0
        or py.dtype_of(base) != word(w.FLOAT64)
        or not is_nobodys(py.get(base, w.OWN_BUFFER))
    ):
        return False
    to, bits = begin_of(base), load(value + py.DATA)
    for k in range(py.size_of(py.get(view, w.SHAPE))):
        store(to + 8 * load(offsets + 8 * k), bits)
    return True


def dropped_in(view: int, values: int, offsets: int) -> bool:
    """Write the elements of a container of the same shape; tell whether it is done."""
    base = base_in(view)
    usual = base != 0 and py.is_container(values) and py.is_row_major(values)
    if not usual or py.dtype_of(values) != py.dtype_of(base):
        return False
    if not is_nobodys(py.get(base, w.OWN_BUFFER)):
        return False
    to, source = begin_of(base), begin_of(values)
    nbytes = py.itemsize_of(py.get(base, w.KIND))
    for k in range(py.size_of(py.get(view, w.SHAPE))):
        picks.moved(to + load(offsets + 8 * k) * nbytes, source + k * nbytes, nbytes)
    return True


def wrote(view: int, value: int) -> bool:
    """Write a float, or values of the view's dtype and shape; tell whether it is done."""
    cls, offsets = load(value + CLASS), offsets_of(view)
    if offsets == 0:
        return False
    if cls == word(w.FLOAT):
        return number_put(view, value, offsets)
    own = cls == word(w.INDEX_VIEW) or cls == word(w.DYNAMIC_VIEW)
    if not (own or py.is_array(value)):
        return False
    if not py.is_same(py.get(value, w.SHAPE), py.get(view, w.SHAPE)):
        return False
    base = base_in(view)
    if base == 0:
        return False
    made, done = values_of(value, False) if own else apart(base, value), False
    offsets = offsets_of(view)
    if made != 0:
        done = offsets != 0 and dropped_in(view, made, offsets)
        c.Py_DecRef(made)
    return done


def pick_wrote(view: int, value: int) -> int:
    """Write a number, or few elements of this dtype and shape; tell whether it is done."""
    return py.keep(word(w.TRUE)) if wrote(view, value) else 0


def pick_set(view: int, key: int, value: int) -> int:
    """``view[key] = value``."""
    return py.keep(word(w.NONE)) if key == word(w.ELLIPSIS) and wrote(view, value) else 0


def apart(to: int, value: int) -> int:
    """Return values in memory that is not a container's; 0 if they are not of its dtype, or few."""
    kind, made = py.get(value, w.KIND), 0
    if py.is_lazy(value) and kind != word(w.NODE):
        made = lazy_values(value)
    elif py.get(kind, w.STRIDES) == word(w.NONE) and py.get(kind, w.DTYPE) == py.get(
        py.get(to, w.KIND), w.DTYPE
    ):
        buffer = py.get(value, w.OWN_BUFFER)  # a shield has another buffer's bytes
        alone = buffer != py.get(to, w.OWN_BUFFER) and load(buffer + CLASS) == word(w.BUFFER)
        made = py.keep(value) if alone else duplicate(value)
    if made == 0:
        c.PyErr_Clear()
        return 0
    own = py.get(made, w.KIND)
    if py.get(own, w.DTYPE) == py.dtype_of(to) and py.get(own, w.STRIDES) == word(w.NONE):
        return made
    c.Py_DecRef(made)
    return 0


def is_for(value: int, count: int, shape: int, front: int) -> bool:
    """Tell whether values have the shape of so many selected elements behind some dimensions."""
    own, rank = py.get(value, w.SHAPE), load(shape + SIZE)
    fits = load(own + SIZE) == rank - front + 1 and py.whole(py.item(own, 0)) == count
    for k in range(front, rank if fits else 0):
        fits = fits and py.whole(py.item(own, k - front + 1)) == py.whole(py.item(shape, k))
    return fits


def put_at(to: int, value: int, places: int, count: int) -> bool:
    """Write to the rows at positions, if all are in range; tell whether it is done."""
    shape = py.get(to, w.SHAPE)
    rank, extent = load(shape + SIZE), py.whole(py.item(shape, 0))
    if not is_for(value, count, shape, 1) or not picks.are_inside(places, count, extent):
        return False
    nbytes = picks.extent_of(shape, 1, rank) * py.itemsize_of(py.get(to, w.KIND))
    first, source = begin_of(to), begin_of(value)
    for k in range(count):
        at = load(places + 8 * k)
        at += extent if at < 0 else 0
        c.memcpy(first + at * nbytes, source + k * nbytes, nbytes)
    return True


def put_where(to: int, value: int, flags: int, size: int, front: int) -> bool:
    """Write where a mask of the first dimensions is true; tell whether it is done."""
    shape = py.get(to, w.SHAPE)
    rank, count = load(shape + SIZE), picks.trues(flags, size)
    if not is_for(value, count, shape, front):
        return False
    nbytes = picks.extent_of(shape, front, rank) * py.itemsize_of(py.get(to, w.KIND))
    first, source = begin_of(to), begin_of(value)
    for k in range(size):
        if load_byte(flags + k) != 0 and count > 0:
            c.memcpy(first + k * nbytes, source, nbytes)
            source += nbytes
            count -= 1
    return True


def put_down(to: int, key: int, value: int) -> bool:
    """Write few elements to those that one index array or mask selects; tell whether it is done."""
    if not py.is_array_or_numpys(key) or not is_usual(to):
        return False
    mask, made, given, done = is_mask(key), apart(to, value), scratch(), False
    if made == 0:
        return False
    if picks.is_given(key, word(w.BOOL_DTYPE) if mask else word(w.INT64), given):
        # Nothing is allocated from here on.
        at, count, front = load(given), load(given + picks.LENGTH), picks.rank_of(given)
        buffer = py.get(to, w.OWN_BUFFER)
        # A shared one may have the bytes of the values, or of the positions.
        if is_usual(to) and is_free(buffer, key) and not is_shared(buffer):
            if mask:
                done = picks.is_front(to, given) and put_where(to, made, at, count, front)
            else:
                done = front == 1 and put_at(to, made, at, count)
        c.Py_DecRef(load(given + picks.HOLDER))
    c.Py_DecRef(made)
    return done


def put_by_numpy(to: int, key: int, value: int) -> bool:
    """Write few elements to those that arrays and lists select; tell whether it is done."""
    if not is_usual(to) or not selects_few(key):
        return False
    made, done = apart(to, value), False
    if made == 0:
        return False
    target = writable(to)
    values = array_of(made) if py.size_of(py.get(made, w.SHAPE)) > 0 else 0
    if target != 0 and values != 0 and waiting_for(py.get(to, w.OWN_BUFFER)) == 0:
        done = put_in(to, target, key, values)
    c.Py_DecRef(made)
    return done


#: Elements that are sorted at once.
FEW_SORTED = 256

#: Places of dtypes among truth values, whole numbers, floats and complex numbers; -1: another one.
TRUTH, WHOLE, REAL, PAIR = range(4)


def rank_of_dtype(dtype: int) -> int:
    """Return which of the four sorts of numbers of NumPy's a dtype has; -1 of any other."""
    number = load(dtype + py.DTYPE_NUMBER) >> 32
    if number in (23, 11, 12):  # of 16, 32 and 64 bits
        return REAL
    if number in (14, 15):
        return PAIR
    return (TRUTH if number == 0 else WHOLE) if 0 <= number <= 10 else -1


def put_cast(to: int, part: int, key: int, value: int) -> bool:
    """Write few elements as NumPy converts and stretches them; tell whether it is done.

    To a part of memory that an index of ints and slices selects.  What would be computed into its
    place with no copy is left to Python, which learns how, as are copies of other memory that lies
    alike: a kernel takes less than half of NumPy's time for them.
    """
    if py.is_traced() or py.get(value, w.SHAPE) == word(w.EMPTY) or not py.is_container(to):
        return False
    kind, same = py.get(value, w.KIND), py.is_same(py.get(value, w.SHAPE), py.get(part, w.SHAPE))
    if kind == word(w.NODE) or not 0 < py.size_of(py.get(part, w.SHAPE)) <= FEW_AT_ONCE:
        return False
    own, other = rank_of_dtype(py.dtype_of(part)), rank_of_dtype(py.get(kind, w.DTYPE))
    cast = py.dtype_of(part) != py.get(kind, w.DTYPE)
    if other < 0 or own < other or (cast and own == TRUTH):
        return False
    alike = py.is_lazy(value) or (
        kind == py.get(part, w.KIND) and py.get(value, w.OWN_BUFFER) != py.get(to, w.OWN_BUFFER)
    )
    if same and not cast and alike:
        return False
    if py.rank_at(part) == 1 and not py.is_lazy(value) and not is_in_step(to, part, value):
        return False
    made, done = lazy_values(value) if py.is_lazy(value) else py.keep(value), False
    if made != 0 and py.is_container(made) and py.size_of(py.get(made, w.SHAPE)) > 0:
        values, target = py.keep(writable(made)), py.keep(writable(to))
        if values != 0 and target != 0 and is_free(py.get(to, w.OWN_BUFFER), value):
            done = set_silently(to, target, key, values)
        c.Py_DecRef(values)
        c.Py_DecRef(target)
    c.PyErr_Clear()  # Python says what is wrong
    c.Py_DecRef(made)
    return done


def is_in_step(to: int, part: int, value: int) -> bool:
    """Tell whether NumPy may copy a row's elements to others that may be of the same memory.

    It takes such elements in one order or the other, which is right where their strides are equal.
    """
    buffer = py.get(value, w.OWN_BUFFER)
    far = buffer != py.get(to, w.OWN_BUFFER) and load(buffer + CLASS) == word(w.BUFFER)
    if far and not is_shared(buffer):
        return True
    return py.is_same(
        py.get(py.get(part, w.KIND), w.STRIDES), py.get(py.get(value, w.KIND), w.STRIDES)
    )


def set_silently(to: int, array: int, key: int, values: int) -> bool:
    """Have NumPy write values, with its warnings kept away; tell whether it did."""
    silent = word(w.WARNING) != word(w.NONE)
    token = c.PyContextVar_Set(word(w.WARNING), word(w.SILENT)) if silent else 0
    if token == 0:
        return False
    done = put_in(to, array, key, values)
    c.PyContextVar_Reset(word(w.WARNING), token)
    c.Py_DecRef(token)
    return done


def stored_value(to: int, key: int, value: int) -> bool:
    """Write a value of rank 0, computed first, to what integers and slices select; as `stored`."""
    if py.get(value, w.SHAPE) != word(w.EMPTY) or py.is_traced():
        return False
    if not py.is_container(to) or not is_index(key, True):
        return False
    made, done = lazy_values(value) if py.is_lazy(value) else py.keep(value), False
    if made != 0 and py.is_container(made) and py.is_row_major(made):
        place = array_of(made)
        one = c.PyObject_GetItem(place, word(w.EMPTY)) if place != 0 else 0
        array = writable(to) if one != 0 and is_free(py.get(to, w.OWN_BUFFER), value) else 0
        if (
            array != 0
            and is_free(py.get(to, w.OWN_BUFFER), value)
            and fits(py.get(to, w.KIND), one)
        ):
            done = put_in(to, array, key, one)
        c.Py_DecRef(one)
    if not done:
        c.PyErr_Clear()  # Python says what is wrong
    c.Py_DecRef(made)
    return done


def sorted_inside(thing: int, args: int, keywords: int) -> int:
    """``thing.sort()``, of a container of few numbers: in place, equal ones in their order."""
    if keywords != 0 or load(args + SIZE) != 0 or not py.is_container(thing) or py.is_traced():
        return 0
    kind, size = py.get(thing, w.KIND), py.size_of(py.get(thing, w.SHAPE))
    sort = rank_of_dtype(py.get(kind, w.DTYPE)) if py.rank_at(thing) != 0 and size > 0 else -1
    if sort < 0 or size > FEW_SORTED:
        return 0
    let_go(thing, word(w.ZERO), word(w.NONE))
    place, array = scratch(), 0
    if is_free(py.get(thing, w.OWN_BUFFER), word(w.NONE)):
        array = writable(thing)
    store(place, array)
    store(place + 8, word(w.MINUS_ONE))
    store(place + 16, word(w.STABLE_NAME))
    count = 1 if sort <= WHOLE else 3
    if array == 0 or not is_free(py.get(thing, w.OWN_BUFFER), word(w.NONE)):
        return 0
    made = c.PyObject_VectorcallMethod(word(w.SORT_NAME), place, count, 0)
    c.PyErr_Clear()  # Python says what is wrong
    return made
