"""Views of containers by integers and slices."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SIZE, load, scratch, store, word

#: Words of a selection behind the extents and strides of the whole: first position, last and step
#: of a slice, the extents and strides of what is selected, and where that begins.
FOUND, OUT_EXTENTS, OUT_STEPS, BEGIN = 64, 96, 128, 160


def steps_of(thing: int, extents: int, steps: int) -> int:
    """Store a container's extents and strides; return how many there are, 0 if too many."""
    shape, given = py.get(thing, w.SHAPE), py.get(py.get(thing, w.KIND), w.STRIDES)
    rank = load(shape + SIZE)
    if rank > py.DIMENSIONS:
        return 0
    step = 1
    for k in range(rank - 1, -1, -1):
        extent = py.whole(py.item(shape, k))
        store(extents + 8 * k, extent)
        store(steps + 8 * k, step if given == word(w.NONE) else py.whole(py.item(given, k)))
        step *= extent
    return rank


def is_plain(key: int) -> bool:
    """Tell whether the bounds of a slice are ints or none: others run code of their own."""
    for at in (16, 24, 32):
        bound = load(key + at)
        if bound != word(w.NONE) and load(bound + CLASS) != word(w.INT):
            return False
    return True


def sliced(found: int, key: int, extent: int) -> int:
    """Store first position and step of a slice; return its length, -1 if it has none."""
    if not is_plain(key):
        return -1
    if c.PySlice_Unpack(key, found, found + 8, found + 16) != 0:
        c.PyErr_Clear()  # a step of zero
        return -1
    return c.PySlice_AdjustIndices(extent, found, found + 8, load(found + 16))


def given_of(key: int) -> int:
    """Count the items of an index that take a dimension each; -1 if dots occur twice."""
    count = dots = 0
    for k in range(py.parts(key)):
        one = py.part(key, k)
        dots += 1 if one == word(w.ELLIPSIS) else 0
        count += 0 if one == word(w.NONE) or one == word(w.ELLIPSIS) else 1
    return count if dots <= 1 else -1


def whole_of(words: int, k: int, out: int) -> int:
    """Select all of a dimension; return the number of those that are selected."""
    store(words + 8 * (OUT_EXTENTS + out), load(words + 8 * k))
    store(words + 8 * (OUT_STEPS + out), load(words + 8 * (py.DIMENSIONS + k)))
    return out + 1


def part_of(words: int, k: int, out: int, one: int) -> int:
    """Select what an int or a slice selects of a dimension; see `whole_of`; -1 for other items."""
    extent, step, found = (
        load(words + 8 * k),
        load(words + 8 * (py.DIMENSIONS + k)),
        words + 8 * FOUND,
    )
    start = load(words + 8 * BEGIN)
    if load(one + CLASS) == word(w.INT):
        at = py.whole(one)
        at += extent if at < 0 else 0
        store(words + 8 * BEGIN, start + at * step)
        return out if 0 <= at < extent else -1
    length = sliced(found, one, extent) if load(one + CLASS) == word(w.SLICE) else -1
    if length <= 0:
        return -1
    store(words + 8 * (OUT_EXTENTS + out), length)
    store(words + 8 * (OUT_STEPS + out), step * load(found + 16))
    store(words + 8 * BEGIN, start + load(found) * step)
    return out + 1


def selected(words: int, rank: int, key: int) -> int:
    """Store extents, strides and start of what an index selects; return how many dimensions.

    -1 stands for an index that Python has to look at.
    """
    given = given_of(key)
    if given < 0 or given > rank:
        return -1
    store(words + 8 * BEGIN, 0)
    at = out = 0
    for k in range(py.parts(key)):
        one = py.part(key, k)
        if out + rank >= py.DIMENSIONS:
            return -1
        if one == word(w.NONE):
            store(words + 8 * (OUT_EXTENTS + out), 1)
            store(words + 8 * (OUT_STEPS + out), 1)
            out += 1
        elif one == word(w.ELLIPSIS):
            for _ in range(rank - given):
                out = whole_of(words, at, out)
                at += 1
        else:
            out = part_of(words, at, out, one)
            at += 1
            if out < 0:
                return -1
    while at < rank:
        out = whole_of(words, at, out)
        at += 1
    return out


def tuple_from(words: int, count: int) -> int:
    """Return a tuple of Python's ints; 0 if there is no memory."""
    if count == 1 and 0 <= load(words) < load(word(w.LINES) + SIZE):
        return py.keep(py.item(word(w.LINES), load(words)))
    made = py.tuple_of(count)
    if made != 0:
        for k in range(count):
            store(made + word(w.TUPLE_ITEMS) + 8 * k, c.PyLong_FromLongLong(load(words + 8 * k)))
    return made


def place_of(kind: int, extents: int, steps: int, rank: int) -> int:
    """Return the kind of other elements in memory of a dtype, the caller's; 0 if it is new."""
    expected = 1
    dense = True
    for k in range(rank - 1, -1, -1):
        extent = load(extents + 8 * k)
        if extent != 1:
            dense = dense and load(steps + 8 * k) == expected
            expected *= extent
    dense = dense or expected == 0  # nothing lies anywhere
    key = c.PyLong_FromLongLong(rank) if dense else tuple_from(steps, rank)
    if key == 0:
        return 0
    found = c.PyDict_GetItemWithError(py.get(kind, w.PLACES), key)
    c.Py_DecRef(key)
    return 0 if found == 0 else py.keep(found)


def view_class(thing: int) -> int:
    """Return the class of views of a container; 0 for what is none, or of a class of a user's."""
    if not py.is_container(thing):
        return 0
    cls, free = load(thing + CLASS), py.get(py.get(thing, w.KIND), w.OWNER) == word(w.NONE)
    if free and (cls == word(w.ARRAY) or cls == word(w.VIEW)):
        return word(w.VIEW)
    return 0 if free else word(w.TENSOR_VIEW)


def view_of(thing: int, key: int) -> int:
    """Return the view that an index of ints and slices selects; 0 if it is not a usual one.

    Of one element only by an index with dots: without them it is a value.
    """
    return view_by(thing, key, 0 if has_dots(key) and not py.is_traced() else 1)


def has_dots(key: int) -> bool:
    """Tell whether an index has dots, of which `given_of` counts more than one."""
    dots = 0
    for k in range(py.parts(key)):
        dots += 1 if py.part(key, k) == word(w.ELLIPSIS) else 0
    return dots != 0


def view_by(thing: int, key: int, least: int) -> int:
    """Return such a view, if it has so many dimensions at least."""
    view, given = view_class(thing), load(py.get(thing, w.SHAPE) + SIZE)
    if view == 0 or given > py.DIMENSIONS:
        return 0
    if given == 0 and py.get(py.get(thing, w.OWN_BUFFER), w.SPECIAL) != word(w.FALSE):
        return 0  # a product is a value, of which no views are made
    words = scratch()
    rank = selected(words, steps_of(thing, words, words + 8 * py.DIMENSIONS), key)
    return 0 if rank < least else view_with(thing, view, words, rank)


def view_with(thing: int, view: int, words: int, rank: int) -> int:
    """Return a view of what was selected, of a class; 0 if its kind is new."""
    extents, steps = words + 8 * OUT_EXTENTS, words + 8 * OUT_STEPS
    # Where memory is allocated the collector may run, and with it other threads.
    buffer, own = py.keep(py.get(thing, w.OWN_BUFFER)), py.keep(py.get(thing, w.KIND))
    start = load(words + 8 * BEGIN) * py.itemsize_of(own)
    place = c.PyLong_FromLongLong(py.integer(py.get(thing, w.START)) + start)
    kind = place_of(own, extents, steps, rank)
    c.Py_DecRef(own)
    shape = tuple_from(extents, rank) if kind != 0 else 0
    return py.container_of(view if shape != 0 else 0, kind, shape, buffer, place)


def select_reversed(thing: int, words: int) -> int:
    """Select all dimensions in reversed order; return how many, 0 if they are too many."""
    rank = steps_of(thing, words, words + 8 * py.DIMENSIONS)
    store(words + 8 * BEGIN, 0)
    for k in range(rank):
        whole_of(words, rank - 1 - k, k)
    return rank


def transposed(thing: int) -> int:
    """``thing.T`` of a container of several dimensions; 0 of all else."""
    view, words = 0 if py.is_traced() else view_class(thing), scratch()
    rank = select_reversed(thing, words) if view != 0 else 0
    return view_with(thing, view, words, rank) if rank > 1 else 0


def reshaped(thing: int, args: int) -> int:
    """``thing.reshape(*shape)`` of a container that lies by rows: a view; 0 of all else."""
    if py.is_traced() or view_class(thing) != word(w.VIEW) or not py.is_row_major(thing):
        return 0
    alone = load(args + SIZE) == 1 and load(py.item(args, 0) + CLASS) == word(w.TUPLE)
    given = py.item(args, 0) if alone else args
    rank, size, known, open_at = load(given + SIZE), py.size_of(py.get(thing, w.SHAPE)), 1, -1
    extents = scratch() + 8 * OUT_EXTENTS
    if rank > py.DIMENSIONS or load(py.get(thing, w.SHAPE) + SIZE) == 0:
        return 0
    for k in range(rank):
        one = py.item(given, k)
        extent = py.whole(one) if load(one + CLASS) == word(w.INT) else py.FAR
        if extent == -1 and open_at < 0:
            open_at, extent = k, 1
        if not 0 < extent <= size // known:
            return 0  # Python says what is wrong
        known *= extent
        store(extents + 8 * k, extent)
    if open_at >= 0:
        store(extents + 8 * open_at, size // known)
        known *= size // known
    return under(thing, extents, rank) if rank != 0 and known == size else 0


def under(thing: int, extents: int, rank: int) -> int:
    """Return a row-major container's elements under extents that are in the words of a selection.

    0 if its own are the same.
    """
    words, step, own = extents - 8 * OUT_EXTENTS, 1, py.get(thing, w.SHAPE)
    same = load(own + SIZE) == rank
    for k in range(rank - 1, -1, -1):
        store(words + 8 * (OUT_STEPS + k), step)
        step *= load(extents + 8 * k)
        same = same and py.whole(py.item(own, k)) == load(extents + 8 * k)
    store(words + 8 * BEGIN, 0)
    return 0 if same else view_with(thing, word(w.VIEW), words, rank)


def element(thing: int, index: int, wraps: bool) -> int:
    """``element(x, index)`` or ``wrapped(x, index)``: the view of the element at integers.

    Around every border if it wraps.
    """
    view = view_class(thing)
    if view == 0 or py.is_traced() or load(index + SIZE) != load(py.get(thing, w.SHAPE) + SIZE):
        return 0
    words = scratch()
    rank = steps_of(thing, words, words + 8 * py.DIMENSIONS)
    start = offset_of(words, rank, index, wraps) if rank == load(index + SIZE) else py.FAR
    store(words + 8 * BEGIN, start)
    return view_with(thing, view, words, 0) if start != py.FAR else 0


def offset_of(words: int, rank: int, key: int, wraps: bool) -> int:
    """Return how far the element at integers is from the first one; `FAR` if there is none.

    Extents and strides are in the words, as `steps_of` stores them.
    """
    start = 0
    for k in range(rank):
        one, extent = py.part(key, k), load(words + 8 * k)
        at = py.whole(one) if load(one + CLASS) == word(w.INT) else py.FAR
        if wraps and at != py.FAR and extent != 0:
            at %= extent
        at += extent if at < 0 else 0
        if not 0 <= at < extent:
            return py.FAR
        start += at * load(words + 8 * (py.DIMENSIONS + k))
    return start


def view_by_items(thing: int, items: int) -> int:
    """Return the view that a tuple or list of ints, slices and dots selects; 0 of other items.

    Unlike an index, integers for all dimensions select a view of one element.  As all views of a
    traced function's own arrays are, it is Python's there.
    """
    made, key = 0, 0
    if not py.is_traced() and load(items + CLASS) == word(w.TUPLE):
        key = py.keep(items)
    elif not py.is_traced() and load(items + CLASS) == word(w.LIST):
        key = c.PyList_AsTuple(items)
    if key != 0:
        made = view_by(thing, key, 0)
        c.Py_DecRef(key)
    return made


def is_index(key: int, slices: bool) -> bool:
    """Tell whether an index is an int, or a tuple of ints and perhaps slices of ints."""
    if load(key + CLASS) != word(w.TUPLE):
        return load(key + CLASS) == word(w.INT)
    for k in range(load(key + SIZE)):
        one = py.item(key, k)
        part = slices and load(one + CLASS) == word(w.SLICE) and is_plain(one)
        if not part and load(one + CLASS) != word(w.INT):
            return False
    return load(key + SIZE) != 0


def overlaps_itself(to: int) -> bool:
    """Tell whether memory may have an element under two indices: its strides do not nest."""
    extents, reach = scratch(), 1
    steps = extents + 8 * py.DIMENSIONS
    rank = steps_of(to, extents, steps)
    for _ in range(rank):
        least, at = py.FAR, -1
        for k in range(rank):
            step = load(steps + 8 * k)
            step = -step if step < 0 else step
            if load(extents + 8 * k) != 1 and step < least:
                least, at = step, k
        if at < 0:
            return False
        if least < reach:
            return True
        reach += (load(extents + 8 * at) - 1) * least
        store(extents + 8 * at, 1)
    return rank == 0
