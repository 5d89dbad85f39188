"""What `xl.open` takes: files and arrays of other libraries."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, child_of

pytestmark = pytest.mark.once

VALUES = np.arange(60.0).reshape(6, 10)


def _zarr(place: Path, version: int, **options: Any) -> Any:
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(
        place / "z", shape=(6, 10), chunks=(4, 3), dtype=">f8", zarr_format=version, **options
    )
    made[...] = VALUES
    return made


def _zip(place: Path) -> Any:
    zarr = pytest.importorskip("zarr")
    with zarr.storage.ZipStore(place / "z.zip", mode="w") as store:
        zarr.create_array(store, data=VALUES, chunks=(4, 3))
    return place / "z.zip"


def _memory(place: Path) -> Any:
    zarr = pytest.importorskip("zarr")
    return zarr.create_array(zarr.storage.MemoryStore(), data=VALUES, chunks=(4, 3))


def _npy(place: Path) -> Any:
    np.save(place / "a.npy", VALUES)
    return place / "a.npy"


def _hdf5(place: Path) -> Any:
    h5py = pytest.importorskip("h5py")
    with h5py.File(place / "a.h5", "w") as file:
        file.create_dataset("group/x", data=VALUES, chunks=(4, 3))
    return place / "a.h5", "group/x"


def _dask(place: Path) -> Any:
    array = pytest.importorskip("dask.array")
    return array.from_array(VALUES, chunks=((4, 2), (3, 7)))


def _xarray(place: Path) -> Any:
    array = pytest.importorskip("dask.array").from_array(VALUES, chunks=(4, 3))
    return pytest.importorskip("xarray").DataArray(array, dims=("y", "x"), name="height")


_KINDS: dict[str, Callable[[Path], Any]] = {
    "zarr 3": lambda place: _zarr(place, 3),
    "zarr 2": lambda place: _zarr(place, 2),
    "sharded": lambda place: _zarr(place, 3, shards=(8, 6)),
    "path": lambda place: (_zarr(place, 3), place / "z")[1],
    "zip": _zip,
    "memory": _memory,
    "npy": _npy,
    "map": lambda place: np.load(_npy(place), mmap_mode="r"),
    "hdf5": _hdf5,
    "dask": _dask,
    "xarray": _xarray,
    "numpy": lambda place: VALUES,
    "any": lambda place: Kept(VALUES, (4, 3)),
}


@pytest.mark.parametrize("kind", _KINDS)
def test_reads_what_is_asked_for(kind: str, tmp_path: Path) -> None:
    what = _KINDS[kind](tmp_path)
    e = xl.open(*what) if isinstance(what, tuple) else xl.open(what)
    assert e.shape == (6, 10)
    assert e.dtype == xl.float64
    found = xl.eval(e[1:, ::-3] + e[:-1, 9:0:-3].mT.mT[:, :1]).numpy()
    np.testing.assert_array_equal(found, VALUES[1:, ::-3] + VALUES[:-1, 9:10])
    np.testing.assert_array_equal(xl.eval(e[:, [7, 0, 7]]).numpy(), VALUES[:, [7, 0, 7]])


def test_an_expression_is_what_it_is() -> None:
    e = xl.open(VALUES)
    assert xl.open(e) is e
    assert repr(e) == "<XFunction over numpy ndarray: float64[6, 10], lazy>"


def test_rank_0_and_no_elements() -> None:
    assert float(xl.open(np.asarray(3.0)) * 2) == 6.0
    empty = xl.open(np.zeros((0, 3)))
    assert xl.eval(empty + 1).shape == (0, 3)
    assert float(xl.sum(empty)) == 0.0
    with pytest.raises(xl.ShapeError, match="no identity"):
        xl.max(empty)


def test_data_sets_without_a_shape_and_views_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"], file["y"] = h5py.Empty("f8"), np.arange(3)
        with pytest.raises(xl.DTypeError, match=r"is a view; open its data set, and convert with"):
            xl.open(file["y"].astype("f8"))
    with pytest.raises(xl.DTypeError, match=r"^open: .*a\.h5:x has no elements, and no shape"):
        xl.open(tmp_path / "a.h5", "x")


def test_narrow_dtypes(tmp_path: Path) -> None:
    narrow = VALUES.astype(ml_dtypes.bfloat16)
    e = xl.open(Kept(narrow, (4, 3))) * 2
    assert e.dtype == xl.bfloat16
    np.testing.assert_array_equal(xl.eval(e).numpy(), narrow * narrow.dtype.type(2))
    np.save(tmp_path / "a.npy", narrow)
    again = xl.open(tmp_path / "a.npy", dtype=ml_dtypes.bfloat16)
    np.testing.assert_array_equal(xl.eval(again).numpy(), narrow)
    with pytest.raises(xl.DTypeError, match=r"elements of 2 bytes, .* dtype='bfloat16'"):
        xl.open(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", VALUES.astype(ml_dtypes.float8_e5m2))  # NumPy cannot read it
    tiny = xl.open(tmp_path / "b.npy", dtype="float8_e5m2")
    np.testing.assert_array_equal(xl.eval(tiny).numpy(), VALUES.astype(ml_dtypes.float8_e5m2))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e8m0fnu", "int4", "uint1"])
def test_narrow_dtypes_are_known_again(tmp_path: Path, name: str) -> None:
    """What `store` writes, and `save`; after an interrupted store too."""
    narrow = np.ones((6, 10)).astype(xl.eval(xl.astype(xl.asarray(VALUES), name)).numpy().dtype)
    source, memory = Kept(narrow, (2, 10)), 140 * narrow.itemsize
    rows = [narrow[:2], narrow[:2], KeyboardInterrupt, KeyboardInterrupt]
    stops = mock.patch.object(Kept, "__getitem__", side_effect=rows)
    with stops, pytest.raises(KeyboardInterrupt):
        xl.store(xl.open(source), tmp_path / "a.npy", memory=memory)
    made = xl.store(xl.open(source), tmp_path / "a.npy", memory=memory, resume=True)
    assert len(source.read) < 3
    xl.save(tmp_path / "b.npy", xl.asarray(narrow))
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert made.dtype == narrow.dtype
    for found in (xl.open(tmp_path / "a.npy"), xl.load(tmp_path / "a.npy")):
        assert found.dtype == narrow.dtype
        np.testing.assert_array_equal(xl.eval(found).numpy(), narrow)


def test_a_path_where_nothing_of_zarr_is(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    (tmp_path / "a.tif").write_bytes(b"II*")
    zarr.open_group(tmp_path / "group", mode="w").create_array("x", shape=(3,), dtype="f8")
    for path in (tmp_path, tmp_path / "a.tif"):
        with pytest.raises(xl.StorageError, match=r"nothing of zarr's is there; .* \.npy"):
            xl.open(path)
    with pytest.raises(xl.StorageError, match="there by the name 'y'"):
        xl.open(tmp_path / "group", "y")


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "truncated; the file has 0 bytes"), (3, "truncated"), (60, "reading array header"),
     (200, "the file has 200 bytes"), (-1, "does not begin as .npy files do")],
)  # fmt: skip
def test_a_npy_file_that_is_cut_short_or_none(tmp_path: Path, count: int, told: str) -> None:
    path = _npy(tmp_path)
    data = path.read_bytes()[:count] if count >= 0 else b"\x80\x04K\x01."  # of pickle
    path.write_bytes(data)
    with pytest.raises(xl.StorageError, match=rf"^open: .*a\.npy: ValueError: .*{told}"):
        xl.open(path)
    with pytest.raises(xl.StorageError, match=r"^open: .*a\.npy: ValueError: .*"):
        xl.open(path, dtype="float8_e5m2")


def test_a_dtype_that_the_elements_do_not_have(tmp_path: Path) -> None:
    for what in (VALUES, _npy(tmp_path)):
        with pytest.raises(xl.DTypeError, match="elements of float64, not of bfloat16"):
            xl.open(what, dtype="bfloat16")
        with pytest.raises(xl.DTypeError, match="elements of float64, not of int64"):
            xl.open(what, dtype="int64")
    with pytest.raises(xl.DTypeError, match="'float7' is not the name"):
        xl.open(VALUES, dtype="float7")


def test_an_array_that_is_removed_has_no_values(tmp_path: Path) -> None:
    e = xl.open((_zarr(tmp_path, 3), tmp_path / "z")[1])
    shutil.rmtree(tmp_path / "z")
    with pytest.raises(xl.StorageError, match=r"chunks \(0, 0\): FileNotFound.* not there any lon"):
        float(xl.sum(e))


@pytest.mark.parametrize("what", [3.0, "nowhere.npy", "nowhere.h5", None, np.array(["a"])])
def test_what_cannot_be_opened(what: Any) -> None:
    pytest.importorskip("h5py")
    with pytest.raises((xl.StorageError, xl.DTypeError), match="open"):
        xl.open(what)


def test_variables_of_xarray_have_the_chunks_of_what_they_read(tmp_path: Path) -> None:
    xarray, zarr = pytest.importorskip("xarray"), pytest.importorskip("zarr")
    group = zarr.create_group(tmp_path / "g")
    group.create_array("v", data=VALUES, chunks=(4, 3), dimension_names=("y", "x"))
    v = xarray.open_dataset(tmp_path / "g", engine="zarr", consolidated=False).v
    made = xl.store(xl.open(v) - xl.mean(xl.open(v), axis=1, keepdims=True), tmp_path / "a")
    assert made.chunks == (4, 3)
    expected = xl.asarray(VALUES) - xl.mean(xl.asarray(VALUES), axis=1, keepdims=True)
    np.testing.assert_array_equal(made[...], xl.eval(expected).numpy())


@pytest.mark.parametrize("kind", ["numpy", "dask"])
def test_masks_are_not_lost(kind: str) -> None:
    masked: Any = np.ma.masked_greater(VALUES, 5)
    if kind == "dask":
        masked = pytest.importorskip("dask.array").from_array(masked, chunks=3)
    with pytest.raises(xl.DTypeError, match=r"^open.*: got a masked array; fill it first"):
        xl.open(masked)
    for other in (xl.optional(VALUES, VALUES > 5), xl.masked_view(xl.asarray(VALUES), VALUES > 5)):
        with pytest.raises(xl.DTypeError, match=r"^open: got X.*; values may be missing; take its"):
            xl.open(other)


def test_a_file_of_several_arrays_asks_for_a_name(tmp_path: Path) -> None:
    path, _ = _hdf5(tmp_path)
    with pytest.raises(xl.StorageError, match=r"is a group, .*; it has \['group'\]"):
        xl.open(path)


def test_groups_in_groups_ask_for_a_name(tmp_path: Path) -> None:
    path, _ = _hdf5(tmp_path)
    with pytest.raises(xl.StorageError, match=r"is a group, .*; it has \['x'\]"):
        xl.open(path, "group")
    xarray = pytest.importorskip("xarray")
    kept = xl.open(xarray.Dataset({"u": (("y", "x"), VALUES)}), "u")
    assert repr(kept).startswith("<XFunction over xarray Dataset:u")


def test_a_file_that_becomes_shorter_is_an_error(tmp_path: Path) -> None:
    child = child_of(f"""
        import os
        import numpy as np
        import xarraylite as xl
        path = {str(tmp_path / "a.npy")!r}
        np.save(path, np.zeros((1000, 1000)))
        a = xl.open(path)
        os.truncate(path, 5000)
        try:
            float(xl.sum(a))
        except xl.StorageError as error:
            print(error)
    """)
    out, err = child.communicate()
    assert child.returncode == 0, err
    assert "a.npy float64[1000, 1000], elements" in out
    assert "EOFError: the file has 5000 bytes, and had 8000128 when it was opened" in out


@pytest.mark.parametrize("options", [{}, {"chunks": (100, 300)}, {"fletcher32": True}])
def test_a_file_of_hdf5_that_becomes_shorter_is_an_error(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("y", data=np.ones((300, 300)), **options)
    a = xl.open(path, "y")
    os.truncate(path, 9000)  # the library has zeros for what is not there
    with pytest.raises(xl.StorageError, match=r"^read: .*a.h5:y float64\[300, 300\], elements "):
        float(xl.sum(a))


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *args: Any, **options: Any) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(ImportError, match=r"pip install xarraylite\[zarr\]"):
        xl.open("some.zarr")


def test_urls_of_files_that_are_read_here_only(tmp_path: Path) -> None:
    fsspec, zarr = pytest.importorskip("fsspec"), pytest.importorskip("zarr")
    with zarr.storage.ZipStore(str(tmp_path / "a.zip"), mode="w") as store:
        zarr.create_array(store, name="v", data=VALUES, chunks=(4, 3))
    with fsspec.open("memory://here_only/a.zip", "wb") as file:
        file.write((tmp_path / "a.zip").read_bytes())
    chained = f"zip://v::{tmp_path}/a.zip", "zip://v::memory://here_only/a.zip"
    for opened in (*map(xl.open, chained), xl.open("memory://here_only/a.zip", "v")):
        np.testing.assert_array_equal(xl.eval(opened).numpy(), VALUES)
    for name in ("a.npy", "a.h5"):
        with pytest.raises(xl.StorageError, match=r"^open: memory:.*: only zarr arrays are opened"):
            xl.open(f"memory://here_only/{name}")
    with pytest.raises(xl.StorageError, match=r"^store: memory:.*a.npy has the name of another"):
        xl.store(xl.open(VALUES), "memory://here_only/a.npy")


def test_a_url_without_its_library_names_operation_and_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("zarr")
    registry = pytest.importorskip("fsspec.registry")
    own = {"class": "not_installed.Files", "err": "Install it"}
    monkeypatch.setitem(registry.known_implementations, "lacking", own)
    told = r"lacking://a.zarr: Install it; pip install xarraylite\[zarr\] fsspec\[lacking\]$"
    with pytest.raises(ImportError, match=rf"^open: {told}"):
        xl.open("lacking://a.zarr")
    with pytest.raises(ImportError, match=rf"^store: cannot make a zarr array under {told}"):
        xl.store(xl.open(VALUES), "lacking://a.zarr")


def test_which_array_of_several(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    zarr.create_group(tmp_path / "g").create_array("x/y", data=VALUES)
    np.testing.assert_array_equal(xl.eval(xl.open(tmp_path / "g", "x/y")).numpy(), VALUES)
    with pytest.raises(xl.StorageError, match=r"is a group, .*; it has \['x'\]"):
        xl.open(tmp_path / "g")
    np.save(tmp_path / "a.npy", VALUES)
    with pytest.raises(xl.StorageError, match="one array, and has no 'x'"):
        xl.open(tmp_path / "a.npy", "x")


@pytest.mark.parametrize(("compressors", "dtype"), [(None, "<f8"), ("auto", "<f8"), (None, ">f8")])
@pytest.mark.parametrize("shards", [None, (4, 6)])
def test_a_missing_chunk_is_the_fill_value_or_an_error(
    tmp_path: Path, shards: tuple[int, int] | None, compressors: Any, dtype: str
) -> None:
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(tmp_path / "z", shape=(8, 6), chunks=(4, 3), shards=shards,
                             dtype=dtype, compressors=compressors, fill_value=7.0)  # fmt: skip
    made[...] = 1.0
    whole = xl.open(tmp_path / "z", complete=True)
    np.testing.assert_array_equal(xl.eval(whole + 1), np.full((8, 6), 2.0))
    (tmp_path / "z" / "c" / "1" / "0").unlink()
    np.testing.assert_array_equal(xl.eval(xl.open(tmp_path / "z")[4:, :3]), np.full((4, 3), 7.0))
    for e in (whole, xl.open(tmp_path / "z", complete=True)):
        np.testing.assert_array_equal(xl.eval(e[:4] + 1), np.full((4, 6), 2.0))
        with pytest.raises(xl.StorageError, match=r"chunks \(1, 0\): FileNot.*c/1/0 is missing"):
            xl.eval(e + 1)


@pytest.mark.parametrize(("location", "endian"), [("start", "big"), ("end", "little")])
@pytest.mark.parametrize("checked", [True, False])
def test_a_chunk_that_is_missing_in_its_shard(
    tmp_path: Path, location: str, endian: Any, checked: bool
) -> None:
    zarr = pytest.importorskip("zarr")
    codecs = zarr.codecs
    check = [codecs.Crc32cCodec()] if checked else []
    sharding = codecs.ShardingCodec(
        chunk_shape=(2, 3),
        index_location=location,
        index_codecs=[codecs.BytesCodec(endian=endian), *check],
    )
    made = zarr.create_array(tmp_path / "z", shape=(8, 12), chunks=(4, 6), dtype="f8",
                             compressors=None, filters=None, serializer=sharding)  # fmt: skip
    values = np.ones((8, 12))
    values[6:, 9:] = 0.0  # left out
    made[...] = values
    for what in (tmp_path / "z", made):
        e = xl.open(what, complete=True)
        for key in ((slice(6), slice(None)), (slice(None), slice(9)), ([0, 5], [0, 9, 11])):
            part = e[key[0]][:, key[1]]
            np.testing.assert_array_equal(xl.eval(part + 1), values[key[0]][:, key[1]] + 1)
        for part in (e, e[:, ::-11], e[6:, 9:]):
            with pytest.raises(xl.StorageError, match=r"chunk \(3, 3\) is missing in .* c/1/1"):
                xl.eval(part + 1)
    np.testing.assert_array_equal(xl.eval(xl.open(made) + 1), values + 1)


@pytest.mark.parametrize("layout", [None, "column_major"])
@pytest.mark.parametrize("again", [False, True])
def test_what_was_stored_is_complete(tmp_path: Path, layout: str | None, again: bool) -> None:
    """Chunks that are all fill value too, of a store that was resumed as well."""
    pytest.importorskip("zarr")
    source = Kept(np.zeros((8, 6)), (2, 6))
    if again:
        rows = [np.zeros((2, 6)), np.zeros((2, 6)), KeyboardInterrupt, KeyboardInterrupt]
        stops = mock.patch.object(Kept, "__getitem__", side_effect=rows)
        with stops, pytest.raises(KeyboardInterrupt):
            xl.store(xl.open(source), tmp_path / "z", layout=layout, memory=700)
    xl.store(xl.open(source), tmp_path / "z", layout=layout, memory=700, resume=again)
    assert len(source.read) < 4 or not again
    found = xl.eval(xl.open(tmp_path / "z", complete=True) + 1)
    np.testing.assert_array_equal(found, np.ones((8, 6)))


@pytest.mark.parametrize("compressors", [None, "auto"])
def test_only_chunks_that_are_read_must_be_there(tmp_path: Path, compressors: Any) -> None:
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(tmp_path / "z", shape=(40,), chunks=(4,), dtype="f8",
                             compressors=compressors)  # fmt: skip
    made[...] = values = np.arange(1.0, 41.0)
    for k in (1, 7):
        (tmp_path / "z" / "c" / str(k)).unlink()
    e = xl.open(tmp_path / "z", complete=True)
    for key in (slice(None, None, 20), slice(None, None, 16), [0, 39], [0, 8, 39], slice(8, 28)):
        np.testing.assert_array_equal(xl.eval(e[key] + 1), values[key] + 1)
    for key, name in ((slice(None, None, 29), 7), (slice(None, 24, 2), 1), ([0, 9, 30], 7)):
        with pytest.raises(xl.StorageError, match=rf"chunks \({name},\): .*c/{name} is missing"):
            xl.eval(e[key] + 1)


@pytest.mark.parametrize("length", [1, (2, *[1] * 97, 1)])
def test_more_pieces_of_dask_than_arrays_have_dimensions(length: Any) -> None:
    values = np.arange(100.0)
    made = pytest.importorskip("dask.array").from_array(values, chunks=(length,))
    np.testing.assert_array_equal(xl.eval(xl.open(made)[::-1] + 1).numpy(), values[::-1] + 1)
    assert xl.to_dask(xl.open(made) * 2, chunks=(length,)).compute().tolist() == [*values * 2]


def test_extents_that_dask_does_not_know() -> None:
    array = pytest.importorskip("dask.array").arange(10, chunks=3)
    picked = array[array > 4]
    with pytest.raises(xl.ShapeError, match=r"compute_chunk_sizes\(\)"):
        xl.open(picked)
    found = xl.open(picked.compute_chunk_sizes())
    assert np.asarray(xl.eval(found + 1)).tolist() == [6, 7, 8, 9, 10]
