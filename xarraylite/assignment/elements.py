"""Elements that are read and written, and fills, without the engine.

Numbers are written through a NumPy array over the same memory, which a container makes once.
Everything else, and whatever is refused, takes the general way, which has the messages: each
function says whether it did its part, and where it did not nothing has happened.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._config import settings
from .._errors import LayoutError
from .._later import overlap
from ..dtypes.names import NumpyArray
from ..dtypes.promotion import int_bounds
from ..ir.kind import NODE, row_major
from ..layout.strided import ROW_MAJOR
from ..memory.buffer import Buffer
from ..memory.slabs import take
from ..operands import tracing
from ..operands.convert import listed
from ..operands.nodes import COPIED_BYTES, NUMBERS
from ..runtime.floating_errors import silently
from . import readers

_new = object.__new__


#: Elements of what is made here, and up to which one thread copies and fills as fast as kernels.
FEW, MANY = 1 << 14, 1 << 20


#: Classes of operands of which a copy stands in an expression (`container_of`).
COPIED = frozenset((list, tuple, np.ndarray))

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

#: Codes of the integers that floats between their bounds become by losing what is behind the point.
_WHOLE = "bhilqBHILQ"


def fitting(kind: Any, value: Any) -> Any:
    """Return a number as one that memory of a kind stores; None where it may not be stored."""
    numpys = isinstance(value, np.generic)
    value = value.item() if numpys else value
    cls, dtype = value.__class__, kind.dtype
    if cls is bool:
        value, cls = int(value), int
    if dtype.char == "?" and kind.stored and cls in (int, float, complex):
        return bool(value)
    if dtype.char in _WHOLE and kind.stored and (cls is float or numpys):
        low, high = int_bounds(dtype)
        return int(value) if cls in (int, float) and low - 1 < value < high + 1 else None
    if cls in kind.stored:
        return value
    limits = _MOST.get(dtype.type)
    if limits is None or not kind.stored:
        return None
    if cls is not float and cls is not int and (cls is not complex or dtype.char != "F"):
        return None
    most = limits[cls is int]
    fits = -most <= value.real <= most and -most <= value.imag <= most
    return dtype.type(value) if fits else None


#: Classes of what selects elements without arrays.
_PLACES = frozenset((int, slice, type(None), type(Ellipsis)))


def selects(to: Any, key: Any) -> bool:
    """Tell whether integers and slices select elements, of which not many are filled at once."""
    if key.__class__ is tuple:
        return _PLACES.issuperset(map(type, key))
    if key.__class__ is int:
        return True
    return (key.__class__ is slice or key is Ellipsis) and to.size <= MANY


def stored(to: Any, key: Any, value: Any) -> bool:
    """Write one number to the elements that integers and slices select; tell whether it is done.

    The number is of a class that the kind of ``to`` stores as NumPy does.
    """
    return selects(to, key) and readers.wrote(to._buffer, 0, (), filled, to, key, value)


def filled(to: Any, key: Any, value: Any) -> bool:
    """Have NumPy write what an index selects, where nobody waits; tell whether it is done."""
    try:
        array_of(to)[key] = value
    except REFUSED:
        return False
    return True


def put_at(to: Any, key: Any, value: Any, used: Any = None) -> bool:
    """Write memory where integers and slices select elements; tell whether it is done.

    It is of a dtype that NumPy converts as we do, stretched perhaps, and may be NumPy's.  It was
    computed from ``used``, which nobody else holds.
    """
    own = value.__class__ is not np.ndarray
    if own and (value.lasting or value._kind is NODE):
        return False
    if to._kind is NODE or tracing.is_active() or not selects(to, key):
        return False
    try:
        place = array_of(to)[key]
        values = array_of(value) if own else value
        if place.__class__ is not np.ndarray or values.ndim > place.ndim or place.size > MANY:
            return False
        values = in_dtype(values, to._dtype)
        if values is None:
            return False
        values = values.copy() if np.may_share_memory(place, values) else values
        held, reads = readers.own_of(to._buffer, used), getattr(used, "_operands", ())
        return readers.wrote(to._buffer, held, reads, place.__setitem__, ..., values)
    except REFUSED:
        return False


def in_dtype(values: NumpyArray, dtype: Any) -> NumpyArray | None:
    """Return values in the dtype of what is written; None where NumPy converts in another way.

    Or warns, or refuses: of rank 0 a value that the dtype may lack.
    """
    own = values.dtype
    if own is dtype:
        return values
    if own.isbuiltin != 1 or dtype.isbuiltin != 1 or own.char in "gG":  # long double
        return None
    whole = own.kind in "iu" and dtype.kind in "iu"
    if not (whole or np.can_cast(own, dtype, "same_kind")):
        return None
    if not values.ndim and not np.can_cast(own, dtype, "safe"):
        return None
    return silently(values.astype, dtype)


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
        # With no call between, where another thread could give it another place.
        buffer, kind, shape, start = (
            container._buffer,
            container._kind,
            container._shape,
            container._start,
        )
        if kind.strides is None and 0 not in shape:
            made = np.ndarray(shape, kind.dtype, buffer._memory, buffer._start + start)
        else:
            still = container._still()
            buffer, shape = still._buffer, still._shape
            made = buffer.view(still._dtype, still._map)
            if still._kind.strides is not None and made.flags.writeable:
                made.flags.writeable = not overlap.repeats(still._map)
        if container._buffer is buffer and container._shape is shape:
            container._array = made  # it does not lie elsewhere by now
    return made


def new_container(cls: type[Any], kind: Any, shape: tuple[int, ...], size: int) -> Any:
    """Return a row-major container of a class over new memory, which is not filled."""
    buffer = _new(Buffer)
    buffer.special, buffer.shared, buffer.owner = False, False, None
    buffer.nbytes = nbytes = size * kind.dtype.itemsize
    buffer._memory, buffer._start, buffer.address = take(nbytes)
    made = _new(cls)
    made._buffer, made._shape, made._start = buffer, shape, 0
    made._kind, made._dtype, made._policy = kind, kind.dtype, ROW_MAJOR
    return made


def is_ordinary(array: NumpyArray) -> bool:
    """Tell whether numbers in an array lie by rows, as this machine has them."""
    dtype = array.dtype
    whole = dtype.type in NUMBERS and dtype.isnative and dtype.names is None
    return whole and array.flags.c_contiguous


def container_of(cls: type[Any], values: Any) -> Any:
    """Return nested lists of numbers in a new container of a class; others as they are.

    So are few numbers in an array of NumPy, which may be written before an expression that reads
    them is evaluated: to copy them costs less than to borrow them.
    """
    if tracing.is_active():
        return values
    most = settings.max_result_bytes
    if values.__class__ is np.ndarray:
        array, most = values if is_ordinary(values) else None, min(most, COPIED_BYTES)
    else:
        array = listed(values, None)
    if array is None or array.nbytes > most:  # the general way has the words
        return values
    made = new_container(cls, row_major(array.dtype, array.ndim), array.shape, array.size)
    array_of(made)[...] = array
    return made


def number(of: Any) -> Any:
    """Return the only element of strided memory as a Python scalar."""
    array: Any = np.ndarray((), of._dtype, of._buffer._memory, of._buffer._start + of._start)
    return array.item()
