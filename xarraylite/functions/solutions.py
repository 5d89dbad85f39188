"""Systems of linear equations and inverses, by LAPACK; public as ``xarraylite.linalg``'s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.xarray import XArray
from .computed import computed, numpy


@computed("a")
def inv(a: Any) -> XArray:
    """Return the inverses of square matrices.

    Parameters
    ----------
    a : array or expression
        Matrices in the last two dimensions.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or singular.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.inv(xl.asarray([[2.0, 0.0], [0.0, 4.0]]))
    XArray([[0.5 , 0.  ],
            [0.  , 0.25]])
    """
    return numpy.linalg.inv(a)


@computed("a", "rcond", "rtol")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> XArray:
    """Return the Moore-Penrose inverses of matrices.

    Parameters
    ----------
    a : array or expression
        Matrices in the last two dimensions.
    rcond, rtol : float or array, optional
        Singular values up to that share of the greatest one count as zero.
    hermitian : bool, default False
        The matrices are Hermitian.

    Returns
    -------
    XArray
        The last two extents exchanged.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.pinv(xl.asarray([[2.0, 0.0]])).shape
    (2, 1)
    """
    a = numpy.asarray(a)
    if rcond is None and rtol is None:
        # The standard's default; NumPy's own is 1e-15 whatever the dtype.
        wide = a.dtype if a.dtype.kind in "fc" else numpy.dtype(float)
        rtol = max(a.shape[-2:], default=0) * numpy.finfo(wide).eps
    share = {"rtol": rtol} if rcond is None else {"rcond": rcond}
    return numpy.linalg.pinv(a, hermitian=hermitian, **share)


@computed("a", "b")
def solve(a: Any, b: Any) -> XArray:
    """Return the solutions of systems of linear equations ``a @ x == b``.

    Parameters
    ----------
    a : array or expression
        Square matrices in the last two dimensions.
    b : array or expression
        A vector, if its rank is 1, else columns in the last two dimensions.

    Returns
    -------
    XArray
        Of the shape of ``b``, the others broadcast.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or singular.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.solve(xl.asarray([[2.0, 0.0], [0.0, 4.0]]), xl.asarray([2.0, 2.0]))
    XArray([1. , 0.5])
    """
    return numpy.linalg.solve(a, b)


@computed("a", "b")
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[XArray, XArray, XArray, XArray]:
    """Return the solution of ``a @ x == b`` with the least sum of squares.

    Parameters
    ----------
    a, b : array or expression
        A matrix, and a vector or columns.
    rcond : float, optional
        Singular values up to that share of the greatest one count as zero.

    Returns
    -------
    tuple
        Solution, sums of squares that are left, rank and singular values of ``a``.

    Raises
    ------
    LinAlgError
        If the iteration does not converge, or the shapes do not fit.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.lstsq(xl.asarray([[1.0], [1.0]]), xl.asarray([1.0, 3.0]))[0]
    XArray([2.])
    """
    return numpy.linalg.lstsq(a, b, rcond)


@computed("a")
def tensorinv(a: Any, ind: int = 2) -> XArray:
    """Return the inverse under `tensordot` over the first ``ind`` dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.tensorinv(xl.reshape(xl.eye(6), (2, 3, 6)), ind=2).shape
    (6, 2, 3)
    """
    return numpy.linalg.tensorinv(a, ind)


@computed("a", "b")
def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> XArray:
    """Return the solution of ``tensordot(a, x, x.ndim) == b``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.tensorsolve(xl.reshape(xl.eye(6), (2, 3, 6)), xl.ones((2, 3))).shape
    (6,)
    """
    return numpy.linalg.tensorsolve(a, b, axes)
