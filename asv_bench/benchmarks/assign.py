"""Assignments whose operands overlap their destination: alias analysis included."""

from __future__ import annotations

import numpy as np

import xarraylite as xl

from . import Comparison, size, values


class InPlace(Comparison):
    """One array updated again and again; both sides start from the same values."""

    def setup(self) -> None:
        self.operand = self.start()
        self.a = xl.asarray(self.operand, copy=True)
        self.xarraylite()
        self.a[...] = self.operand

    def start(self) -> np.ndarray:
        """The values before the first update."""
        return values(size(1_000_000, 1000))

    def results(self) -> tuple[object, object]:
        """One update on each side, from the same values."""
        self.a[...] = self.operand
        return self.xarraylite(), self.numpy()


class Shift(InPlace):
    """A shift by one: running the loop backwards replaces NumPy's copy.

    Each call at most doubles the values, and a comparison makes fewer than a thousand calls,
    so nothing overflows.
    """

    title = "a[1:] += a[:-1], 1M float64"

    def xarraylite(self) -> object:
        self.a[1:] += self.a[:-1]
        return self.a

    def numpy(self) -> object:
        self.operand[1:] += self.operand[:-1]
        return self.operand


class SameElement(InPlace):
    """Every operand at the element that is written: nothing to copy."""

    title = "a *= 0.5; a += 0.5, 1M float64"

    def xarraylite(self) -> object:
        self.a[...] = self.a * 0.5 + 0.5
        return self.a

    def numpy(self) -> object:
        self.operand *= 0.5
        self.operand += 0.5
        return self.operand


class Symmetrise(InPlace):
    """A matrix and its transpose: one leaf has to be copied."""

    title = "m[...] = (m + m.T) / 2, 1024 x 1024 float64"

    def start(self) -> np.ndarray:
        n = size(1024, 32)
        return values(n, n)

    def xarraylite(self) -> object:
        self.a[...] = (self.a + self.a.T) / 2
        return self.a

    def numpy(self) -> object:
        self.operand[...] = (self.operand + self.operand.T) / 2
        return self.operand
