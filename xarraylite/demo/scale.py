"""The demo at any size: a mosaic of its terrain on disk, shaded block by block.

The mosaic repeats the terrain's heights, mirrored so that neighbours meet without a cliff, each
copy raised by an offset of its own.  It is one lazy expression over the small terrain, as is the
hillshade over the mosaic; neither is ever in memory as a whole.
"""

from __future__ import annotations

import contextlib
import math
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .._errors import InputError
from .load import Terrain
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
