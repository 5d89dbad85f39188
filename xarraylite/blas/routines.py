"""BLAS's own names, as users of xtensor-blas know them: `gemm`, `gemv` and `dot`."""

from __future__ import annotations

from typing import Any

from .._errors import ShapeError
from ..operands.dispatch import namespace


def gemm(
    a: object,
    b: object,
    result: Any = None,
    /,
    transpose_a: bool = False,
    transpose_b: bool = False,
    *,
    alpha: Any = 1,
    beta: Any = 0,
) -> Any:
    """Return ``alpha * (a @ b) + beta * result`` of matrices.

    Parameters
    ----------
    a, b : array or expression
        The factors.
    result : container, optional
        Where it is written; a new container by default.
    transpose_a, transpose_b : bool, default False
        Whether a factor is transposed first.
    alpha, beta : scalar
        What the product, and the old values, are multiplied with.

    Returns
    -------
    XArray
        ``result``, if it was given.

    Raises
    ------
    ShapeError
        If an operand is no matrix, or the shapes do not fit.

    Examples
    --------
    >>> import xarraylite as xl
    >>> c = xl.ones((2, 2))
    >>> xl.blas.gemm([[1, 2], [3, 4]], [[1, 0], [0, 1]], c, alpha=2, beta=1)
    XArray([[3., 5.],
            [7., 9.]])
    """
    return _product("gemm", (2, 2), (a, b), (transpose_a, transpose_b), result, (alpha, beta))


def gemv(
    a: object,
    x: object,
    result: Any = None,
    /,
    transpose: bool = False,
    *,
    alpha: Any = 1,
    beta: Any = 0,
) -> Any:
    """Return ``alpha * (a @ x) + beta * result`` of a matrix and a vector; see `gemm`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.blas.gemv(xl.asarray([[1, 2], [3, 4]]), [1, 1], alpha=10)
    XArray([30, 70])
    """
    return _product("gemv", (2, 1), (a, x), (transpose, False), result, (alpha, beta))


def dot(a: object, b: object, result: Any = None, /) -> Any:
    """Return the sum of the products of two vectors' elements; see `gemm`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.blas.dot([1, 2], [3, 4]).item()
    11
    """
    return _product("dot", (1, 1), (a, b), (False, False), result, (1, 0))


def _product(
    name: str,
    ranks: tuple[int, int],
    factors: tuple[Any, Any],
    turned: tuple[bool, bool],
    result: Any,
    scales: tuple[Any, Any],
) -> Any:
    xl, (alpha, beta) = namespace(None), scales
    left, right = [
        xl.matrix_transpose(x) if turn else x for x, turn in zip(factors, turned, strict=True)
    ]
    found = (xl.ndim(left), xl.ndim(right))
    if found != ranks:
        raise ShapeError(f"{name}: operands must have the ranks {ranks}, got {found}")
    scaled, kept = [x.__class__ is not int or x != k for k, x in ((1, alpha), (0, beta))]
    made = xl.matmul(left, right)
    made = made * alpha if scaled else made
    if result is None:
        return xl.eval(made)
    result[...] = made + beta * result if kept else made
    return result
