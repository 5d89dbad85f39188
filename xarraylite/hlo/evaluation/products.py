"""Products: ``dot`` with all its dimension numbers, and convolutions as products of windows.

Operands are put into the order batch, free, contracted, as matrices, and multiplied by BLAS.
Floats of 16 bits and fewer are multiplied in float32 and rounded once; integers in the type of the
result.  A convolution of n dimensions is one product: of the windows of the input, a view with a
dimension per place and one per element of the kernel, with the kernel as a matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from ...arrays.xarray import XArray
from ...assignment import results
from ...assignment.elements import array_of, new_container
from ...blas.calls import call_for, multiply
from ...dtypes.names import DType, NumpyArray, kind
from ...ir.kind import Kind, row_major
from ...layout.strided import ROW_MAJOR
from ...memory.buffer import Buffer
from ..instruction import HloInstruction
from ..opcodes import by_opcode
from ..values import ConvolutionLabels, WindowDimension, window_of
from .reductions import set_apart, sliding
from .values import (
    Evaluator,
    Runner,
    Value,
    array,
    container,
    read,
    refuse,
    result_dtype,
    stored,
)


@lru_cache(maxsize=256)
def working_dtype(*dtypes: DType) -> DType:
    """Return the type in which products are computed whose operands and result have these."""
    wide = [
        np.dtype(np.float32) if kind(dtype) == "f" and dtype.itemsize < 4 else dtype
        for dtype in dtypes
    ]
    narrow = [np.dtype(np.int8) if dtype.kind == "V" else dtype for dtype in wide]
    return np.result_type(*narrow)


def product(x: NumpyArray, y: NumpyArray, dtype: DType, shape: tuple[int, ...]) -> Value:
    """Return the product of stacks of matrices, as the type and with the shape of the result."""
    working = dtype
    if dtype.char not in "fdFD" or x.dtype != dtype or y.dtype != dtype:
        working = working_dtype(x.dtype, y.dtype, dtype)
        if working == np.bool_:
            return product(x.view(np.int8), y.view(np.int8), np.dtype(np.int32), shape) > 0
        x, y = x.astype(working, copy=False), y.astype(working, copy=False)
    made: Value = new_container(XArray, row_major(working, len(shape)), shape, math.prod(shape))
    out = array_of(made)
    matrices = (*x.shape[:-1], y.shape[-1])
    if shape != matrices:
        out = out.reshape(matrices)
    multiply(x, y, out)
    return made if working == dtype else made.astype(dtype)


class _Matrices(NamedTuple):
    """How an operand becomes stacked matrices: its dimensions' order and the extents they take.

    None where they are as they should be.  Then the extents of those that are not summed, and
    whether anything is to be done.
    """

    order: tuple[int, ...] | None
    shape: tuple[int, ...] | None
    free: tuple[int, ...]
    moves: bool

    def of(self, x: NumpyArray) -> NumpyArray:
        """Return the matrices of an operand."""
        turned = x if self.order is None else x.transpose(self.order)
        return turned if self.shape is None else turned.reshape(self.shape)


@lru_cache(maxsize=1024)
def _matrices(
    shape: tuple[int, ...], batch: tuple[int, ...], contracted: tuple[int, ...], last: bool
) -> _Matrices:
    """Return how dimensions come into the order batch, free, contracted; or free ones last."""
    rank = len(shape)
    free = [axis for axis in range(rank) if axis not in batch and axis not in contracted]
    order = (*batch, *free, *contracted) if last else (*batch, *contracted, *free)
    extents = tuple([shape[axis] for axis in free])
    stacked, summed = [shape[axis] for axis in batch], [shape[axis] for axis in contracted]
    ends = [math.prod(extents), math.prod(summed)]
    whole = (*stacked, *(ends if last else reversed(ends)))
    turned = None if order == tuple(range(rank)) else order
    reshaped = None if len(free) == len(contracted) == 1 else whole
    return _Matrices(turned, reshaped, extents, bool(turned or reshaped))


class Dot(NamedTuple):
    """A product of operands of some shapes and dtypes: all that is known before they are.

    Attributes
    ----------
    rows, columns : _Matrices
        How its operands become matrices.
    dtype, shape : numpy.dtype, tuple of int
        Of its result.
    kind : Kind
        Of its result; None where operands or result have to be converted.
    nbytes : int
        The memory of its result.
    matrices : tuple of int
        The result as stacked matrices.
    call : callable
        What multiplies them.
    """

    rows: _Matrices
    columns: _Matrices
    dtype: DType
    shape: tuple[int, ...]
    kind: Kind | None = None
    nbytes: int = 0
    matrices: tuple[int, ...] = ()
    call: Callable[..., object] = multiply

    def of(self, run: Runner, instruction: HloInstruction, operands: list[Value]) -> Value:
        """Return the product: a step of a program."""
        rows, columns, dtype, shape, kind, nbytes, matrices, call = self
        x, y = [value if value.__class__ is np.ndarray else read(value) for value in operands]
        if rows.moves:
            x = rows.of(x)
        if columns.moves:
            y = columns.of(y)
        if kind is None:
            return product(x, y, dtype, shape)
        buffer = Buffer.allocate(nbytes)
        made: XArray = results.container(XArray, kind, shape, buffer, ROW_MAJOR)
        out = np.ndarray(matrices, dtype, buffer._memory, buffer._start)
        if matrices is shape:
            made._array = out
        call(x, y, out)
        return made


@lru_cache(maxsize=1024)
def _dot_of(
    instruction: HloInstruction,
    left: tuple[int, ...],
    right: tuple[int, ...],
    dtypes: tuple[DType, ...],
) -> Dot:
    """Return the product of operands of some shapes and dtypes."""
    _require_agreement(instruction, left, right)
    get, dtype = instruction.get, result_dtype(instruction)
    batch, summed = get("lhs_batch_dims"), get("lhs_contracting_dims") or ()
    rows = _matrices(left, batch, summed, True)
    columns = _matrices(right, get("rhs_batch_dims"), get("rhs_contracting_dims") or (), False)
    stack = [left[axis] for axis in batch]
    shape = (*stack, *rows.free, *columns.free)
    if dtype.char not in "fdFD" or dtypes != (dtype, dtype):
        return Dot(rows, columns, dtype, shape)
    matrices = (*stack, math.prod(rows.free), math.prod(columns.free))
    matrices = shape if matrices == shape else matrices
    kind = row_major(dtype, len(shape))
    nbytes = math.prod(shape) * dtype.itemsize
    call = call_for((*matrices[:-1], math.prod([left[axis] for axis in summed])), matrices)
    return Dot(rows, columns, dtype, shape, kind, nbytes, matrices, call)


def _require_agreement(
    instruction: HloInstruction, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    """Refuse operands one of which has fewer elements than the text lets it have."""
    for part in ("batch_dims", "contracting_dims"):
        ours, theirs = [instruction.get(f"{side}_{part}") or () for side in ("lhs", "rhs")]
        if [left[axis] for axis in ours] != [right[axis] for axis in theirs]:
            raise refuse(instruction, f"{part} of {left} and {right} differ")


def _dot(run: Runner, instruction: HloInstruction, x: Value, y: Value) -> Value:
    left, right = read(x), read(y)
    made = _dot_of(instruction, left.shape, right.shape, (left.dtype, right.dtype))
    return made.of(run, instruction, [left, right])


def planned_dot(instruction: HloInstruction) -> Dot | None:
    """Return the product of operands as the text has them; None where that does not say all."""
    specs = [operand.shape for operand in instruction.operands]
    known = [spec.element_type.dtype is not None and not any(spec.dynamic) for spec in specs]
    if not all(known) or instruction.shape.element_type.dtype is None:
        return None  # that is an error of the run
    left, right = [np.dtype(spec.element_type.dtype) for spec in specs]
    return _dot_of(instruction, specs[0].dimensions, specs[1].dimensions, (left, right))


def _scaled_dot(
    run: Runner, instruction: HloInstruction, x: Value, y: Value, x_scale: Value, y_scale: Value
) -> Value:
    """Product of operands each block of which has a scale."""
    scaled = []
    for part, scale in ((x, x_scale), (y, y_scale)):
        values, factors = array(part).astype(np.float32), array(scale).astype(np.float32)
        for axis in range(values.ndim):
            if factors.ndim and factors.shape[axis] != values.shape[axis]:
                repeats = values.shape[axis] // factors.shape[axis]
                factors = np.repeat(factors, repeats, axis)
        scaled.append(container(values * factors))
    return _dot(run, instruction, *scaled)


def _ragged_dot(
    run: Runner, instruction: HloInstruction, x: Value, y: Value, sizes: Value
) -> Value:
    """Product in which groups along one dimension of the first operand are kept apart.

    Groups of rows have matrices of their own, those of a contracted dimension results of their own,
    and those of a batch change nothing.  Sizes of groups may differ along what lies outside of the
    dimension: batches, then rows or contracted dimensions before it.
    """
    (ragged,) = instruction.get("lhs_ragged_dims")
    groups = instruction.get("rhs_group_dims") or ()
    batch = instruction.get("lhs_batch_dims") or (), instruction.get("rhs_batch_dims") or ()
    if ragged in batch[0]:
        return _dot(run, instruction, x, y)
    left, right, counts = array(x), array(y), array(sizes)
    _require_agreement(instruction, left.shape, right.shape)
    contracted = instruction.get("lhs_contracting_dims"), instruction.get("rhs_contracting_dims")
    inner = ragged in contracted[0]
    kept = [k for k in range(left.ndim) if k not in (*batch[0], *contracted[0])]
    place = (contracted[0] if inner else kept).index(ragged) + 1
    around = (*batch[0], *(contracted[0] if inner else kept)[:place])
    # Which group an element along the ragged dimension belongs to; none behind the last.
    ends = np.cumsum(counts, axis=-1)[..., None, :]
    index = np.arange(left.shape[ragged])[:, None]
    member = (index < ends) & (index >= ends - counts[..., None, :])
    dtype = result_dtype(instruction)
    working = working_dtype(left.dtype, right.dtype, dtype)
    drop = [tuple([k - sum([g < k for g in groups]) for k in c[1]]) for c in (batch, contracted)]
    parts = []
    for group in range(counts.shape[-1]):
        mine = _masked(left, member[..., group], around)
        matrix = np.take(right, group, axis=groups[0]) if groups else right
        if inner:
            matrix = _masked(right, member[..., group], (*batch[1], *contracted[1][:place]))
        rows = _matrices(mine.shape, batch[0], contracted[0], True)
        columns = _matrices(matrix.shape, *drop, False)
        shape = (*[mine.shape[axis] for axis in batch[0]], *rows.free, *columns.free)
        parts.append(array_of(product(rows.of(mine), columns.of(matrix), working, shape)))
    made = np.stack(parts) if inner else np.sum(parts, axis=0)
    return container(made.astype(dtype))


def _masked(values: NumpyArray, mask: NumpyArray, axes: Sequence[int]) -> NumpyArray:
    """Return an array with zeros where a mask along the last of some axes does not hold."""
    along = axes[len(axes) - mask.ndim :]
    wide = [n if k in along else 1 for k, n in enumerate(values.shape)]
    return np.where(mask.transpose(np.argsort(along)).reshape(wide), values, values.dtype.type(0))


def _convolution(run: Runner, instruction: HloInstruction, x: Value, kernel: Value) -> Value:
    if instruction.get("sparsity_config") != "{}":
        raise refuse(instruction, "sparse operands are not known here")
    labels: ConvolutionLabels = instruction.get("dim_labels")
    window = window_of(instruction, labels.spatial)
    groups = instruction.get("feature_group_count")
    batches = instruction.get("batch_group_count")
    lie = labels.dimensions("input", "bf")
    filters = array(kernel).transpose(labels.dimensions("kernel", "oi"))
    turned = tuple([slice(None, None, -1 if part.reversal else 1) for part in window])
    filters = filters[(slice(None), slice(None), *turned)]
    plain = (WindowDimension(1), WindowDimension(1), *window)
    # Padded as it lies in memory, so that rows of it can be copied in runs.
    padded = set_apart(x, 0, [plain[lie.index(axis)] for axis in range(len(lie))])
    view = sliding(padded.transpose(lie), plain)
    # Batch and features slide by themselves, with windows of one element.
    spatial = labels.spatial
    places = view.shape[2 : 2 + spatial]
    view = view.reshape(*view.shape[: 2 + spatial], *view.shape[4 + spatial :])
    made = _grouped(view, filters, groups, batches, spatial, result_dtype(instruction))
    order = labels.dimensions("output", "bf")
    result = made.reshape(*made.shape[:2], *places)
    return container(result.transpose([order.index(axis) for axis in range(len(order))]))


def _grouped(
    view: NumpyArray, filters: NumpyArray, groups: int, batches: int, spatial: int, dtype: DType
) -> NumpyArray:
    """Multiply windows ``[b, f, places, elements]`` with filters, group by group.

    In the windows that are copied for it, what lies together in memory stays together.
    """
    inner = -1 if view.strides[1] == view.itemsize else 1 + spatial
    count = max(groups, batches)
    parts = np.split(view, count, int(batches == 1)), np.split(filters, count)
    made = []
    for mine, part in zip(*parts, strict=True):
        # Rows: batch and places.  Columns: features and elements of the window.
        rows = np.moveaxis(mine, 1, inner)
        shape = rows.shape[: 1 + spatial]
        matrix = rows.reshape(math.prod(shape), math.prod(rows.shape[1 + spatial :]))
        chosen = np.moveaxis(part, 1, -1) if inner < 0 else part
        weights = chosen.reshape(len(part), matrix.shape[1]).T
        result = product(matrix, weights, dtype, (*shape, len(part)))
        made.append(np.moveaxis(array_of(stored(result)), -1, 1))
    return np.concatenate(made, axis=1) if count > 1 else made[0]


#: Evaluators of sums of products.
PRODUCTS: Final[dict[str, Evaluator]] = by_opcode(_convolution, _dot, _ragged_dot, _scaled_dot)
