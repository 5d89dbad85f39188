"""The overlap test against brute force, and the engine's promise against copy-first.

The engine is modelled by `assign`: it visits the destination in the order a direction allows, reads
a block of elements, then writes it; the result must be that of copying the source first, for
every block length.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from tests.overlap.spans import (
    ITEMSIZES,
    PLENTY,
    addresses,
    bounds,
    check,
    random_pair,
    span,
    truth,
)
from xarraylite.layout.strided import Strided
from xarraylite.overlap.overlap import (
    Direction,
    Span,
    classify,
    may_share,
    repeats,
    self_overlaps,
)


def assign(memory: np.ndarray, dst: Span, src: Span, direction: Direction, block: int) -> None:
    """Do what the engine does: bytes out = a function of the bytes in, block by block."""
    write, read = addresses(dst), addresses(src)
    order = np.argsort(write)
    if direction is Direction.DESCENDING:
        order = order[::-1]
    elif direction in (Direction.DISJOINT, Direction.SAME):
        order = np.random.default_rng(block).permutation(order)
    elif direction is Direction.COPY:
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
    assign(expected, dst, src, Direction.COPY, 1)
    direction = classify(dst, src)
    for block in blocks:
        got = start.copy()
        assign(got, dst, src, direction, block)
        assert np.array_equal(got, expected), f"{dst} <- {src}: {direction}, blocks of {block}"


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
    assert {v.value for v in Direction} <= set(seen)


def test_all_pairs_of_slices_of_a_matrix() -> None:
    """NumPy's corpus: every pair of 2-D slices with 0, 2 or 3 elements, steps of 1 and 2."""
    pairs = by_count(slices(5, (1, -1, 2, -2), (0, 2, 3)))
    seen: Counter[str] = Counter()
    for rows, columns in itertools.product(pairs, pairs):
        ((a, p, n), (b, q, _)), ((c, s, m), (d, t, _)) = rows, columns
        dst = Span(8 * (5 * a + c), (n, m), (40 * p, 8 * s), 8)
        src = Span(8 * (5 * b + d), (n, m), (40 * q, 8 * t), 8)
        direction = classify(dst, src)
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
            Direction.DISJOINT
            if not meets
            else Direction.SAME
            if same
            else Direction.ASCENDING
            if ascending
            else Direction.DESCENDING
            if descending
            else Direction.COPY
        )
        assert direction is expected, (dst, src)
        seen[direction.name] += 1
    assert min(seen[v.name] for v in Direction) > 100, seen


def test_random_pairs_against_brute_force() -> None:
    rng = random.Random(20)
    seen: Counter[str] = Counter()
    bounded: Counter[str] = Counter()
    while seen["disjoint"] < 800 or seen["total"] - seen["disjoint"] < 1900:
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
    assert min(seen[v.value] for v in Direction) > 60, seen
    assert not any(found.startswith("missed") for found in seen), seen
    # What the bound on work costs where no two strides need be related: about 1 in 60.
    missed = sum(n for found, n in bounded.items() if found.startswith("missed"))
    assert max(missed, bounded["share, missed"]) * 55 < seen["total"], bounded


def test_random_assignments_equal_copy_first() -> None:
    rng = random.Random(21)
    seen: Counter[Direction] = Counter()
    while sum(seen.values()) < 1500:
        dst, src = random_pair(rng)
        if self_overlaps(dst):
            continue  # refused by assignment
        check_assignment(dst, src)
        seen[classify(dst, src)] += 1
    assert min(seen[v] for v in Direction) > 40, seen


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
def test_direction_does_not_depend_on_scale(
    given_dims: tuple[tuple[int, ...], ...], address: int, scale: int
) -> None:
    """Single bytes meet at equal addresses only, so scaled strides give the same direction."""
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
    "itself": (M, M, Direction.SAME),
    "the same strided view": (M[::2, 1:], M[::2, 1:], Direction.SAME),
    "both reversed": (V[::-1], V[::-1], Direction.SAME),
    "another buffer": (M, M.copy(), Direction.DISJOINT),
    "interleaved": (V[::2], V[1::2], Direction.DISJOINT),
    "checkerboard": (M[::2, ::2], M[1::2, ::2], Direction.DISJOINT),
    "left and right half": (M[:, :5], M[:, 5:], Direction.DISJOINT),
    "real and imaginary part": (Z.real, Z.imag, Direction.DISJOINT),
    "no element": (M[5:5], M[5:5], Direction.DISJOINT),
    "shift up": (V[1:], V[:-1], Direction.DESCENDING),
    "shift down": (V[:-1], V[1:], Direction.ASCENDING),
    "shift up, both reversed": (V[:0:-1], V[-2::-1], Direction.DESCENDING),
    "shift by rows": (M[1:], M[:-1], Direction.DESCENDING),
    "shift along the diagonal": (M[:-1, :-1], M[1:, 1:], Direction.ASCENDING),
    "shift against the diagonal": (M[1:, :-1], M[:-1, 1:], Direction.DESCENDING),
    "shift of a transposed view": (M.T[1:], M.T[:-1], Direction.DESCENDING),
    "stencil in three dimensions": (T[1:-1, 1:-1, 1:-1], T[1:-1, 2:, 1:-1], Direction.ASCENDING),
    "every second to the front": (V[:20], V[::2], Direction.ASCENDING),
    "spread to every second": (V[::2], V[:20], Direction.DESCENDING),
    "columns, every second to the front": (M[:, :5], M[:, ::2], Direction.ASCENDING),
    "complex from its real part": (Z, Z.real, Direction.ASCENDING),
    "float64 over its float32 halves": (V[:20], V.view("f4")[:20], Direction.DESCENDING),
    "float32 over float64": (V.view("f4")[:40], V, Direction.ASCENDING),
    "one element of its own": (V[:1], V.view("f4")[1:2], Direction.ASCENDING),
    "first element to all": (V, np.broadcast_to(V[:1], 40), Direction.DESCENDING),
    "last element to all": (V, np.broadcast_to(V[-1:], 40), Direction.ASCENDING),
    "middle element to all": (V, np.broadcast_to(V[20:21], 40), Direction.COPY),
    "first row to all": (M, np.broadcast_to(M[0], (10, 10)), Direction.DESCENDING),
    "first column to all": (M, np.broadcast_to(M[:, :1], (10, 10)), Direction.DESCENDING),
    "reversed": (V, V[::-1], Direction.COPY),
    "reversed rows": (M, M[::-1], Direction.COPY),
    "rows reversed by columns": (M, M[:, ::-1], Direction.COPY),
    "transposed": (M, M.T, Direction.COPY),
    "permuted": (T, T.transpose(2, 0, 1), Direction.COPY),
    "middle out": (V[2:7], V[0:10:2], Direction.COPY),
}


@together("name", NAMED)
def test_named_views(name: str) -> None:
    dst, src, expected = NAMED[name]
    assert classify(span(dst), span(src)) is expected
    assert may_share(span(dst), span(src)) == np.shares_memory(dst, src)
    if dst.base is src.base or dst is src:
        check_assignment(span(dst), span(src))


def test_layouts_repeat_where_bytes_are_shared() -> None:
    rng = random.Random(23)
    seen: Counter[bool] = Counter()
    for _ in range(400):
        shape = tuple([rng.randint(0, 5) for _ in range(rng.randint(0, 3))])
        strides = tuple([rng.randint(-9, 9) for _ in shape])
        found = repeats(Strided(shape, strides))
        seen[found] += 1
        for size in (1, 2, 8, 16):
            assert self_overlaps(Span(0, shape, tuple([s * size for s in strides]), size)) == found
    assert min(seen.values()) > 40


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
