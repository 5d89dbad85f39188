"""`draw`: where the elements of an array lie in memory, as a picture."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .._errors import FormatError
from ..xla.spec import ArraySpec
from .grid import Cell, Grid, Side, grid_of
from .picture import compose
from .png import write_png
from .scene import Scene
from .svg import render

MAX_ROWS: Final = 16
MAX_COLUMNS: Final = 16


@dataclass(frozen=True, eq=False)
class Drawing:
    """The picture of a layout; notebooks show it.

    Attributes
    ----------
    grid : Grid
        What is shown, as data: cells, their positions and elements.
    scene : Scene
        How it is shown: boxes, lines and words.

    See Also
    --------
    draw : Make one.
    """

    grid: Grid
    scene: Scene

    @property
    def spec(self) -> ArraySpec:
        """Whose picture it is."""
        return self.grid.spec

    @property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The cells that are shown, row by row; those of padding hold no element."""
        return self.grid.cells

    @property
    def svg(self) -> str:
        """The text of an SVG file, for light and for dark pages."""
        return render(self.scene)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        rows, columns = self.grid.rows.axis.padded, self.grid.columns.axis.padded
        return f"<Drawing of {self.spec}, {rows} x {columns} positions>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture into a file.

        Parameters
        ----------
        path : path
            Ends in ``.svg``, or in ``.png``, which needs matplotlib.

        Raises
        ------
        FormatError
            For any other ending.
        ImportError
            If matplotlib is needed and missing.
        OSError
            As when writing any file.
        """
        target = Path(path)
        writer = _WRITERS.get(target.suffix.lower())
        if writer is None:
            raise FormatError(
                f"save a drawing as {target.name!r}: the name must end in {' or '.join(_WRITERS)}"
            )
        writer(self.scene, target)


def _write_svg(scene: Scene, path: Path) -> None:
    path.write_text(render(scene), encoding="utf-8")


_WRITERS: Final[Mapping[str, Callable[[Scene, Path], None]]] = {
    ".svg": _write_svg,
    ".png": write_png,
}


def draw(
    obj: object,
    *,
    index: Sequence[int | slice | None] | None = None,
    path: bool = True,
    max_rows: int = MAX_ROWS,
    max_columns: int = MAX_COLUMNS,
) -> Drawing:
    """Draw where the elements of an array lie in memory.

    Every cell is a position of memory and shows its number, counted in elements.  Tiles are
    outlined, one kind of line for each level; padding is hatched; a line runs from each position
    to the next.

    Parameters
    ----------
    obj : ArraySpec, str, or container
        What to draw: a spec, its text, or anything whose ``spec`` is one.
    index : sequence of int or None, optional
        Which plane to show of an array with more than two dimensions: an index for each of them,
        with None or ``slice(None)`` for the two that are shown, or only the indices of the
        others.  By default the two dimensions that are most minor in memory, at 0 in all others.
        Dimensions that a tile combines count as one, and are shown together.
    path : bool, default True
        Whether to draw the line through memory.
    max_rows, max_columns : int, default 16
        Most cells along each side.  Of longer ones both ends stay, and what surrounds the end of
        the data and the first border between tiles.

    Returns
    -------
    Drawing
        With the picture as ``svg``, and ``save`` to write an SVG or PNG file.

    Raises
    ------
    LayoutError
        If there is no such plane; if ``obj`` is a tuple or has a dimension without a bound.
    LayoutParseError
        For malformed text.
    IndexRangeError
        If the plane lies outside the array.

    Examples
    --------
    >>> import xarraylite as xl
    >>> picture = xl.draw("f32[3,5]{1,0:T(2,2)}")
    >>> picture
    <Drawing of f32[3,5]{1,0:T(2,2)}, 4 x 6 positions>
    >>> [cell.position for cell in picture.cells[2]]
    [12, 13, 16, 17, 20, 21]
    """
    spec = as_spec(obj)
    for name, limit in (("max_rows", max_rows), ("max_columns", max_columns)):
        if limit < 1:
            raise ValueError(f"draw {spec}: {name} must be at least 1, got {limit}")
    grid = grid_of(spec, index, max_rows, max_columns)
    return Drawing(grid, compose(grid, path=path, title=str(spec), lines=_lines(grid)))


def as_spec(obj: object) -> ArraySpec:
    """Return the spec that ``obj`` is, says or has."""
    if isinstance(obj, str):
        return ArraySpec.parse(obj)
    found = obj if isinstance(obj, ArraySpec) else getattr(obj, "spec", None)
    if isinstance(found, ArraySpec):
        return found
    raise TypeError(
        f"draw: expected an ArraySpec, its text, or an array that has one, got {type(obj).__name__}"
    )


def _lines(grid: Grid) -> Iterator[str]:
    """Say below the title what is seen."""
    yield bytes_line(grid.spec)
    yield plane_line(grid)
    sides = ((grid.rows, "rows"), (grid.columns, "columns"))
    parts = [
        f"{len(side.shown):,} of {side.axis.padded:,} {word}" for side, word in sides if side.is_cut
    ]
    if parts:
        yield f"showing {' and '.join(parts)}"
    yield from unseen_lines(grid)


def bytes_line(spec: ArraySpec) -> str:
    """Say what an array takes and how much of that is padding."""
    data, total = spec.nbytes_logical, spec.nbytes
    if not total:
        return "no elements, no bytes"
    return f"{data:,} bytes of data · {total:,} bytes in memory · {padding_share(spec)}"


def padding_share(spec: ArraySpec) -> str:
    """Say how much of the memory is padding."""
    if not spec.padding_bytes:
        return "no padding"
    return f"{spec.padding_bytes / spec.nbytes:.1%} is padding"


def plane_line(grid: Grid) -> str:
    """Say which dimensions are shown."""
    shown = ", ".join(
        [
            f"{_side_name(side)} {way}"
            for side, way in ((grid.rows, "down"), (grid.columns, "across"))
            if side.axis.dims
        ]
    )
    if not shown:
        return "a scalar"
    if all([i is None for i in grid.still]):
        return shown
    held = ", ".join([":" if i is None else str(i) for i in grid.still])
    return f"{shown}, at [{held}]"


def _side_name(side: Side) -> str:
    dims = side.axis.dims
    word = "dimension" if len(dims) == 1 else "dimensions"
    return f"{word} {' and '.join(map(str, dims))}"


def unseen_lines(grid: Grid) -> Iterator[str]:
    """Say what padding has no place in any plane."""
    if grid.off_grid:
        yield f"{grid.off_grid:,} more positions between merged tiles: padding"
    layout = grid.spec.layout
    size = grid.frame.tiled.physical_size
    if layout is not None and (tail := -size % layout.tail_padding_alignment_in_elements):
        word = "position" if tail == 1 else "positions"
        yield f"{tail:,} more {word} from {size:,} on: tail padding"
