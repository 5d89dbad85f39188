"""Sets: the standard's functions, computed with NumPy.

NaN differ from each other, and 0.0 equals -0.0.  Elements come out in ascending order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..arrays.xarray import XArray
from .arrays_of_numpy import numpy as np
from .computed import computed


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: XArray
    indices: XArray
    inverse_indices: XArray
    counts: XArray


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: XArray
    counts: XArray


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: XArray
    inverse_indices: XArray


@computed("x", arithmetic=False)
def unique_all(x: Any) -> UniqueAllResult:
    """Return the distinct elements, where each is first, which one each element is, how often.

    Parameters
    ----------
    x : array or expression
        Flattened.

    Returns
    -------
    UniqueAllResult
        ``values``, ``indices``, ``inverse_indices`` (of the shape of ``x``) and ``counts``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> found = xl.unique_all(xl.asarray([5, 3, 5]))
    >>> found.values, found.indices, found.inverse_indices, found.counts
    (XArray([3, 5]), XArray([1, 0]), XArray([1, 0, 1]), XArray([1, 2]))
    """
    return UniqueAllResult(*np.unique_all(x))


@computed("x", arithmetic=False)
def unique_counts(x: Any) -> UniqueCountsResult:
    """Return the distinct elements, and how often each occurs.

    Parameters
    ----------
    x : array or expression
        Elements, flattened.

    Returns
    -------
    UniqueCountsResult
        Containers ``values`` and ``counts``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.unique_counts(xl.asarray([5, 3, 5])).counts
    XArray([1, 2])
    """
    return UniqueCountsResult(*np.unique_counts(x))


@computed("x", arithmetic=False)
def unique_inverse(x: Any) -> UniqueInverseResult:
    """Return the distinct elements, and which of them each element is.

    Parameters
    ----------
    x : array or expression
        Elements, flattened.

    Returns
    -------
    UniqueInverseResult
        Containers ``values`` and ``inverse_indices``; the latter has the shape of ``x``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.unique_inverse(xl.asarray([5, 3, 5])).inverse_indices
    XArray([1, 0, 1])
    """
    return UniqueInverseResult(*np.unique_inverse(x))


@computed("x", arithmetic=False)
def unique_values(x: Any) -> XArray:
    """Return the distinct elements in ascending order.

    Parameters
    ----------
    x : array or expression
        Elements, flattened.

    Returns
    -------
    XArray
        In ascending order; each NaN counts as distinct.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.unique_values(xl.asarray([5, 3, 5]))
    XArray([3, 5])
    """
    return np.unique(x, equal_nan=False)


@computed("element", "test_elements", arithmetic=False)
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> XArray:
    """Return for each element whether it is among others.

    Parameters
    ----------
    element : array, expression or number
        What to look for; NaN is never found.
    test_elements : array, expression or number
        Where, in any order.
    assume_unique : bool, default False
        Both have no element twice, which saves time.
    invert : bool, default False
        Return whether it is not.
    kind : {"sort", "table"}, optional
        NumPy's names of algorithms; the result is the same.

    Returns
    -------
    XArray
        bool, of the shape of ``element``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.isin(xl.asarray([1, 2, 3]), [3, 1])
    XArray([ True, False,  True])
    """
    return np.isin(element, test_elements, assume_unique=assume_unique, invert=invert, kind=kind)
