"""Orders of instructions and computations, found without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .nodes import ComputationNode, InstructionNode

T = TypeVar("T")
N = TypeVar("N", bound=InstructionNode)
C = TypeVar("C", bound=ComputationNode)


def depth_first(starts: Iterable[T], before: Callable[[Any], Iterable[Any]]) -> list[T]:
    """Return all that is reached, each behind what has to stand before it."""
    seen: set[T] = set()
    order: list[T] = []
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(before(start)))]
        while stack:
            for found in stack[-1][1]:
                if found not in seen:
                    seen.add(found)
                    stack.append((found, iter(before(found))))
                    break
            else:
                order.append(stack.pop()[0])
    return order


def post_order(instructions: Iterable[N]) -> tuple[N, ...]:
    """Return instructions depth first, operands before users; see ``HloComputation.post_order``."""
    ends = [instruction for instruction in instructions if not instruction.users]
    return tuple(depth_first(ends, _before))


def _before(instruction: InstructionNode) -> Iterable[InstructionNode]:
    control = instruction.control_predecessors
    return (*control[::-1], *instruction.operands) if control else instruction.operands


def callees_first(starts: Iterable[C]) -> list[C]:
    """Return computations and what they call, directly or not, callees before callers."""
    return depth_first(starts, _calls)


def _calls(computation: ComputationNode) -> list[ComputationNode]:
    return [
        callee
        for instruction in computation.instructions
        for callee in instruction.called_computations
    ]
