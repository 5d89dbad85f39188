"""One launch of a kernel; `runtime.launch` makes the record and says what the guards are."""

from __future__ import annotations

from . import basics as py
from . import outside as c
from . import words as w
from .api import CLASS, load, run, scratch, store, word
from .replay import put_number

#: Most dimensions and words of a block; larger ones are planned.
MOST_DIMENSIONS, MOST_WORDS = 6, 240

#: Where a record has its words (see also `basics`), how long its head is, and an entry.
RANK, ENTRIES, WORDS, GUARDED, FLAT, HELD = 8, 24, 32, 40, 48, 80
LONG, LONG_FROM, LONG_BYTES, FLYING = 88, 96, 104, 112
HEAD_BYTES, ENTRY_BYTES = 120, 8 * (5 + MOST_DIMENSIONS)

#: Where an entry has its words: the first one is what the argument is.
WORD, EACH, SAME, ROW, STRIDES = 8, 16, 24, 32, 40

#: What an argument is that is no number (`replay` has what numbers are).
IN_MEMORY = 0

#: Numbers whose product is an int64.
FACTOR = 1 << 31


def counted(shape: int, rank: int, extents: int) -> int:
    """Store a shape's extents; return the number of elements, -1 where that is very large."""
    total = 1
    for k in range(rank):
        extent = c.PyLong_AsLongLong(py.item(shape, k))
        if extent > FACTOR or total > FACTOR:
            return -1
        store(extents + 8 * k, extent)
        total *= extent
    return total


def spread(entry: int, place: int, extents: int, loops: int) -> int:
    """Store an operand's strides behind its address.

    Return where it ends; where it begins is stored behind the extents.
    """
    row, dense = load(entry + ROW), load(entry + EACH)
    low = load(place)
    high = low + dense
    for outwards in range(loops):
        k = loops - 1 - outwards
        extent, stride = load(extents + 8 * k), load(entry + STRIDES + 8 * k)
        if row >= 0:
            stride = dense if outwards < row else 0
        dense *= extent
        if outwards != 0:
            store(place + 8 * (k + 1), stride)
        reach = (extent - 1) * stride
        if reach < 0:
            low += reach
        else:
            high += reach
    store(extents + 8 * MOST_DIMENSIONS, low)
    return high


def started(record: int, target: int, shape: int, operands: int) -> int:
    """Run a kernel over operands at an address; 0 if a guard refused, and nothing has happened.

    The caller holds the program, the operands and the buffer that is written: others may let go of
    theirs while a kernel runs without the interpreter's lock.
    """
    block, rank, entries = scratch(), load(record + RANK), load(record + ENTRIES)
    entry, extents = record + HEAD_BYTES, block + 8 * MOST_WORDS
    total = counted(shape, rank, extents)
    if total < 1 or total > load(record + py.LIMIT):
        return 1 if total == 0 else 0
    c.memcpy(block, entry + ENTRY_BYTES * entries, 8 * load(record + WORDS))
    loops = rank
    if load(record + FLAT) != 0:
        loops = 1
        store(extents, total)
    outer = 1
    for k in range(loops - 1):
        extent = load(extents + 8 * k)
        store(block + 8 * (k + 4), extent)
        outer *= extent
    store(block + 8, outer)
    store(block + 24, load(extents + 8 * (loops - 1)) if loops != 0 else 1)
    low = high = moved = first = last = 0
    locked = total <= load(record + HELD) or load(load(record + FLYING) + 8) != 0
    for k in range(entries):
        kind, place, start = load(entry), block + 8 * load(entry + WORD), target
        if kind != IN_MEMORY:
            put_number(place, load(operands), kind)
            operands += 8
        else:
            if k != 0:
                address = py.get(load(operands), w.ADDRESS)
                if address == 0:
                    return 0
                start = c.PyLong_AsUnsignedLongLongMask(address)
                start += c.PyLong_AsLongLong(load(operands + 8))
                # Writers do not wait for what reads a buffer without a snapshot of it.
                locked = locked or load(load(operands) + CLASS) != word(w.SNAPSHOT_CLASS)
                operands += 16
            store(place, start)
            end = spread(entry, place, extents, loops)
            begin = load(extents + 8 * MOST_DIMENSIONS)
            # What two operands in a row read comes from memory once.
            moved += end - begin if end <= first or begin >= last else 0
            first, last = begin, end
            if k == 0:
                low, high = begin, end
            elif load(record + GUARDED) != 0:
                same = load(entry + SAME) != 0
                if (start != target) if same else (end > low and begin < high):
                    return 0
        entry += ENTRY_BYTES
    long = load(record + LONG)
    many = total >= load(record + LONG_FROM) and moved >= load(record + LONG_BYTES)
    kernel = long if long != 0 and many else load(record)
    if locked:
        return 1 if run(kernel, block) == 0 else 0
    return 1 if without_lock(kernel, record, block) == 0 else 0


def without_lock(kernel: int, record: int, block: int) -> int:
    """Run a kernel while other threads run Python; return its status.

    It is counted, so that whoever is about to move a snapshot can wait for it.
    """
    flying = load(record + FLYING)
    store(flying, load(flying) + 1)
    thread = c.PyEval_SaveThread()
    status = run(kernel, block)
    c.PyEval_RestoreThread(thread)
    store(flying, load(flying) - 1)
    return status
