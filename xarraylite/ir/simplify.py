"""Rewrites at build time, as data: cheaper, and at least as exact.

``x ** 2`` is ``x * x`` rounded once, which is what a correctly rounded power gives too, and so are
``x ** -1`` and ``x ** 0.5``, a root with positive zeros and infinities, as the standard wants of a
power; NumPy makes the same substitutions.  ``x ** 3`` is rounded twice, and lies within one unit in
the last place.  Only exponents written as Python numbers are looked at: a value in an array never
changes what is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..dtypes.names import kind
from ..ops.op import Op
from ..ops.table import OPS

T = TypeVar("T")

POWER = OPS["pow"]

#: Stands for the base of a power.
BASE = None

#: An operation and what it is applied to: such a term, or the base.
Term = tuple[Any, ...] | None

_SQUARE: Term = (OPS["square"], BASE)
_ROOT: Term = (OPS["abs"], (OPS["sqrt"], BASE))

#: Terms of the base alone that are the same as a power with this exponent, and the kinds of dtypes
#: for which they are.
POWERS: dict[float, tuple[str, Term]] = {
    1: ("iufc", (OPS["positive"], BASE)),
    2: ("iufc", _SQUARE),
    3: ("iuf", (OPS["multiply"], _SQUARE, BASE)),
    -1: ("f", (OPS["reciprocal"], BASE)),
    0.5: ("f", (OPS["where"], (OPS["isinf"], BASE), (OPS["abs"], BASE), _ROOT)),
}


def simpler(op: Op, operands: tuple[object, ...], dtype: np.dtype[Any]) -> Term:
    """Return a term of the first operand alone that does the same; None if there is none.

    Parameters
    ----------
    op : Op
        The operation.
    operands : tuple
        Its operands; Python scalars as they were written.
    dtype : dtype
        Of the first operand and of the result.
    """
    if op is not POWER or type(operands[1]) not in (int, float):
        return None
    kinds, found = POWERS.get(operands[1], ("", None))  # type: ignore[call-overload]
    return found if kind(dtype) in kinds else None


def applied(term: Term, base: T, apply: Callable[..., T]) -> T:
    """Return a term of a base, each operation by a function of it and its operands."""
    if term is BASE:
        return base
    return apply(term[0], *[applied(part, base, apply) for part in term[1:]])
