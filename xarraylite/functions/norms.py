"""xtensor's norms, and its reducers that have no name in the array API: lazy, over any axes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias

from ..arrays.expression import XExpression, apply
from ..arrays.memo import memoised_values
from ..arrays.operand import as_array, as_matrix
from ..dtypes.names import float64, int64, kind, uint64
from ..ops.table import OPS
from .reducers import count_nonzero
from .reducers import max as greatest
from .reducers import min as least
from .reducers import sum as total

Axes: TypeAlias = "SupportsIndex | Iterable[SupportsIndex] | None"


def _op(name: str, *operands: object) -> XExpression:
    return apply(OPS[name], *operands)


def _wide(array: XExpression, real: bool = False) -> XExpression:
    """Return integers as those that their sums are, or as floats; others as they are.

    So the magnitude of -128 and the square of 100 have room where ``int8`` has none, and powers
    where no integer has.
    """
    letter = kind(array.dtype)
    if letter not in "biu":
        return array
    return array.astype(float64 if real else uint64 if letter == "u" else int64)


def minmax(x: object, /, axis: Axes = None, *, keepdims: bool = False) -> tuple[Any, Any]:
    """Return the least and the greatest element, lazily; parameters as for `norm_l1`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> [int(e) for e in xl.minmax(xl.asarray([3, 1, 2]))]
    [1, 3]
    """
    return least(x, axis=axis, keepdims=keepdims), greatest(x, axis=axis, keepdims=keepdims)


@memoised_values
def count_nonnan(x: object, /, axis: Axes = None, *, keepdims: bool = False) -> XExpression:
    """Return how many elements are not NaN; parameters as for `norm_l1`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.count_nonnan(xl.asarray([1.0, xl.nan, 3.0])))
    2
    """
    array = as_array(x, "count_nonnan")
    known = _op("logical_not", _op("isnan", array))
    return count_nonzero(known, axis=axis, keepdims=keepdims)


@memoised_values
def norm_l0(x: object, /, axis: Axes = None, *, keepdims: bool = False) -> XExpression:
    """Return how many elements are not zero; parameters as for `norm_l1`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.norm_l0(xl.asarray([3.0, 0.0, -4.0])))
    2
    """
    return count_nonzero(as_array(x, "norm_l0"), axis=axis, keepdims=keepdims)


@memoised_values
def norm_l1(x: object, /, axis: Axes = None, *, keepdims: bool = False) -> XExpression:
    """Return the sum of magnitudes.

    Parameters
    ----------
    x : array or expression
        Values.
    axis : int or sequence of int, optional
        What to fold; by default everything.
    keepdims : bool, default False
        Keep folded dimensions, with extent 1.

    Returns
    -------
    XExpression
        Lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.norm_l1(xl.asarray([3.0, 0.0, -4.0])))
    7.0
    """
    return total(_op("abs", _wide(as_array(x, "norm_l1"))), axis=axis, keepdims=keepdims)


@memoised_values
def norm_sq(x: object, /, axis: Axes = None, *, keepdims: bool = False) -> XExpression:
    """Return the sum of squared magnitudes; parameters as for `norm_l1`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.norm_sq(xl.asarray([3 + 4j, 1])))
    26.0
    """
    array = _wide(as_array(x, "norm_sq"))
    if kind(array.dtype) == "c":
        parts = [_op("square", _op(name, array)) for name in ("real", "imag")]
        return total(_op("add", *parts), axis=axis, keepdims=keepdims)
    return total(_op("square", array), axis=axis, keepdims=keepdims)


@memoised_values
def norm_l2(x: object, /, axis: Axes = None, *, keepdims: bool = False) -> XExpression:
    """Return the Euclidean norm, the square root of `norm_sq`; parameters as for `norm_l1`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.norm_l2(xl.asarray([3.0, 0.0, -4.0])))
    5.0
    """
    array = _wide(as_array(x, "norm_l2"), real=True)
    return _op("sqrt", norm_sq(array, axis=axis, keepdims=keepdims))


@memoised_values
def norm_linf(x: object, /, axis: Axes = None, *, keepdims: bool = False) -> XExpression:
    """Return the greatest magnitude, 0 of no elements; parameters as for `norm_l1`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.norm_linf(xl.asarray([3.0, 0.0, -4.0])))
    4.0
    """
    magnitudes = _op("abs", _wide(as_array(x, "norm_linf")))
    return greatest(magnitudes, axis=axis, keepdims=keepdims, initial=0)


@memoised_values
def norm_lp_to_p(
    x: object, p: float, /, axis: Axes = None, *, keepdims: bool = False
) -> XExpression:
    """Return the sum of magnitudes to the power ``p``; parameters as for `norm_lp`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.norm_lp_to_p(xl.asarray([1.0, -2.0]), 3))
    9.0
    """
    array = as_array(x, "norm_lp_to_p")
    if p == 0:
        return norm_l0(array, axis=axis, keepdims=keepdims)
    return total(_op("pow", _op("abs", _wide(array, real=True)), p), axis=axis, keepdims=keepdims)


@memoised_values
def norm_lp(x: object, p: float, /, axis: Axes = None, *, keepdims: bool = False) -> XExpression:
    """Return the ``p``-norm: `norm_lp_to_p` to the power ``1 / p``.

    Parameters
    ----------
    x : array or expression
        Values.
    p : float
        The power.
    axis, keepdims : optional
        As for `norm_l1`.

    Returns
    -------
    XExpression
        Lazy.

    Raises
    ------
    ValueError
        If ``p`` is zero, infinite or NaN.

    Examples
    --------
    >>> import xarraylite as xl
    >>> round(float(xl.norm_lp(xl.asarray([1.0, -2.0]), 3)), 4)
    2.0801
    """
    if p == 0 or not math.isfinite(p):
        raise ValueError(f"norm_lp: p must be finite and not 0 (see norm_l0, norm_linf), got {p}")
    return _op("pow", norm_lp_to_p(x, p, axis=axis, keepdims=keepdims), 1 / p)


@memoised_values
def norm_induced_l1(x: object, /) -> XExpression:
    """Return the greatest sum of magnitudes of a matrix's columns.

    Parameters
    ----------
    x : array or expression
        A matrix.

    Returns
    -------
    XExpression
        Lazy, of rank 0.

    Raises
    ------
    ShapeError
        If the rank is not 2.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.norm_induced_l1(xl.asarray([[1.0, -2.0], [3.0, 4.0]])))
    6.0
    """
    return greatest(norm_l1(as_matrix(x, "norm_induced_l1"), axis=0), initial=0)


@memoised_values
def norm_induced_linf(x: object, /) -> XExpression:
    """Return the greatest sum of magnitudes of a matrix's rows.

    Parameters
    ----------
    x : array or expression
        A matrix.

    Returns
    -------
    XExpression
        Lazy, of rank 0.

    Raises
    ------
    ShapeError
        If the rank is not 2.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.norm_induced_linf(xl.asarray([[1.0, -2.0], [3.0, 4.0]])))
    7.0
    """
    return greatest(norm_l1(as_matrix(x, "norm_induced_linf"), axis=1), initial=0)
