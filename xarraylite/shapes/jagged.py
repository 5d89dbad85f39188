"""Jagged shapes: slices along the first modes that differ from one another.

A `JaggedShape` of rank ``r`` maps an index of ``r - s`` offsets to the `Shape`, of rank ``s``, of
the slice there.  It is recursive (its slices may be jagged shapes) and built like that; inside it
is a `Ragged` tree of integers, so a million rows cost a million integers and no objects.

Whatever works for jagged shapes works for smooth ones, which are jagged shapes without outer
modes.  A mode is called *jagged* if its extent differs from place to place and *smooth* if not;
the first mode is always smooth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from .._errors import ShapeError
from ..index.box import Range, check_permutation, dropped_modes, index_of, parse_ranges
from ..index.radix import compose
from .base import ShapeBase
from .combine import equal
from .jagged_tree import Ragged
from .labels import IndexedShape, Mode, Term
from .nested_lists import lengths_of_offsets, space_of_items, space_of_lengths, text
from .shape import Shape
from .tables import assemble
from .tree import TreeShape


class JaggedShape(TreeShape):
    """An index space whose slices may have different extents.

    Parameters
    ----------
    slices : Shape, JaggedShape or iterable
        A shape, which is viewed as jagged; or the slices along the first mode: shapes of rank at
        least 1, jagged shapes, or iterables of those again, all of one rank.
    origin : int or iterable of int, optional
        Where the indices of the first modes start, at every node of those modes; further modes
        keep the origins of the slices.

    Raises
    ------
    ShapeError
        If the ranks of the slices differ, a slice is a scalar or no shape, or the origin leads
        beyond 2**63 - 1.
    SizeError
        If there are more than 2**63 - 1 elements.

    See Also
    --------
    TiledShape : Jagged shapes made by cutting a smooth one.

    Examples
    --------
    >>> import xarraylite as xl
    >>> js = xl.JaggedShape([xl.Shape(10), xl.Shape(20)])
    >>> js.rank, js.size, js.extents
    (2, 30, (2, None))
    >>> js.chip(0), js.slice(0)
    (JaggedShape(Shape(10)), JaggedShape([Shape(10)]))
    >>> xl.JaggedShape(xl.Shape(10, 20)).is_smooth
    True
    """

    __slots__ = ()

    def __init__(
        self, slices: ShapeBase | Iterable[Any], *, origin: int | Iterable[int] | None = None
    ) -> None:
        self._sealed = False
        if not isinstance(slices, ShapeBase):
            self._ragged = space_of_items(slices)
        else:
            self._ragged = None if slices.is_null else slices._space()
        if origin is not None:
            self._ragged = self._tree.with_origin(
                self._checked_origin(index_of((origin,), "origin"))
            )

    @classmethod
    def null(cls) -> Self:
        """Return the null shape: no rank and no elements.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape.null() == xl.JaggedShape([])
        False
        """
        return cls._make(None)

    @classmethod
    def from_lengths(cls, *levels: Any) -> JaggedShape:
        """Return the jagged shape whose rows have the given lengths.

        Parameters
        ----------
        *levels : sequence of int
            Lengths of the rows; or several levels: how many items each slice has, how many each
            of those has, and so on, as an array or sequence per level.

        Raises
        ------
        ShapeError
            For lengths that are negative or no integers, and for a level that does not have one
            number for each item of the level before it.
        SizeError
            If there are more than 2**63 - 1 elements.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape.from_lengths([10, 0, 30])
        JaggedShape([Shape(10), Shape(0), Shape(30)])
        >>> xl.JaggedShape.from_lengths([1, 2], [10, 20, 30])
        JaggedShape([[Shape(10)], [Shape(20), Shape(30)]])
        """
        return JaggedShape._make(space_of_lengths(levels))

    @classmethod
    def from_offsets(cls, offsets: Any) -> JaggedShape:
        """Return the jagged matrix whose row ``i`` holds ``offsets[i]:offsets[i + 1]`` of a buffer.

        Parameters
        ----------
        offsets : sequence of int
            0, the end of each row, which is the start of the next one.

        Raises
        ------
        ShapeError
            If the offsets do not start at 0, or decrease.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape.from_offsets([0, 10, 30])
        JaggedShape([Shape(10), Shape(20)])
        """
        return JaggedShape._make(space_of_lengths([lengths_of_offsets(offsets)]))

    @classmethod
    def _make(cls, space: Ragged | None) -> Self:
        shape = cls.__new__(cls)
        shape._sealed = False
        shape._ragged = space
        return shape

    def slice(self, *box: Any) -> JaggedShape:
        """Return a sub-shape of the same rank; its origin is its first element.

        Parameters
        ----------
        *box : int, or two sequences of int
            Up to ``rank`` offsets, which pin the first modes; or the first element and one past
            the last one.  Every selected slice must have every index of the box.

        Raises
        ------
        ShapeError
            For a box that is malformed, or out of bounds in some slice (`BoundsError`).

        Examples
        --------
        >>> import xarraylite as xl
        >>> js = xl.JaggedShape([xl.Shape(10), xl.Shape(20)])
        >>> js.slice(0), js.slice((1, 5), (2, 20))
        (JaggedShape([Shape(10)]), JaggedShape([Shape((15,), origin=(5,))], origin=(1,)))
        """
        return self._select(parse_ranges(box, self.rank, "slice"), (), "slice")

    def chip(self, *box: Any) -> JaggedShape:
        """Return a sub-shape without the modes that are pinned to one index.

        Parameters
        ----------
        *box : int, or two sequences of int
            As for `slice`; of a box, the modes whose range holds one index are dropped.

        Raises
        ------
        ShapeError
            As for `slice`, or if no mode is pinned.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape([xl.Shape(10), xl.Shape(20)]).chip(1)
        JaggedShape(Shape(20))
        """
        ranges = parse_ranges(box, self.rank, "chip")
        return self._select(ranges, dropped_modes(ranges), "chip")

    def _select(self, ranges: Sequence[Range], drop: Sequence[int], operation: str) -> JaggedShape:
        tree = self._tree
        pinned = [pin[0] for pin in ranges if pin is not None]
        if len(drop) == len(pinned) <= tree.outer and tuple(drop) == tuple(range(len(drop))):
            node = tree.locate(pinned, operation)  # a subtree: no integer is copied
            return JaggedShape._make(tree.subtree(len(pinned), node))
        return JaggedShape._make(tree.select(ranges, drop, operation))

    def permute(self, *axes: Any) -> JaggedShape:
        """Return the shape whose mode ``k`` is mode ``axes[k]`` of this one.

        Origins follow their modes where they are the same everywhere; one that differs from
        slice to slice becomes 0.

        Parameters
        ----------
        *axes : int, or one sequence of int
            Every mode once, counted from 0, in its new order.

        Raises
        ------
        ShapeError
            If ``axes`` is no permutation, or puts a jagged mode before a mode on which its
            extents depend: the result would not be jagged by rows.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape([xl.Shape(2, 5), xl.Shape(3, 5)]).permute(0, 2, 1)
        JaggedShape([Shape(5, 2), Shape(5, 3)])
        """
        order = check_permutation(axes, self.rank)
        if order == tuple(range(self.rank)):
            return JaggedShape._make(self._tree)
        labels = tuple([f"mode {axis}" for axis in range(self.rank)])
        modes = compose(self._modes(labels), order)
        return _assembled(compose(labels, order), modes, f"permute: {order}")

    def _indexed(self, term: Term) -> IndexedShape:
        return IndexedShape((term,), JaggedShape, source=JaggedShape._make(self._tree))

    @classmethod
    def _of_modes(cls, labels: Sequence[str], modes: Sequence[Mode]) -> JaggedShape:
        return _assembled(labels, modes, f"labels {','.join(labels)!r}")

    def _adopt(self, other: ShapeBase) -> None:
        self._refuse_layers(other)
        self._ragged = other._space()

    def _with_origin(self, origin: tuple[int, ...]) -> Self:
        return self._make(self._tree.with_origin(self._checked_origin(origin)))

    def _checked_origin(self, origin: tuple[int, ...]) -> tuple[int, ...]:
        if not 1 <= len(origin) <= self.rank:
            raise ShapeError(
                f"origin: {origin} needs one integer for each of the first modes of {self!r}, "
                f"which has {self.rank}"
            )
        return origin

    def _value(self) -> tuple[Any, ...]:
        return (self._ragged,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Shape, JaggedShape)):
            return NotImplemented
        if self.is_null or other.is_null:
            return self.is_null and other.is_null
        return equal(self._tree, other._space())

    __hash__ = ShapeBase.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}.null()" if self.is_null else text(self._tree)


def _assembled(labels: Sequence[str], modes: Sequence[Mode], operation: str) -> JaggedShape:
    """Return the shape with these modes, each of which comes after those it depends on."""
    extents, origin = [mode.extents[0] for mode in modes], [mode.origin for mode in modes]
    return JaggedShape._make(assemble(labels, extents, origin, operation))
