"""Jagged shapes: slices along the first modes that differ from one another.

A `JaggedShape` of rank ``r`` maps an index of ``r - s`` offsets to the `Shape`, of rank ``s``, of
the slice there.  It is recursive (its slices may be jagged shapes) and built like that; inside it
is a `Ragged` tree of integers, so a million rows cost a million integers and no objects.

Whatever works for jagged shapes works for smooth ones, which are jagged shapes without outer
modes.  A mode is called *jagged* if its extent differs from place to place and *smooth* if not;
the first mode is always smooth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

from .._errors import ShapeError
from .base import JAGGED, ShapeBase
from .box import check_permutation, dropped_modes, index_of, integer, parse_ranges
from .combine import equal
from .labels import IndexedShape, Mode, Term
from .ragged import Ints, Ragged
from .shape import Shape
from .slices import leaf, lengths_of_offsets, space_of_items, space_of_lengths, text, to_list
from .tables import assemble, extents_by_label


class JaggedShape(ShapeBase):
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

    __slots__ = ("_ragged",)

    _generality: ClassVar[int] = JAGGED

    #: None for the null shape.
    _ragged: Ragged | None

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
        """Return the null shape: no rank and no elements."""
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

    @property
    def _tree(self) -> Ragged:
        if self._ragged is None:
            raise ShapeError("the null shape has no rank and no extents")
        return self._ragged

    @property
    def is_null(self) -> bool:
        """Whether this is the null shape, which has no rank and no elements."""
        return self._ragged is None

    @property
    def rank(self) -> int:
        """Number of modes; `ShapeError` for the null shape, which has none."""
        return self._tree.rank

    @property
    def size(self) -> int:
        """Number of scalar elements: the sizes of all slices; 0 for the null shape."""
        return 0 if self.is_null else self._tree.size

    @property
    def outer_rank(self) -> int:
        """Number of offsets that `slice_at` takes; 0 for a smooth shape viewed as jagged."""
        return self._tree.outer

    @property
    def slice_rank(self) -> int:
        """Rank of the smooth slices."""
        return self.rank - self.outer_rank

    @property
    def n_slices(self) -> int:
        """Number of smooth slices."""
        return self._tree.n_slices

    @property
    def extents(self) -> tuple[int | None, ...]:
        """The extent of every mode, None for jagged modes."""
        tree = self._tree
        return tuple(
            [
                extent if uniform else None
                for extent, uniform in zip(tree.bounding(), tree.uniform_modes, strict=True)
            ]
        )

    @property
    def smooth_modes(self) -> tuple[int, ...]:
        """Modes that have one extent everywhere."""
        return tuple([mode for mode, uniform in enumerate(self._tree.uniform_modes) if uniform])

    @property
    def jagged_modes(self) -> tuple[int, ...]:
        """Modes whose extent differs from place to place."""
        return tuple([mode for mode, uniform in enumerate(self._tree.uniform_modes) if not uniform])

    @property
    def is_smooth(self) -> bool:
        """Whether this is a box: no jagged modes, and one origin per mode."""
        return self._tree.is_smooth

    @property
    def origin(self) -> tuple[int, ...]:
        """Absolute index of the first element; see `slice_at` for those of the slices."""
        return tuple([self._tree.origin(mode) for mode in range(self.rank)])

    def extent(self, mode: int, index: int | Sequence[int] = ()) -> int:
        """Return the extent of one mode.

        Parameters
        ----------
        mode : int
            The mode, counted from 0.
        index : int or sequence of int, optional
            Offsets of the modes before it; needed where the mode is jagged.

        Raises
        ------
        ShapeError
            If there is no such mode, or it is jagged and ``index`` does not say where.

        Examples
        --------
        >>> import xarraylite as xl
        >>> js = xl.JaggedShape([xl.Shape(10), xl.Shape(20)])
        >>> js.extent(0), js.extent(1, 1)
        (2, 20)
        """
        number = self._check_mode(mode, "extent")
        return self._tree.extent(number, index_of((index,), "extent"))

    def extents_of(self, mode: int) -> Ints:
        """Return the extents of one mode everywhere, as a read-only array.

        There is one number per node of an outer mode, and one per smooth slice of an inner one.

        Raises
        ------
        ShapeError
            If there is no such mode; negative ones count from the last.
        """
        return self._tree.values(self._check_mode(mode, "extents_of", -self.rank) % self.rank)

    def offsets(self, depth: int | None = None) -> Ints:
        """Return where the slices start in a flat buffer, and where the last one ends.

        Parameters
        ----------
        depth : int, optional
            How many leading modes the slices are pinned by, at most `outer_rank`, which is the
            default.

        Examples
        --------
        >>> import xarraylite as xl
        >>> js = xl.JaggedShape.from_lengths([1, 2], [10, 20, 30])
        >>> js.offsets().tolist(), js.offsets(1).tolist()
        ([0, 10, 30, 60], [0, 10, 60])
        """
        number = self.outer_rank if depth is None else integer(depth, "offsets", "a depth")
        if not 0 <= number <= self.outer_rank:
            raise ShapeError(f"offsets: the depth is between 0 and {self.outer_rank}, got {depth}")
        return self._tree.node_offsets(number)

    def flat_index(self, *index: Any) -> int:
        """Return the position of an element in a flat buffer of all slices, row by row.

        Raises
        ------
        BoundsError
            If there is no such element.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape.from_lengths([10, 20]).flat_index(1, 3)
        13
        """
        values = self._check_index(index, "flat_index")
        return self._tree.position(values, "flat_index")

    def slice_at(self, *index: Any) -> Shape:
        """Return the smooth slice at an index of `outer_rank` offsets.

        Raises
        ------
        ShapeError
            For another number of offsets, or if there is no such slice (`BoundsError`).

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape([[xl.Shape(10)], [xl.Shape(20), xl.Shape(30)]]).slice_at(1, 0)
        Shape(20)
        """
        where = index_of(index, "slice_at")
        tree = self._tree
        if len(where) != tree.outer:
            raise ShapeError(
                f"slice_at: {tree.outer} offsets lead to a smooth slice of {self!r}, got {where}"
            )
        return leaf(tree, tree.locate(where, "slice_at"))

    def leading_size(self, n_modes: int) -> int:
        """Return how many different indices the first ``n_modes`` modes have."""
        self._check_leading(n_modes)
        return self._tree.leading_size(n_modes)

    def as_smooth(self) -> Shape:
        """Return the same index space as a `Shape`.

        Raises
        ------
        ShapeError
            If a mode is jagged, or has different origins in different slices.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape([xl.Shape(10), xl.Shape(10)]).as_smooth()
        Shape(2, 10)
        """
        tree = self._tree
        if not tree.is_smooth:
            what = f"modes {self.jagged_modes} are jagged" if self.jagged_modes else "origins vary"
            raise ShapeError(f"as_smooth: {self!r} is not smooth: {what}")
        return Shape(tree.bounding(), origin=self.origin)

    def as_tuple(self) -> tuple[int, ...]:
        """Return the plain tuple of extents that containers use; `ShapeError` if jagged."""
        return self.as_smooth().extents

    def to_padded(self) -> tuple[Shape, int]:
        """Return the least box that holds every slice, and how many of its elements are padding.

        Raises
        ------
        SizeError
            If the box has more than 2**63 - 1 elements.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape([xl.Shape(10), xl.Shape(20)]).to_padded()
        (Shape(2, 20), 10)
        """
        box = Shape(self._tree.bounding())
        return box, box.size - self.size

    def in_bounds(self, *index: Any, absolute: bool = False) -> bool:
        """Tell whether an index is one of this shape's; see `Shape.in_bounds`."""
        values = self._check_index(index, "in_bounds")
        return self._tree.contains(values, absolute)

    def indices(self, *, absolute: bool = False) -> Iterator[tuple[int, ...]]:
        """Iterate over the indices in lexicographic order; see `Shape.indices`.

        Examples
        --------
        >>> import xarraylite as xl
        >>> js = xl.JaggedShape([xl.Shape((1,), origin=5), xl.Shape((2,), origin=6)], origin=10)
        >>> list(js.indices(absolute=True))
        [(10, 5), (11, 6), (11, 7)]
        """
        return iter(()) if self.is_null else self._tree.indices(absolute)

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
        ranges = parse_ranges(box, self.rank, "slice")
        return JaggedShape._make(self._tree.select(ranges, (), "slice"))

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
        drop = dropped_modes(ranges)
        tree = self._tree
        pinned = [pin[0] for pin in ranges if pin is not None]
        if len(drop) == len(pinned) <= tree.outer and drop == tuple(range(len(drop))):
            node = tree.locate(pinned, "chip")  # a subtree: no integer is copied
            return JaggedShape._make(tree.subtree(len(pinned), node))
        return JaggedShape._make(tree.select(ranges, drop, "chip"))

    def permute(self, *axes: Any) -> JaggedShape:
        """Return the shape whose mode ``k`` is mode ``axes[k]`` of this one.

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
        order = check_permutation(axes[0] if len(axes) == 1 else axes, self.rank)
        if order == tuple(range(self.rank)):
            return JaggedShape._make(self._tree)
        labels = [f"mode {axis}" for axis in range(self.rank)]
        modes = self._modes(tuple(labels))
        return self._of_modes([labels[a] for a in order], [modes[a] for a in order])

    def to_list(self) -> list[Any]:
        """Return the slices as nested lists of `Shape` objects; one element for a smooth shape."""
        return to_list(self._tree)

    def _space(self) -> Ragged:
        return self._tree

    def _indexed(self, term: Term) -> IndexedShape:
        return IndexedShape((term,), JaggedShape, source=JaggedShape._make(self._tree))

    def _modes(self, labels: tuple[str, ...]) -> list[Mode]:
        extents = extents_by_label(self._tree, labels)
        origins = [self._tree.common_origin(mode) for mode in range(self.rank)]
        return [Mode((n,), o) for n, o in zip(extents, origins, strict=True)]

    @classmethod
    def _of_modes(cls, labels: Sequence[str], modes: Sequence[Mode]) -> JaggedShape:
        extents = [mode.extents[0] for mode in modes]
        return JaggedShape._make(assemble(labels, extents, [mode.origin for mode in modes]))

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

    @classmethod
    def _from_value(cls, *value: Any) -> Self:
        return cls._make(*value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Shape, JaggedShape)):
            return NotImplemented
        if self.is_null or other.is_null:
            return self.is_null and other.is_null
        return equal(self._tree, other._space())

    __hash__ = ShapeBase.__hash__

    def _hash(self) -> int:
        if self.is_null:
            return hash(Shape.null())
        return hash(self.as_smooth()) if self.is_smooth else hash(self._tree.fingerprint())

    def __repr__(self) -> str:
        return f"{type(self).__name__}.null()" if self.is_null else text(self._tree)
