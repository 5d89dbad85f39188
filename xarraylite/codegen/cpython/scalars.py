"""Values: what an element is, the number in one, and what operators make of two of float64."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, load, load_byte, load_double, scratch, store, word
from .evaluation import record_of
from .launching import started
from .words import CODE, WAYS

#: Operations on two values: `transforms.natives` has the operators'.
ADD, SUBTRACT, MULTIPLY, DIVIDE = range(1, 5)
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, DIFFERENT = range(5, 11)
FLOOR, MODULO, AND, OR, XOR, LEFT, RIGHT, POWER = range(11, 19)
#: Those on one.
NEGATIVE, ABSOLUTE, INVERTED = range(19, 22)

#: Python's numbers that are finite in every dtype of NumPy's floats, and exact up to the second.
SMALL_FLOAT, SMALL_INT = 65504.0, 2048

#: Whole numbers up to which float64 has them all.
EXACT = 1 << 53

#: The greatest float32.
MOST_SHORT = 3.4028234663852886e38


def has_short_floats(dtype: int) -> bool:
    """Tell whether a dtype has shorter floats than Python."""
    return dtype == word(w.FLOAT32) or dtype == word(w.FLOAT16) or dtype == word(w.COMPLEX64)


def fits(kind: int, number: int) -> bool:
    """Tell whether NumPy stores a number in memory of a kind as we do."""
    if c.PySet_Contains(py.get(kind, w.STORED), load(number + CLASS)) == 1:
        return True
    dtype, cls = py.get(kind, w.DTYPE), load(number + CLASS)
    most = SMALL_FLOAT if dtype == word(w.FLOAT16) else MOST_SHORT
    if dtype == word(w.COMPLEX64) and cls == word(w.COMPLEX):
        if not -most <= load_double(number + py.DATA + 8) <= most:
            return False
    elif cls == word(w.INT) and has_short_floats(dtype):
        return fits_whole(word(w.FLOAT16), number)
    elif cls != word(w.FLOAT) or not has_short_floats(dtype):
        return False
    return -most <= load_double(number + py.DATA) <= most


def fits_whole(dtype: int, number: int) -> bool:
    """Tell whether a dtype of whole numbers, or of floats, has a Python integer for sure."""
    value = c.PyLong_AsLongLong(number)
    if value == -1 and c.PyErr_Occurred() != 0:
        c.PyErr_Clear()
        return False
    place = load(dtype + py.DTYPE_NUMBER) >> 32  # from 1 on, signed and unsigned ones in turn
    if place > 10:
        return -SMALL_INT <= value <= SMALL_INT or dtype != word(w.FLOAT16)
    most = 0x7F if place <= 2 else (0x7FFF if place <= 4 else 0x7FFFFFFF)
    if place % 2 == 0:
        return value >= 0 and (place > 6 or value <= 2 * most + 1)
    return place > 6 or -most - 1 <= value <= most


def inside(thing: int) -> int:
    """Return the number in a value, or a number itself, as the caller's."""
    cls = load(thing + CLASS)
    if cls == word(w.SCALAR_FLOAT):
        return c.PyFloat_FromDouble(load_double(thing + py.DATA))
    return py.keep(
        py.get(thing, w.SCALAR_VALUE) if c.PyType_IsSubtype(cls, word(w.SCALAR_HELD)) else thing
    )


def value_of(one: int) -> int:
    """Return a number of NumPy's as a value; 0 if it is none, or there is no memory."""
    own = load(one + CLASS)
    cls = word(w.SCALAR_FLOAT)
    if own != word(w.NUMPY_FLOAT64) and own != word(w.FLOAT):
        cls = c.PyDict_GetItemWithError(word(w.SCALARS), own)
    made = py.new(cls) if cls != 0 else 0
    if made == 0:
        c.PyErr_Clear()
    elif cls == word(w.SCALAR_FLOAT) or cls == word(w.SCALAR_COMPLEX):
        store(made + py.DATA, load(one + py.DATA))
        if cls == word(w.SCALAR_COMPLEX):
            store(made + py.DATA + 8, load(one + py.DATA + 8))
    else:
        py.give(made, w.SCALAR_VALUE, py.keep(one))
    return made


def is_double(thing: int) -> bool:
    """Tell whether an object is a float, or a value of float64, which is one."""
    cls = load(thing + CLASS)
    return cls == word(w.FLOAT) or cls == word(w.SCALAR_FLOAT) or cls == word(w.NUMPY_FLOAT64)


def double_of(number: float) -> int:
    """Return a value of float64."""
    made, value = py.new(word(w.SCALAR_FLOAT)), c.PyFloat_FromDouble(number)
    if made != 0 and value != 0:
        store(made + py.DATA, load(value + py.DATA))
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
    """Tell how two floats, or two whole numbers, compare."""
    if code == LESS:
        return one < other
    if code == LESS_EQUAL:
        return one <= other
    if code == GREATER:
        return one > other
    if code == GREATER_EQUAL:
        return one >= other
    return one == other if code == EQUAL else one != other


def of_two(code: int, one: float, other: float) -> int:
    """Return what an operation makes of two floats; 0 where Python has to do it."""
    if code <= DIVIDE:
        return computed_of(code, one, other)
    return truth_of(compared_of(code, one, other)) if code <= DIFFERENT else 0


def truth_of(flag: bool) -> int:
    """Return a truth value."""
    return value_of(word(w.NUMPY_TRUE) if flag else word(w.NUMPY_FALSE))


def power_of(base: int, exponent: int) -> int:
    """Return the small power of a value of float64 that products are; 0 of any other."""
    cls, place = load(exponent + CLASS), scratch()
    if load(base + CLASS) != word(w.SCALAR_FLOAT):
        return 0
    number = load_double(base + py.DATA)
    if cls == word(w.FLOAT):
        by = load_double(exponent + py.DATA)
    elif cls == word(w.INT) and whole_in(exponent, place):
        by = float(load(place))
    else:
        return 0
    if by == 2.0:
        return double_of(number * number)
    return double_of(number * number * number) if by == 3.0 else 0


def is_two(thing: int) -> bool:
    """Tell whether an object is the int 2."""
    return load(thing + CLASS) == word(w.INT) and py.integer(thing) == 2


def is_int64(thing: int) -> bool:
    """Tell whether an object is a value of int64."""
    if c.PyType_IsSubtype(load(thing + CLASS), word(w.SCALAR_HELD)) == 0:
        return False
    return load(py.get(thing, w.SCALAR_VALUE) + CLASS) == word(w.NUMPY_INT64)


def whole_in(thing: int, place: int) -> bool:
    """Store an int, a truth value or a value of int64; tell whether it is one, of 64 bits."""
    if load(thing + CLASS) == word(w.INT):
        number = c.PyLong_AsLongLong(thing)
        store(place, number)
        if number == -1 and c.PyErr_Occurred() != 0:
            c.PyErr_Clear()
            return False
        return True
    held = c.PyType_IsSubtype(load(thing + CLASS), word(w.SCALAR_HELD)) != 0
    number = py.get(thing, w.SCALAR_VALUE) if held else thing
    if is_truth(number):
        store(place, 1 if is_true(number) else 0)
        return True
    if not held or load(number + CLASS) != word(w.NUMPY_INT64):
        return False
    store(place, load(number + py.DATA))
    return True


def is_truth(number: int) -> bool:
    """Tell whether an object is a truth value of Python's or of NumPy's."""
    cls = load(number + CLASS)
    return cls == word(w.NUMPY_BOOL) or number == word(w.TRUE) or number == word(w.FALSE)


def is_true(number: int) -> bool:
    """Tell whether a truth value is true."""
    if load(number + CLASS) == word(w.NUMPY_BOOL):
        return load_byte(number + py.DATA) != 0
    return number == word(w.TRUE)


def of_truths(code: int, left: int, right: int) -> int:
    """Return what logic makes of two truth values; 0 of others."""
    one, other = inside(left), inside(right)
    made = 0
    if is_truth(one) and is_truth(other):
        if code == AND:
            made = truth_of(is_true(one) and is_true(other))
        elif code == OR:
            made = truth_of(is_true(one) or is_true(other))
        elif code in (XOR, DIFFERENT):
            made = truth_of(is_true(one) != is_true(other))
        elif code == EQUAL:
            made = truth_of(is_true(one) == is_true(other))
    c.Py_DecRef(one)
    c.Py_DecRef(other)
    return made


def long_of(number: int) -> int:
    """Return a value of int64."""
    one = py.new(word(w.NUMPY_INT64))
    if one == 0:
        return 0
    store(one + py.DATA, number)
    made = value_of(one)
    c.Py_DecRef(one)
    return made


def of_longs(code: int, one: int, other: int) -> int:
    """Return what an operation makes of two whole numbers of int64; 0 where Python has to do it."""
    if LESS <= code <= DIFFERENT:
        return truth_of(compared_of(code, one, other))
    if code == ADD:
        return long_of(one + other)
    if code == SUBTRACT:
        return long_of(one - other)
    if code == MULTIPLY:
        return long_of(one * other)
    if code == AND:
        return long_of(one & other)
    if code == OR:
        return long_of(one | other)
    if code == XOR:
        return long_of(one ^ other)
    if code == LEFT and 0 <= other < 64:
        return long_of(one << other)
    if code == RIGHT and 0 <= other < 64:
        return long_of(one >> other)
    if -1 <= other <= 0:  # what NumPy warns about
        return 0
    if code == DIVIDE:
        return double_of(float(one) / float(other))
    if code == FLOOR:
        return long_of(one // other)
    return long_of(one % other) if code == MODULO else 0


def of_numbers(code: int, left: int, right: int) -> int:
    """Return what an operation makes of whole numbers, or of one and a float; 0 of others.

    One of them is a value of int64 or of float64, which decides the dtype.
    """
    place = scratch()
    first, second = whole_in(left, place), whole_in(right, place + 8)
    one, other = load(place), load(place + 8)
    if first and second:
        return of_longs(code, one, other) if is_int64(left) or is_int64(right) else 0
    if first and is_double(right):
        whole, strong = one, is_int64(left) or load(right + CLASS) == word(w.SCALAR_FLOAT)
        number = load_double(right + py.DATA)
    elif second and is_double(left):
        whole, strong = other, is_int64(right) or load(left + CLASS) == word(w.SCALAR_FLOAT)
        number = load_double(left + py.DATA)
    else:
        return 0
    if not strong or code > DIFFERENT or not -EXACT <= whole <= EXACT:
        return 0
    exact = float(whole)
    return of_two(code, exact, number) if first else of_two(code, number, exact)


def class_of(thing: int) -> int:
    """Return the class of a value's number, or of a small one of Python's; 0 of anything else.

    Small are those that every dtype of floats holds, whatever they are rounded to.
    """
    cls = load(thing + CLASS)
    if cls == word(w.FLOAT):
        return cls if -SMALL_FLOAT <= load_double(thing + py.DATA) <= SMALL_FLOAT else 0
    if cls == word(w.INT):
        number = c.PyLong_AsLongLong(thing)
        c.PyErr_Clear()
        return cls if -SMALL_INT <= number <= SMALL_INT else 0
    return strong_class(thing)


def strong_class(thing: int) -> int:
    """Return the class of a number of NumPy's, or of that in a value; 0 of anything else."""
    cls = load(thing + CLASS)
    if cls == word(w.SCALAR_FLOAT):
        return word(w.NUMPY_FLOAT64)
    if cls == word(w.SCALAR_COMPLEX):
        return word(w.NUMPY_COMPLEX128)
    held = c.PyType_IsSubtype(cls, word(w.SCALAR_HELD)) != 0
    own = load(py.get(thing, w.SCALAR_VALUE) + CLASS) if held else cls
    return own if c.PyType_IsSubtype(own, word(w.NUMPY_GENERIC)) != 0 else 0


def plain_of(thing: int, cls: int) -> int:
    """Return what `class_of` tells the class of, the caller's; 0 if there is no memory."""
    own = load(thing + CLASS)
    if own != word(w.SCALAR_FLOAT) and own != word(w.SCALAR_COMPLEX):
        return py.keep(thing if own == cls else py.get(thing, w.SCALAR_VALUE))
    made = py.new(cls)
    if made != 0:
        store(made + py.DATA, load(thing + py.DATA))
        if own == word(w.SCALAR_COMPLEX):
            store(made + py.DATA + 8, load(thing + py.DATA + 8))
    return made


def by_way(ways: int, left: int, right: int) -> int:
    """Return an operation on numbers by a way that is known of their classes; 0 if none is.

    ``right`` is 0 if there is one number alone.
    """
    one, other = class_of(left), class_of(right) if right != 0 else 0
    if one == 0 or (other == 0 and right != 0) or word(w.WARNING) == word(w.NONE):
        return 0
    types, made = py.few(one, other, 0), 0
    way = c.PyDict_GetItemWithError(ways, types) if types != 0 else 0
    c.Py_DecRef(types)
    if way == 0:
        c.PyErr_Clear()
        return 0
    py.keep(way)
    first, second = plain_of(left, one), plain_of(right, other) if right != 0 else 0
    if first != 0 and (second != 0 or right == 0):
        made = on_way(way, first, second)
    for part in (way, first, second):
        c.Py_DecRef(part)
    return py.or_nothing(made)


def on_way(way: int, one: int, other: int) -> int:
    """Return what a way makes of one number, or of two, as a value; 0 if it does not."""
    if load(way + CLASS) == word(w.SCALAR_KERNEL):
        number = of_kernel(way, one, other)
    else:
        operands = py.few(one, other, 0)
        number = py.silently(way, operands, 0) if operands != 0 else 0
        c.Py_DecRef(operands)
    made = value_of(number) if number != 0 else 0
    c.Py_DecRef(number)
    return made


def of_kernel(way: int, one: int, other: int) -> int:
    """Return what a kernel computes of one number, or of two; 0 if it is not launched."""
    kind, classes, place = py.get(way, w.KERNEL_KIND), py.get(way, w.KERNEL_CLASSES), scratch()
    dtype = py.get(kind, w.DTYPE)
    if dtype == word(w.BOOL_DTYPE):
        return 0
    store(place, in_class(one, py.item(classes, 0)))
    store(place + 8, in_class(other, py.item(classes, 1)) if other != 0 else 0)
    made = py.new(load(dtype + py.DTYPE_CLASS))
    record = record_of(py.get(kind, w.FRESH))  # last: the collector may run before
    done = load(place) != 0 and (load(place + 8) != 0 or other == 0) and made != 0 and record != 0
    if not done or started(record, made + py.DATA, word(w.EMPTY), place) == 0:
        c.Py_DecRef(made)
        made = 0
    c.Py_DecRef(load(place))
    c.Py_DecRef(load(place + 8))
    return made


def in_class(number: int, cls: int) -> int:
    """Return a number in one of Python's classes, the caller's; 0, and an exception, if it fails.

    NumPy's of float64 and complex128 have the same words.
    """
    own = load(number + CLASS)
    real = cls == word(w.FLOAT) and own == word(w.NUMPY_FLOAT64)
    if own == cls or real or (cls == word(w.COMPLEX) and own == word(w.NUMPY_COMPLEX128)):
        return py.keep(number)
    return py.call(cls, number, 0, 1)


def held(left: int, right: int, row: int) -> int:
    """``left + right`` of two numbers, one of them a value."""
    code, made = word(row + CODE), 0
    if code == POWER:
        if load(left + CLASS) == word(w.SCALAR_COMPLEX) and is_two(right):
            return by_way(word(w.SQUARES), left, 0)
        made = power_of(left, right)
    elif is_double(left) and is_double(right):
        made = of_two(code, load_double(left + py.DATA), load_double(right + py.DATA))
    else:
        made = of_numbers(code, left, right)
        if made == 0:
            made = of_truths(code, left, right)
    return made if made != 0 else by_way(word(row + WAYS), left, right)


def alone_held(one: int, row: int) -> int:
    """``-one`` of a value."""
    code = word(row + CODE)
    if load(one + CLASS) == word(w.SCALAR_FLOAT):
        number = load_double(one + py.DATA)
        usual = code in (NEGATIVE, ABSOLUTE)
        return double_of(-number if code == NEGATIVE else abs(number)) if usual else 0
    if is_int64(one) and code != 0:
        whole = load(py.get(one, w.SCALAR_VALUE) + py.DATA)
        if code == INVERTED:
            return long_of(~whole)
        return long_of(0 - whole if code == NEGATIVE or whole < 0 else whole)
    return by_way(word(row + WAYS), one, 0)


def is_whole(thing: int) -> bool:
    """Tell whether an object is a value, or a number of NumPy's, of a dtype of whole numbers."""
    cls = load(thing + CLASS)
    return cls == word(w.SCALAR_INTEGER) or cls == word(w.NUMPY_INT64)


def int_of(thing: int) -> int:
    """Return a whole value as an int, the caller's; 0 if it is none."""
    if not is_whole(thing):
        return 0
    own = load(thing + CLASS) == word(w.NUMPY_INT64)
    return py.or_nothing(c.PyNumber_Index(thing if own else py.get(thing, w.SCALAR_VALUE)))
