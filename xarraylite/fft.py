"""Discrete Fourier transforms: the standard's ``fft`` extension and NumPy's ``np.fft``.

NumPy computes them.  Operands are evaluated; float32 and complex64 give complex64 or float32,
narrower floats are transformed in float32, integers in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .arrays.xarray import XArray
from .dtypes.names import as_dtype, float64
from .functions.arguments import check_device
from .functions.computed import computed, container, numpy, with_parameters_of

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"] | None
Axes = int | Sequence[int] | None


@computed("x")
def fft(
    x: Any, /, n: int | None = None, axis: int = -1, norm: Norm = "backward", out: object = None
) -> XArray:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    x : array or expression
        Real or complex.
    n : int, optional
        Number of elements to transform: the axis is cut, or filled with zeros.
    axis : int, default -1
        Which dimension.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Which of both directions is divided by the number of elements; "ortho" divides each by its
        root.
    out : container, optional
        Where to write the result.

    Returns
    -------
    XArray
        Complex.

    Raises
    ------
    AxisError
        If the axis is out of range.
    ValueError
        If there are no elements to transform, or ``norm`` is unknown.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.fft(xl.asarray([1.0, 0.0, 0.0, 0.0]))
    XArray([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return numpy.fft.fft(x, n, axis, norm)


@computed("x")
@with_parameters_of(fft)
def ifft(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return the inverse of `fft`; parameters as there.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ifft(xl.asarray([2.0, 2.0]))
    XArray([2.+0.j, 0.+0.j])
    """
    return numpy.fft.ifft(x, *given, **named)


@computed("x")
@with_parameters_of(fft)
def rfft(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return the first ``n // 2 + 1`` elements of the transform of a real array; see `fft`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.rfft(xl.asarray([1.0, 1.0, 1.0, 1.0]))
    XArray([4.+0.j, 0.+0.j, 0.+0.j])
    """
    return numpy.fft.rfft(x, *given, **named)


@computed("x")
@with_parameters_of(fft)
def irfft(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return the inverse of `rfft`, real; ``n`` is the number of its elements.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.irfft(xl.asarray([4.0, 0.0, 0.0]))
    XArray([1., 1., 1., 1.])
    """
    return numpy.fft.irfft(x, *given, **named)


@computed("x")
@with_parameters_of(fft)
def hfft(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return the real transform of a signal with Hermitian symmetry, of which half is given.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.hfft(xl.asarray([1.0, 0.0, 0.0]))
    XArray([1., 1., 1., 1.])
    """
    return numpy.fft.hfft(x, *given, **named)


@computed("x")
@with_parameters_of(fft)
def ihfft(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return the inverse of `hfft`: half of a signal with Hermitian symmetry.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ihfft(xl.asarray([1.0, 1.0, 1.0, 1.0]))
    XArray([1.-0.j, 0.-0.j, 0.-0.j])
    """
    return numpy.fft.ihfft(x, *given, **named)


def _along_last(
    transform: Any,
    x: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    *given: Any,
    **named: Any,
) -> Any:
    """Return a transform of some axes: sizes without axes are those of the last ones."""
    along = axes if s is None or axes is not None else range(-len(s), 0)
    return transform(x, s, along, *given, **named)


@computed("x")
def fftn(
    x: Any,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
    out: object = None,
) -> XArray:
    """Return the discrete Fourier transform along several axes.

    Parameters
    ----------
    x : array or expression
        Real or complex.
    s : sequence of int, optional
        Number of elements to transform along each axis.
    axes : sequence of int, optional
        Which dimensions; by default the last ``len(s)``, or all.
    norm, out : optional
        As for `fft`.

    Returns
    -------
    XArray
        Complex.

    Raises
    ------
    AxisError
        If an axis is out of range.
    ValueError
        If ``s`` and ``axes`` differ in length.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.fftn(xl.ones((2, 2)))
    XArray([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    return _along_last(numpy.fft.fftn, x, s, axes, norm)


@computed("x")
@with_parameters_of(fftn)
def ifftn(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return the inverse of `fftn`; parameters as there.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ifftn(xl.ones((1, 2)))
    XArray([[1.+0.j, 0.+0.j]])
    """
    return _along_last(numpy.fft.ifftn, x, *given, **named)


@computed("x")
@with_parameters_of(fftn)
def rfftn(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return `fftn` of a real array, of whose last axis the first half is enough.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.rfftn(xl.ones((2, 2))).shape
    (2, 2)
    """
    return _along_last(numpy.fft.rfftn, x, *given, **named)


@computed("x")
@with_parameters_of(fftn)
def irfftn(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return the inverse of `rfftn`, real.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.irfftn(xl.ones((1, 2)))
    XArray([[1., 0.]])
    """
    return _along_last(numpy.fft.irfftn, x, *given, **named)


@computed("x")
def fft2(
    x: Any,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm = "backward",
    out: object = None,
) -> XArray:
    """Return `fftn` of the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.fft2(xl.ones((3, 2, 2))).shape
    (3, 2, 2)
    """
    return numpy.fft.fft2(x, s, axes, norm)


@computed("x")
@with_parameters_of(fft2)
def ifft2(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return `ifftn` of the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ifft2(xl.ones((1, 2)))
    XArray([[1.+0.j, 0.+0.j]])
    """
    return numpy.fft.ifft2(x, *given, **named)


@computed("x")
@with_parameters_of(fft2)
def rfft2(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return `rfftn` of the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.rfft2(xl.ones((3, 2, 4))).shape
    (3, 2, 3)
    """
    return numpy.fft.rfft2(x, *given, **named)


@computed("x")
@with_parameters_of(fft2)
def irfft2(x: Any, /, *given: Any, **named: Any) -> XArray:
    """Return `irfftn` of the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.irfft2(xl.ones((3, 2, 3))).shape
    (3, 2, 4)
    """
    return numpy.fft.irfft2(x, *given, **named)


def fftfreq(
    n: int, /, d: float = 1.0, *, dtype: object = None, device: str | None = None
) -> XArray:
    """Return the frequencies of the elements of a transform.

    Parameters
    ----------
    n : int
        Number of elements that were transformed.
    d : float, default 1.0
        Distance between samples.
    dtype : dtype, default float64
        Of the result.
    device : {"cpu"}, optional
        Where to put it.

    Returns
    -------
    XArray
        ``n`` frequencies: zero, the positive and the negative ones.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.fftfreq(4, 0.5)
    XArray([ 0. ,  0.5, -1. , -0.5])
    """
    return _frequencies("fftfreq", n, d, dtype, device)


def rfftfreq(
    n: int, /, d: float = 1.0, *, dtype: object = None, device: str | None = None
) -> XArray:
    """Return the frequencies of the elements of `rfft`; parameters as for `fftfreq`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.rfftfreq(4, 0.5)
    XArray([0. , 0.5, 1. ])
    """
    return _frequencies("rfftfreq", n, d, dtype, device)


def _frequencies(name: str, n: int, d: float, dtype: object, device: str | None) -> XArray:
    check_device(device, name)
    wanted = float64 if dtype is None else as_dtype(dtype)
    return container(getattr(numpy.fft, name)(n, d).astype(wanted))


@computed("x")
def fftshift(x: Any, /, axes: Axes = None) -> XArray:
    """Return the elements with the frequency zero moved to the middle.

    Parameters
    ----------
    x : array or expression
        What to shift.
    axes : int or sequence of int, optional
        Along which dimensions; all by default.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.fftshift(xl.asarray([0, 1, -2, -1]))
    XArray([-2, -1,  0,  1])
    """
    return numpy.fft.fftshift(x, axes)


@computed("x")
def ifftshift(x: Any, /, axes: Axes = None) -> XArray:
    """Return the inverse of `fftshift`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ifftshift(xl.asarray([-2, -1, 0, 1]))
    XArray([ 0,  1, -2, -1])
    """
    return numpy.fft.ifftshift(x, axes)
