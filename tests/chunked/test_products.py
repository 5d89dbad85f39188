"""Products of matrices that are kept elsewhere: tile by tile, over blocks of the summed labels."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, stored_in
from xarraylite.chunked import operand

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(70, 90)), RNG.normal(size=(90, 50))


@pytest.fixture(autouse=True)
def small_tiles() -> Any:
    with mock.patch.object(operand, "TILE", 400), mock.patch.object(operand, "SUMMED", 32):
        yield


def kept(values: Any, chunks: tuple[int, ...]) -> Any:
    return xl.open(Kept(values, chunks))


def test_a_product_is_lazy_and_near_memory() -> None:
    source = Kept(A, (20, 30))
    c = xl.open(source) @ kept(B, (30, 20))
    assert repr(c) == "<XFunction over [m,k] * [k,n]: float64[70, 50], lazy>"
    assert source.read == []
    np.testing.assert_allclose(xl.eval(c).numpy(), A @ B, rtol=1e-12)


@pytest.mark.parametrize("chunks", [(20, 30), (70, 1), (7, 90)])
@pytest.mark.parametrize("memory", [1, None])
def test_chunks_and_budget_change_no_bit(chunks: tuple[int, int], memory: int | None) -> None:
    expected = xl.eval(kept(A, (70, 90)) @ xl.asarray(B)).numpy()
    c = kept(A, chunks) @ kept(B, chunks[::-1])
    assert stored_in(c, (10, 10), memory).tobytes() == expected.tobytes()
    part = xl.eval(c[3:60:7, [5, 49, 3]] + 1).numpy()
    np.testing.assert_array_equal(part, expected[3:60:7][:, [5, 49, 3]] + 1)


def test_no_product_is_computed_ahead() -> None:
    """It has threads of its own, and needs more than what is read for it."""
    real, running, most = operand.Contraction.read, [0], [0]

    def read(self: Any, box: Any) -> Any:
        running[0] += 1
        most[0] = max(most[0], running[0])
        found = real(self, box)
        running[0] -= 1
        return found

    c = kept(A, (20, 30)) @ kept(B, (30, 20))
    with mock.patch.object(operand.Contraction, "read", read):
        stored_in(xl.exp(c), (10, 10), 1)
    assert most == [1]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "bool"])
def test_integers_are_those_of_memory(dtype: str) -> None:
    i = RNG.integers(0, 100, size=(60, 80)).astype(dtype)
    expected = (xl.asarray(i) @ xl.asarray(i).T).numpy()
    k = kept(i, (20, 30))
    np.testing.assert_array_equal(xl.eval(k @ k.T).numpy(), expected)
    np.testing.assert_array_equal(xl.eval(xl.einsum("ij,kj->ik", k, i)).numpy(), expected)


def test_narrow_floats_are_rounded_once() -> None:
    a, b = kept(A, (20, 30)).astype("bfloat16"), xl.asarray(B).astype("bfloat16")
    found = xl.eval(a @ b)
    assert found.dtype == xl.bfloat16
    wide = xl.eval(a.astype("float64") @ b.astype("float64"))
    np.testing.assert_allclose(found.numpy().astype("f8"), wide.numpy(), rtol=2**-8, atol=2**-8)


def test_labelled_expressions() -> None:
    a, b = kept(A, (20, 30)), kept(B, (30, 20))
    product = A @ B
    target = np.zeros((50, 70))
    xl.store(a["i,j"] * b["j,k"] * 2 - a["i,j"] * xl.asarray(B)["j,k"], target, "k,i")
    np.testing.assert_allclose(target, product.T, rtol=1e-11)
    c = xl.zeros((70, 50))
    c["i,k"] = a["i,j"] * b["j,k"]
    np.testing.assert_allclose(c.numpy(), product, rtol=1e-12)
    with pytest.raises(xl.ShapeError, match="needs the labels"):
        xl.store(a["i,j"] * b["j,k"], target)


def test_other_products_are_near_memory(engine: str) -> None:
    a, ours = kept(A, (20, 30)), xl.asarray(A)
    for write in (
        lambda x: xl.vecdot(x, x),
        lambda x: xl.eval(x["i,j"] * x["i,j"], "j"),
        lambda x: xl.vecdot(x[0], x[1]),
    ):
        found, expected = xl.eval(write(a)).numpy(), xl.eval(write(ours)).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_factors_that_are_computed() -> None:
    a = kept(A, (20, 30))
    e = (a - xl.mean(a, axis=0)) @ xl.exp(kept(B, (30, 20)))
    np.testing.assert_allclose(
        xl.eval(e).numpy(), (A - A.mean(axis=0)) @ np.exp(B), rtol=1e-11, atol=1e-11
    )


@pytest.mark.parametrize(("rows", "at_once"), [(16, 16), (8, 16), (20, 70)])
def test_every_chunk_is_read_once_where_memory_allows(rows: int, at_once: int) -> None:
    left, right = Kept(A, (rows, 32)), Kept(B, (32, 20))
    xl.eval(xl.open(left) @ xl.open(right))
    assert left.elements == A.size
    assert right.elements == B.size
    # Tiles have 16 rows: no more are read at once, unless a chunk would be read twice.
    assert max(key[0].stop - key[0].start for key in left.read) == at_once


@pytest.mark.parametrize("chunks", [(70, 30), (20, 30), (7, 50)])
def test_chunks_that_two_blocks_of_the_sum_have_are_counted_twice(chunks: tuple[int, int]) -> None:
    """Blocks of 32 end inside of chunks."""
    left, right = Kept(A, chunks), Kept(B, chunks[::-1])
    e, target = xl.open(left) @ xl.open(right), np.zeros((70, 50))
    (part,) = xl.explain(e, target).passes
    xl.store(e, target)
    assert part.read == left.moved + right.moved > part.needed == A.nbytes + B.nbytes


def test_in_place_and_overlap(tmp_path: Any) -> None:
    zarr = pytest.importorskip("zarr")
    square = RNG.normal(size=(40, 40))
    c = xl.asarray(square.copy())
    c @= kept(square, (7, 9))
    np.testing.assert_allclose(c.numpy(), square @ square, rtol=1e-12)
    z = zarr.create_array(tmp_path / "z", data=square, chunks=(10, 10))
    with pytest.raises(xl.OverlapError, match="other blocks write"):
        xl.store(xl.open(z) @ xl.open(z), z)


def test_threads_change_no_bit() -> None:
    values = np.random.default_rng(1).normal(size=(290, 190))
    c = kept(values, (40, 64)) @ kept(values, (64, 40)).T
    with mock.patch.object(operand, "TILE", 1 << 20), mock.patch.object(operand, "SUMMED", 1 << 11):
        expected = xl.eval(c).numpy()
        for threads in (1, 2, 3):
            with xl.config(threads=threads):
                assert xl.eval(c).numpy().tobytes() == expected.tobytes()
        lazy = xl.to_dask(c, chunks=(100, 290))
        for scheduler in ("sync", "threads"):
            assert lazy.compute(scheduler=scheduler).tobytes() == expected.tobytes()
    np.testing.assert_allclose(expected, values @ values.T, rtol=1e-12, atol=1e-11)
