"""When `Mode.TILED` serves: an operand is contiguous along another dimension than the destination.

That dimension and the destination's innermost one form the plane of the tiles; all others are loops
around it, in the destination's order.  Which operands are transposed in scratch, how high strips
are and whether the destination's lines go past the caches is decided here; `emit.tiles` says why
each matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..codegen.emit.body import Load
from ..codegen.emit.streams import Access, Inner, Operand
from ..codegen.emit.tiles import CROWDED
from .loops import Nest
from .lower import Lowered

#: Trip count from which a dimension is worth tiles or lanes: at least a `transpose.Block`'s side.
LEAST_SIDE = 16

#: Operands that are transposed in scratch at most, for the sake of the stack.
MOST_CROSSED = 2

#: Bytes of a tile's row from which the two lines at its ends do not matter.
LONG_ROW = 512


def tall_dimension(nest: Nest, lowered: Lowered) -> int:
    """Return the dimension along which an operand is contiguous that strides innermost, or -1."""
    if nest.extents[-1] < LEAST_SIDE:
        return -1
    for use, steps in zip(lowered.uses, nest.streams[1:], strict=True):
        size = use.dtype.itemsize
        if use.iota or abs(steps.strides[-1]) < min(64, LEAST_SIDE * size):
            continue
        for d, stride in enumerate(steps.strides[:-1]):
            if abs(stride) == size and nest.extents[d] >= LEAST_SIDE:
                return d
    return -1


def crossed(
    nest: Nest, lowered: Lowered, operands: tuple[Operand, ...]
) -> tuple[tuple[Operand, ...], int]:
    """Mark the operands to transpose: contiguous along a tile's columns, and read at no index.

    Returned with the lines of them that a strip is high.
    """
    gathered = {s.operand for s in lowered.body.instructions if isinstance(s, Load) and s.gathers}
    found, count = list(operands), 0
    for w, (operand, steps) in enumerate(zip(operands, nest.streams, strict=True)):
        fits = operand.inner is Inner.ANY and operand.access is Access.APART
        fits = fits and operand.packing == 1 and w - 1 not in gathered
        if fits and steps.strides[-2] == operand.dtype.itemsize and count < MOST_CROSSED:
            found[w] = replace(operand, inner=Inner.CROSSED)
            count += 1
    return tuple(found), 4 if _are_crowded(nest, found) else 1


def _are_crowded(nest: Nest, operands: Sequence[Operand]) -> bool:
    """Tell whether columns of some operand compete for the same lines of the second cache."""
    return any(
        o.inner is Inner.CROSSED and w.strides[-1] % CROWDED == 0
        for o, w in zip(operands, nest.streams, strict=True)
    )


def in_whole_lines(nest: Nest, size: int) -> bool:
    """Tell whether few of the lines of a tile's rows are shared with what lies beside them."""
    aligned = all(stride % 64 == 0 for stride in nest.streams[0].strides[:-1])
    return aligned or nest.extents[-1] * size >= LONG_ROW
