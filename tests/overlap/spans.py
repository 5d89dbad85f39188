"""Pairs of spans, and the truth about them: the address of every element, all pairs compared."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from xarraylite.overlap.overlap import MAX_WORK, Direction, Span, classify

ITEMSIZES = (1, 2, 4, 8)


def span(array: np.ndarray) -> Span:
    at = array.__array_interface__["data"][0]
    return Span(at, array.shape, array.strides, array.itemsize)


def bounds(span: Span) -> tuple[int, int]:
    """Return the range ``[low, high)`` of addresses a span touches; empty if it has no element."""
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


def addresses(span: Span) -> np.ndarray:
    """Address of every element, in iteration order."""
    at = np.full(span.shape, span.address, np.int64)
    for axis, (n, step) in enumerate(zip(span.shape, span.strides, strict=True)):
        at += (np.arange(n) * step).reshape([-1 if k == axis else 1 for k in range(at.ndim)])
    return at.ravel()


@dataclass(frozen=True)
class Truth:
    disjoint: bool
    same: bool
    ascending: bool
    descending: bool
    folded: bool  # the destination overlaps itself


def truth(dst: Span, src: Span) -> Truth:
    write, read = addresses(dst), addresses(src)
    if not write.size:
        return Truth(True, False, True, True, False)
    order = np.argsort(write, kind="stable")
    write, read = write[order], read[order]
    distance = write[:, None] - read
    meet = (distance > -dst.itemsize) & (distance < src.itemsize)
    return Truth(
        disjoint=not meet.any(),
        same=dst.itemsize == src.itemsize and bool((write == read).all()),
        ascending=not np.triu(meet, 1).any(),  # no earlier write meets a later read
        descending=not np.tril(meet, -1).any(),
        folded=bool((np.diff(write) < dst.itemsize).any()),
    )


def is_nested(span: Span) -> bool:
    reach = span.itemsize
    for step, n in sorted((abs(s), n) for n, s in zip(span.shape, span.strides, strict=True)):
        if n > 1:
            if step < reach:
                return False
            reach += (n - 1) * step
    return True


PLENTY = 1 << 20
"""As much work as exactness takes, for operands as small as these."""


def check(dst: Span, src: Span, max_work: int = MAX_WORK) -> str:
    """Assert the direction is right; return what happened, for counting."""
    direction, real = classify(dst, src, max_work=max_work), truth(dst, src)
    allowed = {
        Direction.DISJOINT: real.disjoint,
        Direction.SAME: real.same,
        Direction.ASCENDING: real.ascending and not real.same and not real.folded,
        Direction.DESCENDING: real.descending and not real.same and not real.folded,
        Direction.COPY: not real.same or real.folded,
    }
    assert allowed[direction], f"{dst} <- {src}: {direction}, {real}"
    if real.disjoint and direction is not Direction.DISJOINT:
        return "missed disjoint" if 0 not in dst.strides else "folded"
    if direction is Direction.DESCENDING and real.ascending:
        return "missed ascending"
    if direction is Direction.COPY and (real.ascending or real.descending) and not real.folded:
        return "missed direction" if is_nested(dst) else "not nested"
    return direction.value


def random_pair(rng: random.Random) -> tuple[Span, Span]:
    """A pair over one iteration space; the destination mostly does not overlap itself."""
    rank = rng.choice((0, 1, 1, 2, 2, 3, 3, 4))
    shape = [rng.choice((1, 2, 2, 3, 3, 4, 5)) for _ in range(rank)]
    size = rng.choice(ITEMSIZES)
    other_size = size if rng.random() < 0.6 else rng.choice(ITEMSIZES)
    most, unit = rng.choice((4, 8, 30, 60)), rng.choice((1, 2, 4))
    if rng.random() < 0.7:
        dst, reach = [], size
        for n in shape:
            step = reach + rng.choice((0, 0, 0, 1, 2, size))
            dst.append(step * rng.choice((1, -1)))
            reach += (n - 1) * step
        order = rng.sample(range(rank), rank)
        shape, dst = [shape[k] for k in order], [dst[k] for k in order]
    else:
        dst = [rng.randint(-most, most) * unit for _ in range(rank)]
    src = rng.choice(
        (
            dst,
            rng.sample(dst, rank),
            [step * rng.choice((1, 2, -1, 1, 0)) for step in dst],
            [rng.randint(-most, most) * unit for _ in range(rank)],
        )
    )
    write = Span(0, tuple(shape), tuple(dst), size)
    read = Span(0, tuple(shape), tuple(src), other_size)
    (low, high), (other_low, other_high) = bounds(write), bounds(read)
    move = rng.randint(low - other_high + 1, high - other_low - 1)  # so that the bounds meet
    return write, read._replace(address=move)
