"""Public functions against NumPy's of the same name, at 10, 1000 and 1 000 000 elements.

`EveryFunction` is asv's table of them, one number per call and size; ``python
asv_bench/function_table.py`` prints it.  The three comparisons run all calls of one size once.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import xarraylite as xl

from . import SMALL, Comparison, Times, values

#: Calls in ``xp``, with a vector ``x``, whole numbers ``i`` below its length, ten sorted numbers
#: ``e``, a matrix ``m`` of (4, 4) and the length ``n``.
CALLS = """
zeros(n)
full(n, 1.0)
arange(n)
linspace(0, 1, n)
add(x, x)
sin(x)
clip(x, 0, 1)
round(x, 2)
where(x > 1, x, 0)
isclose(x, x)
nan_to_num(x)
array_equal(x, x)
allclose(x, x)
sum(x)
mean(x)
var(x)
max(x)
argmax(x)
ptp(x)
average(x)
nansum(x)
nanmean(x)
nanmax(x)
count_nonzero(x)
cumsum(x)
diff(x)
gradient(x)
trapezoid(x)
concatenate([x, x])
stack([x, x])
split(x, 2)
roll(x, 2)
flip(x)
tile(x, 2)
repeat(x, 2)
pad(x, 1)
take(x, i)
outer(e, x)
dot(x, x)
sort(x)
argsort(x)
searchsorted(e, x)
nonzero(x)
unique(x)
isin(x, e)
bincount(i)
digitize(x, e)
histogram(x)
median(x)
percentile(x, 50)
interp(x, e, e)
convolve(x, e)
cov(x)
fft.fft(x)
fft.rfft(x)
linalg.norm(x)
linalg.inv(m)
linalg.solve(m, m)
linalg.eigh(m)
linalg.svd(m)
random.default_rng(1).normal(size=n)
"""

NAMES = [line for line in CALLS.splitlines() if line]
SIZES = [10, 1000] if SMALL else [10, 1000, 1_000_000]


def operands(n: int) -> dict[str, Any]:
    """NumPy's operands."""
    rng = np.random.default_rng(2)
    m = rng.random((4, 4)) + 4 * np.eye(4)
    return {
        "x": values(n),
        "i": rng.integers(0, n, n),
        "e": np.sort(values(10, seed=1)),
        "m": m + m.T,
        "n": n,
    }


def evaluated(made: Any) -> Any:
    """Have a result computed."""
    if isinstance(made, tuple | list):
        return [evaluated(part) for part in made]
    return xl.eval(made) if isinstance(made, xl.XExpression) else made


class Call(Comparison):
    """One call at one size; by itself, a sort."""

    def __init__(self, name: str = "sort(x)", n: int = 1000) -> None:
        self.title, self.n = name, n

    def setup(self) -> None:
        theirs = operands(self.n)
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
    if isinstance(made, tuple | list):
        return [part for item in made for part in _parts(item)]
    return [made]


def table(rounds: int = 5) -> list[tuple[str, int, Times]]:
    """Return the times of each call at each size."""
    found = []
    for name in NAMES:
        for n in SIZES:
            case = Call(name, n)
            case.rounds = rounds
            case.setup()
            found.append((name, n, case.compare()))
    return found
