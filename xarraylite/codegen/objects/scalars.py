"""Values: what an element is, the number in one, and what operators make of two of float64."""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, load, load_double, store, word
from .basics import DATA, call, get, give, keep, new

#: Operations on two values: `transforms.natives` has the operators'.
ADD, SUBTRACT, MULTIPLY, DIVIDE = range(1, 5)
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL = range(5, 10)  # and what remains is "not equal"


def inside(thing: int) -> int:
    """Return the number in a value, or a number itself, as the caller's."""
    cls = load(thing + CLASS)
    if cls == word(w.SCALAR_FLOAT):
        return c.PyFloat_FromDouble(load_double(thing + DATA))
    return keep(
        get(thing, w.SCALAR_VALUE) if c.PyType_IsSubtype(cls, word(w.SCALAR_HELD)) else thing
    )


def value_of(one: int) -> int:
    """Return a number of NumPy's as a value; 0 if it is none, or there is no memory."""
    cls = c.PyDict_GetItemWithError(word(w.SCALARS), load(one + CLASS))
    made = new(cls) if cls != 0 else 0
    if made == 0:
        c.PyErr_Clear()
    elif cls == word(w.SCALAR_FLOAT) or cls == word(w.SCALAR_COMPLEX):
        store(made + DATA, load(one + DATA))
        if cls == word(w.SCALAR_COMPLEX):
            store(made + DATA + 8, load(one + DATA + 8))
    else:
        give(made, w.SCALAR_VALUE, keep(one))
    return made


def is_double(thing: int) -> bool:
    """Tell whether an object is a float, or a value of float64, which is one."""
    cls = load(thing + CLASS)
    return cls == word(w.FLOAT) or cls == word(w.SCALAR_FLOAT) or cls == word(w.NUMPY_FLOAT64)


def double_of(number: float) -> int:
    """Return a value of float64."""
    made, value = new(word(w.SCALAR_FLOAT)), c.PyFloat_FromDouble(number)
    if made != 0 and value != 0:
        store(made + DATA, load(value + DATA))
    c.Py_DecRef(value)
    return made


def computed_of(code: int, one: float, other: float) -> int:
    """Return what arithmetic makes of two floats; 0 where Python has to do it."""
    if code == ADD:
        return double_of(one + other)
    if code == SUBTRACT:
        return double_of(one - other)
    if code == MULTIPLY:
        return double_of(one * other)
    return double_of(one / other) if code == DIVIDE and other != 0.0 else 0


def compared_of(code: int, one: float, other: float) -> bool:
    """Tell how two floats compare."""
    if code == LESS:
        return one < other
    if code == LESS_EQUAL:
        return one <= other
    if code == GREATER:
        return one > other
    if code == GREATER_EQUAL:
        return one >= other
    return one == other if code == EQUAL else one != other


def of_two(code: int, left: int, right: int) -> int:
    """Return an operation on two floats as a value; 0 where Python has to do it."""
    if not is_double(left) or not is_double(right):
        return 0
    one, other = load_double(left + DATA), load_double(right + DATA)
    if code <= DIVIDE:
        return computed_of(code, one, other)
    return value_of(word(w.TRUE) if compared_of(code, one, other) else word(w.FALSE))


def scalar_forward(left: int, right: int, row: int) -> int:
    """``left + right``, the left one a value of float64."""
    made = of_two(word(row + 7), left, right)
    return made if made != 0 else call(word(row + 5), left, right, 2)


def scalar_reflected(right: int, left: int, row: int) -> int:
    """``left + right``, the right one a value of float64 and the left one a number."""
    made = of_two(word(row + 7), left, right)
    return made if made != 0 else call(word(row + 6), right, left, 2)
