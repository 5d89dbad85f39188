"""The values of one kernel, as straight-line instructions, and their IR.

A `Body` is a list of instructions in order; each makes one value that later ones name by number.
The same body stands in every loop shape: what differs is only how each operand is addressed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._records import record
from ...dtypes.names import DType, is_narrow_float
from ...layout.splitting import Wave
from ...ops.op import Op
from ...ops.user import UserOp
from . import apart, routine
from .builder import Builder, Value


@record(frozen=True, slots=True)
class Load:
    """Read operand ``operand``; ``offsets`` are (value, stream stride slot) of gathers."""

    operand: int
    dtype: DType
    gathers: tuple[tuple[int, int], ...] = ()


@record(frozen=True, slots=True)
class Const:
    """Read run-time scalar number ``slot``."""

    slot: int
    dtype: DType


@record(frozen=True, slots=True)
class Position:
    """The value of iota operand ``operand``."""

    operand: int
    dtype: DType


@record(frozen=True, slots=True)
class Apply:
    """Apply ``op`` to earlier values whose dtypes are ``loops``."""

    op: Op
    args: tuple[int, ...]
    loops: tuple[DType, ...]
    dtype: DType


@record(frozen=True, slots=True)
class Spread:
    """How far a tiled operand's element lies from the first one, by its index along a dimension.

    ``waves`` are the digits of ``start + pace * value`` (`layout.splitting.Wave`), ``base`` their
    sum at 0.
    """

    value: int
    waves: tuple[Wave, ...]
    base: int

    @property
    def dtype(self) -> DType:
        """Positions are int64."""
        return np.dtype(np.int64)


Instruction = Load | Const | Position | Apply | Spread


@record(frozen=True, slots=True)
class Body:
    """Straight-line code: the last instruction makes the result."""

    instructions: tuple[Instruction, ...]

    @property
    def dtype(self) -> DType:
        """Dtype of the result."""
        return self.instructions[-1].dtype

    @property
    def cost(self) -> int:
        """What an element costs: operations by the table, 1 for all else.

        What is gathered is read element by element, from anywhere (`_GATHER`).
        """
        costs = [s.op.cost if isinstance(s, Apply) else 1 for s in self.instructions]
        gathered = [len(getattr(s, "gathers", ())) for s in self.instructions]
        return sum(costs) + _GATHER * sum(gathered)

    @property
    def has_near(self) -> bool:
        """Whether some operation is computed in less time for all but few arguments.

        None is beside a user's function that may raise or run long: of what such a body makes of
        hard arguments, which is no result, it might do either.
        """
        applied = [s for s in self.instructions if isinstance(s, Apply)]
        if any([isinstance(s.op, UserOp) and not s.op.is_brief for s in applied]):
            return False
        return any([s.op.near and routine.near(s.op, s.loops, s.dtype) for s in applied])

    @property
    def is_steep(self) -> bool:
        """Whether an operation takes several times as long where that is not made use of."""
        steep = [s for s in self.instructions if isinstance(s, Apply) and s.op.steep]
        return self.has_near and any([routine.near(s.op, s.loops, s.dtype) for s in steep])

    @property
    def chooses(self) -> bool:
        """Whether a truth value may choose between what is read, so that all of it must be read.

        LLVM would load vectors under a mask (AVX-512).  Such a load of memory that was never
        touched (`zeros`), where nothing is chosen, takes 100 ns and touches it as little, so it
        takes as long at the next call.  A ``freeze`` behind a load keeps the two apart; where
        what is chosen is an operation on what is loaded, `machine` does.
        """
        return any([np.bool_ in s.loops for s in self.instructions if isinstance(s, Apply)])

    @property
    def vector_cost(self) -> int:
        """What `VECTOR` elements cost where elements are computed as vectors.

        Costs are those of 64-bit numbers.  A vector holds the more of others the narrower they
        are; floats of 16 bits or fewer are computed in 32.  Scalars are read once, so cost nothing.
        """
        dtypes = [s.dtype for s in self.instructions]
        cost = max(1, self.cost - sum([isinstance(s, Const) for s in self.instructions]))
        return cost * max([4 if is_narrow_float(d) else min(8, d.itemsize) for d in dtypes])


#: What a gathered read costs more than one in order: it takes 0.8 ns from the last cache.
_GATHER = 4

#: Elements that `Body.vector_cost` is for: as many 8-bit numbers take the room of one of 64 bits.
VECTOR = 8


def apply(
    b: Builder, op: Op, loops: tuple[DType, ...], dtype: DType, args: Sequence[Value]
) -> Value:
    """Emit one application, settled to its dtype."""
    made, near = routine.apply(op, loops, dtype), None
    if b.hard is not None:
        near = routine.near(op, loops, dtype)
        if near is not None:
            guard, made = near
            b.hard.set(b.hard.get() | b.call(guard, args))
    # In float32 what hard angles take is short, and a call a third of that.
    if b.rare and op.steep and made.args == ("f64",):
        value = apart.call(b, apart.of_routine(made), made.returns, args)
    else:
        value = b.call(made, args)
    return through(b, routine.settle(dtype), value)


def through(b: Builder, step: routine.Routine | None, value: Value) -> Value:
    """Emit a routine of one argument, or nothing."""
    return value if step is None else b.call(step, [value])


def taken(step: Instruction) -> Sequence[int]:
    """Return the instructions whose values one takes."""
    if isinstance(step, Apply):
        return step.args
    if isinstance(step, Spread):
        return (step.value,)
    return [k for k, _ in getattr(step, "gathers", ())]


def invariant(body: Body, still: Sequence[bool]) -> set[int]:
    """Return the instructions whose values do not change along the inner loop."""
    fixed: set[int] = set()
    for number, step in enumerate(body.instructions):
        moves = isinstance(step, Load | Position) and not still[step.operand]
        if not moves and fixed.issuperset(taken(step)):
            fixed.add(number)
    return fixed
