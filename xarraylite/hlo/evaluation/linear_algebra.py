"""Fourier transforms, Cholesky factors, triangular systems, batch normalisation."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...dtypes.names import NumpyArray, kind
from ..instruction import HloInstruction
from ..opcodes import BATCH_NORMS, by_opcode
from .values import Evaluator, Runner, Value, array, container, result_dtype

_TRANSFORMS: Final[dict[str, Any]] = {
    "FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn,
}  # fmt: skip


def _fft(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    sizes = instruction.get("fft_length")
    values, dtype = array(x), result_dtype(instruction)
    if not values.size or not all(sizes):  # XLA takes a transform of length 0 for zeros
        return container(np.zeros(instruction.shape.dimensions, dtype))
    axes = tuple(range(values.ndim - len(sizes), values.ndim))
    transform = instruction.get("fft_type")
    # A factor of 1 is an integer to NumPy, which then widens single precision: the factor of the
    # other norm is a float, and is taken back.
    single = dtype == np.complex64 and transform in ("FFT", "RFFT")
    norm = "forward" if single else "backward"
    found = _TRANSFORMS[transform](values, s=sizes, axes=axes, norm=norm)
    if single:
        found *= math.prod(sizes)
    return container(found.astype(dtype, copy=False))


def _cholesky(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    """Factor of each matrix of a stack; NaN where one is not positive definite."""
    values = array(x)
    dtype = values.dtype
    work = values.astype(np.float32) if kind(dtype) == "f" and dtype.itemsize < 4 else values
    lower = bool(instruction.get("lower"))
    matrices = work.reshape(-1, *work.shape[-2:])
    found = np.empty_like(matrices)
    for k, matrix in enumerate(matrices):
        source = matrix if lower else np.conj(matrix.T)
        try:
            factor = np.linalg.cholesky(source)
        except np.linalg.LinAlgError:
            factor = np.full_like(source, np.nan)
        found[k] = factor if lower else np.conj(factor.T)
    return container(found.reshape(values.shape).astype(dtype))


def _triangular_solve(run: Runner, instruction: HloInstruction, a: Value, b: Value) -> Value:
    """Solve ``op(a) x = b``, or ``x op(a) = b``, by substitution over stacks of matrices."""
    get = instruction.get
    matrix, right = array(a), array(b)
    dtype = right.dtype
    if kind(dtype) == "f" and dtype.itemsize < 4:
        matrix, right = matrix.astype(np.float32), right.astype(np.float32)
    lower = bool(get("lower"))
    mode = get("transpose_a") or "NO_TRANSPOSE"
    # Elements of the other triangle are not read, whatever they are.
    matrix = np.tril(matrix) if lower else np.triu(matrix)
    if mode != "NO_TRANSPOSE":
        matrix, lower = np.swapaxes(matrix, -1, -2), not lower
        matrix = np.conj(matrix) if mode == "ADJOINT" else matrix
    if not get("left_side"):
        matrix, lower, right = np.swapaxes(matrix, -1, -2), not lower, np.swapaxes(right, -1, -2)
    found = _substitute(matrix, right, lower, bool(get("unit_diagonal")))
    found = found if get("left_side") else np.swapaxes(found, -1, -2)
    return container(np.ascontiguousarray(found).astype(dtype, copy=False))


def _substitute(matrix: NumpyArray, right: NumpyArray, lower: bool, unit: bool) -> NumpyArray:
    """Solve for one row of unknowns after the other."""
    count = matrix.shape[-1]
    found = np.array(right)
    with np.errstate(all="ignore"):
        for row in range(count) if lower else range(count - 1, -1, -1):
            known = slice(0, row) if lower else slice(row + 1, count)
            terms = matrix[..., row : row + 1, known] @ found[..., known, :]
            found[..., row, :] -= terms[..., 0, :]
            if not unit:
                found[..., row, :] /= matrix[..., row, row, None]
    return found


def _batch_norm(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    """Normalise features; for training with their own moments, which are returned too."""
    feature, epsilon = instruction.get("feature_index"), instruction.get("epsilon")
    given = [array(operand) for operand in operands]
    dtype = given[0].dtype
    work = [x.astype(np.float32) if x.dtype.itemsize < 4 else x for x in given]
    x, scale = work[0], work[1]
    shape = [-1 if axis == feature else 1 for axis in range(x.ndim)]
    axes = tuple([axis for axis in range(x.ndim) if axis != feature])
    if instruction.opcode == "batch-norm-grad":
        mean, variance, upstream = work[2], work[3], work[4]
        spread = 1 / np.sqrt(variance + x.dtype.type(epsilon))
        centred = x - mean.reshape(shape)
        to_offset = upstream.sum(axis=axes)
        to_scale = (upstream * centred).sum(axis=axes) * spread
        count = x.size // x.shape[feature]
        slope = (to_scale * spread / count).reshape(shape)
        inner = upstream - (to_offset / count).reshape(shape) - centred * slope
        results = (inner * (scale * spread).reshape(shape), to_scale, to_offset)
        return tuple([container(part.astype(dtype)) for part in results])
    offset = work[2]
    training = instruction.opcode == "batch-norm-training"
    mean, variance = (x.mean(axis=axes), x.var(axis=axes)) if training else (work[3], work[4])
    spread = 1 / np.sqrt(variance + x.dtype.type(epsilon))
    found = (x - mean.reshape(shape)) * (spread * scale).reshape(shape) + offset.reshape(shape)
    whole = container(found.astype(dtype))
    if not training:
        return whole
    return whole, container(mean.astype(dtype)), container(variance.astype(dtype))


#: Evaluators of operations on whole matrices and lines.
LINEAR_ALGEBRA: Final[dict[str, Evaluator]] = {
    **by_opcode(_cholesky, _fft, _triangular_solve),
    **dict.fromkeys(BATCH_NORMS, _batch_norm),
}
