"""Comparisons of whole arrays."""

from __future__ import annotations

from ..containers.expression import XExpression
from ..containers.operands import as_node
from ..expr import build
from ..ops.table import OPS
from . import reducers


def array_equal(a: object, b: object, /) -> bool:
    """Tell whether two arrays have the same shape and equal elements (NaN equals nothing).

    Parameters
    ----------
    a, b : arrays, expressions or numbers
        What to compare; dtypes need not agree.

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
    left, right = as_node(a, "array_equal"), as_node(b, "array_equal")
    if left.shape != right.shape:
        return False
    same = XExpression(build.elementwise(OPS["equal"], left, right))
    return bool(reducers.all(same))


def allclose(a: object, b: object, /, *, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Tell whether ``|a - b| <= atol + rtol * |b|`` everywhere (NaN is close to nothing).

    Parameters
    ----------
    a, b : arrays, expressions or numbers
        What to compare, broadcast.
    rtol, atol : float
        Relative and absolute tolerance.

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
    left, right = XExpression(as_node(a, "allclose")), XExpression(as_node(b, "allclose"))
    near = abs(left - right) <= atol + rtol * abs(right)
    return bool(reducers.all((left == right) | near))
