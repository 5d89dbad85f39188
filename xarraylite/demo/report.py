"""The demo's output: plain text, one block per question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._config import settings
from ..engine.evaluate import uses_reference
from .load import Terrain
from .measure import Difference, Phase

_SECONDS = ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (0.0, 1e6, "us"))
_BYTES = ((1e9, 1e-9, "GB"), (1e6, 1e-6, "MB"), (1e3, 1e-3, "kB"), (0.0, 1.0, "B"))


def _scaled(value: float, units: tuple[tuple[float, float, str], ...]) -> str:
    """Return a quantity with three digits in the unit that suits its size."""
    factor, unit = next((f, unit) for least, f, unit in units if value >= least)
    return f"{value * factor:.3g} {unit}"


def duration(seconds: float) -> str:
    """Return a time with its unit."""
    return _scaled(seconds, _SECONDS)


def size(nbytes: float) -> str:
    """Return a number of bytes with its unit."""
    return _scaled(nbytes, _BYTES)


def heading(terrain: Terrain) -> Iterator[str]:
    """Say what is computed, and by what."""
    heights, unit = terrain.heights.numpy(), terrain.unit and f" {terrain.unit}"
    finite = heights[np.isfinite(heights)]
    rows, columns = heights.shape
    missing = heights.size - finite.size
    gaps = f", {missing:,} without" if missing else ""
    yield f"{terrain.name}: {rows} x {columns} heights ({terrain.source}){gaps}"
    yield (
        f"  from {finite.min():.6g} to {finite.max():.6g}{unit}, cells of "
        f"{terrain.grid.dx:.4g} x {terrain.grid.dy:.4g}{unit}"
    )
    engine = "reference" if uses_reference() else f"compiled, {settings.threads} thread(s)"
    yield f"  engine: {engine}; NumPy {np.__version__}"


def phase_lines(phase: Phase) -> Iterator[str]:
    """Say what `explain` plans for one evaluation, and what was allocated."""
    rounds = len(phase.ours)
    yield ""
    yield phase.title
    yield from (f"  | {line}" for line in str(phase.plan).splitlines())
    if rounds:
        memory = phase.memory
        yield (
            f"  allocated per evaluation: {size(memory.bytes / rounds)} in "
            f"{memory.temporaries / rounds:.3g} temporaries; NumPy held {size(phase.numpy_peak)}"
        )


def difference_lines(differences: Sequence[Difference]) -> Iterator[str]:
    """Compare the results with NumPy's."""
    yield ""
    yield f"{'Largest difference from NumPy':<33}{'found':>12}{'allowed':>12}"
    for item in differences:
        verdict = "" if item.fits else "   TOO LARGE"
        yield f"  {item.what:<31}{_amount(item, item.largest)}{_bound(item)}{verdict}"


def _amount(item: Difference, value: float) -> str:
    return f"{value:>8.2g} {item.unit:<3}" if item.unit else f"{value:>12.2g}"


def _bound(item: Difference) -> str:
    return _amount(item, item.bound) if item.bound else f"{'0, same bits':>15}"


def time_lines(phases: Sequence[tuple[str, Phase]]) -> Iterator[str]:
    """Compare the times with NumPy's."""
    yield ""
    yield f"{'Median times, taken in turn':<33}{'NumPy':>12}{'xarraylite':>12}{'faster':>9}"
    for name, phase in phases:
        if phase.ours:
            ours, theirs = phase.medians
            times = f"{duration(theirs):>12}{duration(ours):>12}{theirs / ours:>8.1f}x"
            yield f"  {name:<31}{times}"
    for name, phase in phases:
        made = f"{phase.compiled} kernel(s) compiled, {phase.loaded} from disk"
        yield f"  {name + ', first time':<31}{'':>12}{duration(phase.first):>12}   ({made})"
