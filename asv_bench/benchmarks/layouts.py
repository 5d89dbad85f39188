"""Tiled layouts: moving into and out of them, computing in them, and asking about them."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import xarraylite as xl

from . import Comparison, size, values

F32 = "{1,0:T(8,128)}"
BF16 = "{1,0:T(8,128)(2,1)}"


class Pack(Comparison):
    """Row-major to tiled, against a plain copy of as many bytes."""

    title = "pack 4096 x 4096 float32 into T(8,128), against copyto"
    wanted = 0.7
    dtype = np.dtype(np.float32)
    layout = F32

    def setup(self) -> None:
        n = size(4096, 256)
        self.operand = values(n, n).astype(self.dtype)
        self.numpy_out = np.empty_like(self.operand)
        self.rows = xl.asarray(self.operand)
        self.tiles = xl.asarray(self.operand, layout=self.layout)
        self.more_rows, self.more_tiles = self.rows.copy(), self.tiles.copy()
        self.row_out = xl.empty((n, n), dtype=self.dtype)
        self.out = xl.empty((n, n), dtype=self.dtype, layout=self.layout)
        self.xarraylite()

    def xarraylite(self) -> object:
        self.out[...] = self.rows
        return self.out

    def numpy(self) -> object:
        np.copyto(self.numpy_out, self.operand)
        return self.numpy_out

    def results(self) -> tuple[object, object]:
        ours, theirs = super().results()
        return np.asarray(ours).astype(np.float32), np.asarray(theirs).astype(np.float32)


class Unpack(Pack):
    """Tiled to row-major."""

    title = "unpack 4096 x 4096 float32 from T(8,128), against copyto"

    def setup(self) -> None:
        super().setup()
        self.out = xl.empty(self.rows.shape, dtype=self.dtype)
        self.xarraylite()

    def xarraylite(self) -> object:
        self.out[...] = self.tiles
        return self.out


class CopyTransposed(Pack):
    """Rows to columns, into new memory."""

    title = "a.T.copy(), 4096 x 4096 float32, against copyto"
    wanted = None

    def xarraylite(self) -> object:
        return self.rows.T.copy()

    def results(self) -> tuple[object, object]:
        return self.xarraylite(), self.operand.T


class PackPairs(Pack):
    """Pairs of rows share 32-bit words."""

    title = "pack 4096 x 4096 bfloat16 into T(8,128)(2,1), against copyto"
    dtype = np.dtype(ml_dtypes.bfloat16)
    layout = BF16


class UnpackPairs(Unpack):
    """Pairs of rows share 32-bit words."""

    title = "unpack 4096 x 4096 bfloat16 from T(8,128)(2,1), against copyto"
    dtype = np.dtype(ml_dtypes.bfloat16)
    layout = BF16


class PackReshape(Pack):
    """The way NumPy's users tile: reshape, transpose, copy."""

    title = "pack 4096 x 4096 float32 into T(8,128), against reshape and transpose"
    wanted = 1.0

    def numpy(self) -> object:
        n = self.operand.shape[0]
        tiles = self.operand.reshape(n // 8, 8, n // 128, 128).transpose(0, 2, 1, 3)
        np.copyto(self.numpy_out.reshape(tiles.shape), tiles)
        return self.numpy_out

    def results(self) -> tuple[object, object]:
        self.xarraylite(), self.numpy()
        ours = np.asarray(self.out.buffer.data).view(np.float32)
        return ours.reshape(self.numpy_out.shape), self.numpy_out


class PackPairsReshape(PackPairs):
    """The same in NumPy, on integers of 16 bits."""

    title = "pack 4096 x 4096 bfloat16 into T(8,128)(2,1), against reshape"
    wanted = 1.0

    def numpy(self) -> object:
        n = self.operand.shape[0]
        rows = self.operand.view(np.uint16).reshape(n // 8, 4, 2, n // 128, 128)
        pairs = rows.transpose(0, 3, 1, 4, 2)
        np.copyto(self.numpy_out.view(np.uint16).reshape(pairs.shape), pairs)
        return self.numpy_out

    def results(self) -> tuple[object, object]:
        self.xarraylite(), self.numpy()
        ours = np.asarray(self.out.buffer.data).view(np.uint16).astype(np.float32)
        return ours, self.numpy_out.view(np.uint16).ravel().astype(np.float32)


class AddTiled(Pack):
    """Both operands and the result tiled alike, against all of them row-major."""

    unit = "of the row-major time"
    title = "a + b, 4096 x 4096 float32, all T(8,128), against all row-major"
    wanted = 0.9

    def setup(self) -> None:
        super().setup()
        self.numpy()

    def xarraylite(self) -> object:
        self.out[...] = self.tiles + self.more_tiles
        return self.out

    def numpy(self) -> object:
        self.row_out[...] = self.rows + self.more_rows
        return self.row_out


class ShiftTiled(AddTiled):
    """Rows of a tiled array moved down by one, slab by slab, without a temporary."""

    title = "a[1:] = a[:-1], 4096 x 4096 float32, T(8,128), against row-major"
    wanted = None

    def xarraylite(self) -> object:
        self.tiles[1:] = self.tiles[:-1]
        return self.tiles

    def numpy(self) -> object:
        self.rows[1:] = self.rows[:-1]
        return self.rows


class AddMixed(AddTiled):
    """One operand tiled, the other and the result row-major."""

    title = "a + b, 4096 x 4096 float32, a T(8,128), against all row-major"
    wanted = 0.6

    def setup(self) -> None:
        super().setup()
        self.out = xl.empty(self.rows.shape, dtype=self.dtype)
        self.xarraylite()

    def xarraylite(self) -> object:
        self.out[...] = self.tiles + self.more_rows
        return self.out


class LinearIndex(Comparison):
    """Where an element of a tiled array lies, against NumPy's row-major ravel_multi_index."""

    title = "linear_index in bf16[16,1280,40]{2,1,0:T(8,128)(2,1)} (wanted: < 5 us)"

    def setup(self) -> None:
        self.spec = xl.ArraySpec.parse("bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}")
        self.plain = xl.ArraySpec.parse("bf16[16,1280,40]")
        self.xarraylite()

    def xarraylite(self) -> object:
        return self.spec.linear_index((11, 700, 33))

    def numpy(self) -> object:
        return np.ravel_multi_index((11, 700, 33), (16, 1280, 40))

    def results(self) -> tuple[object, object]:
        ours = np.asarray(self.plain.linear_index((11, 700, 33)), np.float64)
        return ours, np.asarray(self.numpy(), np.float64)


class Parse(Comparison):
    """Reading a spec, a new text each time, against a NumPy dtype with a shape."""

    title = "parse bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)} (wanted: < 20 us)"

    def setup(self) -> None:
        self.number = 0
        self.xarraylite()

    def xarraylite(self) -> object:
        self.number += 1
        return xl.ArraySpec.parse(f"bf16[8,1,1280,{self.number}]{{3,2,0,1:T(8,128)(2,1)}}")

    def numpy(self) -> object:
        self.number += 1
        return np.dtype([("x", "f4", (8, 1, 128, self.number % 1000))])

    def results(self) -> tuple[object, object]:
        spec = self.xarraylite()
        assert isinstance(spec, xl.ArraySpec)
        return np.asarray(spec.dimensions), np.asarray([8, 1, 1280, self.number])
