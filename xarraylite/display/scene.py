"""What a picture is made of, before it is SVG or PNG: boxes, lines and words, each with a role.

Positions and sizes are in pixels, x to the right and y down.  How a role looks, in light and dark
surroundings, is one row of `STYLES`; nothing else knows a colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

Point = tuple[float, float]


class Role(Enum):
    """What a part of a picture is for."""

    CARD = "card"
    CELL_0 = "cell-0"
    CELL_1 = "cell-1"
    CELL_2 = "cell-2"
    CELL_3 = "cell-3"
    BEAD_0 = "bead-0"
    BEAD_1 = "bead-1"
    BEAD_2 = "bead-2"
    BEAD_3 = "bead-3"
    HATCH = "hatch"
    TILE_1 = "tile-1"
    TILE_2 = "tile-2"
    TILE_3 = "tile-3"
    PATH = "path"
    JUMP = "jump"
    SKIP = "skip"
    NUMBER = "number"
    HEADER = "header"
    ELLIPSIS = "ellipsis"
    TITLE = "title"
    TEXT = "text"


#: Fills of cells, arranged two by two so that neighbouring tiles differ.
CELLS: Final = (Role.CELL_0, Role.CELL_1, Role.CELL_2, Role.CELL_3)
#: The same fills, behind the numbers.
BEADS: Final = (Role.BEAD_0, Role.BEAD_1, Role.BEAD_2, Role.BEAD_3)
#: Outlines of tiles, outermost first; deeper levels share the last.
TILES: Final = (Role.TILE_1, Role.TILE_2, Role.TILE_3)


@dataclass(frozen=True, slots=True)
class Colors:
    """A role's colours in one kind of surroundings; empty for none.

    Attributes
    ----------
    fill, stroke : str
        As ``#rrggbb``.
    """

    fill: str = ""
    stroke: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """How a role looks.

    Attributes
    ----------
    light, dark : Colors
        On a light and on a dark page.
    width : float
        Of the line.
    dash : tuple of float
        Lengths of dashes and gaps; empty for a solid line.
    size : float
        Of letters.
    mono : bool
        Whether letters are equally wide.
    bold : bool
        Whether letters are heavy.
    """

    light: Colors
    dark: Colors
    width: float = 0.0
    dash: tuple[float, ...] = ()
    size: float = 0.0
    mono: bool = False
    bold: bool = False


_GRID_LINES: Final = ("#cfd4dc", "#3d434d")
_TINTS: Final = (
    ("#eaf1fd", "#1f2a3d"),
    ("#fdf1df", "#362d1e"),
    ("#e8f6ec", "#1e3226"),
    ("#f5ecfb", "#30263b"),
)
_INK: Final = Colors("#1d222b"), Colors("#e9ecf1")
_MUTED: Final = Colors("#667080"), Colors("#9ba3b0")


def _line(light: str, dark: str, width: float, dash: tuple[float, ...] = ()) -> Style:
    return Style(Colors(stroke=light), Colors(stroke=dark), width, dash)


def _cell(tint: tuple[str, str]) -> Style:
    light, dark = (Colors(f, s) for f, s in zip(tint, _GRID_LINES, strict=True))
    return Style(light, dark, 0.75)


def _bead(tint: tuple[str, str]) -> Style:
    light, dark = tint
    return Style(Colors(light), Colors(dark))


STYLES: Final[Mapping[Role, Style]] = {
    Role.CARD: Style(Colors("#ffffff", "#e3e6eb"), Colors("#15181d", "#2a2f37"), 1.0),
    **{role: _cell(tint) for role, tint in zip(CELLS, _TINTS, strict=True)},
    **{role: _bead(tint) for role, tint in zip(BEADS, _TINTS, strict=True)},
    Role.HATCH: _line("#aab2bf", "#59616e", 0.9),
    Role.TILE_1: _line("#2b3340", "#d4dae4", 2.2),
    Role.TILE_2: _line("#d0405a", "#ff7d90", 1.5),
    Role.TILE_3: _line("#12828c", "#4fc4cf", 1.1),
    Role.PATH: _line("#4763d6", "#8ea4ff", 1.6),
    Role.JUMP: _line("#8fa0e6", "#5f72c4", 1.0),
    Role.SKIP: _line("#8fa0e6", "#5f72c4", 1.0, (2.0, 3.5)),
    Role.NUMBER: Style(*_INK, size=12.5, mono=True),
    Role.HEADER: Style(*_MUTED, size=11.0, mono=True),
    Role.ELLIPSIS: Style(*_MUTED, size=14.0),
    Role.TITLE: Style(*_INK, size=16.0, mono=True, bold=True),
    Role.TEXT: Style(*_MUTED, size=12.5),
}


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle.

    Attributes
    ----------
    role : Role
        What it is for.
    x, y, width, height : float
        Upper left corner and size.
    radius : float
        Of its corners.
    note : str
        What a reader who points at it is told.
    """

    role: Role
    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines through points.

    Attributes
    ----------
    role : Role
        What they are for.
    runs : tuple of tuple of (float, float)
        The points of each line.
    """

    role: Role
    runs: tuple[tuple[Point, ...], ...]


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text.

    Attributes
    ----------
    role : Role
        What it is for.
    x, y : float
        Where it is anchored; y is the middle of its small letters.
    text : str
        What it says.
    anchor : float
        Which part of it is at x: 0 its start, 0.5 its middle, 1 its end.
    """

    role: Role
    x: float
    y: float
    text: str
    anchor: float = 0.0


Item = Box | Lines | Words


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture.

    Attributes
    ----------
    width, height : float
        Its size.
    label : str
        What it shows, in words.
    items : tuple of Box, Lines or Words
        From the back to the front.
    """

    width: float
    height: float
    label: str
    items: tuple[Item, ...]


def text_width(role: Role, text: str) -> float:
    """Return about how wide a text is: fonts differ, so this is a generous guess."""
    style = STYLES[role]
    return len(text) * style.size * (0.605 if style.mono else 0.53)
