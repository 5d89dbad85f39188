"""Elements and views of lazy results.

As `arrays.ownership` makes them: a view is an expression of what stands for a result that was
computed, and belongs to the result's family until somebody writes.
"""

from __future__ import annotations

from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, scratch, store, word
from .basics import (
    DIMENSIONS,
    LIST_ITEMS,
    change,
    expression,
    get,
    give,
    is_lazy,
    is_traced,
    item,
    itemsize_of,
    keep,
    new,
    size_of,
    tuple_of,
)
from .indexing import get_item
from .indices import is_by_values, selects_by_array
from .picks import value_at
from .reuse import LITTLE, OFTEN, STANDING, kept_values, noted, own_memory, settle
from .views import (
    BEGIN,
    OUT_EXTENTS,
    OUT_STEPS,
    given_of,
    has_dots,
    is_index,
    place_of,
    selected,
    steps_of,
    tuple_from,
)

#: Members of a family from which Python looks for those that are gone (`arrays.ownership`), and
#: where a weak reference has the object, or None.
MANY_MEMBERS, REFERENT = 16, 16


def list_of(thing: int) -> int:
    """Return a list of an object, or an empty one; 0 if there is no memory."""
    made = c.PyList_New(1 if thing != 0 else 0)
    if made != 0 and thing != 0:
        store(load(made + LIST_ITEMS), keep(thing))
    if made == 0:
        c.PyErr_Clear()
    return made


def owned_by(root: int, origin: int, path: int, family: int) -> int:
    """Return what a handle has to do with writing; takes the references; 0 if one is missing."""
    made = new(word(w.OWNING_CLASS)) if path != 0 and family != 0 else 0
    if made == 0:
        c.Py_DecRef(root)
        c.Py_DecRef(origin)
        c.Py_DecRef(path)
        c.Py_DecRef(family)
        return 0
    give(made, w.FAMILY_MEMORY, keep(word(w.NONE)))
    give(made, w.ROOT, root)
    give(made, w.FAMILY_ORIGIN, origin)
    give(made, w.PATH, path)
    give(made, w.FAMILY_BEGIN, keep(word(w.ZERO)))
    give(made, w.FAMILY, family)
    return made


def family_of(lazy: int) -> int:
    """Return the family of a result that is no view, borrowed; 0 where Python has to look."""
    its = get(lazy, w.OWNING)
    if its == 0:
        member, family = c.PyWeakref_NewRef(lazy, 0), 0
        if member != 0:
            family = list_of(member)
            c.Py_DecRef(member)
        empty = keep(word(w.EMPTY))
        its = owned_by(keep(word(w.NONE)), empty, keep(word(w.EMPTY)), family)
        if its == 0:
            c.PyErr_Clear()
            return 0
        if get(lazy, w.OWNING) != 0:  # another thread's, since memory was allocated
            c.Py_DecRef(its)
            return 0
        give(lazy, w.OWNING, its)
    alone = get(its, w.ROOT) == word(w.NONE) and load(get(its, w.PATH) + SIZE) == 0
    return get(its, w.FAMILY) if alone and get(its, w.FAMILY_MEMORY) == word(w.NONE) else 0


def into_family(family: int, ref: int) -> bool:
    """Add a weak reference to a family, in the place of one of a handle that is gone.

    Where many are alive Python looks through all of them.
    """
    count = load(family + SIZE)
    for k in range(count if count < MANY_MEMBERS else MANY_MEMBERS):
        place = load(family + LIST_ITEMS) + 8 * k
        gone = load(place)
        if load(gone + REFERENT) == word(w.NONE):
            store(place, keep(ref))
            c.Py_DecRef(gone)
            return True
    return count < MANY_MEMBERS and c.PyList_Append(family, ref) == 0


def related(of: int, made: int, step: int) -> int:
    """Return a new view of a lazy result, which knows whose view it is; takes both references.

    The step that leads to it is given to it; 0 where Python has to make the view.
    """
    family = family_of(of) if made != 0 and step != 0 else 0
    path = tuple_of(1) if family != 0 else 0
    if path == 0:
        c.Py_DecRef(step)
        c.Py_DecRef(made)
        return 0
    store(path + word(w.TUPLE_ITEMS), step)
    mine = owned_by(keep(of), keep(get(of, w.SHAPE)), path, keep(family))
    member = c.PyWeakref_NewRef(made, 0) if mine != 0 else 0
    done = member != 0 and into_family(family, member)
    c.Py_DecRef(member)
    if done:
        give(made, w.OWNING, mine)
        return made
    c.PyErr_Clear()
    c.Py_DecRef(mine)
    c.Py_DecRef(made)
    return 0


def viewed_of(lazy: int) -> int:
    """Return what a view of a lazy result is made of, borrowed: an expression of memory; else 0.

    That is what stands for it where so many like it were viewed that it is computed.
    """
    kind = get(lazy, w.KIND)
    if kind == word(w.NODE) or is_traced() or load(get(lazy, w.SHAPE) + SIZE) == 0:
        return 0
    of = noted(lazy, STANDING)
    if of == 0 and c.PyLong_AsLongLong(get(kind, w.WEIGHT)) <= 1:
        of = lazy
    if of == 0 and load(word(w.REUSES)) >= OFTEN:
        nbytes = size_of(get(lazy, w.SHAPE)) * itemsize_of(kind)
        of = noted(lazy, STANDING) if 0 < nbytes <= LITTLE and settle(lazy) else 0
    usual = of != 0 and is_lazy(of) and load(get(of, w.OPERANDS) + SIZE) == 2
    return of if usual and c.PyDict_Size(get(get(of, w.KIND), w.PLACES)) > 0 else 0


def placed(of: int, words: int, rank: int) -> int:
    """Return an expression of elements of memory as they were selected; 0 if its kind is new."""
    snapshot = keep(item(get(of, w.OPERANDS), 0))
    start = c.PyLong_AsLongLong(item(get(of, w.OPERANDS), 1))
    own, place, made = keep(get(of, w.KIND)), scratch(), 0
    begin = c.PyLong_FromLongLong(start + load(words + 8 * BEGIN) * itemsize_of(own))
    kind = place_of(own, words + 8 * OUT_EXTENTS, words + 8 * OUT_STEPS, rank)
    shape = tuple_from(words + 8 * OUT_EXTENTS, rank) if kind != 0 else 0
    if shape != 0:
        store(place, snapshot)
        store(place + 8, begin)
        made = expression(kind, shape, place, 2)
    c.Py_DecRef(shape)
    c.Py_DecRef(kind)
    c.Py_DecRef(begin)
    c.Py_DecRef(own)
    c.Py_DecRef(snapshot)
    return made


def lazy_view(lazy: int, key: int) -> int:
    """Return the view of a lazy result that an index of ints and slices selects; 0 of others."""
    of, words = viewed_of(lazy), scratch()
    if of == 0 or load(get(of, w.SHAPE) + SIZE) > DIMENSIONS:
        return 0
    rank = selected(words, steps_of(of, words, words + 8 * DIMENSIONS), key)
    if rank < (0 if has_dots(key) else 1):
        return 0
    keep(of)
    made = placed(of, words, rank)
    c.Py_DecRef(of)
    return related(lazy, made, list_of(key)) if made != 0 else 0


def copy_in(thing: int) -> int:
    """Return the copy that an expression is of, borrowed; 0 of all else."""
    operands = get(thing, w.OPERANDS) if is_lazy(thing) else 0
    first = item(operands, 0) if operands != 0 and load(operands + SIZE) == 2 else 0
    return first if first != 0 and load(first + CLASS) == word(w.COPY) else 0


def lazy_pick(lazy: int, key: int) -> int:
    """Return few elements that one index array selects of a result that is computed; else 0.

    As of the container of its values; the copy knows what computes these anew.
    """
    values = kept_values(lazy) if viewed_of(lazy) != 0 else 0
    made = get_item(values, key) if values != 0 else 0
    stands = noted(lazy, STANDING) if made != 0 else 0
    copy = copy_in(made) if stands != 0 else 0
    if copy != 0 and copy_in(stands) != 0:
        change(copy, w.COPY_MADE, keep(copy_in(stands)))
    else:  # Python makes it
        c.Py_DecRef(made)
        made = 0
    c.Py_DecRef(values)
    return made


def lazy_item(thing: int, key: int) -> int:
    """``thing[key]`` of a lazy result: an element, of values that it keeps, a view, or a copy."""
    if not is_lazy(thing) or is_traced():
        return 0
    if get(thing, w.KIND) == word(w.NODE):
        memory = keep(own_memory(thing))
        made = get_item(memory, key) if memory != 0 else 0
        c.Py_DecRef(memory)
        return made
    if is_by_values(key):
        values = kept_values(thing)
        made = get_item(values, key) if values != 0 else 0
        c.Py_DecRef(values)
        return made
    if selects_by_array(key):
        return lazy_pick(thing, key)
    if not is_index(key, False) or given_of(key) != load(get(thing, w.SHAPE) + SIZE):
        return lazy_view(thing, key)
    values = kept_values(thing)
    made = value_at(values, key) if values != 0 else 0
    c.Py_DecRef(values)
    return made


def lazy_transposed(lazy: int) -> int:
    """``lazy.T`` of a lazy result like many that were viewed; 0 of others."""
    of, words = viewed_of(lazy), scratch()
    rank = load(get(of, w.SHAPE) + SIZE) if of != 0 else 0
    if rank < 2 or rank > DIMENSIONS:
        return 0
    steps_of(of, words, words + 8 * DIMENSIONS)
    store(words + 8 * BEGIN, 0)
    for k in range(rank):
        store(words + 8 * (OUT_EXTENTS + k), load(words + 8 * (rank - 1 - k)))
        store(words + 8 * (OUT_STEPS + k), load(words + 8 * (DIMENSIONS + rank - 1 - k)))
    keep(of)
    made = placed(of, words, rank)
    c.Py_DecRef(of)
    return related(lazy, made, list_of(0)) if made != 0 else 0
