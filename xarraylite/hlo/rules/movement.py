"""Shapes of operations that move elements, gathers and scatters among them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ...layout.text import UNBOUNDED
from ...xla.spec import ArraySpec
from ..opcodes import by_opcode
from .call import Call, Rule, array, one_or_tuple, scalar, similar, with_dimensions


def _broadcast(call: Call) -> ArraySpec:
    operand = call.shapes[0]
    dimensions = call.ints("dimensions")
    call.require(
        len(dimensions) == operand.rank,
        f"dimensions={dimensions} name one dimension of the result for each of the operand's",
    )
    if call.result is None and not operand.rank:
        return operand
    result = call.said_array()
    call.distinct("dimensions", result.rank)
    call.require(
        all(
            [result.dimensions[d] == n for d, n in zip(dimensions, operand.dimensions, strict=True)]
        ),
        f"the dimensions {dimensions} of the result {result.human_string()} are the operand's",
    )
    return array(operand.element_type, result.dimensions, result.dynamic)


def _reshape(call: Call) -> ArraySpec:
    operand, result = call.shapes[0], call.said_array()
    unbounded = UNBOUNDED in (*operand.dimensions, *result.dimensions)
    call.require(
        unbounded or prod(operand.dimensions) == prod(result.dimensions),
        f"the result {result.human_string()} has as many elements as the operand",
    )
    return array(operand.element_type, result.dimensions, result.dynamic)


def _bitcast(call: Call) -> ArraySpec:
    result = call.said_array()
    if UNBOUNDED not in (*call.shapes[0].dimensions, *result.dimensions):
        both = (call.shapes[0], result)
        bits = [shape.elements_in() * shape.element_size_in_bits() for shape in both]
        call.require(
            bits[0] == bits[1],
            f"the result {result.human_string()} has as many bits as the operand",
        )
    return result


def _transpose(call: Call) -> ArraySpec:
    operand = call.shapes[0]
    order = call.distinct("dimensions", operand.rank)
    call.require(len(order) == operand.rank, f"dimensions={order} is a permutation")
    if operand.layout is not None and operand.layout.padded_dimensions is None:
        return operand.permute_dimensions(order)
    return array(
        operand.element_type,
        [operand.dimensions[d] for d in order],
        [operand.dynamic[d] for d in order],
    )


def _reverse(call: Call) -> ArraySpec:
    call.distinct("dimensions", call.shapes[0].rank)
    return call.shapes[0]


def _slice(call: Call) -> ArraySpec:
    operand = call.shapes[0]
    ranges = call.get("slice")
    call.require(len(ranges) == operand.rank, "slice has one range for each dimension")
    for dim, size in zip(ranges, operand.dimensions, strict=True):
        call.require(
            0 <= dim.start <= dim.limit and (size == UNBOUNDED or dim.limit <= size),
            f"the range {dim.start}:{dim.limit} lies within a dimension of {size}",
        )
    sizes = [dim.size for dim in ranges]
    # A dimension that is taken whole keeps its bound.
    flags = [
        flag and size == old
        for flag, size, old in zip(operand.dynamic, sizes, operand.dimensions, strict=True)
    ]
    return array(operand.element_type, sizes, flags)


def _pad(call: Call) -> ArraySpec:
    operand, value = call.shapes
    call.require(not value.dimensions, "what is padded with is a scalar")
    call.same_type(call.shapes)
    padding = call.get("padding")
    call.require(len(padding) == operand.rank, "padding has one entry for each dimension")
    sizes = []
    for dim, size in zip(padding, operand.dimensions, strict=True):
        if size == UNBOUNDED:
            sizes.append(size)
            continue
        total = dim.padded(size)
        call.require(
            total >= 0, f"padding a dimension of {size} by {dim.low}_{dim.high} leaves some"
        )
        sizes.append(total)
    return array(operand.element_type, sizes, operand.dynamic)


def _concatenate(call: Call) -> ArraySpec:
    first = call.shapes[0]
    axis = call.one_dimension(first.rank)
    call.same_type(call.shapes)
    before, after = first.dimensions[:axis], first.dimensions[axis + 1 :]
    for shape in call.shapes:
        call.require(
            shape.rank == first.rank
            and (shape.dimensions[:axis], shape.dimensions[axis + 1 :]) == (before, after),
            f"operands differ along dimension {axis} alone",
        )
    total = sum([shape.dimensions[axis] for shape in call.shapes])
    flags = [any(column) for column in zip(*[x.dynamic for x in call.shapes], strict=True)]
    return array(first.element_type, (*before, total, *after), flags)


def _iota(call: Call) -> ArraySpec:
    result = call.said_array()
    call.number("iota_dimension", result.rank, f"is one of {result.human_string()}")
    call.require(result.element_type.name != "pred", "counts in numbers")
    return result


def _starts(call: Call, starts: tuple[ArraySpec, ...], rank: int) -> None:
    """Check the places of a dynamic slice: one scalar for each dimension, or one vector."""
    if len(starts) == 1 and starts[0].rank == 1:
        call.require(starts[0].dimensions == (rank,), "there is one start for each dimension")
    else:
        call.require(
            len(starts) == rank and all([not start.dimensions for start in starts]),
            "starts are scalars, one for each dimension",
        )
    kinds = {start.element_type for start in starts}
    call.require(
        len(kinds) <= 1 and all([kind.is_integral for kind in kinds]),
        "starts are integers of one type",
    )


def _within(call: Call, sizes: Sequence[int], bounds: Sequence[int], rule: str) -> None:
    """Check that there are as many sizes as bounds, and none is above its own."""
    fits = [0 <= n <= m or n == m for n, m in zip(sizes, bounds, strict=False)]
    call.require(len(sizes) == len(bounds) and all(fits), rule)


def _dynamic_slice(call: Call) -> ArraySpec:
    operand = call.shapes[0]
    _starts(call, call.shapes[1:], operand.rank)
    sizes = call.ints("dynamic_slice_sizes")
    _within(call, sizes, operand.dimensions, f"dynamic_slice_sizes={sizes} lie within the operand")
    return array(operand.element_type, sizes)


def _dynamic_update_slice(call: Call) -> ArraySpec:
    operand, update = call.shapes[:2]
    _starts(call, call.shapes[2:], operand.rank)
    call.require(
        update.element_type.is_floating == operand.element_type.is_floating
        and (update.element_type is operand.element_type or update.element_type.is_floating),
        "operand and update have the same element type",
    )
    _within(call, update.dimensions, operand.dimensions, "the update lies within the operand")
    return operand


def _get_dimension_size(call: Call) -> ArraySpec:
    axis = call.one_dimension(call.shapes[0].rank)
    if call.opcode == "get-dimension-size":
        return array("s32", ())
    operand, size = call.shapes
    call.require(size.element_type.name == "s32" and not size.dimensions, "the size is s32[]")
    flags = [flag or d == axis for d, flag in enumerate(operand.dynamic)]
    if call.result is not None and call.result.rank == operand.rank:
        # Set to its bound, a size is static again; only the program knows.
        flags[axis] = call.result.dynamic[axis]
    return with_dimensions(operand, operand.dimensions, dynamic=flags)


def _dynamic_reshape(call: Call) -> ArraySpec:
    result = call.said()
    call.require(
        result.is_array and len(call.shapes) == result.rank + 1, "takes one size per dimension"
    )
    call.require(
        all([s.element_type.name == "s32" and not s.dimensions for s in call.shapes[1:]]),
        "sizes are s32[]",
    )
    return _reshape(call)


def _indexed(
    call: Call, indices: ArraySpec, mapped: str, batching: tuple[str, str], others: Sequence[str]
) -> tuple[list[int], tuple[int, ...]]:
    """Check how indices lie in the first operand and what numbers its dimensions.

    Return the dimensions that count indices, and those of the operand that go along with dimensions
    of the indices.
    """
    operand, rank = call.shapes[0], indices.rank
    call.require(indices.element_type.is_integral, "indices are integers")
    axis = call.number("index_vector_dim", rank + 1, f"is at most {rank}")
    length = (*indices.dimensions, 1)[axis]
    named = call.distinct(mapped, operand.rank)
    call.require(len(named) == length, f"{mapped} names a dimension for each of {length} numbers")
    ours, theirs = call.paired(operand, indices, batching)
    call.require(axis not in theirs, f"{batching[1]} are not the indices' own")
    taken = {*call.ints(others[0]), *named}
    call.require(taken.isdisjoint(ours), "batching dimensions are neither sliced nor mapped")
    for name in (*others, batching[0]):
        values = call.ints(name)
        call.require(list(values) == sorted(values), f"{name}={values} ascend")
    return [d for d in range(rank) if d != axis], ours


def _gather(call: Call) -> ArraySpec:
    operand, indices = call.shapes
    names = ("operand_batching_dims", "start_indices_batching_dims")
    others = ("collapsed_slice_dims", "offset_dims")
    counting, batching = _indexed(call, indices, "start_index_map", names, others)
    collapsed = call.distinct("collapsed_slice_dims", operand.rank)
    sizes = call.ints("slice_sizes")
    _within(call, sizes, operand.dimensions, f"slice_sizes={sizes} lie within the operand")
    call.require(
        all([sizes[d] <= 1 for d in (*collapsed, *batching)]),
        "slices have at most one element along collapsed and batching dimensions",
    )
    kept = [d for d in range(operand.rank) if d not in collapsed and d not in batching]
    rank = len(counting) + len(kept)
    offsets = call.distinct("offset_dims", rank)
    call.require(len(offsets) == len(kept), f"offset_dims name {len(kept)} dimensions")
    # What is taken whole keeps its bound, as what counts the indices does.
    inner = iter(
        [(sizes[d], operand.dynamic[d] and sizes[d] == operand.dimensions[d]) for d in kept]
    )
    outer = iter([(indices.dimensions[d], indices.dynamic[d]) for d in counting])
    made = [next(inner) if d in offsets else next(outer) for d in range(rank)]
    return array(operand.element_type, [size for size, _ in made], [flag for _, flag in made])


def _scatter(call: Call) -> ArraySpec:
    call.require(len(call.shapes) % 2 == 1, "takes operands, indices and as many updates")
    half = len(call.shapes) // 2
    operands, indices, updates = call.shapes[:half], call.shapes[half], call.shapes[half + 1 :]
    first = operands[0]
    call.alike(operands)
    names = ("input_batching_dims", "scatter_indices_batching_dims")
    others = ("inserted_window_dims", "update_window_dims")
    counting, batching = _indexed(call, indices, "scatter_dims_to_operand_dims", names, others)
    counted = [indices.dimensions[d] for d in counting]
    inserted = call.distinct("inserted_window_dims", first.rank)
    bounds = [n for d, n in enumerate(first.dimensions) if d not in (*inserted, *batching)]
    window = call.ints("update_window_dims")
    call.require(len(window) == len(bounds), f"update_window_dims name {len(bounds)} dimensions")
    for update, operand in zip(updates, operands, strict=True):
        call.distinct("update_window_dims", update.rank)
        fits = similar(scalar(update), scalar(operand))
        call.require(fits, "updates have the types of the operands")
        rest = [n for d, n in enumerate(update.dimensions) if d not in window]
        call.require(rest == counted, f"updates have the dimensions {counted} of the indices")
        _within(call, [update.dimensions[d] for d in window], bounds, "windows fit the operand")
    scalars = [scalar(shape) for shape in (*operands, *updates)]
    call.signature(0, scalars, one_or_tuple(scalars[:half]), "the update")
    return one_or_tuple(operands)


#: Rules by operation.
RULES: Final[dict[str, Rule]] = {
    **by_opcode(_bitcast, _broadcast, _concatenate, _dynamic_reshape, _dynamic_slice, _iota),
    **by_opcode(_dynamic_update_slice, _get_dimension_size, _pad, _reshape, _reverse, _slice),
    **by_opcode(_gather, _scatter, _transpose),
    "set-dimension-size": _get_dimension_size,
}
