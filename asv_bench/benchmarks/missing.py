"""What may be written in part, or be missing: kept columns, masks, optional values, differences."""

from __future__ import annotations

import numpy as np

import xarraylite as xl

from . import picks, size, values


class ColumnsUpdated(picks.FilterRead):
    """Half of the columns of a matrix, updated through a view."""

    title = "view(m, range(), keep(500 of 1000 columns)) += 1.0, 1000 x 1000 float64"
    wanted = 0.9

    def setup(self) -> None:
        n = size(1000, 30)
        self.operand = values(n, n)
        self.a = xl.asarray(self.operand, copy=True)
        self.mask = np.random.default_rng(2).permutation(n)[: n // 2]
        self.view = xl.view(self.a, xl.range(), xl.keep(self.mask.tolist()))
        self.a[...] = self.operand

    def xarraylite(self) -> object:
        view = self.view
        view += 1.0
        return self.a

    def numpy(self) -> object:
        self.operand[:, self.mask] += 1.0
        return self.operand

    def results(self) -> tuple[object, object]:
        self.a[...] = self.operand
        self.xarraylite()
        return self.a.copy(), self.numpy()  # NumPy sees another memory


class ColumnsFilled(ColumnsUpdated):
    """Values for half of the columns."""

    title = "view(m, range(), keep(500 of 1000 columns)) = c, 1000 x 1000 float64"

    def setup(self) -> None:
        n = size(1000, 30)
        self.values = values(n, n // 2)
        self.given = xl.asarray(self.values)
        super().setup()

    def xarraylite(self) -> object:
        self.view[...] = self.given
        return self.a

    def numpy(self) -> object:
        self.operand[:, self.mask] = self.values
        return self.operand


class Masked(picks.FilterRead):
    """One value where a mask lets it through, against a masked array that does the same."""

    title = "masked_view(a, a > 1) = 2.5 of 10^6 float64, against numpy.ma with a hard mask"

    def setup(self) -> None:
        super().setup()
        self.view = xl.masked_view(self.a, self.mask)
        self.masked = np.ma.array(self.operand, mask=~self.mask, hard_mask=True)

    def xarraylite(self) -> object:
        self.view[...] = 2.5
        return self.a

    def numpy(self) -> object:
        self.masked[...] = 2.5
        return self.masked.data


class OptionalSum(picks.FilterRead):
    """Two optional arrays, against masked ones."""

    title = "eval(optional + optional), 10^6 float64, against numpy.ma"
    count = 1_000_000

    def setup(self) -> None:
        n = size(self.count, 30)
        self.theirs = [
            np.ma.array(values(n, seed=k), mask=values(n, seed=k + 2) > 1.2) for k in (0, 1)
        ]
        self.ours = [xl.optional(each) for each in self.theirs]
        for _ in range(300 if n < 100 else 3):
            self.xarraylite()

    def xarraylite(self) -> object:
        one, other = self.ours
        return xl.eval(one + other)

    def numpy(self) -> object:
        one, other = self.theirs
        return one + other

    def results(self) -> tuple[object, object]:
        made, want = self.xarraylite(), self.numpy()
        return made.value_or(0.0), want.filled(0.0)  # type: ignore[attr-defined]


class FewOptional(OptionalSum):
    """The same of ten elements."""

    title = "eval(optional + optional), 10 float64, against numpy.ma"
    wanted = 0.25
    count = 10


class FewPicked(picks.FewTaken):
    """Elements at positions, with nothing computed of them."""

    title = "eval(a[[5 positions]]), 10 float64"

    def xarraylite(self) -> object:
        return xl.eval(self.a[self.mask])

    def numpy(self) -> object:
        return self.operand[self.mask]


class Differences(picks.FilterRead):
    """Neighbours taken from each other."""

    title = "eval(diff(a)), 10^6 float64"

    def xarraylite(self) -> object:
        return xl.eval(xl.diff(self.a))

    def numpy(self) -> object:
        return np.diff(self.operand)


class Extremes(Differences):
    """The least and the greatest element."""

    title = "minmax(a), 10^6 float64"

    def xarraylite(self) -> object:
        least, greatest = xl.minmax(self.a)
        return float(least), float(greatest)

    def numpy(self) -> object:
        return self.operand.min(), self.operand.max()
