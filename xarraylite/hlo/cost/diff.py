"""Two programs compared: what was added, removed, or has another shape, layout or operation.

Instructions are matched by computation and name first, and what is left by operation, shape and the
operations of operands, so that renumbering alone is no difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..instruction import HloComputation, HloInstruction


class Difference(NamedTuple):
    """One difference; an instruction is None where the program has no counterpart.

    Attributes
    ----------
    kind : str
        ``"added"``, ``"removed"``, ``"layout"``, ``"shape"`` or ``"operation"``.
    before, after : HloInstruction or None
        The instruction in either program.
    """

    kind: str
    before: HloInstruction | None
    after: HloInstruction | None

    def __str__(self) -> str:
        marks = {"added": "+", "removed": "-"}
        if self.before is None or self.after is None:
            only = self.after or self.before
            assert only is not None
            return f"{marks[self.kind]} {only.name} = {only.shape} {only.opcode}"
        one, other = [f"{made.shape} {made.opcode}" for made in (self.before, self.after)]
        return f"~ {self.before.name} ({self.kind}): {one} -> {other}"


def differences(
    before: Iterable[HloComputation], after: Iterable[HloComputation]
) -> Iterator[Difference]:
    """Compare the computations of two programs.

    Yields
    ------
    Difference
        In the order of the first program, what was added at the end.
    """
    old, new = [i for c in before for i in c], [i for c in after for i in c]
    partner = _match(old, new)
    for one in old:
        other = partner.get(one)
        if other is None:
            yield Difference("removed", one, None)
            continue
        kind = _kind(one, other)
        if kind:
            yield Difference(kind, one, other)
    taken = set(partner.values())
    for other in new:
        if other not in taken:
            yield Difference("added", None, other)


def _match(
    old: list[HloInstruction], new: list[HloInstruction]
) -> dict[HloInstruction, HloInstruction]:
    partner: dict[HloInstruction, HloInstruction] = {}
    by_name = {i.name: i for i in new}
    for one in old:
        other = by_name.get(one.name)
        if other is not None and other.opcode == one.opcode:
            partner[one] = other
    taken = set(partner.values())
    waiting = defaultdict(list)
    for other in reversed([i for i in new if i not in taken]):
        waiting[_look(other)].append(other)
    for one in old:
        if one not in partner and waiting[_look(one)]:
            partner[one] = waiting[_look(one)].pop()
    taken = set(partner.values())
    for one in old:
        other = by_name.get(one.name)
        if one not in partner and other is not None and other not in taken:
            partner[one] = other
            taken.add(other)
    return partner


def _look(instruction: HloInstruction) -> tuple[object, ...]:
    operands = tuple([operand.opcode for operand in instruction.operands])
    return instruction.opcode, str(instruction.shape), operands


def _kind(one: HloInstruction, other: HloInstruction) -> str:
    if one.opcode != other.opcode:
        return "operation"
    if one.shape.human_string() != other.shape.human_string():
        return "shape"
    return "layout" if one.shape != other.shape else ""
