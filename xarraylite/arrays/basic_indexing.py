"""Views of strided memory by basic indices: integers, slices, ``...`` and new axes.

``a[1:-1]`` is arithmetic on a few integers: an integer moves the start by steps of its dimension;
a slice moves it, multiplies the step and sets the extent.  Machine code does the same for a process
that views often (`codegen.cpython.views`).  Any other index, tiled memory, and whatever is refused
take the general way, which has the messages (`index.indices`, then `Strided.apply` or
`TiledMap.apply`): each function returns None then, and nothing has happened.
"""

from __future__ import annotations

from typing import Any

from ..index.broadcast import MAX_RANK
from ..ir.kind import NODE, strides_of

_new = object.__new__


def part(of: Any, key: Any) -> Any:
    """Return a view of what integers, slices and new axes select; None for any other index."""
    cls = key.__class__
    if cls in _TAKEN or (cls is tuple and not _TAKEN.isdisjoint(map(type, key))):
        return _with_new_axes(of, key if cls is tuple else (key,))
    try:
        steps = of._steps
    except AttributeError:
        if of._kind is NODE:
            return None
        steps = of._steps = strides_of(of._kind, of._shape)
    shape = of._shape
    if key.__class__ is not tuple:
        key = (key,)
    count = len(key)
    if count > len(shape) or not count:
        return None
    own: tuple[int, ...] = ()
    paces: tuple[int, ...] = ()
    start = 0
    item: Any
    for item, extent, step in zip(key, shape, steps, strict=False):
        if item.__class__ is slice:
            found = _resolved(item, extent)
            if found is None:
                return None
            low, length, pace = found if found[1] > 0 else _NOTHING
            start += low * step
            own += (length,)
            paces += (step * pace,)
        elif item.__class__ is int:
            if item < 0:
                item += extent
            if not 0 <= item < extent:
                return None
            start += item * step
        else:
            return None
    if count < len(shape):
        own += shape[count:]
        paces += steps[count:]
    made = _new(of._view_class)
    made._buffer = of._buffer
    made._dtype = dtype = of._dtype
    made._shape, made._steps = own, paces
    made._start = of._start + start * dtype.itemsize
    made._kind = of._kind.beside(own, paces)
    return made


def _with_new_axes(of: Any, key: tuple[Any, ...]) -> Any:
    dots = key.count(Ellipsis) if all([item.__class__ in _BASIC for item in key]) else 2
    given = [item for item in key if item is not None and item is not Ellipsis]
    rank = len(of._shape)
    if of._kind is NODE or dots > 1 or len(given) > rank:
        return None
    if not rank and of._buffer.made is not None:
        return None  # a product is a value, of which no views are made
    if rank + len(key) - len(given) > MAX_RANK:  # perhaps
        return None
    rest = (slice(None),) * (rank - len(given))
    if dots:
        at = key.index(Ellipsis)
        key = (*key[:at], *rest, *key[at + 1 :])
    else:
        key = (*key, *rest)
    made = part(of, tuple([item for item in key if item is not None]) or (slice(None),))
    if made is None:
        return None
    shape, steps, place = list(made._shape), list(made._steps), 0
    for item in key:
        if item is None:
            shape.insert(place, 1)
            steps.insert(place, 1)
        place += item.__class__ is not int
    made._shape, made._steps = tuple(shape), tuple(steps)
    made._kind = of._kind.beside(made._shape, made._steps)
    return made


#: Classes of what an index may have that takes no dimension, and of all that `part` knows.
_TAKEN = frozenset((type(None), type(Ellipsis)))
_BASIC = _TAKEN | {int, slice}

#: First position, length and step of a slice that selects nothing.
_NOTHING = (0, 0, 1)


def whole(of: Any) -> Any:
    """Return a view of all elements of a container, which goes on where it is when that moves."""
    if of._kind is NODE:
        return of._over(of._map)
    made = _new(of._view_class)
    made._buffer, made._dtype = of._buffer, of._dtype
    made._shape, made._start = of._shape, of._start
    made._kind = of._kind.loose()
    return made


def _resolved(item: slice, extent: int) -> tuple[int, int, int] | None:
    """Return first position, length and step of a slice; None if it has none."""
    try:
        low, high, pace = item.indices(extent)
    except (TypeError, ValueError):
        return None
    return low, (high - low + pace - (1 if pace > 0 else -1)) // pace, pace
