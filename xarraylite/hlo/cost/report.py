"""Costs in words and numbers: tables for people, and the tree of a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..instruction import HloComputation, HloInstruction
from .weigh import InstructionCost, ModuleCost

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_SHOWN = 10


def bytes_text(count: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> bytes_text(512), bytes_text(3 * 2**20)
    ('512 B', '3.0 MiB')
    """
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{count} B" if not unit else f"{size:.1f} {_UNITS[unit]}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max([len(row[k]) for row in rows]) for k in range(len(rows[0]))]
    for row in rows:
        cells = [
            text.ljust(width) if k == 0 else text.rjust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  " + "  ".join(cells).rstrip()


def cost_lines(cost: ModuleCost) -> Iterator[str]:
    """Say what a module costs: sums, the most expensive instructions, relayouts, memory, advice.

    Yields
    ------
    str
        One line.
    """
    where = f"layouts of {cost.chip}" if cost.chip else "layouts as written"
    yield f"{cost.name} ({where})"
    yield f"  flops            {cost.flops:,}"
    yield f"  transcendentals  {cost.transcendentals:,}"
    yield f"  bytes read       {cost.bytes_read:,}"
    yield f"  bytes written    {cost.bytes_written:,}"
    yield f"  of them padding  {cost.padding:,} ({cost.padding_share:.1%})"
    peak = cost.timeline
    yield f"  peak memory      {peak.peak:,} at {peak.peak_at.name}"
    for instruction, size in peak.alive[:_SHOWN]:
        yield f"    {bytes_text(size):>10}  {instruction.name} = {instruction.shape}"
    largest = sorted(cost.instructions, key=lambda item: -item.bytes * item.runs)[:_SHOWN]
    yield "most expensive by bytes:"
    yield from _rows(largest)
    if cost.relayouts:
        yield f"relayouts ({len(cost.relayouts)}), bytes moved to no other end:"
        yield from _rows(cost.relayouts[:_SHOWN])
    if cost.bitcasts:
        yield f"bitcasts: {len(cost.bitcasts)}"
    advice = cost.suggestions()
    if advice:
        yield "layouts that pad less:"
        for line in advice:
            yield f"  {line}"


def _rows(costs: Sequence[InstructionCost]) -> Iterator[str]:
    rows = [("instruction", "opcode", "runs", "flops", "bytes", "padding")]
    for cost in costs:
        share = f"{cost.padding / cost.bytes:.0%}" if cost.bytes else ""
        name = f"{cost.instruction.name} {cost.instruction.shape.human_string()}"
        flops = f"{cost.flops + cost.transcendentals:,}"
        size = bytes_text(cost.bytes)
        rows.append((name, cost.instruction.opcode, f"{cost.runs:,}", flops, size, share))
    return _table(rows)


def tree_lines(
    computations: Sequence[HloComputation],
    entry: HloComputation,
    wanted: str = "",
    cost: ModuleCost | None = None,
) -> Iterator[str]:
    """Write a program as a tree: computations, and what they are made of.

    Parameters
    ----------
    computations : sequence of HloComputation
        In the order in which they are shown.
    entry : HloComputation
        Which of them is the entry.
    wanted : str, optional
        Show only instructions in whose name, opcode or shape this occurs.
    cost : ModuleCost, optional
        Adds bytes and padding.
    """
    costs = {item.instruction: item for item in cost.instructions} if cost is not None else {}
    for computation in computations:
        shown = [i for i in computation.instructions if _matches(i, wanted)]
        if not shown:
            continue
        mark = "ENTRY " if computation is entry else ""
        yield f"{mark}{computation.name}: {len(computation.instructions)} instructions"
        for instruction in shown:
            root = "*" if instruction.is_root else " "
            names = ", ".join([operand.name for operand in instruction.operands])
            called = ", ".join([callee.name for callee in instruction.called_computations])
            tail = f" -> {called}" if called else ""
            right = f"{instruction.shape} {instruction.opcode}({names}){tail}"
            line = f"{root} {instruction.name} = {right}"
            item = costs.get(instruction)
            if item is not None and item.bytes:
                line += f"  [{bytes_text(item.bytes)}, {item.padding / item.bytes:.0%} padding]"
            yield f"  {line}"


def _matches(instruction: HloInstruction, wanted: str) -> bool:
    text = f"{instruction.name} {instruction.opcode} {instruction.shape}"
    return not wanted or wanted in text
