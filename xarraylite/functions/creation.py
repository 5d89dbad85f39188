"""Making containers: from values, filled, or from a rule for the elements.

All of these return containers.  `fromfunction` writes its rule as a lazy expression over positions
and evaluates it by one kernel; the others need no compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from .._config import settings
from .._errors import ShapeError, SizeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..assignment.elements import new_container
from ..dtypes.names import as_dtype, dtype_name, float64, int64, kind
from ..index.broadcast import as_shape
from ..ir import build
from ..ir.kind import row_major
from ..ir.node import Iota, Node, Scalar
from ..layout.layout import Layout
from ..layout.placement import layout_for
from ..layout.strided import COLUMN_MAJOR, Order, Strided
from ..layout.tiled import Map
from ..operands.convert import LayoutLike, layout_of, raw, store, values_node, zeroed
from .arguments import check_device, check_numbers
from .jagged_like import makes_rows

#: Elements up to which making a container costs more than filling it.
_FEW = 1 << 14

ShapeLike = SupportsIndex | Iterable[SupportsIndex]


def _wrap(node: Node, layout: LayoutLike, strides: Sequence[int] | None, name: str) -> XArray:
    place, policy = layout_of(node.shape, layout, strides, node.dtype, name)
    return XArray._own(store(node, place), place, node.dtype, policy, layout)


def empty(
    shape: ShapeLike,
    *,
    dtype: object = None,
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
    check_device(device, "empty")
    place, policy, kind_ = _place(shape, dtype, layout, strides, "empty")
    return XArray._own(raw(place, kind_), place, kind_, policy, layout)


def _place(
    shape: ShapeLike,
    dtype: object,
    layout: LayoutLike,
    strides: Sequence[int] | None,
    name: str,
) -> tuple[Map, Order | Layout, np.dtype[Any]]:
    extents = as_shape(shape, name)
    kind_ = float64 if dtype is None else as_dtype(dtype)
    _check_size(extents, kind_, name)
    place, policy = layout_of(extents, layout, strides, kind_, name)
    XArray._refuse_overlap(place, kind_)
    return place, policy, kind_


def _check_size(shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> None:
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes > settings.max_result_bytes:
        raise SizeError(
            f"{name}: shape {shape} of {dtype_name(dtype)} needs {nbytes} bytes; the limit is "
            f"{settings.max_result_bytes} (setting max_result_bytes)"
        )


def zeros(
    shape: ShapeLike,
    *,
    dtype: object = None,
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
    plain = (dtype, device, layout, strides) == (None,) * 4 and type(shape) is int
    if plain and 0 <= shape <= _FEW and 8 * shape <= settings.max_result_bytes:  # type: ignore[operator]
        made: XArray = new_container(XArray, row_major(float64, 1), (shape,), shape)  # type: ignore[arg-type]
        made._buffer.run()[:] = 0
        return made
    check_device(device, "zeros")
    place, policy, kind_ = _place(shape, dtype, layout, strides, "zeros")
    return XArray._own(zeroed(place, kind_), place, kind_, policy, layout)


def ones(
    shape: ShapeLike,
    *,
    dtype: object = None,
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
    return full(shape, 1, dtype=kind_, device=device, layout=layout, strides=strides)


def full(
    shape: ShapeLike,
    fill_value: object,
    *,
    dtype: object = None,
    device: str | None = None,
    layout: LayoutLike = None,
    strides: Sequence[int] | None = None,
) -> XArray:
    """Return a container of one value.

    Parameters
    ----------
    shape : int or sequence of int
        Extents.
    fill_value : scalar
        The value.
    dtype : dtype, optional
        By default that of the value.
    device, layout, strides : optional
        As for `empty`.

    Returns
    -------
    XArray
        The container.

    Raises
    ------
    OverflowError
        If an integer value does not fit the dtype.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.full((2,), 7)
    XArray([7, 7])
    """
    check_device(device, "full")
    plain = type(fill_value) in build.WEAK_TYPES
    node = None if plain else values_node(fill_value, None, "full")
    if node is not None and node.shape:
        raise ShapeError(f"full: the value must be a scalar, got shape {node.shape}")
    if dtype is not None:
        kind_ = as_dtype(dtype)
    else:
        node = build.weak_scalar(fill_value) if node is None else node  # type: ignore[arg-type]
        kind_ = node.dtype
    place, policy, _ = _place(shape, kind_, layout, strides, "full")
    made = XArray._own(zeroed(place, kind_), place, kind_, policy, layout)
    value = build.convert(fill_value if node is None else node, kind_)  # type: ignore[arg-type]
    if isinstance(value, Scalar) and isinstance(place, Strided):
        made.buffer.view(kind_, place)[...] = value.value
    else:
        made[...] = XExpression(value)
    return made


def _like(values: XExpression, dtype: object, layout: LayoutLike) -> tuple[object, LayoutLike]:
    """Return dtype and layout of an array like ``values``."""
    if layout is None and isinstance(values, XContainer):
        kept = values.layout
        layout = kept if kept is COLUMN_MAJOR else None
        if isinstance(kept, Layout):
            layout = layout_for(
                kept, as_dtype(values.dtype if dtype is None else dtype), values.dtype
            )
    return (values.dtype if dtype is None else dtype), layout


@makes_rows
def empty_like(
    x: XExpression, /, *, dtype: object = None, device: str | None = None, layout: LayoutLike = None
) -> XArray:
    """Return an uninitialised container of the shape, dtype and layout of ``x``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.empty_like(xl.zeros((2, 3), layout="column_major")).strides
    (1, 2)
    """
    kind_, order = _like(x, dtype, layout)
    return empty(x.shape, dtype=kind_, device=device, layout=order)


@makes_rows
def zeros_like(
    x: XExpression, /, *, dtype: object = None, device: str | None = None, layout: LayoutLike = None
) -> XArray:
    """Return a container of zeros of the shape, dtype and layout of ``x``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.zeros_like(xl.asarray([1, 2]))
    XArray([0, 0])
    """
    kind_, order = _like(x, dtype, layout)
    return zeros(x.shape, dtype=kind_, device=device, layout=order)


@makes_rows
def ones_like(
    x: XExpression, /, *, dtype: object = None, device: str | None = None, layout: LayoutLike = None
) -> XArray:
    """Return a container of ones of the shape, dtype and layout of ``x``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.ones_like(xl.asarray([1, 2]), dtype="float32")
    XArray([1., 1.], dtype=float32)
    """
    kind_, order = _like(x, dtype, layout)
    return ones(x.shape, dtype=kind_, device=device, layout=order)


@makes_rows
def full_like(
    x: XExpression,
    /,
    fill_value: object,
    *,
    dtype: object = None,
    device: str | None = None,
    layout: LayoutLike = None,
) -> XArray:
    """Return a container of one value of the shape, dtype and layout of ``x``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.full_like(xl.asarray([1, 2]), 7)
    XArray([7, 7])
    """
    kind_, order = _like(x, dtype, layout)
    return full(x.shape, fill_value, dtype=kind_, device=device, layout=order)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: object = None,
    device: str | None = None,
    layout: LayoutLike = None,
) -> XArray:
    """Return evenly spaced values in the half-open interval from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop, step : int or float
        With one argument, ``stop``; element ``i`` is ``start + i * step``.
    dtype : dtype, optional
        By default int64 if all are ints, else float64.
    device, layout : optional
        As for `empty`.

    Returns
    -------
    XArray
        A container of ``ceil((stop - start) / step)`` elements.

    Raises
    ------
    ValueError
        If ``step`` is 0.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.arange(1, 7, 2)
    XArray([1, 3, 5])
    """
    check_device(device, "arange")
    if stop is None:
        start, stop = 0, start
    check_numbers("arange", float, start=start, stop=stop, step=step)
    if step == 0:
        raise ValueError("arange: step must not be 0")
    whole = all(isinstance(v, int) for v in (start, stop, step))
    kind_ = (int64 if whole else float64) if dtype is None else as_dtype(dtype)
    if whole:
        count = max(0, -(-(int(stop) - int(start)) // int(step)))
        _check_size(as_shape(count, "arange"), kind_, "arange")
    elif math.isfinite(length := (stop - start) / step):
        _check_size((max(0, math.ceil(length)),), kind_, "arange")
    values = np.arange(start, stop, step, dtype=int64 if whole else float64)
    return _wrap(values_node(values, kind_, "arange"), layout, None, "arange")


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: object = None,
    device: str | None = None,
    endpoint: bool = True,
    layout: LayoutLike = None,
) -> XArray:
    """Return ``num`` evenly spaced values from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop : float or complex
        The ends.
    num : int
        Number of values.
    dtype : dtype, optional
        By default float64, or complex128 if an end is complex.  To integers, values are rounded
        down.
    endpoint : bool, default True
        Whether ``stop`` is the last value.
    device, layout : optional
        As for `empty`.

    Returns
    -------
    XArray
        The values.

    Raises
    ------
    ShapeError
        If ``num`` is negative.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linspace(0, 1, 5)
    XArray([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    check_device(device, "linspace")
    check_numbers("linspace", complex, start=start, stop=stop)
    extents = as_shape(num, "linspace")
    is_complex = bool(np.iscomplexobj(start) or np.iscomplexobj(stop))
    kind_ = as_dtype(complex if is_complex else float) if dtype is None else as_dtype(dtype)
    _check_size(extents, kind_, "linspace")
    wide = as_dtype(complex) if kind(kind_) == "c" else float64
    values = np.linspace(start, stop, num, endpoint=endpoint, dtype=wide)
    if kind(kind_) in "iu":
        np.floor(values, out=values)
    return _wrap(values_node(values, kind_, "linspace"), layout, None, "linspace")


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: object = None,
    device: str | None = None,
    layout: LayoutLike = None,
) -> XArray:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols : int
        Extents; square by default.
    k : int, default 0
        Which diagonal: positive above the main one.
    dtype : dtype, default float64
        Dtype of the elements.
    device, layout : optional
        As for `empty`.

    Returns
    -------
    XArray
        The matrix.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eye(2, 3, k=1, dtype=int)
    XArray([[0, 1, 0],
            [0, 0, 1]])
    """
    check_device(device, "eye")
    shape = as_shape((n_rows, n_rows if n_cols is None else n_cols), "eye")
    kind_ = float64 if dtype is None else as_dtype(dtype)
    _check_size(shape, kind_, "eye")
    values = np.eye(shape[0], shape[1], k=k, dtype=bool)
    return _wrap(values_node(values, kind_, "eye"), layout, None, "eye")


def fromfunction(
    function: Callable[..., object],
    shape: ShapeLike,
    *,
    dtype: object = None,
    layout: LayoutLike = None,
) -> XArray:
    """Return the container whose element ``i, j, …`` is ``function(i, j, …)``.

    The function is called once, with lazy arrays of positions, so it must be made of array
    operations; the result is computed by one kernel without storing the positions.

    Parameters
    ----------
    function : callable
        Takes one array of positions per dimension.
    shape : int or sequence of int
        Extents.
    dtype : dtype, default int64
        Dtype of the positions.
    layout : optional
        As for `empty`.

    Returns
    -------
    XArray
        The values.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fromfunction(lambda i, j: 10 * i + j, (2, 3))
    XArray([[ 0,  1,  2],
            [10, 11, 12]])
    """
    extents = as_shape(shape, "fromfunction")
    kind_ = int64 if dtype is None else as_dtype(dtype)
    positions = []
    for axis in range(len(extents)):
        strides = tuple([1 if k == axis else 0 for k in range(len(extents))])
        positions.append(XExpression(Iota(extents, kind_, Strided(extents, strides))))
    node = values_node(function(*positions), None, "fromfunction")
    return _wrap(build.broadcast_to(node, extents), layout, None, "fromfunction")
