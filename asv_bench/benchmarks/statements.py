"""Benchmarks of single statements, timed without a call around them.

Where a case takes a tenth of a microsecond, the call of a method that runs it would count as much.
So a case is written as source, the same for both sides where that is possible, and `timeit` runs it
in a loop of its own.  The collector of garbage stays on: what it costs belongs to the statement.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from timeit import Timer
from types import ModuleType
from typing import Any

import numpy as np

import xarraylite as xl

from . import SMALL, Comparison

_COLLECT = "import gc; gc.enable()"


class Statement(Comparison):
    """A statement over the same names on both sides.

    Attributes
    ----------
    there : str
        NumPy's source where it is not the same.
    shown : str
        An expression of what the statement changed; empty where it has a value of its own.
    """

    rounds = 1 if SMALL else 101
    there = ""
    shown = ""

    @property
    @abstractmethod
    def here(self) -> str:
        """The source; ``xp`` is the side's package, ``xl`` and ``np`` are what they are."""

    @abstractmethod
    def operands(self, xp: ModuleType) -> dict[str, Any]:
        """Return the names the statement uses, NumPy's arrays where containers have to be."""

    def names(self, xp: ModuleType) -> dict[str, Any]:
        """Return fresh names of a side."""
        found = self.operands(xp)
        if xp is xl:
            found = {
                name: xl.asarray(value, copy=True) if isinstance(value, np.ndarray) else value
                for name, value in found.items()
            }
        return {"xp": xp, "xl": xl, "np": np, **found}

    def setup(self) -> None:
        self._ours = Timer(self.here, _COLLECT, globals=self.names(xl))
        self._theirs = Timer(self.there or self.here, _COLLECT, globals=self.names(np))

    def xarraylite(self) -> object:
        return self._ours.timeit(1)

    def numpy(self) -> object:
        return self._theirs.timeit(1)

    def seconds(self, side: Callable[[], object], number: int) -> float:
        timer = self._ours if side == self.xarraylite else self._theirs
        return timer.timeit(number) / number

    def results(self) -> tuple[object, object]:
        return self.result(xl, self.here), self.result(np, self.there or self.here)

    def result(self, xp: ModuleType, source: str) -> object:
        """Return what the statement makes of fresh operands."""
        found: list[object] = []
        first, last = (source, self.shown) if self.shown else ("pass", source)
        names = {**self.names(xp), "found": found}
        Timer(f"{first}\nfound.append({last})", globals=names).timeit(1)
        return found[0]
