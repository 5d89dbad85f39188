"""Bands: rows that go through several kernels while they are in the caches.

A softmax of rows is three kernels: extremes, sums, and what divides by them.  Each would read the
whole array from memory.  Where all kernels have the same rows as their outermost loop, and what one
writes of a row is all that the next reads of it, some rows may go through all kernels before the
next rows are begun; threads take bands as they take pieces of one kernel.

Whether that is so follows from the address streams alone.  A slot that some kernel writes must be
addressed by all in the same way: from the same byte on, by the same distance from row to row, and
within a row by less than that, so rows do not overlap.  Slots that are only read are read anywhere.

What is folded and then read again element by element, as a softmax's powers are, would be computed
twice.  If it is expensive, an assignment computes it into the destination, folds it from there, and
the last kernel works in place (`folded_and_read`).

Folds of one memory that have the same fixed parts (`max(a) - min(a)`) go through these together:
each part is read from memory by the first kernel and from the caches by the others.

Reference: the strip-mining and fusion of loops, Kennedy and McKinley, "Maximizing loop parallelism
and improving data locality via loop fusion and distribution" (LCPC 1993).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from ..ir.node import Elementwise, Leaf, Reduce
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..memory.target import Target
from ..ops.op import COSTLY
from .graph import Graph
from .program import TARGET, BandedStep, KernelStep, Program, Step
from .size import costs_of

#: Bytes that kernels move of one band: a part of a second-level cache.
BAND_BYTES = 1 << 21

#: Cost of all elements from which on a node is not computed twice.
_WORTH = 1 << 20

#: Bytes of all bands from which on they pay: less stays in the caches anyway.
_LARGE = 1 << 22


def into_bands(program: Program, apart: bool) -> None:
    """Run kernels of a program in bands where that is allowed and pays.

    Parameters
    ----------
    program : Program
        Whose steps are changed.
    apart : bool
        Whether no operand shares memory with the target.
    """
    groups = itertools.groupby(_side_by_side(program.steps), _rows)
    program.steps = [one for rows, group in groups for one in _joined(list(group), rows, apart)]


def _side_by_side(steps: Sequence[Step]) -> list[Step]:
    """Return steps of which those that fold the same parts of one memory are one step."""
    made: list[Step] = []
    for step in steps:
        at = _first_beside(made, step)
        if at is None:
            made.append(step)
        else:
            kernels = [*_kernels(made[at]), *_kernels(step)]
            made[at] = BandedStep(kernels, len(kernels[0].work.chunks), 1)
    return made


def _first_beside(made: Sequence[Step], step: Step) -> int | None:
    """Return which step so far folds the parts that a step folds, if it may run beside that."""
    if not _folds_parts(step):
        return None
    to, own = _slots(step)
    for at in reversed(range(len(made))):
        before = made[at]
        written, known = _slots(before)
        if not known or written & own or to & known:
            return None
        first = _kernels(before)[0]
        if _folds_parts(first) and _ranges(first) == _ranges(step) and own & known:
            return at
    return None


def _kernels(step: Step) -> list[KernelStep]:
    """Return the kernels of a step that runs nothing else."""
    if isinstance(step, BandedStep):
        return step.kernels
    return [step] if isinstance(step, KernelStep) else []


def _slots(step: Step) -> tuple[set[int], set[int]]:
    """Return the slots that a step writes, and all that it uses; none where that is unknown."""
    kernels = _kernels(step)
    used = {slot for kernel in kernels for _, slot, *_ in kernel.addresses}
    return {kernel.addresses[0][1] for kernel in kernels}, used


def _folds_parts(step: Step) -> bool:
    """Tell whether a step folds fixed parts of memory to one result each."""
    if not isinstance(step, KernelStep):
        return False
    work = step.work
    return bool(work.chunks) and work.outer == 1 and not work.split_inner


def _ranges(step: Step) -> list[tuple[int, ...]]:
    """Return the parts that a step folds."""
    return [part[:4] for kernel in _kernels(step)[:1] for part in kernel.work.chunks]


def folded_and_read(graph: Graph, root: int, target: Target) -> int | None:
    """Return the node that is better computed into the target first; None if there is none.

    It is as large as the result and of its dtype, folded along its rows, and read again at the same
    index.  Rows of memory that it reads lie as those of the result, so that it is folded in the
    same order as if it were computed where it is folded.
    """
    node, place = graph.nodes[root], target.map
    last = len(node.shape) - 1
    if last < 1 or place.based() != Strided.row_major(node.shape):
        return None
    whole, costs, own = math.prod(node.shape), costs_of(graph), _elementwise(graph, root)
    for reduce, args in zip(graph.nodes, graph.args, strict=True):
        if not isinstance(reduce, Reduce) or args[0] not in own or args[0] == root:
            continue
        arg = args[0]  # behind it are the rows' offsets, where these are jagged
        fits = graph.nodes[arg].dtype == node.dtype and reduce.axes == (last,)
        if fits and costs[arg] >= max(COSTLY, _WORTH // whole) and _in_rows(graph, arg):
            return arg
    return None


def _elementwise(graph: Graph, root: int) -> set[int]:
    """Return what is computed for each element of a node: operations of its shape below it."""
    found: set[int] = set()
    stack, shape = [root], graph.nodes[root].shape
    while stack:
        ordinal = stack.pop()
        node = graph.nodes[ordinal]
        if ordinal not in found and isinstance(node, Elementwise) and node.shape == shape:
            found.add(ordinal)
            stack.extend(graph.args[ordinal])
    return found


def _in_rows(graph: Graph, root: int) -> bool:
    """Tell whether all of its shape that a node is computed from is memory with dense rows."""
    own = _elementwise(graph, root)
    below = [graph.nodes[arg] for one in own for arg in graph.args[one] if arg not in own]
    full = [node for node in below if node.shape == graph.nodes[root].shape]
    return bool(full) and all([isinstance(one, Leaf) and _is_dense(one.map) for one in full])


def _is_dense(place: Map) -> bool:
    return isinstance(place, Strided) and place.strides[-1] == 1


def _rows(step: Step) -> int:
    """Return the number of rows that a step may be divided into; 0 for none."""
    if not isinstance(step, KernelStep) or not step.lines or step.work.ordered:
        return 0
    return 0 if step.work.chunks else step.work.outer


def _joined(steps: list[Step], rows: int, apart: bool) -> Iterator[Step]:
    """Yield steps of the same rows as one, if they may run in bands."""
    kernels = [step for step in steps if isinstance(step, KernelStep)]
    moved = sum([kernel.traffic for kernel in kernels])
    several = len(kernels) > 1 and len(kernels) == len(steps)
    if not rows or not several or moved < _LARGE or not all(_row_by_row(kernels, apart)):
        yield from steps
        return
    yield BandedStep(kernels, rows, max(1, rows * BAND_BYTES // moved))


def _row_by_row(kernels: Sequence[KernelStep], apart: bool) -> Iterator[bool]:
    """Tell of each slot that is written whether every kernel addresses only the row's part."""
    uses: dict[int, set[tuple[int, int, bool]]] = {}
    written = {kernel.addresses[0][1] for kernel in kernels}
    for kernel in kernels:
        for (_, slot, delta, packing), (stride, low, high) in zip(
            kernel.addresses, kernel.lines, strict=True
        ):
            inside = packing == 1 and low >= 0 and high <= stride
            uses.setdefault(slot, set()).add((delta, stride, inside))
    for slot in written:
        ((_, stride, inside), *others) = uses[slot]
        yield not others and inside and stride > 0 and (apart or slot != TARGET)
