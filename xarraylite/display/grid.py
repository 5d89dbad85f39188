"""The picture of a layout as data: a plane of cells, their tiles, padding, the way through memory.

A picture shows two axes of an array (see `frame`) and holds the others still.  Long axes are cut:
what stays are the cells around the places where something happens, which are both ends, the end
of the data where padding begins, and the first border between tiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from .._errors import IndexRangeError, LayoutError
from ..index.radix import ravel_multi_index, unravel_index
from ..xla.spec import ArraySpec
from .frame import Axis, Frame, frame_of


@dataclass(frozen=True, slots=True)
class Cell:
    """One position of memory, where the picture shows it.

    Attributes
    ----------
    row, column : int
        Coordinates along the two axes, in positions (not in elements).
    position : int
        Its number in memory, counted in elements.
    element : tuple of int, or None
        Index of the element that lies there; None for padding.
    """

    row: int
    column: int
    position: int
    element: tuple[int, ...] | None


@dataclass(frozen=True)
class Side:
    """The axis along one side of a picture.

    Attributes
    ----------
    number : int
        Which axis of the frame.
    axis : Axis
        What it is.
    shown : tuple of int
        The coordinates that are shown, rising.
    indices : tuple of (tuple of int or None)
        For each of them the index of its elements in the axis' dimensions; None for padding.
    """

    number: int
    axis: Axis
    shown: tuple[int, ...]
    indices: tuple[tuple[int, ...] | None, ...]

    @property
    def is_cut(self) -> bool:
        """Whether something is left out."""
        return len(self.shown) < self.axis.padded

    def labels(self) -> list[str]:
        """Return what to write beside each coordinate; nothing beside padding."""
        return ["" if i is None else ",".join(map(str, i)) for i in self.indices]


@dataclass(frozen=True)
class Grid:
    """A plane through an array, cell by cell.

    Attributes
    ----------
    spec : ArraySpec
        Whose picture it is.
    frame : Frame
        Its axes.
    rows, columns : Side
        The two that are shown.
    still : tuple of (int or None)
        Index in each dimension that is not shown; None in those that are.
    """

    spec: ArraySpec
    frame: Frame
    rows: Side
    columns: Side
    still: tuple[int | None, ...]

    @cached_property
    def _base(self) -> list[int]:
        """Coordinates of the first cell."""
        base = [0] * len(self.frame.axes)
        for number, axis in enumerate(self.frame.axes):
            if number not in (self.rows.number, self.columns.number) and axis.dims:
                held = [self.still[d] or 0 for d in axis.dims]
                base[number] = self.frame.spread(number, ravel_multi_index(held, axis.extents))
        return base

    def coordinates(self, row: int, column: int) -> list[int]:
        """Return the coordinates of a cell along all axes."""
        found = list(self._base)
        found[self.rows.number], found[self.columns.number] = row, column
        return found

    @cached_property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The cells that are shown, row by row."""
        return tuple(
            [
                tuple(
                    [
                        self._cell(row, down, column, across)
                        for column, across in zip(
                            self.columns.shown, self.columns.indices, strict=True
                        )
                    ]
                )
                for row, down in zip(self.rows.shown, self.rows.indices, strict=True)
            ]
        )

    def _cell(
        self, row: int, down: tuple[int, ...] | None, column: int, across: tuple[int, ...] | None
    ) -> Cell:
        position = self.frame.position(self.coordinates(row, column))
        if down is None or across is None:
            return Cell(row, column, position, None)
        element = [i or 0 for i in self.still]
        for side, index in ((self.rows, down), (self.columns, across)):
            for d, i in zip(side.axis.dims, index, strict=True):
                element[d] = i
        return Cell(row, column, position, tuple(element))

    def path(self) -> Iterator[tuple[Cell, Cell]]:
        """Yield each shown cell with the next one in memory that is shown."""
        order = sorted([c for row in self.cells for c in row], key=lambda c: c.position)
        yield from pairwise(order)

    def tile_of(self, level: int, row: int, column: int) -> int:
        """Return the number of the tile of a level that a cell is in."""
        return self.frame.tile_of(level, self.coordinates(row, column))

    @property
    def levels(self) -> int:
        """Number of tile levels."""
        return len(self.frame.tiled.levels)

    @cached_property
    def off_grid(self) -> int:
        """Positions of padding that lie on no axis: what a tile over merged digits adds."""
        return self.frame.tiled.physical_size - math.prod([a.padded for a in self.frame.axes])


def grid_of(
    spec: ArraySpec, index: Sequence[int | slice | None] | None, max_rows: int, max_columns: int
) -> Grid:
    """Return a plane through an array.

    Parameters
    ----------
    spec : ArraySpec
        An array of known extents.
    index : sequence of int or None, optional
        Where the plane lies: see `draw`.
    max_rows, max_columns : int
        Most cells along each side.

    Raises
    ------
    LayoutError
        If there is no such plane, or no array.
    IndexRangeError
        If the plane lies outside the array.
    """
    frame = _frame(spec)
    default = _sides(frame, range(len(frame.axes) - 2, len(frame.axes)))
    (down, across), still = _plane(spec, frame, default, index)
    if 0 in spec.dimensions:  # there is no plane with an element in it
        return Grid(spec, frame, _side(frame, down, ()), _side(frame, across, ()), still)
    rows = _side(frame, down, _landmarks(frame, down, max_rows))
    columns = _side(frame, across, _landmarks(frame, across, max_columns))
    return Grid(spec, frame, rows, columns, still)


def corner_of(grid: Grid, max_rows: int, max_columns: int) -> Grid:
    """Return the upper left part of a plane, uncut."""
    rows, columns = [
        _side(grid.frame, side.number, tuple(range(min(limit, side.axis.padded))))
        for side, limit in ((grid.rows, max_rows), (grid.columns, max_columns))
    ]
    return replace(grid, rows=rows, columns=columns)


def _frame(spec: ArraySpec) -> Frame:
    if not spec.is_array:
        raise LayoutError(f"draw {spec}: only arrays have a layout to draw; draw its parts")
    if any([d < 0 for d in spec.dimensions]):
        raise LayoutError(f"draw {spec}: a dimension without a bound has no place in memory")
    layout = spec.layout
    rank = len(spec.dimensions)
    if layout is None:
        return frame_of(spec.dimensions, tuple(range(rank - 1, -1, -1)), ())
    if 0 in spec.dimensions:  # no tiles to show
        return frame_of(spec.dimensions, layout.minor_to_major, ())
    return frame_of(spec.dimensions, layout.minor_to_major, layout.tile_dims)


def _sides(frame: Frame, numbers: Sequence[int]) -> tuple[int, int]:
    """Put two axes in logical order: the one with the smaller dimension runs down."""
    down, across = sorted(numbers, key=lambda n: max(frame.axes[n].dims, default=-1))
    return down, across


def _plane(
    spec: ArraySpec,
    frame: Frame,
    default: tuple[int, int],
    index: Sequence[int | slice | None] | None,
) -> tuple[tuple[int, int], tuple[int | None, ...]]:
    """Return the two axes to show, and the index in all other dimensions."""
    rank = len(spec.dimensions)
    free = {d for number in default for d in frame.axes[number].dims}
    if index is None:
        return default, tuple([None if d in free else 0 for d in range(rank)])
    entries = _entries(index, free, rank)
    chosen = _axes_of(frame, {d for d, entry in enumerate(entries) if entry is None})
    if len(entries) != rank or chosen is None:
        raise LayoutError(_no_plane(spec, frame, index, free))
    still = [None if e is None else _in_range(spec, d, e) for d, e in enumerate(entries)]
    return _sides(frame, chosen) if len(chosen) == 2 else default, tuple(still)


def _entries(
    index: Sequence[int | slice | None], free: set[int], rank: int
) -> list[int | slice | None]:
    """Return an index in all dimensions, None in those that are shown.

    One of positions alone leaves the free dimensions out.
    """
    entries = [None if entry == slice(None) else entry for entry in index]
    if len(entries) == rank - len(free) and None not in entries:
        rest = iter(entries)
        return [None if d in free else next(rest) for d in range(rank)]
    return entries


def _axes_of(frame: Frame, shown: set[int]) -> list[int] | None:
    """Return the axes of some dimensions: two, or all there are; None if these are no axes."""
    real = [n for n, axis in enumerate(frame.axes) if axis.dims]
    chosen = [n for n in real if shown.issuperset(frame.axes[n].dims)]
    whole = {d for number in chosen for d in frame.axes[number].dims}
    return chosen if whole == shown and len(chosen) == min(2, len(real)) else None


def _no_plane(
    spec: ArraySpec, frame: Frame, index: Sequence[int | slice | None], free: set[int]
) -> str:
    merged = [axis.dims for axis in frame.axes if len(axis.dims) > 1]
    together = "".join([f"; its tile merges dimensions {dims}" for dims in merged])
    shown = ", ".join([":" if i is None or isinstance(i, slice) else str(i) for i in index])
    return (
        f"draw {spec} at ({shown}): give one entry for each of its {len(spec.dimensions)} "
        f"dimensions, ':' (None) for the two that are shown, or only the "
        f"{len(spec.dimensions) - len(free)} others{together}"
    )


def _in_range(spec: ArraySpec, d: int, entry: int | slice) -> int:
    if isinstance(entry, slice):
        raise LayoutError(f"draw {spec}: of slices only ':' is taken, got {entry} in dimension {d}")
    if not 0 <= entry < spec.dimensions[d]:
        raise IndexRangeError(
            f"draw {spec}: index {entry} is out of range for dimension {d} "
            f"of extent {spec.dimensions[d]}"
        )
    return entry


def _landmarks(frame: Frame, number: int, limit: int) -> tuple[int, ...]:
    """Return the coordinates of an axis that are worth seeing."""
    axis = frame.axes[number]
    end = frame.spread(number, axis.size - 1) + 1 if axis.size else 0
    return kept(axis.padded, (0, axis.padded, end, axis.tile), limit)


def _side(frame: Frame, number: int, shown: tuple[int, ...]) -> Side:
    axis = frame.axes[number]
    found = [frame.gather(number, at) for at in shown]
    indices = [None if i is None else unravel_index(i, axis.extents) for i in found]
    return Side(number, axis, shown, tuple(indices))


def kept(extent: int, marks: Sequence[int], limit: int) -> tuple[int, ...]:
    """Return at most ``limit`` of ``range(extent)``: the surroundings of ``marks``, rising.

    Examples
    --------
    >>> kept(100, (0, 100), 5)
    (0, 1, 2, 98, 99)
    >>> kept(4, (0, 4), 5)
    (0, 1, 2, 3)
    """
    if extent <= limit:
        return tuple(range(extent))
    found: dict[int, None] = {}
    for distance in range(limit):
        for mark in marks:
            for at in (mark + distance, mark - 1 - distance):
                if 0 <= at < extent and len(found) < limit:
                    found[at] = None
    return tuple(sorted(found))
