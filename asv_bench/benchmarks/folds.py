"""Folds, running results, walks, and views through positions, of ten elements and of a million.

Each case is a row of the two sizes that users of xtensor ask about: against NumPy's equivalent at
most four times its time for ten elements, and none more for a million.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

import xarraylite as xl

from . import Comparison, picks, size


class Ten(picks.FewFiltered):
    """A function of ten elements that both sides have."""

    def xarraylite(self) -> object:
        return xl.eval(self.of(xl, self.a))

    def numpy(self) -> object:
        return self.of(np, self.operand)

    @abstractmethod
    def of(self, space: Any, x: Any) -> Any:
        """Return the result by the functions of a namespace."""


class Million(Ten):
    """The same of a million."""

    wanted = 1.0
    count = size(1_000_000, 1000)


class FewIndexed(picks.FewFiltered):
    """A view through positions, as it is."""

    title = "eval(index_view(a, 5 positions)), 10 float64, positions known"

    def pick(self) -> object:
        self.mask = np.array([7, 1, 1, 9, 0])
        return xl.index_view(self.a, self.mask)

    def xarraylite(self) -> object:
        return xl.eval(self.view)

    def numpy(self) -> object:
        return self.operand[self.mask]


class FewIndexedMade(FewIndexed):
    """The same, made for one statement; NumPy's side is one call in C."""

    title = "eval(index_view(a, 5 positions)), 10 float64"

    def xarraylite(self) -> object:
        return xl.eval(xl.index_view(self.a, self.mask))


class FewDropped(picks.FewFiltered):
    """Columns but some, against `numpy.delete`."""

    title = "eval(view(a, range(), drop(0, 3, 4))), 4 x 10 float64, against np.delete"

    def pick(self) -> object:
        self.operand = self.operand[:, None] + np.arange(10.0)
        self.a = xl.asarray(self.operand, copy=True)
        return xl.view(self.a, xl.range(), xl.drop(0, 3, 4))

    def xarraylite(self) -> object:
        return xl.eval(self.view)

    def numpy(self) -> object:
        return np.delete(self.operand, [0, 3, 4], axis=1)


class Dropped(FewDropped):
    """The same of many rows."""

    title = "eval(view(a, range(), drop(0, 3, 4))), 10^5 x 10 float64, against np.delete"
    wanted = 1.0
    count = size(100_000, 100)


class FewAdded(picks.FewReduced):
    """A sum by a user's function."""

    title = "eval(reduce(add, a)), 10 float64, against np.sum"

    def xarraylite(self) -> object:
        return xl.eval(xl.reduce(picks._more, self.a, initial=0.0))

    def numpy(self) -> object:
        return np.sum(self.operand)


class FewCounted(Ten):
    """How many elements are not zero, as an int."""

    title = "int(count_nonzero(a)), 10 float64"

    def xarraylite(self) -> object:
        return int(self.of(xl, self.a))

    def numpy(self) -> object:
        return int(self.of(np, self.operand))

    def of(self, space: Any, x: Any) -> Any:
        return space.count_nonzero(x)


class FewNorm(Ten):
    """The Euclidean norm."""

    title = "eval(norm_l2(a)), 10 float64, against np.linalg.norm"

    def of(self, space: Any, x: Any) -> Any:
        return xl.norm_l2(x) if space is xl else np.linalg.norm(x)


class Norm(FewNorm, Million):
    """The same of a million."""

    title = "eval(norm_l2(a)), 10^6 float64, against np.linalg.norm"


class FewRunning(Ten):
    """A running sum."""

    title = "eval(cumsum(a)), 10 float64"

    def of(self, space: Any, x: Any) -> Any:
        return space.cumsum(x)


class Running(FewRunning, Million):
    """The same of a million."""

    title = "eval(cumsum(a)), 10^6 float64"


class FewKnown(Ten):
    """The greatest that is a number."""

    title = "eval(nanmax(a)), 10 float64"

    def of(self, space: Any, x: Any) -> Any:
        return space.nanmax(x)


class Known(FewKnown, Million):
    """The same of a million."""

    title = "eval(nanmax(a)), 10^6 float64"


class FewThere(picks.FewFiltered):
    """The sum of the optional values that are there, against a masked array's."""

    title = "float(x.sum(skipna=True)), x optional, 10 float64, against numpy.ma"

    def pick(self) -> object:
        self.masked = np.ma.array(self.operand, mask=~self.mask)
        return xl.optional(self.masked)

    def xarraylite(self) -> object:
        return float(self.view.sum(skipna=True))  # type: ignore[attr-defined]

    def numpy(self) -> object:
        return float(self.masked.sum())


class There(FewThere):
    """The same of a million."""

    wanted = 1.0
    count = size(1_000_000, 1000)

    title = "float(x.sum(skipna=True)), x optional, 10^6 float64, against numpy.ma"


class FewLines(Comparison):
    """A walk over the lines of a small matrix, each as a view."""

    title = "list(iter_lines(a, 1)), 10 x 10 float64, against NumPy's rows"
    wanted = 0.25
    walk: Callable[[Any], Any] = staticmethod(lambda a: xl.iter_lines(a, 1))

    def setup(self) -> None:
        self.operand = np.arange(100.0).reshape(10, 10)
        self.a = xl.asarray(self.operand, copy=True)
        for _ in range(300):
            xl.eval(self.a + 1)
            self.xarraylite()

    def xarraylite(self) -> object:
        return list(self.walk(self.a))

    def numpy(self) -> object:
        return list(self.operand)


class FewElements(FewLines):
    """A walk over all elements, in an order of traversal."""

    title = "list(flat(a, 'column_major')), 10 x 10 float64, against NumPy's flat"
    walk = staticmethod(lambda a: xl.flat(a, "column_major"))

    def numpy(self) -> object:
        return list(self.operand.T.flat)
