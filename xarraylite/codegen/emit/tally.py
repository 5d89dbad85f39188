"""The code that counts: that adds truth values up.

A sum of int64 has eight of them in a vector, where a vector of bytes has 64 elements.  So rows of
elements are added to as many counters, each as wide as an element, and these to the total before
they could be full.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.build import CAST
from .body import Apply, Body, Load
from .builder import Pace, Value
from .folding import Fold, ReduceSpec
from .lanes import ROW_BYTES
from .tokens import token

#: Rows that are added to the counters: those of a byte hold 255.
ROWS = 128


def counts(spec: ReduceSpec) -> bool:
    """Tell whether what is folded is the sum of truth values, as int64."""
    *before, last = spec.body.instructions
    return (
        spec.op.name == "sum"
        and isinstance(last, Apply)
        and last.op is CAST
        and last.args == (len(before) - 1,)
        and last.loops[0].kind == "b"
        and token(last.dtype).value == "i64"
        and token(last.loops[0]).value == "b1"
    )


def take_tally(row: Fold) -> None:
    """Emit the sum of the row's values and add it to the total."""
    b, spec, low, end = row.b, row.spec, row.words["j0"], row.words["j1"]
    truth = replace(row, spec=replace(spec, body=Body(spec.body.instructions[:-1])))
    read = [token(s.dtype).itemsize for s in truth.spec.body.instructions if isinstance(s, Load)]
    size = min(8, max(read, default=8))
    width, kind, place, total = ROW_BYTES // size, f"i{8 * size}", row.values, b.local(0)

    def counted(index: Value, kind: str) -> Value:
        return b.make(kind, f"zext i1 {truth.value(index).text} to {kind}")

    whole = low + (end - low) // width * width
    with b.loop(low, whole, width * ROWS, Pace.SLOW) as start:
        with b.loop(0, width) as j:
            b.store(counted(start + j, kind), place, j, "tmp")
        stop = (start + width * ROWS).least(whole)
        with b.loop(start + width, stop, width, Pace.SLOW) as at, b.loop(0, width) as j:
            b.store(b.load(kind, place, j, "tmp") + counted(at + j, kind), place, j, "tmp")
        with b.loop(0, width) as j:
            count = b.load(kind, place, j, "tmp")
            total.add(count if size == 8 else b.make("i64", f"zext {kind} {count.text} to i64"))
    with b.loop(whole, end, 1, Pace.SLOW) as j:
        total.add(counted(j, "i64"))
    row.take(total.get())
