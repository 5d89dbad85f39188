"""Functions and methods whose results are known by the kinds of their arguments.

A call's key is put together in scratch as `arrays.memo` puts it together, and looked up where
that keeps its recipes.  `METHOD` entries say which function of the namespace a method calls.
"""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, scratch, store, word
from .operators import give_snapshot, put
from .reuse import note_use, settled
from .views import view_class

#: The state of a call: how many items its key has, and how many arrays it was given; then these,
#: an array with the place of its kind in the key.
KEYS, ARRAYS, MOST_KEYS, MOST_ARRAYS = 16, 16 + 8 * 128, 120, 48

#: Words of operands of all arrays, and of a result.
HALF = 128


def begun(state: int) -> int:
    """Store the state of a call whose key is empty; return where it is."""
    store(state, 0)
    store(state + 8, 0)
    return state


def push(state: int, thing: int) -> bool:
    """Append an object, whose reference was the caller's, to a key."""
    count = load(state)
    store(state + KEYS + 8 * count, thing)
    store(state, count + 1)
    return True


def is_option(cls: int) -> bool:
    """Tell whether values of a class stand for themselves in a key."""
    if (
        cls == word(w.INT)
        or cls == word(w.FLOAT)
        or cls == word(w.BOOL)
        or cls == word(w.NONE_TYPE)
    ):
        return True
    if cls == word(w.STR) or cls == word(w.FUNCTION):
        return True
    if c.PyType_IsSubtype(cls, word(w.TYPE)) != 0:
        return True
    if c.PyType_IsSubtype(cls, word(w.NUMPY_DTYPE)) != 0 or c.PyType_IsSubtype(cls, word(w.NAMED)):
        return True
    return c.PyType_IsSubtype(cls, word(w.REDUCTION)) != 0


def is_described(state: int, value: int) -> bool:
    """Append what stands for an argument to a key; tell whether it can be remembered."""
    cls, arrays = load(value + CLASS), load(state + 8)
    if load(state) > MOST_KEYS or arrays > MOST_ARRAYS:
        return False
    if py.is_array(value):
        if py.get(value, w.KIND) == word(w.NODE):
            return False
        give_snapshot(value)
        store(state + ARRAYS + 16 * arrays, value)
        store(state + ARRAYS + 16 * arrays + 8, load(state) + 1)
        store(state + 8, arrays + 1)
        push(state, py.keep(cls))
        push(state, py.keep(py.get(value, w.KIND)))
        return push(state, py.keep(py.get(value, w.SHAPE)))
    if not is_option(cls):
        return False
    push(state, py.keep(cls))
    push(state, py.keep(value))
    if cls == word(w.FLOAT):  # zeros compare equal
        push(state, py.keep(word(w.MINUS) if load(value + py.DATA) < 0 else word(w.PLUS)))
    return True


def is_noted(state: int, value: int) -> bool:
    """Append what stands for an argument, which may be a sequence of others."""
    cls = load(value + CLASS)
    if cls != word(w.LIST) and cls != word(w.TUPLE):
        return is_described(state, value)
    count = load(value + SIZE)
    if load(state) > MOST_KEYS or count > MOST_ARRAYS:
        return False
    push(state, py.keep(cls))
    push(state, c.PyLong_FromLongLong(count))
    usual = True
    for k in range(count):
        usual = usual and is_described(state, py.member(value, k))
    return usual


def are_noted(state: int, options: int) -> bool:
    """Append keywords, if there are any, and what stands for their values."""
    at, usual = scratch(), True
    store(at, 0)
    while options != 0 and usual and c.PyDict_Next(options, at, at + 8, at + 16) != 0:
        usual = load(state) <= MOST_KEYS and push(state, py.keep(load(at + 8)))
        usual = usual and is_noted(state, load(at + 16))
    return usual


def new_key(state: int, usual: bool) -> int:
    """Return the key of a call; 0 where there is none, and its items are let go."""
    count = load(state)
    key = py.tuple_of(count) if usual else 0
    for k in range(count):
        if key != 0:
            store(key + word(w.TUPLE_ITEMS) + 8 * k, load(state + KEYS + 8 * k))
        else:
            c.Py_DecRef(load(state + KEYS + 8 * k))
    return key


def is_as_noted(key: int, state: int) -> bool:
    """Tell whether the arrays still are of the kinds and shapes in a key.

    Where it was made the collector may have run, and with it whatever it calls.
    """
    for k in range(load(state + 8)):
        array, at = load(state + ARRAYS + 16 * k), load(state + ARRAYS + 16 * k + 8)
        if py.get(array, w.KIND) != py.item(key, at) or py.get(array, w.SHAPE) != py.item(
            key, at + 1
        ):
            return False
    return True


def viewed(recipe: int, of: int) -> int:
    """Return the view of a container that a recipe says; 0 where Python has to make it."""
    cls = view_class(of)
    if cls == 0:
        return 0
    kind, shape = py.keep(py.get(recipe, w.VIEW_KIND)), py.keep(py.get(recipe, w.VIEW_SHAPE))
    start = c.PyLong_AsLongLong(py.get(of, w.START)) + c.PyLong_AsLongLong(
        py.get(recipe, w.VIEW_BY)
    )
    place = c.PyLong_FromLongLong(start)
    return py.container_of(cls, kind, shape, py.keep(py.get(of, w.OWN_BUFFER)), place)


def operands_of(place: int, state: int) -> int:
    """Store the operands of all arrays; return how many, -1 if some are not at hand."""
    total = 0
    for k in range(load(state + 8)):
        array = load(state + ARRAYS + 16 * k)
        count = load(py.get(array, w.OPERANDS) + SIZE) if py.is_lazy(array) else 2
        if total + count > HALF or put(place + 8 * total, array) < 0:
            return -1
        total += count
    return total


def assembled(recipe: int, state: int) -> int:
    """Return an expression of the operands of a call's arrays; 0 where Python has to make it."""
    given = scratch()
    out, total = given + 8 * HALF, operands_of(given, state)
    record = py.get(recipe, w.RECIPE_RECORD) + word(w.BYTES_DATA)
    count, moved = load(record), load(record + 8)
    if total < 0 or count > HALF:
        return 0
    for k in range(count):
        pick = load(record + 16 + 8 * k)
        if pick < total:
            store(out + 8 * k, load(given + 8 * pick))
        else:
            store(out + 8 * k, py.item(py.get(recipe, w.RECIPE_CONSTANTS), pick - total))
    moves = record + 16 + 8 * count
    for k in range(moved):
        at = out + 8 * load(moves + 16 * k)
        store(at, c.PyLong_FromLongLong(c.PyLong_AsLongLong(load(at)) + load(moves + 16 * k + 8)))
    made = py.expression(py.get(recipe, w.RECIPE_KIND), py.get(recipe, w.RECIPE_SHAPE), out, count)
    for k in range(moved):
        c.Py_DecRef(load(out + 8 * load(moves + 16 * k)))
    return made


def arrays_of(state: int) -> int:
    """Return a list of a call's arrays, or 0."""
    count = load(state + 8)
    arrays = c.PyList_New(count)
    for k in range(count if arrays != 0 else 0):
        store(load(arrays + py.LIST_ITEMS) + 8 * k, py.keep(load(state + ARRAYS + 16 * k)))
    return arrays


def called(recipe: int, state: int) -> int:
    """Return what a recipe in Python makes of a call's arrays."""
    arrays = arrays_of(state)
    made = py.call(recipe, arrays, 0, 1) if arrays != 0 else 0
    c.Py_DecRef(arrays)
    return made


def unseen(known: int, key: int, state: int) -> int:
    """Return the result of a call whose kinds are known with other extents; 0 of others."""
    arrays = arrays_of(state)
    made = py.call(py.get(known, w.UNSEEN), key, arrays, 2) if arrays != 0 else 0
    c.Py_DecRef(arrays)
    if made != word(w.NONE):
        return made
    c.Py_DecRef(made)
    return 0


def remade(known: int, state: int, usual: bool) -> int:
    """Return the result of a call like one that is kept; 0 if there is none, or no whole key."""
    key, made = new_key(state, usual), 0
    if key == 0:
        return 0
    recipe = c.PyDict_GetItemWithError(known, key)
    if recipe == 0:
        c.PyErr_Clear()
    if not is_as_noted(key, state):
        recipe = 0
    elif recipe == 0 or recipe == word(w.NONE):
        made, recipe = unseen(known, key, state), 0
    if recipe != 0:
        py.keep(recipe)
        if load(recipe + CLASS) == word(w.RECIPE):
            made = assembled(recipe, state)
        elif load(recipe + CLASS) == word(w.VIEW_RECIPE):
            made = viewed(recipe, load(state + ARRAYS))
        elif recipe != word(w.FALSE):
            made = called(recipe, state)
        c.Py_DecRef(recipe)
    c.Py_DecRef(key)
    return made


def is_table(front: int) -> bool:
    """Tell whether a front is what a memoised function remembers."""
    cls = load(front + CLASS)
    return cls == word(w.CALLS_TABLE) or cls == word(w.VALUES_TABLE)


def with_standing(args: int) -> int:
    """Return arguments with what stands for lazy results, the caller's; 0 where Python has to."""
    count = load(args + SIZE)
    given = py.tuple_of(count)
    for k in range(count if given != 0 else 0):
        stands = settled(py.item(args, k))
        if stands == 0:
            c.Py_DecRef(given)
            return 0
        store(given + word(w.TUPLE_ITEMS) + 8 * k, stands)
    return given


def recall(known: int, args: int, options: int) -> int:
    """Return the result of a call of a memoised function; 0 if it is not known."""
    if py.is_traced():
        return 0
    if load(known + CLASS) != word(w.VALUES_TABLE):
        return recall_of(known, args, options)
    given = with_standing(args)
    if given == 0:
        return 0
    made = recall_of(known, given, options)
    c.Py_DecRef(given)
    for k in range(load(args + SIZE) if made != 0 else 0):
        note_use(py.item(args, k))
    return made


def recall_of(known: int, args: int, options: int) -> int:
    """Return the result of a call with such arguments; 0 if it is not known."""
    state, usual = begun(scratch()), True
    for k in range(load(args + SIZE)):
        usual = usual and is_noted(state, py.item(args, k))
    return remade(known, state, usual and are_noted(state, options))
