"""Reductions: lazy, fused with what they read, evaluated once per evaluation.

Each function takes ``axis`` (an int, a tuple, or None for all), ``keepdims`` and, where it makes
sense, ``dtype``, ``correction`` and ``initial``.  Sums of floats of 16 bits or fewer accumulate
in float32; sums of integers in at least 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import expression
from ..dtypes.names import as_dtype, bool_, float32, float64, int64, is_narrow_float, kind, uint64
from ..ir import build
from ..ir.node import Node
from ..operands.learning import learn_fold
from ..ops.reductions import ALL, ANY, MAX, MIN, PROD, SUM, Reduction
from ..ops.table import OPS
from .arguments import check_numbers
from .groups import Axis, Groups, Lazy, refuse_empty, takes_jagged
from .jagged import operand_and_groups

DType = np.dtype[Any]


def _total_dtype(node: Node, dtype: object) -> tuple[DType, DType]:
    """Return the dtypes a sum accumulates in and ends in."""
    if dtype is not None:
        end = as_dtype(dtype)
    elif kind(node.dtype) in "bi":
        end = int64
    elif kind(node.dtype) == "u":
        end = uint64
    else:
        end = node.dtype
    return (float32 if is_narrow_float(end) else end), end


#: What sums and products of bool are: ``+`` of two is their or, ``*`` their and.
_OF_TRUTH = {SUM: ANY, PROD: ALL}


def _total(
    op: Reduction, x: object, axis: Axis, dtype: object, keepdims: bool, initial: object
) -> Lazy:
    whole = axis is None and dtype is None and initial is None and keepdims is False
    known = expression.folded(op, x) if whole else None
    if known is not None:
        return known
    node, groups = operand_and_groups(x, axis, keepdims, op.name)
    inner, end = _total_dtype(node, dtype)
    op = _OF_TRUTH.get(op, op) if inner == bool_ else op
    made = groups.wrap(build.cast(groups.fold(op, build.cast(node, inner), initial), end))
    if whole:
        learn_fold(op, x, made)
    return made


@takes_jagged
def sum(
    x: object,
    /,
    *,
    axis: Axis = None,
    dtype: object = None,
    keepdims: bool = False,
    initial: object = None,
) -> Lazy:
    """Return the sum of elements, pairwise in fixed blocks.

    Parameters
    ----------
    x : array or expression
        What to add up.
    axis : int, tuple of int or None
        Dimensions to add over; all by default.
    dtype : dtype, optional
        Dtype of the result; by default int64 or uint64 for integers and bool, else that of ``x``.
        Sums of bool are "any", products "all".
    keepdims : bool, default False
        Keep reduced dimensions with extent 1.
    initial : scalar, optional
        Added to every result.

    Returns
    -------
    XExpression
        The lazy sums; the same bits for any number of threads.

    Raises
    ------
    AxisError
        For an axis out of range or named twice.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.sum(xl.asarray([1.0, 2.0, 3.0]) ** 2))
    14.0
    """
    return _total(SUM, x, axis, dtype, keepdims, initial)


@takes_jagged
def prod(
    x: object,
    /,
    *,
    axis: Axis = None,
    dtype: object = None,
    keepdims: bool = False,
    initial: object = None,
) -> Lazy:
    """Return the product of elements; parameters as for `sum`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.prod(xl.asarray([2, 3, 4])))
    24
    """
    return _total(PROD, x, axis, dtype, keepdims, initial)


def _extreme(op: Reduction, x: object, axis: Axis, keepdims: bool, initial: object) -> Lazy:
    whole = axis is None and initial is None and keepdims is False
    known = expression.folded(op, x) if whole else None
    if known is not None:
        return known
    node, groups = operand_and_groups(x, axis, keepdims, op.name)
    build.require_real(node, op.name)
    made = groups.wrap(groups.fold(op, node, initial))
    if whole:
        learn_fold(op, x, made)
    return made


@takes_jagged
def min(x: object, /, *, axis: Axis = None, keepdims: bool = False, initial: object = None) -> Lazy:
    """Return the least element; NaN if there is one.

    Parameters
    ----------
    x : array or expression
        Real.
    axis, keepdims, initial : optional
        As for `sum`.

    Returns
    -------
    XExpression
        The lazy minima, in the dtype of ``x``.

    Raises
    ------
    DTypeError
        If ``x`` is complex.
    ShapeError
        If there is nothing to compare and no ``initial``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.min(xl.asarray([3, 1, 2])))
    1
    """
    return _extreme(MIN, x, axis, keepdims, initial)


@takes_jagged
def max(x: object, /, *, axis: Axis = None, keepdims: bool = False, initial: object = None) -> Lazy:
    """Return the greatest element; NaN if there is one.  Parameters as for `min`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.max(xl.asarray([3, 1, 2])))
    3
    """
    return _extreme(MAX, x, axis, keepdims, initial)


def _truth(op: Reduction, x: object, axis: Axis, keepdims: bool) -> Lazy:
    node, groups = operand_and_groups(x, axis, keepdims, op.name)
    return groups.wrap(groups.fold(op, build.cast(node, bool_)))


@takes_jagged
def any(x: object, /, *, axis: Axis = None, keepdims: bool = False) -> Lazy:
    """Return whether any element is true (non-zero; NaN counts as true).

    Examples
    --------
    >>> import xarraylite as xl
    >>> bool(xl.any(xl.asarray([0, 2])))
    True
    """
    return _truth(ANY, x, axis, keepdims)


@takes_jagged
def all(x: object, /, *, axis: Axis = None, keepdims: bool = False) -> Lazy:
    """Return whether all elements are true (non-zero; NaN counts as true).

    Examples
    --------
    >>> import xarraylite as xl
    >>> bool(xl.all(xl.asarray([0, 2])))
    False
    """
    return _truth(ALL, x, axis, keepdims)


@takes_jagged
def count_nonzero(x: object, /, *, axis: Axis = None, keepdims: bool = False) -> Lazy:
    """Return the number of elements that are not zero, as int64.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.count_nonzero(xl.asarray([0, 2, 3])))
    2
    """
    node, groups = operand_and_groups(x, axis, keepdims, "count_nonzero")
    truth = build.cast(build.cast(node, bool_), int64)
    return groups.wrap(groups.fold(SUM, truth))


def _float_node(node: Node) -> tuple[Node, DType]:
    """Return an operand in the dtype that means are computed in, and their dtype."""
    if kind(node.dtype) in "biu":
        return build.cast(node, float64), float64
    if is_narrow_float(node.dtype):
        return build.cast(node, float32), node.dtype
    return node, node.dtype


def _mean(node: Node, groups: Groups) -> Node:
    total = groups.fold(SUM, node)
    return build.elementwise(OPS["divide"], total, groups.count(node.dtype))


@takes_jagged
def mean(x: object, /, *, axis: Axis = None, dtype: object = None, keepdims: bool = False) -> Lazy:
    """Return the arithmetic mean.

    Parameters
    ----------
    x : array or expression
        Integers and bool are averaged in float64, floats of 16 bits or fewer in float32.
    axis, keepdims : optional
        As for `sum`.
    dtype : dtype, optional
        Dtype to compute in and to return.

    Returns
    -------
    XExpression
        The lazy means; NaN where there is nothing to average.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.mean(xl.asarray([1, 2, 6])))
    3.0
    """
    node, groups = operand_and_groups(x, axis, keepdims, "mean")
    if dtype is not None:
        node = build.cast(node, as_dtype(dtype))
    node, end = _float_node(node)
    end = end if dtype is None else as_dtype(dtype)
    return groups.wrap(build.cast(_mean(node, groups), end))


def _variance(node: Node, groups: Groups, correction: float) -> Node:
    """Return the mean square distance from the mean, in two passes."""
    kept = groups.kept()
    distance = build.elementwise(OPS["subtract"], node, kept.back(_mean(node, kept)))
    if kind(node.dtype) == "c":
        real = build.elementwise(OPS["square"], build.elementwise(OPS["real"], distance))
        imag = build.elementwise(OPS["square"], build.elementwise(OPS["imag"], distance))
        square = build.elementwise(OPS["add"], real, imag)
    else:
        square = build.elementwise(OPS["square"], distance)
    total = groups.fold(SUM, square)
    return build.elementwise(OPS["divide"], total, groups.count(total.dtype, correction))


def _real_dtype(dtype: DType) -> DType:
    return np.dtype(f"f{dtype.itemsize // 2}") if kind(dtype) == "c" else dtype


@takes_jagged
def var(
    x: object,
    /,
    *,
    axis: Axis = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Lazy:
    """Return the variance: the mean square distance from the mean.

    Parameters
    ----------
    x : array or expression
        Integers and bool are computed in float64, floats of 16 bits or fewer in float32.
    axis, keepdims : optional
        As for `sum`.
    correction : float, default 0
        Subtracted from the number of elements before dividing.

    Returns
    -------
    XExpression
        The lazy variances.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.var(xl.asarray([1.0, 3.0]), correction=1))
    2.0
    """
    check_numbers("var", float, correction=correction)
    node, groups = operand_and_groups(x, axis, keepdims, "var")
    node, end = _float_node(node)
    return groups.wrap(build.cast(_variance(node, groups, correction), _real_dtype(end)))


@takes_jagged
def std(
    x: object,
    /,
    *,
    axis: Axis = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Lazy:
    """Return the standard deviation, the square root of `var`; parameters as there.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.std(xl.asarray([1.0, 3.0])))
    1.0
    """
    check_numbers("std", float, correction=correction)
    node, groups = operand_and_groups(x, axis, keepdims, "std")
    node, end = _float_node(node)
    root = build.elementwise(OPS["sqrt"], _variance(node, groups, correction))
    return groups.wrap(build.cast(root, _real_dtype(end)))


def _position(op: Reduction, x: object, axis: int | None, keepdims: bool, name: str) -> Lazy:
    """Return the first position of the extreme: the least position of elements equal to it."""
    axes = None if axis is None else (axis,)
    node, groups = operand_and_groups(x, axes, keepdims, name)
    build.require_real(node, name)
    refuse_empty(groups, name, node)
    kept = groups.kept()
    extreme = kept.back(kept.fold(op, node))
    hit: Node = build.elementwise(OPS["equal"], node, extreme)
    if kind(node.dtype) == "f":
        hit = build.elementwise(OPS["logical_or"], hit, build.elementwise(OPS["isnan"], node))
    found = build.elementwise(OPS["where"], hit, groups.places(node.shape), groups.largest)
    return groups.wrap(groups.fold(MIN, found))


@takes_jagged
def argmin(x: object, /, *, axis: int | None = None, keepdims: bool = False) -> Lazy:
    """Return the position of the first least element (of the first NaN if there is one).

    Parameters
    ----------
    x : array or expression
        Real.
    axis : int or None
        Dimension to search; None counts positions in row-major order.
    keepdims : bool, default False
        Keep the searched dimensions with extent 1.

    Returns
    -------
    XExpression
        Lazy int64 positions.

    Raises
    ------
    ShapeError
        If there is nothing to search.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.argmin(xl.asarray([3, 1, 1])))
    1
    """
    return _position(MIN, x, axis, keepdims, "argmin")


@takes_jagged
def argmax(x: object, /, *, axis: int | None = None, keepdims: bool = False) -> Lazy:
    """Return the position of the first greatest element; parameters as for `argmin`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.argmax(xl.asarray([3, 1, 3])))
    0
    """
    return _position(MAX, x, axis, keepdims, "argmax")
