"""Whole numbers, bits and parts of floats, computed by NumPy; see `of_numpy`."""

from __future__ import annotations

from typing import Any

from ..arrays.few import values_of
from .arrays_of_numpy import numpy
from .conversion import asarray
from .of_numpy import Array, of_numpy


@of_numpy
def gcd(x1: Array, x2: Array, /) -> Any:
    """Return the greatest common divisors.

    >>> xl.gcd([12, 9], 6)
    XArray([6, 3])
    """


@of_numpy
def lcm(x1: Array, x2: Array, /) -> Any:
    """Return the least common multiples.

    >>> xl.lcm([4, 3], 6)
    XArray([12,  6])
    """


@of_numpy
def bitwise_count(x: Array, /) -> Any:
    """Return the number of bits that are set.

    Returns: XArray of uint8

    >>> xl.bitwise_count([7, 8])
    XArray([3, 1], dtype=uint8)
    """


@of_numpy
def packbits(a: Array, /, axis: int | None = None, bitorder: str = "big") -> Any:
    """Return bytes made of eight truth values each.

    Returns: XArray of uint8

    >>> xl.packbits([1, 0, 0, 0, 0, 0, 0, 1])
    XArray([129], dtype=uint8)
    """


@of_numpy
def unpackbits(
    a: Array, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    """Return the bits of bytes.

    Returns: XArray of uint8

    >>> xl.unpackbits(xl.asarray([129], dtype="u1")).tolist()
    [1, 0, 0, 0, 0, 0, 0, 1]
    """


@of_numpy
def frexp(x: Array, /) -> Any:
    """Return mantissas in [0.5, 1) and exponents of two.

    Returns: tuple of XArray

    >>> xl.frexp([8.0])
    (XArray([0.5]), XArray([4], dtype=int32))
    """


@of_numpy
def ldexp(x1: Array, x2: Array, /) -> Any:
    """Return ``x1 * 2**x2``.

    >>> xl.ldexp([0.5], 4)
    XArray([8.])
    """


@of_numpy
def logaddexp2(x1: Array, x2: Array, /) -> Any:
    """Return ``log2(2**x1 + 2**x2)``.

    >>> xl.logaddexp2([1.0], [1.0])
    XArray([2.])
    """


@of_numpy
def spacing(x: Array, /) -> Any:
    """Return the distance to the next number away from zero.

    >>> xl.spacing([1.0])
    XArray([2.22044605e-16])
    """


@of_numpy
def i0(x: Array) -> Any:
    """Return the modified Bessel function of the first kind and order 0.

    >>> xl.i0([0.0])
    XArray([1.])
    """


def real_if_close(a: Array, tol: float = 100) -> Any:
    """Return a view of the real parts, if all imaginary parts are negligible, else the array.

    Parameters
    ----------
    a : array
        What to look at.
    tol : float, default 100
        Imaginary parts up to that many epsilons count as zero; up to 1 it is itself the limit.

    Returns
    -------
    XContainer
        The parts, or all.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.real_if_close([2.0 + 0j])
    XView([2.])
    """
    array = asarray(a)
    looked_at = numpy.real_if_close(values_of(array), tol)
    return array if looked_at.dtype == array.dtype else array.real


@of_numpy
def matvec(x1: Array, x2: Array, /) -> Any:
    """Return the products of matrices and vectors; other dimensions are broadcast.

    >>> xl.matvec([[1, 2], [3, 4]], [1, 1])
    XArray([3, 7])
    """


@of_numpy
def vecmat(x1: Array, x2: Array, /) -> Any:
    """Return the products of vectors, conjugated, and matrices; as `matvec`.

    >>> xl.vecmat([1, 1], [[1, 2], [3, 4]])
    XArray([4, 6])
    """
