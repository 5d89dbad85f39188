"""Operations that move elements: other shapes, other orders, parts, joins, padding, bitcasts.

Most are views: lazy over lazy values, and views of containers.  A bitcast says that the bytes stay,
so its elements follow from the two layouts: with strided layouts it is a chain of views, with tiled
ones the container itself is given the other spec.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from ..._errors import SizeError
from ...arrays.adapt import adapt
from ...arrays.container import XContainer
from ...arrays.expression import XExpression
from ...arrays.xarray import XArray
from ...assignment.elements import array_of, new_container
from ...dtypes.names import NumpyArray
from ...functions.creation import full
from ...functions.joining import concat
from ...functions.manipulation import broadcast_to, flip, permute_dims, reshape
from ...functions.sequences import arange
from ...index.radix import compose
from ...ir.kind import NODE, row_major
from ...layout.spec_fields import layout_of
from ...layout.tiled import TiledMap
from ...operands.nodes import as_node
from ...xla.spec import ArraySpec
from ..instruction import HloInstruction
from ..opcodes import by_opcode
from ..text.literals import HloLiteral
from ..values import PadDimension
from .bits import bitcast_convert
from .values import (
    TOKEN,
    Evaluator,
    Runner,
    Value,
    array,
    constant,
    container,
    refuse,
    result_dtype,
    same,
    taken,
)

#: Elements in another order that NumPy copies before a copy of them is planned.
_FEW: Final = 1 << 15


def broadcast(x: XExpression, axes: Sequence[int], shape: tuple[int, ...]) -> XExpression:
    """Stretch x, whose dimension k becomes dimension ``axes[k]`` of the result."""
    order = sorted(range(len(axes)), key=axes.__getitem__)
    turned = permute_dims(x, order) if order != list(range(len(axes))) else x
    sizes = [1] * len(shape)
    for axis, size in zip(axes, x.shape, strict=True):
        sizes[axis] = size
    wide = turned if tuple(sizes) == turned.shape else reshape(turned, tuple(sizes))
    return wide if wide.shape == shape else broadcast_to(wide, shape)


def _broadcast(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    axes = instruction.get("dimensions")
    shape = list(instruction.shape.dimensions)
    for axis, size in zip(axes, x.shape, strict=True):
        shape[axis] = size if instruction.shape.dynamic[axis] else shape[axis]
    return broadcast(x, axes, tuple(shape))


def _reshape(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    shape = instruction.shape.dimensions
    if x.shape == shape:
        return x
    shape = shape if not any(instruction.shape.dynamic) else _sizes(instruction, x.size)
    few = isinstance(x, XContainer) and x._kind is not NODE and x.size <= _FEW
    return _copied(x, shape) if few and x._kind.strides is not None else x._reshaped(shape)


def _copied(x: XContainer, shape: tuple[int, ...]) -> XContainer:
    """Return the elements of a strided container in memory of their own, in another shape."""
    made: XContainer = new_container(XArray, row_major(x._dtype, len(shape)), shape, x.size)
    array_of(made).reshape(x.shape)[...] = array_of(x)
    return made


def _sizes(instruction: HloInstruction, count: int) -> tuple[int, ...]:
    """Dimensions of a result that has so many elements; one of them may be dynamic."""
    shape = list(instruction.shape.dimensions)
    if math.prod(shape) != count:
        dynamic = [axis for axis, flag in enumerate(instruction.shape.dynamic) if flag]
        for axis in dynamic[:1]:
            rest = math.prod([size for other, size in enumerate(shape) if other != axis])
            shape[axis] = count // rest if rest else 0
    if math.prod(shape) != count:
        raise refuse(instruction, f"{count} elements do not fill {instruction.shape}")
    return tuple(shape)


def _slice(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    ranges = instruction.get("slice")
    return x[tuple([slice(*part) for part in ranges])] if ranges else x


def _reverse(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    axes = instruction.get("dimensions")
    return flip(x, axis=axes) if axes else x


def _concatenate(run: Runner, instruction: HloInstruction, *parts: Value) -> Value:
    (axis,) = instruction.get("dimensions")
    return concat(parts, axis=axis) if len(parts) > 1 else parts[0]


def _constant(run: Runner, instruction: HloInstruction) -> Value:
    literal = instruction.literal
    if literal.is_elided:
        raise refuse(instruction, "the text left its values out; print long constants in full")

    def build(part: HloLiteral) -> Value:
        if part.values is None:
            return tuple([build(element) for element in part.elements])
        return constant(part.values)

    return build(literal)


def _iota(run: Runner, instruction: HloInstruction) -> Value:
    shape, axis = instruction.shape.dimensions, instruction.get("iota_dimension")
    dtype = result_dtype(instruction)
    numbers = arange(shape[axis] if all(shape) else 1, dtype="int64").astype(dtype)
    return broadcast(numbers, (axis,), shape)


def _bitcast(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    source, target = instruction.operands[0].shape, instruction.shape
    lies = isinstance(x, XArray) and isinstance(x.map, TiledMap) and x.layout == source.layout
    if lies or not _keeps_order(source, target):
        laid = x if lies else XArray(x, layout=source.layout)
        laid.buffer.kept = True  # it has two owners now
        return adapt(laid.buffer.data, spec=target)
    physical = permute_dims(x, major_to_minor(source))
    if source.element_type != target.element_type:
        physical = container(_convert_bits(instruction, array(physical), _physical(target)))
    order = major_to_minor(target)
    back = [order.index(axis) for axis in range(target.rank)]
    return permute_dims(reshape(physical, _physical(target)), back)


def is_chain_of_views(bitcast: HloInstruction) -> bool:
    """Whether a bitcast only says where elements come from, whatever lies where here."""
    source, target = bitcast.operands[0].shape, bitcast.shape
    plain = all([shape.is_array and not any(shape.dynamic) for shape in (source, target)])
    kept = plain and source.element_type == target.element_type
    return kept and _is_strided(source) and _is_strided(target)


@lru_cache(maxsize=1024)
def _keeps_order(source: ArraySpec, target: ArraySpec) -> bool:
    """Whether elements in the order of their dimensions from major to minor stay in that order.

    So it is where nothing is tiled, and where tiles cut both shapes alike: then a bitcast is a view
    of values that lie in any layout.  Else the bytes must be made first.
    """
    if _is_strided(source) and _is_strided(target):
        return True
    try:
        first, second = [
            spec.make_shape_with_descending_layout_and_same_physical_layout()
            for spec in (source, target)
        ]
        return source.element_type == target.element_type and first.is_bitcast(second)
    except SizeError:  # nobody knows
        return False


def _is_strided(spec: ArraySpec) -> bool:
    return spec.layout is None or not spec.layout.tiles


def major_to_minor(spec: ArraySpec) -> tuple[int, ...]:
    """Return dimensions in the order in which memory has them."""
    return layout_of(spec).minor_to_major[::-1]


def _physical(spec: ArraySpec) -> tuple[int, ...]:
    return compose(spec.dimensions, major_to_minor(spec))


def _convert_bits(
    instruction: HloInstruction, values: NumpyArray, shape: tuple[int, ...]
) -> NumpyArray:
    kinds = instruction.operands[0].shape.element_type, instruction.shape.element_type
    bits = tuple([8 if kind.name == "pred" else kind.bits for kind in kinds])
    return bitcast_convert(values, result_dtype(instruction), (bits[0], bits[1]), shape)


def _bitcast_convert(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    kinds = instruction.operands[0].shape.element_type, instruction.shape.element_type
    same = kinds[0].bits == kinds[1].bits
    values = array(x)
    return container(
        _convert_bits(instruction, values, values.shape if same else instruction.shape.dimensions)
    )


def pad(x: XExpression, value: Value, padding: Sequence[PadDimension]) -> XExpression:
    """Return x with elements before, behind and between; negative numbers take away.

    Parameters
    ----------
    x : XExpression
        The elements.
    value : scalar
        What is put in.
    padding : sequence of PadDimension
        One for each dimension.
    """
    shape, here, there = [], [], []
    for size, part in zip(x.shape, padding, strict=True):
        low, step = part.low, part.interior + 1
        shape.append(max(part.padded(size), 0))
        first = max(0, -(low // step)) if low < 0 else 0
        last = min(size, (shape[-1] - 1 - low) // step + 1) if shape[-1] else 0
        there.append(slice(first, max(last, first)))
        start = low + first * step
        count = max(last - first, 0)
        here.append(slice(start, start + (count - 1) * step + 1 if count else start, step))
    if not any([any(part) for part in padding]):
        return x
    filled = full(tuple(shape), 0, dtype=x.dtype) if 0 in shape else broadcast_to(value, shape)
    made = XArray(filled)
    if made.size:
        made[tuple(here)] = x[tuple(there)]
    return made


def _get_dimension_size(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    (axis,) = instruction.get("dimensions")
    return XExpression(as_node(np.int32(x.shape[axis]), "get-dimension-size"))


def _set_dimension_size(run: Runner, instruction: HloInstruction, x: Value, size: Value) -> Value:
    (axis,) = instruction.get("dimensions")
    count, bound = int(array(size)), instruction.shape.dimensions[axis]
    if not 0 <= count <= bound:
        raise refuse(instruction, f"{count} elements along a dimension of at most {bound}")
    # What a longer one has behind its old size, nobody promises: zeros.
    more = [PadDimension(0, (count - x.shape[axis]) * (axis == k), 0) for k in range(x.ndim)]
    return pad(x, x.dtype.type(0), more)


def _dynamic_reshape(run: Runner, instruction: HloInstruction, x: Value, *sizes: Value) -> Value:
    shape = tuple([int(array(size)) for size in sizes])
    if math.prod(shape) != x.size:
        raise refuse(instruction, f"{x.size} elements do not fill {shape}")
    return reshape(x, shape)


#: Evaluators that only say where elements come from.
VIEWS: Final[dict[str, Evaluator]] = {
    **by_opcode(_broadcast, _concatenate, _reshape, _reverse, _slice),
    "copy": same,
    "transpose": lambda run, made, x: permute_dims(x, made.get("dimensions")),
}

#: Evaluators that take values in memory, or none.
HEAVY: Final[dict[str, Evaluator]] = {
    **by_opcode(_bitcast, _bitcast_convert, _constant, _dynamic_reshape, _get_dimension_size),
    **by_opcode(_iota, _set_dimension_size),
    **dict.fromkeys(("add-dependency", "domain", "opt-barrier"), same),
    "after-all": lambda run, made, *values: TOKEN,
    "copy-done": taken(0),
    "copy-start": lambda run, made, x: (x, x, TOKEN),
    "pad": lambda run, made, x, value: pad(x, value, made.get("padding")),
}
