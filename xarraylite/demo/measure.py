"""Run the demo's two jobs on both sides in turn: times, memory and differences.

The bounds on the differences are those of the documentation.  ``+ - * / sqrt``, comparisons and
``where`` give NumPy's bits, so eroded heights must be the same.  A transcendental function is
within 4 units in the last place (ULP) of the exact value here, and within as much in NumPy, so
slope and aspect, each one function of the same numbers, differ by 8 ULP at most.

The light is the product of two unit vectors, so an error of the slope enters it at most as it
is, and one of the aspect at most times ``cos(45 degrees)``.  In units of 2**-52: 8 ULP of a
slope below 2 are 8, 8 ULP of an aspect below 4 and the rounding of ``direction - downhill`` are
20 * 0.71, three functions of values below 1 are 8/2 each, in products with factors below 1,
and five roundings are 5/2: less than 40 together.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from ..arrays.xarray import XArray
from ..codegen.kernel import kernels
from ..functions.creation import empty
from ..memory.pool import counters
from ..transforms.explain import Explanation, explain
from ..transforms.noalias import noalias
from .load import Terrain
from .terrain import Sun, aspect, erode, gradient, hillshade, landslide, slope

#: Times the shading is repeated.
ROUNDS = 7

#: Angle of repose of the eroded rock in degrees; weathered rock under soil.
REPOSE = 20.0

EPS = 2.0**-52
ULP_BOUND = 8.0
LIGHT_BOUND = 40 * EPS

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Job = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Difference:
    """How far a result is from NumPy's, and how far it may be.

    Attributes
    ----------
    what : str
        Name of the result.
    largest, bound : float
        In ``unit``.
    unit : str
        ``"ULP"``, or empty for an absolute difference.
    """

    what: str
    largest: float
    bound: float
    unit: str

    @property
    def fits(self) -> bool:
        """Whether the bound holds; NaN does not."""
        return self.largest <= self.bound


@dataclass(slots=True)
class Memory:
    """What was allocated while something ran.

    Attributes
    ----------
    bytes : int
        Bytes of all buffers.
    temporaries : int
        Buffers of the engine, and copies kept for expressions that are still to be evaluated.
    """

    bytes: int = 0
    temporaries: int = 0


@dataclass(slots=True)
class Phase:
    """One of the two jobs, run by both sides.

    Attributes
    ----------
    title : str
        What it does.
    plan : Explanation
        What `explain` says about one evaluation.
    memory : Memory
        What all evaluations after the first one allocated.
    numpy_peak : int
        Most bytes that NumPy held at once for one evaluation, besides input and output.
    first : float
        Seconds of the first evaluation, the compiler's time included.
    compiled, loaded : int
        Kernels that the first evaluation compiled and took from the disk cache.
    ours, theirs : list of float
        Seconds of the evaluations after the first one, taken in turn.
    """

    title: str
    plan: Explanation
    memory: Memory
    numpy_peak: int
    first: float
    compiled: int
    loaded: int
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def medians(self) -> tuple[float, float]:
        """Median seconds of xarraylite and of NumPy."""
        return median(self.ours), median(self.theirs)


def shade(xl: ModuleType, terrain: Terrain, sun: Sun) -> tuple[Phase, Numbers, list[Difference]]:
    """Shade the terrain into existing memory; return the light and how far off it is."""
    z, grid = terrain.heights, terrain.grid
    plain = z.numpy()
    light = empty(tuple([extent - 2 for extent in z.shape]))
    expected = np.empty(light.shape)

    def ours() -> None:
        noalias(light)[...] = hillshade(xl, z, grid, sun)

    def theirs() -> None:
        expected[...] = hillshade(np, plain, grid, sun)

    phase = _phase(
        "Hillshade: slope, aspect and light, into existing memory (noalias)",
        ours,
        theirs,
        lambda: explain(noalias(light), hillshade(xl, z, grid, sun)),
        ROUNDS,
    )
    east, north = gradient(z, grid)
    with np.errstate(all="ignore"):
        rise = gradient(plain, grid)
        differences = [
            in_ulp("slope", XArray(slope(xl, east, north)), slope(np, *rise)),
            in_ulp("aspect", XArray(aspect(xl, east, north)), aspect(np, *rise)),
            _absolute("hillshade", light, expected, LIGHT_BOUND),
        ]
    return phase, light.numpy(), differences


def slide(xl: ModuleType, terrain: Terrain, steps: int) -> tuple[Phase, Numbers, list[Difference]]:
    """Erode a copy of the terrain in place, step by step; return the eroded heights."""
    z, grid = terrain.heights.copy(), terrain.grid
    plain = z.numpy().copy()

    def plan() -> Explanation:
        here = z[1:-1, 1:-1]
        return explain(here, here + landslide(xl, z, grid, REPOSE))

    phase = _phase(
        f"Erosion: {steps} steps in place, z[1:-1, 1:-1] += landslide(z)",
        lambda: erode(xl, z, grid, REPOSE),
        lambda: erode(np, plain, grid, REPOSE),
        plan,
        steps - 1,
    )
    return phase, z.numpy(), [_absolute("eroded heights", z, plain, 0.0)]


def _phase(
    title: str, ours: Job, theirs: Job, plan: Callable[[], Explanation], rounds: int
) -> Phase:
    """Run both jobs once, then both in turn; the plan is asked for after the first run."""
    compiled, loaded = kernels.compiled, kernels.loaded
    first = _seconds(ours)
    compiled, loaded = kernels.compiled - compiled, kernels.loaded - loaded
    with np.errstate(all="ignore"):
        peak = _peak(theirs)
        phase = Phase(title, plan(), Memory(), peak, first, compiled, loaded)
        for _ in range(rounds):
            with _counted(phase.memory):
                phase.ours.append(_seconds(ours))
            phase.theirs.append(_seconds(theirs))
    return phase


def _seconds(job: Job) -> float:
    start = perf_counter()
    job()
    return perf_counter() - start


def _peak(job: Job) -> int:
    """Run a job; return the most bytes it held at once, as NumPy reports them to tracemalloc."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        job()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@contextmanager
def _counted(memory: Memory) -> Iterator[None]:
    nbytes, buffers = counters.bytes, counters.temporaries + counters.snapshots
    yield
    memory.bytes += counters.bytes - nbytes
    memory.temporaries += counters.temporaries + counters.snapshots - buffers


def in_ulp(what: str, ours: XArray, theirs: Numbers) -> Difference:
    """Compare in units in the last place of the larger of the two numbers."""
    mine = ours.numpy()
    unit = np.spacing(np.maximum(np.abs(mine), np.abs(theirs)))
    return Difference(what, _largest(mine, theirs, unit), ULP_BOUND, "ULP")


def _absolute(what: str, ours: XArray, theirs: Numbers, bound: float) -> Difference:
    return Difference(what, _largest(ours.numpy(), theirs, 1.0), bound, "")


def _largest(ours: Numbers, theirs: Numbers, unit: Any) -> float:
    """Return the largest difference; equal infinities and two NaN are the same number."""
    with np.errstate(all="ignore"):
        apart = np.abs(ours - theirs) / unit
        same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        apart[same] = 0.0
        return float(np.max(np.where(np.isnan(apart), np.inf, apart)))
