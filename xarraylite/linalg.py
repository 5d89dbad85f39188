"""Linear algebra: the standard's ``linalg`` extension and NumPy's ``np.linalg``.

Decompositions and solutions are LAPACK's, by way of NumPy: operands are evaluated, results are
containers.  Products are those of `xarraylite.matmul` and its relatives; `diagonal`, `trace`,
`outer` and `vector_norm` are lazy.  Floats of 16 bits or fewer are computed in float32, integers in
float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from numpy.linalg import LinAlgError

from .arrays.expression import XExpression, apply
from .arrays.xarray import XArray
from .dtypes.names import kind
from .functions import diagonals, reducers
from .functions.computed import computed, numpy
from .functions.groups import Axis
from .functions.linear_algebra import matmul, outer, tensordot, vecdot
from .functions.manipulation import matrix_transpose
from .ir import build
from .operands.nodes import as_node
from .ops.table import OPS

__all__ = [
    "EigResult",
    "EighResult",
    "LinAlgError",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

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


@computed("x")
def cholesky(x: Any, /, *, upper: bool = False) -> XArray:
    """Return the triangular ``L`` with ``L @ L.mT.conj() == x``.

    Parameters
    ----------
    x : array or expression
        Square matrices, Hermitian and positive-definite, in the last two dimensions; one triangle
        is read.
    upper : bool, default False
        Return the upper triangle ``U`` with ``U.mT.conj() @ U == x`` instead.

    Returns
    -------
    XArray
        Of the shape of ``x``.

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
    return numpy.linalg.cholesky(x, upper=upper)


def cross(x1: object, x2: object, /, *, axis: int = -1) -> XExpression:
    """Return the cross products of vectors of 3 elements, lazily.

    Parameters
    ----------
    x1, x2 : array or expression
        The dimension ``axis`` has extent 3; the others are broadcast.
    axis : int, default -1
        Along which dimension the vectors lie, in both operands.

    Returns
    -------
    XExpression
        Of the operands' common dtype.

    Raises
    ------
    ShapeError
        If an extent is not 3, or the others do not broadcast.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.linalg.cross(xl.asarray([1, 0, 0]), xl.asarray([0, 1, 0])))
    XArray([0, 0, 1])
    """
    return diagonals.cross(x1, x2, axis, axis, axis)


@computed("x")
def det(x: Any, /) -> XArray:
    """Return the determinants of square matrices.

    Parameters
    ----------
    x : array or expression
        Matrices in the last two dimensions.

    Raises
    ------
    LinAlgError
        If they are not square.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.linalg.det(xl.asarray([[2.0, 1.0], [0.0, 3.0]])))
    6.0
    """
    return numpy.linalg.det(x)


def diagonal(x: object, /, *, offset: int = 0) -> XExpression:
    """Return the diagonals of matrices: a view where ``x`` is a container.

    Parameters
    ----------
    x : array or expression
        Matrices in the last two dimensions.
    offset : int, default 0
        Which diagonal: positive above the main one.

    Returns
    -------
    XExpression
        The last dimension runs along the diagonals.

    Raises
    ------
    AxisError
        If the rank is below 2.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.diagonal(xl.asarray([[1, 2], [3, 4]]))
    XView([1, 4])
    """
    return diagonals.diagonal(x, offset, -2, -1)


def trace(x: object, /, *, offset: int = 0, dtype: object = None) -> XExpression:
    """Return the sums of the diagonals of matrices, lazily.

    Parameters
    ----------
    x : array or expression
        Matrices in the last two dimensions.
    offset : int, default 0
        Which diagonal: positive above the main one.
    dtype : dtype, optional
        As for `xarraylite.sum`.

    Returns
    -------
    XExpression
        Without the last two dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.linalg.trace(xl.asarray([[1, 2], [3, 4]])))
    5
    """
    return diagonals.trace(x, offset, -2, -1, dtype)


@computed("x")
def eig(x: Any, /) -> EigResult:
    """Return the eigenvalues and right eigenvectors of square matrices.

    Parameters
    ----------
    x : array or expression
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
    values, vectors = numpy.linalg.eig(x)
    wanted = _complex(values)
    return EigResult(values.astype(wanted), vectors.astype(wanted))


@computed("x")
def eigvals(x: Any, /) -> XArray:
    """Return the eigenvalues of square matrices, always complex; see `eig`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.eigvals(xl.asarray([[0.0, 1.0], [-1.0, 0.0]]))
    XArray([0.+1.j, 0.-1.j])
    """
    values = numpy.linalg.eigvals(x)
    return values.astype(_complex(values))


def _complex(values: Any) -> Any:
    return numpy.result_type(values.dtype, numpy.complex64)


@computed("x")
def eigh(x: Any, /, UPLO: Triangle = "L") -> EighResult:
    """Return the eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    x : array or expression
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
    return EighResult(*numpy.linalg.eigh(x, UPLO))


@computed("x")
def eigvalsh(x: Any, /, UPLO: Triangle = "L") -> XArray:
    """Return the eigenvalues of Hermitian matrices in ascending order; see `eigh`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.eigvalsh(xl.asarray([[2.0, 1.0], [1.0, 2.0]]))
    XArray([1., 3.])
    """
    return numpy.linalg.eigvalsh(x, UPLO)


@computed("x")
def inv(x: Any, /) -> XArray:
    """Return the inverses of square matrices.

    Parameters
    ----------
    x : array or expression
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
    return numpy.linalg.inv(x)


@computed("x")
def matrix_norm(
    x: Any, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> XArray:
    """Return the norms of matrices.

    Parameters
    ----------
    x : array or expression
        Matrices in the last two dimensions.
    keepdims : bool, default False
        Keep the last two dimensions with extent 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}, default "fro"
        Root of the sum of squares, sum of the singular values, greatest and least sum of a
        column's moduli, greatest and least singular value, of a row's moduli.

    Returns
    -------
    XArray
        Real.

    Raises
    ------
    ValueError
        For any other ``ord``, or a rank below 2.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.linalg.matrix_norm(xl.asarray([[3.0, 0.0], [0.0, 4.0]])))
    5.0
    """
    return numpy.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)


@computed("x")
def matrix_power(x: Any, n: int, /) -> XArray:
    """Return square matrices multiplied ``n`` times, or their inverses if ``n`` is negative.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.matrix_power(xl.asarray([[1, 1], [0, 1]]), 3)
    XArray([[1, 3],
            [0, 1]])
    """
    return numpy.linalg.matrix_power(x, n)


@computed("x", "tol", "rtol")
def matrix_rank(x: Any, /, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> XArray:
    """Return the number of singular values of matrices that are not negligible.

    Parameters
    ----------
    x : array or expression
        Matrices in the last two dimensions.
    tol : float or array, optional
        Singular values up to it are negligible.
    hermitian : bool, default False
        The matrices are Hermitian, which is faster.
    rtol : float or array, optional
        The same as a share of the greatest one; by default the larger extent times the dtype's
        epsilon.

    Returns
    -------
    XArray
        int64.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.linalg.matrix_rank(xl.ones((3, 3))))
    1
    """
    return numpy.linalg.matrix_rank(x, tol=tol, hermitian=hermitian, rtol=rtol)


@computed("x", "rcond", "rtol")
def pinv(x: Any, /, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> XArray:
    """Return the Moore-Penrose inverses of matrices.

    Parameters
    ----------
    x : array or expression
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
    if rcond is None and rtol is None:
        epsilon = numpy.finfo(numpy.result_type(x, numpy.float32)).eps
        rtol = max(x.shape[-2:], default=0) * epsilon if numpy.size(x) else None
    share = {} if rcond is None and rtol is None else {"rtol": rtol} if rcond is None else {}
    return numpy.linalg.pinv(x, *([] if rcond is None else [rcond]), hermitian=hermitian, **share)


@computed("x")
def qr(x: Any, /, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult:
    """Return orthogonal and upper triangular factors of matrices.

    Parameters
    ----------
    x : array or expression
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
    made = numpy.linalg.qr(x, mode)
    return made if mode == "r" else QRResult(*made)


@computed("x")
def slogdet(x: Any, /) -> SlogdetResult:
    """Return sign and logarithm of the modulus of the determinants of square matrices.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.slogdet(xl.asarray([[0.0, 1.0], [1.0, 0.0]])).sign
    XArray(-1.)
    """
    return SlogdetResult(*numpy.linalg.slogdet(x))


@computed("x1", "x2")
def solve(x1: Any, x2: Any, /) -> XArray:
    """Return the solutions of systems of linear equations ``x1 @ x == x2``.

    Parameters
    ----------
    x1 : array or expression
        Square matrices in the last two dimensions.
    x2 : array or expression
        A vector, if its rank is 1, else columns in the last two dimensions.

    Returns
    -------
    XArray
        Of the shape of ``x2``, the others broadcast.

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
    return numpy.linalg.solve(x1, x2)


@computed("x")
def svd(
    x: Any, /, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> SVDResult:
    """Return the singular value decomposition of matrices.

    Parameters
    ----------
    x : array or expression
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
        ``U``, ``S`` (descending) and ``Vh``, whose product is ``x``.

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
    made = numpy.linalg.svd(x, full_matrices, compute_uv, hermitian)
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


def vector_norm(
    x: object, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2
) -> XExpression:
    """Return the norms of vectors, lazily.

    Parameters
    ----------
    x : array or expression
        What to measure; integers in float64.
    axis : int, tuple of int or None
        Dimensions that make up a vector; all by default.
    keepdims : bool, default False
        Keep these with extent 1.
    ord : float, default 2
        ``sum(abs(x)**ord)**(1/ord)``; greatest and least modulus for inf and -inf, number of
        elements that are not zero for 0.

    Returns
    -------
    XExpression
        Real.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.linalg.vector_norm(xl.asarray([3.0, 4.0])))
    5.0
    """
    node = as_node(x, "vector_norm")
    if kind(node.dtype) in "biu":
        node = build.cast(node, numpy.dtype(float))
    size = apply(OPS["abs"], XExpression(node))
    if ord in (numpy.inf, -numpy.inf):
        extreme = reducers.max if ord > 0 else reducers.min
        return extreme(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        counted = reducers.count_nonzero(size, axis=axis, keepdims=keepdims)
        return counted.astype(size.dtype)
    if ord == 1:
        return reducers.sum(size, axis=axis, keepdims=keepdims)
    powers = size * size if ord == 2 else size**ord
    total = reducers.sum(powers, axis=axis, keepdims=keepdims)
    return apply(OPS["sqrt"], total) if ord == 2 else total ** (1 / ord)


@computed("x")
def norm(
    x: Any,
    ord: float | Literal["fro", "nuc"] | None = None,
    axis: int | tuple[int, int] | None = None,
    keepdims: bool = False,
) -> XArray:
    """Return the norm of a vector or a matrix, as NumPy's function of that name.

    Parameters
    ----------
    x : array or expression
        What to measure.
    ord : float or {"fro", "nuc"}, optional
        As for `vector_norm`, or for `matrix_norm` where there are two axes; by default the root of
        the sum of squares.
    axis : int, pair of int, or None
        Along which vectors or matrices lie; by default all of ``x``.
    keepdims : bool, default False
        Keep these with extent 1.

    Returns
    -------
    XArray
        Real.

    Raises
    ------
    ValueError
        For a norm that is not defined for so many axes.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.linalg.norm(xl.asarray([3.0, 4.0])))
    5.0
    """
    return numpy.linalg.norm(x, ord, axis, keepdims)


@computed("x")
def cond(x: Any, p: float | Literal["fro", "nuc"] | None = None) -> XArray:
    """Return the condition numbers of matrices, under a norm as for `matrix_norm`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.linalg.cond(xl.asarray([[2.0, 0.0], [0.0, 1.0]])))
    2.0
    """
    return numpy.linalg.cond(x, p)


@computed("a", "b")
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[XArray, XArray, int, XArray]:
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
    solution, left, rank, values = numpy.linalg.lstsq(a, b, rcond)
    return solution, left, int(rank), values


def multi_dot(arrays: Sequence[object]) -> XArray:
    """Return the product of several matrices, in the order that costs least.

    Parameters
    ----------
    arrays : sequence of arrays or expressions
        Matrices; the first and the last may be vectors.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.multi_dot([xl.ones((2, 3)), xl.ones((3, 4)), xl.ones(4)])
    XArray([12., 12.])
    """
    made = list(arrays)
    extents = [as_node(x, "multi_dot").shape for x in made]
    while len(made) > 2:
        # Greedily the largest extent that a product gets rid of.
        gone = [extents[k][-1] for k in range(len(made) - 1)]
        k = gone.index(max(gone))
        product = matmul(made[k], made[k + 1])
        made[k : k + 2], extents[k : k + 2] = [product], [product.shape]
    return matmul(*made)


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
