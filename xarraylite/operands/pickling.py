"""Containers from pickled parts: nothing in a pickle is taken on trust."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import DTypeError, ShapeError
from ..dtypes.names import DType, NumpyArray, dtype_name
from ..index.broadcast import as_shape
from ..layout.layout import Layout
from ..layout.strided import COLUMN_MAJOR, Order
from .convert import pinned_dtype, place_of, raw


def restore(
    origin: tuple[Any, object],
    values: bytes | NumpyArray,
    dtype: DType,
    shape: tuple[int, ...],
    column: bool,
    policy: str | Layout,
    asked: bool = False,
) -> Any:
    """Rebuild a pickled container, checking that the bytes are what the shape needs."""
    cls, subscript = origin
    kind = cls if subscript is None else cls[subscript]
    checked = as_shape(shape, "unpickling")
    kept = policy if isinstance(policy, Layout) else Order(policy)
    lies = COLUMN_MAJOR if column and isinstance(kept, Order) else kept
    place = place_of(lies, checked, dtype, "unpickling")
    given = np.frombuffer(values, np.uint8)
    if given.size != place.byte_range(dtype.itemsize)[1] + 1:
        raise ShapeError(f"unpickling: {given.size} bytes do not fit {dtype}{list(checked)}")
    buffer = raw(place, pinned_dtype(dtype) or dtype)
    buffer.run()[:] = given
    made = kind._own(buffer, place, dtype, kept, kept if asked else None)
    made._check(checked, dtype, "unpickling")
    if subscript is not None and dtype != kind._pin[0]:
        raise DTypeError(f"unpickling: {kind.__name__} cannot hold {dtype_name(dtype)}")
    return made
