"""The parts of a layout that are no plain numbers, and the checks of those that are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any, Final

from .._errors import LayoutError
from .._records import record
from ..dtypes.element_types import ElementType, element_type
from .tile import LIMIT, Tile, as_int, as_ints

MEMORY_SPACES: Final[dict[int, str]] = {
    0: "default",
    1: "generic_fast",
    5: "host",
    6: "unpinned_host",
}
"""Memory spaces with a meaning of their own; the others belong to the device."""


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
    try:
        return tuple([tile if isinstance(tile, Tile) else Tile(tile) for tile in tiles])
    except TypeError:
        raise LayoutError(f"Layout: tiles {tiles!r} is not a sequence of tiles") from None


def as_splits(splits: Iterable[Any]) -> tuple[SplitConfig, ...]:
    """Return split configs, each given as one or as a dimension and its indices."""
    try:
        return tuple([s if isinstance(s, SplitConfig) else SplitConfig(*s) for s in splits])
    except TypeError:
        raise LayoutError(
            f"Layout: split_configs {splits!r} is not a sequence of (dimension, indices)"
        ) from None


def as_index_type(name: str, value: object) -> ElementType | None:
    """Return the unsigned integer type of the field ``name``; None, and the type 0, for none."""
    kind = None if value is None else element_type(value)
    if kind is None or kind.number == 0:
        return None
    if not kind.is_unsigned:
        raise LayoutError(f"Layout: {name} is {kind}; it must be an unsigned integer type")
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
