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
from .basics import is_array, is_array_or_numpys, item, keep, tuple_of
from .calls import array_of
from .picks import by_numpy, listed, picked, value_at
from .readers import let_go
from .scalars import with_ints
from .scattered import put_by_numpy, put_down, stored_value
from .views import is_index, view_of


def get_item(thing: int, key: int) -> int:
    """``thing[key]``."""
    plain = plain_of_key(key)
    made = got(thing, key if plain == 0 else plain)
    c.Py_DecRef(plain)
    return made


def plain_of_key(key: int) -> int:
    """Return an index with ints for values and NumPy's arrays for several of ours, the caller's.

    0 where it is one already.
    """
    ints = with_ints(key)
    arrays = with_arrays(key if ints == 0 else ints)
    if arrays == 0:
        return ints
    c.Py_DecRef(ints)
    return arrays


def with_arrays(key: int) -> int:
    """Return an index with NumPy's arrays for several of ours, the caller's; 0 if it has not."""
    ours = arrays = 0
    for k in range(load(key + SIZE) if load(key + CLASS) == word(w.TUPLE) else 0):
        ours += 1 if is_array(item(key, k)) else 0
        arrays += 1 if is_array_or_numpys(item(key, k)) else 0
    made = tuple_of(load(key + SIZE)) if ours != 0 and arrays > 1 else 0
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
    plain = plain_of_key(key)
    done = has_set(to, key if plain == 0 else plain, value)
    c.Py_DecRef(plain)
    return keep(word(w.NONE)) if done else 0


def has_set(to: int, key: int, value: int) -> bool:
    """Write to what an index selects; tell whether it is done."""
    promise, target = is_promise(to), destination_of(to)
    if not promise:
        let_go(target, value, key)
    if is_array(value):
        if not (promise and is_checked()) and stored_value(target, key, value):
            return True
        if not promise and (put_down(target, key, value) or put_by_numpy(target, key, value)):
            return True
        part = keep(target) if key == word(w.ELLIPSIS) else view_of(target, key)
        if part != 0:
            done = is_part(part, value) or assigned(part, value, not promise)
            done = done or (promise and unchecked(part, value))
            c.Py_DecRef(part)
            return done
        return False
    return stored(target, key, value)
