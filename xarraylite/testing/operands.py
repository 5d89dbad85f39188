"""Operands for tests: values that break things, in every layout that memory can have.

Arrays are filled from a seed, so an example is a handful of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays.adapt import adapt
from ..arrays.xarray import XArray
from ..arrays.xtensor import XTensor, XTensorFixed
from ..dtypes.names import (
    DType,
    NumpyArray,
    as_dtype,
    is_narrow,
    is_narrow_float,
    is_narrow_int,
    kind,
)
from ..dtypes.narrow import from_narrow, to_narrow
from ..functions import manipulation

#: The layouts that can be assigned to.
WRITABLE = ("row", "column", "permuted", "gaps", "reversed", "offset")


def convert(array: NumpyArray, dtype: object) -> NumpyArray:
    """Return the elements in another dtype, rounded once; of complex numbers the real part.

    Examples
    --------
    >>> import numpy as np
    >>> convert(np.array([1.7, -1.7]), "int8")
    array([ 1, -1], dtype=int8)
    """
    end = as_dtype(dtype)
    array = np.asarray(array)
    if array.dtype == end:
        return array.copy()
    real = array.real if array.dtype.kind == "c" and kind(end) not in "cb" else array
    with np.errstate(all="ignore"):
        if is_foreign(end) or is_narrow_float(end):
            return to_narrow(real, end)
        return from_narrow(real).astype(end) if is_foreign(real.dtype) else real.astype(end)


def is_foreign(dtype: DType) -> bool:
    """Tell whether NumPy has no rules of its own for a dtype."""
    return is_narrow(dtype) and dtype != np.float16


def fill(dtype: DType, shape: tuple[int, ...], seed: int, *, plain: bool = False) -> NumpyArray:
    """Return an array that looks random and holds what breaks things.

    Parameters
    ----------
    dtype : numpy.dtype
        Any of the package's dtypes.
    shape : tuple of int
        Its shape.
    seed : int
        Same seed, same array.
    plain : bool, default False
        Only integers from 0 to 7, whose sums and products are exact in every dtype with 8
        significant bits.
    """
    rng = np.random.default_rng(seed)
    if plain:
        whole = rng.integers(0, 2 if kind(dtype) == "b" else 8, shape)
        return convert(whole.astype(np.float64), dtype)
    return np.asarray(_FILLS[kind(dtype)](rng, dtype, shape)).reshape(shape)


def _fill_bool(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> NumpyArray:
    return rng.random(shape) < 0.5


def _fill_int(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> NumpyArray:
    if is_narrow_int(dtype):
        return convert(rng.integers(0, 256, shape), dtype)
    info = np.iinfo(dtype)
    whole = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    small = rng.integers(-9 if info.min else 0, 10, shape).astype(dtype)
    edge = rng.choice(np.array([info.min, info.max, 0, 1], dtype), shape)
    return _mix(rng, shape, small, whole, edge)


def _fill_float(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> NumpyArray:
    scale = 10.0 ** rng.integers(-2, 3, shape)
    usual = convert(rng.normal(size=shape) * scale, dtype)
    if is_narrow_float(dtype):
        codes = rng.integers(0, 1 << 8 * dtype.itemsize, shape).astype(f"u{dtype.itemsize}")
        # Types of 4 and 6 bits leave bits of their byte unused: only canonical encodings.
        every = convert(from_narrow(np.asarray(codes).view(dtype)), dtype)
        return _mix(rng, shape, usual, usual, every)
    info = np.finfo(dtype)
    specials = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]
    specials += [info.max, info.tiny, info.smallest_subnormal]
    edge = rng.choice(np.array(specials, dtype), shape)
    return _mix(rng, shape, usual, rng.integers(-5, 6, shape).astype(dtype), edge)


def _fill_complex(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> NumpyArray:
    # Small whole parts: products are exact, with or without fused multiply-add.
    return (rng.integers(-6, 7, shape) + 1j * rng.integers(-6, 7, shape)).astype(dtype)


_FILLS: dict[str, Callable[[np.random.Generator, DType, tuple[int, ...]], NumpyArray]] = {
    "b": _fill_bool,
    "i": _fill_int,
    "u": _fill_int,
    "f": _fill_float,
    "c": _fill_complex,
}


def _mix(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    usual: NumpyArray,
    other: NumpyArray,
    edge: NumpyArray,
) -> NumpyArray:
    """Choose elements: mostly usual ones, every seventh or so an edge case."""
    share = rng.random(shape)
    return np.where(share < 0.6, usual, np.where(share < 0.85, other, edge))


@dataclass(frozen=True, slots=True)
class Sample:
    """An operand and what it holds.

    Attributes
    ----------
    operand : XContainer or ndarray
        The operand, in some layout.
    array : ndarray
        The same values in memory of their own, row-major.
    layout : str
        One of `LAYOUTS`.
    """

    operand: Any
    array: NumpyArray
    layout: str

    def unchanged(self) -> bool:
        """Tell whether the operand still holds the values it was made with."""
        return np.asarray(self.operand).tobytes() == self.array.tobytes()


def sample(layout: str, values: NumpyArray, seed: int = 0) -> Sample:
    """Return an operand that holds ``values`` in the given layout.

    ``"broadcast"`` and ``"zero_stride"`` repeat the first values along some or all dimensions.
    """
    operand, held = _PLACES[layout](values, np.random.default_rng(seed))
    return Sample(operand, np.array(held, order="C"), layout)


def _row(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    fixed = XTensorFixed.__class_getitem__((values.dtype, values.shape))
    return (XArray, XTensor, fixed)[rng.integers(3)](values), values


def _column(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    return XArray(values, layout="column_major"), values


def _permuted(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    axes = rng.permutation(values.ndim)
    moved = XArray(np.transpose(values, axes))
    return manipulation.permute_dims(moved, [int(k) for k in np.argsort(axes)]), values


def _gaps(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    steps = [int(step) for step in rng.integers(1, 4, values.ndim)]
    ends = [1 + n * step for n, step in zip(values.shape, steps, strict=True)]
    around = fill(values.dtype, tuple(ends), 1)
    key = tuple([slice(1, end, step) for end, step in zip(ends, steps, strict=True)])
    around[key] = values
    return XArray(around)[(*key, ...)], values


def _reversed(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    key = _some(rng, values.ndim, slice(None, None, -1))
    return XArray(values[key])[(*key, ...)], values


def _broadcast(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    part = values[_some(rng, values.ndim, slice(0, 1))]
    view = manipulation.broadcast_to(XArray(part), values.shape)
    return view, np.broadcast_to(part, values.shape)


def _some(rng: np.random.Generator, rank: int, chosen: slice) -> tuple[slice, ...]:
    """Return an index with ``chosen`` along at least one dimension, the others whole."""
    always = rng.integers(max(rank, 1))
    drawn = rng.random(rank) < 0.5
    return tuple([chosen if k == always or drawn[k] else slice(None) for k in range(rank)])


def _zero_stride(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    one = np.zeros(1, values.dtype) if values.size == 0 else values.reshape(-1)[:1].copy()
    one.flags.writeable = False
    place = adapt(one, values.shape, strides=(0,) * values.ndim)
    return place, np.broadcast_to(one.reshape(()), values.shape)


def _offset(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    ahead = int(rng.integers(1, 20))
    flat = np.concatenate([fill(values.dtype, (ahead,), 2), values.reshape(-1)])
    return manipulation.reshape(XArray(flat)[ahead:], values.shape), values


def _read_only(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    memory = np.array(values)
    memory.flags.writeable = False
    return adapt(memory), values


def _numpy(values: NumpyArray, rng: np.random.Generator) -> tuple[Any, NumpyArray]:
    return np.array(values, order="F" if rng.random() < 0.5 else "C"), values


_LAID = (
    _row, _column, _permuted, _gaps, _reversed, _broadcast, _zero_stride, _offset, _read_only,
    _numpy,
)  # fmt: skip
_PLACES: dict[str, Callable[[NumpyArray, np.random.Generator], tuple[Any, NumpyArray]]] = {
    place.__name__.strip("_"): place for place in _LAID
}
#: Ways an operand can lie in memory; ``"numpy"`` is a NumPy array used as it is.
LAYOUTS = tuple(_PLACES)
