"""Values: what an element is, the number in one, and what operators make of two of float64."""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, load, load_double, store, word
from .basics import DATA, get, give, keep, new, pair, silently
from .words import CODE, WAYS

#: Operations on two values: `transforms.natives` has the operators'.
ADD, SUBTRACT, MULTIPLY, DIVIDE = range(1, 5)
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, DIFFERENT = range(5, 11)

#: Python's numbers that are finite in every dtype of NumPy's floats, and exact up to the second.
SMALL_FLOAT, SMALL_INT = 65504.0, 2048

#: The greatest float32.
MOST_SHORT = 3.4028234663852886e38


def has_short_floats(dtype: int) -> bool:
    """Tell whether a dtype has shorter floats than Python."""
    return dtype == word(w.FLOAT32) or dtype == word(w.FLOAT16) or dtype == word(w.COMPLEX64)


def fits(kind: int, number: int) -> bool:
    """Tell whether NumPy stores a number in memory of a kind as we do."""
    if c.PySet_Contains(get(kind, w.STORED), load(number + CLASS)) == 1:
        return True
    dtype, cls = get(kind, w.DTYPE), load(number + CLASS)
    most = SMALL_FLOAT if dtype == word(w.FLOAT16) else MOST_SHORT
    if dtype == word(w.COMPLEX64) and cls == word(w.COMPLEX):
        if not -most <= load_double(number + DATA + 8) <= most:
            return False
    elif cls != word(w.FLOAT) or not has_short_floats(dtype):
        return False
    return -most <= load_double(number + DATA) <= most


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
    own = load(one + CLASS)
    cls = word(w.SCALAR_FLOAT)
    if own != word(w.NUMPY_FLOAT64) and own != word(w.FLOAT):
        cls = c.PyDict_GetItemWithError(word(w.SCALARS), own)
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


def of_doubles(left: int, right: int, row: int) -> int:
    """``left + right`` of two floats, one a value of float64."""
    code = word(row + CODE)
    if not is_double(left) or not is_double(right):
        return 0
    one, other = load_double(left + DATA), load_double(right + DATA)
    if code <= DIVIDE:
        return computed_of(code, one, other)
    return value_of(word(w.TRUE) if compared_of(code, one, other) else word(w.FALSE))


def complex_of_two(code: int, left: int, right: int) -> int:
    """Return the sum, the difference or a comparison of two numbers, one complex; 0 of others.

    Products are NumPy's, which rounds once where arrays do.
    """
    one, other = load(left + CLASS), load(right + CLASS)
    if one != word(w.SCALAR_COMPLEX) and one != word(w.COMPLEX) and not is_double(left):
        return 0
    if other != word(w.SCALAR_COMPLEX) and other != word(w.COMPLEX) and not is_double(right):
        return 0
    real, other_real = load_double(left + DATA), load_double(right + DATA)
    imag = 0.0 if is_double(left) else load_double(left + DATA + 8)
    other_imag = 0.0 if is_double(right) else load_double(right + DATA + 8)
    if code in (EQUAL, DIFFERENT):
        same = real == other_real and imag == other_imag
        return value_of(word(w.TRUE) if same == (code == EQUAL) else word(w.FALSE))
    if code not in (ADD, SUBTRACT):
        return 0
    number = 0
    if code == ADD:
        number = c.PyComplex_FromDoubles(real + other_real, imag + other_imag)
    else:
        number = c.PyComplex_FromDoubles(real - other_real, imag - other_imag)
    made = value_of(number) if number != 0 else 0
    c.Py_DecRef(number)
    return made


def plain_of(thing: int) -> int:
    """Return a value's number as NumPy has it, or a small one of Python's; 0 of anything else.

    Small are those that every dtype of floats holds, whatever they are rounded to.
    """
    cls = load(thing + CLASS)
    if cls == word(w.FLOAT):
        number = load_double(thing + DATA)
        return thing if -SMALL_FLOAT <= number <= SMALL_FLOAT else 0
    if cls == word(w.INT):
        number = c.PyLong_AsLongLong(thing)
        c.PyErr_Clear()
        return thing if -SMALL_INT <= number <= SMALL_INT else 0
    if c.PyType_IsSubtype(cls, word(w.SCALAR_HELD)) == 0:
        return 0
    held = get(thing, w.SCALAR_VALUE)
    return held if c.PyType_IsSubtype(load(held + CLASS), word(w.NUMPY_GENERIC)) != 0 else 0


def by_way(ways: int, left: int, right: int) -> int:
    """Return an operation on two numbers by a way that is known of their classes; 0 if none is."""
    one, other = plain_of(left), plain_of(right)
    if one == 0 or other == 0 or word(w.WARNING) == word(w.NONE):
        return 0
    types, made = pair(load(one + CLASS), load(other + CLASS)), 0
    way = c.PyDict_GetItemWithError(ways, types) if types != 0 else 0
    c.Py_DecRef(types)
    operands = pair(one, other) if way != 0 else 0
    if operands != 0:
        number = silently(way, operands, 0)
        c.Py_DecRef(operands)
        made = value_of(number) if number != 0 else 0
        c.Py_DecRef(number)
    if made == 0:
        c.PyErr_Clear()
    return made


def held(left: int, right: int, row: int) -> int:
    """``left + right`` of two numbers, one a value of any dtype but float64."""
    made = complex_of_two(word(row + CODE), left, right)
    return made if made != 0 else by_way(word(row + WAYS), left, right)
