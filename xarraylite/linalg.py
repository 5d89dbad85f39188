"""Linear algebra: the standard's ``linalg`` extension and NumPy's ``np.linalg``.

Decompositions and solutions are LAPACK's, by way of NumPy: operands are evaluated, results are
containers.  Products are those of `xarraylite.matmul` and its relatives; `diagonal`, `trace`,
`outer` and `vector_norm` are lazy.  Floats of 16 bits or fewer are computed in float32, integers in
float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from numpy.linalg import LinAlgError as LinAlgError

from ._errors import ShapeError
from .arrays.expression import XExpression, apply
from .arrays.operand import as_array
from .arrays.xarray import XArray
from .dtypes.names import kind
from .functions import diagonals, linear_algebra, reducers
from .functions.arrays_of_numpy import numpy
from .functions.computed import computed
from .functions.groups import Axis
from .functions.lapack import EighResult as EighResult
from .functions.lapack import EigResult as EigResult
from .functions.lapack import QRResult as QRResult
from .functions.lapack import SlogdetResult as SlogdetResult
from .functions.lapack import SVDResult as SVDResult
from .functions.lapack import cholesky as cholesky
from .functions.lapack import eig as eig
from .functions.lapack import eigh as eigh
from .functions.lapack import eigvals as eigvals
from .functions.lapack import eigvalsh as eigvalsh
from .functions.lapack import inv as inv
from .functions.lapack import lstsq as lstsq
from .functions.lapack import pinv as pinv
from .functions.lapack import qr as qr
from .functions.lapack import slogdet as slogdet
from .functions.lapack import solve as solve
from .functions.lapack import svd as svd
from .functions.lapack import svdvals as svdvals
from .functions.lapack import tensorinv as tensorinv
from .functions.lapack import tensorsolve as tensorsolve
from .functions.linear_algebra import matmul as matmul
from .functions.linear_algebra import tensordot as tensordot
from .functions.linear_algebra import vecdot as vecdot
from .functions.manipulation import matrix_transpose as matrix_transpose
from .index.broadcast import check_axis
from .ir import build
from .operands.nodes import HasNode, as_node
from .operands.non_numeric import or_numpy
from .ops.table import OPS

#: All of NumPy's names, each of which is here, and those of results.
__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult"]
__all__ += numpy.linalg.__all__


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
    left, right = as_array(x1, "cross"), as_array(x2, "cross")
    for x in (left, right):
        if x.shape[check_axis(axis, x.ndim, "cross")] != 3:
            raise ShapeError(
                f"linalg.cross: shapes {left.shape} and {right.shape}; the extent along axis "
                f"{axis} must be 3 (xl.cross takes vectors of 2 elements, too)"
            )
    return diagonals.cross(left, right, axis, axis, axis)


@computed("a")
def det(a: Any) -> XArray:
    """Return the determinants of square matrices.

    Parameters
    ----------
    a : array or expression
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
    return numpy.linalg.det(a)


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


@computed("a")
def matrix_power(a: Any, n: int) -> XArray:
    """Return powers of square matrices.

    Parameters
    ----------
    a : array or expression
        Matrices in the last two dimensions.
    n : int
        The exponent; the inverses are multiplied if it is negative.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.matrix_power(xl.asarray([[1, 1], [0, 1]]), 3)
    XArray([[1, 3],
            [0, 1]])
    """
    return numpy.linalg.matrix_power(a, n)


@computed("A", "tol", "rtol")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> XArray:
    """Return the number of singular values of matrices that are not negligible.

    Parameters
    ----------
    A : array or expression
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
    return numpy.linalg.matrix_rank(A, tol=tol, hermitian=hermitian, rtol=rtol)


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
        if ord < 0:
            return reducers.min(size, axis=axis, keepdims=keepdims)
        if size.size == 0:  # elsewhere an initial value would take twice the time
            return reducers.max(size, axis=axis, keepdims=keepdims, initial=0)
        return reducers.max(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        counted = reducers.count_nonzero(size, axis=axis, keepdims=keepdims)
        return counted.astype(size.dtype)
    if ord == 1:
        return reducers.sum(size, axis=axis, keepdims=keepdims)
    powers = size * size if ord == 2 else size**ord
    total = reducers.sum(powers, axis=axis, keepdims=keepdims)
    return apply(OPS["sqrt"], total) if ord == 2 else total ** (1 / ord)


@or_numpy
def outer(x1: object, x2: object, /) -> XExpression:
    """Return the products of all pairs of elements of two vectors, lazily.

    Parameters
    ----------
    x1, x2 : array or expression
        Of rank 1; `xarraylite.outer` takes others, flattened.

    Returns
    -------
    XExpression
        One row for each element of ``x1``, one column for each of ``x2``.

    Raises
    ------
    ShapeError
        If one is no vector.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.linalg.outer(xl.asarray([1, 2]), xl.asarray([1, 10])))
    XArray([[ 1, 10],
            [ 2, 20]])
    """
    ranks = [len(as_node(x, "outer").shape) for x in (x1, x2)]
    if ranks != [1, 1]:
        raise ShapeError(f"linalg.outer: operands are of ranks {ranks}; they must be vectors")
    return linear_algebra.outer(x1, x2)


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
    """Return the condition numbers of matrices.

    Parameters
    ----------
    x : array or expression
        Matrices in the last two dimensions.
    p : optional
        The norm, as for `matrix_norm`; by default 2.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.linalg.cond(xl.asarray([[2.0, 0.0], [0.0, 1.0]])))
    2.0
    """
    return numpy.linalg.cond(x, p)


@or_numpy
def multi_dot(arrays: Sequence[object], *, out: object = None) -> XArray | XExpression:
    """Return the product of several matrices, in the order that costs least.

    Parameters
    ----------
    arrays : sequence of arrays or expressions
        Matrices, at least two; the first and the last may be vectors.
    out : container, optional
        Where to write the result.

    Raises
    ------
    ShapeError
        If there are fewer than two arrays, or two neighbours have no common extent.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.linalg.multi_dot([xl.ones((2, 3)), xl.ones((3, 4)), xl.ones(4)])
    XArray([12., 12.])
    """
    made = list(arrays)
    if len(made) < 2:
        raise ShapeError(f"multi_dot: at least two arrays are needed, got {len(made)}")
    extents = [x._shape if isinstance(x, HasNode) else as_node(x, "multi_dot").shape for x in made]
    while len(made) > 2:
        # Greedily the largest extent that a product gets rid of.
        gone = [extents[k][-1] for k in range(len(made) - 1)]
        k = gone.index(max(gone))
        product = matmul(made[k], made[k + 1])
        made[k : k + 2], extents[k : k + 2] = [product], [product.shape]
    return matmul(made[0], made[1], out=out)


def __dir__() -> list[str]:
    return sorted(__all__)
