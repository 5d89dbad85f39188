"""The values of one kernel, as straight-line instructions, and their source.

A `Body` is a list of instructions in order; each makes one value that later ones name by number.
The same body stands in every loop shape: what differs is only how each operand is addressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...expr.build import CAST
from ...layout.refine import Wave
from ...ops.op import Op
from ...ops.table import cast_body
from .source import Source
from .tokens import call, token

DType = np.dtype[np.generic]


@dataclass(frozen=True, slots=True)
class Load:
    """Read operand ``operand``; ``offsets`` are (value, walker stride slot) of gathers."""

    operand: int
    dtype: DType
    gathers: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Const:
    """Read run-time scalar number ``slot``."""

    slot: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class Position:
    """The value of iota operand ``operand``."""

    operand: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply ``op`` to earlier values whose dtypes are ``loops``."""

    op: Op
    args: tuple[int, ...]
    loops: tuple[DType, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a tiled operand's element lies from the first one, by its index along a dimension.

    ``waves`` are the digits of ``start + pace * value`` (`layout.refine.Wave`), ``base`` their sum
    at 0.
    """

    value: int
    waves: tuple[Wave, ...]
    base: int

    @property
    def dtype(self) -> DType:
        """Positions are int64."""
        return np.dtype(np.int64)


Instruction = Load | Const | Position | Apply | Spread


@dataclass(frozen=True, slots=True)
class Body:
    """Straight-line code: the last instruction makes the result."""

    instructions: tuple[Instruction, ...]

    @property
    def dtype(self) -> DType:
        """Dtype of the result."""
        return self.instructions[-1].dtype


def expression(step: Apply) -> str:
    """Return the source of one application, settled to its dtype."""
    names = [f"v{arg}" for arg in step.args]
    result = token(step.dtype)
    if step.op is CAST:
        return _cast(step.loops[0], step.dtype, names[0])
    template = step.op.body(step.loops)
    assert template is not None, f"{step.op.name}{step.loops} is a host operation"
    text = template.format(*names, t=token(step.loops[0]).value)
    return call(result.settle, f"{result.value}({text})")


def _cast(source: DType, result: DType, name: str) -> str:
    """Return the source of a conversion, settled to the result's dtype."""
    return call(token(result).settle, cast_body(source, result).format(name))


def emit_body(source: Source, body: Body, addresses: Sequence[str], skip: set[int]) -> None:
    """Append one assignment per instruction.

    Parameters
    ----------
    source : Source
        Where the lines go.
    body : Body
        The instructions.
    addresses : sequence of str
        Per operand ``"reader(address, index)"`` with the gather offset as ``{}``; for an iota
        the position itself.
    skip : set of int
        Instructions that were emitted before the loop.
    """
    for number, step in enumerate(body.instructions):
        if number not in skip:
            source.line(f"v{number} = {instruction(step, addresses)}")


def instruction(step: Instruction, addresses: Sequence[str]) -> str:
    """Return the right-hand side of one instruction."""
    names = token(step.dtype)
    if isinstance(step, Apply):
        return expression(step)
    if isinstance(step, Const):
        return f"c{step.slot}"
    if isinstance(step, Spread):
        return _spread(step)
    if isinstance(step, Position):
        return _cast(np.dtype("i8"), step.dtype, addresses[step.operand])
    moved = "".join(f" + v{value} * g{slot}" for value, slot in step.gathers)
    return call(names.decode, addresses[step.operand].replace("@", moved))


def _spread(step: Spread) -> str:
    """Return the source of a sum of digits."""
    terms = [f"{-step.base}"]
    for digits, start, pace in step.waves:
        rest = f"(v{step.value} * {pace} + {start})"
        for period, stride in digits:
            terms.append(f"{rest} // {period} * {stride}" if period > 1 else f"{rest} * {stride}")
            rest = f"({rest} % {period})"
    return " + ".join(terms)


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
