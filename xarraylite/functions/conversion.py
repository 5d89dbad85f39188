"""Containers from values that exist already: lists, arrays, buffers, other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, cast

import numpy as np

from .._config import settings
from .._errors import DTypeError, ShapeError
from .._later import extents, formats, nested
from ..arrays import adapt as adapting
from ..arrays import xarray
from ..arrays.adapt import adapt
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.ownership import remembered
from ..arrays.scalar import XFloat64
from ..arrays.xarray import XArray
from ..assignment import results
from ..dtypes.names import as_dtype, float64
from ..ir.kind import NODE, owner_class
from ..layout.strided import DYNAMIC, ROW_MAJOR, Strided
from ..memory.dlpack import imported
from ..operands.convert import SEVERAL, LayoutLike, as_order, listed, pinned_dtype, uniform
from ..operands.moving import Parted
from ..operands.nodes import NUMBERS
from ..operands.non_numeric import array_of, dtype_of, numbers_of, or_numpy
from ..operands.tracing import is_traced, running, writer
from .arguments import check_device
from .creation import MemoryOrder, ordered


def asarray(
    a: object,
    dtype: object = None,
    order: MemoryOrder = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
    layout: LayoutLike = None,
    strides: Sequence[int] | None = None,
    shape: object = None,
) -> XContainer:
    """Return ``a`` as a container.

    Parameters
    ----------
    a : array, expression, scalar, buffer or nested lists
        A container of the wanted dtype and layout is returned as it is; of a lazy array the memory
        that it stands for from then on, so that a function that writes into what it is given does.
    dtype : dtype, optional
        By default that of the values.
    order : {"C", "F"}, optional
        NumPy's names of the layouts row-major and column-major.
    device : {"cpu"}, optional
        Where to put it.
    copy : bool, optional
        True: always copy.  False: never; refuse where that is impossible.  By default copy
        everything but arrays of ours, so that what others write later is not seen.
    layout, strides : optional
        As for `XArray`.  With a `Nested` shape also ``"blocked"``: tiles of the extents of the
        inner layers, each stored contiguously.
    shape : Shape, Nested or sequence of int, optional
        What the shape of the values must be.  A `Nested` with the layout ``"blocked"`` may also
        describe them folded: mode ``k`` of the outer layer counts the blocks along dimension
        ``k``, and mode ``k`` of the inner layer the elements of a block.

    Returns
    -------
    XContainer
        An `XArray` unless ``a`` is a container already.

    Raises
    ------
    ValueError
        If ``copy=False`` and a copy is needed.
    DTypeError, ShapeError
        If the values are no numbers, ragged, or not of the shape that was given.
    LayoutError
        If the layout does not fit.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.asarray([[1, 2], [3, 4]], dtype="bfloat16").dtype
    dtype(bfloat16)
    >>> blocks = xl.Nested([2, 2], xl.Shape(2, 2, 3, 4))
    >>> str(xl.asarray(xl.zeros((6, 8)), shape=blocks, layout="blocked").layout)
    '{1,0:T(3,4)}'
    """
    plain = order is device is layout is None and strides is None and shape is None
    if plain and dtype is None and not copy and isinstance(a, XContainer):
        return a
    if running.value and layout is None and strides is None and shape is None:
        traced = _traced(a, dtype, copy)
        if traced is not None:
            return traced
    try:
        if plain and copy is not False:
            made = _copied(a, dtype, copy)
            if made is not None:
                return made
        return _made(a, dtype, order, device, copy, layout, strides, shape)
    except DTypeError:
        other = array_of(a, dtype, objects=True)
        if other is not None:
            return cast("XContainer", other)
        if dtype is None:
            raise
        found = numbers_of(a, as_dtype(dtype), "asarray")
        a = a if found is None else found
        return _made(a, dtype, order, device, copy, layout, strides, shape)


def _traced(a: object, dtype: object, copy: bool | None) -> XContainer | None:
    """Return an argument of a traced function, which has no memory yet, as it is; else None."""
    array: Any = a
    if writer() is None or a.__class__ is not XExpression or not is_traced(array.node):
        return None
    if dtype is not None:
        return cast("XContainer", array.astype(dtype))
    return cast("XContainer", array.copy() if copy else array)


def _made(
    values: object,
    dtype: object,
    order: MemoryOrder,
    device: str | None,
    copy: bool | None,
    layout: LayoutLike,
    strides: Sequence[int] | None,
    shape: object,
) -> XContainer:
    check_device(device, "asarray")
    # A dtype is asked whether it *is* None: NumPy's float64 equals it.
    own = dtype is None or dtype == getattr(values, "dtype", 0)
    if own and all([x is None for x in (copy, layout, strides, shape)]):
        values = remembered(values)
    layout = ordered(None if order in ("A", "K", "a", "k") else order, layout, "asarray")
    if shape is not None:
        values, layout = _shaped(values, shape, layout)
    wanted = pinned_dtype(dtype)
    # Of a copy it does not matter how the values lie.
    lies_so = layout is None or copy is True or _lies_so(values, layout, order is not None)
    plain = strides is None and lies_so
    as_is = plain and copy is not True
    if as_is and isinstance(values, XContainer) and (wanted is None or wanted == values.dtype):
        return values
    if copy is False:
        listed = isinstance(values, (list, tuple, XExpression)) or type(values) in NUMBERS
        if listed or not plain:
            raise ValueError(f"asarray: {type(values).__name__} cannot be used without a copy")
        made = adapt(values)
        if wanted is not None and made.dtype != wanted:
            raise ValueError(f"asarray: conversion of {made.dtype} to {wanted} needs a copy")
        return made
    owner: type[XArray] = XArray
    if isinstance(values, XExpression):  # of fixed rank or shape, where that is
        owner = owner_class(values._fixed_now(), wanted or values.dtype, values.shape)
    return owner(values, dtype, layout, strides)


#: Lists of these alone, and of such lists, NumPy reads as we do.
_NUMBERS = frozenset((int, float, XFloat64))


def _copied(values: Any, dtype: object, copy: bool | None) -> XContainer | None:
    """Return a few elements in a new container, or a container as it is; None for all others."""
    cls, by_rows = values.__class__, settings.default_layout == ROW_MAJOR.value
    if cls is list or cls is tuple:
        wanted = pinned_dtype(dtype)
        many = uniform(values, wanted) if len(values) > SEVERAL else None
        if many is not None and (wanted is None or wanted is many.dtype):
            return XArray._adopted(many, own=True) if by_rows else None
        if many is not None:
            values = listed(many, wanted, False)
        else:
            if dtype is None and _NUMBERS.issuperset(map(type, values)):
                return xarray.owned(np.array(values)) if by_rows else None
            nested = {*map(type, values)} == {list}
            classes = {*map(type, chain(*values) if nested else values)}
            if dtype is None and classes == {str} and not nested:
                return cast("XContainer", np.array(values))  # as it is found to be in the end
            values = listed(values, wanted, classes <= _NUMBERS)
    elif isinstance(values, XContainer):
        wanted = pinned_dtype(dtype)
        if not copy and (wanted is None or wanted is values._dtype):
            return values
        if wanted is None or wanted is values._dtype:
            return xarray.duplicated(values) if by_rows else None
        if values._kind is NODE:
            return None
        values = values.astype(wanted)
    elif dtype is not None:
        return None
    elif cls is XExpression and not copy:
        own = remembered(values) if values._kind is not NODE else None
        return own if isinstance(own, XContainer) else None
    elif cls in NUMBERS:
        values = np.asarray(values)
    if values.__class__ is XExpression:
        done = results.evaluate(values)
        return done if by_rows and done is not None and done.static_layout is ROW_MAJOR else None
    return xarray.owned(values) if by_rows and values.__class__ is np.ndarray else None


def array(
    object: object,
    dtype: object = None,
    *,
    copy: bool | None = True,
    order: MemoryOrder = None,
    subok: bool = False,
    ndmin: int = 0,
    layout: LayoutLike = None,
) -> XContainer:
    """Return values in a new container.

    Parameters
    ----------
    object : array, expression, scalar or nested lists
        The elements.
    dtype : dtype, optional
        By default that of the values.
    copy : bool, default True
        None or False: as for `asarray`.
    order, layout : optional
        As for `asarray`.
    subok : bool
        Accepted as NumPy does; there are no subclasses.
    ndmin : int, default 0
        Least rank; extents of 1 are put in front.

    Returns
    -------
    XContainer
        An `XArray`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.array([1, 2], float, ndmin=2)
    XArray([[1., 2.]])
    """
    if order is layout is None and copy:
        try:
            few: Any = _copied(object, dtype, True)
        except DTypeError:  # which `asarray` looks into
            few = None
        if ndmin and few.__class__ is XArray:  # of any rank, and new
            place = Strided.row_major((1,) * (ndmin - few.ndim) + few.shape)
            few._lie(few._buffer, place, few._dtype)
        if few is not None and (not ndmin or few.__class__ is XArray):
            return few  # type: ignore[no-any-return]
    made: Any = asarray(object, dtype, order, copy=copy, layout=layout)
    if made.ndim >= ndmin:
        return cast("XContainer", made)
    if isinstance(made, np.ndarray):
        return cast("XContainer", np.array(made, ndmin=ndmin))
    return XArray(made._reshaped((1,) * (ndmin - made.ndim) + made.shape))


@or_numpy
def copy(a: object, order: MemoryOrder = "K", subok: bool = False) -> XContainer:
    """Return the elements in a new container, in the same order of dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.copy(xl.arange(3)[1:])
    XArray([1, 2])
    """
    if order in ("A", "K", "a", "k") and isinstance(a, (XExpression, Parted)):
        return cast("XContainer", cast("Any", a).copy())
    return asarray(a, order=order, copy=True)


def ascontiguousarray(a: object, dtype: object = None) -> XContainer:
    """Return the elements in row-major memory; a container that has it already as it is.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.ascontiguousarray(xl.zeros((2, 3), order="F")).strides
    (3, 1)
    """
    return _laid(a, dtype, "C")


def asfortranarray(a: object, dtype: object = None) -> XContainer:
    """Return the elements in column-major memory; a container that has it already as it is.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.asfortranarray(xl.zeros((2, 3))).strides
    (1, 2)
    """
    return _laid(a, dtype, "F")


def _laid(a: object, dtype: object, order: MemoryOrder) -> XContainer:
    plain = isinstance(a, XContainer) and dtype is None and a._kind is not NODE
    if plain and a._kind.strides is None:  # type: ignore[attr-defined]
        rank = len(a._shape)  # type: ignore[attr-defined]
        if rank == 1 or (rank and order == "C"):  # a vector lies in either order
            return a  # type: ignore[return-value]
    small = xarray.duplicated(cast("XContainer", a)) if plain and order == "C" else None
    if small is not None and small.ndim:
        return small
    made = asarray(a, dtype, order)
    return made if made.ndim else cast("XContainer", made.reshape((1,)))


def frombuffer(
    buffer: object, dtype: object = float, count: int = -1, offset: int = 0
) -> XContainer:
    """Return a container of rank 1 over the memory of an object, without a copy.

    Parameters
    ----------
    buffer : buffer
        Bytes, bytearray, memoryview, mmap and others.
    dtype : dtype, default float64
        Of the elements.
    count : int, default -1
        How many; as many as there are.
    offset : int, default 0
        Byte where the first begins.

    Returns
    -------
    XContainer
        Read-only if the memory is.

    Raises
    ------
    ValueError
        If the memory has not so many bytes.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.frombuffer(bytes([1, 0, 2, 0]), "int16")
    XArray([1, 2], dtype=int16)
    """
    other: Any = None
    try:
        wanted = float64 if dtype is float else as_dtype(dtype)
    except DTypeError:
        other = wanted = dtype_of(dtype)  # type: ignore[assignment]
        if other is None:
            raise
    if buffer.__class__ is not bytes and isinstance(buffer, XExpression):
        buffer = buffer.data
    try:
        made = np.frombuffer(buffer, wanted, count, offset)  # type: ignore[call-overload]
    except (ValueError, BufferError) as error:
        raise ValueError(f"frombuffer({type(buffer).__name__}, {wanted}): {error}") from None
    if other is not None:
        return cast("XContainer", made)
    known = adapting.adapted(made)
    return adapt(made) if known is None else known


def fromstring(string: str, dtype: object = float, count: int = -1, *, sep: str) -> XContainer:
    """Return the numbers of a text.

    Parameters
    ----------
    string : str
        Numbers, with something between them.
    dtype : dtype, default float64
        Of the elements.
    count : int, default -1
        How many to read; as many as there are.
    sep : str
        What stands between numbers; space stands for any white space.

    Raises
    ------
    ValueError
        If the text has not so many numbers, or something else in it.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fromstring("1, 2, 3", dtype=int, sep=",")
    XArray([1, 2, 3])
    """
    wanted = dtype_of(dtype) or as_dtype(dtype)
    return asarray(np.fromstring(string, wanted, count, sep=sep), wanted)


def fromfile(
    file: Any, dtype: object = float, count: int = -1, sep: str = "", offset: int = 0
) -> XContainer:
    """Return the elements of a file without a header, as ``a.tofile`` writes it.

    Parameters
    ----------
    file : path or file
        Bytes of elements, or a text with a separator.
    dtype : dtype, default float64
        Of the elements.
    count : int, default -1
        How many to read; as many as there are.
    sep : str
        What stands between numbers, if the file is text.
    offset : int, default 0
        Byte where the first begins.

    Examples
    --------
    >>> import tempfile
    >>> import xarraylite as xl
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     xl.asarray([1.0, 2.0]).tofile(file.name)
    ...     xl.fromfile(file.name)
    XArray([1., 2.])
    """
    wanted = dtype_of(dtype) or as_dtype(dtype)
    return asarray(np.fromfile(file, wanted, count, sep, offset), wanted.base)


def _lies_so(values: object, layout: LayoutLike, in_any: bool) -> bool:
    """Tell whether a container has the layout that is asked for already.

    A vector, say, lies in either of NumPy's orders, which is enough ``in_any`` case.
    """
    order = as_order(layout, "asarray")
    if not isinstance(values, XContainer) or order is DYNAMIC:
        return False
    flag = "c_contiguous" if order is ROW_MAJOR else "f_contiguous"
    return values.layout == order or (in_any and getattr(values.flags, flag))


def _shaped(values: object, shape: object, layout: LayoutLike) -> tuple[object, LayoutLike]:
    """Return values as an array of a shape, and a layout that the shape may choose."""
    array = values if isinstance(values, (XExpression, np.ndarray)) else XArray(values)
    if isinstance(shape, nested.Nested) and layout == "blocked":
        return array, formats.blocked_layout(shape, array.shape)
    wanted = extents.Shape.of(shape).extents
    if array.shape != wanted:
        raise ShapeError(f"asarray: values of shape {array.shape} are not of the shape {wanted}")
    return array, layout


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> XContainer:
    """Return a container over the memory of any object that speaks DLPack.

    Parameters
    ----------
    x : object
        Has ``__dlpack__``; its memory must be on the CPU.
    device : {"cpu"}, optional
        Where to put it.
    copy : bool, optional
        True: copy.  False: share the memory, or raise.  By default: copy what cannot be shared.

    Returns
    -------
    XContainer
        An `XArray`; read-only if the memory is.

    Raises
    ------
    BufferError
        If the object refuses; for False also of what only a copy could give, such as tiles.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> xl.from_dlpack(np.arange(3))
    XArray([0, 1, 2])
    """
    check_device(device, "from_dlpack")
    ours = isinstance(x, XContainer) and x._kind is not NODE  # whose memory needs no capsule
    shared = adapt(np.asarray(x) if ours else imported(x, None if copy else copy))
    return XArray(shared) if copy else shared
