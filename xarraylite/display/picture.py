"""From a grid to a picture: where every cell, outline, line and word goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil
from operator import itemgetter

from .grid import Cell, Grid, Side
from .scene import BEADS, CELLS, TILES, Box, Item, Lines, Point, Role, Scene, Words, text_width

MARGIN = 24.0
CELL_HEIGHT = 34.0
LEAST_WIDTH = 42.0
GAP = 26.0
BEAD_HEIGHT = 17.0
HATCH_STEP = 7.0
LINE = 20.0
SWATCH = 22.0
KEY_GAP = 20.0
#: The key to a picture may make it this wide before it takes a second line.
WIDE_KEY = 480.0

#: How far inside its cells the outline of a tile runs, by level: nested outlines never touch.
INSETS = (0.0, 3.5, 6.5)


@dataclass(frozen=True)
class Places:
    """Where rows or columns are.

    Attributes
    ----------
    starts : dict of int to float
        Coordinate to where its cells begin.
    length : float
        Of each cell.
    gaps : tuple of float
        Middles of the places where something is left out.
    end : float
        Where the last cell ends.
    """

    starts: dict[int, float]
    length: float
    gaps: tuple[float, ...]
    end: float

    def middle(self, coordinate: int) -> float:
        """Return the middle of a cell."""
        return self.starts[coordinate] + self.length / 2


def places(side: Side, start: float, length: float) -> Places:
    """Put the cells of a side one behind the other, with gaps where some are left out."""
    starts: dict[int, float] = {}
    gaps = []
    at = start
    before = None
    for coordinate in side.shown:
        if before is not None and coordinate != before + 1:
            gaps.append(at + GAP / 2)
            at += GAP
        starts[coordinate] = at
        at += length
        before = coordinate
    return Places(starts, length, tuple(gaps), at)


def compose(grid: Grid, *, path: bool, title: str, lines: Iterable[str]) -> Scene:
    """Return the picture of a grid.

    Parameters
    ----------
    grid : Grid
        What to show.
    path : bool
        Whether to connect cells in the order of memory.
    title : str
        The first line.
    lines : iterable of str
        What to say below it.
    """
    lines = list(lines)
    down, across = grid.rows.labels(), grid.columns.labels()
    digits = [str(cell.position) for row in grid.cells for cell in row]
    top = MARGIN + LINE * (len(lines) + 1) + (38 if digits else 0)
    left = ceil(MARGIN + max([text_width(Role.HEADER, s) for s in down], default=0.0) + 10)
    wide = max([text_width(Role.NUMBER, text) for text in digits], default=0.0) + 22
    head = max([text_width(Role.HEADER, label) for label in across], default=0.0) + 10
    rows = places(grid.rows, top, CELL_HEIGHT)
    columns = places(grid.columns, left, ceil(max(LEAST_WIDTH, wide, head)))
    plan = _Plan(grid, rows, columns)
    words = [(Role.TITLE, title), *[(Role.TEXT, line) for line in lines]]
    key = list(_entries(grid, path))
    one_line = sum([_entry_width(text) + KEY_GAP for _, text in key]) - KEY_GAP
    inner = max([columns.end - MARGIN, *[text_width(*pair) for pair in words]])
    inner = max(inner, min(one_line, WIDE_KEY))
    legend, bottom = _legend(key, rows.end + 26, inner)
    width, height = inner + 2 * MARGIN, bottom + MARGIN
    items: list[Item] = [
        Box(Role.CARD, 0.5, 0.5, width - 1, height - 1, 10),
        Words(Role.TITLE, MARGIN, MARGIN + 8, title),
        *[Words(Role.TEXT, MARGIN, MARGIN + 14 + LINE * k, s) for k, s in enumerate(lines, 1)],
        *plan.headers(down, across),
        *plan.cells(),
        *plan.hatching(),
        *plan.outlines(),
        *(plan.path() if path else ()),
        *plan.numbers(),
        *plan.ellipses(),
        *legend,
    ]
    return Scene(width, height, ". ".join([title, *lines]), tuple(items))


@dataclass(frozen=True)
class _Plan:
    """A grid and the places of its rows and columns."""

    grid: Grid
    rows: Places
    columns: Places

    def _corner(self, cell: Cell) -> Point:
        return self.columns.starts[cell.column], self.rows.starts[cell.row]

    def _center(self, cell: Cell) -> Point:
        return self.columns.middle(cell.column), self.rows.middle(cell.row)

    def _tint(self, cell: Cell) -> int:
        down, across = self.grid.rows.axis.tile, self.grid.columns.axis.tile
        if not (down and across):
            return 0
        return cell.row // down % 2 * 2 + cell.column // across % 2

    def _all(self) -> Iterator[Cell]:
        for row in self.grid.cells:
            yield from row

    def headers(self, down: list[str], across: list[str]) -> Iterator[Item]:
        """Index of each row and column."""
        if not self.grid.cells or not self.grid.cells[0]:
            return
        y = min(self.rows.starts.values()) - 13
        for coordinate, label in zip(self.grid.columns.shown, across, strict=True):
            if label:
                yield Words(Role.HEADER, self.columns.middle(coordinate), y, label, 0.5)
        x = min(self.columns.starts.values()) - 9
        for coordinate, label in zip(self.grid.rows.shown, down, strict=True):
            if label:
                yield Words(Role.HEADER, x, self.rows.middle(coordinate), label, 1.0)

    def cells(self) -> Iterator[Item]:
        """A box for every position."""
        width, height = self.columns.length, self.rows.length
        for cell in self._all():
            yield Box(CELLS[self._tint(cell)], *self._corner(cell), width, height, note=_note(cell))

    def hatching(self) -> Iterator[Item]:
        """Diagonals over padding, in step from cell to cell."""
        runs: list[tuple[Point, ...]] = []
        for row in self.grid.cells:
            for is_padding, group in groupby(row, key=lambda cell: cell.element is None):
                cells = list(group)
                if not is_padding:
                    continue
                for first, last in _unbroken(cells):
                    x, y = self._corner(first)
                    end = self.columns.starts[last.column] + self.columns.length
                    runs += diagonals(x, y, end, y + self.rows.length)
        if runs:
            yield Lines(Role.HATCH, tuple(runs))

    def outlines(self) -> Iterator[Item]:
        """Around every tile a line, the deepest level first so that outer ones are on top."""
        for level in range(self.grid.levels - 1, -1, -1):
            edges = _Edges()
            for cell in self._all():
                self._edges_of(cell, level, edges)
            runs = tuple(edges.runs())
            if runs:
                yield Lines(TILES[min(level, len(TILES) - 1)], runs)

    def _edges_of(self, cell: Cell, level: int, edges: _Edges) -> None:
        """Add the sides of a cell beyond which another tile begins."""
        inset = INSETS[min(level, len(INSETS) - 1)]
        own = self.grid.tile_of(level, cell.row, cell.column)

        def other(row: int, column: int) -> bool:
            inside = 0 <= row < self.grid.rows.axis.padded
            if not (inside and 0 <= column < self.grid.columns.axis.padded):
                return True
            return self.grid.tile_of(level, row, column) != own

        above, below = other(cell.row - 1, cell.column), other(cell.row + 1, cell.column)
        before, after = other(cell.row, cell.column - 1), other(cell.row, cell.column + 1)
        x0, y0 = self._corner(cell)
        x1, y1 = x0 + self.columns.length, y0 + self.rows.length
        left, right = x0 + inset * before, x1 - inset * after
        upper, lower = y0 + inset * above, y1 - inset * below
        if above:
            edges.add(False, upper, left, right)
        if below:
            edges.add(False, lower, left, right)
        if before:
            edges.add(True, left, upper, lower)
        if after:
            edges.add(True, right, upper, lower)

    def path(self) -> Iterator[Item]:
        """Lines from each position to the next."""
        found: defaultdict[Role, list[tuple[Point, ...]]] = defaultdict(list)
        for a, b in self.grid.path():
            found[_step(a, b)].append((self._center(a), self._center(b)))
        for role in (Role.SKIP, Role.JUMP, Role.PATH):
            if found[role]:
                yield Lines(role, tuple(_joined(found[role])))

    def numbers(self) -> Iterator[Item]:
        """The position of every element, on a bead that keeps it legible."""
        for cell in self._all():
            if cell.element is None:
                continue
            x, y = self._center(cell)
            text = str(cell.position)
            width = text_width(Role.NUMBER, text) + 7
            bead = BEADS[self._tint(cell)]
            yield Box(bead, x - width / 2, y - BEAD_HEIGHT / 2, width, BEAD_HEIGHT, 5)
            yield Words(Role.NUMBER, x, y, text, 0.5)

    def ellipses(self) -> Iterator[Item]:
        """Dots where rows or columns are left out."""
        for x in self.columns.gaps:
            for row in self.grid.rows.shown:
                yield Words(Role.ELLIPSIS, x, self.rows.middle(row), "⋯", 0.5)
        for y in self.rows.gaps:
            for column in self.grid.columns.shown:
                yield Words(Role.ELLIPSIS, self.columns.middle(column), y, "⋮", 0.5)
            for x in self.columns.gaps:
                yield Words(Role.ELLIPSIS, x, y, "⋱", 0.5)


def _note(cell: Cell) -> str:
    if cell.element is None:
        return f"position {cell.position}: padding"
    return f"position {cell.position}: element ({', '.join(map(str, cell.element))})"


def _step(a: Cell, b: Cell) -> Role:
    """Return how the line from one cell to the next in memory looks."""
    if b.position != a.position + 1:
        return Role.SKIP
    near = max(abs(a.row - b.row), abs(a.column - b.column)) == 1
    empty = a.element is None and b.element is None
    return Role.PATH if near and not empty else Role.JUMP


def _joined(steps: list[tuple[Point, ...]]) -> Iterator[tuple[Point, ...]]:
    """Join steps that continue each other into longer lines."""
    line: list[Point] = []
    for start, end in steps:
        if line and line[-1] == start:
            line.append(end)
            continue
        if line:
            yield tuple(line)
        line = [start, end]
    yield tuple(line)


def _unbroken(cells: list[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Yield the first and last cell of each stretch without a gap."""
    first = cells[0]
    for cell, after in pairwise(cells):
        if after.column != cell.column + 1:
            yield first, cell
            first = after
    yield first, cells[-1]


def diagonals(x0: float, y0: float, x1: float, y1: float) -> Iterator[tuple[Point, Point]]:
    """Yield lines ``x + y = k * HATCH_STEP`` inside a box.

    Examples
    --------
    >>> list(diagonals(0, 0, 7, 7))
    [((0.0, 7.0), (7.0, 0.0))]
    """
    k = int((x0 + y0) // HATCH_STEP) + 1
    while k * HATCH_STEP < x1 + y1:
        total = k * HATCH_STEP
        low, high = max(x0, total - y1), min(x1, total - y0)
        yield (float(low), float(total - low)), (float(high), float(total - high))
        k += 1


class _Edges:
    """Sides of cells, collected by the line they are on."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: defaultdict[tuple[bool, float], set[tuple[float, float]]] = defaultdict(set)

    def add(self, vertical: bool, at: float, start: float, end: float) -> None:
        """Add one side."""
        self._found[vertical, at].add((start, end))

    def runs(self) -> Iterator[tuple[Point, Point]]:
        """Yield lines, with sides that touch made into one."""
        for (vertical, at), sides in sorted(self._found.items(), key=itemgetter(0)):
            start = end = None
            for low, high in [*sorted(sides), (float("inf"), float("inf"))]:
                if start is not None and end is not None and low > end:
                    yield ((at, start), (at, end)) if vertical else ((start, at), (end, at))
                    start = None
                start, end = (low if start is None else start), high


def _entries(grid: Grid, path: bool) -> Iterator[tuple[Role, str]]:
    """Yield what the key to the picture explains."""
    cells = [cell for row in grid.cells for cell in row]
    layout = grid.spec.layout
    tiles = layout.tiles if layout is not None else ()
    names = [f"tile {tile}" for tile in tiles] or ["padded dimensions"] * grid.levels
    if cells:
        for level, name in enumerate(names):
            yield TILES[min(level, len(TILES) - 1)], name
    if any([cell.element is None for cell in cells]):
        yield Role.HATCH, "padding"
    if path:
        steps = {_step(a, b) for a, b in grid.path()}
        if steps & {Role.PATH, Role.JUMP}:
            yield Role.PATH, "order in memory"
        if Role.SKIP in steps:
            yield Role.SKIP, "positions not shown"


def _entry_width(text: str) -> float:
    return SWATCH + 8 + text_width(Role.TEXT, text)


def _legend(entries: list[tuple[Role, str]], top: float, inner: float) -> tuple[list[Item], float]:
    """Return the key to the picture, and where it ends."""
    if not entries:
        return [], top - 26
    items: list[Item] = []
    x, y = MARGIN, top
    for role, text in entries:
        width = _entry_width(text)
        if x > MARGIN and x + width > MARGIN + inner:
            x, y = MARGIN, y + LINE
        items += _swatch(role, x, y)
        items.append(Words(Role.TEXT, x + SWATCH + 8, y, text))
        x += width + KEY_GAP
    return items, y + 6


def _swatch(role: Role, x: float, y: float) -> list[Item]:
    """Return a small sample of a role."""
    x0, y0, x1, y1 = x + 1, y - 7, x + SWATCH - 1, y + 7
    if role in TILES:
        return [Lines(role, (((x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)),))]
    if role is Role.HATCH:
        box = Box(Role.CELL_0, x0, y0, x1 - x0, y1 - y0)
        return [box, Lines(role, tuple(diagonals(x0, y0, x1, y1)))]
    return [Lines(role, (((x0, y), (x1, y)),))]
