"""Storing: targets, errors, and what is left when something fails."""

from __future__ import annotations

import math
import os
import re
import resource
import signal
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.chunked.kept import Kept, Sink, child_of, names_in, stored_in
from xarraylite.chunked import plan, stream
from xarraylite.runtime import evaluate

zarr = pytest.importorskip("zarr")

VALUES = np.arange(600.0).reshape(20, 30)


def kept(chunks: tuple[int, ...] = (5, 10)) -> Any:
    return xl.open(Kept(VALUES, chunks))


class Taking(Kept):
    """An array that can be written as well."""

    def __setitem__(self, key: Any, values: Any) -> None:
        self.values[key] = values


def test_a_new_zarr_array_has_the_operands_chunks(tmp_path: Path) -> None:
    made = xl.store(kept() * 2, tmp_path / "a")
    assert made.chunks == (5, 10)
    assert made.metadata.zarr_format == 3
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], VALUES * 2)
    assert names_in(tmp_path) == ["a"]


def test_what_is_rolled_along_two_dimensions() -> None:
    """A block reads as many parts as the whole does, which lie elsewhere."""
    values = np.arange(770.0).reshape(11, 14, 5)
    target = Sink(np.zeros(values.shape), (1, 2, 1))
    xl.store(xl.roll(xl.roll(xl.open(Kept(values, (7, 8, 3))), 2, axis=0), 1, axis=2), target)
    np.testing.assert_array_equal(target.values, np.roll(values, (2, 1), (0, 2)))


def test_a_budget_too_small_for_what_is_in_memory() -> None:
    for work in (xl.explain, xl.store):
        with pytest.raises(
            xl.SizeError, match=r": a block float64\[2, 3\] needs 48 bytes in flight"
        ):
            work(xl.ones((2, 3)) * 2, np.zeros((2, 3)), memory=3)


def test_a_chunk_that_one_call_does_not_write(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(3, 100_001))
    made = zarr.create_array(
        tmp_path / "a", shape=values.shape, chunks=values.shape, dtype="f8", compressors=None
    )
    xl.store(xl.open(values) * 2, made)
    np.testing.assert_array_equal(made[...], values * 2)


@together(("dtype", "fill", "shards"), [("c16", 0, None), ("f8", 0, None), ("c8", 0, (1, 4))])
def test_what_equals_the_fill_value_keeps_its_bits(
    tmp_path: Path, dtype: str, fill: Any, shards: Any
) -> None:
    """Chunks may be left out, whose elements would then have the bits of the fill value."""
    place = tmp_path / dtype
    made = zarr.create_array(
        place, shape=(3, 4), chunks=(1, 2), shards=shards, dtype=dtype, fill_value=fill
    )
    values = np.full((3, 4), fill, dtype)
    values[:2, 1::2] = np.negative(values[:2, 1::2])
    xl.store(xl.asarray(values), made)
    assert zarr.open_array(place)[...].tobytes() == values.tobytes()


def test_a_new_npy_file(tmp_path: Path) -> None:
    xl.store(kept().T + 1, tmp_path / "a.npy", chunks=7)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), VALUES.T + 1)


def test_chunks_as_asked(tmp_path: Path) -> None:
    assert xl.store(kept(), tmp_path / "a", chunks=(20, 4)).chunks == (20, 4)
    assert xl.store(kept(), tmp_path / "b", chunks=np.array([7, 1 << 62])).chunks == (7, 30)
    assert xl.store(kept(), tmp_path / "d", chunks=(4, -1)).chunks == (4, 30)
    wrong: list[Any] = [(4,), 0, (4, -2), 2.5, "auto", True, [[1, 2]]]
    for chunks in wrong:
        with pytest.raises(xl.ShapeError, match=rf"chunks {re.escape(repr(chunks))} are not one"):
            xl.store(kept(), tmp_path / "c", chunks=chunks)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("name", ["a", "a.npy"])
def test_what_is_there_stays_unless_told(tmp_path: Path, name: str) -> None:
    xl.store(kept(), tmp_path / name)
    with pytest.raises(xl.StorageError, match="overwrite=True"):
        xl.store(kept() + 1, tmp_path / name)
    np.testing.assert_array_equal(xl.eval(xl.open(tmp_path / name)).numpy(), VALUES)
    xl.store(kept() + 1, tmp_path / name, overwrite=True)
    np.testing.assert_array_equal(xl.eval(xl.open(tmp_path / name)).numpy(), VALUES + 1)


@together("name", ["bfloat16", "float8_e5m2"])  # NumPy calls them void and floats
def test_a_new_zarr_array_of_a_dtype_that_zarr_has_not(tmp_path: Path, name: str) -> None:
    narrow, place = xl.astype(kept(), name), tmp_path / name
    for told in (xl.store, xl.explain):
        with pytest.raises(
            xl.StorageError, match=rf"{told.__name__}: .* zarr has no {name}; .* \.npy"
        ):
            told(narrow, place / "a.zarr")
    assert not place.exists() or names_in(place) == []
    assert xl.store(narrow, place / "a.npy").dtype == name


@pytest.mark.parametrize("name", ["a.zip", "a.h5", "a.tif"])
def test_names_of_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(xl.StorageError, match="the name of another format"):
        xl.store(kept(), tmp_path / name)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("layout", ["{1,0:T(8,128)}", "{0,1:T(4,2)}"])
def test_a_target_in_memory_keeps_its_layout(layout: str) -> None:
    made = xl.zeros((20, 30), layout=layout)
    assert xl.store(kept() * 2, made) is made
    assert str(made.layout) == layout
    np.testing.assert_array_equal(made.numpy(), VALUES * 2)


@pytest.mark.parametrize("other", [np.zeros((20, 31)), np.zeros((20, 30), "f4"), [1], None])
def test_targets_that_do_not_fit(other: Any) -> None:
    with pytest.raises((xl.ShapeError, xl.DTypeError), match=r"^store: "):
        xl.store(kept(), other)


_ODD = ((9, 9), (30,)), ((20,), ()), ((-1, 21), (30,)), ((2.5, 17.5), (30,)), ((math.nan,), (30,))


def test_targets_that_can_only_be_read(tmp_path: Path) -> None:
    """They are refused before anything is read."""
    xl.store(kept(), tmp_path / "a.zarr")
    np.save(tmp_path / "a.npy", VALUES)
    fixed = VALUES.copy()
    fixed.flags.writeable = False
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    operand = Kept(VALUES, (5, 10))
    for target in fixed, mapped, zarr.open_array(tmp_path / "a.zarr", mode="r"), xl.adapt(fixed):
        for run in xl.store, xl.explain:
            with pytest.raises(xl.StorageError, match=r"the target .* can only be read$"):
                run(xl.open(operand), target)
    assert not operand.read


@together("chunks", [(0, 5), (5,), (5, 5, 5), (2.5, 5), (None, 5), "auto", 7, (True, 5), *_ODD])
def test_chunks_that_are_none(chunks: Any) -> None:
    """Of operands and of targets; they are what objects say of themselves."""
    told = r"chunks .* are not one positive length for each dimension of shape \(20, 30\)"
    with pytest.raises(xl.ShapeError, match=rf"^open\(tests Kept\): its {told}"):
        xl.open(Kept(VALUES, chunks))
    with pytest.raises(xl.ShapeError, match=rf"^store: the target tests Taking: its {told}"):
        xl.store(kept(), Taking(VALUES, chunks))


@together("chunks", [((8, 8, 4), (30,)), (8, -1), (np.int64(8), 30)])
def test_chunks_in_words_of_others(tmp_path: Path, chunks: Any) -> None:
    made = xl.store(kept(), tmp_path / "a.zarr", chunks=chunks, overwrite=True)
    assert made.chunks == (8, 30)


@together("chunks", [((8, 12), (30,)), ((8, 4, 8), (30,)), *_ODD])
def test_a_new_array_has_even_chunks(tmp_path: Path, chunks: Any) -> None:
    with pytest.raises(xl.ShapeError, match=r"^store: chunks \(\(.* of shape \(20, 30\)"):
        xl.store(kept(), tmp_path / "a.zarr", chunks=chunks)


def test_chunks_of_a_target_that_is_there() -> None:
    for target in np.zeros((20, 30)), Taking(VALUES.copy(), (5, 5)), xl.zeros((20, 30)):
        for run in xl.store, xl.explain:
            with pytest.raises(xl.ShapeError, match=r": chunks \(5, 5\) are for a new array; the "):
                run(kept(), target, chunks=(5, 5))


@pytest.mark.parametrize("flag", ["overwrite", "resume"])
def test_flags_are_yes_or_no(tmp_path: Path, flag: str) -> None:
    np.save(tmp_path / "a.npy", VALUES)
    with pytest.raises(TypeError, match=rf"^store: {flag} must be True or False, got 'no'"):
        xl.store(kept(), tmp_path / "a.npy", **{flag: "no"})
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), VALUES)


@pytest.mark.parametrize("name", ["", "a\0b", "a" * 300, "a" * 300 + ".npy"])
def test_paths_that_cannot_be(tmp_path: Path, name: str) -> None:
    with pytest.raises(xl.StorageError, match=r"^store: .*(no file or directory|too long)"):
        xl.store(kept(), f"{tmp_path}/{name}" if name else name)
    assert names_in(tmp_path) == []


def test_a_dataset_of_a_file_that_was_closed(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        closed = file.create_dataset("x", data=VALUES)
    with pytest.raises(xl.StorageError, match=r"^open: h5py Dataset: "):
        xl.open(closed)
    with pytest.raises(xl.DTypeError, match=r"^store: the target .* got Dataset"):
        xl.store(kept(), closed)


@together("memory", ["many", "2 QiB", 0, "0 GB", -1, True, float("inf"), "nan GB", [1]])
def test_budgets_that_are_none(memory: Any) -> None:
    with pytest.raises(ValueError, match="memory: "):
        xl.store(kept(), np.zeros((20, 30)), memory=memory)


def test_a_budget_too_small_says_the_least() -> None:
    with pytest.raises(xl.SizeError) as caught:
        xl.store(kept(), Sink(np.zeros((20, 30)), (5, 10)), memory=1000)
    assert str(caught.value) == (
        "store: a block float64[5, 10] reads 400 bytes of tests Kept float64[20, 30] and needs "
        "1200 bytes in flight; the budget is 1000 bytes (memory=), and the least that does is 1200"
    )
    with pytest.raises(xl.SizeError, match=r"^explain: a block .* least that does is"):
        xl.explain(kept(), memory=100)
    with (
        mock.patch.object(stream, "budget_of", return_value=100),
        pytest.raises(xl.SizeError, match=r"^eval: a block .* least that does is"),
    ):
        xl.eval(kept())


def test_a_target_that_is_an_operand(tmp_path: Path) -> None:
    made = xl.store(kept(), tmp_path / "a")
    e = xl.open(made)
    with pytest.raises(xl.OverlapError, match="other blocks write"):
        xl.store(e[::-1], made)
    with pytest.raises(xl.OverlapError, match="other blocks write"):
        xl.store(xl.open(tmp_path / "a") + e.mT[:20, :20][:, :1], zarr.open_array(tmp_path / "a"))
    xl.store(e * 2 - xl.max(e), made)
    np.testing.assert_array_equal(made[...], VALUES * 2 - VALUES.max())


def test_evaluating_what_is_too_large_names_the_way_out() -> None:
    with (
        xl.config(max_result_bytes=1000),
        pytest.raises(xl.SizeError, match=r"needs 4800 bytes; .* with xl.store"),
    ):
        xl.eval(kept() + 1)
    with (
        mock.patch.object(evaluate, "allocate", side_effect=MemoryError),
        pytest.raises(xl.SizeError, match=r"needs 4800 bytes, which this .* with xl.store"),
    ):
        xl.eval(kept() + 1)


def test_blocks_are_no_results() -> None:
    """The budget bounds them, not what a result may have."""
    a, made, total = kept(), np.zeros(VALUES.shape), float(xl.sum(xl.asarray(VALUES)))
    with xl.config(max_result_bytes=300):
        np.testing.assert_allclose(float(xl.sum(a)), total)
        xl.store(a - xl.mean(a, axis=0), made)
    np.testing.assert_allclose(made, VALUES - VALUES.mean(axis=0), atol=1e-12)


def test_assigning_what_reads_the_destination() -> None:
    c = xl.asarray(VALUES.copy())
    c[...] = kept() + c[::-1]
    np.testing.assert_array_equal(c.numpy(), VALUES + VALUES[::-1])


@pytest.mark.parametrize("mapped", [False, True])
def test_assigning_what_is_kept_in_the_memory_of_the_destination(
    tmp_path: Path, mapped: bool
) -> None:
    np.save(tmp_path / "a.npy", VALUES)
    values = np.load(tmp_path / "a.npy", mmap_mode="r+" if mapped else None)
    c, a = xl.adapt(values), xl.open(tmp_path / "a.npy" if mapped else values)
    with (
        mock.patch.object(plan, "ENOUGH", 1),
        mock.patch.object(stream, "chunks_for", return_value=(3, 30)),
    ):
        c[...] = a[::-1] + 1
        np.testing.assert_array_equal(values, VALUES[::-1] + 1)
        c[:, :20] = a[:, 10:] @ a[::-1, 10:].T
    np.testing.assert_array_equal(values[:, :20], (VALUES[::-1, 10:] + 1) @ (VALUES[:, 10:] + 1).T)


def test_overlapping_requests_are_read_once() -> None:
    source = Kept(VALUES, (5, 10))
    u = xl.open(source)
    e = u[1:-1, 1:-1] * 4 - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
    found = xl.eval(e).numpy()
    v = VALUES
    expected = v[1:-1, 1:-1] * 4 - v[:-2, 1:-1] - v[2:, 1:-1] - v[1:-1, :-2] - v[1:-1, 2:]
    np.testing.assert_array_equal(found, expected)
    assert source.elements == VALUES.size


def test_strided_and_gathered_operands_are_read_where_needed() -> None:
    source = Kept(VALUES, (5, 10))
    xl.eval(xl.open(source)[::5, 3] + 1)
    assert source.elements == 4
    source.read.clear()
    xl.eval(xl.open(source)[[19, 0, 19]])
    assert source.elements == 2 * 30


# --- faults -----------------------------------------------------------------------------------


class Broken(Kept):
    """Fails where some elements are read."""

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        if key[0].start >= 10:
            raise OSError("the disk is gone")
        return super().__getitem__(key)


def test_an_error_of_reading_names_array_elements_and_chunk() -> None:
    e = xl.open(Broken(VALUES, (5, 30)))
    target = Sink(np.zeros((20, 30)), (5, 30))
    message = r"read: tests.* float64\[20, 30\], elements \[10:15, 0:30\] in chunks \(2, 0\): OSErr"
    with pytest.raises(xl.StorageError, match=message):
        xl.store(e + 1, target, memory=10_000)
    np.testing.assert_array_equal(target.values[:10], VALUES[:10] + 1)


def test_a_truncated_chunk(tmp_path: Path) -> None:
    made = zarr.create_array(tmp_path / "a", shape=(8, 8), chunks=(4, 4), dtype="f8",
                             compressors=None)  # fmt: skip
    made[...] = 1.0
    os.truncate(tmp_path / "a" / "c" / "1" / "0", 20)
    with pytest.raises(xl.StorageError, match=r"elements \[4:8, 0:4\] in chunks \(1, 0\): "):
        xl.eval(xl.open(tmp_path / "a") + 1)


def _limited(nbytes: int) -> Any:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, nbytes))

    return limit


@pytest.mark.once
def test_a_full_disk(tmp_path: Path) -> None:
    code = f"""
    import os, sys
    sys.dont_write_bytecode = True  # Python leaves files of bytecode cut short, for all to read
    import numpy as np, xarraylite as xl
    a = xl.open(np.random.default_rng(0).normal(size=(64, 64)))
    for name in ("a", "a.npy"):
        try:
            xl.store(a + 1, {str(tmp_path)!r} + "/" + name, chunks=(64, 64))
        except xl.StorageError as error:
            print(error)
    print(os.path.exists({str(tmp_path / "a.npy")!r}))
    """
    child = child_of(code, preexec_fn=_limited(10_000))
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert "elements [0:64, 0:64] in chunks (0, 0): OSError: [Errno 27]" in out
    assert "cannot make" in out
    assert out.endswith("False\n")


def test_what_a_target_keeps_back_is_written_at_the_end() -> None:
    """HDF5 writes chunks when it has many of them, or is told; only then the disk is full."""

    class Late(Taking):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(xl.StorageError, match=r"^write: tests Late, at its end: OSError: .* No sp"):
        xl.store(kept(), Late(np.zeros((20, 30)), (10, 10)))


@pytest.mark.parametrize(
    "expression",
    [
        lambda a: (a - xl.mean(a, axis=0)) / xl.std(a, axis=0),
        lambda a: xl.exp(a) / xl.sum(xl.exp(a), axis=1, keepdims=True),
        lambda a: xl.var(a * a, axis=1),
        lambda a: a @ a.T,
        lambda a: xl.sin(a).sum(axis=0) + xl.cos(a[:100, :80]),
    ],
)
def test_a_budget_bounds_a_store_and_not_the_limit_of_results(expression: Any) -> None:
    """Temporaries of a block are counted against the budget."""
    a = xl.open(np.random.default_rng(0).normal(size=(100, 80)))
    expected = xl.eval(expression(a)).numpy()
    target = np.zeros(expected.shape)
    with xl.config(max_result_bytes=100):
        xl.store(expression(a), target, memory="10 MB")
        with pytest.raises(xl.SizeError, match="max_result_bytes"):
            xl.eval(expression(a))
        with pytest.raises(xl.SizeError, match="max_result_bytes"):
            xl.zeros(20)
    assert target.tobytes() == expected.tobytes()


def test_a_join_with_a_reshape_of_nothing() -> None:
    none, some = Kept(np.zeros((3, 0, 5)), (1, 1, 2)), np.arange(10.0).reshape(2, 5)
    joined = xl.concat([xl.asarray(some), xl.reshape(xl.open(none), (0, 5))])
    np.testing.assert_array_equal(stored_in(joined[1:] * 2, (1, 2), 1), some[1:] * 2)
    np.testing.assert_array_equal(xl.eval(joined[:, [3, 0]]).numpy(), some[:, [3, 0]])
