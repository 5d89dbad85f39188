"""Tiles: the blocks that the minor-most physical dimensions of an array are cut into.

A tile of k sizes, written major to minor as ``(8,128)``, replaces the k minor-most dimensions by
2k: a grid of tiles, then the elements inside a tile, both in row-major order.  A dimension that
is no multiple of its tile size is padded at its end.  Further tiles act on the result of the
earlier ones, so ``(8,128)(2,1)`` cuts the inside of every 8 x 128 tile into pairs of rows.

A size may be the combine marker ``*``: the dimension at that place first merges into the next
more minor one, and both are tiled as one.  A marker in the last place has nothing to merge into.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index
from typing import Any, Final

from .._errors import LayoutError
from .._records import record

COMBINE: Final[int] = -(2**63)
"""The tile size that merges a dimension into the next more minor one; printed as ``*``."""

LIMIT: Final[int] = 2**63
"""Every number of a layout is below this: XLA stores them as signed 64-bit integers."""

MAX_RANK: Final[int] = 64
"""Most dimensions of a layout or an array, as in NumPy."""


def as_int(value: Any, what: str) -> int:
    """Return an integer of 64 bits as a Python int; booleans and floats are refused.

    Raises
    ------
    LayoutError
        If `value` is no integer, or does not fit; ``what`` names it.
    """
    if type(value) is not int:
        try:
            if isinstance(value, bool):
                raise TypeError
            value = index(value)
        except TypeError:
            raise LayoutError(f"{what}: {value!r} is not an integer") from None
    if not -LIMIT <= value < LIMIT:
        raise LayoutError(f"{what}: {value} does not fit a signed 64-bit integer")
    number: int = value
    return number


def as_ints(values: Iterable[Any], what: str) -> tuple[int, ...]:
    """Return integers of 64 bits as a tuple of Python ints, with the checks of `as_int`."""
    if isinstance(values, str):
        raise LayoutError(f"{what}: {values!r} is text; expected a sequence of integers")
    try:
        return tuple([as_int(value, what) for value in values])
    except TypeError:
        raise LayoutError(f"{what}: {values!r} is not a sequence of integers") from None


@record(frozen=True, slots=True)
class Tile:
    """The sizes of one level of tiling, major to minor.

    Parameters
    ----------
    dimensions : iterable of int
        Positive sizes in elements; `COMBINE` or ``"*"`` merges a dimension into the next.

    Attributes
    ----------
    dimensions : tuple of int
        The sizes, with `COMBINE` where a dimension is merged into the next more minor one.

    Raises
    ------
    LayoutError
        If there are no sizes, one is not a positive integer, or the last is the combine marker.

    Examples
    --------
    >>> from xarraylite.layout.tile import Tile
    >>> str(Tile((8, 128))), str(Tile(["*", "*", 2, "*", 3]))
    ('(8,128)', '(*,*,2,*,3)')
    """

    dimensions: tuple[int, ...]

    def __init__(self, dimensions: Iterable[int | str]) -> None:
        if isinstance(dimensions, Tile):
            sizes = dimensions.dimensions
        elif isinstance(dimensions, str):
            raise LayoutError(f"Tile: {dimensions!r} is text; expected a sequence of sizes")
        else:
            try:
                marked = [COMBINE if size == "*" else size for size in dimensions]
            except TypeError:
                raise LayoutError(
                    f"Tile: {dimensions!r} is not a sequence of sizes, such as (8, 128)"
                ) from None
            sizes = as_ints(marked, "Tile")
            check_tile(sizes)
        object.__setattr__(self, "dimensions", sizes)

    @classmethod
    def _trusted(cls, sizes: tuple[int, ...]) -> Tile:
        """Make a tile of sizes that are known to be well-formed: the parser's entrance."""
        self = object.__new__(cls)
        object.__setattr__(self, "dimensions", sizes)
        return self

    @property
    def rank(self) -> int:
        """Number of sizes: how many minor-most dimensions the tile applies to."""
        return len(self.dimensions)

    def __len__(self) -> int:
        return len(self.dimensions)

    def __iter__(self) -> Iterator[int]:
        return iter(self.dimensions)

    def shown(self) -> tuple[int | str, ...]:
        """Return the sizes as they are given, the combine marker as ``"*"``."""
        return tuple(["*" if size == COMBINE else size for size in self.dimensions])

    def __str__(self) -> str:
        return f"({','.join(map(str, self.shown()))})"

    def __repr__(self) -> str:
        return f"Tile({self.shown()!r})"


def check_tile(sizes: tuple[int, ...]) -> None:
    """Refuse what is no tile.

    Raises
    ------
    LayoutError
        If there are no sizes, one is neither positive nor the marker, or the last is the marker.
    """
    if not sizes:
        raise LayoutError("Tile: () has no sizes; a tile has at least one")
    for size in sizes:
        if size <= 0 and size != COMBINE:
            raise LayoutError(
                f"Tile: size {size} of {sizes} is not positive; only the combine marker '*' is not"
            )
    if sizes[-1] == COMBINE:
        raise LayoutError(
            "Tile: the combine marker '*' comes last; "
            "it merges a dimension into the next more minor one, and there is none"
        )
