"""Tiled and narrow containers in users' own ``@numba.njit`` functions.

What lies in tiles, and elements that Numba has no type for (bfloat16, float8, int4), is no array to
Numba, whose arrays have strides.  `PlacedType` is a type of its own for them: a *view* of a
container, under an index of its own, with the address of the memory and the digits of its layout.

An index of the view is one of the container by ``begin + step * index`` along each dimension
(`index.transform`), and that one is a position by the sum of its digits times their strides
(`layout.digits`).  Which dimension follows which, and how many digits there are, is part of the
type; the numbers are not, so other extents and tiles of other sizes need no new code.  An integer
in the place of a dimension moves ``begin``, a slice changes ``step`` too; with an integer for each
the element is loaded, and decoded where it is narrow: floats to float32, integers to 8 bits.  What
is stored is rounded once.

Bounds are always checked.  Views can be indexed, iterated, measured (``shape``, ``len``, ``size``,
``ndim``), filled with numbers that broadcast, copied to an array of Numba's (``copy``), folded by
way of a copy (``sum``, ``max`` …), and returned: a whole container as itself, a part as a view.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit
from numba.core import cgutils, errors
from numba.core import types as numba_types
from numba.extending import (
    NativeValue,
    box,
    make_attribute_wrapper,
    models,
    register_jitable,
    register_model,
    unbox,
)
from numba.np import numpy_support

from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..codegen.jit import scalar
from ..dtypes.formats import loop_dtype, storage_dtype
from ..dtypes.names import DType, dtype_name, is_narrow, is_narrow_int
from ..index.transform import FIXED, IndexMap, Transform, identity
from ..layout.tiled import Summand, TiledMap

#: Without the types that Numba gives itself, which are partial.
types: Any = numba_types

#: Per dimension of the container: the dimension of the view that it follows, or `FIXED`.
Axes = tuple[int, ...]


@njit(no_cpython_wrapper=True)
def items(placed: Any) -> Any:
    """Yield what a view has along its first dimension."""
    for i in range(len(placed)):
        yield placed[i]


class PlacedType(types.IterableType):  # type: ignore[misc]
    """Numba's type of a view of a container that is no array to it.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the elements.
    axes : tuple of int
        The dimension of the view that each dimension of the container follows.
    counts : tuple of int
        How many digits each summand of a position has.
    readonly : bool
        Whether elements cannot be stored.
    """

    def __init__(self, dtype: DType, axes: Axes, counts: tuple[int, ...], readonly: bool) -> None:
        self.element, self.axes, self.counts, self.readonly = dtype, axes, counts, readonly
        self.ndim = len(axes) - axes.count(FIXED)
        self.dtype = numpy_support.from_dtype(loop_dtype(dtype))
        access = ", readonly" if readonly else ""
        name = f"XContainer({dtype_name(dtype)}, axes={axes}, digits={counts}{access})"
        super().__init__(name=name)

    def along(self, axes: Axes) -> PlacedType:
        """Return the type of another view of the same container."""
        return PlacedType(self.element, axes, self.counts, self.readonly)

    @property
    def numbers(self) -> int:
        """How many numbers describe positions: starts, paces, digits."""
        return len(self.counts) * (1 + len(self.axes)) + 2 * sum(self.counts)

    @property
    def iterator_type(self) -> Any:
        """Numba's type of the generator of `items`."""
        items.compile((self,))
        return items.overloads[self,].signature.return_type


def chipped(axes: Axes, axis: int) -> Axes:
    """Return what dimensions follow once one of the view is gone."""
    return tuple([FIXED if a == axis else a - (a > axis) for a in axes])


# --- passing and returning ---------------------------------------------------------------------


def summands_of(container: XContainer) -> tuple[Summand, ...]:
    """Return the summands of a position, which are one for each dimension of strided memory.

    Raises
    ------
    TypingError
        If positions are no sum of digits, or elements no whole bytes.
    """
    place = container.map
    if not isinstance(place, TiledMap):
        unit = [tuple([int(k == d) for k in range(container.ndim)]) for d in range(container.ndim)]
        return tuple([Summand(((1, s),), 0, p) for s, p in zip(place.strides, unit, strict=True)])
    summands = place.summands()
    if summands is None or place.bits % 8:
        raise errors.TypingError(
            f"{container.summary()}: Numba's functions take elements of whole bytes at positions "
            "that are a sum of digits; pass to_layout('row_major') of it"
        )
    return summands


def type_of(container: XContainer) -> PlacedType:
    """Return Numba's type of a container."""
    if not container.ndim:
        raise errors.TypingError(f"{container.summary()}: pass the value of it, float(a)")
    counts = tuple([len(term.digits) for term in summands_of(container)])
    axes = tuple(range(container.ndim))
    return PlacedType(container.dtype, axes, counts, container.readonly)


def passed(array: XExpression) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    """Return address, bytes per element, extents and the numbers of positions, to be written."""
    container = array._target()
    if not container.readonly:
        container.buffer.release()
    place, summands = container.map, summands_of(container)
    itemsize = storage_dtype(container.dtype).itemsize
    width = place.bits // 8 if isinstance(place, TiledMap) else itemsize
    numbers = [term.start for term in summands]
    numbers += [pace for term in summands for pace in term.paces]
    numbers += [number for term in summands for digit in term.digits for number in digit]
    address = container.buffer.address + place.byte_start(itemsize)
    return address, width, container.shape, tuple(numbers)


def returned(
    container: XContainer,
    axes: Axes,
    shape: tuple[int, ...],
    begins: tuple[int, ...],
    steps: tuple[int, ...],
) -> Any:
    """Return a view as a container: the whole one as it is."""
    maps = [
        IndexMap(begin, 0 if axis == FIXED else step, axis)
        for begin, step, axis in zip(begins, steps, axes, strict=True)
    ]
    step = Transform(shape, tuple(maps))
    return container if step == identity(container.shape) else container._view(step)


class _Model(models.StructModel):  # type: ignore[misc]
    """A view in memory."""

    def __init__(self, manager: Any, kind: PlacedType) -> None:
        whole = len(kind.axes)
        members = [
            ("parent", types.pyobject),
            ("address", types.int64),
            ("width", types.int64),
            ("shape", types.UniTuple(types.int64, kind.ndim)),
            ("begins", types.UniTuple(types.int64, whole)),
            ("steps", types.UniTuple(types.int64, whole)),
            ("numbers", types.UniTuple(types.int64, kind.numbers)),
        ]
        super().__init__(manager, kind, members)


def called(c: Any, function: Callable[..., Any], arguments: list[Any]) -> Any:
    """Emit the call of a Python function, which may give NULL; references stay the caller's."""
    handle = c.pyapi.unserialize(c.pyapi.serialize_object(function))
    result = c.pyapi.call_function_objargs(handle, arguments)
    c.pyapi.decref(handle)
    return result


def unboxed(c: Any, kind: Any, found: Any) -> NativeValue:
    """Emit the reading of what `called` gave and no one keeps; NULL is an error that is set."""
    value = cgutils.alloca_once(c.builder, c.context.get_value_type(kind))
    failed = cgutils.alloca_once_value(c.builder, cgutils.true_bit)
    with c.builder.if_then(cgutils.is_not_null(c.builder, found)):
        native = c.unbox(kind, found)
        c.builder.store(native.value, value)
        c.builder.store(native.is_error, failed)
        c.pyapi.decref(found)
    return NativeValue(c.builder.load(value), is_error=c.builder.load(failed))


def _unbox(kind: PlacedType, thing: Any, c: Any) -> NativeValue:
    """Emit the call of `passed`, and read the numbers."""
    whole = len(kind.axes)
    tuples = types.UniTuple(types.int64, whole), types.UniTuple(types.int64, kind.numbers)
    wanted = types.Tuple((types.int64, types.int64, *tuples))
    native = unboxed(c, wanted, called(c, passed, [thing]))
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    made.parent = thing
    made.address, made.width, made.shape, made.numbers = cgutils.unpack_tuple(
        c.builder, native.value, 4
    )
    for name, value in (("begins", 0), ("steps", 1)):
        constants = [c.context.get_constant(types.int64, value)] * whole
        setattr(made, name, c.context.make_tuple(c.builder, tuples[0], constants))
    return NativeValue(made._getvalue(), is_error=native.is_error)


def _box(kind: PlacedType, value: Any, c: Any) -> Any:
    """Emit the call of `returned`."""
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder, value)
    whole = types.UniTuple(types.int64, len(kind.axes))
    parts = [
        c.pyapi.unserialize(c.pyapi.serialize_object(kind.axes)),
        c.box(types.UniTuple(types.int64, kind.ndim), made.shape),
        c.box(whole, made.begins),
        c.box(whole, made.steps),
    ]
    result = called(c, returned, [made.parent, *parts])
    for part in parts:
        c.pyapi.decref(part)
    return result


def stored_kind(kind: PlacedType) -> Any:
    """Return Numba's type of what an element is stored as."""
    narrow = is_narrow(kind.element)
    return numpy_support.from_dtype(storage_dtype(kind.element) if narrow else kind.element)


@cache
def coders(dtype: DType) -> tuple[Any, Any]:
    """Return what makes a number of the bits of a narrow type, and the other way round."""
    name = dtype_name(dtype)
    if is_narrow_int(dtype):
        encode, wide = scalar(f"encode_{name}"), types.int64
    else:
        encode, wide = scalar(f"encode_{name}_f64"), types.float64
    return scalar(f"decode_{name}"), register_jitable(lambda x: encode(wide(x)))


@cache
def init() -> None:
    """Tell Numba about the types of this module, once."""
    register_model(PlacedType)(_Model)
    make_attribute_wrapper(PlacedType, "shape", "shape")
    unbox(PlacedType)(_unbox)
    box(PlacedType)(_box)
