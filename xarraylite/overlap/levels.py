"""Where the elements of two strided operands meet, found one level of strides at a time.

Element ``x`` of a destination and element ``y`` of a source share a byte when the sum
``w.x - r.y`` (dot products with the strides) lies in a window ``low..high``, a few bytes wide.
In general that is a subset-sum problem.  The strides of arrays make it an easy one, because they
come in levels, as planes, rows and columns do: a step of one level leads past nearly all that
the levels inside it can reach.  So each stride of the destination is put on one level with at
most one of the source, and the part of the sum that a level contributes,

    w x - r y = g q,    g = gcd(w, r),

can take only those few values of ``q`` (mostly one, at most two for views of one array) from
which the levels inside still lead into the window.  For a given ``q`` the solutions are an
arithmetic progression of ``y``.

A choice of ``q`` on every level is therefore a box of meeting pairs, and what is asked of them
is linear: ``x`` lies below ``y`` in the destination if ``w.x - w.y`` is negative, which is the
sum plus ``(r - w).y``, the drift of ``y``.  Its extremes over a box are sums of one term per
level.  All boxes together are all meeting pairs, so the answer is exact.

Levels are made and solved from the outermost inwards, all boxes side by side.  The invariant
between two of them: the boxes hold every choice on the levels so far from which the levels inside
can still reach the window.  The work is counted, and where it is used up the answer is that
nothing is known.

In the words of dependence analysis, ``w x - r y = g q`` is the equation that the GCD test asks
about, the bounds on ``q`` are Banerjee's inequalities, and a direction is read off the extremes of
the drift (Banerjee, *Dependence Analysis for Supercomputing*, 1988).  Where these decide nothing
the Omega test (Pugh 1991) would go on to search; here the budget ends the search instead.
"""

from __future__ import annotations

from math import gcd
from typing import Final

BELOW: Final = 1
"""Some ``y`` is read where an ``x`` below it is written: ascending order would be wrong."""
ABOVE: Final = 2
"""Some ``y`` is read where an ``x`` above it is written: descending order would be wrong."""

# Prices in units of about 0.05 microseconds, fitted to measured times.
_STRIDE: Final = 3
"""Allowed for each stride fewer than the eight of rank 4, and four times for each one more."""
_LEVEL: Final = 2
"""Of a level."""
_PLAIN: Final = 3
"""Of a value of ``q`` on a level without drift."""
_DRIFTING: Final = 5
"""Of a value of ``q`` on a level with drift."""
_MIXED_LEVEL: Final = 8
"""Of a level of two different strides, besides."""
_MIXED: Final = 4
"""Of a value of ``q`` on such a level."""

Write = tuple[int, int]
"""Stride (> 0) and largest index of the destination."""
Read = tuple[int, int, int]
"""Stride (> 0) and largest index of the source, and what one step of it adds to the drift."""

Box = tuple[int, int, int]
"""Pairs that meet: what the levels so far add to the sum, and the least and the most they add to
the drift."""


def meet(
    writes: list[Write],
    reads: list[Read],
    low: int,
    high: int,
    start: Box,
    up: int,
    down: int,
    ordered: bool,
    work: int,
) -> list[Box] | None:
    """Return all pairs whose sum lies in ``low..high``, or None if that takes too much work.

    ``writes`` and ``reads`` ascend after a stride of zero, and are used up; ``up`` and ``down``
    are their largest sums.  ``start`` bounds the drift of dimensions that are on no level.
    Drifts are found where ``ordered``.  ``work`` is what rank 4 may take.  Strides share a level
    unless one is larger than all that is left of the other operand; every pairing is right.

    Examples
    --------
    >>> meet([(0, 0), (1, 9)], [(0, 0, 0), (2, 4, 1)], -1, 0, (0, 0, 0), 9, 8, True, 50)
    [(-1, 1, 4), (0, 0, 4)]
    """
    spare = 10 - len(writes) - len(reads)
    work += _STRIDE * (spare if spare > 0 else -4 * spare)
    boxes = [start]
    w, m = writes.pop()
    r, n, s = reads.pop()
    while w or r:
        if r > up:  # beyond all that is left of the destination: the source has the level alone
            down -= r * n
            lo, hi = low - up, high + down
            boxes, work = _solve(boxes, r, r, 0, n, s if ordered else 0, lo, hi, work)
            r, n, s = reads.pop()
        elif w > down:
            up -= w * m
            boxes, work = _solve(boxes, w, w, m, 0, 0, low - up, high + down, work)
            w, m = writes.pop()
        else:
            up, down = up - w * m, down - r * n
            lo, hi = low - up, high + down
            boxes, work = _solve(boxes, w, r, m, n, s if ordered else 0, lo, hi, work)
            w, m = writes.pop()
            r, n, s = reads.pop()
        if not boxes:
            return None if work < 0 else []
    return boxes


def sides(boxes: list[Box]) -> int:
    """Return on which sides of the elements that are read others are written, as a set of bits.

    Examples
    --------
    >>> sides([(-1, 1, 4), (0, 0, 4)]) == ABOVE
    True
    """
    found = 0
    for sum_, least, most in boxes:
        if sum_ + least < 0:
            found |= BELOW
        if sum_ + most > 0:
            found |= ABOVE
    return found


def _solve(
    outer: list[Box], w: int, r: int, m: int, n: int, s: int, lo: int, hi: int, work: int
) -> tuple[list[Box], int]:
    """Return the boxes of one level, none if ``work`` gets negative, and what is left of that.

    The level adds ``w x - r y = g q`` to a sum that is to end up in ``lo..hi``, where
    ``0 <= x <= m`` and ``0 <= y <= n``, and ``s y`` to the drift.  With ``a = w / g`` and
    ``b = r / g``, which have no common divisor, that is ``a x - b y = q``.  Of each box outside

    1. ``q`` takes the values within Banerjee's bounds: those that lead into the window, and
       ``-b n..a m``, which the extents give;
    2. ``y`` takes the solutions of the equation: ``x >= 0`` gives the first and ``x <= m`` the
       last, and both are moved inwards to what ``-q / b`` is modulo ``a`` (the linear congruence
       of the GCD test, solved by the inverse of ``b``);
    3. the drift, which is linear in ``y``, has its extremes at the first and the last ``y``.

    At the head of the inner loop ``sum_`` is that of the box outside plus ``g q``, and all boxes
    of smaller ``q`` are made.  Of equal strides without drift there is a ``y`` for every ``q``,
    and which one is not asked.

    Examples
    --------
    ``4 x = 6 y`` with ``x <= 3`` and ``y <= 2`` is solved by ``y = 0`` and ``y = 2``, which drift
    by 0 and by 10 where a step of ``y`` adds 5:

    >>> _solve([(0, 0, 0)], 4, 6, 3, 2, 5, 0, 0, 100)
    ([(0, 0, 10)], 86)
    """
    if w == r:
        g, a, b, inverse = w, 1, 1, 1
        work -= _LEVEL
        price = _DRIFTING if s else _PLAIN
    else:
        g = gcd(w, r)
        a, b = w // g, r // g
        work -= _LEVEL + _MIXED_LEVEL
        inverse = pow(b, -1, a) if a > 1 < b else 1
        price = _MIXED
    asked = price != _PLAIN
    least_q, most_q = -b * n, a * m
    boxes: list[Box] = []
    for sum_, least, most in outer:
        q, last_q = -((sum_ - lo) // g), (hi - sum_) // g
        if q < least_q:
            q = least_q
        if last_q > most_q:
            last_q = most_q
        if q > last_q:
            continue
        work -= (last_q - q + 1) * price
        if work < 0:
            return [], work
        sum_ += g * q
        while q <= last_q:
            if asked:
                first = -(q // b) if q < 0 else 0
                last = (most_q - q) // b if q - most_q > least_q else n
                if a > 1:
                    first += (-q * inverse - first) % a
                    last -= (last - first) % a
                if first <= last:
                    if s < 0:
                        first, last = last, first
                    boxes.append((sum_, least + s * first, most + s * last))
            else:
                boxes.append((sum_, least, most))
            sum_ += g
            q += 1
    return boxes, work
