"""Functions of linear algebra, and some of one line, as HLO has them or as formulas of it.

HLO has Cholesky's decomposition and the error function; other decompositions are calls of a
compiler's own, which no module of ours makes.  A matrix that is not positive-definite gives NaN
there, where NumPy raises.

HLO's Fourier transform is of the last dimension and divides by the number of elements where it
goes back, as NumPy does by default.  So a dimension is moved to the end, cut or filled with zeros,
transformed, multiplied where another rule divides, and moved back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ..._errors import HloError, XarrayliteError
from ...arrays.expression import XExpression, apply
from ...arrays.operand import as_array
from ...dtypes.formats import loop_dtype
from ...dtypes.names import complex64, complex128, float32, float64, int64, is_narrow_float, kind
from ...dtypes.promotion import result_type
from ...functions import reducers
from ...functions.arrays_of_numpy import numpy, refusal
from ...functions.diagonals import tril, triu
from ...functions.manipulation import broadcast_to, expand_dims, moveaxis, reshape, squeeze
from ...functions.rearranging import pad, roll
from ...functions.sequences import eye
from ...index.broadcast import check_axis
from ...linalg import vector_norm
from ...ops.table import OPS
from ..values import ConvolutionLabels, WindowDimension
from .terms import Export


def _floats(x: Any, operation: str) -> XExpression:
    array = as_array(x, operation)
    return array if kind(array.dtype) in "fc" else array.astype("float64")


def line_of(x: Any, axis: int | None, operation: str) -> tuple[XExpression, int]:
    """Return an array and the dimension that is meant; all elements in one for None."""
    array = as_array(x, operation)
    if axis is None:
        return reshape(array, (-1,)), 0
    return array, check_axis(axis, array.ndim, operation)


def _erf(export: Export, x: Any) -> Any:
    term = export.term(_floats(x, "erf"))
    wide = term.cast(np.dtype(float32)) if is_narrow_float(term.dtype) else term
    return export.result(wide.apply("erf").cast(term.dtype))


def _cholesky(export: Export, a: Any, upper: bool = False) -> Any:
    term = export.term(_floats(a, "cholesky"))
    # Of the other triangle nothing is promised.
    made = export.writer.term("cholesky", term.dtype, term.shape, term, lower=not upper)
    return (triu if upper else tril)(export.result(made))


def _norm(export: Export, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    array = _floats(x, "norm")
    axes = range(array.ndim) if axis is None else axis if np.iterable(axis) else (axis,)
    along = tuple([check_axis(k, array.ndim, "norm") for k in axes])
    if ord is None or (ord == "fro" and len(along) == 2):
        return vector_norm(array, axis=along, keepdims=keepdims)
    if len(along) == 1 and not isinstance(ord, str):
        return vector_norm(array, axis=along, keepdims=keepdims, ord=ord)
    if len(along) == 2 and ord in (1, -1, np.inf, -np.inf):
        summed, left = along if abs(ord) == 1 else along[::-1]
        sums = reducers.sum(apply(OPS["abs"], array), axis=summed, keepdims=True)
        fold, initial = (reducers.max, 0) if ord > 0 else (reducers.min, None)
        found = fold(sums, axis=left, keepdims=True, initial=initial)
        return found if keepdims else squeeze(found, axis=along)
    raise HloError(f"to_hlo: there is no HLO for the norm {ord!r} along {len(along)} dimensions")


def _matrix_norm(export: Export, x: Any, keepdims: bool = False, ord: Any = "fro") -> Any:
    return _norm(export, x, ord, (-2, -1), keepdims)


def _matrix_power(export: Export, a: Any, n: int) -> Any:
    square: Any = as_array(a, "matrix_power")
    if n < 0:
        raise HloError("to_hlo: there is no HLO for the inverse of a matrix")
    made: Any = None
    while n:
        if n & 1:
            made = square if made is None else made @ square
        n >>= 1
        square = square @ square if n else square
    unit = eye(square.shape[-1], dtype=square.dtype)
    return broadcast_to(unit, square.shape) if made is None else made


def _matvec(export: Export, x1: Any, x2: Any) -> Any:
    return squeeze(as_array(x1, "matvec") @ expand_dims(as_array(x2, "matvec"), -1), axis=-1)


def _vecmat(export: Export, x1: Any, x2: Any) -> Any:
    row = as_array(x1, "vecmat")
    row = apply(OPS["conj"], row) if kind(row.dtype) == "c" else row
    return squeeze(expand_dims(row, -2) @ as_array(x2, "vecmat"), axis=-2)


def _polyval(export: Export, p: Any, x: Any) -> Any:
    factors, at = as_array(p, "polyval"), as_array(x, "polyval")
    made: Any = export.result(export.writer.constant(np.zeros((), at.dtype)).stretched(at.shape))
    for k in range(factors.shape[0]):
        made = made * at + factors[k]
    return made


def _slid(export: Export, line: XExpression, short: XExpression, mode: str) -> XExpression:
    """Return a correlation along a line, with no less elements than the window that slides."""
    dtype = result_type(line.dtype, short.dtype)
    if mode not in ("full", "same", "valid") or kind(dtype) == "b" or not short.size:
        raise HloError(f"to_hlo: there is no HLO for convolutions of {dtype}, mode {mode!r}")
    size, wide = short.size, np.dtype(float32) if is_narrow_float(dtype) else dtype
    ends = {"full": (size - 1, size - 1), "same": (size // 2, (size - 1) // 2), "valid": (0, 0)}
    low, high = ends[mode]
    count = line.size + low + high - size + 1
    lines = [export.term(x).cast(wide).reshaped((1, 1, x.size)) for x in (line, short)]
    made = export.writer.term(
        "convolution",
        wide,
        (1, 1, count),
        *lines,
        window=(WindowDimension(size, padding_low=low, padding_high=high),),
        dim_labels=ConvolutionLabels("bf0", "oi0", "bf0"),
    )
    return export.result(made.reshaped((count,)).cast(dtype))


def _convolve(export: Export, a: Any, v: Any, mode: str = "full") -> Any:
    line, short = sorted([as_array(x, "convolve") for x in (a, v)], key=lambda x: -x.size)
    # Not a window that is reversed: XLA's CPU compiler forgets that where it covers the line.
    return _slid(export, line, short[::-1], mode)


def _correlate(export: Export, a: Any, v: Any, mode: str = "valid") -> Any:
    line, short = as_array(a, "correlate"), as_array(v, "correlate")
    short = apply(OPS["conj"], short) if kind(short.dtype) == "c" else short
    if line.size < short.size:
        return _slid(export, short, line, mode)[::-1]
    return _slid(export, line, short, mode)


def _bitwise_count(export: Export, x: Any) -> Any:
    term = export.term(as_array(x, "bitwise_count"))
    if term.kind not in "iu":
        raise HloError(f"to_hlo: there is no HLO for bitwise_count of {term.dtype}")
    size = abs(term) if term.kind == "i" else term
    return export.result(size.apply("popcnt").cast(np.dtype("uint8")))


def _trapezoid(export: Export, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    array = as_array(y, "trapezoid")
    along = check_axis(axis, array.ndim, "trapezoid")
    before = (slice(None),) * along
    pairs = array[(*before, slice(1, None))] + array[(*before, slice(None, -1))]
    if x is None:
        return reducers.sum(pairs * dx / 2.0, axis=along)
    at = as_array(x, "trapezoid")
    if at.ndim == 1:
        steps = (at[1:] - at[:-1])[(slice(None), *(None,) * (array.ndim - along - 1))]
    else:
        steps = at[(*before, slice(1, None))] - at[(*before, slice(None, -1))]
    return reducers.sum(steps * pairs / 2.0, axis=along)


def _take_along_axis(export: Export, arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Gather elements by their numbers in row-major order; those outside mean the nearest."""
    index = as_array(indices, "take_along_axis")
    array, along = line_of(arr, axis, "take_along_axis")
    if index.ndim != array.ndim or kind(index.dtype) not in "iu":
        raise HloError(
            f"to_hlo: take_along_axis along {array.ndim} dimensions needs integers of as many, "
            f"got {index.dtype} of {index.ndim}"
        )
    others = (*array.shape[:along], 1, *array.shape[along + 1 :])
    shape = np.broadcast_shapes(others, index.shape)
    writer, word, extent = export.writer, np.dtype(int64), array.shape[along]
    given = export.term(index).cast(word)
    inside = (given < 0).where(given + extent, given)
    bounded = inside.apply("maximum", 0).apply("minimum", max(extent - 1, 0))
    total, stride = bounded.stretched(shape) * math.prod(array.shape[along + 1 :]), array.size
    for place, size in enumerate(array.shape):
        stride = stride // size if size else 0
        if place != along and size > 1:
            total = total + writer.term("iota", word, shape, iota_dimension=place) * stride
    flat = export.term(array).reshaped((array.size,))
    return export.result(export.gathered(flat, 0, total))


_WRITTEN: Final = (
    _bitwise_count, _cholesky, _convolve, _correlate, _erf, _matrix_norm, _matrix_power, _matvec,
    _norm, _polyval, _take_along_axis, _trapezoid, _vecmat,
)  # fmt: skip
#: What is written for functions by name; takes the export and the arguments.
ALGEBRA: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {function.__name__.strip("_"): function for function in _WRITTEN}
)


#: Powers of the number of elements by which the way forth is divided; the way back by the rest.
_DIVIDED: Final = MappingProxyType({"backward": 0.0, "ortho": 0.5, "forward": 1.0})


def _transformed(
    opcode: str,
    export: Export,
    x: Any,
    n: Any = None,
    axis: Any = -1,
    norm: str | None = None,
    front: str = "",
) -> Any:
    """Write the transform of one dimension; the opcode is its ``fft_type``.

    NumPy's function, ``front`` if its name is another, says what of no lines at all becomes: it
    refuses what it refuses when it computes, and its result has the dtype and the size.
    """
    array = as_array(x, "fft")
    along = check_axis(axis, array.ndim, "fft")
    none = np.empty((0, array.shape[along]), loop_dtype(array.dtype))
    usual = getattr(numpy.fft, front or opcode.lower())(none, n, -1, norm)
    wide = usual.dtype in (float64, complex128)
    real, whole = (float64, complex128) if wide else (float32, complex64)
    lines = none.shape[1] if n is None else int(n)
    count = lines if opcode == "RFFT" else usual.shape[1]
    half = count // 2 + 1
    term = export.term(_cut(moveaxis(array, along, -1), half if opcode == "IRFFT" else count))
    made = export.writer.term(
        "fft",
        real if opcode == "IRFFT" else whole,
        (*term.shape[:-1], half if opcode == "RFFT" else count),
        term.cast(real if opcode == "RFFT" else whole),
        fft_type=opcode,
        fft_length=(count,),
    )
    power = _DIVIDED[norm or "backward"]  # HLO has divided the way back by all
    if power:
        made = made * (float(count) ** (power if opcode[0] == "I" else -power))
    return moveaxis(export.result(made), -1, along)


def _cut(line: Any, count: int) -> Any:
    """Return the first elements of the last dimension, zeros behind them where they are too few."""
    missing = count - line.shape[-1]
    if missing <= 0:
        return line[..., :count]
    return pad(line, [(0, 0)] * (line.ndim - 1) + [(0, missing)])


def _several(
    opcode: str,
    export: Export,
    x: Any,
    s: Sequence[Any] | None = None,
    axes: Sequence[Any] | None = None,
    norm: str | None = None,
) -> Any:
    """Write a transform of some dimensions, of all without axes."""
    plain = "IFFT" if opcode[0] == "I" else "FFT"
    found = as_array(x, "fft")
    shape = found.shape
    if axes is None:
        axes = range(found.ndim) if s is None else range(-len(s), 0)
    # Sizes are those of the operand, whatever becomes of a dimension that is named twice.
    sizes = [-1] * len(axes) if s is None else s
    pairs = zip(sizes, axes, strict=True)
    steps = [(plain, shape[axis] if n == -1 else n, axis) for n, axis in pairs]
    if opcode != plain:  # what is real, or becomes it, is the last dimension
        _, size, axis = steps[-1]
        steps[-1] = (opcode, None if s is None and opcode == "IRFFT" else size, axis)
    # It is transformed first or last.
    for kind_of_step, size, axis in steps if opcode == "IRFFT" else steps[::-1]:
        found = _transformed(kind_of_step, export, found, size, axis, norm)
    return found


_OTHER_NORM: Final = MappingProxyType({"backward": "forward", "forward": "backward"})


def _hermitian(
    opcode: str, export: Export, x: Any, n: Any = None, axis: Any = -1, norm: str | None = None
) -> Any:
    """Write a transform of, or to, a signal whose spectrum is real."""
    rule = _OTHER_NORM.get(norm or "backward", norm)
    if opcode == "RFFT":
        return apply(OPS["conj"], _transformed(opcode, export, x, n, axis, rule, "ihfft"))
    given = apply(OPS["conj"], as_array(x, "fft"))
    return _transformed(opcode, export, given, n, axis, rule, "hfft")


def _shifted(sign: int, export: Export, x: Any, axes: Any = None) -> Any:
    array = as_array(x, "fftshift")
    single = isinstance(axes, int | np.integer)
    given = range(array.ndim) if axes is None else (axes,) if single else axes
    along = tuple([check_axis(axis, array.ndim, "fftshift") for axis in given])
    return roll(array, tuple([sign * (array.shape[axis] // 2) for axis in along]), along)


def _as_computed(name: str, written: Callable[..., Any]) -> Callable[..., Any]:
    """Return what refuses what the computed function refuses, and rounds to narrow floats."""

    def called(export: Export, x: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            made = written(export, x, *args, **kwargs)
        except XarrayliteError:
            raise
        except (ValueError, TypeError, IndexError) as error:
            raise refusal(name, (x, *args, *kwargs.values()), error) from None
        narrow = is_narrow_float(x.dtype) and made.dtype == float32
        return made.astype(x.dtype) if narrow else made

    return called


_DIRECTIONS: Final = ("fft", "ifft", "rfft", "irfft")
#: What is written for transforms by name; takes the export and the arguments.
TRANSFORMS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        name: _as_computed(name, written)
        for name, written in {
            **{name: partial(_transformed, name.upper()) for name in _DIRECTIONS},
            **{f"{name}2": partial(_several, name.upper(), axes=(-2, -1)) for name in _DIRECTIONS},
            **{f"{name}n": partial(_several, name.upper()) for name in _DIRECTIONS},
            "fftshift": partial(_shifted, 1),
            "hfft": partial(_hermitian, "IRFFT"),
            "ifftshift": partial(_shifted, -1),
            "ihfft": partial(_hermitian, "RFFT"),
        }.items()
    }
)
