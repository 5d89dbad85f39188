"""Orders of instructions and computations, found without recursion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from .nodes import ComputationNode, InstructionNode

N = TypeVar("N", bound=InstructionNode)
C = TypeVar("C", bound=ComputationNode)


def post_order(instructions: Iterable[N]) -> tuple[N, ...]:
    """Return instructions depth first, operands before users; see ``HloComputation.post_order``."""
    listed = list(instructions)
    # Absent: not seen; False: waiting for its operands; True: placed.
    state: dict[N, bool] = {}
    order: list[N] = []
    for start in listed:
        if start.users:
            continue
        stack: list[Any] = [start]
        while stack:
            current = stack[-1]
            placed = state.get(current)
            if placed is not None:
                stack.pop()
                if not placed:
                    order.append(current)
                    state[current] = True
                continue
            state[current] = False
            stack += reversed(current.operands)
            stack += current.control_predecessors
    return tuple(order)


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
