"""Labelled products, against `numpy.matmul` and the better of `numpy.einsum` and `numpy.tensordot`.

Both sides write a result of the same order: into existing memory where NumPy's function
has ``out=``, else into new memory.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import xarraylite as xl

from . import ROUNDS, Comparison, size, values


class MatrixProduct(Comparison):
    """BLAS writes the destination; nothing is copied."""

    title = 'C["i,k"] = A["i,j"] * B["j,k"], 1024 x 1024 float64, against matmul'
    wanted = 0.95
    dtype = np.dtype(np.float64)

    def setup(self) -> None:
        n = size(1024, 40)
        self.operands = [values(n, n, seed=k).astype(self.dtype) for k in range(2)]
        self.a, self.b = (xl.asarray(x) for x in self.operands)
        self.out = xl.empty((n, n), dtype=self.dtype)
        self.numpy_out = np.empty((n, n), self.dtype)
        self.xarraylite()

    def xarraylite(self) -> object:
        self.out["i,k"] = self.a["i,j"] * self.b["j,k"]
        return self.out

    def numpy(self) -> object:
        return np.matmul(*self.operands, out=self.numpy_out)


class TransposedProduct(MatrixProduct):
    """Operands and destination transposed: flags of BLAS."""

    title = 'C["k,i"] = A["j,i"] * B["k,j"], 1024 x 1024 float64, against matmul'

    def xarraylite(self) -> object:
        self.out["k,i"] = self.a["j,i"] * self.b["k,j"]
        return self.out

    def numpy(self) -> object:
        a, b = self.operands
        return np.matmul(a.T, b.T, out=self.numpy_out.T).T


class Operator(MatrixProduct):
    """A new result."""

    title = "a @ b, 1024 x 1024 float32"
    dtype = np.dtype(np.float32)

    def xarraylite(self) -> object:
        return self.a @ self.b

    def numpy(self) -> object:
        return self.operands[0] @ self.operands[1]


class IntegerProduct(MatrixProduct):
    """No BLAS on either side: one kernel over a packed operand."""

    title = 'C["i,k"] = A["i,j"] * B["j,k"], 256 x 256 int64, against matmul'
    wanted = 1.0
    dtype = np.dtype(np.int64)

    def setup(self) -> None:
        n = size(256, 20)
        self.operands = [(100 * values(n, n, seed=k)).astype(self.dtype) for k in range(2)]
        self.a, self.b = (xl.asarray(x) for x in self.operands)
        self.out = xl.empty((n, n), dtype=self.dtype)
        self.numpy_out = np.empty((n, n), self.dtype)
        self.xarraylite()

    def agree(self) -> bool:
        ours, theirs = (np.asarray(result) for result in self.results())
        return bool(np.array_equal(ours, theirs))


class Tensors(Comparison):
    """Whole tensors, against whatever is faster in NumPy."""

    wanted = 1.0
    title = '"ijk,kl->ijl", (128, 128, 256) and (256, 256) float64'
    spec = ("ijk", "kl", "ijl")
    shapes: tuple[tuple[int, ...], ...] = ((128, 128, 256), (256, 256))
    axes: tuple[tuple[int, ...], tuple[int, ...]] | None = ((2,), (0,))
    small = 8

    def setup(self) -> None:
        shapes = [tuple([size(n, self.small) for n in shape]) for shape in self.shapes]
        self.operands = [values(*shape, seed=k) for k, shape in enumerate(shapes)]
        self.a, self.b = (xl.asarray(x) for x in self.operands)
        self.labels = [",".join(letters) for letters in self.spec]
        self.xarraylite()
        rounds, self.rounds = self.rounds, min(ROUNDS, 5)
        self.best = self.tensordot
        if self.axes is None or self.seconds_of(self.einsum) < self.seconds_of(self.tensordot):
            self.best = self.einsum
        self.rounds = rounds

    def seconds_of(self, numpy: Callable[[], object]) -> float:
        """Seconds of one of NumPy's ways."""
        self.best = numpy
        return self.compare().numpy

    def einsum(self) -> object:
        """NumPy's einsum, by way of BLAS where it can."""
        first, second, out = self.spec
        return np.einsum(f"{first},{second}->{out}", *self.operands, optimize=True)

    def tensordot(self) -> object:
        """NumPy's tensordot; the result's dimensions are put in order by a view."""
        assert self.axes is not None
        product = np.tensordot(*self.operands, self.axes)
        first, second, out = self.spec
        left = [k for k in first + second if k in out]
        return product.transpose([left.index(k) for k in out])

    def xarraylite(self) -> object:
        first, second, out = self.labels
        return xl.eval(self.a[first] * self.b[second], out)

    def numpy(self) -> object:
        return self.best()


class FourIndices(Tensors):
    """One operand is packed, as no merging of its labels makes it a matrix."""

    title = '"ijkl,jlmn->ikmn", extents of 32, float64'
    spec = ("ijkl", "jlmn", "ikmn")
    shapes = ((32, 32, 32, 32), (32, 32, 32, 32))
    axes = ((1, 3), (0, 1))
    small = 4


class Batched(Tensors):
    """A stack of products."""

    title = '"bij,bjk->bik", 300 of 128 x 128 float64'
    spec = ("bij", "bjk", "bik")
    shapes = ((300, 128, 128), (300, 128, 128))
    axes = None


class BatchedInside(Tensors):
    """The stack's dimension is the middle one of the result, and one operand is transposed."""

    title = '"bij,bkj->ibk", 300 of 128 x 128 float64'
    spec = ("bij", "bkj", "ibk")
    shapes = ((300, 128, 128), (300, 128, 128))
    axes = None


class BatchedSmall(Tensors):
    """Products for which BLAS takes one thread each."""

    title = '"bij,bjk->bik", 1000 of 40 x 40 float64'
    spec = ("bij", "bjk", "bik")
    shapes = ((1000, 40, 40), (1000, 40, 40))
    axes = None


class Permuted(Tensors):
    """The contracted dimension is in the middle, and so is the new one."""

    title = '"ijk,jl->ilk", (128, 256, 128) and (256, 256) float64'
    spec = ("ijk", "jl", "ilk")
    shapes = ((128, 256, 128), (256, 256))
    axes = ((1,), (0,))


class Chain(Comparison):
    """Three matrices, of which the last two are to be multiplied first."""

    title = '"ij,jk,kl->il", (1000, 1000), (1000, 1000), (1000, 20) float64'
    wanted = 1.0

    def setup(self) -> None:
        n, few = size(1000, 30), size(20, 2)
        self.operands = [values(n, n), values(n, n, seed=1), values(n, few, seed=2)]
        self.a, self.b, self.c = (xl.asarray(x) for x in self.operands)
        self.xarraylite()

    def xarraylite(self) -> object:
        return xl.eval(self.a["i,j"] * self.b["j,k"] * self.c["k,l"], "i,l")

    def numpy(self) -> object:
        return np.einsum("ij,jk,kl->il", *self.operands, optimize=True)


class RowDots(Comparison):
    """A dot product of BLAS for each row, shared among threads."""

    wanted = 1.0
    title = 'C["i"] = A["i,j"] * B["i,j"], 1000000 x 10 float64, against vecdot'

    def setup(self) -> None:
        n = size(1_000_000, 100)
        self.operands = [values(n, 10, seed=k) for k in range(2)]
        self.a, self.b = (xl.asarray(x) for x in self.operands)
        self.out, self.numpy_out = xl.empty(n), np.empty(n)
        self.xarraylite()

    def xarraylite(self) -> object:
        self.out["i"] = self.a["i,j"] * self.b["i,j"]
        return self.out

    def numpy(self) -> object:
        return np.vecdot(*self.operands, out=self.numpy_out)


class SmallTensors(Tensors):
    """So small that Python is what takes time; the second product goes straight to BLAS."""

    wanted = None
    title = '"ijk,kl->ijl", (16, 16, 16) and (16, 16) float64'
    shapes = ((16, 16, 16), (16, 16))


class SmallMatrices(SmallTensors):
    """The same of matrices."""

    title = '"ij,jk->ik", 16 x 16 float64'
    spec = ("ij", "jk", "ik")
    shapes = ((16, 16), (16, 16))
    axes = ((1,), (0,))


class SmallBatched(SmallTensors):
    """The same of a stack."""

    title = '"bij,bjk->bik", 16 of 16 x 16 float64'
    spec = ("bij", "bjk", "bik")
    shapes = ((16, 16, 16), (16, 16, 16))
    axes = None


class SmallDots(SmallTensors):
    """The same of dot products."""

    title = '"ij,ij->i", 16 x 16 float64'
    spec = ("ij", "ij", "i")
    shapes = ((16, 16), (16, 16))
    axes = None


class SmallEinsum(SmallMatrices):
    """Without labels: the function, against NumPy's."""

    title = 'einsum("ij,jk->ik", a, b), 16 x 16 float64, against einsum(optimize=True)'
    axes = None

    def xarraylite(self) -> object:
        return xl.einsum("ij,jk->ik", self.a, self.b)
