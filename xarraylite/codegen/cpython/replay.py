"""Running the kernels of a plan again, one after the other; `runtime.replay` makes the record."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import load, load_float, run, scratch, store

#: Bytes of a record's head, of a step's, and of what is said of an address and of a number.
HEAD, STEP, ADDRESS_ENTRY, NUMBER_ENTRY = 32, 32, 40, 24

#: What an address is counted from.
TARGET, OPERAND = 0, 1

#: What a number is: an integer, or one or two of float64 or of float32.
INTEGER, DOUBLE, FLOAT, COMPLEX, COMPLEX_FLOAT = range(1, 6)


def address_at(entry: int, target: int, temporary: int, operands: int) -> int:
    """Return the address that an entry means; 0 if an operand has none any more."""
    kind, base = load(entry + 8), target
    if kind == OPERAND:
        at = operands + load(entry + 16)
        number = py.get(load(at), w.ADDRESS)
        if number == 0:
            return 0
        base = c.PyLong_AsUnsignedLongLongMask(number) + c.PyLong_AsLongLong(load(at + 8))
    elif kind != TARGET:
        base = temporary + load(entry + 16)
    return base * load(entry + 32) + load(entry + 24)


def put_number(place: int, thing: int, kind: int) -> None:
    """Store the bits of a number, in one word or two."""
    if kind == INTEGER:
        store(place, c.PyLong_AsUnsignedLongLongMask(thing))
        return
    if kind in (DOUBLE, COMPLEX):
        store(place, load(thing + py.DATA))
    else:
        store(place, load_float(thing + py.DATA))
    if kind == COMPLEX:
        store(place + 8, load(thing + py.DATA + 8))
    elif kind == COMPLEX_FLOAT:
        store(place, load(place) | load_float(thing + py.DATA + 8) << 32)


def ran(record: int, target: int, temporary: int, operands: int) -> bool:
    """Run all kernels; tell whether it is done.  What was written until then is new memory."""
    at = record + HEAD
    for _ in range(load(record)):
        words, block = load(at + 8), scratch()
        entry = at + STEP + 8 * words
        c.memcpy(block, at + STEP, 8 * words)
        for _ in range(load(at + 16)):
            place = address_at(entry, target, temporary, operands)
            if place == 0:
                return False
            store(block + 8 * load(entry), place)
            entry += ADDRESS_ENTRY
        for _ in range(load(at + 24)):
            number = load(operands + load(entry + 8))
            put_number(block + 8 * load(entry), number, load(entry + 16))
            entry += NUMBER_ENTRY
        if run(load(at), block) != 0:
            return False
        at = entry
    return True
