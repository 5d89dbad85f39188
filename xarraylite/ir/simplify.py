"""Rewrites at build time, as data: cheaper, and at least as exact.

``x ** 2`` is ``x * x`` rounded once, which is what a correctly rounded power gives too, and so is
``x ** -1``; NumPy makes the same substitutions.  ``x ** 3`` is rounded twice, and lies within one
unit in the last place.  Only exponents written as Python numbers are looked at: a value in an array
never changes what is computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes.names import kind
from ..ops.op import Op
from ..ops.table import OPS

POWER = OPS["pow"]

#: Operations of the base alone that are the same as a power with this exponent, one after the
#: other, and the kinds of dtypes for which they are; the last one of a cube takes the base again.
POWERS: dict[float, tuple[str, tuple[Op, ...]]] = {
    1: ("iufc", (OPS["positive"],)),
    2: ("iufc", (OPS["square"],)),
    3: ("iuf", (OPS["square"], OPS["multiply"])),
    -1: ("f", (OPS["reciprocal"],)),
}


def simpler(op: Op, operands: tuple[object, ...], dtype: np.dtype[Any]) -> tuple[Op, ...]:
    """Return operations on the first operand alone that do the same; none if there are not.

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
        return ()
    kinds, found = POWERS.get(operands[1], ("", ()))  # type: ignore[call-overload]
    return found if kind(dtype) in kinds else ()
