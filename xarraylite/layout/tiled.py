"""Views of tiled arrays: an index transform in front of a tiled layout.

A `TiledMap` is to a tiled buffer what `Strided` is to a strided one: it says where each element
of an index box lies, and views of it are made by composing transforms, which is closed.  Its
elements are `bits` wide: 4 for two int4 to a byte, 32 for a bool that is given a word of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from .._later import mixed_radix
from .._records import record
from ..index.radix import round_up
from ..index.transform import FIXED, IndexMap, Transform, identity
from .strided import Strided

if TYPE_CHECKING:
    from .layout import Layout


class Summand(NamedTuple):
    """One summand of a position: the digits of ``start + sum(paces[k] * index[k])``.

    Attributes
    ----------
    digits : Digits
        Periods and strides.
    start : int
        The number whose digits are taken, at index 0.
    paces : tuple of int
        Its change along each dimension.
    """

    digits: mixed_radix.Digits
    start: int
    paces: tuple[int, ...]

    def at(self, index: Sequence[int]) -> int:
        """Return the value at an index."""
        moved = sum([p * i for p, i in zip(self.paces, index, strict=True)])
        return int(mixed_radix.position_of(self.start + moved, self.digits))


@record(frozen=True, slots=True)
class TiledMap:
    """Where each element of an index box lies in a tiled buffer.

    Attributes
    ----------
    layout : Layout
        The layout of the whole array.
    dimensions : tuple of int
        Logical extents of the whole array.
    step : Transform
        From an index of this box to one of the whole array.
    offset : int
        Where the whole array begins in its buffer, in elements.
    bits : int
        Bits from one element to the next in memory.
    """

    layout: Layout
    dimensions: tuple[int, ...]
    step: Transform
    offset: int = 0
    bits: int = 8

    @staticmethod
    def whole(layout: Layout, dimensions: tuple[int, ...], bits: int) -> TiledMap:
        """Return the map of a whole array."""
        return TiledMap(layout, dimensions, identity(dimensions), 0, bits)

    @property
    def tiled(self) -> mixed_radix.Tiled:
        """Geometry of the whole array."""
        return mixed_radix.Tiled.of(
            self.dimensions, self.layout.minor_to_major, self.layout.tile_dims
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the box."""
        return self.step.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.step.shape)

    @property
    def size(self) -> int:
        """Number of elements of the box."""
        return math.prod(self.step.shape)

    @property
    def capacity(self) -> int:
        """Elements of the whole array's memory: tile and tail padding included."""
        count, unit = self.tiled.physical_size, self.layout.tail_padding_alignment_in_elements
        return round_up(count, unit)

    @property
    def pattern(self) -> tuple[object, ...]:
        """All but the offset: what plans depend on."""
        return (self.layout, self.dimensions, self.step.maps, self.bits)

    @property
    def is_whole(self) -> bool:
        """Whether this is the whole array, not a view of it."""
        return self.step == identity(self.dimensions)

    def based(self) -> TiledMap:
        """Return the same map with the whole array at position 0."""
        return self if self.offset == 0 else replace(self, offset=0)

    def bounds(self) -> tuple[int, int]:
        """Return the positions that may be reached: all of the array's memory."""
        return self.offset, self.offset + (self.capacity if self.size else 0) - 1

    def bits_of(self, itemsize: int) -> int:
        """Return the bits from one element to the next in memory."""
        return self.bits

    def byte_start(self, itemsize: int) -> int:
        """Return the byte of the buffer where the whole array begins."""
        return self.offset * self.bits // 8

    def byte_range(self, itemsize: int) -> tuple[int, int]:
        """Return the first and the last byte of the buffer that may be reached."""
        low, high = self.bounds()
        return low * self.bits // 8, -(-(high + 1) * self.bits // 8) - 1

    def is_row_major(self) -> bool:
        """Tell whether the elements are contiguous in row-major order: not for certain."""
        return False

    def is_column_major(self) -> bool:
        """Tell whether the elements are contiguous in column-major order: not for certain."""
        return False

    def is_contiguous(self) -> bool:
        """Tell whether the elements fill one run of the buffer."""
        return self.is_whole and not self.has_padding

    @property
    def has_padding(self) -> bool:
        """Whether the whole array's memory holds more than its elements."""
        return self.capacity != math.prod(self.dimensions)

    def repeats(self) -> bool:
        """Tell whether some element of memory is addressed by two indices: a broadcast."""
        used = {m.axis for m in self.step.maps if m.step}
        return 0 not in self.shape and any(n > 1 for k, n in enumerate(self.shape) if k not in used)

    def apply(self, step: Transform) -> TiledMap:
        """Return the map of the view that ``step`` makes of this box."""
        return replace(self, step=step.after(self.step))

    def reshape(self, shape: tuple[int, ...]) -> TiledMap | None:
        """Return None: tiles follow the dimensions they were made for.

        Only extents of 1 may come and go, which is a transform.
        """
        mine = [k for k, n in enumerate(self.shape) if n != 1]
        theirs = [k for k, n in enumerate(shape) if n != 1]
        if [self.shape[k] for k in mine] != [shape[k] for k in theirs]:
            return None
        where = dict(zip(mine, theirs, strict=True))
        maps = tuple(
            [
                m._replace(axis=where[m.axis])
                if m.axis in where
                else m._replace(step=0, axis=FIXED)
                for m in self.step.maps
            ]
        )
        return replace(self, step=Transform(shape, maps))

    def part(self, count: int, which: int) -> TiledMap:
        """Return the map of one of the parts that elements have, such as their imaginary ones.

        The parts of an element are a dimension inside all others, which every tile holds whole.
        """
        whole = self.layout
        layout = replace(
            whole,
            minor_to_major=(len(self.dimensions), *whole.minor_to_major),
            tiles=tuple([type(tile)((*tile.dimensions, count)) for tile in whole.tiles]),
            tail_padding_alignment_in_elements=count * whole.tail_padding_alignment_in_elements,
            padded_dimensions=whole.padded_dimensions and (*whole.padded_dimensions, count),
            element_size_in_bits=0,
        )
        step = Transform(self.shape, (*self.step.maps, IndexMap(which, 0, FIXED)))
        dimensions = (*self.dimensions, count)
        return TiledMap(layout, dimensions, step, self.offset * count, self.bits // count)

    def summands(self) -> tuple[Summand, ...] | None:
        """Return the summands of a position (besides the offset); None without digits."""
        fields = self.tiled.fields
        if fields is None:
            return None
        found = []
        for dims, weights, digits in fields:
            start, paces = 0, [0] * self.ndim
            for d, weight in zip(dims, weights, strict=True):
                begin, pace, axis = self.step.maps[d]
                start += weight * begin
                if axis != FIXED:
                    paces[axis] += weight * pace
            found.append(Summand(digits, start, tuple(paces)))
        return tuple(found)

    def position(self, index: Sequence[int]) -> int:
        """Return the position of one element, in elements of the buffer."""
        source = [
            begin + (pace * index[axis] if axis != FIXED else 0)
            for begin, pace, axis in self.step.maps
        ]
        return self.offset + self.tiled.linear_index(source)


#: Where the elements of an index box lie.
Map: TypeAlias = Strided | TiledMap
