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
level.  All boxes together are all meeting pairs, so the answer is exact.  How many values of
``q`` are looked at is bounded, and beyond the bound the answer says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import Final

MEETS: Final = 1
"""Some element of the destination shares a byte with some element of the source."""
BELOW: Final = 2
"""Some ``y`` is read where an ``x`` below it is written: ascending order would be wrong."""
ABOVE: Final = 4
"""Some ``y`` is read where an ``x`` above it is written: descending order would be wrong."""
UNKNOWN: Final = 8
"""The work was used up; the other bits are those of the pairs seen so far."""

_Level = tuple[int, int, int, int, int, int, int, int]
"""``(g, a, b, top, n, s, down, up)``: the sum ``g (a x - b y)``, where ``a x <= top`` and
``y <= n``; the drift ``s y``; the least and the largest sum of the levels inside."""


def pair(writes: Iterable[tuple[int, int, int]], reads: list[tuple[int, int, int]]) -> list[_Level]:
    """Put the strides of two operands on common levels, innermost first.

    Parameters
    ----------
    writes : iterable of (stride, any, bound)
        Destination, strides ascending and positive, ``0 <= x <= bound`` with a positive bound.
    reads : list of (stride, bound, drift)
        Source, likewise, with what one step of it adds to the drift.

    Returns
    -------
    list of tuple
        The levels, for `meet`.  Every pairing is right; this one leaves little to try.

    Notes
    -----
    Two strides share a level unless one operand's whole level lies inside the other's stride.

    Examples
    --------
    >>> pair([(8, 0, 4), (80, 0, 4)], [(16, 4, 0), (80, 4, 0)])
    [(8, 1, 2, 4, 4, 0, 0, 0), (80, 1, 1, 4, 4, 0, -64, 32)]
    """
    levels: list[_Level] = []
    down = up = j = 0
    end = len(reads)
    for w, _, m in writes:
        while j < end:
            r, n, s = reads[j]
            if r == w:
                levels.append((w, 1, 1, m, n, s, down, up))
            elif r * n - down < w:
                levels.append((r, 0, 1, 0, n, s, down, up))
                down -= r * n
                j += 1
                continue
            elif r <= w * m + up:
                g = gcd(w, r)
                a = w // g
                levels.append((g, a, r // g, a * m, n, s, down, up))
            else:
                levels.append((w, 1, 0, m, 0, 0, down, up))
                break
            down -= r * n
            j += 1
            break
        else:
            levels.append((w, 1, 0, m, 0, 0, down, up))
        up += w * m
    for r, n, s in reads[j:]:
        levels.append((r, 0, 1, 0, n, s, down, up))
        down -= r * n
    return levels


def meet(
    levels: list[_Level], low: int, high: int, least: int, most: int, goal: int, work: int
) -> int:
    """Return what is true of the pairs whose sum lies in ``low..high``, as a set of bits.

    Parameters
    ----------
    levels : list of tuple
        At least one level, as made by `pair`.
    low, high, least, most : int
        The window, and bounds of the drift of what is on no level (a broadcast dimension).
    goal : int
        Bits that settle the caller's question: once all are found the search ends.
    work : int
        How many values of ``q`` may be looked at.

    Returns
    -------
    int
        `MEETS`, `BELOW` and `ABOVE`, or-ed, and `UNKNOWN` if there was more work than allowed.

    Examples
    --------
    Five elements ten bytes apart, read where they or their neighbours are written:

    >>> levels = pair([(10, 10, 4)], [(10, 4, 0)])
    >>> [meet(levels, at, at, 0, 0, MEETS | BELOW | ABOVE, 16) for at in (-10, 0, 1, 10)]
    [3, 1, 0, 5]
    """
    found = 0
    window = low, high
    todo = [(len(levels) - 1, low, high, least, most)]
    while todo:
        k, low, high, least, most = todo.pop()
        g, a, b, top, n, s, down, up = levels[k]
        first = -((up - low) // g)
        last = (high - down) // g
        if first < -b * n:
            first = -b * n
        if last > top:
            last = top
        if first > last:
            continue
        work -= last - first + 1
        if work < 0:
            return found | UNKNOWN if found or _divides(levels, *window) else 0
        for q in range(first, last + 1):
            # y..z solve a x - b y = q
            y = 0
            z = n
            if b == 1:  # most levels; the two divisions would cost a tenth of all time
                if q < 0:
                    y = -q
                if top - q < n:
                    z = top - q
            elif b:
                if q < 0:
                    y = -(q // b)
                if top - q < b * n:
                    z = (top - q) // b
            if a > 1:
                y += (-q * pow(b, -1, a) - y) % a
                if y > z:
                    continue
                z -= (z - y) % a
            elif y > z:
                continue
            sum_ = g * q
            if s < 0:
                y, z = z, y
            here = least + sum_ + s * y
            there = most + sum_ + s * z
            if k:
                todo.append((k - 1, low - sum_, high - sum_, here, there))
                continue
            found |= MEETS | (BELOW if here < 0 else 0) | (ABOVE if there > 0 else 0)
            if found & goal == goal:
                return found
    return found


def _divides(levels: list[_Level], low: int, high: int) -> bool:
    """Whether ``low..high`` holds a multiple of the divisor that all sums have in common."""
    return -low % gcd(*[level[0] for level in levels]) <= high - low
