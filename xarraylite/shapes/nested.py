"""Nested shapes: the modes of a shape, partitioned into layers.

A matrix of matrices and a tensor of rank 4 have the same elements under the same indices; what
differs is how they are looked at, and where it pays to keep elements together.  `Nested` adds
just that to a shape: how many of its modes, taken from left to right, belong to each layer.  A
layer may have no modes at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, ClassVar, Self

from .._errors import ShapeError
from ..index.box import (
    Range,
    check_permutation,
    dropped_modes,
    index_of,
    integer,
    integers,
    is_vector,
    parse_ranges,
)
from .base import LAYERED, ShapeBase, present
from .jagged_tree import Ragged
from .labels import IndexedShape, Mode, Term
from .shape import Shape


class Nested(ShapeBase):
    """A shape whose modes are partitioned into layers.

    Parameters
    ----------
    layers : iterable of int
        How many modes each layer has, outermost first.  They add up to the rank of the shape;
        a scalar may have no layers.
    shape : Shape, JaggedShape, TiledShape or iterable of int
        The index space.

    Raises
    ------
    ShapeError
        If the layers are negative, no integers, or do not add up to the rank.

    Notes
    -----
    Two nested shapes are equal if their layers and their shapes are; no nested shape equals one
    without layers.

    Examples
    --------
    >>> import xarraylite as xl
    >>> n = xl.Nested([1, 2], xl.Shape(10, 20, 30))
    >>> n.n_layers, n.rank_layer(1), n.elements_in_layer(0), n.elements_in_layer(1)
    (2, 2, 10, 6000)
    >>> n.element(4)
    Shape(20, 30)
    """

    __slots__ = ("_layers", "_shape")

    _generality: ClassVar[int] = LAYERED

    #: None for the null shape.
    _shape: ShapeBase | None
    _layers: tuple[int, ...]

    def __init__(self, layers: Iterable[int], shape: Any) -> None:
        inner = shape.copy() if isinstance(shape, ShapeBase) else Shape(shape)
        if isinstance(inner, Nested):
            raise ShapeError(f"Nested: {inner!r} already has layers; see relayer")
        counts = integers(layers, "Nested", "the rank of a layer")
        if inner.is_null or any([count < 0 for count in counts]) or sum(counts) != inner.rank:
            rank = "no rank" if inner.is_null else f"rank {inner.rank}"
            raise ShapeError(
                f"Nested: the ranks of the layers must add up to that of the shape: got "
                f"{list(counts)} for {inner!r} of {rank}"
            )
        self._sealed = False
        self._layers = counts
        self._shape = inner

    @classmethod
    def null(cls) -> Self:
        """Return the null shape: no layers, no rank and no elements."""
        return cls._make((), None)

    @classmethod
    def _make(cls, layers: tuple[int, ...], shape: ShapeBase | None) -> Self:
        nested = cls.__new__(cls)
        nested._sealed = False
        nested._layers = layers
        nested._shape = shape
        return nested

    @property
    def _inner(self) -> ShapeBase:
        return present(self._shape)

    @property
    def is_null(self) -> bool:
        """Whether this is the null shape, which has no rank and no elements."""
        return self._shape is None

    @property
    def shape(self) -> Any:
        """The index space without its layers; a copy."""
        return self._inner.copy()

    @property
    def layers(self) -> tuple[int, ...]:
        """How many modes each layer has, outermost first."""
        return self._layers

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return len(self._layers)

    @property
    def rank(self) -> int:
        """Number of modes of all layers; `ShapeError` for the null shape, which has none."""
        return self._inner.rank

    @property
    def size(self) -> int:
        """Number of scalar elements; 0 for the null shape."""
        return 0 if self._shape is None else self._shape.size

    @property
    def origin(self) -> tuple[int, ...]:
        """Absolute index of the first element."""
        return self._inner.origin

    def rank_layer(self, layer: int) -> int:
        """Return how many modes a layer has.

        Parameters
        ----------
        layer : int
            The layer, counted from 0, the outermost.

        Raises
        ------
        ShapeError
            If there is no such layer.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Nested([1, 2], xl.Shape(10, 20, 30)).rank_layer(1)
        2
        """
        return self._layers[self._layer(layer, "rank_layer")]

    def modes_in_layer(self, layer: int) -> range:
        """Return the modes of a layer, given as for `rank_layer`.

        Raises
        ------
        ShapeError
            If there is no such layer.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Nested([1, 2], xl.Shape(10, 20, 30)).modes_in_layer(1)
        range(1, 3)
        """
        number = self._layer(layer, "modes_in_layer")
        first = sum(self._layers[:number])
        return range(first, first + self._layers[number])

    def elements_in_layer(self, layer: int) -> int:
        """Return how many elements are seen when looking down to a layer.

        These are the different indices of the modes of that layer and the layers around it; the
        layer is given as for `rank_layer`.

        Raises
        ------
        ShapeError
            If there is no such layer.

        Examples
        --------
        >>> import xarraylite as xl
        >>> n = xl.Nested([1, 2], xl.Shape(10, 20, 30))
        >>> [n.elements_in_layer(layer) for layer in range(n.n_layers)]
        [10, 6000]
        """
        return self.leading_size(self.modes_in_layer(layer).stop)

    def element(self, *index: Any) -> ShapeBase:
        """Return the shape of the element at an index of one or more whole layers.

        Parameters
        ----------
        *index : int or sequence of int
            Offsets for all modes of the outermost layer, or of the first few layers: of as few
            as the offsets fill.

        Returns
        -------
        Nested, or a shape without layers
            What is left has its layers; where only the innermost layer is left, no `Nested`.

        Raises
        ------
        ShapeError
            If the index ends inside a layer, or there is no such element (`BoundsError`).

        Examples
        --------
        >>> import xarraylite as xl
        >>> n = xl.Nested([2, 1, 3], xl.Shape(2, 3, 4, 10, 20, 30))
        >>> n.element(1, 2), n.element(1, 2, 3)
        (Nested([1, 3], Shape(4, 10, 20, 30)), Shape(10, 20, 30))
        """
        where = index_of(index, "element")
        ends = self._ends()
        if len(where) not in ends:
            raise ShapeError(
                f"element: index {where} does not fill whole layers; the layers "
                f"{list(self._layers)} end after {ends} modes"
            )
        depth = ends.index(len(where)) + 1
        ranges = parse_ranges(where, self.rank, "element")
        inner = self._inner._select(ranges, range(len(where)), "element")
        rest = self._layers[depth:]
        return Nested._make(rest, inner) if len(rest) > 1 else inner

    def relayer(self, layers: Iterable[int]) -> Nested:
        """Return the same shape in other layers.

        Parameters
        ----------
        layers : iterable of int
            How many modes each layer has, outermost first.

        Raises
        ------
        ShapeError
            As for `Nested`, above all if they do not add up to the rank.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Nested([1, 2], xl.Shape(10, 20, 30)).relayer([3])
        Nested([3], Shape(10, 20, 30))
        """
        return Nested(layers, self._inner)

    def leading_size(self, n_modes: int) -> int:
        """Return how many different indices the first ``n_modes`` modes have.

        See `Shape.leading_size`, and `elements_in_layer` for whole layers.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Nested([1, 2], xl.Shape(10, 20, 30)).leading_size(2)
        200
        """
        return self._inner.leading_size(n_modes)

    def same_extents(self, other: object) -> bool:
        """Tell whether ``other`` is nested alike and equals this shape but for origins.

        Examples
        --------
        >>> import xarraylite as xl
        >>> n = xl.Nested([1, 1], xl.Shape(10, 20))
        >>> n.same_extents(n.with_origin(5, 5)), n.same_extents(n.relayer([2]))
        (True, False)
        """
        if not isinstance(other, Nested) or other._layers != self._layers:
            return False
        if self._shape is None or other._shape is None:
            return self._shape is other._shape
        return self._shape.same_extents(other._shape)

    def as_tuple(self) -> tuple[int, ...]:
        """Return the plain tuple of extents that containers use; `ShapeError` if jagged."""
        return self._inner.as_tuple()

    def in_bounds(self, *index: Any, absolute: bool = False) -> bool:
        """Tell whether an index of all modes is one of this shape's; see `Shape.in_bounds`."""
        return self._inner.in_bounds(*index, absolute=absolute)

    def indices(self, *, absolute: bool = False) -> Iterator[tuple[int, ...]]:
        """Iterate over the indices of all modes in lexicographic order; see `Shape.indices`."""
        return iter(()) if self._shape is None else self._shape.indices(absolute=absolute)

    def slice(self, *box: Any) -> Nested:
        """Return a sub-shape of the same rank and layers; its origin is its first element.

        Parameters
        ----------
        *box : int, or two sequences of int
            Up to ``rank`` offsets, which pin the first modes; or the first element and one past
            the last one: one block of every inner element that the outer layers select.  Vectors
            that fill whole outer layers select whole inner elements.

        Raises
        ------
        ShapeError
            For a box that is malformed or out of bounds (`BoundsError`).

        Examples
        --------
        >>> import xarraylite as xl
        >>> n = xl.Nested([2, 2], xl.Shape(2, 2, 10, 10))
        >>> n.slice(0, 1)
        Nested([2, 2], Shape((1, 1, 10, 10), origin=(0, 1, 0, 0)))
        >>> n.slice((1, 0), (2, 2))
        Nested([2, 2], Shape((1, 2, 10, 10), origin=(1, 0, 0, 0)))
        """
        return Nested._make(
            self._layers, self._inner._select(self._ranges(box, "slice"), (), "slice")
        )

    def _ranges(self, box: tuple[Any, ...], operation: str) -> tuple[Range, ...]:
        """Return the range of every mode for a box, of all modes or of those of outer layers."""
        if len(box) == 2 and all([is_vector(end) for end in box]):
            ends = [integers(end, operation, "an entry of a box") for end in box]
            count = len(ends[0])
            if count == len(ends[1]) < self.rank and count in self._ends():
                return (*parse_ranges(tuple(ends), count, operation), *[None] * (self.rank - count))
        return parse_ranges(box, self.rank, operation)

    def _ends(self) -> list[int]:
        """Return how many modes the outermost layers have, one or more of them."""
        return list(accumulate(self._layers))

    def chip(self, *box: Any) -> ShapeBase:
        """Return a sub-shape without the modes that are pinned to one index.

        Parameters
        ----------
        *box : int, or two sequences of int
            As for `slice`; of a box, the modes whose range holds one index are dropped.

        Returns
        -------
        Nested, or a shape without layers
            Layers that end up without modes before all others are dropped.  Where only modes of
            the innermost layer are left, or none, the result has no layers.

        Raises
        ------
        ShapeError
            As for `slice`, or if no mode is pinned.

        Examples
        --------
        >>> import xarraylite as xl
        >>> n = xl.Nested([2, 2], xl.Shape(2, 2, 10, 10))
        >>> n.chip(0), n.chip(1, 1), n.chip(1, 1, 3, 4)
        (Nested([1, 2], Shape(2, 10, 10)), Shape(10, 10), Shape())
        """
        ranges = self._ranges(box, "chip")
        return self._select(ranges, dropped_modes(ranges), "chip")

    def _select(self, ranges: Sequence[Range], drop: Sequence[int], operation: str) -> ShapeBase:
        inner = self._inner._select(ranges, drop, operation)
        kept = [layer for mode, layer in enumerate(self._layer_of()) if mode not in drop]
        left = [kept.count(layer) for layer in range(self.n_layers)]
        while left and not left[0]:
            left.pop(0)
        return Nested._make(tuple(left), inner) if len(left) > 1 else inner

    def permute(self, *axes: Any) -> Nested:
        """Return the shape whose mode ``k`` is mode ``axes[k]`` of this one, of the same layer.

        Parameters
        ----------
        *axes : int, or one sequence of int
            Every mode once, counted from 0, in its new order.

        Raises
        ------
        ShapeError
            If ``axes`` is no permutation, or moves a mode to another layer.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Nested([1, 2], xl.Shape(10, 20, 30)).permute(0, 2, 1)
        Nested([1, 2], Shape(10, 30, 20))
        """
        order = check_permutation(axes, self.rank)
        layer_of = self._layer_of()
        if [layer_of[axis] for axis in order] != layer_of:
            raise ShapeError(
                f"permute: {order} moves modes of {self!r} to other layers; permute the shape and "
                "choose new layers"
            )
        return Nested._make(self._layers, self._inner.permute(order))

    def _layer(self, layer: int, operation: str) -> int:
        number = integer(layer, operation, "a layer")
        if not 0 <= number < self.n_layers:
            raise ShapeError(f"{operation}: there is no layer {number} in {self!r}")
        return number

    def _layer_of(self) -> list[int]:
        return [layer for layer, count in enumerate(self._layers) for _ in range(count)]

    def _indexed(self, term: Term) -> IndexedShape:
        plain = self._inner._indexed(term)
        return IndexedShape(
            plain._terms, plain._kind, layers=self.n_layers, wrap=Nested, source=plain._source
        )

    def _modes(self, labels: tuple[str, ...]) -> list[Mode]:
        inner = self._inner._modes(labels)
        return [
            Mode(mode.extents, mode.origin, layer)
            for mode, layer in zip(inner, self._layer_of(), strict=True)
        ]

    def _space(self) -> Ragged:
        raise ShapeError(f"{self!r} has layers, which a jagged shape does not; use its .shape")

    def _adopt(self, other: ShapeBase) -> None:
        if not isinstance(other, Nested):
            raise ShapeError(f"Nested: {other!r} has no layers; wrap it as Nested([...], shape)")
        self._layers, self._shape = other._layers, other._shape

    def _with_origin(self, origin: tuple[int, ...]) -> Self:
        return self._make(self._layers, self._inner._with_origin(origin))

    def _value(self) -> tuple[Any, ...]:
        return self._layers, None if self._shape is None else self._shape.copy()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Nested):
            return self._layers == other._layers and self._shape == other._shape
        return NotImplemented

    __hash__ = ShapeBase.__hash__

    def _hash(self) -> int:
        return hash((self._layers, None if self._shape is None else self._shape._hash()))

    def __repr__(self) -> str:
        if self._shape is None:
            return "Nested.null()"
        return f"Nested({list(self._layers)}, {self._shape!r})"
