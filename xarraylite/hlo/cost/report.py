"""What programs cost, for programs and for people, and the tree of a program.

Lines and tables are drawn by rich in a terminal, and plain text elsewhere.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, TypeAlias

from ..._records import record
from ...xla.spec import ArraySpec
from ..instruction import HloComputation, HloInstruction
from ..nodes import named
from .memory import Timeline, best_layout, stored_spec

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


#: A line, or a table: rows of cells, the columns' heads first, in which numbers stand on the right.
Block: TypeAlias = str | tuple[tuple[str, ...], ...]


def bytes_text(count: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> from xarraylite.hlo.cost.report import bytes_text
    >>> bytes_text(512), bytes_text(3 * 2**20)
    ('512 B', '3.0 MiB')
    """
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{count} B" if not unit else f"{size:.1f} {_UNITS[unit]}"


def plain(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield lines of text; tables are indented."""
    for block in blocks:
        if isinstance(block, str):
            yield block
            continue
        widths = [max(map(len, column)) for column in zip(*block, strict=True)]
        for first, *others in block:
            cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
            yield "  " + "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def show(blocks: Iterable[Block]) -> None:
    """Write to the standard output."""
    if not (sys.stdout.isatty() and importlib.util.find_spec("rich")):
        sys.stdout.write("\n".join([*plain(blocks), ""]))
        return
    tables: Any = importlib.import_module("rich.table")
    console = importlib.import_module("rich.console").Console(file=sys.stdout)
    for block in blocks:
        if isinstance(block, str):
            console.print(block, markup=False, highlight=False, soft_wrap=True)
            continue
        table = tables.Table(box=importlib.import_module("rich.box").SIMPLE_HEAD)
        for k, name in enumerate(block[0]):
            table.add_column(name, justify="right" if k else "left", overflow="fold")
        for row in block[1:]:
            table.add_row(*row)
        console.print(table, markup=False, highlight=False)


_SHOWN = 10


@record(frozen=True, slots=True, eq=False)
class Cost:
    """What something costs.

    Attributes
    ----------
    flops, transcendentals : int
        Operations.
    bytes_read, bytes_written : int
        With padding.
    padding : int
        How many of these are padding.
    """

    flops: int
    transcendentals: int
    bytes_read: int
    bytes_written: int
    padding: int

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    @property
    def padding_share(self) -> float:
        """Which part of all bytes moved is padding."""
        return self.padding / self.bytes if self.bytes else 0.0


#: What a module's cost sums over the runs of its instructions.
SUMS = tuple([field.name for field in fields(Cost)])


@record(frozen=True, slots=True, eq=False)
class InstructionCost(Cost):
    """What one instruction costs each time it runs.

    Attributes
    ----------
    flops, transcendentals : int
        Operations, of what it calls too.
    bytes_read, bytes_written : int
        With padding; 0 for what only names values.
    padding : int
        How many of these are padding.
    instruction : HloInstruction
        Which one.
    move : str
        ``"bitcast"``, ``"relayout"``, ``"copy"`` for one to the same layout, or empty.
    runs : int
        How often it runs, as far as that is known: in loops, that many trips; else once.
    """

    instruction: HloInstruction
    move: str
    runs: int = 1


class Advice(NamedTuple):
    """A layout that would save memory.

    Attributes
    ----------
    instruction : HloInstruction
        Whose result it is for.
    spec : ArraySpec
        The result in that layout.
    saved_bytes : int
        How much smaller that is.
    reason : str
        What is changed.
    """

    instruction: HloInstruction
    spec: ArraySpec
    saved_bytes: int
    reason: str

    def __str__(self) -> str:
        return f"{self.instruction.name}: {self.spec}, {self.saved_bytes:,} less ({self.reason})"


@record(frozen=True, slots=True, eq=False)
class ModuleCost(Cost):
    """What a module costs; ``str`` gives a table, `to_dict` what JSON can hold.

    Attributes
    ----------
    name, chip : str
        Of the module, and the chip whose layouts were assumed; empty where the text has tiles.
    instructions : tuple of InstructionCost
        Of the entry computation and of what it calls as such (loops, branches), in order.
        Fusions are one instruction.
    flops, transcendentals, bytes_read, bytes_written, padding : int
        Sums over all runs.
    timeline : Timeline
        Memory of the entry computation over its schedule.
    """

    name: str
    chip: str
    instructions: tuple[InstructionCost, ...]
    timeline: Timeline

    @property
    def relayouts(self) -> tuple[InstructionCost, ...]:
        """Instructions that only move bytes, the most expensive first."""
        found = [cost for cost in self.instructions if cost.move == "relayout"]
        return tuple(sorted(found, key=lambda cost: -cost.bytes * cost.runs))

    @property
    def bitcasts(self) -> tuple[InstructionCost, ...]:
        """Instructions that would move but need not."""
        return tuple([cost for cost in self.instructions if cost.move == "bitcast"])

    def of(self, name: str) -> InstructionCost:
        """Return the cost of the instruction of a name.

        Raises
        ------
        KeyError
            If there is none, or it lies within a fusion.
        """
        costs = {cost.instruction: cost for cost in self.instructions}
        return costs[named(name, costs, f"module {self.name} has no cost of")]

    def suggestions(self, count: int = 5) -> tuple[Advice, ...]:
        """Return the layouts that save most, one for each array."""
        found = []
        for cost in self.instructions:
            instruction = cost.instruction
            if instruction.shape.is_array and instruction.opcode not in ("bitcast", "constant"):
                spec = stored_spec(instruction.shape, self.chip)
                best = best_layout(spec)
                if best is not None:
                    found.append(Advice(instruction, best.spec, best.saved_bytes, best.reason))
        return tuple(sorted(found, key=lambda advice: -advice.saved_bytes)[:count])

    def blocks(self) -> Iterator[Block]:
        """Say it for people: sums, the most expensive instructions, relayouts, memory, advice.

        Yields
        ------
        str or Table
            A line, or a table.
        """
        where = f"layouts of {self.chip}" if self.chip else "layouts as written"
        yield f"{self.name} ({where})"
        yield f"  flops            {self.flops:,}"
        yield f"  transcendentals  {self.transcendentals:,}"
        yield f"  bytes read       {self.bytes_read:,}"
        yield f"  bytes written    {self.bytes_written:,}"
        yield f"  of them padding  {self.padding:,} ({self.padding_share:.1%})"
        yield f"  peak memory      {self.timeline.peak:,} at {self.timeline.peak_at.name}"
        for instruction, size in self.timeline.alive[:_SHOWN]:
            yield f"    {bytes_text(size):>10}  {instruction.name} = {instruction.shape}"
        yield "most expensive by bytes:"
        yield _table(sorted(self.instructions, key=lambda item: -item.bytes * item.runs)[:_SHOWN])
        if self.relayouts:
            yield f"relayouts ({len(self.relayouts)}), bytes moved to no other end:"
            yield _table(self.relayouts[:_SHOWN])
        if self.bitcasts:
            yield f"bitcasts: {len(self.bitcasts)}"
        advice = self.suggestions()
        if advice:
            yield "layouts that pad less:"
            yield from [f"  {line}" for line in advice]

    def __str__(self) -> str:
        return "\n".join(plain(self.blocks()))

    @property
    def summary(self) -> str:
        """The sums in one line."""
        work = f"{self.flops + self.transcendentals:,} operations"
        moved = f"{bytes_text(self.bytes)} moved ({self.padding_share:.0%} padding)"
        return f"{self.name}: {work}, {moved}, at most {bytes_text(self.timeline.peak)} alive"

    def to_dict(self, wanted: str = "") -> dict[str, Any]:
        """Return sums, instructions and memory as what JSON can hold.

        Parameters
        ----------
        wanted : str, optional
            Only of instructions in whose name, opcode or shape this occurs.
        """
        rows = [
            {
                "name": cost.instruction.name,
                "opcode": cost.instruction.opcode,
                "shape": str(cost.instruction.shape),
                **{name: getattr(cost, name) for name in (*SUMS, "move", "runs")},
            }
            for cost in self.instructions
            if _matches(cost.instruction, wanted)
        ]
        return {
            **{name: getattr(self, name) for name in ("name", "chip", *SUMS)},
            "peak_memory": self.timeline.peak,
            "peak_at": self.timeline.peak_at.name,
            "alive_at_peak": {i.name: size for i, size in self.timeline.alive},
            "instructions": rows,
        }


def _table(costs: Sequence[InstructionCost]) -> Block:
    rows = [("instruction", "opcode", "runs", "flops", "bytes", "padding")]
    for cost in costs:
        share = f"{cost.padding_share:.0%}" if cost.bytes else ""
        name = f"{cost.instruction.name} {cost.instruction.shape.human_string()}"
        flops = f"{cost.flops + cost.transcendentals:,}"
        size = bytes_text(cost.bytes)
        rows.append((name, cost.instruction.opcode, f"{cost.runs:,}", flops, size, share))
    return tuple(rows)


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
            if instruction.opcode == "parameter":
                names = str(instruction.parameter_number)
            elif instruction.opcode == "constant":
                text = str(instruction.literal)
                names = text if len(text) <= _SHOWN else "..."
            called = ", ".join([callee.name for callee in instruction.called_computations])
            tail = f" -> {called}" if called else ""
            right = f"{instruction.shape} {instruction.opcode}({names}){tail}"
            line = f"{root} {instruction.name} = {right}"
            item = costs.get(instruction)
            if item is not None and item.bytes:
                line += f"  [{bytes_text(item.bytes)}, {item.padding_share:.0%} padding]"
            yield f"  {line}"


def _matches(instruction: HloInstruction, wanted: str) -> bool:
    text = f"{instruction.name} {instruction.opcode} {instruction.shape}"
    return not wanted or wanted in text
