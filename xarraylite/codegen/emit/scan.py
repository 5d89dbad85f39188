"""Kernels that accumulate: each element becomes a function of the one before it and itself.

The elements are row-major memory of shape ``(outer, length, inner)`` that is overwritten, along
``length``.  That is sequential by nature; where ``inner`` is more than 1, the innermost loop runs
along it and is not, and where it is 1 the running value stays in a register.
"""

from __future__ import annotations

from ..._records import record
from ...dtypes.names import DType
from ...ops.op import Op
from . import routine
from .body import apply, through
from .builder import Builder, Module, Pace, Value
from .memory import fetch, keep
from .streams import Words, load_words
from .tokens import token


@record(frozen=True, slots=True)
class ScanSpec:
    """Everything the code of such a kernel depends on.

    Attributes
    ----------
    op : Op
        What is applied to the result before and the element.
    dtype : numpy.dtype
        Of the elements.
    lines : bool
        Whether ``inner`` is 1.
    """

    op: Op
    dtype: DType
    lines: bool

    def words(self) -> Words:
        """Return the layout of the argument block.

        ``p0`` is the address; ranges of ``outer`` (t) and of the length (k), which begins at 1 or
        later; the length and ``inner``.
        """
        return Words("p0", "t0", "t1", "k0", "k1", "n", "m")


def emit_scan(spec: ScanSpec) -> Module:
    """Return the kernel."""
    b = Builder()
    words = load_words(b, spec.words())
    storage, dtype = token(spec.dtype).memory, spec.dtype
    address, inner = words["p0"], words["m"]

    def read(index: Value) -> Value:
        return through(b, routine.decode(dtype), fetch(b, storage, address, index, "dst"))

    def write(value: Value, index: Value) -> None:
        keep(b, storage, through(b, routine.encode(dtype), value), address, index, "dst")

    def joined(before: Value, index: Value) -> Value:
        return apply(b, spec.op, (dtype, dtype), dtype, [before, read(index)])

    with b.loop(words["t0"], words["t1"], 1, Pace.SLOW) as t:
        first = t * words["n"]
        if spec.lines:
            running = b.local(read(first + words["k0"] - 1))
            with b.loop(words["k0"], words["k1"], 1, Pace.SLOW) as k:
                running.set(joined(running.get(), first + k))
                write(running.get(), first + k)
        else:
            with b.loop(words["k0"], words["k1"], 1, Pace.SLOW) as k:
                row = (first + k) * inner
                with b.loop(0, inner) as j:
                    write(joined(read(row - inner + j), row + j), row + j)
    return b.module()
