"""Calling traced functions again."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, SCRATCH, SIZE, load, scratch, store, word
from .containers import duplicate, duplicate_as, kind_of_rank
from .evaluation import address_of, array_over, computed, new_array, new_buffer
from .operators import leads
from .readers import is_shared, waiting_for
from .reuse import kept_values
from .views import overlaps_itself, tuple_from

#: What asks C for memory of any format and strides to read (``PyBUF_FULL_RO``).
READS_STRIDES = 0x11C


def is_like(quick: int, args: int) -> bool:
    """Tell whether arguments are containers of the kinds and shapes that a trace was made for."""
    kinds, shapes = py.get(quick, w.LAST_KINDS), py.get(quick, w.LAST_SHAPES)
    count = load(args + SIZE)
    if count != load(kinds + SIZE):
        return False
    for k in range(count):
        arg = py.item(args, k)
        if not py.is_container(arg) or py.get(arg, w.KIND) != py.item(kinds, k):
            return False
        if not py.is_same(py.get(arg, w.SHAPE), py.item(shapes, k)):
            return False
    return True


def filled(place: int, items: int, args: int) -> int:
    """Store the operands of a traced expression for other arguments; return how many there are."""
    count = 0
    for k in range(0, load(items + SIZE), 2):
        number, what = py.item(items, k), py.item(items, k + 1)
        if number == word(w.NONE):
            store(place + 8 * count, py.keep(what))
            count += 1
            continue
        arg = py.item(args, c.PyLong_AsLongLong(number))
        start = py.keep(py.get(arg, w.START))
        if what != word(w.ZERO):
            c.Py_DecRef(start)
            start = c.PyLong_FromLongLong(c.PyLong_AsLongLong(start) + c.PyLong_AsLongLong(what))
        store(place + 8 * count, py.keep(py.get(arg, w.OWN_BUFFER)))
        store(place + 8 * count + 8, start)
        count += 2
    return count


def jitted(function: int, args: int, keywords: int) -> int:
    """Call a traced function again."""
    quick, made = py.get(function, w.LAST), 0
    usual = keywords == 0 and quick != 0 and quick != word(w.NONE) and not py.is_traced()
    if usual and is_like(quick, args) and load(py.get(quick, w.LAST_ITEMS) + SIZE) <= SCRATCH:
        place = scratch()
        py.keep(quick)
        count = filled(place, py.get(quick, w.LAST_ITEMS), args)
        made = computed(py.get(quick, w.LAST_KIND), py.get(quick, w.LAST_SHAPE), place)
        for k in range(count):
            c.Py_DecRef(load(place + 8 * k))
        c.Py_DecRef(quick)
    return made


def array_of(thing: int) -> int:
    """Return a row-major container's memory as an array of NumPy, made once; borrowed."""
    known = py.get(thing, w.OWN_ARRAY)
    return known if known != 0 else array_by(thing, 0)


def array_by(thing: int, steps: int) -> int:
    """Return a container's memory as an array of NumPy, of such strides if any; borrowed."""
    buffer, shape, place = py.get(thing, w.OWN_BUFFER), py.get(thing, w.SHAPE), scratch()
    memory, rank = py.get(buffer, w.MEMORY), load(shape + SIZE)
    start = c.PyLong_AsLongLong(py.get(buffer, w.MEMORY_START)) + c.PyLong_AsLongLong(
        py.get(thing, w.START)
    )
    if rank > py.DIMENSIONS:
        return 0
    for k in range(rank):
        store(place + 8 * k, py.whole(py.item(shape, k)))
        if steps != 0:
            store(place + 8 * (py.DIMENSIONS + k), py.whole(py.item(steps, k)))
    strides = place + 8 * py.DIMENSIONS if steps != 0 else 0
    address, dtype = load(memory + py.DATA) + start, py.get(thing, w.OWN_DTYPE)
    made = array_over(memory, address, dtype, rank, place, strides)
    if made == 0:
        c.PyErr_Clear()
        return 0
    return py.give(thing, w.OWN_ARRAY, made)


def factor_of(thing: int) -> int:
    """Return an operand of a product as an array of NumPy, whatever its strides; borrowed.

    A product of the like was learned, so no element has two indices.
    """
    strides = py.get(py.get(thing, w.KIND), w.STRIDES)
    if py.get(thing, w.OWN_ARRAY) != 0 or strides == word(w.NONE):
        return array_of(thing)
    size, rank = py.itemsize_of(py.get(thing, w.KIND)), load(strides + SIZE)
    steps = py.tuple_of(rank)
    if steps == 0:
        return 0
    for k in range(rank):
        one = c.PyLong_FromLongLong(size * py.whole(py.item(strides, k)))
        store(steps + word(w.TUPLE_ITEMS) + 8 * k, one)
    made = array_by(thing, steps)
    c.Py_DecRef(steps)
    return made


def writable(to: int) -> int:
    """Return a container's memory as an array of NumPy, borrowed; 0 if that is for Python to make.

    Python makes it read-only where it has an element under two indices.
    """
    if py.get(to, w.OWN_ARRAY) != 0:
        return py.get(to, w.OWN_ARRAY)
    return 0 if overlaps_itself(to) or py.size_of(py.get(to, w.SHAPE)) == 0 else factor_of(to)


def rows_in(thing: int, most: int) -> int:
    """Return a strided container's elements in a new row-major one; 0 if they are more, or none.

    Or where an element has two indices.
    """
    few = py.get(thing, w.KIND) != word(w.NODE) and 0 < py.size_of(py.get(thing, w.SHAPE)) <= most
    array = writable(thing) if few else 0
    return rows_of(array) if array != 0 else 0


def duplicated(thing: int) -> int:
    """Return the elements of a strided container in a new row-major one; 0 if they are many."""
    if not py.is_container(thing) or py.get(py.get(thing, w.KIND), w.OWNER) != word(w.NONE):
        return 0
    return duplicate(thing) if py.is_row_major(thing) else rows_in(thing, py.FEW)


def copied(thing: int, args: int, keywords: int) -> int:
    """``thing.copy()``."""
    cls = load(thing + CLASS)
    if not py.is_container(thing) or keywords != 0 or load(args + SIZE) != 0:
        return 0
    if cls == word(w.VIEW):
        usual = py.get(word(w.SETTINGS), w.DEFAULT_LAYOUT) == word(w.BY_ROWS)
        return duplicated(thing) if usual else 0
    usual = (cls == word(w.ARRAY) or py.is_tensor(cls)) and py.get(thing, w.FORCED) == 0
    if usual and py.get(thing, w.POLICY) == word(w.ROW_MAJOR) and py.is_row_major(thing):
        return duplicate_as(cls, thing)
    return 0


def learned_product(left: int, right: int) -> int:
    """Return what is remembered of the product of two operands of such shapes; 0 if nothing.

    An entry has their shapes, the result's, what `explain` is told of it, its kind, and the next.
    """
    entry = leads(left, word(w.MATMUL), py.get(right, w.KIND))
    while entry != 0 and entry != word(w.NONE):
        same = py.is_same(py.get(left, w.SHAPE), py.item(entry, 0))
        if same and py.is_same(py.get(right, w.SHAPE), py.item(entry, 1)):
            return entry
        entry = py.item(entry, 5)
    return 0


def product(left: int, right: int) -> int:
    """``left @ right``, of operands like two that were multiplied before."""
    if py.is_traced() or not py.is_array(left) or not py.is_array(right):
        return 0
    entry = learned_product(left, right)
    if entry == 0 or py.is_interpreted():
        return 0
    py.keep(entry)
    one = kept_values(left) if py.is_lazy(left) else py.keep(left)
    other = kept_values(right) if py.is_lazy(right) else py.keep(right)
    usual = one != 0 and other != 0 and py.is_container(one) and py.is_container(other)
    made = multiplied(one, other, entry) if usual else 0
    for part in (one, other, entry):
        c.Py_DecRef(part)
    return made


def multiplied(left: int, right: int, entry: int) -> int:
    """Return the product of two containers by what is remembered of it; 0 if it is not done."""
    shape, told, kind = py.item(entry, 2), py.item(entry, 3), py.item(entry, 4)
    nbytes = py.size_of(shape) * py.itemsize_of(kind)
    for part in (kind, shape, told):
        py.keep(part)
    buffer = new_buffer(nbytes)
    made, done = new_array(buffer, shape, kind), 0
    if made != 0:
        place = scratch()
        store(place, factor_of(left))
        store(place + 8, factor_of(right))
        store(place + 16, array_of(made))
        if load(place) != 0 and load(place + 8) != 0 and load(place + 16) != 0:
            dense = py.is_row_major(left) and py.is_row_major(right)
            done = c.PyObject_Vectorcall(word(w.DOT) if dense else word(w.STRIDED_DOT), place, 3, 0)
        if done != 0 and c.PyObject_GenericSetAttr(buffer, word(w.MADE_NAME), told) == 0:
            py.change(buffer, w.SPECIAL, py.keep(word(w.TRUE)))
        if done != 0:
            c.Py_DecRef(done)
        else:
            c.Py_DecRef(made)
            made = 0
    c.Py_DecRef(told)
    return made


def is_for_bytes() -> bool:
    """Tell whether NumPy's `as_strided` asks, whose strides Python has to look at."""
    if load(word(w.COUNTED)) == 0:  # it has no strides of containers
        return False
    frame = c.PyEval_GetFrame()
    code = c.PyFrame_GetCode(frame) if frame != 0 else 0
    c.Py_DecRef(code)  # which the frame keeps
    return code == word(w.AS_STRIDED)


def is_lent_already(container: int, array: int) -> bool:
    """Tell whether NumPy was given memory before, and nobody waits for it if it may be written."""
    buffer = py.get(container, w.OWN_BUFFER)
    steady = load(array + py.FLAGS) & py.WRITABLE == 0 or waiting_for(buffer) == 0
    return steady and is_shared(buffer)


def to_buffer(thing: int, view: int, flags: int) -> bool:
    """Fill a buffer of C's with memory that NumPy can name, for who takes any strides to read."""
    strided = py.is_container(thing) and py.get(thing, w.KIND) != word(w.NODE)
    array = writable(thing) if strided and flags == READS_STRIDES and not py.is_traced() else 0
    known = array != 0 and is_lent_already(thing, array)
    dtype = load(array + py.DESCRIPTION) if known else 0
    if dtype == 0 or load(dtype + py.DTYPE_NUMBER) >= py.OTHERS or is_for_bytes():
        return asked_in_python(thing, view, flags)
    names = word(w.FORMATS) + 16 * (load(dtype + py.DTYPE_NUMBER) >> 32)
    name, itemsize = load(names), load(names + 8)
    if name == 0:
        return asked_in_python(thing, view, flags)
    rank, extents = load(array + py.RANK) & 0xFFFFFFFF, load(array + py.EXTENTS)
    nbytes = itemsize
    for k in range(rank):
        nbytes *= load(extents + 8 * k)
    store(view, load(array + py.DATA))
    store(view + 8, py.keep(array))
    store(view + 16, nbytes)
    store(view + 24, itemsize)
    store(view + 32, rank << 32 | (load(array + py.FLAGS) & py.WRITABLE == 0))
    store(view + 40, name)
    store(view + 48, extents)
    store(view + 56, load(array + py.STEPS))
    store(view + 64, 0)  # no memory is reached through pointers
    store(view + 72, 0)
    return True


def asked_in_python(thing: int, view: int, flags: int) -> bool:
    """Fill a buffer of C's with what ``__buffer__`` gives; return False with an exception set."""
    place = scratch()
    store(view + 8, 0)
    store(place, thing)
    store(place + 8, c.PyLong_FromLongLong(flags))
    found = c.PyObject_VectorcallMethod(word(w.BUFFER_NAME), place, 2, 0)
    c.Py_DecRef(load(place + 8))
    done = found != 0 and c.PyObject_GetBuffer(found, view, flags) == 0
    c.Py_DecRef(found)
    return done


def is_array_of_numpy(thing: int) -> bool:
    """Tell whether an object is an array of NumPy."""
    return thing != 0 and c.PyType_IsSubtype(load(thing + CLASS), word(w.NDARRAY)) != 0


def pin(buffer: int, array: int) -> bool:
    """Let a buffer own an array.

    NumPy refuses to move memory of an array to which there are weak references, or whose memory is
    another object's.
    """
    root = array
    while is_array_of_numpy(load(root + py.BASE)):
        root = load(root + py.BASE)
    py.give(buffer, w.LENT_BY, py.keep(array))
    if load(root + py.FLAGS) & py.OWNS == 0:
        return True
    ref = c.PyWeakref_NewRef(root, 0)
    if ref != 0:
        py.give(buffer, w.PIN, ref)
    return ref != 0


def borrowed(array: int, nbytes: int) -> int:
    """Return a buffer of an array's memory; 0 if that fails."""
    buffer = py.new(word(w.BUFFER))
    if buffer == 0:
        return 0
    size, writable = scratch(), load(array + py.FLAGS) & py.WRITABLE != 0
    store(size, nbytes)
    py.give(buffer, w.NBYTES, c.PyLong_FromLongLong(nbytes))
    py.give(buffer, w.SPECIAL, py.keep(word(w.FALSE if writable else w.TRUE)))
    py.give(buffer, w.SHARED, py.keep(word(w.TRUE)))
    py.give(buffer, w.MEMORY_START, py.keep(word(w.ZERO)))
    py.give(buffer, w.ADDRESS, c.PyLong_FromLongLong(load(array + py.DATA)))
    memory = array_over(array, load(array + py.DATA), word(w.UINT8), 1, size, 0)
    done = memory != 0
    if done:
        py.give(buffer, w.MEMORY, memory)
        done = pin(buffer, array)
    if done and not writable:
        done = c.PyObject_GenericSetAttr(buffer, word(w.READONLY_NAME), word(w.TRUE)) == 0
    if done:
        return buffer
    c.PyErr_Clear()
    c.Py_DecRef(buffer)
    return 0


def kind_of(array: int) -> int:
    """Return the kind of a row-major array's elements, borrowed; 0 of any other object."""
    if load(array + CLASS) != word(w.NDARRAY) or not py.is_plain_array(array):
        return 0
    rank = load(array + py.RANK) & 0xFFFFFFFF
    return 0 if rank > py.DIMENSIONS else kind_of_rank(load(array + py.DESCRIPTION), rank)


def adapted(array: int) -> int:
    """Return a container over a row-major array's memory; 0 for any other object."""
    return container_for(array, True)


def owned(array: int) -> int:
    """Return the elements of a row-major array in a container of their own; 0 of others."""
    return container_for(array, False)


def container_for(array: int, borrows: bool) -> int:
    """Return a container of a row-major array's elements, over its memory if that is borrowed.

    0 of any other object, of elements that are copied and are many, and of none that are borrowed.
    """
    kind, shape = kind_of(array), 0
    if kind != 0:
        shape = tuple_from(load(array + py.EXTENTS), load(array + py.RANK) & 0xFFFFFFFF)
    size = py.size_of(shape) if shape != 0 else -1
    usual = size > 0 if borrows else 0 <= size <= py.MANY
    nbytes = size * py.itemsize_of(kind) if usual else 0
    py.keep(kind if usual else 0)
    buffer = (borrowed(array, nbytes) if borrows else new_buffer(nbytes)) if usual else 0
    if buffer != 0 and not borrows:
        c.memcpy(address_of(buffer), load(array + py.DATA), nbytes)
    made = new_array(buffer, shape, kind if usual else 0)
    if made == 0:
        c.PyErr_Clear()
    elif borrows:
        py.change(made, w.POLICY, py.keep(word(w.DYNAMIC)))
    return made


def owned_alone(place: int, count: int) -> int:
    """``asarray(array)``: a container is returned as it is."""
    if count != 1 or py.is_traced():
        return 0
    if py.is_container(load(place)):
        return py.keep(load(place))
    usual = py.get(word(w.SETTINGS), w.DEFAULT_LAYOUT) == word(w.BY_ROWS)
    return owned(load(place)) if usual else 0


def rows_of(array: int) -> int:
    """Return the elements of an array in a container of their own, by rows; 0 of others."""
    made = owned(array)
    if made != 0 or load(array + CLASS) != word(w.NDARRAY) or py.is_plain_array(array):
        return made
    copy = py.call_method(word(w.COPY_NAME), array, 0, 1)
    if copy != 0:
        made = owned(copy)
        c.Py_DecRef(copy)
    return made
