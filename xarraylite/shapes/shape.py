"""Smooth shapes: the box of indices ``0 <= i_k < extent_k``, with an origin.

`Shape` is what almost everybody needs: a rank, an extent per mode and nothing else.  The origin
is only a name for the first element: extents, sizes, slices and chips count offsets from zero,
and absolute indices appear where they are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

from .._errors import BoundsError, ShapeError
from ..index.box import (
    Range,
    check_permutation,
    dropped_modes,
    integers,
    is_vector,
    lexicographic,
    parse_ranges,
)
from ..index.broadcast import MAX_SIZE, as_shape
from ..index.radix import compose
from .base import ShapeBase, present
from .jagged_tree import Ragged
from .labels import IndexedShape, Mode, Term
from .tables import Table


class Shape(ShapeBase):
    """The extents of a rectangular index space.

    Parameters
    ----------
    *extents : int, or one iterable of int
        One extent per mode; none for a scalar, which has rank 0 and one element.  Another shape
        object may stand for its extents and origin; a `TiledShape` stands for the box it cuts.
    origin : iterable of int, optional
        Absolute index of the first element; zeros by default.

    Raises
    ------
    ShapeError
        For extents that are negative, bools or no integers, for a rank above 64, and for an
        origin that does not have one integer per mode.
    SizeError
        If there are more than 2**63 - 1 elements.  A shape with an extent of 0 has none, but the
        product of its other extents is held to the same limit, so ``(2**40, 2**40, 0)`` is
        refused: strides and partial sizes stay integers of 64 bits.

    See Also
    --------
    JaggedShape : Slices of different extents.
    TiledShape : A shape cut into tiles.
    Nested : Modes in layers.

    Examples
    --------
    >>> import xarraylite as xl
    >>> s = xl.Shape(10, 20, 30)
    >>> s.rank, s.size, s.extents
    (3, 6000, (10, 20, 30))
    >>> xl.Shape().size, xl.Shape.null().size
    (1, 0)
    >>> xl.Shape((2, 3), origin=(10, 10)).slice(1)
    Shape((1, 3), origin=(11, 10))
    """

    __slots__ = ("_extents", "_origin")

    #: None for the null shape.
    _extents: tuple[int, ...] | None
    #: None for zeros, which lets a million slices be checked quickly.
    _origin: tuple[int, ...] | None

    def __init__(self, *extents: Any, origin: Iterable[int] | int | None = None) -> None:
        self._sealed = False
        if len(extents) == 1 and type(extents[0]) is int and 0 <= extents[0] <= MAX_SIZE:
            self._extents = extents  # rows of jagged shapes are made by the million
            self._origin = None if origin is None else self._checked_origin(origin, "Shape")
            return
        given: Any = extents
        if len(extents) == 1 and isinstance(extents[0], ShapeBase):
            given = extents[0].as_tuple()
            if origin is None and any(extents[0].origin):  # a tiling has none, and twice the rank
                origin = extents[0].origin
        elif len(extents) == 1:
            given = extents[0]
        elif any([is_vector(extent) for extent in extents]):
            raise ShapeError(
                "Shape: extents are integers, or one iterable of them, and an origin is given as "
                f"origin=…, got {', '.join(map(repr, extents))}"
            )
        self._extents = as_shape(given, "Shape")
        self._origin = None if origin is None else self._checked_origin(origin, "Shape")

    @classmethod
    def null(cls) -> Self:
        """Return the null shape: no rank and no elements.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Shape.null() == xl.Shape()
        False
        """
        return cls._make(None, None)

    @classmethod
    def of(cls, value: Any) -> Shape:
        """Return the shape of a container, or of anything that stands for a shape.

        Parameters
        ----------
        value : container, shape, int or iterable of int
            Anything with an attribute ``shape`` (whose shape is meant), another shape object that
            is smooth, or extents.

        Raises
        ------
        ShapeError
            As for `Shape`, or if the container or shape is jagged.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Shape.of(xl.zeros((2, 3)))
        Shape(2, 3)
        """
        jagged = getattr(value, "jagged_shape", None)
        if jagged is not None and not jagged.is_smooth:
            raise ShapeError(
                f"Shape.of: the slices of the {type(value).__name__} differ in shape; its index "
                "space is .jagged_shape"
            )
        inner = value if isinstance(value, ShapeBase) else getattr(value, "shape", value)
        return Shape(inner)

    @classmethod
    def _make(cls, extents: tuple[int, ...] | None, origin: tuple[int, ...] | None) -> Self:
        """Return a shape of checked values."""
        shape = cls.__new__(cls)
        shape._sealed = False
        shape._extents = extents
        shape._origin = origin if origin and any(origin) else None
        return shape

    def _checked_origin(self, origin: object, operation: str) -> tuple[int, ...] | None:
        start = integers(origin, operation, "an entry of the origin")
        if len(start) != self.rank:
            raise ShapeError(
                f"{operation}: the origin {start} needs one integer for each of the extents "
                f"{self.extents}"
            )
        if any([abs(first) + n > MAX_SIZE for first, n in zip(start, self.extents, strict=True)]):
            raise ShapeError(f"{operation}: the origin {start} leads beyond 2**63 - 1")
        return start if any(start) else None

    @property
    def is_null(self) -> bool:
        """Whether this is the null shape, which has no rank and no elements."""
        return self._extents is None

    @property
    def extents(self) -> tuple[int, ...]:
        """The extent of every mode; `ShapeError` for the null shape."""
        return present(self._extents)

    @property
    def rank(self) -> int:
        """Number of modes; `ShapeError` for the null shape, which has none."""
        return len(self.extents)

    @property
    def size(self) -> int:
        """Number of scalar elements: the product of the extents; 0 for the null shape."""
        return 0 if self._extents is None else math.prod(self._extents)

    @property
    def origin(self) -> tuple[int, ...]:
        """Absolute index of the first element."""
        return self._origin or (0,) * self.rank

    def as_tuple(self) -> tuple[int, ...]:
        """Return the extents as the plain tuple that containers use.

        Raises
        ------
        ShapeError
            For the null shape.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Shape((2, 3), origin=(10, 10)).as_tuple()
        (2, 3)
        """
        return self.extents

    def extent(self, mode: int) -> int:
        """Return the extent of one mode.

        Parameters
        ----------
        mode : int
            The mode, counted from 0; negative ones are not.

        Raises
        ------
        BoundsError
            If there is no such mode.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Shape(10, 20).extent(1)
        20
        """
        return self.extents[self._check_mode(mode, "extent")]

    def leading_size(self, n_modes: int) -> int:
        """Return how many different indices the first ``n_modes`` modes have.

        Parameters
        ----------
        n_modes : int
            A number from 0, which has one index, to the rank, which has ``size``.

        Raises
        ------
        ShapeError
            If there are not that many modes.

        Examples
        --------
        >>> import xarraylite as xl
        >>> [xl.Shape(10, 20, 30).leading_size(n) for n in range(4)]
        [1, 10, 200, 6000]
        """
        return math.prod(self.extents[: self._check_leading(n_modes)])

    def in_bounds(self, *index: Any, absolute: bool = False) -> bool:
        """Tell whether an index, given as ``(0, 1)`` or as ``0, 1``, is one of this shape's.

        Parameters
        ----------
        *index : int or sequence of int
            One integer per mode.
        absolute : bool, optional
            Count from the origin instead of from zero.

        Raises
        ------
        ShapeError
            If the index does not have one integer per mode.

        Examples
        --------
        >>> import xarraylite as xl
        >>> s = xl.Shape((2, 3), origin=(10, 10))
        >>> s.in_bounds(1, 2), s.in_bounds(10, 12), s.in_bounds(10, 12, absolute=True)
        (True, False, True)
        """
        values = self._check_index(index, "in_bounds")
        start = self.origin if absolute else (0,) * self.rank
        return all([0 <= i - o < n for i, o, n in zip(values, start, self.extents, strict=True)])

    def indices(self, *, absolute: bool = False) -> Iterator[tuple[int, ...]]:
        """Iterate over the indices in lexicographic order.

        Parameters
        ----------
        absolute : bool, optional
            Yield absolute indices, which start at the origin, instead of offsets, which start at
            zero.

        Examples
        --------
        >>> import xarraylite as xl
        >>> part = xl.Shape(2, 3).slice((0, 1), (1, 3))
        >>> list(part), list(part.indices(absolute=True))
        ([(0, 0), (0, 1)], [(0, 1), (0, 2)])
        """
        if self._extents is None:
            return iter(())
        start = self.origin if absolute else (0,) * self.rank
        return lexicographic([range(o, o + n) for o, n in zip(start, self.extents, strict=True)])

    def slice(self, *box: Any) -> Shape:
        """Return a sub-shape of the same rank; its origin is its first element.

        Parameters
        ----------
        *box : int, or two sequences of int
            Up to ``rank`` offsets, which pin the first modes; or the first element and one past
            the last one, as vectors of offsets.

        Raises
        ------
        ShapeError
            For a box that is malformed or out of bounds (`BoundsError`, an `IndexError` too).

        Examples
        --------
        >>> import xarraylite as xl
        >>> s = xl.Shape(10, 20)
        >>> s.slice(0), s.slice((0, 0), (5, 5))
        (Shape(1, 20), Shape(5, 5))
        """
        return self._select(parse_ranges(box, self.rank, "slice"), (), "slice")

    def chip(self, *box: Any) -> Shape:
        """Return a sub-shape without the modes that are pinned to one index.

        Parameters
        ----------
        *box : int, or two sequences of int
            As for `slice`; of a box, the modes whose range holds one index are dropped, and
            there must be at least one.

        Raises
        ------
        ShapeError
            As for `slice`, or if no mode is pinned.

        Examples
        --------
        >>> import xarraylite as xl
        >>> s = xl.Shape(10, 20)
        >>> s.chip(2), s.chip((0, 2), (10, 3))
        (Shape(20), Shape(10))
        """
        ranges = parse_ranges(box, self.rank, "chip")
        return self._select(ranges, dropped_modes(ranges), "chip")

    def _select(self, ranges: Sequence[Range], drop: Sequence[int], operation: str) -> Shape:
        extents, origin = [], []
        for mode, (wanted, extent, start) in enumerate(
            zip(ranges, self.extents, self.origin, strict=True)
        ):
            first, stop = wanted or (0, extent)
            if stop > extent:
                raise BoundsError(
                    f"{operation}: the range {first}:{stop} of mode {mode} is out of bounds: the "
                    f"extent is {extent}"
                )
            if mode not in drop:
                extents.append(stop - first)
                origin.append(start + first)
        return Shape._make(tuple(extents), tuple(origin))

    def permute(self, *axes: Any) -> Shape:
        """Return the shape whose mode ``k`` is mode ``axes[k]`` of this one, origin and all.

        Parameters
        ----------
        *axes : int, or one sequence of int
            Every mode once, counted from 0, in its new order.

        Raises
        ------
        ShapeError
            If ``axes`` is not a permutation of the modes.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Shape(10, 20, 30).permute(2, 0, 1)
        Shape(30, 10, 20)
        """
        order = check_permutation(axes, self.rank)
        return Shape._make(compose(self.extents, order), compose(self.origin, order))

    def _space(self) -> Ragged:
        return Ragged.smooth(self.extents, self.origin)

    def _indexed(self, term: Term) -> IndexedShape:
        return IndexedShape((term,), Shape, source=self.copy())

    def _modes(self, labels: tuple[str, ...]) -> list[Mode]:
        return [Mode((n,), o) for n, o in zip(self.extents, self.origin, strict=True)]

    @classmethod
    def _of_modes(cls, labels: Sequence[str], modes: Sequence[Mode]) -> Shape:
        extents = [extent for mode in modes for extent in mode.extents]
        plain = [extent for extent in extents if not isinstance(extent, Table)]
        return Shape(plain, origin=[mode.origin for mode in modes])

    def _adopt(self, other: ShapeBase) -> None:
        self._refuse_layers(other)
        extents, origin = other.as_tuple(), other.origin
        self._extents, self._origin = extents, origin if any(origin) else None

    def _with_origin(self, origin: tuple[int, ...]) -> Self:
        return self._make(self.extents, self._checked_origin(origin, "origin"))

    def _value(self) -> tuple[Any, ...]:
        return self._extents, self._origin

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Shape):
            return self._extents == other._extents and self._origin == other._origin
        return NotImplemented

    __hash__ = ShapeBase.__hash__

    def _hash(self) -> int:
        return hash((self._extents, self._origin))

    def __repr__(self) -> str:
        if self._extents is None:
            return "Shape.null()"
        if self._origin is not None:
            return f"Shape({self._extents}, origin={self._origin})"
        return f"Shape({', '.join(map(str, self._extents))})"
