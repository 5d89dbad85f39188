"""Fourier transforms: one dimension after the other, each by HLO's ``fft``.

HLO transforms the last dimension and divides by the number of elements where it goes back, as
NumPy does by default.  So a dimension is moved to the end, cut or filled with zeros, transformed,
multiplied where another rule divides, and moved back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from ..._errors import HloError, ShapeError
from ...arrays.expression import apply
from ...arrays.operand import as_array
from ...dtypes.names import complex64, complex128, float32, float64, kind
from ...functions.manipulation import moveaxis
from ...functions.rearranging import pad, roll
from ...index.broadcast import check_axis
from ...ops.table import OPS
from .terms import Export

_DIVIDED: Final = MappingProxyType({"backward": 0.0, "ortho": 0.5, "forward": 1.0})
"""Powers of the number of elements by which the way forth is divided; the way back by the rest."""


def _transformed(
    export: Export, opcode: str, x: Any, n: int | None, axis: int, norm: str | None
) -> Any:
    """Write the transform of one dimension; the opcode is its ``fft_type``."""
    array = as_array(x, "fft")
    along = check_axis(axis, array.ndim, "fft")
    size = array.shape[along]
    count = n if n is not None else 2 * (size - 1) if opcode == "IRFFT" else size
    if count < 1:
        raise ShapeError(f"fft: {count} elements along dimension {along} of {array.shape}")
    if norm is not None and norm not in _DIVIDED:
        raise HloError(f"to_hlo: transforms are divided by one of {[*_DIVIDED]}, not {norm!r}")
    wide = array.dtype in (float64, complex128) or kind(array.dtype) not in "fc"
    real, whole = (float64, complex128) if wide else (float32, complex64)
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
        export: Export, x: Any, n: int | None = None, axis: int = -1, norm: str | None = None
    ) -> Any:
        return _transformed(export, opcode, x, n, axis, norm)

    return written


def _several(opcode: str, usual: tuple[int, int] | None = None) -> Callable[..., Any]:
    """Return what writes a transform of some dimensions, of all or the usual ones without axes."""

    def written(
        export: Export,
        x: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = usual,
        norm: str | None = None,
    ) -> Any:
        found = as_array(x, "fft")
        if axes is None:
            axes = range(found.ndim) if s is None else range(-len(s), 0)
        sizes = [None] * len(axes) if s is None else [None if n == -1 else n for n in s]
        if len(sizes) != len(axes):
            raise ShapeError(f"fft: sizes {s} for the dimensions {tuple(axes)} of {found.shape}")
        plain = "IFFT" if opcode[0] == "I" else "FFT"
        order = [(opcode, *pair) for pair in zip(sizes, axes, strict=True)][::-1]
        # What is real, or becomes it, is the last dimension, transformed first or last.
        order[1:] = [(plain, n, axis) for _, n, axis in order[1:]]
        for step in order[::-1] if opcode == "IRFFT" else order:
            found = _transformed(export, step[0], found, step[1], step[2], norm)
        return found

    return written


def _hermitian(opcode: str) -> Callable[..., Any]:
    """Return what writes a transform of, or to, a signal whose spectrum is real."""
    other = {"backward": "forward", "forward": "backward"}

    def written(
        export: Export, x: Any, n: int | None = None, axis: int = -1, norm: str | None = None
    ) -> Any:
        rule = other.get(norm or "backward", norm)
        given = apply(OPS["conj"], as_array(x, "fft")) if opcode == "IRFFT" else x
        made = _transformed(export, opcode, given, n, axis, rule)
        return made if opcode == "IRFFT" else apply(OPS["conj"], made)

    return written


def _shifted(sign: int) -> Callable[..., Any]:
    def written(export: Export, x: Any, axes: Any = None) -> Any:
        array = as_array(x, "fftshift")
        given = range(array.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
        along = tuple([check_axis(axis, array.ndim, "fftshift") for axis in given])
        return roll(array, tuple([sign * (array.shape[axis] // 2) for axis in along]), along)

    return written


TRANSFORMS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        **{name: _one(name.upper()) for name in ("fft", "ifft", "rfft", "irfft")},
        **{
            f"{name}2": _several(name.upper(), (-2, -1))
            for name in ("fft", "ifft", "rfft", "irfft")
        },
        **{f"{name}n": _several(name.upper()) for name in ("fft", "ifft", "rfft", "irfft")},
        "fftshift": _shifted(1),
        "hfft": _hermitian("IRFFT"),
        "ifftshift": _shifted(-1),
        "ihfft": _hermitian("RFFT"),
    }
)
"""What is written for transforms by name; takes the export and the arguments."""
