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

Otherwise `levels` looks for the pairs that meet, within a bound on its work.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from math import gcd
from typing import Final, NamedTuple

from .._tables import kept
from ..layout.strided import Strided
from .levels import ABOVE, BELOW, Box, Read, Write, meet, sides
from .sums import Budget, OutOfWork, Sums

MAX_WORK: Final = 30
"""Work of `classify` and `may_share`, in the units of `levels`: so much that they take
about five microseconds at rank 4."""

MAX_FOLD_WORK: Final = 256
"""Search steps of `self_overlaps`, where giving up means an error; nested strides take none."""

_MOST_REMEMBERED: Final = 4096


class Direction(enum.Enum):
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


def classify(dst: Span, src: Span, *, max_work: int = MAX_WORK) -> Direction:
    """Decide how an assignment from ``src`` to ``dst`` may be carried out.

    Parameters
    ----------
    dst, src : Span
        Both over the same iteration space: the shapes are equal, a broadcast source has zero
        strides.  The destination is assumed not to overlap itself (see `self_overlaps`).
    max_work : int, optional
        Bound on the search, see `levels`.

    Returns
    -------
    Direction
        Exact where the destination's strides are nested and ``max_work`` is not reached.
        Otherwise a direction that is right, if not always the best: a direction that the drift
        proves, or `Direction.COPY`.

    Notes
    -----
    Geometries are remembered by shape, strides and distance; a remembered one takes 0.3 us.  The
    first time takes about 5 us at most at rank up to 4:

    - bytes that are nowhere near each other (not remembered): 0.8 to 1.2 us;
    - all of an array reversed, permuted, broadcast or reinterpreted: 0.9 to 1.8 us;
    - any other views of one array: 1.5 to 4.8 us;
    - anything else: 2 to 4.9 us, also for eight unrelated strides.

    Of random views of one array (a step for each dimension, permuted, other dtypes) 1 in 100 to
    1 in 1000 uses up the work: mostly rank 4 with unlike steps nearly everywhere, which would
    take up to 6 us.  Slices with like steps do not.  Of random strides, which takes
    ``as_strided``, 1 in 12 uses it up and gets a direction that is not the best.

    Examples
    --------
    ``a[1:] = a[:-1]`` for a float64 array:

    >>> classify(Span(8, (9,), (8,), 8), Span(0, (9,), (8,), 8))
    <Direction.DESCENDING: 'descending'>
    """
    if src == dst:
        return Direction.DISJOINT if 0 in dst.shape else Direction.SAME
    address, shape, strides, size = dst
    start, _, other_strides, other_size = src
    geometry = shape, strides, other_strides, size, other_size, start - address, max_work
    direction = _remembered.get(geometry)
    if direction is None:
        direction = _relate(*geometry)
        if direction is None:
            return Direction.DISJOINT
        kept(_remembered, geometry, direction, _MOST_REMEMBERED)
    return direction


def may_share(a: Span, b: Span, *, max_work: int = MAX_WORK) -> bool:
    """Return whether any element of ``a`` shares a byte with any element of ``b``.

    The index spaces are independent; use it for gathers, where every element may be read at
    any iteration.  Exact, except that it is True when ``max_work`` is reached.

    Examples
    --------
    >>> may_share(Span(0, (5,), (16,), 8), Span(8, (5,), (16,), 8))
    False
    """
    address, shape, strides, size = a
    start, other_shape, other_strides, other_size = b
    delta = start - address
    geometry = shape, strides, other_shape, other_strides, size, other_size, delta, max_work
    shared = _shared.get(geometry)
    if shared is not None:
        return shared
    if 0 in shape or 0 in other_shape:
        return False
    writes, reach, below = _upwards(shape, strides)
    others, other_reach, other_below = _upwards(other_shape, other_strides)
    delta += below - other_below
    low, high = delta - size + 1, delta + other_size - 1
    if high + other_reach < 0 or low > reach:
        return False  # their bounds do not meet
    reads = [(r, m, 0) for r, m in others]
    boxes = meet(writes, reads, low, high, (0, 0, 0), reach, other_reach, False, max_work)
    if boxes is None:
        shared = -low % gcd(*strides, *other_strides) <= high - low
    else:
        shared = bool(boxes)
    return kept(_shared, geometry, shared, _MOST_REMEMBERED)


def repeats(layout: Strided) -> bool:
    """Tell whether a layout addresses some element more than once; as sure as `self_overlaps`.

    Elements lie whole numbers of elements apart, so that one that shares a byte with another is it.
    """
    return self_overlaps(Span(0, layout.shape, layout.strides, 1))


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


_remembered: dict[tuple[object, ...], Direction] = {}
_shared: dict[tuple[object, ...], bool] = {}

_ORDERS: Final = (Direction.ASCENDING, Direction.DESCENDING, Direction.ASCENDING, Direction.COPY)
"""By `BELOW` and `ABOVE`, where operands meet and the destination's strides are nested."""


def _relate(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    other_strides: tuple[int, ...],
    size: int,
    other_size: int,
    distance: int,
    max_work: int,
) -> Direction | None:
    """`classify` for a source ``distance`` bytes above the destination; None if bounds differ.

    From the cheapest proof to the dearest:

    1. bytes: nothing is shared where one operand ends before the other begins;
    2. drift: its extremes tell on which sides of their places elements can be read at all;
    3. order: loops follow addresses where the destination's strides are nested, and where it is
       one solid run around the source all that is read is written, so step 2 is exact;
    4. pairs: those that meet, found level by level (see `levels`), tell on which sides elements
       are read.

    ``possible`` always has all sides on which an element is read that is written; steps only take
    sides away, so giving up is safe at any of them.

    Examples
    --------
    Four numbers of 8 bytes get those that lie one place above, and in the reverse order:

    >>> _relate((4,), (8,), (8,), 8, 8, 8, MAX_WORK).value
    'ascending'
    >>> _relate((4,), (8,), (-8,), 8, 8, 24, MAX_WORK).value
    'copy'

    Even places get odd ones:

    >>> _relate((4,), (16,), (16,), 8, 8, 8, MAX_WORK).value
    'disjoint'
    """
    lattice = _lattice(shape, strides, other_strides, distance)
    if lattice is None:
        return None
    writes, reads, delta, reach, up, down, drop, start = lattice
    # 1. The bytes that are read, counted from where the destination begins.
    first = delta + down
    last = delta + up + other_size
    if last <= 0 or first >= reach + size:
        return None
    # 2. The extremes of the drift.
    least = delta + drop
    most = delta + up + down - reach - drop
    if least == most == delta == 0 and size == other_size:
        return Direction.SAME
    possible = (BELOW if least < 0 else 0) | (ABOVE if most + other_size > size else 0)
    # 3. The order of addresses.
    order = _address_order(writes, size)
    if order is None:
        return Direction.COPY
    solid, nested = order
    if solid and first >= 0 and last <= reach + size:
        return _ORDERS[possible]
    # 4. The pairs that meet.
    reads.sort()
    low, high = first - size + 1, first + other_size - 1
    ordered = nested and possible != 0
    boxes = meet(writes, reads, low, high, start, reach, up - down, ordered, max_work)
    if boxes == [] or (boxes is None and _pass_between(strides, other_strides, low, high)):
        return Direction.DISJOINT
    if boxes and ordered:
        possible &= sides(boxes)
    return _ORDERS[possible] if nested else Direction.COPY


def _pass_between(
    strides: tuple[int, ...], other_strides: tuple[int, ...], low: int, high: int
) -> bool:
    """Return whether no multiple of what divides all strides is in a window: the GCD test.

    Two strides tell most of the time that all have no common divisor to keep operands apart.
    """
    return gcd(strides[-1], other_strides[-1]) > high - low < -low % gcd(*strides, *other_strides)


def _lattice(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    other_strides: tuple[int, ...],
    distance: int,
) -> tuple[list[Write], list[Read], int, int, int, int, int, Box] | None:
    """Return both operands as `meet` wants them, and bounds; None if there is no element.

    Every index of the destination is counted from its end with the lowest address, so its strides
    are positive; an index of the source that then falls is counted from its far end besides.

    Returns
    -------
    tuple
        Strides written and read; the distance of the elements that are first then; the largest
        sum of the destination's strides, and the largest and the least of the source's; how far
        the drift falls below the distance; what the dimensions that the reversals and broadcasts
        of the source leave out of the levels add to the drift.
    """
    writes: list[Write] = [(0, 0)]
    reads: list[Read] = [(0, 0, 0)]
    reach = up = down = 0
    drop = flipped = broadcast = 0
    for n, w, r in zip(shape, strides, other_strides):  # noqa: B905 - strict takes 0.1 us
        if n > 1:
            m = n - 1
            if w < 0:
                distance += (r - w) * m
                w, r = -w, -r
            far = w * m
            near = r * m
            reach += far
            writes.append((w, m))
            if near < far:
                drop += near - far
            if r > 0:
                up += near
                reads.append((r, m, r - w))
            elif r:
                down += near
                flipped -= far
                reads.append((-r, m, w - r))
            else:
                broadcast -= far
        elif n < 1:
            return None
    return writes, reads, distance, reach, up, down, drop, (0, flipped + broadcast, flipped)


def _address_order(writes: list[Write], size: int) -> tuple[bool, bool] | None:
    """Sort the destination's strides and tell whether they are solid, and whether nested.

    Solid: the elements are one run of bytes.  Nested: each stride is at least what the smaller
    ones reach, so addresses rise with the indices.  None if elements lie in one place.
    """
    writes.sort()
    end = size
    solid = nested = True
    for w, m in writes:
        if w != end:
            if not w:
                if m:
                    return None
                continue
            solid = False
            if w < end:
                nested = False
        end += w * m
    return solid, nested


def _upwards(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[list[Write], int, int]:
    """Return strides counted from the lowest address: sorted; their largest sum; how far down."""
    steps: list[Write] = [(0, 0)]
    reach = below = 0
    for n, w in zip(shape, strides):  # noqa: B905
        if n > 1 and w:
            if w < 0:
                w = -w
                below += w * (n - 1)
            reach += w * (n - 1)
            steps.append((w, n - 1))
    steps.sort()
    return steps, reach, below


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
