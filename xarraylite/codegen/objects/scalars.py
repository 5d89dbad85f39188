"""Values of float64: what an element is, and the sums and products of two."""

from __future__ import annotations

from .api import (
    ADD,
    CLASS,
    DIVIDE,
    FLOAT,
    MULTIPLY,
    NUMPY_FLOAT64,
    SCALAR,
    SCALAR_FLOAT,
    SCALAR_VALUE,
    SUBTRACT,
    Py_DecRef,
    PyFloat_FromDouble,
    PyNumber_Float,
    load,
    load_double,
    word,
)
from .basics import DATA, call, get, give, new


def is_double(value: int) -> bool:
    """Tell whether an object is a float of Python or NumPy, which have their value in one place."""
    if value == 0:
        return False
    cls = load(value + CLASS)
    return cls == word(FLOAT) or cls == word(NUMPY_FLOAT64)


def inside(thing: int) -> int:
    """Return the number in a value, or a number itself; borrowed."""
    return get(thing, SCALAR_VALUE) if load(thing + CLASS) == word(SCALAR) else thing


def of_two(op: int, left: int, right: int) -> int:
    """Return an operation on two numbers as a value; 0 where Python has to do it."""
    if not is_double(left) or not is_double(right):
        return 0
    one, other = load_double(left + DATA), load_double(right + DATA)
    if op == word(ADD):
        result = one + other
    elif op == word(SUBTRACT):
        result = one - other
    elif op == word(MULTIPLY):
        result = one * other
    elif op == word(DIVIDE) and other != 0.0:
        result = one / other
    else:
        return 0
    number = PyFloat_FromDouble(result)
    made = new(word(SCALAR)) if number != 0 else 0
    if made != 0:
        give(made, SCALAR_VALUE, number)
    elif number != 0:
        Py_DecRef(number)
    return made


def scalar_forward(left: int, right: int, row: int) -> int:
    """``left + right``, the left one a value."""
    made = of_two(word(row), inside(left), inside(right))
    return made if made != 0 else call(word(row + 5), left, right, 2)


def scalar_reflected(right: int, left: int, row: int) -> int:
    """``left + right``, the right one a value and the left one a number."""
    made = of_two(word(row), inside(left), inside(right))
    return made if made != 0 else call(word(row + 6), right, left, 2)


def scalar_float(thing: int) -> int:
    """``float(thing)`` of a value."""
    value = inside(thing)
    if is_double(value):
        return PyNumber_Float(value)
    return call(word(SCALAR_FLOAT), thing, 0, 1)
