"""Pictures of programs: the graph of a module, and its memory over time, as SVG.

Instructions stand below their operands, in as many rows as the longest chain is long;
computations are boxes side by side.  Edges are as wide as the logarithm of the bytes that pass,
and a node is the redder, the more of its result is padding.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from .._errors import FormatError, HloError
from .._records import record
from ..display.scene import Point
from ..display.svg import SANS, element, number, page
from .cost.memory import stored_bytes
from .cost.report import ModuleCost
from .instruction import HloComputation, HloInstruction

#: Most instructions of one picture; nobody reads more.
MAX_NODES = 2000

_WIDTH, _HEIGHT, _GAP, _ROW = 190.0, 38.0, 14.0, 74.0
_MARGIN = 18.0
_STYLE = (
    f"text{{font:11px {SANS};fill:#1d222b;stroke:none}}"
    ".cluster{fill:none;stroke:#9ba3b0;stroke-dasharray:4 3}"
    ".edge{fill:none;stroke:#667080;stroke-opacity:.6}"
    ".node{stroke:#667080}.root{stroke-width:2.5}.line{fill:#eaf1fd;stroke:#3565c4}"
    "@media (prefers-color-scheme: dark){text{fill:#e9ecf1}.dark{fill:#1d222b}}"
)


@record(frozen=True, slots=True, eq=False)
class HloDrawing:
    """The picture of a program; notebooks show it.

    Attributes
    ----------
    svg : str
        The text of an SVG file.
    title : str
        What it shows.
    """

    svg: str
    title: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<HloDrawing of {self.title}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture into a file whose name ends in ``.svg``.

        Raises
        ------
        FormatError
            For any other ending.
        OSError
            As when writing any file.
        """
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise FormatError(f"save a drawing as {target.name!r}: the name must end in .svg")
        target.write_text(self.svg, encoding="utf-8")


def draw_module(
    computations: Sequence[HloComputation], name: str, cost: ModuleCost, memory: bool = False
) -> HloDrawing:
    """Draw the computations of a module, or the memory of its entry over time.

    Raises
    ------
    HloError
        If there are more instructions than anybody can read.
    """
    if memory:
        return HloDrawing(_memory(cost), f"the memory of {name}")
    count = sum([len(computation) for computation in computations])
    if count > MAX_NODES:
        raise HloError(f"draw: {name} has {count} instructions; at most {MAX_NODES} are drawn")
    parts: list[str] = []
    left, height = _MARGIN, 0.0
    for computation in computations:
        width, tall, body = _cluster(computation, left, cost.chip)
        parts += body
        left += width + 2 * _GAP
        height = max(height, tall)
    return HloDrawing(page((left, height + _MARGIN), name, _STYLE, parts), name)


def _rows(computation: HloComputation) -> list[list[HloInstruction]]:
    """Instructions by the length of the longest chain that leads to them."""
    depth: dict[HloInstruction, int] = {}
    rows: list[list[HloInstruction]] = []
    for instruction in computation:
        place = 1 + max([depth[operand] for operand in instruction.operands], default=-1)
        depth[instruction] = place
        while len(rows) <= place:
            rows.append([])
        rows[place].append(instruction)
    return rows


def _cluster(computation: HloComputation, left: float, chip: str) -> tuple[float, float, list[str]]:
    """Draw one computation; return its width, its lower edge, and its parts."""
    rows = _rows(computation)
    top = _MARGIN + 26
    width = max([len(row) for row in rows]) * (_WIDTH + _GAP) + _GAP
    where: dict[HloInstruction, Point] = {}
    for k, row in enumerate(rows):
        # What follows stands below what it follows, as far as there is room.
        row.sort(key=lambda i: sum([where[o][0] for o in i.operands]) / max(len(i.operands), 1))
        for place, instruction in enumerate(row):
            where[instruction] = (left + _GAP + place * (_WIDTH + _GAP), top + k * _ROW)
    bottom = top + len(rows) * _ROW - (_ROW - _HEIGHT) + _GAP
    box: dict[str, str | float] = {
        "class": "cluster", "x": left, "y": _MARGIN, "width": width, "height": bottom - _MARGIN,
        "rx": 6,
    }  # fmt: skip
    title = element("text", {"x": left + _GAP, "y": _MARGIN + 17}, escape(computation.name))
    edges = [_edge(where[o], where[i], o, chip) for i in computation for o in i.operands]
    nodes = [_node(where[i], i, chip) for i in computation]
    return width, bottom, [element("rect", box), title, *edges, *nodes]


def _edge(start: Point, end: Point, source: HloInstruction, chip: str) -> str:
    (x0, y0), (x1, y1) = start, end
    x0, y0, x1 = x0 + _WIDTH / 2, y0 + _HEIGHT, x1 + _WIDTH / 2
    middle = (y0 + y1) / 2
    path = [number(v) for v in (x0, y0, x0, middle, x1, middle, x1, y1)]
    size, _ = stored_bytes(source.shape, chip)
    wide = 0.6 + 0.25 * math.log2(size + 1)
    curve = f"M{path[0]} {path[1]}C{path[2]} {path[3]} {path[4]} {path[5]} {path[6]} {path[7]}"
    note = element("title", {}, escape(f"{source.name}: {size:,} bytes"))
    return element("path", {"class": "edge", "d": curve, "stroke-width": wide}, note)


def _node(place: Point, instruction: HloInstruction, chip: str) -> str:
    size, waste = stored_bytes(instruction.shape, chip)
    share = waste / size if size else 0.0
    pale = round(245 - 150 * share)
    root = " root" if instruction.is_root else ""
    x, y = place
    box: dict[str, str | float] = {
        "class": f"node{root}", "x": x, "y": y, "width": _WIDTH, "height": _HEIGHT, "rx": 4,
        "fill": f"#f5{pale:02x}{pale:02x}",
    }  # fmt: skip
    note = f"{instruction.name} = {instruction.shape}: {size:,} bytes, {share:.0%} padding"
    words = [instruction.opcode, instruction.shape.human_string()]
    lines = [
        element(
            "text",
            {"x": x + _WIDTH / 2, "y": y + 15 + 14 * k, "text-anchor": "middle", "fill": "#1d222b"},
            escape(_short(text)),
        )
        for k, text in enumerate(words)
    ]
    return element("rect", box, element("title", {}, escape(note))) + "".join(lines)


def _short(text: str, most: int = 30) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _memory(cost: ModuleCost) -> str:
    """Memory over the schedule, as steps, with its peak."""
    live = cost.timeline.live
    width, height = 720.0, 260.0
    step = width / max(len(live), 1)
    scale = height / max(cost.timeline.peak, 1)
    points: list[Point] = [(_MARGIN, _MARGIN + height)]
    for k, size in enumerate(live):
        y = _MARGIN + height - size * scale
        points += [(_MARGIN + k * step, y), (_MARGIN + (k + 1) * step, y)]
    points.append((_MARGIN + width, _MARGIN + height))
    runs = "L".join([f"{number(x)} {number(y)}" for x, y in points])
    peak = cost.timeline
    label = f"{cost.name}: peak {peak.peak:,} bytes at {peak.peak_at.name}"
    line = element("path", {"class": "line", "d": f"M{runs}Z"})
    legend = element("text", {"x": _MARGIN, "y": height + 2 * _MARGIN + 8}, escape(label))
    extent = (width + 2 * _MARGIN, height + 3 * _MARGIN + 12)
    return page(extent, label, _STYLE, [line, legend])
