"""Indices, origins and boxes as users write them, checked once and turned into plain ranges.

A *slice* or *chip* is asked for by up to ``rank`` leading integers, which pin the first modes
and let the others run their whole span, or by two vectors of ``rank`` integers: the first
element and one past the last one.  Behind this module there are only ranges ``(first, stop)``
per mode, with None for "the whole span, whatever it is".
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeGuard

from .._errors import BoundsError, ExtentTypeError, ShapeError

#: First offset and one past the last one, or None for the whole span of a mode.
Range = tuple[int, int] | None


def integer(value: object, operation: str, what: str) -> int:
    """Return ``value`` as a Python int.

    Raises
    ------
    ExtentTypeError
        For a bool or anything that is not an integer.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ExtentTypeError(f"{operation}: {what} must be an integer, got {value!r}")
    try:
        return operator.index(value)
    except TypeError:  # an array of more than one element has __index__, too
        raise ExtentTypeError(f"{operation}: {what} must be an integer, got {value!r}") from None


def integers(values: object, operation: str, what: str) -> tuple[int, ...]:
    """Return an integer or an iterable of integers as a tuple of Python ints.

    Raises
    ------
    ShapeError
        If one of them is no integer.
    """
    items = values if is_vector(values) else (values,)
    return tuple([integer(value, operation, what) for value in items])


def is_vector(value: object) -> TypeGuard[Iterable[Any]]:
    """Tell whether there are integers to iterate over, in an order that was meant.

    Arrays of rank 0 only look like it, and texts, sets and dicts are mistakes.
    """
    if isinstance(value, (str, bytes, AbstractSet, Mapping)) or getattr(value, "ndim", 1) == 0:
        return False
    return isinstance(value, Iterable)


def index_of(given: tuple[Any, ...], operation: str) -> tuple[int, ...]:
    """Return an index given as ``f(0, 1)`` or as ``f((0, 1))``.

    Raises
    ------
    ShapeError
        If an entry is no integer.
    """
    values = given[0] if len(given) == 1 else given
    return integers(values, operation, "an index")


def parse_ranges(given: tuple[Any, ...], rank: int, operation: str) -> tuple[Range, ...]:
    """Return one range per mode for the arguments of ``slice`` or ``chip``.

    Parameters
    ----------
    given : tuple
        Up to ``rank`` integers, or two vectors of ``rank`` integers.
    rank : int
        Rank of the shape.
    operation : str
        Named in messages.

    Raises
    ------
    ShapeError
        For other arguments, vectors of another length, or a box that ends before it starts.
    BoundsError
        For negative integers: offsets count from the first element.
    """
    vectors = [is_vector(item) for item in given]
    if vectors == [True, True]:
        first = integers(given[0], operation, "an entry of the first element")
        stop = integers(given[1], operation, "an entry of the end")
        if not len(first) == len(stop) == rank:
            raise ShapeError(
                f"{operation}: a box of a rank {rank} shape takes two vectors of {rank} integers, "
                f"got {first} and {stop}"
            )
        if any([a > b for a, b in zip(first, stop, strict=True)]):
            raise ShapeError(f"{operation}: the box ends at {stop}, before it starts at {first}")
        ranges = tuple(zip(first, stop, strict=True))
    else:
        if any(vectors) or len(given) > rank:
            raise ShapeError(
                f"{operation}: takes up to {rank} integers or two vectors of {rank} integers "
                f"for a rank {rank} shape, got {', '.join(map(repr, given))}"
            )
        pins = [integer(item, operation, "an index") for item in given]
        ranges = tuple([(pin, pin + 1) for pin in pins])
    if any([a < 0 for a, _ in ranges]):
        raise BoundsError(f"{operation}: offsets count from 0, got {ranges_text(ranges)}")
    return ranges + (None,) * (rank - len(ranges))


def dropped_modes(ranges: tuple[Range, ...]) -> tuple[int, ...]:
    """Return the modes that a chip drops: those whose range holds exactly one index.

    Raises
    ------
    ShapeError
        If there is none, because a chip has a smaller rank than its shape.
    """
    dropped = tuple([k for k, r in enumerate(ranges) if r is not None and r[1] - r[0] == 1])
    if not dropped:
        raise ShapeError(
            f"chip: no mode is pinned to one index by {ranges_text(ranges)}, so the rank "
            "would stay; use slice"
        )
    return dropped


def ranges_text(ranges: Iterable[Range]) -> str:
    """Return ranges as messages show them: ``[0:5, :]``."""
    return "[" + ", ".join([":" if r is None else f"{r[0]}:{r[1]}" for r in ranges]) + "]"


def check_permutation(
    axes: tuple[Any, ...], rank: int, operation: str = "permute"
) -> tuple[int, ...]:
    """Return axes, given as ``f(1, 0)`` or as ``f((1, 0))``, as a permutation of ``range(rank)``.

    Raises
    ------
    ShapeError
        If it is not one.
    """
    order = integers(axes[0] if len(axes) == 1 else axes, operation, "a mode")
    if sorted(order) != list(range(rank)):
        raise ShapeError(
            f"{operation}: {order} is not a permutation of the modes {tuple(range(rank))}"
        )
    return order


def lexicographic(spans: Sequence[range]) -> Iterator[tuple[int, ...]]:
    """Yield every index of a box, without a list of its spans as `itertools.product` makes."""
    return _nested_loops(tuple(spans)) if all(spans) else iter(())


def _nested_loops(spans: tuple[range, ...]) -> Iterator[tuple[int, ...]]:
    if not spans:
        yield ()
        return
    for head in _nested_loops(spans[:-1]):
        for i in spans[-1]:
            yield (*head, i)
