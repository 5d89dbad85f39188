"""Orders of instructions and computations, found without recursion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ..ir.walk import depth_first

N = TypeVar("N")


def post_order(instructions: Iterable[Any]) -> tuple[Any, ...]:
    """Return instructions depth first, operands before users; see ``HloComputation.post_order``."""
    ends = [instruction for instruction in instructions if not instruction.users]
    return tuple(depth_first(ends, _before))


def _before(instruction: Any) -> Iterable[Any]:
    control = instruction.control_predecessors
    return (*control[::-1], *instruction.operands) if control else instruction.operands


def callees_first(starts: Iterable[N]) -> list[N]:
    """Return computations and what they call, directly or not, callees before callers."""
    return list(depth_first(starts, _calls))


def _calls(computation: Any) -> list[Any]:
    return [
        callee
        for instruction in computation.instructions
        for callee in instruction.called_computations
    ]
