"""Chunks that are decoded and written here: which forms they have, and what is wrong with them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.chunked import frames

pytestmark = pytest.mark.once

VALUES = np.arange(60.0).reshape(6, 10)


def _compressor(name: str, form: int) -> Any:
    """Return a compression as formats of zarr name it."""
    codecs, numcodecs = pytest.importorskip("zarr.codecs"), pytest.importorskip("numcodecs")
    if not name:
        return None
    if form == 2:
        return {"zstd": numcodecs.Zstd, "blosc": numcodecs.Blosc, "gzip": numcodecs.GZip}[name]()
    if name == "blosc":
        return codecs.BloscCodec(cname="lz4", shuffle="bitshuffle")
    return {"zstd": codecs.ZstdCodec, "gzip": codecs.GzipCodec}[name]()


@pytest.mark.parametrize(
    ("compressed", "form", "dtype"),
    [
        *[("", 2, "c16"), ("zstd", 2, "?"), ("blosc", 2, "c16"), ("gzip", 2, "?")],
        *[("", 3, "i2"), ("zstd", 3, "f8"), ("blosc", 3, "i2"), ("gzip", 3, "f8")],
    ],
)
def test_chunks_of_any_form(compressed: str, form: int, dtype: str, tmp_path: Path) -> None:
    """Those of the usual forms are read without the library."""
    zarr = pytest.importorskip("zarr")
    values = (np.arange(7 * 9 * 5) % 97).reshape(7, 9, 5).astype(dtype)
    values[:2, :4, :2] = 0  # a chunk that is left out
    options: list[dict[str, Any]] = [{}, {"chunks": (3, 9, 5)}]
    if not compressed:
        options.append({"chunks": (7, 1, 1)})
    if form == 2:
        options.append({"order": "F"})
    else:
        options.append({"serializer": zarr.codecs.BytesCodec(endian="big")})
        options.append({"filters": [zarr.codecs.TransposeCodec(order=(2, 0, 1))]})
        options.append({"shards": (4, 8, 4)})
    for k, own in enumerate(options):
        told = {"chunks": (2, 4, 2), "zarr_format": form, **own}
        told["compressors"] = _compressor(compressed, form)
        made = zarr.create_array(tmp_path / f"{k}", shape=values.shape, dtype=dtype, **told)
        made[...] = values
        e = xl.open(tmp_path / f"{k}")
        for key in np.s_[...], np.s_[1:6, 2:7, 1:4], np.s_[6:, ::2, :1], np.s_[2:4, :, 3]:
            np.testing.assert_array_equal(xl.eval(e[key]).numpy(), values[key])
        np.testing.assert_array_equal(xl.eval(e[:, [8, 0, 3]]).numpy(), values[:, [8, 0, 3]])
        again = zarr.create_array(tmp_path / f"{k}-", shape=values.shape, dtype=dtype, **told)
        again[...] = 7
        xl.store(e, again)
        found, expected = _files(tmp_path / f"{k}-"), _files(tmp_path / f"{k}")
        assert list(found) == list(expected) if compressed == "gzip" else found == expected


def _files(place: Path) -> dict[str, bytes]:
    found = sorted(p for p in place.rglob("*") if p.is_file())
    return {str(p.relative_to(place)): p.read_bytes() for p in found}


@pytest.mark.parametrize("compressed", ["", "zstd", "blosc", "gzip"])
def test_missing_chunks_are_what_the_format_says(compressed: str, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(tmp_path / "z", shape=(6, 10), chunks=(4, 3), dtype="f8",
                             compressors=_compressor(compressed, 3), fill_value=7.0)  # fmt: skip
    made[4:] = VALUES[4:]
    found = xl.eval(xl.open(tmp_path / "z") * 1).numpy()
    np.testing.assert_array_equal(found[:4], np.full((4, 10), 7.0))
    np.testing.assert_array_equal(found[4:], VALUES[4:])


@pytest.mark.parametrize("compressed", ["zstd", "blosc", "gzip"])
@pytest.mark.parametrize("count", [0, 5, 12, 250, 300, 70_000])
def test_content_that_is_no_chunk(compressed: str, count: int, tmp_path: Path) -> None:
    """Whole files whose content is shorter or longer than a chunk of 12 elements, or is one."""
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(tmp_path / "z", shape=(6, 12), chunks=(1, 12), dtype="u1",
                             compressors=_compressor(compressed, 3))  # fmt: skip
    made[...] = values = np.arange(72, dtype="u1").reshape(6, 12)
    other = _compressor(compressed, 2).encode(np.arange(count, dtype="u1"))
    (tmp_path / "z" / "c" / "2" / "0").write_bytes(other)
    e = xl.open(tmp_path / "z")
    if count == 12:
        values[2] = np.arange(12)
        np.testing.assert_array_equal(xl.eval(e + 0).numpy(), values)
    else:
        with pytest.raises(xl.StorageError, match=r"\(2, 0\)"):
            xl.eval(e + 0)
    np.testing.assert_array_equal(xl.eval(e[3:] + 0).numpy(), values[3:])


def test_files_of_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than what is decoded at a time; of several members, padded, cut short, damaged."""
    zarr = pytest.importorskip("zarr")
    values = np.random.default_rng(0).normal(size=(2, 70_000))
    made = zarr.create_array(tmp_path / "z", shape=values.shape, chunks=(1, 70_000), dtype="f8",
                             compressors=_compressor("gzip", 3))  # fmt: skip
    made[...] = values
    e, place, raw = xl.open(tmp_path / "z"), tmp_path / "z" / "c" / "1" / "0", values[1].tobytes()
    whole, head = gzip.compress(raw, 1), gzip.compress(raw[:8], 1)
    for at_once in (frames._SLICE, len(whole)):
        monkeypatch.setattr(frames, "_SLICE", at_once)
        for data in (whole, head + gzip.compress(raw[8:], 1), gzip.compress(b"") + whole,
                     whole + bytes(10)):  # fmt: skip
            place.write_bytes(data)
            np.testing.assert_array_equal(xl.eval(e + 0).numpy(), values)
            np.testing.assert_array_equal(xl.eval(e[:, 9:99]).numpy(), values[:, 9:99])
        damaged = whole[:-8] + bytes(4) + whole[-4:]
        for data in (whole[:-1], whole[:400_000] + whole[-4:], whole[:9], whole + whole, damaged,
                     whole + b"junk", whole + head + whole[-4:]):  # fmt: skip
            place.write_bytes(data)
            with pytest.raises(xl.StorageError, match=r"^read: .*z float64.* chunks? \(1, 0\)"):
                xl.eval(e[1:] + 0)
