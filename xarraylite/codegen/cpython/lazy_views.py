"""Elements and views of lazy results.

As `arrays.ownership` makes them: a view is an expression of what stands for a result that was
computed, and belongs to the result's family until somebody writes.
"""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import views
from . import words as w
from .api import CLASS, SIZE, load, scratch, store, word
from .indexing import get_item
from .indices import is_by_values, selects_by_array
from .reuse import LITTLE, OFTEN, STANDING, kept_values, noted, settle

#: Members of a family from which Python looks for those that are gone (`arrays.ownership`), and
#: where a weak reference has the object, or None.
MANY_MEMBERS, REFERENT = 16, 16


def list_of(thing: int) -> int:
    """Return a list of an object, or an empty one; 0 if there is no memory."""
    made = py.or_nothing(c.PyList_New(1 if thing != 0 else 0))
    if made != 0 and thing != 0:
        store(load(made + py.LIST_ITEMS), py.keep(thing))
    return made


def owned_by(root: int, origin: int, path: int, family: int) -> int:
    """Return what a handle has to do with writing; takes the references; 0 if one is missing."""
    made = py.new(word(w.OWNING_CLASS)) if path != 0 and family != 0 else 0
    if made == 0:
        for part in (root, origin, path, family):
            c.Py_DecRef(part)
        return 0
    py.give(made, w.FAMILY_MEMORY, py.keep(word(w.NONE)))
    py.give(made, w.ROOT, root)
    py.give(made, w.FAMILY_ORIGIN, origin)
    py.give(made, w.PATH, path)
    py.give(made, w.FAMILY_BEGIN, py.keep(word(w.ZERO)))
    py.give(made, w.FAMILY, family)
    return made


def family_of(lazy: int) -> int:
    """Return the family of a result that is no view, borrowed; 0 where Python has to look."""
    its = py.get(lazy, w.OWNING)
    if its == 0:
        member, family = c.PyWeakref_NewRef(lazy, 0), 0
        if member != 0:
            family = list_of(member)
            c.Py_DecRef(member)
        empty = py.keep(word(w.EMPTY))
        its = owned_by(py.keep(word(w.NONE)), empty, py.keep(word(w.EMPTY)), family)
        if its == 0:
            c.PyErr_Clear()
            return 0
        if py.get(lazy, w.OWNING) != 0:  # another thread's, since memory was allocated
            c.Py_DecRef(its)
            return 0
        py.give(lazy, w.OWNING, its)
    alone = py.get(its, w.ROOT) == word(w.NONE) and load(py.get(its, w.PATH) + SIZE) == 0
    return py.get(its, w.FAMILY) if alone and py.get(its, w.FAMILY_MEMORY) == word(w.NONE) else 0


def into_family(family: int, ref: int) -> bool:
    """Add a weak reference to a family, in the place of one of a handle that is gone.

    Where many are alive Python looks through all of them.
    """
    count = load(family + SIZE)
    for k in range(count if count < MANY_MEMBERS else MANY_MEMBERS):
        place = load(family + py.LIST_ITEMS) + 8 * k
        gone = load(place)
        if load(gone + REFERENT) == word(w.NONE):
            store(place, py.keep(ref))
            c.Py_DecRef(gone)
            return True
    return count < MANY_MEMBERS and c.PyList_Append(family, ref) == 0


def related(of: int, made: int, step: int) -> int:
    """Return a new view of a lazy result, which knows whose view it is; takes both references.

    The step that leads to it is given to it; 0 where Python has to make the view.
    """
    family = family_of(of) if made != 0 and step != 0 else 0
    path = py.tuple_of(1) if family != 0 else 0
    if path == 0:
        c.Py_DecRef(step)
        c.Py_DecRef(made)
        return 0
    store(path + word(w.TUPLE_ITEMS), step)
    mine = owned_by(py.keep(of), py.keep(py.get(of, w.SHAPE)), path, py.keep(family))
    member = c.PyWeakref_NewRef(made, 0) if mine != 0 else 0
    done = member != 0 and into_family(family, member)
    c.Py_DecRef(member)
    if done:
        py.give(made, w.OWNING, mine)
        return made
    c.PyErr_Clear()
    c.Py_DecRef(mine)
    c.Py_DecRef(made)
    return 0


def viewed_of(lazy: int) -> int:
    """Return what a view of a lazy result is made of, borrowed: an expression of memory; else 0.

    That is what stands for it where so many like it were viewed that it is computed.
    """
    kind = py.get(lazy, w.KIND)
    if kind == word(w.NODE) or py.is_traced() or load(py.get(lazy, w.SHAPE) + SIZE) == 0:
        return 0
    of = noted(lazy, STANDING)
    if of == 0 and c.PyLong_AsLongLong(py.get(kind, w.WEIGHT)) <= 1:
        of = lazy
    if of == 0 and load(word(w.REUSES)) >= OFTEN:
        nbytes = py.size_of(py.get(lazy, w.SHAPE)) * py.itemsize_of(kind)
        of = noted(lazy, STANDING) if 0 < nbytes <= LITTLE and settle(lazy) else 0
    usual = of != 0 and py.is_lazy(of) and load(py.get(of, w.OPERANDS) + SIZE) == 2
    return of if usual and c.PyDict_Size(py.get(py.get(of, w.KIND), w.PLACES)) > 0 else 0


def placed(lazy: int, of: int, words: int, rank: int, step: int) -> int:
    """Return the view of a lazy result, of the memory that stands for it, as it was selected.

    The step is an index, or 0 of a transposed view.  0 where Python has to make it.
    """
    snapshot = py.keep(py.item(py.get(of, w.OPERANDS), 0))
    start = c.PyLong_AsLongLong(py.item(py.get(of, w.OPERANDS), 1))
    own, place, made = py.keep(py.get(of, w.KIND)), scratch(), 0
    begin = c.PyLong_FromLongLong(start + load(words + 8 * views.BEGIN) * py.itemsize_of(own))
    kind = views.place_of(own, words + 8 * views.OUT_EXTENTS, words + 8 * views.OUT_STEPS, rank)
    shape = views.tuple_from(words + 8 * views.OUT_EXTENTS, rank) if kind != 0 else 0
    if shape != 0:
        store(place, snapshot)
        store(place + 8, begin)
        made = py.expression(kind, shape, place, 2)
    for part in (shape, kind, begin, own, snapshot):
        c.Py_DecRef(part)
    return related(lazy, made, list_of(step)) if made != 0 else 0


def lazy_view(lazy: int, key: int) -> int:
    """Return the view of a lazy result that an index of ints and slices selects; 0 of others."""
    of, words = viewed_of(lazy), scratch()
    if of == 0 or load(py.get(of, w.SHAPE) + SIZE) > py.DIMENSIONS:
        return 0
    rank = views.selected(words, views.steps_of(of, words, words + 8 * py.DIMENSIONS), key)
    return placed(lazy, of, words, rank, key) if rank >= (0 if views.has_dots(key) else 1) else 0


def copy_in(thing: int) -> int:
    """Return the copy that an expression is of, borrowed; 0 of all else."""
    operands = py.get(thing, w.OPERANDS) if py.is_lazy(thing) else 0
    first = py.item(operands, 0) if operands != 0 and load(operands + SIZE) == 2 else 0
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
        py.change(copy, w.COPY_MADE, py.keep(copy_in(stands)))
    else:  # Python makes it
        c.Py_DecRef(made)
        made = 0
    c.Py_DecRef(values)
    return made


def lazy_item(thing: int, key: int) -> int:
    """``thing[key]`` of a lazy result: an element, of values that it keeps, a view, or a copy."""
    if not py.is_lazy(thing) or py.is_traced():
        return 0
    if py.get(thing, w.KIND) != word(w.NODE) and not is_by_values(key):
        if selects_by_array(key):
            return lazy_pick(thing, key)
        if not views.is_index(key, False) or views.given_of(key) != py.rank_at(thing):
            return lazy_view(thing, key)
    values = kept_values(thing)
    made = get_item(values, key) if values != 0 else 0
    c.Py_DecRef(values)
    return made


def lazy_transposed(lazy: int) -> int:
    """``lazy.T`` of a lazy result like many that were viewed; 0 of others."""
    of, words = viewed_of(lazy), scratch()
    rank = load(py.get(of, w.SHAPE) + SIZE) if of != 0 else 0
    if rank < 2 or rank > py.DIMENSIONS:
        return 0
    return placed(lazy, of, words, views.select_reversed(of, words), 0)
