"""The command ``python -m xarraylite demo``: arguments, order of work, exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from ..chunked.plan import budget_of
from .load import InputError, from_file, matplotlib_module, sample
from .measure import Numbers, shade, slide
from .report import change_line, difference_lines, heading, phase_lines, time_lines
from .scale import run_scaled
from .terrain import Sun

OUT_OF_BOUNDS = 1
BAD_INPUT = 2

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
        Exit status: 0; 1 if a result differs from NumPy's by more than its bound; 2 if the
        input or the output file is unusable, with one line on stderr.
    """
    try:
        return _run(xl, options)
    except InputError as error:
        print(f"xarraylite demo: {error}", file=sys.stderr)
        return BAD_INPUT


def _run(xl: ModuleType, options: argparse.Namespace) -> int:
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
    try:
        image.imsave(path, light, cmap="gray", vmin=BLACK, vmax=WHITE, format="png")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
