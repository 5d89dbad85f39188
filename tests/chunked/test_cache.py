"""Chunks that several blocks need are read once where the budget allows."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, Sink
from xarraylite.chunked import bands, division, plan
from xarraylite.chunked.cache import ChunkCache, Held
from xarraylite.chunked.loads import Load
from xarraylite.chunked.source import StoredArray
from xarraylite.chunked.tasks import Threads

VALUES = np.random.default_rng(0).normal(size=(120, 130))


@pytest.fixture(autouse=True)
def small_blocks() -> object:
    with (
        mock.patch.object(plan, "ENOUGH", 1),
        mock.patch.object(bands, "ENOUGH", 1),
        mock.patch.object(plan, "SMALLEST", 1),
        mock.patch.object(division, "_MANY", 1),
    ):
        yield


@pytest.mark.parametrize("chunks", [(20, 30), (7, 130), (50, 11)])
def test_a_stencil_reads_every_chunk_once(chunks: tuple[int, int]) -> None:
    kept = Kept(VALUES, chunks)
    u, v = xl.open(kept), VALUES
    e = u[1:-1, 1:-1] * 4 - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
    expected = v[1:-1, 1:-1] * 4 - v[:-2, 1:-1] - v[2:, 1:-1] - v[1:-1, :-2] - v[1:-1, 2:]
    target = np.zeros(expected.shape)
    xl.store(e, Sink(target, (20, 30)), memory=400_000)
    np.testing.assert_array_equal(target, expected)
    assert len(kept.read) > 10
    assert kept.elements == VALUES.size


@pytest.mark.parametrize(
    ("fold", "axis", "memory"),
    [(xl.max, None, 140_000), (xl.any, 0, 140_000), (xl.max, 1, 140_000), (xl.sum, None, 200_000)],
)
def test_folds_of_a_stencil_read_every_chunk_once(
    fold: Any, axis: int | None, memory: int, engine: str
) -> None:
    """Also pieces of sums end where what a stencil reads past their end does."""
    kept = Kept(VALUES, (20, 30))
    u, v = xl.open(kept), xl.asarray(VALUES)
    e = fold(u[1:-1, 1:-1] * 4 - u[:-2, 1:-1] - u[2:, 2:], axis=axis)
    part = xl.explain(e, memory=memory).passes[0]
    target = np.zeros(e.shape, e.dtype)
    xl.store(e, target, memory=memory)
    expected = xl.eval(fold(v[1:-1, 1:-1] * 4 - v[:-2, 1:-1] - v[2:, 2:], axis=axis)).numpy()
    np.testing.assert_allclose(target, expected, rtol=1e-12 if engine == "reference" else 0)
    assert part.read == kept.moved
    assert part.again == 0
    assert part.blocks > 1 or fold is xl.sum  # which fits as a whole, read alone


def test_a_sum_along_rows_reads_every_chunk_once(engine: str) -> None:
    x = np.random.default_rng(1).normal(size=(900, 900))
    kept = Kept(x, (300, 100))
    total = float(xl.sum(xl.open(kept) * 0.5))
    assert kept.elements == x.size
    if engine != "reference":
        assert total == float(xl.sum(xl.asarray(x) * 0.5))


def test_pieces_of_a_sum_end_where_chunks_do(engine: str) -> None:
    """Parts of 131072 end with every 256th row of 1536, so that no chunk is read for two pieces."""
    if engine == "reference":
        pytest.skip("NumPy adds in an order of its own, of which no part is a piece")
    values = np.random.default_rng(3).normal(size=(1024, 1536))
    kept = Kept(values, (256, 512))
    with mock.patch.object(division, "_MANY", 1 << 19):
        found = xl.eval(xl.sum(xl.open(kept))).numpy()
    assert found.tobytes() == xl.sum(xl.asarray(values)).numpy().tobytes()
    rows = [(key[0].start, key[0].stop) for key in kept.read]
    assert rows == [(k, k + 256) for k in range(0, 1024, 256)]


@pytest.mark.parametrize("compressors", [None, "blosc", "zstd"])
@pytest.mark.parametrize("first", [0, 37])
def test_pieces_begin_with_what_the_one_before_has_left(
    first: int, compressors: str | None, tmp_path: Path, engine: str
) -> None:
    """Parts of 131072 end in the middle of rows of 700, and rows where chunks do not."""
    zarr = pytest.importorskip("zarr")
    x = np.random.default_rng(4).normal(size=(2000, 700))
    codec = {"blosc": zarr.codecs.BloscCodec(cname="lz4"), "zstd": "auto", None: None}[compressors]
    made = zarr.create_array(
        tmp_path / "x", shape=x.shape, chunks=(300, 200), dtype="f8", compressors=codec
    )
    made[...] = x
    kept, whole = Kept(x, (300, 200)), xl.asarray(x)
    with mock.patch.object(division, "_MANY", 1 << 18):
        for opened in (xl.open(made), xl.open(kept)):
            for axis in (None, 0, 1):
                a, b = opened[first:], whole[first:].copy()
                found, expected = xl.eval(xl.sum(a, axis=axis)), xl.eval(xl.sum(b, axis=axis))
                if engine == "reference":
                    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9)
                else:
                    assert found.numpy().tobytes() == expected.numpy().tobytes(), axis
        kept.read.clear()
        xl.eval(xl.sum(xl.open(kept)[first:]))
        assert engine == "reference" or kept.elements == x[first:].size
        plan = xl.explain(xl.sum(xl.open(made)[first:]))
    assert plan.passes[0].again <= (0 if compressors else 700 * 8 * plan.passes[0].blocks)


@pytest.mark.parametrize(("memory", "most"), [(2_000_000, 1.0), (500_000, 2.9)])
def test_passes_hold_the_chunks_that_they_share(memory: int, most: float, engine: str) -> None:
    kept = Kept(VALUES, (20, 30))
    a = xl.open(kept)
    e = (a - xl.mean(a)) / xl.std(a[:, ::40]) + xl.max(a)
    plan = xl.explain(e, Sink(np.zeros(e.shape), (20, 30)))
    target = np.zeros(e.shape)
    xl.store(e, Sink(target, (20, 30)), memory=memory)
    assert VALUES.size <= kept.elements <= most * VALUES.size
    assert len(plan.passes) == 5
    assert sum(p.read for p in plan.passes) == VALUES.nbytes
    assert plan.passes[-1].held == VALUES.nbytes
    x = xl.asarray(VALUES)
    expected = xl.eval((x - xl.mean(x)) / xl.std(x[:, ::40]) + xl.max(x)).numpy()
    np.testing.assert_allclose(target, expected, rtol=1e-12 if engine == "reference" else 0)


@pytest.mark.parametrize(
    "box",
    [
        (range(3, 100, 7), range(2, 130)),
        (range(20, 40), range(30, 60)),
        (range(1, 120, 50), range(7, 99, 31)),
    ],
)
@pytest.mark.parametrize("room", [100_000, 10_000])
def test_boxes_of_any_step(box: tuple[range, range], room: int) -> None:
    source, held = StoredArray(Kept(VALUES, (20, 30)), "kept"), Held()
    held.sources = frozenset([id(source)])
    held.fit(room)
    cache = ChunkCache(100_000 - room, held)
    expected = VALUES[np.ix_(*map(list, box))]
    for _ in range(2):
        np.testing.assert_array_equal(cache.read(source, box), expected)
    cache.close()


def test_no_more_is_kept_than_was_allowed() -> None:
    kept = Kept(VALUES, (20, 30))
    cache, source = ChunkCache(3 * 20 * 30 * 8, Held()), StoredArray(kept, "kept")
    for k in (0, 1, 0, 1, 2, 3, 0):
        cache.read(source, (range(20), range(30 * k, min(130, 30 * (k + 1)))))
    assert len(kept.read) == 5
    cache.close()


def test_nothing_is_held_of_the_block_before_while_the_next_one_is_read() -> None:
    held: list[bool] = []
    begun = threading.Event()

    class Noting(Kept):
        def __getitem__(self, key: tuple[slice, ...]) -> Any:
            if key[0].start:
                begun.wait()
                held.append(before() is not None)
            return super().__getitem__(key)

    source = StoredArray(Noting(np.arange(48.0).reshape(8, 6), (4, 3)), "noting")
    cache = ChunkCache(0, Held(), carried=True)
    readers = Threads(1, cache.closed)
    boxes = [(range(low, low + 4), range(6)) for low in (0, 4)]
    first = cache.begin(readers, [Load(source, boxes[0], [])]).pop()
    before = weakref.ref(first.result())
    del first
    (second,) = cache.begin(readers, [Load(source, boxes[1], [])])
    begun.set()
    assert second.result()[0, 0] == 24
    readers.close(cancel=False)
    cache.close()
    assert held
    assert not any(held)
