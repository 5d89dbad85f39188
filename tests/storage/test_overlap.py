"""The overlap test against brute force, and the engine's promise against copy-first.

Brute force lists the address of every element and compares all pairs.  The engine is modelled
by `assign`: it visits the destination in the order a verdict allows, reads a block of
elements, then writes it; the result must be that of copying the source first, for every
block length.
"""

from __future__ import annotations

import itertools
import random
import statistics
import timeit
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xarraylite.storage import overlap
from xarraylite.storage.overlap import (
    MAX_WORK,
    Span,
    Verdict,
    bounds,
    classify,
    may_share,
    self_overlaps,
)

ITEMSIZES = (1, 2, 4, 8)


def span(array: np.ndarray) -> Span:
    at = array.__array_interface__["data"][0]
    return Span(at, array.shape, array.strides, array.itemsize)


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
    """Assert the verdict is right; return what happened, for counting."""
    verdict, real = classify(dst, src, max_work=max_work), truth(dst, src)
    allowed = {
        Verdict.DISJOINT: real.disjoint,
        Verdict.SAME: real.same,
        Verdict.ASCENDING: real.ascending and not real.same and not real.folded,
        Verdict.DESCENDING: real.descending and not real.same and not real.folded,
        Verdict.COPY: not real.same or real.folded,
    }
    assert allowed[verdict], f"{dst} <- {src}: {verdict}, {real}"
    if real.disjoint and verdict is not Verdict.DISJOINT:
        return "missed disjoint" if 0 not in dst.strides else "folded"
    if verdict is Verdict.DESCENDING and real.ascending:
        return "missed ascending"
    if verdict is Verdict.COPY and (real.ascending or real.descending) and not real.folded:
        return "missed direction" if is_nested(dst) else "not nested"
    return verdict.value


def assign(memory: np.ndarray, dst: Span, src: Span, verdict: Verdict, block: int) -> None:
    """Do what the engine does: bytes out = a function of the bytes in, block by block."""
    write, read = addresses(dst), addresses(src)
    order = np.argsort(write)
    if verdict is Verdict.DESCENDING:
        order = order[::-1]
    elif verdict in (Verdict.DISJOINT, Verdict.SAME):
        order = np.random.default_rng(block).permutation(order)
    elif verdict is Verdict.COPY:
        block = max(1, len(order))
    for first in range(0, len(order), block):
        part = order[first : first + block]
        loaded = memory[read[part, None] + np.arange(src.itemsize)].astype(np.uint64)
        weights = np.arange(1, src.itemsize + 1, dtype=np.uint64)
        value = (loaded * weights).sum(axis=1) + np.uint64(1)
        lanes = np.arange(dst.itemsize)
        out = (value[:, None] * (lanes + 3).astype(np.uint64)) % np.uint64(251)
        memory[write[part, None] + lanes] = out.astype(np.uint8)


def check_assignment(dst: Span, src: Span, blocks: tuple[int, ...] = (1, 2, 3, 7, 1 << 30)) -> None:
    low = min(bounds(dst)[0], bounds(src)[0])
    high = max(bounds(dst)[1], bounds(src)[1])
    dst, src = dst._replace(address=dst.address - low), src._replace(address=src.address - low)
    start = (np.arange(high - low, dtype=np.uint64) * 167 % 251).astype(np.uint8)
    expected = start.copy()
    assign(expected, dst, src, Verdict.COPY, 1)
    verdict = classify(dst, src)
    for block in blocks:
        got = start.copy()
        assign(got, dst, src, verdict, block)
        assert np.array_equal(got, expected), f"{dst} <- {src}: {verdict}, blocks of {block}"


def slices(length: int, steps: tuple[int, ...], counts: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All ``(start, step, count)`` that stay inside ``length``."""
    return [
        (start, step, count)
        for count in counts
        for step in (steps if count > 1 else (1,))
        for start in range(length)
        if 0 <= start + (count - 1) * step < length
    ]


def by_count(found: list[tuple[int, ...]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(a, b) for a in found for b in found if a[2] == b[2]]


@pytest.mark.parametrize("itemsize", [1, 8])
def test_all_pairs_of_slices_of_a_vector(itemsize: int) -> None:
    seen: Counter[str] = Counter()
    steps = (1, -1, 2, -2, 3, -3)
    for (a, p, n), (b, q, _) in by_count(slices(10, steps, (0, 1, 2, 3, 4, 5))):
        dst = Span(a * itemsize, (n,), (p * itemsize,), itemsize)
        src = Span(b * itemsize, (n,), (q * itemsize,), itemsize)
        seen[check(dst, src)] += 1
        if itemsize == 8 and n > 2:
            check_assignment(dst, src, (1, 2))
    assert not {"missed disjoint", "missed direction", "not nested"} & set(seen), seen
    assert {v.value for v in Verdict} <= set(seen)


def test_all_pairs_of_slices_of_a_matrix() -> None:
    """NumPy's corpus: every pair of 2-D slices with 0, 2 or 3 elements, steps of 1 and 2."""
    pairs = by_count(slices(5, (1, -1, 2, -2), (0, 2, 3)))
    seen: Counter[str] = Counter()
    for rows, columns in itertools.product(pairs, pairs):
        ((a, p, n), (b, q, _)), ((c, s, m), (d, t, _)) = rows, columns
        dst = Span(8 * (5 * a + c), (n, m), (40 * p, 8 * s), 8)
        src = Span(8 * (5 * b + d), (n, m), (40 * q, 8 * t), 8)
        verdict = classify(dst, src)
        # Elements of one matrix meet when both coordinates do: order by row, then by column.
        places = [(x, y) for x in range(n) for y in range(m)]
        written = {(a + p * x, c + s * y): (x, y) for x, y in places}
        fetched = [(written.get((b + q * x, d + t * y)), (x, y)) for x, y in places]
        at = {place: at for at, place in written.items()}
        meets = [(at[w], at[r]) for w, r in fetched if w is not None]
        ascending = all(w >= r for w, r in meets)
        descending = all(w <= r for w, r in meets)
        same = len(meets) == n * m and all(w == r for w, r in meets)
        expected = (
            Verdict.DISJOINT
            if not meets
            else Verdict.SAME
            if same
            else Verdict.ASCENDING
            if ascending
            else Verdict.DESCENDING
            if descending
            else Verdict.COPY
        )
        assert verdict is expected, (dst, src)
        seen[verdict.name] += 1
    assert min(seen[v.name] for v in Verdict) > 100, seen


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


def test_random_pairs_against_brute_force() -> None:
    rng = random.Random(20)
    seen: Counter[str] = Counter()
    bounded: Counter[str] = Counter()
    while seen["disjoint"] < 2500 or seen["total"] - seen["disjoint"] < 6000:
        dst, src = random_pair(rng)
        seen[check(dst, src, PLENTY)] += 1
        seen["total"] += 1
        real = truth(dst, src)
        assert self_overlaps(dst) == real.folded, dst
        assert may_share(dst, src, max_work=PLENTY) != real.disjoint, (dst, src)
        # exact but for the bound on work; never "disjoint" for an overlap
        assert may_share(dst, src) or real.disjoint, (dst, src)
        bounded[check(dst, src)] += 1
        bounded["share, missed"] += may_share(dst, src) == real.disjoint
    assert min(seen[v.value] for v in Verdict) > 200, seen
    assert not any(found.startswith("missed") for found in seen), seen
    # What the bound on work costs where no two strides need be related: about 1 in 100.
    missed = sum(n for found, n in bounded.items() if found.startswith("missed"))
    assert max(missed, bounded["share, missed"]) * 70 < seen["total"], bounded


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
    rng = random.Random(26)
    seen: Counter[str] = Counter()
    for _ in range(1500):
        small = views_of_one_array(rng, (30, 9, 6, 5))
        found = check(*small)
        assert not found.startswith(("missed", "not")), small
        seen[found] += 1
        large = views_of_one_array(rng, (5000, 300, 60, 30))
        assert classify(*large) is classify(*large, max_work=PLENTY), large
    assert min(seen[v.value] for v in Verdict) > 50, seen


def test_random_assignments_equal_copy_first() -> None:
    rng = random.Random(21)
    seen: Counter[Verdict] = Counter()
    while sum(seen.values()) < 1500:
        dst, src = random_pair(rng)
        if self_overlaps(dst):
            continue  # refused by assignment
        check_assignment(dst, src)
        seen[classify(dst, src)] += 1
    assert min(seen[v] for v in Verdict) > 40, seen


def test_rank_one_is_exact() -> None:
    rng = random.Random(22)
    for _ in range(6000):
        n = rng.randint(1, 25)
        size, other_size = rng.choice(ITEMSIZES), rng.choice(ITEMSIZES)
        step = rng.choice((1, -1)) * rng.randint(size, 3 * size + 5)
        dst = Span(0, (n,), (step,), size)
        src = Span(rng.randint(-99, 99), (n,), (rng.randint(-25, 25),), other_size)
        assert not check(dst, src, PLENTY).startswith("missed"), (dst, src)
        check(dst, src)


strides_and_shape = st.integers(0, 4).flatmap(
    lambda rank: st.tuples(
        st.tuples(*[st.integers(0, 4)] * rank),
        st.tuples(*[st.integers(-40, 40)] * rank),
        st.tuples(*[st.integers(-40, 40)] * rank),
    )
)


@given(strides_and_shape, st.integers(-200, 200), *[st.sampled_from(ITEMSIZES)] * 2)
def test_any_pair(
    given_dims: tuple[tuple[int, ...], ...], address: int, size: int, other_size: int
) -> None:
    shape, dst_strides, src_strides = given_dims
    dst = Span(0, shape, dst_strides, size)
    src = Span(address, shape, src_strides, other_size)
    check(dst, src)
    real = truth(dst, src)
    assert self_overlaps(dst) or not real.folded
    if not real.folded:
        check_assignment(dst, src, (1, 3))


@given(strides_and_shape, st.integers(-200, 200), st.integers(1 << 40, 1 << 58))
def test_verdict_does_not_depend_on_scale(
    given_dims: tuple[tuple[int, ...], ...], address: int, scale: int
) -> None:
    """Single bytes meet at equal addresses only, so scaled strides give the same verdict."""
    shape, dst_strides, src_strides = given_dims
    small = classify(
        Span(0, shape, dst_strides, 1), Span(address, shape, src_strides, 1), max_work=PLENTY
    )
    large = classify(
        Span(0, shape, tuple(s * scale for s in dst_strides), 1),
        Span(address * scale, shape, tuple(s * scale for s in src_strides), 1),
        max_work=PLENTY,
    )
    assert small is large


V = np.arange(40.0)
M = np.arange(100.0).reshape(10, 10)
T = np.arange(64.0).reshape(4, 4, 4)
Z = np.arange(12) * (1 + 1j)

NAMED = {
    "itself": (M, M, Verdict.SAME),
    "the same strided view": (M[::2, 1:], M[::2, 1:], Verdict.SAME),
    "both reversed": (V[::-1], V[::-1], Verdict.SAME),
    "another buffer": (M, M.copy(), Verdict.DISJOINT),
    "interleaved": (V[::2], V[1::2], Verdict.DISJOINT),
    "checkerboard": (M[::2, ::2], M[1::2, ::2], Verdict.DISJOINT),
    "left and right half": (M[:, :5], M[:, 5:], Verdict.DISJOINT),
    "real and imaginary part": (Z.real, Z.imag, Verdict.DISJOINT),
    "no element": (M[5:5], M[5:5], Verdict.DISJOINT),
    "shift up": (V[1:], V[:-1], Verdict.DESCENDING),
    "shift down": (V[:-1], V[1:], Verdict.ASCENDING),
    "shift up, both reversed": (V[:0:-1], V[-2::-1], Verdict.DESCENDING),
    "shift by rows": (M[1:], M[:-1], Verdict.DESCENDING),
    "shift along the diagonal": (M[:-1, :-1], M[1:, 1:], Verdict.ASCENDING),
    "shift against the diagonal": (M[1:, :-1], M[:-1, 1:], Verdict.DESCENDING),
    "shift of a transposed view": (M.T[1:], M.T[:-1], Verdict.DESCENDING),
    "stencil in three dimensions": (T[1:-1, 1:-1, 1:-1], T[1:-1, 2:, 1:-1], Verdict.ASCENDING),
    "every second to the front": (V[:20], V[::2], Verdict.ASCENDING),
    "spread to every second": (V[::2], V[:20], Verdict.DESCENDING),
    "columns, every second to the front": (M[:, :5], M[:, ::2], Verdict.ASCENDING),
    "complex from its real part": (Z, Z.real, Verdict.ASCENDING),
    "float64 over its float32 halves": (V[:20], V.view("f4")[:20], Verdict.DESCENDING),
    "float32 over float64": (V.view("f4")[:40], V, Verdict.ASCENDING),
    "one element of its own": (V[:1], V.view("f4")[1:2], Verdict.ASCENDING),
    "first element to all": (V, np.broadcast_to(V[:1], 40), Verdict.DESCENDING),
    "last element to all": (V, np.broadcast_to(V[-1:], 40), Verdict.ASCENDING),
    "middle element to all": (V, np.broadcast_to(V[20:21], 40), Verdict.COPY),
    "first row to all": (M, np.broadcast_to(M[0], (10, 10)), Verdict.DESCENDING),
    "first column to all": (M, np.broadcast_to(M[:, :1], (10, 10)), Verdict.DESCENDING),
    "reversed": (V, V[::-1], Verdict.COPY),
    "reversed rows": (M, M[::-1], Verdict.COPY),
    "rows reversed by columns": (M, M[:, ::-1], Verdict.COPY),
    "transposed": (M, M.T, Verdict.COPY),
    "permuted": (T, T.transpose(2, 0, 1), Verdict.COPY),
    "middle out": (V[2:7], V[0:10:2], Verdict.COPY),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_views(name: str) -> None:
    dst, src, expected = NAMED[name]
    assert classify(span(dst), span(src)) is expected
    assert may_share(span(dst), span(src)) == np.shares_memory(dst, src)
    if dst.base is src.base or dst is src:
        check_assignment(span(dst), span(src))


def test_self_overlap() -> None:
    lib = np.lib.stride_tricks
    assert not self_overlaps(span(M.T[::2, ::-3]))
    assert not self_overlaps(span(M[3:3]))
    assert not self_overlaps(Span(0, (2, 3), (3, 2), 1))  # injective without being nested
    assert not self_overlaps(Span(0, (1, 3), (0, 8), 8))
    assert self_overlaps(span(np.broadcast_to(V[:1], 3)))
    assert self_overlaps(span(lib.sliding_window_view(V, 3)))
    assert self_overlaps(Span(0, (3,), (4,), 8))
    assert self_overlaps(Span(0, (4, 3), (2, 3), 1))
    assert not self_overlaps(Span(0, (0, 3), (0, 0), 8))


def test_bounds() -> None:
    assert bounds(Span(1000, (), (), 8)) == (1000, 1008)
    assert bounds(Span(1000, (3, 0), (8, 8), 8)) == (1000, 1000)
    assert bounds(Span(1000, (3, 4), (-8, 0), 8)) == (984, 1008)
    for view in (M[::-1, 3:7], M.T[::3], T[::-2, 1, ::-1]):
        assert bounds(span(view)) == np.lib.array_utils.byte_bounds(view)


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
        seconds = timeit.timeit(lambda d=dst, s=src: classify(d, s), number=1)
        assert seconds < 0.005
        assert classify(dst, src, max_work=0) in (Verdict.COPY, Verdict.DISJOINT)
        assert may_share(dst, src, max_work=0)
    rng = random.Random(24)
    for _ in range(2000):
        dst, src = random_pair(rng)
        check(dst, src, 0)
        assert may_share(dst, src, max_work=0) or not may_share(dst, src, max_work=PLENTY)
        assert self_overlaps(dst, max_work=0) or not self_overlaps(dst, max_work=PLENTY)


def test_time_of_a_remembered_geometry() -> None:
    """At most 5 us at rank 4 on an idle machine; ten times that here, for busy ones."""
    grid = np.zeros((8, 8, 8, 8))
    dst, src = span(grid[1:-1, 1:-1, 1:-1, 1:-1]), span(grid[1:-1, :-2, 1:-1, 2:])
    classify(dst, src)
    runs = timeit.repeat(lambda: classify(dst, src), number=200, repeat=9)
    assert statistics.median(runs) / 200 < 50e-6


def test_time_of_a_geometry_seen_for_the_first_time() -> None:
    """At most 5 us each for views of one array; ten times that here, for busy machines."""
    rng = random.Random(27)
    pairs = [views_of_one_array(rng, (5000, 300, 60, 30)) for _ in range(300)]
    pairs += [(span(dst), span(src)) for dst, src, _ in NAMED.values()]
    times = []
    for dst, src in pairs:
        overlap._remembered.clear()
        times.append(timeit.timeit(lambda d=dst, s=src: classify(d, s), number=1))
    assert statistics.median(times) < 50e-6


def test_few_geometries_are_remembered() -> None:
    for n in range(2 * overlap._MOST_REMEMBERED):
        classify(Span(0, (n + 2,), (8,), 8), Span(8, (n + 2,), (8,), 8))
    assert 0 < len(overlap._remembered) <= overlap._MOST_REMEMBERED
