"""What the methods of array specs read: the fields of one, and checks of arguments.

`ArraySpec` has its methods from classes of fields, one in each module of this folder about a theme.
They know a spec by the fields declared here, so no module has to import the class that imports it.

A spec without a layout is read as one with the default layout (row major, untiled), as XLA's own
constructors give every array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from .._errors import DTypeError, IndexRangeError, LayoutError
from ..dtypes.element_types import ElementType
from .layout import Layout
from .text import UNBOUNDED as UNBOUNDED


class SpecFields:
    """The fields of an array spec, which its methods read; see `ArraySpec`."""

    __slots__ = ()

    element_type: ElementType
    dimensions: tuple[int, ...]
    layout: Layout | None
    dynamic: tuple[bool, ...]
    tuple_shapes: tuple[Any, ...]

    @property
    def is_array(self) -> bool:
        """Whether this is an array."""
        return self.element_type.is_array

    @property
    def is_tuple(self) -> bool:
        """Whether this is a tuple of specs."""
        return self.element_type.name == "tuple"

    @property
    def is_token(self) -> bool:
        """Whether this is a token."""
        return self.element_type.name == "token"

    @property
    def is_buffer(self) -> bool:
        """Whether this is a buffer around an array."""
        return self.element_type.name == "buffer"


S = TypeVar("S", bound=SpecFields)


def rebuild(spec: S, **changes: Any) -> S:
    """Return ``spec`` with some fields replaced, validated anew."""
    found: S = replace(cast("Any", spec), **changes)
    return found


def map_leaves(spec: S, change: Callable[[S], S]) -> S:
    """Return ``spec`` with every leaf replaced by what ``change`` makes of it.

    Of a buffer that is the array in it.
    """
    if spec.is_buffer:
        return rebuild(spec, tuple_shapes=(change(spec.tuple_shapes[0]),))
    if not spec.is_tuple:
        return change(spec)
    return retuple(spec, [map_leaves(s, change) for s in members(spec)])


def leaves(spec: S) -> Iterator[S]:
    """Yield the leaves of a spec: what is no tuple, of a buffer the array in it."""
    if not (spec.is_tuple or spec.is_buffer):
        yield spec
    for inner in spec.tuple_shapes:
        yield from leaves(inner)


def retuple(spec: S, members: Iterable[S]) -> S:
    """Return a tuple of ``members``, of the class of ``spec``."""
    return cast("S", cast("Any", type(spec)).tuple(list(members)))


def layout_of(spec: SpecFields) -> Layout:
    """Return the layout, the default one where none is given."""
    return Layout.row_major(len(spec.dimensions)) if spec.layout is None else spec.layout


def members(spec: S) -> tuple[S, ...]:
    """Return the members of a tuple; nothing else has any."""
    return cast("tuple[S, ...]", spec.tuple_shapes) if spec.is_tuple else ()


def require_spec(spec: S, operation: str) -> S:
    """Return what is a spec.

    Raises
    ------
    DTypeError
        If it is anything else.
    """
    if not isinstance(spec, SpecFields):
        raise DTypeError(f"{operation}: another ArraySpec is needed, got {type(spec).__name__}")
    return spec


def require_array(spec: S, operation: str) -> S:
    """Return an array, that in a buffer too; refuse tuples, tokens and opaque values."""
    if require_spec(spec, operation).is_array:
        return spec
    if spec.is_buffer:
        return cast("S", spec.tuple_shapes[0])
    raise LayoutError(f"{operation}: {spec} is not an array; the operation is for arrays")


def require_bounded(spec: S, operation: str) -> S:
    """Return an array, that in a buffer too; refuse what is none or of unknown size."""
    array = require_array(spec, operation)
    if UNBOUNDED in array.dimensions:
        raise LayoutError(
            f"{operation}: {spec} has a dimension without a bound; sizes and positions need one"
        )
    return array


def check_index(
    index: Sequence[int], dimensions: tuple[int, ...], operation: str
) -> tuple[int, ...]:
    """Return ``index`` as plain integers, one per dimension and in range."""
    try:
        found = tuple([operator.index(i) for i in index])
    except TypeError:
        raise IndexRangeError(
            f"{operation}: an index is a sequence of integers, got {index!r}"
        ) from None
    if len(found) != len(dimensions):
        raise IndexRangeError(
            f"{operation}: index {found} has {len(found)} entries for dimensions {dimensions}; "
            "it must have one per dimension"
        )
    for i, extent in zip(found, dimensions, strict=True):
        if not 0 <= i < extent:
            raise IndexRangeError(
                f"{operation}: index {found} is out of range for dimensions {dimensions}"
            )
    return found


def check_dimension(dimension: int, rank: int, operation: str) -> int:
    """Return a dimension number; it must be one of ``rank``, without counting from the end."""
    number = operator.index(dimension)
    if not 0 <= number < rank:
        raise IndexRangeError(
            f"{operation}: dimension {number} is out of range for {rank} dimensions"
        )
    return number


def check_permutation(permutation: Iterable[int], rank: int, operation: str) -> tuple[int, ...]:
    """Return a permutation of ``rank`` dimensions as a tuple."""
    found = tuple([operator.index(p) for p in permutation])
    if sorted(found) != list(range(rank)):
        raise LayoutError(f"{operation}: {found} is not a permutation of the {rank} dimensions")
    return found
