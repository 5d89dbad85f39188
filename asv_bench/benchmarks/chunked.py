"""Larger than memory, against dask.array over NumPy and loops over chunks written by hand.

All sides read the same zarr arrays from the file cache, so what differs is what is done with them.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import xarraylite as xl

from . import ROUNDS, Comparison, size, values


class Stored(Comparison):
    """Two arrays on disk, and a place for a third."""

    wanted = 1.0
    rounds = min(ROUNDS, 5)
    compressors: Any = None

    def setup(self) -> None:
        try:
            import dask.array as da
            import zarr
        except ImportError as error:
            raise NotImplementedError("zarr and dask are needed") from error
        self.da, self.zarr = da, zarr
        self.place = Path(tempfile.mkdtemp())
        n = size(6144, 96)
        self.chunk = size(1024, 40)
        for k, name in enumerate(("a", "b", "out")):
            array = zarr.create_array(
                self.place / name, shape=(n, n), chunks=(self.chunk,) * 2, dtype="f8",
                compressors=self.compressors,
            )  # fmt: skip
            if name != "out":
                array[...] = np.round(np.abs(values(n, n, seed=k)) * 64)
        self.a, self.b = (xl.open(self.place / name) for name in "ab")
        self.x, self.y = (da.from_zarr(str(self.place / name)) for name in "ab")
        self.out = zarr.open_array(self.place / "out", mode="r+")

    def teardown(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)


class Elementwise(Stored):
    """Read, one kernel, write."""

    title = "store((a - b)**2 * 0.5 + sqrt(a)), 2 x 300 MB zarr, against dask.array"

    def xarraylite(self) -> object:
        return xl.store((self.a - self.b) ** 2 * 0.5 + xl.sqrt(self.a), self.out)[...]

    def numpy(self) -> object:
        e = (self.x - self.y) ** 2 * 0.5 + self.da.sqrt(self.x)
        self.da.store(e, self.out, lock=False)
        return self.out[...]


class ElementwiseLoop(Elementwise):
    """The same against a loop over chunks."""

    title = "store((a - b)**2 * 0.5 + sqrt(a)), 2 x 300 MB zarr, against a loop over chunks"

    def numpy(self) -> object:
        a, b = (self.zarr.open_array(self.place / name, mode="r") for name in "ab")
        n, c = a.shape[0], self.chunk
        for i in range(0, n, c):
            for j in range(0, n, c):
                at = (slice(i, i + c), slice(j, j + c))
                x = a[at]
                self.out[at] = (x - b[at]) ** 2 * 0.5 + np.sqrt(x)
        return self.out[...]


class ElementwiseCompressed(Elementwise):
    """With the compression that zarr uses where nothing is said."""

    title = "store((a - b)**2 * 0.5 + sqrt(a)), compressed, against dask.array"
    compressors = "auto"


class _Fast:
    """Compression that takes little time, so that what is around it counts."""

    def setup(self) -> None:
        try:
            from zarr.codecs import BloscCodec
        except ImportError as error:
            raise NotImplementedError("zarr is needed") from error
        self.compressors = BloscCodec(cname="lz4")
        super().setup()  # type: ignore[misc]


class ElementwiseFast(_Fast, Elementwise):
    """With Blosc's LZ4."""

    title = "store((a - b)**2 * 0.5 + sqrt(a)), Blosc with LZ4, against dask.array"


class Sum(Stored):
    """A fold over both."""

    title = "sum((a - b)**2), 2 x 300 MB zarr, against dask.array"

    def xarraylite(self) -> object:
        return float(xl.sum((self.a - self.b) ** 2))

    def numpy(self) -> object:
        return float(((self.x - self.y) ** 2).sum().compute())


class SumFast(_Fast, Sum):
    """With Blosc's LZ4."""

    title = "sum((a - b)**2), Blosc with LZ4, against dask.array"


class Stencil(Stored):
    """Five shifts, of which the halo is read once for every block."""

    title = "five-point stencil, 300 MB zarr, against dask.array"

    def setup(self) -> None:
        super().setup()
        n = self.out.shape[0] - 2
        self.out = self.zarr.create_array(
            self.place / "inner", shape=(n, n), chunks=(self.chunk,) * 2, dtype="f8",
            compressors=None,
        )  # fmt: skip

    @staticmethod
    def write(u: Any) -> Any:
        shifted = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return 4.0 * u[1:-1, 1:-1] - shifted

    def xarraylite(self) -> object:
        return xl.store(self.write(self.a), self.out)[...]

    def numpy(self) -> object:
        self.da.store(self.write(self.x).rechunk(self.chunk), self.out, lock=False)
        return self.out[...]


class Transpose(Stored):
    """Blocks are read across."""

    title = "store(a.T), 300 MB zarr, against dask.array"

    def xarraylite(self) -> object:
        return xl.store(self.a.T, self.out)[...]

    def numpy(self) -> object:
        self.da.store(self.x.T, self.out, lock=False)
        return self.out[...]


class StencilCompressed(Stencil):
    """Chunks whose halos others need are decoded once."""

    title = "five-point stencil, compressed, against dask.array"
    compressors = "auto"


class Standardisation(Stored):
    """Two folds over the long axis and what follows, column by column; dask keeps the operand."""

    title = "store((a - mean) / std) over the long axis, 300 MB zarr, against dask.array"

    def xarraylite(self) -> object:
        e = (self.a - xl.mean(self.a, axis=0)) / xl.std(self.a, axis=0)
        return xl.store(e, self.out)[...]

    def numpy(self) -> object:
        e = (self.x - self.x.mean(axis=0)) / self.x.std(axis=0)
        self.da.store(e, self.out, lock=False)
        return self.out[...]


class Product(Stored):
    """Tiles of a product of matrices, by BLAS."""

    title = "store(a @ b), 2 x 300 MB zarr, against dask.array"

    def xarraylite(self) -> object:
        return xl.store(self.a @ self.b, self.out)[...]

    def numpy(self) -> object:
        self.da.store(self.x @ self.y, self.out, lock=False)
        return self.out[...]
