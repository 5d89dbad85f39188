"""Expressions on shifted, transposed and strided views."""

from __future__ import annotations

import numpy as np

import xarraylite as xl

from . import Comparison, size, values


class Stencil(Comparison):
    """One step of diffusion, five shifted views of one container."""

    title = "5-point stencil, 2000 x 2000 float64, into an existing container"
    wanted = 4.0

    def setup(self) -> None:
        n = size(2000, 50)
        self.operand = values(n, n)
        self.u = xl.asarray(self.operand)
        self.out = xl.asarray(self.operand, copy=True)
        self.numpy_out = self.operand.copy()
        self.xarraylite()

    def xarraylite(self) -> object:
        u = self.u
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        xl.noalias(self.out)[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (around - 4.0 * u[1:-1, 1:-1])
        return self.out

    def numpy(self) -> object:
        u = self.operand
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        self.numpy_out[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (around - 4.0 * u[1:-1, 1:-1])
        return self.numpy_out


class CopyTransposed(Comparison):
    """A transposed copy, against a straight copy of the same values here."""

    title = "out = a.T, 4096 x 4096 float32, against a straight copy here"
    axes: tuple[int, ...] = (1, 0)
    shape = (4096, 4096)
    small = (60, 50)
    dtype = "float32"
    wanted = 0.33

    def setup(self) -> None:
        shape = [size(full, small) for full, small in zip(self.shape, self.small, strict=True)]
        operand = values(*shape).astype(self.dtype)
        self.operands = [xl.permute_dims(xl.asarray(operand), self.axes)]
        self.straight = [xl.asarray(np.ascontiguousarray(operand.transpose(self.axes)))]
        other = values(*self.straight[0].shape, seed=1).astype(self.dtype)
        for operands in (self.operands, self.straight):
            operands.append(xl.asarray(other))
        self.out = xl.empty(other.shape, dtype=other.dtype)
        self.straight_out = xl.empty(other.shape, dtype=other.dtype)
        self.xarraylite()
        self.numpy()

    def fill(self, out: xl.XArray, operands: list[xl.XArray]) -> object:
        """Assign the case's expression of two operands."""
        xl.noalias(out)[...] = operands[0]
        return out

    def xarraylite(self) -> object:
        return self.fill(self.out, self.operands)

    def numpy(self) -> object:
        return self.fill(self.straight_out, self.straight)


class CopyTransposed64(CopyTransposed):
    """Eight bytes an element."""

    title = "out = a.T, 2048 x 2048 float64, against a straight copy here"
    shape = (2048, 2048)
    dtype = "float64"


class CopyReversed(CopyTransposed):
    """All four dimensions in the opposite order."""

    title = "out = permute_dims(a, (3, 2, 1, 0)), 64^4 float32, against a straight copy here"
    axes = (3, 2, 1, 0)
    shape = (64, 64, 64, 64)
    small = (6, 17, 5, 18)


class CopyReversedOdd(CopyReversed):
    """Rows end within lines of their neighbours."""

    title = "out = permute_dims(a, (3, 2, 1, 0)), 65 x 63 x 61 x 67 float32, against straight here"
    shape = (65, 63, 61, 67)


class AddTransposed(CopyTransposed):
    """Operands whose memory orders disagree, against operands that agree."""

    title = "out = b + a.T, 4096 x 4096 float32, against b + a here"

    def fill(self, out: xl.XArray, operands: list[xl.XArray]) -> object:
        xl.noalias(out)[...] = operands[1] + operands[0]
        return out


class OuterBroadcast(Comparison):
    """Zero strides on two sides."""

    title = "a[:, None]*b + c, 3000 x 3000 float64"

    def setup(self) -> None:
        n = size(3000, 50)
        self.column, self.row, self.plane = values(n), values(n, seed=1), values(n, n, seed=2)
        self.a, self.b, self.c = (xl.asarray(x) for x in (self.column, self.row, self.plane))
        self.out = xl.empty((n, n))
        self.numpy_out = np.empty((n, n))
        self.xarraylite()

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = self.a[:, None] * self.b + self.c
        return self.out

    def numpy(self) -> object:
        np.multiply(self.column[:, None], self.row, out=self.numpy_out)
        return np.add(self.numpy_out, self.plane, out=self.numpy_out)
