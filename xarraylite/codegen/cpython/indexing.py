"""``x[key]`` and ``x[key] = value`` of containers: the ways of both, each tried before the next."""

from __future__ import annotations

from . import assignment
from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, scratch, store, word
from .indices import plain_of_key
from .operators import applied
from .picks import by_numpy, element_at, listed, picked, value_at
from .readers import let_go, waiting_for
from .scalars import is_double, whole_in
from .scattered import put_by_numpy, put_cast, put_down, stored_value
from .views import given_of, is_index, overlaps_itself, view_of


def get_item(thing: int, key: int) -> int:
    """``thing[key]``."""
    plain = plain_of_key(key)
    made = got(thing, key if plain == 0 else plain)
    c.Py_DecRef(plain)
    return made


def got(thing: int, key: int) -> int:
    """Return what an index selects; 0 where Python has to do it."""
    if load(key + CLASS) == word(w.NDARRAY):
        made = picked(thing, key)
        return made if made != 0 else listed(thing, key)
    made = value_at(thing, key) if is_index(key, False) else 0
    if made == 0:
        made = view_of(thing, key)
    if made == 0:
        made = picked(thing, key)
    if made == 0:
        made = by_numpy(thing, key)
    return made if made != 0 else listed(thing, key)


def has_bits(dtype: int, value: int, place: int) -> bool:
    """Store the word that a number is as an element of float64 or int64; tell whether it is one."""
    if dtype == word(w.INT64):
        return whole_in(value, place)
    number = 0
    if dtype == word(w.FLOAT64):
        whole = load(value + CLASS) == word(w.INT)
        number = c.PyNumber_Float(value) if whole else py.keep(value if is_double(value) else 0)
    if number == 0:
        c.PyErr_Clear()  # Python says that no float is so large
        return False
    store(place, load(number + py.DATA))
    c.Py_DecRef(number)
    return True


def put_number_at(to: int, key: int, value: int) -> bool:
    """Write a number to the one element of float64 or int64 at integers; tell whether it is done.

    What asks who waits, and writes, holds the interpreter's lock all the time.
    """
    if (
        not is_index(key, False)
        or not py.is_container(to)
        or waiting_for(py.get(to, w.OWN_BUFFER)) != 0
    ):
        return False
    if given_of(key) != load(py.get(to, w.SHAPE) + SIZE):
        return False
    bits = scratch()
    if not has_bits(py.dtype_of(to), value, bits):
        return False
    place = element_at(to, key) if py.is_row_major(to) or not overlaps_itself(to) else 0
    if place != 0:
        store(place, load(bits))
    return place != 0


def set_item(to: int, key: int, value: int) -> int:
    """``to[key] = value``, of a container or a promise."""
    if put_number_at(to, key, value):
        return py.keep(word(w.NONE))
    plain = plain_of_key(key)
    done = has_set(to, key if plain == 0 else plain, value)
    c.Py_DecRef(plain)
    return py.keep(word(w.NONE)) if done else 0


def has_set(to: int, key: int, value: int) -> bool:
    """Write to what an index selects; tell whether it is done."""
    promise, target = assignment.is_promise(to), assignment.destination_of(to)
    if not promise:
        let_go(target, value, key)
    if not py.is_array(value):
        return assignment.stored(target, key, value)
    if not (promise and assignment.is_checked()) and stored_value(target, key, value):
        return True
    if not promise and (put_down(target, key, value) or put_by_numpy(target, key, value)):
        return True
    part, done = py.keep(target) if key == word(w.ELLIPSIS) else view_of(target, key), False
    if part != 0:
        done = assignment.is_part(part, value) or assignment.assigned(part, value, not promise)
        if not done:
            done = (
                assignment.unchecked(part, value) if promise else put_cast(target, part, key, value)
            )
        c.Py_DecRef(part)
    return done


def computed_into(items: int, count: int) -> int:
    """``computed_into(out, op, *operands)``: an operation that is written where its result goes."""
    out, made, done = load(items), 0, False
    if py.is_container(out) and py.get(out, w.SHAPE) != word(w.EMPTY):
        made = applied(items + 8, count - 1)
    if made != 0 and py.is_lazy(made):
        done = assignment.put_result(out, made, 0)
    c.Py_DecRef(made)
    return py.keep(out) if done else 0
