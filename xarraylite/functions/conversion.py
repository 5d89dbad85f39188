"""Containers from values that exist already: lists, arrays, buffers, other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import ShapeError
from ..arrays.adapt import adapt
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..layout.strided import DYNAMIC
from ..operands.convert import LayoutLike, as_order, pinned_dtype
from ..shapes.nested import Nested
from ..shapes.shape import Shape
from ..xla.blocked import blocked_layout
from .arguments import check_device


def asarray(
    values: object,
    /,
    *,
    dtype: object = None,
    device: str | None = None,
    copy: bool | None = None,
    layout: LayoutLike = None,
    strides: Sequence[int] | None = None,
    shape: object = None,
) -> XContainer:
    """Return ``values`` as a container.

    Parameters
    ----------
    values : array, expression, scalar, buffer or nested lists
        A container of the wanted dtype and layout is returned as it is.
    dtype : dtype, optional
        By default that of the values.
    device : {"cpu"}, optional
        Where to put it.
    copy : bool, optional
        True: always copy.  False: never; refuse where that is impossible.  By default copy
        everything but containers, so that what others write later is not seen.
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
        An `XArray` unless ``values`` is a container already.

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
    check_device(device, "asarray")
    if shape is not None:
        values, layout = _shaped(values, shape, layout)
    wanted = pinned_dtype(dtype)
    plain = strides is None and (layout is None or _lies_so(values, layout))
    as_is = plain and copy is not True
    if as_is and isinstance(values, XContainer) and (wanted is None or values.dtype == wanted):
        return values
    if copy is False:
        if not plain or isinstance(values, list | tuple | XExpression):
            raise ValueError(f"asarray: {type(values).__name__} cannot be used without a copy")
        made = adapt(values)
        if wanted is not None and made.dtype != wanted:
            raise ValueError(f"asarray: conversion of {made.dtype} to {wanted} needs a copy")
        return made
    return XArray(values, dtype, layout, strides)


def _lies_so(values: object, layout: LayoutLike) -> bool:
    """Tell whether a container has the layout that is asked for already."""
    order = as_order(layout, "asarray")
    return isinstance(values, XContainer) and order is not DYNAMIC and values.layout == order


def _shaped(values: object, shape: object, layout: LayoutLike) -> tuple[object, LayoutLike]:
    """Return values as an array of a shape, and a layout that the shape may choose."""
    array = values if isinstance(values, XExpression | np.ndarray) else XArray(values)
    if isinstance(shape, Nested) and layout == "blocked":
        return array, blocked_layout(shape, array.shape)
    wanted = Shape.of(shape).extents
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
        True: copy.  By default and for False: share the memory.

    Returns
    -------
    XContainer
        An `XArray`; read-only if the memory is.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> xl.from_dlpack(np.arange(3))
    XArray([0, 1, 2])
    """
    check_device(device, "from_dlpack")
    shared = adapt(np.from_dlpack(x))
    return XArray(shared) if copy else shared
