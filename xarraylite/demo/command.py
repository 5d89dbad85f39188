"""The command ``python -m xarraylite demo``: arguments, order of work, exit status, text.

The demo at any size: a mosaic of its terrain on disk, shaded block by block.

The mosaic repeats the terrain's heights, mirrored so that neighbours meet without a cliff, each
copy raised by an offset of its own.  It is one lazy expression over the small terrain, as is the
hillshade over the mosaic; neither is ever in memory as a whole.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .._config import settings
from .._errors import InputError
from ..chunked.budget import budget_of
from ..runtime.evaluate import uses_reference
from .load import Terrain, from_file, matplotlib_module, sample
from .measure import Difference, Numbers, Phase, shade, slide
from .terrain import Sun, hillshade

#: Extents of the chunks on disk.
CHUNK = 1024

#: Heights that a copy is raised by, times its row and column.
RISE = (7.0, 3.0)


def mosaic(xl: ModuleType, terrain: Terrain, nbytes: int) -> Any:
    """Return a mosaic of at least so many bytes, whole chunks of them, lazily."""
    rows, columns = terrain.heights.shape
    side = max(2 * CHUNK, -(-math.isqrt(max(0, nbytes - 1) // 8) // CHUNK) * CHUNK)
    north, across = np.divmod(np.arange(side), rows)
    west, along = np.divmod(np.arange(side), columns)
    across = np.where(north % 2, rows - 1 - across, across)
    along = np.where(west % 2, columns - 1 - along, along)
    copies = terrain.heights[across][:, along]
    return copies + xl.asarray(RISE[0] * north)[:, None] + xl.asarray(RISE[1] * west)


def run_scaled(xl: ModuleType, terrain: Terrain, nbytes: int, folder: Path) -> list[str]:
    """Write a mosaic and its hillshade into a folder, and return what there is to say.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    lines = []
    chunks = (CHUNK, CHUNK)
    heights, shade = folder / "mosaic.zarr", folder / "hillshade.zarr"
    made = mosaic(xl, terrain, nbytes)
    works = [("mosaic", made, heights), ("hillshade", None, shade)]
    for name, expression, path in works:
        if expression is None:
            expression = hillshade(xl, xl.open(heights), terrain.grid, Sun())
        start, used = time.perf_counter(), time.process_time()
        try:
            xl.store(expression, path, chunks=chunks, overwrite=True)
        except OSError as error:
            raise InputError(str(error)) from None
        seconds, used = time.perf_counter() - start, time.process_time() - used
        size = expression.nbytes
        lines.append(
            f"{name}: {list(expression.shape)} float64, {size / 1e9:.2f} GB in {seconds:.1f} s "
            f"({size / 1e6 / seconds:,.0f} MB/s, {used:.1f} s of CPU time) -> {path}"
        )
    light = xl.open(shade)
    mean, brightest = float(xl.mean(light)), float(xl.max(light))
    lines.append(f"light: {mean:.4f} on average, {brightest:.4f} at most")
    with contextlib.suppress(OSError):  # of Linux; what getrusage tells is its parent's too
        told = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
        lines.append(f"memory: {int(told) / 1024:,.0f} MB at most")
    return lines


OUT_OF_BOUNDS = 1

#: Light that is shown black and white; little of a natural terrain lies outside.
BLACK, WHITE = 0.35, 0.95


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `run`."""
    parser.add_argument(
        "--array", type=Path, metavar="FILE.npy", help="heights of your own instead of the sample"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.png", default=Path("hillshade.png"),
        help="where the picture goes (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--steps", type=_steps, default=200, help="steps of erosion (default: %(default)s)"
    )
    parser.add_argument(
        "--scale", type=_scale, metavar="8GB",
        help="shade a mosaic of this size instead, on disk beside FILE.png, block by block",
    )  # fmt: skip


def _steps(text: str) -> int:
    steps = int(text)
    if steps < 1:
        raise argparse.ArgumentTypeError("at least 1 step is needed")
    return steps


def _scale(text: str) -> int:
    try:
        return budget_of(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no size, such as 8GB") from None


def run(xl: ModuleType, options: argparse.Namespace) -> int:
    """Run the demo.

    Parameters
    ----------
    xl : module
        The array namespace to compare with NumPy: this package's face.
    options : argparse.Namespace
        Values of ``--array``, ``--out``, ``--steps`` and ``--scale``.

    Returns
    -------
    int
        Exit status: 0; 1 if a result differs from NumPy's by more than its bound.

    Raises
    ------
    InputError, OSError
        If the input or the output file is unusable.
    """
    matplotlib_module("image")  # a missing library is reported before any work
    if not options.out.parent.is_dir():
        raise InputError(f"{options.out}: there is no directory {options.out.parent}")
    terrain = sample() if options.array is None else from_file(options.array)
    _show(heading(terrain))
    if options.scale is not None:
        _show(run_scaled(xl, terrain, options.scale, options.out.parent))
        return 0
    shading, light, differences = shade(xl, terrain, Sun())
    _show(phase_lines(shading))
    erosion, eroded, more = slide(xl, terrain, options.steps)
    _show(phase_lines(erosion))
    _show([change_line(terrain.heights.numpy(), eroded, terrain.unit)])
    differences += more
    _show(difference_lines(differences))
    _show(time_lines([("hillshade", shading), ("one step of erosion", erosion)]))
    _save(options.out, light)
    _show(["", f"{options.out} written"])
    return 0 if all([item.fits for item in differences]) else OUT_OF_BOUNDS


def _show(lines: Iterable[str]) -> None:
    print("\n".join(lines), flush=True)


def _save(path: Path, light: Numbers) -> None:
    """Write the light as a grey picture."""
    image = matplotlib_module("image")
    image.imsave(path, light, cmap="gray", vmin=BLACK, vmax=WHITE, format="png")


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
