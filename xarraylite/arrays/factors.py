"""Lazy operands of matrix products: BLAS reads memory, so they are evaluated first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._later import later
from ..assignment import direct
from ..operands import tracing

if TYPE_CHECKING:
    from ..labels import products
else:
    products = later(".labels.products")

#: Codes of the dtypes that BLAS multiplies, and the ranks of a matrix times a matrix or a vector.
_BLAS = "fdFD"
_MATRICES = frozenset(((2, 2), (2, 1), (1, 2)))


def product(plain: type[Any], left: Any, right: Any) -> Any:
    """Return the product of matrices or vectors, of which some are lazy; None of all others.

    None also where lazy ones are not evaluated first: one row times one column, for example, is
    folded in one kernel.

    Parameters
    ----------
    plain : type
        The class of lazy results that are nothing more.
    left, right : object
        The operands.
    """
    if not isinstance(right, plain) or tracing.is_active():
        return None
    lazy = [x for x in (left, right) if x.lasting]
    if not lazy or any([type(x) is not plain for x in lazy]):
        return None
    ranks, dtype = (left.ndim, right.ndim), left.dtype
    if dtype.char not in _BLAS or right.dtype != dtype or ranks not in _MATRICES:
        return None
    sides = (*left.shape[:-1], *right.shape[1:])
    if left.shape[-1] != right.shape[0] or max(sides) < 2 or 0 in (*sides, left.shape[-1]):
        return None
    found = [direct.evaluate(x) if x.lasting else x for x in (left, right)]
    if any([x is None for x in found]):
        return None
    made = found[0] @ found[1]
    parts = products.hollow_operand(left), products.hollow_operand(right)
    made._buffer.made = products.Unwritten(*parts)
    return made
