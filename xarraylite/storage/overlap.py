"""Which bytes two strided operands share, and in which order they may be written.

An assignment reads a source and writes a destination over one iteration space.  Element ``x``
is written at ``W + w.x`` and element ``y`` is read at ``R + r.y`` (dot products with the byte
strides).  Their bytes meet when the distance ``w.x - r.y - (R - W)`` lies between
``-(itemsize_w - 1)`` and ``itemsize_r - 1``.  Every question is therefore of one kind: has

    low <= c_1 v_1 + ... + c_k v_k <= high,    0 <= v_i <= m_i

an integer solution?  That is a bounded Diophantine problem, NP-hard in general and easy for
the strides arrays have; `storage.sums` solves it, for at most ``max_work`` search steps.  Beyond
that the answer is the conservative one (copy, may share).  A dimension with equal strides
needs only the one variable ``x_k - y_k``.

**Order.**  The engine visits the destination in ascending or descending address order and
reads a block of consecutive elements before it writes them.  The block length is not known
here, so ascending order is right when no ``x`` before ``y`` writes what ``y`` reads.  Where
the destination's strides are nested (each larger than the reach of the smaller ones), address
order is lexicographic order of the indices sorted by stride, and "``x`` before ``y``" means:
equal up to some dimension ``p``, and ``x_p < y_p`` there.  Each ``p`` is one problem of the
above kind with a triangle ``x_p < y_p`` in it, and a triangle also has a closed form, because
its ends are integers.  Descending order is the mirrored problem.

An order that is only safe in one direction is safe for one thread.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import NamedTuple

from .sums import Budget, OutOfWork, Sums

MAX_WORK = 256
"""Search steps of one call before giving up; one takes about half a microsecond."""


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
        Bound on the search; reaching it gives `Verdict.COPY`.

    Returns
    -------
    Verdict
        Exact, except that `Verdict.COPY` may be said where a direction would do: when the
        destination's strides are not nested, or ``max_work`` was reached.

    Notes
    -----
    Geometries are remembered by shape, strides and distance: about 1.2 us at rank 1 to 4, and
    3 to 20 us (median 5) the first time.

    Examples
    --------
    ``a[1:] = a[:-1]`` for a float64 array:

    >>> classify(Span(8, (9,), (8,), 8), Span(0, (9,), (8,), 8))
    <Verdict.DESCENDING: 'descending'>
    """
    address, shape, strides, itemsize = dst
    if src == dst:
        return Verdict.DISJOINT if 0 in shape else Verdict.SAME
    low, high = bounds(dst)
    other_low, other_high = bounds(src)
    if low >= other_high or other_low >= high:
        return Verdict.DISJOINT
    return _relate(
        shape, strides, src.strides, itemsize, src.itemsize, src.address - address, max_work
    )


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
    return _share(
        (*a.shape, *b.shape),
        (*a.strides, *b.strides),
        a.itemsize,
        b.itemsize,
        # sum_a - sum_b is turned into a sum of positive terms by counting b from its far end
        other_high - b.itemsize - low,
        max_work,
    )


def self_overlaps(a: Span, *, max_work: int = MAX_WORK) -> bool:
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


# One dimension of an assignment: destination stride (positive), source stride, extent (> 1).
_Dim = tuple[int, int, int]


@lru_cache(maxsize=4096)
def _relate(
    shape: tuple[int, ...],
    dst_strides: tuple[int, ...],
    src_strides: tuple[int, ...],
    dst_size: int,
    src_size: int,
    delta: int,
    max_work: int,
) -> Verdict:
    """`classify` for operands whose bounds meet; ``delta`` is source minus destination."""
    dims, delta = _normalise(shape, dst_strides, src_strides, delta)
    low, high = delta - dst_size + 1, delta + src_size - 1
    shifted = True  # one is the other moved by delta
    for w, r, _ in dims:
        if w != r:
            shifted = False
            break
    if shifted and delta == 0 and dst_size == src_size:
        return Verdict.SAME
    budget = Budget(max_work)
    try:
        if not _any_conflict(dims, low, high, budget):
            return Verdict.DISJOINT
        if not _nested(dims, dst_size):
            return Verdict.COPY
        if shifted and (low > 0 or high < 0):
            # The distance has the sign of the order of x and y.
            return Verdict.ASCENDING if low > 0 else Verdict.DESCENDING
        if not _order_conflict(dims, low, high, budget):
            return Verdict.ASCENDING
        # Count every index from its far end: later becomes earlier.
        turned = sum((w - r) * (n - 1) for w, r, n in dims)
        if not _order_conflict(dims, turned - high, turned - low, budget):
            return Verdict.DESCENDING
    except OutOfWork:
        pass
    return Verdict.COPY


def _normalise(
    shape: tuple[int, ...],
    dst_strides: tuple[int, ...],
    src_strides: tuple[int, ...],
    delta: int,
) -> tuple[list[_Dim], int]:
    """Drop extents of 1, flip negative destination strides, sort by them, merge dimensions."""
    dims: list[_Dim] = []
    for n, w, r in zip(shape, dst_strides, src_strides, strict=True):
        if n == 1:
            continue
        if w < 0:
            delta += (n - 1) * (r - w)
            w, r = -w, -r
        dims.append((w, r, n))
    if len(dims) < 2:
        return dims, delta
    dims.sort(reverse=True)
    merged = [dims[0]]
    for w, r, n in dims[1:]:
        outer_w, outer_r, outer_n = merged[-1]
        if outer_w == w * n and outer_r == r * n:
            merged[-1] = (w, r, n * outer_n)
        else:
            merged.append((w, r, n))
    return merged, delta


def _nested(dims: list[_Dim], size: int) -> bool:
    for w, _, n in reversed(dims):
        if w < size:
            return False
        size += (n - 1) * w
    return True


def _any_conflict(dims: list[_Dim], low: int, high: int, budget: Budget) -> bool:
    """Whether ``low <= w.x - r.y <= high`` for any ``x`` and ``y``."""
    terms: list[tuple[int, int]] = []
    shift = _pair_terms(dims, terms)
    return Sums(terms, None, budget).hit(low + shift, high + shift)


def _pair_terms(dims: list[_Dim], terms: list[tuple[int, int]]) -> int:
    """Append the terms of ``w.x - r.y`` with ``x``, ``y`` free; return what is added to it."""
    shift = 0
    for w, r, n in dims:
        m = n - 1
        if w == r:
            terms.append((w, 2 * m))
            shift += w * m
        else:
            terms.append((w, m))
            if r > 0:
                terms.append((r, m))
                shift += r * m
            else:
                terms.append((-r, m))
    return shift


def _order_conflict(dims: list[_Dim], low: int, high: int, budget: Budget) -> bool:
    """Whether ``low <= w.x - r.y <= high`` for an ``x`` that comes before ``y``."""
    shift = 0
    common: list[tuple[int, int]] = []  # dimensions before p, where x and y are equal
    for p, (w, r, n) in enumerate(dims):
        terms = common.copy()
        moved = shift + _pair_terms(dims[p + 1 :], terms)
        triangle = None
        if w == r:
            # w * (x - y) is one of -w, ..., -w * (n - 1)
            terms.append((w, n - 2))
            moved += w * (n - 1)
        elif r == 0:
            terms.append((w, n - 2))  # any x but the last has a y after it
        else:
            triangle = (w, r, n)
        if Sums(terms, triangle, budget).hit(low + moved, high + moved):
            return True
        step = w - r
        if step:
            common.append((abs(step), n - 1))
            if step < 0:
                shift -= step * (n - 1)
    return False


@lru_cache(maxsize=1024)
def _share(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    size: int,
    other_size: int,
    distance: int,
    max_work: int,
) -> bool:
    terms = [(abs(s), n - 1) for n, s in zip(shape, strides, strict=True)]
    try:
        return Sums(terms, None, Budget(max_work)).hit(
            distance - size + 1, distance + other_size - 1
        )
    except OutOfWork:
        return True


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
            if Sums([*terms, first], None, budget).hit(moved - size + 1, moved + size - 1):
                return True
            terms.append((stride, 2 * (n - 1)))
            shift += stride * (n - 1)
    except OutOfWork:
        return True
    return False
