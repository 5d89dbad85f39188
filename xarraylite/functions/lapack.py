"""What LAPACK makes of matrices: decompositions, inverses, solutions; of ``xarraylite.linalg``.

And what BLAS makes of complex vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, cast

from ..arrays import xarray
from ..arrays.xarray import XArray
from ..assignment.elements import array_of
from ..blas import calls
from ..ir.kind import NODE
from .arrays_of_numpy import numpy
from .computed import computed

Triangle = Literal["L", "U"]


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: XArray
    eigenvectors: XArray


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: XArray
    eigenvectors: XArray


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: XArray
    R: XArray


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: XArray
    logabsdet: XArray


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: XArray
    S: XArray
    Vh: XArray


@computed("a")
def cholesky(a: Any, *, upper: bool = False) -> XArray:
    """Return the triangular ``L`` with ``L @ L.mT.conj() == a``.

    Parameters
    ----------
    a : array or expression
        Square matrices, Hermitian and positive-definite, in the last two dimensions; one triangle
        is read.
    upper : bool, default False
        Return the upper triangle ``U`` with ``U.mT.conj() @ U == x`` instead.

    Returns
    -------
    XArray
        Of the shape of ``a``.

    Raises
    ------
    LinAlgError
        If a matrix is not square or not positive-definite.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.cholesky(xl.asarray([[4.0, 2.0], [2.0, 5.0]]))
    XArray([[2., 0.],
            [1., 2.]])
    """
    return numpy.linalg.cholesky(a, upper=upper)


@computed("a")
def eig(a: Any) -> EigResult:
    """Return the eigenvalues and right eigenvectors of square matrices.

    Parameters
    ----------
    a : array or expression
        Matrices in the last two dimensions.

    Returns
    -------
    EigResult
        ``eigenvalues`` and ``eigenvectors`` (columns), always complex.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or the iteration does not converge.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.eig(xl.asarray([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
    XArray([2.+0.j, 3.+0.j])
    """
    values, vectors = numpy.linalg.eig(a)
    wanted = _complex(values)
    return EigResult(values.astype(wanted), vectors.astype(wanted))


@computed("a")
def eigvals(a: Any) -> XArray:
    """Return the eigenvalues of square matrices, always complex; see `eig`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.eigvals(xl.asarray([[0.0, 1.0], [-1.0, 0.0]]))
    XArray([0.+1.j, 0.-1.j])
    """
    values = numpy.linalg.eigvals(a)
    return values.astype(_complex(values))


def _complex(values: Any) -> Any:
    return numpy.result_type(values.dtype, numpy.complex64)


@computed("a")
def eigh(a: Any, UPLO: Triangle = "L") -> EighResult:
    """Return the eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array or expression
        Matrices in the last two dimensions.
    UPLO : {"L", "U"}, default "L"
        Which triangle is read.

    Returns
    -------
    EighResult
        ``eigenvalues``, real and ascending, and ``eigenvectors`` (columns).

    Raises
    ------
    LinAlgError
        If a matrix is not square, or the iteration does not converge.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.eigh(xl.asarray([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    XArray([1., 3.])
    """
    return EighResult(*numpy.linalg.eigh(a, UPLO))


@computed("a")
def eigvalsh(a: Any, UPLO: Triangle = "L") -> XArray:
    """Return the eigenvalues of Hermitian matrices in ascending order; see `eigh`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.eigvalsh(xl.asarray([[2.0, 1.0], [1.0, 2.0]]))
    XArray([1., 3.])
    """
    return numpy.linalg.eigvalsh(a, UPLO)


@computed("a")
def qr(a: Any, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult:
    """Return orthogonal and upper triangular factors of matrices.

    Parameters
    ----------
    a : array or expression
        Matrices in the last two dimensions.
    mode : {"reduced", "complete", "r"}, default "reduced"
        ``Q`` of ``min(m, n)`` or of ``m`` columns, or ``R`` alone.

    Returns
    -------
    QRResult or XArray
        ``Q`` and ``R`` with ``Q @ R == x``.

    Raises
    ------
    ValueError
        For any other mode.

    Examples
    --------
    >>> import xarraylite as xl
    >>> q, r = xl.linalg.qr(xl.ones((3, 2)))
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    made = numpy.linalg.qr(a, mode)
    return made if mode == "r" else QRResult(*made)


@computed("a")
def slogdet(a: Any) -> SlogdetResult:
    """Return sign and logarithm of the modulus of the determinants of square matrices.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.slogdet(xl.asarray([[0.0, 1.0], [1.0, 0.0]])).sign
    XScalar(-1.0)
    """
    return SlogdetResult(*numpy.linalg.slogdet(a))


@computed("a")
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> SVDResult:
    """Return the singular value decomposition of matrices.

    Parameters
    ----------
    a : array or expression
        Matrices in the last two dimensions.
    full_matrices : bool, default True
        Make ``U`` and ``Vh`` square.
    compute_uv : bool, default True
        False: return ``S`` alone, as `svdvals`.
    hermitian : bool, default False
        The matrices are Hermitian.

    Returns
    -------
    SVDResult or XArray
        ``U``, ``S`` (descending) and ``Vh``, whose product is ``a``.

    Raises
    ------
    LinAlgError
        If the iteration does not converge.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.svd(xl.asarray([[3.0, 0.0], [0.0, 4.0]])).S
    XArray([4., 3.])
    """
    made = numpy.linalg.svd(a, full_matrices, compute_uv, hermitian)
    return SVDResult(*made) if compute_uv else made


@computed("x")
def svdvals(x: Any, /) -> XArray:
    """Return the singular values of matrices in descending order.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.svdvals(xl.asarray([[3.0, 0.0], [0.0, 4.0]]))
    XArray([4., 3.])
    """
    return numpy.linalg.svdvals(x)


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
    return numpy.linalg.pinv(a, rcond, hermitian, **({} if rtol is None else {"rtol": rtol}))


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


def conjugate_dot(a: Any, b: Any) -> XArray:
    """Return the sum of ``conj(a) * b`` of complex vectors in memory."""
    strided = a._kind is not NODE and b._kind is not NODE
    if strided and a.__class__ is XArray is b.__class__:  # no other class the result must have
        return cast("XArray", xarray.owned(calls.conjugate_dot(array_of(a), array_of(b))))
    return _any_dot(a, b)


_any_dot: Callable[..., XArray] = computed("left", "right")(calls.conjugate_dot)  # type: ignore[arg-type]
