"""Containers as arguments of users' own ``@numba.njit`` functions.

Numba loads `init` by its entry point ``numba_extensions`` when it is first used, so nobody who does
not use Numba pays for it.  A container of strided memory is then an array to Numba: indexing,
slicing, iteration, shapes and stores are Numba's own, on the container's memory, whatever its
strides, and bounds are checked where Numba is told to.  What is stored follows the rule of
assignments: pending expressions keep the old values, for the container is passed on as one that is
about to be written.  A container that is returned is a container again; parts of it that are
returned are NumPy's arrays over its memory.  A lazy array is computed into memory of its own, as
where it is written.

Tiled memory, and dtypes that Numba has not (bfloat16 and narrower floats, int4), have a type of
their own (`numba_placed`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba.core import errors, types
from numba.core.typing.typeof import typeof_impl
from numba.extending import NativeValue, box, models, register_model, unbox
from numba.np import numpy_support

from ..arrays.expression import XExpression
from ..arrays.scalar import XScalar
from ..arrays.xarray import XArray
from ..dtypes.formats import loop_dtype
from ..dtypes.names import dtype_name, is_narrow, kind
from ..layout.strided import DYNAMIC
from ..layout.tiled import TiledMap
from ..operands.nodes import borrowed
from . import numba_placed, numba_views  # noqa: F401


class ContainerType(types.Array):
    """Numba's type of a container: an array type of its own, which is boxed as a container."""

    def __init__(self, dtype: Any, ndim: int, layout: Any, readonly: bool = False) -> None:
        name = f"XArray({dtype}, {ndim}d, {layout}{', readonly' if readonly else ''})"
        super().__init__(dtype, ndim, layout, readonly=readonly, name=name)

    @property
    def numpys(self) -> types.Array:
        """The type of NumPy's array over the same memory."""
        return types.Array(self.dtype, self.ndim, self.layout, readonly=not self.mutable)

    def copy(self, *args: Any, **options: Any) -> Any:
        """Return the type of a part: NumPy's."""
        return self.numpys.copy(*args, **options)


def _of_value(value: Any, context: Any) -> Any:
    """Return Numba's type of a number: that of its dtype, float32 of shorter floats.

    Raises
    ------
    TypingError
        For complex values that are not Python's numbers, which alone Numba can read.
    """
    if kind(value.dtype) == "c" and not isinstance(value, complex):
        raise errors.TypingError(f"a value of {dtype_name(value.dtype)}: pass complex(x)")
    return numpy_support.from_dtype(loop_dtype(value.dtype))


def _of_array(array: XExpression, context: Any) -> Any:
    """Return Numba's type of a container, or of a lazy array: it gets memory of its own first.

    Lazy values of rank 0 are numbers, as NumPy's are.

    Raises
    ------
    TypingError
        For positions that are no sum of digits.
    """
    value = array._target()
    if value is not array and not value.shape:
        return _of_value(value, context)
    place = value.map
    if isinstance(place, TiledMap) or is_narrow(value.dtype):
        return numba_placed.type_of(value)
    dtype = numpy_support.from_dtype(value.dtype)
    layout = "C" if place.is_row_major() else "F" if place.is_column_major() else "A"
    return ContainerType(dtype, value.ndim, layout, value.readonly)


def passed(array: XExpression) -> Any:
    """Return an array's memory, about to be written, as NumPy's array."""
    container = array._target()
    if not container.readonly:
        container.buffer.release()
    return np.asarray(container)


def returned(values: Any) -> XArray:
    """Return NumPy's array over a container's memory as a container."""
    buffer, place, dtype = borrowed(values, "njit")
    return XArray._own(buffer, place, dtype, DYNAMIC)


def _unbox(array: Any, thing: Any, c: Any) -> NativeValue:
    """Emit the call of `passed`, and read NumPy's array."""
    return numba_placed.unboxed(c, array.numpys, numba_placed.called(c, passed, [thing]))


def _box(array: Any, value: Any, c: Any) -> Any:
    """Emit the call of `returned` on NumPy's array."""
    memory = c.box(array.numpys, value)
    made = numba_placed.called(c, returned, [memory])
    c.pyapi.decref(memory)
    return made


@cache
def init() -> None:
    """Tell Numba about containers, once; its entry point."""
    numba_placed.init()
    typeof_impl.register(XExpression)(_of_array)
    typeof_impl.register(XScalar)(_of_value)
    register_model(ContainerType)(models.ArrayModel)
    unbox(ContainerType)(_unbox)
    box(ContainerType)(_box)
