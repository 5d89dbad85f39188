"""The demo's output: plain text, one block per question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._config import settings
from ..runtime.evaluate import uses_reference
from .load import Terrain
from .measure import Difference, Numbers, Phase

_SECONDS = ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (0.0, 1e6, "us"))


def duration(seconds: float) -> str:
    """Return a time with three digits and the unit that suits it."""
    factor, unit = next((f, unit) for least, f, unit in _SECONDS if seconds >= least)
    return f"{seconds * factor:#.3g} {unit}".replace(". ", " ")


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
    yield ""
    yield phase.title
    yield from (f"  | {line}" for line in str(phase.plan).splitlines())
    if rounds := len(phase.ours):
        nbytes, buffers = phase.memory.bytes / rounds, phase.memory.temporaries / rounds
        yield (
            f"  allocated each time: {nbytes:,.0f} bytes (temporaries: {buffers:.3g}); "
            f"by NumPy: {phase.numpy_peak:,} bytes at once"
        )


def change_line(before: Numbers, after: Numbers, unit: str) -> str:
    """Say what erosion did to the heights."""
    with np.errstate(all="ignore"):
        change = (after - before)[np.isfinite(before) & np.isfinite(after)]
    lowest, highest = (change.min(), change.max()) if change.size else (0.0, 0.0)
    share = np.count_nonzero(change) / max(1, change.size)
    return f"  {share:.1%} of the cells moved, by {lowest:+.3g} to {highest:+.3g} {unit}".rstrip()


def difference_lines(differences: Sequence[Difference]) -> Iterator[str]:
    """Compare the results with NumPy's."""
    yield ""
    yield f"{'Largest difference from NumPy':<33}{'found':>12}{'allowed':>12}"
    for item in differences:
        outcome = "" if item.fits else "   TOO LARGE"
        yield f"  {item.what:<31}{_amount(item, item.largest)}{_bound(item)}{outcome}"


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
