"""Views of elements at positions in a row-major container, made where these are few.

As `xtensor_views.selection` does it: at indices, where a condition holds, and where `keep` or
`drop` says.
"""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import picks, views
from . import words as w
from .api import CLASS, SCRATCH, SIZE, load, load_byte, scratch, store, word
from .evaluation import array_over
from .indices import is_all


def base_of(thing: int) -> int:
    """Return a container as a view of positions holds it, the caller's; 0 if there is no memory.

    What may move as where it lies now, a tuple of which Python makes a view if it is asked for.
    """
    view = views.view_class(thing)
    if load(thing + CLASS) == view:
        return py.keep(thing)
    if view == 0 or py.get(py.get(thing, w.KIND), w.OWNER) != word(w.NONE):
        return views.view_of(thing, word(w.EMPTY))
    made = py.tuple_of(4)
    if made != 0:
        to = made + word(w.TUPLE_ITEMS)
        store(to, py.keep(py.get(thing, w.KIND)))
        store(to + 8, py.keep(py.get(thing, w.SHAPE)))
        store(to + 16, py.keep(py.get(thing, w.OWN_BUFFER)))
        store(to + 24, py.keep(py.get(thing, w.START)))
    return made


def view_at(cls: int, base: int, shape: int, own: int) -> int:
    """Return a view of positions of a container's elements, all of which is given to it.

    0 where the container's shape is not the one that they were found in any more, or one of them
    is missing.
    """
    made = py.new(cls) if base != 0 and shape != 0 else 0
    rows = made != 0 and py.get(fact_of(base, w.KIND, 0), w.STRIDES) == word(w.NONE)
    if not rows or fact_of(base, w.SHAPE, 1) != own:
        for part in (made, base, shape):
            c.Py_DecRef(part)
        return 0
    py.give(made, w.PICK_LENT if load(base + CLASS) == word(w.TUPLE) else w.PICK_BASE, base)
    py.give(made, w.SHAPE, shape)
    py.give(made, w.KIND, py.keep(word(w.NODE)))
    py.give(made, w.OPERANDS, py.keep(word(w.EMPTY)))
    return made


def fact_of(base: int, slot: int, number: int) -> int:
    """Return what a slot of a view's base has, as the base is held (`base_of`), borrowed."""
    return py.item(base, number) if load(base + CLASS) == word(w.TUPLE) else py.get(base, slot)


def view_of_positions(base: int, positions: int, own: int, usual: bool) -> int:
    """Return the view of positions, which are given to it, of a row-major container's elements.

    0 where they turned out not to be usual.
    """
    words = scratch()
    store(words, load(positions + SIZE) >> 3)
    place = base_of(base) if usual else 0
    shape = views.tuple_from(words, 1) if place != 0 else 0
    made = view_at(word(w.INDEX_VIEW), place, shape, own)
    if made != 0:
        py.give(made, w.PICK_LISTED, positions)
    else:
        c.Py_DecRef(positions)
    return made


def new_places(extents: int, rank: int) -> int:
    """Return an array of int64 of extents at an address; 0 if there is no memory."""
    return py.or_nothing(array_over(0, 0, word(w.INT64), rank, extents, 0))


def new_positions(count: int) -> int:
    """Return bytes for so many int64, an array of which takes longer; 0 if there is no memory."""
    return py.or_nothing(c.PyBytes_FromStringAndSize(0, 8 * count))


def is_usual(base: int) -> bool:
    """Tell whether a container is row-major and of some dimensions, and has few elements."""
    if py.is_traced() or not py.is_container(base) or not py.is_row_major(base):
        return False
    return (
        load(py.get(base, w.SHAPE) + SIZE) > 0
        and 0 < py.size_of(py.get(base, w.SHAPE)) <= picks.FEW_PICKED
    )


def filtered(base: int, condition: int) -> int:
    """``filtered(x, condition)``: a view of the elements for which it holds."""
    return index_view(base, condition, True)


def indexed(base: int, indices: int) -> int:
    """``indexed(x, indices)``: a view of the elements at indices, of a vector at positions."""
    return index_view(base, indices, False)


def index_view(base: int, one: int, mask: bool) -> int:
    """Return the view of the elements that a mask or indices select; 0 if it is not usual."""
    given, made = scratch(), 0
    usual = is_usual(base) and py.is_array_or_numpys(one)
    if not usual or not picks.is_given(one, word(w.BOOL_DTYPE if mask else w.INT64), given):
        return 0
    own = py.keep(py.get(base, w.SHAPE))
    rank, count = load(own + SIZE), -1
    if not mask:
        count = count_of_indices(given, rank)
    elif picks.rank_of(given) == rank and picks.is_front(base, given):
        count = picks.trues(load(given), load(given + picks.LENGTH))
    if count > 0 or (mask and count == 0):
        made = new_positions(count)
    if made != 0:
        to, done = made + word(w.BYTES_DATA), picks.is_steady(one, given)
        if done:
            done = held_in(to, given, count) if mask else places_in(to, given, count, own)
        made = view_of_positions(base, made, own, done)  # else Python says what is wrong
    c.Py_DecRef(own)
    c.Py_DecRef(load(given + picks.HOLDER))
    return made


def held_in(to: int, given: int, left: int) -> bool:
    """Store where a mask holds; tell whether that is as often as before: nobody wrote."""
    for k in range(load(given + picks.LENGTH)):
        if load_byte(load(given) + k) != 0 and left > 0:
            store(to, k)
            to += 8
            left -= 1
    return left == 0


def places_in(to: int, given: int, count: int, shape: int) -> bool:
    """Store the positions of elements at indices; tell whether there are such elements."""
    inside = True
    for k in range(count):
        place = place_at(load(given) + 8 * k * load(shape + SIZE), shape)
        inside = inside and place >= 0
        store(to + 8 * k, place)
    return inside


def count_of_indices(given: int, rank: int) -> int:
    """Count the indices of elements in an index array, one in a row; -1 if it is none of them."""
    holder = load(given + picks.HOLDER)
    if rank == 1 and picks.rank_of(given) == 1:
        return load(given + picks.LENGTH)
    if (
        holder == 0
        or picks.rank_of(given) != 2
        or py.whole(py.item(py.get(holder, w.SHAPE), 1)) != rank
    ):
        return -1
    return py.whole(py.item(py.get(holder, w.SHAPE), 0))


def place_at(index: int, shape: int) -> int:
    """Return the position of an element at an index in row-major order; -1 if there is none."""
    place = 0
    for k in range(load(shape + SIZE)):
        at, extent = load(index + 8 * k), py.whole(py.item(shape, k))
        at += extent if at < 0 else 0
        if not 0 <= at < extent:
            return -1
        place = place * extent + at
    return place


def all_kept(pick: int, extent: int, places: int) -> int:
    """Store which positions of an extent are picked; return how many, -1 if one is out of range.

    Or if they, or the others that are dropped, are too many to be stored.
    """
    given, drops = py.get(pick, w.PICK_POSITIONS), py.get(pick, w.PICK_DROPS) == word(w.TRUE)
    count, most = load(given + SIZE), SCRATCH // 2
    if count > most or (drops and extent > most):
        return -1
    gone = places + 8 * most
    for k in range(extent if drops else 0):
        store(gone + 8 * k, 0)
    for k in range(count):
        at = py.whole(py.item(given, k))
        at += extent if at < 0 else 0
        if not 0 <= at < extent:
            return -1
        store(gone + 8 * at if drops else places + 8 * k, 1 if drops else at)
    if drops:
        count = 0
        for k in range(extent):
            if load(gone + 8 * k) == 0:
                store(places + 8 * count, k)
                count += 1
    return count


def pace_of(places: int, count: int) -> int:
    """Return how far positions are apart, 1 of one alone; 0 if that differs, or there are none."""
    pace = load(places + 8) - load(places) if count > 1 else count
    for k in range(1, count):
        if load(places + 8 * k) - load(places + 8 * (k - 1)) != pace:
            return 0
    return pace


def pick_in(items: int) -> int:
    """Return which item of an index is the only one that picks positions, all else whole; or -1."""
    found = -1
    for k in range(load(items + SIZE) if load(items + CLASS) == word(w.TUPLE) else 0):
        if load(py.item(items, k) + CLASS) == word(w.PICK) and found < 0:
            found = k
        elif not is_all(py.item(items, k)):
            return -1
    return found


def spaced(base: int, axis: int, places: int, count: int, pace: int) -> int:
    """Return the view of positions along a dimension that are equally far apart; 0 if not usual."""
    words, view = scratch(), views.view_class(base)
    rank = views.steps_of(base, words, words + 8 * py.DIMENSIONS)
    for k in range(rank):
        views.whole_of(words, k, k)
    step = load(words + 8 * (py.DIMENSIONS + axis))
    store(words + 8 * (views.OUT_EXTENTS + axis), count)
    store(words + 8 * (views.OUT_STEPS + axis), pace * step)
    store(words + 8 * views.BEGIN, load(places) * step)
    return views.view_with(base, view, words, rank) if rank != 0 and view != 0 else 0


def lined_up(to: int, own: int, axis: int, places: int, count: int) -> int:
    """Store where each element is whose position along a dimension is picked."""
    outer, inner = picks.extent_of(own, 0, axis), picks.extent_of(own, axis + 1, load(own + SIZE))
    extent = py.whole(py.item(own, axis))
    for k in range(outer):
        for n in range(count):
            first = (k * extent + load(places + 8 * n)) * inner
            for i in range(inner):
                store(to, first + i)
                to += 8
    return to


def kept(base: int, own: int, axis: int, places: int, count: int) -> int:
    """Return the view of positions along a dimension that lie anywhere; 0 if it is not usual."""
    rank, words = load(own + SIZE), scratch()
    for k in range(rank if rank <= py.DIMENSIONS else 0):
        store(words + 8 * k, count if k == axis else py.whole(py.item(own, k)))
    if rank > py.DIMENSIONS or count * py.size_of(own) > picks.FEW_PICKED * py.whole(
        py.item(own, axis)
    ):
        return 0
    offsets = new_places(words, rank)
    store(words + 8 * py.DIMENSIONS, count)
    chosen, takes = new_places(words + 8 * py.DIMENSIONS, 1), c.PyDict_New()
    key = c.PyLong_FromLongLong(axis)
    made = 0
    if offsets != 0 and chosen != 0 and takes != 0 and c.PyDict_SetItem(takes, key, chosen) == 0:
        c.memcpy(load(chosen + py.DATA), places, 8 * count)
        lined_up(load(offsets + py.DATA), own, axis, places, count)
        place, shape = base_of(base), views.tuple_from(words, rank)
        made = view_at(word(w.DYNAMIC_VIEW), place, shape, own)
    if made != 0:
        py.give(made, w.PICK_OFFSETS, py.keep(offsets))
        py.give(made, w.PICK_TAKES, py.keep(takes))
    else:
        c.PyErr_Clear()
    for part in (offsets, chosen, takes, key):
        c.Py_DecRef(part)
    return made


def basic(base: int, items: int) -> int:
    """``basic(x, items)``: the view that a tuple or list of items selects; 0 if not a usual one."""
    axis = pick_in(items)
    if axis < 0:
        return views.view_by_items(base, items)
    if not is_usual(base) or load(py.get(base, w.SHAPE) + SIZE) <= axis:
        return 0
    own, places, made = py.keep(py.get(base, w.SHAPE)), scratch(), 0
    count = -1
    if load(items + SIZE) <= load(own + SIZE):
        count = all_kept(py.item(items, axis), py.whole(py.item(own, axis)), places)
    pace = pace_of(places, count) if count > 0 else 0
    if pace != 0:
        made = spaced(base, axis, places, count, pace)
    elif count > 0:
        made = kept(base, own, axis, places, count)
    c.Py_DecRef(own)
    return made
