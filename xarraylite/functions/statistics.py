"""Running totals, differences, and reducers beside the standard's.

Reducers that leave out NaN, weighted means and ranges are lazy, made of the reducers of
`functions.reducers`; running totals are computed with NumPy, as each element needs the one before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

from .._errors import ExtentTypeError, ShapeError
from ..arrays.expression import XExpression, apply
from ..arrays.memo import memoised, memoised_values
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..dtypes.names import kind
from ..index.broadcast import check_axis
from ..ir import build
from ..ir.build import describe
from ..operands.moving import Parted
from ..ops.reductions import KNOWN_MAX, KNOWN_MIN
from ..ops.table import OPS
from . import means, reducers
from .arguments import whole
from .arrays_of_numpy import into, numpy
from .computed import computed
from .groups import Axis
from .joining import concat
from .manipulation import broadcast_to, moveaxis, reshape
from .partials import sibling
from .running import running


def _running(
    functions: tuple[Any, Any],
    x: Any,
    /,
    *,
    axis: Axis | tuple[int] = None,
    dtype: object = None,
    out: object = None,
    include_initial: bool = False,
) -> XArray:
    longer, usual = functions
    if isinstance(axis, tuple) and len(axis) == 1:
        (axis,) = axis
    made: XArray = (
        longer(x, axis=axis, dtype=dtype, include_initial=include_initial)
        if include_initial or (axis is None and numpy.ndim(x) != 1)
        else usual(x, axis, dtype)
    )
    return made


@computed("x")
@sibling(_running, (numpy.cumulative_sum, running(numpy.cumsum, "add")))
def cumulative_sum() -> None:
    """Return running sums along an axis.

    Parameters
    ----------
    x : array or expression
        What to add up.
    axis : int, optional
        Along which dimension; needed unless the rank is 1.
    dtype : dtype, optional
        Of the computation and the result; by default as for `sum`.
    out : container, optional
        Where to write the result.
    include_initial : bool, default False
        Begin with 0, so that the result is longer by one.

    Returns
    -------
    XArray
        The sums.

    Raises
    ------
    ValueError
        If no axis is given and the rank is not 1.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.cumulative_sum(xl.asarray([1, 2, 3]), include_initial=True)
    XArray([0, 1, 3, 6])
    """


@computed("x")
@sibling(_running, (numpy.cumulative_prod, running(numpy.cumprod, "multiply")))
def cumulative_prod() -> None:
    """Return running products along an axis; parameters as for `cumulative_sum`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.cumulative_prod(xl.asarray([1, 2, 3]))
    XArray([1, 2, 6])
    """


@memoised
def diff(
    a: object,
    n: int = 1,
    axis: SupportsIndex = -1,
    prepend: object = None,
    append: object = None,
) -> XExpression:
    """Return the differences of neighbours along an axis, lazily.

    Parameters
    ----------
    a : array or expression
        Numbers, or bool, whose difference is "not equal".
    n : int, default 1
        How many times.
    axis : int, default -1
        Along which dimension.
    prepend, append : array, expression or number, optional
        What stands before and after ``a``.

    Returns
    -------
    XExpression
        Shorter by ``n`` along the axis, or empty.

    Raises
    ------
    ValueError
        If ``n`` is negative.
    AxisError
        If the axis is out of range.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.diff(xl.asarray([1, 4, 9, 16]), n=2))
    XArray([2, 2])
    """
    n = whole(n, "diff", "n")
    made: Any = a if isinstance(a, Parted) else as_array(a, "diff")
    along = check_axis(axis, made.ndim, "diff")
    if n < 0:
        raise ValueError(f"diff({made.summary()}): n must not be negative, got {n}")
    ends = [_end(x, made.shape, along) for x in (prepend, append)]
    parts = [part for part in (ends[0], made, ends[1]) if part is not None] if n else [made]
    if len(parts) > 1:
        made = concat(parts, axis=along)
    step = OPS["not_equal" if kind(made.dtype) == "b" else "subtract"]
    front = (slice(None),) * along
    for _ in range(min(n, made.shape[along])):
        made = apply(step, made[(*front, slice(1, None))], made[(*front, slice(-1))])
    return made


def _end(x: object, shape: tuple[int, ...], axis: int) -> object:
    """Return what stands before or after an array along an axis, where a number stands once."""
    if x is None:
        return None
    end: Any = x if isinstance(x, Parted) else as_array(x, "diff")
    return end if end.ndim else broadcast_to(end, (*shape[:axis], 1, *shape[axis + 1 :]))


# --- without NaN -----------------------------------------------------------------------------


@memoised_values
@sibling(reducers.total, reducers.KNOWN_SUM)
def nansum() -> None:
    """Return the sum of the elements that are not NaN, lazily; parameters as for `sum`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.nansum(xl.asarray([1.0, xl.nan, 2.0])))
    3.0
    """


@memoised_values
@sibling(reducers.total, reducers.KNOWN_PROD)
def nanprod() -> None:
    """Return the product of the elements that are not NaN, lazily; parameters as for `sum`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.nanprod(xl.asarray([3.0, xl.nan, 2.0])))
    6.0
    """


@memoised_values
@sibling(reducers.extreme, KNOWN_MIN)
def nanmin() -> None:
    """Return the least element that is not NaN, or NaN if there is none; as `min`, lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.nanmin(xl.asarray([3.0, xl.nan, 2.0])))
    2.0
    """


@memoised_values
@sibling(reducers.extreme, KNOWN_MAX)
def nanmax() -> None:
    """Return the greatest element that is not NaN, or NaN if there is none; as `max`, lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.nanmax(xl.asarray([3.0, xl.nan, 2.0])))
    3.0
    """


@memoised_values
@sibling(means.averaged, "nanmean")
def nanmean() -> None:
    """Return the mean of the elements that are not NaN, lazily; parameters as for `mean`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.nanmean(xl.asarray([1.0, xl.nan, 2.0])))
    1.5
    """


@memoised_values
@sibling(means.spread, "nanvar")
def nanvar() -> None:
    """Return the variance of the elements that are not NaN, lazily; parameters as for `var`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.nanvar(xl.asarray([1.0, xl.nan, 3.0])))
    1.0
    """


@memoised_values
@sibling(means.spread, "nanstd")
def nanstd() -> None:
    """Return the standard deviation of the elements that are not NaN; as `std`, lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.nanstd(xl.asarray([1.0, xl.nan, 3.0])))
    1.0
    """


# --- ranges and means ------------------------------------------------------------------------


@memoised_values
def ptp(a: object, axis: Axis = None, out: object = None, keepdims: bool = False) -> XExpression:
    """Return the greatest element less the least, lazily; parameters as for `max`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.ptp(xl.asarray([3, 9, 4])))
    6
    """
    high = reducers.max(a, axis, None, keepdims)
    low = reducers.min(a, axis, None, keepdims)
    if isinstance(out, (XExpression, numpy.ndarray)):  # NumPy subtracts from what it put there
        high = high.astype(out.dtype)
    return into(out, high - low, "ptp")


@memoised_values
def average(
    a: object,
    axis: Axis = None,
    weights: object = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Return the weighted mean, lazily.

    Parameters
    ----------
    a : array or expression
        What to average.
    axis, keepdims : optional
        As for `mean`.
    weights : array or expression, optional
        Of the shape of ``a``, or of the axes; all 1 by default.
    returned : bool, default False
        Return the sums of the weights too.

    Returns
    -------
    XExpression, or a pair
        The means; NaN where the weights add up to 0, but for no weights.

    Raises
    ------
    ShapeError
        If the weights have another shape than the array, or than the axes.
    ZeroDivisionError
        If there are none.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.average(xl.asarray([1.0, 5.0]), weights=[3, 1]))
    2.0
    """
    array = as_array(a, "average")
    if weights is None:
        mean = means.mean(array, axis, keepdims=keepdims)
        count = array.size // max(mean.size, 1)
        total = broadcast_to(XExpression(build.scalar(count, mean.dtype)), mean.shape)
        return (mean, total) if returned else mean
    wide = _weights(array, as_array(weights, "average"), axis)
    if kind(array.dtype) in "biu":
        array = array.astype(float)
    scale = reducers.sum(wide, axis, keepdims=keepdims, dtype=(array * wide).dtype)
    mean = reducers.sum(array * wide, axis, keepdims=keepdims) / scale
    if mean.size and not wide.size:
        raise ZeroDivisionError(f"average({describe(array.node)}): there are no weights to add up")
    return (mean, broadcast_to(scale, mean.shape)) if returned else mean


def _weights(array: XExpression, weights: XExpression, axis: Axis) -> XExpression:
    """Return weights as they broadcast against an array."""
    if weights.shape == array.shape:
        return weights
    given: Any = () if axis is None else axis if isinstance(axis, Iterable) else (axis,)
    axes = [check_axis(a, array.ndim, "average") for a in given]
    if not axes or weights.shape != tuple([array.shape[a] for a in axes]):
        raise (ShapeError if axes else ExtentTypeError)(
            f"average({describe(array.node)}): weights of shape {weights.shape} fit neither the "
            f"array nor the axes {axis}"
        )
    order = sorted(range(len(axes)), key=axes.__getitem__)
    weights = moveaxis(weights, order, range(len(axes)))
    return reshape(weights, [n if k in axes else 1 for k, n in enumerate(array.shape)])
