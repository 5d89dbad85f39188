"""Few elements that index arrays select: NumPy copies them when the index is written.

The result is what a gather would be, an expression of the values as they are now; reading the copy
takes less than planning the gather.  Its snapshot says what it was copied from, so that `late`
reads the elements again.  Elements are written by NumPy too, at once where nobody waits for the old
ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._errors import BroadcastError, DTypeError
from ..assignment import elements, readers, results
from ..assignment.assign import converted
from ..dtypes.names import NumpyArray, bool_, int64, kind
from ..dtypes.promotion import can_cast
from ..index.indices import parse_index
from ..ir.kind import NODE, Kind, folds_inside, owner_class, row_major
from ..ir.node import RANK, Node
from ..memory.buffer import Buffer
from ..operands import tracing
from ..operands.convert import listed
from ..operands.gathers import FEW, copied_from, counted_from_front, in_place, is_index_array
from ..operands.nodes import unwrapped
from ..runtime.counting import count_use
from . import ownership
from .advanced_indexing import is_advanced
from .expression import XExpression, handle
from .expression import converted as converted_to

#: The key of gathers in the tables of kinds: by the shape of memory, the axis, how many positions.
_GATHER = "gather"

_ALL = slice(None)
_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))


def values_of(x: object) -> NumpyArray:
    """Return the values of what positions are made of, to be looked at only."""
    x = unwrapped(x)
    if isinstance(x, XExpression):
        lazy = x.__class__ is XExpression and x._kind is not NODE
        made = ownership.values_of(x) if lazy else x._evaluated()
        return x.numpy() if made is None or made._kind is NODE else elements.array_of(made)
    return np.asarray(x)


def _index(key: Any, copied: bool, most: float = FEW) -> tuple[tuple[Any, ...], int, int] | None:
    """Return an index with arrays as NumPy's, how many arrays and how many of them are masks.

    None if there are none, or others than of integers or truth values, at most so many.  Those that
    are not copied may be changed by another thread after they were looked at.
    """
    arrays = masks = 0
    items = []
    for item in key if key.__class__ is tuple else (key,):
        cls = item.__class__
        own = isinstance(item, XExpression)
        if cls is list or cls is range or cls is np.ndarray or (own and 0 < item.size <= most):
            try:
                array = np.array(values_of(item) if own else item, copy=copied or None)
            except ValueError:  # ragged
                return None
            what = array.dtype.kind
            wide = array.dtype == np.uint64  # of which NumPy takes the largest for negative
            if array.size > most or what not in "iub" or wide or not array.ndim:
                return None
            arrays += 1
            masks += what == "b"
            items.append(array)
        elif cls in _BASIC or cls is bool or cls is np.bool_:
            alone = cls not in _BASIC  # a mask of no dimensions
            arrays, masks = arrays + alone, masks + alone
            items.append(item)
        else:
            return None
    return (tuple(items), arrays, masks) if arrays else None


def selected(of: Any, key: Any) -> XExpression | None:
    """Return few elements that an index with arrays selects of a container; None for all others.

    As always an expression of what one integer array selects, and a container of what masks or
    several arrays do.
    """
    if of._kind is NODE or tracing.running.value:
        return None
    count_use()
    if of.size > FEW:
        many = _gathered(of, key)
        return _of_part(of, key) if many is None else many
    found = _index(key, True)
    if found is None:
        return None
    index, arrays, masks = found
    try:
        values = elements.array_of(of)[index]
    except IndexError:
        return None
    fixed, shape = min(of._fixed, RANK), values.shape
    if masks or arrays > 1:
        container: XExpression = owner_class(fixed, of._dtype, shape)._adopted(values)
        return container
    if values.size > FEW:
        return _gathered(of, key)
    axis = _axis_of(index, len(of._shape))
    if axis is None:
        return _of_part(of, key)
    (positions,) = [item for item in index if item.__class__ is np.ndarray]
    return _taken(of, positions, axis, shape)


def _of_part(of: Any, key: Any) -> XExpression | None:
    """Return elements at positions in few, which other items of an index select."""
    if key.__class__ is not tuple or is_advanced(key):
        return None
    if all([is_index_array(item) or _is_all(item) for item in key]):
        return None
    found = parse_index(key, of._shape, is_index_array)
    part = of._view(found.transform)
    if found.take is None or part.size > FEW:
        return None
    made = selected(part, (*(_ALL,) * found.take_axis, found.take))
    if made is None or not found.take_front:
        return made
    return XExpression(in_place(made.node, len(part._shape), found))


def _gathered(of: Any, key: Any) -> XExpression | None:
    """Return elements of many, at positions along one axis, by a kind that was met before.

    Few of many are no copy: what is picked of stored arrays adds in the order of a gather.  None
    for all but one array of integers behind whole dimensions.
    """
    several = key.__class__ is tuple
    axis, given = (len(key) - 1, key[-1]) if several and key else (0, key)
    found = None if is_advanced(given) else _index((given,), False, math.inf)
    if found is None or found[2]:
        return None
    given, shape = found[0][0], of._shape
    count = given.size
    if (
        given.ndim != 1
        or axis >= len(shape)
        or not count
        or (several and not all(map(_is_all, key[:-1])))
    ):
        return None
    place = (shape, axis, count)
    kind: Kind | None = of._kind.leads(_GATHER, place)
    if kind is None:
        made: XExpression = XExpression.__getitem__(of, key)
        own = made._operands
        if made._kind is not NODE and own[:2] == of.now() and own[3:] == (0,):
            of._kind.learn(_GATHER, place, made._kind)
        return made
    buffer = Buffer.allocate(8 * count)
    counted_from_front(given, shape[axis], buffer.array(int64, (count,)))
    left = (*shape[:axis], count, *shape[axis + 1 :])
    return handle(kind, left, (*of.now(), buffer.snapshot(), 0))


def _taken(of: Any, given: NumpyArray, axis: int, shape: tuple[int, ...]) -> XExpression:
    """Return a copy of elements at positions along one axis, the positions behind them."""
    dtype, fixed = of._dtype, min(of._fixed, RANK)
    nbytes, count = math.prod(shape) * dtype.itemsize, given.size
    snapshot = copied_from(of, axis, nbytes + -nbytes % 8 + 8 * count)
    snapshot.nbytes = nbytes
    positions = snapshot.positions(count).reshape(given.shape)
    counted_from_front(given, of._shape[axis], positions)
    elements.array_of(of).take(positions, axis, snapshot.array(dtype, shape), "clip")
    return handle(row_major(dtype, len(shape), fixed), shape, (snapshot, 0))


def _axis_of(index: tuple[Any, ...], rank: int) -> int | None:
    """Return along which axis the one array of an index selects, if all else is whole."""
    others = [item for item in index if item.__class__ is not np.ndarray]
    dots = [item for item in others if item is Ellipsis]
    if len(dots) > 1 or not all([item is Ellipsis or _is_all(item) for item in others]):
        return None
    kinds = [item.__class__ for item in index]
    before = kinds.index(np.ndarray)
    left = dots and kinds.index(type(Ellipsis)) < before
    return rank - (len(index) - before) if left else before


def _is_all(item: Any) -> bool:
    return item.__class__ is slice and item == _ALL


def settled(held: bool, key: XExpression) -> XExpression:
    """Return a lazy index; its values if nobody else has it, so that it waits for nothing."""
    if held or tracing.running.value:
        return key
    made: XExpression = ownership.memory_of(key)
    return made


def placed(to: Any, key: Any, value: object, held: bool) -> bool:
    """Write to elements that an index with arrays selects, as NumPy does; tell whether it is done.

    What is written is a number, or elements of the container's dtype; an expression that nobody
    else holds may wait for the container's memory.
    """
    if to._kind is NODE or tracing.running.value:
        return False
    count_use()
    waits = readers.own_of(to._buffer, value) if value.__class__ is XExpression and not held else 0
    found = _index(key, False, math.inf)
    values = None if found is None else ready(to, value)
    if found is None or values is None:
        return False
    reads = getattr(value, "_operands", ())
    return readers.wrote(to._buffer, waits, reads, elements.filled, to, found[0], values)


def number(value: Any, kind: Kind) -> Any:
    """Return one value of another dtype than what stores it as Python's; all else as it is."""
    one = isinstance(value, XExpression) and not value._shape and value._kind is not NODE
    if not one or value._kind.dtype is kind.dtype or tracing.is_active():
        return value
    return values_of(value).item()


def made_for(to: Any, value: XExpression, held: bool) -> tuple[XExpression, bool, Any]:
    """Return a lazy value as one of the dtype that stores it, whose kind says all there is to know.

    Few elements that no kind makes so, no kernel computes or that are stretched, are computed.
    With whether others hold it, and the value itself if it is another one that nobody holds.
    """
    kind, dtype = value._kind, to._dtype
    cast, stretched = kind.dtype is not dtype, value._shape != to._shape
    few = to.size <= elements.FEW
    first = value.lasting and (stretched or (kind.hosted and few))
    if not (cast or first) or not value.lasting or kind is NODE or tracing.is_active():
        return value, held, None
    if cast and not can_cast(kind.dtype, dtype, "same_kind"):
        return value, held, None
    used = None if held else value
    if first or kind.formed or folds_inside(kind):
        made = results.evaluate(value) if few else None
        return (value, held, None) if made is None else (made, False, used)
    return converted_to(value, dtype), False, used


def given(to: Any, key: Any, value: Any) -> Any:
    """Return lists of numbers, written under an index, as an array, and all else as it is.

    Raises
    ------
    BroadcastError, DTypeError
        For lists nested deeper than ints and slices select dimensions, and for an array that is
        written to one element: NumPy's `ValueError`, or its `TypeError` of an element that is
        complex or, for lists, a whole number.
    """
    if value.__class__ is XExpression and not value._shape:
        return value
    several = value.__class__ in (list, tuple)
    if several and to._dtype is bool_ and _left(to, key) == (0, True):
        return bool(value)  # as Python has it: an empty one is false, and `[0]` is true
    if several and not tracing.is_active():
        count_use()
        made = listed(value, to._dtype)
        value = value if made is None else made
    deep = _depth(value)
    if not deep:
        return value
    left, one = _left(to, key)
    if deep <= left or not (several or one) or (one and to._dtype is bool_):
        return value
    parse_index(key, to._shape, is_index_array)  # an index that is wrong is told of first
    numbers = "iuc" if several else "c"
    error = DTypeError if one and kind(to._dtype) in numbers else BroadcastError
    raise error(
        f"assignment to {to.summary()}: the index selects "
        f"{'one element' if one else f'{left} dimensions'}, and values of {deep} were given"
    )


def _left(to: Any, key: Any) -> tuple[float, bool]:
    """Return how many dimensions ints and slices leave, and whether they select one element.

    Of other indices there is no saying.
    """
    classes = [*map(type, key if key.__class__ is tuple else (key,))]
    if not _BASIC.issuperset(classes):
        return math.inf, False
    ints = classes.count(int)
    left = len(to._shape) - ints + classes.count(type(None))
    return left, left == 0 and ints == len(classes)


def _depth(value: Any) -> int:
    """Return how many dimensions values have, of lists by their first items."""
    depth = 0
    while value.__class__ in (list, tuple, range):
        depth, value = depth + 1, value[0] if value else None
    shape = getattr(value, "shape", ())
    return depth + (len(shape) if isinstance(shape, tuple) else 0)


def stored(to: Any, key: Any, value: XExpression, held: bool) -> bool:
    """Write one value, computed first; tell whether it is done.

    ``held``: somebody else has the value, and may ask for it again.
    """
    if value._shape or NODE in (value._kind, to._kind) or tracing.is_active():
        return False
    own = 0 if held else readers.own_of(to._buffer, value)
    if not elements.selects(to, key) or not readers.freed(to._buffer, own):
        return False
    made: Any = results.evaluate(value) if own else None  # else its values are kept with it
    if made is not None or not value.lasting:
        one: Any = elements.array_of(value if made is None else made)[()]
    else:
        one = values_of(value)[()]
    if value._kind.dtype is not to._kind.dtype:
        one = one.item()
        if one.__class__ not in to._kind.stored:
            one = elements.fitting(to._kind, one)
    reads = getattr(value, "_operands", ())
    return one is not None and readers.wrote(to._buffer, own, reads, elements.filled, to, key, one)


def computed(value: Any, node: Node, dtype: Any) -> NumpyArray:
    """Return what is written, in memory of its own: by what is known of its kind, if it has one."""
    known = value.__class__ is XExpression and value.dtype is dtype
    made = value if known else XExpression(converted(node, dtype))
    return np.asarray(made.numpy())


def ready(to: Any, value: Any, shape: tuple[int, ...] | None = None) -> Any:
    """Return a number, or elements apart from a container's memory, of what it stores.

    None if NumPy does not make them of its dtype as we do, or if they have not the shape asked for.
    """
    kind = to._kind
    if value.__class__ in kind.stored:
        return value
    if value.__class__ is not np.ndarray and not isinstance(value, XExpression):
        return elements.fitting(kind, value)
    if shape not in (None, value.shape):
        return None
    values: Any
    if value.__class__ is np.ndarray:
        values = value
    else:
        given: Any = value
        lazy = given.__class__ is XExpression
        made: Any = results.evaluate(given) if lazy else given._evaluated()
        if made is None or made._kind is NODE:
            return None
        values = elements.array_of(made)
    values = elements.in_dtype(values, kind.dtype)
    if values is None or not np.may_share_memory(values, elements.array_of(to)):
        return values
    return values.copy()
