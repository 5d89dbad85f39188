"""Budgets hold for every block of a run, wherever it lies among the chunks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.chunked.kept import Kept
from tests.chunked.kept import Sink as Array
from xarraylite.chunked import (
    division,
    explaining,
    leaves,
    operand,
    piece,
    pipeline,
    plan,
    source,
)
from xarraylite.chunked.budget import BESIDES, BudgetError
from xarraylite.chunked.folds import without_kept
from xarraylite.chunked.grid import Grid
from xarraylite.chunked.idle import Idle, Nowhere
from xarraylite.chunked.piece import Piece
from xarraylite.chunked.pipeline import Run
from xarraylite.chunked.storing import node_of, run_into
from xarraylite.chunked.target import Sink
from xarraylite.chunked.trees import Parts, tree_in_memory
from xarraylite.ir.node import Reduce


def exactly(selection: Any, chunk: int, extent: int, pitch: int) -> int:
    """Return what a selection touches, instead of what one like it does at most."""
    return source.covered(selection, chunk, extent)


class Watch(Idle):
    """Compares what was counted for blocks with what each of them needs."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0
        self._before: dict[Any, int] = {}  # chunks of the block that is computed meanwhile

    def see(self, piece: Piece, number: int, times: int, room: tuple[int, int]) -> None:
        kept, need = room
        with (
            mock.patch.object(source, "most", exactly),
            mock.patch.object(operand, "most", exactly),
        ):
            own = piece.walked if kept else piece.need
            assert own + kept <= need, (number, piece.box)
        if kept and self.pieces and isinstance(self.pieces.make, plan.Cutter):
            chunks = dict(part for load in piece.loads for part in explaining._pieces(load))
            before = self._before if number and not piece.alone else {}
            assert sum({**before, **chunks}.values()) <= kept, (number, piece.box)
            self._before = chunks
        self.seen += 1


def watched(expression: Any, chunks: tuple[int, ...], memory: int) -> None:
    """Plan a store with a budget, or with the least that does, and look at every block."""
    root = node_of(expression, None, "store")
    for _ in range(20):
        watch = Watch()
        run = Run(memory, report=watch.begin, cluster=watch)
        try:
            run_into(root, Sink(Nowhere(root, True), chunks, "a plan"), run)
        except BudgetError as error:
            memory = error.least
        else:
            assert watch.seen
            return
    raise AssertionError("no budget does")


_WRITE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: xl.sum(a),
    "two": lambda a, b: xl.sum((a - b) ** 2),
    "corner": lambda a, b: xl.sum(a[1:, 3:]),
    "rows": lambda a, b: xl.sum(a, axis=1),
    "columns": lambda a, b: xl.sum(a * 2, axis=0),
    "ends": lambda a, b: xl.sum(xl.reshape(a, (a.shape[0], 3, -1)), axis=(0, 2)),
    "joined": lambda a, b: xl.sum(xl.concat([a, b])[100:1200, ::2]),
    "product": lambda a, b: xl.prod(a * 0.001 + 1),
    "largest": lambda a, b: xl.max(a[3:, ::2], axis=0),
    "standard": lambda a, b: (a - xl.mean(a, axis=0)) / xl.std(a, axis=0),
    "stencil": lambda a, b: a[2:, 1:-1] + a[:-2, 1:-1] - b[1:-1, 2:],
    "turned": lambda a, b: a.T[:, :400] + b[:900, :400],
    "picked": lambda a, b: a[np.r_[np.zeros(400, int), np.arange(0, 900, 3)]] * 2,
    "few": lambda a, b: xl.open(Kept(np.ones(9), (4,)))[[3, 1, 3]] + b[0, :3],
    "merged": lambda a, b: xl.reshape(a[:900], (450, -1)) + 1,
    "matrix": lambda a, b: a[:, :300] @ b[:300, :40],
}


_CHUNKS = ((100, 250), (901, 17), (7, 900))


@pytest.mark.parametrize(
    ("name", "chunks", "budgets"),
    [
        (name, _CHUNKS[(k + turn) % 3], (1, 4_000_000, 1 << 30)[turn:])  # the least takes longest
        for k, name in enumerate(_WRITE)
        for turn in (0, 1)
    ],
)
def test_no_block_needs_more_than_was_counted(
    name: str, chunks: tuple[int, int], budgets: tuple[int, ...]
) -> None:
    values = np.ones((901, 900))
    e = _WRITE[name](xl.open(Kept(values, chunks)), xl.open(Kept(values, chunks[::-1])))
    for memory in budgets:
        watched(e, tuple([min(64, n) for n in e.shape]), memory)


def test_a_budget_that_a_later_pass_does_not_fit_is_refused_before_anything_is_read() -> None:
    kept = Kept(np.ones((400, 100)), (10, 100))
    a, target = xl.open(kept), np.zeros((400, 100))
    e = a - xl.mean(a, axis=1, keepdims=True) + xl.max(a)
    with pytest.raises(BudgetError, match=r"the least that does is 240000$"):
        xl.store(e, target, memory=150_000)
    assert not kept.read
    xl.store(e, target, memory=240_000)
    assert (target == 1).all()


def test_the_least_may_be_the_one_with_which_results_are_kept_in_memory() -> None:
    """Where they are not, blocks have whole chunks of the target, which need more."""
    e = xl.max(xl.open(Kept(np.ones((8, 44, 121)), (4, 2, 40))), axis=2)
    least = 4 * e.nbytes
    for memory in (1, least - 1):
        with pytest.raises(BudgetError, match=f"the least that does is {least}$"):
            xl.explain(e, Array(np.zeros(e.shape), (4, 22)), memory=memory)
    target = Array(np.zeros(e.shape), (4, 22))
    assert (xl.store(e, target, memory=least).values == 1).all()


@pytest.mark.once
@pytest.mark.parametrize("halo", [1, 2, 3])
def test_blocks_with_a_halo_begin_anywhere_among_chunks(halo: int) -> None:
    """One that begins at a multiple of what it reads does not say that the others do."""
    for n in range(15, 30):
        a = xl.open(Kept(np.ones(n), (4,)))
        watched(a[halo:] + a[:-halo], (2,), 1)


_JOINED: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda e: e,
    "backwards": lambda e: e[::-1, ::-1] * 2,
    "turned": lambda e: e.T + 1,
    "some rows": lambda e: e[5::7],
    "a stencil": lambda e: e[2:] - e[:-2],
    "stretched": lambda e: e[:, 3:4] * xl.asarray(np.ones(64)),
    "another dimension": lambda e: xl.reshape(e, (1, 3000, 64)),
    "joined again": lambda e: xl.concat([e, e], axis=1),
    "stacked": lambda e: xl.stack([e, e]),
    "folded": lambda e: xl.sum(e, axis=1, keepdims=True),
    "columns": lambda e: xl.sum(e.T, axis=0),
    "largest": lambda e: xl.max(e, axis=1),
    "all": lambda e: xl.sum(e * 2),
}


@together("name", _JOINED)
def test_a_block_at_a_joint_is_counted_among_many(name: str) -> None:
    """One of 300 blocks reads a row of an operand whose chunks are large, and no other does."""
    a, tall = np.ones((3000, 64)), np.ones((600, 64))
    many = xl.open(Kept(a, (10, 64)))
    e = xl.concat([many[:103], xl.open(Kept(tall, (600, 64)))[7:8], many[104:]])
    one = _JOINED[name](e)
    with (
        mock.patch.object(plan, "TRIED", 2),
        mock.patch.object(division, "TRIED", 1),
    ):
        watched(one, tuple([min(10, n) for n in one.shape]), 1)


def test_what_writing_large_chunks_takes_is_put_aside() -> None:
    """Each thread that writes has a copy of a chunk, and what it is encoded to."""
    one = np.broadcast_to(np.zeros(()), (8192, 8192))  # 512 MB, which nobody has
    e, half = xl.open(Kept(one, (4096, 4096))) + 1, 4096 * 4096 * 8
    needs = []
    for chunked in (True, False):
        watch = Watch()
        sink = Sink(Nowhere(node_of(e, None, "store"), chunked), (4096, 4096), "a plan")
        with pytest.raises(BudgetError) as caught:
            run_into(node_of(e, None, "store"), sink, Run(half, report=watch.begin, cluster=watch))
        needs.append(caught.value.least)
    assert needs[0] >= 4 * half - BESIDES + 3 * half
    assert needs[1] < needs[0]


@pytest.mark.once
@pytest.mark.parametrize(
    ("shape", "block"),
    [
        ((131, 3173), (69, 3173)),
        ((93, 6685), (92, 233)),
        ((3772, 100), (3484, 28)),  # rows that are shorter than leaves
        ((3, 140_000), (2, 999)),
        ((25, 29, 1030), (7, 13, 190)),
        ((159, 1, 2181, 3), (111, 1, 1517, 3)),
    ],
)
@pytest.mark.parametrize("sliced", [False, True])
def test_leaves_that_wait_are_counted(
    shape: tuple[int, ...], block: tuple[int, ...], sliced: bool
) -> None:
    whole = xl.open(Kept(np.broadcast_to(1.0, tuple([n + 1 for n in shape])), shape))
    inner = tuple([slice(0, n) for n in shape])
    total = xl.sum(whole[inner] if sliced else xl.open(Kept(np.broadcast_to(1.0, shape), shape)))
    node = _node_of(total)
    tree = tree_in_memory(node)
    assert tree is not None
    places = leaves.Places.of(node, tree)
    if places is None:
        assert shape[-1] < 1024
        return
    made, most = leaves.Leaves(node, tree, places), 0
    for box in Grid(shape, block):
        made.take(Piece(box, node, []), np.ones([len(s) for s in box]))
        held = [getattr(leaf, name, None) for leaf in made._open.values()
                for name in ("_rows", "_others", "_values")]  # fmt: skip
        most = max(most, sum([array.size for array in held if array is not None]))
    assert made.result() == math.prod(shape)
    assert most <= places.waiting(block)


def _node_of(total: Any) -> Reduce:
    node = node_of(total, None, "eval")
    assert isinstance(node, Reduce)
    return without_kept(node)


def _parts_of(total: Any) -> Parts:
    """Return how a sum is divided."""
    flat = _node_of(total)
    tree = tree_in_memory(flat)
    assert tree is not None
    plan = Parts.of(flat, tree)
    assert plan is not None
    return plan


@pytest.mark.once
def test_pieces_at_a_joint_are_counted_too() -> None:
    """A piece that reads the end of one operand and the beginning of another has chunks of both."""
    values = np.ones((2000, 900))
    a, b = xl.open(Kept(values, (100, 64))), xl.open(Kept(values, (32, 900)))
    plan = _parts_of(xl.sum(xl.concat([a, b[4:]])))
    with mock.patch.object(division, "_MANY", 2000):
        found = division.divided(plan, Run(6 << 20), None, None)
    assert found is not None
    needs = [found.plan((*span, ())).need + found.kept for span in found.spans]
    assert max(needs) == found.need


@pytest.mark.parametrize("compressed", [False, True])
def test_blocks_that_keep_all_threads_busy_decoding_are_read_one_by_one(
    compressed: bool, tmp_path: Path
) -> None:
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        tmp_path / "a", shape=(64, 64), chunks=(8, 8), dtype="f8",
        compressors="auto" if compressed else None,
    )  # fmt: skip
    array[...] = np.arange(4096.0).reshape(64, 64)
    events: list[str] = []

    def told(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def also(*args: Any, **named: Any) -> Any:
            events.append(name)
            return function(*args, **named)

        return also

    values = np.zeros((64, 64))
    with (
        xl.config(threads=2),
        mock.patch.object(plan, "ENOUGH", 256),
        mock.patch.object(piece, "ENOUGH", 256),
        mock.patch.object(pipeline.ChunkCache, "begin", told("read", pipeline.ChunkCache.begin)),
        mock.patch.object(pipeline, "computed", told("compute", pipeline.computed)),
    ):
        xl.store(xl.open(tmp_path / "a") + 1, Array(values, (8, 64)))
    np.testing.assert_array_equal(values, array[...] + 1)
    assert events[:4] == (
        ["read", "compute"] * 2 if compressed else ["read", "read", "compute", "read"]
    )


@pytest.mark.parametrize(("fold", "memory"), [(xl.max, 1_250_000), (xl.sum, 2_000_000)])
def test_blocks_are_read_alone_where_chunks_would_be_read_again(
    fold: Callable[..., Any], memory: int, engine: str
) -> None:
    """There is room for a block, what reading and computing it takes, and not for another one."""
    kept = Kept(np.random.default_rng(0).normal(size=(1000, 1000)), (250, 250))
    expected = np.asarray(fold(xl.asarray(kept.values), axis=0))
    begin, over, events = pipeline.ChunkCache.begin, pipeline.over, list[str]()

    def read(*args: Any) -> Any:
        events.append("read")
        return begin(*args)

    def compute(*args: Any) -> Any:
        events.append("compute")
        return over(*args)

    target = Array(np.zeros(1000), (250,))
    with (
        mock.patch.object(pipeline.ChunkCache, "begin", read),
        mock.patch.object(pipeline, "over", compute),
    ):
        xl.store(fold(xl.open(kept), axis=0), target, memory=memory)
    assert events[:32] == ["read", "compute"] * 16
    assert kept.moved == kept.values.nbytes
    tolerance = 1e-12 if engine == "reference" else 0  # NumPy adds in an order of its own
    np.testing.assert_allclose(target.values, expected, rtol=tolerance, atol=tolerance)


def test_blocks_are_written_before_the_next_one_is_read_where_there_is_no_room() -> None:
    kept, events = Kept(np.ones((40, 10)), (10, 10)), list[str]()
    begin = pipeline.ChunkCache.begin

    class Slow(Array):
        def __setitem__(self, key: Any, values: Any) -> None:
            time.sleep(0.01)
            super().__setitem__(key, values)
            events.append("written")

    def read(*args: Any) -> Any:
        events.append("read")
        return begin(*args)

    target = Slow(np.zeros((40, 10)), (10, 10))
    e, block = xl.open(kept) + 1, 800
    with pytest.raises(BudgetError, match=f"the least that does is {3 * block}$"):
        xl.store(e, target, memory=3 * block - 1)  # an operand, what a library has of it, a result
    with mock.patch.object(pipeline.ChunkCache, "begin", read):
        xl.store(e, target, memory=3 * block)
        assert events == ["read", "written"] * 4
        events.clear()
        target.times[...] = 0
        xl.store(e, target, memory=4 * block)
    assert events[:2] == ["read", "read"]
    assert (target.values == 2).all()


_PICKED = np.repeat(np.arange(300), 2)
_PICKED[434:436] = 17, 203

_UNEVEN: dict[str, Callable[[Any], Any]] = {
    "picked": lambda a: a[_PICKED] * 2,
    "picked and folded": lambda a: xl.sum(xl.reshape(a[_PICKED] * 2, (-1, 2)), axis=1),
    "merged": lambda a: xl.reshape(xl.reshape(a, (-1, 2, 5))[:, :, 1:], (-1,)) * 2,
}


@pytest.mark.parametrize("name", _UNEVEN)
def test_a_block_that_needs_more_than_others_is_refused_before_anything_is_read(name: str) -> None:
    """Of 300 blocks of what is picked, one has elements of two chunks."""
    kept = Kept(np.arange(300.0), (50,))
    e, expected = _UNEVEN[name](xl.open(kept)), _UNEVEN[name](xl.asarray(kept.values))
    sink = Array(np.zeros(expected.shape), (2 if e.shape[0] == 600 else 1,))
    with pytest.raises(BudgetError, match=r"^store: a block .* reads .* of tests Kept") as told:
        xl.store(e, sink, memory=1)
    least = told.value.least
    with pytest.raises(BudgetError, match=f"budget is {least - 1} bytes .* does is {least}"):
        xl.store(e, sink, memory=least - 1)
    assert not kept.read
    np.testing.assert_array_equal(xl.store(e, sink, memory=least).values, np.asarray(expected))


def test_of_large_chunks_few_are_asked_for_at_once(engine: str) -> None:
    """A budget that a few of them fit does for a row of many."""
    kept = Kept(np.random.default_rng(0).normal(size=(60, 4000)), (60, 100))
    whole, chunk = xl.asarray(kept.values), 60 * 100 * 8
    with mock.patch.object(source, "LARGE", 2 * chunk + 8):
        a = xl.open(kept)
        for e, expected in (
            (xl.sum(a * a, axis=0), xl.sum(whole * whole, axis=0)),
            (a[3:50, ::3] * 2, whole[3:50, ::3] * 2),
        ):
            target = Array(np.zeros(e.shape), (1, 1334)[-e.ndim :])
            xl.store(e, target, memory=10 * chunk)  # ten of two blocks were too many
            # NumPy adds in an order of its own.
            tolerance = 1e-12 if engine == "reference" else 0
            np.testing.assert_allclose(target.values, np.asarray(expected), rtol=tolerance)
    for _, columns in kept.read:
        asked = range(columns.start, columns.stop, columns.step)
        assert asked[-1] // 100 - asked[0] // 100 <= 1


_RESHAPED: dict[str, Callable[[Any, Any], Any]] = {
    "divided": lambda a, b: xl.reshape(a, (3000, 8, 8)) * 2,
    "joined, and divided": lambda a, b: xl.reshape(xl.concat([a[:1507], b]), (-1, 16, 4)) + 1,
    "divided across": lambda a, b: xl.reshape(xl.concat([a[:, 0], b[:, 0]]), (-1, 150)) + 1,
    "divided and folded": lambda a, b: xl.sum(xl.reshape(xl.concat([a, b]), (-1, 8, 8)), axis=1),
    "inside": lambda a, b: xl.sum(xl.concat([a, b[:600].T[:64, :64].T, a[:40]])[:, ::2]),
}


@pytest.mark.parametrize("name", _RESHAPED)
def test_blocks_of_divided_dimensions_are_counted_at_joints(name: str) -> None:
    values = np.ones((3000, 64))
    a, b = xl.open(Kept(values, (10, 64))), xl.open(Kept(values[:600], (600, 64)))
    one = _RESHAPED[name](a, b)
    with (
        mock.patch.object(plan, "TRIED", 2),
        mock.patch.object(division, "TRIED", 1),
    ):
        watched(one, tuple([min(10, n) for n in one.shape]), 1)


@pytest.mark.once
@together("shape", [(700, 1500), (3, 70_001), (300_000,), (5,), (40, 30, 70)])
@together("step", [1, 3, 64])
def test_pieces_are_whole_parts_up_to_multiples_of_a_step(
    shape: tuple[int, ...], step: int
) -> None:
    plan = _parts_of(xl.sum(xl.open(Kept(np.broadcast_to(1.0, shape), shape))))
    plan = replace(plan, rows=2, ahead=1)
    unit, wide = plan.unit, plan.unit * step + step // 2
    spans = plan.spans(wide)
    assert [low for low, _ in spans] + [plan.length] == [0] + [high for _, high in spans]
    for low, high in spans:
        if (high - low) % unit == 0:  # no more of its parts would end before the multiple
            until = -(-(plan.row + low + unit) // wide) * wide - plan.row
            assert high <= until
            assert high + unit > min(until, plan.length)
        else:
            assert high - low < unit
    rows = [plan.rows_of(low, high) for low, high in spans]
    told = {(high - low, len(own)) for (low, high), own in zip(spans, rows, strict=True)}
    found = spans.distinct(np.array([*map(len, rows)]))
    assert len(found) == len(told)
    assert {(high - low, len(plan.rows_of(low, high))) for low, high in found} == told
