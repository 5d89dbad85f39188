"""In which pieces a reduction is folded: how many positions each has, and what it reads.

A piece has some whole parts of the tree (`trees`), wherever these begin and end among the chunks.
So chunks at its ends have elements of the next piece too.  Either it is read up to where rows of
chunks end, and the next one begins with what is left of that, or the chunks are kept.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from ..dtypes.names import NumpyArray
from .budget import too_small
from .cut import Marks, joints
from .grid import Grid, halved, spaced
from .idle import Idle
from .lengths import lengths_of
from .piece import Piece, piece_of
from .pipeline import Cuts, Run, run_blocks
from .plan import TRIED, WORTH
from .selection import Box, corner, shape_of, size_of, whole, window_of
from .source import keeps
from .trees import Parts, Spans

#: Elements that are folded at a time, at least, where memory allows; half of it where chunks are
#: kept, as a piece opens no file then, and fewer touch less fresh memory.
_MANY = 1 << 21

#: Pieces that say how much is read for any, on average.
_SAMPLED = 16

#: Pieces that are looked at for one of as many rows as any.
_LOOKED = 64

Result = tuple[Box, NumpyArray]
Begin = Callable[[Sequence[int]], frozenset[tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Division:
    """How a reduction is folded piece by piece.

    Attributes
    ----------
    plan : Parts
        Makes the pieces.
    grid : Grid
        The blocks of results.
    spans : Spans
        Where the pieces of each begin and end.
    need : int
        Bytes in flight.
    kept : int
        Bytes that are kept from piece to piece.
    carried : bool
        Whether that is what a piece begins with and the one before has read (`Cuts.carried`);
        chunks otherwise.
    """

    plan: Parts
    grid: Grid
    spans: Spans
    need: int
    kept: int = 0
    carried: bool = False

    @property
    def moved(self) -> float:
        """Bytes that are read, about: what is kept or carried once for each block of results."""
        some = [self.grid.widened(box) for box in self.grid.some(TRIED)]
        return self.again * sum(map(self._once, some)) * len(self.grid) / len(some)

    @property
    def again(self) -> float:
        """How often a chunk is read for a block of results, on average."""
        if self.kept:
            return 1.0
        box, spans = self.grid.widened(self.grid[0]), self.spans
        pieces = [self.plan((*spans[k], box)) for k in spaced(len(spans), _SAMPLED)]
        moved = sum([piece.moved for piece in pieces]) / len(pieces)
        return moved * len(spans) / max(1, self._once(box))

    def _once(self, box: Box) -> int:
        """Return the bytes of the chunks of all that is folded into some results."""
        arg = self.plan.node.arg
        return piece_of(arg, self.plan.box(range(arg.shape[self.plan.first]), box)).moved

    def results(self, run: Run, begin: Begin) -> Iterator[Result]:
        """Yield the results block by block."""
        node, grid, spans = self.plan.node, self.grid, self.spans
        ready = begin(grid.block)
        boxes = [box for box in grid if corner(box) not in ready]
        run.report(f"{node.op.name} over axes {node.axes}", len(spans) * len(boxes))
        for box in boxes:
            full = grid.widened(box)
            keys = replace(spans, rest=(full,))
            pieces = Cuts(self.plan, keys, self.kept, self.need, self.carried)
            if isinstance(run.cluster, Idle):
                deque(run_blocks(pieces, run, values=False), 0)
                yield box, np.zeros(shape_of(box), node.dtype)
                continue
            with contextlib.closing(run_blocks(pieces, run)) as done:
                found = self.plan.joined(map(itemgetter(1), done), shape_of(full))
            yield box, found[grid.inside(box)]


def divided(
    plan: Parts, run: Run, chunks: Sequence[int] | None, known: Sequence[int] | None
) -> Division | None:
    """Return the blocks of results of a reduction, and the pieces of each.

    Where all results of one part are too much for the budget, or chunks would be read again, there
    are several blocks: of those that the budget has room for the largest that reads least.  Blocks
    are halved along the dimension that has most chunks in it, and keep whole ones.  None if parts
    cannot be folded one by one.

    Raises
    ------
    SizeError
        If the budget is too small for any piece; it says how much would do.
    """
    once = piece_of(plan.node.arg, whole(plan.node.arg.shape)).moved
    lengths = chunks or [lengths_of(plan.node.arg)[k] for k in plan.kept]
    shape, best = plan.node.shape, None
    block, tried = list(known or shape), list[tuple[int, Piece]]()
    while first := plan.piece(0, plan.least, window_of([0] * len(shape), block)):
        need = first.need
        if need <= run.budget:
            found = _division(plan, run, Grid(shape, tuple(block)), first)
            if found is None:
                break
            need = found.need
            if need <= run.budget and (best is None or found.moved < best.moved):
                best = found
            if best is not None and best.moved <= once:
                break
        tried.append((need, first))
        steps = [-(-b // c) for b, c in zip(block, lengths, strict=True)]
        axis = max(range(len(shape)), key=steps.__getitem__, default=0)
        if known is not None or not shape or steps[axis] < 2:
            break
        block[axis] = halved(block[axis], lengths[axis])
    if best is None and tried:
        need, first = min(tried, key=itemgetter(0))
        raise too_small(first, run.budget, need)
    return best


def _division(plan: Parts, run: Run, grid: Grid, first: Piece) -> Division | None:
    """Return pieces of a block of results, of which one part is given; None if they are no parts.

    They have a few million elements, unless too much of what is read for them is in other pieces
    too.  Then they are read up to where rows of chunks end; where one such row is too much, chunks
    are kept; and where these are too much, pieces are as large as the budget allows.
    """
    least, budget = plan.least, run.budget
    step, best = _grown(plan, grid, least, first, budget, _MANY)
    plain = _fitting(plan, grid, step, budget)
    if plain is None or plain.again <= 1:
        return plain
    rows, ahead = _units(plan, first)
    even = -(-least // (rows * plan.row)) * rows * plan.row
    on = replace(plan, rows=rows, ahead=ahead) if run.keeps else plan
    wider = _one(on, grid, even) if even <= plan.whole else None
    if wider is not None and wider.need <= budget:
        step, best = _grown(on, grid, even, wider, budget, _MANY)
        while run.keeps:
            left = best.inputs if plan.first else first.inputs  # copied, or where it belongs
            found = _tried(on, grid, step, left, True)
            if found is not None and found.need <= budget:
                return found
            less = max(even, step // 2)
            smaller = None if found is None or step <= even else _one(on, grid, less)
            if smaller is None:
                break
            step, best = less, smaller
    kept = first.shared
    if run.keeps and kept + first.need <= budget:
        step, _ = _grown(plan, grid, least, first, budget - kept, _MANY // 2)
        found = _fitting(plan, grid, step, budget, kept)
        if found is None or found.need <= budget:
            return found
    more = _fitting(plan, grid, _grown(plan, grid, step, best, budget)[0], budget)
    return more if more is not None and more.again <= plain.again else plain


def _grown(
    plan: Parts, grid: Grid, step: int, best: Piece, room: int, enough: float = math.inf
) -> tuple[int, Piece]:
    """Return pieces of so many elements, as far as there is room; by default while that pays."""
    while (wide := min(2 * step, plan.whole)) > step:
        if 3 * size_of(best.box) >= 2 * enough:
            break
        wider = _one(plan, grid, wide)
        if wider is None or wider.need > room:
            break
        if enough == math.inf and _rate(wider) > WORTH * _rate(best):
            break
        step, best = wide, wider
    return step, best


def _one(plan: Parts, grid: Grid, step: int) -> Piece | None:
    """Return a piece of so many positions, or of the parts that these have; one of many rows."""
    size = step // plan.least * plan.least
    begins = range(0, max(1, plan.whole - size + 1), size)[:_LOOKED]
    low = max(begins, key=lambda low: len(plan.rows_of(low, low + size)))
    return plan.piece(low, low + size, window_of([0] * len(grid.block), grid.block))


def _fitting(plan: Parts, grid: Grid, step: int, budget: int, kept: int = 0) -> Division | None:
    """Return pieces of a step, or of less where some need more than those that were looked at.

    They need more than the budget where one part does.
    """
    while True:
        found = _tried(plan, grid, step, kept)
        if found is None or found.need <= budget or step <= plan.least:
            return found
        step //= 2


def _tried(
    plan: Parts, grid: Grid, step: int, kept: int = 0, carried: bool = False
) -> Division | None:
    """Return pieces of a step if all are parts of the tree."""
    spans, need, even = plan.spans(step), 0, plan.even
    marks = joints(plan.node.arg)
    boxes = [grid.widened(box) for box in grid.telling([marks[k] for k in plan.kept])]
    for (low, high), box in itertools.product(_forms(plan, spans, even), grid.ends(True)):
        piece = plan.piece(low, high, box)
        if piece is None:
            return None
        need = max(need, piece.need)
    some = () if even else _some(plan, spans, marks)
    for (low, high), box in itertools.product(some, boxes):
        need = max(need, plan((low, high, box)).need)
    return Division(plan, grid, spans, need + kept, kept, carried)


def _some(plan: Parts, spans: Spans, marks: Sequence[Marks]) -> Sequence[tuple[int, int]]:
    """Return pieces of which one reads as much as any: all at joints, one of each form between.

    Where any piece may read more than others of its form, all.
    """
    along = marks[plan.first]  # inside of it, all is read
    if along is None:
        return spans
    order = np.array(sorted(along), np.int64)
    first, until = plan.reach(spans.low, spans.high)
    before = np.searchsorted(order, first, "right")
    at_joint = before < np.searchsorted(order, until - 1, "right")
    alone = np.where(at_joint, np.arange(len(spans)), -1)
    return spans.distinct(until - first, first % (until - first) == 0, before, alone)


def _forms(plan: Parts, spans: Spans, even: bool) -> list[tuple[int, int]]:
    """Return pieces of each form: others have their lengths and read as many rows, of any chunks.

    Those that begin at a multiple of the rows they have are a form of their own (`most`).  Of
    operations that are not even, some of each are.
    """
    first, until = plan.reach(spans.low, spans.high)
    some = np.arange(len(spans)) * (0 if even else TRIED) // len(spans)
    return spans.distinct(until - first, first % (until - first) == 0, some)


def _units(plan: Parts, piece: Piece) -> tuple[int, int]:
    """Return how many indices are in whole rows of all that is read, and how many before the first.

    Operands are taken to lie as what is folded does, but for what a stencil reads past the end;
    what is read says what that was worth.
    """
    rows, ahead = [1], 0
    for load in piece.loads:
        at = plan.first + len(load.source.shape) - len(plan.node.arg.shape)
        if at >= 0 and keeps(load.source):
            rows.append(_even(plan, load.source.units[at], load.source.chunks[at]))
            ahead = load.box[at][-1] - piece.box[plan.first][-1]
    return math.lcm(*rows), ahead


def _even(plan: Parts, unit: int, chunk: int) -> int:
    """Return how many rows of a chunk are read at once, so that pieces end where chunks do.

    Where parts of a chunk that are decoded alone are no number of its rows, one is decoded twice at
    every end of a piece; but pieces that are larger than need be lie in fresh memory.
    """
    if unit == chunk or chunk % unit == 0:
        return unit
    most = max(1, chunk * plan.row // (2 * _MANY))
    return chunk // max([k for k in range(1, min(chunk, most) + 1) if chunk % k == 0])


def _rate(piece: Piece) -> float:
    """Return the bytes that are read for each element that is folded."""
    return piece.moved / size_of(piece.box)
