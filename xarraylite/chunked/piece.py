"""Pieces: blocks of an expression, cut and ready to be read, and what each needs in flight."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..dtypes.names import NumpyArray
from ..ir.node import Node, Stored
from .cut import cut, requests
from .loads import Load, gathered
from .selection import Box
from .source import READERS, StoredArray, decodes, keeps, reading

#: Blocks read ahead of the one that is computed.
AHEAD = 1

#: Results that may wait to be written, the one that is computed included.
BEHIND = 2

#: Bytes of operands and result from which a block costs much more than starting it; what is much
#: larger leaves the caches between reading, computing and writing, which takes twice as long.
ENOUGH = 16 << 20

#: Bytes of values that are computed at a time where they are taken at once, from the caches.
SLAB = 1 << 20

Compute = Callable[[Node], NumpyArray]


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of an expression, cut and ready to be read.

    Attributes
    ----------
    box : tuple of range
        Where it lies in the result.
    node : Node
        The expression of its elements, over requests.
    loads : list of Load
        What is read for it.
    fold : callable or None
        Evaluates what is folded in it, by a function that evaluates expressions, if that has an
        order of its own.
    spread : bool
        Whether operands lie in memory as parts of the whole arrays do (`Load.apart`).
    taken : bool
        Whether its values are gone when the next block is computed; others are written meanwhile.
    along : tuple of int or None
        The dimension of the box, and that of the expression, along which few values are computed
        and taken at a time, if they are.
    alone : bool
        Whether no block is read while it is computed, nor it while another one is computed or,
        unless there is room, written; and libraries read one operand after another.
    """

    box: Box
    node: Node
    loads: list[Load]
    fold: Callable[[Node, Compute], Node] | None = None
    spread: bool = False
    taken: bool = False
    along: tuple[int, int] | None = None
    alone: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of its result."""
        return math.prod(self.node.shape) * self.node.dtype.itemsize

    @property
    def inputs(self) -> int:
        """Bytes of its operands."""
        return sum([load.nbytes for load in self.loads])

    @property
    def moved(self) -> int:
        """Bytes of chunks that are read for it."""
        return sum([load.moved for load in self.loads])

    @property
    def reads(self) -> bool:
        """Whether its operands are only read; products are computed when they are."""
        return all([isinstance(x.source, StoredArray) for x in self.loads])

    @property
    def ahead(self) -> int:
        """Blocks that are read while it is computed."""
        return AHEAD if self.reads and not self.alone else 0

    @property
    def operands(self) -> int:
        """Bytes of operands in flight: its own, and those of a block that is read meanwhile.

        Where these are many, they are read afterwards if that keeps all threads busy as well, with
        chunks to decode: memory that nothing has used before costs as much as they do.
        """
        if self.inputs <= 2 * ENOUGH:
            return (1 + self.ahead) * self.inputs
        busy = all([decodes(x.source) and x.scratch < x.moved for x in self.loads])
        return self.inputs + self.ahead * (2 * ENOUGH if busy else self.inputs)

    @property
    def shared(self) -> int:
        """Bytes of the chunks that it touches, and of one operand's again for the next block."""
        kept = [load.kept for load in self.loads if keeps(load.source)]
        return sum(kept) + max(kept, default=0)

    def is_read_with(self, others: Sequence[Piece]) -> bool:
        """Tell whether it is read before these others are computed."""
        fit = [self.inputs + x.inputs <= max(self.operands, x.operands) for x in others]
        ahead = min([x.ahead for x in (self, *others)])
        return not others or (len(others) <= ahead and all(fit))

    @property
    def need(self) -> int:
        """Bytes in flight while blocks like this one are read, computed and written."""
        return self.flight + self._scratch(1 if self.alone else READERS)

    @property
    def walked(self) -> int:
        """The same besides chunks that are kept, of which threads read one each."""
        chunks = [math.prod(x.source.chunks) * x.source.dtype.itemsize for x in self.loads]
        return self.flight + min(self._scratch(READERS), reading() * max(chunks, default=0))

    @property
    def slab(self) -> int:
        """Positions along a dimension whose values are computed at a time."""
        assert self.along is not None
        extent = self.node.shape[self.along[1]]
        return min(extent, max(1, extent * SLAB // max(1, self.nbytes)))

    @property
    def flight(self) -> int:
        """Bytes of operands and results in flight; values that are an operand are not copied."""
        copied = 2 * self.inputs if self.spread else 0
        results = (1 if self.alone else 1 + BEHIND) * self.nbytes
        if self.taken:
            results = 0 if isinstance(self.node, Stored) else self.nbytes
        if self.along is not None and results:
            results = results // self.node.shape[self.along[1]] * self.slab
        return self.operands + copied + results

    def behind(self, room: int) -> int:
        """Return how many results may be left to be written, with so much more than it needs."""
        return min(BEHIND - 1, room // max(1, self.nbytes)) if self.alone else BEHIND - 1

    def _scratch(self, at_once: int) -> int:
        shared: list[int] = [0]
        own: list[int] = []
        for load in self.loads:
            among = shared if load.source.shares(load.box) else own
            among.append(load.scratch)
        reads = sorted((1 + self.ahead) * own)[-at_once:]
        return max(shared) + sum(reads)


def piece_of(root: Node, box: Box, spread: bool = False) -> Piece:
    """Return the block of an expression in a box."""
    node = cut(root, box)
    return Piece(box, node, gathered(requests(node)), spread=spread)
