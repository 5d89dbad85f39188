"""``x[key]`` and ``x[key] = value`` of containers: the ways of both, each tried before the next."""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, load, word
from .assignment import (
    assigned,
    destination_of,
    is_checked,
    is_part,
    is_promise,
    put_result,
    stored,
    unchecked,
)
from .basics import (
    get,
    is_array,
    is_container,
    is_lazy,
    keep,
)
from .indices import plain_of_key
from .operators import applied
from .picks import by_numpy, listed, picked, value_at
from .readers import let_go
from .scattered import put_by_numpy, put_cast, put_down, stored_value
from .views import is_index, view_of


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
    if made != 0 and is_lazy(made):
        done = put_result(out, made, 0)
    c.Py_DecRef(made)
    return keep(out) if done else 0
