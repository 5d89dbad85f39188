"""Reducers fused with their inputs: nothing of the operand's size is stored."""

from __future__ import annotations

import numpy as np

import xarraylite as xl

from . import Comparison, size, values


class SquaredDistance(Comparison):
    """``sum((a-b)**2)``: NumPy writes and reads two arrays for it."""

    title = "sum((a - b)**2), 10M float64"
    wanted = 4.0

    def setup(self) -> None:
        n = size(10_000_000, 1000)
        self.operands = [values(n, seed=k) for k in range(2)]
        self.a, self.b = (xl.asarray(x) for x in self.operands)
        self.xarraylite()

    def xarraylite(self) -> object:
        return float(xl.sum((self.a - self.b) ** 2))

    def numpy(self) -> object:
        a, b = self.operands
        return float(np.sum((a - b) ** 2))


class SumAxis(Comparison):
    """A plain sum along the last axis."""

    title = "sum(a, axis=1), 4096 x 4096 float32"
    axis = 1

    def setup(self) -> None:
        n = size(4096, 40)
        self.operand = values(n, n).astype(np.float32)
        self.a = xl.asarray(self.operand)
        self.out = xl.empty(n, dtype=xl.float32)
        self.xarraylite()

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = xl.sum(self.a, axis=self.axis)
        return self.out

    def numpy(self) -> object:
        return np.sum(self.operand, axis=self.axis)


class SumFirstAxis(SumAxis):
    """A plain sum along the first axis: the inner loop runs over the result."""

    title = "sum(a, axis=0), 4096 x 4096 float32"
    axis = 0


class Standardise(Comparison):
    """Two reducers inside an expression, each evaluated once."""

    title = "(a - mean(a, 0)) / std(a, 0), 4096 x 1024 float64"

    def setup(self) -> None:
        self.operand = values(size(4096, 40), size(1024, 10))
        self.a = xl.asarray(self.operand)
        self.out = xl.empty(self.operand.shape)
        self.xarraylite()

    def xarraylite(self) -> object:
        mean, std = xl.mean(self.a, axis=0), xl.std(self.a, axis=0)
        xl.noalias(self.out)[...] = (self.a - mean) / std
        return self.out

    def numpy(self) -> object:
        a = self.operand
        return (a - np.mean(a, axis=0)) / np.std(a, axis=0)
