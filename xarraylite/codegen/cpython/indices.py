"""What an index is made of: ints, slices, arrays and lists, ours and NumPy's."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, scratch, store, word
from .calls import array_of, rows_in
from .evaluation import begin_of, lazy_values
from .reuse import kept_values
from .scalars import int_of, is_whole
from .views import is_plain

#: Numbers in a list that are looked at one by one.
MOST_LISTED = 64

#: Elements that NumPy selects without letting other threads run.
FEW_AT_ONCE = 500


def is_all(one: int) -> bool:
    """Tell whether an item of an index is a slice of everything."""
    if load(one + CLASS) != word(w.SLICE):
        return False
    bounds = load(one + 16) == word(w.NONE) and load(one + 24) == word(w.NONE)
    return bounds and load(one + 32) == word(w.NONE)


def axis_of(key: int, rank: int) -> int:
    """Return the dimension that the one array of an index is for, all else whole; -1 if not so."""
    if load(key + CLASS) != word(w.TUPLE):
        return 0
    last = load(key + SIZE) - 1
    if last == 1 and py.item(key, 0) == word(w.ELLIPSIS):
        return rank - 1
    for k in range(last):
        if not is_all(py.item(key, k)):
            return -1
    return last


def extents_of(array: int) -> int:
    """Return the product of an array's extents, those of 0 as if they were 1."""
    size = 1
    for k in range(load(array + py.RANK) & 0xFFFFFFFF):
        extent = load(load(array + py.EXTENTS) + 8 * k)
        size *= extent if 0 < extent < FEW_AT_ONCE else (1 if extent == 0 else FEW_AT_ONCE + 1)
        if size > FEW_AT_ONCE:
            return size
    return size


def is_apart(one: int) -> bool:
    """Tell whether an index is an array of NumPy of few elements that lie apart."""
    if load(one + CLASS) != word(w.NDARRAY) or py.is_plain_array(one):
        return False
    return extents_of(one) <= FEW_AT_ONCE


def is_mask(one: int) -> bool:
    """Tell whether the elements of an index are truth values."""
    if load(one + CLASS) == word(w.NDARRAY):
        return load(one + py.DESCRIPTION) == word(w.BOOL_DTYPE)
    return py.dtype_of(one) == word(w.BOOL_DTYPE)


def is_numpys(key: int) -> bool:
    """Tell whether an index is of items that mean to NumPy what they mean here."""
    for k in range(py.parts(key)):
        if not is_numpys_item(py.part(key, k)):
            return False
    return py.parts(key) != 0


def is_numpys_item(one: int) -> bool:
    """Tell whether that is so of an item: int, slice of ints, dots, array, or list of ints."""
    cls = load(one + CLASS)
    if cls == word(w.LIST):
        return load(one + SIZE) <= MOST_LISTED and are_ints(one)
    if cls == word(w.NDARRAY):
        dtype = load(one + py.DESCRIPTION)
        return dtype == word(w.INT64) or dtype == word(w.BOOL_DTYPE)
    if cls == word(w.SLICE):
        return is_plain(one)
    return one == word(w.ELLIPSIS) or cls == word(w.INT)


def are_ints(numbers: int) -> bool:
    """Tell whether a list has ints alone, and one or more."""
    usual = load(numbers + SIZE) != 0
    for k in range(load(numbers + SIZE)):
        usual = usual and load(py.member(numbers, k) + CLASS) == word(w.INT)
    return usual


def selector(key: int) -> int:
    """Return our own index array or mask in row-major memory; 0 if it is none, or none of it is."""
    if not (py.is_array(key)) or py.get(key, w.KIND) == word(w.NODE):
        return 0
    dtype = py.dtype_of(key)
    usual = dtype == word(w.INT64) or dtype == word(w.BOOL_DTYPE)
    if not usual or load(py.get(key, w.SHAPE) + SIZE) == 0:
        return 0
    made = py.keep(key) if py.is_container(key) else lazy_values(key)
    if made == 0:
        c.PyErr_Clear()
    elif not py.is_container(made) or not py.is_row_major(made):
        rows = rows_in(made, py.MANY) if py.is_container(made) else 0
        c.Py_DecRef(made)
        made = rows
    return made


def selects_few(key: int) -> bool:
    """Tell whether an index has arrays of NumPy, or lists of ints, of few elements; and no others.

    NumPy keeps the interpreter's lock for that many.
    """
    arrays, usual = 0, True
    for k in range(py.parts(key)):
        one = py.part(key, k)
        count = FEW_AT_ONCE
        if load(one + CLASS) == word(w.NDARRAY):
            count, arrays = extents_of(one), arrays + 1
        elif load(one + CLASS) == word(w.LIST):
            count, arrays = load(one + SIZE), arrays + 1
        usual = usual and count <= FEW_AT_ONCE and is_numpys_item(one)
    return usual and arrays != 0


def position(key: int) -> int:
    """Return a whole number of rank 0, computed, as an int, the caller's; 0 of all else."""
    if (
        py.get(key, w.SHAPE) != word(w.EMPTY)
        or py.get(key, w.KIND) == word(w.NODE)
        or py.is_traced()
    ):
        return 0
    if py.dtype_of(key) != word(w.INT64):
        return 0
    made = kept_values(key) if py.is_lazy(key) else py.keep(key)
    usual = made != 0 and py.is_container(made)
    number = c.PyLong_FromLongLong(load(begin_of(made))) if usual else 0
    c.Py_DecRef(made)
    c.PyErr_Clear()  # Python says what is wrong
    return number


def plain_of_key(key: int) -> int:
    """Return an index with ints for values and NumPy's arrays for ours and lists, the caller's.

    0 where it is one already.
    """
    if py.is_array(key):
        return position(key)
    if load(key + CLASS) != word(w.TUPLE):
        return ints_of(key)
    others = 0
    for k in range(load(key + SIZE)):
        one = py.item(key, k)
        listed = py.is_array(one) or load(one + CLASS) == word(w.LIST)
        others += 1 if listed or has_whole(one) else 0
    made = py.tuple_of(load(key + SIZE)) if others != 0 else 0
    for k in range(load(key + SIZE) if made != 0 else 0):
        one = py.item(key, k)
        other = ints_of(one)
        if other == 0:
            other = array_for(one)
        store(made + word(w.TUPLE_ITEMS) + 8 * k, other if other != 0 else py.keep(one))
    return made


def has_whole(one: int) -> bool:
    """Tell whether an item of an index is a whole value, or a slice with such a bound."""
    if load(one + CLASS) != word(w.SLICE):
        return is_whole(one)
    return is_whole(load(one + 16)) or is_whole(load(one + 24)) or is_whole(load(one + 32))


def ints_of(one: int) -> int:
    """Return such an item with ints for its values, the caller's; 0 of all else."""
    if load(one + CLASS) != word(w.SLICE) or not has_whole(one):
        return int_of(one)
    bounds = scratch()
    for k in range(3):
        bound = load(one + 16 + 8 * k)
        number = int_of(bound)
        store(bounds + 8 * k, number if number != 0 else py.keep(bound))
    made = c.PySlice_New(load(bounds), load(bounds + 8), load(bounds + 16))
    for k in range(3):
        c.Py_DecRef(load(bounds + 8 * k))
    c.PyErr_Clear()  # of no memory
    return made


def array_for(one: int) -> int:
    """Return NumPy's array for one of ours, or a list of few ints, the caller's; 0 of all else."""
    if load(one + CLASS) == word(w.LIST):
        usual = load(one + SIZE) <= MOST_LISTED and are_ints(one)
        made = py.call(word(w.NUMPY_ARRAY), one, 0, 1) if usual else 0
        c.PyErr_Clear()  # Python says what is wrong
        return made
    holder = selector(one)
    array = py.keep(array_of(holder)) if holder != 0 else 0
    c.Py_DecRef(holder)
    return array


def is_by_values(key: int) -> bool:
    """Tell whether an index is a mask, or has one or several arrays: what it selects is no view."""
    if py.is_array_or_numpys(key):
        return is_mask(key)
    arrays, masks = 0, False
    for k in range(load(key + SIZE) if load(key + CLASS) == word(w.TUPLE) else 0):
        if py.is_array_or_numpys(py.item(key, k)):
            arrays, masks = arrays + 1, masks or is_mask(py.item(key, k))
    return masks or arrays > 1


def selects_by_array(key: int) -> bool:
    """Tell whether an index, or an item of one, is an array of one dimension or more, or a list."""
    found = False
    for k in range(py.parts(key)):
        one = py.part(key, k)
        if load(one + CLASS) == word(w.NDARRAY):
            found = found or load(one + py.RANK) & 0xFFFFFFFF != 0
        else:
            ranked = py.is_array(one) and py.get(one, w.SHAPE) != word(w.EMPTY)
            found = found or ranked or load(one + CLASS) == word(w.LIST)
    return found


def line_of(key: int) -> int:
    """Return which item of an index is its only array, all others ints and slices of ints.

    -1 if there is none, or if ints and it lie apart, which moves its dimensions to the front.
    """
    found, ints, slices = -1, 0, 0
    for k in range(load(key + SIZE) if load(key + CLASS) == word(w.TUPLE) else 0):
        one = py.item(key, k)
        if load(one + CLASS) == word(w.NDARRAY):
            if found >= 0 or (ints != 0 and slices != 0):
                return -1
            found, slices = k, 0
        elif load(one + CLASS) == word(w.INT):
            if found >= 0 and slices != 0:
                return -1
            ints += 1
        elif load(one + CLASS) == word(w.SLICE) and is_plain(one):
            slices += 1 if found >= 0 or ints != 0 else 0
        else:
            return -1
    return found
