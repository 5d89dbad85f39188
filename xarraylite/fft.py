"""Discrete Fourier transforms: the standard's ``fft`` extension and NumPy's ``np.fft``.

NumPy computes them.  Operands are evaluated; float32 and complex64 give complex64 or float32,
narrower floats are transformed in float32, integers in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from .arrays.xarray import XArray
from .dtypes.names import as_dtype, float64
from .functions.arguments import check_device
from .functions.arrays_of_numpy import container, numpy
from .functions.computed import computed
from .functions.partials import sibling

#: All of NumPy's names, each of which has a function here.
__all__ = numpy.fft.__all__

Norm = Literal["backward", "ortho", "forward"] | None
Axes = int | Sequence[int] | None


def _along_one(
    transform: Callable[..., XArray],
    a: Any,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
    out: object = None,
) -> XArray:
    return transform(a, n, axis, norm)


@computed("a")
@sibling(_along_one, numpy.fft.fft)
def fft() -> None:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array or expression
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
    IndexError
        If the axis is out of range.
    ValueError
        If there are no elements to transform, or ``norm`` is unknown.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.fft(xl.asarray([1.0, 0.0, 0.0, 0.0]))
    XArray([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """


@computed("a")
@sibling(_along_one, numpy.fft.ifft)
def ifft() -> None:
    """Return the inverse of `fft`; parameters as there.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ifft(xl.asarray([2.0, 2.0]))
    XArray([2.+0.j, 0.+0.j])
    """


@computed("a")
@sibling(_along_one, numpy.fft.rfft)
def rfft() -> None:
    """Return the first ``n // 2 + 1`` elements of the transform of a real array; see `fft`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.rfft(xl.asarray([1.0, 1.0, 1.0, 1.0]))
    XArray([4.+0.j, 0.+0.j, 0.+0.j])
    """


@computed("a")
@sibling(_along_one, numpy.fft.irfft)
def irfft() -> None:
    """Return the inverse of `rfft`, real; ``n`` is the number of its elements.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.irfft(xl.asarray([4.0, 0.0, 0.0]))
    XArray([1., 1., 1., 1.])
    """


@computed("a")
@sibling(_along_one, numpy.fft.hfft)
def hfft() -> None:
    """Return the real transform of a signal with Hermitian symmetry, of which half is given.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.hfft(xl.asarray([1.0, 0.0, 0.0]))
    XArray([1., 1., 1., 1.])
    """


@computed("a")
@sibling(_along_one, numpy.fft.ihfft)
def ihfft() -> None:
    """Return the inverse of `hfft`: half of a signal with Hermitian symmetry.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ihfft(xl.asarray([1.0, 1.0, 1.0, 1.0]))
    XArray([1.-0.j, 0.-0.j, 0.-0.j])
    """


def _along_several(
    transform: Callable[..., XArray],
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
    out: object = None,
) -> XArray:
    # Sizes without axes are those of the last ones.
    along = axes if s is None or axes is not None else range(-len(s), 0)
    return transform(a, s, along, norm)


@computed("a")
@sibling(_along_several, numpy.fft.fftn)
def fftn() -> None:
    """Return the discrete Fourier transform along several axes.

    Parameters
    ----------
    a : array or expression
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
    IndexError
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


@computed("a")
@sibling(_along_several, numpy.fft.ifftn)
def ifftn() -> None:
    """Return the inverse of `fftn`; parameters as there.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ifftn(xl.ones((1, 2)))
    XArray([[1.+0.j, 0.+0.j]])
    """


@computed("a")
@sibling(_along_several, numpy.fft.rfftn)
def rfftn() -> None:
    """Return `fftn` of a real array, of whose last axis the first half is enough.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.rfftn(xl.ones((2, 2))).shape
    (2, 2)
    """


@computed("a")
@sibling(_along_several, numpy.fft.irfftn)
def irfftn() -> None:
    """Return the inverse of `rfftn`, real.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.irfftn(xl.ones((1, 2)))
    XArray([[1., 0.]])
    """


def _along_two(
    transform: Callable[..., XArray],
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm = "backward",
    out: object = None,
) -> XArray:
    return transform(a, s, axes, norm)


@computed("a")
@sibling(_along_two, numpy.fft.fft2)
def fft2() -> None:
    """Return `fftn` of the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.fft2(xl.ones((3, 2, 2))).shape
    (3, 2, 2)
    """


@computed("a")
@sibling(_along_two, numpy.fft.ifft2)
def ifft2() -> None:
    """Return `ifftn` of the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ifft2(xl.ones((1, 2)))
    XArray([[1.+0.j, 0.+0.j]])
    """


@computed("a")
@sibling(_along_two, numpy.fft.rfft2)
def rfft2() -> None:
    """Return `rfftn` of the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.rfft2(xl.ones((3, 2, 4))).shape
    (3, 2, 3)
    """


@computed("a")
@sibling(_along_two, numpy.fft.irfft2)
def irfft2() -> None:
    """Return `irfftn` of the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.irfft2(xl.ones((3, 2, 3))).shape
    (3, 2, 4)
    """


def _frequencies(
    name: str, n: int, d: float = 1.0, *, dtype: object = None, device: str | None = None
) -> XArray:
    check_device(device, name)
    wanted = float64 if dtype is None else as_dtype(dtype)
    return container(getattr(numpy.fft, name)(n, d).astype(wanted, copy=False))


@sibling(_frequencies, "fftfreq")
def fftfreq() -> None:
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


@sibling(_frequencies, "rfftfreq")
def rfftfreq() -> None:
    """Return the frequencies of the elements of `rfft`; parameters as for `fftfreq`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.rfftfreq(4, 0.5)
    XArray([0. , 0.5, 1. ])
    """


@computed("x")
def fftshift(x: Any, axes: Axes = None) -> XArray:
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
def ifftshift(x: Any, axes: Axes = None) -> XArray:
    """Return the inverse of `fftshift`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fft.ifftshift(xl.asarray([-2, -1, 0, 1]))
    XArray([ 0,  1, -2, -1])
    """
    return numpy.fft.ifftshift(x, axes)


def __dir__() -> list[str]:
    return sorted(__all__)
