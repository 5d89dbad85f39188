"""Containers from values that exist already: lists, arrays, buffers, other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..containers.adapt import adapt
from ..containers.container import XContainer
from ..containers.convert import LayoutLike, pinned_dtype
from ..containers.expression import XExpression
from ..containers.xarray import XArray
from .creation import check_device


def asarray(
    values: object,
    /,
    *,
    dtype: object = None,
    device: str | None = None,
    copy: bool | None = None,
    layout: LayoutLike = None,
    strides: Sequence[int] | None = None,
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
        As for `XArray`.

    Returns
    -------
    XContainer
        An `XArray` unless ``values`` is a container already.

    Raises
    ------
    ValueError
        If ``copy=False`` and a copy is needed.
    DTypeError, ShapeError
        If the values are no numbers, or ragged.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.asarray([[1, 2], [3, 4]], dtype="bfloat16").dtype
    dtype(bfloat16)
    """
    check_device(device, "asarray")
    wanted = pinned_dtype(dtype)
    plain = layout is None and strides is None
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
