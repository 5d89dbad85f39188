"""Slope, aspect, light and landslides of a terrain, for any array namespace.

``z`` holds heights on a grid: rows run from north to south, columns from west to east.  Every
formula is written once with the names of the array API and gets the namespace ``xp`` as its
first argument, so that xarraylite and NumPy run the very same code.  Nothing here knows which
of the two it is working for.

The surface rises by ``east`` and ``north`` per unit of distance (central differences).  Its
steepest slope has the angle ``atan(sqrt(east**2 + north**2))`` and falls towards the direction
``atan2(-north, -east)``, counted from east.  A sun at height ``h`` and direction ``d`` gives a
surface of slope ``s`` and aspect ``a`` the light ``sin(h) cos(s) + cos(h) sin(s) cos(d - a)``:
the cosine of the angle between the sun's rays and the surface's normal.

Thermal erosion moves loose rock downhill until no slope is steeper than the angle of repose.
Wherever a cell and one of its four neighbours differ in height by more than the ``talus`` of
that distance, a fixed fraction of the excess changes cells.  What one cell loses the other
gains, so no rock is made.  A comparison with NaN is false: cells without data exchange nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

#: Share of the excess that slides in one step; four neighbours make 1/4 the limit of stability.
RATE = 0.125


@dataclass(frozen=True, slots=True)
class Grid:
    """Distance of neighbouring cells, in the unit of the heights.

    Attributes
    ----------
    dx, dy : float
        From west to east and from north to south.
    """

    dx: float
    dy: float


@dataclass(frozen=True, slots=True)
class Sun:
    """Where the light comes from; north-west and half-way up is the custom of maps.

    Attributes
    ----------
    azimuth : float
        Degrees clockwise from north.
    altitude : float
        Degrees above the horizon.
    """

    azimuth: float = 315.0
    altitude: float = 45.0


def gradient(z: Any, grid: Grid) -> tuple[Any, Any]:
    """Return the rise towards east and north per unit of distance, at the inner cells."""
    east = (z[1:-1, 2:] - z[1:-1, :-2]) / (2.0 * grid.dx)
    north = (z[:-2, 1:-1] - z[2:, 1:-1]) / (2.0 * grid.dy)
    return east, north


def slope(xp: Any, east: Any, north: Any) -> Any:
    """Return the angle between a surface that rises like this and the horizon, in radians."""
    return xp.atan(xp.sqrt(east * east + north * north))


def aspect(xp: Any, east: Any, north: Any) -> Any:
    """Return the direction in which the surface falls, counter-clockwise from east, in radians."""
    return xp.atan2(-north, -east)


def hillshade(xp: Any, z: Any, grid: Grid, sun: Sun) -> Any:
    """Return the light on the inner cells, from 0 (turned away from the sun) to 1."""
    height, direction = math.radians(sun.altitude), math.radians(90.0 - sun.azimuth)
    east, north = gradient(z, grid)
    steep, downhill = slope(xp, east, north), aspect(xp, east, north)
    flat = math.sin(height) * xp.cos(steep)
    light = flat + math.cos(height) * xp.sin(steep) * xp.cos(direction - downhill)
    return xp.where(light < 0.0, 0.0, light)  # this way round, NaN stays NaN


def sliding(xp: Any, difference: Any, talus: float) -> Any:
    """Return what of a height difference is in excess of ``talus``, with its sign."""
    excess = difference - xp.copysign(talus, difference)
    return xp.where(xp.abs(difference) > talus, excess, 0.0)


def landslide(xp: Any, z: Any, grid: Grid, repose: float) -> Any:
    """Return by how much one step of thermal erosion raises each inner cell.

    Parameters
    ----------
    xp : namespace
        NumPy, or another array API namespace.
    z : array, shape (n, m)
        Heights.
    grid : Grid
        Cell size.
    repose : float
        Steepest slope that is stable, in degrees.

    Returns
    -------
    array, shape (n - 2, m - 2)
        In the unit of the heights.
    """
    here, steepest = z[1:-1, 1:-1], math.tan(math.radians(repose))
    north_south, east_west = steepest * grid.dy, steepest * grid.dx
    return RATE * (
        sliding(xp, z[:-2, 1:-1] - here, north_south)
        + sliding(xp, z[2:, 1:-1] - here, north_south)
        + sliding(xp, z[1:-1, :-2] - here, east_west)
        + sliding(xp, z[1:-1, 2:] - here, east_west)
    )


def erode(xp: Any, z: Any, grid: Grid, repose: float) -> None:
    """Perform one step of thermal erosion in place; the outermost cells keep their height."""
    z[1:-1, 1:-1] += landslide(xp, z, grid, repose)
