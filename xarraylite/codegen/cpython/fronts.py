"""Functions that NumPy computes, and methods that call functions of the namespace.

What `functions.computed` does around a call — containers become arrays of NumPy, results become
containers — where all operands are memory or small expressions and all options are numbers, texts
or tuples of numbers.  An exception ends it as if nothing had been done, and Python calls again.
"""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, load_byte, scratch, store, word
from .calls import duplicated, product, rows_of, writable
from .evaluation import lazy_values
from .indices import is_mask
from .lazy_views import lazy_transposed
from .picks import leaf_of, picked
from .remembered import are_noted, begun, is_described, is_noted, is_table, push, remade
from .reuse import is_used_again, kept_values
from .scalars import value_of
from .views import reshaped, transposed

#: What a parameter takes, by `functions.computed`: an array, a sequence of arrays, either or
#: anything else; and whether None is passed on.
ARRAY_TAKEN, SEVERAL_TAKEN, PERHAPS_TAKEN, OPTIONAL = 1, 2, 3, 4

#: Most containers that are held during a call, and the word behind them: dtypes NumPy computes in.
MOST_HELD, DTYPES = 100, 120

#: What a plan has (`functions.computed`).
FUNCTION, FLAGS, REST, TAKES, ARITHMETIC, FINISH, COMMON = range(7)

#: NumPy's letter for dtypes of complex numbers.
COMPLEX = ord("c")


def is_number_class(cls: int) -> bool:
    """Tell whether a class is one of Python's numbers."""
    if cls == word(w.INT) or cls == word(w.FLOAT):
        return True
    return cls == word(w.BOOL) or cls == word(w.COMPLEX)


def is_simple(value: int) -> bool:
    """Tell whether an option is a number, a text, None, a dtype, or a tuple or list of numbers."""
    cls = load(value + CLASS)
    if (
        is_number_class(cls)
        or cls == word(w.STR)
        or cls == word(w.NONE_TYPE)
        or cls == word(w.TYPE)
    ):
        return True
    if cls != word(w.TUPLE) and cls != word(w.LIST):
        return c.PyType_IsSubtype(cls, word(w.NUMPY_DTYPE)) != 0
    usual = True
    for k in range(load(value + SIZE)):
        usual = usual and is_number_class(load(py.member(value, k) + CLASS))
    return usual


def memory_of(thing: int, held: int) -> int:
    """Return a container's memory as NumPy computes with it, the caller's; 0 if it does not."""
    kind = py.get(thing, w.KIND)
    if kind == 0 or py.get(kind, w.OWNER) != word(w.NONE):
        return 0
    if c.PySet_Contains(load(held + 8 * DTYPES), py.get(kind, w.DTYPE)) != 1:
        return 0
    array = writable(thing)
    return 0 if array == 0 else py.keep(array)


def given_array(value: int, held: int) -> int:
    """Return what NumPy is given for an array, the caller's; 0 where Python has to see to it.

    The container of an expression's values is appended to those that are held until the end.
    """
    if py.is_container(value):
        return memory_of(value, held)
    if py.is_lazy(value):
        count, made = load(held), kept_values(value)
        if made == 0 and not is_used_again(value):
            made = lazy_values(value)  # of many elements
        if made == 0 or count >= MOST_HELD:
            c.Py_DecRef(made)
            c.PyErr_Clear()
            return 0
        store(held + 8 * (count + 1), made)
        store(held, count + 1)
        return memory_of(made, held) if py.is_container(made) else 0
    return py.keep(value) if is_number_class(load(value + CLASS)) else 0


def given_list(value: int, held: int) -> int:
    """Return a list of what NumPy is given for a sequence of arrays; see `given_array`."""
    count = load(value + SIZE)
    made = c.PyList_New(count)
    for k in range(count if made != 0 else 0):
        array = given_array(py.member(value, k), held)
        if array == 0:
            c.Py_DecRef(made)
            return 0
        store(load(made + py.LIST_ITEMS) + 8 * k, array)
    return made


def given_for(value: int, flag: int, held: int) -> int:
    """Return what NumPy is given for an argument; see `given_array`."""
    how, cls = flag & 3, load(value + CLASS)
    several = cls == word(w.LIST) or cls == word(w.TUPLE)
    passed = how == 0 or flag & OPTIONAL != 0
    if value == word(w.NONE) and (passed or how == PERHAPS_TAKEN):
        return py.keep(value)
    if how == 0:
        return py.keep(value) if is_simple(value) else 0
    if how == ARRAY_TAKEN or not several:
        if how == PERHAPS_TAKEN and is_simple(value):
            return py.keep(value)
        return given_array(value, held)
    return given_list(value, held)


def all_given(flags: int, rest: int, args: int, held: int) -> int:
    """Return a tuple of what NumPy is given for the arguments; see `given_array`."""
    count, most = load(args + SIZE), load(flags + SIZE)
    made = py.tuple_of(count)
    for k in range(count if made != 0 else 0):
        at = k if k < rest else rest
        one = 0
        if at < most:
            one = given_for(py.item(args, k), c.PyLong_AsLongLong(py.item(flags, at)), held)
        if one == 0:
            c.Py_DecRef(made)
            return 0
        store(made + word(w.TUPLE_ITEMS) + 8 * k, one)
    return made


def are_simple(takes: int, options: int) -> bool:
    """Tell whether keywords are options alone, and each is a simple one."""
    at, usual = scratch(), True
    store(at, 0)
    while c.PyDict_Next(options, at, at + 8, at + 16) != 0:
        usual = usual and c.PyDict_Contains(takes, load(at + 8)) == 0 and is_simple(load(at + 16))
    return usual


def is_short(array: int) -> bool:
    """Tell whether an array of NumPy has so few elements that copying them costs least."""
    size = 1
    for k in range(load(array + py.RANK) & 0xFFFFFFFF):
        extent = load(load(array + py.EXTENTS) + 8 * k)
        size = size * extent if size <= py.FEW and extent <= py.FEW else py.FEW + 1
    return size <= py.FEW


def finished_one(made: int, args: int, finish: int) -> int:
    """Return what NumPy computed as users get it; takes the reference."""
    cls, done = load(made + CLASS), 0
    if cls == word(w.NDARRAY):
        done = rows_of(made) if is_short(made) else 0
        if done == 0:
            done = py.call(finish, made, args, 2)
    elif c.PyType_IsSubtype(cls, word(w.NUMPY_GENERIC)) != 0:
        done = value_of(made)
        if done == 0:  # a text, say
            return made
    elif is_number_class(cls) or cls == word(w.NONE_TYPE) or cls == word(w.STR):
        return made
    else:
        done = py.call(finish, made, args, 2)
    c.Py_DecRef(made)
    return done


def finished(made: int, args: int, finish: int) -> int:
    """Return what NumPy computed, or several such things; takes the reference."""
    if load(made + CLASS) != word(w.TUPLE):
        return finished_one(made, args, finish)
    count = load(made + SIZE)
    several = py.tuple_of(count)
    for k in range(count if several != 0 else 0):
        one = finished_one(py.keep(py.item(made, k)), args, finish)
        if one == 0:
            c.Py_DecRef(several)
            several = 0
            break
        store(several + word(w.TUPLE_ITEMS) + 8 * k, one)
    c.Py_DecRef(made)
    return several


def hand(plan: int, args: int, options: int) -> int:
    """Return what a function that NumPy computes returns; 0 where Python has to call it.

    Where an exception is set that is no `Exception` it is the outcome.
    """
    if py.is_traced():
        return 0
    arithmetic = py.item(plan, ARITHMETIC) == word(w.TRUE)
    if arithmetic and word(w.WARNING) == word(w.NONE):
        return 0
    keyed = options != 0 and c.PyDict_Size(options) != 0
    if keyed and not are_simple(py.item(plan, TAKES), options):
        return 0
    held, made = scratch(), 0
    store(held, 0)
    store(held + 8 * DTYPES, py.item(plan, COMMON))
    given = all_given(py.item(plan, FLAGS), c.PyLong_AsLongLong(py.item(plan, REST)), args, held)
    if given != 0:
        keywords = options if keyed else 0
        if arithmetic:
            made = py.silently(py.item(plan, FUNCTION), given, keywords)
        else:
            made = c.PyObject_Call(py.item(plan, FUNCTION), given, keywords)
        if made != 0:
            made = finished(made, given, py.item(plan, FINISH))
        elif c.PyErr_ExceptionMatches(word(w.EXCEPTION)) != 0:
            c.PyErr_Clear()  # Python says what is wrong
        c.Py_DecRef(given)
    for k in range(load(held)):
        c.Py_DecRef(load(held + 8 * (k + 1)))
    return made


def named(names: int, args: int, places: int) -> int:
    """Return a dictionary of the arguments behind some, by their names; 0 if that fails."""
    made = c.PyDict_New()
    for k in range(load(args + SIZE) - places if made != 0 else 0):
        if c.PyDict_SetItem(made, py.item(names, k), py.item(args, places + k)) != 0:
            c.PyErr_Clear()
            c.Py_DecRef(made)
            return 0
    return made


def handed_method(plan: int, thing: int, args: int, keywords: int, entry: int) -> int:
    """Return what a method's function returns that NumPy computes; 0 where Python has to call."""
    count, places = load(args + SIZE), c.PyLong_AsLongLong(py.item(entry, 2))
    options = named(py.item(entry, 1), args, places) if count > places else 0
    if count > places and (options == 0 or keywords != 0):
        c.Py_DecRef(options)
        return 0
    made, given = 0, py.with_first(args, places if count > places else count, thing)
    if given != 0:
        made = hand(plan, given, options if keywords == 0 else keywords)
        c.Py_DecRef(given)
    c.Py_DecRef(options)
    return made


def remembered_method(known: int, thing: int, args: int, keywords: int, entry: int) -> int:
    """Return what a method's memoised function returns; 0 if it is not known."""
    names, places = py.item(entry, 1), c.PyLong_AsLongLong(py.item(entry, 2))
    state, count = begun(scratch()), load(args + SIZE)
    usual, spread = is_described(state, thing), py.item(entry, 3) == word(w.TRUE)
    for k in range(places if places < count else count):
        usual = usual and is_noted(state, py.item(args, k))
    usual = usual and are_noted(state, keywords)
    if spread and count != 0:
        push(state, py.keep(py.item(names, 0)))
        usual = usual and is_noted(state, py.item(args, 0) if count == 1 else args)
    for k in range(places, count if not spread else 0):
        push(state, py.keep(py.item(names, k - places)))
        usual = usual and is_noted(state, py.item(args, k))
    return remade(known, state, usual)


def method(thing: int, args: int, keywords: int, row: int) -> int:
    """``thing.method(*args)``: what the function that it is named after returns."""
    entry, count, made = word(row), load(args + SIZE), 0
    if py.item(entry, 0) == word(w.RESHAPE_NAME) and keywords == 0:
        made = reshaped(thing, args)
        if made != 0:
            return made
    front = c.PyDict_GetItemWithError(word(w.FRONTS), py.item(entry, 0))
    names, places = py.item(entry, 1), c.PyLong_AsLongLong(py.item(entry, 2))
    spread = py.item(entry, 3) == word(w.TRUE)
    if front != 0 and not py.is_traced() and (spread or count <= places + load(names + SIZE)):
        if is_table(front):
            made = remembered_method(front, thing, args, keywords, entry)
        elif not spread and load(front + CLASS) == word(w.TUPLE):
            made = handed_method(front, thing, args, keywords, entry)
    return made


def attribute(thing: int, row: int) -> int:
    """``thing.attribute``: what a function of nothing else returns."""
    name = py.item(word(row), 0)
    made = 0
    if name == word(w.TRANSPOSE_NAME):
        made = lazy_transposed(thing) if py.is_lazy(thing) else transposed(thing)
    if made != 0:
        return made
    front = c.PyDict_GetItemWithError(word(w.FRONTS), name)
    if front == 0 or py.is_traced() or not is_table(front):
        return 0
    state = begun(scratch())
    return remade(front, state, True) if is_described(state, thing) else 0


def real_part(thing: int, row: int) -> int:
    """``thing.real``: of real elements, and values, the object itself."""
    if load(thing + CLASS) == word(w.SCALAR_FLOAT) or load(thing + CLASS) == word(w.SCALAR_INTEGER):
        return py.keep(thing)
    dtype = py.get(thing, w.OWN_DTYPE) if py.is_container(thing) else 0
    if dtype != 0 and load_byte(dtype + py.DTYPE_NUMBER) != COMPLEX:
        return py.keep(thing)
    return attribute(thing, row)


def only(args: int, keywords: int) -> int:
    """Return the only argument, borrowed; 0 if there is another number of them."""
    return py.item(args, 0) if keywords == 0 and load(args + SIZE) == 1 else 0


def one_element(thing: int, args: int, keywords: int) -> int:
    """``thing.item(*index)``, of a container that NumPy has looked at."""
    array, key = py.get(thing, w.OWN_ARRAY) if py.is_container(thing) else 0, only(args, keywords)
    if array == 0 or key == 0 or py.is_traced():
        return 0
    return py.or_nothing(py.call_method(word(w.ITEM_NAME), array, key, 2))


def taken_along(thing: int, args: int, keywords: int) -> int:
    """``thing.take(positions)``, of few elements of a vector."""
    key, made = only(args, keywords), 0
    if key != 0 and py.is_container(thing):
        several = load(key + CLASS) == word(w.LIST)
        key = py.call(word(w.NUMPY_ARRAY), key, 0, 1) if several else py.keep(key)
        known = key != 0 and load(py.get(thing, w.SHAPE) + SIZE) == 1
        if known and py.is_array_or_numpys(key):
            made = 0 if is_mask(key) else picked(thing, key)
        c.PyErr_Clear()  # Python says what is wrong
        c.Py_DecRef(key)
    return made


def dotted(thing: int, args: int, keywords: int) -> int:
    """``thing.dot(other)``, which of vectors and matrices is their product."""
    other = only(args, keywords)
    return product(thing, other) if other != 0 else 0


def length(thing: int) -> int:
    """``len(thing)``."""
    shape = py.get(thing, w.SHAPE) if py.is_array(thing) else 0
    return py.keep(py.item(shape, 0)) if shape != 0 and load(shape + SIZE) != 0 else 0


def total(thing: int) -> int:
    """``thing.size``."""
    size = py.size_of(py.get(thing, w.SHAPE)) if py.is_array(thing) else -1
    return c.PyLong_FromLongLong(size) if size >= 0 else 0


def total_bytes(thing: int) -> int:
    """``thing.nbytes``."""
    kind = py.get(thing, w.KIND) if py.is_array(thing) else word(w.NODE)
    size = py.size_of(py.get(thing, w.SHAPE)) if kind != word(w.NODE) else -1
    return c.PyLong_FromLongLong(size * py.itemsize_of(kind)) if size >= 0 else 0


def flattened(thing: int, args: int, keywords: int) -> int:
    """``thing.flatten()``, of a strided container."""
    usual = (
        py.is_container(thing) and keywords == 0 and load(args + SIZE) == 0 and not py.is_traced()
    )
    kind = py.get(thing, w.KIND) if usual else 0
    if kind != 0 and py.get(kind, w.OWNER) == word(w.NONE) and kind != word(w.NODE):
        rank = load(py.get(thing, w.SHAPE) + SIZE)
        shape, size, leaf = (
            py.tuple_of(1),
            py.size_of(py.get(thing, w.SHAPE)),
            leaf_of(kind, 1, rank),
        )
        made = duplicated(thing) if shape != 0 and leaf != 0 and size >= 0 else 0
        if made != 0 and py.size_of(py.get(made, w.SHAPE)) == size:
            py.keep(leaf)
            store(shape + word(w.TUPLE_ITEMS), c.PyLong_FromLongLong(size))
            py.change(made, w.SHAPE, shape)
            py.change(made, w.KIND, leaf)
            return made
        c.Py_DecRef(made)
        c.Py_DecRef(shape)
    return 0
