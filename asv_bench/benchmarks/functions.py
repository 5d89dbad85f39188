"""Public functions against NumPy's of the same name, at 10, 1000 and 1 000 000 elements.

`EveryFunction` is asv's table of them, one number per call and size, and `EveryDtype` that of ten
and a million elements of other dtypes; ``python asv_bench/function_table.py`` prints them.  The
three comparisons run all calls of one size once.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

import xarraylite as xl
from xarraylite.arrays.container import XContainer
from xarraylite.arrays.evaluation import eval_
from xarraylite.arrays.expression import XExpression
from xarraylite.arrays.xarray import XArray

from . import SMALL, Comparison, Times, values
from .calls import CALLS

NAMES = [call for line in CALLS.splitlines() if line for call in line.split(" | ")]
SIZES = [10, 1000] if SMALL else [10, 1000, 1_000_000]


#: Calls of arrays of any dtype, and the dtypes besides float64 they are timed with.
OF_ARRAYS = [call for call in NAMES if {"x", "y", "m"} & set(re.findall(r"\b\w\b", call))]
DTYPES = ["float32", "int64", "bool", "complex128", "float16", "int8", "uint16", "int32"]


def operands(n: int, dtype: str = "float64") -> dict[str, Any]:
    """NumPy's operands; those that are of any dtype are whole numbers in others than float64."""
    rng = np.random.default_rng(2)
    m = rng.random((4, 4)) + 4 * np.eye(4)
    x, y = values(n), np.abs(values(n, seed=3)) + 0.1
    if dtype != "float64":
        x, y, m = [np.floor(4 * part).astype(dtype) for part in (x, y, m)]
    return {
        "x": x,
        "y": y,
        "k": x > 0,
        "i": rng.integers(0, n, n),
        "e": np.sort(values(10, seed=1)),
        "m": m + m.T,
        "u": rng.integers(0, 256, n).astype(np.uint8),
        "z": values(n) + 1j * values(n, seed=3),
        "n": n,
    }


def evaluated(made: Any) -> Any:
    """Have a lazy result computed; NumPy's side has no such call, so that of most costs little."""
    kind = made.__class__
    if kind is XArray:
        return made
    if kind is tuple or kind is list:
        return [evaluated(part) for part in made]
    lazy = isinstance(made, XExpression) and not isinstance(made, XContainer)
    return eval_(made) if lazy else made


class Call(Comparison):
    """One call at one size; by itself, a sort."""

    def __init__(self, name: str = "sort(x)", n: int = 1000, dtype: str = "float64") -> None:
        self.title, self.n, self.dtype = name, n, dtype

    def setup(self) -> None:
        theirs = operands(self.n, self.dtype)
        ours = {k: xl.asarray(v) if k != "n" else v for k, v in theirs.items()}
        self.sides = [
            eval(f"lambda: xp.{self.title}", {"xp": xp, **names})  # our own words
            for xp, names in ((xl, ours), (np, theirs))
        ]
        self.xarraylite()

    def xarraylite(self) -> object:
        return evaluated(self.sides[0]())

    def numpy(self) -> object:
        return self.sides[1]()


class EveryFunction:
    """Each call's time over NumPy's."""

    unit = "of NumPy's time"
    timeout = 300
    params: ClassVar = [NAMES, SIZES]
    param_names: ClassVar = ["call", "n"]

    def setup(self, call: str, n: int) -> None:
        self.case = Call(call, n)
        self.case.setup()

    def track_ratio(self, call: str, n: int) -> float:
        return self.case.compare().ratio


class EveryDtype(EveryFunction):
    """Each call's time over NumPy's, of ten elements and of many of other dtypes.

    A dtype that NumPy, or this package, refuses is left out.
    """

    params: ClassVar = [OF_ARRAYS, DTYPES, SIZES[::2]]
    param_names: ClassVar = ["call", "dtype", "n"]

    def setup(self, call: str, dtype: str, n: int = 10) -> None:  # type: ignore[override]
        self.case = Call(call, n, dtype)
        try:
            self.case.setup()
            self.case.numpy()
        except (TypeError, ValueError) as error:
            raise NotImplementedError from error

    def track_ratio(self, call: str, dtype: str, n: int = 10) -> float:  # type: ignore[override]
        return self.case.compare().ratio


class AllOfTen(Comparison):
    """All calls once at 10 elements: what a call costs besides its work."""

    title = "every function once, 10 elements"
    n = 10

    def setup(self) -> None:
        self.calls = [Call(name, self.n) for name in NAMES]
        for call in self.calls:
            call.setup()

    def xarraylite(self) -> object:
        return [call.xarraylite() for call in self.calls]

    def numpy(self) -> object:
        return [call.numpy() for call in self.calls]

    def agree(self) -> bool:
        """Whether all results of numbers, flattened, are close."""
        return all(
            np.allclose(np.asarray(one), np.asarray(other), rtol=1e-9, atol=1e-9)
            for one, other in zip(_parts(self.xarraylite()), _parts(self.numpy()), strict=True)
        )


class AllOfAThousand(AllOfTen):
    """All calls once at 1000 elements."""

    title = "every function once, 1000 elements"
    n = 1000


def _parts(made: Any) -> list[Any]:
    if isinstance(made, np.dtype):
        return [made.itemsize]
    if isinstance(made, tuple | list):
        return [part for item in made for part in _parts(item)]
    return [made]


def table_of_dtypes(n: int = 10, rounds: int = 6) -> list[tuple[str, str, Times]]:
    """Return the times of each call of n elements of each dtype that takes it."""
    found = []
    every = EveryDtype()
    for name in OF_ARRAYS:
        for dtype in DTYPES:
            with suppress(NotImplementedError):
                every.setup(name, dtype, n)
                every.case.rounds = rounds
                found.append((name, dtype, every.case.compare()))
    return found


def table(rounds: int = 6) -> list[tuple[str, int, Times]]:
    """Return the times of each call at each size."""
    found = []
    for name in NAMES:
        for n in SIZES:
            case = Call(name, n)
            case.rounds = rounds
            case.setup()
            found.append((name, n, case.compare()))
    return found
