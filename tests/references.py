"""Counts of references before and after: what a piece of machine code keeps or loses.

What is kept or lost is kept or lost every time the work runs. Caches that fill or are emptied,
and garbage of tests that ran before, move a count once: so the work is repeated, and the
repetition that moved least counts.
"""

import gc
import sys
from collections.abc import Callable, Iterable

REPETITIONS = 4


def moved(work: Callable[[], object], watched: Iterable[object]) -> tuple[list[int], int]:
    """How far the count of each watched object moved, and how many objects more there are.

    The least of several repetitions, after one whose changes do not count.
    """
    things = list(watched)
    work()
    moves: list[list[int]] = []
    objects: list[int] = []
    for _ in range(REPETITIONS):
        gc.collect()
        before, count = [sys.getrefcount(x) for x in things], len(gc.get_objects())
        work()
        gc.collect()
        after = [sys.getrefcount(x) for x in things]
        objects.append(len(gc.get_objects()) - count)
        moves.append([abs(a - b) for a, b in zip(after, before, strict=True)])
    return [min(column) for column in zip(*moves, strict=True)], min(objects)
