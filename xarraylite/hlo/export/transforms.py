"""Fourier transforms: one dimension after the other, each by HLO's ``fft``.

HLO transforms the last dimension and divides by the number of elements where it goes back, as
NumPy does by default.  So a dimension is moved to the end, cut or filled with zeros, transformed,
multiplied where another rule divides, and moved back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ..._errors import XarrayliteError
from ...arrays.expression import apply
from ...arrays.operand import as_array
from ...dtypes.formats import loop_dtype
from ...dtypes.names import complex64, complex128, float32, float64, is_narrow_float
from ...functions.arrays_of_numpy import numpy, refusal
from ...functions.manipulation import moveaxis
from ...functions.rearranging import pad, roll
from ...index.broadcast import check_axis
from ...ops.table import OPS
from .terms import Export

_DIVIDED: Final = MappingProxyType({"backward": 0.0, "ortho": 0.5, "forward": 1.0})
"""Powers of the number of elements by which the way forth is divided; the way back by the rest."""


def _transformed(
    export: Export, opcode: str, x: Any, n: Any, axis: Any, norm: str | None, front: str = ""
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


def _one(opcode: str) -> Callable[..., Any]:
    def written(
        export: Export, x: Any, n: Any = None, axis: Any = -1, norm: str | None = None
    ) -> Any:
        return _transformed(export, opcode, x, n, axis, norm)

    return written


def _several(opcode: str, usual: tuple[int, int] | None = None) -> Callable[..., Any]:
    """Return what writes a transform of some dimensions, of all or the usual ones without axes."""
    plain = "IFFT" if opcode[0] == "I" else "FFT"

    def written(
        export: Export,
        x: Any,
        s: Sequence[Any] | None = None,
        axes: Sequence[Any] | None = usual,
        norm: str | None = None,
    ) -> Any:
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
        for step in steps if opcode == "IRFFT" else steps[::-1]:
            found = _transformed(export, step[0], found, step[1], step[2], norm)
        return found

    return written


def _hermitian(opcode: str) -> Callable[..., Any]:
    """Return what writes a transform of, or to, a signal whose spectrum is real."""
    other = {"backward": "forward", "forward": "backward"}
    front = "hfft" if opcode == "IRFFT" else "ihfft"

    def written(
        export: Export, x: Any, n: Any = None, axis: Any = -1, norm: str | None = None
    ) -> Any:
        rule = other.get(norm or "backward", norm)
        given = apply(OPS["conj"], as_array(x, "fft")) if opcode == "IRFFT" else x
        made = _transformed(export, opcode, given, n, axis, rule, front)
        return made if opcode == "IRFFT" else apply(OPS["conj"], made)

    return written


def _shifted(sign: int) -> Callable[..., Any]:
    def written(export: Export, x: Any, axes: Any = None) -> Any:
        array = as_array(x, "fftshift")
        single = isinstance(axes, int | np.integer)
        given = range(array.ndim) if axes is None else (axes,) if single else axes
        along = tuple([check_axis(axis, array.ndim, "fftshift") for axis in given])
        return roll(array, tuple([sign * (array.shape[axis] // 2) for axis in along]), along)

    return written


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
TRANSFORMS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        name: _as_computed(name, written)
        for name, written in {
            **{name: _one(name.upper()) for name in _DIRECTIONS},
            **{f"{name}2": _several(name.upper(), (-2, -1)) for name in _DIRECTIONS},
            **{f"{name}n": _several(name.upper()) for name in _DIRECTIONS},
            "fftshift": _shifted(1),
            "hfft": _hermitian("IRFFT"),
            "ifftshift": _shifted(-1),
            "ihfft": _hermitian("RFFT"),
        }.items()
    }
)
"""What is written for transforms by name; takes the export and the arguments."""
