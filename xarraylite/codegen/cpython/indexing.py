"""``x[key]`` and ``x[key] = value`` of containers: the ways of both, each tried before the next."""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, load, word
from .assignment import assigned, destination_of, is_part, is_promise, stored, unchecked
from .basics import is_array, keep
from .picks import by_numpy, listed, picked, value_at
from .readers import let_go
from .scalars import with_ints
from .scattered import put_by_numpy, put_down, stored_value
from .views import is_index, view_of


def get_item(thing: int, key: int) -> int:
    """``thing[key]``."""
    whole = with_ints(key)
    made = got(thing, key if whole == 0 else whole)
    c.Py_DecRef(whole)
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
    whole = with_ints(key)
    done = has_set(to, key if whole == 0 else whole, value)
    c.Py_DecRef(whole)
    return keep(word(w.NONE)) if done else 0


def has_set(to: int, key: int, value: int) -> bool:
    """Write to what an index selects; tell whether it is done."""
    promise, target = is_promise(to), destination_of(to)
    if not promise:
        let_go(target, value, key)
    if is_array(value):
        if stored_value(target, key, value):
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
