"""Plans: what would be read, made and needed, before anything is."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, Sink
from xarraylite.chunked import explaining, idle, pipeline
from xarraylite.chunked import plan as planning

VALUES = np.ones((400, 600))


def test_a_plan_reads_nothing_and_counts_everything() -> None:
    source = Kept(VALUES, (100, 100))
    plan = xl.explain(xl.open(source) * 2 + 1, Sink(np.zeros((400, 600)), (100, 100)))
    assert source.read == []
    (only,) = plan.passes
    assert only.blocks == 1
    assert only.read == only.needed == VALUES.nbytes
    assert only.written == VALUES.nbytes
    assert plan.bytes_moved == 2 * VALUES.nbytes
    assert plan.result_bytes == VALUES.nbytes


def test_reductions_are_passes_before() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    with mock.patch.object(planning, "DEFAULT_BUDGET", 6_000_000):
        plan = xl.explain((a - xl.mean(a, axis=0)) / xl.max(a))
    assert [part.what for part in plan.passes] == [
        "sum over axes (0,)",
        "max over axes (0, 1)",
        "store",
    ]
    assert "sum over axes (0,): 1 block(s)" in str(plan)


def test_what_is_read_again_is_told() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    e = a[1:] - a[:-1]

    def planned(budget: int) -> Any:
        with mock.patch.object(planning, "DEFAULT_BUDGET", budget):
            return xl.explain(e, Sink(np.zeros((399, 600)), (1, 600))).passes[0]

    assert planned(2 << 30).again == 0
    assert planned(2 << 30).blocks == 1
    keeps, small = planned(4_000_000), planned(2_000_000)
    assert keeps.again == 0
    assert 0 < keeps.kept < keeps.peak <= 4_000_000
    assert "for chunks that later blocks need" in str(keeps)
    assert small.again > 0
    assert small.kept == 0
    assert small.peak <= 2_000_000
    assert "times what is needed" in str(small)


def test_many_blocks_are_told_from_some() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    target = Sink(np.zeros((400, 600)), (1, 40))
    with mock.patch.object(planning, "DEFAULT_BUDGET", 2_000_000):
        exact = xl.explain(a * 2, target).passes[0]
        with mock.patch.object(idle, "_CUT", 4):
            told = xl.explain(a * 2, target).passes[0]
    assert told.blocks == exact.blocks > 4
    assert told.read == pytest.approx(exact.read, rel=0.2)
    assert told.written == pytest.approx(exact.written, rel=0.2)


def test_seconds_are_those_of_what_ran_before() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    with mock.patch.object(pipeline, "measured", pipeline.Rate()) as rate:
        with mock.patch.object(explaining, "measured", rate):
            assert 0 < xl.explain(a + 1).passes[0].seconds < 60
            assert "memory alone" in str(xl.explain(a + 1))
            xl.store(a + 1, Sink(np.zeros((400, 600)), (100, 100)))
            once = xl.explain(a + 1).passes[0].seconds
            assert 0 < once < 60
            assert xl.explain(xl.concat([a, a]) + 1).passes[0].seconds == pytest.approx(
                1.5 * once
            )  # read once, written twice
            assert "as fast as what ran before" in str(xl.explain(a + 1))


def test_what_is_folded_twice_is_one_pass() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    e = (a - xl.mean(a)) / xl.std(a)
    with mock.patch.object(planning, "DEFAULT_BUDGET", 6_000_000):
        assert [part.what[:3] for part in xl.explain(e).passes] == ["sum", "sum", "sto"]


def test_bands_are_one_pass() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    e = (a - xl.mean(a, axis=0)) / xl.std(a, axis=0)
    with mock.patch.object(planning, "DEFAULT_BUDGET", 6_000_000):
        (only,) = xl.explain(e, Sink(np.zeros(VALUES.shape), (100, 100))).passes
    assert only.read == VALUES.nbytes
    assert only.block[0] == VALUES.shape[0]
    assert only.blocks > 1


def test_a_drawing_of_chunks() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    text = str(xl.explain(a[:200, 300:] + 1))
    assert "...###\n  ...###\n  ......\n  ......" in text
    assert "chunks (0, 3) to (1, 5)" in text


def test_assignments_are_explained_too() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    plan = xl.explain(xl.zeros((400, 600)), a + 1)
    assert plan.bytes_moved == 2 * VALUES.nbytes
    product = xl.explain(a["i,j"] * a.T["j,k"], "i,k")
    assert product.bytes_moved >= 2 * VALUES.nbytes


def test_a_traced_function_says_what_to_do() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    with pytest.raises(xl.TracedValueError, match="pass it as an argument"):
        xl.jit(lambda x: x + a)(xl.asarray(VALUES))
    np.testing.assert_array_equal(xl.eval(xl.jit(lambda x: x + 1)(a)).numpy(), VALUES + 1)
