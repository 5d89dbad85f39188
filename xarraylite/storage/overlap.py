"""Which bytes two strided operands share, and in which order they may be written.

An assignment reads a source and writes a destination over one iteration space.  Element ``x``
is written at ``W + w.x`` and element ``y`` is read at ``R + r.y`` (dot products with the byte
strides).  Their bytes meet when the sum ``w.x - r.y`` lies between ``R - W - (itemsize_w - 1)``
and ``R - W + (itemsize_r - 1)``.

**Order.**  The engine visits the destination in ascending or descending address order and
reads a block of consecutive elements before it writes them.  The block length is not known
here, so ascending order is right when no ``x`` below ``y`` is written where ``y`` is read.
Where the destination's strides are nested (each larger than the reach of the smaller ones),
address order is lexicographic order of the indices sorted by stride, which loops can follow.
An order that is only safe in one direction is safe for one thread.

**Drift.**  An element is read ``R - W + (r - w).y`` bytes above the place it is written to, and
the corners of the iteration space bound that at once.  Where no element is read from below its
place ascending order is right, where none is read from above it descending order is.  Where
the destination is one solid run of bytes that holds all of the source, the converse is true:
something is written wherever something is read.  That settles arrays that are reversed,
transposed, broadcast or reinterpreted within themselves.

Otherwise `storage.levels` looks for the pairs that meet, within a bound on its work.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import Final, NamedTuple

from .levels import ABOVE, BELOW, MEETS, UNKNOWN, meet, pair
from .sums import Budget, OutOfWork, Sums

MAX_WORK: Final = 12
"""Search steps of `classify` and `may_share`, about 0.3 microseconds each; views of one array
mostly take one per dimension."""

MAX_FOLD_WORK: Final = 256
"""Search steps of `self_overlaps`, where giving up means an error; nested strides take none."""

_MOST_REMEMBERED: Final = 4096


class Verdict(enum.Enum):
    """How a source relates to the destination it is assigned to."""

    DISJOINT = "disjoint"
    """No byte in common: any order, any number of threads."""
    SAME = "same element"
    """Every element is read exactly where it is written: any order, any number of threads."""
    ASCENDING = "ascending"
    """Right if the destination is written in ascending address order, whole blocks read first."""
    DESCENDING = "descending"
    """Right if the destination is written in descending address order."""
    COPY = "copy"
    """The source must be copied first (or deciding would have taken too long)."""


class Span(NamedTuple):
    """Where the elements of one strided operand lie.  All numbers are Python ints, in bytes.

    Attributes
    ----------
    address : int
        Address of the first byte of element ``(0, ..., 0)``.
    shape : tuple of int
        Extents.
    strides : tuple of int
        Byte strides, any sign, zero where broadcast.
    itemsize : int
        Bytes per element.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int


def bounds(span: Span) -> tuple[int, int]:
    """Return the range ``[low, high)`` of addresses a span touches; empty if it has no element.

    Examples
    --------
    >>> bounds(Span(100, (3, 2), (-8, 4), 4))
    (84, 108)
    """
    low, shape, strides, itemsize = span
    high = low + itemsize
    for extent, step in zip(shape, strides, strict=True):
        if extent <= 1:
            if extent < 1:
                return span.address, span.address
        elif step > 0:
            high += (extent - 1) * step
        else:
            low += (extent - 1) * step
    return low, high


def classify(dst: Span, src: Span, *, max_work: int = MAX_WORK) -> Verdict:
    """Decide how an assignment from ``src`` to ``dst`` may be carried out.

    Parameters
    ----------
    dst, src : Span
        Both over the same iteration space: the shapes are equal, a broadcast source has zero
        strides.  The destination is assumed not to overlap itself (see `self_overlaps`).
    max_work : int, optional
        Bound on the search.

    Returns
    -------
    Verdict
        Exact where the destination's strides are nested and ``max_work`` is not reached.
        Otherwise a verdict that is right, if not always the best: a direction that the drift
        proves, or `Verdict.COPY`.

    Notes
    -----
    Geometries are remembered by shape, strides and distance.  A remembered one takes 0.7 us at
    rank 1 and 1 us at rank 4.  The first time, by what the source is to the destination:

    - shifted, interleaved, another block or another part of each element: 1.4 to 3.1 us;
    - all of it reversed, permuted, broadcast or reinterpreted: 1.2 to 2.1 us;
    - any other stepped, reversed or permuted slice of one array: 2 to 5 us, at most 6.2;
    - anything else: 2 to 6 us at rank up to 4, at most 11 (the bound).

    The first three are exact: no views of one array of rank up to 4 are known to take more than
    seven steps.  Of pairs whose strides need not be related, which takes ``as_strided``, about
    1 in 70 reaches the bound with a verdict that is not the best.

    Examples
    --------
    ``a[1:] = a[:-1]`` for a float64 array:

    >>> classify(Span(8, (9,), (8,), 8), Span(0, (9,), (8,), 8))
    <Verdict.DESCENDING: 'descending'>
    """
    if src == dst:
        return Verdict.DISJOINT if 0 in dst.shape else Verdict.SAME
    address, shape, strides, size = dst
    start, _, other_strides, other_size = src
    delta = start - address
    end, other_end, below = size, other_size, 0  # of the bytes, from the first element
    dims: list[_Dim] = []
    for n, w, r in zip(shape, strides, other_strides, strict=True):
        if n > 1:
            m = n - 1
            if w < 0:  # count this index from its far end
                delta += (r - w) * m
                w, r = -w, -r
            end += w * m
            if r > 0:
                other_end += r * m
            else:
                below += r * m
            dims.append((w, r, m))
        elif n < 1:
            return Verdict.DISJOINT
    if delta + other_end <= 0 or delta + below >= end:
        return Verdict.DISJOINT
    key = (shape, strides, other_strides, size, other_size, delta, max_work)
    verdict = _remembered.get(key)
    if verdict is None:
        inside = delta + below >= 0 and delta + other_end <= end
        verdict = _relate(dims, size, other_size, delta, inside, max_work)
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        _remembered[key] = verdict
    return verdict


def may_share(a: Span, b: Span, *, max_work: int = MAX_WORK) -> bool:
    """Return whether any element of ``a`` shares a byte with any element of ``b``.

    The index spaces are independent; use it for gathers, where every element may be read at
    any iteration.  Exact, except that it is True when ``max_work`` is reached.

    Examples
    --------
    >>> may_share(Span(0, (5,), (16,), 8), Span(8, (5,), (16,), 8))
    False
    """
    low, high = bounds(a)
    other_low, other_high = bounds(b)
    if low >= other_high or other_low >= high or low == high or other_low == other_high:
        return False
    if low == other_low or high == other_high:
        return True
    return _share(
        a.shape, a.strides, b.shape, b.strides, a.itemsize, b.itemsize, other_low - low, max_work
    )


def self_overlaps(a: Span, *, max_work: int = MAX_FOLD_WORK) -> bool:
    """Return whether two different elements of ``a`` share a byte.

    Exact, except that it is True when ``max_work`` is reached.

    Examples
    --------
    >>> self_overlaps(Span(0, (3, 4), (8, 8), 8))
    True
    """
    dims = sorted(
        [(abs(s), n) for n, s in zip(a.shape, a.strides, strict=True) if n != 1], reverse=True
    )
    reach = a.itemsize
    for stride, extent in reversed(dims):
        if stride < reach:
            break
        reach += (extent - 1) * stride
    else:
        return False  # nested
    if 0 in a.shape:
        return False
    if dims[-1][0] == 0:
        return True
    return _folds(tuple(dims), a.itemsize, max_work)


_Dim = tuple[int, int, int]
"""One dimension of an assignment: destination stride, source stride, largest index (> 0)."""

_remembered: dict[tuple[object, ...], Verdict] = {}


def _relate(
    dims: list[_Dim], size: int, other_size: int, delta: int, inside: bool, max_work: int
) -> Verdict:
    """`classify` for operands whose bounds meet, destination strides not negative.

    ``delta`` is source minus destination, ``inside`` whether the destination's bounds hold the
    source's.
    """
    dims.sort()
    merged: list[_Dim] = []
    least = most = delta  # of the drift
    end = size
    solid = nested = True
    next_w = next_r = 0
    for w, r, m in dims:
        if w > r:
            least -= (w - r) * m
        else:
            most += (r - w) * m
        if w != end:
            solid = False
            if w < end:
                nested = False
                if not w:
                    return Verdict.COPY
        end += w * m
        if w == next_w and r == next_r:  # one dimension with the one inside it
            w, r, n = merged.pop()
            m += n * (m + 1)
        merged.append((w, r, m))
        next_w = w * (m + 1)
        next_r = r * (m + 1)
    if delta == least == most and size == other_size and not delta:
        return Verdict.SAME
    if not merged:
        return Verdict.ASCENDING
    rising = least >= 0  # nothing is read from below its place
    falling = most + other_size <= size
    if solid and inside:
        return _ordered(rising, falling)
    low, high = delta - size + 1, delta + other_size - 1
    if least == most and nested and (low > 0 or high < 0):
        if not _shifts(merged, low, high, end - size, max_work):
            return Verdict.DISJOINT
        return _ordered(low > 0, True)
    goal = MEETS if rising or not nested else BELOW if falling else BELOW | ABOVE
    found = _meet(merged, low, high, goal, max_work)
    if not found:
        return Verdict.DISJOINT
    return _ordered(
        nested and (rising or not found & (BELOW | UNKNOWN)),
        nested and (falling or not found & (ABOVE | UNKNOWN)),
    )


def _ordered(ascending: bool, descending: bool) -> Verdict:
    if ascending:
        return Verdict.ASCENDING
    return Verdict.DESCENDING if descending else Verdict.COPY


def _shifts(dims: list[_Dim], low: int, high: int, reach: int, work: int) -> bool:
    """Whether elements of one set of nested strides lie ``low..high`` apart; True at the bound.

    ``reach`` is that of all dimensions together.
    """
    todo = [(len(dims) - 1, low, high, reach)]
    while todo:
        k, low, high, reach = todo.pop()
        w, _, m = dims[k]
        reach -= w * m
        first = -((reach - low) // w)
        last = (high + reach) // w
        if first < -m:
            first = -m
        if last > m:
            last = m
        if first > last:
            continue
        work -= last - first + 1
        if not k or work < 0:
            return True
        for z in range(first, last + 1):
            todo.append((k - 1, low - w * z, high - w * z, reach))
    return False


def _meet(dims: list[_Dim], low: int, high: int, goal: int, max_work: int) -> int:
    """`storage.levels.meet` for an assignment."""
    least = most = 0
    reads: list[tuple[int, int, int]] = []
    for w, r, m in dims:
        if r > 0:
            reads.append((r, m, r - w))
        elif r < 0:  # count this index of the source from its far end
            low += r * m
            high += r * m
            least -= w * m
            most -= w * m
            reads.append((-r, m, w - r))
        else:
            least -= w * m
    reads.sort()
    return meet(pair(dims, reads), low, high, least, most, goal, max_work)


@lru_cache(maxsize=1024)
def _share(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    other_shape: tuple[int, ...],
    other_strides: tuple[int, ...],
    size: int,
    other_size: int,
    distance: int,
    max_work: int,
) -> bool:
    """`may_share` for operands whose bounds meet; ``distance`` is that of their lowest bytes."""
    a = sorted([(abs(s), 0, n - 1) for n, s in zip(shape, strides, strict=True) if s and n > 1])
    b = sorted(
        [(abs(s), n - 1, 0) for n, s in zip(other_shape, other_strides, strict=True) if s and n > 1]
    )
    levels = pair(a, b)
    if not levels:
        return True
    low, high = distance - size + 1, distance + other_size - 1
    return meet(levels, low, high, 0, 0, MEETS, max_work) != 0


@lru_cache(maxsize=1024)
def _folds(dims: tuple[tuple[int, int], ...], size: int, max_work: int) -> bool:
    """Whether ``-size < s.z < size`` for a ``z != 0`` (its outermost nonzero part positive)."""
    terms: list[tuple[int, int]] = []
    shift = 0
    budget = Budget(max_work)
    try:
        for stride, n in reversed(dims):
            # `terms` holds the dimensions inside this one, whose z is 1, ..., n - 1 here
            first = (stride, n - 2)
            moved = shift - stride
            if Sums([*terms, first], budget).hit(moved - size + 1, moved + size - 1):
                return True
            terms.append((stride, 2 * (n - 1)))
            shift += stride * (n - 1)
    except OutOfWork:
        return True
    return False
