"""Chunks whose elements lie in a layout."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept
from xarraylite.chunked import inner, plan

zarr = pytest.importorskip("zarr")

VALUES = np.random.default_rng(5).normal(size=(50, 300)).astype("f4")
TILED = "{1,0:T(8,128)}"


def _stored(place: Path, layout: Any, **options: Any) -> Any:
    return xl.store(xl.asarray(VALUES) * 2, place, chunks=(20, 150), layout=layout, **options)


@pytest.mark.parametrize("layout", [TILED, "{0,1}", "{1,0:T(8,128)(2,1)}", "column_major"])
def test_chunks_have_the_bytes_of_a_container(layout: str, tmp_path: Path) -> None:
    """Each is compressed as zarr does it; the last ones are padded to whole chunks first."""
    made = _stored(tmp_path / "a", layout)
    np.testing.assert_array_equal(made[...], VALUES * 2)
    path = tmp_path / "a" / "c" / "1" / "0"
    data = made.metadata.codecs[1]._zstd_codec.decode(path.read_bytes())
    same = xl.asarray(VALUES[20:40, :150] * 2, layout=layout)
    assert bytes(data) == bytes(same.buffer.run())
    told = json.loads((tmp_path / "a" / "zarr.json").read_text())["codecs"][0]
    assert told["name"] == "xarraylite.layout"
    e = xl.open(tmp_path / "a")
    np.testing.assert_array_equal(xl.eval(e[3:, ::7] + 1).numpy(), (VALUES * 2)[3:, ::7] + 1)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[45:, 290:], VALUES[45:, 290:] * 2)


def test_a_chunk_that_is_cut_short_is_an_error(tmp_path: Path) -> None:
    values = np.arange(12, dtype="f8").reshape(3, 4)
    place = inner.place_of_chunk(TILED, values.shape, values.dtype)
    data = inner.packed(values, place)
    np.testing.assert_array_equal(inner.unpacked(data, place, values.dtype), values)
    with pytest.raises(xl.LayoutError, match="8192 bytes, got 8191"):
        inner.unpacked(data[:-1], place, values.dtype)


def test_the_codec_travels() -> None:
    codec = inner.codec_of(TILED)
    again = pickle.loads(pickle.dumps(codec))
    assert again == codec
    assert hash(again) == hash(codec)
    assert type(codec).from_dict(codec.to_dict()) == codec
    assert inner.LayoutCodec is type(codec)
    with pytest.raises(xl.LayoutError, match="big-endian"):
        type(codec)(layout=TILED, endian="big")


def test_a_layout_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(xl.LayoutError, match="no layout of float32"):
        _stored(tmp_path / "a", "{2,1,0}")
    with pytest.raises(xl.LayoutError, match="new zarr array"):
        _stored(tmp_path / "a.npy", TILED)
    with pytest.raises(xl.LayoutError, match="new zarr array"):
        xl.store(xl.asarray(VALUES), np.zeros(VALUES.shape, "f4"), layout=TILED)
    assert list(tmp_path.iterdir()) == []


class Failing(Kept):
    """Cannot be read below row 40, until it is mended."""

    broken = True

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        if self.broken and key[0].stop > 40:
            raise OSError("gone")
        return super().__getitem__(key)


def test_a_store_is_resumed_with_its_layout(tmp_path: Path) -> None:
    source = Failing(VALUES, (20, 150))

    def stored(layout: Any, resume: bool) -> Any:
        with mock.patch.object(plan, "ENOUGH", 1):
            e = xl.open(source) * 2
            return xl.store(e, tmp_path / "a", layout=layout, resume=resume)

    with pytest.raises(xl.StorageError, match="gone"):
        stored(TILED, False)
    source.broken = False
    for other in (None, "{0,1}"):
        with pytest.raises(xl.StorageError, match="cannot resume"):
            stored(other, True)
    read = len(source.read)
    np.testing.assert_array_equal(stored(xl.Layout.parse(TILED), True)[...], VALUES * 2)
    assert 0 < len(source.read) - read < 6
