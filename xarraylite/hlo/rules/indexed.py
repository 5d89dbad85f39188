"""Shapes of gathers and scatters."""

from __future__ import annotations

from typing import Final

from ...xla.spec import ArraySpec
from .call import Call, Rule, array, one_or_tuple, scalar, similar


def _index_sizes(call: Call, indices: ArraySpec) -> tuple[int, list[int]]:
    """Length of an index, and the sizes of what counts the indices."""
    axis = call.get("index_vector_dim")
    call.require(indices.element_type.is_integral, "indices are integers")
    call.require(0 <= axis <= indices.rank, f"index_vector_dim={axis} is at most {indices.rank}")
    if axis == indices.rank:
        return 1, list(indices.dimensions)
    sizes = indices.dimensions
    return sizes[axis], [*sizes[:axis], *sizes[axis + 1 :]]


def _batching(
    call: Call, operand: ArraySpec, indices: ArraySpec, names: tuple[str, str]
) -> tuple[int, ...]:
    """Dimensions of the operand that go along with dimensions of the indices."""
    ours, theirs = call.paired(operand, indices, names)
    call.require(call.get("index_vector_dim") not in theirs, f"{names[1]} are not the indices' own")
    return ours


def _ascending(call: Call, name: str) -> None:
    values = call.ints(name)
    call.require(list(values) == sorted(values), f"{name}={values} ascend")


def _map(call: Call, name: str, length: int, rank: int) -> tuple[int, ...]:
    mapped = call.distinct(name, rank)
    call.require(len(mapped) == length, f"{name} names a dimension for each of {length} numbers")
    return mapped


def _gather(call: Call) -> ArraySpec:
    operand, indices = call.shapes
    length, counted = _index_sizes(call, indices)
    mapped = _map(call, "start_index_map", length, operand.rank)
    batching = _batching(
        call, operand, indices, ("operand_batching_dims", "start_indices_batching_dims")
    )
    collapsed = call.distinct("collapsed_slice_dims", operand.rank)
    call.require(
        not set(batching) & {*collapsed, *mapped},
        "batching dimensions are neither sliced nor mapped",
    )
    for name in ("collapsed_slice_dims", "operand_batching_dims", "offset_dims"):
        _ascending(call, name)
    sizes = call.ints("slice_sizes")
    call.require(
        len(sizes) == operand.rank
        and all([0 <= n <= m for n, m in zip(sizes, operand.dimensions, strict=True)]),
        f"slice_sizes={sizes} lie within the operand",
    )
    call.require(
        all([sizes[d] <= 1 for d in (*collapsed, *batching)]),
        "slices have at most one element along collapsed and batching dimensions",
    )
    kept = [sizes[d] for d in range(operand.rank) if d not in collapsed and d not in batching]
    rank = len(counted) + len(kept)
    offsets = call.distinct("offset_dims", rank)
    call.require(len(offsets) == len(kept), f"offset_dims name {len(kept)} dimensions")
    inner, outer = iter(kept), iter(counted)
    return array(
        operand.element_type, [next(inner) if d in offsets else next(outer) for d in range(rank)]
    )


def _scatter(call: Call) -> ArraySpec:
    call.require(len(call.shapes) % 2 == 1, "takes operands, indices and as many updates")
    half = len(call.shapes) // 2
    operands, indices, updates = call.shapes[:half], call.shapes[half], call.shapes[half + 1 :]
    first = operands[0]
    call.alike(operands)
    length, counted = _index_sizes(call, indices)
    _map(call, "scatter_dims_to_operand_dims", length, first.rank)
    batching = _batching(
        call, first, indices, ("input_batching_dims", "scatter_indices_batching_dims")
    )
    inserted = call.distinct("inserted_window_dims", first.rank)
    for name in ("inserted_window_dims", "update_window_dims", "input_batching_dims"):
        _ascending(call, name)
    bounds = [n for d, n in enumerate(first.dimensions) if d not in (*inserted, *batching)]
    window = call.ints("update_window_dims")
    call.require(len(window) == len(bounds), f"update_window_dims name {len(bounds)} dimensions")
    for update, operand in zip(updates, operands, strict=True):
        call.distinct("update_window_dims", update.rank)
        fits = similar(scalar(update), scalar(operand))
        call.require(fits, "updates have the types of the operands")
        taken = [update.dimensions[d] for d in window]
        rest = [n for d, n in enumerate(update.dimensions) if d not in window]
        call.require(rest == counted, f"updates have the dimensions {counted} of the indices")
        call.require(
            all([n <= m for n, m in zip(taken, bounds, strict=True)]), "windows fit the operand"
        )
    scalars = [scalar(operand) for operand in operands]
    given = [scalar(update) for update in updates]
    call.signature(0, [*scalars, *given], one_or_tuple(scalars), "the update")
    return one_or_tuple(operands)


RULES: Final[dict[str, Rule]] = {"gather": _gather, "scatter": _scatter}
"""Rules by operation."""
