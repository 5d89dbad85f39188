"""Tiled shapes: a box cut along every mode, seen as a grid of boxes.

The tiling of a box of rank ``n`` is a jagged shape of rank ``2 n``: first an index of ``n`` tile
numbers, then an index of ``n`` offsets inside the tile.  Only the cuts of each mode are kept, so
the cost is their sum and not their product; the jagged form is made when it is asked for.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Self

from .._errors import BoundsError, ShapeError
from ..index.box import index_of, is_vector
from ..index.broadcast import as_shape
from .base import ShapeBase
from .cuts import (
    bounding_of_tiles,
    sizes_between,
    sizes_text,
    tile_sizes,
    tree_of_tiles,
    uniform_sizes,
)
from .jagged import JaggedShape
from .jagged_tree import Ragged, ints
from .labels import IndexedShape
from .shape import Shape
from .tables import Table, extents_by_label


class TiledShape(JaggedShape):
    """A smooth shape cut into tiles along every mode.

    Parameters
    ----------
    sizes : sequence of sequences of int
        For each mode, the sizes of its tiles in their order.  A shape may stand before it, which
        is then checked: the sizes of each mode must add up to its extent.

    Raises
    ------
    ShapeError
        For sizes that are negative or no integers, or do not add up.

    See Also
    --------
    TiledShape.uniform : Tiles of one size, the last ones as large as what is left.

    Notes
    -----
    As an index space this is the jagged shape of rank ``2 n`` whose slice at a tile's index is
    the tile, and it equals that `JaggedShape`.  Slices, chips, permutations and labelled
    expressions are jagged shapes.  A tiled shape never changes: it has no origin to set.

    Examples
    --------
    >>> import xarraylite as xl
    >>> t = xl.TiledShape([[5, 15, 10], [5, 15, 10]])
    >>> t.base, t.rank, t.size
    (Shape(30, 30), 4, 900)
    >>> t.tile(1, 0)
    Shape((15, 5), origin=(5, 0))
    >>> t.tile_of(22, 4)
    ((2, 0), (2, 4))
    """

    __slots__ = ("_sizes", "_starts")

    _sizes: tuple[tuple[int, ...], ...]
    _starts: tuple[tuple[int, ...], ...]

    def __init__(self, *sizes: Any) -> None:
        base: Shape | None = None
        if len(sizes) == 2:
            base = Shape(sizes[0])
            _refuse_origin(base)
            sizes = sizes[1:]
        # A shape is iterable, too: over its indices.
        if len(sizes) != 1 or isinstance(sizes[0], ShapeBase) or not is_vector(sizes[0]):
            raise ShapeError(
                "TiledShape: the sizes of the tiles of each mode are needed, after a shape or "
                f"alone, got {', '.join(map(repr, sizes)) or 'nothing'}"
            )
        self._set([tile_sizes(mode, given) for mode, given in enumerate(sizes[0])])
        if base is not None and base != self.base:
            raise ShapeError(
                f"TiledShape: the tiles add up to {self.base.extents}, not to the extents "
                f"{base.extents}"
            )

    @classmethod
    def uniform(cls, shape: Any, tile: Any) -> TiledShape:
        """Cut a shape into tiles of one size; the last tile of a mode takes what is left.

        Parameters
        ----------
        shape : Shape or iterable of int
            What is cut.
        tile : iterable of int
            Size of the tiles along each mode, at least 1; of a vector, an int will do.

        Raises
        ------
        ShapeError
            If a size is not positive, or there is not one for each mode.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.TiledShape.uniform(xl.Shape(30, 16), (8, 8)).chunks
        ((8, 8, 8, 6), (8, 8))
        """
        base = shape if isinstance(shape, Shape) else Shape(shape)
        _refuse_origin(base)
        return cls(uniform_sizes(base.extents, tile))

    @classmethod
    def from_boundaries(cls, boundaries: Iterable[Any]) -> TiledShape:
        """Cut at the given places.

        Parameters
        ----------
        boundaries : iterable of sequences of int
            For each mode 0, the first element of each further tile, and the extent.

        Raises
        ------
        ShapeError
            If the boundaries of a mode do not start at 0, or decrease.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.TiledShape.from_boundaries([[0, 5, 20, 30], [0, 30]]).chunks
        ((5, 15, 10), (30,))
        """
        return cls(sizes_between(boundaries))

    @classmethod
    def from_jagged(cls, shape: JaggedShape) -> TiledShape:
        """Return the tiling that a jagged shape describes; its origins are not kept.

        Parameters
        ----------
        shape : JaggedShape
            The index of a tile and then the index in it, as `to_jagged` has them.

        Raises
        ------
        ShapeError
            If it is no tiling: its first half of modes must be smooth, and mode ``n + k`` may
            depend on mode ``k`` alone.

        Examples
        --------
        >>> import xarraylite as xl
        >>> t = xl.TiledShape([[5, 15], [4, 4]])
        >>> xl.TiledShape.from_jagged(t.to_jagged()) == t
        True
        """
        if not isinstance(shape, ShapeBase):
            raise ShapeError(f"TiledShape.from_jagged: a jagged shape is needed, got {shape!r}")
        n_modes, odd = divmod(shape.rank, 2)
        labels = tuple([f"mode {mode}" for mode in range(shape.rank)])
        extents = extents_by_label(shape._space(), labels)
        sizes: list[tuple[int, ...]] = []
        for label, count, inner in zip(labels, extents[:n_modes], extents[n_modes:], strict=False):
            if isinstance(count, Table):
                break
            if isinstance(inner, int):
                sizes.append((inner,) * count)
            elif inner.labels == (label,):
                sizes.append(tuple(inner.at([ints(range(count))]).tolist()))
        if odd or len(sizes) != n_modes:
            raise ShapeError(
                f"TiledShape.from_jagged: {shape!r} is no tiling: of rank 2 n, its first n modes "
                "must be smooth and mode n + k may depend on mode k alone"
            )
        return cls(sizes)

    def _set(self, sizes: list[tuple[int, ...]]) -> None:
        starts = tuple([tuple(itertools.accumulate(mode, initial=0)) for mode in sizes])
        as_shape([cuts[-1] for cuts in starts], "TiledShape")
        self._sealed = False
        self._ragged = None
        self._sizes = tuple(sizes)
        self._starts = starts

    @property
    def _tree(self) -> Ragged:
        if self._ragged is None:
            self._ragged = tree_of_tiles(self._sizes)
        return self._ragged

    @property
    def is_null(self) -> bool:
        """Whether this is the null shape: never."""
        return False

    @property
    def rank(self) -> int:
        """Number of modes of the jagged form: twice that of the box."""
        return 2 * len(self._sizes)

    @property
    def size(self) -> int:
        """Number of scalar elements."""
        return self.base.size

    @property
    def n_slices(self) -> int:
        """Number of tiles."""
        return self.grid.size

    @property
    def extents(self) -> tuple[int | None, ...]:
        """The extent of every mode, None for jagged modes."""
        uniform = [len(set(mode)) <= 1 or not self.n_slices for mode in self._sizes]
        grid, tile = self._bounding[: len(uniform)], self._bounding[len(uniform) :]
        return (*grid, *[n if same else None for n, same in zip(tile, uniform, strict=True)])

    @property
    def _bounding(self) -> tuple[int, ...]:
        return bounding_of_tiles(self._sizes)

    @property
    def is_smooth(self) -> bool:
        """Whether the tiles of each mode have one size."""
        return None not in self.extents

    @property
    def origin(self) -> tuple[int, ...]:
        """Absolute index of the first element: zeros."""
        return (0,) * self.rank

    def in_bounds(self, *index: Any, absolute: bool = False) -> bool:
        """Tell whether a tile's index and an index in it are some of this shape's.

        Examples
        --------
        >>> import xarraylite as xl
        >>> t = xl.TiledShape([[5, 15, 10]])
        >>> t.in_bounds(1, 14), t.in_bounds(2, 14)
        (True, False)
        """
        values = self._check_index(index, "in_bounds")
        n = len(self._sizes)
        return all(
            [
                0 <= tile < len(mode) and 0 <= i < mode[tile]
                for tile, i, mode in zip(values[:n], values[n:], self._sizes, strict=True)
            ]
        )

    @property
    def base(self) -> Shape:
        """The box that is cut."""
        return Shape([cuts[-1] for cuts in self._starts])

    @property
    def grid(self) -> Shape:
        """The shape of the grid of tiles."""
        return Shape([len(mode) for mode in self._sizes])

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """Sizes of the tiles of each mode, in the form that dask's ``chunks`` have."""
        return self._sizes

    @property
    def boundaries(self) -> tuple[tuple[int, ...], ...]:
        """First element of each tile of each mode, and the extent."""
        return self._starts

    def tile(self, *index: Any) -> Shape:
        """Return the tile at an index of the grid; its origin is its first element in the box.

        Parameters
        ----------
        *index : int, or one sequence of int
            Number of the tile along each mode of the box.

        Raises
        ------
        BoundsError
            If there is no such tile.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.TiledShape([[5, 15, 10], [30]]).tile(1, 0)
        Shape((15, 30), origin=(5, 0))
        """
        where = self._in(self.grid, index, "tile", "tile index")
        return Shape._make(
            tuple([mode[i] for mode, i in zip(self._sizes, where, strict=True)]),
            tuple([cuts[i] for cuts, i in zip(self._starts, where, strict=True)]),
        )

    def tile_of(self, *index: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the index of the tile that holds an element of the box, and its index in there.

        Parameters
        ----------
        *index : int, or one sequence of int
            Index of the element in the box.

        Raises
        ------
        BoundsError
            If the box has no such element.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.TiledShape([[5, 15, 10], [30]]).tile_of(22, 4)
        ((2, 0), (2, 4))
        """
        where = self._in(self.base, index, "tile_of", "element")
        tile = tuple([bisect_right(c, i) - 1 for c, i in zip(self._starts, where, strict=True)])
        first = [cuts[t] for cuts, t in zip(self._starts, tile, strict=True)]
        return tile, tuple([i - o for i, o in zip(where, first, strict=True)])

    def element(self, tile: Any, local: Any) -> tuple[int, ...]:
        """Return the index in the box of an element of a tile: the inverse of `tile_of`.

        Parameters
        ----------
        tile : int or sequence of int
            Index of the tile.
        local : int or sequence of int
            Index in it.

        Raises
        ------
        BoundsError
            If there is no such tile, or no such element in it.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.TiledShape([[5, 15, 10], [30]]).element((2, 0), (2, 4))
        (22, 4)
        """
        box = self.tile(tile)
        inside = self._in(box, (local,), "element", "local index")
        return tuple([o + i for o, i in zip(box.origin, inside, strict=True)])

    def to_jagged(self) -> JaggedShape:
        """Return the tiles one by one, as a jagged shape of twice the rank.

        Raises
        ------
        SizeError
            If there are too many tiles to list them one by one.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.TiledShape([[5, 15], [4]]).to_jagged()
        JaggedShape([[Shape(5, 4)], [Shape(15, 4)]])
        """
        return JaggedShape._make(self._tree)

    def as_tuple(self) -> tuple[int, ...]:
        """Return the extents of the box, as the plain tuple that containers use."""
        return self.base.extents

    def leading_size(self, n_modes: int) -> int:
        """Return how many different indices the first ``n_modes`` modes have."""
        wanted, n = self._check_leading(n_modes), len(self._sizes)
        extents = [
            cuts[-1] if mode < wanted - n else len(sizes)
            for mode, (cuts, sizes) in enumerate(zip(self._starts, self._sizes, strict=True))
        ]
        return math.prod(extents[:wanted])

    @staticmethod
    def _in(box: Shape, index: tuple[Any, ...], operation: str, what: str) -> tuple[int, ...]:
        where = index_of(index, operation)
        if len(where) != box.rank or not box.in_bounds(where):
            raise BoundsError(f"{operation}: there is no {what} {where} in {box.extents}")
        return where

    @classmethod
    def null(cls) -> Self:
        """Refused: a tiling has a rank."""
        raise ShapeError("TiledShape: there is no null tiling; use JaggedShape.null()")

    def _adopt(self, other: ShapeBase) -> None:
        raise ShapeError(
            f"a TiledShape keeps its cuts and cannot become {other!r}; assign to a JaggedShape"
        )

    @classmethod
    def of_expression(cls, expression: IndexedShape, labels: str) -> Self:
        """Refused: the value of an expression has no cuts."""
        raise ShapeError(
            f"TiledShape: no expression makes one, got {expression!r} for {labels!r}; use "
            "JaggedShape.of_expression"
        )

    def _with_origin(self, origin: tuple[int, ...]) -> Self:
        raise ShapeError("a TiledShape has no origin of its own; set that of to_jagged()")

    def _value(self) -> tuple[Any, ...]:
        return (self._sizes,)

    @classmethod
    def _from_value(cls, *value: Any) -> Self:
        return cls(*value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TiledShape) and (self._sizes == other._sizes or self.grid.size):
            return self._sizes == other._sizes
        return super().__eq__(other)

    __hash__ = ShapeBase.__hash__

    def _fingerprint(self) -> tuple[object, ...]:
        """Return what the tree would say; here there are modes, as a scalar has no cuts."""
        across = math.prod(self.base.extents[1:])
        first = ints([size * across for size in self._sizes[0]])
        return (self.rank, self._bounding, self.size, first.tobytes())

    def __repr__(self) -> str:
        shown = [sizes_text(mode) for mode in self._sizes]
        return f"TiledShape([{', '.join(shown)}])"


def _refuse_origin(base: ShapeBase) -> None:
    if any(base.origin):
        raise ShapeError(f"TiledShape: tiles count from 0, so {base!r} must have no origin")
