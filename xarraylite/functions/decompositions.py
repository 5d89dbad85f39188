"""Decompositions of matrices, by LAPACK; public as ``xarraylite.linalg``'s."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from ..arrays.xarray import XArray
from .computed import computed, numpy

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
