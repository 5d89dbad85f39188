"""Segment reductions: rows of any length, sums no worse than NumPy's, same bits on any threads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.arrays.expression import XExpression
from xarraylite.codegen.emit.lanes import LANES
from xarraylite.dtypes.names import as_dtype
from xarraylite.ir import build
from xarraylite.ir.node import SegmentReduce
from xarraylite.operands.gathers import index_leaf
from xarraylite.ops.reductions import ANY, MAX, MIN, PROD, SUM, Reduction

Array = np.ndarray[Any, np.dtype[Any]]


def segments(op: Reduction, values: Any, lengths: Any) -> XExpression:
    ends = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    offsets = index_leaf(ends, int(ends[-1]) + 1)
    return XExpression(build.segment_reduce(op, xl.asarray(values).node, offsets))


def naive(fold: Callable[..., Any], values: Array, lengths: Any) -> list[Any]:
    ends = np.cumsum(lengths)
    return [fold(values[e - n : e], axis=0) for n, e in zip(lengths, ends, strict=True)]


EDGES = [0, 1, 2, LANES - 1, LANES, LANES + 1, 2 * LANES, 47, 48, 255, 256, 257, 300]
LONG = [2047, 2048, 2049, 4097, 10_000]


@together("lengths", [EDGES, EDGES[::-1], LONG, [0, 0], [5], [0, 3, 0]])
@together("dtype", ["float64", "int32"])
def test_lengths(lengths: list[int], dtype: str) -> None:
    values = (np.arange(sum(lengths)) % 17 - 8).astype(dtype)
    assert segments(SUM, values, lengths).tolist() == naive(np.sum, values, lengths)
    filled = np.asarray(lengths) > 0
    rows = [n for n in lengths if n]
    assert segments(MAX, values, lengths).numpy()[filled].tolist() == naive(np.max, values, rows)


@pytest.mark.parametrize("lengths", [[0, 3, 0, 1], [0, 0]])
def test_empty_rows_are_the_identity(lengths: list[int]) -> None:
    values = np.ones(sum(lengths))
    empty = np.asarray(lengths) == 0
    for op, identity in ((SUM, 0), (PROD, 1), (MIN, np.inf), (MAX, -np.inf)):
        assert (segments(op, values, lengths).numpy()[empty] == identity).all()
    assert not segments(ANY, values > 0, lengths).numpy()[empty].any()


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1,), (4, 1, 2)])
def test_columns(shape: tuple[int, ...]) -> None:
    lengths = [2, 0, 60, 9, 1]
    values = np.random.default_rng(0).random((sum(lengths), *shape))
    want = np.array(naive(np.sum, values, lengths))
    np.testing.assert_allclose(segments(SUM, values, lengths), want, rtol=1e-14)
    columns = xl.asarray(values, layout="column_major")
    np.testing.assert_allclose(segments(SUM, columns, lengths), want, rtol=1e-14)
    assert segments(SUM, columns, lengths).shape == (5, *shape)


def test_strided_and_tiled_operands_and_destinations() -> None:
    lengths = [2, 0, 5, 9]
    values = np.arange(64.0).reshape(32, 2)
    half = xl.asarray(values)[::-2]
    want = np.array(naive(np.sum, values[::-2], lengths))
    assert segments(SUM, half, lengths).tolist() == want.tolist()
    tiled = xl.asarray(values[::-2], layout="{1,0:T(4,2)}")
    assert segments(SUM, tiled, lengths).tolist() == want.tolist()
    assert segments(SUM, tiled + half, lengths).tolist() == (2 * want).tolist()
    out = xl.zeros((8, 2))
    out[::-2] = segments(SUM, half, lengths)
    assert out[::-2].tolist() == want.tolist()
    assert not out[::2].numpy().any()
    wide = xl.zeros((4, 2), layout="{1,0:T(4,2)}")
    wide[...] = segments(SUM, half, lengths)
    assert wide.tolist() == want.tolist()


def test_a_destination_that_is_read() -> None:
    a = xl.asarray(np.arange(10.0))
    a[:3] = segments(SUM, a, [2, 0, 8])
    assert a.tolist() == [1, 0, 44, 3, 4, 5, 6, 7, 8, 9]
    b = xl.asarray(np.arange(10.0))
    b[1:] = segments(SUM, (b * 2)[:9], [1] * 9) + b[1:]
    assert b.tolist() == [0, *[3 * k + 1 for k in range(9)]]


def test_inside_expressions_it_is_evaluated_once() -> None:
    values = np.arange(6.0)
    e = segments(SUM, values, [2, 4])
    with xl.config(engine="compiled"):
        plan = xl.explain(e * e + e)
    assert len(plan.temporaries) == 1
    assert plan.kernels == 2
    assert "segments" in str(plan)
    assert (e * e + e).tolist() == [2.0, 14 * 14 + 14]


def test_long_bodies() -> None:
    lengths = [3, 50, 0, 7]
    values = np.random.default_rng(1).random(60)
    e, want = xl.asarray(values), values
    for k in range(30):
        e, want = e * 0.5 + k, want * 0.5 + k
    found = segments(SUM, xl.exp(-xl.sin(e)), lengths)
    np.testing.assert_allclose(found, naive(np.sum, np.exp(-np.sin(want)), lengths))


def test_gathered_and_generated_values() -> None:
    place = np.array([3, 1, 2, 0, 3])
    values = np.arange(4.0) * 10
    taken = xl.asarray(values)[place]
    assert XExpression(segments(SUM, taken + 1, [2, 3]).node).tolist() == [42, 53]
    counted = build.iota(xl.asarray(np.zeros(5)).map, np.dtype("i8"))
    node = segments(SUM, XExpression(counted), [1, 4]).node
    assert XExpression(node).tolist() == [0, 10]


def test_sums_are_at_least_as_accurate_as_numpys() -> None:
    rng = np.random.default_rng(2)
    for dtype in (np.float32, np.float64):
        for n in (5, 8, 9, 17, 40, 47, 48, 100, 129, 1000, 5000):
            count = 500
            values = rng.normal(size=n * count).astype(dtype)
            rows = values.reshape(count, n)
            exact = np.array([math.fsum(row.astype(float)) for row in rows])
            ours = np.asarray(segments(SUM, values, [n] * count)).astype(float)
            theirs = np.add.reduceat(values, np.arange(0, n * count, n)).astype(float)
            assert np.abs(ours - exact).sum() <= np.abs(theirs - exact).sum() * 1.05, (dtype, n)


def test_infinities_and_nan() -> None:
    for n in (3, 20, 60, 3000):
        for bad in (np.inf, -np.inf, np.nan):
            values = np.ones(2 * n)
            values[n // 2] = bad
            found = segments(SUM, values, [n, n]).numpy()
            np.testing.assert_array_equal(found, [bad, n])
            found = segments(MAX, values, [n, n]).numpy()
            np.testing.assert_array_equal(found, [max(bad, 1) if bad == bad else bad, 1])
    # What lies beyond a row is read, but takes no part.
    assert segments(PROD, [2.0, np.nan, *[3.0] * 20], [1, 1, 20]).numpy()[::2].tolist() == [
        2,
        3**20,
    ]


@together("dtype", ["bfloat16", "float16", "complex64", "int4", "bool", "uint8"])
def test_dtypes(dtype: str) -> None:
    lengths = [0, 1, 7, 70]
    values = (np.arange(78) % 2).astype(as_dtype(dtype))
    op, fold = (ANY, np.logical_or.reduce) if dtype == "bool" else (PROD, np.prod)
    found = np.asarray(segments(op, values, lengths))
    assert found.dtype == values.dtype
    want = naive(fold, values.astype(complex), lengths)
    assert found.astype(complex).tolist() == [complex(value) for value in want]


def test_threads_and_pieces_change_no_bit() -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 40, 60_000)
    lengths[[5, 30_000]] = 200_000
    values = rng.random(int(lengths.sum()))
    e = segments(SUM, values, lengths)
    found = []
    for threads in (1, 2, 3):
        with xl.config(threads=threads):
            found.append(e.numpy().tobytes())
    assert len(set(found)) == 1
    np.testing.assert_allclose(e, naive(np.sum, values, lengths), rtol=1e-13)


@pytest.mark.usefixtures("compiled")
def test_equal_kinds_share_a_program_whatever_the_lengths() -> None:
    out = xl.empty(2)
    for lengths in ([1, 3], [4, 0]):
        xl.noalias(out)[...] = segments(SUM, np.arange(4.0), lengths)
    before = xl.cache_info().kernels
    xl.noalias(out)[...] = segments(SUM, np.arange(4.0), [2, 2])
    assert out.tolist() == [1, 5]
    assert xl.cache_info().kernels == before


def test_the_node() -> None:
    node = segments(SUM, np.ones((4, 2)), [1, 3]).node
    assert isinstance(node, SegmentReduce)
    assert (node.shape, node.axes, node.keepdims) == ((2, 2), (0,), False)
    assert node.args == (node.arg, node.offsets)


def test_late_operands() -> None:
    a = xl.asarray(np.arange(4.0))
    later = xl.late(segments(SUM, a, [1, 3]))
    a += 1
    assert later.tolist() == [1, 9]
