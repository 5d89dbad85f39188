"""Values without dimensions as Python's numbers."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import SIZE, load, load_byte, load_double, scratch, store, word
from .evaluation import begin_of, is_brief, lazy_values, record_of
from .launching import started


def found(thing: int, dtype: int, place: int) -> bool:
    """Store the only element of what has a dtype and no dimensions; tell whether that was done.

    What is folded needs no memory of its own.  Nor are program and operands kept: folds are
    launched under the interpreter's lock (`runtime.direct` gives them no more elements), so nobody
    can let go of them before the kernel is done.
    """
    array = py.is_array(thing)
    kind = py.get(thing, w.KIND) if array else 0
    if kind == 0 or kind == word(w.NODE) or py.get(kind, w.DTYPE) != dtype or py.is_traced():
        return False
    if load(py.get(thing, w.SHAPE) + SIZE) != 0:
        return False
    nbytes = py.itemsize_of(kind)
    store(place, 0)
    if not py.is_lazy(thing):
        c.memcpy(place, begin_of(thing), nbytes)
        return True
    operands = py.get(thing, w.OPERANDS) + word(w.TUPLE_ITEMS)
    record = record_of(py.get(kind, w.FRESH))
    if record != 0 and load(record + py.FOLDS) != 0:
        size = py.size_of(load(operands))
        py.count_evaluation()
        if size <= 0 or not is_brief(record, size):
            return False
        return started(record, place, load(operands), operands + 8) != 0
    made = lazy_values(thing)
    if made != 0:
        c.memcpy(place, begin_of(made), nbytes)
        c.Py_DecRef(made)
    return made != 0


def to_float(thing: int) -> int:
    """``float(thing)``, of one element of float64."""
    place = scratch()
    if found(thing, word(w.FLOAT64), place):
        return c.PyFloat_FromDouble(load_double(place))
    return 0


def to_int(thing: int) -> int:
    """``int(thing)``, of one element of int64."""
    place = scratch()
    if found(thing, word(w.INT64), place):
        return c.PyLong_FromLongLong(load(place))
    return 0


def to_bool(thing: int) -> int:
    """``bool(thing)``, of one truth value."""
    place = scratch()
    if found(thing, word(w.BOOL_DTYPE), place):
        return py.keep(word(w.TRUE if load_byte(place) != 0 else w.FALSE))
    return 0
