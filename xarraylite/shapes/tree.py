"""Questions to a shape that is held as a tree of integers: extents, offsets, slices, positions.

`TreeShape` answers them from the `Ragged` tree alone; how a shape gets its tree, and what parts
and permutations of it are, is said in `jagged` and `tiled`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from .._errors import ShapeError
from ..index.box import index_of, integer
from .base import JAGGED, ShapeBase, present
from .jagged_tree import Ints, Ragged
from .labels import Mode
from .nested_lists import leaf, to_list
from .shape import Shape
from .tables import extents_by_label


class TreeShape(ShapeBase):
    """What `JaggedShape` and `TiledShape` know about their index space."""

    __slots__ = ("_ragged",)

    _generality: ClassVar[int] = JAGGED

    #: None for the null shape.
    _ragged: Ragged | None

    @property
    def _tree(self) -> Ragged:
        return present(self._ragged)

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
    def _bounding(self) -> tuple[int, ...]:
        """The largest extent of every mode."""
        return self._tree.bounding()

    @property
    def smooth_modes(self) -> tuple[int, ...]:
        """Modes that have one extent everywhere."""
        return tuple([mode for mode, extent in enumerate(self.extents) if extent is not None])

    @property
    def jagged_modes(self) -> tuple[int, ...]:
        """Modes whose extent differs from place to place."""
        return tuple([mode for mode, extent in enumerate(self.extents) if extent is None])

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
        BoundsError
            If there is no such mode.
        ShapeError
            If it is jagged and ``index`` does not say where.

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

        There is one number for each index of the modes before an outer mode, and one for each
        smooth slice of an inner one.

        Parameters
        ----------
        mode : int
            The mode; negative ones count from the last.

        Raises
        ------
        BoundsError
            If there is no such mode.

        Examples
        --------
        >>> import xarraylite as xl
        >>> js = xl.JaggedShape.from_lengths([1, 2], [10, 20, 30])
        >>> [js.extents_of(mode).tolist() for mode in range(3)]
        [[2], [1, 2], [10, 20, 30]]
        """
        return self._tree.values(self._check_mode(mode, "extents_of", -self.rank) % self.rank)

    def offsets(self, depth: int | None = None) -> Ints:
        """Return where the slices start in a flat buffer, and where the last one ends.

        Parameters
        ----------
        depth : int, optional
            How many leading modes the slices are pinned by, at most `outer_rank`, which is the
            default.

        Raises
        ------
        ShapeError
            For another depth.

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

        Parameters
        ----------
        *index : int, or one sequence of int
            One offset per mode.

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

        Parameters
        ----------
        *index : int, or one sequence of int
            Offsets of the outer modes.

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
        """Return how many different indices the first ``n_modes`` modes have.

        See `Shape.leading_size`.

        Examples
        --------
        >>> import xarraylite as xl
        >>> [xl.JaggedShape.from_lengths([10, 20]).leading_size(n) for n in range(3)]
        [1, 2, 30]
        """
        return self._tree.leading_size(self._check_leading(n_modes))

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
        if not self.is_smooth:
            what = f"modes {self.jagged_modes} are jagged" if self.jagged_modes else "origins vary"
            raise ShapeError(f"as_smooth: {self!r} is not smooth: {what}")
        return Shape(self._bounding, origin=self.origin)

    def as_tuple(self) -> tuple[int, ...]:
        """Return the plain tuple of extents that containers use.

        Raises
        ------
        ShapeError
            As for `as_smooth`.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape([xl.Shape(10), xl.Shape(10)]).as_tuple()
        (2, 10)
        """
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
        box = Shape(self._bounding)
        return box, box.size - self.size

    def in_bounds(self, *index: Any, absolute: bool = False) -> bool:
        """Tell whether an index is one of this shape's; see `Shape.in_bounds`.

        Examples
        --------
        >>> import xarraylite as xl
        >>> js = xl.JaggedShape([xl.Shape(10), xl.Shape(20)])
        >>> js.in_bounds(0, 15), js.in_bounds(1, 15)
        (False, True)
        """
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

    def to_list(self) -> list[Any]:
        """Return the slices as nested lists of `Shape` objects; one element for a smooth shape.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.JaggedShape.from_lengths([1, 2], [10, 20, 30]).to_list()
        [[Shape(10)], [Shape(20), Shape(30)]]
        >>> xl.JaggedShape(xl.Shape(2, 10)).to_list()
        [Shape(2, 10)]
        """
        return to_list(self._tree)

    def _space(self) -> Ragged:
        return self._tree

    def _modes(self, labels: tuple[str, ...]) -> list[Mode]:
        extents = extents_by_label(self._tree, labels)
        origins = [self._tree.common_origin(mode) for mode in range(self.rank)]
        return [Mode((n,), o) for n, o in zip(extents, origins, strict=True)]

    def _hash(self) -> int:
        if self.is_null:
            return hash(Shape.null())
        return hash(self.as_smooth()) if self.is_smooth else hash(self._fingerprint())

    def _fingerprint(self) -> tuple[object, ...]:
        """Return a hashable value that equal jagged shapes share."""
        return self._tree.fingerprint()
