"""Kernels that write values to positions along one dimension, in order.

Loads are in the destination's scope, as values and positions may be anything: LLVM moves none of
them past a store.
"""

from __future__ import annotations

from ..._records import record
from .builder import Builder, Module, Pace
from .streams import Words, load_words


@record(frozen=True, slots=True)
class ScatterSpec:
    """Everything the code of such a kernel depends on.

    Attributes
    ----------
    width : int
        Bytes that are written at each position: 1, 2, 4 or 8; 0 for as many as the block says.
    """

    width: int

    def words(self) -> Words:
        """Return the layout of the argument block.

        Addresses of the memory, the positions and the values; how many rows there are, and
        positions in each; the steps of memory and values from row to row and from one position to
        the next; bytes at each.
        """
        steps = ("to_outer", "to_step", "from_outer", "from_step")
        return Words("to", "at", "from", "outer", "count", *steps, "bytes")


def emit_scatter(spec: ScatterSpec) -> Module:
    """Return the kernel."""
    b = Builder()
    words = load_words(b, spec.words())
    kind = f"i{8 * spec.width}"
    with b.loop(0, words["outer"], 1, Pace.SLOW) as t:
        to = words["to"] + t * words["to_outer"]
        source = words["from"] + t * words["from_outer"]
        with b.loop(0, words["count"]) as k:
            here = to + b.load("i64", words["at"], k, "dst") * words["to_step"]
            given = source + k * words["from_step"]
            if spec.width:
                b.store(b.load(kind, given, 0, "dst"), here, 0, "dst")
            else:
                b.copy(here, given, words["bytes"])
    return b.module()
