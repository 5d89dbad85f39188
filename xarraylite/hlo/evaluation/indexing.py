"""Parts of arrays whose places are computed: dynamic slices, gather, scatter.

Indices that a read takes are moved inside (clamped), so that whole slices can be read; a write
whose window is not wholly inside is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ...arrays.xarray import XArray
from ...assignment.elements import array_of
from ...dtypes.names import NumpyArray
from ...functions.manipulation import reshape
from ...ir.kind import NODE
from ..instruction import HloComputation, HloInstruction
from ..opcodes import by_opcode
from .reductions import UFUNCS, combiner, scatter_rounds
from .values import Evaluator, Runner, Value, array, container, integer, packed, read, refuse


@lru_cache(maxsize=1024)
def _room(sizes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Return how far a slice can move along dimensions, up to the last where it can; its sizes.

    Where there are fewer elements than it is long, it has all of them.
    """
    pairs = [(max(extent - size, 0), size) for size, extent in zip(sizes, shape, strict=True)]
    while pairs and not pairs[-1][0]:
        pairs.pop()
    return tuple(pairs)


def _window(
    indices: Sequence[Value], sizes: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[slice, ...]:
    """Return what a dynamic slice covers, moved inside, up to the last part of a dimension."""
    listed = len(indices) == 1 and indices[0].ndim == 1
    starts = read(indices[0]).tolist() if listed else indices
    parts: list[slice] = []
    for start, (room, size) in zip(starts, _room(sizes, shape), strict=False):
        first = 0
        if room:
            first = min(max(start if listed else integer(start), 0), room)
        parts.append(slice(first, first + size))
    return tuple(parts)


def _dynamic_slice(run: Runner, instruction: HloInstruction, x: Value, *indices: Value) -> Value:
    place = _window(indices, instruction.get("dynamic_slice_sizes"), x.shape)
    return x[place] if place else x


def _dynamic_update_slice(
    run: Runner,
    instruction: HloInstruction,
    x: Value,
    update: Value,
    *indices: Value,
    alone: bool = False,
) -> Value:
    """Write an update, whose shape is that of the text or another one of as many elements."""
    told = instruction.operands[1].shape
    sizes = update.shape if any(told.dynamic) else told.dimensions
    if sizes == x.shape:
        return reshape(update, sizes)
    made = x if alone else XArray(x)
    place = _window(indices, sizes, x.shape)
    if alone and x._kind is not NODE:  # nobody waits for what is there
        array_of(x)[place] = read(update).reshape(sizes)
    else:
        made[place] = reshape(update, sizes)
    return made


def _starts_of_windows(
    indices: NumpyArray, get: Callable[[str], Any], mapped: str, batching: str, index_batching: str
) -> tuple[dict[int, NumpyArray], tuple[int, ...]]:
    """Return the start in each dimension that has one, and the extents of the starts' batch.

    Dimensions not named by the attributes begin at 0.
    """
    along = get("index_vector_dim")
    # The vectors that indices form in the last dimension, as signed integers.
    vectors = indices[..., None] if along == indices.ndim else np.moveaxis(indices, along, -1)
    if vectors.dtype == np.uint64:
        vectors = np.minimum(vectors, np.uint64(2**63 - 1))
    vectors = vectors.astype(np.int64)
    batch = vectors.shape[:-1]
    found = {axis: vectors[..., k] for k, axis in enumerate(get(mapped))}
    for axis, index_axis in zip(get(batching) or (), get(index_batching) or (), strict=True):
        numbers = np.indices(batch, sparse=True)[index_axis - (index_axis > along)]
        found[axis] = np.broadcast_to(numbers, batch)
    return found, batch


def _gather(run: Runner, instruction: HloInstruction, x: Value, indices: Value) -> Value:
    get = instruction.get
    source, sizes = array(x), get("slice_sizes")
    names = ("start_index_map", "operand_batching_dims", "start_indices_batching_dims")
    starts, batch = _starts_of_windows(array(indices), get, *names)
    gone = (*get("collapsed_slice_dims"), *(get("operand_batching_dims") or ()))
    if not all([sizes[axis] for axis in gone]):  # one of no elements: zeros, as XLA has it
        return container(np.zeros(instruction.shape.dimensions, source.dtype))
    if 0 not in batch and np.any(np.greater(sizes, source.shape)):
        raise refuse(instruction, f"slices of {sizes} do not lie within {source.shape}")
    kept = [axis for axis in range(source.ndim) if axis not in gone]
    # Dimensions that are taken whole stay slices behind the ones that are indexed.
    whole = [axis for axis in kept if axis not in starts and sizes[axis] == source.shape[axis]]
    indexed = [axis for axis in range(source.ndim) if axis not in whole]
    windows = [axis for axis in indexed if axis in kept]
    picks = []
    for axis in indexed:
        start = starts.get(axis, np.zeros(batch, np.int64))
        start = np.clip(start, 0, source.shape[axis] - sizes[axis])
        start = start.reshape((*start.shape, *[1] * len(windows)))
        if axis in windows:
            shape = [1] * len(windows)
            shape[windows.index(axis)] = -1
            start = start + np.arange(sizes[axis]).reshape(shape)
        picks.append(start)
    turned = source.transpose([*indexed, *whole])
    found = turned[tuple(picks)] if picks else np.broadcast_to(turned, (*batch, *turned.shape))
    rank = len(batch)
    order = [*range(rank), *[rank + [*windows, *whole].index(axis) for axis in kept]]
    found = found.transpose(order)
    return container(np.moveaxis(found, range(rank, found.ndim), get("offset_dims")))


#: Elements from which a window is written at once.
_BLOCK: Final = 32


def _scatter(
    run: Runner, instruction: HloInstruction, *operands: Value, alone: bool = False
) -> Value:
    get, body = instruction.get, instruction.to_apply
    count = len(operands) // 2
    in_place = alone and operands[0]._kind is not NODE and operands[0]._kind.strides is None
    over = operands[: int(in_place)]
    made = [array_of(x) for x in over]
    made += [np.array(array(x), order="C") for x in operands[len(made) : count]]
    if not made[0].size:  # no update lies inside, along dimensions that no index names either
        return packed(instruction, made, over)
    updates = [array(x) for x in operands[count + 1 :]]
    shape = made[0].shape
    names = (
        "scatter_dims_to_operand_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
    )
    starts, batch = _starts_of_windows(array(operands[count]), get, *names)
    gone = (*get("inserted_window_dims"), *(get("input_batching_dims") or ()))
    kept = [axis for axis in range(len(shape)) if axis not in gone]
    inner = get("update_window_dims")
    order = [*[axis for axis in range(updates[0].ndim) if axis not in inner], *inner]
    turned = [update.transpose(order) for update in updates]
    sizes = dict(zip(kept, turned[0].shape[len(batch) :], strict=True))
    if math.prod(sizes.values()) >= _BLOCK and math.prod(batch) < _BLOCK * _BLOCK:
        _write_blocks(run, body, made, turned, starts, sizes)
        return packed(instruction, made, over)
    flat = np.zeros(turned[0].shape, np.int64)
    inside = np.ones(batch, bool)
    for axis, extent in enumerate(shape):
        stride = math.prod(shape[axis + 1 :])
        size = sizes.get(axis, 1)
        if axis in starts:
            start = starts[axis]
            inside &= (start >= 0) & (start <= extent - size)
            flat += np.reshape(start * stride, (*start.shape, *[1] * len(kept)))
        if axis in sizes:
            numbers = np.arange(size) * stride
            flat += numbers.reshape([-1 if other == axis else 1 for other in kept])
    flat[~inside] = -1
    lines, given = [[x.reshape(-1) for x in arrays] for arrays in (made, turned)]
    places = flat.reshape(-1)
    known = places >= 0
    replaces, ufunc = _simple(body, made)
    if replaces:
        # NumPy writes in order, so the last of several updates of one element stays.
        lines[0][places[known]] = given[0][known]
    elif ufunc is not None:
        ufunc.at(lines[0], places[known], given[0][known])
    else:
        scatter_rounds(run.batched(body), lines, places, given)
    return packed(instruction, made, over)


def _simple(body: HloComputation, made: Sequence[NumpyArray]) -> tuple[bool, np.ufunc | None]:
    """Whether updates of one array replace its elements, or NumPy's function that joins them."""
    if len(made) > 1:
        return False, None
    root = body.root
    ufunc = UFUNCS.get(combiner(body)) if made[0].dtype.kind in "biufc" else None
    return root.opcode == "parameter" and root.parameter_number == 1, ufunc


def _write_blocks(
    run: Runner,
    body: HloComputation,
    made: list[NumpyArray],
    updates: list[NumpyArray],
    starts: dict[int, NumpyArray],
    sizes: dict[int, int],
) -> None:
    """Write few large windows one after the other."""
    shape = made[0].shape
    replaces, ufunc = _simple(body, made)
    for place in np.ndindex(updates[0].shape[: updates[0].ndim - len(sizes)]):
        low = [int(starts[axis][place]) if axis in starts else 0 for axis in range(len(shape))]
        reach = [start + sizes.get(axis, 1) for axis, start in enumerate(low)]
        if any([a < 0 or b > n for a, b, n in zip(low, reach, shape, strict=True)]):
            continue
        where = tuple([slice(a, b) for a, b in zip(low, reach, strict=True)])
        blocks = [x[where] for x in made]
        given = [u[place].reshape(block.shape) for u, block in zip(updates, blocks, strict=True)]
        if replaces:
            blocks[0][...] = given[0]
        elif ufunc is not None:
            ufunc(blocks[0], given[0], out=blocks[0])
        else:
            results = run.batched(body)(*blocks, *given)
            for block, result in zip(blocks, results, strict=True):
                block[...] = result


#: Evaluators of operations that take places as arguments.
INDEXING: Final[dict[str, Evaluator]] = by_opcode(
    _dynamic_slice, _dynamic_update_slice, _gather, _scatter
)

#: Those that may write into their first operand where ``alone`` says that nobody else has it.
IN_PLACE: Final = ("dynamic-update-slice", "scatter")
