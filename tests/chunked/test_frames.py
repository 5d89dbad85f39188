"""Parts of compressed chunks: blocks of Blosc's frames that are read and decoded alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.chunked.frames import decode, rows_at_once

numcodecs = pytest.importorskip("numcodecs")

SHAPE = (96, 1000)
VALUES = np.random.default_rng(0).integers(-99, 99, SHAPE).astype(float)
NOISE = np.random.default_rng(1).random(SHAPE)


def read(path: Path, rows: slice, columns: slice) -> Any:
    """Return some elements of a chunk; None if it is not as expected."""
    made = np.full((rows.stop - rows.start, columns.stop - columns.start), -1.0)
    low = [rows.start, columns.start]
    codec = numcodecs.get_codec({"id": "blosc"})
    whole = (slice(0, len(made)), slice(0, made.shape[1]))
    return made if decode(codec, made, whole, path, low, SHAPE) else None


@pytest.mark.once
@pytest.mark.parametrize("values", [VALUES, NOISE], ids=["digits", "noise"])
@pytest.mark.parametrize("blocksize", [0, 8000, 7000, 64000, 1 << 20])
@pytest.mark.parametrize("name", ["lz4", "zstd", "blosclz"])
def test_rows_of_a_chunk_are_those_of_the_whole(
    tmp_path: Path, name: str, blocksize: int, values: Any
) -> None:
    for shuffle in (0, 1, 2):
        path = tmp_path / f"chunk{shuffle}"
        path.write_bytes(numcodecs.Blosc(name, 5, shuffle, blocksize).encode(values))
        for rows in (slice(0, 1), slice(7, 9), slice(8, 16), slice(90, 96), slice(95, 96)):
            for columns in (slice(0, 1000), slice(3, 500)):
                np.testing.assert_array_equal(read(path, rows, columns), values[rows, columns])
        np.testing.assert_array_equal(read(path, slice(0, 96), slice(0, 1000)), values)


def test_blocks_may_lie_in_any_order(tmp_path: Path) -> None:
    data = numcodecs.Blosc("lz4", 5, 1, 8000).encode(VALUES)
    header, starts = data[:16], np.frombuffer(data, "<u4", 12, 16)
    blocks = [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]
    order = np.random.default_rng(2).permutation(12)
    at, where = 64, np.zeros(12, "<u4")
    for k in order:
        where[k], at = at, at + len(blocks[k])
    path = tmp_path / "chunk"
    path.write_bytes(header + where.tobytes() + b"".join([blocks[k] for k in order]))
    for k in range(95):
        np.testing.assert_array_equal(
            read(path, slice(k, k + 2), slice(0, 1000)), VALUES[k : k + 2]
        )


def test_only_the_blocks_of_some_rows_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "chunk"
    data = bytearray(numcodecs.Blosc("lz4", 5, 1, 8000).encode(VALUES))
    at = int(np.frombuffer(data, "<u4", 12, 16)[5])
    data[at : at + 4] = b"\xff" * 4
    path.write_bytes(data)
    assert rows_at_once(path, 8000) == 9  # blocks are 65 536 bytes
    np.testing.assert_array_equal(read(path, slice(0, 40), slice(0, 1000)), VALUES[:40])
    assert read(path, slice(32, 41), slice(0, 1000)) is None
    assert read(path, slice(0, 96), slice(0, 1000)) is None


def test_damaged_frames_are_left_to_the_library(tmp_path: Path) -> None:
    path = tmp_path / "chunk"
    good = numcodecs.Blosc("lz4", 5, 1, 8000).encode(VALUES)
    rng = np.random.default_rng(3)
    told = [good[:n] for n in (0, 1, 15, 16, 40, 63, 64, len(good) - 1)]
    for at in range(64):
        for byte in rng.integers(0, 256, 2):
            told.append(good[:at] + bytes([byte]) + good[at + 1 :])
    for data in told:
        path.write_bytes(data)
        rows_at_once(path, 8000)
        found = read(path, slice(20, 30), slice(0, 1000))
        assert found is None or len(found) == 10
    path.unlink()
    assert rows_at_once(path, 8000) == 0
    assert read(path, slice(0, 1), slice(0, 1)) is None


@pytest.mark.parametrize("kept", [0, 15, 16, 3000, -8])
@pytest.mark.parametrize("format", [2, 3])
def test_frames_that_are_cut_short_are_refused(tmp_path: Path, format: int, kept: int) -> None:
    """A decoder would read on, in memory that has had the rest of the frame before."""
    zarr = pytest.importorskip("zarr")
    codec = numcodecs.Blosc("lz4") if format == 2 else zarr.codecs.BloscCodec(cname="lz4")
    made = zarr.create_array(
        tmp_path / "a.zarr", shape=(192, 1000), chunks=SHAPE, dtype="f8", compressors=codec,
        zarr_format=format,
    )  # fmt: skip
    made[...] = np.concatenate([VALUES, NOISE])
    a = xl.open(tmp_path / "a.zarr")
    np.testing.assert_array_equal(xl.eval(a).numpy(), made[...])
    path = tmp_path / "a.zarr" / ("1.0" if format == 2 else "c/1/0")
    path.write_bytes(path.read_bytes()[:kept])
    for part in (a, a[100:103], a[::7], a[:, ::-1]):
        with pytest.raises(xl.StorageError, match=r"(?s)a\.zarr.*chunks? \(1, 0\)"):
            xl.eval(part)
    np.testing.assert_array_equal(xl.eval(a[:96]).numpy(), VALUES)


@pytest.mark.parametrize("complete", [False, True])
def test_a_shard_that_is_empty_or_cut_short(tmp_path: Path, complete: bool) -> None:
    """zarr takes chunks of an empty one for missing."""
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(tmp_path / "z", shape=(8, 6), chunks=(2, 3), shards=(4, 6), dtype="f8")
    made[...] = np.ones((8, 6))
    e, place = xl.open(tmp_path / "z", complete=complete) + 1, tmp_path / "z" / "c" / "1" / "0"
    for left in (place.read_bytes()[:-1], b"abc", b""):
        place.write_bytes(left)
        np.testing.assert_array_equal(xl.eval(e[:4]), np.full((4, 6), 2.0))
        with pytest.raises(xl.StorageError, match=r"^read: .*z float64\[8, 6\], elements \["):
            xl.eval(e)
