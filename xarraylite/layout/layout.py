"""Layouts: how the elements of one array are ordered, tiled, padded and placed in memory.

``minor_to_major`` lists the dimensions from the fastest varying to the slowest, so ``(1, 0)``
is row-major and ``(0, 1)`` column-major for two dimensions.  *Physical* dimension p counts from
the major side: its logical number is ``minor_to_major[rank - 1 - p]``.  Tiles act on physical
dimensions (see `fields`).  The remaining fields round the number of elements up, pack them into
fewer bits, name a memory space, and split dimensions between parts of memory.

The older form of padding, ``padded_dimensions``, pads each *logical* dimension at its end.  That
is one tile whose sizes are the padded dimensions in physical order, and `Layout.tile_dims` says
so, so that all arithmetic on positions knows nothing but tiles.

A layout stands alone: which dimensions it fits is checked by `Layout.validate`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, cast

from .._errors import DTypeError, IndexRangeError, LayoutError
from .._later import layout_texts
from .._records import record
from ..dtypes.element_types import ElementType
from ..index.broadcast import HasExtents, unwrap_shape
from ..index.radix import inverse
from .fields import (
    COMBINE,
    MAX_RANK,
    PaddingValue,
    SplitConfig,
    Tile,
    as_index_type,
    as_int,
    as_ints,
    as_padded,
    as_padding_value,
    as_splits,
    as_tiles,
    check_order,
    check_padded,
    check_sparse,
    check_splits,
    in_range,
    space_name,
)


@record(frozen=True, slots=True, eq=False)
class Layout:
    """The order, tiling, padding and place of an array's elements.

    Parameters
    ----------
    minor_to_major : iterable of int
        Logical dimensions, the fastest varying first.
    tiles : iterable of Tile or of sequences of int, default none
        Levels of tiling, the outermost first.
    tail_padding_alignment_in_elements : int, default 1
        After tiling, the number of elements is rounded up to a multiple of this.
    element_size_in_bits : int, default 0
        Bits that an element takes in memory; 0 for the whole bytes of its type.
    memory_space : int, default 0
        Which memory of the device, 0 to 127; see `MEMORY_SPACES`.
    split_configs : iterable of SplitConfig or of (dimension, indices), default none
        Physical dimensions that are cut into parts.
    dynamic_shape_metadata_prefix_bytes : int, default 0
        Bytes in front of the data; no part of equality.
    index_primitive_type, pointer_primitive_type : element type, optional
        Integer types of the index arrays of sparse arrays, which XLA has dropped.
    physical_shape : object, optional
        A description of a shape, another remnant of sparse arrays.
    padded_dimensions : iterable of int, optional
        Size of each logical dimension including padding: the older form, instead of tiles.
    padding_value : PaddingValue, int or str, optional
        What such padding is filled with.

    Attributes
    ----------
    minor_to_major : tuple of int
        As given.
    tiles : tuple of Tile
        As given.
    tail_padding_alignment_in_elements, element_size_in_bits, memory_space : int
        As given.
    split_configs : tuple of SplitConfig
        As given.
    dynamic_shape_metadata_prefix_bytes : int
        As given.
    index_primitive_type, pointer_primitive_type : ElementType or None
        As given.
    physical_shape : object or None
        As given.
    padded_dimensions : tuple of int or None
        As given; None if none were.
    padding_value : PaddingValue or None
        As given.

    Raises
    ------
    LayoutError
        If a field is out of its range, or old and new padding are mixed.

    Examples
    --------
    >>> from xarraylite.layout.layout import Layout
    >>> layout = Layout((1, 0), [(8, 128), (2, 1)], memory_space=1)
    >>> str(layout)
    '{1,0:T(8,128)(2,1)S(1)}'
    >>> Layout.parse("{1,0:T(8,128)(2,1)S(1)}") == layout
    True
    """

    minor_to_major: tuple[int, ...]
    tiles: tuple[Tile, ...] = ()
    tail_padding_alignment_in_elements: int = 1
    element_size_in_bits: int = 0
    memory_space: int = 0
    split_configs: tuple[SplitConfig, ...] = ()
    dynamic_shape_metadata_prefix_bytes: int = 0
    index_primitive_type: ElementType | None = None
    pointer_primitive_type: ElementType | None = None
    physical_shape: Any = None
    padded_dimensions: tuple[int, ...] | None = None
    padding_value: PaddingValue | None = None

    __match_args__ = ("minor_to_major", "tiles")

    def __init__(
        self,
        minor_to_major: Iterable[int],
        tiles: Iterable[Tile | Iterable[int | str]] = (),
        *,
        tail_padding_alignment_in_elements: int = 1,
        element_size_in_bits: int = 0,
        memory_space: int = 0,
        split_configs: Iterable[SplitConfig | tuple[int, Iterable[int]]] = (),
        dynamic_shape_metadata_prefix_bytes: int = 0,
        index_primitive_type: object = None,
        pointer_primitive_type: object = None,
        physical_shape: Any = None,
        padded_dimensions: Iterable[int] | None = None,
        padding_value: PaddingValue | int | str | None = None,
    ) -> None:
        values = (
            as_ints(minor_to_major, "Layout: minor_to_major"),
            as_tiles(tiles),
            in_range("tail_padding_alignment_in_elements", tail_padding_alignment_in_elements, 1),
            in_range("element_size_in_bits", element_size_in_bits),
            in_range("memory_space", memory_space, 0, 127),
            as_splits(split_configs),
            in_range("dynamic_shape_metadata_prefix_bytes", dynamic_shape_metadata_prefix_bytes),
            as_index_type("index_primitive_type", index_primitive_type),
            as_index_type("pointer_primitive_type", pointer_primitive_type),
            physical_shape,
            as_padded(padded_dimensions),
            as_padding_value(padding_value),
        )
        for set_field, value in zip(_SET.values(), values, strict=True):
            set_field(self, value)
        if self.padded_dimensions is not None and self.tiles:
            raise LayoutError(
                f"Layout: tiles {' '.join(map(str, self.tiles))} and padded_dimensions "
                f"{self.padded_dimensions} together; padding is either the one or the other"
            )

    @staticmethod
    def row_major(rank: int) -> Layout:
        """Return the default layout: the last dimension varies fastest.

        Examples
        --------
        >>> from xarraylite.layout.layout import Layout
        >>> str(Layout.row_major(3))
        '{2,1,0}'
        """
        return _row_major(_as_rank(rank))

    @staticmethod
    def column_major(rank: int) -> Layout:
        """Return the layout in which the first dimension varies fastest."""
        return Layout(range(_as_rank(rank)))

    make_descending_layout = row_major
    get_default_layout_for_rank = row_major
    make_ascending_layout = column_major

    @staticmethod
    def make_layout_from_major_to_minor(major_to_minor: Sequence[int]) -> Layout:
        """Return the untiled layout with the dimensions in this order, the slowest first."""
        return Layout(tuple(major_to_minor)[::-1])

    @staticmethod
    def parse(text: str) -> Layout:
        """Return the layout that a text describes, such as ``"{1,0:T(8,128)(2,1)}"``.

        Raises
        ------
        LayoutParseError
            If the text is malformed; it says in which column.

        Examples
        --------
        >>> from xarraylite.layout.layout import Layout
        >>> Layout.parse("{0,1:T(2,2)E(4)}")
        Layout((0, 1), [(2, 2)], element_size_in_bits=4)
        """
        return cast("Layout", layout_texts.parse_layout(text, Layout._trusted))

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.minor_to_major)

    @property
    def memory_space_name(self) -> str:
        """Name of the memory space, or ``"device_"`` and its number; a TPU's as well."""
        return space_name(self.memory_space, self.tiles)

    @property
    def tile_dims(self) -> tuple[tuple[int, ...], ...]:
        """Sizes of every tile; padded dimensions appear as the one tile they are equal to."""
        if self.padded_dimensions is not None:
            padded = self.padded_dimensions
            # A tile has no size of 0; an extent of 0 makes no tile of whatever size.
            return (tuple([padded[d] or 1 for d in reversed(self.minor_to_major)]),)
        return tuple([tile.dimensions for tile in self.tiles])

    def major(self, physical: int) -> int:
        """Return the logical number of a physical dimension, 0 being the major-most."""
        return self.minor_to_major[self.rank - 1 - self._checked(physical, "major")]

    def minor(self, position: int) -> int:
        """Return the logical number of the dimension at a place of ``minor_to_major``."""
        return self.minor_to_major[self._checked(position, "minor")]

    def logical_to_physical(self) -> tuple[int, ...]:
        """Return the physical number of each logical dimension.

        Examples
        --------
        >>> from xarraylite.layout.layout import Layout
        >>> Layout((1, 2, 0)).logical_to_physical()
        (0, 2, 1)
        """
        check_order(self, self.rank, "logical_to_physical")
        return inverse(self.minor_to_major[::-1])

    make_logical_to_physical = logical_to_physical

    def is_monotonic_with_dim0_minor(self) -> bool:
        """Tell whether the first dimension varies fastest, then the second, and so on."""
        return list(self.minor_to_major) == sorted(self.minor_to_major)

    def is_monotonic_with_dim0_major(self) -> bool:
        """Tell whether the last dimension varies fastest, then the one before, and so on."""
        return list(self.minor_to_major) == sorted(self.minor_to_major, reverse=True)

    has_ascending_layout = is_monotonic_with_dim0_minor
    has_descending_layout = is_monotonic_with_dim0_major

    def are_dimensions_consecutive(self, dimensions: Iterable[int]) -> bool:
        """Tell whether these logical dimensions are neighbours in ``minor_to_major``."""
        places = sorted([self._place(d, "are_dimensions_consecutive") for d in dimensions])
        return all([b - a == 1 for a, b in itertools.pairwise(places)])

    def is_untiled_layout(self, dimensions: Sequence[int]) -> bool:
        """Tell whether the tiles surely leave every element of these dimensions where it was.

        Parameters
        ----------
        dimensions : sequence of int
            Sizes of the *physical* dimensions, major to minor.

        Returns
        -------
        bool
            False also where the answer is not known: combined dimensions, tiles of more
            dimensions than the array, sizes that are no multiple of the tile.
        """
        current = list(dimensions)
        for sizes in self.tile_dims:
            split = len(current) - len(sizes)
            if split < 0 or COMBINE in sizes:
                return False
            pairs = list(zip(current[split:], sizes, strict=True))
            if any([extent % size for extent, size in pairs]):
                return False
            first = next((k for k, size in enumerate(sizes) if size != 1), len(sizes))
            if any([extent != size for extent, size in pairs[first + 1 :]]):
                return False  # a grid inside the first real tile would interleave
            current[split:] = [extent // size for extent, size in pairs] + list(sizes)
        return True

    def move_dim_to_major(self, dimension: int) -> Layout:
        """Return this layout with a logical dimension made the slowest varying one."""
        place = self._place(dimension, "move_dim_to_major")
        order = self.minor_to_major
        return replace(self, minor_to_major=(*order[:place], *order[place + 1 :], order[place]))

    def move_dim_to_minor(self, dimension: int) -> Layout:
        """Return this layout with a logical dimension made the fastest varying one."""
        place = self._place(dimension, "move_dim_to_minor")
        order = self.minor_to_major
        return replace(self, minor_to_major=(order[place], *order[:place], *order[place + 1 :]))

    def delete_dimension(self, dimension: int) -> Layout:
        """Return this layout without a logical dimension, those above it renumbered.

        Split configs of the dimension go, and so does its entry of ``padded_dimensions``; tiles
        stay as they are.

        Examples
        --------
        >>> from xarraylite.layout.layout import Layout
        >>> str(Layout((3, 1, 0, 2)).delete_dimension(1))
        '{2,0,1}'
        """
        return self._without({self.minor_to_major[self._place(dimension, "delete_dimension")]})

    def _without(self, gone: set[int]) -> Layout:
        """Return the layout without some of its dimensions; see `delete_dimension`."""
        lost = [p for p, d in enumerate(self.minor_to_major[::-1]) if d in gone]
        left = [d for d in self.minor_to_major if d not in gone]
        splits = [split for split in self.split_configs if split.dimension not in lost]
        padded = self.padded_dimensions
        return replace(
            self,
            minor_to_major=tuple([d - sum([g < d for g in gone]) for d in left]),
            split_configs=tuple(
                [
                    replace(s, dimension=s.dimension - sum([p < s.dimension for p in lost]))
                    for s in splits
                ]
            ),
            padded_dimensions=padded and tuple([n for d, n in enumerate(padded) if d not in gone]),
        )

    def validate(self, dimensions: Sequence[int] | HasExtents) -> None:
        """Refuse the layout if it does not fit an array of these dimensions.

        Raises
        ------
        LayoutError
            Unless ``minor_to_major`` is a permutation of the dimensions, there are no remnants
            of sparse arrays, split configs cut each dimension at most once and inside it, and
            padded dimensions are at least as large as the dimensions.

        Examples
        --------
        >>> from xarraylite.layout.layout import Layout
        >>> Layout((1, 0)).validate((2, 3))
        """
        sizes = as_ints(unwrap_shape(dimensions), "Layout.validate: dimensions")
        check_order(self, len(sizes), "validate")
        check_padded(self, sizes)
        check_sparse(self)
        check_splits(self, sizes)

    def equal(
        self,
        other: Layout,
        *,
        ignore_tiles: bool = False,
        ignore_tail_padding_alignment_in_elements: bool = False,
        ignore_index_primitive_type: bool = False,
        ignore_pointer_primitive_type: bool = False,
        ignore_element_size: bool = False,
        ignore_memory_space: bool = False,
        ignore_split_configs: bool = False,
        ignore_physical_shape: bool = False,
        ignore_padding: bool = False,
        minor_to_major_only: bool = False,
    ) -> bool:
        """Tell whether two layouts are equal but for what is ignored.

        Parameters
        ----------
        other : Layout
            The layout to compare with.
        ignore_tiles, ignore_tail_padding_alignment_in_elements : bool
            Leave out tiles, or the rounding of the number of elements.
        ignore_index_primitive_type, ignore_pointer_primitive_type : bool
            Leave out one of the types that belong to sparse arrays.
        ignore_element_size, ignore_memory_space, ignore_split_configs : bool
            Leave out the field of that name.
        ignore_physical_shape, ignore_padding : bool
            Leave out the physical shape, or the padded dimensions and their value.
        minor_to_major_only : bool
            Compare nothing but the order of the dimensions.

        Examples
        --------
        >>> from xarraylite.layout.layout import Layout
        >>> tiled, plain = Layout.parse("{1,0:T(2,2)}"), Layout.row_major(2)
        >>> tiled.equal(plain), tiled.equal(plain, ignore_tiles=True)
        (False, True)
        """
        options = locals()
        if not isinstance(other, Layout):
            raise DTypeError(f"Layout.equal: another Layout is needed, got {type(other).__name__}")
        if self.minor_to_major != other.minor_to_major:
            return False
        ignored = [options[name] for name in options if name.startswith("ignore_")]
        return minor_to_major_only or all(
            [skip or a == b for skip, a, b in zip(ignored, self._own(), other._own(), strict=True)]
        )

    def _own(self) -> tuple[Any, ...]:
        """What equality compares besides the order, in the order of `equal`'s options."""
        shape = self.physical_shape
        return (
            self.tiles,
            self.tail_padding_alignment_in_elements,
            self.index_primitive_type,
            self.pointer_primitive_type,
            self.element_size_in_bits,
            self.memory_space,
            self.split_configs,
            None if shape is None else str(shape),
            (self.padded_dimensions, self.padding_value or PaddingValue.INVALID),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        if self is other:
            return True
        return self.minor_to_major == other.minor_to_major and self._own() == other._own()

    def __hash__(self) -> int:
        return hash((self.minor_to_major, self.tiles, self.element_size_in_bits))

    def __str__(self) -> str:
        return layout_texts.print_layout(self)

    def __repr__(self) -> str:
        parts = [repr(self.minor_to_major)]
        if self.tiles:
            parts.append(repr([tile.shown() for tile in self.tiles]))
        named = [(field, getattr(self, field.name)) for field in fields(self)[2:]]
        parts += [
            f"{field.name}={_shown(value)}" for field, value in named if value != field.default
        ]
        return f"Layout({', '.join(parts)})"

    @classmethod
    def _trusted(cls, order: tuple[int, ...], options: Mapping[str, Any]) -> Layout:
        """Make a layout of fields that are known to be well-formed: the parser's entrance."""
        self = object.__new__(cls)
        _SET["minor_to_major"](self, order)
        for name, default in _DEFAULTS:
            _SET[name](self, options.get(name, default))
        return self

    def _checked(self, position: int, operation: str) -> int:
        """Return the number of a physical dimension, 0 to rank - 1."""
        number = as_int(position, f"Layout.{operation}")
        if not 0 <= number < self.rank:
            raise IndexRangeError(
                f"Layout.{operation}: {number} is out of range; "
                f"{self} has {self.rank} physical dimensions, counted from 0"
            )
        return number

    def _place(self, dimension: int, operation: str) -> int:
        """Return where a logical dimension stands in ``minor_to_major``."""
        number = as_int(dimension, f"Layout.{operation}")
        if number not in self.minor_to_major:
            raise IndexRangeError(f"Layout.{operation}: {self} has no dimension {number}")
        return self.minor_to_major.index(number)


_SET = {field.name: getattr(Layout, field.name).__set__ for field in fields(Layout)}
_DEFAULTS = tuple([(field.name, field.default) for field in fields(Layout)[1:]])


@lru_cache(maxsize=128)
def _row_major(rank: int) -> Layout:
    return Layout(range(rank - 1, -1, -1))


def _as_rank(rank: int) -> int:
    number = as_int(rank, "Layout: rank")
    if not 0 <= number <= MAX_RANK:
        raise LayoutError(f"Layout: rank {number} is not between 0 and {MAX_RANK}")
    return number


def _shown(value: object) -> str:
    """Return a field as it is given: types and padding values by their names."""
    return repr(value.name if isinstance(value, (ElementType, PaddingValue)) else value)
