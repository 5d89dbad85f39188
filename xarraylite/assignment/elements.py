"""Elements, slices and fills that need no engine.

Views of strided memory by integers and slices are arithmetic on a few integers; numbers are written
through a NumPy array over the same memory, which a container makes once.  Everything else, and
whatever is refused, takes the general way, which has the messages: each function says whether it
did its part, and where it did not nothing has happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import LayoutError
from .._lazy_import import later
from ..dtypes.names import NumpyArray
from ..index.broadcast import MAX_RANK
from ..ir.kind import NODE, row_major, strides_of
from ..ir.node import RANK
from ..layout.strided import ROW_MAJOR
from ..memory.buffer import Buffer
from ..memory.slabs import take
from ..operands import tracing
from . import direct

if TYPE_CHECKING:
    from ..overlap import overlap
else:
    overlap = later(".overlap.overlap")

_new = object.__new__


#: Elements of what is made here, and up to which one thread copies and fills as fast as kernels.
FEW, MANY = 1 << 14, 1 << 20


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
            if found is None or found[1] <= 0:
                return None
            low, length, pace = found
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


_PLAIN = _BASIC | {np.int64}


def is_plain(key: tuple[Any, ...]) -> bool:
    """Tell whether an index has no arrays, so that it means to NumPy what it means here."""
    return _PLAIN.issuperset(map(type, key))


def view_of(of: Any, shape: tuple[int, ...]) -> Any:
    """Return a view of row-major memory under another shape of as many elements."""
    made = _new(of._view_class)
    made._buffer, made._dtype, made._start, made._shape = of._buffer, of._dtype, of._start, shape
    kind, rank = of._kind, len(shape)
    made._kind = kind.places.get(rank) or row_major(kind.dtype, rank, min(kind.fixed, RANK))
    return made


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


#: Stands for what an index of strided memory does not find.
_NOTHING: NumpyArray = np.empty(0)


def one(of: Any, key: Any) -> Any:
    """Return what NumPy finds in strided memory under an index; an array if it finds no element."""
    if of._kind is NODE:
        return _NOTHING
    try:
        return array_of(of)[key]
    except (IndexError, LayoutError):
        return _NOTHING


#: Up to here Python floats, and ints, are numbers of a shorter float once rounded.
_MOST: dict[type, tuple[float, int]] = {
    np.float32: (float(np.finfo(np.float32).max), 1 << 24),
    np.float16: (65504.0, 1 << 11),
}
_MOST[np.complex64] = _MOST[np.float32]


def fitting(kind: Any, value: Any) -> Any:
    """Return a Python number as one that memory of a kind stores; None for anything else."""
    limits = _MOST.get(kind.dtype.type)
    if limits is None or not kind.stored:
        return None
    cls = value.__class__
    if cls is not float and cls is not int and (cls is not complex or kind.dtype.char != "F"):
        return None
    most = limits[cls is int]
    fits = -most <= value.real <= most and -most <= value.imag <= most
    return kind.dtype.type(value) if fits else None


def selects(to: Any, key: Any) -> bool:
    """Tell whether integers and slices select elements, of which not many are filled at once."""
    if key.__class__ is tuple:
        return all([item.__class__ is int or item.__class__ is slice for item in key])
    if key.__class__ is int:
        return True
    return (key.__class__ is slice or key is Ellipsis) and to.size <= MANY


def stored(to: Any, key: Any, value: Any) -> bool:
    """Write one number to the elements that integers and slices select; tell whether it is done.

    The number is of a class that the kind of ``to`` stores as NumPy does.
    """
    return not direct.waiting_for(to._buffer) and selects(to, key) and put(to, key, value)


def put(to: Any, key: Any, value: Any) -> bool:
    """Write one number where nobody waits for the old ones; tell whether it is done."""
    try:
        array_of(to)[key] = value
    except REFUSED:
        return False
    to._buffer.snapshot()  # the next write counts its references, which costs less than asking
    return True


def stretched(to: Any, value: Any) -> bool:
    """Write memory of another shape and the same dtype, stretched; tell whether it is done."""
    if value.lasting or value._kind is NODE or to._kind is NODE or value._dtype is not to._dtype:
        return False
    if value._shape == to._shape or to.size > MANY or tracing.is_active():
        return False
    if len(value._shape) > len(to._shape) or direct.waiting_for(to._buffer):
        return False
    try:
        array, values = array_of(to), array_of(value)
        array[...] = values.copy() if np.may_share_memory(array, values) else values
    except REFUSED:
        return False
    return True


#: What NumPy raises for an index or a number that we refuse with words of our own.
REFUSED = (IndexError, OverflowError, ValueError, TypeError)


def array_of(container: Any) -> NumpyArray:
    """Return strided memory as a NumPy array, which is made once.

    It is read-only where an element would be written under two indices.
    """
    made: NumpyArray
    try:
        made = container._array
    except AttributeError:
        buffer, shape = container._buffer, container._shape
        if container._kind.strides is None and 0 not in shape:
            start = buffer._start + container._start
            made = container._array = np.ndarray(shape, container._dtype, buffer._memory, start)
            return made
        made = buffer.view(container._dtype, container._map)
        if container._kind.strides is not None and made.flags.writeable:
            span = overlap.Span(0, made.shape, made.strides, made.itemsize)
            made.flags.writeable = not overlap.self_overlaps(span)
        container._array = made
    return made


def copied(of: Any) -> Any:
    """Return a container of row-major memory in new memory; None if it is large or tiled."""
    kind = of._kind
    if kind is NODE or of.size > MANY:
        return None
    made = new_container(type(of), kind, of._shape, of.size)
    start, nbytes = of._start + of._buffer._start, made._buffer.nbytes
    first = made._buffer._start
    made._buffer._memory[first : first + nbytes] = of._buffer._memory[start : start + nbytes]
    return made


def new_container(cls: type[Any], kind: Any, shape: tuple[int, ...], size: int) -> Any:
    """Return a row-major container of a class over new memory, which is not filled."""
    buffer = _new(Buffer)
    buffer.special = buffer.shared = False
    buffer.nbytes = nbytes = size * kind.dtype.itemsize
    buffer._memory, buffer._start, buffer.address = take(nbytes)
    made = _new(cls)
    made._buffer, made._shape, made._start = buffer, shape, 0
    made._kind, made._dtype, made._policy = kind, kind.dtype, ROW_MAJOR
    return made


def number(of: Any) -> Any:
    """Return the only element of strided memory as a Python scalar."""
    array: Any = np.ndarray((), of._dtype, of._buffer._memory, of._buffer._start + of._start)
    return array.item()
