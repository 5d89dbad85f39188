"""Evaluating into memory that is there."""

from __future__ import annotations

from .api import (
    ADDRESS,
    ALONE,
    ASSIGN,
    BOOL_DTYPE,
    BYTES_DATA,
    CHECK_NOALIAS,
    CLASS,
    DESTINATION,
    DTYPE,
    ELLIPSIS,
    ENGINE,
    FALSE,
    FLOAT,
    FLOAT32,
    INT,
    INT64,
    KIND,
    NBYTES,
    NDARRAY,
    NODE,
    NONE,
    OPERANDS,
    OWN_ARRAY,
    OWN_BUFFER,
    OWN_DTYPE,
    OWNING,
    PROMISE,
    PROMISED,
    PROMISED_ASSIGN,
    PROMISED_PART,
    REFERENCE,
    REWRITE,
    REWRITE_RECORD,
    SCRATCH,
    SETTINGS,
    SHAPE,
    SHARED,
    SIZE,
    SLICE,
    SNAPSHOT,
    SPECIAL,
    START,
    STORED,
    TEMPORARIES,
    TRUE,
    TUPLE,
    TUPLE_ITEMS,
    USED,
    WEIGHT,
    WRITES,
    Py_DecRef,
    PyDict_GetItemWithError,
    PyErr_Clear,
    PyLong_AsLongLong,
    PyObject_SetItem,
    PySet_Contains,
    load,
    load_double,
    scratch,
    store,
    word,
    xl_launch,
)
from .basics import (
    DATA,
    DESCRIPTION,
    DIMENSIONS,
    MANY,
    REPEATED,
    TWICE,
    call,
    count_evaluation,
    count_of,
    get,
    give,
    is_container,
    is_lazy,
    is_number,
    is_same,
    is_traced,
    item,
    keep,
    new,
    size_of,
    tuple_of,
)
from .evaluation import address_of, begin_of, bump, new_buffer, record_of
from .operators import combined, leads, number_of, of_number
from .replay import ran
from .scalars import inside
from .views import is_index, is_plain, steps_of, view_of

#: Operations up to which an updated result stays lazy (`arrays.ownership`).
LAZY = 32

#: Bytes of what a plan says of an operand in memory.
CHECK = 24

#: The greatest float32.
MOST_SHORT = 3.4028234663852886e38


def waiting_for(buffer: int) -> int:
    """Count the references that keep a buffer's bytes; -1 where more than counting is to do."""
    if get(buffer, SPECIAL) != word(FALSE) or get(buffer, SHARED) != word(FALSE):
        return -1
    snapshot = get(buffer, SNAPSHOT)
    return 0 if snapshot == 0 else count_of(snapshot) - 1


def is_alone(value: int) -> bool:
    """Tell whether nobody else has an expression, nor its operands (``-e`` has those of ``e``)."""
    return count_of(value) <= word(ALONE) and count_of(get(value, OPERANDS)) == 1


def own_of(buffer: int, items: int, count: int) -> int:
    """Count the references to a buffer's snapshot among operands."""
    snapshot = get(buffer, SNAPSHOT)
    found = 0
    for k in range(count):
        if load(items + 8 * k) == snapshot:
            found += 1
    return found


def lies_so(checks: int, to: int, items: int) -> bool:
    """Tell whether operands lie in a container's buffer, and so far from it, as a plan says."""
    first = address_of(get(to, OWN_BUFFER))
    last, place = first + PyLong_AsLongLong(get(get(to, OWN_BUFFER), NBYTES)), begin_of(to)
    check = checks + 8
    for _ in range(load(checks)):
        at = items + load(check)
        memory = load(at)
        if get(memory, ADDRESS) == 0:
            return False
        address = address_of(memory)
        near = address < last and first < address + PyLong_AsLongLong(get(memory, NBYTES))
        if near != (load(check + 8) != 0):
            return False
        if near and address + PyLong_AsLongLong(load(at + 8)) - place != load(check + 16):
            return False
        check += CHECK
    return True


def ran_over(plan: int, to: int, items: int) -> bool:
    """Run a plan that writes a container, if all operands lie as it says; tell whether it did."""
    if get(word(SETTINGS), ENGINE) == word(REFERENCE):
        return False
    keep(plan)
    checks = get(plan, REWRITE_RECORD) + word(BYTES_DATA)
    record = checks + 8 + CHECK * load(checks)
    buffer, temporary, place = get(to, OWN_BUFFER), 0, 0
    waiting = waiting_for(buffer)
    if load(record + 16) != 0:
        temporary = new_buffer(load(record + 16))
        place = address_of(temporary) if temporary != 0 else 0
    # Where memory was allocated others may have run.
    done = (place != 0) == (load(record + 16) != 0) and waiting_for(buffer) == waiting
    if done and lies_so(checks, to, items):
        count_evaluation()
        bump(TEMPORARIES, load(record + 24))
        done = ran(record, begin_of(to), place, items)
    else:
        done = False
    if temporary != 0:
        Py_DecRef(temporary)
    Py_DecRef(plan)
    return done


def written_again(to: int, kind: int, items: int) -> bool:
    """Write by the plan for these extents (`runtime.replay`), if there is one."""
    key = tuple_of(2)
    if key == 0:
        return False
    store(key + word(TUPLE_ITEMS), keep(get(to, KIND)))
    store(key + word(TUPLE_ITEMS) + 8, keep(get(to, SHAPE)))
    plan = PyDict_GetItemWithError(get(kind, WRITES), key)
    Py_DecRef(key)
    return plan != 0 and load(plan + CLASS) == word(REWRITE) and ran_over(plan, to, items)


def written(to: int, kind: int, key: int, items: int) -> bool:
    """Write an expression by the program that its kind has under a key; tell whether it is done."""
    program = PyDict_GetItemWithError(get(kind, WRITES), key)
    record = record_of(program)
    if record != 0 and size_of(get(to, SHAPE)) * load(record + TWICE) <= REPEATED:
        count_evaluation()
        if xl_launch(record, begin_of(to), get(to, SHAPE), items) != 0:
            return True
    return key == get(to, KIND) and written_again(to, kind, items)


def rewritten(plan: int, to: int, operands: int) -> int:
    """``rewritten(plan, to, operands)``; None if it is not done."""
    done = is_container(to) and ran_over(plan, to, operands + word(TUPLE_ITEMS))
    return keep(word(TRUE if done else NONE))


def assigned(to: int, value: int) -> bool:
    """Assign an expression, or memory, of the container's shape; tell whether it is done."""
    return is_container(to) and launched(to, value, get(to, KIND))


def launched(to: int, value: int, key: int) -> bool:
    """Assign by the program that the value's kind has under a key; tell whether it is done."""
    lazy = is_lazy(value)
    if not (lazy or is_container(value)) or not is_same(get(to, SHAPE), get(value, SHAPE)):
        return False
    kind, buffer = get(value, KIND), get(to, OWN_BUFFER)
    waiting = waiting_for(buffer)
    if not lazy:
        items = scratch()
        store(items, get(value, OWN_BUFFER))
        store(items + 8, get(value, START))
        return waiting == 0 and written(to, kind, key, items)
    operands = get(value, OPERANDS)
    items = operands + word(TUPLE_ITEMS)
    if waiting != 0:
        # Only the expression itself waits, and nobody else has it.
        if waiting < 0 or waiting != own_of(buffer, items, load(operands + SIZE)):
            return False
        if not is_alone(value):
            return False
    return written(to, kind, key, items)


def fits(kind: int, number: int) -> bool:
    """Tell whether NumPy stores a number in memory of a kind as we do."""
    if PySet_Contains(get(kind, STORED), load(number + CLASS)) == 1:
        return True
    if get(kind, DTYPE) != word(FLOAT32) or load(number + CLASS) != word(FLOAT):
        return False
    return -MOST_SHORT <= load_double(number + DATA) <= MOST_SHORT


def is_numpys(key: int) -> bool:
    """Tell whether an index is of items that mean to NumPy what they mean here."""
    if load(key + CLASS) != word(TUPLE):
        return is_numpys_item(key)
    for k in range(load(key + SIZE)):
        if not is_numpys_item(item(key, k)):
            return False
    return load(key + SIZE) != 0


def is_numpys_item(one: int) -> bool:
    """Tell whether that is so of an item: an int, a slice of ints, dots, or an array."""
    cls = load(one + CLASS)
    if cls == word(NDARRAY):
        dtype = load(one + DESCRIPTION)
        return dtype == word(INT64) or dtype == word(BOOL_DTYPE)
    if cls == word(SLICE):
        return is_plain(one)
    return one == word(ELLIPSIS) or cls == word(INT)


def stored(to: int, key: int, value: int) -> bool:
    """Write one number to the elements that an index selects; tell whether done."""
    if not is_container(to):
        return False
    several = not is_index(key, True)
    if several and not (is_numpys(key) and 0 <= size_of(get(to, SHAPE)) <= MANY):
        return False
    array = get(to, OWN_ARRAY)
    if array == 0 or waiting_for(get(to, OWN_BUFFER)) != 0:
        return False
    number = inside(value)
    done = fits(get(to, KIND), number)
    if done and PyObject_SetItem(array, key, number) != 0:
        PyErr_Clear()  # Python says what is wrong
        done = False
    Py_DecRef(number)
    return done


def is_promise(to: int) -> bool:
    """Tell whether a destination is one of `noalias`."""
    return load(to + CLASS) == word(PROMISE)


def destination_of(to: int) -> int:
    """Return the memory that is written, borrowed."""
    return get(to, DESTINATION) if is_promise(to) else to


def overlaps_itself(to: int) -> bool:
    """Tell whether memory may have an element under two indices."""
    extents = scratch()
    steps = extents + 8 * DIMENSIONS
    rank = steps_of(to, extents, steps)
    for k in range(1, rank):
        if load(steps + 8 * (k - 1)) < load(extents + 8 * k) * load(steps + 8 * k):
            return True
    return rank == 0


def unchecked(to: int, value: int) -> bool:
    """Assign what was promised to read no element in another place; tell whether it is done."""
    if not is_container(to) or get(word(SETTINGS), CHECK_NOALIAS) != word(FALSE):
        return False
    key = tuple_of(2) if not overlaps_itself(to) else 0
    if key == 0:
        return False
    store(key + word(TUPLE_ITEMS), keep(get(to, KIND)))
    store(key + word(TUPLE_ITEMS) + 8, keep(word(NONE)))
    done = launched(to, value, key)
    Py_DecRef(key)
    return done


def is_part(part: int, value: int) -> bool:
    """Tell whether a value is the part itself, as where Python stores what ``+=`` returned."""
    return (
        is_container(value)
        and get(part, OWN_BUFFER) == get(value, OWN_BUFFER)
        and get(part, KIND) == get(value, KIND)
        and get(part, KIND) != word(NODE)
        and get(get(part, OWN_BUFFER), SPECIAL) == word(FALSE)
        and is_same(get(part, SHAPE), get(value, SHAPE))
        and PyLong_AsLongLong(get(part, START)) == PyLong_AsLongLong(get(value, START))
        and not overlaps_itself(part)
    )


def assign(to: int, value: int) -> int:
    """``to.assign(value)``, where the shape stays."""
    promise, target = is_promise(to), destination_of(to)
    if assigned(target, value) or (promise and unchecked(target, value)):
        return keep(target)
    return call(word(PROMISED_ASSIGN if promise else ASSIGN), to, value, 2)


def promise_of(target: int) -> int:
    """Return a container as a destination of `noalias`; its reference was the caller's."""
    made = new(word(PROMISE))
    if made != 0:
        give(made, DESTINATION, target)
    else:
        Py_DecRef(target)
    return made


def promised(target: int) -> int:
    """``noalias(target)``."""
    made = promise_of(keep(target)) if is_container(target) else 0
    return made if made != 0 else call(word(PROMISED), target, 0, 1)


def promised_part(to: int, key: int) -> int:
    """``noalias(target)[key]``."""
    target = destination_of(to)
    whole = key == word(ELLIPSIS) and is_container(target)
    part = keep(target) if whole else view_of(target, key)
    made = promise_of(part) if part != 0 else 0
    return made if made != 0 else call(word(PROMISED_PART), to, key, 2)


def updated(to: int, value: int, key: int) -> bool:
    """Perform an in-place operation on operands of one shape; tell whether it is done."""
    if is_traced() or not is_container(to):
        return False
    items = scratch()
    buffer, own = get(to, OWN_BUFFER), 0
    # What is read at once needs no snapshot: its buffer stands for it.
    store(items, buffer)
    store(items + 8, get(to, START))
    number = kind = 0
    if is_number(value):
        entry = of_number(leads(to, key, load(value + CLASS)), value)
        if entry == 0:
            return False
        if load(entry + CLASS) == word(TUPLE):
            number, kind = number_of(value, entry), item(entry, 0)
            store(items + 16, number)
            if number == 0:
                return False
        else:  # of the elements alone, twice at most
            kind = entry
            store(items + 16, buffer)
            store(items + 24, get(to, START))
    else:
        lazy = is_lazy(value)
        if not (lazy or is_container(value)) or not is_same(get(value, SHAPE), get(to, SHAPE)):
            return False
        kind = leads(to, key, get(value, KIND))
        if lazy:
            operands = get(value, OPERANDS)
            count = load(operands + SIZE)
            if count > SCRATCH - 2:
                return False
            for k in range(count):
                store(items + 16 + 8 * k, item(operands, k))
            own = own_of(buffer, operands + word(TUPLE_ITEMS), count)
            if own != 0 and not is_alone(value):
                return False
        else:
            store(items + 16, get(value, OWN_BUFFER))
            store(items + 24, get(value, START))
    done = False
    if kind != 0 and get(kind, DTYPE) == get(to, OWN_DTYPE) and waiting_for(buffer) == own:
        done = written(to, kind, get(to, KIND), items)
    if number != 0:
        Py_DecRef(number)
    return done


def exchange(one: int, other: int, slot: int) -> int:
    """Exchange what two objects hold."""
    held = get(one, slot)
    give(one, slot, get(other, slot))
    return give(other, slot, held)


def renewed(to: int, value: int, key: int) -> bool:
    """Have a lazy result, without views, stand for an operation on it; tell whether done."""
    if is_traced() or not is_lazy(to) or get(to, OWNING) != 0:
        return False
    made = combined(to, value, key)
    if made == 0:
        return False
    kind = get(made, KIND)
    usual = get(kind, DTYPE) == get(get(to, KIND), DTYPE) and is_same(
        get(made, SHAPE), get(to, SHAPE)
    )
    usual = usual and PyLong_AsLongLong(get(kind, WEIGHT)) <= LAZY
    if usual:
        exchange(to, made, KIND)
        exchange(to, made, OPERANDS)
        if get(to, USED) != 0:
            exchange(to, made, USED)
    Py_DecRef(made)
    return usual


def in_place(to: int, value: int, row: int) -> int:
    """``to += value`` of an array or a promise, for each operation with such an operator."""
    if updated(destination_of(to), value, word(row)) or renewed(to, value, word(row)):
        return keep(to)
    return call(word(row + 4), to, value, 2)
