"""The code that finds the first position of an extreme of neighbours in memory.

Blocks are folded by vectors, as extremes are.  It is noted which block has first given the extreme
of all, and that block is looked through at the end.  A NaN is an extreme that nothing beats, as is
the last integer there is: the search of integers ends with the block that has it.
"""

from __future__ import annotations

from .builder import Builder, Pace, Value
from .folding import Fold, value_bytes
from .lanes import ORDER, everywhere

#: Bytes of a block: the last one is read twice, so they should be few, but folding one to a single
#: value takes as long as reading a thousand.
BLOCK = 16 << 10

#: Elements that are compared at once.
WIDTH = 64


def fold_position(fold: Fold, pointers: list[Value]) -> None:
    """Emit the search of one result."""
    b, low, end = fold.b, fold.words["j0"], fold.words["j1"]
    row = fold.along(pointers)
    best, block, next_ = b.local(row.value(low)), b.local(low), b.local(low)
    with b.repeat() as loop:
        start = next_.get()
        b.stop_unless(loop, start < end)
        if row.kind[0] != "f":
            last = Value(b, best.get().type, str(_last(row)))
            b.stop_unless(loop, _compare(b, "icmp ne", best.get(), last))
        stop = (start + BLOCK // value_bytes(row.spec.body.dtype)).least(end)
        next_.set(stop)
        row.start()
        with b.loop(row.vectors(start, stop), stop, 1, Pace.SLOW) as j:
            row.take(row.value(j))
        with b.when(_beats(fold, row.total.get(), best.get())):
            best.set(row.total.get())
            block.set(start)
    at = b.local(block.get())
    with b.repeat() as loop:
        b.stop_unless(loop, (at.get() + WIDTH) <= end)
        b.stop_unless(loop, _none_of(row, at.get(), best.get()))
        at.add(WIDTH)
    with b.repeat() as loop:
        value = row.value(at.get())
        b.stop_unless(loop, _differs(b, value, best.get(), fold.kind[0] == "f"))
        at.add(1)
    fold.store(at.get(), pointers[0])


def _last(fold: Fold) -> int:
    """Return the integer that no other goes beyond."""
    unsigned, bits = fold.kind[0] == "u", fold.spec.position
    if fold.spec.op.combine.name == "minimum":
        return 0 if unsigned else -(1 << (bits - 1))
    return (1 << (bits if unsigned else bits - 1)) - 1


def _beats(fold: Fold, found: Value, best: Value) -> Value:
    """Emit whether a block's extreme goes beyond the one so far."""
    b, kind = fold.b, fold.kind[0]
    compare = "fcmp" if kind == "f" else "icmp"
    beyond = _compare(b, f"{compare} {ORDER[fold.spec.op.combine.name][kind]}", found, best)
    if kind != "f":
        return beyond
    missing = _compare(b, "fcmp uno", found, found)
    return beyond | (missing & _compare(b, "fcmp ord", best, best))


def _differs(b: Builder, value: Value, best: Value, floats: bool) -> Value:
    """Emit whether a value is not the extreme."""
    if not floats:
        return _compare(b, "icmp ne", value, best)
    return _compare(b, "fcmp one", value, best) | (
        _compare(b, "fcmp uno", best, best) & _compare(b, "fcmp ord", value, value)
    )


def _none_of(row: Fold, at: Value, best: Value) -> Value:
    """Emit whether none of the next elements is the extreme; for NaN that cannot be said."""
    b, size = row.b, value_bytes(row.spec.body.dtype)
    many = f"<{WIDTH} x {best.type}>"
    values = b.load(many, row.pointers[1] + at * size, 0, row.spec.operands[1].scope)
    same = "fcmp ueq" if row.kind[0] == "f" else "icmp eq"
    wanted = everywhere(b, best, WIDTH)
    hits = b.make(f"<{WIDTH} x i1>", f"{same} {many} {values.text}, {wanted.text}")
    bits = b.make("i64", f"bitcast <{WIDTH} x i1> {hits.text} to i64")
    return b.make("i1", f"icmp eq i64 {bits.text}, 0")


def _compare(b: Builder, instruction: str, left: Value, right: Value) -> Value:
    return b.make("i1", f"{instruction} {left.type} {left.text}, {right.text}")
