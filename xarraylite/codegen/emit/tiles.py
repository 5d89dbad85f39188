"""Tiles of operands that lie across the destination's rows, transposed into scratch.

A tile's rows are `WIDE` elements of the destination.  It is worked on in strips of as many rows as
elements of an operand fill a line, or a few.  Of an operand that is contiguous down the rows, a
strip holds `WIDE` columns of a line each; they are read a square block at a time (`transpose`) and
stored as rows of scratch.  The kernel's ordinary loop then reads scratch as any contiguous operand.
So bodies know nothing of transposition, every line of memory is visited once from each side, and
what is read again, the scratch, stays within the L1 cache.

Where the strides are powers of two, the lines of all columns compete for one set of each cache.  It
does not matter here, for none of them is needed again once its block is read.  Columns are too far
apart for the CPU to see the next line coming, so the kernel asks for that of the next strip; it
goes to the second cache, for the first would have no place for all of them.  Where the second has
not either, for columns lie a multiple of `CROWDED` apart, strips are a few lines high instead.

Where whole lines of the destination are stored past the caches, a row of a tile begins and ends
where lines do, up to a line before the tile's columns: those are copied to scratch once more.

Elsewhere a line is read before a part of it is overwritten, and rows are as far apart as columns.
So while a row is stored, the kernel asks for that of the next tile.

At the ends of a dimension a block moves back until it fits, over elements that lie before the tile.
They are read a second time, and written to a margin of the scratch.
"""

from __future__ import annotations

from dataclasses import replace

from ..._records import record
from .builder import Builder, Value
from .streams import Access, Inner, Operand
from .tokens import token
from .transpose import Block, transposed

#: Elements of a tile's row.
WIDE = 256

#: Lines of an operand that a tile is high: columns are read so far down before the next ones are.
LINES = 16

#: Bytes between columns at which all of a strip compete for a few sets of the second cache: larger
#: than what one way of it holds on usual CPUs (64 or 128 KiB), or half of that.
CROWDED = 1 << 16

#: The first and the end of some rows or columns.
Range = tuple[Value, Value]


@record(frozen=True, slots=True)
class Copy:
    """Scratch for a strip of an operand.

    Attributes
    ----------
    builder : Builder
        Where instructions go.
    block : Block
        What is transposed at once.
    rows, before : int
        Rows of a strip, and columns before its first that may be asked for.
    start : Value
        Address of the strip's first element, behind a margin.
    """

    builder: Builder
    block: Block
    rows: int
    before: int
    start: Value

    @staticmethod
    def of(b: Builder, operand: Operand, rows: int, before: int) -> Copy:
        """Reserve scratch for an operand."""
        block = Block.of(token(operand.dtype).itemsize)
        before = max(before, block.side)
        pitch = _pitch(block, before)
        margin = block.side * pitch + _lines(before * block.size)
        return Copy(b, block, rows, before, b.scratch(margin + rows * pitch) + margin)

    def row(self, y: Value, left: Value) -> Value:
        """Return where element 0 of a row would be whose element ``left`` is the strip's first."""
        return self.start + y * _pitch(self.block, self.before) - left * self.block.size

    def fill(self, source: Value, step: Value, rows: Range, columns: Range, first: Value) -> None:
        """Emit the copy of a strip whose columns begin ``step`` bytes after each other.

        So many of the columns before it are copied too, where it is not at column ``first``.  The
        dimensions of which it is part have `Block.side` elements or more.
        """
        b, block, pitch = self.builder, self.block, _pitch(self.block, self.before)
        (top, bottom), (left, right) = rows, columns
        with b.loop(b.select(left > first, left - self.before, left), right, block.side) as ahead:
            x = ahead.least(right - block.side)
            with b.loop(top, bottom, block.side) as below:
                y = below.least(bottom - block.side)
                at = source + x * step + y * block.size
                lines = [at + step * k for k in range(block.side)]
                loaded = [b.load(block.type, line, 0, "src") for line in lines]
                for line in lines:
                    b.prefetch(line + ((self.rows + block.side) * block.size - 1))
                to = self.start + (y - top) * pitch + (x - left) * block.size
                for k, column in enumerate(transposed(b, block, loaded)):
                    b.store(column, to + k * pitch, 0, "turned")


def _lines(size: int) -> int:
    """Return the size of whole lines."""
    return size + -size % 64


def _pitch(block: Block, before: int) -> int:
    """Return the bytes from row to row of scratch: whole lines, and no power of two."""
    return _lines((WIDE + before) * block.size) | 64


def scratch_of(operand: Operand) -> Operand:
    """Return how the kernel's loop reads an operand: from scratch, where its tile was copied."""
    if operand.inner is not Inner.CROSSED:
        return operand
    return replace(operand, inner=Inner.UNIT, access=Access.SCRATCH)
