"""Values: what an element is, and the number in one."""

from __future__ import annotations

from .api import (
    CLASS,
    SCALAR_COMPLEX,
    SCALAR_FLOAT,
    SCALAR_HELD,
    SCALAR_VALUE,
    SCALARS,
    PyDict_GetItemWithError,
    PyErr_Clear,
    PyFloat_FromDouble,
    PyType_IsSubtype,
    load,
    load_double,
    store,
    word,
)
from .basics import DATA, get, give, keep, new


def inside(thing: int) -> int:
    """Return the number in a value, or a number itself, as the caller's."""
    cls = load(thing + CLASS)
    if cls == word(SCALAR_FLOAT):
        return PyFloat_FromDouble(load_double(thing + DATA))
    return keep(get(thing, SCALAR_VALUE) if PyType_IsSubtype(cls, word(SCALAR_HELD)) else thing)


def value_of(one: int) -> int:
    """Return a number of NumPy's as a value; 0 if it is none, or there is no memory."""
    cls = PyDict_GetItemWithError(word(SCALARS), load(one + CLASS))
    made = new(cls) if cls != 0 else 0
    if made == 0:
        PyErr_Clear()
    elif cls == word(SCALAR_FLOAT) or cls == word(SCALAR_COMPLEX):
        store(made + DATA, load(one + DATA))
        if cls == word(SCALAR_COMPLEX):
            store(made + DATA + 8, load(one + DATA + 8))
    else:
        give(made, SCALAR_VALUE, keep(one))
    return made
