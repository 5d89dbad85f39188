"""Containers as arguments of users' own ``@numba.njit`` functions.

Numba loads `init` by its entry point ``numba_extensions`` when it is first used, so nobody who does
not use Numba pays for it.  A container of strided memory is then an array to Numba: indexing,
slicing, iteration, shapes and stores are Numba's own, on the container's memory, whatever its
strides, and bounds are checked where Numba is told to.  What is stored follows the rule of
assignments: pending expressions keep the old values, for the container is passed on as one that is
about to be written.  A container that is returned is a container again; parts of it that are
returned are NumPy's arrays over its memory.

Tiled memory, and dtypes that Numba has not (bfloat16 and narrower floats, int4), have a type of
their own (`numba_placed`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.core import types
from numba.core.typing.typeof import typeof_impl
from numba.extending import NativeValue, box, models, register_model, unbox
from numba.np import numpy_support

from ..arrays.container import XContainer
from ..arrays.xarray import XArray
from ..dtypes.names import is_narrow
from ..layout.strided import DYNAMIC
from ..layout.tiled import TiledMap
from ..operands.nodes import borrowed
from . import numba_placed, numba_views


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


def _of_container(value: XContainer, context: Any) -> Any:
    """Return Numba's type of a container.

    Raises
    ------
    TypingError
        For positions that are no sum of digits.
    """
    place = value.map
    if isinstance(place, TiledMap) or is_narrow(value.dtype):
        return numba_placed.type_of(value)
    dtype = numpy_support.from_dtype(value.dtype)
    layout = "C" if place.is_row_major() else "F" if place.is_column_major() else "A"
    return ContainerType(dtype, value.ndim, layout, value.readonly)


def passed(container: XContainer) -> Any:
    """Return a container's memory, about to be written, as NumPy's array."""
    if not container.readonly:
        container.buffer.release()
    return container.__array__()


def returned(values: Any) -> XArray:
    """Return NumPy's array over a container's memory as a container."""
    buffer, place, dtype = borrowed(values, "njit")
    return XArray._own(buffer, place, dtype, DYNAMIC)


def _unbox(kind: Any, thing: Any, c: Any) -> NativeValue:
    """Emit the call of `passed`, and read NumPy's array."""
    array = numba_placed.called(c, passed, [thing])
    native = c.unbox(kind.numpys, array)
    c.pyapi.decref(array)
    return NativeValue(native.value, is_error=native.is_error)


def _box(kind: Any, value: Any, c: Any) -> Any:
    """Emit the call of `returned` on NumPy's array."""
    array = c.box(kind.numpys, value)
    made = numba_placed.called(c, returned, [array])
    c.pyapi.decref(array)
    return made


@cache
def init() -> None:
    """Tell Numba about containers, once; its entry point."""
    numba_placed.init()
    numba_views.init()
    typeof_impl.register(XContainer)(_of_container)
    register_model(ContainerType)(models.ArrayModel)
    unbox(ContainerType)(_unbox)
    box(ContainerType)(_box)
