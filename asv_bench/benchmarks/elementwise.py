"""Fused elementwise expressions, into memory that is already there."""

from __future__ import annotations

from typing import Any

import numpy as np

import xarraylite as xl

from . import Comparison, size, values


class FusedMultiplyAdd(Comparison):
    """``o = a + b*c`` against NumPy's two calls with ``out=``: bound by memory traffic."""

    title = "o = a + b*c, 10M float64, into an existing container"
    wanted = 2.2

    def setup(self) -> None:
        n = size(10_000_000, 1000)
        self.operands = [values(n, seed=k) for k in range(3)]
        self.a, self.b, self.c = (xl.asarray(x) for x in self.operands)
        self.out = xl.empty(n)
        self.numpy_out = np.empty(n)
        self.xarraylite()

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = self.a + self.b * self.c
        return self.out

    def numpy(self) -> object:
        a, b, c = self.operands
        np.multiply(b, c, out=self.numpy_out)
        np.add(a, self.numpy_out, out=self.numpy_out)
        return self.numpy_out


class FusedMultiplyAddNew(FusedMultiplyAdd):
    """The same with a new result each time: page faults count."""

    title = "a + b*c, 10M float64, new result"
    wanted = None

    def xarraylite(self) -> object:
        return xl.eval(self.a + self.b * self.c)

    def numpy(self) -> object:
        a, b, c = self.operands
        return a + b * c


class Transcendental(Comparison):
    """``sin(a)*exp(-b) + sqrt(c)``: bound by arithmetic."""

    title = "sin(a)*exp(-b) + sqrt(c), 1M float64"
    dtype = "float64"

    def setup(self) -> None:
        n = size(1_000_000, 1000)
        self.operands = [values(n, seed=k).astype(self.dtype) for k in range(3)]
        self.a, self.b, self.c = (xl.asarray(x) for x in self.operands)
        self.out = xl.empty(n, dtype=self.dtype)
        self.xarraylite()

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = xl.sin(self.a) * xl.exp(-self.b) + xl.sqrt(self.c)
        return self.out

    def numpy(self) -> object:
        a, b, c = self.operands
        return np.sin(a) * np.exp(-b) + np.sqrt(c)


class TranscendentalSingle(Transcendental):
    """The same in ``float32``: twice as many elements to a vector."""

    title = "sin(a)*exp(-b) + sqrt(c), 1M float32"
    dtype = "float32"


class Horner(Comparison):
    """A polynomial of degree 8 by Horner's rule: nine operations, one operand."""

    title = "Horner's rule, degree 8, 1M float64"
    dtype = "float64"

    def setup(self) -> None:
        self.x = values(size(1_000_000, 1000)).astype(self.dtype)
        self.a = xl.asarray(self.x)
        self.out = xl.empty(self.a.shape, dtype=self.dtype)
        self.xarraylite()

    def polynomial(self, x: Any) -> Any:
        y = 0.1 * x + 0.2
        for k in range(3, 10):
            y = y * x + k / 10
        return y

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = self.polynomial(self.a)
        return self.out

    def numpy(self) -> object:
        return self.polynomial(self.x)


class HornerSingle(Horner):
    """The same in ``float32``."""

    title = "Horner's rule, degree 8, 1M float32"
    dtype = "float32"


class Where(Comparison):
    """A choice per element, no branch in the kernel."""

    title = "where(a > 1, a, 0.1*b), 10M float32"

    def setup(self) -> None:
        n = size(10_000_000, 1000)
        self.operands = [values(n, seed=k).astype(np.float32) for k in range(2)]
        self.a, self.b = (xl.asarray(x) for x in self.operands)
        self.out = xl.empty(n, dtype=xl.float32)
        self.xarraylite()

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = xl.where(self.a > 1, self.a, 0.1 * self.b)
        return self.out

    def numpy(self) -> object:
        a, b = self.operands
        return np.where(a > 1, a, np.float32(0.1) * b)
