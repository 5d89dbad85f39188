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


class AddTransposed(Comparison):
    """Operands whose memory orders disagree."""

    title = "a + b.T, 2048 x 2048 float64"

    def setup(self) -> None:
        n = size(2048, 50)
        self.operands = [values(n, n, seed=k) for k in range(2)]
        self.a, self.b = (xl.asarray(x) for x in self.operands)
        self.out = xl.empty((n, n))
        self.numpy_out = np.empty((n, n))
        self.xarraylite()

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = self.a + self.b.T
        return self.out

    def numpy(self) -> object:
        a, b = self.operands
        return np.add(a, b.T, out=self.numpy_out)


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
