"""A layout in words and numbers: what ``python -m xarraylite layout`` prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..xla.spec import ArraySpec
from .draw import padding_share, plane_line, unseen_lines
from .grid import Cell, Grid, corner_of, grid_of

CORNER_ROWS = 4
CORNER_COLUMNS = 8
FIRST_POSITIONS = 8
MARK = 24


def report_lines(spec: ArraySpec, index: Sequence[int | None] | None = None) -> Iterator[str]:
    """Say what a layout makes of an array.

    Parameters
    ----------
    spec : ArraySpec
        Any spec; of a tuple every member is reported.
    index : sequence of int or None, optional
        The plane whose corner is shown, as for `draw`.

    Yields
    ------
    str
        One line.
    """
    yield str(spec)
    for member in spec.tuple_shapes:
        yield ""
        yield from report_lines(member)
    if spec.is_array:
        grid = grid_of(spec, index, CORNER_ROWS, CORNER_COLUMNS)
        yield ""
        yield from _numbers(spec, grid)
        yield from _corner(corner_of(grid, CORNER_ROWS, CORNER_COLUMNS))
        yield from _suggestions(spec)


def _row(name: str, text: str) -> str:
    return f"  {name:<{MARK - 2}}{text}"


def _numbers(spec: ArraySpec, grid: Grid) -> Iterator[str]:
    yield _row("dimensions", _product(spec.dimensions, "element"))
    yield _row("physical dimensions", _product(spec.physical_dimensions(), "position"))
    wide = len(f"{max(spec.nbytes, spec.nbytes_logical, spec.array_size()):,}")
    yield _row("bytes in memory", f"{spec.nbytes:>{wide},}")
    yield _row("bytes of data", f"{spec.nbytes_logical:>{wide},}")
    yield _row("bytes of padding", f"{spec.padding_bytes:>{wide},}  {padding_share(spec)}")
    differs = "" if spec.array_size() == spec.nbytes else "  which reads only the first tile"
    yield _row("XLA's array size", f"{spec.array_size():>{wide},}{differs}")
    for line in unseen_lines(grid):
        yield _row("", line)


def _product(extents: Sequence[int], what: str) -> str:
    count = math.prod(extents)
    total = f"{count:,} {what}{'' if count == 1 else 's'}"
    return f"{' x '.join(map(str, extents))} = {total}" if len(extents) > 1 else total


def _corner(grid: Grid) -> Iterator[str]:
    """Show the positions of the first elements, and the elements at the first positions."""
    cells = [cell for row in grid.cells for cell in row]
    if not cells:
        return
    texts = [[_text(cell) for cell in row] for row in grid.cells]
    down, across = grid.rows.labels(), grid.columns.labels()
    wide = 2 + max([len(text) for row in [across, *texts] for text in row])
    left = 2 + max([len(label) for label in down])
    more = "  ..." if grid.columns.is_cut else ""
    yield ""
    yield f"Positions in memory: {plane_line(grid)}; '.' is padding"
    yield ""
    yield f"{'':{left}} |{''.join([f'{label:>{wide}}' for label in across])}".rstrip()
    yield f"{'':-<{left + 1}}+{'':-<{wide * len(across)}}"
    for label, row in zip(down, texts, strict=True):
        yield f"{label:>{left}} |{''.join([f'{text:>{wide}}' for text in row])}{more}"
    if grid.rows.is_cut:
        yield f"{'...':>{left}} |"
    first = sorted([c for c in cells if c.position < FIRST_POSITIONS], key=lambda c: c.position)
    if len(first) == min(FIRST_POSITIONS, grid.frame.tiled.physical_size) and len(first) > 1:
        yield ""
        yield f"In memory first: {' '.join([_element(cell) for cell in first])}"


def _text(cell: Cell) -> str:
    return "." if cell.element is None else str(cell.position)


def _element(cell: Cell) -> str:
    return "." if cell.element is None else f"({','.join(map(str, cell.element))})"


def _suggestions(spec: ArraySpec) -> Iterator[str]:
    if not spec.padding_bytes:
        return
    found = spec.suggest()
    yield ""
    if not found:
        yield "No other order of dimensions, and none of the usual tiles, takes less."
        return
    yield "These take less:"
    for item in found:
        yield f"  {item.spec}: {item.nbytes:,} bytes, {item.saved_bytes:,} fewer"
        yield f"    {item.reason}"
