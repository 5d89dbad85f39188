"""Names of files and paths to them, as `xl.open` and `xl.store` take them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import xarraylite as xl

VALUES = np.arange(60.0).reshape(6, 10)


class _Named:
    """A path that knows its name alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


def _npy(place: Path) -> Path:
    np.save(place / "a.npy", VALUES)
    return place / "a.npy"


def _hdf5(place: Path) -> Path:
    with pytest.importorskip("h5py").File(place / "a.h5", "w") as file:
        file["x"] = VALUES
    return place / "a.h5"


def _zip(place: Path) -> Path:
    zarr = pytest.importorskip("zarr")
    with zarr.storage.ZipStore(place / "a.zip", mode="w") as store:
        zarr.create_array(store, name="x", data=VALUES)
    return place / "a.zip"


@pytest.mark.parametrize("make", [_npy, _hdf5, _zip])
def test_names_in_capitals_below_the_home_directory(
    make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    path = make(tmp_path)
    key = [] if make is _npy else ["x"]
    large = path.with_name(path.name.upper())
    path.rename(large)
    for what in (large, str(large), _Named(large), f"file://{large}", f"~/{large.name}"):
        np.testing.assert_array_equal(xl.eval(xl.open(what, *key)).numpy(), VALUES)


@pytest.mark.parametrize("name", ["O.NPY", "o.ZARR"])
def test_results_are_stored_under_such_names(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("zarr")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    place = tmp_path / name
    for target in (place, str(place), _Named(place), f"file://{place}", f"~/{name}"):
        made = xl.store(xl.open(VALUES) + 1, target, overwrite=True)
        assert isinstance(made, np.memmap) == name.endswith("NPY")
        np.testing.assert_array_equal(xl.eval(xl.open(place) - 1).numpy(), VALUES)
    with pytest.raises(xl.StorageError, match=r"X\.H5 has the name of another format"):
        xl.store(xl.open(VALUES), tmp_path / "X.H5")
