"""Plans: what would be read, made and needed, before anything is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.chunked.kept import Kept, Sink
from xarraylite.chunked import explaining, idle, pipeline, plan
from xarraylite.chunked import target as target_
from xarraylite.chunked.lengths import lengths_of

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


def test_what_is_in_flight_fits_the_budget() -> None:
    """The last block is cut elsewhere than others, and needs no more."""
    values = np.ones((182, 188))
    a, b = xl.open(Kept(values, (30, 74))), xl.open(Kept(values, (65, 82)))
    e = xl.max(a, axis=0) + xl.min(b, axis=0)
    for budget in range(300_000, 700_000, 20_000):
        plan = xl.explain(e, Sink(np.zeros(188), (34,)), memory=budget)
        assert max(part.peak for part in plan.passes) <= budget


def test_reductions_are_passes_before() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    plan = xl.explain((a - xl.mean(a, axis=0)) / xl.max(a), memory="3 MB")
    assert [part.what for part in plan.passes] == [
        "sum over axes (0,)",
        "max over axes (0, 1)",
        "store",
    ]
    assert "sum over axes (0,): " in str(plan)


def test_blocks_of_what_is_folded_have_its_dimensions_in_order() -> None:
    a = xl.open(Kept(VALUES, (100, 150)))
    for axis in (0, 1):
        assert xl.explain(xl.max(a, axis=axis), memory=600_000).passes[0].block == (100, 150)


def test_what_is_read_again_is_told() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    e = a[1:] - a[:-1]

    def planned(budget: int) -> Any:
        target = Sink(np.zeros((399, 600)), (7, 90))
        return xl.explain(e, target, memory=budget).passes[0]

    assert planned(2 << 30).again == 0
    assert planned(2 << 30).blocks == 1
    keeps, small = planned(2_000_000), planned(700_000)
    assert keeps.again == 0
    assert 0 < keeps.kept < keeps.peak <= 2_000_000
    assert "for what later blocks need too" in str(keeps)
    assert small.again > 0
    assert small.peak <= 700_000
    assert "times what is needed" in str(small)


def _stencil(u: Any) -> Any:
    return u[1:-1, 1:-1] * 4 - u[2:, 1:-1] - u[:-2, 1:-1] - u[1:-1, 2:] - u[1:-1, :-2]


_SHARED: dict[str, tuple[Callable[..., Any], tuple[int, int], tuple[tuple[int, int], ...]]] = {
    "chunks of twos and threes": (lambda a, b: a + b, (2, 2), ((2, 2), (3, 3))),
    "wide and tall": (lambda a, b: a - b, (2, 3), ((1, 9), (7, 2))),
    "turned": (lambda a, b: a + b.T, (2, 2), ((3, 2), (5, 1))),
    "other chunks": (lambda a: a * 2, (5, 2), ((2, 3),)),
    "rows into columns": (lambda a: a * 2, (12, 1), ((1, 12),)),
    "stencil": (_stencil, (2, 3), ((2, 3),)),
    "joined": (lambda a, b: xl.concat([a, b]), (3, 2), ((2, 3), (5, 4))),
    "picked": (lambda a: a[np.arange(0, 5000, 7) ** 2 % 6000], (1, 2), ((2, 3),)),
    "largest": (lambda a, b: xl.max(a - b, axis=0), (5, 1), ((2, 3), (4, 1))),
}


@pytest.mark.parametrize("name", _SHARED)
def test_a_larger_budget_never_reads_more(name: str) -> None:
    """From the least that does up to one with which each chunk is read once."""
    write, target, chunks = _SHARED[name]
    ones, unit = np.broadcast_to(1.0, (6000, 6000)), 500
    e = write(*[xl.open(Kept(ones, (unit * c, unit * d))) for c, d in chunks])
    sink = Sink(np.broadcast_to(1.0, e.shape), tuple([unit * n for n in target])[: e.ndim])
    with pytest.raises(xl.SizeError) as caught:
        xl.explain(e, sink, memory=1)
    budget, before = int(str(caught.value).split("least that does is ")[1]), math.inf
    while before > 1:
        passes = xl.explain(e, sink, memory=budget).passes
        assert max(part.peak for part in passes) <= budget
        now = sum([part.read for part in passes]) / sum([part.needed for part in passes])
        assert now <= before
        before = now
        budget += budget // 4


def test_blocks_end_where_chunks_of_all_operands_do() -> None:
    """Where such blocks fit, and chunks cannot be kept."""
    ones = np.broadcast_to(1.0, (6000, 6000))
    a, b = xl.open(Kept(ones, (200, 6000))), xl.open(Kept(ones, (300, 6000)))
    e = a + b + xl.open(ones)  # of which there are no chunks
    part = xl.explain(e, Sink(ones, (200, 6000)), memory="400 MB").passes[0]
    assert part.block == (600, 6000)
    assert part.again == 0


def test_blocks_follow_each_other_along_what_they_share() -> None:
    """Chunks that lie across two blocks of a row are kept to the next one; not a row of them."""
    ones = np.broadcast_to(1.0, (8000, 8000))
    e = xl.open(Kept(ones, (1000, 300))) + 1
    part = xl.explain(e, Sink(ones, (1000, 1000)), memory="100 MB").passes[0]
    assert part.again == 0
    assert 0 < part.kept < 32_000_000  # of 64


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((255, 289, 103), ((45, 131, 19), (84, 78, 30))),  # no piece has whole rows of both
        ((2_586_530,), ((1_233_621,), (764_940,))),  # pieces of parts need more than of leaves
        ((1441, 1765), ((362, 204), (293, 344))),  # the first piece alone begins where chunks do
    ],
)
def test_a_sum_says_which_budget_reads_chunks_once(
    shape: tuple[int, ...], chunks: Sequence[tuple[int, ...]]
) -> None:
    a, b = [xl.open(Kept(np.broadcast_to(1.0, shape), c)) for c in chunks]
    e = xl.sum((a - b) ** 2)
    with pytest.raises(xl.SizeError) as caught:
        xl.explain(e, memory=1)
    least = int(str(caught.value).split("least that does is ")[1])
    small = xl.explain(e, memory=least).passes[0]
    assert small.again > 0
    assert f"times what is needed (once with memory={small.once})" in str(small)
    ample = xl.explain(e, memory=small.once).passes[0]
    assert ample.peak <= small.once
    assert ample.again == 0
    assert "once" not in str(ample)


_GROWN: dict[str, Callable[[Any, Any], Any]] = {
    "two": lambda a, b: a + b,
    "stencil": lambda a, b: a[1:-1, 1:-1] * 4 - a[2:, 1:-1] - b[1:-1, 2:],
    "turned": lambda a, b: a[:500, :500] - b[:500, :500].T,
    "picked": lambda a, b: a[np.arange(0, 500, 7)] + 1,
    "all": lambda a, b: xl.sum(a * 2),
    "both": lambda a, b: xl.sum((a - b) ** 2),
    "rows": lambda a, b: xl.sum(a * b, axis=1),
    "columns": lambda a, b: xl.sum(a * 2, axis=0),
    "largest": lambda a, b: xl.max(a + b, axis=0),
    "matrix": lambda a, b: a[:, :500] @ b[:500],
}


@pytest.mark.usefixtures("compiled")
@given(
    shape=st.tuples(*[st.integers(500, 2400)] * 2),
    parts=st.lists(st.integers(1, 20), min_size=6, max_size=6),
    name=st.sampled_from([*_GROWN]),
)
@settings(max_examples=3)
def test_the_more_memory_there_is_the_less_is_read(
    shape: tuple[int, int], parts: list[int], name: str
) -> None:
    """From the least that does on, no budget is refused."""
    chunks = [
        (-(-shape[0] // m), -(-shape[1] // n)) for m, n in zip(*[iter(parts)] * 2, strict=True)
    ]
    one = np.broadcast_to(1.0, shape)
    e = _GROWN[name](xl.open(Kept(one, chunks[0])), xl.open(Kept(one, chunks[1])))
    own = tuple(map(min, chunks[2], e.shape))
    target = Sink(np.broadcast_to(1.0, e.shape), own) if e.ndim else None
    with pytest.raises(xl.SizeError) as caught:
        xl.explain(e, target, memory=1)
    least = int(str(caught.value).split("least that does is ")[1])
    with pytest.raises(xl.SizeError):
        xl.explain(e, target, memory=least - 1)
    before = math.inf
    for fourths in (4, 5, 7, 10, 18):
        passes = xl.explain(e, target, memory=least * fourths // 4).passes
        assert max([part.peak for part in passes]) <= least * fourths // 4
        read = sum([part.read for part in passes])
        assert read <= before
        before = read


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("chunks", [(8, 2000), (3000, 16), (64, 2000)])
def test_what_is_transposed_is_folded_along_its_chunks(chunks: tuple[int, int]) -> None:
    """With the least budget and more it reads as much as the operand as it lies."""
    a = xl.open(Kept(np.broadcast_to(1.0, (3000, 2000)), chunks))
    for fold, axis in ((xl.sum, 0), (xl.sum, None), (xl.max, 0), (xl.max, 1)):
        turned = fold(xl.permute_dims(a, (1, 0)), axis=axis)
        plain = fold(a, axis=None if axis is None else 1 - axis)
        with pytest.raises(xl.SizeError) as caught:
            xl.explain(plain, memory=1)
        least = int(str(caught.value).split("least that does is ")[1])
        for budget in (least, 2 * least):
            read = [xl.explain(e, memory=budget).passes[0].read for e in (turned, plain)]
            assert read[0] <= read[1]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("fold", [xl.sum, xl.prod, xl.mean, xl.max])
def test_an_operand_is_folded_where_it_was_read(fold: Any, axis: int | None) -> None:
    """A chunk, what a library has of it, and little more is enough to read each once."""
    a = xl.open(Kept(np.broadcast_to(1.0, (65536, 65536)), (2048, 2048)))
    part = xl.explain(fold(a, axis=axis), memory="100 MiB").passes[0]
    assert part.block == (2048, 2048)
    assert part.again == 0
    assert part.peak <= 100 << 20


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("memory", "times"), [("100 MiB", 2), ("114 MiB", 1)])
def test_values_that_are_summed_at_once_need_no_room(memory: str, times: int) -> None:
    """Two chunks of 32 MiB, what a library has of one, and what waits for the end of a row."""
    a, b = (xl.open(Kept(np.broadcast_to(1.0, (65536, 65536)), (2048, 2048))) for _ in "ab")
    part = xl.explain(xl.sum((a - b) ** 2), memory=memory).passes[0]
    assert part.read == times * part.needed


@pytest.mark.parametrize("chunks", [(300, 200), (100, 50)])
def test_blocks_of_what_is_shuffled_are_as_long_as_chunks(chunks: tuple[int, int]) -> None:
    """Though the first two elements lie far apart, or no two of the first ones are neighbours."""
    a = xl.open(Kept(np.broadcast_to(1.0, (3000, 2000)), chunks))
    order = np.random.default_rng(3).permutation(3000)
    order[:2] = 0, 2999
    for e in (a[order] * 1, xl.roll(a, 1, axis=0) + 1, xl.concat([a[:1], a]) + 1):
        assert lengths_of(e.node) == chunks


@pytest.mark.usefixtures("compiled")
def test_a_budget_that_would_read_chunks_once_may_be_too_small() -> None:
    """The one that is tried first is what the first block needs, and one at a joint needs more."""
    kept = [Kept(np.broadcast_to(1.0, (270, 596)), c) for c in ((126, 213), (184, 219))]
    total = xl.sum(xl.concat(list(map(xl.open, kept))))
    with mock.patch.object(explaining, "_TIMES", (1.0,)):
        part = xl.explain(total, memory=3_500_000).passes[0]
    assert part.again > 0
    assert part.peak <= 3_500_000


def test_sums_of_columns_are_narrower_where_rows_of_chunks_are_too_much() -> None:
    kept = Kept(np.broadcast_to(1.0, (256, 4096)), (64, 64))
    e = xl.sum(xl.open(kept), axis=0)
    for budget in (400_000, 1_000_000, 2_000_000, 4_000_000):
        part = xl.explain(e, memory=budget).passes[0]
        assert part.peak <= budget
        assert part.again == 0
    assert (xl.store(e, np.zeros(4096), memory=1_000_000) == 256).all()
    assert kept.elements == kept.values.size


@pytest.mark.parametrize("fold", [xl.sum, xl.max])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_least_budget_is_the_same_whichever_was_given(fold: Any, axis: int) -> None:
    """One of a byte makes few results too many to be kept in memory."""
    e, told = fold(xl.open(Kept(np.broadcast_to(1.0, (2048, 2048)), (256, 256))), axis=axis), set()
    for budget in (1, 300_000):
        with pytest.raises(xl.SizeError, match="least") as caught:
            xl.explain(e, memory=budget)
        told.add(int(str(caught.value).split("least that does is ")[1]))
    (least,) = told
    xl.explain(e, memory=least)


@pytest.mark.usefixtures("compiled")
def test_what_pieces_read_besides_what_the_one_before_has_read() -> None:
    """They end where the chunks of one operand do, and so ask for some of the other one twice."""
    kept = [Kept(np.broadcast_to(1.0, 372_147), (n,)) for n in (84_742, 177_233)]
    total = xl.sum(xl.concat(list(map(xl.open, kept))))
    told = xl.explain(total, memory="69 MB").passes
    assert told[0].again > 0
    assert float(xl.store(total, np.zeros(()), memory="69 MB")) == 2 * 372_147
    assert sum([part.read for part in told]) == sum([k.moved for k in kept])


@pytest.mark.parametrize(("rows", "memory"), [(1, "1.7 MB"), (3, "1.9 MB")])
def test_what_is_picked_is_read_as_often_as_is_told(rows: int, memory: str) -> None:
    kept = Kept(VALUES, (100, 600))
    at = np.random.default_rng(0).integers(0, 400, 30)
    e, target = xl.open(kept)[at] + 1, Sink(np.zeros((30, 600)), (rows, 600))
    told = xl.explain(e, target, memory=memory).passes[0]
    xl.store(e, target, memory=memory)
    assert told.read == kept.moved
    assert told.again > 0


def test_many_blocks_are_told_from_some() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    target = Sink(np.zeros((400, 600)), (1, 40))
    exact = xl.explain(a * 2, target, memory=2_000_000).passes[0]
    with mock.patch.object(idle, "_CUT", 4):
        told = xl.explain(a * 2, target, memory=2_000_000).passes[0]
    assert told.blocks == exact.blocks > 4
    assert told.read == pytest.approx(exact.read, rel=0.2)
    assert told.written == pytest.approx(exact.written, rel=0.2)


def test_of_many_blocks_of_a_fold_the_last_may_be_smaller() -> None:
    """It is not looked at, and its results are fewer."""
    e = xl.max(xl.open(Kept(np.ones((410, 600)), (100, 600))), axis=1)
    with mock.patch.object(idle, "_CUT", 1):
        (part, _) = xl.explain(e + 1, memory=800_000).passes
    assert part.blocks == 9


@pytest.mark.parametrize(("rank", "memory"), [(2, 30_000), (3, 40_000)])
def test_blocks_are_in_strips_where_a_row_of_chunks_is_too_much(rank: int, memory: int) -> None:
    shape, chunks = ((96, 512), (16, 16)) if rank == 2 else ((8, 48, 64), (2, 8, 8))
    kept = Kept(np.random.default_rng(0).normal(size=shape), chunks)
    inner = (slice(1, None),) * rank

    def shifted(a: Any) -> Any:
        return a[inner] * a[(slice(None, -1), *inner[1:])] + a[(*inner[1:], slice(None, -1))]

    e, found = shifted(xl.open(kept)), np.zeros([n - 1 for n in shape])
    with mock.patch.object(plan, "SMALLEST", 1), mock.patch.object(plan, "ENOUGH", 1):
        told = xl.explain(e, Sink(found, chunks), memory=memory).passes[0]
        with mock.patch.object(idle, "_CUT", 4):
            some = xl.explain(e, Sink(found, chunks), memory=memory).passes[0]
        xl.store(e, Sink(found, chunks), memory=memory)
    np.testing.assert_array_equal(found, xl.eval(shifted(xl.asarray(kept.values))).numpy())
    assert told.kept > 0
    assert told.read == kept.moved
    assert some.read == pytest.approx(told.read, rel=0.1)
    assert 1 < told.read / told.needed < 1.5


def test_very_many_blocks_are_not_looked_at_one_by_one(tmp_path: Path) -> None:
    side, box = 1_000_000, plan.Grid.box
    large = np.lib.stride_tricks.as_strided(VALUES, (side, side), (0, 0))
    e = xl.open(Kept(large, (100, 100))) + 1
    with mock.patch.object(plan.Grid, "box", autospec=True, side_effect=box) as seen:
        own = xl.explain(e, tmp_path / "a", chunks=100, memory="4 MB").passes[0]
    assert own.blocks > 1_000_000
    assert own.read == own.written == 8 * side**2
    assert seen.call_count < 5000


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
    plan = xl.explain(e, memory=3_000_000)
    assert [part.what[:3] for part in plan.passes] == ["sum", "sum", "sto"]


def test_bands_are_one_pass() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    e = (a - xl.mean(a, axis=0)) / xl.std(a, axis=0)
    (only,) = xl.explain(e, Sink(np.zeros(VALUES.shape), (100, 100)), memory=6_000_000).passes
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
    e = a["i,j"] * a.T["j,k"]
    assert xl.explain(e, "i,k").bytes_moved >= 2 * VALUES.nbytes
    told = xl.explain(e, "product.zarr", "i,k", chunks=50, memory="20 MB")
    assert "float64[400, 400] into product.zarr" in str(told)
    assert "in chunks of [50, 50]" in str(told)


@pytest.mark.parametrize(
    ("name", "chunks"),
    [("a.npy", None), ("a.npy", (80, 60)), ("a", None), ("a", (80, 60)), ("sharded", None),
     (None, None)],
)  # fmt: skip
def test_a_plan_has_the_blocks_of_the_store(
    tmp_path: Path, name: str | None, chunks: tuple[int, int] | None
) -> None:
    zarr = pytest.importorskip("zarr")
    target: Any = Sink(np.zeros(VALUES.shape), (70, 90))
    if name == "sharded":
        target = zarr.create_array(zarr.storage.MemoryStore(), shape=VALUES.shape, dtype="f8",
                                   chunks=(20, 50), shards=(40, 100))  # fmt: skip
    elif name is not None:
        target = tmp_path / name
    e = xl.open(Kept(VALUES, (100, 100))) + 1
    told = xl.explain(e, target, chunks=chunks, memory="2 MB").passes[0].block
    with mock.patch.object(target_.Sink, "begin", side_effect=KeyError) as begun:
        with pytest.raises(KeyError):
            xl.store(e, target, chunks=chunks, memory="2 MB")
    assert begun.call_args.args == (told,)


def test_a_budget_is_kept_for_many_elements_picked_of_few() -> None:
    few, target = xl.open(np.arange(10.0)), np.zeros((600, 1000))
    at = np.arange(target.size).reshape(target.shape) % 10
    plan = xl.explain(few[at] + 1, target, memory="1 MB")
    assert [part.what for part in plan.passes] == ["store"]
    assert plan.passes[0].peak <= 1_000_000
    np.testing.assert_array_equal(xl.store(few[at] + 1, target, memory="1 MB"), at + 1)


def test_a_plan_is_refused_as_the_store_is() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    for arguments, memory in (((a - xl.max(a, axis=0), Sink(VALUES, (100, 100))), 100_000),):
        texts = []
        for call in (xl.explain, xl.store):
            with pytest.raises(xl.SizeError, match="least that does") as refused:
                call(*arguments, memory=memory)
            texts.append(str(refused.value))
        assert texts[0] == texts[1].replace("store:", "explain:", 1)
    for target, message in (
        (np.zeros((3, 3)), "does not fit a target of shape"),
        (np.zeros(VALUES.shape, "f4"), "does not fit a target of float32"),
        (VALUES.tolist(), "the target must be a path or an array"),
    ):
        with pytest.raises((xl.ShapeError, xl.DTypeError), match=f"^explain: .*{message}"):
            xl.explain(a, target)
    for wrong, error in (
        ((np.zeros(VALUES.shape), "i"), xl.ShapeError),
        (("x.h5",), xl.StorageError),
    ):
        texts = []
        for call in (xl.explain, xl.store):
            with pytest.raises(error) as refused:
                call(a + 1, *wrong)
            texts.append(str(refused.value))
        assert texts[0] == texts[1].replace("store:", "explain:", 1)
    with pytest.raises(TypeError, match="need a target"):
        xl.explain(a + 1, chunks=7)
    with pytest.raises(TypeError, match="kept elsewhere"):
        xl.explain(xl.ones(3) + 1, memory="2 MB")


def test_a_traced_function_says_what_to_do() -> None:
    a = xl.open(Kept(VALUES, (100, 100)))
    with pytest.raises(xl.TracedValueError, match="pass it as an argument"):
        xl.jit(lambda x: x + a)(xl.asarray(VALUES))
    np.testing.assert_array_equal(xl.eval(xl.jit(lambda x: x + 1)(a)).numpy(), VALUES + 1)


def test_what_is_in_memory_is_explained_as_it_is_stored(tmp_path: Path) -> None:
    a, path = xl.asarray(VALUES), tmp_path / "t.zarr"
    for e in (a * 2, a, VALUES, a - xl.mean(a, axis=0)):
        plan = xl.explain(e, path, chunks=(100, 200), memory="1 MB")
        assert [part.what for part in plan.passes] == ["store"]
        assert plan.passes[0].blocks > 1
        assert plan.passes[0].written == plan.result_bytes == VALUES.nbytes
    assert xl.explain(a * 2, Sink(np.zeros((400, 600)), (100, 100))).passes[0].read == 0
    assert xl.explain(xl.open(VALUES) * 2, path).bytes_moved == 2 * VALUES.nbytes
    with pytest.raises(xl.ShapeError, match=r"^explain: .* does not fit a target of shape"):
        xl.explain(a * 2, np.zeros(3))
    for told in (a,), (a["i,j"], path, "j,i"):
        with pytest.raises(TypeError, match=r"labelled ones .* before that\), .* kept elsewhere"):
            xl.explain(*told, chunks=7)
    assert not path.exists()
