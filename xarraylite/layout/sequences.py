"""Long regular sequences of positions, and whether two of them are equal.

The positions of a tiled array, element after element in row-major order, are loops in loops with
constant steps, and a few rests where a last tile is partial.  So a sequence is kept as *runs*: a
run repeats a shorter sequence ``times`` times, each time ``step`` further on.  Its size grows
with the number of digits of the layout and not with the number of elements.

Equality needs no expansion either.  Two runs of the same length repeat their differences with
periods ``a`` and ``b``, both at most half of the length; by the theorem of Fine and Wilf equal
sequences then repeat with ``gcd(a, b)`` as well, which leaves questions about shorter sequences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

from .digits import Digits, Tiled

#: Elements up to which sequences of layouts without digits are written out.
MOST_ELEMENTS = 1 << 18


class Run(NamedTuple):
    """``times`` copies of a sequence, ``step`` apart.

    Attributes
    ----------
    start : int
        Value of the first element.
    times : int
        Number of copies.
    step : int
        What is added from one copy to the next.
    body : tuple of Run
        The sequence, from 0; empty for a single element.
    width : int
        Length of the body.
    """

    start: int
    times: int
    step: int
    body: tuple[Run, ...]
    width: int

    @property
    def length(self) -> int:
        """Number of elements."""
        return self.times * self.width


Sequence = tuple[Run, ...]


def _length(runs: Iterable[Run]) -> int:
    return sum([run.length for run in runs]) or 1


def _loop(times: int, step: int, body: Sequence) -> Sequence:
    return (Run(0, times, step, body, _length(body)),) if times > 1 or not body else body


def along(extent: int, digits: Digits, inner: Sequence) -> Sequence:
    """Return the sequence of ``inner`` at every index of a dimension written in digits."""
    (period, stride), rest = digits[0], digits[1:]
    if period == 1:
        return _loop(extent, stride, inner)
    whole, partial = divmod(extent, period)
    found = _loop(whole, stride, along(period, rest, inner)) if whole else ()
    if partial:
        tail = along(partial, rest, inner)
        found += tuple([run._replace(start=run.start + whole * stride) for run in tail])
    return found


def sequence(tiled: Tiled) -> Sequence | None:
    """Return the positions of the elements in row-major order; None if there is no such form.

    There is none where dimensions are combined whose digits do not come apart again, unless the
    array is small enough to write its positions out.
    """
    axes = _axes(tiled)
    if axes is not None:
        found: Sequence = ()
        for extent, digits in reversed(axes):
            found = along(extent, digits, found)
        return found
    if math.prod(tiled.dimensions) > MOST_ELEMENTS:
        return None
    indices = itertools.product(*map(range, tiled.dimensions))
    return tuple([Run(tiled.linear_index(index), 1, 0, (), 1) for index in indices])


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


def same(left: Sequence, right: Sequence) -> bool:
    """Tell whether two sequences of the same length are equal."""
    rest_left, rest_right = list(reversed(left)), list(reversed(right))
    while rest_left:
        a, b = rest_left.pop(), rest_right.pop()
        if a.start != b.start:
            return False
        if a.length > b.length:
            a, behind = _split(a, b.length)
            rest_left += reversed(behind)
        elif b.length > a.length:
            b, behind = _split(b, a.length)
            rest_right += reversed(behind)
        if not _same_runs(a._replace(start=0), b._replace(start=0)):
            return False
    return True


def _split(run: Run, at: int) -> tuple[Run, Sequence]:
    """Return the first ``at`` elements as one run from the same start, and what follows."""
    whole, partial = divmod(at, run.width)
    before, behind = _parts(run.body, partial)
    later: list[Run] = []
    start = run.start + whole * run.step
    if partial:
        later += [r._replace(start=r.start + start) for r in behind]
        whole_behind, start = run.times - whole - 1, start + run.step
    else:
        whole_behind = run.times - whole
    if whole_behind:
        later.append(run._replace(start=start, times=whole_behind))
    front: list[Run] = [run._replace(start=0, times=whole)] if whole else []
    front += [r._replace(start=r.start + whole * run.step) for r in before]
    first = front[0] if len(front) == 1 else Run(0, 1, 0, tuple(front), at)
    return first._replace(start=run.start), tuple(later)


def _parts(runs: Sequence, at: int) -> tuple[Sequence, Sequence]:
    """Return the first ``at`` elements of a sequence, and what follows."""
    if at == 0:
        return (), runs
    before: list[Run] = []
    for k, run in enumerate(runs):
        if run.length >= at:
            if run.length == at:
                return (*before, run), runs[k + 1 :]
            first, behind = _split(run, at)
            return (*before, first), behind + runs[k + 1 :]
        before.append(run)
        at -= run.length
    return tuple(before), ()


def _same_runs(a: Run, b: Run) -> bool:
    """Tell whether two runs from 0, of the same length, are equal."""
    if a.length == 1:
        return True
    if a.times == 1 or b.times == 1:
        return same(a.body if a.times == 1 else (a,), b.body if b.times == 1 else (b,))
    if a.width > b.width:
        a, b = b, a
    shared = math.gcd(a.width, b.width)
    if a.step * shared % a.width or b.step * shared % b.width:
        return False
    step = a.step * shared // a.width
    if b.step != step * (b.width // shared):
        return False
    part, _ = _parts(a.body, shared) if shared < a.width else (a.body, ())
    return _is_loop(a, shared, step, part) and _is_loop(b, shared, step, part)


def _is_loop(run: Run, width: int, step: int, part: Sequence) -> bool:
    """Tell whether a run's body is ``part``, of length ``width``, again and again."""
    if run.width == 1 or run.body is part:
        return True
    return same(run.body, (Run(0, run.width // width, step, part, width),))
