"""What the overlap test takes: how much of it is exact within its bound, work, memory."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from tests.overlap.spans import PLENTY, check, random_pair, span
from xarraylite.overlap import levels, overlap
from xarraylite.overlap.overlap import (
    Direction,
    Span,
    classify,
    may_share,
    self_overlaps,
)


def cut(rng: random.Random, length: int, count: int, steps: tuple[int, ...]) -> slice:
    """A slice of ``count`` elements, anywhere inside ``length``."""
    step = rng.choice(steps)
    if (count - 1) * abs(step) >= length:
        step = 1
    first = rng.randint(0, length - 1 - (count - 1) * abs(step))
    last = first + (count - 1) * abs(step)
    return (
        slice(first, last + 1, step)
        if step > 0
        else slice(last, first - 1 if first else None, step)
    )


def views_of_one_array(rng: random.Random, sizes: tuple[int, ...]) -> tuple[Span, Span]:
    """Two views as indexing makes them: sliced, stepped, reversed, permuted, broadcast, cast."""
    rank = rng.randint(1, 4)
    array = np.empty([rng.randint(1, sizes[rank - 1]) for _ in range(rank)], rng.choice("bdD"))
    axes = rng.choice((list(range(rank)), rng.sample(range(rank), rank)))
    steps = rng.choice(((1,), (1, -1), (1, 1, 2, -1, 3, -2)))
    counts = [rng.randint(1, min(array.shape[k], array.shape[axes[k]])) for k in range(rank)]
    write, read = [slice(None)] * rank, [slice(None)] * rank
    for k, (axis, count) in enumerate(zip(axes, counts, strict=True)):
        write[k] = cut(rng, array.shape[k], count, steps)
        read[axis] = cut(rng, array.shape[axis], rng.choice((count, count, count, 1)), steps)
    dst, src = array[tuple(write)], array[tuple(read)].transpose(axes)
    if array.dtype.kind == "c":
        dst, src = rng.choice((dst, dst, dst.real)), rng.choice((src, src.real, src.imag))
    return span(dst), span(np.broadcast_to(src, dst.shape))


def test_views_of_one_array_are_exact_within_the_bound() -> None:
    """All but a few in 1000, where rank is 4 and most dimensions have steps of their own."""
    rng = random.Random(26)
    seen: Counter[str] = Counter()
    for _ in range(1500):
        small = views_of_one_array(rng, (30, 9, 6, 5))
        found = check(*small)
        seen[found] += 1
        seen["inexact"] += found.startswith(("missed", "not"))
        assert not check(*small, max_work=PLENTY).startswith(("missed", "not")), small
        large = views_of_one_array(rng, (5000, 300, 60, 30))
        exact = classify(*large, max_work=PLENTY)
        inexact = classify(*large) is not exact
        assert not inexact or (large[0].shape.count(1) == 0 and len(large[0].shape) == 4), large
        assert may_share(*large) == may_share(*large, max_work=PLENTY), large
        seen["inexact"] += inexact
    assert seen["inexact"] <= 9, seen
    assert min(seen[v.value] for v in Direction) > 50, seen


def test_slices_with_equal_steps_are_exact() -> None:
    """Blocks, shifts, reversals, permutations, and one step for all dimensions: always exact."""
    rng = random.Random(29)
    for _ in range(600):
        rank = rng.randint(1, 4)
        array = np.empty([rng.randint(2, (5000, 300, 60, 30)[rank - 1]) for _ in range(rank)], "d")
        counts = [rng.randint(1, n) for n in array.shape]
        step = rng.choice(((1,), (1, -1), (2, -2)))
        dst, src = (
            array[tuple(cut(rng, n, c, step) for n, c in zip(array.shape, counts, strict=True))]
            for _ in range(2)
        )
        for pair in ((span(dst), span(src)), (span(dst.T), span(src.T))):
            assert classify(*pair) is classify(*pair, max_work=PLENTY), pair
            assert may_share(*pair) == may_share(*pair, max_work=PLENTY), pair


def hard_pairs() -> list[tuple[Span, Span]]:
    """Rank 6, no two strides related: subset-sum problems."""
    rng = random.Random(23)
    pairs = []
    for _ in range(20):
        shape = tuple(rng.randint(5, 9) for _ in range(6))
        dst = Span(0, shape, tuple(rng.randint(10**5, 10**6) for _ in shape), 1)
        src = Span(0, shape, tuple(rng.randint(10**5, 10**6) for _ in shape), 1)
        pairs.append((dst, src._replace(address=rng.randint(0, 10**6))))
    return pairs


def test_work_is_bounded_and_running_out_is_conservative() -> None:
    for dst, src in hard_pairs():
        assert classify(dst, src, max_work=0) in (Direction.COPY, Direction.DISJOINT)
        assert may_share(dst, src, max_work=0)
    rng = random.Random(24)
    for _ in range(2000):
        dst, src = random_pair(rng)
        check(dst, src, 0)
        assert may_share(dst, src, max_work=0) or not may_share(dst, src, max_work=PLENTY)
        assert self_overlaps(dst, max_work=0) or not self_overlaps(dst, max_work=PLENTY)


def lines_run(question: Callable[[Span, Span], object], dst: Span, src: Span) -> int:
    """How many lines of the analysis a pair seen for the first time takes."""
    overlap._remembered.clear()
    overlap._shared.clear()
    count = 0

    def local(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return local

    def enter(frame: FrameType, event: str, arg: object) -> Any:
        return local if frame.f_code.co_filename in (overlap.__file__, levels.__file__) else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        question(dst, src)
    finally:
        sys.settrace(before)
    return count


def test_few_lines_are_run_for_any_pair_up_to_rank_4() -> None:
    """The bound on time without a clock: 5 us are about 400 lines of plain arithmetic."""
    rng = random.Random(28)
    pairs = [random_pair(rng) for _ in range(1200)]
    pairs += [views_of_one_array(rng, (5000, 300, 60, 30)) for _ in range(400)]
    wild = [rng.choices((-1, 1), k=8) for _ in range(400)]
    for signs in wild:  # 8 unrelated strides, more to search than any time would allow
        strides = [sign * rng.randint(1, 1000) for sign in signs]
        shape = tuple(rng.choices((2, 5, 40), k=4))
        dst = Span(0, shape, tuple(strides[:4]), 8)
        pairs.append((dst, Span(rng.randint(-999, 999), shape, tuple(strides[4:]), 8)))
    most = {
        question: max(lines_run(question, *pair) for pair in pairs)
        for question in (classify, may_share)
    }
    assert 150 < most[may_share] < 360, most
    assert 150 < most[classify] < 400, most


def test_few_geometries_are_remembered() -> None:
    for n in range(2 * overlap._MOST_REMEMBERED):
        classify(Span(0, (n + 2,), (8,), 8), Span(8, (n + 2,), (8,), 8))
    assert 0 < len(overlap._remembered) <= overlap._MOST_REMEMBERED
