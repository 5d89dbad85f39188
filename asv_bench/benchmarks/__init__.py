"""Each benchmark is one case run by NumPy and by xarraylite, in turn, on the same data.

Times of a shared machine drift by tens of percent within a minute, so a time alone says
little.  `Comparison.track_ratio` interleaves the two sides and reports the median over the
rounds of xarraylite's time over NumPy's: 0.25 is four times as fast, and smaller is better, which
is what asv expects of a tracked number.

``XARRAYLITE_BENCH_CPU=1`` counts the process's CPU time, which others on the machine do not
lengthen: for one core (``taskset -c 0`` gives every library one thread).
``XARRAYLITE_BENCH_SMALL=1`` shrinks every size and runs one round: the smoke test of CI.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import geometric_mean, median
from time import perf_counter, process_time

import numpy as np

SMALL = os.environ.get("XARRAYLITE_BENCH_SMALL", "") not in ("", "0")
ROUNDS = 1 if SMALL else 21
clock = (
    process_time if os.environ.get("XARRAYLITE_BENCH_CPU", "") not in ("", "0") else perf_counter
)
# A round repeats its case until it takes this long, so that the clock's grain does not show.
MIN_ROUND_SECONDS = 0.0 if SMALL else 2e-3

# Calls, or seconds, before anything is timed: programs that run often are what is compared.
_WARM, _WARM_SECONDS = 300, 0.2


def size(full: int, small: int) -> int:
    """The extent to use: full, or small in the smoke test."""
    return small if SMALL else full


def values(*shape: int, seed: int = 0) -> np.ndarray:
    """Reproducible float64 values in [0.5, 1.5): no zeros, no subnormals, no overflow."""
    return np.random.default_rng(seed).random(shape) + 0.5


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one call on each side, round by round."""

    rounds: tuple[tuple[float, float], ...]
    others: Mapping[str, float] = field(default_factory=dict)
    """Medians of whom else the case knows, by their names."""

    @property
    def xarraylite(self) -> float:
        """The median on this side."""
        return median(ours for ours, _ in self.rounds)

    @property
    def numpy(self) -> float:
        """The median on NumPy's."""
        return median(theirs for _, theirs in self.rounds)

    @property
    def ratio(self) -> float:
        """xarraylite's time over NumPy's: the median of the ratios of rounds.

        A machine that goes at two speeds goes at one of them for the whole of most rounds.  Who
        comes second finds the other one's data in the caches, so the rounds of either order have a
        median of their own, and the result is between the two.
        """
        orders = [half for half in (self.rounds[::2], self.rounds[1::2]) if half]
        return geometric_mean(median(ours / theirs for ours, theirs in half) for half in orders)


#: Sides of which one makes at most so many times the calls of the other make equally many.
_ALIKE = 8


class Comparison(ABC):
    """One case, written twice."""

    unit = "of NumPy's time"
    timeout = 300
    rounds = ROUNDS
    title = ""
    # How many times as fast as NumPy the case has to be; None where it is only tracked.
    wanted: float | None = None
    # The most that another tracked number may be, by its name without ``track_``.
    limit: tuple[str, float] | None = None

    @abstractmethod
    def setup(self) -> None:
        """Make the operands, and compile what is to be compiled."""

    @abstractmethod
    def xarraylite(self) -> object:
        """Run the case once here."""

    @abstractmethod
    def numpy(self) -> object:
        """Run the case once in NumPy."""

    def results(self) -> tuple[object, object]:
        """What each side computed from the same input, to be compared."""
        return self.xarraylite(), self.numpy()

    def agree(self) -> bool:
        """Whether both sides computed the same up to rounding."""
        ours, theirs = (np.asarray(result) for result in self.results())
        if ours.dtype != theirs.dtype:
            return False
        # Sums of some thousand terms in another order: far below a thousand roundings.
        tolerance = 1000 * np.finfo(np.result_type(theirs, np.float16)).eps
        return np.allclose(ours, theirs, rtol=tolerance, atol=tolerance)

    def others(self) -> dict[str, Callable[[], object]]:
        """Return who else is to run the case, by name; whoever is not installed is left out."""
        return {}

    def compare(self) -> Times:
        """Run all sides in turn and return their times."""
        others = self.others()
        sides = [self.xarraylite, self.numpy, *others.values()]
        ours, theirs, *rest = [self.repeats(side) for side in sides]
        if max(ours, theirs) <= _ALIKE * min(ours, theirs):
            ours = theirs = max(ours, theirs)  # the first call of a round is colder than the next
        repeats = [ours, theirs, *rest]
        rounds: list[list[float]] = []
        for number in range(self.rounds):
            # Who comes first finds the caches as it left them, the second one the first's operands
            # in them: so each of the two does so in every other round.
            order = [*((0, 1) if number % 2 else (1, 0)), *range(2, len(sides))]
            times = {k: self.seconds(sides[k], repeats[k]) for k in order}
            rounds.append([times[k] for k in range(len(sides))])
        medians = [median(column) for column in zip(*rounds, strict=True)][2:]
        return Times(
            tuple([(ours, theirs) for ours, theirs, *_ in rounds]),
            dict(zip(others, medians, strict=True)),
        )

    def track_ratio(self) -> float:
        """What asv records."""
        return self.compare().ratio

    def seconds(self, side: Callable[[], object], number: int) -> float:
        """Seconds of one call of a side, on average over a number of calls."""
        start = clock()
        for _ in range(number):
            side()
        return (clock() - start) / number

    def repeats(self, side: Callable[[], object]) -> int:
        """How many calls fill a round; the calls made to find out also warm the side up.

        Each number is tried twice: what is done at a first call must not fill the round, nor what
        is interpreted until it is compiled, or runs in Python until machine code is loaded.
        """
        end = clock() + _WARM_SECONDS
        for _ in range(0 if SMALL else _WARM):
            side()
            if clock() > end:
                break
        number = 1
        while (
            once := min(self.seconds(side, number), self.seconds(side, number))
        ) * number < MIN_ROUND_SECONDS:
            number = max(2 * number, math.ceil(MIN_ROUND_SECONDS / max(once, 1e-9)))
        return number
