"""Evaluations of extents never seen before, and the extents from which fusing pays.

Loops over growing or shrinking parts are ordinary, so nothing that is derived from extents may be
expensive, or be kept for good.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

import xarraylite as xl

from . import ROUNDS, SMALL, Comparison, size, values
from .processes import run_python
from .statements import Statement


class Unseen(Statement):
    """Statements of the parts of length ``i``, each length once in the benchmark.

    What is derived from structure alone is there: a third of the lengths were met while warming
    up.
    """

    longest = 1536
    rounds = ROUNDS

    def setup(self) -> None:
        super().setup()
        self.number = size(2 * self.longest // (3 * ROUNDS), 3)
        self.warm = self.longest - self.number * ROUNDS

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        order = np.random.default_rng(0).permutation(self.longest) + 1
        return {"lengths": iter(order.tolist()), **self.arrays()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the operands."""
        return {"a": values(self.longest), "b": values(self.longest, seed=1)}

    def repeats(self, side: Callable[[], object]) -> int:
        self.seconds(side, self.warm)
        return self.number

    def compare(self) -> Any:
        """Start again at the first length, in containers that were never cut."""
        super().setup()
        return super().compare()


class UnseenVector(Unseen):
    """Two operations on new lengths."""

    title = "eval(a[:i] + b[:i]*2), i never seen"
    here = "i = next(lengths); r = xl.eval(a[:i] + b[:i]*2)"
    there = "i = next(lengths); r = a[:i] + b[:i]*2"
    shown = "r"
    wanted = 1 / 8


class UnseenSum(Unseen):
    """A reducer of new lengths."""

    title = "float(sum(a[:i]*b[:i])), i never seen"
    here = "i = next(lengths); r = float(xp.sum(a[:i]*b[:i]))"
    shown = "r"
    wanted = 1 / 8


class UnseenSquare(Unseen):
    """An update in place of the leading square; a call at most doubles the values, and adds 1."""

    title = "m[:i, :i] = m[:i, :i]*2 + 1, i never seen"
    here = "i = next(lengths); m[:i, :i] = m[:i, :i]*2 + 1"
    shown = "m"
    wanted = 1 / 10
    longest = 192

    def arrays(self) -> dict[str, np.ndarray]:
        return {"m": values(self.longest, self.longest)}


class UnseenMean(Unseen):
    """A mean, which folds and divides by the length."""

    title = "float(mean(a[:i])), i never seen"
    here = "i = next(lengths); r = float(xp.mean(a[:i]))"
    shown = "r"


class UnseenCentred(Unseen):
    """A fold inside an expression."""

    title = "eval(a[:i] - mean(a[:i])), i never seen"
    here = "i = next(lengths); r = xl.eval(a[:i] - xp.mean(a[:i]))"
    there = "i = next(lengths); r = a[:i] - xp.mean(a[:i])"
    shown = "r"


class UnseenPosition(Unseen):
    """The place of the greatest of some values, as an elimination looks for its pivot."""

    title = "int(argmax(abs(a[:i]))), i never seen"
    here = "i = next(lengths); r = int(xp.argmax(abs(a[:i])))"
    shown = "r"


class UnseenElimination(UnseenSquare):
    """A column times a row of a matrix, taken from the square below and behind them."""

    title = "m[k:, k:] -= m[k:, k-1, None] * m[k-1, k:], k never seen"
    here = "k = next(lengths); m[k:, k:] -= m[k:, k-1, None] * m[k-1, k:] * 1e-3"
    shown = "m"
    wanted = None


class UnseenProduct(UnseenSquare):
    """A matrix times a vector."""

    title = "m[:i, :i] @ m[0, :i], i never seen"
    here = "i = next(lengths); r = m[:i, :i] @ m[0, :i]"
    shown = "r"
    wanted = None


class UnseenColumns(UnseenSquare):
    """Means of columns that are subtracted from them."""

    title = "m[:i, :20] - mean(m[:i, :20], axis=0), i never seen"
    here = "i = next(lengths); x = m[:i, :20]; r = xp.eval(x - xp.mean(x, axis=0))"
    there = "i = next(lengths); x = m[:i, :20]; r = x - xp.mean(x, axis=0)"
    shown = "r"
    wanted = None


class UnseenTransposed(UnseenSquare):
    """Operands in another order of dimensions."""

    title = "eval(m[:i, :5].T * 1), i never seen"
    here = "i = next(lengths); r = xl.eval(m[:i, :5].T * 1)"
    there = "i = next(lengths); r = m[:i, :5].T * 1"
    shown = "r"
    wanted = None


class UnseenReshaped(Unseen):
    """A vector in rows, whose number is part of the call, in another order of dimensions."""

    title = "eval(a[:4*i].reshape(i, -1).T * 1), i never seen"
    here = "i = next(lengths); r = xl.eval(a[:4*i].reshape(i, -1).T * 1)"
    there = "i = next(lengths); r = a[:4*i].reshape(i, -1).T * 1"
    shown = "r"
    wanted = None

    def arrays(self) -> dict[str, np.ndarray]:
        return {"a": values(4 * self.longest)}


class UnseenTrace(UnseenSquare):
    """The sum of a diagonal."""

    title = "float(trace(m[:i, :i])), i never seen"
    here = "i = next(lengths); r = float(xp.trace(m[:i, :i]))"
    shown = "r"
    wanted = 1 / 10


class UnseenShift(Unseen):
    """What is written before it is read, as it lies behind itself."""

    title = "c[1:i] += c[:i-1], i never seen"
    here = "i = next(lengths); c[1:i] += c[:i-1]; c[:i] *= 0.5"
    shown = "c"
    wanted = 1 / 10

    def arrays(self) -> dict[str, np.ndarray]:
        return {"c": values(self.longest + 1)}


class UnseenJoin(Unseen):
    """Two parts put together."""

    title = "concat([a[:i], b[:3]]), i never seen"
    here = "i = next(lengths); r = xp.eval(xp.concat([a[:i], b[:3]]))"
    there = "i = next(lengths); r = xp.concat([a[:i], b[:3]])"
    shown = "r"


class UnseenHistory(Unseen):
    """A history that is joined with one more value."""

    title = "h = append(h, 1.0), 300 times"
    here = "h = a[:1]\nfor k in range(300): h = xp.append(h, 1.0)"
    shown = "h"
    longest = 64


_SHAPES = """
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * {page} / 2**20

def shapes(rank, most):
    if rank == 0:
        yield ()
        return
    for extent in range(1, most + 1):
        for rest in shapes(rank - 1, most // extent):
            yield (extent, *rest)

import gc, itertools
import {package} as xp
evaluate = getattr(xp, "eval", lambda result: result)
start = 0.0
for number, shape in enumerate(itertools.islice(shapes(5, {most}), {number})):
    if number == {number} // 10:
        gc.collect()
        start = resident()
    z = xp.zeros(shape)
    evaluate(z + z*2)
    float(xp.sum(z*z))
    if number % 10 == 0:
        evaluate(z[..., ::-1] + z)
gc.collect()
assert number == {number} - 1, "too few shapes"
print(resident() - start)
"""


class Shapes(Comparison):
    """A process that evaluates in 10^6 shapes, and 10^5 strides: its memory stays what it was.

    The shapes are those of five dimensions and at most 2700 elements.  What the first tenth took
    is not counted.
    """

    title = "a process of evaluations in 1M shapes"
    rounds = 1
    limit = ("mb_grown", 16.0)
    timeout = 3600

    def setup(self) -> None:
        self.grown = {xl: 0.0, np: 0.0}

    def xarraylite(self) -> object:
        return self.run(xl)

    def numpy(self) -> object:
        return self.run(np)

    def run(self, package: ModuleType) -> bool:
        """Run the process; whether it came to its end."""
        most, number = (60, 1000) if SMALL else (2700, 1_000_000)
        code = _SHAPES.format(
            package=package.__name__, most=most, number=number, page=resource.getpagesize()
        )
        self.grown[package] = float(run_python(code, timeout=self.timeout))
        return True

    def repeats(self, side: Callable[[], object]) -> int:
        return 1

    def track_mb_grown(self) -> float:
        """Resident MB that the later shapes added."""
        if not self.grown[xl]:
            self.xarraylite()
        return self.grown[xl]

    track_mb_grown.unit = "MB"  # type: ignore[attr-defined]


class IntoMemory(Statement):
    """A size at which NumPy's operations run from the cache."""

    title = "o[...] = a + b*c, 30 000 float64"
    here = "o[...] = a + b*c"
    there = "np.multiply(b, c, out=o); np.add(a, o, out=o)"
    shown = "o"
    wanted = 1.0

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        n = size(30_000, 1000)
        return {name: values(n, seed=k) for k, name in enumerate("abco")}


class BreakEven(Statement):
    """Three operations in a new container, at the size from which they have to be faster."""

    title = "eval(p*q + 1 - p), 3000 float64"
    here, there = "xl.eval(p*q + 1 - p)", "p*q + 1 - p"
    wanted = 1.0
    n = 3000
    limit = ("elements", 3000)

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"p": values(self.n), "q": values(self.n, seed=1)}

    def track_elements(self) -> float:
        """Elements from which this package is faster, as it is at the next two sizes.

        Where there are none, the largest size that was tried.
        """
        faster: list[int] = []
        for n in _sizes():
            self.n = n
            self.setup()
            faster = [*faster, n] if self.compare().ratio <= 1 else []
            if len(faster) == 3:
                break
        return faster[0] if faster else self.n

    track_elements.unit = "elements"  # type: ignore[attr-defined]


def _sizes() -> Iterator[int]:
    """Yield the sizes that are tried, a quarter apart."""
    n = 100
    while n < size(2_000_000, 3000):
        yield n
        n += n // 4
