"""Signals, windows and sampled curves, computed by NumPy; see `of_numpy`."""

from __future__ import annotations

from typing import Any

from .of_numpy import Array, of_numpy


@of_numpy
def convolve(a: Array, v: Array, mode: str = "full") -> Any:
    """Return the convolution of two vectors.

    >>> xl.convolve([1, 2], [1, 1, 1])
    XArray([1, 3, 3, 2])
    """


@of_numpy
def correlate(a: Array, v: Array, mode: str = "valid") -> Any:
    """Return the correlation of two vectors.

    >>> xl.correlate([1, 2, 3], [1, 1])
    XArray([3, 5])
    """


@of_numpy
def interp(
    x: Array,
    xp: Array,
    fp: Array,
    left: float | None = None,
    right: float | None = None,
    period: float | None = None,
) -> Any:
    """Return values between known points, on straight lines.

    >>> xl.interp([0.5, 2.0], [0, 1], [0, 10])
    XArray([ 5., 10.])
    """


@of_numpy
def gradient(
    f: Array, *varargs: Array, axis: int | tuple[int, ...] | None = None, edge_order: int = 1
) -> Any:
    """Return the derivatives along dimensions by central differences.

    Returns: XArray, or a tuple with one for each dimension

    >>> xl.gradient([1.0, 2.0, 4.0])
    XArray([1. , 1.5, 2. ])
    """


@of_numpy
def ediff1d(ary: Array, to_end: Array | None = None, to_begin: Array | None = None) -> Any:
    """Return the differences of neighbours in the flattened array.

    >>> xl.ediff1d([1, 2, 4], to_end=9)
    XArray([1, 2, 9])
    """


@of_numpy
def trapezoid(y: Array, x: Array | None = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Return the area under points that are joined by straight lines.

    >>> xl.trapezoid([1, 2, 3])
    XScalar(4.0)
    """


@of_numpy
def unwrap(
    p: Array, discont: float | None = None, axis: int = -1, *, period: float = 6.283185307179586
) -> Any:
    """Return angles without jumps of whole turns.

    >>> xl.unwrap([0.0, 6.0], period=6.0)
    XArray([0., 0.])
    """


@of_numpy
def bartlett(M: int) -> Any:
    """Return the Bartlett window.

    Returns: XArray of float64

    >>> xl.bartlett(1)
    XArray([1.])
    """


@of_numpy
def blackman(M: int) -> Any:
    """Return the Blackman window.

    Returns: XArray of float64

    >>> xl.blackman(1)
    XArray([1.])
    """


@of_numpy
def hamming(M: int) -> Any:
    """Return the Hamming window.

    Returns: XArray of float64

    >>> xl.hamming(1)
    XArray([1.])
    """


@of_numpy
def hanning(M: int) -> Any:
    """Return the Hann window.

    Returns: XArray of float64

    >>> xl.hanning(1)
    XArray([1.])
    """


@of_numpy
def kaiser(M: int, beta: float) -> Any:
    """Return the Kaiser window.

    Returns: XArray of float64

    >>> xl.kaiser(1, 14)
    XArray([1.])
    """
