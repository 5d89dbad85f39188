"""Rewrites at build time, as data: the same bits, cheaper.

``x ** 2`` is ``x * x`` rounded once, which is what a correctly rounded power gives too, and NumPy
makes the same substitution.  Only exponents written as Python numbers are looked at: a value in
an array never changes what is computed.
"""

from __future__ import annotations

from ..ops.op import Op
from ..ops.table import OPS

#: Operations of the base alone that are the same as a power with this exponent.
POWERS: dict[float, Op] = {1: OPS["positive"], 2: OPS["square"]}


def simpler(op: Op, operands: tuple[object, ...]) -> Op | None:
    """Return an operation of the first operand alone that does the same, or None.

    Parameters
    ----------
    op : Op
        The operation.
    operands : tuple
        Its operands; Python scalars as they were written.
    """
    if op is not OPS["pow"] or type(operands[1]) not in (int, float):
        return None
    return POWERS.get(operands[1])  # type: ignore[call-overload, no-any-return]
