"""Comparisons of whole arrays."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from .._errors import BroadcastError, DTypeError, ShapeError
from .._later import jagged_joins
from ..arrays.expression import XExpression
from ..arrays.operand import as_array
from ..index.broadcast import broadcast_shapes
from ..operands.moving import Parted
from ..operands.nodes import as_node, values_in
from ..operands.non_numeric import or_numpy
from . import elementwise, reducers
from .arguments import check_numbers
from .composed import isclose
from .elementwise import where
from .groups import Lazy, any_jagged, is_jagged


def array_equal(a1: object, a2: object, equal_nan: bool = False) -> bool:
    """Tell whether two arrays have the same shape and equal elements.

    A jagged array has the shape of a dense one if all its rows do.

    Parameters
    ----------
    a1, a2 : arrays, expressions or numbers
        What to compare; dtypes need not agree.
    equal_nan : bool, default False
        Whether NaN are equal to each other.

    Returns
    -------
    bool
        Evaluated at once.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.array_equal(xl.asarray([1, 2]), xl.asarray([1.0, 2.0]))
    True
    """
    if any_jagged([a1, a2]):
        if not jagged_joins.same_extents(a1, a2, "array_equal"):
            return False
        a1, a2 = [jagged_joins.as_jagged(x, "array_equal").flat for x in (a1, a2)]
    if isinstance(a1, Parted) or isinstance(a2, Parted):
        return _same_parts(a1, a2, equal_nan)
    try:
        left, right = as_array(a1, "array_equal"), as_array(a2, "array_equal")
    except (DTypeError, ShapeError):
        with suppress(TypeError):  # of records beside numbers
            return bool(np.array_equal(values_in(a1), values_in(a2), equal_nan))
        raise
    if left.shape != right.shape:
        return False
    same = left == right
    if equal_nan:
        same = same | (elementwise.isnan(left) & elementwise.isnan(right))
    return bool(reducers.all(same))


def _same_parts(a: Any, b: Any, equal_nan: bool) -> bool:
    """Tell whether the same is missing of two optional arrays, and the rest equal."""
    whole = a if isinstance(a, Parted) else b
    (one, known), (other, there) = whole.parts(a), whole.parts(b)
    if one.shape != other.shape or not array_equal(known, there):
        return False
    return array_equal(where(known, one, 0), where(known, other, 0), equal_nan)


@or_numpy
def array_equiv(a1: object, a2: object) -> bool:
    """Tell whether two arrays have equal elements once they are broadcast.

    Parameters
    ----------
    a1, a2 : array or expression
        What to compare.

    Returns
    -------
    bool
        False too where the shapes do not broadcast.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.array_equiv(xl.asarray([1, 1]), 1), xl.array_equiv(xl.asarray([1, 1]), [1, 2, 3])
    (True, False)
    """
    one, other = as_array(a1, "array_equiv"), as_array(a2, "array_equiv")
    if one.shape != other.shape:
        try:
            broadcast_shapes(one.shape, other.shape)
        except BroadcastError:
            return False
    return bool(reducers.all(one == other))


@or_numpy
def allclose(
    a: object,
    b: object,
    rtol: float | object = 1e-5,
    atol: float | object = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Tell whether ``|a - b| <= atol + rtol * |b|`` everywhere.

    Parameters
    ----------
    a, b : arrays, expressions or numbers
        What to compare, broadcast.
    rtol, atol : float or array
        Relative and absolute tolerance.
    equal_nan : bool, default False
        Whether NaN are close to each other.

    Returns
    -------
    bool
        Evaluated at once.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.allclose(xl.asarray([1.0]), 1.0 + 1e-9)
    True
    """
    if any_jagged([a, b]):
        check_numbers("allclose", float, rtol=rtol, atol=atol)
        left, right = _lazy(a, "allclose"), _lazy(b, "allclose")
        near = abs(left - right) <= atol + rtol * abs(right)
        return bool(reducers.all((left == right) | near))
    whole: Any = isclose(a, b, rtol, atol, equal_nan)
    if isinstance(whole, Parted):  # the same must be missing of both
        known, there = [whole.parts(x)[1] for x in (a, b)]
        return array_equal(known, there) and bool(
            reducers.all(where(known, whole.parts(whole)[0], True))
        )
    return bool(reducers.all(whole))


def _lazy(x: object, operation: str) -> Lazy:
    return x if is_jagged(x) else XExpression(as_node(x, operation))
