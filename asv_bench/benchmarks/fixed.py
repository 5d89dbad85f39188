"""What fixed ranks and shapes cost, and promises that nothing overlaps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from time import process_time
from typing import Any

import numpy as np

import xarraylite as xl

from . import ROUNDS, Comparison, values


class _InCpuTime(Comparison):
    """What differs by hundredths: the processor's clock is read, which other processes spare."""

    rounds = 5 * ROUNDS

    def warm_up(self) -> None:
        """Launch as often as a process does that launches often."""
        for _ in range(300):
            self.xarraylite()
            self.numpy()

    def seconds(self, side: Callable[[], object], number: int) -> float:
        start = process_time()
        for _ in range(number):
            side()
        return (process_time() - start) / number


class FixedShape(_InCpuTime):
    """Small assignments between containers of fixed shape, against the same of dynamic rank."""

    title = "c[...] = a, a + b and a + b * 2, 3 x 3, XTensorFixed against XArray here"
    wanted = 1.0

    def setup(self) -> None:
        fixed = xl.XTensorFixed[xl.float64, (3, 3)]
        self.ours = [fixed(values(3, 3, seed=k)) for k in range(3)]
        self.theirs = [xl.asarray(values(3, 3, seed=k)) for k in range(3)]
        self.warm_up()

    def xarraylite(self) -> object:
        return self.assign(*self.ours)

    def numpy(self) -> object:
        return self.assign(*self.theirs)

    def assign(self, a: Any, b: Any, c: Any) -> object:
        """Write a container in three ways."""
        c[...] = a
        c[...] = a + b
        c[...] = a + b * 2
        return c


class FixedRank(FixedShape):
    """The same between containers of fixed rank."""

    title = "c[...] = a, a + b and a + b * 2, 3 x 3, XTensor against XArray here"

    def setup(self) -> None:
        super().setup()
        self.ours = [xl.XTensor(each) for each in self.theirs]
        self.warm_up()


class NoAlias(_InCpuTime):
    """A promise, where the analysis is made each time: parts of other lengths that interleave."""

    title = "noalias(c)[i:i+n:2] = c[j:j+n:2] * 0.5, ever other parts, against the checked one here"
    wanted = 4.0

    def setup(self) -> None:
        self.ours = [xl.asarray(values(2000), copy=True)]
        self.theirs = [xl.asarray(values(2000), copy=True)]
        numbers = np.random.default_rng(0).integers(0, 400, (1024, 3))
        parts = [(2 * i, 2 * j + 1, 2 * n + 20) for i, j, n in numbers.tolist()]
        self.parts, self.their_parts = cycle(parts), cycle(parts)
        self.warm_up()

    def xarraylite(self) -> object:
        (c,) = self.ours
        i, j, n = next(self.parts)
        xl.noalias(c)[i : i + n : 2] = c[j : j + n : 2] * 0.5
        return None

    def numpy(self) -> object:
        (c,) = self.theirs
        i, j, n = next(self.their_parts)
        c[i : i + n : 2] = c[j : j + n : 2] * 0.5
        return None

    def results(self) -> tuple[object, object]:
        return np.zeros(1), np.zeros(1)


class KeptPromise(_InCpuTime):
    """A promise that is kept costs no more than the check, where that costs next to nothing."""

    title = "p[...] = a + b * 2, p = noalias(c), 3 x 3, against the checked assignment here"
    wanted = 0.9

    def setup(self) -> None:
        self.ours = [xl.asarray(values(3, 3, seed=k)) for k in range(3)]
        self.theirs = self.ours
        self.promise = xl.noalias(self.ours[2])
        self.warm_up()

    def xarraylite(self) -> object:
        a, b, c = self.ours
        self.promise[...] = a + b * 2
        return c

    def numpy(self) -> object:
        a, b, c = self.theirs
        c[...] = a + b * 2
        return c
