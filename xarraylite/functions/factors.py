"""What of products `@` computes, which has the least to look at: operands that are asked little of.

`linear_algebra` asks here before it says a product in labels.
"""

from __future__ import annotations

from typing import Any

from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..assignment import elements
from ..labels.subscripts import ranks_of_matmul
from ..operands import tracing

#: Dtypes of products that are NumPy's, by their characters.
_REAL, _COMPLEX = "efd?bBhHiIlLqQ", "FD"

#: Products of two sizes up to which `@` is asked, which has the least to look at.
FEW = 1 << 14


def in_memory(a: object, b: object) -> tuple[object, object]:
    """Return two operands, with containers for lists of numbers, of which products are learned."""
    if a.__class__ is list:
        a = elements.container_of(XArray, a)
    return a, elements.container_of(XArray, b) if b.__class__ is list else b


def vectors_of(a: Any, b: Any) -> str:
    """Tell whether two arrays are vectors as long as each other, of "real" numbers or "complex".

    The product of real ones is `@`'s; complex ones are conjugated in memory.  Else "".
    """
    if not isinstance(a, XExpression) or not isinstance(b, XExpression):
        return ""
    dtype = a.dtype
    if len(a._shape) != 1 or a._shape != b._shape or dtype != b.dtype:
        return ""
    if dtype.char in _REAL:
        return "real"
    in_memory = isinstance(a, XContainer) and isinstance(b, XContainer)
    return "complex" if dtype.char in _COMPLEX and in_memory and not tracing.is_active() else ""


def meet(a: Any, b: Any, count: int) -> bool:
    """Tell whether two arrays are vectors or small, and so many dimensions of them meet.

    These are the last of the one and the first of the other, and the dtype is one that NumPy
    multiplies; others have messages of their own function's.
    """
    if not isinstance(a, XExpression) or not isinstance(b, XExpression):
        return False
    left, right = a._shape, b._shape
    small = len(left) == len(right) == 1 or a.size * b.size <= FEW
    first = len(left) - count
    if not small or first < 0 or len(right) < count or left[first:] != right[:count]:
        return False
    return a.dtype.char in _REAL + _COMPLEX and a.dtype == b.dtype


def turned(x: Any) -> Any:
    """Return a matrix with its rows as columns; None for all else."""
    return x.T if isinstance(x, XExpression) and len(x._shape) == 2 else None


def factors_of(subscripts: str, operands: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return two arrays whose `@` a spec of `einsum` says; None of other specs, or operands."""
    ranks = ranks_of_matmul(subscripts) if len(operands) == 2 else None
    if ranks is None:
        return None
    one, other = operands[0], turned(operands[1]) if ranks[2] else operands[1]
    return (one, other) if meet(one, other, 1) and (one.ndim, other.ndim) == ranks[:2] else None
