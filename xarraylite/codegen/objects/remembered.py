"""Functions and methods whose results are known by the kinds of their arguments.

A call's key is put together in scratch as `transforms.memo` puts it together, and looked up where
that keeps its recipes.  `METHOD` entries say which function of the namespace a method calls.
"""

from __future__ import annotations

from .api import (
    BOOL,
    BYTES_DATA,
    CLASS,
    DTYPE,
    FLOAT,
    INT,
    KIND,
    LIST,
    MINUS,
    NODE,
    NONE,
    NONE_TYPE,
    NUMPY_DTYPE,
    OPERANDS,
    OWN_BUFFER,
    OWN_DTYPE,
    PLUS,
    RECIPE,
    RECIPE_CONSTANTS,
    RECIPE_KIND,
    RECIPE_RECORD,
    RECIPE_SHAPE,
    REDUCTION,
    SHAPE,
    SIZE,
    START,
    STR,
    TUPLE,
    TUPLE_ITEMS,
    TYPE,
    VIEW_BY,
    VIEW_KIND,
    VIEW_RECIPE,
    VIEW_SHAPE,
    Py_DecRef,
    PyDict_GetItemWithError,
    PyDict_Next,
    PyDict_Size,
    PyErr_Clear,
    PyLong_AsLongLong,
    PyLong_FromLongLong,
    PyType_IsSubtype,
    load,
    scratch,
    store,
    word,
)
from .basics import (
    DATA,
    LIST_ITEMS,
    get,
    give,
    is_container,
    is_lazy,
    is_traced,
    item,
    keep,
    new,
    tuple_of,
)
from .operators import expression, put
from .views import view_class

#: The state of a call: how many items its key has, and how many arrays it was given; then these,
#: an array with the place of its kind in the key.
KEYS, ARRAYS, MOST_KEYS, MOST_ARRAYS = 16, 16 + 8 * 128, 120, 48

#: Words of operands of all arrays, and of a result.
HALF = 128


def push(state: int, thing: int) -> bool:
    """Append an object, whose reference was the caller's, to a key."""
    count = load(state)
    store(state + KEYS + 8 * count, thing)
    store(state, count + 1)
    return True


def is_option(cls: int) -> bool:
    """Tell whether values of a class stand for themselves in a key."""
    if cls == word(INT) or cls == word(FLOAT) or cls == word(BOOL) or cls == word(NONE_TYPE):
        return True
    if cls == word(STR) or cls == word(TYPE):
        return True
    if PyType_IsSubtype(cls, word(NUMPY_DTYPE)) != 0:
        return True
    return PyType_IsSubtype(cls, word(REDUCTION)) != 0


def is_described(state: int, value: int) -> bool:
    """Append what stands for an argument to a key; tell whether it can be remembered."""
    cls, arrays = load(value + CLASS), load(state + 8)
    if load(state) > MOST_KEYS or arrays > MOST_ARRAYS:
        return False
    if is_lazy(value) or is_container(value):
        if get(value, KIND) == word(NODE):
            return False
        store(state + ARRAYS + 16 * arrays, value)
        store(state + ARRAYS + 16 * arrays + 8, load(state) + 1)
        store(state + 8, arrays + 1)
        push(state, keep(cls))
        push(state, keep(get(value, KIND)))
        return push(state, keep(get(value, SHAPE)))
    if not is_option(cls):
        return False
    push(state, keep(cls))
    push(state, keep(value))
    if cls == word(FLOAT):  # zeros compare equal
        push(state, keep(word(MINUS) if load(value + DATA) < 0 else word(PLUS)))
    return True


def is_noted(state: int, value: int) -> bool:
    """Append what stands for an argument, which may be a sequence of others."""
    cls = load(value + CLASS)
    if cls != word(LIST) and cls != word(TUPLE):
        return is_described(state, value)
    count = load(value + SIZE)
    if load(state) > MOST_KEYS or count > MOST_ARRAYS:
        return False
    push(state, keep(cls))
    push(state, PyLong_FromLongLong(count))
    for k in range(count):
        one = load(load(value + LIST_ITEMS) + 8 * k) if cls == word(LIST) else item(value, k)
        if not is_described(state, one):
            return False
    return True


def new_key(state: int) -> int:
    """Return the key of a call; 0 where there is none, and its items are let go."""
    count = load(state)
    key = tuple_of(count) if load(state + 8) >= 0 else 0
    for k in range(count):
        if key != 0:
            store(key + word(TUPLE_ITEMS) + 8 * k, load(state + KEYS + 8 * k))
        else:
            Py_DecRef(load(state + KEYS + 8 * k))
    return key


def is_as_noted(key: int, state: int) -> bool:
    """Tell whether the arrays still are of the kinds and shapes in a key.

    Where it was made the collector may have run, and with it whatever it calls.
    """
    for k in range(load(state + 8)):
        array, at = load(state + ARRAYS + 16 * k), load(state + ARRAYS + 16 * k + 8)
        if get(array, KIND) != item(key, at) or get(array, SHAPE) != item(key, at + 1):
            return False
    return True


def viewed(recipe: int, of: int) -> int:
    """Return the view of a container that a recipe says; 0 where Python has to make it."""
    cls = view_class(of)
    if cls == 0:
        return 0
    buffer, dtype = keep(get(of, OWN_BUFFER)), keep(get(get(recipe, VIEW_KIND), DTYPE))
    start = PyLong_AsLongLong(get(of, START)) + PyLong_AsLongLong(get(recipe, VIEW_BY))
    made = new(cls)
    if made == 0:
        Py_DecRef(buffer)
        Py_DecRef(dtype)
        return 0
    give(made, KIND, keep(get(recipe, VIEW_KIND)))
    give(made, SHAPE, keep(get(recipe, VIEW_SHAPE)))
    give(made, OWN_BUFFER, buffer)
    give(made, OWN_DTYPE, dtype)
    give(made, START, PyLong_FromLongLong(start))
    return made


def operands_of(place: int, state: int) -> int:
    """Store the operands of all arrays; return how many, -1 if some are not at hand."""
    total = 0
    for k in range(load(state + 8)):
        array = load(state + ARRAYS + 16 * k)
        count = load(get(array, OPERANDS) + SIZE) if is_lazy(array) else 2
        if total + count > HALF or put(place + 8 * total, array) < 0:
            return -1
        total += count
    return total


def assembled(recipe: int, state: int) -> int:
    """Return an expression of the operands of a call's arrays; 0 where Python has to make it."""
    given = scratch()
    out, total = given + 8 * HALF, operands_of(given, state)
    record = get(recipe, RECIPE_RECORD) + word(BYTES_DATA)
    count, moved = load(record), load(record + 8)
    if total < 0 or count > HALF:
        return 0
    for k in range(count):
        pick = load(record + 16 + 8 * k)
        if pick < total:
            store(out + 8 * k, load(given + 8 * pick))
        else:
            store(out + 8 * k, item(get(recipe, RECIPE_CONSTANTS), pick - total))
    moves = record + 16 + 8 * count
    for k in range(moved):
        at = out + 8 * load(moves + 16 * k)
        store(at, PyLong_FromLongLong(PyLong_AsLongLong(load(at)) + load(moves + 16 * k + 8)))
    made = expression(get(recipe, RECIPE_KIND), get(recipe, RECIPE_SHAPE), out, count)
    for k in range(moved):
        Py_DecRef(load(out + 8 * load(moves + 16 * k)))
    return made


def remade(known: int, state: int) -> int:
    """Return the result of a call like one that is kept; 0 if there is none."""
    key, made = new_key(state), 0
    if key == 0:
        return 0
    recipe = PyDict_GetItemWithError(known, key)
    if recipe == 0:
        PyErr_Clear()
    elif is_as_noted(key, state):
        keep(recipe)
        if load(recipe + CLASS) == word(RECIPE):
            made = assembled(recipe, state)
        elif load(recipe + CLASS) == word(VIEW_RECIPE):
            made = viewed(recipe, load(state + ARRAYS))
        Py_DecRef(recipe)
    Py_DecRef(key)
    return made


def recall(known: int, args: int, options: int) -> int:
    """Return the result of a call of a memoised function; 0 if it is not known."""
    if is_traced():
        return 0
    state, usual = scratch(), True
    store(state, 0)
    store(state + 8, 0)
    for k in range(load(args + SIZE)):
        usual = usual and is_noted(state, item(args, k))
    if usual and PyDict_Size(options) != 0:
        at = state + 8 * 250
        store(at, 0)
        while PyDict_Next(options, at, at + 8, at + 16) != 0:
            if usual and load(state) <= MOST_KEYS:
                push(state, keep(load(at + 8)))
                usual = is_noted(state, load(at + 16))
            else:
                usual = False
    if not usual:
        store(state + 8, -1)  # so that the key is dropped
    return remade(known, state)


def recalled(items: int) -> int:
    """``recalled(known, args, options)``; None if it is not known."""
    made = recall(load(items), load(items + 8), load(items + 16))
    return made if made != 0 else keep(word(NONE))
