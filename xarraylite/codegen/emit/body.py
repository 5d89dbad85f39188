"""The values of one kernel, as straight-line instructions, and their IR.

A `Body` is a list of instructions in order; each makes one value that later ones name by number.
The same body stands in every loop shape: what differs is only how each operand is addressed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..._records import record
from ...dtypes.names import DType, is_narrow_float
from ...ir.build import CAST
from ...layout.splitting import Wave
from ...ops.op import Op
from ...ops.user import UserOp
from . import apart, routine
from .builder import Builder, Value

#: Emits the load of an operand's element, some bytes from its place; of an iota, the position.
Reader = Callable[[Value | None], Value]


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
        """What an element costs: operations by the table, 1 for all else."""
        return sum([s.op.cost if isinstance(s, Apply) else 1 for s in self.instructions])

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
    def vector_cost(self) -> int:
        """What `VECTOR` elements cost where elements are computed as vectors.

        Costs are those of 64-bit numbers.  A vector holds the more of others the narrower they
        are; floats of 16 bits or fewer are computed in 32.
        """
        dtypes = [s.dtype for s in self.instructions]
        return self.cost * max([4 if is_narrow_float(d) else min(8, d.itemsize) for d in dtypes])


#: Elements that `Body.vector_cost` is for: as many 8-bit numbers take the room of one of 64 bits.
VECTOR = 8


def emit_body(
    b: Builder,
    body: Body,
    words: Mapping[str, Value],
    readers: Sequence[Reader],
    known: Mapping[int, Value],
) -> Value:
    """Emit every instruction that is not yet known; return the result.

    Parameters
    ----------
    b : Builder
        Where instructions go.
    body : Body
        The instructions.
    words : mapping of str to Value
        The words of the argument block, by name.
    readers : sequence of Reader
        What loads each operand.
    known : mapping of int to Value
        Instructions that were emitted before the loop.
    """
    values = dict(known)
    for number, step in enumerate(body.instructions):
        if number not in values:
            values[number] = emit_instruction(b, body, step, words, readers, values)
    return values[len(body.instructions) - 1]


def emit_instruction(
    b: Builder,
    body: Body,
    step: Instruction,
    words: Mapping[str, Value],
    readers: Sequence[Reader],
    values: Mapping[int, Value],
) -> Value:
    """Emit one instruction, whose arguments are among ``values``."""
    if isinstance(step, Apply):
        return apply(b, step.op, step.loops, step.dtype, [values[arg] for arg in step.args])
    if isinstance(step, Const):
        return words[f"c{step.slot}"]
    if isinstance(step, Spread):
        return _spread(step, _position(b, body, step.value, values))
    if isinstance(step, Position):
        index = readers[step.operand](None)
        if step.dtype == np.int64:
            return index
        return apply(b, CAST, (np.dtype("i8"),), step.dtype, [index])
    moved: Value | None = None
    for value, slot in step.gathers:
        term = _position(b, body, value, values) * words[f"g{slot}"]
        moved = term if moved is None else moved + term
    return through(b, routine.decode(step.dtype), readers[step.operand](moved))


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


def _position(b: Builder, body: Body, number: int, values: Mapping[int, Value]) -> Value:
    """Return an index as int64."""
    value, dtype = values[number], body.instructions[number].dtype
    if value.type == "i64":
        return value
    wider = "sext" if dtype.kind == "i" else "zext"
    return b.make("i64", f"{wider} {value.type} {value.text} to i64")


def _spread(step: Spread, index: Value) -> Value:
    """Emit a sum of digits."""
    total = index.builder.integer(-step.base)
    for digits, start, pace in step.waves:
        rest = index * pace + start
        for period, stride in digits:
            total = total + rest // period * stride
            rest = rest % period
    return total


def invariant(body: Body, still: Sequence[bool]) -> set[int]:
    """Return the instructions whose values do not change along the inner loop."""
    fixed: set[int] = set()
    for number, step in enumerate(body.instructions):
        if isinstance(step, Const):
            fixed.add(number)
        elif isinstance(step, Apply):
            if all(arg in fixed for arg in step.args):
                fixed.add(number)
        elif isinstance(step, Spread):
            if step.value in fixed:
                fixed.add(number)
        elif still[step.operand] and (
            isinstance(step, Position) or all(value in fixed for value, _ in step.gathers)
        ):
            fixed.add(number)
    return fixed
