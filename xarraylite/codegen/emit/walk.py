"""The values along the innermost loop of a kernel: a body's instructions, and what they read.

The same body stands in every loop shape: what differs is where its operands are, and how they move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..._records import record
from ...ir.build import CAST
from . import routine
from .body import Apply, Const, Instruction, Position, Spread, apply, invariant, through
from .builder import Builder, Value
from .memory import fetch
from .streams import Access, Inner


@record(frozen=True, slots=True)
class Walk:
    """Streams along the innermost loop of a kernel, and the values that are computed of them.

    Attributes
    ----------
    b : Builder
        Where instructions go.
    spec : MapSpec or ReduceSpec
        What the kernel computes of which operands.
    words : mapping of str to Value
        The argument block.
    pointers : sequence of Value
        Where each stream is, that of the destination first.
    known : mapping of int to Value
        Instructions whose values do not change along the loop.
    """

    b: Builder
    spec: Any
    words: Mapping[str, Value]
    pointers: Sequence[Value]
    known: Mapping[int, Value]

    def along(self, pointers: Sequence[Value]) -> Self:
        """Emit the values that do not change along the loop from ``pointers`` on."""
        here, body, known = replace(self, pointers=pointers), self.spec.body, dict[int, Value]()
        still = [o.inner is Inner.STILL for o in self.spec.operands[1:]]
        for number in sorted(invariant(body, still)):
            known[number] = here._emitted(body.instructions[number], known, 0, 0)
        return replace(here, known=known)

    def value(self, index: Value, interleaved: Value | None = None) -> Value:
        """Emit the value at an index of the loop, as registers hold it.

        Operands in which the kernel's lanes lie side by side are read at ``interleaved`` instead.
        """
        values, steps = dict(self.known), self.spec.body.instructions
        beside = index if interleaved is None else interleaved
        for number, step in enumerate(steps):
            if number not in values:
                values[number] = self._emitted(step, values, index, beside)
        return values[len(steps) - 1]

    def _emitted(
        self,
        step: Instruction,
        values: Mapping[int, Value],
        index: Value | int,
        interleaved: Value | int,
    ) -> Value:
        """Emit one instruction, whose arguments are among ``values``."""
        if isinstance(step, Apply):
            return apply(self.b, step.op, step.loops, step.dtype, [values[k] for k in step.args])
        if isinstance(step, Const):
            return self.words[f"c{step.slot}"]
        if isinstance(step, Spread):
            return _spread(step, self._position(step.value, values))
        w = step.operand + 1
        if isinstance(step, Position):
            place = self._moved(w, w, index)
            if step.dtype == np.int64:
                return place
            return apply(self.b, CAST, (np.dtype("i8"),), step.dtype, [place])
        operand, moved = self.spec.operands[w], None
        for value, slot in step.gathers:
            term = self._position(value, values) * self.words[f"g{slot}"]
            moved = term if moved is None else moved + term
        at = interleaved if operand.inner is Inner.INTERLEAVED else index
        base, number = self.element(w, at, 0 if operand.access is Access.SAME else w)
        base = base if moved is None else base + moved
        held = fetch(self.b, operand.memory, base, number, operand.scope)
        if self.spec.body.chooses and held.type[0] != "{":
            held = self.b.make(held.type, f"freeze {held.type} {held.text}")
        return through(self.b, routine.decode(step.dtype), held)

    def _position(self, number: int, values: Mapping[int, Value]) -> Value:
        """Return an index as int64."""
        value, dtype = values[number], self.spec.body.instructions[number].dtype
        if value.type == "i64":
            return value
        wider = "sext" if dtype.kind == "i" else "zext"
        return self.b.make("i64", f"{wider} {value.type} {value.text} to i64")

    def element(self, w: int, index: Value | int, owner: int) -> tuple[Value, Value | int]:
        """Return the address to count from, and the number from there, of a stream's element.

        It is read where the stream ``owner`` is.
        """
        if self.spec.operands[w].inner in (Inner.UNIT, Inner.INTERLEAVED):
            return self.pointers[owner], index
        return self._moved(w, owner, index), 0

    def _moved(self, w: int, owner: int, index: Value | int) -> Value:
        """Return where a stream is after ``index`` steps of a stride known at run time."""
        if self.spec.operands[w].inner is Inner.STILL or index == 0:
            return self.pointers[owner]
        return self.pointers[owner] + self.words[f"e{owner}"] * index


def _spread(step: Spread, index: Value) -> Value:
    """Emit a sum of digits."""
    total = index.builder.integer(-step.base)
    for digits, start, pace in step.waves:
        rest = index * pace + start
        for period, stride in digits:
            total = total + rest // period * stride
            rest = rest % period
    return total
