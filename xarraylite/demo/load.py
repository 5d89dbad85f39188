"""Where the demo's heights come from: matplotlib's sample data, or a file of the user's."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import InputError, XarrayliteError
from ..arrays.xarray import XArray
from ..dtypes.names import dtype_name, float64, kind
from ..io.npy import load
from .terrain import Grid

SAMPLE = "jacksboro_fault_dem.npz"

#: Metres per degree of latitude, as in matplotlib's own examples with these data.
DEGREE = 111_200.0

#: Average slope, in degrees, that heights without a known cell size are shown with.
GENTLE = 15.0


@dataclass(frozen=True, slots=True)
class Terrain:
    """Heights on a grid.

    Attributes
    ----------
    name : str
        Name of the file.
    source : str
        Dtype the heights had there.
    heights : XArray
        As float64.
    grid : Grid
        Cell size.
    unit : str
        Unit of heights and cells; empty if unknown.
    """

    name: str
    source: str
    heights: XArray
    grid: Grid
    unit: str


def matplotlib_module(name: str) -> Any:
    """Import a module of matplotlib, which only the demo needs.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ImportError:
        raise InputError(
            "the demo needs matplotlib, which is not installed: pip install xarraylite[demo]"
        ) from None


def sample() -> Terrain:
    """Return the elevation model of the Jacksboro fault zone in Tennessee.

    Its cells are measured in degrees; a degree of longitude is shorter than one of latitude by
    the cosine of the latitude.

    Raises
    ------
    InputError
        If matplotlib or its sample data are not installed.
    """
    try:
        with matplotlib_module("cbook").get_sample_data(SAMPLE) as data:
            elevation = data["elevation"]
            latitude = math.radians(float(data["ymin"]))
            dx = DEGREE * float(data["dx"]) * math.cos(latitude)
            dy = DEGREE * float(data["dy"])
    except OSError:  # some distributions leave the sample data out
        raise InputError(
            f"matplotlib comes without its sample data {SAMPLE} here; use --array FILE.npy"
        ) from None
    heights = XArray(elevation, dtype=float64)
    return Terrain(SAMPLE, dtype_name(elevation.dtype), heights, Grid(dx, dy), "m")


def from_file(path: Path) -> Terrain:
    """Return the heights in a ``.npy`` file.

    Nothing in the file tells the size of a cell, so it is chosen for the average slope to be
    `GENTLE`; a plane gets cells of size 1.

    Raises
    ------
    InputError
        If it cannot be read, or is no grid of at least 3 x 3 real numbers, some of them finite.
    """
    try:
        values = load(path)
        source = _checked(path.name, values)
        heights = XArray(values, dtype=float64)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{path}: not enough memory for its data") from None
    except XarrayliteError as error:
        raise InputError(" ".join(str(error).split())) from None
    array = heights.numpy()
    if not np.isfinite(array).any():
        raise InputError(f"{path}: holds no finite number; the demo needs heights")
    return Terrain(path.name, source, heights, _guess(array), "")


def _checked(name: str, values: object) -> str:
    """Return the dtype's name, or say what is wrong with the array."""
    if not isinstance(values, XArray):
        raise InputError(f"{name}: holds several arrays; the demo needs one, in a .npy file")
    source = dtype_name(values.dtype)
    if kind(values.dtype) not in "iuf":
        raise InputError(f"{name}: holds {source}; the demo needs integer or real heights")
    if values.ndim != 2 or min(values.shape) < 3:
        raise InputError(
            f"{name}: has shape {values.shape}; the demo needs a grid of at least 3 x 3 heights"
        )
    return source


def _guess(heights: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Grid:
    """Return square cells that make the average slope `GENTLE`."""
    with np.errstate(all="ignore"):
        steps = [np.abs(np.diff(heights, axis=axis)) for axis in (0, 1)]
        known = [step[np.isfinite(step)] for step in steps]
        typical = max([float(step.mean()) for step in known if step.size], default=0.0)
    size = typical / math.tan(math.radians(GENTLE))
    return Grid(size, size) if 0.0 < size < math.inf else Grid(1.0, 1.0)
