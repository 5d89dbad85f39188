"""Comparisons of whole arrays."""

from __future__ import annotations

from ..arrays.expression import XExpression
from ..ir import build
from ..jagged.lazy import XJaggedExpression
from ..operands.nodes import as_node
from ..ops.table import OPS
from . import reducers
from .arguments import check_numbers
from .groups import Lazy
from .jagged_joins import any_jagged, as_jagged, same_extents


def array_equal(a: object, b: object, /) -> bool:
    """Tell whether two arrays have the same shape and equal elements (NaN equals nothing).

    A jagged array has the shape of a dense one if all its rows do.

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
    if any_jagged([a, b]):
        if not same_extents(a, b, "array_equal"):
            return False
        a, b = [as_jagged(x, "array_equal").flat for x in (a, b)]
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
    check_numbers("allclose", float, rtol=rtol, atol=atol)
    left, right = _lazy(a, "allclose"), _lazy(b, "allclose")
    near = abs(left - right) <= atol + rtol * abs(right)
    return bool(reducers.all((left == right) | near))


def _lazy(x: object, operation: str) -> Lazy:
    return x if isinstance(x, XJaggedExpression) else XExpression(as_node(x, operation))
