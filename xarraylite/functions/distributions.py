"""Histograms, quantiles, covariances and running totals, computed by NumPy; see `of_numpy`.

Many running totals are computed by kernels; see `running`.
"""

from __future__ import annotations

from typing import Any

from .arrays_of_numpy import numpy
from .of_numpy import Array, Arrays, Container, DType, of_numpy
from .running import running


@of_numpy
def histogram(
    a: Array,
    bins: int | Array | str = 10,
    range: tuple[float, float] | Array | None = None,
    density: bool | None = None,
    weights: Array | None = None,
) -> Any:
    """Return how many elements lie in each bin, and the bins' edges.

    Returns: tuple of XArray

    >>> xl.histogram([1, 2, 1], bins=[0, 1, 2, 3])
    (XArray([0, 2, 1]), XArray([0, 1, 2, 3]))
    """


@of_numpy
def histogram_bin_edges(
    a: Array,
    bins: int | Array | str = 10,
    range: tuple[float, float] | Array | None = None,
    weights: Array | None = None,
) -> Any:
    """Return the edges of the bins of `histogram`.

    >>> xl.histogram_bin_edges([0, 4], bins=2)
    XArray([0., 2., 4.])
    """


@of_numpy
def histogram2d(
    x: Array,
    y: Array,
    bins: int | Array = 10,
    range: tuple[float, float] | Array | None = None,
    density: bool | None = None,
    weights: Array | None = None,
) -> Any:
    """Return how many points lie in each bin of a grid, and its edges.

    Returns: tuple of XArray: counts, edges along ``x`` and along ``y``

    >>> xl.histogram2d([0, 1, 1], [0, 1, 1], bins=2)[0]
    XArray([[1., 0.],
            [0., 2.]])
    """


@of_numpy
def histogramdd(
    sample: Arrays,
    bins: int | Array = 10,
    range: tuple[float, float] | Array | None = None,
    density: bool | None = None,
    weights: Array | None = None,
) -> Any:
    """Return how many points lie in each bin of a grid of any rank, and its edges.

    Returns: XArray and a tuple of XArray

    >>> xl.histogramdd(xl.asarray([[0, 0], [1, 1], [1, 1]]), bins=2)[0]
    XArray([[1., 0.],
            [0., 2.]])
    """


@of_numpy
def median(
    a: Array,
    axis: int | tuple[int, ...] | None = None,
    out: Container | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """Return the median: the middle element, or the mean of both.

    >>> xl.median([3, 1, 2, 10])
    XScalar(2.5)
    """


@of_numpy(like=median)
def nanmedian() -> None:
    """Return the median of the elements that are not NaN.

    >>> xl.nanmedian([3, xl.nan, 2, 10])
    XScalar(3.0)
    """


@of_numpy
def percentile(
    a: Array,
    q: Array,
    axis: int | tuple[int, ...] | None = None,
    out: Container | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Array | None = None,
) -> Any:
    """Return the elements below which given percentages lie.

    Returns: XArray; one row for each of several percentages

    >>> xl.percentile([0, 1, 2, 3, 4], [25, 50])
    XArray([1., 2.])
    """


@of_numpy(like=percentile)
def nanpercentile() -> None:
    """Return `percentile` of the elements that are not NaN.

    Returns: XArray; one row for each of several percentages

    >>> xl.nanpercentile([0, 1, xl.nan, 2], 50)
    XScalar(1.0)
    """


@of_numpy(like=percentile)
def quantile() -> None:
    """Return the elements below which given shares lie.

    Returns: XArray; one row for each of several shares

    >>> xl.quantile([0, 1, 2, 3, 4], 0.75)
    XScalar(3.0)
    """


@of_numpy(like=percentile)
def nanquantile() -> None:
    """Return `quantile` of the elements that are not NaN.

    Returns: XArray; one row for each of several shares

    >>> xl.nanquantile([0, 1, xl.nan, 2], 0.5)
    XScalar(1.0)
    """


@of_numpy
def cov(
    m: Array,
    y: Array | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Array | None = None,
    aweights: Array | None = None,
    *,
    dtype: DType = None,
) -> Any:
    """Return the covariance matrix of variables.

    >>> xl.cov([[0.0, 2.0], [2.0, 0.0]])
    XArray([[ 2., -2.],
            [-2.,  2.]])
    """


@of_numpy
def corrcoef(x: Array, y: Array | None = None, rowvar: bool = True, *, dtype: DType = None) -> Any:
    """Return the correlation coefficients of variables.

    >>> xl.corrcoef([[0.0, 2.0], [2.0, 0.0]])
    XArray([[ 1., -1.],
            [-1.,  1.]])
    """


@of_numpy(by=running(numpy.cumsum, "add"))
def cumsum(
    a: Array, axis: int | None = None, dtype: DType = None, out: Container | None = None
) -> Any:
    """Return running sums, of the flattened array unless an axis is given.

    >>> xl.cumsum([1, 2, 3])
    XArray([1, 3, 6])
    """


@of_numpy(like=cumsum, by=running(numpy.cumprod, "multiply"))
def cumprod() -> None:
    """Return running products, of the flattened array unless an axis is given.

    >>> xl.cumprod([1, 2, 3])
    XArray([1, 2, 6])
    """


@of_numpy(like=cumsum, by=running(numpy.nancumsum, "add", 0))
def nancumsum() -> None:
    """Return running sums in which NaN count as 0.

    >>> xl.nancumsum([1, xl.nan, 3])
    XArray([1., 1., 4.])
    """


@of_numpy(like=cumsum, by=running(numpy.nancumprod, "multiply", 1))
def nancumprod() -> None:
    """Return running products in which NaN count as 1.

    >>> xl.nancumprod([2, xl.nan, 3])
    XArray([2., 2., 6.])
    """
