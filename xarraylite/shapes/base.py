"""What all shapes have in common.

A shape is a *handle* on a value that never changes: the handle can be pointed at another value in
exactly two ways, which the design of shapes asks for, `set_origin` and assignment to labels
(``r["i,k"] = …``).  Sub-shapes, copies and shapes made from other shapes are handles of their
own, so neither way shows through anywhere else.  Taking a handle's hash seals it: from then on
both ways raise `ShapeError`, so a shape cannot change while it is a key of a dict or set.
`ShapeBase.copy` costs a few pointers and is never sealed.

Two shapes are equal if they describe the same index space: the same rank, the same extents
everywhere and the same origins.  How a jagged shape was written, or whether a box is held as a
`Shape` or a `JaggedShape`, makes no difference; the layers of a `Nested` do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self, TypeVar

from .._errors import BoundsError, ShapeError
from ..index.box import Range, index_of, integer, integers
from .combine import equal
from .jagged_tree import Ragged
from .labels import IndexedShape, Mode, Term, parse_labels

SMOOTH, JAGGED, LAYERED = range(3)


Held = TypeVar("Held")


def present(value: Held | None) -> Held:
    """Return what a shape holds, which is None for the null shape.

    Raises
    ------
    ShapeError
        If it is.
    """
    if value is None:
        raise ShapeError("the null shape has no rank and no extents")
    return value


class ShapeBase(ABC):
    """Common interface of `Shape`, `JaggedShape`, `TiledShape` and `Nested`."""

    __slots__ = ("_sealed",)

    #: Sums and products have the most general kind of their operands.
    _generality: ClassVar[int] = SMOOTH

    _sealed: bool

    @property
    @abstractmethod
    def is_null(self) -> bool:
        """Whether this is the null shape, which has no rank and no elements."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """Number of modes; `ShapeError` for the null shape, which has none."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of scalar elements."""

    @property
    @abstractmethod
    def origin(self) -> tuple[int, ...]:
        """Absolute index of the first element."""

    @abstractmethod
    def leading_size(self, n_modes: int) -> int:
        """Return how many different indices the first ``n_modes`` modes have.

        Raises
        ------
        ShapeError
            If there are not that many modes.
        """

    @abstractmethod
    def as_tuple(self) -> tuple[int, ...]:
        """Return the plain tuple of extents that containers use.

        Raises
        ------
        ShapeError
            If the shape is jagged or null.
        """

    @abstractmethod
    def in_bounds(self, *index: Any, absolute: bool = False) -> bool:
        """Tell whether an index is one of this shape's; see `Shape.in_bounds`."""

    @abstractmethod
    def indices(self, *, absolute: bool = False) -> Iterator[tuple[int, ...]]:
        """Iterate over the indices in lexicographic order; see `Shape.indices`."""

    @abstractmethod
    def slice(self, *box: Any) -> ShapeBase:
        """Return a sub-shape of the same rank; its origin is its first element."""

    @abstractmethod
    def chip(self, *box: Any) -> ShapeBase:
        """Return a sub-shape without the modes that are pinned to one index."""

    @abstractmethod
    def permute(self, *axes: Any) -> ShapeBase:
        """Return the shape whose mode ``k`` is mode ``axes[k]`` of this one."""

    @abstractmethod
    def _select(self, ranges: Sequence[Range], drop: Sequence[int], operation: str) -> ShapeBase:
        """Return the sub-shape inside a box, without the modes ``drop`` (each of one index)."""

    @abstractmethod
    def _space(self) -> Ragged:
        """Return the index space as a tree; `ShapeError` for layers, which a tree cannot say."""

    @abstractmethod
    def _modes(self, labels: tuple[str, ...]) -> list[Mode]:
        """Return what expressions need to know about each mode."""

    @abstractmethod
    def _adopt(self, other: ShapeBase) -> None:
        """Point this handle at the value of ``other``, or raise `ShapeError`."""

    @abstractmethod
    def _value(self) -> tuple[Any, ...]:
        """Return the arguments from which pickling makes the shape again."""

    @classmethod
    @abstractmethod
    def _make(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a shape of checked values."""

    @classmethod
    def _from_value(cls, *value: Any) -> Self:
        """Return the shape for what `_value` returned."""
        return cls._make(*value)

    @classmethod
    @abstractmethod
    def null(cls) -> Self:
        """Return the null shape: no rank and no elements."""

    @abstractmethod
    def _with_origin(self, origin: tuple[int, ...]) -> Self:
        """Return a copy with another origin."""

    @classmethod
    def of_expression(cls, expression: IndexedShape, labels: str) -> Self:
        """Return the value of an expression as a shape of this kind.

        Parameters
        ----------
        expression : IndexedShape
            Sums and products of labelled shapes.
        labels : str
            Labels of the result; those left out are summed.

        Raises
        ------
        ShapeError
            As for `IndexedShape.as_shape`, or if the result is not of this kind.

        Examples
        --------
        >>> import xarraylite as xl
        >>> s = xl.Shape(10, 20)
        >>> xl.Shape.of_expression(s["i,j"] * s["k,j"], "k,i")
        Shape(10, 10)
        """
        result = cls.null()
        result[labels] = expression
        return result

    def same_extents(self, other: object) -> bool:
        """Tell whether ``other`` equals this shape but for origins.

        What is no shape, or has layers where this shape has none, does not.

        Examples
        --------
        >>> import xarraylite as xl
        >>> part = xl.Shape(10, 20).slice(3)
        >>> part == xl.Shape(1, 20), part.same_extents(xl.Shape(1, 20))
        (False, True)
        >>> part.same_extents((1, 20)), part.same_extents(xl.Nested([2], part))
        (False, False)
        """
        if not isinstance(other, ShapeBase) or other._generality > JAGGED:
            return False
        if self.is_null or other.is_null:
            return self.is_null and other.is_null
        return equal(self._space(), other._space(), with_origins=False)

    def copy(self) -> Self:
        """Return an equal shape that may change: it is not sealed by a hash of this one.

        Examples
        --------
        >>> import xarraylite as xl
        >>> s = xl.Shape(1, 2)
        >>> names = {s: "row"}
        >>> moved = s.copy()
        >>> moved.set_origin(10, 10)  # s.set_origin would raise now
        >>> names[s], moved in names
        ('row', False)
        """
        return self._from_value(*self._value())

    def set_origin(self, *origin: Any) -> None:
        """Move the origin, which changes absolute indices and nothing else.

        Parameters
        ----------
        *origin : int or sequence of int
            One integer per mode.

        Raises
        ------
        ShapeError
            If their number is wrong, or the shape was hashed.

        Examples
        --------
        >>> import xarraylite as xl
        >>> s = xl.Shape(1, 2)
        >>> s.set_origin(10, 10)
        >>> list(s.indices(absolute=True))
        [(10, 10), (10, 11)]
        """
        self._check_open("set_origin")
        self._adopt(self._with_origin(index_of(origin, "set_origin")))

    def with_origin(self, *origin: Any) -> Self:
        """Return a copy of this shape with another origin; see `set_origin`.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.Shape(1, 2).with_origin(10, 10)
        Shape((1, 2), origin=(10, 10))
        """
        return self._with_origin(index_of(origin, "with_origin"))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return self.indices()

    def __contains__(self, index: object) -> bool:
        return self.in_bounds(*integers(index, "in", "an index"))

    def __getitem__(self, labels: str) -> IndexedShape:
        names = parse_labels(labels, type(self).__name__)
        if self.is_null:
            raise ShapeError(f"labels {labels!r}: the null shape has no modes to label")
        if len(names) != self.rank:
            raise ShapeError(
                f"labels {labels!r}: {len(names)} labels for the {self.rank} modes of {self!r}; "
                "there must be one for each"
            )
        term = dict(zip(names, self._modes(names), strict=True))
        return self._indexed(term)

    @abstractmethod
    def _indexed(self, term: Term) -> IndexedShape:
        """Return the expression for labelled modes."""

    def __setitem__(self, labels: str, expression: IndexedShape) -> None:
        self._check_open(f"assignment to labels {labels!r}")
        if not isinstance(expression, IndexedShape):
            raise ShapeError(
                f"labels {labels!r}: an indexed shape such as s[{labels!r}] must be assigned, got "
                f"{expression!r}"
            )
        self._adopt(expression.as_shape(labels))

    def __hash__(self) -> int:
        self._sealed = True
        return self._hash()

    @abstractmethod
    def _hash(self) -> int: ...

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._from_value, self._value()

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Self:
        return self.copy()

    def _check_open(self, operation: str) -> None:
        if self._sealed:
            raise ShapeError(
                f"{operation}: {self!r} was hashed, so it may be the key of a dict or set and "
                "cannot change; change a copy() of it"
            )

    def _refuse_layers(self, other: ShapeBase) -> None:
        if other._generality > JAGGED:
            raise ShapeError(f"a {type(self).__name__} has no layers and cannot become {other!r}")

    def _check_mode(self, mode: object, operation: str, first: int = 0) -> int:
        """Return a mode; `BoundsError` unless it is an integer from ``first`` on below the rank."""
        number = integer(mode, operation, "a mode")
        if not first <= number < self.rank:
            raise BoundsError(f"{operation}: there is no mode {number} in {self!r}")
        return number

    def _check_leading(self, n_modes: object) -> int:
        """Return a number of leading modes; `ShapeError` if there are not that many."""
        number = integer(n_modes, "leading_size", "a number of modes")
        if not 0 <= number <= self.rank:
            raise ShapeError(
                f"leading_size: {number} modes were asked for; {self!r} has {self.rank}"
            )
        return number

    def _check_index(self, index: tuple[Any, ...], operation: str) -> tuple[int, ...]:
        """Return a full index; `ShapeError` if it does not have one integer per mode."""
        result = index_of(index, operation)
        if len(result) != self.rank:
            raise ShapeError(
                f"{operation}: index {result} has {len(result)} entries; {self!r} has rank "
                f"{self.rank}"
            )
        return result
