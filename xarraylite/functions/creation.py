"""Making containers that are filled with one value, or not at all; none needs a compiler."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Literal, SupportsIndex, TypeAlias, cast

import numpy as np

from .._config import settings
from .._errors import DTypeError, LayoutError, SizeError
from .._later import placement
from ..arrays import xarray
from ..arrays.at_once import COMMON
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..assignment import elements
from ..assignment.assign import converted
from ..dtypes.names import NumpyArray, as_dtype, dtype_name, float64, kind
from ..dtypes.promotion import int_bounds
from ..index.broadcast import MAX_RANK, MAX_SIZE, as_shape
from ..ir import build
from ..ir.kind import NODE, Kind, owner_class, row_major
from ..ir.node import FREE, RANK, Node, Scalar
from ..layout.strided import COLUMN_MAJOR, ROW_MAJOR, Order, Strided
from ..layout.tiled import Map
from ..memory.pool import POOL_LIMIT
from ..operands.convert import LayoutLike, Policy, layout_of, raw, values_node, zeroed
from ..operands.non_numeric import array_of, dtype_of, numbers_of
from .arguments import check_device
from .jagged_like import makes_rows
from .partials import sibling

_ROW_MAJOR = ROW_MAJOR.value

#: Elements up to which arrays of one number are copies of some that are kept, 4 MiB at most.
_SMALL = 1024

ShapeLike: TypeAlias = "SupportsIndex | Iterable[SupportsIndex]"
MemoryOrder: TypeAlias = "Literal['C', 'F', 'A', 'K'] | None"


def empty(
    shape: ShapeLike,
    dtype: object = None,
    order: MemoryOrder = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
    strides: Sequence[int] | None = None,
) -> XArray:
    """Return a container whose elements are not initialised.

    Parameters
    ----------
    shape : int or sequence of int
        Extents.
    dtype : dtype, default float64
        Dtype of the elements.
    order : {"C", "F"}, optional
        NumPy's names of the layouts row-major and column-major.
    device : {"cpu"}, optional
        Where to put it.
    layout, strides : optional
        As for `XArray`.

    Returns
    -------
    XArray
        The container.

    Raises
    ------
    ShapeError, SizeError, LayoutError
        For a shape that is no shape, too large, or does not fit the strides.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.empty((2, 3), layout="column_major").strides
    (1, 2)
    """
    if order is device is layout is None and strides is None:
        made: XArray | None = _usual(shape, dtype, np.empty)
        if made is not None:
            return made
    check_device(device, "empty")
    layout = ordered(order, layout, "empty")
    place, policy, kind_ = _place(shape, dtype, layout, strides, "empty")
    return XArray._own(raw(place, kind_), place, kind_, policy, layout)


def _usual(shape: object, dtype: object, make: Callable[..., NumpyArray]) -> Any:
    """Return a new row-major container of a tuple of ints, of zeros if NumPy's function makes such.

    None where more is asked for.
    """
    try:
        kind_ = float64 if dtype is None else as_dtype(dtype)
    except DTypeError:
        kind_ = None
    made: Any = None if kind_ is None else xarray.zeros(shape, kind_)
    if made is not None:
        return made
    extents: Any = (shape,) if shape.__class__ is int else shape
    extents = tuple(extents) if extents.__class__ is list else extents
    if extents.__class__ is not tuple:
        return None
    size = room = 1
    for extent in extents:
        if extent.__class__ is not int or extent < 0:
            return None
        size *= extent
        room *= extent or 1
    if room > MAX_SIZE:
        return None
    if kind_ is None:
        other = dtype_of(dtype)
        return None if other is None else make(extents, other)
    large = size * kind_.itemsize > settings.max_result_bytes or len(extents) > MAX_RANK
    if large or settings.default_layout != _ROW_MAJOR:
        return None
    if make is np.zeros and size * kind_.itemsize > POOL_LIMIT and kind_ in COMMON:
        return XArray._adopted(np.zeros(extents, kind_))  # whose pages come when they are touched
    made = elements.new_container(XArray, row_major(kind_, len(extents)), extents, size)
    if make is np.zeros:
        made._buffer.run()[:] = 0
    return made


def _place(
    shape: ShapeLike,
    dtype: object,
    layout: LayoutLike,
    strides: Sequence[int] | None,
    name: str,
) -> tuple[Map, Policy, np.dtype[Any]]:
    extents = as_shape(shape, name)
    kind_ = float64 if dtype is None else as_dtype(dtype)
    check_size(extents, kind_, name)
    place, policy = layout_of(extents, layout, strides, kind_, name)
    if strides is not None:
        XArray._refuse_overlap(place, kind_)
    return place, policy, kind_


def check_size(shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> None:
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes > settings.max_result_bytes:
        raise SizeError(
            f"{name}: shape {shape} of {dtype_name(dtype)} needs {nbytes} bytes; the limit is "
            f"{settings.max_result_bytes} (setting max_result_bytes)"
        )


def zeros(
    shape: ShapeLike,
    dtype: object = None,
    order: MemoryOrder = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
    strides: Sequence[int] | None = None,
) -> XArray:
    """Return a container of zeros; parameters as for `empty`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.zeros(3, dtype="int32")
    XArray([0, 0, 0], dtype=int32)
    """
    if order is device is layout is None and strides is None:
        made: XArray | None = _usual(shape, dtype, np.zeros)
        if made is not None:
            return made
    check_device(device, "zeros")
    layout = ordered(order, layout, "zeros")
    place, policy, kind_ = _place(shape, dtype, layout, strides, "zeros")
    return XArray._own(zeroed(place, kind_), place, kind_, policy, layout)


def ones(
    shape: ShapeLike,
    dtype: object = None,
    order: MemoryOrder = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
    strides: Sequence[int] | None = None,
) -> XArray:
    """Return a container of ones; parameters as for `empty`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.ones(2)
    XArray([1., 1.])
    """
    kind_ = float64 if dtype is None else dtype
    return full(shape, 1, kind_, order, device=device, layout=layout, strides=strides)


def full(
    shape: ShapeLike,
    fill_value: object,
    dtype: object = None,
    order: MemoryOrder = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
    strides: Sequence[int] | None = None,
) -> XArray:
    """Return a container of one value.

    Parameters
    ----------
    shape : int or sequence of int
        Extents.
    fill_value : scalar or array
        The value; an array is stretched to the shape.
    dtype : dtype, optional
        By default that of the value.
    order, device, layout, strides : optional
        As for `empty`.

    Returns
    -------
    XArray
        The container.

    Raises
    ------
    OverflowError
        If an integer value does not fit the dtype.
    BroadcastError
        If an array does not stretch to the shape.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.full((2,), 7)
    XArray([7, 7])
    """
    if dtype is not None and type(fill_value) in (float, complex):
        try:
            fill_value = _castable(fill_value, as_dtype(dtype))
        except DTypeError:
            if dtype_of(dtype) is None:
                raise
    plain = type(fill_value) in build.WEAK_TYPES
    if plain and order is device is layout is None and strides is None:
        known = _made_before(shape, fill_value, dtype)
        if known is None:
            known = _of_number(shape, fill_value, dtype)
        if known is not None:
            return known
    check_device(device, "full")
    layout = ordered(order, layout, "full")
    if not plain:
        other = array_of(fill_value, object if fill_value is dtype is None else dtype)
        if other is not None:
            return np.full(shape, other)  # type: ignore[arg-type,return-value]
    filling: Any = fill_value if plain else _filling(fill_value, dtype)
    if dtype is None and plain:
        filling = build.weak_scalar(filling)
    kind_ = filling.dtype if dtype is None else as_dtype(dtype)
    place, policy, _ = _place(shape, kind_, layout, strides, "full")
    solid = isinstance(place, Strided) and place.is_contiguous()
    made = XArray._own((raw if solid else zeroed)(place, kind_), place, kind_, policy, layout)
    warns = isinstance(filling, Node)
    value = converted(filling, kind_) if warns else build.convert(filling, kind_)
    if isinstance(value, Scalar) and isinstance(place, Strided):
        made.buffer.view(kind_, place)[...] = value.value
    else:
        made[...] = XExpression(value)  # stretched, as whatever is assigned
    return made


def _of_number(shape: ShapeLike, number: object, dtype: object) -> XArray | None:
    """Return a row-major container of one of Python's numbers; None where more is asked for."""
    usual = _usual(shape, np.dtype(type(number)) if dtype is None else dtype, np.empty)
    if isinstance(usual, np.ndarray):
        usual[...] = number
        return cast("XArray", usual)
    stored = None if usual is None else _as_stored(usual._kind, number)
    if stored is not None:
        with suppress(OverflowError):
            usual._buffer.array(usual._dtype, usual._shape)[...] = stored
            return cast("XArray", usual)
    return None


def _castable(number: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number as a dtype takes it: what an array of it would be, if it does not fit."""
    if number.__class__ is complex:
        return number if kind(dtype) == "c" else np.complex128(number)
    if kind(dtype) not in "iu":
        return bool(number) if kind(dtype) == "b" else number
    low, high = int_bounds(dtype)
    return int(number) if low <= number <= high else np.float64(number)


def _filling(values: object, dtype: object) -> Node:
    """Return what an array is filled with; of text the numbers, where a dtype asks for them."""
    try:
        return values_node(values, None, "full")
    except DTypeError:
        numbers = None if dtype is None else numbers_of(values, as_dtype(dtype), "full")
        if numbers is None:
            raise
        return values_node(numbers, None, "full")


def _made_before(shape: Any, number: Any, dtype: object) -> XArray | None:
    """Return a copy of an array of one number that was made before; None where it is not small.

    Zeros have two signs that compare equal, so they are made anew, as complex numbers are.
    """
    shape = (shape,) if shape.__class__ is int else shape
    if not number or number.__class__ is complex or shape.__class__ is not tuple:
        return None
    if {*map(type, shape)} != {int} or not 0 < math.prod(shape) <= _SMALL:
        return None
    if settings.default_layout != _ROW_MAJOR or settings.max_result_bytes < 16 * _SMALL:
        return None
    try:
        values = _filled(shape, number, dtype)
    except (DTypeError, OverflowError, TypeError):  # which the usual way tells of
        return None
    return None if values is None else xarray.owned(values)


@functools.lru_cache(256, typed=True)
def _filled(shape: tuple[int, ...], number: Any, dtype: object) -> NumpyArray | None:
    """Return an array of one number; None if its dtype does not store it as it is."""
    known = row_major(as_dtype(type(number) if dtype is None else dtype), len(shape))
    stored = _as_stored(known, number)
    return None if stored is None else np.full(shape, stored, known.dtype)


def _as_stored(known: Kind, number: Any) -> Any:
    """Return a number that memory of a kind stores as NumPy does; None if it may not."""
    return number if type(number) in known.stored else elements.fitting(known, number)


def _like(
    values: XExpression,
    dtype: object,
    order: MemoryOrder,
    layout: LayoutLike,
    shape: ShapeLike | None,
    name: str,
) -> tuple[ShapeLike, object, LayoutLike]:
    """Return shape, dtype and layout of an array like ``values``."""
    layout = ordered(None if order in ("A", "K", "a", "k") else order, layout, name)
    extents = values.shape if shape is None else as_shape(shape, name)
    dtype = values.dtype if dtype is None else dtype
    if layout is None and isinstance(values, XContainer):
        kept = values.layout
        layout = kept if kept is COLUMN_MAJOR else None
        if not isinstance(kept, Order) and len(extents) == values.ndim:
            layout = placement.layout_for(kept, as_dtype(dtype), values.dtype)
    return extents, dtype, layout


def _is_plain(x: XExpression) -> bool:
    """Tell whether an array like it is an ordinary one: row-major, and its rank not fixed."""
    kind_ = x._kind
    return kind_.fixed == FREE and kind_.strides is None and kind_ is not NODE


def _owned(x: object, made: XArray) -> XArray:
    """Return a new container as one of the class of ``x``, as far as its shape is fixed."""
    if not isinstance(x, XExpression) or (fixed := x._fixed_now()) == FREE:
        return made
    fixed = fixed if made.shape == x.shape else RANK
    owner: type[XArray] = owner_class(fixed, made.dtype, made.shape)
    return owner._own(made.buffer, made.map, made.dtype, made._policy, made._asked)


def ordered(order: MemoryOrder, layout: LayoutLike, name: str) -> LayoutLike:
    """Return the layout that NumPy's ``order`` names, or the one that is given.

    Raises
    ------
    LayoutError
        For any other order, or if both are given.
    """
    if order is None:
        return layout
    if str(order).upper() not in ("C", "F") or layout is not None:
        raise LayoutError(f"{name}: order must be 'C' or 'F' and without a layout, got {order!r}")
    return COLUMN_MAJOR if order in ("F", "f") else ROW_MAJOR


def _made_like(
    make: Callable[..., XArray],
    a: XExpression,
    dtype: object = None,
    order: MemoryOrder = None,
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
) -> XArray:
    if order is device is layout is None and shape is None and _is_plain(a):
        kind_ = a._kind.dtype if dtype is None else dtype
        return make(a._shape) if kind_ is float64 else make(a._shape, kind_)
    name = f"{make.__name__}_like"
    extents, kind_, place = _like(a, dtype, order, layout, shape, name)
    return _owned(a, make(extents, kind_, device=device, layout=place))


@makes_rows
def empty_like(
    prototype: XExpression,
    dtype: object = None,
    order: MemoryOrder = None,
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
) -> XArray:
    """Return an uninitialised container of another's shape, dtype and layout; see `empty`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.empty_like(xl.zeros((2, 3), layout="column_major")).strides
    (1, 2)
    """
    return _made_like(empty, prototype, dtype, order, subok, shape, device=device, layout=layout)


@makes_rows
@sibling(_made_like, zeros)
def zeros_like() -> None:
    """Return a container of zeros of the shape, dtype and layout of ``a``; options as for `empty`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.zeros_like(xl.asarray([1, 2]))
    XArray([0, 0])
    """


@makes_rows
@sibling(_made_like, ones)
def ones_like() -> None:
    """Return a container of ones of the shape, dtype and layout of ``a``; options as for `empty`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.ones_like(xl.asarray([1, 2]), dtype="float32")
    XArray([1., 1.], dtype=float32)
    """


@makes_rows
def full_like(
    a: XExpression,
    fill_value: object,
    dtype: object = None,
    order: MemoryOrder = None,
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: str | None = None,
    layout: LayoutLike = None,
) -> XArray:
    """Return a container of one value, of the shape, dtype and layout of ``a``; see `empty`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.full_like(xl.asarray([1, 2]), 7)
    XArray([7, 7])
    """
    if order is device is layout is None and shape is None and _is_plain(a):
        return full(a._shape, fill_value, a._kind.dtype if dtype is None else dtype)
    extents, kind_, place = _like(a, dtype, order, layout, shape, "full_like")
    return _owned(a, full(extents, fill_value, kind_, device=device, layout=place))
