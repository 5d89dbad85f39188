"""What NumPy makes of few elements, with our bits, in a loop over ever new extents.

Such a loop (the pivot of an elimination, a history that grows) would plan each search and each
join, which takes a hundred times as long as NumPy.  The first ones, and what is asked again with
the same extents (`arrays.memo`), are expressions.  The result is one of the value as it is now; its
snapshot says what it was computed from, so that `late` computes it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..assignment import elements, results
from ..dtypes.names import SUPPORTED, NumpyArray, is_narrow
from ..ir.kind import NODE, Kind, row_major
from ..ir.node import RANK, Node
from ..memory.histories import held
from ..memory.snapshots import Snapshot
from ..operands.nodes import Gathers
from ..runtime.floating_errors import silently
from .container import XContainer
from .expression import XExpression, handle
from .ownership import standing
from .recomputed import Part, Recomputed, outlined

#: Dtypes that NumPy computes with as kernels do.
COMMON = frozenset(dt for dt in SUPPORTED if not is_narrow(dt))

#: The most bytes of an operand that is computed first, and of all others and results.
FEW, MOST = 1 << 16, 1 << 20

#: Functions that move elements as NumPy's of that name do, and those that find positions.
_MOVING = frozenset(("diag", "pad", "repeat", "roll", "tile", "tril", "triu"))
_JOINING = frozenset(("column_stack", "concat", "dstack", "hstack", "stack", "vstack"))
_FINDING = frozenset(("argmax", "argmin"))


def part_of(x: XExpression, most: int) -> tuple[NumpyArray, Part] | None:
    """Return the values of an array of plain numbers, and how it was written.

    None of more bytes than ``most``, if they are to be computed, and of other arrays.
    """
    if x._kind is NODE or x._kind.dtype not in COMMON:
        return None
    if isinstance(x, XContainer):
        return elements.array_of(x), (x._kind, x._shape, (held(x._buffer), x._start))
    x = standing(x)  # of what is long, less is to be told and computed once its values are kept
    if x.__class__ is not XExpression or x.size * x._kind.itemsize > most:
        return None
    part = x._kind, x._shape, outlined(x._kind, x._operands)
    made = results.evaluate(x)  # nobody else has it
    return (x.numpy() if made is None or made._kind is NODE else elements.array_of(made)), part


def copy_with(values: NumpyArray, kind: Kind, made: Gathers) -> XExpression:
    """Return an expression of values of a kind, and of what says where they are from."""
    snapshot, shape = Snapshot.alone(values.nbytes, made), values.shape
    snapshot.array(kind.dtype, shape)[...] = values
    return handle(kind, shape, (snapshot, 0))


class AtOnce:
    """A function of ours as NumPy computes it, for other arrays of the same kinds.

    Attributes
    ----------
    call : callable
        Returns what NumPy makes of NumPy's arrays.
    lazily : callable
        Makes the result's node of the arrays'.
    kind : Kind
        Of the result.
    joins : bool
        Whether what is computed of such results in turn is all remembered.
    each, power : float and int
        Of so many elements, to this power, a result has at most so many times as many.
    """

    __slots__ = ("call", "each", "joins", "kind", "lazily", "power")

    lazy = False

    def __init__(self, call: Any, lazily: Callable[..., Node], arrays: Any, made: Any) -> None:
        self.call, self.lazily, self.joins = call, lazily, len(arrays) > 1
        fixed = min([RANK, *[x._kind.fixed for x in arrays]])
        self.kind = row_major(made.dtype, len(made._shape), fixed)
        self.power = 2 if len(arrays) == 1 and len(made._shape) > len(arrays[0]._shape) else 1
        self.each = made.size / max(sum([x.size for x in arrays]), 1) ** self.power

    def __call__(self, arrays: Sequence[Any]) -> XExpression | None:
        """Return the result of other arrays, which are small; None of all others."""
        values: list[NumpyArray] = []
        parts: list[Part] = []
        size = 0
        for x in arrays:
            own = math.prod(x._shape)
            size += own
            found = part_of(x, FEW) if own and size * x._kind.itemsize <= MOST else None
            if found is None:
                return None
            values.append(found[0])
            parts.append(found[1])
        if self.each * size**self.power * arrays[0]._kind.itemsize > MOST:
            return None
        try:
            made = np.asarray(silently(self.call, *values))
        except (TypeError, ValueError, IndexError, OverflowError):
            return None  # whoever is called next says what is wrong
        results.count_launch()
        of = Recomputed(parts, self.lazily, made.dtype, self.joins)
        return copy_with(made, self.kind, of)


def numpy_named(name: str, arrays: Sequence[Any]) -> Any:
    """Return NumPy's function of which one of that name makes the same; None if there is none."""
    if name in _JOINING:
        return getattr(np, name)
    if len(arrays) > 1:
        return None  # positions or numbers, which may change
    if name in _FINDING:
        return None if arrays[0]._kind.dtype.kind == "c" else getattr(np, name)
    return getattr(np, name) if name in _MOVING else None
