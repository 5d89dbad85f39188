"""Evaluating into memory that is there."""

from __future__ import annotations

from . import basics as py
from . import evaluation, readers
from . import outside as c
from . import words as w
from .api import CLASS, SCRATCH, SIZE, load, scratch, store, word
from .calls import array_of, writable
from .indices import MOST_LISTED, is_numpys, selector
from .launching import HELD, started
from .operators import combined, give_snapshot, leads, number_of, of_number
from .replay import ran
from .scalars import fits, fits_whole, inside
from .views import is_index, overlaps_itself, view_of

#: Operations up to which an updated result stays lazy (`arrays.ownership`).
LAZY = 32

#: Bytes of what a plan says of an operand in memory.
CHECK = 24


def lies_so(checks: int, to: int, items: int) -> bool:
    """Tell whether operands lie in a container's buffer, and so far from it, as a plan says."""
    buffer = py.get(to, w.OWN_BUFFER)
    first, place = evaluation.address_of(buffer), evaluation.begin_of(to)
    last = first + c.PyLong_AsLongLong(py.get(buffer, w.NBYTES))
    check = checks + 8
    for _ in range(load(checks)):
        at = items + load(check)
        memory = load(at)
        if py.get(memory, w.ADDRESS) == 0:
            return False
        address = evaluation.address_of(memory)
        near = address < last and first < address + c.PyLong_AsLongLong(py.get(memory, w.NBYTES))
        if near != (load(check + 8) != 0):
            return False
        if near and address + c.PyLong_AsLongLong(load(at + 8)) - place != load(check + 16):
            return False
        check += CHECK
    return True


def ran_over(plan: int, to: int, items: int, waiting: int) -> bool:
    """Run a plan that writes a container, if all operands lie as it says; tell whether it did.

    Not where others wait for its bytes than those who did when that was asked.
    """
    if py.is_interpreted():
        return False
    checks = py.get(plan, w.REWRITE_RECORD) + word(w.BYTES_DATA)
    if not lies_so(checks, to, items):
        return False
    py.keep(plan)
    record = checks + 8 + CHECK * load(checks)
    buffer, temporary, place = py.get(to, w.OWN_BUFFER), 0, 0
    nbytes = load(record + 16)
    if nbytes != 0:
        temporary = evaluation.new_buffer(nbytes)
        place = evaluation.address_of(temporary) if temporary != 0 else 0
    # Where memory was allocated others may have run.
    done = (place != 0) == (nbytes != 0) and readers.waiting_for(buffer) == waiting
    if done and lies_so(checks, to, items):
        py.count_evaluation()
        evaluation.bump(evaluation.TEMPORARIES, load(record + 24))
        done = ran(record, evaluation.begin_of(to), place, items)
    else:
        done = False
    c.Py_DecRef(temporary)
    c.Py_DecRef(plan)
    return done


def written_again(to: int, kind: int, items: int) -> bool:
    """Write by one of the plans for these extents (`runtime.replay`), if there are any."""
    # From here on whatever is allocated may run others, who may read.
    waiting = readers.waiting_for(py.get(to, w.OWN_BUFFER))
    key = py.few(py.get(to, w.KIND), py.get(to, w.SHAPE), 0)
    if key == 0:
        return False
    plan, done = c.PyDict_GetItemWithError(py.get(kind, w.WRITES), key), False
    c.Py_DecRef(key)
    if plan == 0:
        return False
    py.keep(plan)
    while not done and load(plan + CLASS) == word(w.REWRITE):
        done = ran_over(plan, to, items, waiting)
        another = py.keep(py.get(plan, w.REWRITE_NEXT))
        c.Py_DecRef(plan)
        plan = another
    c.Py_DecRef(plan)
    return done


def rewritten(plan: int, to: int, operands: int) -> int:
    """``rewritten(plan, to, operands)``."""
    if not py.is_container(to):
        return 0
    waiting = readers.waiting_for(py.get(to, w.OWN_BUFFER))
    done = ran_over(plan, to, operands + word(w.TUPLE_ITEMS), waiting)
    return py.keep(word(w.TRUE)) if done else 0


def written(to: int, kind: int, key: int, items: int, again: bool) -> bool:
    """Write an expression by the program that its kind has under a key; tell whether it is done.

    If ``again``, also by a plan, which may have a temporary.
    """
    program = c.PyDict_GetItemWithError(py.get(kind, w.WRITES), key)
    record = evaluation.record_of(program)
    size = py.size_of(py.get(to, w.SHAPE))
    if record != 0 and size * load(record + py.TWICE) <= py.REPEATED:
        py.count_evaluation()
        # While a large kernel runs, others may read, and let go of what it needs.
        py.keep(program)
        buffer, locked = py.keep(py.get(to, w.OWN_BUFFER)), size <= load(record + HELD)
        snapshot = 0 if locked else readers.hidden(buffer)
        done = started(record, evaluation.begin_of(to), py.get(to, w.SHAPE), items)
        if not locked:
            readers.shown(buffer, snapshot)
        c.Py_DecRef(buffer)
        c.Py_DecRef(program)
        if done != 0:
            return True
    return again and written_again(to, kind, items)


def assigned(to: int, value: int, again: bool) -> bool:
    """Assign an expression, or memory, of the container's shape; tell whether it is done."""
    return py.is_container(to) and launched(to, value, py.get(to, w.KIND), again)


def launched(to: int, value: int, key: int, again: bool) -> bool:
    """Assign by the program that the value's kind has under a key; tell whether it is done."""
    if not py.is_array(value) or not py.is_same(py.get(to, w.SHAPE), py.get(value, w.SHAPE)):
        return False
    kind, buffer = py.get(value, w.KIND), py.get(to, w.OWN_BUFFER)
    waiting = readers.waiting_for(buffer)
    if not py.is_lazy(value):
        items = scratch()
        store(items, py.get(value, w.OWN_BUFFER))
        store(items + 8, py.get(value, w.START))
        return waiting == 0 and written(to, kind, key, items, again)
    operands = py.get(value, w.OPERANDS)
    items = operands + word(w.TUPLE_ITEMS)
    if waiting != 0:
        # Only the expression itself waits, and nobody else has it.
        if waiting < 0 or waiting != readers.own_of(buffer, items, load(operands + SIZE)):
            return False
        if not readers.is_alone(value):
            return False
    py.keep(operands)
    done = written(to, kind, key, items, again)
    c.Py_DecRef(operands)
    return done


def fits_all(kind: int, numbers: int) -> bool:
    """Tell whether NumPy stores a list or tuple of few numbers in a kind's memory as we do.

    It writes one after another, so none may be refused after others are there.
    """
    dtype = py.get(kind, w.DTYPE)
    count, usual = load(numbers + SIZE), dtype != word(w.BOOL_DTYPE)
    for k in range(count if count <= MOST_LISTED else 0):
        one = py.member(numbers, k)
        usual = usual and py.is_number(one) and fits(kind, one)
        usual = usual and (load(one + CLASS) != word(w.INT) or fits_whole(dtype, one))
    return usual and 0 < count <= MOST_LISTED


def stored(to: int, key: int, value: int) -> bool:
    """Write one number, or a list of them, to what an index selects; tell whether it is done."""
    if not py.is_container(to):
        return False
    index, made = key, 0
    if not is_index(key, True):
        if not 0 <= py.size_of(py.get(to, w.SHAPE)) <= py.MANY:
            return False
        if not is_numpys(key):
            made = selector(key)
            index = array_of(made) if made != 0 else 0
    array, done = writable(to) if index != 0 else 0, False
    if array != 0 and readers.is_free(py.get(to, w.OWN_BUFFER), key):
        number, cls = inside(value), load(value + CLASS)
        several = cls == word(w.LIST) or cls == word(w.TUPLE)
        kind = py.get(to, w.KIND)
        done = fits_all(kind, number) if several else fits(kind, number)
        done = done and readers.put_in(to, array, index, number)
        c.Py_DecRef(number)
    c.Py_DecRef(made)
    return done


def array_at(container: int) -> int:
    """``array_of(container)``."""
    made = writable(container) if py.is_container(container) else 0
    c.Py_IncRef(made)
    return made


def is_promise(to: int) -> bool:
    """Tell whether a destination is one of `noalias`."""
    return load(to + CLASS) == word(w.PROMISE)


def destination_of(to: int) -> int:
    """Return the memory that is written, borrowed."""
    return py.get(to, w.DESTINATION) if is_promise(to) else to


def is_checked() -> bool:
    """Tell whether promises of `noalias` are checked."""
    return py.get(word(w.SETTINGS), w.CHECK_NOALIAS) != word(w.FALSE)


def unchecked(to: int, value: int) -> bool:
    """Assign what was promised to read no element in another place; tell whether it is done."""
    if not py.is_container(to) or is_checked():
        return False
    key = py.few(py.get(to, w.KIND), word(w.NONE), 0) if not overlaps_itself(to) else 0
    if key == 0:
        return False
    done = launched(to, value, key, False)
    c.Py_DecRef(key)
    return done


def is_part(part: int, value: int) -> bool:
    """Tell whether a value is the part itself, as where Python stores what ``+=`` returned."""
    return (
        py.is_container(value)
        and py.get(part, w.OWN_BUFFER) == py.get(value, w.OWN_BUFFER)
        and py.get(part, w.KIND) == py.get(value, w.KIND)
        and py.get(part, w.KIND) != word(w.NODE)
        and py.get(py.get(part, w.OWN_BUFFER), w.SPECIAL) == word(w.FALSE)
        and py.is_same(py.get(part, w.SHAPE), py.get(value, w.SHAPE))
        and c.PyLong_AsLongLong(py.get(part, w.START))
        == c.PyLong_AsLongLong(py.get(value, w.START))
        and not overlaps_itself(part)
    )


def assign(to: int, value: int) -> int:
    """``to.assign(value)``, where the shape stays."""
    promise, target = is_promise(to), destination_of(to)
    if not promise:
        readers.let_go(target, value, word(w.NONE))
    if assigned(target, value, not promise) or (promise and unchecked(target, value)):
        return py.keep(target)
    return 0


def promise_of(target: int) -> int:
    """Return a container as a destination of `noalias`; its reference was the caller's."""
    made = py.new(word(w.PROMISE))
    if made == 0:
        c.Py_DecRef(target)
        return 0
    py.give(made, w.DESTINATION, target)
    return made


def promised(target: int) -> int:
    """``noalias(target)``."""
    return promise_of(py.keep(target)) if py.is_container(target) else 0


def promised_part(to: int, key: int) -> int:
    """``noalias(target)[key]``."""
    target = destination_of(to)
    whole = key == word(w.ELLIPSIS) and py.is_container(target)
    part = py.keep(target) if whole else view_of(target, key)
    return promise_of(part) if part != 0 else 0


def updated(to: int, value: int, key: int, again: bool) -> bool:
    """Perform an in-place operation on operands of one shape; tell whether it is done."""
    if py.is_traced() or not py.is_container(to) or load(py.get(to, w.SHAPE) + SIZE) == 0:
        return False
    items = scratch()
    buffer, own = py.get(to, w.OWN_BUFFER), 0
    # What is read at once needs no snapshot: its buffer stands for it.
    store(items, buffer)
    store(items + 8, py.get(to, w.START))
    number = kind = 0
    if py.is_number(value):
        entry = of_number(leads(to, key, load(value + CLASS)), value)
        if entry == 0:
            return False
        if load(entry + CLASS) == word(w.TUPLE):
            number, kind = number_of(value, entry), py.item(entry, 0)
            store(items + 16, number)
            if number == 0:
                return False
        else:  # of the elements alone, as often as the operation has them
            kind = entry
            for k in range(2, py.integer(py.get(kind, w.ITEMS)), 2):
                store(items + 8 * k, buffer)
                store(items + 8 * k + 8, py.get(to, w.START))
    else:
        if not py.is_array(value) or not py.is_same(py.get(value, w.SHAPE), py.get(to, w.SHAPE)):
            return False
        kind = leads(to, key, py.get(value, w.KIND))
        if py.is_lazy(value):
            operands = py.get(value, w.OPERANDS)
            count = load(operands + SIZE)
            if count > SCRATCH - 2:
                return False
            for k in range(count):
                store(items + 16 + 8 * k, py.item(operands, k))
            own = readers.own_of(buffer, operands + word(w.TUPLE_ITEMS), count)
            if own != 0 and not readers.is_alone(value):
                return False
        else:
            store(items + 16, py.get(value, w.OWN_BUFFER))
            store(items + 24, py.get(value, w.START))
    done = False
    if (
        kind != 0
        and py.get(kind, w.DTYPE) == py.get(to, w.OWN_DTYPE)
        and readers.waiting_for(buffer) == own
    ):
        done = written(to, kind, py.get(to, w.KIND), items, again)
    c.Py_DecRef(number)
    return done


def renewed(to: int, value: int, key: int) -> bool:
    """Have a lazy result, without views, stand for an operation on it; tell whether done."""
    if py.is_traced() or not py.is_lazy(to) or py.get(to, w.OWNING) != 0:
        return False
    if load(py.get(to, w.SHAPE) + SIZE) == 0:  # a value
        return False
    made = combined(to, value, key)
    if made == 0:
        return False
    kind = py.get(made, w.KIND)
    usual = py.get(kind, w.DTYPE) == py.dtype_of(to) and py.is_same(
        py.get(made, w.SHAPE), py.get(to, w.SHAPE)
    )
    usual = usual and c.PyLong_AsLongLong(py.get(kind, w.WEIGHT)) <= LAZY
    if usual:
        py.swap(to, made, w.KIND)
        py.swap(to, made, w.OPERANDS)
        if py.get(to, w.USED) != 0:
            py.swap(to, made, w.USED)
    c.Py_DecRef(made)
    return usual


def joined(to: int, value: int, key: int) -> bool:
    """Update a container by an array of another shape, as an assignment; tell whether done."""
    if py.is_traced() or not py.is_container(to) or not py.is_array(value):
        return False
    give_snapshot(to)
    made = combined(to, give_snapshot(value), key)
    if made == 0:
        return False
    done = put_result(to, made, readers.own_in(py.get(to, w.OWN_BUFFER), value))
    c.Py_DecRef(made)
    return done


def put_result(to: int, made: int, others: int) -> bool:
    """Write a result that was made here, which no statement of Python's has; tell whether done.

    So many ``others`` of the references to the container's bytes are nobody's who waits.
    """
    kind, operands, buffer = (
        py.get(made, w.KIND),
        py.get(made, w.OPERANDS),
        py.get(to, w.OWN_BUFFER),
    )
    usual = py.get(kind, w.DTYPE) == py.get(to, w.OWN_DTYPE)
    if not usual or not py.is_same(py.get(made, w.SHAPE), py.get(to, w.SHAPE)):
        return False
    items, own = operands + word(w.TUPLE_ITEMS), others
    if py.count_of(made) == 1 and py.count_of(operands) == 1:
        own += readers.own_of(buffer, items, load(operands + SIZE))
    if readers.is_readable(made) and readers.moved_away(buffer, own):
        own = 0
    return readers.waiting_for(buffer) == own and written(to, kind, py.get(to, w.KIND), items, True)


def in_place(to: int, value: int, row: int) -> int:
    """``to += value`` of an array or a promise, for each operation with such an operator."""
    again = not is_promise(to)
    value_like = again and py.is_container(to) and load(py.get(to, w.SHAPE) + SIZE) == 0
    if value_like and py.get(py.get(to, w.OWN_BUFFER), w.SPECIAL) != word(w.FALSE):
        return 0  # a product of two vectors is a value
    if again:
        readers.let_go(to, value, word(w.NONE))
    if updated(destination_of(to), value, word(row), again) or renewed(to, value, word(row)):
        return py.keep(to)
    if again and joined(to, value, word(row)):
        return py.keep(to)
    return 0
