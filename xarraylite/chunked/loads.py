"""What a block reads: the boxes of stored operands that serve its requests.

Requests of one operand that overlap (the shifts of a stencil) are read as one box, once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.node import Stored
from .cut import Request
from .selection import Box, hull, shifted, size_of, whole


@dataclass(frozen=True, slots=True)
class Load:
    """One read of a block.

    Attributes
    ----------
    source : Source
        What is read.
    box : tuple
        Which elements.
    users : list of Stored
        The requests it serves.
    """

    source: Any
    box: Box
    users: list[Stored]

    @property
    def nbytes(self) -> int:
        """Bytes of what is read."""
        return size_of(self.box) * int(self.source.dtype.itemsize)

    @property
    def apart(self) -> tuple[int, ...]:
        """Strides of memory where dimensions follow each other as they do in the whole array.

        Neighbouring dimensions of a part of an array are one loop only where they are one in the
        array, and elements are contiguous only where they are: the order of sums depends on it.
        """
        strides = [1] * len(self.box)
        run, span = 1, (0, 0)  # of the dimension inside: in the array, and here
        for k in reversed(range(len(self.box))):
            own = self.box[k]
            step = run * (own.step if isinstance(own, range) else 1)
            if len(own) != 1:
                first = span == (0, 0)
                strides[k] = min(step, 2) if first else span[1] + (step != span[0])
                span = len(own) * step, len(own) * strides[k]
            run *= self.source.shape[k]
        return tuple(strides)

    @property
    def scratch(self) -> int:
        """Bytes that reading it needs besides, wherever a block lies."""
        return int(self.source.scratch(self.box, self.pitch))

    @property
    def kept(self) -> int:
        """Bytes of the chunks that it touches at most, wherever a block lies."""
        return int(self.source.kept(self.box, self.pitch))

    @property
    def pitch(self) -> tuple[int, ...]:
        """How far apart blocks begin: as far as what they ask for is long, which may overlap."""
        requests: list[Any] = [user.source for user in self.users]
        return tuple(
            [
                math.gcd(*[len(s) * (s.step if isinstance(s, range) else 1) for s in sides])
                for sides in zip(*[request.box for request in requests], strict=True)
            ]
        )

    @property
    def moved(self) -> int:
        """Bytes of the chunks that must be read for it."""
        return int(self.source.moved(self.box))


def usual(loads: Sequence[Load], of: Sequence[Load]) -> float:
    """Return the bytes of chunks that are read for a block on average, ``of`` all blocks as one."""
    return float(sum([x.source.usual(x.box, x.pitch, _around(x, of)) for x in loads]))


def _around(load: Load, of: Sequence[Load]) -> Box:
    """Return what is read of an operand for all blocks, where that has what is read for one."""
    for box in [x.box for x in of if x.source is load.source]:
        if all([b[0] <= a[0] and a[-1] <= b[-1] for a, b in zip(load.box, box, strict=True)]):
            return box
    return whole(load.source.shape)


def gathered(asked: Sequence[Stored]) -> list[Load]:
    """Return the reads that serve requests, overlapping ones as one."""
    found: list[Load] = []
    for node in asked:
        request = node.source
        assert isinstance(request, Request)
        new = Load(request.source, request.box, [node])
        for k, old in enumerate(found):
            joined = _joined(old, new)
            if joined is not None:
                found[k] = joined
                break
        else:
            found.append(new)
    return found


def _joined(one: Load, other: Load) -> Load | None:
    """Return one read instead of two, where it reads no more than both."""
    if one.source is not other.source:
        return None
    users = [*one.users, *other.users]
    if one.box == other.box:
        return Load(one.source, one.box, users)
    sides: list[range] = []
    for a, b in zip(one.box, other.box, strict=True):
        if not (isinstance(a, range) and isinstance(b, range)):
            return None
        if a.step == b.step == 1:
            sides.append(range(min(a[0], b[0]), max(a[-1], b[-1]) + 1))
        elif a == b:
            sides.append(a)
        else:
            return None
    box = tuple(sides)
    return (
        Load(one.source, box, users)
        if size_of(box) <= size_of(one.box) + size_of(other.box)
        else None
    )


def within(outer: Box, inner: Box) -> Box:
    """Return where a box lies in what was read of another."""
    return tuple(
        [
            shifted(b, -a[0])[0] if isinstance(a, range) and a.step == 1 else hull(range(len(b)))
            for a, b in zip(outer, inner, strict=True)
        ]
    )
