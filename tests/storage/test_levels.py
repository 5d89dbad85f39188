"""The pairs that meet, level by level, against the list of all pairs."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from xarraylite.storage.levels import ABOVE, BELOW, MEETS, UNKNOWN, meet, pair

ALL = MEETS | BELOW | ABOVE


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


def expected(
    writes: list[tuple[int, int]], reads: list[tuple[int, int, int]], low: int, high: int
) -> int:
    found = 0
    for x in itertools.product(*[range(bound + 1) for _, bound in writes]):
        written = sum(w * i for (w, _), i in zip(writes, x, strict=True))
        for y in itertools.product(*[range(bound + 1) for _, bound, _ in reads]):
            total = written - sum(r * i for (r, _, _), i in zip(reads, y, strict=True))
            if low <= total <= high:
                drift = total + sum(s * i for (_, _, s), i in zip(reads, y, strict=True))
                found |= MEETS | (BELOW if drift < 0 else 0) | (ABOVE if drift > 0 else 0)
    return found


def test_meet_against_all_pairs() -> None:
    rng = random.Random(30)
    seen: Counter[int] = Counter()
    for _ in range(600):
        writes = strides(rng, rng.randint(1, 2))
        reads = [(r, n, rng.randint(-20, 20)) for r, n in strides(rng, rng.randint(0, 2))]
        levels = pair([(w, 0, m) for w, m in writes], reads)
        low = rng.randint(-60, 60)
        high = low + rng.randint(0, 6)
        exact = expected(writes, reads, low, high)
        assert meet(levels, low, high, 0, 0, ALL, 1 << 20) == exact
        # A search that stops early has seen what it was to see, or says that it has not.
        for goal in (MEETS, BELOW, BELOW | ABOVE):
            early = meet(levels, low, high, 0, 0, goal, 1 << 20)
            assert early & ~exact == 0
            assert early == exact or early & goal == goal
        bounded = meet(levels, low, high, 0, 0, ALL, 3)
        assert bounded == exact or (bounded & UNKNOWN and bounded & ~(exact | UNKNOWN) == 0)
        seen[exact] += 1
    assert min(seen[found] for found in (0, 3, 5, 7)) > 20, seen


def test_what_is_on_no_level_bounds_the_drift() -> None:
    levels = pair([(8, 0, 4)], [])
    assert meet(levels, 8, 8, 0, 0, ALL, 16) == MEETS | ABOVE
    assert meet(levels, 8, 8, -16, -16, ALL, 16) == MEETS | BELOW
    assert meet(levels, 8, 8, -16, 0, ALL, 16) == ALL


def test_strides_of_one_array_share_levels() -> None:
    block = [(8, 0, 9), (80, 0, 9), (800, 0, 9)]
    same = [(w, m, 0) for w, _, m in block]
    assert [level[:3] for level in pair(block, same)] == [(8, 1, 1), (80, 1, 1), (800, 1, 1)]
    stepped = [(16, 4, 0), (80, 9, 0), (2400, 3, 0)]
    assert [level[:3] for level in pair(block, stepped)] == [(8, 1, 2), (80, 1, 1), (800, 1, 3)]
    row = [(8, 9, 0)]
    assert [level[:3] for level in pair(block, row)] == [(8, 1, 1), (80, 1, 0), (800, 1, 0)]
    column = [(80, 9, 0)]
    assert [level[:3] for level in pair(block, column)] == [(8, 1, 0), (80, 1, 1), (800, 1, 0)]
