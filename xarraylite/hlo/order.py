"""Orders of instructions and computations, found without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from .nodes import ComputationNode, InstructionNode

N = TypeVar("N", bound=InstructionNode)
C = TypeVar("C", bound=ComputationNode)


def post_order(instructions: Iterable[N]) -> tuple[N, ...]:
    """Return instructions depth first, operands before users; see ``HloComputation.post_order``."""
    seen: set[N] = set()
    order: list[N] = []
    for start in instructions:
        if start.users or start in seen:
            continue
        seen.add(start)
        stack: list[tuple[N, Iterator[Any]]] = [(start, _before(start))]
        while stack:
            for before in stack[-1][1]:
                if before not in seen:
                    seen.add(before)
                    stack.append((before, _before(before)))
                    break
            else:
                order.append(stack.pop()[0])
    return tuple(order)


def _before(instruction: InstructionNode) -> Iterator[InstructionNode]:
    control = instruction.control_predecessors
    return iter((*control[::-1], *instruction.operands) if control else instruction.operands)


def computations_below(start: C, seen: set[C]) -> list[C]:
    """Return what a computation calls, directly or not, callees first, and then itself.

    Computations in ``seen`` are left out; those that are returned are added to it.
    """
    order: list[C] = []
    if start in seen:
        return order
    seen.add(start)
    stack = [(start, iter(_calls(start)))]
    while stack:
        current, pending = stack[-1]
        for callee in pending:
            if callee not in seen:
                seen.add(callee)
                stack.append((callee, iter(_calls(callee))))
                break
        else:
            stack.pop()
            order.append(current)
    return order


def _calls(computation: ComputationNode) -> list[Any]:
    return [
        callee
        for instruction in computation.instructions
        for callee in instruction.called_computations
    ]
