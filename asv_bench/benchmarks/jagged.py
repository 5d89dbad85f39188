"""Jagged arrays: rows of a flat buffer folded between offsets, and shapes of a million rows."""

from __future__ import annotations

import numpy as np

import xarraylite as xl

from . import Comparison, size, values


class RowSums(Comparison):
    """Sums of rows of 0 to 20 elements; empty rows give 0, which `reduceat` has to be told."""

    title = "row sums of 1M rows of mean length 10, float64, against add.reduceat"
    wanted = 5.0

    def setup(self) -> None:
        self.lengths = np.random.default_rng(0).integers(0, 21, size(1_000_000, 1000))
        self.offsets = np.concatenate(([0], np.cumsum(self.lengths)))
        self.operand = values(int(self.offsets[-1]))
        shape = xl.JaggedShape.from_lengths(self.lengths)
        self.a = xl.XJagged(self.operand, shape)
        self.out = xl.empty(len(self.lengths))
        self.xarraylite()

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = xl.sum(self.a, axis=1)
        return self.out

    def numpy(self) -> object:
        return self.row_sums(self.operand)

    def row_sums(self, operand: np.ndarray) -> np.ndarray:
        filled = self.lengths > 0
        result = np.zeros(len(self.lengths))
        result[filled] = np.add.reduceat(operand, self.offsets[:-1][filled])
        return result


class FusedRowSums(RowSums):
    """The same of an expression, which is never stored."""

    title = "row sums of (2a + 1)**2, 1M rows of mean length 10, against add.reduceat"

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = xl.sum((self.a * 2 + 1) ** 2, axis=1)
        return self.out

    def numpy(self) -> object:
        return self.row_sums((self.operand * 2 + 1) ** 2)


class RowSumsInPython(RowSums):
    """Against a loop over rows, on a sample of them: both sides do the same rows."""

    title = "row sums of 20k rows of mean length 10, against a Python loop"
    wanted = 20.0

    def setup(self) -> None:
        super().setup()
        count = size(20_000, 100)
        self.lengths = self.lengths[:count]
        self.a, self.out = self.a[:count], self.out[:count]
        self.rows = self.a.to_list()
        self.xarraylite()

    def numpy(self) -> object:
        return np.array([sum(row) for row in self.rows], dtype=float)


class CentreRows(Comparison):
    """Each row minus its mean: a segment reduction and a fused pass that reads it back."""

    title = "a - mean(a, axis=1, keepdims=True), 1M rows of mean length 10"

    def setup(self) -> None:
        self.lengths = np.random.default_rng(0).integers(1, 20, size(1_000_000, 1000))
        self.offsets = np.concatenate(([0], np.cumsum(self.lengths)))
        self.operand = values(int(self.offsets[-1]))
        self.a = xl.XJagged(self.operand, xl.JaggedShape.from_lengths(self.lengths))
        self.out = self.a.copy()
        self.xarraylite()

    def xarraylite(self) -> object:
        self.out[...] = self.a - xl.mean(self.a, axis=1, keepdims=True)
        return self.out.flat

    def numpy(self) -> object:
        means = np.add.reduceat(self.operand, self.offsets[:-1]) / self.lengths
        return self.operand - np.repeat(means, self.lengths)


class MillionRows(Comparison):
    """Making a jagged shape of a million rows, against the sums of their lengths alone."""

    title = "JaggedShape of 1M rows and its offsets, against cumsum"

    def setup(self) -> None:
        self.lengths = np.random.default_rng(0).integers(0, 21, size(1_000_000, 1000))

    def xarraylite(self) -> object:
        return xl.JaggedShape.from_lengths(self.lengths).offsets()

    def numpy(self) -> object:
        return np.concatenate(([0], np.cumsum(self.lengths)))

    def agree(self) -> bool:
        ours, theirs = self.results()
        return np.array_equal(np.asarray(ours), np.asarray(theirs))
