"""Views through positions, and users' folds."""

from __future__ import annotations

import numpy as np

import xarraylite as xl

from . import Comparison, size, values


def _more(a: float, b: float) -> float:
    return a + b


def _larger(a: float, b: float) -> float:
    return a if a > b else b


class Filled:
    """One value written through a view."""

    def xarraylite(self) -> object:
        self.view[...] = 0.5
        return self.a

    def numpy(self) -> object:
        self.operand[self.mask] = 0.5
        return self.operand


class Kept:
    """Three columns in an expression."""

    def numpy(self) -> object:
        return self.operand[:, [7, 1, 2]] * 2 + 1


class Scaled:
    """An update in place of what a mask selects."""

    def numpy(self) -> object:
        self.operand[self.mask] *= 1.0001
        return self.operand


class FilterRead(Comparison):
    """A filter that is part of an expression."""

    title = "filter(a, a > 1) * 2 + 1 of 10^6 float64, positions known"
    wanted = 1.0

    def setup(self) -> None:
        self.operand = values(size(1_000_000, 1000))
        self.mask = self.operand > 1
        self.a = xl.asarray(self.operand, copy=True)
        self.view = xl.filter(self.a, self.mask)
        self.xarraylite()

    def xarraylite(self) -> object:
        return xl.eval(self.view * 2 + 1)

    def numpy(self) -> object:
        return self.operand[self.mask] * 2 + 1


class IndexRead(FilterRead):
    """Elements at random positions, in an expression."""

    title = "index_view(a, half of 10^6 random positions) * 2 + 1"

    def setup(self) -> None:
        super().setup()
        n = len(self.operand)
        self.mask = np.random.default_rng(1).permutation(n)[: n // 2]
        self.view = xl.index_view(self.a, self.mask)
        self.xarraylite()


class KeepRead(Kept, FilterRead):
    """Some columns of many, in an expression."""

    title = "view(a, range(), keep(7, 1, 2)) * 2 + 1, 10^5 rows of 10"

    def setup(self) -> None:
        super().setup()
        self.operand = self.operand.reshape(-1, 10)
        self.a = xl.asarray(self.operand, copy=True)
        self.view = xl.view(self.a, xl.range(), xl.keep(7, 1, 2))
        self.xarraylite()


class FilterFill(Filled, FilterRead):
    """One value for all elements of a filter."""

    title = "filter(a, a > 1) = 0.5 of 10^6 float64, positions known"


class FewFiltered(FilterRead):
    """Ten elements, where what is planned costs more than what is computed."""

    title = "eval(filter(a, a > 1) * 2 + 1), 10 float64, positions known"
    wanted = 0.25
    count = 10

    def setup(self) -> None:
        self.operand = values(self.count)
        self.mask = self.operand > 1
        self.a = xl.asarray(self.operand, copy=True)
        self.view = self.pick()
        for _ in range(300):  # a process that launches often
            self.xarraylite()

    def pick(self) -> object:
        return xl.filter(self.a, self.mask)


class FewTaken(FewFiltered):
    """An index array in brackets, made for each statement."""

    title = "eval(a[[5 positions]] * 2 + 1), 10 float64"

    def setup(self) -> None:
        super().setup()
        self.mask = np.array([7, 1, 1, 9, 0])

    def xarraylite(self) -> object:
        return xl.eval(self.a[self.mask] * 2 + 1)


class FewKept(Kept, FewFiltered):
    """Columns of a small matrix."""

    title = "eval(view(a, range(), keep(7, 1, 2)) * 2 + 1), 4 x 10 float64, positions known"

    def pick(self) -> object:
        self.operand = values(4, 10)
        self.a = xl.asarray(self.operand, copy=True)
        return xl.view(self.a, xl.range(), xl.keep(7, 1, 2))


class FewFilled(Filled, FewFiltered):
    """One value for some of ten elements."""

    title = "filter(a, a > 1) = 0.5, 10 float64, positions known"


class FewPut(FewFilled):
    """One value for some of ten elements, by a mask in brackets."""

    title = "a[mask] = 0.5, 10 float64"

    def setup(self) -> None:
        super().setup()
        for _ in range(300):
            xl.eval(self.a + 1)

    def xarraylite(self) -> object:
        self.a[self.mask] = 0.5
        return self.a


class FewUpdated(Scaled, FewFilled):
    """A filter of ten elements, updated in place."""

    title = "filter(a, a > 1) *= 1.0001, 10 float64, positions known"

    def setup(self) -> None:
        super().setup()
        for _ in range(300):  # as often as the other side
            self.numpy()

    def xarraylite(self) -> object:
        view = self.view
        view *= 1.0001
        return self.a


class Filtration(Scaled, FilterRead):
    """An update where a condition holds."""

    title = "filtration(a, a > 1) *= 1.0001 of 10^6 float64"

    def setup(self) -> None:
        super().setup()
        self.numpy()  # as often as the other side

    def xarraylite(self) -> object:
        filtered = xl.filtration(self.a, self.mask)
        filtered *= 1.0001
        return self.a


class Reduce(Comparison):
    """A fold by a user's function, against NumPy's own of the same."""

    title = "reduce(larger, a, axis 1), 1000 x 1000 float64, against np.max"
    wanted = 1.0

    def setup(self) -> None:
        n = size(1000, 30)
        self.operand = values(n, n)
        self.a = xl.asarray(self.operand)
        self.xarraylite()

    def xarraylite(self) -> object:
        return xl.eval(xl.reduce(_larger, self.a, 1, initial=0.0))

    def numpy(self) -> object:
        return self.operand.max(axis=1)


class Accumulate(Reduce):
    """Running results of a user's function, against NumPy's running sum."""

    title = "accumulate(add, a), 10^6 float64, against np.cumsum"

    def xarraylite(self) -> object:
        return xl.accumulate(_more, self.a)

    def numpy(self) -> object:
        return self.operand.cumsum()


class ReduceAll(Reduce):
    """The sum of all elements by a user's function, against NumPy's."""

    title = "reduce(add, a), 10^6 float64, against np.sum"

    def xarraylite(self) -> object:
        return xl.eval(xl.reduce(_more, self.a, initial=0.0))

    def numpy(self) -> object:
        return self.operand.sum()


class RowsTaken(FilterRead):
    """Rows of a matrix, picked by an index array in the statement."""

    title = "eval(m[rows] * 2 + 1), 500 of 1000 rows of 1000"
    wanted = 0.9

    def setup(self) -> None:
        n = size(1000, 30)
        self.operand = values(n, n)
        self.mask = np.random.default_rng(2).integers(0, n, n // 2)
        self.a = xl.asarray(self.operand)
        self.xarraylite()

    def xarraylite(self) -> object:
        return xl.eval(self.a[self.mask] * 2 + 1)


class IndexFill(FilterFill):
    """One value for elements at random positions, in brackets."""

    title = "a[half of 10^6 random positions] = 0.5"
    wanted = 0.9

    def setup(self) -> None:
        super().setup()
        n = len(self.operand)
        self.mask = np.random.default_rng(1).permutation(n)[: n // 2]
        self.a[...] = self.operand

    def xarraylite(self) -> object:
        self.a[self.mask] = 0.5
        return self.a


class RowsUpdated(RowsTaken):
    """Rows of a matrix, updated through an index array."""

    title = "m[rows] += 1.0, 500 of 1000 rows of 1000"
    wanted = 0.7

    def setup(self) -> None:
        super().setup()
        self.a = xl.asarray(self.operand, copy=True)
        for _ in range(3):  # as often as the other side
            self.numpy()
            self.xarraylite()
        self.a[...] = self.operand

    def xarraylite(self) -> object:
        self.a[self.mask] += 1.0
        return self.a

    def numpy(self) -> object:
        self.operand[self.mask] += 1.0
        return self.operand

    def results(self) -> tuple[object, object]:
        self.a[...] = self.operand
        self.xarraylite()
        return self.a.copy(), self.numpy()  # NumPy sees another memory


class RunningSum(Reduce):
    """Running sums, by a kernel."""

    title = "cumsum(a), 10^6 float64"

    def setup(self) -> None:
        self.operand = values(size(1_000_000, 1000))
        self.a = xl.asarray(self.operand)
        self.xarraylite()

    def xarraylite(self) -> object:
        return xl.cumsum(self.a)

    def numpy(self) -> object:
        return self.operand.cumsum()


class FewSummed(FewFiltered):
    """A fold of a filter's elements."""

    title = "eval(sum(filter(a, a > 1))), 10 float64, positions known"

    def xarraylite(self) -> object:
        return xl.eval(xl.sum(self.view))

    def numpy(self) -> object:
        return self.operand[self.mask].sum()


class FewColumns(FewFiltered):
    """A column's view that is made for one statement, and written."""

    title = "col(m, 1) = 0.5, 4 x 10 float64"

    def pick(self) -> object:
        self.operand = values(4, 10)
        self.a = xl.asarray(self.operand, copy=True)
        return None

    def xarraylite(self) -> object:
        xl.col(self.a, 1)[...] = 0.5
        return self.a

    def numpy(self) -> object:
        self.operand[:, 1][...] = 0.5
        return self.operand

    def results(self) -> tuple[object, object]:
        self.xarraylite()
        return self.a.copy(), self.numpy()  # NumPy sees another memory


class FewReduced(FewFiltered):
    """A fold by a user's function of ten elements."""

    title = "eval(reduce(larger, a)), 10 float64, against np.max"

    def xarraylite(self) -> object:
        return xl.eval(xl.reduce(_larger, self.a, initial=0.0))

    def numpy(self) -> object:
        return np.max(self.operand)


class FewAccumulated(FewFiltered):
    """Running results of a user's function of ten elements."""

    title = "accumulate(add, a), 10 float64, against np.cumsum"

    def xarraylite(self) -> object:
        return xl.accumulate(_more, self.a)

    def numpy(self) -> object:
        return np.cumsum(self.operand)


class FewMade(FewFiltered):
    """A filter that is made for one statement."""

    title = "eval(filter(a, mask)), 10 float64"

    def xarraylite(self) -> object:
        return xl.eval(xl.filter(self.a, self.mask))

    def numpy(self) -> object:
        return self.operand[self.mask]


class FewSelected(FewMade):
    """An index array in brackets, evaluated as it is."""

    title = "eval(a[5 positions]), 10 float64"

    def pick(self) -> object:
        self.mask = np.array([7, 1, 1, 9, 0])
        return None

    def xarraylite(self) -> object:
        return xl.eval(self.a[self.mask])


class FewMoved(FewFiltered):
    """Elements at some positions written to others, both kept in the statement."""

    title = "view(a, keep(0, 3, 4)) = view(a, drop(...)), 10 float64"

    def xarraylite(self) -> object:
        a = self.a
        xl.view(a, xl.keep(0, 3, 4))[...] = xl.view(a, xl.drop(0, 3, 4, 5, 6, 8, 9))
        return a

    def numpy(self) -> object:
        self.operand[[0, 3, 4]] = self.operand[[1, 2, 7]]
        return self.operand


class Extremes(Reduce):
    """The least and the greatest element, asked for one after the other."""

    title = "float of each of minmax(a), 10^6 float64"

    def setup(self) -> None:
        self.operand = values(size(1_000_000, 1000))
        self.a = xl.asarray(self.operand)
        for _ in range(5):
            self.xarraylite()

    def xarraylite(self) -> object:
        return [float(e) for e in xl.minmax(self.a)]

    def numpy(self) -> object:
        return [float(self.operand.min()), float(self.operand.max())]
