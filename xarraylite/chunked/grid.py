"""Results divided into blocks: where each lies, and which of them say what any of them needs."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .cut import Marks
from .selection import Box, chunk_of, hull, place_in, window_of

#: Extents that are looked at for one of which a chunk has a whole number.
_LOOKED = 4096


@dataclass(frozen=True, slots=True)
class Grid:
    """A result divided into blocks.

    Attributes
    ----------
    shape, block : tuple of int
        Extents of the result and of a block; the last one of a dimension may be smaller.
    strip : tuple of int
        How many blocks each dimension of a strip has: strips follow each other in row-major order,
        and so do the blocks in each.  By default there is one.
    """

    shape: tuple[int, ...]
    block: tuple[int, ...]
    strip: tuple[int, ...] = ()

    @property
    def counts(self) -> tuple[int, ...]:
        """Blocks along each dimension."""
        return tuple([-(-n // b) if b else 0 for n, b in zip(self.shape, self.block, strict=True)])

    def __len__(self) -> int:
        return math.prod(self.counts)

    def __iter__(self) -> Iterator[Box]:
        """Yield the blocks strip by strip."""
        counts = self.counts
        if not all(counts):
            return
        sides = [
            [range(low, min(low + s, n)) for low in range(0, n, s)]
            for n, s in zip(counts, self.strip or counts, strict=True)
        ]
        for strip in itertools.product(*sides):
            for index in itertools.product(*strip):
                yield self.box(index)

    def __getitem__(self, number: int) -> Box:
        """Return one of them."""
        counts, low, wide = self.counts, list[int](), list[int]()
        for k, (n, s) in enumerate(zip(counts, self.strip or counts, strict=True)):
            each = math.prod(wide) * s * math.prod(counts[k + 1 :])
            low.append(number // each * s)
            wide.append(min(s, n - low[k]))
            number %= each
        inside = np.unravel_index(number, wide)
        return self.box([a + int(k) for a, k in zip(low, inside, strict=True)])

    @property
    def strips(self) -> Grid:
        """The strips as blocks."""
        sides = zip(self.block, self.strip or self.counts, strict=True)
        return Grid(self.shape, tuple([b * s for b, s in sides]))

    def box(self, index: Sequence[int]) -> Box:
        """Return one block."""
        return chunk_of(self.shape, self.block, index)

    def widened(self, box: Box) -> Box:
        """Return a block, the last one of a dimension as wide as the others."""
        return tuple(
            [
                range(max(0, n - b), n) if s[-1] + 1 == n else hull(s)
                for s, b, n in zip(box, self.block, self.shape, strict=True)
            ]
        )

    def inside(self, box: Box) -> tuple[slice, ...]:
        """Return where a block lies in itself, widened."""
        return place_in(self.widened(box), box)

    def middle(self) -> Box:
        """Return a block in the middle, which has neighbours on all sides if any has."""
        return self.box([(c - 1) // 2 for c in self.counts])

    def ends(self, widened: bool) -> Iterator[Box]:
        """Yield a block of each shape, or of each place to be widened at, which it is then."""
        for index in itertools.product(*[sorted({0, count - 1}) for count in self.counts]):
            yield self.widened(self.box(index)) if widened else self.box(index)

    def telling(self, marks: Sequence[Marks]) -> Iterator[Box]:
        """Yield blocks of which one needs as much as any: all at joints, and one between two.

        Parameters
        ----------
        marks : sequence of (set of int or None)
            Where along each dimension joints are; None where each block may need another amount.
        """
        sides: list[Sequence[int]] = []
        for count, block, extent, own in zip(
            self.counts, self.block, self.shape, marks, strict=True
        ):
            if own is None:
                sides.append(range(count))
                continue
            at = [(k - back) // block for k in own if 0 < k < extent for back in (0, 1)]
            ends = sorted({0, count - 1, *at})
            sides.append(sorted({*ends, *[(a + b) // 2 for a, b in itertools.pairwise(ends)]}))
        for index in itertools.product(*sides):
            yield self.box(index)

    def some(self, most: int) -> Iterator[Box]:
        """Yield so many blocks, or all, from the first to the last one."""
        for number in spaced(len(self), most):
            yield self[number]


@dataclass(frozen=True, slots=True)
class Uneven:
    """A result divided into blocks of any lengths.

    Attributes
    ----------
    lengths : tuple of tuple of int
        Of the blocks along each dimension.
    """

    lengths: tuple[tuple[int, ...], ...]

    def box(self, index: Sequence[int]) -> Box:
        """Return one block."""
        low = [sum(own[:k]) for k, own in zip(index, self.lengths, strict=True)]
        high = [a + own[k] for a, k, own in zip(low, index, self.lengths, strict=True)]
        return window_of(low, high)


def grid_of(lengths: tuple[tuple[int, ...], ...]) -> Grid | Uneven:
    """Return blocks of some lengths along each dimension."""
    grid = Grid(tuple(map(sum, lengths)), tuple([own[0] for own in lengths]))
    even = [{*own[:-1]} <= {own[0]} and own[-1] <= own[0] for own in lengths]
    return grid if all(even) else Uneven(lengths)


def spaced(count: int, most: int) -> list[int]:
    """Return so many numbers below a count, or all, from the first to the last one."""
    return sorted({k * (count - 1) // max(1, most - 1) for k in range(most)})


def halved(extent: int, chunk: int) -> int:
    """Return half of an extent, or some less, so that few blocks of it lie in two chunks.

    Examples
    --------
    >>> from xarraylite.chunked.grid import halved
    >>> [halved(extent, 1000) for extent in (9000, 1000, 125, 50)]
    [5000, 500, 50, 25]
    """
    if extent > chunk:
        return -(-extent // (2 * chunk)) * chunk
    half = -(-extent // 2)
    parts = (n for n in range(half, max(half // 2, half - _LOOKED), -1) if chunk % n == 0)
    return next(parts, half)


def smaller(block: tuple[int, ...], chunks: Sequence[int]) -> tuple[int, ...] | None:
    """Return a smaller block, cut where its rows stay whole longest; None if it is one element."""
    for axis, extent in enumerate(block):
        if extent > 1:
            return (*block[:axis], halved(extent, chunks[axis]), *block[axis + 1 :])
    return None


class Side(NamedTuple):
    """Extents of a dimension that are tried, and those among them that hold whole chunks."""

    lengths: list[int]
    units: list[int]


def wider(box: tuple[int, ...], sides: Sequence[Side]) -> Iterator[tuple[int, ...]]:
    """Yield boxes of the next extents along each dimension, about twice as long, and whole."""
    for axis in reversed(range(len(box))):  # among equals the dimension that lies closest
        lengths, units = sides[axis]
        own = lengths[bisect.bisect_right(lengths, box[axis]) :]
        twice = [n for n in own if n >= 2 * box[axis]]
        even = [n for n in own if n in units]
        for extent in dict.fromkeys([*own[:1], *twice[:1], *even, *own[-1:]]):
            yield (*box[:axis], extent, *box[axis + 1 :])
