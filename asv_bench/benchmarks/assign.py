"""Assignments whose operands overlap their destination: alias analysis included."""

from __future__ import annotations

import random
import time

import numpy as np

import xarraylite as xl
from xarraylite.overlap import overlap
from xarraylite.overlap.overlap import Direction, Span, classify

from . import Comparison, size, values


class InPlace(Comparison):
    """One array updated again and again; both sides start from the same values."""

    def setup(self) -> None:
        self.operand = self.start()
        self.a = xl.asarray(self.operand, copy=True)
        self.xarraylite()
        self.a[...] = self.operand

    def start(self) -> np.ndarray:
        """The values before the first update."""
        return values(size(1_000_000, 1000))

    def results(self) -> tuple[object, object]:
        """One update on each side, from the same values."""
        self.a[...] = self.operand
        return self.xarraylite(), self.numpy()


class Shift(InPlace):
    """A shift by one: running the loop backwards replaces NumPy's copy.

    Each call at most doubles the values, and a comparison makes fewer than a thousand calls,
    so nothing overflows.
    """

    title = "a[1:] += a[:-1], 1M float64"
    wanted = 1.0

    def xarraylite(self) -> object:
        self.a[1:] += self.a[:-1]
        return self.a

    def numpy(self) -> object:
        self.operand[1:] += self.operand[:-1]
        return self.operand


class Apart(InPlace):
    """Every other element written: no vector stores such elements faster than one by one."""

    title = "a[::2] = a[1::2], 1M float64"

    def xarraylite(self) -> object:
        self.a[::2] = self.a[1::2]
        return self.a

    def numpy(self) -> object:
        self.operand[::2] = self.operand[1::2]
        return self.operand


class SameElement(InPlace):
    """Every operand at the element that is written: nothing to copy."""

    title = "a *= 0.5; a += 0.5, 1M float64"

    def xarraylite(self) -> object:
        self.a[...] = self.a * 0.5 + 0.5
        return self.a

    def numpy(self) -> object:
        self.operand *= 0.5
        self.operand += 0.5
        return self.operand


class Symmetrise(InPlace):
    """A matrix and its transpose: one leaf has to be copied."""

    title = "m[...] = (m + m.T) / 2, 1024 x 1024 float64"

    def start(self) -> np.ndarray:
        n = size(1024, 32)
        return values(n, n)

    def xarraylite(self) -> object:
        self.a[...] = (self.a + self.a.T) / 2
        return self.a

    def numpy(self) -> object:
        self.operand[...] = (self.operand + self.operand.T) / 2
        return self.operand


class Overlap(Comparison):
    """The analysis alone, of geometries seen for the first time, one to four dimensions.

    NumPy is asked the smaller question: whether two views share memory, not in which order one
    may be written from the other.
    """

    title = "do 24 pairs of views overlap, none seen before"

    def setup(self) -> None:
        self.pairs = [pair for rank in (1, 2, 3, 4) for pair in views(np.zeros((12,) * rank))]
        self.spans = [(span(to), span(source)) for to, source in self.pairs]

    def xarraylite(self) -> object:
        overlap._remembered.clear()
        return [classify(to, source) is not Direction.DISJOINT for to, source in self.spans]

    def numpy(self) -> object:
        return [np.shares_memory(to, source) for to, source in self.pairs]

    def track_us_per_pair(self) -> float:
        """Microseconds to decide one pair, on average."""
        return 1e6 * self.compare().xarraylite / len(self.pairs)

    track_us_per_pair.unit = "us"  # type: ignore[attr-defined]

    def track_us_slowest_pair(self) -> float:
        """Microseconds to decide the slowest pair, arbitrary strides of rank 4 included."""
        rng = random.Random(0)
        pairs = [*self.spans, *[unrelated(rng) for _ in range(size(400, 20))]]
        return 1e6 * max(min(seconds(to, source) for _ in range(15)) for to, source in pairs)

    track_us_slowest_pair.unit = "us"  # type: ignore[attr-defined]


def seconds(to: Span, source: Span) -> float:
    """The time to decide a pair never seen before."""
    overlap._remembered.clear()
    start = time.perf_counter()
    classify(to, source)
    return time.perf_counter() - start


def unrelated(rng: random.Random) -> tuple[Span, Span]:
    """Operands in the same bytes, of strides that have nothing to do with each other."""
    shape = tuple([rng.randint(2, 4) for _ in range(4)])
    strides = [rng.choice((1, -1)) * round(10 ** rng.uniform(0, 4)) for _ in range(8)]
    place = rng.randint(-1000, 1000)
    return Span(0, shape, tuple(strides[:4]), 8), Span(place, shape, tuple(strides[4:]), 8)


def views(a: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of destination and source in one array of equal extents."""
    inner = (slice(1, -1),) * a.ndim
    shifted = (*inner[1:], slice(2, None))
    return [
        (a[inner], a[shifted]),
        (a[inner], a[shifted].T),
        (a, a.T[::-1]),
        (a[..., ::2], a[..., 1::2]),
        (a[..., :6], a[..., ::2]),
        (a, np.broadcast_to(a[:1], a.shape)),
    ]


def span(view: np.ndarray) -> Span:
    """The bytes of a view, as the analysis takes them."""
    return Span(view.__array_interface__["data"][0], view.shape, view.strides, view.itemsize)
