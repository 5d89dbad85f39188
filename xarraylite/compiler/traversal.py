"""Views of one tiled array assigned to each other without a copy: slab by slab, in a safe order.

``a[1:] = a[:-1]`` on rows in tiles of eight is three kinds of slab: the seven rows that come from
the same tile, the one row that comes from the tile above, and what is left at the ends.  Each kind
is one box of the split index set, and one kernel.  `aliasing.traversals` says along which
dimension, and from which end, the slabs of all kinds may follow each other; here they are listed in
that order.  Within a slab, what overlaps is one problem of `overlap` again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from ..codegen.emit.mapping import Mode
from ..codegen.emit.streams import Access
from ..layout.strided import Strided
from ..overlap.aliasing import Traversal
from ..overlap.overlap import Direction, Span, classify
from .arguments import Computation, OperandSlot, strided, unit
from .boxes import Part
from .program import TraversalStep
from .steps import map_nest, map_step

#: Slabs of one step at most: a plan lists them, and each costs about two microseconds.
MOST_SLABS = 8192

#: In which order loops must run.
ORDERS = {Direction.ASCENDING: Mode.STAGED, Direction.DESCENDING: Mode.FALLING}

_ACCESS = {Direction.DISJOINT: Access.APART, Direction.SAME: Access.SAME}


def access_of(directions: Collection[Direction]) -> Access:
    """Return how an operand is accessed that relates so to the destination.

    One that is read in place in some slabs only must be read at its own address.
    """
    (first, *others) = directions
    return Access.SHARED if others else _ACCESS.get(first, Access.SHARED)


Places = list[tuple[int, tuple[int, ...]]]
"""For each of several slabs that differ in this only, the first index along the traversed
dimension, and by how many positions the destination and every operand are moved."""


def traversal_step(
    parts: Sequence[Part],
    memory: Sequence[OperandSlot],
    shared: Collection[int],
    traversal: Traversal,
    note: str,
) -> TraversalStep | None:
    """Return the step that computes ``parts`` in the order of ``traversal``.

    Parameters
    ----------
    parts : sequence of Part
        The boxes, with rulers along the traversed dimension.
    memory : sequence of OperandSlot
        Slot and access of each operand.
    shared : collection of int
        Numbers of the operands that overlap the destination, all of them views of its array.
    traversal : Traversal
        The order.
    note : str
        What the step does.

    Returns
    -------
    TraversalStep or None
        None if there would be more than `MOST_SLABS`, or if no order of the loops inside a slab
        serves every operand.
    """
    if any(use.iota for use in parts[0].lowered.uses):
        return None
    if sum(_count(part, traversal) for part in parts) > MOST_SLABS:
        return None
    kinds = [_slabs(part, traversal) for part in parts]
    every = [part.over(memory) for part, _ in kinds]
    depth = max([len(map_nest(what).extents) for what in every])
    kernels, order = [], []
    for number, (what, (_, places)) in enumerate(zip(every, kinds, strict=True)):
        known, modes = list(memory), set()
        for k in shared:
            found = _relations(what, places, k)
            if Direction.COPY in found:
                return None
            modes |= {ORDERS[direction] for direction in found if direction in ORDERS}
            known[k] = replace(memory[k], access=access_of(found))
        if len(modes) > 1:
            return None
        kernels.append(map_step(replace(what, memory=known), next(iter(modes), None), note, depth))
        units = [unit(array.bits) for array in what.arrays]
        for index, moves in places:
            by = tuple([m * u for m, u in zip(moves, units, strict=True)])
            order.append((index, number, by))
    order.sort(reverse=traversal.falling)
    end = "last" if traversal.falling else "first"
    return TraversalStep(
        kernels,
        [(number, moves) for _, number, moves in order],
        f"{note} [{len(order)} slabs along axis {traversal.axis}, from the {end}]",
    )


def _count(part: Part, traversal: Traversal) -> int:
    """Return the number of slabs that `_slabs` would make."""
    loops = part.loops((traversal.axis,))
    count = math.prod([part.lowered.shape[loop] for loop in loops])
    return count // _length(part.lowered.shape[loops[-1]], traversal.most)


def _length(extent: int, most: int) -> int:
    """Return the largest divisor of ``extent`` that is not above ``most``."""
    if most == 0 or extent <= most:
        return extent
    return next(n for n in range(most, 0, -1) if extent % n == 0)


def _slabs(part: Part, traversal: Traversal) -> tuple[Part, Places]:
    """Divide a box along the dimension: its last loop there stays a loop, or a piece of it.

    Loops of one dimension are the digits of its index, so the others are places of slabs.
    """
    assert part.ruler is not None
    layouts = [
        part.ruler,
        strided(part.to.layout),
        *[strided(use.layout) for use in part.lowered.uses],
    ]
    *fixed, last = part.loops((traversal.axis,))
    shape = part.lowered.shape
    length = _length(shape[last], traversal.most)
    extents = [shape[loop] for loop in fixed] + [shape[last] // length]
    scales = [1] * len(fixed) + [length]
    steps = [
        tuple([layout.strides[loop] * scale for layout in layouts])
        for loop, scale in zip((*fixed, last), scales, strict=True)
    ]
    places = []
    for index in itertools.product(*[range(n) for n in extents]):
        scaled = [[i * s for s in step] for i, step in zip(index, steps, strict=True)]
        moved = [sum(column) for column in zip(*scaled, strict=True)]
        places.append((part.ruler.offset + moved[0], tuple(moved[1:])))
    kept = [length if loop == last else n for loop, n in enumerate(shape) if loop not in fixed]

    def slab(layout: Strided) -> Strided:
        strides = [s for loop, s in enumerate(layout.strides) if loop not in fixed]
        return Strided(tuple(kept), tuple(strides), layout.offset)

    uses = [
        replace(use, layout=slab(layout))
        for use, layout in zip(part.lowered.uses, layouts[2:], strict=True)
    ]
    lowered = replace(part.lowered, shape=tuple(kept), uses=uses)
    return replace(part, lowered=lowered, to=replace(part.to, layout=slab(layouts[1]))), places


def _relations(what: Computation, places: Places, k: int) -> set[Direction]:
    """Return how operand ``k`` relates to the destination, over all slabs of a kind.

    Positions are those of one array, so its place in memory does not matter.
    """
    to, read = strided(what.to.layout), strided(what.lowered.uses[k].layout)
    own = Span(to.offset, to.shape, to.strides, 1)
    distances = {moves[k + 1] - moves[0] for _, moves in places}
    return {
        classify(own, Span(read.offset + distance, read.shape, read.strides, 1))
        for distance in distances
    }
