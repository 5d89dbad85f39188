"""Plans: in which blocks a result is computed, and what each block reads.

A block is a box of the result, aligned to the chunks it is written in, so that none is written
twice.  From one chunk on, or a part of it, larger ones are looked at, as long as what is in flight
fits the budget: operands of two blocks, of which one is read ahead, and results being written.
Where fewer bytes are read then, or nothing else fits, blocks are as large as they can be while none
is read ahead.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..ir.node import Node
from .budget import too_small
from .cut import is_even, joints
from .grid import Grid, Side, smaller, wider
from .loads import usual
from .parcel import Parcel
from .piece import ENOUGH, Piece, piece_of
from .selection import Box, shape_of, size_of, whole, window_of
from .walks import walks

#: Bytes of operands and result below which a block is not divided further; and how many times as
#: many may wait for others.
SMALLEST, _WAITING = 1 << 18, 64

#: Reading less than this much of what a smaller block reads is worth more memory.
WORTH = 0.95

#: Blocks that are tried where they need different amounts, while extents are looked for.
TRIED = 16

MOST = 400  # boxes that are looked at


class Cutter:
    """Cuts blocks of an expression, here or in another process.

    Parameters
    ----------
    parcel : Parcel
        The expression.
    spread : bool, default False
        As of `Piece`.

    Attributes
    ----------
    alone : bool
        As of `Piece`; `choose` decides it.
    """

    __slots__ = ("alone", "parcel", "spread")

    def __init__(self, parcel: Parcel, spread: bool = False) -> None:
        self.parcel = parcel
        self.spread = spread
        self.alone = False

    def __call__(self, box: Box) -> Piece:
        """Return the block in a box."""
        return replace(piece_of(self.parcel.node, box, self.spread), alone=self.alone)

    @property
    def divided(self) -> Node:
        """The expression whose elements boxes are of."""
        return self.parcel.node

    @property
    def even(self) -> bool:
        """Whether blocks of the same extents need as much as each other."""
        return is_even(self.divided)


@dataclass(frozen=True, slots=True)
class Choice:
    """How a result is divided.

    Attributes
    ----------
    grid : Grid
        The blocks.
    piece : Piece
        One of them, which needs as much as any.
    rate : float
        Bytes that are read for each element.
    kept : int
        Bytes of chunks that are kept from block to block; 0 if none are.
    aside : int
        Bytes of what has been computed of blocks and waits for others.
    """

    grid: Grid
    piece: Piece
    rate: float
    kept: int = 0
    aside: int = 0

    @property
    def need(self) -> int:
        """Bytes in flight."""
        own = self.piece.walked if self.kept else self.piece.need
        return own + self.kept + self.aside

    @property
    def size(self) -> int:
        """Bytes of operands and result of a block."""
        return self.piece.inputs + self.piece.nbytes


#: Blocks, read ahead and alone; where they are products, the same twice.
Ways = list[Choice]


def choose(
    make: Cutter,
    chunks: Sequence[int],
    budget: int,
    fixed: bool,
    fits: Callable[[Box], bool] = lambda box: True,
    known: Sequence[int] | None = None,
    keep: bool = False,
    widened: bool = False,
    aside: Callable[[Grid], int] = lambda grid: 0,
) -> Choice:
    """Return the blocks that a result is computed in.

    Parameters
    ----------
    make : Cutter
        Cuts a block; told whether blocks are read alone.
    chunks : sequence of int
        Extents of what is written at once; blocks are multiples of it.
    budget : int
        Bytes that may be in flight.
    fixed : bool
        Whether a block must have whole chunks; otherwise they are divided where memory is short.
    fits : callable, optional
        Tells whether a larger block, at the origin, will do.
    known : sequence of int, optional
        Extents of the blocks, where some of them are finished.
    keep : bool, default False
        Whether chunks can be kept from block to block.
    widened : bool, default False
        Whether the last block of a dimension is as wide as the others (`Grid.widened`).
    aside : callable, optional
        Bytes of what is computed of the blocks of a grid and waits for others.

    Raises
    ------
    SizeError
        If the budget is too small for one block; it says how much would do.
    """
    sides = zip(known or chunks, make.divided.shape, strict=True)
    block = tuple([max(1, min(c, n)) for c, n in sides])
    fixed, fits = (fixed, fits) if known is None else (True, lambda box: False)
    search = _Search(make, block, fixed, fits, keep, widened, aside)
    best = search.within(budget)
    while not search.even and (worst := search.counted(best)).need > budget:
        best = search.within(budget)
    make.alone = best.piece.alone
    return best if search.even else worst


class _Search:
    """Looks for the blocks of a result.

    Boxes are looked at in the order of what they need: as blocks, and as strips of least blocks
    that keep chunks.  One replaces another only if no more is counted to be read.
    """

    def __init__(
        self,
        make: Cutter,
        chunk: tuple[int, ...],
        fixed: bool,
        fits: Callable[[Box], bool],
        keep: bool,
        widened: bool,
        aside: Callable[[Grid], int],
    ) -> None:
        self._make, self._chunk, self._aside, self._widened = make, chunk, aside, widened
        self._fixed, self._fits, self._keep = fixed, fits, keep
        self.even = make.even
        self._whole = make(whole(make.divided.shape))
        self._once = self._rate(self._whole.moved, size_of(self._whole.box))
        self._walks = functools.cache(functools.partial(walks, make=make, even=self.even))
        self._ways = dict[tuple[int, ...], Ways]()

    def counted(self, choice: Choice) -> Choice:
        """Return the same blocks by the one of them that needs most, as from now on."""
        grid, alone = choice.grid, choice.piece.alone
        boxes = grid.telling(joints(self._make.divided))
        cuts = (self._make(grid.widened(box) if self._widened else box) for box in boxes)
        pieces = itertools.chain([choice.piece], (replace(x, alone=alone) for x in cuts))
        worst = max(pieces, key=lambda piece: piece.need)
        self._ways[grid.block] = [
            replace(own, piece=worst) if own.piece.alone == alone else own
            for own in self._tried(grid.block)
        ]
        return replace(choice, piece=worst)

    @staticmethod
    def _rate(read: float, count: int) -> float:
        return round(read / max(1, count), 6)

    def _tried(self, block: tuple[int, ...]) -> Ways:
        """Return blocks of some extents, and one that needs as much as any; and the same alone.

        Where all operations are even, that is one that is cut on all sides; elsewhere some are
        tried, and all are counted when the extents are chosen.
        """
        if block in self._ways:
            return self._ways[block]
        grid, make = Grid(shape_of(self._whole.box), block), self._make
        middle = make(grid.middle())
        several = not self.even or not middle.reads  # products read as much for smaller blocks
        ends = grid.ends(True) if self._widened and len(grid) > 1 else ()
        pieces = [middle, *map(make, [*(grid.some(TRIED) if several else ()), *ends])]
        told = pieces[1:] if several else pieces[:1]
        exact = several and len(grid) <= TRIED  # these are all
        read = sum([x.moved if exact else usual(x.loads, self._whole.loads) for x in told])
        # Of all at once, others may read more.
        rate = max(self._once, self._rate(read, sum([size_of(x.box) for x in told])))
        alone = [replace(x, alone=True) for x in pieces] if middle.reads else pieces
        worst = [max(some, key=lambda x: x.need) for some in (pieces, alone)]
        found = [Choice(grid, piece, rate, aside=self._aside(grid)) for piece in worst]
        self._ways[block] = found
        return found

    def within(self, budget: int) -> Choice:
        """Return blocks that need no more than a budget."""
        starts = [self._tried(self._chunk)]
        again = starts[0][0].rate > self._once
        while not self._fixed and (again or starts[-1][0].need > budget):
            last = starts[-1][0]
            less = smaller(last.grid.block, self._chunk)
            if less is None or max(last.size, last.aside // _WAITING) <= SMALLEST:
                break
            starts.append(self._tried(less))  # may need more: it may lie in more chunks
        first = [*itertools.chain(*zip(*starts, strict=True))]  # those read alone come last
        kinds: Iterable[tuple[Choice, ...]] = zip(*starts, strict=True)
        leasts = [min(own, key=lambda choice: choice.need) for own in kinds]
        best = least = leasts[-1]
        if least.need > budget:
            raise too_small(least.piece, budget, least.need)
        fine = again and self.even and least.piece.reads  # products take long to count
        sides, strip = self._sides(first, fine), least.grid.block
        seen, number = {choice.grid.block for choice in first}, itertools.count()
        queue = [(choice.need, next(number), choice.grid.block, choice) for choice in first]
        heapq.heapify(queue)
        while queue and queue[0][0] <= budget and len(seen) < MOST:
            _, _, box, choice = heapq.heappop(queue)
            if _is_better(choice, best):
                best, strip = choice, box
            if choice.rate > 2 * best.rate or self._is_settled(best):
                continue
            for wide in wider(box, sides):
                if wide not in seen:
                    seen.add(wide)
                    ways = [*self._as_block(wide)]
                    for own in leasts if again else ():
                        ways.extend(self._as_strips(own, wide))
                    for way in ways:
                        heapq.heappush(queue, (way.need, next(number), wide, way))
        if best.kept:
            some = (self._within(self._as_strips(start, strip), budget) for start in first)
            best = next((x for x in some if x is not None and x.rate <= best.rate), best)
            best = self._thickened(best, strip, sides, budget)
        return best

    def _sides(self, starts: Sequence[Choice], fine: bool) -> list[Side]:
        """Return extents that are tried along each dimension: whole chunks, of operands too."""
        (first, *_), found = starts, list[Side]()
        for axis, (own, extent) in enumerate(zip(self._chunk, first.grid.shape, strict=True)):
            units, block = [own], list(self._chunk)
            block[axis] = min(2 * own, extent)
            wide = self._tried(tuple(block))[0].piece.loads if fine else ()
            for a, b in zip(first.piece.loads, wide, strict=False):
                for s, t, unit in zip(a.box, b.box, a.source.units, strict=False):
                    if isinstance(s, range) and len(s) != len(t):
                        units.append(math.lcm(own, unit // math.gcd(unit, s.step)))
            some = {u * m << k for u in units for m in ((1, 3) if fine else (1,))
                    for k in range(max(1, (extent // u).bit_length()))}  # fmt: skip
            some.update([choice.grid.block[axis] for choice in starts])
            found.append(Side([*sorted([n for n in some if n < extent]), extent], units))
        return found

    def _as_block(self, box: tuple[int, ...]) -> Ways:
        """Return blocks of some extents, if there may be such."""
        return self._tried(box) if self._fits(window_of([0] * len(box), box)) else []

    def _as_strips(self, choice: Choice, strip: tuple[int, ...]) -> Iterator[Choice]:
        """Yield blocks in strips that keep chunks, the more the less is read, if they may."""
        sides = zip(strip, choice.grid.block, strict=True)
        grid = replace(choice.grid, strip=tuple([-(-n // b) for n, b in sides]))
        aside = self._aside(grid)
        for walk in self._walks(choice.grid) if self._keep else ():
            for kept, read in walk.steps(grid.strip, choice.piece.alone):
                rate = max(self._once, self._rate(read, math.prod(grid.shape)))
                yield replace(choice, grid=grid, rate=rate, kept=kept, aside=aside)

    @staticmethod
    def _within(ways: Iterable[Choice], budget: int) -> Choice | None:
        """Return the last of some ways that a budget has room for."""
        return max([x for x in ways if x.need <= budget], key=lambda x: x.kept, default=None)

    def _is_settled(self, best: Choice) -> bool:
        """Tell whether no larger box is worth its memory."""
        enough = best.size >= ENOUGH and WORTH * best.rate <= self._once
        return best.rate <= self._once if best.kept else enough

    def _thickened(
        self, best: Choice, strip: tuple[int, ...], sides: list[Side], budget: int
    ) -> Choice:
        """Return larger blocks of the same strips."""
        while best.size < ENOUGH:
            for axis, own in reversed([*enumerate(sides)]):
                block = list(best.grid.block)
                larger = [n for n in own.lengths if n > block[axis] and strip[axis] % n == 0]
                block[axis] = min(larger, default=0)
                if larger and (ways := self._as_block(tuple(block))):
                    whole_one = ways[-1 if best.piece.alone else 0]
                    thick = self._within(self._as_strips(whole_one, strip), budget)
                    if thick and thick.rate <= best.rate:
                        best = thick
                        break
            else:
                break
        return best


def _is_better(new: Choice, old: Choice) -> bool:
    """Tell whether blocks that need more memory than others are worth it.

    Chunks that are kept are copied, and large blocks leave the caches; blocks that are read alone
    wait for it.
    """
    if new.rate > old.rate:
        return False
    if new.piece.alone != old.piece.alone:
        return old.piece.alone or new.rate < WORTH * old.rate
    if new.kept and old.kept:
        return new.rate < old.rate
    if new.kept:
        return new.rate < WORTH * old.rate or old.size > 2 * ENOUGH
    if old.kept:
        return new.size <= 2 * ENOUGH or new.rate < WORTH * old.rate
    return new.rate < WORTH * old.rate or old.size < min(new.size, ENOUGH)
