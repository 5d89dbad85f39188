"""What users' Numba functions do with a view of a `PlacedType`: indices, stores, iteration.

`_narrowed` is all indexing: it emits how an integer or a slice for each of the first dimensions
moves the view.  Elements are loaded and stored where the digits of their index say (`_address`).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numba.core import cgutils, errors
from numba.core.imputils import lower_builtin as lowered
from numba.cpython import slicing
from numba.extending import (
    intrinsic,
    overload,
    overload_attribute,
    overload_method,
)

from ..dtypes.names import is_narrow
from .numba_placed import PlacedType, chipped, coders, items, stored_kind, types


def _is_index(placed: PlacedType, index: Any) -> bool:
    """Tell whether an index is made of integers and slices, not more than there are dimensions."""
    known = (types.Integer, types.SliceType)
    parts = _parts(index)
    return len(parts) <= placed.ndim and all([isinstance(part, known) for part in parts])


def _parts(index: Any) -> Any:
    """Return the types of an index's items."""
    return index.types if isinstance(index, types.BaseTuple) else (index,)


def _along(placed: PlacedType, index: Any) -> PlacedType:
    """Return the type of the view under an index."""
    axes = placed.axes
    for k, part in reversed(list(enumerate(_parts(index)))):
        axes = chipped(axes, k) if isinstance(part, types.Integer) else axes
    return placed.along(axes)


def _narrowed(context: Any, builder: Any, kind: Any, value: Any, index: Any, given: Any) -> Any:
    """Emit the view under an index: each item moves one dimension of the container.

    Parameters
    ----------
    context, builder : Numba's target context and LLVM's builder
        Where to emit.
    kind, value : PlacedType and its value
        The view.
    index, given : type and value
        An integer, a slice, or a tuple of them.

    Returns
    -------
    Numba's structure proxy of the view
        Of the type `_along`.
    """
    old = cgutils.create_struct_proxy(kind)(context, builder, value)
    several = isinstance(index, types.BaseTuple)
    items = cgutils.unpack_tuple(builder, given, len(index.types)) if several else [given]
    shape = cgutils.unpack_tuple(builder, old.shape, kind.ndim)
    begins = cgutils.unpack_tuple(builder, old.begins, len(kind.axes))
    steps = cgutils.unpack_tuple(builder, old.steps, len(kind.axes))
    left = list(range(kind.ndim))
    for k, (part, item) in enumerate(zip(_parts(index), items, strict=True)):
        j = kind.axes.index(k)
        if isinstance(part, types.Integer):
            first = _inside(
                context, builder, context.cast(builder, item, part, types.intp), shape[k]
            )
            left.remove(k)
        else:
            cut = context.make_helper(builder, part, item)
            slicing.guard_invalid_slice(context, builder, part, cut)
            slicing.fix_slice(builder, cut, shape[k])
            shape[k] = slicing.get_slice_length(builder, cut)
            none = builder.icmp_signed("==", shape[k], shape[k].type(0))
            first = builder.select(none, shape[k].type(0), cut.start)
        begins[j] = builder.add(begins[j], builder.mul(steps[j], first))
        if not isinstance(part, types.Integer):
            steps[j] = builder.mul(steps[j], cut.step)
    return _view(
        context, builder, _along(kind, index), old, ([shape[k] for k in left], begins, steps)
    )


def _view(context: Any, builder: Any, kind: PlacedType, old: Any, moved: Any) -> Any:
    """Emit a view of the same memory with other extents, beginnings and steps."""
    made = cgutils.create_struct_proxy(kind)(context, builder)
    for name in ("parent", "address", "width", "numbers"):
        setattr(made, name, getattr(old, name))
    for name, values in zip(("shape", "begins", "steps"), moved, strict=True):
        tuple_of = types.UniTuple(types.int64, len(values))
        setattr(made, name, context.make_tuple(builder, tuple_of, values))
    return made


def _inside(context: Any, builder: Any, index: Any, extent: Any) -> Any:
    """Emit an index counted from the front, and IndexError where it is out of bounds."""
    negative = builder.icmp_signed("<", index, index.type(0))
    found = builder.select(negative, builder.add(index, extent), index)
    with builder.if_then(builder.icmp_unsigned(">=", found, extent), likely=False):
        text = ("index is out of bounds",)
        context.call_conv.return_user_exc(builder, IndexError, text)
    return found


def _address(context: Any, builder: Any, kind: PlacedType, made: Any) -> Any:
    """Emit where the element lies that is left of a view: the digits of each summand."""
    count, whole = len(kind.counts), len(kind.axes)
    numbers = cgutils.unpack_tuple(builder, made.numbers, kind.numbers)
    index = cgutils.unpack_tuple(builder, made.begins, whole)
    digits = iter(numbers[count * (1 + whole) :])
    position = context.get_constant(types.int64, 0)
    for t, few in enumerate(kind.counts):
        rest = numbers[t]
        for k, i in enumerate(index):
            rest = builder.add(rest, builder.mul(numbers[count + t * whole + k], i))
        for digit in range(few):
            period, stride = next(digits), next(digits)
            last = digit == few - 1  # whose period is 1
            value = rest if last else builder.udiv(rest, period)
            rest = rest if last else builder.urem(rest, period)
            position = builder.add(position, builder.mul(value, stride))
    address = builder.add(made.address, builder.mul(position, made.width))
    return builder.inttoptr(address, context.get_value_type(types.CPointer(stored_kind(kind))))


def _found(context: Any, builder: Any, kind: PlacedType, made: Any) -> Any:
    """Emit a view, or, where no dimension is left, what its element is stored as."""
    if kind.ndim:
        return made._getvalue()
    return context.unpack_value(builder, stored_kind(kind), _address(context, builder, kind, made))


@intrinsic
def _part(typing: Any, placed: Any, index: Any) -> Any:
    """Return the view under an index, or what an element is stored as."""
    kind = _along(placed, index)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = _narrowed(context, builder, placed, args[0], index, args[1])
        return _found(context, builder, kind, made)

    return (kind if kind.ndim else stored_kind(kind))(placed, index), emit


@intrinsic
def _store(typing: Any, placed: Any, index: Any, value: Any) -> Any:
    """Store what an element is stored as."""
    kind, wanted = _along(placed, index), stored_kind(placed)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = _narrowed(context, builder, placed, args[0], index, args[1])
        stored = context.cast(builder, args[2], value, wanted)
        context.pack_value(builder, wanted, stored, _address(context, builder, kind, made))
        return context.get_dummy_value()

    return types.void(placed, index, value), emit


@overload(operator.getitem, strict=False)
def _getitem(placed: Any, index: Any) -> Any:
    if not isinstance(placed, PlacedType) or not _is_index(placed, index):
        return None
    if _along(placed, index).ndim or not is_narrow(placed.element):
        return lambda placed, index: _part(placed, index)
    decode, _ = coders(placed.element)
    return lambda placed, index: decode(_part(placed, index))


@overload(operator.setitem, strict=False)
def _setitem(placed: Any, index: Any, values: Any) -> Any:
    if not isinstance(placed, PlacedType):
        return None
    if placed.readonly:
        raise errors.TypingError(f"{placed}: its memory is read-only")
    if isinstance(index, types.EllipsisType):
        return lambda placed, index, values: _put(placed, values)
    if not _is_index(placed, index):
        return None
    if _along(placed, index).ndim:
        return lambda placed, index, values: _put(_part(placed, index), values)
    if not is_narrow(placed.element):
        return lambda placed, index, values: _store(placed, index, values)
    _, encode = coders(placed.element)
    return lambda placed, index, values: _store(placed, index, encode(values))


def _put(placed: Any, values: Any) -> None:
    """Stand for storing a number, or elements that broadcast, in a view."""


@overload(_put, strict=False)
def _store_all(placed: Any, values: Any) -> Any:
    if isinstance(values, PlacedType):  # it may be the same memory
        return lambda placed, values: _put(placed, values.copy())

    def put(placed: Any, values: Any) -> None:
        wide = np.broadcast_to(values, placed.shape)
        for i in range(len(placed)):
            placed[i] = wide[i]

    return put


def _read(out: Any, placed: Any) -> None:
    """Stand for reading all elements of a view into an array."""


@overload(_read, strict=False)
def _load_all(out: Any, placed: Any) -> Any:
    def vector(out: Any, placed: Any) -> None:
        for i in range(len(placed)):
            out[i] = placed[i]

    def rows(out: Any, placed: Any) -> None:
        for i in range(len(placed)):
            _read(out[i], placed[i])

    return vector if placed.ndim == 1 else rows


# --- what is asked of a view -------------------------------------------------------------------


@overload(len, strict=False)
def _len(placed: Any) -> Any:
    return (lambda placed: placed.shape[0]) if isinstance(placed, PlacedType) else None


@overload_method(PlacedType, "copy", strict=False)
def _copy(placed: Any) -> Any:
    dtype = placed.dtype

    def copy(placed: Any) -> Any:
        out = np.empty(placed.shape, dtype)
        _read(out, placed)
        return out

    return copy


def _folded(name: str) -> None:
    """Tell Numba of a method of arrays, and NumPy's function, that views have on a copy."""

    def method(placed: Any) -> Any:
        return lambda placed: getattr(placed.copy(), name)()

    def function(placed: Any) -> Any:
        return method(placed) if isinstance(placed, PlacedType) else None

    overload_method(PlacedType, name, strict=False)(method)
    overload(getattr(np, name), strict=False)(function)


for _name in ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"):
    _folded(_name)


@overload_attribute(PlacedType, "ndim", strict=False)
def _ndim(placed: Any) -> Any:
    return lambda placed: len(placed.shape)


@overload_attribute(PlacedType, "size", strict=False)
def _size(placed: Any) -> Any:
    return lambda placed: np.array(placed.shape).prod()


# --- iteration ---------------------------------------------------------------------------------


@lowered("getiter", PlacedType)
def _getiter(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit the generator along the first dimension."""
    return context.get_function(types.Dispatcher(items), signature)(builder, args)
