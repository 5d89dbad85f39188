"""Whether two layouts put the same elements, counted in row-major order, in the same places.

The position of the element with ordinal ``n`` is a number written in digits, like that of an
index along one dimension (see `digits`): the ordinal's own digits, which are the indices, and
inside each of these the digits of its tiles.  So a whole array is one list of digits, whose
length does not depend on the number of elements, and two arrays are two such functions on
``0 … count - 1``.

Equal functions can have different digits, where a last tile is partial.  With the leading periods
``p >= q`` of both, the steps from one element to the next repeat with ``p`` in one and with ``q``
in the other.  By the theorem of Fine and Wilf steps that are the same, and at least ``p + q``
many, repeat with ``gcd(p, q)`` as well, which leaves questions about fewer elements.
"""

from __future__ import annotations

import itertools
import math

from .digits import Digits, Tiled, position_of, simplify

#: Elements up to which layouts without digits are compared one by one.
MOST_ELEMENTS = 1 << 18


def same_places(left: Tiled, right: Tiled) -> bool | None:
    """Tell whether elements of the same ordinal have the same position in two arrays of one size.

    None where dimensions are combined whose digits do not come apart again, unless the arrays are
    small enough to look at every element.
    """
    first, second = _digits_of_ordinals(left), _digits_of_ordinals(right)
    count = math.prod(left.dimensions)
    if first is not None and second is not None:
        return _same(first, second, count)
    if count > MOST_ELEMENTS:
        return None
    indices = [itertools.product(*map(range, tiled.dimensions)) for tiled in (left, right)]
    return all(left.linear_index(a) == right.linear_index(b) for a, b in zip(*indices, strict=True))


def _digits_of_ordinals(tiled: Tiled) -> Digits | None:
    """Return the position of every element by its ordinal; None if digits do not come apart."""
    axes = _axes(tiled)
    if axes is None:
        return None
    found: list[tuple[int, int]] = []
    inner = math.prod([extent for extent, _ in axes])
    for extent, digits in axes:
        inner //= extent
        found += [(period * inner, stride) for period, stride in simplify(digits, extent)]
    return tuple(found) or ((1, 0),)


def _same(first: Digits, second: Digits, count: int) -> bool:
    """Tell whether two functions are the same on ``0 … count - 1``; both are 0 at 0."""
    first, second = simplify(first, count), simplify(second, count)
    if count <= 1 or first == second:
        return True
    (p, step), (q, other) = first[0], second[0]
    if p == q:
        return step == other and p > 1 and _same(first[1:], second[1:], p)
    if p < q:
        first, second, p, step, q, other = second, first, q, other, p, step
    if count < p + q:  # the same before p, and what follows is the beginning once more
        return _same(first[1:], second, p) and _comes_again(second, p, step, count - p)
    width = math.gcd(p, q)
    pace = int(position_of(width, first))
    loop = ((width, pace), *simplify(first, width))
    return (
        step == pace * (p // width)
        and other == pace * (q // width)
        and _same(first[1:], loop, p)
        and _same(second[1:] or second, loop, q)
    )


def _comes_again(digits: Digits, at: int, step: int, count: int) -> bool:
    """Tell whether from ``at`` on a function is its first ``count`` values and ``step``."""
    if position_of(at, digits) != step:
        return False
    (period, stride), inner = digits[0], digits[1:]
    if count == 1 or period == 1:
        return True
    count = min(count, period)  # beyond, both repeat
    whole, rest = divmod(at, period)
    border = period - rest
    return _comes_again(inner, rest, step - whole * stride, min(count, border)) and (
        count <= border or _comes_again(inner, border, (whole + 1) * stride - step, count - border)
    )


def _axes(tiled: Tiled) -> list[tuple[int, Digits]] | None:
    """Return extents and digits, outermost first, whose loops visit elements in row-major order."""
    if tiled.fields is None:
        return None
    extents = tiled.dimensions
    found: dict[int, tuple[int, Digits]] = {}
    for dims, weights, digits in tiled.fields:
        parts = [(d, w) for d, w in zip(dims, weights, strict=True) if extents[d] != 1]
        if not parts:
            continue
        first, last = parts[0][0], parts[-1][0]
        between = [d for d in range(first, last + 1) if extents[d] != 1]
        if between == [d for d, _ in parts]:  # the merged index runs through as a whole
            found[first] = math.prod([extents[d] for d in between]), digits
            continue
        for d, w in parts[:-1]:
            cut = _cut(digits, w)
            if cut is None:
                return None
            found[d] = extents[d], cut[0]
            digits = cut[1]
        found[last] = extents[last], digits
    return [found[d] for d in sorted(found)]


def _cut(digits: Digits, weight: int) -> tuple[Digits, Digits] | None:
    """Return the digits of ``i`` and ``j`` whose sum is that of ``weight * i + j``, ``j < weight``.

    None where a period neither divides ``weight`` nor is divided by it.
    """
    major: list[tuple[int, int]] = []
    minor: list[tuple[int, int]] = []
    for period, stride in digits:
        if period >= weight:
            if period % weight:
                return None
            major.append((period // weight, stride))
        else:
            if not minor:
                if weight % period:
                    return None
                if not major or major[-1][0] != 1:
                    major.append((1, stride * (weight // period)))
            minor.append((period, stride))
    return tuple(major), tuple(minor) or ((1, 0),)
