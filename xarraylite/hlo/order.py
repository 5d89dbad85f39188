"""Orders of instructions and computations, found without recursion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from .nodes import ComputationNode, InstructionNode

__all__ = ["computations_below", "post_order"]

N = TypeVar("N", bound=InstructionNode)
C = TypeVar("C", bound=ComputationNode)

# Collective operations of one channel run together, so they stand together too.
_CHANNELS = frozenset(
    [
        "all-gather",
        "all-reduce",
        "all-to-all",
        "collective-broadcast",
        "collective-permute",
        "ragged-all-to-all",
        "reduce-scatter",
    ]
)


def post_order(instructions: Iterable[N]) -> tuple[N, ...]:
    """Return instructions depth first, operands before users; see ``HloComputation.post_order``."""
    listed = list(instructions)
    together = _channel_mates(listed)
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
            if together and current is not start:
                stack += together.get(current, ())
            stack += reversed(current.operands)
            stack += current.control_predecessors
    return tuple(order)


def _channel_mates(
    instructions: list[N],
) -> dict[N, list[N]]:
    """For each collective operation with a channel, the others of that channel."""
    channels: dict[int, list[N]] = {}
    for instruction in instructions:
        if instruction.opcode in _CHANNELS and "channel_id" in instruction.attributes:
            channels.setdefault(instruction.attributes["channel_id"], []).append(instruction)
    return {
        instruction: [mate for mate in mates if mate is not instruction]
        for mates in channels.values()
        if len(mates) > 1
        for instruction in mates
    }


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
