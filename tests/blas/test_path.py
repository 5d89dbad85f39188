"""Plans of contractions: orders, groups, copies; integers only."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.blas import calls
from xarraylite.blas.path import Gemm, Sketch, contraction_order, fits, merged_stride, plan_gemm
from xarraylite.blas.stacks import carrier
from xarraylite.dtypes.names import as_dtype
from xarraylite.layout.strided import row_major_strides

pytestmark = pytest.mark.once


def rows(labels: str, **extents: int) -> Sketch:
    """A row-major operand."""
    return Sketch(tuple(labels), row_major_strides([extents[k] for k in labels]))


def plan(left: str, right: str, out: str, order: str | None = None, **extents: int) -> Gemm:
    a, b = rows(left, **extents), rows(right, **extents)
    summed = tuple([k for k in left if k in right and k not in out])
    return plan_gemm(a, b, summed, extents, rows(order or out, **extents), 8)


def test_a_matrix_product_needs_no_copy_however_its_operands_lie() -> None:
    for left, right, out in itertools.product(("ij", "ji"), ("jk", "kj"), ("ik", "ki")):
        gemm = plan(left, right, out, i=30, j=40, k=50)
        assert (gemm.pack_left, gemm.pack_right, gemm.direct) == (None, None, True)
        assert (gemm.rows, gemm.inner, gemm.columns) == (("i",), ("j",), ("k",))
        assert gemm.stack == ()


def test_groups_are_merged_where_they_step_as_one() -> None:
    gemm = plan("ijk", "kl", "ijl", i=30, j=30, k=30, l=30)
    assert (gemm.rows, gemm.stack, gemm.pack_left) == (("i", "j"), (), None)
    gemm = plan("ijkl", "jlmn", "ikmn", i=20, j=20, k=20, l=20, m=20, n=20)
    assert gemm.pack_left == ("i", "k", "j", "l")  # the last label stays the contiguous one
    assert gemm.pack_right is None
    assert gemm.inner == ("j", "l")
    assert gemm.direct


def test_rows_go_to_the_stack_where_that_saves_copies() -> None:
    gemm = plan("ijk", "jl", "ilk", i=64, j=128, k=128, l=128)
    assert (gemm.stack, gemm.rows, gemm.columns) == (("i",), ("k",), ("l",))
    assert (gemm.pack_left, gemm.pack_right, gemm.direct) == (None, None, True)


def test_stacks_follow_the_destination() -> None:
    gemm = plan("abij", "bajk", "baik", a=3, b=4, i=20, j=20, k=20)
    assert gemm.stack == ("b", "a")
    assert gemm.direct


def test_operands_that_are_no_memory_are_packed() -> None:
    extents = {"i": 20, "j": 30, "k": 40}
    lazy = Sketch(("i", "j"), None)
    gemm = plan_gemm(lazy, rows("kj", **extents), ("j",), extents, None, 8)
    assert gemm.pack_left == ("i", "j")
    assert gemm.pack_right is None
    broadcast = Sketch(("i", "j"), (0, 1))
    gemm = plan_gemm(broadcast, rows("kj", **extents), ("j",), extents, None, 8)
    assert gemm.pack_left is not None


def test_results_of_their_own_are_contiguous_where_the_destination_is() -> None:
    extents = {"i": 20, "j": 30, "k": 40}
    a, b = rows("ij", **extents), rows("jk", **extents)
    assert plan_gemm(a, b, ("j",), extents, rows("ik", **extents), 8).result == ("i", "k")
    assert plan_gemm(a, b, ("j",), extents, rows("ki", **extents), 8).result == ("k", "i")


@given(
    st.permutations("ijk"),
    st.permutations("ijk"),
    st.lists(st.sampled_from([1, 2, 3, 5]), min_size=3, max_size=3),
)
def test_merged_strides_are_those_of_a_reshape(
    memory: list[str], group: list[str], sizes: list[int]
) -> None:
    extents = dict(zip("ijk", sizes, strict=True))
    array = np.zeros([extents[k] for k in memory])
    strides = {k: s // 8 for k, s in zip(memory, array.strides, strict=True)}
    moved = array.transpose([memory.index(k) for k in group])
    flat = moved.reshape(-1)
    merged = merged_stride(tuple(group), strides, extents)
    if merged is None:
        assert not np.shares_memory(flat, array)
    elif flat.size > 1:
        assert np.shares_memory(flat, array)
        assert merged == flat.strides[0] // 8


@together(
    ("shape", "strides", "fit"),
    [
        ((3, 4), (4, 1), True),
        ((3, 4), (9, 1), True),
        ((3, 4), (1, 3), True),
        ((3, 4), (1, 7), True),
        ((3, 4), (3, 1), False),  # rows overlap
        ((3, 4), (8, 2), False),
        ((3, 4), (-4, 1), False),
        ((3, 4), (0, 1), False),
        ((1, 4), (0, 7), True),
        ((3, 1), (7, 0), True),
        ((1, 1), (0, 0), True),
    ],
)
def test_what_blas_takes(shape: tuple[int, int], strides: tuple[int, int], fit: bool) -> None:
    extents = dict(zip("ij", shape, strict=True))
    assert fits(Sketch(("i", "j"), strides), ("i",), ("j",), extents) is fit
    assert not fits(Sketch(("i", "j"), None), ("i",), ("j",), extents)


def test_order_by_cost() -> None:
    extents = {"i": 1000, "j": 2, "k": 1000, "l": 2}
    chain = [("i", "j"), ("j", "k"), ("k", "l")]
    assert contraction_order(chain, ("i", "l"), extents) == ((1, 2), (0, 1))
    extents = {"i": 2, "j": 1000, "k": 2, "l": 1000}
    assert contraction_order(chain, ("i", "l"), extents)[0] == (0, 1)
    assert contraction_order([("i",)], (), extents) == ()
    assert contraction_order([("i",), ("i",)], (), extents) == ((0, 1),)


@given(st.integers(3, 9), st.integers(0, 60))
def test_every_order_uses_every_operand_once(count: int, more: int) -> None:
    labels = [f"a{k}" for k in range(count + more)]  # at times more than there are letters
    operands = [(labels[k], labels[k + 1]) for k in range(count - 1)] + [tuple(labels[-more:])]
    left = list(range(count))
    for first, second in contraction_order(operands, (), dict.fromkeys(labels, 2)):
        assert 0 <= first < second < len(left)
        b, a = left.pop(second), left.pop(first)
        left.append(min(a, b))
    assert left == [0]


@together(
    ("dtype", "terms", "expected"),
    [
        ("float64", 1 << 60, "float64"),
        ("complex64", 5, "complex64"),
        ("bool", 1 << 22, "float32"),
        ("int8", 1 << 8, "float32"),
        ("int8", (1 << 8) + 1, "float64"),
        ("uint16", 1 << 21, "float64"),
        ("uint16", (1 << 21) + 1, None),
        ("int32", 1, None),
        ("uint64", 1, None),
    ],
)
def test_carriers_are_exact(dtype: str, terms: int, expected: str | None) -> None:
    found = carrier(as_dtype(dtype), terms)
    assert found == (None if expected is None else as_dtype(expected))


@given(
    st.lists(st.sampled_from([1, 2, 7, 64, 3000, 50_000]), min_size=2, max_size=4),
    st.sampled_from([1, 1000]),
)
def test_pieces_cover_a_product_once(shape: list[int], inner: int) -> None:
    size = math.prod(shape)
    if size > 10 * calls.UNINTERRUPTED:
        return
    total = 0
    boxes = set()
    for piece in calls.pieces(tuple(shape), inner):
        extents = [part.stop - part.start for part in piece]
        assert all(0 <= part.start < part.stop <= n for part, n in zip(piece, shape, strict=True))
        total += math.prod(extents)
        boxes.add(tuple([part.start for part in piece]))
        largest = max(extents[-2:])
        assert math.prod(extents) * inner <= calls.UNINTERRUPTED or largest == 1
    assert total == size


@given(
    st.lists(st.sampled_from([1, 2, 7, 64, 3000]), max_size=3), st.sampled_from([1, 4096, 1 << 18])
)
def test_runs_cover_a_stack_once(stack: list[int], one: int) -> None:
    seen = np.zeros(stack, np.int8) if math.prod(stack) < 1 << 20 else np.zeros(())
    if seen.shape != tuple(stack):
        return
    for part in calls.runs(tuple(stack), one):
        seen[part] += 1
    assert (seen == 1).all()


def test_stacks_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "GRAIN", 500)
    rng = np.random.default_rng(0)
    left, right = rng.random((3, 50, 7, 5)), rng.random((3, 50, 5, 6))
    out = np.empty((3, 50, 7, 6))
    calls.multiply(left, right, out)
    np.testing.assert_allclose(out, left @ right, rtol=1e-13)
    assert len(calls.runs((3, 50), 210)) == 50


@pytest.mark.parametrize(
    ("count", "dtype", "threads"),
    [(100, "float64", 1), (300, "float32", 2), (100, "int64", 2), (100, "complex64", 2)],
)
def test_stacks_done_before_another_thread_has_woken_up_are_not_shared(
    count: int, dtype: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Watched:
        def run(self, parts: Any, make: Any, most: int) -> None:
            asked.append(most)
            pool.run(parts, make, most)

    pool = calls.pool
    monkeypatch.setattr(calls, "pool", Watched())
    a = (np.arange(count * 1024) % 7).reshape(count, 32, 32).astype(dtype)
    out = np.empty_like(a)
    with xl.config(threads=2):
        calls.multiply(a, a, out)
    assert asked == [threads]
    assert np.array_equal(out, a @ a)


def test_cut_products_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "UNINTERRUPTED", 5000)
    rng = np.random.default_rng(0)
    left, right = rng.random((3, 70, 40)), rng.random((3, 40, 90))
    monkeypatch.setattr(calls, "THREADED_FROM", 0)
    out = np.empty((3, 70, 90))
    calls.multiply(left, right, out)
    np.testing.assert_allclose(out, left @ right, rtol=1e-13)
    out[...] = 0
    calls.multiply(left.transpose(0, 2, 1)[:1].transpose(0, 2, 1), right[:1], out[:1])
    np.testing.assert_allclose(out[0], left[0] @ right[0], rtol=1e-13)
