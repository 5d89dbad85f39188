"""The pairs that meet, level by level, against the list of all pairs."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from xarraylite.overlap.levels import ABOVE, BELOW, Box, meet, sides

PLENTY = 1 << 20


def strides(rng: random.Random, rank: int) -> list[tuple[int, int]]:
    """Ascending strides and bounds; mostly nested, as those of arrays are."""
    if rng.random() < 0.3:
        return sorted((rng.randint(1, 30), rng.randint(1, 4)) for _ in range(rank))
    found, reach = [], 1
    for _ in range(rank):
        step, bound = reach * rng.choice((1, 1, 2, 3)), rng.randint(1, 4)
        found.append((step, bound))
        reach = step * (bound + 1)
    return found


def search(
    writes: list[tuple[int, int]],
    reads: list[tuple[int, int, int]],
    low: int,
    high: int,
    ordered: bool = True,
    work: int = PLENTY,
    start: Box = (0, 0, 0),
) -> list[Box] | None:
    up = sum(w * m for w, m in writes)
    down = sum(r * n for r, n, _ in reads)
    return meet([(0, 0), *writes], [(0, 0, 0), *reads], low, high, start, up, down, ordered, work)


def drifts(
    writes: list[tuple[int, int]], reads: list[tuple[int, int, int]], low: int, high: int
) -> list[int]:
    """The drift of every pair whose sum lies in the window."""
    found = []
    for x in itertools.product(*[range(bound + 1) for _, bound in writes]):
        written = sum(w * i for (w, _), i in zip(writes, x, strict=True))
        for y in itertools.product(*[range(bound + 1) for _, bound, _ in reads]):
            total = written - sum(r * i for (r, _, _), i in zip(reads, y, strict=True))
            if low <= total <= high:
                found.append(total + sum(s * i for (_, _, s), i in zip(reads, y, strict=True)))
    return found


def test_meet_against_all_pairs() -> None:
    rng = random.Random(30)
    seen: Counter[object] = Counter()
    for _ in range(800):
        writes = strides(rng, rng.randint(0, 2))
        reads = [(r, n, rng.randint(-20, 20)) for r, n in strides(rng, rng.randint(0, 2))]
        low = rng.randint(-60, 60)
        high = low + rng.randint(0, 6)
        exact = drifts(writes, reads, low, high)
        boxes = search(writes, reads, low, high)
        assert boxes is not None
        assert bool(boxes) == bool(exact) or not (writes or reads)
        if writes or reads:
            assert sides(boxes) == (
                BELOW * any(drift < 0 for drift in exact)
                | ABOVE * any(drift > 0 for drift in exact)
            )
        if exact:
            assert min(sum_ + least for sum_, least, _ in boxes) == min(exact)
            assert max(sum_ + most for sum_, _, most in boxes) == max(exact)
        unordered = search(writes, reads, low, high, ordered=False)
        assert unordered is not None
        assert bool(unordered) == bool(boxes)
        # Running out of work is said, and changes nothing else.
        for work in (0, 10, 20):
            assert search(writes, reads, low, high, work=work) in (None, boxes)
        seen[sides(boxes) if exact else "none"] += 1
        seen["bounded"] += search(writes, reads, low, high, work=-20) is None
    assert min(seen[found] for found in ("none", "bounded", BELOW, ABOVE, BELOW | ABOVE)) > 20, seen


def test_what_is_on_no_level_bounds_the_drift() -> None:
    def found(least: int, most: int) -> int:
        boxes = search([(8, 4)], [], 8, 8, start=(0, least, most))
        assert boxes
        return sides(boxes)

    assert found(0, 0) == ABOVE
    assert found(-16, -16) == BELOW
    assert found(-16, 0) == BELOW | ABOVE


def test_strides_of_one_array_share_levels() -> None:
    """Then one value of ``q`` per level is enough, which takes little work."""
    block = [(8, 9), (80, 9), (800, 9)]
    same = [(w, m, 0) for w, m in block]
    stepped = [(16, 4, 8), (80, 9, 0), (2400, 3, 1600)]
    row, column = [(8, 9, 0)], [(80, 9, 0)]
    for reads, work in ((same, 18), (row, 18), (column, 18), (stepped, 45)):
        assert search(block, reads, 560, 560, work=work), reads


def test_work_is_bounded_before_it_is_done() -> None:
    """One stride of one byte against another: a window holds a thousand million values."""
    assert search([(3, 10**12)], [(2, 10**12, 1)], -(10**9), 10**9, work=1000) is None
    assert search([(2, 10**12)], [(2, 10**12, 1)], -(10**9), 10**9, work=1000) is None
