"""Sums and products that are folded in blocks as the chunks are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.chunked.kept import Kept, stored_in
from xarraylite.chunked import piece, plan

_FOLDS: dict[str, Callable[[Any], Any]] = {
    "columns": lambda a: xl.sum(a * 2 - 1, axis=0),
    "turned": lambda a: xl.sum(xl.permute_dims(a, (1, 0)), axis=1),
    "products of columns": lambda a: xl.prod(1 + a * 0.01, axis=0),
    "products of rows": lambda a: xl.prod(xl.permute_dims(1 + a * 0.01, (1, 0)), axis=1),
    "product": lambda a: xl.prod(1 + a * 0.01),
}


_SHAPES = ((3001, 350), (1501, 700), (9001, 70), (700, 1501), (150, 4150))


@pytest.mark.usefixtures("compiled")
@together("case", [*zip(_FOLDS, _SHAPES, strict=True)])
def test_columns_and_products_are_folded_as_chunks_are(case: tuple[str, tuple[int, int]]) -> None:
    """With a budget of few chunks each is read once; with the least, bits are the same.

    However many values are computed at a time.
    """
    write, shape = _FOLDS[case[0]], case[1]
    values = np.random.default_rng(9).normal(size=shape)
    chunks = (-(-shape[0] // 4), -(-shape[1] // 5))
    expected = np.asarray(xl.eval(write(xl.asarray(values))))
    for memory, slab in ((1, piece.SLAB), (4_600_000, 3 << 12)):
        kept = Kept(values, chunks)
        with mock.patch.object(piece, "SLAB", slab):
            found = stored_in(write(xl.open(kept)), expected.shape, memory)
        assert found.tobytes() == expected.tobytes()
    assert kept.moved == values.nbytes


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("slab", [4000, 100_000])
def test_parts_of_rows_are_put_together_though_the_last_block_is_narrower(slab: int) -> None:
    """Each row begins with a leaf, of which blocks have parts: those of as many rows each time."""
    values = np.random.default_rng(9).normal(size=(40, 3000))
    expected = np.asarray(xl.sum(xl.asarray(values)[:, 1:]))
    with mock.patch.object(piece, "SLAB", slab):
        total = xl.sum(xl.open(Kept(values, (20, 1497)))[:, 1:])
        assert stored_in(total, (), 1).tobytes() == expected.tobytes()


@pytest.mark.usefixtures("compiled")
def test_many_short_rows_are_folded_each_by_itself() -> None:
    """What is cut out of rows of ten; of as many results of its own the engine folds across."""
    values = np.random.default_rng(0).normal(size=(108, 390, 10))
    e, found = xl.sum(xl.open(Kept(values, (64, 7, 4)))[..., 1:]), np.zeros(())
    xl.store(e, found, memory=4_700_000)
    assert found.tobytes() == xl.eval(xl.sum(xl.asarray(values)[..., 1:])).numpy().tobytes()


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("shape", [(4, 12, 16), (2, 3000, 3)])
def test_products_keep_the_signs_of_zeros(shape: tuple[int, ...]) -> None:
    """Of complex numbers, which a product with 1 would change."""
    values = np.random.default_rng(0).normal(size=shape).astype("c8") * 1.5
    for axis in (None, 1, 2):
        expected = xl.prod(xl.asarray(values), axis=axis).numpy()
        found = xl.prod(xl.open(Kept(values, (2, 5, 7))), axis=axis)
        assert stored_in(found, expected.shape, 1).tobytes() == expected.tobytes()


@pytest.mark.usefixtures("compiled")
@together(("shape", "chunks", "axis"), [
    ((30_017, 16), (1000, 16), 1), ((30_017, 32), (600, 8), 1), ((160, 610, 70), (40, 100, 35), 0),
])  # fmt: skip
def test_blocks_of_results_of_short_sums_are_those_of_chunks(
    shape: tuple[int, ...], chunks: tuple[int, ...], axis: int
) -> None:
    values = np.random.default_rng(1).normal(size=shape)
    kept = Kept(values, chunks)
    e, expected = (xl.sum(x * 1.5, axis=axis) for x in (xl.open(kept), xl.asarray(values)))
    told: Any = xl.explain(e, np.zeros(e.shape))
    part = told.passes[0]
    assert part.again == part.kept == 0
    assert part.blocks <= math.prod(-(-n // c) for n, c in zip(shape, chunks, strict=True))
    assert xl.eval(e).numpy().tobytes() == xl.eval(expected).numpy().tobytes()
    assert kept.elements == values.size


@pytest.mark.usefixtures("compiled")
def test_results_of_which_some_read_nothing_that_is_kept() -> None:
    memory, values = np.full((40, 6), 0.1), np.full((40, 4), 0.3)
    expected = xl.sum(xl.concat([xl.asarray(memory), xl.asarray(values)], axis=1) * 1.5, axis=0)
    kept = xl.open(Kept(values, (13, 2)))
    e = xl.sum(xl.concat([xl.asarray(memory), kept], axis=1) * 1.5, axis=0)
    with mock.patch.object(plan, "SMALLEST", 1):
        assert stored_in(e, (2,), 1).tobytes() == xl.eval(expected).numpy().tobytes()
