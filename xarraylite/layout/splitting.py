"""Index-set splitting: an iteration space as boxes in which several layouts are all strided.

Along one dimension an operand's position is a function of the index ``j``: the digits of
``start + pace * j``.  As long as no digit but the last changes, that is a straight line.  Several
such functions are split together by the longest period ``P`` after which all of them
repeat up to a constant step: ``j = head + P q + r`` separates into a loop over ``q`` and the same
problem for ``r < P``, with what lies before the first border (head) and after the last whole
period (tail) as boxes of their own.  So a tiled array of any size becomes an interior that a
plain loop nest serves, without a bound in it, and a few edges.

Along several dimensions the boxes are products, because the positions are sums.

Splitting index sets so that each part has affine accesses is due to Griebl, Feautrier and Lengauer
("Index Set Splitting", 2000); here the borders are where digits of tiles carry.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from .._later import mixed_radix
from .._records import record
from .strided import Strided
from .tiled import Map, Summand

#: Boxes of one splitting; beyond, tiles of the operands have too little in common.
MOST_BOXES = 1024


class TooManyBoxes(Exception):
    """The layouts have too little in common (or one is no sum over the dimensions).

    Attributes
    ----------
    which : int
        The operand to blame.
    """

    def __init__(self, which: int) -> None:
        super().__init__(which)
        self.which = which


class Wave(NamedTuple):
    """One operand along one dimension: the digits of ``start + pace * j``."""

    digits: mixed_radix.Digits
    start: int
    pace: int

    def at(self, j: int) -> int:
        """Return the value at ``j``."""
        return int(mixed_radix.position_of(self.start + self.pace * j, self.digits))

    def shifted(self, by: int) -> Wave:
        """Return the wave that starts at ``by``."""
        return Wave(self.digits, self.start + self.pace * by, self.pace) if by else self


class Run(NamedTuple):
    """A part of one dimension, as loops.

    Attributes
    ----------
    extents : tuple of int
        Trip counts, outermost first.
    bases : tuple of int
        Position of each wave at the start.
    strides : tuple of tuple of int
        For each loop the step of each wave.
    """

    extents: tuple[int, ...]
    bases: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]


@record(frozen=True, slots=True)
class Box:
    """A part of an iteration space in which every operand is strided.

    Attributes
    ----------
    runs : tuple of int
        Along each dimension the number of the run that it is made of.
    axes : tuple of int
        For each loop the dimension it is part of.
    layouts : tuple of Strided
        Each operand over the loops.
    """

    runs: tuple[int, ...]
    axes: tuple[int, ...]
    layouts: tuple[Strided, ...]


def split_index_set(shape: tuple[int, ...], maps: Sequence[Map]) -> tuple[Box, ...]:
    """Return boxes that cover ``shape`` once, in each of which every map is strided.

    Raises
    ------
    TooManyBoxes
        If more than `MOST_BOXES` would be needed.
    """
    waves: list[list[Wave]] = [[] for _ in shape]
    owners: list[list[int]] = [[] for _ in shape]
    offsets = [m.offset for m in maps]
    for number, m in enumerate(maps):
        for summand in _summands(m, number):
            moving = [k for k, pace in enumerate(summand.paces) if pace and shape[k] > 1]
            if len(moving) > 1 and len(summand.digits) > 1:
                raise TooManyBoxes(number)
            if not moving:
                offsets[number] += summand.at((0,) * len(shape))
                continue
            # The constant part of a sum must be counted once, with the dimension that moves.
            start = summand.start
            for k in moving:
                waves[k].append(Wave(summand.digits, start, summand.paces[k]))
                owners[k].append(number)
                start = 0
    along = [_runs(n, w, o) for n, w, o in zip(shape, waves, owners, strict=True)]
    if math.prod([len(runs) for runs in along]) > MOST_BOXES:
        worst = max(range(len(shape)), key=lambda k: len(along[k]))
        raise TooManyBoxes(_roughest(waves[worst], owners[worst]))
    numbered = itertools.product(*[list(enumerate(runs)) for runs in along])
    return tuple([_box(parts, owners, offsets) for parts in numbered])


def _summands(m: Map, number: int) -> Sequence[Summand]:
    if isinstance(m, Strided):
        rank = len(m.shape)
        return [
            Summand(((1, stride),), 0, (0,) * k + (1,) + (0,) * (rank - k - 1))
            for k, stride in enumerate(m.strides)
            if stride
        ]
    summands = m.summands()
    if summands is None:
        raise TooManyBoxes(number)
    return summands


def _roughest(waves: Sequence[Wave], owners: Sequence[int]) -> int:
    """Return the operand with the most digits; rather not the first, the destination."""
    rough = [(w, o) for w, o in zip(waves, owners, strict=True) if len(w.digits) > 1]
    return max(rough, key=lambda pair: (pair[1] > 0, len(pair[0].digits)))[1]


def _runs(n: int, waves: Sequence[Wave], owners: Sequence[int]) -> list[Run]:
    """Return the runs of one dimension."""
    if all(len(w.digits) == 1 for w in waves):
        return [_straight(n, waves)]
    runs: list[Run] = []
    if not _split(n, waves, (), (), runs):
        raise TooManyBoxes(_roughest(waves, owners))
    return runs


def _straight(n: int, waves: Sequence[Wave]) -> Run:
    steps = tuple([w.digits[0][1] * w.pace for w in waves])
    return Run((n,), tuple([w.at(0) for w in waves]), (steps,))


def _split(
    n: int,
    waves: Sequence[Wave],
    extents: tuple[int, ...],
    strides: tuple[tuple[int, ...], ...],
    runs: list[Run],
) -> bool:
    """Append the runs of ``n`` indices inside given outer loops; False if there are too many.

    Waves that are straight on these indices need no border.  Of the others the one with the longest
    cycle leads: its whole periods become one outer loop around a part of one period, and where
    there are fewer than two of them each border divides the indices.  Between two
    borders the leading wave has a digit less that moves, so the recursion ends.
    """
    slopes = [_slope(w, n) for w in waves]
    rough = [_moving(w, n) for w, slope in zip(waves, slopes, strict=True) if slope is None]
    if not rough:
        inner = tuple([slope or 0 for slope in slopes])
        runs.append(Run((*extents, n), tuple([w.at(0) for w in waves]), (*strides, inner)))
        return len(runs) <= MOST_BOXES
    lead = max(rough, key=_cycle)
    period = math.lcm(*[_cycle(w) for w in rough])
    head = _first_border(lead)
    count = (n - head) // period
    if count >= 2:
        steps = tuple([_repeat(w, period, slope) for w, slope in zip(waves, slopes, strict=True)])
        parts = [(0, head, False), (head, period, True), (head + period * count, -1, False)]
    else:
        edges = [0, *_borders(lead, n), n]
        steps = ()
        parts = [(a, b - a, False) for a, b in itertools.pairwise(edges)]
        if len(parts) + len(runs) > MOST_BOXES:
            return False
    for low, length, repeats in parts:
        size = n - low if length < 0 else length
        if size == 0:
            continue
        moved = [w.shifted(low) for w in waves]
        more = ((*extents, count), (*strides, steps)) if repeats else (extents, strides)
        if not _split(size, moved, *more, runs):
            return False
    return True


def _slope(w: Wave, n: int) -> int | None:
    """Return the step of a wave that is a straight line on ``0 … n - 1``, else None."""
    digits, start, pace = w
    if n == 1 or pace == 0:
        return 0
    total = 0
    for period, stride in digits:
        if period == 1:
            return total + stride * pace
        if pace % period == 0:
            # Only this digit (and those above, which are done) move.
            return total + stride * (pace // period)
        if start // period != (start + pace * (n - 1)) // period:
            return None
        start %= period
    return total


def _moving(w: Wave, n: int) -> Wave:
    """Return the wave without the leading digits that do not change on ``0 … n - 1``."""
    digits, start, pace = w
    for k, (period, _) in enumerate(digits):
        if start // period != (start + pace * (n - 1)) // period:
            return Wave(digits[k:], start, pace)
        start %= period
    raise AssertionError("only called for waves that are no straight line")


def _cycle(w: Wave) -> int:
    """Return after how many indices the leading digit steps and the others repeat."""
    period = w.digits[0][0]
    return period // math.gcd(period, w.pace)


def _first_border(w: Wave) -> int:
    """Return the first ``j >= 0`` whose leading digit differs from that of ``j - 1``."""
    period = w.digits[0][0]
    rest = w.start % period
    if w.pace > 0:
        return 0 if rest < w.pace else -(-(period - rest) // w.pace)
    return 0 if rest - w.pace >= period else rest // -w.pace + 1


def _borders(w: Wave, n: int) -> list[int]:
    """Return every ``j`` in ``1 … n - 1`` whose leading digit differs from that of ``j - 1``."""
    period = w.digits[0][0]
    found: list[int] = []
    j = _first_border(w)
    while j < n and len(found) <= MOST_BOXES:
        if j:
            found.append(j)
        value = w.start + w.pace * j
        digit = value // period
        edge = (digit + 1) * period if w.pace > 0 else digit * period - 1
        j += -(-(edge - value) // w.pace)
    return found


def _repeat(w: Wave, period: int, slope: int | None) -> int:
    """Return the step of a wave over one period of the splitting."""
    if slope is not None:
        return slope * period
    move, start = w.pace * period, w.start
    for p, stride in w.digits:
        if move % p == 0:
            return move // p * stride
        start %= p
    raise AssertionError("the period is a multiple of the changing digit's")


def _box(
    parts: Sequence[tuple[int, Run]], owners: Sequence[Sequence[int]], offsets: Sequence[int]
) -> Box:
    """Return the product of one run per dimension."""
    starts = list(offsets)
    axes: list[int] = []
    extents: list[int] = []
    steps: list[list[int]] = [[] for _ in offsets]
    for k, (_, run) in enumerate(parts):
        for base, owner in zip(run.bases, owners[k], strict=True):
            starts[owner] += base
        for extent, strides in zip(run.extents, run.strides, strict=True):
            axes.append(k)
            extents.append(extent)
            for column in steps:
                column.append(0)
            for stride, owner in zip(strides, owners[k], strict=True):
                steps[owner][-1] += stride
    shape = tuple(extents)
    return Box(
        tuple([number for number, _ in parts]),
        tuple(axes),
        tuple([Strided(shape, tuple(s), o) for s, o in zip(steps, starts, strict=True)]),
    )
