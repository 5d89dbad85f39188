"""Plans: in which blocks a result is computed, and what each block reads.

A block is a box of the result, aligned to the chunks it is written in, so that no chunk is written
twice.  Starting from one chunk, the extent is doubled along whichever dimension saves most reading,
as long as what is in flight fits the budget: the operands of the block that is computed and of the
one that is read meanwhile, and the results that are being written.  What a block reads is no
estimate: the expression is cut, and the requests are looked at.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .._errors import ShapeError
from ..dtypes.names import dtype_name
from ..index.broadcast import as_shape
from ..ir.build import describe
from ..ir.node import Node
from .budget import BudgetError
from .cut import cut, is_even, joints, requests
from .grid import Grid, doubled, halved
from .loads import Load, gathered
from .parcel import Parcel
from .places import name_of
from .selection import Box, size_of, whole, window_of
from .source import READERS, StoredArray, decodes, keeps

#: Blocks read ahead of the one that is computed.
AHEAD = 1

#: Results that may wait to be written, the one that is computed included.
BEHIND = 2

#: Bytes of operands and result from which a block costs much more than starting it; what is much
#: larger leaves the caches between reading, computing and writing, which takes twice as long.
ENOUGH = 16 << 20

#: Bytes of operands and result below which a block is not divided further.
SMALLEST = 1 << 18

#: Reading less than this much of what a smaller block reads is worth more memory.
WORTH = 0.95

#: Blocks that are tried where they need different amounts, while extents are looked for.
TRIED = 16

Compute = Callable[[Node], np.ndarray[tuple[int, ...], np.dtype[Any]]]


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
    """

    box: Box
    node: Node
    loads: list[Load]
    fold: Callable[[Node, Compute], Node] | None = None
    spread: bool = False

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
    def ahead(self) -> int:
        """Blocks that are read while it is computed; products are computed when they are read."""
        return AHEAD if all([isinstance(x.source, StoredArray) for x in self.loads]) else 0

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
        copied = 2 * self.inputs if self.spread else 0
        shared: list[int] = [0]
        own: list[int] = []
        for load in self.loads:
            among = shared if load.source.shares(load.box) else own
            among.append(load.scratch)
        reads = sorted((1 + self.ahead) * own)[-READERS:]  # at a time
        return self.operands + copied + (1 + BEHIND) * self.nbytes + max(shared) + sum(reads)


def piece_of(root: Node, box: Box, spread: bool = False) -> Piece:
    """Return the block of an expression in a box."""
    node = cut(root, box)
    return Piece(box, node, gathered(requests(node)), spread=spread)


class Cutter:
    """Cuts blocks of an expression, here or in another process.

    Parameters
    ----------
    parcel : Parcel
        The expression.
    spread : bool, default False
        As of `Piece`.
    """

    __slots__ = ("parcel", "spread")

    def __init__(self, parcel: Parcel, spread: bool = False) -> None:
        self.parcel = parcel
        self.spread = spread

    def __reduce__(self) -> Any:
        return type(self), (self.parcel, self.spread)

    def __call__(self, box: Box) -> Piece:
        """Return the block in a box."""
        return piece_of(self.parcel.node, box, self.spread)

    @property
    def divided(self) -> Node:
        """The expression whose elements boxes are of."""
        return self.parcel.node

    @property
    def even(self) -> bool:
        """Whether blocks of the same extents need as much as each other."""
        return is_even(self.divided)


class Maker(Protocol):
    """Cuts blocks: a `Cutter`, or the parts of a reduction."""

    @property
    def even(self) -> bool:
        """As of a cutter."""

    def __call__(self, key: Any, /) -> Piece:
        """Return a block."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Blocks, cut as they are needed.

    Attributes
    ----------
    make : Maker
        Cuts one.
    keys : iterable
        What it is given: where a block lies.
    carried : bool, default False
        Whether a block begins with what the one before has read last.
    """

    make: Maker
    keys: Iterable[Any]
    carried: bool = False

    def __iter__(self) -> Iterator[Piece]:
        return map(self.make, self.keys)


@dataclass(frozen=True, slots=True)
class Choice:
    """How a result is divided.

    Attributes
    ----------
    grid : Grid
        The blocks.
    piece : Piece
        One of them, which needs as much as any.
    rate : float
        Bytes that are read for each element.
    kept : int
        Bytes of chunks that are kept from block to block; 0 if none are.
    aside : int
        Bytes of what has been computed of blocks and waits for others.
    """

    grid: Grid
    piece: Piece
    rate: float
    kept: int = 0
    aside: int = 0

    @property
    def need(self) -> int:
        """Bytes in flight."""
        return self.piece.need + self.kept + self.aside

    @property
    def size(self) -> int:
        """Bytes of operands and result of a block."""
        return self.piece.inputs + self.piece.nbytes


def choose(
    make: Cutter,
    shape: tuple[int, ...],
    chunks: Sequence[int],
    budget: int,
    fixed: bool,
    fits: Callable[[Box], bool] | None = None,
    known: Sequence[int] | None = None,
    keep: bool = False,
    widened: bool = False,
    aside: Callable[[tuple[int, ...]], int] = lambda block: 0,
) -> Choice:
    """Return the blocks that a result is computed in.

    Parameters
    ----------
    make : Cutter
        Cuts a block.
    shape : tuple of int
        What is divided.
    chunks : sequence of int
        Extents of what is written at once; blocks are multiples of it.
    budget : int
        Bytes that may be in flight.
    fixed : bool
        Whether a block must have whole chunks; otherwise they are divided where memory is short.
    fits : callable, optional
        Tells whether a larger block, at the origin, will do.
    known : sequence of int, optional
        Extents of the blocks, where some of them are finished.
    keep : bool, default False
        Whether chunks can be kept from block to block.
    widened : bool, default False
        Whether the last block of a dimension is as wide as the others (`Grid.widened`).
    aside : callable, optional
        Bytes of what is computed of blocks of some extents and waits for others.

    Raises
    ------
    SizeError
        If the budget is too small for one block; it says how much would do.
    """
    even = make.even
    tried = functools.partial(_tried, make, shape, aside, even=even, widened=widened)
    block = tuple([max(1, min(c, n)) for c, n in zip(known or chunks, shape, strict=True)])
    best = _within(budget, make, tried, block, fixed, fits, known, keep)
    while not even and (worst := _counted(make, best, widened)).need > budget:
        room = min(best.need - 1, budget - (worst.need - best.need))
        try:
            best = _within(room, make, tried, block, fixed, fits, known, keep)
        except BudgetError:
            raise too_small(worst.piece, budget, worst.need) from None
    return best if even else worst


def _within(
    budget: int,
    make: Cutter,
    tried: Callable[[tuple[int, ...]], Choice],
    block: tuple[int, ...],
    fixed: bool,
    fits: Callable[[Box], bool] | None,
    known: Sequence[int] | None,
    keep: bool,
) -> Choice:
    """Return the blocks that `choose` does, of those that are tried; ``block`` is the least."""
    best = first = least = tried(block)
    while best.need > budget:
        smaller = None if fixed or known or is_small(best.piece) else _less(best.grid.block, block)
        if smaller is None:
            raise too_small(least.piece, budget, least.need)
        best = first = tried(smaller)  # may need more: it may lie in more chunks
        least = min(least, best, key=lambda choice: choice.need)
    if known is None:
        best = _grown(tried, first, budget, fits, block)
    shared = keep and all([keeps(load.source) for load in first.piece.loads])
    once = _rate(make(whole(first.grid.shape))) if shared else math.inf
    high = once / WORTH
    if best.rate > high or (best.size > 2 * ENOUGH and first.rate > high):
        strip = list(first.grid.shape)
        kept = _keeping(make, first, strip)
        while kept.need > budget and (wide := _narrower(kept.grid)) is not None:
            strip[wide] = -(-kept.grid.strip[wide] // 2) * kept.grid.block[wide]
            kept = _keeping(make, first, strip)
        if kept.need <= budget:
            keeping = lambda block: _keeping(make, tried(block), strip)  # noqa: E731
            kept = kept if known else _grown(keeping, kept, budget, fits, block)
            if WORTH * kept.rate <= max(once, best.rate):
                return kept
    return best


def _counted(make: Cutter, choice: Choice, widened: bool) -> Choice:
    """Return the same blocks, and the one that needs most."""
    grid = choice.grid
    boxes = grid.telling(joints(make.divided))
    pieces = (make(grid.widened(box) if widened else box) for box in boxes)
    worst = max(itertools.chain([choice.piece], pieces), key=lambda piece: piece.need)
    return replace(choice, piece=worst)


def _grown(
    tried: Callable[[tuple[int, ...]], Choice],
    best: Choice,
    budget: int,
    fits: Callable[[Box], bool] | None,
    chunks: Sequence[int],
) -> Choice:
    """Return blocks as large as is worth the memory."""
    shape = best.grid.shape
    while True:
        options = []
        block = best.grid.block
        for axis, extent in enumerate(block):
            if extent < shape[axis]:
                twice = min(doubled(extent, chunks[axis]), shape[axis])
                wide = (*block[:axis], twice, *block[axis + 1 :])
                if fits is None or fits(window_of([0] * len(wide), wide)):
                    options.append(tried(wide))
        options = [option for option in options if option.need <= budget]
        if not options:
            return best
        # The least reading for each element; among equals the dimension that lies closest.
        chosen = min(reversed(options), key=lambda option: option.rate)
        if best.size >= ENOUGH and chosen.rate >= WORTH * best.rate:
            return best
        best = chosen


def _keeping(make: Callable[[Box], Piece], choice: Choice, strip: Sequence[int]) -> Choice:
    """Return the same blocks, with the chunks kept that a row of them touches, of a strip.

    Chunks between two strips are read for both.  Those that elements are picked of are not kept:
    nothing tells for how long.
    """
    if not all([isinstance(s, range) for load in choice.piece.loads for s in load.box]):
        return choice
    sides = zip(strip, choice.grid.block, strict=True)
    grid = replace(choice.grid, strip=tuple([-(-n // b) for n, b in sides]))
    column, first = grid.strips.middle(), _first(grid)
    row = make((*column[:first], *grid.middle()[first : first + 1], *column[first + 1 :]))
    kept = sum([load.kept for load in (*row.loads, *choice.piece.loads)])
    return replace(choice, grid=grid, rate=_rate(make(column)), kept=kept)


def _first(grid: Grid) -> int:
    """Return the dimension along which rows of blocks follow each other."""
    return next((k for k, n in enumerate(grid.counts) if n > 1), 0)


def _narrower(grid: Grid) -> int | None:
    """Return the dimension along which strips can be narrower; None if they have one block each."""
    sides = [(n, k) for k, n in enumerate(grid.strip) if n > 1 and k != _first(grid)]
    return max(sides)[1] if sides else None


def is_small(piece: Piece) -> bool:
    """Tell whether a block is not divided further."""
    return piece.inputs + piece.nbytes <= SMALLEST


def too_small(piece: Piece, budget: int, need: int = 0) -> BudgetError:
    """Return the error of a budget that does not do for one block."""
    least = need or piece.need
    operands = dict.fromkeys(
        [f"{x.source} {dtype_name(x.source.dtype)}{list(x.source.shape)}" for x in piece.loads]
    )
    told = (
        f"a block {describe(piece.node)} reads {piece.inputs} bytes of {', '.join(operands)} "
        f"and needs {least} bytes in flight"
    )
    return BudgetError(told, budget, least)


def _tried(
    make: Callable[[Box], Piece],
    shape: tuple[int, ...],
    aside: Callable[[tuple[int, ...]], int],
    block: tuple[int, ...],
    even: bool,
    widened: bool,
) -> Choice:
    """Return blocks of some extents, and one that needs as much as any.

    Where all operations are even, that is one that is cut on all sides; elsewhere some are tried,
    and all are counted when the extents are chosen.
    """
    grid = Grid(shape, block)
    middle = make(grid.middle())
    boxes = itertools.chain(
        () if even else grid.some(TRIED), grid.ends(True) if widened and len(grid) > 1 else ()
    )
    piece = max([middle, *map(make, boxes)], key=lambda piece: piece.need)
    return Choice(grid, piece, _rate(middle), aside=aside(grid.block))


def _rate(piece: Piece) -> float:
    return round(piece.moved / max(1, size_of(piece.box)), 6)


def _less(block: tuple[int, ...], chunks: Sequence[int]) -> tuple[int, ...] | None:
    """Return a smaller block, cut where its rows stay whole longest; None if it is one element."""
    for axis, extent in enumerate(block):
        if extent > 1:
            return (*block[:axis], halved(extent, chunks[axis]), *block[axis + 1 :])
    return None


def chunks_for(
    root: Node, asked: int | Sequence[int] | None, operation: str, target: object = None
) -> tuple[int, ...]:
    """Return the chunks of a new target: as asked (-1: all), else those of an operand of its shape.

    Raises
    ------
    ShapeError
        If chunks are not one positive length for each dimension, or the target is there already.
    """
    shape = root.shape
    if asked is not None and hasattr(target, "shape"):
        raise ShapeError(
            f"{operation}: chunks {asked!r} are for a new array; the target {name_of(target)} of "
            f"{describe(root)} keeps its own"
        )
    if asked is not None:
        try:
            each: Any = asked if np.ndim(asked) else (asked,) * len(shape)
            full = [max(1, n) if c == -1 else c for c, n in zip(each, shape, strict=True)]
            given = [as_shape(c, "chunks")[0] for c in full]
        except (TypeError, ValueError):
            given = [0]
        if len(given) != len(shape) or 0 in given:
            raise ShapeError(
                f"{operation}: chunks {asked!r} are not one positive length, or -1 for all of it, "
                f"for each dimension of shape {shape}"
            )
        return tuple([max(1, min(c, n)) for c, n in zip(given, shape, strict=True)])
    for node in requests(root):
        source: Any = node.source
        if node.shape == shape and source.chunks != shape:
            return tuple(source.chunks)
    block = [max(1, n) for n in shape]
    while math.prod(block) * root.dtype.itemsize > 4 << 20:
        axis = max(range(len(block)), key=lambda k: (block[k], -k))
        block[axis] = -(-block[axis] // 2)
    return tuple(block)
