"""Which arrays are the same, and what must not be overwritten while it is read."""

from __future__ import annotations

import itertools
import pickle
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept
from xarraylite.chunked import plan
from xarraylite.chunked.places import Carried, identity_of, same_place, travels

zarr = pytest.importorskip("zarr")

VALUES = np.arange(24.0).reshape(4, 6)


def test_replacing_an_operand_is_refused(tmp_path: Path) -> None:
    xl.store(xl.asarray(VALUES), tmp_path / "g" / "a", chunks=(2, 3))
    np.save(tmp_path / "b.npy", VALUES)
    a, b = xl.open(tmp_path / "g" / "a"), xl.open(tmp_path / "b.npy")
    for e, place in ((a + 1, "g/a"), (a @ a.T, "g"), (xl.sum(b, axis=0), "b.npy")):
        with pytest.raises(xl.OverlapError, match="would be removed before it has been read"):
            xl.store(e, tmp_path / place, overwrite=True)
    np.testing.assert_array_equal(xl.eval(a).numpy(), VALUES)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), VALUES)
    url = f"file://{tmp_path}/g/a"
    with pytest.raises(xl.OverlapError, match="would be removed"):
        xl.store(xl.open(url) + 1, url, overwrite=True)


def test_replacing_an_operand_under_a_url_is_refused() -> None:
    pytest.importorskip("fsspec")
    xl.store(xl.asarray(VALUES), "memory://replaced/g/a", chunks=(2, 3), overwrite=True)
    opened = xl.open("memory://replaced/g/a"), xl.open("memory://replaced", "g/a")
    for a, url in zip(opened, ("replaced/g/", "replaced/g/a"), strict=True):
        with pytest.raises(xl.OverlapError, match="would be removed before it has been read"):
            xl.store(a + 1, f"memory://{url}", overwrite=True)
    np.testing.assert_array_equal(xl.eval(opened[0]).numpy(), VALUES)
    xl.store(opened[0] + 1, "memory://replaced/g/ab", overwrite=True)
    np.testing.assert_array_equal(xl.eval(xl.open("memory://replaced/g/ab")).numpy(), VALUES + 1)


def _in_dask(path: Path) -> Any:
    return pytest.importorskip("dask.array").from_zarr(str(path / "v"))


def _inlined(path: Path) -> Any:
    array = zarr.open_array(path / "v", mode="r")
    return pytest.importorskip("dask.array").from_array(array, inline_array=True)[:] + 0


def _in_xarray(path: Path) -> Any:
    return pytest.importorskip("xarray").open_dataset(path, engine="zarr", consolidated=False).v


def _in_both(path: Path) -> Any:
    xarray = pytest.importorskip("xarray")
    return xarray.open_dataset(path, engine="zarr", consolidated=False, chunks={"x": 3}).v


@pytest.mark.parametrize("opened", [_in_dask, _inlined, _in_xarray, _in_both])
def test_an_operand_that_another_library_reads(opened: Any, tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path)
    array = group.create_array("v", data=VALUES, chunks=(2, 3), dimension_names=("y", "x"))
    a = xl.open(opened(tmp_path))
    with pytest.raises(xl.OverlapError, match="would be removed before it has been read"):
        xl.store(a + 1, tmp_path / "v", overwrite=True)
    with pytest.raises(xl.OverlapError, match="other blocks write"):
        xl.store(a[::-1], array)
    np.testing.assert_array_equal(xl.eval(a).numpy(), VALUES)


def test_views_of_one_memory() -> None:
    x = np.arange(8.0)
    for e in (xl.open(x)[:-1] * 1, xl.open(x[:-1]) * 1, xl.open(x[:0:-1]), xl.adapt(x)[:-1] + 0):
        with pytest.raises(xl.OverlapError, match="other blocks write"):
            xl.store(e, x[1:])
    with pytest.raises(xl.OverlapError, match=r"^explain: .* other blocks write"):
        xl.explain(xl.open(x)[:-1] * 1, x[1:])
    xl.store(xl.open(x[::2]) + xl.adapt(x)[::2], x[::2])
    xl.store(xl.open(x[::2]) - 1, x[1::2])
    np.testing.assert_array_equal(x, [0, -1, 4, 3, 8, 7, 12, 11])
    box = xl.asarray(np.arange(8.0))
    for target in box, box[::-1]:
        with pytest.raises(xl.OverlapError, match="other blocks write"):
            xl.store(xl.open(np.asarray(box)[::-1]) * 1 + xl.open(np.asarray(box)), target)
    xl.store(xl.open(np.asarray(box)) * 2, box)
    np.testing.assert_array_equal(box, np.arange(8.0) * 2)


def test_maps_of_one_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VALUES)

    def mapped() -> Any:
        return np.load(tmp_path / "a.npy", mmap_mode="r+")

    assert same_place(mapped(), mapped())
    assert same_place(mapped()[1:], mapped()[:-1]) is False
    for target in mapped()[1:], np.asarray(mapped())[1:], xl.adapt(mapped())[1:]:
        with pytest.raises(xl.OverlapError, match="other blocks write"):
            xl.store(xl.open(tmp_path / "a.npy")[:-1] + 0, target)
    part = pickle.loads(pickle.dumps(Carried(mapped()[2:]))).again()
    np.testing.assert_array_equal(part, VALUES[2:])
    xl.store(xl.open(tmp_path / "a.npy") * 2, mapped())
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), VALUES * 2)


def test_data_sets_of_one_file(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"], file["b"] = VALUES, VALUES
        xl.store(xl.open(file["a"])[::-1], file["b"])
        np.testing.assert_array_equal(file["b"][...], VALUES[::-1])
        with pytest.raises(xl.OverlapError, match="other blocks write"):
            xl.store(xl.open(file["a"])[::-1], file["a"])


@pytest.mark.parametrize("name", ["b.h5", "%b.h5", "."])
def test_virtual_data_sets_are_what_they_are_made_of(tmp_path: Path, name: str) -> None:
    h5py = pytest.importorskip("h5py")
    first, view = h5py.VirtualLayout((2, 3, 4), "f8"), h5py.VirtualLayout((2, 3, 4), "f8")
    first[...] = h5py.VirtualSource("b.h5" if name == "%b.h5" else name, "a", (2, 3, 4))
    view[...] = h5py.VirtualSource(".", "first", (2, 3, 4))
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["a"], file["other"] = np.zeros((2, 3, 4)), np.zeros((2, 3, 4))
    place = tmp_path / ("b.h5" if name == "." else "c.h5")
    with h5py.File(place, "a") as file, h5py.File(tmp_path / "b.h5", "r+") as made:
        file.create_virtual_dataset("first", first)
        file.create_virtual_dataset("view", view)
        for inner in ("first", "view"):
            before = xl.open(file[inner]).node.source.identity()
            for one, other in ((file[inner], made["a"]), (made["a"], file[inner])):
                with pytest.raises(xl.OverlapError, match="other blocks write"):
                    xl.store(xl.open(one)[::-1], other)
            xl.store(xl.open(file[inner])[::-1] + 1, made["other"])
            made["a"][...] += 1
            made.flush()
            assert xl.open(file[inner]).node.source.identity() != before
        assert (made["other"][...] == 2).all()


def test_one_data_set_or_file_by_several_names(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    np.save(tmp_path / "a.npy", VALUES)
    (tmp_path / "b.npy").hardlink_to(tmp_path / "a.npy")
    target = np.load(tmp_path / "b.npy", mmap_mode="r+")
    with pytest.raises(xl.OverlapError, match="other blocks write"):
        xl.store(xl.open(tmp_path / "a.npy")[::-1], target)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"], file["soft"] = VALUES, h5py.SoftLink("/a")
        file["hard"] = file["a"]
        for one, other in itertools.permutations(["a", "soft", "hard"], 2):
            with pytest.raises(xl.OverlapError, match="other blocks write"):
                xl.store(xl.open(file[one])[::-1], file[other])
        xl.store(xl.open(file["a"]) + 1, file["soft"])
        np.testing.assert_array_equal(file["hard"][...], VALUES + 1)


@pytest.mark.parametrize(
    "fold",
    [
        lambda a: a - xl.max(a, axis=0),  # blocks of 21 rows and of one, that read a column each
        lambda a: a - xl.max(a[:, ::-1], axis=0) + xl.min(a[:, ::-1], axis=0),
    ],
)
def test_what_is_folded_of_the_target_is_read_before(fold: Any) -> None:
    values = np.random.default_rng(0).normal(size=(22, 66))
    array = zarr.create_array(zarr.storage.MemoryStore(), data=values, chunks=(21, 11))
    expected = xl.eval(fold(xl.asarray(values))).numpy()
    with mock.patch.object(plan, "ENOUGH", 1), mock.patch.object(plan, "SMALLEST", 1):
        xl.store(fold(xl.open(array)), array, memory=100_000)
    np.testing.assert_array_equal(array[...], expected)


def test_a_file_whose_state_nobody_knows(tmp_path: Path) -> None:
    a = zarr.create_array(tmp_path / "a", data=VALUES, chunks=(2, 3), compressors=None)
    chunk = tmp_path / "a" / "c" / "1" / "1"
    chunk.unlink()
    chunk.symlink_to(chunk.name)
    with pytest.raises(
        xl.StorageError, match=r"read: .*, elements \[2:4, 3:6\] in chunks \(1, 1\)"
    ):
        xl.store(xl.open(a) + 1, tmp_path / "b", chunks=(2, 3))


def test_arrays_of_one_store() -> None:
    store = zarr.storage.MemoryStore()
    a = zarr.create_array(store, name="a", data=VALUES, chunks=(2, 3))
    b = zarr.create_array(store, name="b", data=VALUES, chunks=(2, 3))
    again = zarr.open_array(store, path="a")
    assert same_place(a, again)
    assert same_place(a, b) is None
    with pytest.raises(xl.OverlapError, match="other blocks write"):
        xl.store(xl.open(again)[::-1], a)


class Stops(Kept):
    """Is interrupted after its first row, if at all."""

    stops = True

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        if key[0].start and self.stops:
            raise KeyboardInterrupt
        return super().__getitem__(key)


class Own(np.ndarray[Any, Any]):
    """A class of a user's."""


@pytest.mark.parametrize("kind", ["memory", "own", "masked", "dask", "url", "file"])
def test_changes_of_operands_are_noticed(kind: str, tmp_path: Path) -> None:
    da = pytest.importorskip("dask.array")
    values = VALUES.copy()
    url = f"memory://{tmp_path.name}/a"
    if kind == "url":
        zarr.create_array(url, data=values, chunks=(1, 6))

    np.save(tmp_path / "in.npy", values)

    def opened() -> Any:
        return {
            "file": tmp_path / "in.npy",
            "memory": values,
            "own": values.view(Own),
            "masked": np.ma.masked_array(values, values < 0),
            "dask": da.from_array(values, chunks=(1, 6)),
            "url": url,
        }[kind]

    target, stops = tmp_path / "t.npy", Stops(VALUES, (1, 6))

    def write() -> None:
        xl.store(xl.open(opened()) + xl.open(stops), target, chunks=(1, 6), memory=600, resume=True)

    for _ in range(2):  # nothing has changed yet
        with pytest.raises(KeyboardInterrupt):
            write()
    stops.stops = False
    values[3] += 1
    # Another file: what reads ahead may still read the old one, which must not get shorter.
    np.save(tmp_path / "new.npy", values)
    (tmp_path / "new.npy").replace(tmp_path / "in.npy")
    if kind == "url":
        zarr.open_array(url)[3] = values[3]
    with pytest.raises(xl.StorageError, match="an operand has changed"):
        write()


def test_variables_of_xarray_are_known_unread(tmp_path: Path) -> None:
    """By where they are, and which part of it they are; its token is of all values."""
    xarray = pytest.importorskip("xarray")
    xarray.Dataset({"v": (("y", "x"), VALUES)}).to_zarr(tmp_path / "a", consolidated=False)
    v = xarray.open_dataset(tmp_path / "a", engine="zarr", consolidated=False).v
    again, part, other = ([*identity_of(x.variable)] for x in (v, v[1:3], v[2:4]))
    assert again == [*identity_of(v.variable)]
    assert again != part != other
    assert type(v.variable._data).__name__ == "MemoryCachedArray"
    assert not isinstance(v.variable._data.array.array, np.ndarray)


@pytest.mark.parametrize("path", ["z", ""])
def test_changes_of_siblings_are_none(path: str) -> None:
    store = zarr.storage.MemoryStore()
    made = zarr.create_array(store, name=path, data=VALUES, chunks=(2, 3))
    before = list(identity_of(made))
    assert len(before) > 4
    if path:
        zarr.create_array(store, name="z_log", data=VALUES)
        assert list(identity_of(made)) == before
    made[0, 0] = -1
    assert list(identity_of(made)) != before


def test_a_file_system_in_memory_travels_with_what_is_in_it() -> None:
    """Each process has its own: another one would find fill values there."""
    fsspec = pytest.importorskip("fsspec")
    url = "memory://test_places"
    try:
        zarr.create_group(url).create_array("x/y", data=VALUES, chunks=(2, 3))
        for kept in (zarr.open_array(f"{url}/x/y"), zarr.open_group(url)["x/y"]):
            assert not travels(kept)
            told = pickle.dumps(Carried(kept))
            kept[0, 0] += 1  # the other process has what was there
            np.testing.assert_array_equal(pickle.loads(told).again()[1:], VALUES[1:])
            assert pickle.loads(told).again()[0, 0] == kept[0, 0] - 1
    finally:
        fsspec.filesystem("memory").rm("/test_places", recursive=True)


@pytest.mark.parametrize("kind", ["dir", "simplecache", "reference", "zip", "store"])
def test_what_is_around_a_file_system_in_memory_travels_with_it(kind: str, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    around = pytest.importorskip("fsspec.implementations.asyn_wrapper").AsyncFileSystemWrapper
    memory, zipped = fsspec.filesystem("memory"), tmp_path / "z.zip"

    def over(files: Any, path: str) -> Any:
        return zarr.storage.FsspecStore(around(files, asynchronous=True), read_only=True, path=path)

    try:
        made = zarr.create_group("memory://around").create_array("x", data=VALUES, chunks=(2, 3))
        files = {name.removeprefix("/around/"): name for name in memory.find("/around")}
        if kind == "zip":
            with zipfile.ZipFile(zipped, "w") as file:
                for key, name in files.items():
                    file.writestr(key, memory.cat(name))
            memory.pipe("/around/z.zip", zipped.read_bytes())
        told = {key: [f"memory:/{name}"] for key, name in files.items()}
        store = {
            "dir": lambda: over(fsspec.filesystem("dir", path="/", fs=memory), "around"),
            "simplecache": lambda: over(
                fsspec.filesystem("simplecache", fs=memory, cache_storage=str(tmp_path)), "/around"
            ),
            "reference": lambda: over(
                fsspec.filesystem("reference", fo=told, fs={"memory": memory}), ""
            ),
            "zip": lambda: over(fsspec.filesystem("zip", fo="memory://around/z.zip"), ""),
            "store": lambda: zarr.storage.WrapperStore(made.store),
        }[kind]()
        kept = zarr.open_array(store, path="x", mode="r")
        assert not travels(kept)
        before = list(identity_of(kept))
        sent = Carried(kept).__reduce__()[1][0]
        memory.rm("/around", recursive=True)  # another process has none of it
        np.testing.assert_array_equal(sent[...], VALUES)
        assert len(before) > 4
        assert list(identity_of(sent))[1:] == before[1:]
    finally:
        if memory.exists("/around"):
            memory.rm("/around", recursive=True)


def test_maps_go_to_other_processes_as_their_files(tmp_path: Path) -> None:
    """What is not all there in its file goes with its values, however often."""
    np.save(tmp_path / "a.npy", VALUES)
    np.save(tmp_path / "f.npy", np.asfortranarray(VALUES))
    whole, turned = (np.load(tmp_path / name, mmap_mode="r") for name in ("a.npy", "f.npy"))
    own = np.load(tmp_path / "a.npy", mmap_mode="c")
    own[0] = 7.0
    maps = [whole, turned, whole[1:]]
    for array in (*maps, whole[::-1], turned[::-1], whole.copy(), own):
        sent = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(Carried(array))))).again()
        np.testing.assert_array_equal(sent, array)
        assert (getattr(sent, "filename", None) is not None) == any([array is m for m in maps])
    assert [travels(np.load(tmp_path / "f.npy", mmap_mode=m)) for m in ("r+", "c")] == [True, False]


def test_views_of_data_sets_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(3)
        with pytest.raises(xl.DTypeError, match=r"is a view; open its data set, and convert with"):
            xl.open(file["x"].astype("f8"))
