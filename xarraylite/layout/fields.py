"""The parts of a layout: what they may be, and XLA's rules of how they fit dimensions.

Tiles: the blocks that the minor-most physical dimensions of an array are cut into.

A tile of k sizes, written major to minor as ``(8,128)``, replaces the k minor-most dimensions by
2k: a grid of tiles, then the elements inside a tile, both in row-major order.  A dimension that
is no multiple of its tile size is padded at its end.  Further tiles act on the result of the
earlier ones, so ``(8,128)(2,1)`` cuts the inside of every 8 x 128 tile into pairs of rows.

A size may be the combine marker ``*``: the dimension at that place first merges into the next
more minor one, and both are tiled as one.  A marker in the last place has nothing to merge into.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from operator import index
from typing import Any, Final, TypeVar

from .._errors import LayoutError
from .._records import record
from ..dtypes.element_types import ElementType, element_type

T = TypeVar("T")

#: The tile size that merges a dimension into the next more minor one; printed as ``*``.
COMBINE: Final[int] = -(2**63)

#: Every number of a layout is below this: XLA stores them as signed 64-bit integers.
LIMIT: Final[int] = 2**63

#: Most dimensions of a layout or an array, as in NumPy.
MAX_RANK: Final[int] = 64


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
    return _each(values, lambda value: as_int(value, what), f"{what}:", "integers")


def _each(values: Iterable[Any], convert: Callable[[Any], T], what: str, of: str) -> tuple[T, ...]:
    """Return what values become; say what is no sequence of what."""
    try:
        return tuple([convert(value) for value in values])
    except TypeError:
        raise LayoutError(f"{what} {values!r} is not a sequence of {of}") from None


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
    >>> from xarraylite.layout.fields import Tile
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
            expected = "sizes, such as (8, 128)"
            marked = _each(dimensions, lambda x: COMBINE if x == "*" else x, "Tile:", expected)
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


#: Memory spaces with a meaning of their own; the others belong to the device.
MEMORY_SPACES: Final[dict[int, str]] = {
    0: "default",
    1: "generic_fast",
    5: "host",
    6: "unpinned_host",
}


#: What TPUs call them, and the columns of their registers.
TPU_SPACES: Final[dict[int, str]] = {0: "HBM", 1: "VMEM"}
LANES: Final = 128


def space_name(space: int, tiles: Sequence[Tile]) -> str:
    """Return the name of a memory space; of a TPU's as well, where the first tile is by lanes."""
    name = MEMORY_SPACES.get(space, f"device_{space}")
    last = tiles[0].dimensions[-1] if tiles else 0
    if space not in TPU_SPACES or last < LANES or last % LANES:
        return name
    return f"{name} ({TPU_SPACES[space]})"


class PaddingValue(IntEnum):
    """What the padding of a layout with ``padded_dimensions`` is filled with.

    The longer names are those of the old protocol-buffer message.
    """

    INVALID = 0
    """Not given."""
    ZERO = 1
    """Zeros."""
    ONE = 2
    """Ones."""
    LOWEST = 3
    """The lowest value of the element type."""
    HIGHEST = 4
    """The highest value of the element type."""
    UNKNOWN = 5
    """Anything."""

    INVALID_PAD = INVALID
    ZERO_PAD = ZERO
    ONE_PAD = ONE
    LOWEST_PAD = LOWEST
    HIGHEST_PAD = HIGHEST
    UNKNOWN_PAD = UNKNOWN


@record(frozen=True, slots=True)
class SplitConfig:
    """Where one physical dimension is cut into parts that lie in different places.

    Attributes
    ----------
    dimension : int
        Physical dimension, 0 being the major-most.
    split_indices : tuple of int
        Where each part after the first begins.

    Examples
    --------
    >>> from xarraylite.layout.fields import SplitConfig
    >>> str(SplitConfig(1, (200, 300)))
    '(1:200,300)'
    """

    dimension: int
    split_indices: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", as_int(self.dimension, "SplitConfig"))
        object.__setattr__(self, "split_indices", as_ints(self.split_indices, "SplitConfig"))
        if not self.split_indices:
            raise LayoutError(f"SplitConfig: dimension {self.dimension} is cut nowhere")
        if self.dimension < 0 or any([cut < 0 for cut in self.split_indices]):
            raise LayoutError(
                f"SplitConfig: dimension {self.dimension} cut at {self.split_indices}; "
                "neither may be negative"
            )

    def __str__(self) -> str:
        return f"({self.dimension}:{','.join(map(str, self.split_indices))})"


def in_range(name: str, value: Any, low: int = 0, high: int = LIMIT - 1) -> int:
    """Return the integer field ``name`` of a layout, between its bounds.

    Raises
    ------
    LayoutError
        If it is not.
    """
    number = as_int(value, f"Layout: {name}")
    if not low <= number <= high:
        upper = "" if high == LIMIT - 1 else f" and at most {high}"
        raise LayoutError(f"Layout: {name} is {number}; it must be at least {low}{upper}")
    return number


def as_tiles(tiles: Iterable[Any]) -> tuple[Tile, ...]:
    """Return tiles, each given as one or as a sequence of sizes."""
    if isinstance(tiles, Tile):
        raise LayoutError(f"Layout: tiles is the one tile {tiles}; expected a sequence of tiles")
    return _each(tiles, Tile, "Layout: tiles", "tiles")


def as_splits(splits: Iterable[Any]) -> tuple[SplitConfig, ...]:
    """Return split configs, each given as one or as a dimension and its indices."""
    return _each(splits, _as_split, "Layout: split_configs", "(dimension, indices)")


def _as_split(split: Any) -> SplitConfig:
    return split if isinstance(split, SplitConfig) else SplitConfig(*split)


def as_index_type(name: str, value: object) -> ElementType | None:
    """Return the integer type of the field ``name``; None, and the type 0, for none."""
    kind = None if value is None else element_type(value)
    if kind is None or kind.number == 0:
        return None
    if not kind.is_integral:
        raise LayoutError(f"Layout: {name} is {kind}; it must be an integer type")
    return kind


def as_padded(padded: Iterable[int] | None) -> tuple[int, ...] | None:
    """Return padded dimensions; no entries say the same as None."""
    sizes = () if padded is None else as_ints(padded, "Layout: padded_dimensions")
    if any([size < 0 for size in sizes]):
        raise LayoutError(f"Layout: padded_dimensions {sizes}; none may be negative")
    return sizes or None


def as_padding_value(value: PaddingValue | int | str | None) -> PaddingValue | None:
    """Return a padding value that is given as one, as its number or as its name."""
    if value is None or isinstance(value, PaddingValue):
        return value
    try:
        return PaddingValue[value.upper()] if isinstance(value, str) else PaddingValue(value)
    except (KeyError, ValueError):
        known = " ".join([f"{kind.name}={kind.value}" for kind in PaddingValue])
        raise LayoutError(f"Layout: padding_value {value!r} is none of {known}") from None


def check_order(layout: Any, rank: int, operation: str) -> None:
    """Refuse a ``minor_to_major`` that is no permutation of ``rank`` dimensions."""
    order = layout.minor_to_major
    if sorted(order) != list(range(rank)):
        rule = f"each of 0 to {rank - 1} must appear once" if rank else "it must be empty"
        raise LayoutError(
            f"Layout.{operation}: minor_to_major {order} of {layout} has {len(order)} entries for "
            f"{rank} dimensions; {rule}"
        )


def check_padded(layout: Any, sizes: tuple[int, ...]) -> None:
    """Refuse padded dimensions that are not one per dimension, or smaller than it."""
    padded = layout.padded_dimensions
    if padded is None:
        return
    fits = len(padded) == len(sizes)
    if not fits or any([p < d for p, d in zip(padded, sizes, strict=True)]):
        raise LayoutError(
            f"Layout.validate: padded_dimensions {padded} for dimensions {sizes}; "
            "there must be one per dimension, none smaller than the dimension"
        )


def check_sparse(layout: Any) -> None:
    """Refuse what only sparse arrays had."""
    for name in ("index_primitive_type", "pointer_primitive_type", "physical_shape"):
        if getattr(layout, name) is not None:
            raise LayoutError(
                f"Layout.validate: {layout} has a {name}; "
                "only sparse arrays had one, and they do not exist any more"
            )


def check_splits(layout: Any, sizes: tuple[int, ...]) -> None:
    """Refuse split configs that name a dimension twice or cut it outside of its size."""
    rank = len(sizes)
    seen: set[int] = set()
    for split in layout.split_configs:
        where = f"Layout.validate: split config {split} of {layout}"
        if split.dimension >= rank or split.dimension in seen:
            raise LayoutError(
                f"{where}: physical dimension {split.dimension} of {rank} is out of range or "
                "split before; each may be split once"
            )
        seen.add(split.dimension)
        size = sizes[layout.minor_to_major[rank - 1 - split.dimension]]
        cuts = split.split_indices  # of a dimension without a bound, none is inside
        if cuts and any([b <= a for a, b in itertools.pairwise((0, *cuts, size))]):
            raise LayoutError(
                f"{where}: indices must increase and lie inside the dimension of size {size}"
            )
