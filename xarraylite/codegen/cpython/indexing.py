"""``x[key]`` and ``x[key] = value`` of containers: the ways of both, each tried before the next."""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, store, word
from .assignment import (
    assigned,
    destination_of,
    is_checked,
    is_part,
    is_promise,
    selector,
    stored,
    unchecked,
)
from .basics import (
    dtype_of,
    get,
    is_array,
    is_array_or_numpys,
    is_container,
    is_lazy,
    is_same,
    is_traced,
    item,
    keep,
    tuple_of,
)
from .calls import array_of
from .evaluation import begin_of
from .operators import applied
from .picks import by_numpy, listed, picked, value_at
from .readers import let_go
from .reuse import kept_values
from .scalars import with_ints
from .scattered import put_by_numpy, put_cast, put_down, stored_value
from .views import is_index, view_of


def get_item(thing: int, key: int) -> int:
    """``thing[key]``."""
    plain = plain_of_key(key, 2)
    made = got(thing, key if plain == 0 else plain)
    c.Py_DecRef(plain)
    return made


def plain_of_key(key: int, least: int) -> int:
    """Return an index with ints for values and NumPy's arrays for so many of ours, the caller's.

    0 where it is one already.
    """
    ints = position(key) if is_array(key) else with_ints(key)
    arrays = with_arrays(key if ints == 0 else ints, least)
    if arrays == 0:
        return ints
    c.Py_DecRef(ints)
    return arrays


def position(key: int) -> int:
    """Return a whole number of rank 0, computed, as an int, the caller's; 0 of all else."""
    if get(key, w.SHAPE) != word(w.EMPTY) or get(key, w.KIND) == word(w.NODE) or is_traced():
        return 0
    if dtype_of(key) != word(w.INT64):
        return 0
    made = kept_values(key) if is_lazy(key) else keep(key)
    usual = made != 0 and is_container(made)
    number = c.PyLong_FromLongLong(load(begin_of(made))) if usual else 0
    c.Py_DecRef(made)
    c.PyErr_Clear()  # Python says what is wrong
    return number


def with_arrays(key: int, least: int) -> int:
    """Return an index with NumPy's arrays for so many of ours, the caller's; 0 if it has fewer."""
    ours = arrays = 0
    for k in range(load(key + SIZE) if load(key + CLASS) == word(w.TUPLE) else 0):
        ours += 1 if is_array(item(key, k)) else 0
        arrays += 1 if is_array_or_numpys(item(key, k)) else 0
    made = tuple_of(load(key + SIZE)) if ours != 0 and arrays >= least else 0
    for k in range(load(key + SIZE) if made != 0 else 0):
        one = item(key, k)
        holder = selector(one)
        array = array_of(holder) if holder != 0 else 0
        store(made + word(w.TUPLE_ITEMS) + 8 * k, keep(array if array != 0 else one))
        c.Py_DecRef(holder)
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


def set_item(to: int, key: int, value: int) -> int:
    """``to[key] = value``, of a container or a promise."""
    plain = plain_of_key(key, 1)
    done = has_set(to, key if plain == 0 else plain, value)
    c.Py_DecRef(plain)
    return keep(word(w.NONE)) if done else 0


def has_set(to: int, key: int, value: int) -> bool:
    """Write to what an index selects; tell whether it is done."""
    promise, target = is_promise(to), destination_of(to)
    if not promise:
        let_go(target, value, key)
    if not is_array(value):
        return stored(target, key, value)
    if not (promise and is_checked()) and stored_value(target, key, value):
        return True
    if not promise and (put_down(target, key, value) or put_by_numpy(target, key, value)):
        return True
    part, done = keep(target) if key == word(w.ELLIPSIS) else view_of(target, key), False
    if part != 0:
        done = is_part(part, value) or assigned(part, value, not promise)
        if not done:
            done = unchecked(part, value) if promise else put_cast(target, part, key, value)
        c.Py_DecRef(part)
    return done


def computed_into(items: int, count: int) -> int:
    """``computed_into(out, op, *operands)``: an operation that is written where its result goes."""
    out, made, done = load(items), 0, False
    if is_container(out) and get(out, w.SHAPE) != word(w.EMPTY):
        made = applied(items + 8, count - 1)
    usual = made != 0 and is_lazy(made) and dtype_of(made) == get(out, w.OWN_DTYPE)
    if usual and is_same(get(out, w.SHAPE), get(made, w.SHAPE)):
        let_go(out, made, word(w.NONE))
        done = assigned(out, made, True)
    c.Py_DecRef(made)
    return keep(out) if done else 0
