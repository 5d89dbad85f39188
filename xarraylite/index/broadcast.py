"""Shapes as tuples of Python ints: checking, sizes, broadcasting and axes.

All arithmetic on sizes is done here, in Python ints, so nothing overflows silently.  The rules
are the array API standard's: shapes are aligned at their last dimension, and an extent of 1
stretches to any other.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, SupportsIndex, TypeGuard

from .._errors import (
    AxisError,
    AxisTypeError,
    BroadcastError,
    ShapeError,
    SizeError,
    TracedValueError,
)
from .box import integer, is_vector

Shape = tuple[int, ...]

#: Largest number of elements or bytes that an address can reach.
MAX_SIZE = (1 << 63) - 1

#: Largest rank, as in NumPy 2.
MAX_RANK = 64


class HasExtents(Protocol):
    """A shape object: it iterates over its indices, and says its extents as a tuple."""

    def as_tuple(self) -> Shape:
        """Return the extents."""


def unwrap_shape(value: Any) -> Any:
    """Return the extents that a shape object says as a tuple, and anything else as it is.

    Everything that is asked for a shape calls this first: iterating over a shape object yields
    its indices, not its extents.

    Raises
    ------
    ShapeError
        If the shape object is jagged or null.
    """
    if type(value) is tuple:
        return value
    tell = getattr(value, "as_tuple", None)
    return value if tell is None else tell()


def as_shape(
    value: SupportsIndex | Iterable[SupportsIndex] | HasExtents, operation: str = "shape"
) -> Shape:
    """Return ``value`` (an int or a sequence of ints) as a checked shape.

    Raises
    ------
    ShapeError
        For a negative, bool or non-integer extent, or a rank above `MAX_RANK`.
    SizeError
        If the number of elements exceeds 2**63 - 1.
    """
    if is_usual(value) and len(value) <= MAX_RANK and math.prod(filter(None, value)) <= MAX_SIZE:
        return value
    told = unwrap_shape(value)
    extents = told if is_vector(told) else (told,)
    shape = tuple(_extent(extent, operation) for extent in extents)
    check_rank(len(shape), operation)
    if math.prod(extent for extent in shape if extent) > MAX_SIZE:
        raise SizeError(f"{operation}: shape {shape} has more than 2**63 - 1 elements")
    return shape


def is_usual(value: object) -> TypeGuard[Shape]:
    """Tell whether a value is a tuple of ints, none negative and no bool: most shapes are."""
    if value.__class__ is not tuple:
        return False
    return all([extent.__class__ is int and extent >= 0 for extent in value])


def check_rank(rank: int, operation: str) -> None:
    """Refuse ranks above `MAX_RANK`.

    Raises
    ------
    ShapeError
        Naming the operation and the rank.
    """
    if rank > MAX_RANK:
        raise ShapeError(f"{operation}: rank {rank} is above the maximum of {MAX_RANK}")


def _extent(value: SupportsIndex, operation: str) -> int:
    extent = integer(value, operation, "an extent")
    if extent < 0:
        raise ShapeError(f"{operation}: extents must not be negative, got {extent}")
    return extent


def infer_extent(shape: Iterable[SupportsIndex] | SupportsIndex | HasExtents, size: int) -> Shape:
    """Return ``shape`` with one ``-1`` replaced so that it holds ``size`` elements.

    Raises
    ------
    ShapeError
        If more than one extent is -1, or the sizes do not agree.
    """
    if is_usual(shape) and math.prod(shape) == size and len(shape) <= MAX_RANK:
        return shape
    told = unwrap_shape(shape)
    raw: Any = tuple(told) if is_vector(told) else (told,)
    unknown = [i for i, extent in enumerate(raw) if not isinstance(extent, bool) and extent == -1]
    if len(unknown) > 1:
        raise ShapeError(f"reshape: only one extent may be -1, got {raw}")
    known = as_shape([1 if i in unknown else e for i, e in enumerate(raw)], "reshape")
    count = math.prod(known)
    if unknown:
        if count == 0 or size % count:
            raise ShapeError(f"reshape: {size} elements do not fit the shape {raw}")
        return tuple(size // count if i in unknown else e for i, e in enumerate(known))
    if count != size:
        raise ShapeError(f"reshape: {size} elements do not fit the shape {raw}")
    return known


def broadcast_shapes(*shapes: int | Sequence[int] | HasExtents) -> Shape:
    """Return the shape that all ``shapes`` broadcast to; an extent is a shape of one dimension.

    Parameters
    ----------
    *shapes : tuple of int, or int
        Any number of shapes.

    Returns
    -------
    tuple of int
        The common shape.

    Raises
    ------
    BroadcastError
        If two extents differ and neither is 1; the message shows all shapes.

    Examples
    --------
    >>> broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    known = [unwrap_shape((s,) if isinstance(s, int) else s) for s in shapes]
    rank = max(map(len, known), default=0)
    result = [1] * rank
    for shape in known:
        skip = rank - len(shape)
        for i, extent in enumerate(shape):
            if extent != 1 and extent != result[skip + i]:
                if result[skip + i] != 1:
                    shown = ", ".join(str(tuple(s)) for s in known)
                    raise BroadcastError(
                        f"shapes {shown} could not be broadcast together: extents "
                        f"{result[skip + i]} and {extent} at axis {skip + i} differ "
                        "and neither is 1"
                    )
                result[skip + i] = extent
    if math.prod(result) > MAX_SIZE:
        shown = ", ".join(str(tuple(s)) for s in known)
        raise SizeError(f"shapes {shown} broadcast to more than 2**63 - 1 elements")
    return tuple(result)


def check_axis(axis: SupportsIndex, rank: int, operation: str) -> int:
    """Return ``axis`` counted from the front.

    Raises
    ------
    AxisError
        If it is not an integer in ``[-rank, rank)``; a TypeError too, if it is no integer.
    """
    try:
        number = operator.index(axis)
    except TypeError:
        raise AxisTypeError(f"{operation}: axis must be an integer, got {axis!r}") from None
    if not -rank <= number < rank:
        raise AxisError(f"{operation}: axis {number} is out of range for rank {rank}")
    return number % rank


def check_axes(
    axis: SupportsIndex | Iterable[SupportsIndex] | None, rank: int, operation: str
) -> tuple[int, ...]:
    """Return the axes named by ``axis``, sorted; None means all of them.

    Raises
    ------
    AxisError
        For an axis out of range or named twice.
    """
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, bool):  # `a.sum(True)` means something else than axis 1
        raise AxisTypeError(f"{operation}: axis must be an integer, got {axis!r}")
    try:
        given: tuple[SupportsIndex, ...] = (operator.index(axis),)  # type: ignore[arg-type]
    except TracedValueError:
        raise
    except TypeError:
        if not is_vector(axis):
            raise AxisTypeError(f"{operation}: axis must be an integer, got {axis!r}") from None
        given = tuple(axis)
    axes = tuple(check_axis(item, rank, operation) for item in given)
    if len(set(axes)) != len(axes):
        raise AxisError(f"{operation}: axis {given} names an axis twice (rank {rank})")
    return tuple(sorted(axes))
