"""The user's index dialect, translated once into transforms.

``a[key]`` takes what NumPy's basic indexing takes: integers, slices with any step, ``...`` and
``newaxis``, plus at most one integer array, which is a gather along its dimension.  Everything
behind this module has literal, non-negative starts and lengths and no special cases.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from .._errors import IndexRangeError, SliceStepError, SliceTypeError, TracedValueError
from .._records import record
from .broadcast import check_rank
from .transform import FIXED, IndexMap, Transform


@record(frozen=True, slots=True)
class Selection:
    """What ``a[key]`` means for one shape.

    Attributes
    ----------
    transform : Transform
        The basic part; a gathered dimension is passed through whole.
    take_axis : int
        Dimension of the transform's output that is read through the integer array, or -1.
    take : object
        The integer array as the user gave it, or None.
    take_front : bool
        Whether the array's dimensions come first in the result: NumPy's rule where an integer
        and the array are separated, by a slice for example.
    element : bool
        Whether there is an integer for every dimension and nothing else: one element is meant,
        and no view of rank 0, which ``...`` asks for.
    """

    transform: Transform
    take_axis: int = FIXED
    take: object = None
    take_front: bool = False
    element: bool = False


def parse_index(
    key: object, shape: tuple[int, ...], is_array: Callable[[object], bool]
) -> Selection:
    """Translate ``key`` for an operand of ``shape``.

    Parameters
    ----------
    key : object
        What stands between the brackets.
    shape : tuple of int
        Shape of the operand.
    is_array : callable
        Tells which objects are integer arrays (this module knows no arrays).

    Raises
    ------
    IndexRangeError
        For an index out of range, too many indices, a second ``...``, or an unsupported kind.
    """
    given = key if isinstance(key, tuple) else (key,)
    items = fill_ellipsis(given, shape)
    out: list[int] = []
    maps: list[IndexMap] = []
    take_axis, take = FIXED, None
    for item in items:
        if item is None:
            out.append(1)
            continue
        k = len(maps)
        if isinstance(item, slice):
            start, length, step = _resolve(item, shape[k])
            maps.append(IndexMap(start, step, len(out)))
            out.append(length)
        elif is_array(item):
            if take is not None:
                raise IndexRangeError(f"index {key!r}: a gather has one array; shape {shape}")
            take_axis, take = len(out), item
            maps.append(IndexMap(0, 1, len(out)))
            out.append(shape[k])
        else:
            maps.append(IndexMap(_position(item, shape, k), 0, FIXED))
    check_rank(len(out), f"index of shape {shape}")
    front = take is not None and _separated(given, is_array)
    element = not out and not any([item is Ellipsis for item in given])
    return Selection(Transform(tuple(out), tuple(maps)), take_axis, take, front, element)


def _separated(items: tuple[object, ...], is_array: Callable[[object], bool]) -> bool:
    """Tell whether integers and the integer array do not stand side by side.

    An ellipsis stands between them though it may be no dimension, as in NumPy.
    """
    picks = [
        i
        for i, item in enumerate(items)
        if is_array(item) or not (item is None or item is Ellipsis or isinstance(item, slice))
    ]
    return picks != list(range(picks[0], picks[0] + len(picks)))


def fill_ellipsis(items: tuple[object, ...], shape: tuple[int, ...]) -> tuple[object, ...]:
    """Return an index with whole dimensions in the place of ``...`` and of what is missing.

    Raises
    ------
    IndexRangeError
        For a second ``...``, or more items than dimensions.
    """
    ellipses = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise IndexRangeError("an index may hold only one ellipsis ('...')")
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > len(shape):
        raise IndexRangeError(
            f"too many indices: {used} given for shape {shape} of rank {len(shape)}"
        )
    rest = (slice(None),) * (len(shape) - used)
    at = ellipses[0] if ellipses else len(items)
    return items[:at] + rest + items[at + 1 :]


def _resolve(item: slice, extent: int) -> tuple[int, int, int]:
    try:
        start, stop, step = item.indices(extent)
    except TypeError:
        raise SliceTypeError(f"slice {item!r}: bounds and step must be integers or None") from None
    except ValueError:
        raise SliceStepError(f"slice {item!r}: the step must not be zero") from None
    length = len(range(start, stop, step))
    return (start, length, step) if length else (0, 0, 1)


def _position(item: object, shape: tuple[int, ...], axis: int) -> int:
    try:
        if isinstance(item, bool):
            raise TypeError
        position = operator.index(item)  # type: ignore[arg-type]
    except TracedValueError:
        raise
    except TypeError:
        raise IndexRangeError(
            f"index {item!r} of type {type(item).__name__} is not supported: use integers, slices, "
            "'...', newaxis and arrays of integers or truth values; xl.view takes keep and drop"
        ) from None
    extent = shape[axis]
    if not -extent <= position < extent:
        raise IndexRangeError(
            f"index {position} is out of range for axis {axis} of extent {extent} (shape {shape})"
        )
    return position + extent if position < 0 else position
