"""The same pictures through matplotlib, which is imported when the first one is written."""

from __future__ import annotations

import importlib
from functools import singledispatch
from pathlib import Path
from typing import Any

from .scene import STYLES, Box, Colors, Item, Lines, Scene, Style, Words

#: Pixels of the file for each unit of the scene; fewer for pictures beyond `MOST_PIXELS`.
SCALE = 2.0
#: matplotlib draws at most 2**16 pixels along a side.
MOST_PIXELS = 30_000
#: matplotlib measures letters and lines in points of 1/72 inch, figures in inches.
POINTS = 72.0


def write_png(scene: Scene, path: Path) -> None:
    """Write a picture as a PNG file, in its light colours.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    figure_class, patches, path_class = _matplotlib()
    scale = min(SCALE, MOST_PIXELS / max(scene.width, scene.height))
    # One inch is POINTS units, so that a unit is a point and `dpi` alone sets the size.
    figure = figure_class(figsize=(scene.width / POINTS, scene.height / POINTS), dpi=POINTS * scale)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, scene.width)
    axes.set_ylim(scene.height, 0)
    tools = _Tools(axes, patches, path_class)
    for order, item in enumerate(scene.items):
        _show(item, tools, order)
    figure.savefig(path, format="png", facecolor=STYLES[scene.items[0].role].light.fill)


class _Tools:
    """The parts of matplotlib that items are drawn with."""

    __slots__ = ("axes", "patches", "path_class")

    def __init__(self, axes: Any, patches: Any, path_class: Any) -> None:
        self.axes, self.patches, self.path_class = axes, patches, path_class


def _matplotlib() -> tuple[Any, Any, Any]:
    try:
        figure = importlib.import_module("matplotlib.figure")
        patches = importlib.import_module("matplotlib.patches")
        path = importlib.import_module("matplotlib.path")
    except ImportError:
        raise ImportError(
            "PNG files need matplotlib, which is not installed: pip install xarraylite[plot]"
        ) from None
    return figure.Figure, patches, path.Path


def _look(style: Style) -> dict[str, Any]:
    colors: Colors = style.light
    return {
        "facecolor": colors.fill or "none",
        "edgecolor": colors.stroke or "none",
        "linewidth": style.width,
        "capstyle": "round",
        "joinstyle": "round",
        "linestyle": (0, style.dash) if style.dash else "solid",
    }


@singledispatch
def _show(item: Item, tools: _Tools, order: int) -> None:
    raise AssertionError(f"no way to draw {item!r}")  # pragma: no cover


@_show.register
def _(item: Box, tools: _Tools, order: int) -> None:
    look = _look(STYLES[item.role])
    corner, size = (item.x, item.y), (item.width, item.height)
    if item.radius:
        shape = f"round,pad=0,rounding_size={item.radius}"
        patch = tools.patches.FancyBboxPatch(corner, *size, boxstyle=shape, zorder=order, **look)
    else:
        patch = tools.patches.Rectangle(corner, *size, zorder=order, **look)
    tools.axes.add_patch(patch)


@_show.register
def _(item: Lines, tools: _Tools, order: int) -> None:
    move, line = tools.path_class.MOVETO, tools.path_class.LINETO
    points = [point for run in item.runs for point in run]
    codes = [code for run in item.runs for code in [move, *[line] * (len(run) - 1)]]
    path = tools.path_class(points, codes)
    patch = tools.patches.PathPatch(path, zorder=order, **_look(STYLES[item.role]))
    tools.axes.add_patch(patch)


@_show.register
def _(item: Words, tools: _Tools, order: int) -> None:
    style = STYLES[item.role]
    anchors = {0.0: "left", 0.5: "center", 1.0: "right"}
    tools.axes.text(
        item.x,
        item.y + style.size * 0.35,
        item.text,
        color=style.light.fill,
        size=style.size,
        family="DejaVu Sans Mono" if style.mono else "DejaVu Sans",
        weight="bold" if style.bold else "normal",
        ha=anchors[item.anchor],
        va="baseline",
        parse_math=False,
        zorder=order,
    )
