"""Square blocks transposed in registers.

A block of rows, each loaded as one vector, is transposed in stages that each take two vectors and
make two.  Within 128 bits, the lanes in which CPUs shuffle at the least cost, vectors are riffled
(``unpck`` on x86, ``zip`` on ARM; Stone, "Parallel processing with the perfect shuffle", IEEE
Trans. Comput. C-20 (1971) 153).  What is left is a transposition of whole lanes, a butterfly that
exchanges lanes of vectors as far apart as they are (Eklundh, "A fast computer method for matrix
transposing", IEEE Trans. Comput. C-21 (1972) 801).  Nothing is computed: elements are moved as
integers, so every bit pattern passes, and an element of 16 bytes goes as two of 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..._records import record
from .builder import Builder, Value

#: Bytes of a lane.
_LANE = 16

Vectors = list[Value]


@record(frozen=True, slots=True)
class Block:
    """A square block of elements.

    Attributes
    ----------
    size : int
        Bytes of an element, a power of two up to 16.
    side : int
        Elements along each side.
    """

    size: int
    side: int

    @staticmethod
    def of(size: int) -> Block:
        """Return the block for elements of ``size`` bytes: a cache line wide, if that is not many.

        A row is a whole line, so that no line is visited twice; those of small elements stop at
        16 rows, which fit the registers.
        """
        return Block(size, min(16, 64 // size))

    @property
    def parts(self) -> int:
        """Integers that an element is moved as."""
        return max(1, self.size // 8)

    @property
    def type(self) -> str:
        """The LLVM type of a row."""
        return f"<{self.side * self.parts} x i{8 * min(self.size, 8)}>"

    @property
    def lane(self) -> int:
        """Elements per lane."""
        return min(self.side, _LANE // self.size)


def transposed(b: Builder, block: Block, rows: Sequence[Value]) -> Vectors:
    """Emit the transposition of a block; return its columns."""
    found, done = list(rows), 1
    while done < block.lane:
        found, done = _interleaved(b, block, found), 2 * done
    while done < block.side:
        found, done = _exchanged(b, block, found, done), 2 * done
    return found


def _interleaved(b: Builder, block: Block, rows: Vectors) -> Vectors:
    """Make of the first and second half of each lane's vectors one sequence, as cards are riffled.

    An element at (row, place) of a lane's square goes where one rotation of the bits of both
    numbers takes it; when each bit has moved from one to the other, rows are columns.
    """
    lane, half = block.lane, block.lane // 2

    def riffled(upper: int) -> Callable[[int], int]:
        def source(e: int) -> int:
            start, (place, which) = e - e % lane, divmod(e % lane, 2)
            return which * block.side + start + upper * half + place

        return source

    made: Vectors = []
    for first in range(0, block.side, lane):
        for k in range(first, first + half):
            pair = rows[k], rows[k + half]
            made += [_shuffle(b, block, pair, riffled(upper)) for upper in (0, 1)]
    return made


def _exchanged(b: Builder, block: Block, rows: Vectors, distance: int) -> Vectors:
    """Exchange, of vectors ``distance`` apart, the lanes as far off the diagonal."""

    def lower(e: int) -> int:
        return e if e & distance == 0 else block.side + e - distance

    def upper(e: int) -> int:
        return e + distance if e & distance == 0 else block.side + e

    found = list(rows)
    for k in range(block.side):
        if k & distance == 0:
            pair = rows[k], rows[k + distance]
            found[k] = _shuffle(b, block, pair, lower)
            found[k + distance] = _shuffle(b, block, pair, upper)
    return found


def _shuffle(
    b: Builder, block: Block, pair: tuple[Value, Value], source: Callable[[int], int]
) -> Value:
    parts, kind = block.parts, block.type
    places = [source(e) * parts + k for e in range(block.side) for k in range(parts)]
    mask = ", ".join(f"i32 {place}" for place in places)
    operands = f"{kind} {pair[0].text}, {kind} {pair[1].text}"
    return b.make(kind, f"shufflevector {operands}, <{len(places)} x i32> <{mask}>")
